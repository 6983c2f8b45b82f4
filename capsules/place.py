"""Places: the smallest neighbourhood of spans that is sufficient for an active object.

* What is needed is stated, by names, and each candidate span says which needs it meets; how that is found
  out (terms, hops, a user's list) is not decided here. A place that exists meets every need.
* Smallest is exact: fewest tokens, then fewest spans, then the first ids in order. No other choice of the
  candidates meets all needs in fewer tokens; at most 12 needs keep that affordable.
* A place has an identity of its own, made of object, needs, spans and label. Capsules do not contain it
  and it contains no capsule, so one place can serve several capsules.
* Its label is the join of its spans: a place names private spans by digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Sorted, itself
from capsules.codec import Sealed, seal
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import ActiveObject
from capsules.rules import Name, SchemaIdRule, SpanId
from capsules.shape import Record
from capsules.visibility import Visibility, join_labels

SCHEMA_ID = "place/1"
MAX_NEEDS = 12

_Choice = tuple[int, int, tuple[str, ...]]  # tokens, number of spans, sorted span_ids: the smaller the better


@dataclass(frozen=True, slots=True, kw_only=True)
class Place(Record):
    """The spans that suffice for an object, whatever capsule they stand in."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    active_object: ActiveObject
    needs: Annotated[tuple[Name, ...], Sorted("need", itself)]
    span_ids: Annotated[tuple[SpanId, ...], Sorted("span_id", itself)]
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A span that may belong to a place.

    Attributes:
        span_id: The span.
        label: Of the source that it stands in.
        tokens: What it costs to show it.
        meets: The needs that it meets; others than those asked for do not count.
    """

    span_id: str
    label: Visibility
    tokens: int
    meets: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SufficiencyReport:
    """Why a place is sufficient, or why there is none.

    Attributes:
        place_id: ContentId of the place; ``None`` where some need is not met by any candidate.
        met_by: Every need that can be met, with the candidates of the place that meet it (without a place:
            all candidates that do).
        unmet: The needs that no candidate meets.
        tokens: Tokens of the place; ``None`` without one.
        candidates: How many spans there were to choose from.
    """

    place_id: str | None
    met_by: tuple[tuple[str, tuple[str, ...]], ...]
    unmet: tuple[str, ...]
    tokens: int | None
    candidates: int

    @property
    def sufficient(self) -> bool:
        """Whether every need is met."""
        return not self.unmet


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A place, if there is one, and the report on it."""

    place: Sealed[Place] | None
    report: SufficiencyReport


def find_place(active_object: ActiveObject, needs: Iterable[str], candidates: Sequence[Candidate]) -> Found:
    """Find the smallest sufficient place.

    Args:
        active_object: What the place is for.
        needs: What must be met.
        candidates: The spans to choose from, of one project, in any order.

    Raises:
        SchemaError: ``schema.limit``: no need, more than 12, or negative tokens; ``schema.duplicate``: a span
            twice; ``scope.project.mismatch``: spans of several projects.
    """
    wanted = tuple(sorted(set(needs)))
    _require_input(wanted, candidates)
    unmet = tuple(need for need in wanted if not any(need in each.meets for each in candidates))
    if unmet:
        report = SufficiencyReport(
            place_id=None,
            met_by=_met_by([need for need in wanted if need not in unmet], candidates),
            unmet=unmet,
            tokens=None,
            candidates=len(candidates),
        )
        return Found(place=None, report=report)
    tokens, _, span_ids = _smallest(wanted, candidates)
    chosen = [each for each in candidates if each.span_id in span_ids]
    place = seal(
        Place(
            schema_id=SCHEMA_ID,
            active_object=active_object,
            needs=wanted,
            span_ids=span_ids,
            visibility=join_labels(each.label for each in chosen),
        )
    )
    report = SufficiencyReport(
        place_id=place.digest,
        met_by=_met_by(wanted, chosen),
        unmet=(),
        tokens=tokens,
        candidates=len(candidates),
    )
    return Found(place=place, report=report)


def unserved(place: Place, evidence: Iterable[EvidenceCapsule]) -> tuple[str, ...]:
    """The spans of a place that some evidence lacks; empty: the place serves it."""
    held = {span.span_id for capsule in evidence for span in capsule.exact_spans}
    return tuple(span_id for span_id in place.span_ids if span_id not in held)


def _require_input(needs: Sequence[str], candidates: Sequence[Candidate]) -> None:
    if not 1 <= len(needs) <= MAX_NEEDS:
        raise SchemaError("schema.limit", f"expected 1 to {MAX_NEEDS} needs, found {len(needs)}", at="/needs")
    seen: set[str] = set()
    for each in candidates:
        if each.tokens < 0:
            raise SchemaError(
                "schema.limit", f"expected tokens from 0 on, found {each.tokens}: {each.span_id}"
            )
        if each.span_id in seen:
            raise SchemaError("schema.duplicate", f"expected each span once, found {each.span_id} again")
        seen.add(each.span_id)
    if len({each.label.project for each in candidates}) > 1:
        raise SchemaError("scope.project.mismatch", "expected spans of one project, found several")


def _met_by(needs: Iterable[str], spans: Sequence[Candidate]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (need, tuple(sorted(each.span_id for each in spans if need in each.meets))) for need in needs
    )


def _smallest(needs: Sequence[str], candidates: Sequence[Candidate]) -> _Choice:
    """The best choice that meets all needs, which all can be met.

    Needs are bits. From each set of needs met so far, the first one missing must be met by some candidate; of
    those that meet the same needs only the best can ever be chosen.
    """
    best_of: dict[int, _Choice] = {}
    for each in candidates:
        bits = sum(1 << place for place, need in enumerate(needs) if need in each.meets)
        offer = (each.tokens, 1, (each.span_id,))
        best_of[bits] = min(best_of.get(bits, offer), offer)
    everything = (1 << len(needs)) - 1
    reached: dict[int, _Choice] = {0: (0, 0, ())}
    for met in range(everything):  # more needs met is a larger number: each state is final when reached
        if met not in reached:
            continue
        tokens, count, spans = reached[met]
        missing = ~met & (met + 1)
        for bits, (more, _, added) in best_of.items():
            if bits & missing:
                choice = (tokens + more, count + 1, tuple(sorted(spans + added)))
                after = met | bits
                reached[after] = min(reached.get(after, choice), choice)
    return reached[everything]
