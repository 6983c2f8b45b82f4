"""Rules for single values, written once beside the field: ``start: Count``.

A rule is the type's ``Annotated`` metadata. Construction, the reader, the JSON Schema and the format
document all work from it. What a rule reports never holds the text that it refuses.

    schema.field.type   another JSON type than the field's (a bool is no int, null only where shown)
    schema.limit        a number or a length outside the field's range
    json.number.range   |n| > 2^53 - 1
    schema.major.unsupported, object.type.mismatch   another schema_id than the class reads
    schema.word         a word outside the field's closed list, or not in the form of a word
    id.malformed        an id that has not the form of its kind
    time.malformed      not a time in the one form
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple, Protocol, TypeAlias

from capsules.characters import refused_character
from capsules.content_id import CONTENT_ID_EXPECTED, CONTENT_ID_PATTERN
from capsules.described import described, described_schema_id
from capsules.names import CAPSULE_ID_EXPECTED, CAPSULE_ID_PATTERN
from capsules.strict_json import MAX_INT
from capsules.timestamp import TIME_EXPECTED, TIME_PATTERN, is_time


class Problem(NamedTuple):
    """One way in which a value breaks the shape.

    Attributes:
        code: A failure code.
        at: JSON pointer.
        expected: What the shape asks for, in words.
        actual: What was found, in words, without any text of the record.
    """

    code: str
    at: str
    expected: str
    actual: str


class Rule(Protocol):
    """What a field's metadata must offer."""

    @property
    def expected(self) -> str:
        """The rule in words, as in docs/capsule-format.md."""
        ...

    def problem(self, value: object) -> tuple[str, str] | None:
        """Code and what was found, or ``None`` if ``value`` is in order."""
        ...

    def schema(self) -> dict[str, object]:
        """The rule as JSON Schema, as far as JSON Schema can say it."""
        ...


def type_name(value: object) -> str:
    """The JSON type of a value, or its Python type where it has none."""
    names = {bool: "a boolean", int: "an integer", str: "a string", list: "an array", dict: "an object"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


class TextRule:
    """Free text, verbatim, of any spelling; ``shortest`` code points at least, ``longest`` at most."""

    def __init__(self, shortest: int = 0, longest: int | None = None) -> None:
        self.shortest = shortest
        self.longest = longest
        self.expected = "a string" + (", not empty" if shortest else "")
        if longest is not None:
            self.expected += f" of at most {longest} code points"

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        if type(value) is not str:
            return "schema.field.type", type_name(value)
        if len(value) < self.shortest or (self.longest is not None and len(value) > self.longest):
            return "schema.limit", f"{len(value)} code points"
        if value.isascii() or (code := refused_character(value)) is None:
            return None
        return code, f"one of {len(value)} code points is refused"

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        bounds: dict[str, object] = {"type": "string"}
        if self.shortest:
            bounds["minLength"] = self.shortest
        if self.longest is not None:
            bounds["maxLength"] = self.longest
        return bounds


class PatternRule:
    """A string that matches a pattern from its first to its last character."""

    def __init__(self, pattern: str, code: str, expected: str) -> None:
        self.pattern = pattern
        self.code = code
        self.expected = expected
        self._match = re.compile(pattern).fullmatch

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        if type(value) is not str:
            return "schema.field.type", type_name(value)
        if self._match(value):
            return None
        return refused_character(value) or self.code, described(value)

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        return {"type": "string", "pattern": f"^{self.pattern}$"}


class TimeRule(PatternRule):
    """A time in the one form, and on the calendar."""

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        found = super().problem(value)
        return found if found or is_time(value) else (self.code, described(value))


class WordRule:
    """One word of a closed list."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.expected = "one of " + ", ".join(words)

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        if type(value) is not str:
            return "schema.field.type", type_name(value)
        if value in self.words:
            return None
        return refused_character(value) or "schema.word", described(value)

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        return {"enum": list(self.words)}


class SchemaIdRule:
    """The record type and major version that a class reads: ``prompt-capsule/1``."""

    def __init__(self, schema_id: str) -> None:
        self.schema_id = schema_id
        self.expected = schema_id
        self._type = schema_id.partition("/")[0]

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        if type(value) is not str:
            return "schema.field.type", type_name(value)
        if value == self.schema_id:
            return None
        same_type = value.partition("/")[0] == self._type
        return "schema.major.unsupported" if same_type else "object.type.mismatch", described_schema_id(value)

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        return {"const": self.schema_id}


class IntRule:
    """An integer from ``lowest`` to ``highest``."""

    def __init__(self, lowest: int, highest: int = MAX_INT) -> None:
        self.lowest = lowest
        self.highest = highest
        top = "2^53-1" if highest == MAX_INT else str(highest)
        self.expected = f"an integer from {lowest} to {top}"

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        if type(value) is not int:
            return "schema.field.type", type_name(value)
        if self.lowest <= value <= self.highest:
            return None
        if -MAX_INT <= value <= MAX_INT:
            return "schema.limit", str(value)
        return "json.number.range", "an integer beyond 2^53-1"

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}


class BoolRule:
    """``true`` or ``false``."""

    expected = "a boolean"

    def problem(self, value: object) -> tuple[str, str] | None:
        """See ``Rule``."""
        return None if type(value) is bool else ("schema.field.type", type_name(value))

    def schema(self) -> dict[str, object]:
        """See ``Rule``."""
        return {"type": "boolean"}


NORM_IDS = ("raw/1", "text/1", "quote/1", "compat/1")
LEVELS = ("public", "internal", "confidential", "restricted")
SPAN_ID_PATTERN = CONTENT_ID_PATTERN + r":(0|[1-9][0-9]*)-[1-9][0-9]*"
WORD_PATTERN = r"[a-z][a-z0-9_]*"

Text: TypeAlias = Annotated[str, TextRule()]
Name: TypeAlias = Annotated[str, TextRule(1)]
Context: TypeAlias = Annotated[str, TextRule(0, 32)]
ContentId: TypeAlias = Annotated[str, PatternRule(CONTENT_ID_PATTERN, "id.malformed", CONTENT_ID_EXPECTED)]
SpanId: TypeAlias = Annotated[
    str, PatternRule(SPAN_ID_PATTERN, "id.malformed", 'a span_id "<source>:<start>-<end>"')
]
CapsuleId: TypeAlias = Annotated[str, PatternRule(CAPSULE_ID_PATTERN, "id.malformed", CAPSULE_ID_EXPECTED)]
TokenizerId: TypeAlias = Annotated[
    str, PatternRule(r"(hf|tiktoken):[!-~]+", "id.malformed", '"hf:" or "tiktoken:" and a name in ASCII')
]
Word: TypeAlias = Annotated[str, PatternRule(WORD_PATTERN, "schema.word", f"a word {WORD_PATTERN}")]
Time: TypeAlias = Annotated[str, TimeRule(TIME_PATTERN, "time.malformed", TIME_EXPECTED)]
Level: TypeAlias = Annotated[str, WordRule(*LEVELS)]
NormId: TypeAlias = Annotated[str, WordRule(*NORM_IDS)]
Flag: TypeAlias = Annotated[bool, BoolRule()]
Count: TypeAlias = Annotated[int, IntRule(0)]
Positive: TypeAlias = Annotated[int, IntRule(1)]
BasisPoints: TypeAlias = Annotated[int, IntRule(0, 10_000)]
