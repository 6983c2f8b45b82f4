"""docs/capsule-format.md says of every field and every code what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import capsules
from capsules import codec
from capsules.codes import CODES
from capsules.norm_registry import ORDER
from capsules.omission import REASONS
from capsules.rules import NORM_IDS
from capsules.shape import Array, Nested, Node, Nullable, Record, Scalar, shape_of

PACKAGE = Path(capsules.__file__).parent
DOCUMENT = (PACKAGE.parent / "docs/capsule-format.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", DOCUMENT, re.DOTALL | re.MULTILINE))


def records(cls: type[Record]) -> list[type[Record]]:
    """A record class and those inside it."""
    found = [cls]
    for node in shape_of(cls).nodes.values():
        while isinstance(node, Nullable | Array):
            node = node.inner if isinstance(node, Nullable) else node.item
        if isinstance(node, Nested):
            found += records(node.cls)
    return found


def words(node: Node) -> str:
    if isinstance(node, Scalar):
        return node.rule.expected
    if isinstance(node, Nullable):
        return f"null or {words(node.inner)}"
    if isinstance(node, Array):
        many = "array" if node.length is None else f"array of {node.length}"
        return f"{many} of {words(node.item)}" + (f"; {node.rule.expected}" if node.rule else "")
    return node.cls.__name__


ALL = [each for cls in codec.RECORD_TYPES.values() for each in records(cls)]


@pytest.mark.parametrize("cls", ALL)
def test_every_field_stands_in_its_table(cls: type[Record]) -> None:
    rows = [line for line in SECTIONS[cls.__name__].splitlines() if line.startswith("| `")]
    nodes = shape_of(cls).nodes
    assert len(rows) == len(nodes)
    for row, (name, node) in zip(rows, nodes.items(), strict=True):
        assert row.startswith(f"| `{name}` | {words(node)} |")


def test_every_code_of_the_format_stands_in_the_table() -> None:
    modules = ("strict_json", "canonical", "codec", "rules", "arrays", "shape", "span", "source", "evidence")
    modules += ("prompt", "omission", "claim", "content_id", "timestamp", "names")
    sources = "".join((PACKAGE / f"{name}.py").read_text(encoding="utf-8") for name in modules)
    used = {code for code in CODES if f'"{code}"' in sources and code not in REASONS}
    table = DOCUMENT.partition("## Codes")[2]
    assert len(used) > 30
    assert {code for code in used if f"`{code}`" not in table} == set()


def test_every_code_of_the_table_is_registered() -> None:
    rows = [line for line in DOCUMENT.partition("## Codes")[2].splitlines() if line.startswith("| `")]
    named = re.findall(r"`([a-z_0-9]+(?:\.[a-z_0-9]+)+)`", "".join(row.split(" | ")[0] for row in rows))
    assert len(named) == len(set(named))
    assert {CODES[code] for code in named} == {"failure"}


def test_the_registry_of_normalizations_is_the_one_that_spans_know() -> None:
    assert NORM_IDS == ORDER
    for norm_id in NORM_IDS:
        assert f"| `{norm_id}` |" in DOCUMENT
