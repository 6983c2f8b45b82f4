"""Released files verify for ever: these bytes, these ids. A change here is a new major."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from capsules import codec
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.source import source_text
from capsules.span import check_span

GOLDEN = Path(__file__).parents[1] / "golden/v1"

# Written down here too, so that the list cannot change with the files.
IDS = {
    "evidence.json": "b3:f469dd1e936905810fda3b76bf9b65f20ad56a1699d424bcd3a871743afb5cc9",
    "label.txt": "b3:3d175670eaf6e3d6cbf4d0951de5734494dcf2498af8354f6a1869e24562d126",
    "notes.txt": "b3:00365d5914db7ed57ee2dc16436aab23d35c850a0f72544ea3c6270cd1828ad2",
    "prompt.json": "b3:24173ab65ed90caa4e8e8b5895871f1c346f0d9725b8d3bd1ee0bd79c3f31ea5",
}


def test_every_golden_file_has_its_id() -> None:
    listed = dict(line.split("  ")[::-1] for line in (GOLDEN / "ids.txt").read_text().splitlines())
    assert listed == IDS
    assert {path.name for path in GOLDEN.iterdir()} == {*IDS, "ids.txt"}


@pytest.mark.parametrize(("name", "expected"), IDS.items())
def test_the_bytes_have_not_changed(name: str, expected: str) -> None:
    assert content_id((GOLDEN / name).read_bytes()) == expected


def test_golden_capsules_are_read_and_written_back() -> None:
    for name, cls in (("evidence.json", EvidenceCapsule), ("prompt.json", PromptCapsule)):
        data = (GOLDEN / name).read_bytes()
        assert codec.preimage(codec.read_stored(data, cls)) == data


def test_golden_spans_agree_with_golden_sources() -> None:
    sources = [source_text((GOLDEN / f"{name}.txt").read_bytes()) for name in ("label", "notes")]
    texts = {source.source: source.text for source in sources}
    evidence = codec.read_stored((GOLDEN / "evidence.json").read_bytes(), EvidenceCapsule)
    assert len(evidence.exact_spans) == 3
    for span in evidence.exact_spans:
        assert check_span(span, texts[span.source]) == []


def test_the_example_is_the_golden_one(example: Any) -> None:
    assert codec.preimage(example.evidence) == (GOLDEN / "evidence.json").read_bytes()
    assert codec.preimage(example.prompt) == (GOLDEN / "prompt.json").read_bytes()
