"""``capsule-bench study stages``: the time that each stage of a build takes, a sample.

Rules that this module owns:

* What is timed is what ``build`` does: the arm's own builder, then storing (files in a folder of the system's
  temporary folder, read back) and validation. No lossy compressor is run.
* Each arm is built in a process of its own: what a process keeps of a document would else be a gift of the
  first arm to the others. The first sample is built once before, untimed, in a store of its own, for imports
  and the stable prefix; what the process keeps of that sample's documents it has then.
* A sample without a prompt is counted, and not timed.
* The mean is over samples; its interval is over samples too, and knows nothing of how busy the machine is:
  compare stages of one run, not runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from bench.build.laps import STAGES, StopWatch
from bench.build_stage import Bench, Building
from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import compose_config
from bench.metrics.bootstrap import Interval, bootstrap_means
from bench.preparation import prepare
from bench.progress import Reporter
from bench.report.numbers import share
from bench.report.table import Table
from bench.studies.output import facts, hand_out
from capsules.disk_store import DiskStore
from tasks.base import Sample

ALL = "all"

Times = dict[str, int]  # nanoseconds by stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A stage of an arm.

    Attributes:
        n: Samples with a prompt.
        mean, median: Microseconds a sample.
        interval: 95 %, of the mean.
        share: Of the arm's time.
    """

    arm_id: str
    stage: str
    n: int
    mean: float
    median: float
    interval: Interval | None
    share: float


def run(arguments: argparse.Namespace) -> int:
    """Measure and hand out."""
    reporter = Reporter()
    spec = to_spec(compose_config(arguments.overrides))
    rows, without = [], 0
    context = multiprocessing.get_context("spawn")
    with reporter.bar("timing arms", len(spec.arms)) as advance:
        for arm in spec.arms:
            with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
                found = pool.submit(measure, tuple(arguments.overrides), arm.arm_id).result()
            timed = [one for one in found if one]
            without += len(found) - len(timed)
            rows += rows_of(arm.arm_id, timed, draws=spec.bootstrap, seed=spec.seed)
            advance(1)
    if not rows:
        raise ConfigError(f"task {spec.task.name}: expected prompts to time, found none")
    about = (
        ("task", spec.task.name),
        ("tokenizer", spec.tokenizer),
        ("no prompt", f"{without:,}"),
        ("bootstrap", f"{spec.bootstrap:,} resamples of samples, seed {spec.seed}"),
    )
    value = {**dict(about), "rows": [_value(row) for row in rows]}
    hand_out(table(spec.task.name, rows, facts(about)), value, arguments.out, arguments.json)
    return 0


def measure(overrides: Sequence[str], arm_id: str) -> list[Times]:
    """The times of each sample of one arm; empty for one without a prompt."""
    spec = to_spec(compose_config(list(overrides)))
    spec = replace(spec, arms=tuple(arm for arm in spec.arms if arm.arm_id == arm_id))
    prepared = prepare(spec, Reporter(quiet=True), engine=False)
    watch = StopWatch(time.perf_counter_ns)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first", "timed"):
            bench = Bench(
                spec=spec,
                data=prepared.data,
                tokenizer=prepared.tokenizer,
                store=DiskStore(Path(folder) / name),
                now=spec.task.as_of,
                frame=prepared.frame,
                lap=watch,
            )
            samples = prepared.data.samples if name == "timed" else prepared.data.samples[:1]
            found = _timed(Building(bench), bench, watch, samples)
    return found


def _timed(building: Building, bench: Bench, watch: StopWatch, samples: Sequence[Sample]) -> list[Times]:
    found = []
    for sample in samples:
        watch.take()
        _, row = building.one(sample, bench.spec.arms[0])
        spent = watch.take()
        found.append(spent if row.status == "ok" else {})
    return found


def rows_of(arm_id: str, timed: Sequence[Times], *, draws: int, seed: int) -> list[Row]:
    """The rows of an arm: each stage that took any time in any sample, and all of them together."""
    if not timed:
        return []
    columns = {name: [one.get(name, 0) / 1000 for one in timed] for name in STAGES}
    columns = {name: column for name, column in columns.items() if any(column)}
    columns[ALL] = [sum(one.values()) / 1000 for one in timed]
    intervals = bootstrap_means(list(columns.values()), draws=draws, seed=seed)
    whole = sum(columns[ALL])
    return [
        Row(
            arm_id=arm_id,
            stage=name,
            n=len(column),
            mean=fmean(column),
            median=median(column),
            interval=interval,
            share=sum(column) / whole if whole else 0.0,
        )
        for (name, column), interval in zip(columns.items(), intervals, strict=True)
    ]


def table(task: str, rows: Sequence[Row], note: str) -> Table:
    """The rows for people (milliseconds) and for the CSV (microseconds)."""
    return Table(
        name=f"stages-{task}",
        caption=f"Time of each stage of a build on {task}, a sample",
        head=("arm", "stage", "n", "mean, ms", "95 %", "median, ms", "share"),
        rows=tuple(
            (
                row.arm_id,
                row.stage,
                f"{row.n:,}",
                _ms(row.mean),
                _limits(row),
                _ms(row.median),
                share(row.share),
            )
            for row in rows
        ),
        data_head=("arm", "stage", "n", "mean_us", "mean_low_us", "mean_high_us", "median_us", "share"),
        data=tuple(
            (
                row.arm_id,
                row.stage,
                row.n,
                row.mean,
                row.interval.low if row.interval else None,
                row.interval.high if row.interval else None,
                row.median,
                row.share,
            )
            for row in rows
        ),
        right=frozenset({2, 3, 5, 6}),
        groups=1,
        notes=("each arm in a process of its own; storing and validation are those of a run", note),
    )


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f}"


def _limits(row: Row) -> str:
    return f"[{_ms(row.interval.low)}, {_ms(row.interval.high)}]" if row.interval else ""


def _value(row: Row) -> dict[str, str | int | None]:
    return {
        "arm_id": row.arm_id,
        "stage": row.stage,
        "n": row.n,
        "mean_us": round(row.mean),
        "low_us": round(row.interval.low) if row.interval else None,
        "high_us": round(row.interval.high) if row.interval else None,
        "median_us": round(row.median),
        "share_bp": round(row.share * 10_000),
    }
