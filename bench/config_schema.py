"""The mutable dataclasses that Hydra composes; every key of a config is a field here.

They are mutable because Hydra refuses overrides of a frozen schema; ``bench.config`` turns a composed
config into the frozen ``bench.specs``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING


@dataclass
class TaskConfig:
    """Group ``task``: see ``tasks.base.TaskSpec``."""

    name: str = MISSING
    project: str = "bench"
    as_of: str = MISSING
    data_dir: str | None = None
    revision: str | None = None
    digest: str | None = None
    limit: int | None = None
    examples: int = 2
    seed: int = 0
    strict: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class ModelConfig:
    """Group ``model``: see ``bench.specs.ModelSpec``."""

    name: str = MISSING
    kind: str = MISSING
    ref: str = MISSING
    revision: str = MISSING
    dtype: str = "bfloat16"
    terms: str = MISSING
    instruct: bool = False


@dataclass
class EngineConfig:
    """Group ``engine``: see ``bench.specs.EngineSpec``."""

    name: str = MISSING
    block_size: int | None = None
    window: int = 4096
    max_num_seqs: int = 8
    kv_space_gib: int = 2
    enforce_eager: bool = True
    retention: str = "none"
    device: str = "cpu"
    start_timeout_s: int = 600
    idle_timeout_s: int = 600
    env: dict[str, str] = field(default_factory=dict)
    recorded: str = ""


@dataclass
class RetrievalConfig:
    """Which chunks an arm ranks and keeps."""

    name: str = "bm25"
    chunk: str = "paragraph"
    k: int = 8
    pool: int = 100
    window_size: int = 3
    window_stride: int = 2
    window_unit: str = "sentences"


@dataclass
class SelectionConfig:
    """Which of the kept chunks, or of their sentences, an arm uses: see ``bench.specs.SelectionSpec``."""

    name: str = "top_k"
    k: int = 4
    unit: str = "chunk"
    tokens: int | None = None
    lambda_bp: int = 7_000
    needs: int = 12
    witness_bp: int = 9_500
    fill: bool = False


@dataclass
class CompressionConfig:
    """How an arm shortens its evidence: see ``bench.specs.CompressionSpec``."""

    name: str = "none"
    rate_bp: int = 10_000
    mode: str = "items"
    model: str = ""


@dataclass
class ContractConfig:
    """The form of the answer."""

    name: str = "quote"
    max_quotes: int = 1
    min_chars: int = 1


@dataclass
class BudgetConfig:
    """Token limits of a prompt."""

    window: int = 4096
    reserved_output: int = 64
    evidence_limit: int = 1024


@dataclass
class AuthorityConfig:
    """Who may use a capsule, for what, through whom and when."""

    principal: str = "bench"
    operations: list[str] = field(default_factory=lambda: ["generate"])
    providers: list[str] = field(default_factory=lambda: ["local"])
    max_level: str = "internal"
    not_before: str = "2020-01-01T00:00:00Z"
    expires_at: str = "2100-01-01T00:00:00Z"


@dataclass
class ClaimsConfig:
    """What the evidence is said to state; see ``bench.specs.ClaimsSpec``."""

    method: str = "none"
    limit: int = 0
    support_bp: int = 8000
    answers: str | None = None
    digest: str | None = None


@dataclass
class ContradictionsConfig:
    """How contradictions are found and settled; see ``bench.specs.ContradictionsSpec``."""

    policy: str = "show_both"
    detector: str = "none"
    similarity_bp: int = 5000
    tell: bool = False


@dataclass
class FreshnessConfig:
    """What the age of a source does; see ``bench.specs.FreshnessSpec``."""

    policy: str = "hard"
    max_age_days: int | None = None


@dataclass
class MissingConfig:
    """Whether capsules record what was not found; see ``bench.specs.MissingSpec``."""

    record: bool = False
    answerable_bp: int = 5000


@dataclass
class ServerConfig:
    """How a provider is asked; see ``bench.specs.ServerSpec``."""

    engine: str = "openai"
    model: str = MISSING
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


@dataclass
class ProviderConfig:
    """Group ``provider``: who may be sent what, and how; see ``bench.specs.ProviderSpec``."""

    endpoint: str | None = None
    max_level: str = "public"
    projects: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=lambda: ["generate"])
    fallbacks: list[str] = field(default_factory=list)
    server: ServerConfig | None = None


@dataclass
class PriceConfig:
    """Prices of one provider in currency micro-units; see ``bench.specs.PriceSpec``."""

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    engine_hour: int | None = None


@dataclass
class PricesConfig:
    """Group ``prices``: a dated price table; see ``bench.specs.PricesSpec``."""

    currency: str = "USD"
    as_of: str = ""
    source: str = ""
    providers: dict[str, PriceConfig] = field(default_factory=dict)


@dataclass
class ArmConfig:
    """Group ``arm``: see ``bench.specs.ArmSpec``."""

    layout: str = MISSING
    builder: str = MISSING
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    compression: CompressionConfig = field(default_factory=CompressionConfig)
    contract: ContractConfig = field(default_factory=ContractConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    authority: AuthorityConfig = field(default_factory=AuthorityConfig)
    claims: ClaimsConfig = field(default_factory=ClaimsConfig)
    contradictions: ContradictionsConfig = field(default_factory=ContradictionsConfig)
    freshness: FreshnessConfig = field(default_factory=FreshnessConfig)
    missing: MissingConfig = field(default_factory=MissingConfig)
    caches: list[str] = field(default_factory=lambda: ["off", "cold", "primed"])
    provider: str = "local"
    retention: str | None = None


@dataclass
class SamplingConfig:
    """Sampling; the temperature is a decimal string."""

    temperature: str = "0"
    max_tokens: int = 64
    stop: list[str] = field(default_factory=lambda: ["\n"])
    seed: int = 0


@dataclass
class RunConfig:
    """The top of the config tree; one field a group or setting."""

    experiment: str = MISSING
    task: TaskConfig = field(default_factory=TaskConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    arms: dict[str, ArmConfig] = field(default_factory=dict)
    concurrency: int = 8
    latency_samples: int = 5
    latency_max_tokens: int = 8
    floor_samples: int = 8
    seed: int = 0
    bootstrap: int = 2000
    tokenizer: str = "model"
    rebuild: bool = True
    isolation_samples: int = 0
    prices: PricesConfig = field(default_factory=PricesConfig)
    providers: dict[str, ProviderConfig] = field(default_factory=dict)
