"""The text of a record is the canonical form of its value, and reads back as the record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capsules.canonical import canonical_bytes
from capsules.characters import refused_character
from capsules.codec import read_stored, seal, to_value
from capsules.prompt import Constraint
from capsules.record_text import object_text, record_text
from capsules.visibility import Visibility

# Everything that JSON escapes, and what stands at the borders of UTF-8 and UTF-16.
TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(
            '"\\/\b\f\n\r\t\x00\x1f\x7f\x80\u07ff\u2028\ud7ff\ue000\ufeff\ufffd\U00010000\U0010fffd'
        ),
    )
).filter(lambda text: refused_character(text) is None)


@given(text=TEXTS, question=TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sealed_bytes_are_canonical_and_read_back(example: Any, text: str, question: str) -> None:
    prompt = replace(
        example.prompt,
        active_object=replace(example.prompt.active_object, text=question),
        constraints=(*example.prompt.constraints, Constraint(id="more", kind="style", text=text)),
    )
    for _ in range(2):  # written anew, and from what is kept
        sealed = seal(prompt)
        assert sealed.data == canonical_bytes(to_value(prompt)) == rfc8785.dumps(to_value(prompt))
        assert read_stored(sealed.data, type(prompt)) == prompt


def test_equal_text_in_other_records_is_written_by_its_record(example: Any) -> None:
    """What is kept is kept a record, not a position: two that differ in one field share nothing."""
    span = example.evidence.exact_spans[0]
    other = replace(span, norm_id="text/1" if span.norm_id != "text/1" else "raw/1")
    assert record_text(span) != record_text(other)
    evidence = replace(example.evidence, exact_spans=(other, *example.evidence.exact_spans[1:]))
    assert seal(evidence).data == canonical_bytes(to_value(evidence))
    assert seal(example.evidence).data == canonical_bytes(to_value(example.evidence))


def test_constants_numbers_and_nesting() -> None:
    members = {"a": None, "b": True, "c": False, "d": 0, "e": 2**53 - 1, "f": (), "g": ("x", ("y", 1))}
    members["h"] = Visibility(level="public", project="p")
    assert object_text(members.items()) == (
        '{"a":null,"b":true,"c":false,"d":0,"e":9007199254740991,"f":[],"g":["x",["y",1]],'
        '"h":{"level":"public","project":"p"}}'
    )


@pytest.mark.parametrize("item", [1.5, b"x", ["x"], {"x": 1}])
def test_what_is_no_value_of_a_record_is_not_written(item: object) -> None:
    with pytest.raises(TypeError, match=type(item).__name__):
        object_text([("a", item)])
