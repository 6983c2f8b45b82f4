"""Which spans of evidence two capsules share, and what became of the others.

Rules that this module owns, in this order:

* *kept*: the same place in the same source in both. If anything else of the span differs it is *changed*.
* *moved*: of those left, the same text in another place (paired in order).
* *changed*: of those left, a range that overlaps one of the same source.
* *gone* and *new*: the rest of A, the rest of B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KEPT, MOVED, CHANGED, GONE, NEW = "kept", "moved", "changed", "gone", "new"

Span = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPair:
    """What became of a span: the one in A, the one in B."""

    kind: str
    left: Span | None
    right: Span | None

    @property
    def span(self) -> Span:
        """The one in A, or the one in B where A has none."""
        found = self.left if self.left is not None else self.right
        assert found is not None
        return found


def pair_spans(left: Iterable[Span], right: Iterable[Span]) -> list[SpanPair]:
    """Every span of both sides once: those of A in their order, then what only B has."""
    rest = {span["span_id"]: span for span in right}
    lefts = list(left)
    partner: dict[str, tuple[str, Span]] = {}
    for span in lefts:
        same = rest.pop(span["span_id"], None)
        if same is not None:
            partner[span["span_id"]] = (KEPT if same == span else CHANGED, same)
    rules: tuple[tuple[str, Callable[[Span, Span], bool]], ...] = (
        (MOVED, lambda a, b: bool(a["text_digest"] == b["text_digest"])),
        (CHANGED, _overlap),
    )
    for kind, matches in rules:
        for span in lefts:
            if span["span_id"] not in partner:
                other = next((b for b in rest.values() if matches(span, b)), None)
                if other is not None:
                    partner[span["span_id"]] = (kind, rest.pop(other["span_id"]))
    pairs = []
    for span in lefts:
        kind, found = partner.get(span["span_id"], (GONE, None))
        pairs.append(SpanPair(kind=kind, left=span, right=found))
    return pairs + [SpanPair(kind=NEW, left=None, right=span) for span in rest.values()]


def _overlap(a: Span, b: Span) -> bool:
    return bool(a["source"] == b["source"] and a["start"] < b["end"] and b["start"] < a["end"])
