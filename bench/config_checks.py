"""What a config must satisfy beyond its types: closed words, ranges, identities, budgets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bench.compression.base import ITEMS, MODES
from bench.compression.registry import LIBRARY, LLMLINGUA2
from bench.contracts.forms import CONTRACTS
from bench.errors import PermanentError
from bench.specs import CACHE_STATES, CHUNKS, LAYOUTS, WINDOW_UNITS, ArmSpec, Chunking, RunSpec
from capsules.visibility import LEVELS

MODEL_KINDS = ("pip_gguf", "hub", "local")
RETENTIONS = ("none", "default")
DEVICES = ("cpu", "cuda")

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_HEX40 = re.compile(r"[0-9a-f]{40}")
_HEX64 = re.compile(r"[0-9a-f]{64}")
_DECIMAL = re.compile(r"\d+(\.\d+)?")


class ConfigError(PermanentError):
    """The configuration cannot work; the message names setting, expected and found."""


def check_arm(arm: ArmSpec) -> None:
    """Refuse an arm that cannot work.

    Raises:
        ConfigError: Naming the setting of the arm.
    """
    at = f"arms.{arm.arm_id}"
    _match(at + " (the arm's name)", arm.arm_id, _NAME, "lower-case letters, digits, _ and -")
    one_of(f"{at}.layout", arm.layout, LAYOUTS)
    one_of(f"{at}.contract.name", arm.contract.name, CONTRACTS)
    one_of(f"{at}.authority.max_level", arm.authority.max_level, LEVELS)
    if not arm.caches:
        raise ConfigError(f"{at}.caches is empty: expected some of {', '.join(CACHE_STATES)}")
    for cache in arm.caches:
        if cache == "False":
            raise ConfigError(f'{at}.caches holds a YAML boolean: write "off" in quotes')
        one_of(f"{at}.caches", cache, CACHE_STATES)
    if arm.retention is not None:
        one_of(f"{at}.retention", arm.retention, RETENTIONS)
    if len(set(arm.caches)) != len(arm.caches):
        raise ConfigError(f"{at}.caches names a cache state twice: {', '.join(arm.caches)}")
    for key, value in (("not_before", arm.authority.not_before), ("expires_at", arm.authority.expires_at)):
        _match(f"{at}.authority.{key}", value, _TIME, "YYYY-MM-DDTHH:MM:SSZ")
    if arm.authority.not_before >= arm.authority.expires_at:
        raise ConfigError(f"{at}.authority.expires_at must be after not_before ({arm.authority.not_before})")
    window = f"{at}.retrieval.window_"
    names = (f"{at}.retrieval.chunk", f"{window}size", f"{window}stride", f"{window}unit")
    check_chunking(arm.retrieval.chunking, names)
    in_range(f"{at}.retrieval.k", arm.retrieval.k, 1)
    if arm.retrieval.pool < arm.retrieval.k:
        raise ConfigError(
            f"{at}.retrieval.pool: expected at least retrieval.k = {arm.retrieval.k}, for the k best are of "
            f"the pool; found {arm.retrieval.pool}"
        )
    in_range(f"{at}.selection.k", arm.selection.k, 1)
    in_range(f"{at}.compression.rate_bp", arm.compression.rate_bp, 1, 10_000)
    _check_compression(at, arm)
    in_range(f"{at}.contract.max_quotes", arm.contract.max_quotes, 1)
    in_range(f"{at}.contract.min_chars", arm.contract.min_chars, 1)
    in_range(f"{at}.budget.reserved_output", arm.budget.reserved_output, 1)
    in_range(f"{at}.budget.evidence_limit", arm.budget.evidence_limit, 1)
    need = arm.budget.reserved_output + arm.budget.evidence_limit
    if arm.budget.window < need:
        raise ConfigError(
            f"{at}.budget cannot fit: reserved_output + evidence_limit = {need} tokens, "
            f"but the window is {arm.budget.window}"
        )


def _check_compression(at: str, arm: ArmSpec) -> None:
    spec = arm.compression
    one_of(f"{at}.compression.mode", spec.mode, MODES)
    if spec.model and spec.name not in LIBRARY:
        raise ConfigError(
            f"{at}.compression.model is for {' and '.join(LIBRARY)} alone: expected none for "
            f"{spec.name!r}, found {spec.model!r}"
        )
    if spec.name == LLMLINGUA2 and not spec.model:
        raise ConfigError(f"{at}.compression.model: expected a token classifier for {spec.name}, found none")
    if spec.name != "none" and arm.layout != "capsule":
        raise ConfigError(
            f"{at}.compression.name: expected none for layout {arm.layout}, found {spec.name!r}"
        )
    if spec.mode != ITEMS and arm.layout != "capsule":
        raise ConfigError(
            f"{at}.compression.mode: expected {ITEMS} for layout {arm.layout}, found {spec.mode!r}"
        )


def check_chunking(chunking: Chunking, names: tuple[str, str, str, str]) -> None:
    """Refuse a chunking that cannot work.

    Args:
        chunking: The settings.
        names: What kind, size, stride and unit are called.

    Raises:
        ConfigError: Naming the setting.
    """
    kind, size, stride, unit = names
    one_of(kind, chunking.kind, CHUNKS)
    one_of(unit, chunking.unit, WINDOW_UNITS)
    in_range(size, chunking.size, 1)
    if not 1 <= chunking.stride <= chunking.size:
        raise ConfigError(
            f"{stride}: expected 1 to the window's size {chunking.size}, so that no sentence lies between "
            f"two windows; found {chunking.stride}"
        )


def check_run(spec: RunSpec) -> None:
    """Refuse a run that cannot work.

    Raises:
        ConfigError: Naming the setting.
    """
    _match("experiment", spec.experiment, _NAME, "lower-case letters, digits, _ and -")
    if not spec.arms:
        raise ConfigError("arms is empty: add at least one, e.g. +arm@arms.capsule=capsule")
    _match("task.as_of", spec.task.as_of, _TIME, "YYYY-MM-DDTHH:MM:SSZ")
    if spec.task.revision is not None:
        _match("task.revision", spec.task.revision, _HEX40, "a full commit hash (40 hex digits)")
    if spec.task.limit is not None:
        in_range("task.limit (or limit)", spec.task.limit, 1)
    in_range("task.examples", spec.task.examples, 0)
    _check_model(spec)
    _check_engine(spec)
    _match("sampling.temperature", spec.sampling.temperature, _DECIMAL, "a decimal number, e.g. 0 or 0.7")
    in_range("sampling.max_tokens", spec.sampling.max_tokens, 1)
    in_range("concurrency", spec.concurrency, 1)
    in_range("latency_samples", spec.latency_samples, 0)
    in_range("latency_max_tokens", spec.latency_max_tokens, 1)
    in_range("floor_samples", spec.floor_samples, 0)
    in_range("isolation_samples", spec.isolation_samples, 0)
    in_range("bootstrap", spec.bootstrap, 1)
    if spec.tokenizer not in ("model", "bytes") and not re.fullmatch(r"(hf|tiktoken):.+", spec.tokenizer):
        raise ConfigError(
            "tokenizer: expected model, bytes, hf:<id or folder> or tiktoken:<encoding>, "
            f"found {spec.tokenizer!r}"
        )
    _check_windows(spec)


def _check_model(spec: RunSpec) -> None:
    one_of("model.kind", spec.model.kind, MODEL_KINDS)
    if spec.model.kind == "hub":
        _match("model.revision", spec.model.revision, _HEX40, "a full commit hash (40 hex digits)")
    if spec.model.kind == "pip_gguf":
        _match("model.revision", spec.model.revision, _HEX64, "the SHA-256 of the GGUF file (64 hex digits)")


def _check_engine(spec: RunSpec) -> None:
    one_of("engine.retention", spec.engine.retention, RETENTIONS)
    one_of("engine.device", spec.engine.device, DEVICES)
    in_range("engine.window", spec.engine.window, 1)
    in_range("engine.max_num_seqs", spec.engine.max_num_seqs, 1)
    in_range("engine.kv_space_gib", spec.engine.kv_space_gib, 1)
    in_range("engine.start_timeout_s", spec.engine.start_timeout_s, 1)
    in_range("engine.idle_timeout_s", spec.engine.idle_timeout_s, 1)
    if spec.engine.block_size is not None:
        in_range("engine.block_size", spec.engine.block_size, 1)


def _check_windows(spec: RunSpec) -> None:
    for arm in spec.arms:
        if arm.budget.window > spec.engine.window:
            raise ConfigError(
                f"arms.{arm.arm_id}.budget.window is {arm.budget.window} tokens, "
                f"more than engine.window {spec.engine.window}"
            )
        for key, tokens in (
            ("sampling.max_tokens", spec.sampling.max_tokens),
            ("latency_max_tokens", spec.latency_max_tokens),
        ):
            if tokens > arm.budget.reserved_output:
                raise ConfigError(
                    f"{key} is {tokens}, more than arms.{arm.arm_id}.budget.reserved_output "
                    f"{arm.budget.reserved_output}"
                )


def one_of(key: str, value: str, valid: Iterable[str]) -> None:
    """Refuse a value that is none of the valid ones."""
    if value not in tuple(valid):
        raise ConfigError(f"{key}: expected one of {', '.join(valid)}, found {value!r}")


def _match(key: str, value: str, pattern: re.Pattern[str], expected: str) -> None:
    if not pattern.fullmatch(value):
        raise ConfigError(f"{key}: expected {expected}, found {value!r}")


def in_range(key: str, value: int, low: int, high: int | None = None) -> None:
    """Refuse a number below ``low`` or above ``high``."""
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"{low} to {high}"
        raise ConfigError(f"{key}: expected {limits}, found {value}")
