"""The promises, each with what measures it in this run, or with why nothing does.

A reason names what is missing in the data or in the plan, so that a reader can make a run that does
measure it.
"""

from __future__ import annotations

from collections import Counter

from bench.metrics.names import HIGHER, LOWER
from bench.metrics.series import Series
from bench.report import measures as m
from bench.report.measures import Measure
from bench.report.numbers import count_of
from bench.report.view import RunView
from bench.scorers.edits import EditCounts


def promised(view: RunView) -> list[Measure]:
    """Every promise with its measures."""
    return [
        m.of_metric(view, "smaller context", "prompt tokens a sample", "tokens_prompt"),
        _inspectable(view),
        _prefix_reuse(view),
        m.of_metric(view, "exact verification", "exact_citation", "exact_citation"),
        _false_accepts(view),
        *_isolation(view),
        *_reproducible(view),
        m.of_metric(view, "explicit omission", "silent omissions a sample", "silent_omissions"),
        *_routing(view),
        *_accounting(view),
    ]


def _inspectable(view: RunView) -> Measure:
    series = m.of_builds(view, m.mapped_share)
    return Measure(
        promise="inspectable",
        name="sent tokens that map to a named section or a source range",
        unit="share",
        direction=HIGHER,
        values=series,
        pairs=series,
        note="A prompt that is tokenized as one string has no record of which token stands for what.",
    )


def _prefix_reuse(view: RunView) -> Measure:
    name = "share of the prompt read from the cache, primed"
    series = m.of_cells(view, "primed", m.cached_share(view))
    if series is None:
        return _unmeasured("prefix reuse", name, "share", HIGHER, "no primed cell in the plan")
    return Measure(
        promise="prefix reuse", name=name, unit="share", direction=HIGHER, values=series, pairs=series
    )


def _false_accepts(view: RunView) -> Measure:
    values, shown, total = {}, {}, EditCounts()
    for arm in view.arms:
        cell = view.reference_cell(arm)
        if cell is None:
            continue
        counts = m.edit_counts(view, cell)
        values[arm.arm_id] = Series(
            label=arm.arm_id,
            values={s: None if not c or not c.quotes else float(c.accepted) for s, c in counts.items()},
        )
        summed = sum((c for c in counts.values() if c is not None), EditCounts())
        shown[arm.arm_id] = count_of(summed.accepted, summed.edits)
        total = total + summed
    name = "one-character edits of exact quotes accepted as exact (false accepts)"
    if not total.edits:
        return _unmeasured("exact verification", name, "edits", LOWER, "no exact quote to edit")
    return Measure(
        promise="exact verification",
        name=name,
        unit="edits",
        direction=LOWER,
        values=values,
        pairs=values,
        shown=shown,
        no_pairs="no sample with an exact quote in both",
        note=(
            f"{total.edits:,} edits of {total.quotes:,} exact quotes: {total.refused:,} refused; "
            f"{total.elsewhere:,} refused at their place but verbatim at another range of the source "
            f"(a quote without its first letter is still a quote); {total.folded:,} equal under quote/1; "
            f"{total.accepted:,} false accepts. n counts answers with an exact quote."
        ),
    )


def _isolation(view: RunView) -> list[Measure]:
    promise, unit = "project isolation", "tokens"
    if view.input.isolation:
        return [
            _across(view, "cached across projects, with salt", "with_salt"),
            _across(view, "cached across projects, without salt", "without_salt"),
        ]
    without = _unmeasured(
        promise,
        "cached across projects, without salt",
        unit,
        LOWER,
        "with caching on every request has a salt",
    )
    name = "cached across projects, with salt"
    projects = {sample.project for sample in view.index.samples.values()}
    if len(projects) < 2:
        reason = "all samples belong to one project"
        return [_unmeasured(promise, name, unit, LOWER, reason), without]
    series = m.of_cells(view, "primed", m.beyond_own_label(view))
    if series is None:
        return [_unmeasured(promise, name, unit, LOWER, "no primed cell in the plan"), without]
    measured = Measure(
        promise=promise,
        name=name,
        unit=unit,
        direction=LOWER,
        values=series,
        pairs=series,
        note="Tokens read from the cache beyond what requests of the same project and level left there.",
    )
    return [measured, without]


def _across(view: RunView, name: str, field: str) -> Measure:
    """Cached tokens of one prompt asked for two projects, summed over the engines that were asked."""
    series = {}
    for arm in view.arms:
        rows = [row for row in view.input.isolation if row.arm_id == arm.arm_id]
        values: dict[str, float | None] = {}
        for sample_id in dict.fromkeys(row.sample_id for row in rows):
            found = [getattr(row, field) for row in rows if row.sample_id == sample_id]
            values[sample_id] = None if None in found else float(sum(found))
        series[arm.arm_id] = Series(label=arm.arm_id, values=values)
    engines = len({row.group for row in view.input.isolation})
    nulls = Counter(
        getattr(row, f"{field}_null") or "a reason that was not kept"
        for row in view.input.isolation
        if getattr(row, field) is None
    )
    without = "; ".join(f"{n:,} for {reason}" for reason, n in sorted(nulls.items()))
    return Measure(
        promise="project isolation",
        name=name,
        unit="tokens",
        direction=LOWER,
        values=series,
        pairs=series,
        note=(
            "The same prompt asked for two projects with equal evidence, before the measured requests; "
            f"cached tokens summed over {engines} engine{'s' * (engines > 1)} with a cache."
            + (f" Asked without a number: {without}." if without else "")
        ),
    )


