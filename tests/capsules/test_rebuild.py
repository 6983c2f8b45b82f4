"""Rebuild of an evidence capsule by itself: spans, refs, claims, contradictions, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from capsules.claim import Contradiction, MissingEvidence
from capsules.codec import digest_of, preimage, read_stored
from capsules.content_id import content_id
from capsules.errors import ParseError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.rebuild import Rebuilt, Version, rebuild_evidence
from capsules.source import source_text
from capsules.span import ExactSpan, check_span

Make = Callable[..., EvidenceCapsule]


def edited(example: Any, name: str, old: str, new: str) -> dict[str, bytes | None]:
    """A change of one source of the example: the first ``old`` in it becomes ``new``."""
    source = example.sources[name]
    assert old in source.text
    return {source.source: source.text.replace(old, new, 1).encode()}


def rebuilt(example: Any, changes: Mapping[str, bytes | None], **options: Any) -> Rebuilt:
    return rebuild_evidence(example.evidence, example.texts, changes, **options)


def exacts(capsule: EvidenceCapsule) -> set[str]:
    return {span.exact for span in capsule.exact_spans}


def by_text(example: Any) -> dict[str, ExactSpan]:
    return {span.exact: span for span in example.evidence.exact_spans}


def fates(example: Any, found: Rebuilt) -> dict[str, tuple[str, int]]:
    names = {span.span_id: span.exact for span in example.evidence.exact_spans}
    return {names[fate.span_id]: (fate.fate, fate.places) for fate in found.report.spans}


@pytest.mark.parametrize("change", ["none", "same bytes", "another source"])
def test_what_no_change_touches_is_byte_for_byte_the_same(example: Any, change: str) -> None:
    label = example.sources["label"]
    changes = {
        "none": {},
        "same bytes": {label.source: label.data},
        "another source": {content_id(b"elsewhere"): None},
    }[change]
    found = rebuild_evidence(example.evidence, {}, changes)  # no old text is needed either
    assert found.problems == ()
    assert [sealed.data for sealed in found.evidence] == [preimage(example.evidence)]
    digest = digest_of(example.evidence)
    version = Version(capsule_id=example.evidence.capsule_id, before=digest, after=digest)
    assert found.report.versions == (version,)
    assert set(fates(example, found).values()) == {("kept", 1)}
    assert [fate.new_id for fate in found.report.spans] == [s.span_id for s in example.evidence.exact_spans]


def test_spans_move_with_their_text_and_everything_follows(example: Any) -> None:
    changes = edited(example, "label", "Zinc", "Note. Zinc")
    (sealed,) = rebuilt(example, changes, retrieved_as_of="2024-05-01T00:00:00Z").evidence
    new = source_text(*filter(None, changes.values()))
    before, after = example.evidence, sealed.record
    assert after.capsule_id == before.capsule_id
    assert sealed.digest != digest_of(before)
    assert exacts(after) == exacts(before)
    moved = {span.exact: span for span in after.exact_spans if span.source == new.source}
    old = by_text(example)
    assert moved.keys() == {"5 mg", "Do not exceed 25 mg a day"}
    for exact, span in moved.items():
        assert span.start == old[exact].start + len("Note. ")
        assert (span.prefix, span.suffix) == ((old[exact].prefix), old[exact].suffix) or exact == "5 mg"
        assert check_span(span, new.text) == []
    (ref,) = [ref for ref in after.source_refs if ref.source == new.source]
    assert (ref.bytes, ref.retrieved_as_of, ref.title) == (len(new.data), "2024-05-01T00:00:00Z", "Label")
    claim = after.claim_candidates[0]
    assert claim.span_ids == (moved["Do not exceed 25 mg a day"].span_id, moved["5 mg"].span_id)
    assert after.claim_candidates[1] == before.claim_candidates[1]
    assert after.contradictions[0] == before.contradictions[0]
    assert after.contradictions[1].between == (moved["Do not exceed 25 mg a day"].span_id, "c1")
    assert after.missing_evidence == before.missing_evidence
    assert after.freshness == before.freshness
    assert after.visibility == before.visibility
    assert read_stored(sealed.data, EvidenceCapsule) == after


def test_a_span_whose_text_changed_leaves_with_what_rests_on_it(example: Any) -> None:
    found = rebuilt(example, edited(example, "label", "a day", "a week"))
    (sealed,) = found.evidence
    assert fates(example, found) == {
        "5 mg": ("kept", 1),
        "Do not exceed 25 mg a day": ("changed", 0),
        "40 mg": ("kept", 1),
    }
    assert exacts(sealed.record) == {"5 mg", "40 mg"}
    assert [claim.claim_id for claim in sealed.record.claim_candidates] == ["c1"]
    assert sealed.record.contradictions == ()
    lost = MissingEvidence(query="c2", stage="source", why="source.unresolvable")
    assert sealed.record.missing_evidence == (*example.evidence.missing_evidence, lost)
    assert found.report.claims == ((example.evidence.capsule_id, "c2"),)
    assert found.report.contradictions == 2


def test_a_claim_that_was_recorded_as_missing_is_recorded_once(example: Any, make_evidence: Make) -> None:
    lost = MissingEvidence(query="c2", stage="source", why="source.unresolvable")
    before = make_evidence(missing_evidence=(lost,))
    changes = edited(example, "label", "a day", "a week")
    (sealed,) = rebuild_evidence(before, example.texts, changes).evidence
    assert sealed.record.missing_evidence == (lost,)


def test_a_source_that_is_gone_leaves_and_an_unused_ref_follows_its_source(
    example: Any, make_evidence: Make
) -> None:
    notes = example.sources["notes"]
    found = rebuilt(example, {notes.source: None})
    (sealed,) = found.evidence
    assert fates(example, found)["40 mg"] == ("vanished", 0)
    assert [ref.source for ref in sealed.record.source_refs] == [example.sources["label"].source]

    spans = tuple(span for span in example.evidence.exact_spans if span.source != notes.source)
    unused = make_evidence(exact_spans=spans, claim_candidates=(), contradictions=())
    (sealed,) = rebuild_evidence(unused, example.texts, {notes.source: b"new"}).evidence
    assert content_id(b"new") in {ref.source for ref in sealed.record.source_refs}
    (sealed,) = rebuild_evidence(unused, example.texts, {notes.source: None}).evidence
    assert len(sealed.record.source_refs) == 1


def test_a_capsule_that_lost_all_its_spans_says_so_and_nothing_more(example: Any) -> None:
    found = rebuilt(example, dict.fromkeys(example.texts))
    (sealed,) = found.evidence
    empty = sealed.record
    assert (empty.source_refs, empty.exact_spans, empty.claim_candidates, empty.contradictions) == (
        (),
        (),
        (),
        (),
    )
    assert [missing.query for missing in empty.missing_evidence] == ["limit for children", "c2", "c1"]
    assert empty.visibility == example.evidence.visibility
    assert set(fates(example, found).values()) == {("vanished", 0)}


def test_required_evidence_that_is_lost_is_no_capsule(example: Any) -> None:
    needed = by_text(example)["40 mg"].span_id
    found = rebuilt(example, {example.sources["notes"].source: None}, required=[needed])
    assert (found.evidence, found.prompt) == ((), None)
    assert [problem.code for problem in found.problems] == ["evidence.required.omitted"]
    place = [span.span_id for span in example.evidence.exact_spans].index(needed)
    assert found.problems[0].at == f"/exact_spans/{place}"
    assert [version.after for version in found.report.versions] == [None]
    assert rebuilt(example, edited(example, "label", "first", "then"), required=[needed]).problems == ()


def test_contradictions_between_spans_alone(example: Any, make_evidence: Make) -> None:
    spans = by_text(example)
    pair = Contradiction(
        between=(spans["40 mg"].span_id, spans["5 mg"].span_id), kind="numeric", resolution="Shown both."
    )
    before = make_evidence(claim_candidates=(), contradictions=(pair,))
    changes = edited(example, "notes", "\ufeffRow", "\ufeffLine")
    (sealed,) = rebuild_evidence(before, example.texts, changes).evidence
    (after,) = sealed.record.contradictions
    now = {span.exact: span.span_id for span in sealed.record.exact_spans}
    assert after == replace(pair, between=(now["40 mg"], now["5 mg"]))


def test_two_sources_that_become_one_are_refused(example: Any) -> None:
    label, notes = example.sources["label"], example.sources["notes"]
    for changes in ({label.source: notes.data}, {label.source: b"both", notes.source: b"both"}):
        found = rebuilt(example, changes)
        assert found.evidence == ()
        assert [problem.code for problem in found.problems] == ["schema.duplicate"]
        assert [version.after for version in found.report.versions] == [None]


def test_two_sources_that_change_places(example: Any) -> None:
    label, notes = example.sources["label"], example.sources["notes"]
    found = rebuilt(example, {label.source: notes.data, notes.source: label.data})
    assert found.problems == ()
    assert {fate for fate, _ in fates(example, found).values()} <= {"changed", "vanished"}


def test_a_change_and_its_reverse_give_the_same_capsule(example: Any, make_evidence: Make) -> None:
    refs = tuple(replace(ref, retrieved_as_of=None) for ref in example.evidence.source_refs)
    before = make_evidence(source_refs=refs)
    label = example.sources["label"]
    changes = edited(example, "label", "first.", "first. A note that is new.")
    (there,) = rebuild_evidence(before, example.texts, changes).evidence
    new = source_text(*filter(None, changes.values()))
    texts = {**example.texts, new.source: new.text}
    (back,) = rebuild_evidence(there.record, texts, {new.source: label.data}).evidence
    assert there.digest != digest_of(before)
    assert back.data == preimage(before)


def test_input_that_cannot_be_trusted_is_refused(example: Any) -> None:
    label = example.sources["label"]
    changes = {label.source: b"new"}
    with pytest.raises(SchemaError) as refused:
        rebuild_evidence(example.evidence, {}, changes)
    assert refused.value.code == "source.missing"
    with pytest.raises(SchemaError) as refused:
        rebuild_evidence(example.evidence, {label.source: "another text"}, changes)
    assert refused.value.code == "source.digest.changed"
    with pytest.raises(ParseError) as unreadable:
        rebuilt(example, {label.source: b"\xff"})
    assert unreadable.value.code == "source.utf8.invalid"


def test_the_same_rebuild_gives_the_same_bytes(example: Any) -> None:
    changes = edited(example, "notes", "until 2019", "until 2020")
    assert rebuilt(example, changes) == rebuilt(example, changes)
