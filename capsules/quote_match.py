"""Quote verdicts: the first class that holds, from exact to absent.

1. ``invalid``: nothing is left after trimming White_Space and dropped characters, or too little.
2. ``raw_exact``, ``norm_exact``: under each registered normalization from the strictest to the one
   asked for. A claimed position, a prefix and a suffix select among the occurrences; if the quote occurs
   but not as claimed, the match is ``absent`` with ``span.exact.mismatch`` or ``span.context.mismatch``:
   it is never moved to another place in silence.
3. ``absent`` with ``quote.inside_character``, if all occurrences begin or end inside a raw character.
4. ``elided``, ``stitched`` (``capsules.quote_pieces``), ``near`` if asked for, ``absent``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from capsules.levenshtein import best_match, edits
from capsules.norm_registry import up_to
from capsules.normalization import Normalized, RawRange, normalized_text, trim
from capsules.quote_ask import Ask, Context, context_of
from capsules.quote_pieces import Elision, find_elided, find_stitched, has_mark, with_gaps
from capsules.quote_tokens import cuts_token
from capsules.quote_verdict import QuoteVerdict, Range
from capsules.source_index import SourceIndex, starts
from capsules.unicode_tables import has_unassigned

LISTED = 1000
_NEAR_SHARE = 5  # near: at most one edit in five code points


@dataclass(slots=True)
class _Found:
    """What looking for a quote under one normalization gave."""

    ranges: list[Range] = field(default_factory=list)
    total: int = 0
    chosen: list[Range] = field(default_factory=list)
    claim_held: bool = False
    inside: RawRange | None = None


def match_quote(
    index: SourceIndex,
    quote: str,
    *,
    normalization: str = "quote/1",
    start: int | None = None,
    end: int | None = None,
    prefix: str | None = None,
    suffix: str | None = None,
    min_chars: int = 1,
    near: bool = False,
    stitched: bool = True,
    place: str = "cited",
    shown: tuple[Range, ...] | None = None,
) -> QuoteVerdict:
    """Look a quote up in one source.

    Args:
        index: The source.
        quote: The quote as given.
        normalization: The most lenient normalization that may be used.
        start: Claimed first raw code point.
        end: Claimed raw position after the last code point.
        prefix: Text that must stand before the quote.
        suffix: Text that must stand after it.
        min_chars: A shorter trimmed quote is invalid.
        near: Whether to look for a near match, which costs a pass over the source.
        stitched: Whether to look for stitched quotes.
        place: Place to report for whatever is found.
        shown: Raw ranges of the source that count; ``None`` is the whole source.

    Returns:
        The verdict; a wrong quote is a verdict, too.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """
    norm_ids = up_to(normalization)
    lead, stop = trim(quote)
    ask = Ask(
        quote=quote[lead:stop],
        lead=quote[:lead],
        trail=quote[stop:],
        start=start,
        end=end,
        prefix=prefix or "",
        suffix=suffix or "",
        shown=shown,
    )
    if len(ask.quote) < max(1, min_chars):
        return QuoteVerdict(match="invalid", codes=("quote.too_short" if ask.quote else "quote.empty",))
    codes = {"norm.unicode.unassigned"} if has_unassigned(quote) else set()
    return (
        _exact(index, ask, norm_ids, place, codes)
        or _elided(index, ask, norm_ids, place, codes)
        or _inexact(index, ask, normalization, place, codes, near=near, stitched=stitched)
    )


def _exact(
    index: SourceIndex, ask: Ask, norm_ids: tuple[str, ...], place: str, codes: set[str]
) -> QuoteVerdict | None:
    """Classes 2 and 3; ``None`` if the quote occurs nowhere."""
    if index.rules_out(ask.quote, norm_ids[-1]):
        return None
    seen: tuple[str, str] | None = None
    mismatch: str | None = None
    inside: RawRange | None = None
    for norm_id in norm_ids:
        norm = index.normalized(norm_id)
        needle = normalized_text(ask.quote, norm_id)
        if seen is not None and norm.text is seen[0] and needle == seen[1]:
            continue
        seen = (norm.text, needle)
        found = _look_up(norm, needle, ask)
        inside = inside or found.inside
        if found.chosen:
            return _exact_verdict(index.text, norm_id, found, place, codes)
        if found.total and (ask.claims and not found.claim_held):
            mismatch = mismatch or "span.exact.mismatch"
        elif found.total:
            mismatch = "span.context.mismatch"
    if mismatch:
        return QuoteVerdict(match="absent", codes=_sorted(codes | {mismatch}))
    if inside:
        codes = codes | {"quote.inside_character"} | ({"span.exact.mismatch"} if ask.claims else set())
        return QuoteVerdict(match="absent", widened=(inside.start, inside.end), codes=_sorted(codes))
    return None


def _look_up(norm: Normalized, needle: str, ask: Ask) -> _Found:
    """All occurrences under one normalization, and the first two that stand as claimed."""
    found = _Found()
    asks_context = bool(ask.prefix or ask.suffix)
    context: Context | None = None
    for at in starts(norm.text, needle):
        raw = norm.to_raw(at, at + len(needle))
        if not ask.is_shown(raw):
            continue
        if not raw.clean:
            found.inside = found.inside or raw
            continue
        found.total += 1
        if found.total <= LISTED:
            found.ranges.append((raw.start, raw.end))
        claimed = ask.claimed(norm, at, at + len(needle), raw) if len(found.chosen) < 2 else None
        if claimed is None:
            continue
        found.claim_held = True
        if asks_context:
            context = context or context_of(ask, ask.quote, ask.quote, norm.norm_id)
            if not context.holds(norm.text, at, at + len(needle)):
                continue
        found.chosen.append(claimed)
    return found


def _exact_verdict(text: str, norm_id: str, found: _Found, place: str, codes: set[str]) -> QuoteVerdict:
    only = found.chosen[0] if len(found.chosen) == 1 else None
    codes = codes if only else codes | {"quote.ambiguous"}
    if all(cuts_token(text, *span) for span in ([only] if only else found.ranges)):
        codes = codes | {"quote.partial_token"}
    return QuoteVerdict(
        match="raw_exact" if norm_id == "raw/1" else "norm_exact",
        place=place,
        normalization=norm_id,
        start=only[0] if only else None,
        end=only[1] if only else None,
        text=text[slice(*only)] if only else None,
        occurrences=tuple(found.ranges),
        occurrences_total=found.total,
        codes=_sorted(codes),
    )


def _elided(
    index: SourceIndex, ask: Ask, norm_ids: tuple[str, ...], place: str, codes: set[str]
) -> QuoteVerdict | None:
    elision = find_elided(index, ask.quote, norm_ids, ask.is_shown) if has_mark(ask.quote) else None
    if elision is None:
        return None
    mismatch = _misplaced(index.normalized(elision.norm_id), elision, ask)
    if mismatch:
        return QuoteVerdict(match="absent", codes=_sorted(codes | {mismatch}))
    start, end = elision.ranges[0].start, elision.ranges[-1].end
    return QuoteVerdict(
        match="elided",
        place=place,
        normalization=elision.norm_id,
        start=start,
        end=end,
        text=index.text[start:end],
        occurrences=((start, end),),
        occurrences_total=1,
        pieces=with_gaps(index.text, elision.ranges),
        codes=_sorted(codes | ({"quote.partial_token"} if _cuts(index.text, elision.ranges) else set())),
    )


def _cuts(text: str, ranges: tuple[RawRange, ...]) -> bool:
    return any(cuts_token(text, raw.start, raw.end) for raw in ranges)


def _misplaced(norm: Normalized, elision: Elision, ask: Ask) -> str | None:
    """The code of a claim or context that an elided quote does not have."""
    whole = RawRange(elision.ranges[0].start, elision.ranges[-1].end, True)
    if ask.claimed(norm, elision.start, elision.end, whole) is None:
        return "span.exact.mismatch"
    context = context_of(ask, elision.pieces[0], elision.pieces[-1], elision.norm_id)
    if not context.holds(norm.text, elision.start, elision.end):
        return "span.context.mismatch"
    return None


def _inexact(
    index: SourceIndex,
    ask: Ask,
    norm_id: str,
    place: str,
    codes: set[str],
    *,
    near: bool,
    stitched: bool,
) -> QuoteVerdict:
    """Stitched, near or absent: nothing of it has a position of its own."""
    needle = normalized_text(ask.quote, norm_id)
    if ask.claims:
        codes = codes | {"span.exact.mismatch"}
    if index.holds_dehyphenated(ask.quote, norm_id):
        codes = codes | {"quote.dehyphenated"}
    if stitched and not has_mark(ask.quote):
        ranges = find_stitched(index.normalized(norm_id), needle, ask.is_shown)
        if ranges:
            pieces = with_gaps(index.text, ranges)
            return QuoteVerdict(match="stitched", place=place, pieces=pieces, codes=_sorted(codes))
    nearest = _nearest(index, ask, norm_id, needle) if near else None
    if nearest:
        distance, text = nearest
        return QuoteVerdict(
            match="near", place=place, distance=distance, diff=edits(needle, text), codes=_sorted(codes)
        )
    return QuoteVerdict(match="absent", codes=_sorted(codes))


def _nearest(index: SourceIndex, ask: Ask, norm_id: str, needle: str) -> tuple[int, str] | None:
    """The distance and the text of the nearest passage that counts, if it is near enough."""
    if ask.shown is None:
        texts = [index.normalized(norm_id).text]
    else:
        texts = [normalized_text(index.text[low:high], norm_id) for low, high in ask.shown]
    nearest: tuple[int, str] | None = None
    for text in texts:
        found = best_match(needle, text, len(needle) // _NEAR_SHARE)
        if found and (nearest is None or found[0] < nearest[0]):
            nearest = found[0], text[found[1] : found[2]]
    return nearest


def _sorted(codes: set[str]) -> tuple[str, ...]:
    return tuple(sorted(codes))
