"""The public builder interface: ``Builder = Callable[[SampleInput, BuildContext], BuiltPrompt]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.build.laps import Lap, no_lap
from bench.compression.base import Rewriter
from bench.selection.place_report import PlaceReport
from bench.specs import ArmSpec
from capsules.codec import Sealed
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.place import Place
from capsules.prompt import PromptCapsule
from capsules.tokenized import Frame
from capsules.tokenizer import Tokenizer
from tasks.base import Gold, Sample, SampleInput

if TYPE_CHECKING:
    from bench.build.corpus import Corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildContext:
    """What a builder may use besides the sample.

    Attributes:
        arm: The arm's factors.
        tokenizer: Counts and encodes; the target model's.
        examples: Few-shot samples, never evaluated, the same for every sample of the task.
        gold: ``None`` but for the arms ``gold`` and ``oracle`` (upper bounds).
        frame: The model's chat template as ids around the prompt; ``None`` for a base model.
        rewrite: Answers for lossy compressors; ``None`` where none is run.
        corpus: What all samples of the task share and a retriever searches; then the sample has no
            sources. ``None``: every sample brings its own.
        lap: Called with the name of each stage that has ended (``bench.build.laps``).
    """

    arm: ArmSpec
    tokenizer: Tokenizer
    examples: tuple[Sample, ...]
    gold: Gold | None = None
    frame: Frame | None = None
    rewrite: Rewriter | None = None
    corpus: Corpus | None = None
    lap: Lap = no_lap


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A consecutive part of the sent ids and what it stands for.

    Attributes:
        kind: ``bos`` · ``frame`` (chat template) · ``prefix`` (stable section) · ``header`` (fences,
            source headers) · ``item`` (evidence) · ``tail`` (question, contract) · ``volatile``
            (naive_volatile's head) · ``joined`` (a naive prompt, tokenized as one string).
        n: Number of token ids.
        ref: Constraint id or span_id; ``None`` where there is none.
    """

    kind: str
    n: int
    ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSource:
    """What the prompt shows under one citation number.

    Attributes:
        number: The number in the header, from 1.
        doc_id: The task's name of the document.
        source: ContentId of the document's raw bytes.
        ranges: Shown half-open code-point ranges of the raw text, in prompt order.
    """

    number: int
    doc_id: str
    source: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageItems:
    """Items left after a stage: ``candidates``, ``retrieval``, ``selection``, ``compression``, ``budget``."""

    stage: str
    items: tuple[str, ...]  # span_ids, sorted by (source order in the sample, start)
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedText:
    """A text that a lossy compressor was asked to shorten.

    Attributes:
        items: span_ids of the items that it stands for.
        status: ``rewritten`` (the answer is sent) · ``no_gain`` (not shorter: the original is) · ``empty``
            (nothing came back: the item is omitted).
        tokens_in, tokens_out: Of the text and of the answer, by the target model's tokenizer.
        tokens_before: Item tokens of the items.
        text: The answer, where it is sent.
    """

    items: tuple[str, ...]
    status: str
    tokens_in: int
    tokens_out: int
    tokens_before: int
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPrompt:
    """A prompt ready to send, with everything that scoring and accounting need.

    Attributes:
        ids: Token ids to send, exactly one leading BOS where the tokenizer has one.
        stable_ids: The task's stable prefix: the leading ids that every sample of the arm
            shares by construction (what ``primed`` sends first); empty where there is none.
        pieces: Cover ``ids`` without gaps: ``sum(p.n) == len(ids)``.
        shown: The numbered sources that an answer may cite.
        stages: Items after each stage, in order; the first is ``candidates``.
        silent_omissions: Items dropped that no record names (naive arms: every candidate item
            of the sample that is not shown; capsule arms: 0 by law).
        silent_tokens: Their tokens.
        prompt, evidence: The sealed capsules; ``None`` and empty for naive arms.
        sources: Raw texts by ContentId, of every source shown or referred to.
        level: Join of the levels shown (for the salt and routing).
        flags: Codes (info or failure) found on the way, e.g. ``render.lossy``.
        laws: The four omission laws, name -> held; empty for naive arms.
        compressor_us: Time of the compressor, 0 where none ran.
        compressed: What a lossy compressor was asked for and what came back.
        sealed: Those of ``prompt`` and ``evidence`` that the builder has sealed; others are sealed later.
        place, place_report: The smallest sufficient place and why it suffices, of a selector that looks for
            one. No capsule refers to them.
    """

    ids: tuple[int, ...]
    stable_ids: tuple[int, ...]
    pieces: tuple[Piece, ...]
    shown: tuple[ShownSource, ...]
    stages: tuple[StageItems, ...]
    silent_omissions: int
    silent_tokens: int
    prompt: PromptCapsule | None
    evidence: tuple[EvidenceCapsule, ...]
    sources: Mapping[str, str]
    project: str
    level: str
    flags: tuple[str, ...] = ()
    laws: Mapping[str, bool] = field(default_factory=dict)
    compressor_us: int = 0
    compressed: tuple[CompressedText, ...] = ()
    sealed: tuple[Sealed[PromptCapsule] | Sealed[EvidenceCapsule], ...] = ()
    place: Place | None = None
    place_report: PlaceReport | None = None


Builder = Callable[[SampleInput, BuildContext], BuiltPrompt]


class BuildError(Exception):
    """No prompt can be built for the sample (e.g. the fixed parts do not fit); carries a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def build_error(error: CapsuleError | UnicodeEncodeError) -> BuildError:
    """What the core refused about a sample, as the reason why it has no prompt."""
    if isinstance(error, CapsuleError):
        return BuildError(error.code, str(error))
    return BuildError("json.string.surrogate", "expected text, found a lone surrogate")
