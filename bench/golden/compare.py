"""The first difference of two golden records: which build, and in it the first field, span and segment.

Rules that this module owns:

* Data and tokenizer come first: with others, no build can be judged. Then the builds in the order of the
  file. The config is no part of the comparison (overrides change it on purpose).
* In a build, causes come before their consequences: why there is no prompt; fields of the prompt capsule;
  fields of the evidence capsules, paired by name; what else the builder said; at last whatever follows
  from these (digests, ids of evidence, segments).
* Two records that differ anywhere have a first difference, and it names a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.diff.fields import Change, changes
from bench.golden.fates import first_span
from bench.golden.records import Golden, GoldenBuild
from bench.golden.segments import first_segment
from bench.golden.texts import is_stand_in
from bench.golden.words import NOTHING, Named, Texts, named_change
from bench.records_io import row_value

_CAUSES = ("status", "code", "message")
_SUMS = ("/candidates", "/evidence_capsule_refs")  # of the prompt capsule: they follow from other fields
_CONSEQUENCES = ("prompt_tokens", "prompt", "evidence", "ids_digest", "segments", "blocks", "items", "shown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first difference.

    Attributes:
        sample_id, arm_id: The build; ``None`` where data or tokenizer are others.
        field: The first field that differs.
        span: The first candidate with another fate, or another place.
        segment: The first segment of the sent ids that differs.
        tokens: (expected, found) prompt tokens.
        builds: All builds that differ, in the order of the file.
    """

    field: Named
    sample_id: str | None = None
    arm_id: str | None = None
    span: Named | None = None
    segment: Named | None = None
    tokens: tuple[int, int] | None = None
    builds: tuple[tuple[str, str], ...] = ()
    compared: int = 0

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        named = {"field": self.field, "span": self.span, "segment": self.segment}
        return {
            "sample": self.sample_id,
            "arm": self.arm_id,
            **{name: place.to_value() if place else None for name, place in named.items()},
            "prompt_tokens": list(self.tokens) if self.tokens else None,
            "builds": [{"sample": sample, "arm": arm} for sample, arm in self.builds],
            "compared": self.compared,
        }


def first_difference(expected: Golden, found: Golden) -> Difference | None:
    """The first difference of what a file holds and what was built now; ``None`` if there is none."""
    pair = _Pair(expected=expected, found=found)
    left, right = {b.key: b for b in expected.builds}, {b.key: b for b in found.builds}
    keys = [*left, *(key for key in right if key not in left)]
    differ = tuple(key for key in keys if _differs(left.get(key), right.get(key), pair))
    first = _of_sources(pair)
    if first is None and differ:
        first = _of_builds(left.get(differ[0]), right.get(differ[0]), pair)
    if first is None and list(left) != list(right):
        first = _of_order(list(left), list(right))
    return None if first is None else replace(first, builds=differ, compared=len(keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    expected: Golden
    found: Golden

    @property
    def texts(self) -> Texts:
        return Texts(expected=self.expected.texts, found=self.found.texts)


def _differs(left: GoldenBuild | None, right: GoldenBuild | None, pair: _Pair) -> bool:
    return left is None or right is None or next(_changes(left, right, pair), None) is not None


def _of_sources(pair: _Pair) -> Difference | None:
    for name in ("data", "tokenizer"):
        one, other = getattr(pair.expected, name), getattr(pair.found, name)
        change = next(changes(one, other, f"/{name}", name), None)
        if change is not None:
            return Difference(field=named_change(change, "", pair.texts))
    return None


def _of_builds(left: GoldenBuild | None, right: GoldenBuild | None, pair: _Pair) -> Difference:
    if left is None or right is None:
        build = left or right
        assert build is not None
        there = f"a build of sample {build.sample_id}, arm {build.arm_id}"
        sides = (there, NOTHING) if right is None else (NOTHING, there)
        field = Named(at="/builds", expected=sides[0], found=sides[1])
        return Difference(field=field, sample_id=build.sample_id, arm_id=build.arm_id)
    where, change = next(_changes(left, right, pair))
    return Difference(
        field=named_change(change, where, pair.texts),
        sample_id=left.sample_id,
        arm_id=left.arm_id,
        span=first_span((left, pair.expected.capsules), (right, pair.found.capsules), pair.texts),
        segment=first_segment(left, right),
        tokens=(left.prompt_tokens, right.prompt_tokens),
    )


def _of_order(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> Difference:
    index = next(n for n, (a, b) in enumerate(zip(left, right, strict=True)) if a != b)
    one, other = (f"sample {sample}, arm {arm}" for sample, arm in (left[index], right[index]))
    return Difference(field=Named(at=f"/builds/{index}", expected=one, found=other))


def _changes(left: GoldenBuild, right: GoldenBuild, pair: _Pair) -> Iterator[tuple[str, Change]]:
    """Every difference of two builds, causes first, each with the record that it is in."""
    a, b = row_value(left), row_value(right)
    for name in _CAUSES:
        yield from (("build", change) for change in changes(a[name], b[name], f"/{name}", name))
    late: list[tuple[str, Change]] = []
    for where, one, other in _capsules(left, right, pair):
        for change in changes(one, other, whole=is_stand_in):
            entry = (where, change)
            if where == "prompt capsule" and change.at.startswith(_SUMS):
                late.append(entry)
            else:
                yield entry
    for name in a:
        if name not in (*_CAUSES, *_CONSEQUENCES):
            yield from (("build", change) for change in changes(a[name], b[name], f"/{name}", name))
    yield from late
    for name in _CONSEQUENCES:
        yield from (("build", change) for change in changes(a[name], b[name], f"/{name}", name))


def _capsules(left: GoldenBuild, right: GoldenBuild, pair: _Pair) -> Iterator[tuple[str, Any, Any]]:
    """The pairs of capsules of two builds; an evidence capsule without a partner is paired with nothing."""
    yield "prompt capsule", _capsule(left.prompt, pair.expected), _capsule(right.prompt, pair.found)
    one, other = _by_name(left, pair.expected), _by_name(right, pair.found)
    for name in [*one, *(name for name in other if name not in one)]:
        yield f"evidence capsule {name}", one.get(name), other.get(name)


def _capsule(digest: str | None, golden: Golden) -> Mapping[str, Any] | None:
    return None if digest is None else golden.capsules[digest]


def _by_name(build: GoldenBuild, golden: Golden) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, digest in enumerate(build.evidence, 1):
        value = golden.capsules[digest]
        name = str(value.get("capsule_id")).rpartition(":")[2]
        found[name if name not in found else f"{name}#{number}"] = value
    return found
