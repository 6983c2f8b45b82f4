"""The fast validation against the slow model, on capsules that were changed in any way and re-sealed."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from beside import load
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id, require_content_id
from capsules.errors import CapsuleError, ParseError
from capsules.policy import read_policy
from capsules.report import CHECKS, STAGES
from capsules.store import VerifiedBytes, missing
from capsules.validation import Given, validate_prompt

HERE = Path(__file__).parent
NOWS = (
    "2023-12-31T23:59:59Z",
    "2024-01-01T00:00:00Z",
    "2024-06-01T12:00:00Z",
    "2024-06-30T23:59:59Z",
    "2024-07-01T00:00:00Z",
    "2025-01-01T00:00:00Z",
)
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2**53 - 1,
    10_001,
    "",
    "x",
    "demo",
    "restricted",
    "b3:" + "0" * 64,
    [],
    {},
    "2024-02-30T00:00:00Z",
    "é\U0001f9ea",
    "capsules>=2",
    ["x", "a"],
    "soft",
    "evidence-capsule/1",
    [None],
)


reader = load(HERE / "slow_reader.py", "slow_reader")
slow = load(HERE / "slow_model.py", "slow_model")
load(HERE / "shape_tables.py", "shape_tables")
shapes = load(HERE / "shape_model.py", "shape_model")
kit = load(HERE.parent / "vectors" / "kit.py", "vectors_kit")


class DictStore:
    """Objects by the id that they are said to have."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects = objects

    def get(self, object_id: str, *, max_bytes: int | None = None) -> VerifiedBytes:
        require_content_id(object_id)
        if object_id not in self.objects:
            raise missing(object_id)
        return VerifiedBytes(id=object_id, data=self.objects[object_id])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


def leaves(value: Any) -> list[Any]:
    return [container[key] for container, key in places(value) if not isinstance(container[key], dict)]


def mutate(world: Any, values: list[Any], where: int, action: int, pick: int) -> None:
    """One change at one place of the capsules or the policy."""
    spots = [spot for value in values for spot in places(value)]
    container, key = spots[where % len(spots)]
    old = container[key]
    match action % 8:
        case 0:
            pool = [item for value in values for item in leaves(value) if type(item) is type(old)]
            container[key] = copy.deepcopy(pool[pick % len(pool)]) if pool else None
        case 1:
            container[key] = copy.deepcopy(ODD[pick % len(ODD)])
        case 2:
            del container[key]
        case 3 if isinstance(old, list) and old:
            old.append(copy.deepcopy(old[pick % len(old)]))
        case 3 if isinstance(old, dict):
            old["extra"] = 1
        case 4 if isinstance(old, list):
            old.reverse()
        case 5 if type(old) is int:
            container[key] = old + (-1, 1, 1000)[pick % 3]
        case 6 if isinstance(old, str):
            container[key] = (old + "x", old[:-1], old.upper(), "x" + old[1:], old + "\n")[pick % 5]
        case _:
            other, at = spots[pick % len(spots)]
            container[key] = copy.deepcopy(other[at])


def fast(data: bytes, objects: dict[str, bytes], now: str, project: Any, policy: Any, provider: Any) -> Any:
    given_ = Given(now=now, store=DictStore(objects), project=project, policy=policy, provider=provider)  # type: ignore[arg-type]
    report = validate_prompt(data, given_)
    failed = [CHECKS[row.check][0] for row in report.checks if row.result == "fail"]
    stage = min(failed, key=STAGES.index, default="")
    return stage, set(report.codes()), report.valid, report.authorized


def both(
    data: bytes, objects: dict[str, bytes], now: str, project: Any, policy: Any, provider: Any
) -> tuple[Any, Any]:
    read = None if policy is None else read_policy(canonical_bytes(policy))
    world = slow.World(objects, slow.seconds(now), project, policy, provider)
    return fast(data, objects, now, project, read, provider), slow.judge(data, world, shapes.shape_codes)


PIECES = (b'"a":1,', b"\\u0041", b" ", b"1.0", b"-0", b"[[", b'"', b",", b"null")
CHANGES = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 7), st.integers(0, 10_000)), min_size=1, max_size=3
)
SEEN: Counter[str] = Counter()


