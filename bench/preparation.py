"""What a run needs before anything of it is made: names that lead somewhere, data, tokenizer, model."""

from __future__ import annotations

from dataclasses import dataclass

from bench.chat_template import frame_of
from bench.model_store import ModelFolder
from bench.names import check_names
from bench.progress import Reporter
from bench.run_tokenizer import run_tokenizer
from bench.specs import RunSpec
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
        f"task {spec.task.name}: {len(data.samples)} samples of {data.dataset} ({data.origin}), "
        f"{len(data.examples)} examples, {len(data.refused)} rows refused"
    )
    frame = frame_of(spec.model, tokenizer)
    return Prepared(spec=spec, data=data, tokenizer=tokenizer, model=model, frame=frame)
