"""Omissions: everything that was a candidate and was not sent, with a closed reason.

* The stage is the part of the reason before the dot.
* ``visibility.denied`` is one entry with ``item`` null, its tokens and count summed: a hidden item is
  not named. ``retrieval.outside_pool`` is one entry, ``item`` the ContentId of the canonical array of
  the sorted ids, ``tokens`` null (never counted). Every other entry is one item with its tokens.
* A rewrite is what a lossy compressor sent in place of items. Its dropped ranges are half-open code
  points of the raw source of the item, inside the item's own range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, itself
from capsules.content_id import CONTENT_ID_EXPECTED, is_content_id
from capsules.rules import Count, Flag, Name, Positive, Problem, SpanId, Text, WordRule
from capsules.shape import Record, law

DENIED = "visibility.denied"
OUTSIDE_POOL = "retrieval.outside_pool"
REASONS = (
    "authority.expired",
    "budget.limit",
    "compression.dropped",
    "contradiction.superseded",
    "duplicate.same_text",
    "freshness.expired",
    "operator.excluded",
    "quote_policy.not_quotable",
    "retrieval.low_rank",
    OUTSIDE_POOL,
    "selection.not_needed",
    "source.unresolvable",
    DENIED,
    "visibility.provider",
)
STAGES = tuple(sorted({reason.partition(".")[0] for reason in REASONS}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission(Record):
    """One item that was not sent, or one class of items."""

    item: Name | None  # span_id or constraint id; null for visibility.denied
    stage: Annotated[str, WordRule(*STAGES)]
    reason: Annotated[str, WordRule(*REASONS)]
    tokens: Count | None
    required: Flag
    count: Positive

    @law("stage", "reason")
    def _stage_of_reason(self) -> Iterator[Problem]:
        stage = self.reason.partition(".")[0]
        if self.stage != stage:
            yield Problem("schema.word", "/stage", f"{stage}, the stage of the reason", self.stage)

    @law("item", "reason")
    def _item_of_reason(self) -> Iterator[Problem]:
        if self.reason == DENIED:
            if self.item is not None:
                yield Problem("schema.field.type", "/item", f"null for {DENIED}", "a string")
        elif self.item is None:
            yield Problem("schema.field.type", "/item", "a span_id or a constraint id", "null")
        elif self.reason == OUTSIDE_POOL and not is_content_id(self.item):
            yield Problem("id.malformed", "/item", CONTENT_ID_EXPECTED, "another string")

    @law("tokens", "reason")
    def _tokens_of_reason(self) -> Iterator[Problem]:
        if self.reason == OUTSIDE_POOL:
            if self.tokens is not None:
                yield Problem("schema.field.type", "/tokens", f"null for {OUTSIDE_POOL}", "an integer")
        elif self.tokens is None:
            yield Problem("schema.field.type", "/tokens", "an integer", "null")

    @law("count", "reason")
    def _count_of_reason(self) -> Iterator[Problem]:
        if self.count != 1 and self.reason not in (DENIED, OUTSIDE_POOL):
            yield Problem("schema.limit", "/count", "1 for a single item", str(self.count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates(Record):
    """How many items were candidates, and their item tokens."""

    items: Count
    tokens: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRange(Record):
    """A range of an item that a rewrite does not send."""

    item: SpanId
    start: Count
    end: Count

    @law("item", "start", "end")
    def _inside(self) -> Iterator[Problem]:
        first, _, last = self.item.rpartition(":")[2].partition("-")
        if not int(first) <= self.start < self.end <= int(last):
            yield Problem(
                "span.range", "/end", f"{first} <= start < end <= {last}", f"{self.start} and {self.end}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite(Record):
    """What a lossy compressor sent in place of items, and what it dropped."""

    items: Annotated[tuple[SpanId, ...], Distinct("span_id", itself)]
    text: Text
    compressor: Name
    dropped: tuple[DroppedRange, ...]
    tokens_before: Count
    tokens_sent: Count

    @law("items")
    def _some_items(self) -> Iterator[Problem]:
        if not self.items:
            yield Problem("schema.limit", "/items", "at least 1 item", "0 items")

    @law("items", "dropped")
    def _dropped_in_order(self) -> Iterator[Problem]:
        """Ranges stand in the order of the items and of the text, and do not overlap."""
        place = {item: index for index, item in enumerate(self.items)}
        after = (0, 0)
        for index, gone in enumerate(self.dropped):
            if gone.item not in place:
                at = f"/dropped/{index}/item"
                yield Problem("schema.reference", at, "a span_id of the rewrite's items", "another")
                continue
            if (place[gone.item], gone.start) < after:
                at = f"/dropped/{index}"
                yield Problem(
                    "schema.order", at, "ranges in the order of items, apart", "one before or over another"
                )
            after = (place[gone.item], gone.end)

    @law("tokens_before", "tokens_sent")
    def _shorter(self) -> Iterator[Problem]:
        if self.tokens_sent >= self.tokens_before:
            yield Problem(
                "schema.limit",
                "/tokens_sent",
                f"fewer than tokens_before ({self.tokens_before}): else the original is sent",
                str(self.tokens_sent),
            )
