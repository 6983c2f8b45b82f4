"""Coverage-guided fuzzing of everything that reads bytes from outside.

A small loop of our own: an input that reaches a new (line, next line) of `capsules` joins the corpus and
is mutated further. Whatever the bytes are, a target may only refuse them with a `CapsuleError`, keeps
its promise, and answers within two seconds. Ten seconds in the normal tier, ten minutes in soak.
"""

from __future__ import annotations

import io
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from capsules.canonical import canonical_bytes, parse_strict
from capsules.cli_citations import citations_line
from capsules.cli_lines import run_lines
from capsules.cli_match import match_line
from capsules.content_id import content_id
from capsules.disk_store import DiskStore
from capsules.errors import CapsuleError
from capsules.policy import read_policy
from capsules.prefix_blocks import CachedState, cached_line
from capsules.report_json import read_report, report_bytes
from capsules.validation import Given, validate

VECTORS = Path(__file__).parents[1] / "vectors"
PACKAGE = str(Path(canonical_bytes.__code__.co_filename).parent)
NOW = "2024-06-01T12:00:00Z"
EXACT = ("raw_exact", "norm_exact")
STORE = DiskStore(VECTORS / "stores" / "main", read_only=True)
TOKENS: tuple[bytes, ...] = (
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\\u0000", b"\\ud800", b"\\uffff", b"[" * 40),
    *(b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\xcc\x81", b"...", b"\r\n", b"`", b"```\n"),
    *(b"null", b"true", b"NaN", b"0", b"-0", b"-1", b"1.0", b"9007199254740992", b"1000000000"),
    *(b"[1]", b"[1-3]", b"[^1]", b'"a":1,', b"b3:" + b"0" * 64, b"2024-01-01T00:00:00Z"),
    *(text.encode() for text in ("…", "\u200b", "\ufb03", "\U0001f9ea", "一。", "【1†x】")),
)


def fuzz_reader(data: bytes) -> None:
    value = parse_strict(data)
    canonical = canonical_bytes(value)
    assert canonical_bytes(parse_strict(canonical)) == canonical
    assert parse_strict(canonical) == value


def fuzz_wire(data: bytes) -> None:
    report = validate(data, Given(now=NOW, store=STORE))
    assert read_report(report_bytes(report)) == report
    assert report.valid == (not report.codes())
    if report.valid:
        value: Any = parse_strict(data)
        digest = value.pop("digest")
        assert content_id(canonical_bytes(value)) == digest == report.subject


def fuzz_resealed(data: bytes) -> None:
    """Past the digest: whatever the value is, it is sealed anew."""
    value: Any = parse_strict(data)
    if isinstance(value, dict):
        value.pop("digest", None)
        fuzz_wire(canonical_bytes({**value, "digest": content_id(canonical_bytes(value))}))


def fuzz_policy(data: bytes) -> None:
    policy = read_policy(data)
    validate(b"{}", Given(now=NOW, policy=policy, provider="local"))


def fuzz_match(data: bytes) -> None:
    for answer in answers(match_line, data):
        if answer.get("match") in EXACT and answer["start"] is not None:
            source = parse_strict(data)["source"]  # type: ignore[call-overload, index]
            assert source[answer["start"] : answer["end"]] == answer["text"]


def fuzz_citations(data: bytes) -> None:
    answers(citations_line, data)


def fuzz_cached(data: bytes) -> None:
    state = CachedState()
    for answer in answers(lambda value: cached_line(state, value), data):
        assert "error" in answer or 0 <= answer["predicted"] <= answer["shared_tokens"]


def answers(line: Callable[[object], object], data: bytes) -> list[Any]:
    out = io.BytesIO()
    run_lines(line, io.BytesIO(data), out)
    found = [parse_strict(each, max_items=10**6) for each in out.getvalue().splitlines()]
    assert len(found) == len(data.split(b"\n")) - data.endswith(b"\n") - (not data)
    return found


def seeds(pattern: str) -> list[bytes]:
    found = [path.read_bytes() for path in sorted((VECTORS / "cases").glob(pattern))]
    return [data for data in found if len(data) < 20_000]


TARGETS: dict[str, tuple[Callable[[bytes], None], str]] = {
    "reader": (fuzz_reader, "canonical-*/input"),
    "wire": (fuzz_wire, "verify-*/input"),
    "resealed": (fuzz_resealed, "verify-*/input"),
    "policy": (fuzz_policy, "*/policy.json"),
    "match": (fuzz_match, "match-*/input"),
    "citations": (fuzz_citations, "citations-*/input"),
    "cached": (fuzz_cached, "cached-*/input"),
}


class Coverage:
    """Steps from line to line inside the package, and whether a run made a new one."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int, int]] = set()
        self.new = False

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        before = frame.f_lineno

        def step(frame: FrameType, event: str, arg: object) -> Any:
            nonlocal before
            edge = (code, before, frame.f_lineno)
            if edge not in self.seen:
                self.seen.add(edge)
                self.new = True
            before = frame.f_lineno
            return step

        return step


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(target: Callable[[bytes], None], data: bytes, coverage: Coverage) -> bool:
    """Whether the input reached something new; refusing it is fine, anything else is not."""
    coverage.new = False
    tracing = sys.gettrace()  # coverage measurement may be on: hand it back
    started = time.process_time()
    try:
        with limit(60):
            sys.settrace(coverage)
            target(data)
    except CapsuleError:
        pass
    finally:
        sys.settrace(tracing)
    if time.process_time() - started > 2:  # tracing is slow: what counts is the time without it
        started = time.process_time()
        with limit(60), suppress(CapsuleError):
            target(data)
        assert time.process_time() - started < 2, f"slow on {data[:200]!r}"
    return coverage.new


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(out) + 1)
        size = chance.choice((0, 1, 2, 8, 64))
        match chance.randrange(7):
            case 0 if at < len(out):
                out[at] ^= 1 << chance.randrange(8)
            case 1:
                del out[at : at + size]
            case 2:
                out[at:at] = out[at : at + size] * chance.choice((1, 1, 30))
            case 3 | 0:
                out[at : at + size] = chance.choice(TOKENS)
            case 4:
                out[at:at] = chance.choice(TOKENS)
            case 5:
                start = chance.randrange(len(other) + 1)
                out[at : at + size] = other[start : start + chance.choice((1, 8, 64, 512))]
            case _:
                out[at:at] = bytes(chance.randrange(256) for _ in range(size % 3))
    return bytes(out[:20_000])


def fuzz(name: str, seconds: float, every: int) -> tuple[int, int, int]:
    """(inputs run, inputs kept, steps seen) of one target, beginning with every nth vector."""
    target, pattern = TARGETS[name]
    chance, coverage = random.Random(f"{name} 1"), Coverage()
    corpus = seeds(pattern)[::every]
    count, first = 0, len(corpus)
    end = time.monotonic() + seconds
    for data in corpus:
        run(target, data, coverage)
    while time.monotonic() < end:
        data = mutated(chance.choice(corpus), chance.choice(corpus), chance)
        try:
            if run(target, data, coverage):
                corpus.append(data)
        except Exception as error:
            raise AssertionError(f"{name} on {data!r}") from error
        count += 1
    return count, len(corpus) - first, len(coverage.seen)


@pytest.mark.parametrize("name", TARGETS)
def test_no_bytes_are_too_much(name: str) -> None:
    count, _, steps = fuzz(name, 10 / len(TARGETS), 10)

    assert count > 0
    assert steps > 50


@pytest.mark.soak
@pytest.mark.parametrize("name", TARGETS)
def test_ten_minutes_of_bytes(name: str, record_property: Callable[[str, object], None]) -> None:
    count, kept, steps = fuzz(name, 600 / len(TARGETS), 1)

    record_property("fuzz", f"{name}: {count} inputs, {kept} kept, {steps} steps")
    print(f"{name}: {count} inputs, {kept} kept, {steps} steps")
    assert count > 500
