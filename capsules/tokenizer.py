"""What the core needs of a tokenizer. Implementations live in the shell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """Text to token ids and back, without ever adding a special token by itself."""

    tokenizer_id: str  # "hf:<id or local name>" | "tiktoken:<encoding>"
    tokenizer_digest: str  # ContentId of the tokenizer's definition
    bos_id: int | None  # the id that must lead every prompt once, or None
    control_ids: frozenset[int]  # ids that may never appear in content

    def encode(self, text: str) -> list[int]:
        """Ids of ``text`` as plain content: control-token text becomes ordinary pieces."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``; special tokens are kept visible."""
        ...
