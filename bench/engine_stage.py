"""Starts an engine for each distinct engine setting that has pending requests, and ends it.

Rules that this module owns:

* One start a setting; before the next start no process of the last engine may be left, and device
  memory must be back near what it was.
* A runner gets its engine behind the policy (``bench.egress``), never the engine itself.
* The policy is asked before an engine is: one to whom nothing that is pending may go is neither started nor
  contacted, and its requests are the policy's refusals.
* A provider whose engine cannot be had costs its own requests alone: the others are asked first.
* An engine that dies costs the wave in flight (recorded as errors, retried by ``resume``) and is
  started again, at most ``MAX_DEATHS`` times; the cache is brought back as after an interruption. One that
  did not start, and one that cannot do what it is asked (``engines.base``), is not.
* The engines of one run are one engine: a start whose profile differs from an earlier one of the same
  setting (another version, other weights, another block size) is refused.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bench.config import plain_value
from bench.contracts.forms import is_constrained
from bench.device_memory import require_back, used_mib
from bench.egress import AuthorizedEngine, RunGate
from bench.engines.base import EngineAbsentError, EngineError, EngineInfo, EngineSettingError
from bench.engines.registry import start_engine
from bench.engines.scoring import scoring
from bench.engines.start import EngineStart
from bench.engines.unasked import UnaskedEngine
from bench.groups import Group
from bench.isolation import probe_isolation
from bench.lock import RunLock
from bench.model_store import ModelFolder
from bench.planner import FLOOR, QUALITY, Plan, Planned, takes_salts
from bench.progress import Reporter
from bench.recorder import Recorder
from bench.records import IsolationRow
from bench.records_io import RowWriter, append_value, read_rows, read_values
from bench.resume import Progress
from bench.run_policy import policy_of
from bench.run_store import DeadEndError, RunFolder
from bench.runner import GroupRunner
from bench.scoring_gate import AuthorizedScorer
from bench.specs import RunSpec
from capsules.decision import LOCAL
from capsules.store import Store
from capsules.tokenizer import Tokenizer

MAX_DEATHS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What running the engines needs."""

    folder: RunFolder
    spec: RunSpec
    plan: Plan
    progress: Progress
    recorder: Recorder
    lock: RunLock
    tokenizer: Tokenizer
    model: ModelFolder | None
    reporter: Reporter


def run_engines(stage: Stage) -> dict[str, int]:
    """Send everything that is pending; returns milliseconds by phase.

    Raises:
        EngineError: An engine does not start, died too often, or cannot do what it is asked; what other
            providers had to answer is done.
        RunError: An engine is not the one that the run began with, or left a process behind.
    """
    times = {"engine_start_ms": 0, "requests_ms": 0}
    lost: dict[str, EngineError] = {}
    for group in stage.plan.groups:
        if group.provider not in lost:
            error = _try_group(stage, group, times)
            if error is not None:
                lost[group.provider] = error
    for error in lost.values():
        raise error
    return times


def _try_group(stage: Stage, group: Group, times: dict[str, int]) -> EngineError | None:
    """Run a group, if need be with several starts; why it could not be finished, or ``None``."""
    for left in range(MAX_DEATHS, -1, -1):
        if not pending(stage, group):
            return None
        try:
            _run_group(stage, group, times)
            return None
        except (EngineAbsentError, EngineSettingError) as error:
            return error
        except EngineError as error:
            if not left:
                return error
            again = f"{MAX_DEATHS - left + 1} of {MAX_DEATHS}"
            stage.reporter.say(f"{error}\nthe engine is started again ({again})")
    return None


def start_scorer(start: EngineStart, projects: Iterable[str], store: Store, now: str) -> AuthorizedScorer:
    """Start the run's engine, without prefix caching, to score texts behind the policy.

    Raises:
        EngineError: It does not start, or gives no log-probabilities of prompts.
    """
    engine = start_engine(start)
    try:
        return AuthorizedScorer(scoring(engine), projects=projects, store=store, now=now)
    except BaseException:
        engine.close()
        raise


def pending(stage: Stage, group: Group) -> list[Planned]:
    """Requests of a group that this driver has no answer to, and no earlier driver a final one."""
    planned = [
        p
        for cell in group.cells
        for phase in (QUALITY, FLOOR)
        for p in stage.plan.part(group, phase, cell.cell_id)
    ]
    planned += stage.plan.latency[group.name]
    void = stage.progress.void
    return [
        p
        for p in planned
        if p.request_id not in stage.progress.finished and (p.cell.cell_id, p.phase) not in void
    ]


