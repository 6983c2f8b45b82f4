"""The texts of a capsule apart from the rest of it.

Rules that this module owns:

* What may hold text of a source, a question or a person is listed here, field by field. Everything
  else in a capsule is a number, an id or a word of a closed list.
* In a golden file each text is replaced by ``{"chars": n, "digest": "b3:..."}``. The texts themselves
  stand in one table by digest, or nowhere: without the table a file holds no data.
* With the table the capsule can be put together again, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from capsules import evidence, prompt
from capsules.content_id import content_id, is_content_id
from capsules.strict_json import MAX_BYTES

EACH = "*"
Path = tuple[str, ...]

TEXT_FIELDS: Mapping[str, tuple[Path, ...]] = {
    prompt.SCHEMA_ID: (
        ("active_object", "text"),
        ("surface_snippet", "text"),
        ("constraints", EACH, "text"),
        ("rewrites", EACH, "text"),
    ),
    evidence.SCHEMA_ID: (
        ("source_refs", EACH, "title"),
        ("exact_spans", EACH, "exact"),
        ("exact_spans", EACH, "prefix"),
        ("exact_spans", EACH, "suffix"),
        ("claim_candidates", EACH, "text"),
        ("contradictions", EACH, "resolution"),
        ("missing_evidence", EACH, "query"),
        ("missing_evidence", EACH, "why"),
    ),
}


def stand_in(text: str) -> dict[str, Any]:
    """What stands in the place of a text."""
    return {"chars": len(text), "digest": content_id(text.encode("utf-8", "surrogatepass"))}


def is_stand_in(value: object) -> bool:
    """Whether a value stands in the place of a text."""
    return isinstance(value, Mapping) and value.keys() == {"chars", "digest"}


def without_texts(value: Mapping[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The value of a capsule with stand-ins; its texts are added to ``texts`` by digest."""

    def take(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        found = stand_in(text)
        texts[found["digest"]] = text
        return found

    return _changed(value, take)


def with_texts(value: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The value of a capsule with its texts.

    Raises:
        ValueError: Something else than a stand-in stands in the place of a text, or a text is not in the
            table.
    """

    def give(found: Any) -> Any:
        if found is None:
            return None
        stand_in = _require_stand_in(found)
        if stand_in["digest"] not in texts:
            raise ValueError(f"expected its text {stand_in['digest']} in texts, found none")
        return texts[stand_in["digest"]]

    return _changed(value, give)


def with_dummies(value: Mapping[str, Any]) -> dict[str, Any]:
    """The value of a capsule with texts of the same lengths that say nothing, to check its form.

    Raises:
        ValueError: Something else than a stand-in stands in the place of a text.
    """

    def give(found: Any) -> Any:
        return None if found is None else "-" * _require_stand_in(found)["chars"]

    return _changed(value, give)


def _require_stand_in(found: Any) -> Mapping[str, Any]:
    if not is_stand_in(found):
        raise ValueError(f"expected {{chars, digest}} in the place of a text, found {type(found).__name__}")
    chars, digest = found["chars"], found["digest"]
    if type(chars) is not int or not 0 <= chars <= MAX_BYTES or not is_content_id(digest):
        raise ValueError("expected a length and a digest in the place of a text, found others")
    stand_in: Mapping[str, Any] = found
    return stand_in


def _changed(value: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    result: Any = dict(value)
    for path in TEXT_FIELDS.get(str(value.get("schema_id")), ()):
        result = _at(result, path, change)
    return dict(result)


def _at(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    name, rest = path[0], path[1:]
    if name == EACH:
        return [_at(each, rest, change) for each in value] if isinstance(value, list) else value
    if isinstance(value, Mapping) and name in value:
        return {**value, name: _at(value[name], rest, change)}
    return value
