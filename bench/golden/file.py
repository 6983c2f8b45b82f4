"""A golden file: what it must hold, and how it is read and written.

    {"schema_id": "golden/1", "config": {..}, "data": {..}, "tokenizer": {..}, "builds": [..],
     "capsules": {"b3:..": {..}}, "texts": null | {"b3:..": ".."}}

Rules that this module owns:

* Reading is strict: unknown and missing fields, wrong types, floats and duplicate keys are refused, and
  so is another ``schema_id``.
* Every capsule must have the form of one. In a file with texts it is put together again and must have
  the digest under which it stands, so that a file that was edited by hand is not taken for what a builder
  gave.
* The file is written beside its place, flushed and renamed: it is whole or absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.golden.errors import GoldenError
from bench.golden.layout import laid_out
from bench.golden.records import SCHEMA_ID, Golden, GoldenBuild
from bench.golden.texts import with_dummies, with_texts
from bench.records_io import row_of, row_value
from bench.run_store import write_atomic
from capsules.codec import RECORD_TYPES, check_value, digest_of, from_value
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.strict_json import parse_strict

MAX_BYTES = 256 << 20
MAX_ITEMS = 10_000_000
_NEED_TEXTS = ("span.exact.mismatch", "schema.duplicate")  # what cannot be judged without the texts
_KEYS = ("builds", "capsules", "config", "data", "schema_id", "texts", "tokenizer")


def golden_bytes(golden: Golden) -> bytes:
    """The content of the file.

    Raises:
        GoldenError: The config holds something without canonical form.
    """
    value = {
        "schema_id": SCHEMA_ID,
        "config": golden.config,
        "data": golden.data,
        "tokenizer": golden.tokenizer,
        "builds": [row_value(build) for build in golden.builds],
        "capsules": golden.capsules,
        "texts": golden.texts,
    }
    try:
        return laid_out(value)
    except CapsuleError as error:
        raise GoldenError(f"what was built has no canonical form: {error}") from error


def write_golden(path: Path, golden: Golden) -> bool:
    """Write the file; whether that changed it.

    Raises:
        GoldenError: The content has no canonical form.
        OSError: Nothing was changed.
    """
    data = golden_bytes(golden)
    if path.is_file() and path.read_bytes() == data:
        return False
    write_atomic(path, data)
    return True


def read_golden(path: Path) -> Golden:
    """Read a golden file.

    Raises:
        GoldenError: There is none, or it does not hold what it should.
    """
    try:
        value = parse_strict(path.read_bytes(), max_bytes=MAX_BYTES, max_items=MAX_ITEMS)
    except OSError as error:
        raise GoldenError(f"{path}: expected a golden file: {error.strerror}") from error
    except CapsuleError as error:
        raise GoldenError(f"{path}: expected a golden file: {error}") from error
    try:
        return _golden(value)
    except ValueError as error:
        raise GoldenError(f"{path}: {error}") from error


def _golden(value: Any) -> Golden:
    if not isinstance(value, dict) or "schema_id" not in value:
        raise ValueError(f"expected a golden file with schema_id {SCHEMA_ID}, found none")
    if value["schema_id"] != SCHEMA_ID:
        raise ValueError(f"schema_id: expected {SCHEMA_ID}, found {value['schema_id']!r}")
    for odd in sorted(value.keys() ^ set(_KEYS)):
        raise ValueError(f"{odd}: expected exactly the fields {', '.join(_KEYS)}")
    for name in ("config", "data", "tokenizer", "capsules", "texts"):
        if not isinstance(value[name], dict) and not (name == "texts" and value[name] is None):
            raise ValueError(f"{name}: expected an object, found {type(value[name]).__name__}")
    if not isinstance(value["builds"], list):
        raise ValueError(f"builds: expected an array, found {type(value['builds']).__name__}")
    builds = []
    for index, entry in enumerate(value["builds"]):
        try:
            builds.append(row_of(GoldenBuild, entry))
        except ValueError as error:
            raise ValueError(f"builds[{index}]: {error}") from error
    rest = {name: value[name] for name in _KEYS if name not in ("schema_id", "builds")}
    golden = Golden(**rest, builds=tuple(builds))
    _check(golden)
    return golden


def _check(golden: Golden) -> None:
    """Refuses a file whose parts do not belong together."""
    seen = set()
    for build in golden.builds:
        if build.key in seen:
            raise ValueError(
                f"builds: sample {build.sample_id}, arm {build.arm_id}: expected once, found again"
            )
        seen.add(build.key)
        for digest in (*build.evidence, *([build.prompt] if build.prompt else [])):
            if not isinstance(golden.capsules.get(digest), dict):
                raise ValueError(
                    f"capsules: expected {digest} (sample {build.sample_id}, arm {build.arm_id})"
                )
    if golden.texts is not None:
        _check_texts(golden.texts)
    for digest, capsule in golden.capsules.items():
        try:
            _check_capsule(digest, capsule, golden.texts)
        except (ValueError, CapsuleError) as error:
            raise ValueError(f"capsules: {digest}: {error}") from error


def _check_texts(texts: Mapping[str, Any]) -> None:
    for digest, text in texts.items():
        found = content_id(text.encode()) if isinstance(text, str) else f"a {type(text).__name__}"
        if found != digest:
            raise ValueError(f"texts: expected a text of {digest}, found {found}: the file was edited")


def _check_capsule(digest: str, value: Any, texts: Mapping[str, str] | None) -> None:
    cls = RECORD_TYPES.get(str(value.get("schema_id"))) if isinstance(value, dict) else None
    if cls is None:
        raise ValueError("expected a capsule, found something else")
    if texts is None:
        problems = [p for p in check_value(cls, with_dummies(value)) if p.code not in _NEED_TEXTS]
        if problems:
            raise ValueError(f"{problems[0].code} at {problems[0].at}: expected {problems[0].expected}")
        return
    found = digest_of(from_value(cls, with_texts(value, texts)))
    if found != digest:
        raise ValueError(f"expected its content, found that of {found}: the file was edited")
