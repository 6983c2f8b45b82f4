"""``capsule-bench recall``: Recall@k of gold spans for a task, without a model, an engine or a run folder."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json
from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import compose_config
from bench.progress import Reporter
from bench.recall import RecallRow, measure, prepare
from bench.retrieval.registry import retriever
from bench.specs import AuthoritySpec
from tasks.registry import load_task


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; every name is resolved before the data is read."""
    reporter = Reporter()
    names, ks = arguments.retrievers.split(","), [_k(word) for word in arguments.k.split(",")]
    spec = to_spec(compose_config(arguments.overrides))
    for name in names:
        retriever(name)
    data = load_task(spec.task)
    asked = prepare(data.samples, arguments.chunk, AuthoritySpec().max_level)
    with reporter.bar("asking retrievers", len(asked) * len(names) * len(ks)) as advance:
        rows = measure(asked, names, ks, draws=spec.bootstrap, seed=spec.seed, advance=advance)
    for line in lines(rows):
        reporter.say(line)
    value = {
        "task": spec.task.name,
        "content_digest": data.content_digest,
        "chunk": arguments.chunk,
        "samples": len(data.samples),
        "passages": sum(len(one.texts) for one in asked),
        "refused": len(data.refused),
        "bootstrap": spec.bootstrap,
        "recall": [row.to_value() for row in rows],
    }
    print_json(value)
    return 0


def lines(rows: list[RecallRow]) -> list[str]:
    """The table for people."""
    head = f"{'retriever':<20} {'k':>4} {'samples':>8} {'spans':>7} {'recall':>8}   95 % interval"
    return [head, *(_line(row) for row in rows)]


def _line(row: RecallRow) -> str:
    mean = "none" if row.mean_bp is None else f"{row.mean_bp / 100:.1f} %"
    interval = "none"
    if row.low_bp is not None and row.high_bp is not None:
        interval = f"{row.low_bp / 100:.1f} to {row.high_bp / 100:.1f}"
    return f"{row.retriever:<20} {row.k:>4} {row.n:>8} {row.spans:>7} {mean:>8}   {interval}"


def _k(word: str) -> int:
    if not word.isdecimal() or not word.isascii() or int(word) < 1:
        raise ConfigError(f"--k: expected whole numbers from 1, e.g. 1,2,4,8, found {word!r}")
    return int(word)