def _reproducible(view: RunView) -> list[Measure]:
    promise, rebuilt = "reproducible calls", _rebuilt(view)
    name = "outputs identical, primed and off"
    series = m.of_cells(view, "primed", m.same_output(view, "off"), needs="off")
    if series is None or not any(s.known for s in series.values()):
        return [rebuilt, _unmeasured(promise, name, "share", HIGHER, "no arm has both primed and off cells")]
    measured = Measure(
        promise=promise,
        name=name,
        unit="share",
        direction=HIGHER,
        values=series,
        pairs=series,
        note="Only what goes beyond the floor, the next row, can be laid to caching.",
    )
    return [rebuilt, measured, _floor(view)]


def _rebuilt(view: RunView) -> Measure:
    promise, name = "reproducible calls", "request digests equal after a rebuild in a new process"
    if not view.input.rebuilt:
        reason = "nothing was built again (rebuild=false, or the rebuild failed)"
        return _unmeasured(promise, name, "share", HIGHER, reason)
    series = {
        arm.arm_id: Series(
            label=arm.arm_id,
            values={
                row.sample_id: row.equal / row.requests
                for row in view.input.rebuilt
                if row.arm_id == arm.arm_id
            },
        )
        for arm in view.arms
    }
    requests, equal = (sum(getattr(row, key) for row in view.input.rebuilt) for key in ("requests", "equal"))
    return Measure(
        promise=promise,
        name=name,
        unit="share",
        direction=HIGHER,
        values=series,
        pairs=series,
        note=f"{equal:,} of {requests:,} requests: token ids, sampling and salt.",
    )


def _floor(view: RunView) -> Measure:
    promise, name = "reproducible calls", "outputs identical, off and its repeat (the floor)"
    series = m.of_cells(view, "off", m.same_output(view, "off", "floor"))
    if series is None or not any(s.known for s in series.values()):
        return _unmeasured(promise, name, "share", HIGHER, "no repeat in the plan (floor_samples is 0)")
    return Measure(
        promise=promise,
        name=name,
        unit="share",
        direction=HIGHER,
        values=series,
        pairs=series,
        note=(
            "The same prompts at the same concurrency in another order, without caching: near-ties flip "
            "with another order of rounding."
        ),
    )


def _routing(view: RunView) -> list[Measure]:
    promise, unit, samples = "safe routing", "code points", view.index.samples.values()
    measures = []
    for name, label, documents in (
        ("text of private or foreign sources sent", "denied", m.denied_documents),
        ("text of expired sources sent", "expired", m.expired_documents),
    ):
        if not any(documents(sample) for sample in samples):
            reason = f"no sample has a source labelled {label}"
            measures.append(_unmeasured(promise, name, unit, LOWER, reason))
            continue
        series = m.of_builds(view, m.shown_of(documents))
        measures.append(
            Measure(promise=promise, name=name, unit=unit, direction=LOWER, values=series, pairs=series)
        )
    return measures


def _accounting(view: RunView) -> list[Measure]:
    prompt = m.of_builds(view, m.unexplained_prompt)
    evidence = m.of_builds(view, m.unexplained_evidence)
    return [
        Measure(
            promise="accounting",
            name="sent tokens that no part of the prompt explains",
            unit="tokens",
            direction=LOWER,
            values=prompt,
            pairs=prompt,
        ),
        Measure(
            promise="accounting",
            name="candidate tokens neither sent nor counted as omitted",
            unit="tokens",
            direction=LOWER,
            values=evidence,
            pairs=evidence,
            note="Item tokens, each item encoded alone; silent omissions count as omitted.",
        ),
        _unbilled(view),
    ]


def _unbilled(view: RunView) -> Measure:
    name = "sent tokens that no billed class explains"
    series = m.of_cells(view, view.reference_state, m.unclassed(view))
    if series is None or not any(s.known for s in series.values()):
        return _unmeasured("accounting", name, "tokens", LOWER, "the engine does not say what it read")
    return Measure(
        promise="accounting", name=name, unit="tokens", direction=LOWER, values=series, pairs=series
    )


def _unmeasured(promise: str, name: str, unit: str, direction: str, reason: str) -> Measure:
    return Measure(promise=promise, name=name, unit=unit, direction=direction, reason=reason)
