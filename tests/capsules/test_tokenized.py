"""From segments to the ids that are sent: one BOS, no control id, and what a tokenizer changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from capsules.errors import RenderError
from capsules.rendering import Segment
from capsules.tokenized import Frame, assert_plain, framed, is_lossy, tokenize_segments
from capsules.tokenizer import Tokenizer


class _Own:
    """Another tokenizer, but for how it encodes."""

    def __init__(self, base: Tokenizer) -> None:
        self.tokenizer_id, self.tokenizer_digest = base.tokenizer_id, base.tokenizer_digest
        self.bos_id, self.control_ids = base.bos_id, base.control_ids
        self._base = base

    def decode(self, ids: Sequence[int]) -> str:
        return self._base.decode(ids)


class Underscored(_Own):
    """Reads U+2581 as a space, as SentencePiece vocabularies do."""

    def encode(self, text: str) -> list[int]:
        return list(text.replace("\u2581", " ").encode())


class Careless(_Own):
    """Turns the text "<bos>" into BOS."""

    def encode(self, text: str) -> list[int]:
        first, *rest = text.split("<bos>")
        return [*first.encode(), *(i for part in rest for i in (256, *part.encode()))]


def test_a_tokenizer_without_bos_sends_none(byte_tokenizer: Any) -> None:
    byte_tokenizer.bos_id = None
    sent = tokenize_segments([Segment(kind="tail", text="ab")], byte_tokenizer)
    assert sent.ids == (97, 98)


def test_text_that_the_tokenizer_changes_is_lossy(byte_tokenizer: Any) -> None:
    segments = [Segment(kind="item", text="a\u2581b", ref="s"), Segment(kind="item", text="a b", ref="t")]
    assert [s.lossy for s in tokenize_segments(segments, Underscored(byte_tokenizer)).segments] == [
        False,
        True,
        False,
    ]
    assert is_lossy("\u2581", Underscored(byte_tokenizer))
    assert not is_lossy("\u2581", byte_tokenizer)


def test_control_ids_in_content_are_refused_on_the_ids(
    byte_tokenizer: Any,
) -> None:  # A12, C09: never trust the promise
    segments = [Segment(kind="item", text="see <bos> here", ref="s")]
    with pytest.raises(RenderError) as refused:
        tokenize_segments(segments, Careless(byte_tokenizer))
    assert refused.value.code == "render.control_token"
    assert "found id 256 at position 5" in str(refused.value)
    assert tokenize_segments(segments, byte_tokenizer).ids == (256, *b"see <bos> here")


@pytest.mark.parametrize("ids", [[], [1], [256, 256], [256, 1, 256]])
def test_two_leading_bos_or_none_are_refused_before_anything_is_sent(
    byte_tokenizer: Any, ids: list[int]
) -> None:  # A09
    with pytest.raises(RenderError, match=r"render\.control_token"):
        assert_plain(ids, byte_tokenizer)
    assert_plain([256, 1], byte_tokenizer)


PARTS = (
    Segment(kind="prefix", text="Do.", ref="i"),
    Segment(kind="header", text="[1]"),
    Segment(kind="item", text="ab", ref="s"),
)


def test_a_frame_stands_around_the_content(byte_tokenizer: Any) -> None:
    """BOS, the head of the frame and the prefix are stable; control ids stand in the frame alone."""
    byte_tokenizer.control_ids = frozenset({256, 300, 301})
    sent = tokenize_segments(PARTS, byte_tokenizer, Frame(head=(256, 300, 10), tail=(301, 10)))
    assert sent.ids == (256, 300, 10, *b"Do.[1]ab", 301, 10)
    assert [(s.kind, s.n) for s in sent.segments] == [
        *(("bos", 1), ("frame", 2), ("prefix", 3), ("header", 3), ("item", 2), ("frame", 2)),
    ]
    assert sent.stable() == (256, 300, 10, *b"Do.")
    assert tokenize_segments(PARTS, byte_tokenizer).stable() == (256, *b"Do.")
    with pytest.raises(RenderError, match="expected content without control ids, found id 256"):
        tokenize_segments(
            [Segment(kind="item", text="a <bos> b")],
            Careless(byte_tokenizer),
            Frame(head=(256, 300), tail=()),
        )


def test_a_frame_of_nothing_but_bos_adds_no_segment(byte_tokenizer: Any) -> None:
    sent = tokenize_segments(PARTS, byte_tokenizer, Frame(head=(256,), tail=()))
    assert sent == tokenize_segments(PARTS, byte_tokenizer)
    byte_tokenizer.bos_id = None
    assert framed([1], byte_tokenizer, Frame(head=(300,), tail=(301,))) == (300, 1, 301)


@pytest.mark.parametrize(
    "frame",
    [
        Frame(head=(), tail=()),
        Frame(head=(300, 256), tail=()),
        Frame(head=(256, 256), tail=()),
        Frame(head=(256,), tail=(256,)),
    ],
)
def test_a_frame_holds_one_bos_in_front(byte_tokenizer: Any, frame: Frame) -> None:
    with pytest.raises(RenderError, match="expected BOS 256 once, as the first id") as refused:
        framed([1], byte_tokenizer, frame)
    assert refused.value.code == "render.control_token"


@pytest.mark.parametrize("kind", ["prefix", "item", "header", "tail"])
def test_a_control_id_of_any_segment_is_refused_every_time(byte_tokenizer: Any, kind: str) -> None:
    segments = [Segment(kind="prefix", text="Quote."), Segment(kind=kind, text="see <bos>")]
    careless = Careless(byte_tokenizer)
    for _ in range(2):
        with pytest.raises(RenderError) as caught:
            tokenize_segments(segments, careless)
        assert caught.value.code == "render.control_token"


def test_a_prefix_is_encoded_by_the_tokenizer_at_hand(byte_tokenizer: Any) -> None:
    segments = [Segment(kind="prefix", text="a\u2581b", ref="c")]
    for tokenizer, ids, lossy in (
        (byte_tokenizer, "a\u2581b", False),
        (Underscored(byte_tokenizer), "a b", True),
        (byte_tokenizer, "a\u2581b", False),
    ):
        sent = tokenize_segments(segments, tokenizer)
        assert (sent.ids, sent.segments[-1].lossy) == ((256, *ids.encode()), lossy)
