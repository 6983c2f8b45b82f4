"""The first difference: any mutation of a golden record is named, where it was made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from json_places import leaves, mutated, standing_at

from bench.golden.check import Checked, lines
from bench.golden.compare import Difference, first_difference
from bench.golden.file import golden_bytes, read_golden
from bench.golden.records import Golden, GoldenBuild, GoldenSegment
from bench.golden.segments import first_segment
from bench.golden.texts import TEXT_FIELDS, with_texts, without_texts
from bench.records_io import row_of, row_value
from capsules.codec import RECORD_TYPES, digest_of, from_value
from capsules.rules import TextRule
from capsules.shape import Array, Nested, Node, Nullable, shape_of

Recorded = tuple[Path, Golden]
NUMBER = st.integers(0, 1_000_000)
FIXED = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


def another(old: Any) -> Any:
    return not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else old + "~"


def filled(value: Any) -> list[tuple[str, ...]]:
    return [at for at in leaves(value) if standing_at(value, at) is not None]


def pointers(difference: Difference) -> str:
    return difference.field.at.split(" (")[0].rpartition(" ")[2]


def covers(at: str, place: tuple[str, ...]) -> bool:
    """Whether a pointer is the place, something above it or, for a renamed entry, its neighbour."""
    named = tuple(at.split("/")[1:])
    return named == place[: len(named)] or named[:-1] == place[: len(named) - 1]


@FIXED
@given(NUMBER, NUMBER)
def test_a_change_of_any_field_of_a_build_is_named(recorded: Recorded, which: int, where: int) -> None:
    golden = recorded[1]
    index = which % len(golden.builds)
    build = golden.builds[index]
    value = json.loads(json.JSONEncoder().encode(row_value(build)))
    known = ("prompt", "evidence", "sample_id", "arm_id")
    places = [at for at in filled(value) if at[0] not in known]
    place = places[where % len(places)]
    other = row_of(GoldenBuild, mutated(value, place, another))
    found = replace(golden, builds=(*golden.builds[:index], other, *golden.builds[index + 1 :]))
    difference = first_difference(golden, found)
    assert difference is not None
    assert (difference.sample_id, difference.arm_id) == build.key
    assert difference.builds == (build.key,)
    assert difference.field.at.startswith("build /")
    assert covers(pointers(difference), place)
    assert difference.field.expected != difference.field.found
    if place[0] == "segments":
        assert difference.segment is not None
    if place[0] == "items" and place[2:] == ("item",):
        assert difference.span is not None


@FIXED
@given(NUMBER, NUMBER)
def test_a_change_of_any_field_of_a_capsule_is_named(recorded: Recorded, which: int, where: int) -> None:
    golden = recorded[1]
    digest = sorted(golden.capsules)[which % len(golden.capsules)]
    capsule = golden.capsules[digest]
    places = filled(capsule)
    place = places[where % len(places)]
    found = replace(golden, capsules={**golden.capsules, digest: mutated(capsule, place, another)})
    difference = first_difference(golden, found)
    assert difference is not None
    users = [b.key for b in golden.builds if digest in (b.prompt, *b.evidence)]
    assert difference.builds == tuple(users)
    assert (difference.sample_id, difference.arm_id) == users[0]
    kind = "prompt capsule" if capsule["schema_id"].startswith("prompt") else "evidence capsule"
    renamed = place == ("capsule_id",) and kind == "evidence capsule"
    assert difference.field.at.startswith(kind)
    assert renamed or covers(pointers(difference), place)
    assert difference.field.expected != difference.field.found
    if place[0] == "exact_spans" and not renamed:
        assert difference.span is not None


@pytest.mark.parametrize("side", ["data", "tokenizer"])
def test_other_data_or_another_tokenizer_come_first(side: str, recorded: Recorded) -> None:
    golden = recorded[1]
    for name, value in getattr(golden, side).items():
        other = value + 1 if isinstance(value, int) else value + "~"
        found = replace(golden, builds=(), **{side: {**getattr(golden, side), name: other}})
        difference = first_difference(golden, found)
        assert difference is not None
        assert difference.field.at.startswith(f"/{side}/{name}")
        assert len(difference.builds) == 4


def test_builds_that_are_gone_new_or_in_another_order_are_named(recorded: Recorded) -> None:
    golden = recorded[1]
    fewer = replace(golden, builds=golden.builds[:-1])
    gone, new = first_difference(golden, fewer), first_difference(fewer, golden)
    assert gone is not None
    assert new is not None
    said = "a build of sample w00000-q1, arm naive"
    assert (gone.field.expected, gone.field.found) == (said, "nothing")
    assert (new.field.expected, new.field.found) == ("nothing", said)
    turned = first_difference(golden, replace(golden, builds=golden.builds[::-1]))
    assert turned is not None
    assert turned.field.at == "/builds/0"
    assert turned.field.found == "sample w00000-q1, arm naive"


def test_the_first_build_in_the_order_of_the_file_is_the_one_explained(recorded: Recorded) -> None:
    golden = recorded[1]
    changed = tuple(
        replace(build, level="restricted") if build.arm_id == "naive" else build for build in golden.builds
    )
    difference = first_difference(golden, replace(golden, builds=changed))
    assert difference is not None
    assert (difference.sample_id, difference.arm_id) == ("w00000-q0", "naive")
    assert len(difference.builds) == 2
    said = list(lines(Checked(file=Path("x"), builds=4, difference=difference, overridden=False)))
    assert said[0] == "x: 2 of 4 builds differ"
    assert said[-2:] == [
        "  also     w00000-q1/naive",
        "  if this is meant: capsule-bench golden record x --force",
    ]


def test_a_file_reads_back_as_what_was_written(recorded: Recorded, tmp_path: Path) -> None:
    path, golden = recorded
    assert path.read_bytes() == golden_bytes(golden)
    assert golden_bytes(read_golden(path)) == path.read_bytes()
    assert first_difference(golden, read_golden(path)) is None
    assert max(len(line) for line in path.read_text("utf-8").splitlines()) < 2500
    assert path.read_bytes().count(b"\n") > 500, "a diff shows one fact a line"


def test_capsules_come_back_byte_for_byte_with_their_texts(recorded: Recorded) -> None:
    golden = recorded[1]
    assert golden.texts is not None
    for digest, value in golden.capsules.items():
        whole = with_texts(value, golden.texts)
        assert digest_of(from_value(RECORD_TYPES[whole["schema_id"]], whole)) == digest
        assert without_texts(whole, {}) == value


def free_texts(node: Node, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The fields whose only rule is to be a text."""
    if isinstance(node, Nested):
        for name, inner in shape_of(node.cls).nodes.items():
            yield from free_texts(inner, (*at, name))
    elif isinstance(node, Nullable):
        yield from free_texts(node.inner, at)
    elif isinstance(node, Array):
        yield from free_texts(node.item, (*at, "*"))
    elif isinstance(node.rule, TextRule):
        yield at


