"""A handful of real answers, so that a reader sees what is behind the numbers.

The rule of choice, so that nothing is picked by hand: in the reference state, going through the
samples in plan order, the first two where every arm's answer is exact throughout, the first two where
arms differ, and the first two where no arm's is.
"""

from __future__ import annotations

from bench.build.base import ShownSource
from bench.report.document import Example, ShownAnswer
from bench.report.view import CellView, RunView
from bench.report.visible import clipped
from bench.scorers.judge import JudgedQuote

RULE = (
    "Chosen by rule, not by hand: in plan order the first two samples where every arm's answer "
    "is exact, the first "
    "two where arms differ, and the first two where no arm's answer is exact. Invisible "
    "characters are written out."
)
_EACH = 2
_LIMIT = 600


def examples(view: RunView) -> tuple[Example, ...]:
    """Up to six samples with the answers of every arm in the reference state."""
    cells = [cell for arm in view.arms if (cell := view.reference_cell(arm)) is not None]
    chosen: dict[str, list[str]] = {"all": [], "some": [], "none": []}
    for sample_id in view.sample_ids:
        exact = [_exact(view, sample_id, cell) for cell in cells]
        kind = "all" if all(exact) else "some" if any(exact) else "none"
        if len(chosen[kind]) < _EACH:
            chosen[kind].append(sample_id)
    samples = [sample_id for kind in chosen.values() for sample_id in kind]
    return tuple(_example(view, sample_id, cells) for sample_id in samples)


def _exact(view: RunView, sample_id: str, cell: CellView) -> bool:
    quotes = view.judged(sample_id, cell)
    return bool(quotes) and all(quote.exact for quote in quotes or ())


def _example(view: RunView, sample_id: str, cells: list[CellView]) -> Example:
    sample = view.index.samples[sample_id]
    return Example(
        sample_id=sample_id,
        question=clipped(sample.question, _LIMIT),
        accepted=tuple(clipped(answer, _LIMIT) for answer in sample.answers),
        answers=tuple(_answer(view, sample_id, cell) for cell in cells),
    )


def _answer(view: RunView, sample_id: str, cell: CellView) -> ShownAnswer:
    exchange = view.exchange(sample_id, cell.cell_id, "quality")
    quotes = view.judged(sample_id, cell)
    if exchange is None or quotes is None:
        row = next(
            (r for r in view.metric_rows(cell.cell_id, "exact_citation") if r.sample_id == sample_id), None
        )
        why = "no answer" if row is None else f"{row.status}: {row.code}"
        return ShownAnswer(cell=cell.label, text=None, verdicts=(why,))
    names = {doc.number: doc.doc_id for doc in _shown(view, sample_id, cell)}
    verdicts = tuple(_verdict(quote, names) for quote in quotes) or ("no quote in the answer",)
    return ShownAnswer(cell=cell.label, text=clipped(exchange[1].text, _LIMIT), verdicts=verdicts)


def _shown(view: RunView, sample_id: str, cell: CellView) -> tuple[ShownSource, ...]:
    build = view.build(sample_id, cell.arm.arm_id)
    return () if build is None else build.shown


def _verdict(quote: JudgedQuote, names: dict[int, str]) -> str:
    verdict = "exact" if quote.exact else "not exact"
    cited = (
        "cites no source"
        if quote.number is None
        else f"cites [{quote.number}] {names.get(quote.number, '')}".rstrip()
    )
    codes = f"; {', '.join(quote.codes)}" if quote.codes else ""
    return f"{verdict}: {quote.match}, place {quote.place}, {cited}{codes}"
