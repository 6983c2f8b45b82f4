"""Places and values of a difference in words.

Rules that this module owns: a text is shown only where the golden file holds texts; elsewhere it is named
by its length and digest. What is invisible is written out, what is long is cut and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.diff.fields import LEFT_ONLY, ORDER, RIGHT_ONLY, Change
from bench.diff.sentences import omission_words
from bench.diff.texts import LIMIT, edits, quoted
from bench.golden.texts import is_stand_in
from bench.report.visible import clipped, visible
from capsules.canonical import canonical_bytes

NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A place that differs, and what was expected and found there."""

    at: str
    expected: str
    found: str

    def to_value(self) -> dict[str, str]:
        """Plain JSON data."""
        return {"at": self.at, "expected": self.expected, "found": self.found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts of both sides by digest; ``None`` where the file holds none."""

    expected: Mapping[str, str] | None
    found: Mapping[str, str] | None

    def of(self, stand_in: Mapping[str, Any]) -> str | None:
        """The text that a stand-in stands for, where it may be shown."""
        if self.expected is None or self.found is None:
            return None
        digest = str(stand_in["digest"])
        return self.expected.get(digest, self.found.get(digest))

    def words(self, value: Any) -> str:
        """A value in words."""
        if value is None:
            return NOTHING
        if is_stand_in(value):
            text = self.of(value)
            return (
                f"a text of {value['chars']} characters ({value['digest']})" if text is None else quoted(text)
            )
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, Mapping) and "reason" in value:
            return omission_words(value)
        if isinstance(value, Mapping) and is_stand_in(value.get("exact")):
            return self.words(value["exact"])
        if isinstance(value, Mapping):
            shown = {name: self._inside(entry) for name, entry in value.items()}
            return clipped(visible(canonical_bytes(shown).decode()), LIMIT)
        return clipped(visible(canonical_bytes(value).decode()), LIMIT)

    def _inside(self, value: Any) -> Any:
        if is_stand_in(value):
            text = self.of(value)
            return f"({value['chars']} characters)" if text is None else text
        return value


def named_change(change: Change, where: str, texts: Texts) -> Named:
    """A change of a field: where, expected and found."""
    label = f"{where} {change.at or '/'}".strip()
    if change.label and change.label.replace(".", "/") != change.at.lstrip("/"):
        label += f" ({clipped(visible(change.label), LIMIT)})"
    if change.kind == ORDER:
        return Named(
            at=label, expected="the entries in this order", found="the same entries in another order"
        )
    if change.kind == LEFT_ONLY:
        return Named(at=label, expected=texts.words(change.left), found=NOTHING)
    if change.kind == RIGHT_ONLY:
        return Named(at=label, expected=NOTHING, found=texts.words(change.right))
    expected, found = _both(change, texts)
    return Named(at=label, expected=expected, found=found)


def _both(change: Change, texts: Texts) -> tuple[str, str]:
    """Both values; of two long texts, the first edit."""
    one, other = _text(change.left, texts), _text(change.right, texts)
    if one is not None and one == other:  # stand-ins of one text that differ: the file was edited
        return canonical_bytes(change.left).decode(), canonical_bytes(change.right).decode()
    if one is None or other is None or max(len(one), len(other)) <= LIMIT:
        return texts.words(change.left), texts.words(change.right)
    position, old, new = edits(one, other)[0]
    at = f"from character {position}: "
    return at + (quoted(old) if old else NOTHING), at + (quoted(new) if new else NOTHING)


def _text(value: Any, texts: Texts) -> str | None:
    if is_stand_in(value):
        return texts.of(value)
    return value if isinstance(value, str) else None
