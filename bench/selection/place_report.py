"""What a run keeps about a place: what was needed, what meets it, what is missing.

The report is no part of any capsule. It stands in ``builds.jsonl``; the place itself is stored by its id.
"""

from __future__ import annotations

from dataclasses import dataclass

INSUFFICIENT = "place.insufficient"
NO_CANDIDATES = "place.no_candidates"
NO_TERMS = "place.no_terms"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceReport:
    """The sufficiency report of one selection.

    Attributes:
        place_id: ContentId of the place; ``None`` where no need can be met within the limits.
        needs: Everything that was asked for, most important first.
        met_by: Every need of the place, with its spans that meet it.
        unmet: Needs that no candidate meets.
        unfit: Needs that could be met, but not within ``selection.tokens`` and ``selection.k``.
        left_out: Needs over ``selection.needs``, which were not looked at.
        tokens: What the place's spans cost with one header each; 0 without a place.
        candidates: How many spans there were to choose from.
        code: ``place.no_candidates``, ``place.no_terms`` (the question names nothing), else
            ``place.insufficient``; ``None`` where every need is met.
    """

    place_id: str | None
    needs: tuple[str, ...]
    met_by: tuple[tuple[str, tuple[str, ...]], ...]
    unmet: tuple[str, ...]
    unfit: tuple[str, ...]
    left_out: tuple[str, ...]
    tokens: int
    candidates: int
    code: str | None

    @property
    def sufficient(self) -> bool:
        """Whether every need that was looked at is met."""
        return self.place_id is not None and not (self.unmet or self.unfit)
