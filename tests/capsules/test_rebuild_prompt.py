"""Rebuild of a prompt with its evidence: accounts that add up, references that follow, refusals.

The tokenizer gives one id a code point, so every count can be made by hand: an item costs its length and that
of the white space before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.claim import ClaimCandidate, Contradiction
from capsules.codec import digest_of, preimage, read_stored, seal
from capsules.content_id import content_id
from capsules.errors import OmissionLawError, RenderError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.omission import Candidates, DroppedRange, Omission, Rewrite
from capsules.prompt import Constraint, EvidenceRef, PromptCapsule, SurfaceSnippet
from capsules.rebuild import Rebuilt
from capsules.rebuild_prompt import rebuild_prompt
from capsules.sentences import split_sentences
from capsules.source import Origin, SourceRef, source_text
from capsules.span import check_span, make_span
from capsules.store import MemoryStore
from capsules.validation import Given, validate
from capsules.visibility import Visibility

BATH = (
    "Zinc dissolves slowly in cold water. Iron needs a much warmer bath than that. "
    "Copper stays whole in both.\n\n"
    "Nickel was never tested by the crew of that winter. Nobody has asked for it since the great flood."
)
WIDE = " " * 40
LOG = (
    f"The night crew wrote the second log by hand and in ink.{WIDE}Its last page was lost when the cellar "
    "stood under water. A copy of the first log was found in the attic."
)
BATH_ID, LOG_ID = (content_id(text.encode()) for text in (BATH, LOG))
TEXTS = {BATH_ID: BATH, LOG_ID: LOG}
NOW = "2024-06-01T12:00:00Z"


class Letters:
    """One id a code point, behind a BOS."""

    tokenizer_id = "hf:letters"
    tokenizer_digest = content_id(b"letters")
    bos_id: int | None = 0
    control_ids = frozenset({0})

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


def sentence(text: str, start: str) -> tuple[int, int]:
    (found,) = [(a, b) for a, b in split_sentences(text) if text.startswith(start, a)]
    return found


def name(source: str, start: str) -> str:
    a, b = sentence(TEXTS[source], start)
    return f"{source}:{a}-{b}"


def costs(source: str, text: str) -> dict[str, int]:
    """Tokens by span_id, counted in the obvious way."""
    found, end = {}, None
    for start, stop in split_sentences(text):
        found[f"{source}:{start}-{stop}"] = stop - (start if end is None else end)
        end = stop
    return found


def evidence_of(example: Any, level: str, source: str, kept: Sequence[str]) -> EvidenceCapsule:
    text = TEXTS[source]
    spans = [make_span(source, text, *sentence(text, start), norm_id="quote/1") for start in kept]
    first = spans[0]
    return replace(
        example.evidence,
        capsule_id=f"demo:rebuild:q-1:evidence-{level}",
        source_refs=(
            SourceRef(
                source=source,
                bytes=len(text.encode()),
                media_type="text/plain",
                origin=Origin(dataset="d", row=level),
                license="CC0-1.0",
                title=None,
                retrieved_as_of=None,
            ),
        ),
        exact_spans=tuple(sorted(spans, key=lambda span: span.start)),
        claim_candidates=(
            ClaimCandidate(
                claim_id="c",
                text=first.exact,
                span_ids=(first.span_id,),
                status="supported",
                method="rule",
                confidence_bp=10_000,
            ),
        ),
        contradictions=tuple(
            Contradiction(between=(first.span_id, span.span_id), kind="labelled", resolution=None)
            for span in spans[1:2]
        ),
        visibility=Visibility(level=level, project="demo"),
    )


@dataclass(frozen=True)
class World:
    prompt: PromptCapsule
    evidence: tuple[EvidenceCapsule, ...]

    def rebuild(self, changes: Mapping[str, bytes | None], **options: Any) -> Rebuilt:
        texts = options.pop("texts", TEXTS)
        return rebuild_prompt(self.prompt, self.evidence, texts, changes, Letters(), **options)

    def with_prompt(self, **changes: Any) -> World:
        return World(prompt=replace(self.prompt, **changes), evidence=self.evidence)


CONSTRAINTS = (
    Constraint(id="task", kind="instruction", text="Quote."),  # 6 + 2 ids
    Constraint(id="needs", kind="runtime", text="capsules>=1"),  # not rendered
)
DENIED = Omission(
    item=None, stage="visibility", reason="visibility.denied", tokens=31, required=False, count=2
)
OUTSIDE = Omission(
    item=content_id(b"[]"),
    stage="retrieval",
    reason="retrieval.outside_pool",
    tokens=None,
    required=False,
    count=9,
)


def gone(item: str, tokens: int, reason: str = "retrieval.low_rank") -> Omission:
    stage = reason.partition(".")[0]
    return Omission(item=item, stage=stage, reason=reason, tokens=tokens, required=False, count=1)


def make_world(example: Any, required: tuple[bool, bool] = (False, False)) -> World:
    evidence = (
        evidence_of(example, "public", BATH_ID, ["Zinc", "Iron", "Nickel"]),
        evidence_of(example, "internal", LOG_ID, ["Its last"]),
    )
    cost = costs(BATH_ID, BATH) | costs(LOG_ID, LOG)
    kept = {span.span_id for capsule in evidence for span in capsule.exact_spans}
    omitted = [gone(item, tokens) for item, tokens in cost.items() if item not in kept]
    prompt = replace(
        example.prompt,
        capsule_id="demo:rebuild:q-1:prompt",
        constraints=CONSTRAINTS,
        surface_snippet=SurfaceSnippet(
            text="On baths.", derived_from=(name(BATH_ID, "Iron"),), level="public"
        ),
        evidence_capsule_refs=tuple(
            EvidenceRef(id=digest_of(capsule), required=needed)
            for capsule, needed in zip(evidence, required, strict=True)
        ),
        token_budget=replace(
            example.prompt.token_budget,
            tokenizer_id="hf:letters",
            tokenizer_digest=Letters.tokenizer_digest,
            window=2000,
            reserved_output=200,
            evidence_limit=1000,
        ),
        candidates=Candidates(items=8 + 2 + 2, tokens=sum(cost.values()) + 8 + 31),
        omissions=tuple(sorted([*omitted, DENIED, OUTSIDE], key=lambda o: (o.stage, o.reason, o.item or ""))),
        rewrites=(),
    )
    return World(prompt=prompt, evidence=evidence)


@pytest.fixture(scope="module")
def world(example: Any) -> World:
    return make_world(example)


def edit(source: str, old: str, new: str) -> dict[str, bytes | None]:
    assert TEXTS[source].count(old) == 1
    return {source: TEXTS[source].replace(old, new).encode()}


def valid(found: Rebuilt, changes: Mapping[str, bytes | None]) -> None:
    """The whole validation agrees: spans against the new sources, accounts, rendering, token laws."""
    assert found.problems == ()
    assert found.prompt is not None
    store = MemoryStore()
    store.put_many(text.encode() for text in TEXTS.values())
    store.put_many(data for data in changes.values() if data is not None)
    store.put_many(sealed.data for sealed in found.evidence)
    context = Given(now=NOW, store=store, project="demo", tokenizer=Letters())
    report = validate(found.prompt.data, context, expect=found.prompt.digest)
    assert report.codes() == ()
    assert report.valid
    assert [row.check for row in report.checks if row.check == "omission.tokens" and row.result == "pass"]
    assert read_stored(found.prompt.data, PromptCapsule) == found.prompt.record


def omissions(found: Rebuilt, reason: str) -> dict[str | None, int | None]:
    assert found.prompt is not None
    return {o.item: o.tokens for o in found.prompt.record.omissions if o.reason == reason}


def test_the_world_itself_is_valid(world: World) -> None:
    found = world.rebuild({})
    valid(found, {})
    assert found.prompt is not None
    assert found.prompt.data == preimage(world.prompt)
    assert [sealed.data for sealed in found.evidence] == [preimage(capsule) for capsule in world.evidence]
    assert [v.before == v.after for v in found.report.versions] == [True, True, True]
    assert {fate.fate for fate in found.report.spans} == {"kept"}
    same = world.rebuild({BATH_ID: BATH.encode(), content_id(b"other"): None}, texts={})
    assert same == found


def test_a_sentence_in_front_moves_everything_and_is_omitted(world: World) -> None:
    changes = edit(BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    found = world.rebuild(changes)
    valid(found, changes)
    new = source_text(*filter(None, changes.values()))
    shift = len("A new first sentence. ")
    assert [(f.fate, f.places) for f in found.report.spans] == [("moved", 1)] * 3 + [("kept", 1)]
    assert {(f.fate, f.places) for f in found.report.omitted} == {("moved", 1)}
    assert found.report.added == (f"{new.source}:0-{shift - 1}",)
    assert omissions(found, "selection.not_needed") == {f"{new.source}:0-{shift - 1}": shift - 1}
    start, end = sentence(BATH, "Copper")
    low_rank = omissions(found, "retrieval.low_rank")
    assert low_rank[f"{new.source}:{start + shift}-{end + shift}"] == end - start + 1
    assert len(low_rank) == 4
    assert found.prompt is not None
    after = found.prompt.record
    assert after.candidates.items == world.prompt.candidates.items + 1
    # The new sentence, and the space that Zinc has before it now.
    assert after.candidates.tokens == world.prompt.candidates.tokens + (shift - 1) + 1
    start, end = sentence(BATH, "Iron")
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


def test_a_sentence_between_two_kept_ones_does_not_stand_in_the_prompt(world: World) -> None:
    long = "Lead, of which nobody had spoken before that night, was tried in three more baths. "
    changes = edit(BATH_ID, "Iron needs", f"{long}Iron needs")
    found = world.rebuild(changes)
    # Zinc: its suffix is another now. Iron: its prefix. So both left; Nickel moved.
    assert [f.fate for f in found.report.spans] == ["changed", "changed", "moved", "kept"]
    valid(found, changes)
    assert len(found.report.added) == 3  # Lead, and what Zinc and Iron were


def test_a_changed_sentence_is_unresolvable_and_takes_along_what_rests_on_it(world: World) -> None:
    changes = edit(
        BATH_ID, "Iron needs a much warmer bath than that.", "Iron needs a bath much warmer than that."
    )
    found = world.rebuild(changes)
    valid(found, changes)
    assert [f.fate for f in found.report.spans] == ["changed", "changed", "kept", "kept"]
    zinc, iron = (name(BATH_ID, start) for start in ("Zinc", "Iron"))
    cost = costs(BATH_ID, BATH)
    copper = name(BATH_ID, "Copper")  # was omitted; its context is another now
    assert omissions(found, "source.unresolvable") == {name: cost[name] for name in (zinc, iron, copper)}
    assert found.report.claims == (("demo:rebuild:q-1:evidence-public", "c"),)
    assert found.report.contradictions == 1
    assert found.report.snippet is True
    assert found.prompt is not None
    assert found.prompt.record.surface_snippet is None
    public = found.evidence[0].record
    assert [span.exact[:6] for span in public.exact_spans] == ["Nickel"]
    assert [missing.query for missing in public.missing_evidence] == ["limit for children", "c"]
    assert found.prompt.record.candidates.items == world.prompt.candidates.items + 3


def test_an_appended_sentence_leaves_every_span_where_it_was(world: World) -> None:
    data = f"{LOG} More was written.".encode()
    found = world.rebuild({LOG_ID: data})
    valid(found, {LOG_ID: data})
    assert {f.fate for f in (*found.report.spans, *found.report.omitted)} == {"kept"}
    assert omissions(found, "selection.not_needed") == {
        f"{content_id(data)}:{len(LOG) + 1}-{len(LOG) + 18}": 18
    }


def test_a_source_that_is_gone(world: World) -> None:
    changes: dict[str, bytes | None] = {LOG_ID: None}
    found = world.rebuild(changes)
    valid(found, changes)
    cost = costs(LOG_ID, LOG)
    assert omissions(found, "source.unresolvable") == cost
    assert [f.fate for f in found.report.spans] == ["kept", "kept", "kept", "vanished"]
    assert [f.fate for f in found.report.omitted] == ["vanished", "vanished"]
    internal = found.evidence[1].record  # stays, empty: what is missing is said, and no label is lowered
    assert (internal.exact_spans, internal.source_refs) == ((), ())
    assert internal.visibility.level == "internal"
    assert found.prompt is not None
    assert found.prompt.record.candidates == world.prompt.candidates


def test_required_evidence_is_never_dropped_in_silence(example: Any) -> None:
    needed = make_world(example, required=(True, False))
    changes = edit(BATH_ID, "Iron needs a much", "Iron needs a very much")
    found = needed.rebuild(changes)
    assert (found.evidence, found.prompt) == ((), None)
    assert [(p.code, p.at) for p in found.problems] == [
        ("evidence.required.omitted", "/exact_spans/0"),
        ("evidence.required.omitted", "/exact_spans/1"),
    ]
    assert all(version.after is None for version in found.report.versions)
    # Only what the caller says is required, if the caller says so.
    valid(needed.rebuild(changes, required=[name(BATH_ID, "Nickel")]), changes)
    assert needed.rebuild(changes, required=[name(BATH_ID, "Iron")]).prompt is None
    # A required capsule without any span is none, whatever the caller says.
    nothing = needed.rebuild({BATH_ID: b"Other text."}, required=[])
    assert [(p.code, p.at) for p in nothing.problems] == [
        ("evidence.required.omitted", "/evidence_capsule_refs/0")
    ]


def test_a_protected_snippet_is_not_dropped(world: World) -> None:
    budget = replace(world.prompt.token_budget, protected=("constraints", "surface_snippet"))
    changes = edit(BATH_ID, "Iron needs a much", "Iron needs a very much")
    found = world.with_prompt(token_budget=budget).rebuild(changes)
    assert [(p.code, p.at) for p in found.problems] == [("budget.protected.truncated", "/surface_snippet")]
    assert found.prompt is None
    valid(world.with_prompt(surface_snippet=None).rebuild(changes), changes)


def test_a_snippet_leaves_with_any_of_the_spans_that_it_derives_from(world: World) -> None:
    both = SurfaceSnippet(
        text="On baths and logs.",
        derived_from=(name(BATH_ID, "Nickel"), name(LOG_ID, "Its last")),
        level="internal",
    )
    before = world.with_prompt(surface_snippet=both)
    changes = edit(LOG_ID, "Its last page", "Its first page")
    found = before.rebuild(changes)
    valid(found, changes)
    assert found.prompt is not None
    assert (found.prompt.record.surface_snippet, found.report.snippet) == (None, True)
    kept = before.rebuild({LOG_ID: f"{LOG} More.".encode()})
    assert kept.prompt is not None
    assert kept.report.snippet is False
    snippet = kept.prompt.record.surface_snippet
    assert snippet is not None
    assert snippet.derived_from[0] == both.derived_from[0]
    assert len(snippet.derived_from) == 2


def limited(world: World, **limits: int) -> World:
    return world.with_prompt(token_budget=replace(world.prompt.token_budget, **limits))


def test_new_ids_are_held_against_the_limits(world: World) -> None:
    """The new first sentence is not sent, but Zinc has a space before it now."""
    changes = edit(BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    fence = len("<sources 0123456789>\n") + len("</sources 0123456789>\n")
    heads = 3 * (len("[1] 0123456789\n") + 1)  # two runs of the bath, one of the log
    cost = costs(BATH_ID, BATH) | costs(LOG_ID, LOG)
    kept = sum(cost[span.span_id] for capsule in world.evidence for span in capsule.exact_spans)
    block = fence + heads + kept + 1
    assert limited(world, evidence_limit=block).rebuild(changes).problems == ()
    found = limited(world, evidence_limit=block - 1).rebuild(changes)
    (problem,) = found.problems
    assert (problem.code, problem.at, problem.actual) == (
        "budget.evidence.exceeded",
        "/token_budget/evidence_limit",
        str(block),
    )
    assert found.prompt is None
    sent = 1 + 8 + block + len(f"Question: {world.prompt.active_object.text}\n") + len("Answer:")
    assert limited(world, window=sent + 200).rebuild(changes).problems == ()
    (problem,) = limited(world, window=sent + 199).rebuild(changes).problems
    assert (problem.code, problem.actual) == ("budget.protected.truncated", str(sent))


def test_two_sources_that_become_one_are_refused(world: World) -> None:
    for changes in ({LOG_ID: BATH.encode()}, {LOG_ID: b"both", BATH_ID: b"both"}):
        found = world.rebuild(changes)
        assert [problem.code for problem in found.problems] == ["schema.duplicate"]
        assert found.prompt is None


def test_going_back_to_a_source_that_the_accounts_still_hold_is_refused(world: World) -> None:
    """The lost sentence is still accounted for under the old source: the older capsule is the way back."""
    changes = edit(LOG_ID, "Its last page", "Its first page")
    there = world.rebuild(changes)
    new = source_text(*filter(None, changes.values()))
    assert there.prompt is not None
    lossy = World(prompt=there.prompt.record, evidence=tuple(sealed.record for sealed in there.evidence))
    texts = {**TEXTS, new.source: new.text}
    back = lossy.rebuild({new.source: LOG.encode()}, texts=texts)
    assert [problem.code for problem in back.problems] == ["schema.duplicate"]
    # What was lost stays lost under its old id, whatever happens to the old source.
    again = lossy.rebuild({LOG_ID: b"something else", new.source: f"{new.text} More.".encode()}, texts=texts)
    assert omissions(again, "source.unresolvable").keys() == omissions(there, "source.unresolvable").keys()


def with_rewrite(world: World, **changes: Any) -> World:
    items = (name(BATH_ID, "Iron"), name(BATH_ID, "Nickel"))
    iron = sentence(BATH, "Iron")
    rewrite = Rewrite(
        items=items,
        text="Iron needs a bath. Nickel was never tested.",
        compressor="short/1",
        dropped=(DroppedRange(item=items[0], start=iron[0] + 13, end=iron[1]),),
        tokens_before=sum(costs(BATH_ID, BATH)[item] for item in items),
        tokens_sent=43,
    )
    return world.with_prompt(rewrites=(replace(rewrite, **changes),))


def test_a_rewrite_follows_its_items(world: World) -> None:
    changes = edit(BATH_ID, "Zinc dis", "A new first sentence. Zinc dis")
    before = with_rewrite(world)
    found = before.rebuild(changes)
    assert found.problems == ()
    assert found.prompt is not None
    new, shift = content_id(*filter(None, changes.values())), len("A new first sentence. ")
    (rewrite,) = found.prompt.record.rewrites
    (old,) = before.prompt.rewrites
    ranges = [sentence(BATH, start) for start in ("Iron", "Nickel")]
    assert rewrite.items == tuple(f"{new}:{a + shift}-{b + shift}" for a, b in ranges)
    (dropped,) = rewrite.dropped
    assert (dropped.start, dropped.end) == (old.dropped[0].start + shift, old.dropped[0].end + shift)
    assert (rewrite.text, rewrite.tokens_before, rewrite.tokens_sent) == (old.text, old.tokens_before, 43)
    untouched = before.rebuild({LOG_ID: f"{LOG} More.".encode()})
    assert untouched.prompt is not None
    assert untouched.prompt.record.rewrites == before.prompt.rewrites


def test_a_rewrite_that_no_longer_stands_for_its_items_is_refused(world: World) -> None:
    lost = with_rewrite(world, dropped=()).rebuild(
        edit(BATH_ID, "Iron needs a much", "Iron needs a very much")
    )
    assert ("rewrite.stale", "/rewrites/0") in [(p.code, p.at) for p in lost.problems]
    assert lost.prompt is None
    unknown = with_rewrite(world, items=(name(BATH_ID, "Copper"),), dropped=())
    assert [p.code for p in unknown.rebuild({LOG_ID: f"{LOG} More.".encode()}).problems] == ["rewrite.stale"]
    # Five spaces less before "Its last", all of them beyond its context: the rewrite saves nothing any more.
    item = name(LOG_ID, "Its last")
    cost = costs(LOG_ID, LOG)[item]
    narrower = edit(LOG_ID, WIDE, WIDE[5:])
    for sent, codes in ((cost - 6, []), (cost - 5, ["rewrite.stale"])):
        saving = with_rewrite(world, items=(item,), dropped=(), tokens_before=cost, tokens_sent=sent)
        assert [p.code for p in saving.rebuild(narrower).problems] == codes


def test_tokens_are_counted_anew_where_the_white_space_before_an_item_changed(world: World) -> None:
    changes = edit(LOG_ID, WIDE, WIDE[5:])
    found = world.rebuild(changes)
    valid(found, changes)
    assert found.prompt is not None
    assert [fate.fate for fate in found.report.spans] == ["kept", "kept", "kept", "moved"]
    assert found.prompt.record.candidates.items == world.prompt.candidates.items
    assert found.prompt.record.candidates.tokens == world.prompt.candidates.tokens - 5


def test_rewrites_and_their_items_keep_the_order_of_the_prompt(example: Any) -> None:
    """Sources stand by id, so a new id can change the order of the evidence."""
    evidence = evidence_of(example, "public", BATH_ID, ["Nickel"])
    log = evidence_of(example, "public", LOG_ID, ["Its last"])
    refs = sorted((*evidence.source_refs, *log.source_refs), key=lambda ref: ref.source)
    spans = sorted((*evidence.exact_spans, *log.exact_spans), key=lambda span: (span.source, span.start))
    both = replace(
        evidence, source_refs=tuple(refs), exact_spans=tuple(spans), claim_candidates=(), contradictions=()
    )
    first, second = (span.span_id for span in spans)
    world = make_world(example)
    cost = costs(BATH_ID, BATH) | costs(LOG_ID, LOG)
    omitted = [gone(item, n) for item, n in cost.items() if item not in (first, second)]
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

    apart = World(prompt=replace(prompt, rewrites=(rewrite(first), rewrite(second))), evidence=(both,))
    joined = World(prompt=replace(prompt, rewrites=(rewrite(first, second),)), evidence=(both,))
    moved_source = first.rpartition(":")[0]
    swapped = same = False
    for number in range(40):
        data = f"{TEXTS[moved_source]} More was written: {number}.".encode()
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


def test_input_that_cannot_be_trusted_is_refused(world: World) -> None:
    changes = edit(BATH_ID, "Zinc", "Tin")
    other = replace(world.evidence[0], capsule_id="a:b:c:d")
    with pytest.raises(SchemaError) as refused:
        World(prompt=world.prompt, evidence=(other, world.evidence[1])).rebuild(changes)
    assert refused.value.code == "evidence.ref.missing"
    with pytest.raises(SchemaError) as refused:
        limited(world).with_prompt(
            token_budget=replace(world.prompt.token_budget, tokenizer_digest=content_id(b"other"))
        ).rebuild(changes)
    assert refused.value.code == "tokenizer.mismatch"
    with pytest.raises(SchemaError) as refused:
        world.rebuild(changes, texts={LOG_ID: LOG})
    assert refused.value.code == "source.missing"
    past = gone(f"{BATH_ID}:900-910", 10)
    wrong = world.with_prompt(
        omissions=tuple(
            sorted((*world.prompt.omissions, past), key=lambda o: (o.stage, o.reason, o.item or ""))
        )
    )
    with pytest.raises(SchemaError) as refused:
        wrong.rebuild(changes)
    assert refused.value.code == "span.range"


def test_a_prompt_that_could_not_be_rendered_before_is_refused(world: World) -> None:
    """Without the record of Copper, text that belongs to no item stands before Nickel."""
    copper = name(BATH_ID, "Copper")
    sparse = world.with_prompt(omissions=tuple(o for o in world.prompt.omissions if o.item != copper))
    with pytest.raises(RenderError) as refused:
        sparse.rebuild(edit(BATH_ID, "since the", "after the"))
    assert refused.value.code == "render.gap"


def test_accounts_that_did_not_add_up_are_refused(world: World) -> None:
    wrong = world.with_prompt(candidates=replace(world.prompt.candidates, tokens=7))
    with pytest.raises(OmissionLawError):
        wrong.rebuild({LOG_ID: f"{LOG} More.".encode()})


def test_an_omitted_constraint_stays_omitted(world: World) -> None:
    left = gone("example-1", 60, "budget.limit")
    totals = world.prompt.candidates
    before = world.with_prompt(
        omissions=(left, *world.prompt.omissions),
        candidates=Candidates(items=totals.items + 1, tokens=totals.tokens + 60),
        token_budget=replace(world.prompt.token_budget, protected=()),
    )
    changes: dict[str, bytes | None] = {LOG_ID: None}
    found = before.rebuild(changes)
    valid(found, changes)
    assert omissions(found, "budget.limit") == {"example-1": 60}


PIECES = st.sampled_from(
    ["", "X", "A note of the crew. ", "Zinc", " ", "\n\n", "water", "Its last page was lost. ", "é🧪"]
)


@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_any_edit_gives_a_valid_capsule_or_says_why_not(world: World, data: st.DataObject) -> None:
    changes: dict[str, bytes | None] = {}
    for source in data.draw(st.sets(st.sampled_from([BATH_ID, LOG_ID]), min_size=1)):
        text = TEXTS[source]
        for _ in range(data.draw(st.integers(1, 2))):
            start = data.draw(st.integers(0, len(text)))
            end = min(len(text), start + data.draw(st.sampled_from([0, 1, 8, 60])))
            text = text[:start] + data.draw(PIECES) + text[end:]
        changes[source] = data.draw(st.sampled_from([text.encode(), text.encode(), None]))
    found = world.rebuild(changes)
    assert world.rebuild(changes) == found
    valid(found, changes)
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
            assert check_span(after, {**TEXTS, **texts}[after.source]) == []
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


def test_sealed_records_are_what_their_digests_say(world: World) -> None:
    found = world.rebuild(edit(BATH_ID, "Zinc dis", "New. Zinc dis"))
    assert found.prompt is not None
    assert seal(found.prompt.record) == found.prompt
    assert all(seal(sealed.record) == sealed for sealed in found.evidence)
