"""``capsule-bench study answerability``: the decision without gold against a task's gold.

Rules that this module owns:

* The evidence of a sample is what the arm ``capsule`` keeps of it (settable:
  ``arms.capsule.selection.k=2``), without examples and with a budget that never binds. A sample for which
  no capsule can be built scores 0.
* A sample is *answerable* if its gold has an answer. Only scoring knows that.
* The decision: answerable if the score reaches the threshold. One row takes the arm's
  ``missing.answerable_bp`` on all samples; one takes the threshold with the best balanced accuracy on the
  first half of the samples and scores it on the second, which it has not seen (the lowest such
  threshold).
* Precision and recall are of *unanswerable*: the verdict that a capsule records. AUROC needs no
  threshold; it is given for the score and for each of its parts, of the samples that have the part.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench.build.base import BuildContext, BuildError
from bench.build.capsule import CapsuleBuilder
from bench.build.corpus import Corpus
from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.evidence.answerability import Answerability, assess
from bench.hydra_app import compose_config
from bench.progress import Reporter
from bench.report.numbers import MISSING
from bench.report.table import Table
from bench.specs import ArmSpec, BudgetSpec, RunSpec
from bench.studies.output import facts, hand_out, rate_columns, rates_data, shown_rates, study_value
from bench.studies.rates import Rate, auroc, ratio
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample
from tasks.registry import load_task

_UNBOUND = BudgetSpec(window=1 << 40, reserved_output=1, evidence_limit=1 << 39)
_RATES = ("accuracy", "precision", "recall", "auroc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A sample: what was judged, and whether it is answerable."""

    judged: Answerability
    answerable: bool
    refused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; a rate is ``None`` where it means nothing.

    Attributes:
        majority: Accuracy of always naming the larger class.
    """

    what: str
    threshold_bp: int | None
    n: int
    unanswerable: int
    majority: Rate | None
    accuracy: Rate | None
    precision: Rate | None
    recall: Rate | None
    auroc: Rate


def run(arguments: argparse.Namespace) -> int:
    """Measure and hand out."""
    reporter = Reporter()
    spec = to_spec(compose_config(arguments.overrides))
    arm = _arm(spec)
    data = load_task(spec.task)
    with reporter.bar("building", len(data.samples)) as advance:
        verdicts = judge(data.samples, arm, Corpus(data.corpus) if data.corpus else None, advance)
    if len({verdict.answerable for verdict in verdicts}) < 2:
        raise ConfigError(
            f"task {spec.task.name}: expected answerable and unanswerable samples, found {len(verdicts)} "
            "of one kind"
        )
    rows = score(verdicts, arm.missing.answerable_bp, draws=spec.bootstrap, seed=spec.seed)
    about = (
        ("task", spec.task.name),
        ("data", data.content_digest),
        ("evidence", f"{arm.retrieval.name} k={arm.retrieval.k}, {arm.selection.name} k={arm.selection.k}"),
        ("no capsule", f"{sum(verdict.refused for verdict in verdicts):,}"),
        ("bootstrap", f"{spec.bootstrap:,} resamples of samples, seed {spec.seed}"),
    )
    shown = table(spec.task.name, rows, facts(about))
    hand_out(shown, study_value(about, rows), arguments.out, arguments.json)
    return 0


def judge(
    samples: Sequence[Sample], arm: ArmSpec, corpus: Corpus | None, advance: Callable[[int], object]
) -> list[Verdict]:
    """Build each sample's evidence without gold and judge it."""
    build, found = CapsuleBuilder(), []
    context = BuildContext(
        arm=replace(arm, budget=_UNBOUND), tokenizer=ByteTokenizer(), examples=(), corpus=corpus
    )
    for sample in samples:
        texts: list[str] = []
        refused = False
        try:
            built = build(sample.input, context)
            texts = [span.exact for evidence in built.evidence for span in evidence.exact_spans]
        except BuildError:
            refused = True
        found.append(
            Verdict(
                judged=assess(sample.input.question, texts),
                answerable=bool(sample.gold.answers),
                refused=refused,
            )
        )
        advance(1)
    return found


