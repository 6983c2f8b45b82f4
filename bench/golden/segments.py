"""The first segment of the sent ids that differs.

Rules that this module owns: fences and headers carry a tag that follows from the evidence, so another
tag is named only if nothing else differs. A prompt that was tokenized as one string has one segment;
there the block of 64 ids is named too.
"""

from __future__ import annotations

from bench.golden.records import BLOCK, GoldenBuild, GoldenSegment
from bench.golden.words import Named
from bench.plural import number_of

HEADER = "header"


def first_segment(left: GoldenBuild, right: GoldenBuild) -> Named | None:
    """The first segment that differs; ``None`` if the same ids are sent in the same segments."""
    if left.segments == right.segments and left.blocks == right.blocks:
        return None
    ours, theirs = _steps(left), _steps(right)
    index = _first(ours, theirs)
    if index is None:
        index = _first(left.segments, right.segments)
    if index is None:
        block = _first_block(left, right)
        return Named(at=f"tokens {block}", expected="the recorded ids", found="others")
    return Named(
        at=f"{index + 1} of {len(left.segments)}{_block(left, right)}",
        expected=_said(left.segments, index, right.segments),
        found=_said(right.segments, index, left.segments),
    )


def _steps(build: GoldenBuild) -> list[tuple[str, str | None, str]]:
    """The segments as far as they do not depend on the tag."""
    return [(s.kind, s.ref, "" if s.kind == HEADER else s.ids) for s in build.segments]


def _first(left: object, right: object) -> int | None:
    a, b = list(left), list(right)  # type: ignore[call-overload]
    for index in range(max(len(a), len(b))):
        if a[index : index + 1] != b[index : index + 1]:
            return index
    return None


def _said(mine: tuple[GoldenSegment, ...], index: int, other: tuple[GoldenSegment, ...]) -> str:
    if index >= len(mine):
        return f"no segment (there are {len(mine)})"
    segment = mine[index]
    ref = f" {segment.ref}" if segment.ref else ""
    same = index < len(other) and (segment.kind, segment.ref, segment.n) == (
        other[index].kind,
        other[index].ref,
        other[index].n,
    )
    ids = f", ids {segment.ids}" if same else ""
    return f"{segment.kind}{ref}, {number_of(segment.n, 'token')}{ids}"


def _block(left: GoldenBuild, right: GoldenBuild) -> str:
    if len(left.segments) > 3 or len(right.segments) > 3:
        return ""
    return f" (first other token in {_first_block(left, right)})"


def _first_block(left: GoldenBuild, right: GoldenBuild) -> str:
    index = _first(left.blocks, right.blocks)
    start = (index or 0) * BLOCK
    return f"{start} to {start + BLOCK - 1}"