WORLDS = given(
    changes=CHANGES,
    target=st.sampled_from(["prompt", "prompt", "public", "internal", "policy", "any"]),
    harm=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), max_size=1),
    now=st.sampled_from(NOWS),
    project=st.sampled_from([None, "demo", "other"]),
    provider=st.sampled_from([None, "local", "cloud", "nobody"]),
    late=st.booleans(),
)


def differ(changes: Any, target: str, harm: Any, now: str, project: Any, provider: Any, late: bool) -> None:
    world, policy = kit.World(), kit.policy()
    values = {"policy": [policy], "any": [world.prompt, world.public, world.internal, policy]}.get(
        target
    ) or [getattr(world, target)]
    if late:
        world.seal()
    for where, action, pick in changes:
        mutate(world, values, where, action, pick)
    try:
        if not late:
            world.seal()
        subject = kit.wire(world.prompt)
    except ParseError:  # an integer that canonical JSON does not write
        return
    for index, kind in harm:
        name = sorted(world.objects)[index % len(world.objects)]
        data = world.objects.pop(name)
        if kind:
            world.objects[name] = data[:-1] if kind == 1 else bytes([data[0] ^ 1]) + data[1:]
    try:
        read_policy(canonical_bytes(policy))
    except CapsuleError:
        policy = None
    provider = provider if policy is not None else None
    quick, obvious = both(subject, world.objects, now, project, policy, provider)

    assert quick == obvious
    SEEN.update(quick[1] or {"nothing"})
    event(quick[0] or "valid")


def differ_often(examples: int, codes: int) -> None:
    SEEN.clear()
    settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))(WORLDS(differ))()

    assert len(SEEN) >= codes, SEEN  # the changes reach deep enough to compare something


def test_any_change_gets_the_same_verdict_from_both() -> None:
    differ_often(400, 20)


@pytest.mark.soak
def test_twenty_thousand_changes_get_the_same_verdict_from_both() -> None:
    differ_often(20_000, 30)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    at=st.integers(0, 10_000),
    bit=st.integers(0, 8),
    size=st.integers(0, 40),
    new=st.binary(max_size=8)
    | st.sampled_from([b'"a":1,', b"\\u0041", b" ", b"1.0", b"-0", b"[[", b'"', b",", b"null"]),
)
def test_any_change_of_the_bytes_gets_the_same_verdict_from_both(
    at: int, bit: int, size: int, new: bytes
) -> None:
    world = kit.World().seal()
    data = bytearray(kit.wire(world.prompt))
    at %= len(data)
    if bit < 8:
        data[at] ^= 1 << bit
    else:
        data[at : at + size] = new
    quick, obvious = both(bytes(data), world.objects, NOWS[2], None, None, None)

    assert quick[2:] == obvious[2:]
    # One reader may stop at an earlier place of the text than the other: compare what was refused first
    # only where nothing but the syntax can be at fault.
    if quick[0] != "parse" or obvious[0] != "parse":
        assert quick == obvious


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=500, deadline=None)
@given(JSON)
def test_both_write_the_same_canonical_bytes(value: Any) -> None:
    try:
        data = canonical_bytes(value)
    except ParseError:  # a surrogate or a noncharacter
        with pytest.raises((reader.Refused, UnicodeEncodeError)):
            reader.Reader(reader.canon(value)).whole()
        return
    assert reader.canon(value) == data
    assert reader.Reader(data).whole() == parse_strict(data) == value


@pytest.mark.parametrize(
    "case", sorted((HERE.parent / "vectors" / "cases").glob("canonical-*/input")), ids=lambda c: c.name
)
def test_both_read_the_vectors(case: Path) -> None:
    expected = parse_strict(case.with_name("expected.json").read_bytes())
    data = case.read_bytes()
    try:
        found: Any = reader.canon(reader.Reader(data).whole()).decode()
    except reader.Refused as refused:
        found = str(refused)

    wanted = expected["stdout"] if expected["exit"] == 0 else expected["stderr"]["code"]
    if not (wanted == "json.syntax" or case.parent.name == "canonical-depth-bomb_fail"):
        assert found == wanted, content_id(data)