def _run_group(stage: Stage, group: Group, times: dict[str, int]) -> None:
    gate = RunGate(
        plan=stage.plan,
        store=stage.folder.store(read_only=True),
        now=stage.spec.task.as_of,
        rules=policy_of(stage.spec.providers, (p.prompt.project for p in stage.plan.requests)),
        provider=group.provider,
    )
    if not gate.serves(pending(stage, group)):
        _refuse(stage, group, gate)
        return
    stage.reporter.say(f"starting the engine {_words(stage, group)} ...")
    memory = used_mib() if stage.spec.engine.device == "cuda" else None
    began = time.monotonic()
    engine = start_engine(_start(stage, group))
    try:
        _record_engine(stage, group, engine.info)
        ready = time.monotonic()
        times["engine_start_ms"] += round((ready - began) * 1000)
        stage.reporter.say(f"engine ready after {ready - began:.1f} s: {_describe(engine.info)}")
        asked = AuthorizedEngine(engine, gate)
        _isolation(stage, group, asked)
        total = len(pending(stage, group))
        with stage.reporter.bar(f"requests, caching {group.name}", total) as advance:
            _runner(stage, group, asked, advance).run()
        stage.reporter.say(f"sent by the policy's leave: {gate.line()}")
        times["requests_ms"] += round((time.monotonic() - ready) * 1000)
    finally:
        engine.close()
        stage.lock.check_ended()
        require_back(memory)


def _words(stage: Stage, group: Group) -> str:
    """A group's engine, for people."""
    setting = "with prefix caching" if group.prefix_caching else "without prefix caching"
    if group.retention != stage.spec.engine.retention:
        setting += f", retention {group.retention}"
    started = stage.spec.engine.name if group.provider == LOCAL else f"of provider {group.provider}"
    return f"{started} {setting}"


def _refuse(stage: Stage, group: Group, gate: RunGate) -> None:
    """Write the policy's refusals down; nobody is started or contacted."""
    engine = UnaskedEngine(stage.spec.engine.name, prefix_caching=group.prefix_caching)
    asked = AuthorizedEngine(engine, gate)
    _runner(stage, group, asked, lambda done: None).run()
    stage.reporter.say(f"the engine {_words(stage, group)} is not started: the policy lets nothing out to it")


def _isolation(stage: Stage, group: Group, engine: AuthorizedEngine) -> None:
    """Ask once a prompt whether salts keep projects apart, where there is a cache that we can tell of."""
    path, info = stage.folder.isolation, engine.info
    kept = group.prefix_caching and info.cache_known and not info.replayed
    if not kept or not takes_salts(stage.spec, group.provider) or not stage.spec.isolation_samples:
        return
    stored = read_rows(path, IsolationRow)
    told = {(row.arm_id, row.sample_id) for row in stored if row.group == group.name}
    rows = probe_isolation(engine, group, stage.plan, stage.spec.isolation_samples, told)
    with RowWriter(path) as writer:
        for row in rows:
            writer.append(row)
        writer.flush()


def _start(stage: Stage, group: Group) -> EngineStart:
    return EngineStart(
        spec=dataclasses.replace(stage.spec.engine, retention=group.retention),
        model=stage.spec.model,
        folder=stage.model,
        prefix_caching=group.prefix_caching,
        log=stage.folder.path / f"engine-{group.name}.log",
        tokenizer=stage.tokenizer,
        on_process=stage.lock.add_engine,
        grammars=any(is_constrained(cell.arm.contract.name) for cell in group.cells),
        provider=next((p for p in stage.spec.providers if p.provider_id == group.provider), None),
    )


def _runner(
    stage: Stage, group: Group, engine: AuthorizedEngine, advance: Callable[[int], object]
) -> GroupRunner:
    return GroupRunner(
        engine=engine,
        group=group,
        plan=stage.plan,
        progress=stage.progress,
        recorder=stage.recorder,
        concurrency=stage.spec.concurrency,
        advance=advance,
    )


def _record_engine(stage: Stage, group: Group, info: EngineInfo) -> None:
    """Write the start down, and refuse an engine that is not the one that the run began with."""
    profile = plain_value(info.profile)
    for earlier in engines_of(stage.folder):
        if earlier["group"] != group.name:
            continue
        known = earlier["info"]["profile"]
        for key in sorted(set(known) | set(profile)):
            if known.get(key) != profile.get(key):
                raise DeadEndError(
                    f"this run began with an engine whose {key} was {known.get(key)!r}; "
                    f"now it is {profile.get(key)!r}: start a new run"
                )
        break
    value = {"group": group.name, "info": plain_value(dataclasses.asdict(info))}
    append_value(stage.folder.engines, value)


def engines_of(folder: RunFolder) -> list[dict[str, Any]]:
    """All engine starts of a run: ``{"group", "info"}``."""
    return read_values(folder.engines)


def _describe(info: EngineInfo) -> str:
    block = "unknown" if info.block_size is None else str(info.block_size)
    version = info.profile.get("engine_version")
    return f"{info.name} {version or ''}, block size {block}, prefix caching {info.prefix_caching}"
