"""Rebuild of a prompt: limits, and input for which there is no capsule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.errors import OmissionLawError, RenderError, SchemaError
from capsules.omission import Candidates
from capsules.source import source_text


@pytest.fixture(scope="module")
def world(rb: Any, example: Any) -> Any:
    return rb.make_world(example)


def test_new_ids_are_held_against_the_limits(rb: Any, world: Any) -> None:
    """The new first sentence is not sent, but Zinc has a space before it now."""
    changes = rb.edit(rb.BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    fence = len("<sources 0123456789>\n") + len("</sources 0123456789>\n")
    heads = 3 * (len("[1] 0123456789\n") + 1)  # two runs of the bath, one of the log
    cost = rb.costs(rb.BATH_ID, rb.BATH) | rb.costs(rb.LOG_ID, rb.LOG)
    kept = sum(cost[span.span_id] for capsule in world.evidence for span in capsule.exact_spans)
    block = fence + heads + kept + 1
    assert rb.limited(world, evidence_limit=block).rebuild(changes).problems == ()
    found = rb.limited(world, evidence_limit=block - 1).rebuild(changes)
    (problem,) = found.problems
    assert (problem.code, problem.at, problem.actual) == (
        "budget.evidence.exceeded",
        "/token_budget/evidence_limit",
        str(block),
    )
    assert found.prompt is None
    sent = 1 + 8 + block + len(f"Question: {world.prompt.active_object.text}\n") + len("Answer:")
    assert rb.limited(world, window=sent + 200).rebuild(changes).problems == ()
    (problem,) = rb.limited(world, window=sent + 199).rebuild(changes).problems
    assert (problem.code, problem.actual) == ("budget.protected.truncated", str(sent))


def test_two_sources_that_become_one_are_refused(rb: Any, world: Any) -> None:
    for changes in ({rb.LOG_ID: rb.BATH.encode()}, {rb.LOG_ID: b"both", rb.BATH_ID: b"both"}):
        found = world.rebuild(changes)
        assert [problem.code for problem in found.problems] == ["schema.duplicate"]
        assert found.prompt is None


def test_going_back_to_a_source_that_the_accounts_still_hold_is_refused(rb: Any, world: Any) -> None:
    """The lost sentence is still accounted for under the old source: the older capsule is the way back."""
    changes = rb.edit(rb.LOG_ID, "Its last page", "Its first page")
    there = world.rebuild(changes)
    new = source_text(*filter(None, changes.values()))
    assert there.prompt is not None
    lossy = rb.World(prompt=there.prompt.record, evidence=tuple(sealed.record for sealed in there.evidence))
    texts = {**rb.TEXTS, new.source: new.text}
    back = lossy.rebuild({new.source: rb.LOG.encode()}, texts=texts)
    assert [problem.code for problem in back.problems] == ["schema.duplicate"]
    # What was lost stays lost under its old id, whatever happens to the old source.
    again = lossy.rebuild(
        {rb.LOG_ID: b"something else", new.source: f"{new.text} More.".encode()}, texts=texts
    )
    assert (
        rb.omissions(again, "source.unresolvable").keys() == rb.omissions(there, "source.unresolvable").keys()
    )


def test_input_that_cannot_be_trusted_is_refused(rb: Any, world: Any) -> None:
    changes = rb.edit(rb.BATH_ID, "Zinc", "Tin")
    other = replace(world.evidence[0], capsule_id="a:b:c:d")
    with pytest.raises(SchemaError) as refused:
        rb.World(prompt=world.prompt, evidence=(other, world.evidence[1])).rebuild(changes)
    assert refused.value.code == "evidence.ref.missing"
    with pytest.raises(SchemaError) as refused:
        rb.limited(world).with_prompt(
            token_budget=replace(world.prompt.token_budget, tokenizer_digest=content_id(b"other"))
        ).rebuild(changes)
    assert refused.value.code == "tokenizer.mismatch"
    with pytest.raises(SchemaError) as refused:
        world.rebuild(changes, texts={rb.LOG_ID: rb.LOG})
    assert refused.value.code == "source.missing"
    past = rb.gone(f"{rb.BATH_ID}:900-910", 10)
    wrong = world.with_prompt(
        omissions=tuple(
            sorted((*world.prompt.omissions, past), key=lambda o: (o.stage, o.reason, o.item or ""))
        )
    )
    with pytest.raises(SchemaError) as refused:
        wrong.rebuild(changes)
    assert refused.value.code == "span.range"


def test_a_prompt_that_could_not_be_rendered_before_is_refused(rb: Any, world: Any) -> None:
    """Without the record of Copper, text that belongs to no item stands before Nickel."""
    copper = rb.name(rb.BATH_ID, "Copper")
    sparse = world.with_prompt(omissions=tuple(o for o in world.prompt.omissions if o.item != copper))
    with pytest.raises(RenderError) as refused:
        sparse.rebuild(rb.edit(rb.BATH_ID, "since the", "after the"))
    assert refused.value.code == "render.gap"


def test_accounts_that_did_not_add_up_are_refused(rb: Any, world: Any) -> None:
    wrong = world.with_prompt(candidates=replace(world.prompt.candidates, tokens=7))
    with pytest.raises(OmissionLawError):
        wrong.rebuild({rb.LOG_ID: f"{rb.LOG} More.".encode()})


def test_an_omitted_constraint_stays_omitted(rb: Any, world: Any) -> None:
    left = rb.gone("example-1", 60, "budget.limit")
    totals = world.prompt.candidates
    before = world.with_prompt(
        omissions=(left, *world.prompt.omissions),
        candidates=Candidates(items=totals.items + 1, tokens=totals.tokens + 60),
        token_budget=replace(world.prompt.token_budget, protected=()),
    )
    changes: dict[str, bytes | None] = {rb.LOG_ID: None}
    found = before.rebuild(changes)
    rb.valid(found, changes)
    assert rb.omissions(found, "budget.limit") == {"example-1": 60}
