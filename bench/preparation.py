"""What a run needs before anything of it is made: names that lead somewhere, data, tokenizer, model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bench.chat_template import frame_of
from bench.compression.library_env import SetUpError, library_environment
from bench.compression.llmlingua import library_model
from bench.compression.registry import LIBRARY
from bench.compression_stage import rewrites
from bench.engines.base import EngineSettingError
from bench.engines.openai_start import credentials_of
from bench.engines.replay import REPLAY, finished_run, recorded_folder, require_tokenizer
from bench.groups import may_be_asked
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
    """Everything that is known before a folder is made.

    Attributes:
        not_set_up: Why the library's compressors have no environment, where arms want one.
    """

    spec: RunSpec
    data: TaskData
    tokenizer: Tokenizer
    model: ModelFolder | None
    frame: Frame | None = None
    not_set_up: SetUpError | None = None


def prepare(spec: RunSpec, reporter: Reporter, *, engine: bool = True) -> Prepared:
    """Load what a run needs.

    Args:
        spec: The run.
        reporter: For people.
        engine: Whether an engine will run.

    Raises:
        ConfigError, RegistryError, TaskError, ModelError, TokenizerError, EngineSettingError: With what was
            expected, what was found, and where.
    """
    check_names(spec)
    if engine:
        require_record(spec)
    data = load_task(spec.task)
    if engine and spec.engine.name != REPLAY:  # a replay asks nobody
        require_keys(spec, {sample.input.project for sample in data.samples}, os.environ)
    tokenizer, model = run_tokenizer(spec, reporter.say, engine=engine)
    if engine and spec.engine.name == REPLAY:
        require_tokenizer(finished_run(spec.engine), tokenizer)
    reporter.say(
        f"task {spec.task.name}: {number_of(len(data.samples), 'sample')} of {data.dataset} ({data.origin}), "
        f"{number_of(len(data.examples), 'example')}, {number_of(len(data.refused), 'row')} refused"
    )
    frame = frame_of(spec.model, tokenizer)
    if engine and not spec.engine.recorded:  # a replayed run has its answers already
        require_library_models(spec, model)
    return Prepared(spec=spec, data=data, tokenizer=tokenizer, model=model, frame=frame)


def require_record(spec: RunSpec) -> None:
    """Look whether the run is there whose answers, or whose compressors' answers, are given again.

    Raises:
        EngineSettingError: It is not, it is not finished, it is to be replayed and asked another model, or
            it is named where nothing of it would be given again.
    """
    if spec.engine.name == REPLAY:
        asked = may_be_asked(spec)
        providers = [p for p in spec.providers if p.provider_id in asked]
        recorded_folder(spec.engine, spec.model, providers=providers)
    elif spec.engine.recorded:
        finished_run(spec.engine)
        if not rewrites(spec):
            raise EngineSettingError(
                f"engine.recorded: expected engine={REPLAY}, which gives that run's answers again, or an "
                "arm with a lossy compressor, whose answers any engine takes up; found engine.name="
                f"{spec.engine.name!r} and no such arm. Without engine.recorded= the run asks anew"
            )


def require_keys(spec: RunSpec, projects: set[str], environ: Mapping[str, str]) -> None:
    """Look whether the keys of all providers are there that may be asked for a sample.

    Args:
        spec: The run.
        projects: Those of its samples; a provider that may serve none of them is not asked, and needs no key.
        environ: Where keys are.

    Raises:
        EngineSettingError: Naming the provider and the variable.
    """
    asked = may_be_asked(spec)
    for provider in spec.providers:
        if provider.provider_id in asked and provider.server is not None and projects & {*provider.projects}:
            credentials_of(provider.provider_id, provider.server, environ)


def set_up_library(prepared: Prepared, reporter: Reporter) -> Prepared:
    """Set the library's compressors up where an arm of a new run names one, and keep why it failed.

    Raises:
        SetUpError: The environment cannot be made, and no arm goes without it.
    """
    spec = prepared.spec
    named = [arm for arm in spec.arms if arm.compression.name in LIBRARY]
    if named and not spec.engine.recorded:
        try:
            library_environment(reporter.say)
        except SetUpError as error:
            if len(named) == len(spec.arms):
                raise
            return replace(prepared, not_set_up=error)
    return prepared


def require_library_models(spec: RunSpec, model: ModelFolder | None) -> None:
    """Look whether the models of the library's compressors are there.

    Raises:
        EngineSettingError: A model is not where the config says.
    """
    named = [arm for arm in spec.arms if arm.compression.name in LIBRARY]
    problems: dict[str, list[str]] = {}
    for arm in named:
        try:
            library_model(arm.compression.model, None if model is None else model.path)
        except EngineSettingError as error:
            problems.setdefault(f"{error}{_without_model(spec, arm)}", []).append(arm.arm_id)
    if problems:
        raise EngineSettingError(
            "; ".join(f"{_arms(arm_ids)}: {problem}" for problem, arm_ids in problems.items())
            + ". Or leave them out: "
            + " ".join(f"~arms.{arm_id}" for arm_ids in problems.values() for arm_id in arm_ids)
        )


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
