"""Tables of evidence: what stayed and what was left out, stage by stage, with reasons."""

from __future__ import annotations

from dataclasses import dataclass

from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import RunView
from bench.specs import ArmSpec
from capsules.omission import OUTSIDE_POOL

SILENT = "silent (no record)"
_REASON_ORDER = (
    "source.unresolvable",
    "visibility.denied",
    "visibility.provider",
    "authority.expired",
    "freshness.expired",
    "operator.excluded",
    "quote_policy.not_quotable",
    "duplicate.same_text",
    "contradiction.superseded",
    OUTSIDE_POOL,
    "retrieval.low_rank",
    "selection.not_needed",
    "compression.dropped",
    "budget.limit",
)
RECALL_STAGES = ("retrieval", "selection", "compression", "budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """An arm's evidence over all built prompts: candidates, what was left out and why, what was sent.

    Attributes:
        outside: Items of a corpus that lay outside the pools: no candidates, without tokens.
    """

    arm_id: str
    prompts: int
    candidates: tuple[int, int]  # items, tokens
    omitted: tuple[tuple[str, int, int], ...]  # reason, items, tokens; in the order of the stages
    sent: tuple[int, int]
    outside: int = 0


def flow(view: RunView, arm: ArmSpec) -> Flow | None:
    """The arm's evidence flow, ``None`` without a prompt that records stages."""
    builds = [build for build in view.builds(arm.arm_id) if build.stages]
    if not builds:
        return None
    omitted: dict[str, tuple[int, int]] = {}
    outside = 0
    for build in builds:
        outside += sum(items for _, items, tokens in build.omissions if tokens is None)
        entries = [(reason, items, n) for reason, items, n in build.omissions if n is not None]
        if build.silent_omissions:
            entries.append((SILENT, build.silent_omissions, build.silent_tokens))
        for reason, items, tokens in entries:
            have = omitted.get(reason, (0, 0))
            omitted[reason] = (have[0] + items, have[1] + tokens)
    ends = [
        (sum(len(b.stages[i].items) for b in builds), sum(b.stages[i].tokens for b in builds))
        for i in (0, -1)
    ]
    return Flow(
        arm_id=arm.arm_id,
        prompts=len(builds),
        candidates=ends[0],
        omitted=tuple((r, *omitted[r]) for r in sorted(omitted, key=reason_order)),
        sent=ends[1],
        outside=outside,
    )


def reason_order(reason: str) -> tuple[int, str]:
    """Sort key: the order of the stages, then reasons that are not known here, then the silent ones."""
    if reason == SILENT:
        return len(_REASON_ORDER) + 1, reason
    return _REASON_ORDER.index(reason) if reason in _REASON_ORDER else len(_REASON_ORDER), reason


def flows(view: RunView) -> list[Flow]:
    """The flows of all arms that have one."""
    return [found for arm in view.arms if (found := flow(view, arm)) is not None]


def omissions_table(view: RunView) -> Table:
    """Candidates, omissions by reason and what was sent, a block an arm."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    found_flows = flows(view)
    for found in found_flows:
        if found.outside:
            rows.append((found.arm_id, OUTSIDE_POOL, f"{found.outside:,}", "not counted", "", ""))
            data.append((found.arm_id, found.prompts, OUTSIDE_POOL, found.outside, None))
        steps = [("candidates", *found.candidates), *found.omitted, ("sent", *found.sent)]
        for name, items, tokens in steps:
            share = tokens / found.candidates[1] if found.candidates[1] else None
            rows.append(
                (
                    found.arm_id,
                    name,
                    f"{items:,}",
                    f"{tokens:,}",
                    numbers.share(share),
                    numbers.amount(tokens / found.prompts),
                )
            )
            data.append((found.arm_id, found.prompts, name, items, tokens))
    return Table(
        name="omissions",
        caption="Evidence from candidates to sent, over all prompts of an arm.",
        head=("Arm", "Step or reason", "items", "tokens", "share of candidate tokens", "tokens a sample"),
        rows=tuple(rows),
        data_head=("arm_id", "prompts", "step", "items", "tokens"),
        data=tuple(data),
        right=frozenset({2, 3, 4, 5}),
        groups=1,
        notes=(
            "Items are sentences; their tokens are counted one by one, headers apart. "
            f"“{SILENT}” is what a prompt leaves out without saying so.",
            *_outside_notes(found_flows),
        ),
    )


def _outside_notes(found: list[Flow]) -> tuple[str, ...]:
    if not any(flow.outside for flow in found):
        return ()
    return (
        f"“{OUTSIDE_POOL}” is the rest of the corpus beside each prompt's candidates: counted, but apart "
        "from all sums.",
    )


def recall_table(view: RunView) -> Table:
    """Gold evidence left after each stage, laws held, silent omissions: a row an arm."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    recalls = tuple(f"gold_recall_{stage}" for stage in RECALL_STAGES)
    metrics = (*recalls, "gold_sufficient", "excess_tokens", "omission_law", "silent_omissions")
    for arm in view.arms:
        cell = next(c for c in view.cells if c.arm.arm_id == arm.arm_id)
        summaries = [view.summary(cell.cell_id, metric) for metric in metrics]
        texts = []
        for summary in summaries:
            mean = summary.mean_ok
            if mean is None:
                texts.append("undefined" if summary.undefined else "no value")
                continue
            text = numbers.share(mean) if summary.bounds is not None else numbers.amount(mean)
            texts.append(text if summary.ok == summary.n else f"{text}, n={summary.ok:,}")
        rows.append((arm.arm_id, f"{summaries[0].n:,}", *texts))
        data.extend((arm.arm_id, s.metric, s.n, s.ok, s.mean_ok, s.headline) for s in summaries)
    return Table(
        name="evidence",
        caption="Share of gold evidence left after each stage, and the accounting of omissions (means).",
        head=(
            "Arm",
            "n",
            *(f"after {s}" for s in RECALL_STAGES),
            "all of it",
            "excess tokens",
            "omission laws held",
            "silent omissions a sample",
        ),
        rows=tuple(rows),
        data_head=("arm_id", "metric", "n", "n_ok", "mean", "headline"),
        data=tuple(data),
        right=frozenset(range(1, 10)),
        notes=(
            "These need no answer, so they are the same in every cache state. Excess: item tokens beyond "
            "those of the items that hold gold, where all gold is shown.",
        ),
    )
