"""``capsule-bench explain``: how two capsules differ, in words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.commands.find_capsule import Capsule, Found, Stores, named_capsule
from bench.commands.output import print_json, print_text
from bench.diff.explain import Explanation, Section, explain
from bench.run_store import RunError
from capsules.codec import to_value
from capsules.prompt import PromptCapsule


def run(arguments: argparse.Namespace) -> int:
    """Explain the difference; the exit code is 0 whether or not there is one."""
    runs = arguments.run_name or ["latest"]
    left = named_capsule(arguments.left, runs, arguments.results)
    right = named_capsule(arguments.right, runs, arguments.results)
    if type(left.capsule) is not type(right.capsule):
        raise RunError(
            f"expected two capsules of one type, found {left.capsule.schema_id} and {right.capsule.schema_id}"
        )
    missing: list[str] = []
    told = explain(
        to_value(left.capsule),
        to_value(right.capsule),
        _evidence(left.capsule, runs, arguments.results, missing),
        _evidence(right.capsule, runs, arguments.results, missing),
    )
    if arguments.json:
        print_json(_value(left, right, told, missing))
        return 0
    for line in _lines(left, right, told, missing):
        print_text(line)
    return 0


def _evidence(capsule: Capsule, runs: Sequence[str], results: Path, missing: list[str]) -> list[Any]:
    """The evidence capsules of a prompt that the stores hold; the others are named in ``missing``."""
    if not isinstance(capsule, PromptCapsule):
        return []
    found = []
    for ref in capsule.evidence_capsule_refs:
        try:
            found.append(to_value(Stores(runs, results).capsule(ref.id).capsule))
        except RunError:
            missing.append(ref.id)
    return found


def _value(left: Found, right: Found, told: Explanation, missing: Sequence[str]) -> dict[str, Any]:
    return {
        "left": left.digest,
        "right": right.digest,
        "equal": left.digest == right.digest,
        "spans": dict(told.spans),
        "sections": [{"title": s.title, "lines": list(s.lines)} for s in told.sections],
        "changes": [{"in": name, **change.to_value()} for name, change in told.changes],
        "not_compared": list(missing),
    }


def _lines(left: Found, right: Found, told: Explanation, missing: Sequence[str]) -> Iterator[str]:
    yield f"A {left.digest}"
    yield f"B {right.digest}"
    if left.digest == right.digest:
        yield "the same capsule: every byte is equal"
        return
    if left.capsule.capsule_id == right.capsule.capsule_id:
        yield f"two versions of {left.capsule.capsule_id}"
    else:
        yield f"two capsules, {left.capsule.capsule_id} and {right.capsule.capsule_id}"
    kept = ", ".join(f"{count} {kind}" for kind, count in told.spans.items())
    yield f"spans of evidence: {kept or 'none'}"
    for section in told.sections:
        yield from _section(section)
    for digest in missing:
        yield f"not compared: evidence {digest} is in no store that was searched (--run RUN)"


def _section(section: Section) -> Iterator[str]:
    yield ""
    yield section.title
    for line in section.lines:
        yield f"  {line}"
