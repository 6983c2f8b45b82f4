"""The two interfaces of compression: whole items, and texts written anew.

Rules that this module owns:

* Mode ``items``: an item goes whole or stays whole, so every span stays exact; a required item always stays.
* Modes ``protected`` and ``raw``: a :class:`Rewriter` is asked for texts and answers with texts. What it is
  asked for is an :class:`Ask`; equal asks of a run are answered once, and the stored answer is repeated.
* The asked share is of the tokens as the target model counts them. What was asked and what was achieved
  are two numbers: nothing here pretends that they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id

ITEMS, PROTECTED, RAW = "items", "protected", "raw"
MODES = (ITEMS, PROTECTED, RAW)
ASK_ID = "compression-ask/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionItem:
    """An item that a compressor may drop.

    Attributes:
        text: Its exact text.
        tokens: Its item tokens by the target model's tokenizer.
        required: Whether it must stay.
    """

    text: str
    tokens: int
    required: bool


Compressor = Callable[[str, int, Sequence[CompressionItem]], Sequence[int]]
"""(question, rate in basis points, items in rank order) -> indexes of the items that stay."""

TextCompressor = Callable[[str, int, Sequence[str]], Sequence[str]]
"""(question, rate in basis points, texts) -> each text shortened, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What a lossy compressor is asked for, once a prompt.

    Attributes:
        compressor: Its name.
        model: ``compression.model`` without the place of a folder; empty: the run's own, or none.
        mode: ``protected`` (single items) or ``raw`` (the whole evidence).
        rate_bp: Asked share of tokens, in basis points.
        project: Whose texts these are.
        question: Empty for compressors that do not read it.
        texts: What to shorten.
    """

    compressor: str
    model: str
    mode: str
    rate_bp: int
    project: str
    question: str
    texts: tuple[str, ...]

    def value(self) -> dict[str, object]:
        """Plain JSON data."""
        return {"schema_id": ASK_ID, **asdict(self), "texts": list(self.texts)}

    @property
    def digest(self) -> str:
        """ContentId of the ask.

        Raises:
            CapsuleError: A text without canonical form.
        """
        return content_id(canonical_bytes(self.value()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back.

    Attributes:
        texts: One a text of the ask; empty where there is an error.
        error: ``code: message``; ``None`` if the compressor answered.
        us: The compressor's own time, in microseconds.
    """

    texts: tuple[str, ...]
    error: str | None
    us: int


def model_identity(named: str) -> str:
    """What ``compression.model`` is, whatever folder it lies in on this machine."""
    return named if "@" in named else PurePath(named).name


Rewriter = Callable[[Ask], Reply]
