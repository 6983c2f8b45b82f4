"""``capsule-bench study contradictions``: detectors against the labels of a task.

Rules that this module owns:

* A text pair is *flagged* if any sentence of the one and any of the other are similar and the detector
  calls them a contradiction; its kind is that of the first such sentence pair in the order of the texts.
* Precision = flagged pairs that contradict / flagged pairs. Recall = the same / pairs that contradict. By
  kind: precision of what was flagged as that kind, and its share of all pairs that contradict.
* Of a stratum of pairs without contradiction, the share that was flagged is shown, of one with, its
  recall.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.build.chunking import sentences
from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.evidence.detector import KINDS, Detector, similar
from bench.evidence.detectors import detector
from bench.hydra_app import compose_config
from bench.progress import Reporter
from bench.report.table import Table
from bench.studies.labelled_pairs import LabelledPair, labelled_pairs
from bench.studies.output import facts, hand_out, rate_columns, rates_data, shown_rates, study_value
from bench.studies.rates import Rate, ratio
from tasks.registry import load_task

ANY = "any"
Judged = list[tuple[LabelledPair, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; ``precision`` or ``recall`` is ``None`` where it means nothing."""

    group: str
    detector: str
    similarity_bp: int
    what: str
    contradict: int
    others: int
    flagged: int
    precision: Rate | None
    recall: Rate | None
    false_alarms: Rate | None


def run(arguments: argparse.Namespace) -> int:
    """Measure and hand out; every name is resolved before the data is read."""
    reporter = Reporter()
    names = arguments.detectors.split(",")
    cuts = [_basis_points(word) for word in arguments.similarity.split(",")]
    detectors = [(name, detector(name)) for name in names]
    spec = to_spec(compose_config(arguments.overrides))
    data = load_task(spec.task)
    pairs = labelled_pairs(spec.task.name, data.samples)
    if not any(pair.contradicts for pair in pairs):
        raise ConfigError(f"task {spec.task.name}: expected labelled contradictions, found none")
    rows: list[Row] = []
    with reporter.bar("comparing", len(pairs) * len(detectors) * len(cuts)) as advance:
        for name, ask in detectors:
            for cut in cuts:
                judged = judge(pairs, ask, cut, advance)
                rows += score(judged, name, cut, draws=spec.bootstrap, seed=spec.seed)
    about = (
        ("task", spec.task.name),
        ("data", data.content_digest),
        ("samples", f"{len(data.samples):,}"),
        ("refused rows", f"{len(data.refused):,}"),
        ("bootstrap", f"{spec.bootstrap:,} resamples of samples, seed {spec.seed}"),
    )
    shown = table(spec.task.name, rows, facts(about))
    hand_out(shown, study_value(about, rows), arguments.out, arguments.json)
    return 0


def judge(
    pairs: Sequence[LabelledPair], ask: Detector, similarity_bp: int, advance: Callable[[int], object]
) -> Judged:
    """Each pair with the kind that the detector gives it."""
    found: Judged = []
    for pair in pairs:
        texts = [
            (left, right)
            for left in _sentences(pair.left)
            for right in _sentences(pair.right)
            if similar(left, right, similarity_bp)
        ]
        kinds = [kind for kind in ask(texts) if kind is not None] if texts else []
        found.append((pair, kinds[0] if kinds else None))
        advance(1)
    return found


def score(judged: Judged, name: str, similarity_bp: int, *, draws: int, seed: int) -> list[Row]:
    """The rows of one detector: by set of pairs, kind and stratum."""
    rows = []
    for group in dict.fromkeys(pair.group for pair, _ in judged):
        mine = [(pair, kind) for pair, kind in judged if pair.group == group]
        kinds = [kind for kind in KINDS if any(found == kind for _, found in mine)]
        for kind in (ANY, *kinds):
            rows.append(_row(mine, group, name, similarity_bp, kind, draws, seed))
        for stratum in sorted({pair.stratum for pair, _ in mine if pair.stratum}):
            part = [(pair, kind) for pair, kind in mine if pair.stratum == stratum]
            rows.append(_row(part, f"{group}: {stratum}", name, similarity_bp, ANY, draws, seed))
    return rows


def table(task: str, rows: Sequence[Row], about: str) -> Table:
    """The rows as a table."""
    head = ("pairs", "detector", "similarity", "kind", "contradict", "others", "flagged")
    return Table(
        name=f"contradictions-{task}",
        caption=f"Detectors of contradictions on {task}",
        head=(*head, "precision", "recall", "false alarms"),
        rows=tuple(
            (
                row.group,
                row.detector,
                f"{row.similarity_bp / 10_000:.2f}",
                row.what,
                f"{row.contradict:,}",
                f"{row.others:,}",
                f"{row.flagged:,}",
                *shown_rates(_rates(row)),
            )
            for row in rows
        ),
        data_head=(
            *head[:2],
            "similarity_bp",
            *head[3:],
            *rate_columns("precision", "recall", "false_alarms"),
        ),
        data=tuple(
            (
                row.group,
                row.detector,
                row.similarity_bp,
                row.what,
                row.contradict,
                row.others,
                row.flagged,
                *rates_data(_rates(row)),
            )
            for row in rows
        ),
        right=frozenset({2, 4, 5, 6}),
        groups=1,
        notes=(
            "95 % intervals in brackets; none where the bootstrap sees no uncertainty. "
            "false alarms: flagged pairs / pairs without contradiction.",
            about,
        ),
    )


def _row(judged: Judged, group: str, name: str, similarity_bp: int, kind: str, draws: int, seed: int) -> Row:
    hits = [(pair, found is not None and kind in (ANY, found)) for pair, found in judged]
    positives = sum(pair.contradicts for pair, _ in hits)
    clusters: dict[str, list[int]] = {}
    for pair, flagged in hits:
        counts = clusters.setdefault(pair.cluster, [0, 0, 0, 0])  # flagged right, flagged, right, wrong
        counts[0] += flagged and pair.contradicts
        counts[1] += flagged
        counts[2] += pair.contradicts
        counts[3] += not pair.contradicts
    rows = list(clusters.values())

    def rate(numbers: Sequence[tuple[int, int]], means: bool) -> Rate | None:
        return ratio(numbers, draws=draws, seed=seed) if means else None

    others = len(hits) - positives
    return Row(
        group=group,
        detector=name,
        similarity_bp=similarity_bp,
        what=kind,
        contradict=positives,
        others=others,
        flagged=sum(flagged for _, flagged in hits),
        precision=rate([(c[0], c[1]) for c in rows], bool(positives and others)),
        recall=rate([(c[0], c[2]) for c in rows], bool(positives)),
        false_alarms=rate([(c[1] - c[0], c[3]) for c in rows], bool(others)),
    )


def _rates(row: Row) -> tuple[Rate | None, ...]:
    return row.precision, row.recall, row.false_alarms


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, 0, len(text))]


def _basis_points(word: str) -> int:
    if not word.isdecimal() or not word.isascii() or not 1 <= int(word) <= 10_000:
        raise ConfigError(f"--similarity: expected whole numbers from 1 to 10000, found {word!r}")
    return int(word)
