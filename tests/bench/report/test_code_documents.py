"""Every code of the closed list is explained in a document, and docs/codes.md names no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from capsules.codes import CODE_PATTERN, CODES

DOCS = Path(__file__).parents[3] / "docs"
NAMED = re.compile(rf"`({CODE_PATTERN})`")


def named(text: str) -> set[str]:
    return {found[1] for found in NAMED.finditer(text)}


@pytest.fixture(scope="module")
def documented() -> set[str]:
    return {code for path in DOCS.glob("*.md") for code in named(path.read_text("utf-8"))}


def test_every_code_is_explained_somewhere(documented: set[str]) -> None:
    assert sorted(CODES.keys() - documented) == []


def test_the_page_of_codes_names_registered_ones_alone() -> None:
    text = (DOCS / "codes.md").read_text("utf-8")
    assert len(named(text)) > 80
    assert sorted(one for one in named(text) if one not in CODES) == []


def test_a_code_is_named_whole_and_in_code_marks() -> None:
    assert named("`quote.near` quote.absent `json.*` `quote.partial`") == {"quote.near", "quote.partial"}
