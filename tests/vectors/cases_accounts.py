"""Vectors of ``verify``: the accounts of omissions, what is required and what is protected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kit import IDS, World, omission, span
from recipes import Vector
from verify_recipe import Change, both, drop, put, verify


def cases() -> Iterator[Vector]:
    """All of them."""
    kept = span("valve", "The valve shut late.")["span_id"]
    tank = span("valve", "The tank held 40 litres.")["span_id"]
    crew = span("valve", "The crew left at noon.")["span_id"]
    overlapping = f"{IDS['valve']}:20-30"
    rewrite = {
        "items": [crew],
        "text": "noon",
        "compressor": "x",
        "dropped": [],
        "tokens_before": 5,
        "tokens_sent": 1,
    }
    rows: tuple[tuple[str, Change, tuple[str, ...], str], ...] = (
        (
            "entry-deleted",
            drop("prompt/omissions/0"),
            ("omission.unaccounted",),
            "an omission that is not recorded",
        ),
        (
            "count",
            put("prompt/candidates/items", 8),
            ("omission.unaccounted",),
            "one candidate fewer than items",
        ),
        (
            "denied-count",
            put("prompt/omissions/2/count", 1),
            ("omission.unaccounted",),
            "denied items count one by one",
        ),
        (
            "kept-too",
            put("prompt/omissions/0/item", kept),
            ("omission.unaccounted",),
            "an item both kept and omitted",
        ),
        (
            "constraint-too",
            both(put("prompt/omissions/0/item", "task"), put("prompt/token_budget/protected", [])),
            ("omission.unaccounted",),
            "a constraint both kept and omitted",
        ),
        (
            "constraint-like-a-span",
            put("prompt/constraints/0/id", kept),
            ("omission.unaccounted",),
            "a constraint under the id of a kept span",
        ),
        (
            "two-reasons",
            both(
                lambda world: world.prompt["omissions"].insert(1, omission(tank, "budget.limit", 7)),
                put("prompt/omissions/1", omission(tank, "compression.dropped", 7)),
                put("prompt/candidates/items", 10),
            ),
            ("omission.unaccounted",),
            "an item omitted twice",
        ),
        (
            "overlap",
            put("prompt/omissions/0/item", overlapping),
            ("omission.unaccounted",),
            "ranges that overlap",
        ),
        (
            "required",
            put("prompt/omissions/0/required", True),
            ("evidence.required.omitted",),
            "a required item omitted",
        ),
        (
            "required-denied",
            put("prompt/omissions/2/required", True),
            ("evidence.required.omitted",),
            'a required item omitted "by policy"',
        ),
        (
            "required-pool",
            put("prompt/omissions/1/required", True),
            ("evidence.required.omitted",),
            "or outside the pool",
        ),
        (
            "constraint",
            put("prompt/omissions/0/item", "example-1"),
            ("budget.protected.truncated",),
            "a constraint dropped although constraints are protected",
        ),
        (
            "window",
            put("prompt/token_budget/window", 575),
            ("budget.protected.truncated",),
            "a window one token too small",
        ),
        (
            "rewrite",
            put("prompt/rewrites", [rewrite]),
            ("schema.reference",),
            "a rewrite of an item that is not kept",
        ),
        (
            "several",
            both(
                put("prompt/candidates/items", 1),
                put("prompt/omissions/0/required", True),
                put("prompt/token_budget/window", 1),
            ),
            ("omission.unaccounted", "evidence.required.omitted", "budget.protected.truncated"),
            "all of a stage at once",
        ),
    )
    for name, change, codes, why in rows:
        yield verify(f"verify-omission-{name}_fail", why, change, codes)
    reasons = (
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
    for reason in reasons:
        dropped = omission(tank, reason, 7, required=True)
        yield verify(
            f"verify-required-{reason.replace('.', '-').replace('_', '-')}_fail",
            f"a required item omitted for the reason {reason}",
            lambda world, dropped=dropped: _first_omission(world, dropped),  # type: ignore[misc]
            ("evidence.required.omitted",),
        )


def _first_omission(world: World, entry: dict[str, Any]) -> None:
    rest = world.prompt["omissions"][1:]
    key = lambda item: (item["stage"], item["reason"], item["item"] is not None, item["item"] or "")  # noqa: E731
    world.prompt["omissions"] = sorted([entry, *rest], key=key)
