from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.build.base import BuildError
from bench.build.chunking import ChunkCache, TooManyItemsError, chunk_text, document, paragraphs, windows
from bench.specs import Chunking
from bench.tokenizers import ByteTokenizer
from capsules.content_id import content_id
from capsules.sentences import iter_sentences
from capsules.unicode_tables import WHITE_SPACE

BYTES = ByteTokenizer()
WINDOWS = Chunking(kind="window", size=3, stride=2)
TOKENS = Chunking(kind="window", size=12, stride=6, unit="tokens")


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
    cut = chunk_text(text, Chunking(), BYTES)
    assert cut.source == content_id(text.encode())
    assert [(text[i.start : i.end], i.chunks, i.tokens) for i in cut.items] == [
        ("One is here.", (0,), 12),  # the first item of a source has no SEP
        ("Two follows.", (0,), 1 + 12),
        ("Three.", (1,), 2 + 6),
    ]
    whole = chunk_text(text, Chunking(kind="document"), BYTES)
    assert [text[c.start : c.end] for c in whole.chunks] == ["One is here. Two follows.\n\nThree."]
    assert [(i.start, i.end, i.tokens) for i in whole.items] == [
        (i.start, i.end, i.tokens) for i in cut.items
    ]


@pytest.mark.parametrize(
    ("sizes", "size", "stride", "runs"),
    [
        ([], 3, 2, []),
        ([1] * 2, 3, 2, [(0, 2)]),
        ([1] * 5, 3, 2, [(0, 3), (2, 5)]),
        ([1] * 6, 3, 2, [(0, 3), (2, 5), (4, 6)]),
        ([1] * 6, 2, 2, [(0, 2), (2, 4), (4, 6)]),
        ([1] * 4, 3, 1, [(0, 3), (1, 4)]),
        ([5, 5, 5, 5], 12, 5, [(0, 2), (1, 3), (2, 4)]),
        ([5, 5, 5, 5], 12, 6, [(0, 2), (2, 4)]),  # 6 tokens on lies inside a sentence: the next one
        ([60, 60, 60], 100, 100, [(0, 1), (1, 2), (2, 3)]),  # never past a window's end
        ([4, 90, 4, 4], 10, 4, [(0, 1), (1, 2), (2, 4)]),  # one sentence alone may be longer
        ([0, 0, 3], 2, 1, [(0, 2), (2, 3)]),
    ],
)
def test_windows_are_whole_sentences_and_leave_none_out(
    sizes: list[int], size: int, stride: int, runs: list[tuple[int, int]]
) -> None:
    assert windows(sizes, size, stride) == runs


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20), st.integers(1, 20))
def test_every_sentence_is_in_a_window_and_no_window_is_in_another(
    sizes: list[int], size: int, stride: int
) -> None:
    found = windows(sizes, size, min(stride, size))
    assert {n for a, b in found for n in range(a, b)} == set(range(len(sizes)))
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(found))
    assert all(sum(sizes[a:b]) <= size or b == a + 1 for a, b in found)


LIND = "Dr. Lind took 3.5 mg. He slept.\n\nIt was U.S. 4 a.m. then! Was it?"


def test_chunks_of_sentences_and_windows_are_ranges_of_the_raw_text() -> None:
    def texts(chunking: Chunking) -> list[str]:
        return [LIND[c.start : c.end] for c in chunk_text(LIND, chunking, BYTES).chunks]

    assert texts(Chunking(kind="sentence")) == [
        "Dr. Lind took 3.5 mg.",
        "He slept.",
        "It was U.S. 4 a.m. then!",
        "Was it?",
    ]
    assert texts(Chunking(kind="window", size=2, stride=1)) == [
        "Dr. Lind took 3.5 mg. He slept.",
        "He slept.\n\nIt was U.S. 4 a.m. then!",
        "It was U.S. 4 a.m. then! Was it?",
    ]
    # bytes here: 21, 1 + 9, 2 + 24, 1 + 7
    by_tokens = Chunking(kind="window", size=31, stride=21, unit="tokens")
    assert texts(by_tokens) == ["Dr. Lind took 3.5 mg. He slept.", "It was U.S. 4 a.m. then!", "Was it?"]


