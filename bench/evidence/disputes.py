"""What becomes of contradictions between the selected sentences.

Rules that this module owns:

* A contradiction is labelled by the data, or found by the arm's detector; a pair that is both counts as
  labelled.
* ``show_both``: nothing goes. ``newest_wins``: from the newest sentence to the oldest, one that
  contradicts a newer one that stays is superseded. ``drop``: all sentences of a group that contradictions
  connect go.
* The age of a sentence is the ``as_of`` of its source, from the data. Without one, or with the same one,
  neither is newer: both stay, and the resolution says so.
* A sentence that the user's data requires never goes: what contradicts it stays beside it unless
  something newer supersedes that (``contradiction.required_kept``). Under ``drop`` the whole group stays,
  for a part of it would hide the contradiction.
* Where the data requires nothing, the sentence that retrieval puts first is required. If it is
  superseded, the newest sentence that it contradicts is required in its place; under ``drop`` it counts
  as required.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.build.candidates import Item, items_at
from bench.evidence.detectors import detector
from bench.evidence.pairs import similar_pairs
from bench.specs import ContradictionsSpec
from tasks.base import SampleInput

SUPERSEDED = "contradiction.superseded"

Pair = tuple[str, str]
Found = tuple[str, str, str]  # two span_ids and a kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A contradiction between two sentences that are both shown.

    Attributes:
        resolution: Why the policy let both stay; ``None`` where showing both is the policy.
    """

    left: Item
    right: Item
    kind: str
    resolution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What is left when the policy has spoken.

    Attributes:
        items: Sentences that stay.
        gone: Span_ids of the superseded ones.
        found: What the detector found, by span_ids, whether or not both sides stay.
        required: Span_ids that are required from here on.
    """

    items: tuple[Item, ...]
    gone: frozenset[str]
    found: tuple[Found, ...]
    required: frozenset[str]


def settle(
    sample: SampleInput,
    items: Sequence[Item],
    required: frozenset[str],
    by_data: bool,
    spec: ContradictionsSpec,
) -> Settled:
    """Find the contradictions among sentences and apply the policy.

    Args:
        sample: Its labelled contradictions count.
        items: The selected sentences.
        required: Span_ids that are required.
        by_data: Whether the user's data requires them, rather than retrieval.
        spec: The arm's policy and detector.

    Raises:
        RegistryError: The detector cannot be had.
    """
    found = detected(items, spec)
    known = {item.item: item for item in items}
    pairs = [(left.item, right.item) for left, right, _ in labelled(sample, items)]
    pairs += [(left, right) for left, right, _ in found]
    gone: dict[str, str] = {}
    if spec.policy == "newest_wins":
        gone = _superseded(pairs, known, required if by_data else frozenset())
        required = frozenset(gone.get(one, one) for one in required)
    elif spec.policy == "drop":
        gone = {one: one for group in _groups(pairs) if required.isdisjoint(group) for one in group}
    return Settled(
        items=tuple(item for item in items if item.item not in gone),
        gone=frozenset(gone),
        found=tuple(found),
        required=required,
    )


def shown(sample: SampleInput, items: Sequence[Item], found: Iterable[Found], policy: str) -> list[Dispute]:
    """The contradictions of which both sides are kept: labelled ones in the data's order, then found ones.

    A label whose range touches several sentences is shown once, between the first sentences of its sides.
    """
    pairs: dict[frozenset[str], tuple[Item, Item, str] | None] = {}
    for one in _by_label(sample, items):
        for number, (left, right, kind) in enumerate(one):
            pairs.setdefault(frozenset((left.item, right.item)), None if number else (left, right, kind))
    known = {item.item: item for item in items}
    for name, other, kind in found:
        if name in known and other in known:
            pairs.setdefault(frozenset((name, other)), (known[name], known[other], kind))
    return [
        Dispute(left=pair[0], right=pair[1], kind=pair[2], resolution=_resolution(policy, pair[0], pair[1]))
        for pair in pairs.values()
        if pair is not None
    ]


def labelled(sample: SampleInput, items: Sequence[Item]) -> list[tuple[Item, Item, str]]:
    """The contradictions that the data names, between all sentences that its ranges touch."""
    return [pair for one in _by_label(sample, items) for pair in one]


def detected(items: Sequence[Item], spec: ContradictionsSpec) -> list[Found]:
    """The contradictions that the arm's detector finds."""
    if spec.detector == "none":
        return []
    pairs = similar_pairs(items, spec.similarity_bp)
    kinds = detector(spec.detector)([(left.text, right.text) for left, right in pairs])
    return [
        (left.item, right.item, kind)
        for (left, right), kind in zip(pairs, kinds, strict=True)
        if kind is not None
    ]


def _by_label(sample: SampleInput, items: Sequence[Item]) -> list[list[tuple[Item, Item, str]]]:
    sources = {item.doc.doc_id: item.source for item in items}
    return [
        [
            (left, right, label.kind)
            for left in items_at(label.left, items, sources.get(label.left.doc_id))
            for right in items_at(label.right, items, sources.get(label.right.doc_id))
            if left.item != right.item
        ]
        for label in sample.contradictions
    ]


REQUIRED_WORDS = {
    "newest_wins": "newest_wins: the older side is required, both are shown",
    "drop": "drop: a side is required, both are shown",
}


def _resolution(policy: str, left: Item, right: Item) -> str | None:
    if policy == "show_both":
        return None
    if policy == "newest_wins":
        if left.doc.as_of is None or right.doc.as_of is None:
            return "newest_wins: a side has no as_of, both are shown"
        if left.doc.as_of == right.doc.as_of:
            return "newest_wins: both sides have the same as_of, both are shown"
    return REQUIRED_WORDS[policy]


def _superseded(
    pairs: Iterable[Pair], known: Mapping[str, Item], protected: frozenset[str]
) -> dict[str, str]:
    """Each superseded span_id with the newest one that supersedes it."""
    rivals: dict[str, set[str]] = {}
    for left, right in pairs:
        rivals.setdefault(left, set()).add(right)
        rivals.setdefault(right, set()).add(left)
    ages = {one: known[one].doc.as_of for one in rivals}
    gone: dict[str, str] = {}
    for one in sorted(rivals, key=lambda i: (ages[i] or "", i), reverse=True):
        mine = ages[one]
        if mine is None or one in protected:
            continue
        newer = [
            (age, other)
            for other in rivals[one]
            if (age := ages[other]) is not None and age > mine and other not in gone
        ]
        if newer:
            gone[one] = max(newer)[1]
    return gone


def _groups(pairs: Iterable[Pair]) -> list[set[str]]:
    """The groups that pairs connect."""
    groups: list[set[str]] = []
    for pair in pairs:
        touched = [group for group in groups if not group.isdisjoint(pair)]
        groups = [group for group in groups if group.isdisjoint(pair)]
        groups.append(set(pair).union(*touched))
    return groups
