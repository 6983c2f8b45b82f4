"""Fixtures of the task tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import on_disk
import pytest

from tasks.base import TaskData, TaskSpec
from tasks.listed import Made
from tasks.registry import load_task

SPEC = TaskSpec(
    name="synthetic",
    project="bench",
    as_of="2026-06-01T00:00:00Z",
    data_dir=None,
    revision=None,
    digest=None,
    limit=None,
    examples=0,
    seed=0,
    strict=False,
    options={},
)


@pytest.fixture
def make_spec() -> Callable[..., TaskSpec]:
    """A spec with some fields changed."""
    return lambda **changes: replace(SPEC, **changes)


@pytest.fixture
def good_rows(capsule_data: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Three good rows of a form."""
    return partial(on_disk.good_rows, capsule_data=capsule_data)


@pytest.fixture
def load_form(
    make_spec: Callable[..., TaskSpec], capsule_data: Path, tmp_path: Path
) -> Callable[..., TaskData]:
    """Loads a form from bytes or a table."""
    return on_disk.loader(make_spec, capsule_data, tmp_path)


@pytest.fixture
def quoted() -> Callable[[Made], list[str]]:
    """The texts of the gold spans of a sample."""

    def texts_of(made: Made) -> list[str]:
        texts = {doc.doc_id: doc.text for doc in made.sample.input.sources}
        return [texts[span.doc_id][span.start : span.end] for span in made.sample.gold.spans]

    return texts_of


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """Write a JSON Lines file of values (dicts) and raw lines (str, bytes)."""

    def write(*lines: object, name: str = "own.jsonl") -> Path:
        path = tmp_path / name
        encoded = [
            line if isinstance(line, bytes) else (line if isinstance(line, str) else dump(line)).encode()
            for line in lines
        ]
        path.write_bytes(b"\n".join(encoded) + b"\n")
        return path

    return write


@pytest.fixture
def load_own(make_spec: Callable[..., TaskSpec], write_lines: Callable[..., Path]) -> Callable[..., TaskData]:
    """Loads own data: a file of these lines."""

    def load_lines(*lines: object, **changes: Any) -> TaskData:
        options = {"file": str(write_lines(*lines)), **changes.pop("options", {})}
        return load_task(make_spec(name="custom", options=options, **changes))

    return load_lines


def dump(value: object) -> str:
    return json.JSONEncoder(ensure_ascii=False).encode(value)
