"""Checks of the places that a run recorded, from its stored bytes.

Rules that this module owns. A place is what its report says, and no capsule is what it is because of it:

* the stored place reads as one and meets exactly the needs that the report says are met, by its own spans;
* a need ``term:<word>`` of a span is really there: the word stands in the span's text or in the title of a
  source of the capsules (unknown for a source of which the budget left nothing); ``bridge:`` and
  ``voice:`` needs are met by spans of that source;
* the evidence capsules hold every span of the place, unless the budget took it out and an omission says so;
* no capsule of the prompt holds the place's id.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.records import BuildRow
from bench.scorers.recall import parse_item
from bench.selection.place_report import PlaceReport
from bench.selection.requirement import BRIDGE, TERM, VOICE
from bench.selection.vocabulary import stem, stems
from bench.stored_run import StoredRun
from capsules.codec import read_stored
from capsules.evidence import EvidenceCapsule
from capsules.place import Place, unserved
from capsules.prompt import PromptCapsule


def place_findings(run: StoredRun) -> Iterator[str]:
    """Everything that is wrong with a place of the run."""
    for row in run.builds:
        if row.place is None:
            continue
        at = f"{row.sample_id}, {row.arm_id}"
        yield from (f"{at}: {finding}" for finding in _report(row.place))
        if row.place.place_id is not None:
            yield from (f"{at}: {finding}" for finding in _place(run, row, row.place, row.place.place_id))


def _report(report: PlaceReport) -> Iterator[str]:
    met = [need for need, _ in report.met_by]
    said = [*met, *report.unmet, *report.unfit, *report.left_out]
    if sorted(said) != sorted(report.needs):
        yield f"the needs {sorted(report.needs)} are not those met, unmet, unfit and left out {sorted(said)}"
    if (report.place_id is None) != (not report.met_by):
        yield "a place without needs that are met, or needs that are met without a place"


def _place(run: StoredRun, row: BuildRow, report: PlaceReport, place_id: str) -> Iterator[str]:
    place = read_stored(run.store.get(place_id).data, Place)
    met = dict(report.met_by)
    if sorted(met) != list(place.needs):
        yield f"place {place_id} is for {list(place.needs)}, the report says {sorted(met)}"
    if {span for spans in met.values() for span in spans} != set(place.span_ids):
        yield f"place {place_id} has other spans than those that meet its needs"
    evidence = [
        (run.store.get(digest).data, read_stored(run.store.get(digest).data, EvidenceCapsule))
        for digest in row.evidence_capsules
    ]
    titles = {ref.source: ref.title or "" for _, capsule in evidence for ref in capsule.source_refs}
    for need, spans in report.met_by:
        for span in spans:
            if not _meets(run, need, span, titles):
                yield f"place {place_id}: {need} is not met by {span}"
    data = [one for one, _ in evidence]
    if row.prompt_capsule is not None:
        stored = run.store.get(row.prompt_capsule).data
        data.append(stored)
        omitted = {gone.item for gone in read_stored(stored, PromptCapsule).omissions}
        for span in unserved(place, [capsule for _, capsule in evidence]):
            if span not in omitted:
                yield f"place {place_id}: {span} is neither in the evidence nor omitted"
    if any(place_id.encode() in one for one in data):
        yield f"a capsule holds the id of its place {place_id}"


def _meets(run: StoredRun, need: str, span: str, titles: dict[str, str]) -> bool:
    source, start, end = parse_item(span)
    kind, _, what = need.partition(":")
    if kind in (BRIDGE, VOICE):
        return source == what
    if kind != TERM:
        return True
    held = stem(what) in stems(run.text(source)[start:end])
    return held or source not in titles or stem(what) in stems(titles[source])
