"""A tokenizer whose counts can be made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from capsules.content_id import content_id


class ByteTokenizer:
    """One id a byte; 256 is BOS, and no text can spell it."""

    tokenizer_id = "hf:test"
    tokenizer_digest = content_id(b"test")
    bos_id: int | None = 256
    control_ids = frozenset({256})

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(b"<bos>" if i == 256 else bytes([i]) for i in ids).decode(errors="replace")
