"""From rendered segments to the ids that are sent.

Rules that this module owns:

* Each segment is encoded by itself and the ids are joined, so no token spans a boundary and the
  counts are of the ids sent. The sum of counts of other cuttings is never assumed to agree.
* Exactly one BOS leads the ids where the tokenizer has one; it is asserted after joining.
* No content may yield a control id: ``render.control_token``, checked on the ids, whatever the
  tokenizer promised.
* A chat template stands around the content as a *frame* of ids, control ids among them. Only the frame may
  hold those: content is encoded as plain text, so no evidence can open or close a turn.
* Where ``decode(encode(text)) != text`` the model cannot see the text as it is: ``lossy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from capsules.errors import RenderError
from capsules.rendering import Rendered, Segment
from capsules.tokenizer import Tokenizer

Encode = Callable[[str], Sequence[int]]
Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a chat template puts around the one user turn that a prompt is.

    Attributes:
        head: Ids before the content, the BOS first where the tokenizer has one.
        tail: Ids after it, up to where the answer begins.
    """

    head: tuple[int, ...]
    tail: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedSegment:
    """A segment's part of the ids.

    Attributes:
        kind: ``bos``, ``frame``, or the kind of the segment.
        ref: The segment's ref.
        n: Number of ids.
        lossy: Whether decoding the ids gives another text.
    """

    kind: str
    ref: str | None
    n: int
    lossy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizedPrompt:
    """The ids to send and the segments that cover them without gaps, in order."""

    ids: tuple[int, ...]
    segments: tuple[TokenizedSegment, ...]

    def count(self, *kinds: str) -> int:
        """Number of ids in segments of these kinds."""
        return sum(segment.n for segment in self.segments if segment.kind in kinds)

    def stable(self) -> tuple[int, ...]:
        """The ids before the evidence: BOS, the frame's head, the prefix."""
        leading = takewhile(lambda s: s.kind in ("bos", "frame", "prefix"), self.segments)
        return self.ids[: sum(segment.n for segment in leading)]


def tokenize(rendered: Rendered, tokenizer: Tokenizer, frame: Frame | None = None) -> TokenizedPrompt:
    """Encode a rendered prompt, inside a frame where there is one.

    Raises:
        RenderError: ``render.control_token``, see :func:`assert_plain`.
    """
    return tokenize_segments(rendered.segments, tokenizer, frame)


def tokenize_segments(
    segments: Sequence[Segment], tokenizer: Tokenizer, frame: Frame | None = None
) -> TokenizedPrompt:
    """Encode segments one by one, behind one BOS where the tokenizer has one.

    Raises:
        RenderError: ``render.control_token``, see :func:`assert_plain`.
    """
    bos = () if tokenizer.bos_id is None else (tokenizer.bos_id,)
    around = frame or Frame(head=bos, tail=())
    ids: list[int] = []
    distinct: set[int] = set()
    parts: list[TokenizedSegment] = []
    for segment in segments:
        if segment.kind == "prefix":
            encoded, lossy, found = _prefix(segment.text, tokenizer.encode, tokenizer.decode)
        else:
            encoded = found = tokenizer.encode(segment.text)
            lossy = segment.kind != "header" and tokenizer.decode(encoded) != segment.text
        ids += encoded
        distinct.update(found)
        parts.append(TokenizedSegment(kind=segment.kind, ref=segment.ref, n=len(encoded), lossy=lossy))
    if not _forbidden(tokenizer).isdisjoint(distinct):
        assert_plain((*bos, *ids), tokenizer)  # says which and where
    opening = (_around("bos", len(bos)), _around("frame", len(around.head) - len(bos)))
    closing = _around("frame", len(around.tail))
    return TokenizedPrompt(
        ids=framed(ids, tokenizer, frame),
        segments=(*(part for part in opening if part.n), *parts, *([closing] if closing.n else [])),
    )


@lru_cache(maxsize=64)  # the stable prefix of a task stands in all its prompts
def _prefix(text: str, encode: Encode, decode: Decode) -> tuple[Sequence[int], bool, Iterable[int]]:
    """The ids of a text, whether they say another one, and which they are."""
    ids = tuple(encode(text))
    return ids, decode(ids) != text, frozenset(ids)


def framed(content: Sequence[int], tokenizer: Tokenizer, frame: Frame | None) -> tuple[int, ...]:
    """The ids to send: BOS and content, or content inside the frame.

    Raises:
        RenderError: ``render.control_token``: the frame does not hold exactly one BOS, in front.
    """
    bos = tokenizer.bos_id
    if frame is None:
        return (*(() if bos is None else (bos,)), *content)
    if bos is not None and (frame.head[:1] != (bos,) or bos in frame.head[1:] or bos in frame.tail):
        raise RenderError("render.control_token", f"expected BOS {bos} once, as the first id of the frame")
    return (*frame.head, *content, *frame.tail)


def _around(kind: str, n: int) -> TokenizedSegment:
    return TokenizedSegment(kind=kind, ref=None, n=n)


def is_lossy(text: str, tokenizer: Tokenizer) -> bool:
    """Whether a model that is sent ``text`` reads another text."""
    return tokenizer.decode(tokenizer.encode(text)) != text


def _forbidden(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids that content may not hold."""
    return tokenizer.control_ids if tokenizer.bos_id is None else tokenizer.control_ids | {tokenizer.bos_id}


def assert_plain(ids: Sequence[int], tokenizer: Tokenizer) -> None:
    """Assert that ids lead with exactly one BOS (where there is one) and hold no control id else.

    Raises:
        RenderError: ``render.control_token``, naming ids and positions, never the text.
    """
    bos = tokenizer.bos_id
    content = ids
    if bos is not None:
        if not ids or ids[0] != bos:
            first = ids[0] if ids else None
            raise RenderError("render.control_token", f"expected BOS {bos} as the first id, found {first}")
        content = ids[1:]
    forbidden = _forbidden(tokenizer)
    if not forbidden.isdisjoint(content):
        start = len(ids) - len(content)
        place, found = next((i, t) for i, t in enumerate(content, start) if t in forbidden)
        raise RenderError(
            "render.control_token",
            f"expected content without control ids, found id {found} at position {place}",
        )
