"""``capsule-bench study selection``: gold evidence for its tokens, by selector; no engine, no run folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from bench.commands.output import print_json, print_text
from bench.config import spec_value, to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import compose_config
from bench.metrics.clusters import cluster_of
from bench.progress import Reporter
from bench.retrieval.registry import retriever
from bench.run_store import write_atomic
from bench.run_tokenizer import run_tokenizer
from bench.specs import ArmSpec, RunSpec
from bench.studies.selection_files import Study, files, markdown
from bench.studies.selection_summary import Difference, Mean, differences, means
from bench.studies.selectors import CONTENDERS, ask, compare
from tasks.base import Sample
from tasks.registry import load_task

SPLITS = ("all", "first", "second")


def run(arguments: argparse.Namespace) -> int:
    """Measure, write the files and print; every name is resolved before data is read."""
    reporter = Reporter()
    budgets = [_tokens(word) for word in arguments.budgets.split(",")]
    retriever(arguments.retrieval)
    specs = [_spec(arguments, name) for name in arguments.tasks.split(",")]
    tokenizer, _ = run_tokenizer(specs[0], reporter.say, engine=False)
    found: list[Mean] = []
    paired: list[Difference] = []
    sets = []
    for spec in specs:
        data = load_task(spec.task)
        if data.corpus:
            raise ConfigError(
                f"task {spec.task.name}: expected samples with sources of their own, found a corpus"
            )
        asked = ask(half(data.samples, arguments.split), spec.arms[0], tokenizer)
        steps = len(asked) * len(CONTENDERS) * (len(budgets) + 1)
        with reporter.bar(f"selecting ({spec.task.name})", steps) as advance:
            cells = compare(asked, CONTENDERS, budgets, tokenizer, advance)
        inputs = [one.sample.input for one in asked]
        same = [cluster_of((doc.text for doc in one.sources), one.sample_id) for one in inputs]
        found += means(spec.task.name, cells, same, draws=spec.bootstrap, seed=spec.seed)
        paired += differences(spec.task.name, cells, same, draws=spec.bootstrap, seed=spec.seed)
        refused = sum(one.code is not None for one in asked)
        sets.append(f"{spec.task.name} {data.content_digest}, n={len(asked)}, refused {refused}")
    study = Study(
        facts=(
            ("tokenizer", tokenizer.tokenizer_id),
            ("retrieval", f"{arguments.retrieval}, pool {arguments.pool}"),
            ("samples", arguments.split),
            ("bootstrap draws", str(specs[0].bootstrap)),
            *(("data", line) for line in sets),
        ),
        means=tuple(found),
        differences=tuple(paired),
    )
    folder = arguments.out or arguments.results / "selection"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files(study).items():
        write_atomic(folder / name, content)
    reporter.say(f"written: {folder}")
    if arguments.json:
        print_json(_value(study))
    else:
        print_text(markdown(study).rstrip("\n"))
    return 0


def half(samples: Sequence[Sample], split: str) -> Sequence[Sample]:
    """All samples, or the first or second half of each file; a first half has the odd one.

    Files are told apart by the data set that a sample's sources name (``xquad`` has one a language).

    Raises:
        ConfigError: Another word.
    """
    if split not in SPLITS:
        raise ConfigError(f"--split: expected one of {', '.join(SPLITS)}, found {split!r}")
    if split == "all":
        return samples
    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(sample.input.sources[0].origin.dataset, []).append(sample)
    first = split == "first"
    return [
        sample
        for part in parts.values()
        for sample in (part[: ceil(len(part) / 2)] if first else part[ceil(len(part) / 2) :])
    ]


def _spec(arguments: argparse.Namespace, task: str) -> RunSpec:
    """The config of one task, with the arm that retrieves."""
    spec = to_spec(compose_config([f"task={task}", *arguments.overrides]))
    arm = _retrieving(spec.arms[0], arguments.retrieval, arguments.pool)
    return replace(spec, arms=(arm,))


def _retrieving(arm: ArmSpec, name: str, pool: int) -> ArmSpec:
    if pool < 1:
        raise ConfigError(f"--pool: expected at least 1, found {pool}")
    return replace(arm, retrieval=replace(arm.retrieval, name=name, k=pool))


def _tokens(word: str) -> int:
    if not word.isdecimal() or not word.isascii() or int(word) < 1:
        raise ConfigError(f"--budgets: expected whole numbers from 1, e.g. 64,128,256, found {word!r}")
    return int(word)


def _value(study: Study) -> dict[str, Any]:
    return {
        "facts": [list(pair) for pair in study.facts],
        "means": [_whole(spec_value(mean)) for mean in study.means],
        "differences": [{**_whole(spec_value(one)), "verdict": one.verdict} for one in study.differences],
    }


def _whole(value: Any) -> Any:
    """JSON without floats: shares and tokens become millionths, and their key says so."""
    if isinstance(value, dict):
        return {
            f"{key}_millionths" if isinstance(one, float) else key: _whole(one) for key, one in value.items()
        }
    return round(value * 1_000_000) if isinstance(value, float) else value
