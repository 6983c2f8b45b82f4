"""Vectors of ``verify``: the accounts of omissions, what is required and what is protected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kit import IDS, World, omission, span
from recipes import Vector
from verify_recipe import Change, both, drop, put, verify

TANK = span("valve", "The tank held 40 litres.")["span_id"]
DROPPING_REASONS = (
    "authority.expired",
    "budget.limit",
    "compression.dropped",
    "contradiction.superseded",
    "duplicate.same_text",
    "freshness.expired",
    "operator.excluded",
    "quote_policy.not_quotable",
    "retrieval.low_rank",
    "selection.not_needed",
    "source.unresolvable",
    "visibility.provider",
)


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _unaccounted()
    yield from _required()
    yield from _protected()
    yield _rewrite()
    yield _several()
    yield from _required_for_any_reason()


def _failing(name: str, why: str, change: Change, *codes: str) -> Vector:
    return verify(f"verify-omission-{name}_fail", why, change, codes)


def _unaccounted() -> Iterator[Vector]:
    kept = span("valve", "The valve shut late.")["span_id"]
    unprotected = put("prompt/token_budget/protected", [])
    twice = both(
        lambda world: world.prompt["omissions"].insert(1, omission(TANK, "budget.limit", 7)),
        put("prompt/omissions/1", omission(TANK, "compression.dropped", 7)),
        put("prompt/candidates/items", 10),
    )
    first = "prompt/omissions/0/item"
    for name, change, why in (
        ("entry-deleted", drop("prompt/omissions/0"), "an omission that is not recorded"),
        ("count", put("prompt/candidates/items", 8), "one candidate fewer than items"),
        ("denied-count", put("prompt/omissions/2/count", 1), "denied items count one by one"),
        ("kept-too", put(first, kept), "an item both kept and omitted"),
        ("constraint-too", both(put(first, "task"), unprotected), "a constraint both kept and omitted"),
        (
            "constraint-like-a-span",
            put("prompt/constraints/0/id", kept),
            "a constraint under the id of a kept span",
        ),
        ("two-reasons", twice, "an item omitted twice"),
        ("overlap", put(first, f"{IDS['valve']}:20-30"), "ranges that overlap"),
    ):
        yield _failing(name, why, change, "omission.unaccounted")


def _required() -> Iterator[Vector]:
    for name, entry, why in (
        ("required", 0, "a required item omitted"),
        ("required-denied", 2, 'a required item omitted "by policy"'),
        ("required-pool", 1, "or outside the pool"),
    ):
        change = put(f"prompt/omissions/{entry}/required", True)
        yield _failing(name, why, change, "evidence.required.omitted")


def _protected() -> Iterator[Vector]:
    code = "budget.protected.truncated"
    yield _failing(
        "constraint",
        "a constraint dropped although constraints are protected",
        put("prompt/omissions/0/item", "example-1"),
        code,
    )
    yield _failing("window", "a window one token too small", put("prompt/token_budget/window", 575), code)


def _rewrite() -> Vector:
    rewrite = {
        "items": [span("valve", "The crew left at noon.")["span_id"]],
        "text": "noon",
        "compressor": "x",
        "dropped": [],
        "tokens_before": 5,
        "tokens_sent": 1,
    }
    change = put("prompt/rewrites", [rewrite])
    return _failing("rewrite", "a rewrite of an item that is not kept", change, "schema.reference")


def _several() -> Vector:
    change = both(
        put("prompt/candidates/items", 1),
        put("prompt/omissions/0/required", True),
        put("prompt/token_budget/window", 1),
    )
    codes = ("omission.unaccounted", "evidence.required.omitted", "budget.protected.truncated")
    return _failing("several", "all of a stage at once", change, *codes)


def _required_for_any_reason() -> Iterator[Vector]:
    for reason in DROPPING_REASONS:
        yield verify(
            f"verify-required-{reason.replace('.', '-').replace('_', '-')}_fail",
            f"a required item omitted for the reason {reason}",
            _first_omission(omission(TANK, reason, 7, required=True)),
            ("evidence.required.omitted",),
        )


def _first_omission(entry: dict[str, Any]) -> Change:
    """Puts an entry in the place of the first omission, and the omissions in order."""

    def place(item: dict[str, Any]) -> tuple[str, str, bool, str]:
        return (item["stage"], item["reason"], item["item"] is not None, item["item"] or "")

    def change(world: World) -> None:
        world.prompt["omissions"] = sorted([entry, *world.prompt["omissions"][1:]], key=place)

    return change
