"""Output contracts side by side, and what a grammar changed: each constrained cell against its free twin.

Rules of this module:

* Twins are two arms that differ in the constraint alone, in the same cache state: the same prompts, byte
  for byte, so the paired difference is that of decoding.
* Unfinished is judged by parsing. What did not finish stays in every denominator.
* No table in a run where every arm has the contract ``quote``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

from bench.contracts.forms import QUOTE, free_form, is_constrained
from bench.metrics.percentiles import percentiles
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.tables_cost import latency_values
from bench.report.tables_differences import DATA_HEAD, HEAD, difference_data, difference_row
from bench.report.tables_quality import headline_intervals
from bench.report.view import CellView, RunView, named
from bench.scorers.citations import GRAMMAR_LIMIT

SHARES = ("exact_citation", "answer_in_quote", "right_source")
COMPARED = (*SHARES, "tokens_output", "ttft_us", "e2e_us")
_COUNTS = ("expected", "answers", "quotes", "finished", "exact", "unfinished", "grammar limit")


def has_contracts(view: RunView) -> bool:
    """Whether any arm asks for more than a free quote."""
    return any(arm.contract.name != QUOTE for arm in view.arms)


def contracts_table(view: RunView) -> Table:
    """What was finished, exact and right under each contract, and what the grammar cost; a row a cell."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    intervals = {metric: headline_intervals(view, view.cells, metric) for metric in SHARES}
    for i, cell in enumerate(view.cells):
        counts = _counts(view, cell)
        summaries = [view.summary(cell.cell_id, metric) for metric in SHARES]
        shares = [
            "void" if s.void else numbers.with_interval(numbers.share(s.headline), "share", intervals[m][i])
            for m, s in zip(SHARES, summaries, strict=True)
        ]
        took = percentiles(latency_values(view, cell, "grammar_us"))
        grammar = "no grammar"
        if took is not None:
            grammar = f"{numbers.milliseconds(took.p50)} / {numbers.milliseconds(took.p90)} ({took.n:,})"
        elif is_constrained(cell.arm.contract.name):
            grammar = "no value"
        shown = [f"{counts[name]:,}" for name in _COUNTS]
        rows.append((named(cell.arm), cell.state, cell.arm.contract.name, *shown, *shares, grammar))
        plain: list[Value] = [counts[name] for name in _COUNTS]
        plain += [s.headline for s in summaries]
        plain += [took.n, took.p50, took.p90] if took else [0, None, None]
        data.append((cell.cell_id, cell.arm.contract.name, *plain))
    return Table(
        name="contracts",
        caption="Output contracts: what was finished, exact and right, and what the grammar took.",
        head=("Arm", "Cache", "Contract", *_COUNTS, *SHARES, "grammar, ms: p50 / p90 (n)"),
        rows=tuple(rows),
        data_head=(
            *("cell_id", "contract", *(name.replace(" ", "_") for name in _COUNTS), *SHARES),
            *("grammar_n", "grammar_p50_us", "grammar_p90_us"),
        ),
        data=tuple(data),
        right=frozenset(range(3, 3 + len(_COUNTS))),
        groups=1,
        notes=(
            "Quotes: quotes or pointers in the answers; finished: their form is complete, judged by parsing; "
            "unfinished: answers that began one and ran out of tokens. Grammar limit: the engine's "
            "grammar compiler gave up, the tool's failure. Shares are headlines over all expected samples. "
            "The time of the grammar is part of TTFT and end to end; requests of the latency phase.",
        ),
    )


def _counts(view: RunView, cell: CellView) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in view.metric_rows(cell.cell_id, "exact_citation"):
        judged = view.judged(row.sample_id, cell)
        counts["expected"] += 1
        if judged is None:
            continue
        counts["answers"] += 1
        counts["quotes"] += len(judged)
        counts["finished"] += sum(quote.finished for quote in judged)
        counts["exact"] += sum(quote.exact for quote in judged)
        if row.code == GRAMMAR_LIMIT:
            counts["grammar limit"] += 1
        elif not all(quote.finished for quote in judged):
            counts["unfinished"] += 1
    return counts


def contract_differences_table(view: RunView) -> Table | None:
    """Constrained minus free, paired by sample; ``None`` without twins."""
    twins = _twins(view)
    if not twins:
        return None
    wanted = [(metric, a, b) for metric in COMPARED for a, b in twins]
    pairs = [(view.completed(a, metric), view.completed(b, metric)) for metric, a, b in wanted]
    found = view.differences(pairs)
    return Table(
        name="contract_differences",
        caption="Constrained minus free on the same prompts, paired by sample, 95 % bootstrap intervals.",
        head=HEAD,
        rows=tuple(difference_row(m, d) for (m, _, _), d in zip(wanted, found, strict=True)),
        data_head=DATA_HEAD,
        data=tuple(difference_data(m, d) for (m, _, _), d in zip(wanted, found, strict=True)),
        right=frozenset({4, 5}),
        groups=2,
        notes=(
            "Both arms of a pair send the same ids; only decoding differs. Both times hold the grammar's.",
        ),
    )


def _twins(view: RunView) -> list[tuple[CellView, CellView]]:
    free = {
        (_without_constraint(cell), cell.state): cell
        for cell in reversed(view.cells)
        if not is_constrained(cell.arm.contract.name)
    }
    return [
        (cell, free[key])
        for cell in view.cells
        if is_constrained(cell.arm.contract.name) and (key := (_without_constraint(cell), cell.state)) in free
    ]


def _without_constraint(cell: CellView) -> object:
    contract = dataclasses.replace(cell.arm.contract, name=free_form(cell.arm.contract.name))
    return dataclasses.replace(cell.arm, arm_id="", caches=(), contract=contract)
