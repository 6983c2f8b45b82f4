"""Rebuild of a prompt with its evidence: accounts that add up, references that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.codec import preimage, seal
from capsules.content_id import content_id
from capsules.prompt import SurfaceSnippet
from capsules.source import source_text
from capsules.span import check_span


@pytest.fixture(scope="module")
def world(rb: Any, example: Any) -> Any:
    return rb.make_world(example)


def test_the_world_itself_is_valid(rb: Any, world: Any) -> None:
    found = world.rebuild({})
    rb.valid(found, {})
    assert found.prompt is not None
    assert found.prompt.data == preimage(world.prompt)
    assert [sealed.data for sealed in found.evidence] == [preimage(capsule) for capsule in world.evidence]
    assert [v.before == v.after for v in found.report.versions] == [True, True, True]
    assert {fate.fate for fate in found.report.spans} == {"kept"}
    same = world.rebuild({rb.BATH_ID: rb.BATH.encode(), content_id(b"other"): None}, texts={})
    assert same == found


def test_a_sentence_in_front_moves_everything_and_is_omitted(rb: Any, world: Any) -> None:
    changes = rb.edit(rb.BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    found = world.rebuild(changes)
    rb.valid(found, changes)
    new = source_text(*filter(None, changes.values()))
    shift = len("A new first sentence. ")
    assert [(f.fate, f.places) for f in found.report.spans] == [("moved", 1)] * 3 + [("kept", 1)]
    assert {(f.fate, f.places) for f in found.report.omitted} == {("moved", 1)}
    assert found.report.added == (f"{new.source}:0-{shift - 1}",)
    assert rb.omissions(found, "selection.not_needed") == {f"{new.source}:0-{shift - 1}": shift - 1}
    start, end = rb.sentence(rb.BATH, "Copper")
    low_rank = rb.omissions(found, "retrieval.low_rank")
    assert low_rank[f"{new.source}:{start + shift}-{end + shift}"] == end - start + 1
    assert len(low_rank) == 4
    assert found.prompt is not None
    after = found.prompt.record
    assert after.candidates.items == world.prompt.candidates.items + 1
    # The new sentence, and the space that Zinc has before it now.
    assert after.candidates.tokens == world.prompt.candidates.tokens + (shift - 1) + 1
    start, end = rb.sentence(rb.BATH, "Iron")
    assert after.surface_snippet == replace(
        world.prompt.surface_snippet, derived_from=(f"{new.source}:{start + shift}-{end + shift}",)
    )
    assert [v.capsule_id for v in found.report.versions] == [
        "demo:rebuild:q-1:evidence-public",
        "demo:rebuild:q-1:evidence-internal",
        "demo:rebuild:q-1:prompt",
    ]
    assert [v.before == v.after for v in found.report.versions] == [False, True, False]
    assert [ref.id for ref in after.evidence_capsule_refs] == [v.after for v in found.report.versions[:2]]
    assert after.capsule_id == world.prompt.capsule_id


def test_a_sentence_between_two_kept_ones_does_not_stand_in_the_prompt(rb: Any, world: Any) -> None:
    long = "Lead, of which nobody had spoken before that night, was tried in three more baths. "
    changes = rb.edit(rb.BATH_ID, "Iron needs", f"{long}Iron needs")
    found = world.rebuild(changes)
    # Zinc: its suffix is another now. Iron: its prefix. So both left; Nickel moved.
    assert [f.fate for f in found.report.spans] == ["changed", "changed", "moved", "kept"]
    rb.valid(found, changes)
    assert len(found.report.added) == 3  # Lead, and what Zinc and Iron were


def test_a_changed_sentence_is_unresolvable_and_takes_along_what_rests_on_it(rb: Any, world: Any) -> None:
    changes = rb.edit(
        rb.BATH_ID, "Iron needs a much warmer bath than that.", "Iron needs a bath much warmer than that."
    )
    found = world.rebuild(changes)
    rb.valid(found, changes)
    assert [f.fate for f in found.report.spans] == ["changed", "changed", "kept", "kept"]
    zinc, iron = (rb.name(rb.BATH_ID, start) for start in ("Zinc", "Iron"))
    cost = rb.costs(rb.BATH_ID, rb.BATH)
    copper = rb.name(rb.BATH_ID, "Copper")  # was omitted; its context is another now
    assert rb.omissions(found, "source.unresolvable") == {item: cost[item] for item in (zinc, iron, copper)}
    assert found.report.claims == (("demo:rebuild:q-1:evidence-public", "c"),)
    assert found.report.contradictions == 1
    assert found.report.snippet is True
    assert found.prompt is not None
    assert found.prompt.record.surface_snippet is None
    public = found.evidence[0].record
    assert [span.exact[:6] for span in public.exact_spans] == ["Nickel"]
    assert [missing.query for missing in public.missing_evidence] == ["limit for children", "c"]
    assert found.prompt.record.candidates.items == world.prompt.candidates.items + 3


def test_an_appended_sentence_leaves_every_span_where_it_was(rb: Any, world: Any) -> None:
    data = f"{rb.LOG} More was written.".encode()
    found = world.rebuild({rb.LOG_ID: data})
    rb.valid(found, {rb.LOG_ID: data})
    assert {f.fate for f in (*found.report.spans, *found.report.omitted)} == {"kept"}
    assert rb.omissions(found, "selection.not_needed") == {
        f"{content_id(data)}:{len(rb.LOG) + 1}-{len(rb.LOG) + 18}": 18
    }


def test_a_source_that_is_gone(rb: Any, world: Any) -> None:
    changes: dict[str, bytes | None] = {rb.LOG_ID: None}
    found = world.rebuild(changes)
    rb.valid(found, changes)
    cost = rb.costs(rb.LOG_ID, rb.LOG)
    assert rb.omissions(found, "source.unresolvable") == cost
    assert [f.fate for f in found.report.spans] == ["kept", "kept", "kept", "vanished"]
    assert [f.fate for f in found.report.omitted] == ["vanished", "vanished"]
    internal = found.evidence[1].record  # stays, empty: what is missing is said, and no label is lowered
    assert (internal.exact_spans, internal.source_refs) == ((), ())
    assert internal.visibility.level == "internal"
    assert found.prompt is not None
    assert found.prompt.record.candidates == world.prompt.candidates


def test_required_evidence_is_never_dropped_in_silence(rb: Any, example: Any) -> None:
    needed = rb.make_world(example, required=(True, False))
    changes = rb.edit(rb.BATH_ID, "Iron needs a much", "Iron needs a very much")
    found = needed.rebuild(changes)
    assert (found.evidence, found.prompt) == ((), None)
    assert [(p.code, p.at) for p in found.problems] == [
        ("evidence.required.omitted", "/exact_spans/0"),
        ("evidence.required.omitted", "/exact_spans/1"),
    ]
    assert all(version.after is None for version in found.report.versions)
    # Only what the caller says is required, if the caller says so.
    rb.valid(needed.rebuild(changes, required=[rb.name(rb.BATH_ID, "Nickel")]), changes)
    assert needed.rebuild(changes, required=[rb.name(rb.BATH_ID, "Iron")]).prompt is None
    # A required capsule without any span is none, whatever the caller says.
    nothing = needed.rebuild({rb.BATH_ID: b"Other text."}, required=[])
    assert [(p.code, p.at) for p in nothing.problems] == [
        ("evidence.required.omitted", "/evidence_capsule_refs/0")
    ]


def test_a_protected_snippet_is_not_dropped(rb: Any, world: Any) -> None:
    budget = replace(world.prompt.token_budget, protected=("constraints", "surface_snippet"))
    changes = rb.edit(rb.BATH_ID, "Iron needs a much", "Iron needs a very much")
    found = world.with_prompt(token_budget=budget).rebuild(changes)
    assert [(p.code, p.at) for p in found.problems] == [("budget.protected.truncated", "/surface_snippet")]
    assert found.prompt is None
    rb.valid(world.with_prompt(surface_snippet=None).rebuild(changes), changes)


def test_a_snippet_leaves_with_any_of_the_spans_that_it_derives_from(rb: Any, world: Any) -> None:
    both = SurfaceSnippet(
        text="On baths and logs.",
        derived_from=(rb.name(rb.BATH_ID, "Nickel"), rb.name(rb.LOG_ID, "Its last")),
        level="internal",
    )
    before = world.with_prompt(surface_snippet=both)
    changes = rb.edit(rb.LOG_ID, "Its last page", "Its first page")
    found = before.rebuild(changes)
    rb.valid(found, changes)
    assert found.prompt is not None
    assert (found.prompt.record.surface_snippet, found.report.snippet) == (None, True)
    kept = before.rebuild({rb.LOG_ID: f"{rb.LOG} More.".encode()})
    assert kept.prompt is not None
    assert kept.report.snippet is False
    snippet = kept.prompt.record.surface_snippet
    assert snippet is not None
    assert snippet.derived_from[0] == both.derived_from[0]
    assert len(snippet.derived_from) == 2


PIECES = st.sampled_from(
    ["", "X", "A note of the crew. ", "Zinc", " ", "\n\n", "water", "Its last page was lost. ", "é🧪"]
)


@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_any_edit_gives_a_valid_capsule_or_says_why_not(rb: Any, world: Any, data: st.DataObject) -> None:
    changes: dict[str, bytes | None] = {}
    for source in data.draw(st.sets(st.sampled_from([rb.BATH_ID, rb.LOG_ID]), min_size=1)):
        text = rb.TEXTS[source]
        for _ in range(data.draw(st.integers(1, 2))):
            start = data.draw(st.integers(0, len(text)))
            end = min(len(text), start + data.draw(st.sampled_from([0, 1, 8, 60])))
            text = text[:start] + data.draw(PIECES) + text[end:]
        changes[source] = data.draw(st.sampled_from([text.encode(), text.encode(), None]))
    found = world.rebuild(changes)
    assert world.rebuild(changes) == found
    rb.valid(found, changes)
    assert found.prompt is not None
    texts = {content_id(d): d.decode() for d in changes.values() if d is not None}
    old = [span for capsule in world.evidence for span in capsule.exact_spans]
    new = {span.span_id: span for sealed in found.evidence for span in sealed.record.exact_spans}
    fates = found.report.spans
    assert [fate.span_id for fate in fates] == [span.span_id for span in old]
    assert {fate.new_id for fate in fates if fate.new_id} == new.keys()
    for fate, before in zip(fates, old, strict=True):
        if fate.new_id is not None:
            after = new[fate.new_id]
            assert after.exact == before.exact
            assert check_span(after, {**rb.TEXTS, **texts}[after.source]) == []
    # No candidate is lost: everything of before is kept or omitted, and what is new is counted.
    assert found.prompt.record.candidates.items == world.prompt.candidates.items + len(found.report.added)
    items = {o.item for o in found.prompt.record.omissions} | new.keys()
    for fate in (*fates, *found.report.omitted):
        assert (fate.new_id or fate.span_id) in items
    for source, text in texts.items():  # the accounts cover a changed source whole
        covered = sorted(
            tuple(map(int, item.rpartition(":")[2].split("-")))
            for item in items
            if item and item.startswith(source)
        )
        bare = list(text)
        for a, b in covered:
            bare[a:b] = " " * (b - a)
        assert "".join(bare).strip() == ""


def test_sealed_records_are_what_their_digests_say(rb: Any, world: Any) -> None:
    found = world.rebuild(rb.edit(rb.BATH_ID, "Zinc dis", "New. Zinc dis"))
    assert found.prompt is not None
    assert seal(found.prompt.record) == found.prompt
    assert all(seal(sealed.record) == sealed for sealed in found.evidence)
