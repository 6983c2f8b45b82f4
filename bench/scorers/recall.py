"""Gold evidence that is still there after each stage of the builder.

Rules of this module:

* A value is the share of the gold code points that the items after the stage cover; code points in
  several gold spans count once.
* White space does not count: items are sentences trimmed of it, and the gaps between kept items
  are shown though no item covers them.
* A sample without gold spans, and a stage that a builder does not have, are undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bench.scorers.base import Case, Score, Scorer, ScoringError, ok, undefined

STAGES = ("retrieval", "selection", "budget", "compression")
METRICS = tuple(f"gold_recall_{stage}" for stage in STAGES)
Ranges = dict[str, list[tuple[int, int]]]


def _score(case: Case) -> tuple[Score, ...]:
    gold = merged(case.sample.gold_spans)
    texts = {source: case.judge.text(source) for source in gold}
    if covered_share(texts, gold, ()) is None:
        return tuple(undefined(metric, "gold.no_spans") for metric in METRICS)
    items = {stage.stage: stage.items for stage in case.build.stages}
    scores = []
    for stage, metric in zip(STAGES, METRICS, strict=True):
        if stage not in items:
            scores.append(undefined(metric, "stage.absent"))
            continue
        scores.append(ok(metric, covered_share(texts, gold, items[stage]) or 0.0))
    return tuple(scores)


def covered_share(texts: Mapping[str, str], gold: Ranges, items: Iterable[str]) -> float | None:
    """The share of the gold that items cover; ``None`` where the gold is empty.

    Args:
        texts: Raw text of every source with gold.
        gold: Merged gold ranges.
        items: span_ids.
    """
    total = _weight(texts, gold)
    if not total:
        return None
    kept = merged(span for item in items if (span := parse_item(item))[0] in gold)
    return _weight(texts, _common(gold, kept)) / total


def parse_item(item: str) -> tuple[str, int, int]:
    """Source, start and end of a span id ``<source>:<start>-<end>``.

    Raises:
        ScoringError: The id has another form.
    """
    source, _, place = item.rpartition(":")
    start, dash, end = place.partition("-")
    if not (source and dash and start.isdecimal() and end.isdecimal()):
        raise ScoringError(f"expected an item id <source>:<start>-<end>, found {item!r}")
    return source, int(start), int(end)


def merged(spans: Iterable[tuple[str, int, int]]) -> Ranges:
    """Ranges by source, sorted, overlapping and touching ones joined."""
    by_source: Ranges = {}
    for source, start, end in sorted(spans):
        ranges = by_source.setdefault(source, [])
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        elif start < end:
            ranges.append((start, end))
    return {source: ranges for source, ranges in by_source.items() if ranges}


def _common(left: Ranges, right: Ranges) -> Ranges:
    """What both cover; within each side ranges are sorted and disjoint."""
    common: Ranges = {}
    for source in left.keys() & right.keys():
        common[source] = [
            (max(a, c), min(b, d)) for a, b in left[source] for c, d in right[source] if max(a, c) < min(b, d)
        ]
    return common


def _weight(texts: Mapping[str, str], ranges: Mapping[str, Sequence[tuple[int, int]]]) -> int:
    """Code points in ``ranges`` that are not white space."""
    return sum(
        len("".join(texts[source][start:end].split()))
        for source, places in ranges.items()
        for start, end in places
    )


RECALL = Scorer(basis="build", metrics=METRICS, score=_score)
