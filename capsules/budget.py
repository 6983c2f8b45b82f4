"""The token budget of a prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    tokenizer_id: str  # "hf:<id or local name>" | "tiktoken:<encoding>"
    tokenizer_digest: str
    window: int
    reserved_output: int
    evidence_limit: int
    protected: tuple[str, ...]  # field names, sorted
