"""What a run needs before anything of it is made: names that lead somewhere, data, tokenizer, model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.chat_template import frame_of
from bench.compression.library_env import library_environment
from bench.compression.llmlingua import library_model
from bench.compression.registry import LIBRARY
from bench.engines.base import EngineError
from bench.model_store import ModelFolder
from bench.names import check_names
from bench.plural import number_of
from bench.progress import Reporter
from bench.run_tokenizer import MODEL, run_tokenizer
from bench.specs import ArmSpec, RunSpec
from capsules.tokenized import Frame
from capsules.tokenizer import Tokenizer
from tasks.base import TaskData
from tasks.registry import load_task


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Everything that is known before a folder is made."""

    spec: RunSpec
    data: TaskData
    tokenizer: Tokenizer
    model: ModelFolder | None
    frame: Frame | None = None


def prepare(spec: RunSpec, reporter: Reporter, *, engine: bool = True) -> Prepared:
    """Load what a run needs.

    Args:
        spec: The run.
        reporter: For people.
        engine: Whether an engine will run.

    Raises:
        RegistryError, TaskError, ModelError, TokenizerError: With what was expected and found.
    """
    check_names(spec)
    data = load_task(spec.task)
    tokenizer, model = run_tokenizer(spec, reporter.say, engine=engine)
    reporter.say(
        f"task {spec.task.name}: {number_of(len(data.samples), 'sample')} of {data.dataset} ({data.origin}), "
        f"{number_of(len(data.examples), 'example')}, {number_of(len(data.refused), 'row')} refused"
    )
    frame = frame_of(spec.model, tokenizer)
    if engine and not spec.engine.recorded:  # a replayed run has its answers already
        prepare_library(spec, model, reporter)
    return Prepared(spec=spec, data=data, tokenizer=tokenizer, model=model, frame=frame)


def prepare_library(spec: RunSpec, model: ModelFolder | None, reporter: Reporter) -> None:
    """Set the library's compressors up where an arm names one, and look whether their models are there.

    Raises:
        SetUpError: The environment cannot be made.
        EngineError: A model is not where the config says.
    """
    named = [arm for arm in spec.arms if arm.compression.name in LIBRARY]
    problems: dict[str, list[str]] = {}
    for arm in named:
        try:
            library_model(arm.compression.model, None if model is None else model.path)
        except EngineError as error:
            problems.setdefault(f"{error}{_without_model(spec, arm)}", []).append(arm.arm_id)
    if problems:
        raise EngineError(
            "; ".join(f"{_arms(arm_ids)}: {problem}" for problem, arm_ids in problems.items())
            + ". Or leave them out: "
            + " ".join(f"~arms.{arm_id}" for arm_ids in problems.values() for arm_id in arm_ids)
        )
    if named:
        library_environment(reporter.say)


def _arms(arm_ids: Sequence[str]) -> str:
    return f"arm{'s' if len(arm_ids) > 1 else ''} {', '.join(arm_ids)}"


def _without_model(spec: RunSpec, arm: ArmSpec) -> str:
    """Why the run has no model of its own, where an arm wants it."""
    if arm.compression.model or spec.tokenizer == MODEL:
        return ""
    return (
        f", because tokenizer={spec.tokenizer} loads no model: set compression.model of the arm to a folder "
        f"or <hub id>@<40-hex commit>, or take tokenizer={MODEL}"
    )
