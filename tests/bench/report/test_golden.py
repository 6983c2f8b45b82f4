"""The report of the fixture run against golden files, refreshed only by ``--accept-golden``.

Pictures are left out (their bytes belong to one version of matplotlib): the page without its drawings,
the Markdown and every table are compared byte for byte.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "report"
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


def comparable(name: str, data: bytes) -> bytes:
    return SVG.sub("<svg></svg>", data.decode()).encode() if name.endswith(".html") else data


def test_golden(files: dict[str, bytes], request: pytest.FixtureRequest) -> None:
    texts = {n: comparable(n, data) for n, data in files.items() if not n.startswith("figures/")}
    if request.config.getoption("--accept-golden"):
        for old in (path for path in GOLDEN.rglob("*") if path.is_file()):
            old.unlink()
        for name, data in texts.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes(data)
        pytest.fail(
            "golden files were written: look at the difference, then run again without --accept-golden"
        )
    stored = {p.relative_to(GOLDEN).as_posix(): p.read_bytes() for p in GOLDEN.rglob("*") if p.is_file()}
    assert sorted(stored) == sorted(texts)
    for name, data in texts.items():
        assert data.decode() == stored[name].decode(), f"{name} differs; see --accept-golden"


def test_the_files_of_a_report(files: dict[str, bytes]) -> None:
    assert list(files) == sorted(files)
    figures = {name.split("/")[1].split(".")[0] for name in files if name.startswith("figures/")}
    assert figures == {"exactness", "differences", "waterfall", "tokens", "ttft"}
    for name, data in files.items():
        assert data, name
        if name.endswith(".pdf"):
            assert data.startswith(b"%PDF")
            assert b"CreationDate" not in data
        if name.endswith(".png"):
            assert data.startswith(b"\x89PNG")