def test_items_are_the_same_whatever_the_chunks() -> None:
    def items(kind: str) -> list[tuple[int, int, int]]:
        return [(i.start, i.end, i.tokens) for i in chunk_text(LIND, Chunking(kind=kind), BYTES).items]

    assert items("sentence") == items("window") == items("paragraph") == items("document")


def test_an_unknown_chunking_lists_the_known_ones() -> None:
    with pytest.raises(BuildError, match="of document, paragraph, sentence, window, found 'page'"):
        chunk_text("x", Chunking(kind="page"), BYTES)


_TEXTS = st.text(
    st.sampled_from("ab.\n\r \t\u3002\u00a0\u2028\u2029\x85\x0b\x1c\u200b\ufeff1#-*"), max_size=40
)


@given(_TEXTS)
def test_every_character_that_is_not_white_space_lies_in_exactly_one_item(text: str) -> None:
    for chunking in (Chunking(kind="document"), Chunking(), Chunking(kind="sentence"), WINDOWS, TOKENS):
        cut = chunk_text(text, chunking, BYTES)
        ends = [0, *(i.end for i in cut.items)]
        assert all(end <= i.start < i.end for end, i in zip(ends[:-1], cut.items, strict=True))
        gaps = [text[a:b] for a, b in zip(ends, [*(i.start for i in cut.items), len(text)], strict=True)]
        assert all(gap.strip(WHITE_SPACE) == "" for gap in gaps)
        for number, chunk in enumerate(cut.chunks):
            held = [i for i in cut.items if number in i.chunks]
            assert held == list(cut.items[chunk.first : chunk.last])
            assert (chunk.start, chunk.end) == (held[0].start, held[-1].end)
        assert all(i.chunks for i in cut.items)
        total = sum(i.tokens for i in cut.items)
        first = cut.items[0].start if cut.items else 0
        last = cut.items[-1].end if cut.items else 0
        assert total == len(text[first:last].encode())


def test_the_cache_is_bounded_and_gives_the_same() -> None:
    cache = ChunkCache(max_chars=10)
    first = cache.get("abc. def.", Chunking(), BYTES)
    assert cache.get("abc. def.", Chunking(), BYTES) is first
    assert cache.get("abc. def.", Chunking(kind="document"), BYTES) is not first  # goes out: 18 code points
    again = cache.get("abc. def.", Chunking(), BYTES)
    assert again is not first
    assert again == first
    big = cache.get("x" * 50, Chunking(), BYTES)
    assert cache.get("x" * 50, Chunking(), BYTES) is big  # one text is always kept


def test_document_is_trimmed() -> None:
    assert document(" a b\n") == [(1, 4)]


class Counting(ByteTokenizer):
    """Counts what it encodes."""

    encoded = 0

    def encode(self, text: str) -> list[int]:
        Counting.encoded += 1
        return super().encode(text)


@pytest.mark.parametrize("kind", ["document", "paragraph", "sentence", "window"])
@pytest.mark.parametrize("gap", [" ", "\n\n"])
def test_cutting_stops_at_the_first_item_too_many(
    kind: str, gap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []

    def one_by_one(text: str) -> Iterator[tuple[int, int]]:
        for found in iter_sentences(text):
            taken.append(found)
            yield found

    monkeypatch.setattr("bench.build.chunking.iter_sentences", one_by_one)
    monkeypatch.setattr(Counting, "encoded", 0)
    text = gap.join(["One is here."] * 500)
    with pytest.raises(TooManyItemsError):
        chunk_text(text, Chunking(kind=kind, size=3, stride=2), Counting(), 7)
    assert (len(taken), Counting.encoded) == (8, 0)
    assert len(chunk_text(text, Chunking(kind=kind, size=3, stride=2), Counting(), 500).items) == 500


def test_what_was_cut_for_others_is_refused_too() -> None:
    cache = ChunkCache()
    assert len(cache.get("One. Two. Three.", Chunking(), BYTES).items) == 3
    assert len(cache.get("One. Two. Three.", Chunking(), BYTES, 3).items) == 3
    with pytest.raises(TooManyItemsError):
        cache.get("One. Two. Three.", Chunking(), BYTES, 2)
