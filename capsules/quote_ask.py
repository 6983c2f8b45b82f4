"""What is asked about a quote: its text, and where it is said to stand.

* A claimed position is that of the quote as given or of the quote as trimmed.
* A prefix and a suffix are what stands beside the quote as given; they are compared under the
  normalization of the match, together with the quote, so that what joins across the edge joins.
"""

from __future__ import annotations

from dataclasses import dataclass

from capsules.normalization import Normalized, RawRange, normalize
from capsules.quote_verdict import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A trimmed quote and where it is claimed to stand.

    Attributes:
        quote: The quote without white space and dropped characters around it.
        lead: What was trimmed before it.
        trail: What was trimmed behind it.
        start: Claimed first raw code point, if any.
        end: Claimed raw position after the last, if any.
        prefix: Text claimed to stand before the quote as given.
        suffix: Text claimed to stand behind it.
        shown: Raw ranges of the source that count; ``None`` is all of it.
    """

    quote: str
    lead: str = ""
    trail: str = ""
    start: int | None = None
    end: int | None = None
    prefix: str = ""
    suffix: str = ""
    shown: tuple[Range, ...] | None = None

    @property
    def claims(self) -> bool:
        """Whether a position is claimed."""
        return self.start is not None or self.end is not None

    def is_shown(self, raw: RawRange) -> bool:
        """Whether a range lies inside what is shown of the source."""
        return self.shown is None or any(low <= raw.start and raw.end <= high for low, high in self.shown)

    def claimed(self, norm: Normalized, start: int, end: int, raw: RawRange) -> Range | None:
        """The raw range of an occurrence as claimed; ``None`` if it is claimed to stand elsewhere."""
        for before, after in ((0, 0), (len(self.lead), len(self.trail))):
            if _is_at(norm, self.start, before, start) and _is_at(norm, self.end, -after, end):
                return (
                    raw.start if self.start is None else self.start + before,
                    raw.end if self.end is None else self.end - after,
                )
        return None


def _is_at(norm: Normalized, claimed: int | None, shift: int, position: int) -> bool:
    if claimed is None:
        return True
    raw = claimed + shift
    return 0 <= claimed <= len(norm.raw) and 0 <= raw <= len(norm.raw) and norm.to_normalized(raw) == position


@dataclass(frozen=True, slots=True)
class Context:
    """What must stand around a normalized range: texts that include its two ends, and offsets."""

    before: str
    before_size: int | None
    after: str
    after_size: int | None

    def holds(self, text: str, start: int, end: int) -> bool:
        """Whether the context stands around ``text[start:end]``."""
        if self.before_size is None or self.after_size is None:
            return False
        left, right = start - self.before_size, end - self.after_size
        return left >= 0 and text.startswith(self.before, left) and text.startswith(self.after, right)


def context_of(ask: Ask, first: str, last: str, norm_id: str) -> Context:
    """The context of a quote whose first and last pieces are given."""
    prefix, suffix = ask.prefix + ask.lead, ask.trail + ask.suffix
    before = normalize(prefix + first, norm_id)
    after = normalize(last + suffix, norm_id)
    return Context(before.text, before.to_normalized(len(prefix)), after.text, after.to_normalized(len(last)))
