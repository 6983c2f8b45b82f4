"""The token budget of a prompt.

``protected`` names fields of the PromptCapsule that no stage may shorten; the PromptCapsule checks the
names. That they fit the window is checked at validation (``budget.protected.truncated``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Sorted, itself
from capsules.rules import ContentId, Count, Positive, TokenizerId, Word
from capsules.shape import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget(Record):
    """Limits in tokens of one named tokenizer."""

    tokenizer_id: TokenizerId  # "hf:<id or local name>" | "tiktoken:<encoding>"
    tokenizer_digest: ContentId
    window: Positive
    reserved_output: Count
    evidence_limit: Count
    protected: Annotated[tuple[Word, ...], Sorted("name", itself)]  # field names
