"""What a question needs, found without gold: the requirement that a place must meet.

Rules that this module owns. Needs, most important first, and which offers meet each:

* ``lead``: the most relevant offer.
* ``term:<word>``: a word that the question names, by falling weight, at most ``TERMS``. Met by offers that
  hold the word, or whose document's title does. A word that no offer holds is *unmet*, and is asked for all
  the same.
* ``bridge:<source>``: a document that relevant passages of others name and the question does not, at least
  half as relevant as the best, at most ``BRIDGES``: the next hop. Met by its offers.
* ``voice:<source>``: another document with an offer at least ``VOICE_BP`` as relevant as the best, at most
  ``VOICES``: sources that address the question may disagree, so each is heard. Met by its offers.

Of the offers that could meet a need only good *witnesses* do: those at least ``selection.witness_bp`` as
relevant as the best of them. Without that rule the cheapest cover would be made of short asides. A place has
at most 12 needs; ``selection.needs`` may lower that. What is over the limits is left out from the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.selection.base import Offer, SelectionQuery
from bench.selection.relevance import FULL_BP, Relevance
from bench.selection.vocabulary import naming_words

LEAD, TERM, BRIDGE, VOICE = "lead", "term", "bridge", "voice"
TERMS, BRIDGES, VOICES = 6, 2, 3
BRIDGE_SHARE, VOICE_BP = 0.5, 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One need.

    Attributes:
        name: ``lead``, ``term:<word>``, ``bridge:<source>`` or ``voice:<source>``.
        witnesses: Indexes of the offers that meet it.
    """

    name: str
    witnesses: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """What is needed.

    Attributes:
        needs: Needs that some offer meets, most important first.
        unmet: Names of needs that none meets.
        left_out: Names of needs over the limits.
        named: Whether the question names anything at all.
    """

    needs: tuple[Need, ...]
    unmet: tuple[str, ...]
    left_out: tuple[str, ...]
    named: bool


def find_requirement(query: SelectionQuery, offers: Sequence[Offer], relevance: Relevance) -> Requirement:
    """The requirement of a question over its offers."""
    words = naming_words(query.question)
    held = sorted(
        (key for key in words if key in relevance.weights),
        key=lambda key: (-round(relevance.weights[key], 6), key),
    )
    unmet = tuple(f"{TERM}:{word}" for key, word in words.items() if key not in relevance.weights)
    found = [(LEAD, frozenset(range(len(offers))), FULL_BP)] if offers else []
    for key in held:
        holders = {i for i in range(len(offers)) if _holds(relevance, i, key)}
        found.append((f"{TERM}:{words[key]}", frozenset(holders), query.spec.witness_bp))
    terms = found[: TERMS + 1]
    documents = [
        (name, _of_source(offers, name), query.spec.witness_bp) for name in _documents(offers, relevance)
    ]
    asked = [*terms, *documents]
    needs = [Need(name=name, witnesses=_good(holders, share, relevance)) for name, holders, share in asked]
    limit = query.spec.needs
    return Requirement(
        needs=tuple(needs[:limit]),
        unmet=unmet,
        left_out=tuple(name for name, _, _ in (*found[TERMS + 1 :], *asked[limit:])),
        named=bool(words),
    )


def _holds(relevance: Relevance, index: int, key: str) -> bool:
    return key in relevance.stems[index] or key in relevance.title_stems[index]


def _documents(offers: Sequence[Offer], relevance: Relevance) -> list[str]:
    """Names of the bridges, then of the voices."""
    best: dict[str, int] = {}
    for offer, bp in zip(offers, relevance.bp, strict=True):
        best[offer.source] = max(best.get(offer.source, 0), bp)
    strong = [source for source, value in relevance.mentions.items() if value >= BRIDGE_SHARE]
    bridges = sorted(strong, key=lambda source: (-round(relevance.mentions[source], 6), source))[:BRIDGES]
    heard = [source for source, bp in best.items() if bp >= VOICE_BP and source not in bridges]
    voices = sorted(heard, key=lambda source: (-best[source], source))[:VOICES]
    return [f"{BRIDGE}:{source}" for source in bridges] + [f"{VOICE}:{source}" for source in voices]


def _of_source(offers: Sequence[Offer], name: str) -> frozenset[int]:
    source = name.partition(":")[2]
    return frozenset(i for i, offer in enumerate(offers) if offer.source == source)


def _good(holders: frozenset[int], share_bp: int, relevance: Relevance) -> frozenset[int]:
    best = max(relevance.bp[i] for i in holders)
    return frozenset(i for i in holders if relevance.bp[i] * FULL_BP >= share_bp * best)
