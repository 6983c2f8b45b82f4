"""Frozen specifications of what answers: model, engine, servers, providers, sampling, prices.

The other half, what is asked, is in ``bench.specs``, which hands these on.
"""

from __future__ import annotations

from dataclasses import dataclass


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
