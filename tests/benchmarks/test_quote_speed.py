"""Speed of quote verdicts against gtrex 1.1.0 in the same run, and peak memory of large sources.

Ratios go to ``extra_info``; nothing about time is asserted. Both sides index the source inside the timed
part: one source, a hundred quotes.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capsules.quote_match import match_quote
from capsules.source_index import SourceIndex

ROOT = Path(__file__).parents[2]
_SIZE = 1_000_000
_QUOTES = 100
_LENGTH = 120
_PEER = "1.1.0"

_COMMON = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had "
    "an which you were her all she there would their we him been has when who will more no if out so "
    "said what up its about into than them can only other new some could time these two may then do "
    "first any my now such like our over man me even most made after also did many before must through "
    "pressure valve tank crew metre alarm reservoir turbine engineer inspection winter measured reported"
)
_WORDS = _COMMON.split(" ")


def _text(seed: int, size: int) -> str:
    """Sentences in lines of ordinary length, the same on every Python version."""
    draw = random.Random(seed)
    lines, length = [], 0
    while length < size:
        words = [_WORDS[int(draw.random() * len(_WORDS))] for _ in range(12)]
        words[int(draw.random() * 12)] = str(int(draw.random() * 100_000))
        lines.append(" ".join(words).capitalize() + ".")
        length += len(lines[-1]) + 1
    return "\n".join(lines)[:size]


@pytest.fixture(scope="module")
def source() -> str:
    return _text(1, _SIZE)


@pytest.fixture(scope="module")
def true_quotes(source: str) -> list[str]:
    draw = random.Random(2)
    starts = [int(draw.random() * (_SIZE - _LENGTH)) for _ in range(_QUOTES)]
    # From one word's beginning to another's: the peer refuses quotes that cut words.
    return [source[s : s + _LENGTH].split(" ", 1)[1].rsplit(" ", 1)[0] for s in starts]


@pytest.fixture(scope="module")
def false_quotes() -> list[str]:
    other = _text(3, _QUOTES * _LENGTH * 2)
    return [other[i * 2 * _LENGTH :][:_LENGTH] for i in range(_QUOTES)]


@pytest.fixture(scope="module")
def peer() -> Any:
    """The other library, or a loud skip."""
    if importlib.util.find_spec("gtrex") is None:
        pytest.skip(f"gtrex {_PEER} is not installed (pip install gtrex=={_PEER}): no ratio")
    version = importlib.metadata.version("gtrex")
    if version != _PEER:
        pytest.skip(f"gtrex {version} is installed, the comparison is with {_PEER}: no ratio")
    import gtrex

    return gtrex


def _seconds(run: Callable[[], object]) -> float:
    """CPU time, which other processes on the machine disturb least: only ratios of it are reported."""
    begin = time.process_time()
    run()
    return time.process_time() - begin


def _ours(source: str, quotes: list[str]) -> list[bool]:
    index = SourceIndex(source)
    return [match_quote(index, quote, stitched=False).exact for quote in quotes]


@pytest.mark.benchmark_ratio
@pytest.mark.parametrize("truth", [False, True], ids=["reject-false", "find-true"])
def test_hundred_quotes_against_the_peer(
    truth: bool,
    source: str,
    true_quotes: list[str],
    false_quotes: list[str],
    peer: Any,
    benchmark: Any,
) -> None:
    quotes = true_quotes if truth else false_quotes
    answers = benchmark.pedantic(_ours, args=(source, quotes), rounds=5, iterations=1)
    assert answers == [truth] * _QUOTES
    verifier: list[bool] = []

    def theirs() -> None:
        checked = peer.Verifier(source, peer.Policy())
        verifier.extend(checked.verify(quote).grounded for quote in quotes)

    before = min(_seconds(lambda: _ours(source, quotes)) for _ in range(5))
    peer_seconds = _seconds(theirs)
    after = min(_seconds(lambda: _ours(source, quotes)) for _ in range(5))
    assert verifier == answers
    benchmark.extra_info["our_cpu_ms"] = round(500 * (before + after), 1)
    benchmark.extra_info["peer_cpu_ms"] = round(1000 * peer_seconds, 1)
    benchmark.extra_info["ratio"] = round(2 * peer_seconds / (before + after), 1)


@pytest.mark.benchmark_ratio
def test_one_more_quote_against_a_plain_find(source: str, false_quotes: list[str], benchmark: Any) -> None:
    index = SourceIndex(source)
    match_quote(index, false_quotes[0], stitched=False)

    def rejected() -> list[bool]:
        return [match_quote(index, quote, stitched=False).exact for quote in false_quotes]

    benchmark.pedantic(rejected, rounds=5, iterations=1)
    ours = min(_seconds(rejected) for _ in range(9))
    plain = min(_seconds(lambda: [source.find(quote) for quote in false_quotes]) for _ in range(9))
    benchmark.extra_info["finds_per_quote"] = round(ours / plain, 2)


_MEMORY = """
import resource, sys
from capsules.quote_match import match_quote
from capsules.source_index import SourceIndex
size, astral = 64 << 20, sys.argv[1] == "astral"
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cr, lf = bytes([13]), bytes([10])
line = b"The valve  shut at 5 bar." + cr + lf + b"The tank held for 30 days. As-" + lf + b"sessed. "
data = (line * (size // len(line) + 1))[: size - 4] + (chr(0x1F9EA) if astral else "done").encode()
text = data.decode()
index = SourceIndex(text)
verdict = match_quote(index, "The tank kept for 31 days. The valve shut at 6 bar.", stitched=False)
assert verdict.match == "absent", verdict
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((peak - base) * 1024 / size)
"""


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "limit"), [("plain", 6), ("astral", 12)])
def test_peak_memory_of_a_64_mib_source(kind: str, limit: int) -> None:
    """Bytes, text, and every normalization up to quote/1, line ends and white space runs to fold."""
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, kind],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    times = float(done.stdout)
    print(f"peak memory of a {kind} source: {times:.2f} times its size")
    assert times < limit