def score(verdicts: Sequence[Verdict], threshold_bp: int, *, draws: int, seed: int) -> list[Row]:
    """The rows of the table."""
    middle = (len(verdicts) + 1) // 2
    chosen = best_threshold(verdicts[:middle])
    rows = [
        _decided("all samples", verdicts, threshold_bp, draws, seed),
        _decided("second half, threshold of the first", verdicts[middle:], chosen, draws, seed),
    ]
    parts: tuple[tuple[str, Callable[[Answerability], int | None]], ...] = (
        ("coverage alone", lambda one: one.coverage_bp),
        ("time alone", lambda one: one.time_bp),
    )
    for what, part in parts:
        scored = [(value, one.answerable) for one in verdicts if (value := part(one.judged)) is not None]
        if scored:
            rows.append(_part(what, scored, draws, seed))
    return rows


def best_threshold(verdicts: Sequence[Verdict]) -> int:
    """The lowest threshold with the best balanced accuracy (the mean of the two classes' recall)."""
    total = {kind: sum(one.answerable == kind for one in verdicts) or 1 for kind in (True, False)}

    def quality(cut: int) -> int:
        right = {True: 0, False: 0}
        for one in verdicts:
            right[one.answerable] += (one.judged.score_bp >= cut) == one.answerable
        return right[True] * total[False] + right[False] * total[True]

    cuts = sorted(
        {0, *(one.judged.score_bp for one in verdicts), *(one.judged.score_bp + 1 for one in verdicts)}
    )
    return max(cuts, key=lambda cut: (quality(cut), -cut))


def table(task: str, rows: Sequence[Row], about: str) -> Table:
    """The rows as a table."""
    head = ("decision", "threshold", "samples", "unanswerable", "majority")
    return Table(
        name=f"answerability-{task}",
        caption=f"Answerability without gold on {task}",
        head=(*head, "accuracy", "precision", "recall", "AUROC"),
        rows=tuple(
            (
                row.what,
                MISSING if row.threshold_bp is None else f"{row.threshold_bp / 10_000:.2f}",
                f"{row.n:,}",
                f"{row.unanswerable:,}",
                *shown_rates(_rates(row)),
            )
            for row in rows
        ),
        data_head=(
            "decision",
            "threshold_bp",
            "samples",
            "unanswerable",
            *rate_columns("majority", *_RATES),
        ),
        data=tuple(
            (
                row.what,
                row.threshold_bp,
                row.n,
                row.unanswerable,
                *rates_data(_rates(row)),
            )
            for row in rows
        ),
        right=frozenset({1, 2, 3}),
        notes=(
            "precision and recall: of the verdict unanswerable. majority: accuracy of always naming the "
            "larger class. 95 % intervals in brackets; none where the bootstrap sees no uncertainty.",
            about,
        ),
    )


def _decided(what: str, verdicts: Sequence[Verdict], threshold_bp: int, draws: int, seed: int) -> Row:
    said = [one.judged.score_bp < threshold_bp for one in verdicts]
    true = [not one.answerable for one in verdicts]
    larger = sum(true) * 2 >= len(true)

    def rate(numbers: Sequence[tuple[int, int]]) -> Rate:
        return ratio(numbers, draws=draws, seed=seed)

    both = list(zip(said, true, strict=True))
    return Row(
        what=what,
        threshold_bp=threshold_bp,
        n=len(verdicts),
        unanswerable=sum(true),
        majority=rate([(int(one == larger), 1) for one in true]),
        accuracy=rate([(int(s == t), 1) for s, t in both]),
        precision=rate([(int(s and t), int(s)) for s, t in both]),
        recall=rate([(int(s and t), int(t)) for s, t in both]),
        auroc=auroc([one.judged.score_bp for one in verdicts], [not t for t in true], draws=draws, seed=seed),
    )


def _part(what: str, scored: Sequence[tuple[int, bool]], draws: int, seed: int) -> Row:
    return Row(
        what=what,
        threshold_bp=None,
        n=len(scored),
        unanswerable=sum(not answerable for _, answerable in scored),
        majority=None,
        accuracy=None,
        precision=None,
        recall=None,
        auroc=auroc([value for value, _ in scored], [kind for _, kind in scored], draws=draws, seed=seed),
    )


def _arm(spec: RunSpec) -> ArmSpec:
    found = [arm for arm in spec.arms if arm.layout == "capsule"]
    if not found:
        raise ConfigError("study answerability: expected an arm of layout capsule, found none")
    return found[0]


def _rates(row: Row) -> tuple[Rate | None, ...]:
    return row.majority, row.accuracy, row.precision, row.recall, row.auroc
