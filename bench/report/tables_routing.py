"""Who got which samples, and what the policy decided, by provider and by code."""

from __future__ import annotations

from collections import Counter

from bench.report.numbers import count_of
from bench.report.table import Table, Value
from bench.report.view import RunView

ALLOWED = "allowed"


def routes_table(view: RunView) -> Table | None:
    """A row a (routed arm, provider); ``None`` for a run without routed arms."""
    routes = view.input.routes
    if not routes:
        return None
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for arm_id in dict.fromkeys(route.arm_id for route in routes):
        chosen = [route for route in routes if route.arm_id == arm_id]
        got = Counter(route.provider for route in chosen)
        asked: dict[str, Counter[str]] = {}
        for route in chosen:
            for hop in route.hops:
                asked.setdefault(hop.provider, Counter()).update(hop.codes or (ALLOWED,))
        for provider, codes in asked.items():
            said = ", ".join(f"{code} {count:,}" for code, count in sorted(codes.items()))
            rows.append((arm_id, provider, count_of(got[provider], len(chosen)), said))
            data.extend(
                (arm_id, provider, got[provider], len(chosen), code, count)
                for code, count in sorted(codes.items())
            )
        if got[None]:
            rows.append((arm_id, "nobody", count_of(got[None], len(chosen)), ""))
            data.append((arm_id, "nobody", got[None], len(chosen), "", 0))
    return Table(
        name="routes",
        caption="Who got which samples, and what the policy said when it was asked.",
        head=("Arm", "Provider", "samples", "decisions by code"),
        rows=tuple(rows),
        data_head=("arm_id", "provider", "samples", "n", "code", "decisions"),
        data=tuple(data),
        right=frozenset({2}),
        groups=1,
        notes=(
            "A provider that refuses is asked no further; its fallbacks are. A refusal can have several "
            "codes. Every request was decided again when it was sent, a retry too.",
        ),
    )
