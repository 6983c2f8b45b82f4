"""Prompts that could not be built: which arm, how many samples, with which code, and why the first one.

Rules of this module: the first sample of an arm and code says the cause in its builder's words. Where a limit
in tokens is the cause, who counted is named; a tokenizer that is not the model's counts otherwise than the
limits were chosen for.
"""

from __future__ import annotations

from bench.report.numbers import count_of
from bench.report.table import Table
from bench.report.view import RunView
from bench.run_tokenizer import MODEL
from bench.unbuilt import Unbuilt, tally

NAMED = 6  # arms and codes at the top; the table holds all
_BUDGET = "budget."


def unbuilt(view: RunView) -> tuple[Unbuilt, ...]:
    """What could not be built, by arm and code."""
    return tally(view.input.builds).unbuilt()


def unbuilt_told(view: RunView) -> str | None:
    """The top of the report about it; ``None`` where everything was built."""
    found = unbuilt(view)
    if not found:
        return None
    named = "; ".join(
        f"{one.arm_id}, {count_of(one.samples, one.of)} samples: {one.code} ({one.said})"
        for one in found[:NAMED]
    )
    more = f"; and {len(found) - NAMED:,} more in the table below" if len(found) > NAMED else ""
    return f"NO PROMPT: {named}{more}.{_counted(view, found)}"


def unbuilt_table(view: RunView) -> Table | None:
    """A row an arm and code; ``None`` where everything was built."""
    found = unbuilt(view)
    if not found:
        return None
    rows = [(one.arm_id, one.code, one.samples, one.of, one.sample_id, one.said) for one in found]
    counted = _counted(view, found).strip()
    return Table(
        name="unbuilt",
        caption="Prompts that could not be built. Their samples stay in every denominator, as errors.",
        head=("Arm", "Code", "samples", "of", "First sample", "What its builder said"),
        rows=tuple((arm, code, f"{n:,}", f"{of:,}", first, said) for arm, code, n, of, first, said in rows),
        data_head=("arm_id", "code", "samples", "of", "first_sample_id", "said"),
        data=tuple(rows),
        right=frozenset({2, 3}),
        groups=1,
        notes=(counted,) if counted else (),
    )


def _counted(view: RunView, found: tuple[Unbuilt, ...]) -> str:
    """Who counted, where a limit in tokens is the cause."""
    if not any(one.code.startswith(_BUDGET) for one in found):
        return ""
    named = view.input.spec.tokenizer
    if named == MODEL:
        return " Tokens are counted by the model's own tokenizer."
    return (
        f" Tokens are counted by tokenizer {named}, not by the model's own: it may count several times as "
        "many for the same text, against the same limits (evidence_limit, window)."
    )
