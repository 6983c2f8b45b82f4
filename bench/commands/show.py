"""``capsule-bench show``: a run in short, or a capsule with its spans in context and what was left out.

A capsule is shown as the store holds it, private text included: who may read the store may read this.
``--ids-only`` shows no text of the data.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.commands.find_capsule import Found, named_capsule, require_whole
from bench.commands.output import print_json, print_text
from bench.completion import require_manifest
from bench.config_checks import ConfigError
from bench.golden.texts import without_texts
from bench.plural import number_of
from bench.records import CellState
from bench.report.visible import visible
from bench.run_store import RunFolder, find_run, read_json, write_atomic
from bench.showing.gather import Setting, gather
from bench.showing.page import to_html
from bench.showing.text import lines
from bench.stored_run import StoredRun
from bench.unbuilt import tally
from capsules.codec import to_value
from capsules.content_id import is_content_id
from capsules.timestamp import is_time


def run(arguments: argparse.Namespace) -> int:
    """Show a run or a capsule."""
    if arguments.now is not None and not is_time(arguments.now):
        raise ConfigError(f"--now: expected YYYY-MM-DDTHH:MM:SSZ, found {arguments.now!r}")
    if is_content_id(arguments.target) or Path(arguments.target).is_file():
        return _show_capsule(arguments)
    require_whole(arguments.target)
    if arguments.html is not None:
        raise ConfigError("--html: expected the digest of a capsule; a run has its own report.html")
    return _show_run(find_run(arguments.target, arguments.results), as_json=arguments.json)


def _show_capsule(arguments: argparse.Namespace) -> int:
    found = named_capsule(arguments.target, arguments.run_name or ["latest"], arguments.results)
    if arguments.json and arguments.html is None:
        value = to_value(found.capsule)
        shown = without_texts(value, {}) if arguments.ids_only else value
        print_json({"digest": found.digest, "capsule": shown})
        return 0
    view = gather(found.digest, found.capsule, _setting(found, arguments))
    if arguments.html is not None:
        write_atomic(arguments.html, to_html(view).encode())
        if arguments.json:
            print_json({"digest": found.digest, "html": str(arguments.html)})
        else:
            print_text(f"written: {arguments.html}")
        return 0
    width = shutil.get_terminal_size((100, 24)).columns
    for line in lines(view, colour=sys.stdout.isatty(), width=width):
        print_text(line)
    return 0


def _setting(found: Found, arguments: argparse.Namespace) -> Setting:
    """The store of the run that holds the capsule; of a file, that of the run named, if one is."""
    folder = found.folder
    if folder is None and arguments.run_name:
        folder = find_run(arguments.run_name[0], arguments.results)
    now = arguments.now
    if now is None and folder is not None and folder.facts.is_file():
        now = str(read_json(folder.facts)["now"])
    store = folder.store(read_only=True) if folder is not None else None
    return Setting(store=store, now=now, hide=arguments.ids_only)


def _show_run(folder: RunFolder, *, as_json: bool) -> int:
    stored = StoredRun(folder)
    manifest = require_manifest(folder) if folder.complete else None
    if as_json:
        print_json(
            {
                "run": str(folder.path),
                "complete": folder.complete,
                "facts": stored.facts,
                "counts": _counts(stored),
                "void": list(stored.void()),
                "manifest": manifest,
            }
        )
        return 0
    for line in run_lines(stored):
        print_text(line)
    return 0


def _counts(run: StoredRun) -> dict[str, Any] | None:
    """What became of the planned requests; ``None`` while there is no plan."""
    counts = run.counts()
    return {**counts.to_value(), "missing": counts.missing} if run.built else None


def _requests(run: StoredRun) -> str:
    if not run.built:
        return "not planned: building the prompts has not finished"
    counts = run.counts()
    skipped = ", ".join(f"{reason} {n}" for reason, n in sorted(counts.skipped.items())) or "none"
    return (
        f"{counts.planned} planned: {counts.done} done, {counts.failed} failed, "
        f"skipped: {skipped}, {counts.missing} to do"
    )


def run_lines(run: StoredRun) -> Iterator[str]:
    """A run in short."""
    facts = run.facts
    yield f"run        {run.folder.path}"
    yield f"state      {'complete' if run.folder.complete else 'not complete'}"
    yield f"experiment {run.spec.experiment}, begun at {facts['started']}, judged at {facts['now']}"
    yield f"config     {facts['config_digest']}"
    data = facts["dataset"]
    rows = number_of(data["rows"], "row")
    yield f"data       {data['name']}, {rows}, {data['content_digest']} ({data['origin']})"
    yield f"model      {run.spec.model.name}; engine {run.spec.engine.name}"
    yield f"requests   {_requests(run)}"
    for unbuilt in tally(run.builds).unbuilt():
        yield f"no prompt  {visible(unbuilt.line())}"
    for void in run.void():
        yield f"void       {void}"
    if run.folder.complete:
        whole = len({engine["group"] for engine in run.engines}) == len(run.engines)
        times = require_manifest(run.folder)["times_ms"]
        yield f"time       {time_line(times, run.cells, whole=whole)}"
    if not run.built:
        return
    yield "prompts (sample, arm, tokens, capsule):"
    for row in run.builds:
        what = row.prompt_capsule or (
            "no capsule" if row.status == "ok" else f"error: {visible(row.error or '')}"
        )
        yield f"  {visible(row.sample_id)}  {row.arm_id}  {row.n_prompt}  {what}"


def time_line(times: Mapping[str, int], cells: Sequence[CellState], *, whole: bool) -> str:
    """Where the last driver's wall time went, and which share of it was not the engine's.

    The engine's part is its starts and the time in which it answered; priming, probes, predictions and
    writing count as the harness's. Where not ``whole`` (an engine was started twice: the run was resumed),
    times are of one driver and answers of several, so there is no share.
    """
    answered = sum(cell.wall_us or 0 for cell in cells) / 1000
    total = sum(times.values())
    engine = min(total, times.get("engine_start_ms", 0) + answered)
    parts = ", ".join(
        f"{name.removesuffix('_ms').replace('_', ' ')} {ms / 1000:.1f} s" for name, ms in times.items()
    )
    share = f"{(total - engine) / total:.1%}" if total and whole else "unknown"
    return f"{total / 1000:.1f} s ({parts}); outside the engine: {share}"
