"""Frozen, hashable specifications: what a run does. Made from the mutable Hydra schema.

``bench.config`` holds the mutable twins; ``bench.config.to_spec`` converts. Everything here
is plain data (str, int, bool, None, tuples), so a spec has a canonical digest.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.base import TaskSpec

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
        method: ``none``, ``rule`` (sentences of the evidence), ``gold`` (upper bounds only), or ``model``
            (the stored answers of an earlier model call).
        limit: By ``rule``, how many sentences beside the required ones may become claims.
        support_bp: Share of a claim's terms that its spans must hold to support it, in basis points.
        answers: For ``model``: the file of stored answers.
        digest: For ``model``: the ContentId of its bytes.
    """

    method: str = "rule"
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
class ModelSpec:
    """Which weights, where from, under which terms.

    Attributes:
        name: Short name for reports.
        kind: ``pip_gguf`` (weights in a pip package, converted once), ``hub`` or ``local``.
        ref: Import name of the pip package, hub id, or folder.
        revision: 40-hex revision for ``hub``, sha256 of the GGUF for ``pip_gguf``.
        terms: Licence or terms, named before the first download.
        instruct: Whether prompts are laid out by the model's own chat template, as one user turn. Base
            models continue a pattern and take none.
    """

    name: str
    kind: str
    ref: str
    revision: str
    dtype: str
    terms: str
    instruct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """Engine settings; ``prefix_caching`` is set per cell by the runner, not here."""

    name: str  # vllm | fake
    block_size: int | None
    window: int
    max_num_seqs: int
    kv_space_gib: int
    enforce_eager: bool
    retention: str  # "none" (plain block rule) | "default" (the engine's own)
    device: str  # cpu | cuda
    start_timeout_s: int
    idle_timeout_s: int  # a request wave without an answer for so long is a hung engine
    env: tuple[tuple[str, str], ...] = ()
    recorded: str = ""  # replay: folder of the finished run whose answers are given again


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """How a provider with an OpenAI-compatible interface is asked.

    Attributes:
        engine: ``openai`` (a server that is there), ``vllm_server`` (one that the run starts and ends), or
            ``module:attribute``.
        model: The name that the server knows the model by.
        prompt: ``ids``, ``text`` or ``chat``.
        salt: Whether the server takes ``cache_salt``.
        return_ids: Whether the server takes ``return_token_ids``.
        grammar: Whether the server takes grammars (``structured_outputs``), as constrained contracts need.
        control: Whether it lets itself be counted and reset (vLLM's ``/metrics``, ``/reset_prefix_cache``).
        block_size: Tokens of a KV block, where that is known of the server and its block rule holds.
        key_env: Name of the environment variable that holds the key; the key itself is never stored.
        timeout_s: Deadline of one answer.
        retries: Further attempts after the first.
        backoff_ms: Wait before the first retry; doubled each time.
    """

    engine: str
    model: str
    prompt: str = "ids"
    salt: bool = False
    return_ids: bool = False
    grammar: bool = False
    control: bool = False
    block_size: int | None = None
    key_env: str | None = None
    timeout_s: int = 120
    retries: int = 3
    backoff_ms: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """Who may be sent what (the profile of a policy file), and how it is asked.

    Attributes:
        provider_id: Its key in the config.
        endpoint: Address of its interface, such as ``https://llm.example/v1``; ``None``: this machine.
        server: How it is asked; ``None`` for ``local``, which is the run's own engine.
    """

    provider_id: str
    endpoint: str | None
    max_level: str
    projects: tuple[str, ...]
    operations: tuple[str, ...]
    fallbacks: tuple[str, ...]
    server: ServerSpec | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSpec:
    """How tokens are drawn; greedy by default."""

    temperature: str = "0"  # decimal string: floats never enter a digest
    max_tokens: int = 64
    stop: tuple[str, ...] = ("\n",)
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSpec:
    """Prices of one provider, in whole currency micro-units.

    Attributes:
        provider: Its id; ``local`` is this machine.
        input_uncached, cache_read, cache_write, output: A million tokens; ``None``: not billed. Without
            ``cache_write`` such tokens are billed as uncached input.
        engine_hour: An hour of the engine; ``None``: not billed.
    """

    provider: str
    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    engine_hour: int | None = None

    @property
    def bills_tokens(self) -> bool:
        """Whether any class of tokens has a price."""
        return (self.input_uncached, self.cache_read, self.cache_write, self.output) != (None,) * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesSpec:
    """A dated price table.

    Attributes:
        currency: Three letters, such as ``USD``.
        as_of: The day of the prices, ``YYYY-MM-DD``.
        source: Where they stand.
        providers: Who is priced; empty: a run without prices.
    """

    currency: str = "USD"
    as_of: str = ""
    source: str = ""
    providers: tuple[PriceSpec, ...] = ()


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
    prices: PricesSpec = PricesSpec()
    providers: tuple[ProviderSpec, ...] = ()  # in the order in which a routed sample asks
