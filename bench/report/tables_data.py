"""The table of the data: what became of its rows, and how much of its gold is as published."""

from __future__ import annotations

from bench.data_counts import LEFT_OUT, DataCounts, data_counts
from bench.report.table import Table, Value
from bench.report.view import RunView

Line = tuple[str, str, int, str]  # of what, class, number, where the first is


def data_table(view: RunView) -> Table | None:
    """Rows by what became of them, refusals by code, gold by repair; ``None`` where a run does not say."""
    facts = view.input.manifest.get("dataset")
    counts = data_counts(facts, view.input.refused) if isinstance(facts, dict) else None
    if counts is None:
        return None
    lines = [*_rows(counts), *_refused(view, counts), *_gold(counts)]
    data: tuple[tuple[Value, ...], ...] = tuple(lines)
    return Table(
        name="data",
        caption="Rows of the data set by what became of them, refusals by code, gold by class of repair.",
        head=("Of", "Class", "n", "First place"),
        rows=tuple((what, name, f"{n:,}", place) for what, name, n, place in lines),
        data_head=("of", "class", "n", "first"),
        data=data,
        right=frozenset({2}),
        groups=1,
        notes=(
            f"Rows read ({counts.read:,}) = evaluated + reserved + refused + beyond the limit; reserved are "
            f"the {counts.examples:,} few-shot examples and what shares their text. Every row of the file is "
            "judged, whatever the limit, so refusals and gold describe the file. refused.jsonl holds every "
            "refusal.",
        ),
    )


def _rows(counts: DataCounts) -> list[Line]:
    found = {
        "read": counts.read,
        "evaluated": counts.samples,
        "reserved": counts.reserved,
        "refused": sum(counts.refused.values()),
        "beyond the limit": counts.unused,
    }
    return [("Rows", name, n, "") for name, n in found.items()]


def _refused(view: RunView, counts: DataCounts) -> list[Line]:
    first: dict[str, str] = {}
    for row in view.input.refused:
        first.setdefault(row.code, f"{row.row}{row.where}")
    return [("Refused rows", code, n, first[code]) for code, n in counts.refused.items()]


def _gold(counts: DataCounts) -> list[Line]:
    repaired = [(name, n) for name, n in counts.repaired.items() if name != LEFT_OUT]
    left_out = [(name, n) for name, n in counts.repaired.items() if name == LEFT_OUT]
    return [
        ("Gold places", "exact", counts.exact, ""),
        *(("Gold places", f"repaired: {name}", n, "") for name, n in repaired),
        *(("Gold places", "left out", n, "") for _, n in left_out),
    ]
