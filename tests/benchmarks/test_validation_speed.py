"""What a validation costs: all stages of a prompt with 20 spans, and strict load and verify of 3 KB.

Recorded, never asserted. The goals are 20 ms and a median below 1 ms.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from beside import load

from capsules import codec
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule
from capsules.report_json import report_bytes
from capsules.store import MemoryStore
from capsules.validation import Given, validate

pytestmark = pytest.mark.benchmark_ratio

EVIDENCE = Path(__file__).parents[1] / "golden/v1/evidence.json"
NOW = "2024-06-01T12:00:00Z"


@pytest.fixture(scope="module")
def kit() -> ModuleType:
    return load(Path(__file__).parents[1] / "vectors" / "kit.py", "vectors_kit")


def with_spans(kit: Any, count: int) -> tuple[bytes, Given]:
    """A prompt over one source of about 40 KB with so many spans."""
    sentences = [
        f"Sentence {number} says that valve {number} shut at {number % 9} bar." for number in range(700)
    ]
    text = " ".join(sentences)
    source = content_id(text.encode())
    kit.TEXTS["long"], kit.SOURCES["long"], kit.IDS["long"] = text, text.encode(), source
    world = kit.World()
    world.public = kit.evidence("public", "long", [kit.span("long", each) for each in sentences[:count]])
    world.prompt["surface_snippet"] = None
    world.prompt["candidates"]["items"] = count + 7
    world.seal()
    store = MemoryStore()
    store.put_many(world.objects.values())
    return kit.wire(world.prompt), Given(now=NOW, store=store, project="demo")


@pytest.mark.parametrize("spans", [20, 500])
def test_all_stages_of_a_prompt(benchmark: Any, kit: Any, spans: int) -> None:
    """The goal is 20 ms for 20 spans."""
    data, given = with_spans(kit, spans)
    report = benchmark(validate, data, given)

    assert report.codes() == ()
    benchmark.extra_info.update(spans=spans, median_ms=benchmark.stats.stats.median * 1e3)


def test_report_of_a_prompt_as_bytes(benchmark: Any, kit: Any) -> None:
    data, given = with_spans(kit, 20)
    report = validate(data, given)
    benchmark(report_bytes, report)


def test_strict_load_and_verify_of_a_record(benchmark: Any) -> None:
    """The goal is a median below 1 ms: hash, strict parse, canonical form, every rule of the shape."""
    data = EVIDENCE.read_bytes()
    store = MemoryStore()
    object_id = store.put(data)
    benchmark(lambda: codec.read_stored(store.get(object_id).data, EvidenceCapsule))
    benchmark.extra_info.update(bytes=len(data), median_ms=benchmark.stats.stats.median * 1e3)
