"""The whole way of a run: data, capsules, plan, engines, scores, report, manifest.

    load the task -> lossy compressors -> build and store every (sample, arm) -> plan -> engines
    -> rebuild -> score -> report -> manifest

Rules that this module owns:

* Nothing is made on disk before config, task, names and model are known to be good.
* Everything after the build stage reads what is stored; a resumed run builds again and must get the
  same, or it is refused.
* Files that are derived (scores, report) are whole or absent; the manifest comes last.
* ``now``, at which validity is judged, is the task's ``as_of``: a data set whose evidence expires can be
  run for ever. When the run really began is ``started``, a fact for people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from bench.build_file import BuildRows, Lean
from bench.build_stage import Bench, Building
from bench.completion import complete
from bench.compression.base import Rewriter
from bench.compression.lost import LOST
from bench.compression_stage import compress_all, is_lossy, stored_rewriter
from bench.compressor_start import compressor_starter
from bench.config import config_digest, dump_config, load_config, to_spec
from bench.data_counts import dataset_facts
from bench.engine_stage import Stage, run_engines
from bench.engines.replay import REPLAY
from bench.estimate import estimate
from bench.lock import RunLock
from bench.planner import Plan, make_plan
from bench.planner import Prepared as PlannedPrompt
from bench.plural import number_of
from bench.preparation import Prepared, prepare, set_up_library
from bench.progress import Reporter
from bench.provenance import clock_now
from bench.rebuild_check import check_in_new_process
from bench.recorder import Recorder
from bench.records import RouteRow, SampleRow
from bench.records_io import read_rows, rows_bytes
from bench.resume import take_up
from bench.routing import route_all
from bench.run_store import DeadEndError, RunError, RunFolder, create_run, read_json, write_atomic, write_json
from bench.specs import RunSpec
from bench.stored_run import Counts
from bench.unbuilt import Unbuilt
from capsules.timestamp import format_time

FACTS_ID = "run-facts/1"
Clock = Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    folder: RunFolder
    counts: Counts
    void: tuple[str, ...]
    replay: bool = False

    @property
    def exit_code(self) -> int:
        """0, or 3 if requests failed or were skipped, or a cell is void."""
        return 0 if self.clean and not self.counts.skipped else 3

    @property
    def clean(self) -> bool:
        """Whether nothing is left that asking again could mend."""
        return not self.counts.failed and not self.void and not self.lost

    @property
    def lost(self) -> int:
        """Requests without a prompt for a lost compressor that can be asked again: a replay asks nobody."""
        return 0 if self.replay else self.counts.skipped.get(LOST, 0)


def start_run(
    cfg: DictConfig, results: Path, reporter: Reporter, clock: Clock = clock_now
) -> tuple[RunFolder, Prepared]:
    """Prepare a run and make its folder with the resolved config.

    Raises:
        ConfigError, RunError, SetUpError: And what :func:`prepare` raises.
    """
    spec = to_spec(cfg)
    prepared = set_up_library(prepare(spec, reporter), reporter)
    folder = create_run(results, spec.experiment, clock())
    write_atomic(folder.config, dump_config(cfg).encode("utf-8"))
    return folder, prepared


def build_only(
    cfg: DictConfig, results: Path, reporter: Reporter, clock: Clock = clock_now
) -> tuple[RunFolder, RunSpec, Plan]:
    """Build and store every capsule of a run that is not driven.

    Raises:
        ConfigError, RunError: And what :func:`prepare` raises.
    """
    spec = to_spec(cfg)
    prepared = prepare(spec, reporter, engine=False)
    folder = create_run(results, spec.experiment, clock(), dry=True)
    write_atomic(folder.config, dump_config(cfg).encode("utf-8"))
    with RunLock(folder, reporter.say):
        bench = _bench(folder, prepared, clock)
        return folder, spec, _build(folder, bench, stored_rewriter(folder), reporter)


def resume_run(folder: RunFolder, reporter: Reporter) -> Prepared:
    """Prepare to continue a run from its own config.

    Raises:
        RunError: Config or data are not those that the run began with, or the folder is a dry build.
    """
    if folder.dry:
        raise RunError(
            f"{folder.path} holds what `capsule-bench build` left, no run: start one with `capsule-bench run`"
        )
    spec = to_spec(load_config(folder.config.read_text("utf-8")))
    if folder.facts.is_file():
        known = read_json(folder.facts)["config_digest"]
        found = config_digest(spec)
        if known != found:
            raise RunError(
                f"{folder.config} was changed: the run began with config digest {known}, "
                f"this one has {found}; start a new run"
            )
    return prepare(spec, reporter)


def drive(folder: RunFolder, prepared: Prepared, reporter: Reporter, clock: Clock = clock_now) -> Outcome:
    """Bring a run to its end, whatever of it is there already.

    Raises:
        RunError, EngineError, OSError: The run stays unfinished and can be resumed.
    """
    with RunLock(folder, reporter.say) as lock:
        times = send_all(folder, prepared, reporter, lock, clock)
        if prepared.spec.rebuild:
            with _timed(times, "rebuild_ms"):
                check_in_new_process(folder, reporter)
        run, counts = complete(folder, times, reporter)
    return Outcome(folder=folder, counts=counts, void=run.void(), replay=run.spec.engine.name == REPLAY)


def send_all(
    folder: RunFolder, prepared: Prepared, reporter: Reporter, lock: RunLock, clock: Clock = clock_now
) -> dict[str, int]:
    """Build, plan, and send what has no final answer yet; returns milliseconds by phase.

    Raises:
        RunError, EngineError, OSError: The run stays unfinished and can be resumed.
    """
    times: dict[str, int] = {}
    folder.manifest.unlink(missing_ok=True)  # until the end the run is not complete
    bench, rewrite = _bench(folder, prepared, clock), None
    if is_lossy(bench):
        with _timed(times, "compress_ms"):
            start = compressor_starter(bench, folder, prepared, lock, reporter)
            named = prepared.spec.engine.recorded
            recorded = RunFolder(Path(named).expanduser()) if named else None
            rewrite = compress_all(bench, folder, start, reporter, recorded)
    with _timed(times, "build_ms"):
        plan = _build(folder, bench, rewrite, reporter)
    progress = take_up(folder, plan)
    for name, length in progress.torn.items():
        reporter.say(f"{name}: a torn tail of {number_of(length, 'byte')} was set aside ({name}.torn)")
    if progress.finished:
        reporter.say(f"finished: {len(progress.finished)} of {number_of(len(plan.requests), 'request')}")
    with Recorder(folder, folder.store(), progress.attempts) as recorder:
        stage = Stage(
            folder=folder,
            spec=prepared.spec,
            plan=plan,
            progress=progress,
            recorder=recorder,
            lock=lock,
            tokenizer=prepared.tokenizer,
            model=prepared.model,
            reporter=reporter,
        )
        return times | run_engines(stage)


def _bench(folder: RunFolder, prepared: Prepared, clock: Clock) -> Bench:
    """What every build shares, once the facts of the run are written down or checked."""
    facts = run_facts(prepared)
    if folder.facts.is_file():
        _require_same_facts(read_json(folder.facts), facts)
    else:
        write_json(folder.facts, {**facts, "run_id": folder.run_id, "started": format_time(clock())})
    return Bench(
        spec=prepared.spec,
        data=prepared.data,
        tokenizer=prepared.tokenizer,
        store=folder.store(),
        now=prepared.spec.task.as_of,
        frame=prepared.frame,
    )


def _build(folder: RunFolder, bench: Bench, rewrite: Rewriter | None, reporter: Reporter) -> Plan:
    spec, data = bench.spec, bench.data
    with reporter.bar("building capsules", len(data.samples) * len(spec.arms)) as advance:
        items, samples, unbuilt = _build_rows(folder, replace(bench, rewrite=rewrite), advance)
    for one in unbuilt:
        reporter.say(one.line())
    routes = route_all(spec, items, folder.store(read_only=True), spec.task.as_of)
    _store_routes(folder, routes)
    plan = make_plan(spec, [row.sample_id for row in samples], items, routes)
    expected = estimate(spec, plan)
    reporter.say(expected.line())
    expected.require_space(folder.path)
    for reason, count in sorted(plan.skipped.items()):
        reporter.say(f"{number_of(count, 'request')} skipped: {reason}")
    return plan


def run_facts(prepared: Prepared) -> dict[str, Any]:
    """What is fixed when a run begins and must be the same when it is continued."""
    spec, data = prepared.spec, prepared.data
    return {
        "schema_id": FACTS_ID,
        "experiment": spec.experiment,
        "config_digest": config_digest(spec),
        "now": spec.task.as_of,
        "seeds": {"run": spec.seed, "task": spec.task.seed, "sampling": spec.sampling.seed},
        "dataset": dataset_facts(data),
        "tokenizer": {"id": prepared.tokenizer.tokenizer_id, "digest": prepared.tokenizer.tokenizer_digest},
    }


def _require_same_facts(stored: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    for key, value in found.items():
        if key == "dataset":  # the same rows may come from a file now and from a hub then
            known, value = stored[key]["content_digest"], value["content_digest"]
        else:
            known = stored.get(key)
        if known != value:
            raise DeadEndError(f"this run began with {key} {known}; now it is {value}: start a new run")


def _build_rows(
    folder: RunFolder, bench: Bench, advance: Callable[[int], object]
) -> tuple[list[PlannedPrompt], tuple[SampleRow, ...], tuple[Unbuilt, ...]]:
    """Build everything; what is in the folder afterwards does not stay in memory."""
    building, lean = Building(bench), Lean()
    items: list[PlannedPrompt] = []
    replay = bench.spec.engine.name == REPLAY
    with BuildRows(folder, bench.spec.tokenizer, replay=replay) as rows:
        for item, row in building.each():
            rows.add(row)
            items.append(lean(item))
            advance(1)
        samples = building.samples()
        rows.finish(samples, bench.data.refused)
    return items, samples, rows.tally.unbuilt()


def _store_routes(folder: RunFolder, routes: Sequence[RouteRow]) -> None:
    """Write the routes of a run that has any; one that is continued must decide as it did.

    Routes may be added: of prompts whose compressor was lost when the run began.
    """
    stored = read_rows(folder.routes, RouteRow)
    keys = {(route.sample_id, route.arm_id) for route in stored}
    if stored != [route for route in routes if (route.sample_id, route.arm_id) in keys]:
        raise DeadEndError(f"{folder.routes}: the policy decides otherwise than when the run began")
    if len(stored) != len(routes):
        write_atomic(folder.routes, rows_bytes(routes))


class _timed:
    """Adds the wall time of a block to a table, in whole milliseconds."""

    def __init__(self, times: dict[str, int], name: str) -> None:
        self._times = times
        self._name = name

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._times[self._name] = round((time.monotonic() - self._began) * 1000)
