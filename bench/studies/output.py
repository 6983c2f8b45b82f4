"""How a study is handed out: a table on stdout or JSON, and the same as files.

Rules that this module owns: ``--out`` holds ``<name>.csv`` and ``<name>.md`` and no text of a data set;
shares in JSON are integers, in basis points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.commands.output import print_json, print_text
from bench.report.numbers import MISSING, share, with_interval
from bench.report.table import Table, Value, to_csv, to_markdown
from bench.run_store import write_atomic
from bench.studies.rates import Rate

RATE_HEAD = ("value", "low", "high", "n")


class SlottedRow(Protocol):
    """A line of a study's table: a slotted dataclass of names, numbers and rates."""

    __slots__: tuple[str, ...]


def shown_rate(rate: Rate) -> str:
    """A rate for people, with its interval and n."""
    if rate.value is None:
        return f"{share(None)} (n = {rate.n:,})"
    return f"{with_interval(share(rate.value), 'share', rate.interval)} (n = {rate.n:,})"


def rate_data(rate: Rate) -> tuple[Value, ...]:
    """A rate as the CSV holds it, in the columns of ``RATE_HEAD``."""
    low = rate.interval.low if rate.interval else None
    high = rate.interval.high if rate.interval else None
    return rate.value, low, high, rate.n


def rate_value(rate: Rate) -> dict[str, int | None]:
    """A rate as JSON."""
    value, low, high, n = (
        one if one is None or isinstance(one, int) else round(float(one) * 10_000) for one in rate_data(rate)
    )
    return {"bp": value, "low_bp": low, "high_bp": high, "n": n}


def shown_rates(rates: Iterable[Rate | None]) -> tuple[str, ...]:
    """Rates for people; one that means nothing is said to be missing."""
    return tuple(MISSING if rate is None else shown_rate(rate) for rate in rates)


def rates_data(rates: Iterable[Rate | None]) -> tuple[Value, ...]:
    """Rates as the CSV holds them; one that means nothing leaves its columns empty."""
    empty = (None,) * len(RATE_HEAD)
    return tuple(cell for rate in rates for cell in (empty if rate is None else rate_data(rate)))


def study_value(about: Sequence[tuple[str, str]], rows: Sequence[SlottedRow]) -> dict[str, Any]:
    """A study as JSON: what it rests on, and the fields of its rows."""
    return {**dict(about), "rows": [_row_value(row) for row in rows]}


def _row_value(row: SlottedRow) -> dict[str, Any]:
    return {
        name: rate_value(found) if isinstance(found := getattr(row, name), Rate) else found
        for name in row.__slots__
    }


def rate_columns(*names: str) -> tuple[str, ...]:
    """The CSV heads of some rates."""
    return tuple(f"{name}_{part}" for name in names for part in RATE_HEAD)


def hand_out(table: Table, value: Mapping[str, Any], out: str | None, as_json: bool) -> None:
    """Print a study, and write its files where asked.

    Raises:
        OSError: The folder cannot be written.
    """
    text = f"**{table.caption}**\n\n{to_markdown(table)}"
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / f"{table.name}.csv", to_csv(table).encode())
        write_atomic(folder / f"{table.name}.md", text.encode())
    if as_json:
        print_json(value)
    else:
        print_text(text.rstrip("\n"))


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """One line of what a study rests on."""
    return "; ".join(f"{name} {value}" for name, value in pairs)
