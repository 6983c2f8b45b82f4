"""``capsule-bench recall``: Recall@k of gold spans for a task, without a model, an engine or a run folder."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from bench.commands.output import print_json
from bench.config import to_spec
from bench.config_checks import ConfigError, check_chunking
from bench.hydra_app import compose_config
from bench.progress import Reporter
from bench.recall import RecallRow, measure, prepare
from bench.recall_table import TaskRecall, recall_markdown
from bench.retrieval.registry import retriever
from bench.specs import AuthoritySpec, Chunking
from bench.task_table import WHOLE, table_names
from tasks.registry import TASKS, load_task


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; every name is resolved before the data is read."""
    reporter = Reporter()
    names, ks = arguments.retrievers.split(","), [_k(word) for word in arguments.k.split(",")]
    _chunking(arguments.chunk)
    for name in names:
        retriever(name)
    if arguments.tasks is None:
        found = _measure(arguments.overrides, arguments.chunk, names, ks, reporter)
        for line in lines(found.rows):
            reporter.say(line)
        print_json(found.to_value())
        return 0
    tasks = [
        _measure([f"task={task}", *WHOLE, *arguments.overrides], arguments.chunk, names, ks, reporter)
        for task in _tasks(arguments.tasks)
    ]
    for line in recall_markdown([task for task in tasks if task.asked], names):
        reporter.say(line)
    print_json({"tasks": [task.to_value() for task in tasks]})
    return 0


def _measure(
    overrides: Sequence[str], chunk: str, names: Sequence[str], ks: Sequence[int], reporter: Reporter
) -> TaskRecall:
    spec = to_spec(compose_config(overrides))
    data = load_task(spec.task)
    asked = prepare(data.samples, data.corpus, _chunking(chunk), AuthoritySpec().max_level)
    with reporter.bar(f"asking retrievers, {spec.task.name}", len(asked) * len(names) * len(ks)) as advance:
        rows = measure(asked, names, ks, draws=spec.bootstrap, seed=spec.seed, advance=advance)
    return TaskRecall(
        task=spec.task.name,
        content_digest=data.content_digest,
        chunk=chunk,
        corpus=len(data.corpus),
        samples=len(data.samples),
        asked=len(asked),
        passages=sum(len(one.texts) for one in asked),
        refused=len(data.refused),
        bootstrap=spec.bootstrap,
        rows=tuple(rows),
    )


def _tasks(wanted: str) -> list[str]:
    """The tasks of ``--tasks``; all: every set of its own (``xquad`` is its five languages)."""
    known = [name for name in table_names() if name != "xquad"]
    if wanted == "all":
        return known
    for name in wanted.split(","):
        if name not in TASKS:
            raise ConfigError(f"--tasks: unknown task {name!r}: expected all, or some of {', '.join(known)}")
    return wanted.split(",")


def lines(rows: Sequence[RecallRow]) -> list[str]:
    """The table for people."""
    head = f"{'retriever':<20} {'k':>4} {'samples':>8} {'spans':>7} {'recall':>8}   95 % interval"
    return [head, *(_line(row) for row in rows)]


def _line(row: RecallRow) -> str:
    mean = "none" if row.mean_bp is None else f"{row.mean_bp / 100:.1f} %"
    interval = "none"
    if row.low_bp is not None and row.high_bp is not None:
        interval = f"{row.low_bp / 100:.1f} to {row.high_bp / 100:.1f}"
    return f"{row.retriever:<20} {row.k:>4} {row.n:>8} {row.spans:>7} {mean:>8}   {interval}"


def _chunking(words: str) -> Chunking:
    kind, *more = words.split(":")
    if not more:
        chunking = Chunking(kind=kind)
    else:
        form = re.fullmatch(r"window:([0-9]{1,9}):([0-9]{1,9}):([a-z]+)", words)
        if form is None:
            raise ConfigError(f"--chunk: expected window:SIZE:STRIDE:UNIT, found {words!r}")
        chunking = Chunking(kind="window", size=int(form[1]), stride=int(form[2]), unit=form[3])
    check_chunking(chunking, ("--chunk", "--chunk: SIZE", "--chunk: STRIDE", "--chunk: UNIT"))
    return chunking


def _k(word: str) -> int:
    if not word.isdecimal() or not word.isascii() or int(word) < 1:
        raise ConfigError(f"--k: expected whole numbers from 1, e.g. 1,2,4,8, found {word!r}")
    return int(word)
