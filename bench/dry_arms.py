"""What ``build`` says of each arm beside its cells: gold recall by stage, omissions by reason, refusals.

Rules that this module owns: recall is that of ``bench.scorers.recall``, over the samples that have gold
spans; a prompt that could not be built counts 0 there and by its code beside it. Everything is read back
from the folder, so the counts are of what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from bench.data_counts import DataCounts, by_code, data_counts
from bench.plural import number_of
from bench.records import BuildRow, SampleRow
from bench.records_io import read_rows
from bench.run_store import RunFolder, read_json
from bench.scorers.base import Case
from bench.scorers.judge import Judge
from bench.scorers.recall import RECALL
from bench.scorers.run import leading_code
from bench.specs import ArmSpec, RunSpec
from tasks.base import RefusedRow

ORDER = ("retrieval", "selection", "compression", "budget")  # as the builder runs them

Amount = tuple[int, int]  # items, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCount:
    """One arm over all samples.

    Attributes:
        tokens: Prompt tokens of all prompts.
        with_gold: Samples with gold spans: the denominator of ``recall``.
        recall: Mean share of gold code points left after each stage, in basis points; a stage that the
            builder does not have is absent.
        omissions: (items, tokens) by reason, as the capsules record them.
        outside: Items of a corpus that lay outside the pools; they were no candidates and have no tokens.
        silent: (items, tokens) that went without a record.
        failed: Prompts that could not be built, by code.
    """

    arm_id: str
    prompts: int
    tokens: int
    with_gold: int
    recall: dict[str, int]
    omissions: dict[str, Amount]
    outside: int
    silent: Amount
    failed: dict[str, int]

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "arm_id": self.arm_id,
            "prompts": self.prompts,
            "prompt_tokens": self.tokens,
            "with_gold": self.with_gold,
            "gold_recall_bp": self.recall,
            "omissions": {reason: _amount(found) for reason, found in self.omissions.items()},
            "outside_pool": self.outside,
            "silent": _amount(self.silent),
            "failed": self.failed,
        }


def count_arms(folder: RunFolder, spec: RunSpec) -> list[ArmCount]:
    """Count what the folder holds of every arm, in the order of the config."""
    samples = {row.sample_id: row for row in read_rows(folder.samples, SampleRow)}
    builds = read_rows(folder.builds, BuildRow)
    store = folder.store(read_only=True)
    judge = Judge(lambda source: store.get(source).data.decode())
    return [_count(arm, [b for b in builds if b.arm_id == arm.arm_id], samples, judge) for arm in spec.arms]


def count_refused(folder: RunFolder) -> dict[str, int]:
    """Rows of the data set that could not become samples, by code."""
    return by_code(read_rows(folder.refused, RefusedRow))


def stored_counts(folder: RunFolder) -> DataCounts | None:
    """What became of all rows of the data set; ``None`` where the task does not say."""
    return data_counts(read_json(folder.facts)["dataset"], read_rows(folder.refused, RefusedRow))


def lines(arms: Sequence[ArmCount], refused: dict[str, int]) -> list[str]:
    """The counts for people."""
    said = []
    for arm in arms:
        stages = ", ".join(f"{stage} {bp / 100:.1f} %" for stage, bp in arm.recall.items())
        said += [
            f"{arm.arm_id}: {number_of(arm.prompts, 'prompt')}, {number_of(arm.tokens, 'token')}",
            f"  gold evidence left after {stages or 'no stage'} "
            f"({number_of(arm.with_gold, 'sample')} with gold spans)",
        ]
        gone = [
            f"{reason} {items} ({number_of(tokens, 'token')})"
            for reason, (items, tokens) in arm.omissions.items()
        ]
        if arm.silent[0]:
            gone.append(f"without any record {arm.silent[0]} ({number_of(arm.silent[1], 'token')})")
        said.append(f"  omitted items: {', '.join(gone) or 'none'}")
        if arm.outside:
            said.append(f"  outside the pool, apart: {number_of(arm.outside, 'item')}, tokens not counted")
        said += [f"  not built: {code} {count}" for code, count in arm.failed.items()]
    rows = ", ".join(f"{code} {count}" for code, count in refused.items())
    return [*said, f"rows refused: {rows or 'none'}"]


def _count(arm: ArmSpec, builds: Sequence[BuildRow], samples: dict[str, SampleRow], judge: Judge) -> ArmCount:
    good = [row for row in builds if row.status == "ok"]
    omissions: dict[str, Amount] = {}
    outside = 0
    for row in good:
        for reason, items, tokens in row.omissions:
            before = omissions.get(reason, (0, 0))
            if tokens is None:
                outside += items
            else:
                omissions[reason] = before[0] + items, before[1] + tokens
    with_gold = sum(bool(samples[row.sample_id].gold_spans) for row in builds)
    return ArmCount(
        arm_id=arm.arm_id,
        prompts=len(good),
        tokens=sum(row.n_prompt for row in good),
        with_gold=with_gold,
        recall=_recall(arm, good, samples, judge, with_gold),
        omissions=dict(sorted(omissions.items())),
        outside=outside,
        silent=(sum(row.silent_omissions for row in good), sum(row.silent_tokens for row in good)),
        failed=dict(
            sorted(Counter(leading_code(r.error, "build.failed") for r in builds if r.status != "ok").items())
        ),
    )


def _recall(
    arm: ArmSpec, good: Sequence[BuildRow], samples: dict[str, SampleRow], judge: Judge, with_gold: int
) -> dict[str, int]:
    values: dict[str, list[float]] = {}
    for row in good:
        case = Case(
            sample=samples[row.sample_id], build=row, contract=arm.contract, exchange=None, judge=judge
        )
        for score in RECALL.score(case):
            if score.value is not None:
                values.setdefault(score.metric, []).append(score.value)
    found = {stage: values.get(f"gold_recall_{stage}", []) for stage in ORDER}
    return {stage: round(fsum(v) / with_gold * 10_000) for stage, v in found.items() if v}


def _amount(found: Amount) -> dict[str, int]:
    return {"items": found[0], "tokens": found[1]}
