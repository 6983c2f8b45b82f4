"""Whether the evidence that is shown suffices, and what it costs beyond the smallest gold cover.

Rules of this module:

* Sufficient means that the items left after the last stage cover every gold code point that is not white
  space, as in ``bench.scorers.recall``. A sample without gold spans is undefined.
* Excess is counted in item tokens, headers apart, and only where the evidence is sufficient: the smallest
  gold cover is then all shown items that hold a part of the gold. Elsewhere, and for prompts whose items are
  not counted one by one (naive ones), it is undefined.
"""

from __future__ import annotations

from bench.scorers.base import Case, Score, Scorer, ok, undefined
from bench.scorers.recall import Ranges, covered_share, merged, parse_item

METRICS = ("gold_sufficient", "excess_tokens")
LAST = "budget"


def _score(case: Case) -> tuple[Score, ...]:
    gold = merged(case.sample.gold_spans)
    texts = {source: case.judge.text(source) for source in gold}
    stages = {stage.stage: stage.items for stage in case.build.stages}
    if LAST not in stages:
        return tuple(undefined(metric, "stage.absent") for metric in METRICS)
    share = covered_share(texts, gold, stages[LAST])
    if share is None:
        return tuple(undefined(metric, "gold.no_spans") for metric in METRICS)
    if share < 1:
        return ok("gold_sufficient", 0), undefined("excess_tokens", "gold.not_covered")
    tokens = {piece.ref: piece.n for piece in case.build.pieces if piece.kind == "item"}
    if set(stages[LAST]) - tokens.keys():
        return ok("gold_sufficient", 1), undefined("excess_tokens", "stage.absent")
    excess = sum(tokens[item] for item in stages[LAST] if not _holds(gold, item))
    return ok("gold_sufficient", 1), ok("excess_tokens", excess)


def _holds(gold: Ranges, item: str) -> bool:
    source, start, end = parse_item(item)
    return any(start < high and low < end for low, high in gold.get(source, ()))


SUFFICIENCY = Scorer(basis="build", metrics=METRICS, score=_score)
