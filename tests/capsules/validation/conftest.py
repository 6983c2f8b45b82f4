"""The small valid world of the vectors, and a tokenizer whose ids can be checked by eye."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from beside import load

from capsules.content_id import content_id
from capsules.store import MemoryStore


@pytest.fixture(scope="session")
def kit() -> ModuleType:
    """``tests/vectors/kit.py`` (test modules cannot import each other)."""
    return load(Path(__file__).parents[2] / "vectors" / "kit.py", "vectors_kit")


@pytest.fixture
def world(kit: Any) -> Any:
    """A sealed world; change its values and seal again."""
    return kit.World().seal()


@pytest.fixture
def stored_in() -> Callable[[Any], MemoryStore]:
    """The objects of a world in a store."""

    def make(world: Any) -> MemoryStore:
        store = MemoryStore()
        store.put_many(world.objects.values())
        return store

    return make


class LetterTokenizer:
    """One id a code point; ids 0 to 2 are control ids, "\u0007" wrongly becomes one of them."""

    tokenizer_id = "hf:letters"
    tokenizer_digest = content_id(b"a tokenizer")
    bos_id: int | None = 0
    control_ids = frozenset({0, 1, 2})
    lossy_also = ""  # letters that come back as "?"

    def encode(self, text: str) -> list[int]:
        return [2 if letter == "\u0007" else ord(letter) + 3 for letter in text]

    def decode(self, ids: Sequence[int]) -> str:
        letters = {2: "\u0007", ord("É") + 3: "é", **{ord(letter) + 3: "?" for letter in self.lossy_also}}
        return "".join(letters.get(token) or chr(token - 3) for token in ids)


@pytest.fixture
def tokenizer() -> LetterTokenizer:
    """One id a code point."""
    return LetterTokenizer()
