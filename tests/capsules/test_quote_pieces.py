"""Elided, stitched and near quotes against slow, obvious formulations."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.normalization import normalize
from capsules.quote_match import match_quote
from capsules.quote_verdict import EXACT_MATCHES, QuoteVerdict
from capsules.source_index import SourceIndex

WORDS = ("the", "cat", "sat", "on", "a", "mat", "o\ufb03ce", "cafe\u0301", "it\u2019s", "5 mg", "not", "run")


def sentence(draw: random.Random, words: int) -> str:
    return draw.choice([" ", "  ", "\n"]).join(draw.choice(WORDS) for _ in range(words))


def places(source: str, piece: str, norm_id: str) -> list[tuple[int, int]]:
    """Raw ranges that normalize to ``piece`` and can be cut out."""
    whole = normalize(source, norm_id).text
    found = []
    for low in range(len(source)):
        for high in range(low + 1, len(source) + 1):
            parts = (source[:low], source[low:high], source[high:])
            left, inside, right = (normalize(part, norm_id).text for part in parts)
            if inside == piece and left + inside + right == whole:
                found.append((low, high))
    return found


def obvious_stitched(source: str, quote: str, norm_id: str) -> list[str] | None:
    """The longest pieces from the left, tried from the longest to the shortest."""
    whole, rest, pieces = normalize(source, norm_id).text, normalize(quote, norm_id).text, []
    while rest:
        for size in range(len(rest), 11, -1):
            piece = rest[:size]
            if piece.strip() == piece and piece in whole and places(source, piece, norm_id):
                break
        else:
            return None
        if pieces and pieces[-1] + piece in whole:
            return None
        pieces.append(piece)
        rest = rest[size:].lstrip()
    return pieces if len(pieces) > 1 else None


def check_stitched(source: str, quote: str, norm_id: str) -> QuoteVerdict:
    found = match_quote(SourceIndex(source), quote, normalization=norm_id)
    if found.match in (*EXACT_MATCHES, "invalid") or found.codes == ("quote.inside_character",):
        return found
    expected = obvious_stitched(source, quote.strip(), norm_id)
    assert (found.match == "stitched") == (expected is not None)
    if found.pieces and expected:
        raw = [(piece.start, piece.end) for piece in found.pieces]
        assert raw == [places(source, piece, norm_id)[0] for piece in expected]
    return found


@settings(deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["raw/1", "quote/1", "compat/1"]))
def test_stitched_is_what_trying_every_piece_gives(draw: random.Random, norm_id: str) -> None:
    source = sentence(draw, 9)
    cut = sorted(draw.randrange(len(source)) for _ in range(4))
    quote = source[cut[2] : cut[3]] + draw.choice(["", " "]) + source[cut[0] : cut[1]]
    check_stitched(source, quote, norm_id)


@pytest.mark.soak
def test_stitched_in_many_random_texts() -> None:
    draw = random.Random(3)
    seen: dict[str, int] = {}
    for _ in range(1500):
        source = sentence(draw, draw.randint(8, 14))
        pieces = []
        for _ in range(draw.randint(1, 3)):
            low = draw.randrange(len(source) - 12)
            pieces.append(source[low : low + draw.randint(10, 24)])
        quote = draw.choice(["", " "]).join(pieces)
        if draw.random() < 0.5:
            quote = normalize(quote, "compat/1").text
        found = check_stitched(source, quote, draw.choice(["raw/1", "quote/1", "compat/1"]))
        seen[found.match] = seen.get(found.match, 0) + 1
    assert min(seen[match] for match in ("stitched", "absent", "raw_exact")) > 50


def table_distance(pattern: str, text: str) -> int:
    """The fewest edits between the pattern and any substring (Sellers)."""
    row = [0] * (len(text) + 1)
    for index, char in enumerate(pattern, 1):
        above, row = row, [index]
        for column, other in enumerate(text, 1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (char != other)))
    return min(row)


def check_near(source: str, quote: str) -> QuoteVerdict:
    found = match_quote(SourceIndex(source), quote, near=True, stitched=False)
    if found.match in (*EXACT_MATCHES, "invalid", "elided") or "quote.inside_character" in found.codes:
        return found
    needle, text = normalize(quote, "quote/1").text.strip(), normalize(source, "quote/1").text
    distance = table_distance(needle, text)
    assert (found.match == "near") == (distance <= len(needle) // 5)
    if found.diff is not None:
        assert found.distance == distance
        assert "".join(edit.quote for edit in found.diff) == needle
        assert "".join(edit.source for edit in found.diff) in text
        changed = (edit for edit in found.diff if edit.op != "equal")
        assert sum(max(len(edit.quote), len(edit.source)) for edit in changed) == distance
    return found


def edited(draw: random.Random, text: str, edits: int) -> str:
    for _ in range(edits):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(["", "x", "not "]) + text[at + draw.randint(0, 1) :]
    return text


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_near_is_what_the_table_gives(draw: random.Random) -> None:
    source = sentence(draw, 20)
    low = draw.randrange(len(source) - 20)
    check_near(source, edited(draw, source[low : low + draw.randint(5, 40)], draw.randint(1, 8)))


@pytest.mark.soak
def test_near_in_many_random_texts() -> None:
    draw = random.Random(4)
    seen: dict[str, int] = {}
    for _ in range(1500):
        source = sentence(draw, 60)
        low = draw.randrange(len(source) - 80)
        quote = edited(draw, source[low : low + draw.randint(5, 80)], draw.randint(0, 12))
        found = check_near(source, quote)
        seen[found.match] = seen.get(found.match, 0) + 1
    assert min(seen[match] for match in ("near", "absent", "raw_exact")) > 50


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_elided_pieces_are_leftmost_in_order_and_apart(draw: random.Random) -> None:
    source = sentence(draw, 25)
    cuts = sorted(draw.randrange(len(source)) for _ in range(4))
    first, second = source[cuts[0] : cuts[1]].strip(), source[cuts[2] : cuts[3]].strip()
    found = match_quote(SourceIndex(source), f"{first} ... {second}", normalization="raw/1")
    if min(len(first), len(second)) < 8:
        return
    assert (found.match, found.normalization) == ("elided", "raw/1")
    pattern = re.compile(re.escape(first) + "(.*?)" + re.escape(second), re.DOTALL)
    expected = pattern.search(source)
    assert expected is not None
    assert found.pieces is not None
    assert (found.start, found.end) == expected.span()
    assert found.pieces[0].gap == expected[1]
