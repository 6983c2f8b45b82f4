"""Claim candidates of a build: who states them, what they derive from, and whether that supports them.

Rules that this module owns:

* ``rule``: a required sentence is a claim; beside them the ``limit`` kept sentences that hold the most
  content terms of the question (at least one), ties by place. Such a claim is its span's own text.
* ``gold`` (upper bounds): each accepted answer, derived from the sentences of the gold spans.
* ``model``: the claims of a stored answer (``stored_claims``), derived from all that it names, directly
  or through other claims.
* Every claim is judged (``support``) and checked before it is sealed: it derives from at least one span
  (``label.undetermined``), all of them kept, and its level is at least the join of what it derives from.
* A claim of which a part of the derivation is not in the evidence is left out whole, and counted as
  missing: with fewer spans its label could fall, and what it rests on could not be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.build.base import BuildError
from bench.build.candidates import Item, Source, is_permitted, items_at
from bench.evidence.facts import content_terms
from bench.evidence.stored_claims import StoredAnswer, closure, request_digest, stored_answers
from bench.evidence.support import judge
from bench.specs import ArmSpec
from capsules.visibility import LEVELS, join_levels
from tasks.base import Gold, SampleInput, TextRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim with what it derives from, before it is judged.

    Attributes:
        items: Span_ids of all sentences that it derives from.
        level: The lowest level that it may have.
    """

    text: str
    items: tuple[str, ...]
    method: str
    level: str = LEVELS[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The claims that a stage states about a sample, before it is known what is kept.

    Attributes:
        claims: Of the methods ``gold`` and ``model``.
        denied: Claims that derive from what may not be shown: counted, never named.
        answered: Whether there is a stored answer; true for other methods.
    """

    claims: tuple[Claim, ...] = ()
    denied: int = 0
    answered: bool = True


def stated_claims(sample: SampleInput, sources: Sequence[Source], arm: ArmSpec, gold: Gold | None) -> Stated:
    """The claims of the methods ``gold`` and ``model``.

    Raises:
        BuildError: ``gold.missing``, ``claim.reference``, ``claim.cycle`` or ``claim.answer.stale``.
        RegistryError: The stored answers cannot be read.
    """
    if arm.claims.method == "gold":
        if gold is None:
            raise BuildError("gold.missing", "claims by gold belong to upper bounds")
        items = tuple(_items(gold.spans, sources))
        return Stated(claims=tuple(Claim(text=a, items=items, method="gold") for a in gold.answers if items))
    if arm.claims.method == "model" and arm.claims.answers and arm.claims.digest:
        answer = stored_answers(arm.claims.answers, arm.claims.digest).get(sample.sample_id)
        return Stated(answered=False) if answer is None else _of_model(sample, sources, answer, arm)
    return Stated()


def kept_claims(
    question: str, stated: Stated, kept: Sequence[Item], required: frozenset[str], arm: ArmSpec
) -> tuple[list[Claim], int]:
    """The claims that the kept evidence can carry, and how many it cannot."""
    if arm.claims.method == "rule":
        return _by_rule(question, kept, required, arm.claims.limit), 0
    names = {item.item for item in kept}
    whole = [claim for claim in stated.claims if names.issuperset(claim.items)]
    return whole, len(stated.claims) - len(whole) + stated.denied


def check_claim(claim: Claim, level: str, spans: Sequence[str]) -> None:
    """Refuse a claim that may not stand in a capsule of this level with these spans.

    Raises:
        BuildError: ``label.undetermined``, ``schema.reference`` or ``label.flow.denied``.
    """
    if not claim.items:
        raise BuildError("label.undetermined", "expected the spans that a claim derives from, found none")
    if not set(spans).issuperset(claim.items):
        raise BuildError("schema.reference", "expected all spans of a claim in its capsule, found others")
    if LEVELS.index(level) < LEVELS.index(claim.level):
        raise BuildError(
            "label.flow.denied", f"expected a capsule of level {claim.level} or above for a claim"
        )


def judged(claim: Claim, texts: Sequence[str], arm: ArmSpec) -> tuple[str, int, tuple[tuple[str, str], ...]]:
    """Status, confidence and the spans that contradict it, with the kind of each."""
    support = judge(claim.text, texts, arm.claims.support_bp)
    return (
        support.status,
        support.confidence_bp,
        tuple((claim.items[place], kind) for place, kind in support.conflicts),
    )


def _by_rule(question: str, kept: Sequence[Item], required: frozenset[str], limit: int) -> list[Claim]:
    in_place = sorted(kept, key=lambda i: (i.source, i.start))
    needed = [item for item in in_place if item.item in required]
    asked = content_terms(question)
    shared = {item.item: len(asked & content_terms(item.text)) for item in kept}
    others = [item for item in in_place if item.item not in required and shared[item.item]]
    best = sorted(others, key=lambda i: -shared[i.item])[:limit]
    return [Claim(text=item.text, items=(item.item,), method="rule") for item in (*needed, *best)]


def _of_model(sample: SampleInput, sources: Sequence[Source], answer: StoredAnswer, arm: ArmSpec) -> Stated:
    digests = {source.doc.doc_id: source.cut.source for source in sources}
    if request_digest(sample.question, digests, answer.model, answer.shown) != answer.request:
        raise BuildError(
            "claim.answer.stale",
            f"the stored answer of {answer.model!r} was given to another question or other sources",
        )
    ranges = closure(answer.claims)
    seen = [s.doc for s in sources if answer.shown is None or s.doc.doc_id in answer.shown]
    if not all(is_permitted(doc, sample.project, arm.authority.max_level) for doc in seen):
        return Stated(denied=len(answer.claims))
    level = join_levels([doc.level for doc in seen] or LEVELS[:1])
    return Stated(
        claims=tuple(
            Claim(
                text=claim.text,
                items=tuple(_items(ranges[claim.claim_id], sources)),
                method="model",
                level=level,
            )
            for claim in answer.claims
        )
    )


def _items(ranges: Sequence[TextRange], sources: Sequence[Source]) -> list[str]:
    """Span_ids of the sentences that ranges touch, by source and place; of any document, permitted or not.

    Raises:
        BuildError: ``claim.reference``: a range without a sentence, or one that goes beyond the document.
    """
    by_doc = {source.doc.doc_id: source for source in sources}
    found: dict[str, tuple[str, int]] = {}
    for place in ranges:
        source = by_doc.get(place.doc_id)
        within = source is not None and place.end <= len(source.cut.text)
        touched = items_at(place, source.items(), source.cut.source) if source and within else []
        if not touched:
            raise BuildError(
                "claim.reference",
                f"expected a sentence at {place.start}-{place.end} of a document of the sample, found none",
            )
        found.update({item.item: (item.source, item.start) for item in touched})
    return sorted(found, key=lambda name: found[name])
