"""The shipped JSON Schema files are what the types say, and the examples satisfy them.

After a change of the types, write the files again (a change of a released major is a new major):

    python -c "from pathlib import Path; from capsules.json_schema import schema_files
    for name, text in schema_files().items():
        Path('capsules/schemas', name).write_text(text, encoding='utf-8', newline='\\n')"
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import capsules
from capsules import codec
from capsules.authority import Authority
from capsules.evidence import EvidenceCapsule
from capsules.json_schema import json_schema, schema_files
from capsules.prompt import PromptCapsule

Capsule = EvidenceCapsule | PromptCapsule
FOLDER = Path(capsules.__file__).parent / "schemas"


def test_the_shipped_files_are_generated() -> None:
    shipped = {path.name: path.read_bytes().decode() for path in FOLDER.glob("*.json")}
    assert shipped == schema_files()
    assert set(shipped) == {"evidence-capsule-1.json", "prompt-capsule-1.json"}


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    yield from schema["$defs"].values()


@pytest.mark.parametrize("cls", codec.RECORD_TYPES.values())
def test_every_object_is_closed_and_every_field_required(cls: type[Capsule]) -> None:
    for schema in objects(json_schema(cls)):
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == set(schema["properties"]) - {"digest"}


def test_only_a_capsule_has_a_digest() -> None:
    assert "digest" in json_schema(PromptCapsule)["properties"]
    assert "digest" not in json_schema(Authority)["properties"]


def valid(schema: dict[str, Any], value: Any) -> bool:
    validator = pytest.importorskip("jsonschema", reason="jsonschema is not installed").Draft202012Validator
    validator.check_schema(schema)
    return bool(validator(schema).is_valid(value))


def test_both_forms_satisfy_the_schema(record: Capsule) -> None:
    schema = json.loads(schema_files()[record.schema_id.replace("/", "-") + ".json"])
    assert valid(schema, json.loads(codec.preimage(record)))
    assert valid(schema, json.loads(codec.wire(record)))


BROKEN: dict[str, Any] = {
    "missing": lambda value: value.pop("visibility"),
    "unknown": lambda value: value.update(zz=1),
    "another major": lambda value: value.update(schema_id="evidence-capsule/2"),
    "word": lambda value: value["visibility"].update(level="secret"),
    "range": lambda value: value["confidence"].update(bp=10_001),
    "null": lambda value: value["freshness"].update(as_of=None),
    "id": lambda value: value["exact_spans"][0].update(text_digest="b3:"),
    "context": lambda value: value["exact_spans"][0].update(suffix="x" * 33),
    "empty": lambda value: value["exact_spans"][0].update(exact=""),
    "pair": lambda value: value["contradictions"][0].update(between=["c1"]),
    "repeated": lambda value: value["claim_candidates"][0].update(span_ids=["b3:" + "0" * 64 + ":0-1"] * 2),
    "digest": lambda value: value.update(digest="b3:"),
}


@pytest.mark.parametrize("edit", BROKEN.values(), ids=BROKEN.keys())
def test_what_the_schema_can_say_it_refuses(example: Any, edit: Any) -> None:
    value = copy.deepcopy(codec.to_value(example.evidence))
    edit(value)
    assert not valid(json_schema(EvidenceCapsule), value)
    assert codec.check_value(EvidenceCapsule, value)
