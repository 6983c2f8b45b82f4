"""A small prompt over two sources, to be rebuilt; loaded by path (fixture ``rb``).

The tokenizer gives one id a code point, so every count can be made by hand: an item costs its length and
that of the white space before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from capsules.claim import ClaimCandidate, Contradiction
from capsules.codec import digest_of, read_stored
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule
from capsules.omission import Candidates, DroppedRange, Omission, Rewrite
from capsules.prompt import Constraint, EvidenceRef, PromptCapsule, SurfaceSnippet
from capsules.rebuild import Rebuilt
from capsules.rebuild_prompt import rebuild_prompt
from capsules.sentences import split_sentences
from capsules.source import Origin, SourceRef
from capsules.span import make_span
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
    base: EvidenceCapsule = example.evidence
    return replace(
        base,
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


def limited(world: World, **limits: Any) -> World:
    return world.with_prompt(token_budget=replace(world.prompt.token_budget, **limits))


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
