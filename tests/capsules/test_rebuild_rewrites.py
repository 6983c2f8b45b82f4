"""Rebuild of a prompt with rewrites: they follow their items, or there is no capsule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from capsules.codec import digest_of
from capsules.content_id import content_id
from capsules.omission import Candidates, Rewrite
from capsules.prompt import EvidenceRef


@pytest.fixture(scope="module")
def world(rb: Any, example: Any) -> Any:
    return rb.make_world(example)


def test_a_rewrite_follows_its_items(rb: Any, world: Any) -> None:
    changes = rb.edit(rb.BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    before = rb.with_rewrite(world)
    found = before.rebuild(changes)
    assert found.problems == ()
    assert found.prompt is not None
    new, shift = content_id(*filter(None, changes.values())), len("A new first sentence. ")
    (rewrite,) = found.prompt.record.rewrites
    (old,) = before.prompt.rewrites
    ranges = [rb.sentence(rb.BATH, start) for start in ("Iron", "Nickel")]
    assert rewrite.items == tuple(f"{new}:{a + shift}-{b + shift}" for a, b in ranges)
    (dropped,) = rewrite.dropped
    assert (dropped.start, dropped.end) == (old.dropped[0].start + shift, old.dropped[0].end + shift)
    assert (rewrite.text, rewrite.tokens_before, rewrite.tokens_sent) == (old.text, old.tokens_before, 43)
    untouched = before.rebuild({rb.LOG_ID: f"{rb.LOG} More.".encode()})
    assert untouched.prompt is not None
    assert untouched.prompt.record.rewrites == before.prompt.rewrites


def test_a_rewrite_that_no_longer_stands_for_its_items_is_refused(rb: Any, world: Any) -> None:
    lost = rb.with_rewrite(world, dropped=()).rebuild(
        rb.edit(rb.BATH_ID, "Iron needs a much", "Iron needs a very much")
    )
    assert ("rewrite.stale", "/rewrites/0") in [(p.code, p.at) for p in lost.problems]
    assert lost.prompt is None
    unknown = rb.with_rewrite(world, items=(rb.name(rb.BATH_ID, "Copper"),), dropped=())
    assert [p.code for p in unknown.rebuild({rb.LOG_ID: f"{rb.LOG} More.".encode()}).problems] == [
        "rewrite.stale"
    ]
    # Five spaces less before "Its last", all of them beyond its context: the rewrite saves nothing any more.
    item = rb.name(rb.LOG_ID, "Its last")
    cost = rb.costs(rb.LOG_ID, rb.LOG)[item]
    narrower = rb.edit(rb.LOG_ID, rb.WIDE, rb.WIDE[5:])
    for sent, codes in ((cost - 6, []), (cost - 5, ["rewrite.stale"])):
        saving = rb.with_rewrite(world, items=(item,), dropped=(), tokens_before=cost, tokens_sent=sent)
        assert [p.code for p in saving.rebuild(narrower).problems] == codes


def test_tokens_are_counted_anew_where_the_white_space_before_an_item_changed(rb: Any, world: Any) -> None:
    changes = rb.edit(rb.LOG_ID, rb.WIDE, rb.WIDE[5:])
    found = world.rebuild(changes)
    rb.valid(found, changes)
    assert found.prompt is not None
    assert [fate.fate for fate in found.report.spans] == ["kept", "kept", "kept", "moved"]
    assert found.prompt.record.candidates.items == world.prompt.candidates.items
    assert found.prompt.record.candidates.tokens == world.prompt.candidates.tokens - 5


def test_rewrites_and_their_items_keep_the_order_of_the_prompt(rb: Any, example: Any) -> None:
    """Sources stand by id, so a new id can change the order of the evidence."""
    evidence = rb.evidence_of(example, "public", rb.BATH_ID, ["Nickel"])
    log = rb.evidence_of(example, "public", rb.LOG_ID, ["Its last"])
    refs = sorted((*evidence.source_refs, *log.source_refs), key=lambda ref: ref.source)
    spans = sorted((*evidence.exact_spans, *log.exact_spans), key=lambda span: (span.source, span.start))
    both = replace(
        evidence, source_refs=tuple(refs), exact_spans=tuple(spans), claim_candidates=(), contradictions=()
    )
    first, second = (span.span_id for span in spans)
    world = rb.make_world(example)
    cost = rb.costs(rb.BATH_ID, rb.BATH) | rb.costs(rb.LOG_ID, rb.LOG)
    omitted = [rb.gone(item, n) for item, n in cost.items() if item not in (first, second)]
    prompt = replace(
        world.prompt,
        surface_snippet=None,
        evidence_capsule_refs=(EvidenceRef(id=digest_of(both), required=False),),
        omissions=tuple(sorted(omitted, key=lambda o: (o.stage, o.reason, o.item or ""))),
        candidates=Candidates(items=10, tokens=sum(cost.values()) + 8),
    )

    def rewrite(*items: str) -> Rewrite:
        return Rewrite(
            items=items, text="Short.", compressor="short/1", dropped=(), tokens_before=50, tokens_sent=6
        )

    apart = rb.World(prompt=replace(prompt, rewrites=(rewrite(first), rewrite(second))), evidence=(both,))
    joined = rb.World(prompt=replace(prompt, rewrites=(rewrite(first, second),)), evidence=(both,))
    moved_source = first.rpartition(":")[0]
    swapped = same = False
    for number in range(40):
        data = f"{rb.TEXTS[moved_source]} More was written: {number}.".encode()
        after = content_id(data) > second.rpartition(":")[0]
        swapped, same = swapped or after, same or not after
        found = apart.rebuild({moved_source: data})
        assert found.prompt is not None
        rewrites = found.prompt.record.rewrites
        now = [span.span_id for span in found.evidence[0].record.exact_spans]
        assert [each.items for each in rewrites] == [(item,) for item in now]
        problems = [p.code for p in joined.rebuild({moved_source: data}).problems]
        assert problems == (["rewrite.stale"] if after else [])
    assert swapped
    assert same
