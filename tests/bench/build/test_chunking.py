from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.build.chunking import ChunkCache, chunk_text, document, paragraphs
from bench.tokenizers import ByteTokenizer
from capsules.content_id import content_id
from capsules.unicode_tables import WHITE_SPACE

BYTES = ByteTokenizer()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", []),
        ("one", ["one"]),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("\n\n one \n \t\n\n two\n", ["one", "two"]),
        ("one\r\n\r\ntwo\r\rthree", ["one", "two", "three"]),
        ("one\u2029two", ["one", "two"]),
        ("\ufeffone\n\n\u3000two", ["\ufeffone", "two"]),
    ],
)
def test_paragraphs_lie_between_blank_lines(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in paragraphs(text)] == expected


def test_items_are_sentences_with_the_raw_gap_before_them() -> None:
    text = "  One is here. Two follows.\n\nThree."
    cut = chunk_text(text, "paragraph", BYTES)
    assert cut.source == content_id(text.encode())
    assert [(text[i.start : i.end], i.chunk, i.tokens) for i in cut.items] == [
        ("One is here.", 0, 12),  # the first item of a source has no SEP
        ("Two follows.", 0, 1 + 12),
        ("Three.", 1, 2 + 6),
    ]
    whole = chunk_text(text, "document", BYTES)
    assert [text[a:b] for a, b in whole.chunks] == ["One is here. Two follows.\n\nThree."]
    assert [(i.start, i.end, i.tokens) for i in whole.items] == [
        (i.start, i.end, i.tokens) for i in cut.items
    ]


def test_an_unknown_chunking_lists_the_known_ones() -> None:
    with pytest.raises(BuildError, match="expected one of document, paragraph, found 'page'"):
        chunk_text("x", "page", BYTES)


_TEXTS = st.text(
    st.sampled_from("ab.\n\r \t\u3002\u00a0\u2028\u2029\x85\x0b\x1c\u200b\ufeff1#-*"), max_size=40
)


@given(_TEXTS)
def test_every_character_that_is_not_white_space_lies_in_exactly_one_item(text: str) -> None:
    for chunking in ("document", "paragraph"):
        cut = chunk_text(text, chunking, BYTES)
        ends = [0, *(i.end for i in cut.items)]
        assert all(end <= i.start < i.end for end, i in zip(ends[:-1], cut.items, strict=True))
        gaps = [text[a:b] for a, b in zip(ends, [*(i.start for i in cut.items), len(text)], strict=True)]
        assert all(gap.strip(WHITE_SPACE) == "" for gap in gaps)
        for item in cut.items:
            start, end = cut.chunks[item.chunk]
            assert start <= item.start
            assert item.end <= end
        assert {i.chunk for i in cut.items} == set(range(len(cut.chunks)))
        total = sum(i.tokens for i in cut.items)
        first = cut.items[0].start if cut.items else 0
        last = cut.items[-1].end if cut.items else 0
        assert total == len(text[first:last].encode())


def test_the_cache_is_bounded_and_gives_the_same() -> None:
    cache = ChunkCache(max_chars=10)
    first = cache.get("abc. def.", "paragraph", BYTES)
    assert cache.get("abc. def.", "paragraph", BYTES) is first
    assert cache.get("abc. def.", "document", BYTES) is not first  # goes out: 18 code points
    again = cache.get("abc. def.", "paragraph", BYTES)
    assert again is not first
    assert again == first
    big = cache.get("x" * 50, "paragraph", BYTES)
    assert cache.get("x" * 50, "paragraph", BYTES) is big  # one text is always kept


def test_document_is_trimmed() -> None:
    assert document(" a b\n") == [(1, 4)]