# Free texts that name something: of a task, a data set, a licence, a part of a capsule.
NAMES = """
    task project active_object/ref constraints/*/id authority/principal authority/project
    authority/operations/* authority/providers/* omissions/*/item rewrites/*/compressor
    source_refs/*/media_type source_refs/*/origin/dataset source_refs/*/origin/row source_refs/*/license
    claim_candidates/*/claim_id contradictions/*/between/* confidence/method visibility/project
    missing_evidence/*/stage
"""


def test_every_field_that_can_hold_any_text_is_one_of_the_texts_or_a_name() -> None:
    held = {at for paths in TEXT_FIELDS.values() for at in paths}
    names = {tuple(name.split("/")) for name in NAMES.split()}
    free = {at for schema_id in TEXT_FIELDS for at in free_texts(Nested(RECORD_TYPES[schema_id]))}
    assert held <= free
    assert free - held == names


def segment(kind: str, n: int, ref: str | None = None, ids: str = "b3:0") -> GoldenSegment:
    return GoldenSegment(kind=kind, n=n, ref=ref, ids=ids)


def test_a_tag_that_follows_from_the_evidence_is_not_the_first_segment(recorded: Recorded) -> None:
    base = replace(recorded[1].builds[0], blocks=())
    tag, other, tail = segment("header", 5), segment("header", 6, ids="b3:1"), segment("tail", 3)
    left = replace(base, segments=(tag, segment("item", 9, "a"), tail))
    found = first_segment(left, replace(base, segments=(other, segment("item", 9, "b"), tail)))
    assert found is not None
    assert found.at == "2 of 3 (first other token in 0 to 63)"
    assert (found.expected, found.found) == ("item a, 9 tokens", "item b, 9 tokens")
    tags = replace(left, segments=(other, *left.segments[1:]))
    only = first_segment(left, tags)
    assert only is not None
    assert only.at.startswith("1 of 3")
    same = first_segment(left, replace(left, segments=(*left.segments[:2], segment("tail", 3, ids="b3:9"))))
    assert same is not None
    assert (same.expected, same.found) == ("tail, 3 tokens, ids b3:0", "tail, 3 tokens, ids b3:9")
    assert first_segment(left, left) is None
