"""Frozen, hashable specifications: what a run does. Made from the mutable Hydra schema.

``bench.config`` holds the mutable twins; ``bench.config.to_spec`` converts. Everything here
is plain data (str, int, bool, None, tuples), so a spec has a canonical digest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.engine_specs import (
    EngineSpec,
    ModelSpec,
    PriceSpec,
    PricesSpec,
    ProviderSpec,
    SamplingSpec,
    ServerSpec,
)
from tasks.base import TaskSpec

__all__ = [
    "CACHE_STATES",
    "CHUNKS",
    "LAYOUTS",
    "UPPER_BOUNDS",
    "WINDOW_UNITS",
    "ArmSpec",
    "AuthoritySpec",
    "BudgetSpec",
    "Chunking",
    "ClaimsSpec",
    "CompressionSpec",
    "ContractSpec",
    "ContradictionsSpec",
    "EngineSpec",
    "FreshnessSpec",
    "MissingSpec",
    "ModelSpec",
    "PriceSpec",
    "PricesSpec",
    "ProviderSpec",
    "RetrievalSpec",
    "RunSpec",
    "SamplingSpec",
    "SelectionSpec",
    "ServerSpec",
]

CACHE_STATES = ("off", "cold", "primed", "served")
LAYOUTS = ("capsule", "naive", "naive_volatile")
UPPER_BOUNDS = ("gold", "oracle")  # retrievers and selectors that are given gold
CHUNKS = ("document", "paragraph", "sentence", "window")
WINDOW_UNITS = ("sentences", "tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How a text becomes the chunks that are ranked; size, stride and unit are of ``window``."""

    kind: str = "paragraph"  # one of CHUNKS
    size: int = 3
    stride: int = 2
    unit: str = "sentences"  # one of WINDOW_UNITS


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSpec:
    """Which passages are found, and how many of them stay."""

    name: str = "bm25"  # registry name or module:attribute
    chunk: str = "paragraph"
    k: int = 8  # chunks kept by the retriever; the rest is retrieval.low_rank
    pool: int = 100  # chunks of a corpus that are candidates; the rest is retrieval.outside_pool
    window_size: int = 3
    window_stride: int = 2
    window_unit: str = "sentences"

    @property
    def chunking(self) -> Chunking:
        """The settings that say what a chunk is."""
        size, stride, unit = self.window_size, self.window_stride, self.window_unit
        return Chunking(kind=self.chunk, size=size, stride=stride, unit=unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSpec:
    """Which of the found passages are worth their tokens; the rest is ``selection.not_needed``.

    Attributes:
        name: Registry name or ``module:attribute``.
        k: The most chunks, or sentences, that are taken.
        unit: ``chunk``, or ``sentence``: what is taken whole.
        tokens: The most that the taken evidence may cost, headers counted; ``None``: no limit.
        lambda_bp: Of ``mmr``: the weight of relevance against likeness.
        needs: Of ``fovea``: the most needs that a place is asked to meet.
        witness_bp: Of ``fovea``: how relevant a sentence must be to meet a need, against the best that does.
        fill: Of ``fovea``: whether the next most relevant sentences use up ``tokens``.
    """

    name: str = "top_k"
    k: int = 4
    unit: str = "chunk"
    tokens: int | None = None
    lambda_bp: int = 7_000
    needs: int = 12
    witness_bp: int = 9_500
    fill: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionSpec:
    """What shortens the selected evidence, how, and to which asked share.

    Attributes:
        name: Registry name or ``module:attribute``.
        rate_bp: Asked share of tokens to keep, in basis points.
        mode: ``items`` (whole items), ``protected`` (texts written anew, by the rules of capsules) or
            ``raw`` (the whole evidence as one text, as a user would run a library over it).
        model: For the library's compressors: hub id or folder; empty: the run's own model.
    """

    name: str = "none"
    rate_bp: int = 10_000
    mode: str = "items"
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSpec:
    """What an answer must look like."""

    name: str = "quote"
    max_quotes: int = 1
    min_chars: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpec:
    """Token limits: the window, what is reserved for the answer, and the evidence."""

    window: int = 4096
    reserved_output: int = 64
    evidence_limit: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoritySpec:
    """Who may use the capsules of an arm, for what, through whom and when (half-open)."""

    principal: str = "bench"
    operations: tuple[str, ...] = ("generate",)
    providers: tuple[str, ...] = ("local",)
    max_level: str = "internal"
    not_before: str = "2020-01-01T00:00:00Z"
    expires_at: str = "2100-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsSpec:
    """Which statements the evidence capsules make about their spans.

    Attributes:
        method: ``none``, ``rule`` (sentences of the evidence that matter to the question), ``gold`` (upper
            bounds only), or ``model`` (the stored answers of an earlier model call). All but ``none`` make
            the evidence capsules, and so the fence tag, depend on the question.
        limit: By ``rule``, how many sentences beside the required ones may become claims.
        support_bp: Share of a claim's terms that its spans must hold to support it, in basis points.
        answers: For ``model``: the file of stored answers.
        digest: For ``model``: the ContentId of its bytes.
    """

    method: str = "none"
    limit: int = 0
    support_bp: int = 8000
    answers: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionsSpec:
    """How contradictions are found, and what becomes of them.

    Attributes:
        policy: ``show_both``, ``newest_wins`` or ``drop``.
        detector: ``none`` (labels of the data alone), ``rule``, ``rule_named``,
            ``nli@MODEL`` or ``module:attribute``.
        similarity_bp: Share of its terms that the shorter sentence of a pair must have in common with the
            other, or no detector is asked about the pair.
        tell: Whether the instructions say that sources may disagree.
    """

    policy: str = "show_both"
    detector: str = "none"
    similarity_bp: int = 5000
    tell: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessSpec:
    """What the age of a source does.

    Attributes:
        policy: ``hard`` (expired sources are omitted, an expired capsule is invalid) or ``soft`` (flagged).
        max_age_days: Days after its ``as_of`` at which a source without an expiry of its own expires.
    """

    policy: str = "hard"
    max_age_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSpec:
    """Whether capsules record what was looked for and not found.

    Attributes:
        record: Record it.
        answerable_bp: Answerability score below which the record says that the evidence may not answer.
    """

    record: bool = False
    answerable_bp: int = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSpec:
    """One arm: every factor but the cache state. ``arm_id`` is its key in the config."""

    arm_id: str
    layout: str
    builder: str  # registry name or module:attribute
    retrieval: RetrievalSpec
    selection: SelectionSpec
    compression: CompressionSpec
    contract: ContractSpec
    budget: BudgetSpec
    authority: AuthoritySpec
    caches: tuple[str, ...]
    provider: str = "local"  # local, a key of ``providers``, or policy
    retention: str | None = None  # what stays in the prefix cache; None: as engine.retention
    claims: ClaimsSpec = ClaimsSpec()
    contradictions: ContradictionsSpec = ContradictionsSpec()
    freshness: FreshnessSpec = FreshnessSpec()
    missing: MissingSpec = MissingSpec()

    def cell_id(self, cache: str) -> str:
        """The id of this arm in one cache state."""
        return f"{self.arm_id}.{cache}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything that fixes a run. Its canonical digest is the config digest."""

    experiment: str
    task: TaskSpec
    model: ModelSpec
    engine: EngineSpec
    sampling: SamplingSpec
    arms: tuple[ArmSpec, ...]
    concurrency: int
    latency_samples: int
    latency_max_tokens: int
    floor_samples: int
    seed: int
    bootstrap: int
    tokenizer: str  # "model" | "bytes" | "hf:..." | "tiktoken:..."
    rebuild: bool  # build every prompt again in a new process and compare request digests
    isolation_samples: int = 0  # prompts an arm that are asked for two projects, on every engine with a cache
    prices: PricesSpec = field(default_factory=PricesSpec)
    providers: tuple[ProviderSpec, ...] = ()  # in the order in which a routed sample asks
