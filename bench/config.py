"""The mutable Hydra schema, and its only way into frozen specs.

Rules that this module owns:

* Hydra sees mutable dataclasses (a frozen schema refuses every override); everything behind
  :func:`to_spec` sees frozen, validated ``bench.specs``.
* A value that cannot work is refused here, before any work, with a :class:`ConfigError` that
  names the setting, what was expected and what was found.
* The *config digest* is the ContentId of the canonical spec. Host paths are no part of it: the
  same data gives the same digest from every folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any, TypeVar

import yaml  # type: ignore[import-untyped]
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from bench.compression.base import model_identity
from bench.config_checks import ConfigError, check_arm, check_run
from bench.config_evidence import check_evidence
from bench.config_schema import ArmConfig, PricesConfig, ProviderConfig, RunConfig, TaskConfig
from bench.config_selection import check_selection
from bench.config_shape import unknown_key
from bench.provider_checks import check_prices, check_providers
from bench.specs import (
    ArmSpec,
    AuthoritySpec,
    BudgetSpec,
    ClaimsSpec,
    CompressionSpec,
    ContractSpec,
    ContradictionsSpec,
    EngineSpec,
    FreshnessSpec,
    MissingSpec,
    ModelSpec,
    PriceSpec,
    PricesSpec,
    ProviderSpec,
    RetrievalSpec,
    RunSpec,
    SamplingSpec,
    SelectionSpec,
    ServerSpec,
)
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import TaskSpec

T = TypeVar("T")

SCHEMA_NAME = "run_schema"
CONFIG_SCHEMA_ID = "run-config/1"


def register_schema() -> None:
    """Make the schema known to Hydra (idempotent)."""
    ConfigStore.instance().store(name=SCHEMA_NAME, node=RunConfig)


def to_spec(cfg: DictConfig) -> RunSpec:
    """Turn a composed config into the frozen spec of a run.

    Raises:
        ConfigError: A value is missing, of the wrong type, or cannot work.
    """
    try:
        plain = OmegaConf.to_object(cfg)
    except MissingMandatoryValue as error:
        key = getattr(error, "full_key", None) or "?"
        raise ConfigError(f"{key} is not set: {_missing_hint(str(key))}") from error
    except OmegaConfBaseException as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    if not isinstance(plain, RunConfig):
        raise ConfigError(f"the config is not of the run schema but {type(plain).__name__}")
    arms = tuple(_arm_spec(name, arm) for name, arm in plain.arms.items())
    spec = RunSpec(
        experiment=plain.experiment,
        task=_task_spec(plain.task),
        model=_copy(ModelSpec, plain.model),
        engine=_copy(EngineSpec, plain.engine, env=tuple(sorted(plain.engine.env.items()))),
        sampling=_copy(SamplingSpec, plain.sampling, stop=tuple(plain.sampling.stop)),
        arms=arms,
        concurrency=plain.concurrency,
        latency_samples=plain.latency_samples,
        latency_max_tokens=plain.latency_max_tokens,
        floor_samples=plain.floor_samples,
        seed=plain.seed,
        bootstrap=plain.bootstrap,
        tokenizer=plain.tokenizer,
        rebuild=plain.rebuild,
        isolation_samples=plain.isolation_samples,
        prices=_prices_spec(plain.prices),
        providers=tuple(_provider_spec(name, one) for name, one in plain.providers.items()),
    )
    check_run(spec)
    check_providers(spec)
    check_prices(spec)
    return spec


def load_config(text: str) -> DictConfig:
    """Read a stored ``config.yaml`` back under the schema.

    Raises:
        ConfigError: It does not fit the schema.
    """
    try:
        stored = OmegaConf.create(text)
    except (OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError("config.yaml: " + " ".join(str(error).split())) from error
    if not isinstance(stored, DictConfig):
        raise ConfigError("config.yaml: expected a mapping")
    return under_schema(stored)


def under_schema(cfg: DictConfig) -> DictConfig:
    """The config merged into the empty schema, so that no key outside it survives.

    Raises:
        ConfigError: A key or type that the schema does not have (``+key=...`` can add such keys).
    """
    try:
        merged = OmegaConf.merge(OmegaConf.structured(RunConfig), OmegaConf.to_container(cfg, resolve=True))
    except OmegaConfBaseException as error:
        line = str(error).splitlines()[0]
        key = getattr(error, "full_key", None)
        if isinstance(error, ConfigKeyError) and key:
            raise ConfigError(unknown_key(key)) from error
        raise ConfigError(f"{key}: {line}" if key else line) from error
    if not isinstance(merged, DictConfig):
        raise ConfigError("the config is no mapping")
    return merged


def dump_config(cfg: DictConfig) -> str:
    """The resolved config as YAML; :func:`load_config` gives it back."""
    return OmegaConf.to_yaml(cfg, resolve=True)


def config_digest(spec: RunSpec) -> str:
    """ContentId of the canonical spec, without the places where data and models lie."""
    value = spec_value(spec)
    value["schema_id"] = CONFIG_SCHEMA_ID
    del value["task"]["data_dir"]
    for arm in value["arms"]:  # stored answers are named by their digest, wherever the file lies
        del arm["claims"]["answers"]
    del value["engine"]["recorded"]
    for arm in value["arms"]:
        arm["compression"]["model"] = model_identity(arm["compression"]["model"])
    if spec.model.kind == "local":
        value["model"]["ref"] = PurePath(spec.model.ref).name
    try:
        return content_id(canonical_bytes(value))
    except Exception as error:
        raise ConfigError(f"the config holds a value without canonical form: {error}") from error


def spec_value(record: Any) -> dict[str, Any]:
    """A frozen spec as plain JSON data."""
    return {f.name: plain_value(getattr(record, f.name)) for f in fields(record)}


def flat(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Settings of plain JSON data by their dotted names; an arm is named by its ``arm_id``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{at}.{key}" if at else str(key))
    elif at == "arms" and isinstance(value, list):
        for arm in value:
            yield from flat({k: v for k, v in arm.items() if k != "arm_id"}, f"arms.{arm['arm_id']}")
    else:
        yield at, value


def plain_value(value: Any) -> Any:
    """Dataclasses, mappings and tuples as plain JSON data."""
    if is_dataclass(value):
        return spec_value(value)
    if isinstance(value, tuple | list):
        return [plain_value(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): plain_value(v) for k, v in value.items()}
    return value


def _copy(cls: type[T], config: Any, **changed: Any) -> T:
    names = [f.name for f in fields(cls)]  # type: ignore[arg-type]
    return cls(**{n: changed[n] if n in changed else getattr(config, n) for n in names})


def _task_spec(task: TaskConfig) -> TaskSpec:
    return _copy(TaskSpec, task, options=dict(task.options))


def _prices_spec(prices: PricesConfig) -> PricesSpec:
    table = tuple(_copy(PriceSpec, one, provider=name) for name, one in prices.providers.items())
    return _copy(PricesSpec, prices, providers=table)


def _provider_spec(name: str, provider: ProviderConfig) -> ProviderSpec:
    return _copy(
        ProviderSpec,
        provider,
        provider_id=name,
        projects=tuple(sorted(provider.projects)),
        operations=tuple(sorted(provider.operations)),
        fallbacks=tuple(provider.fallbacks),
        server=None if provider.server is None else _copy(ServerSpec, provider.server),
    )


def _arm_spec(arm_id: str, arm: ArmConfig) -> ArmSpec:
    authority = _copy(
        AuthoritySpec,
        arm.authority,
        operations=tuple(sorted(arm.authority.operations)),
        providers=tuple(sorted(arm.authority.providers)),
    )
    spec = _copy(
        ArmSpec,
        arm,
        arm_id=arm_id,
        retrieval=_copy(RetrievalSpec, arm.retrieval),
        selection=_copy(SelectionSpec, arm.selection),
        compression=_copy(CompressionSpec, arm.compression),
        contract=_copy(ContractSpec, arm.contract),
        budget=_copy(BudgetSpec, arm.budget),
        authority=authority,
        claims=_copy(ClaimsSpec, arm.claims),
        contradictions=_copy(ContradictionsSpec, arm.contradictions),
        freshness=_copy(FreshnessSpec, arm.freshness),
        missing=_copy(MissingSpec, arm.missing),
        caches=tuple(arm.caches),
    )
    check_arm(spec)
    check_evidence(spec)
    check_selection(spec)
    return spec


def _missing_hint(key: str) -> str:
    if re.fullmatch(r"model\.revision", key):
        return "give the full 40-hex commit of the model, e.g. model.revision=<40 hex>"
    if key == "model.ref":
        return "give the folder or hub id of the model, e.g. model.ref=/path/to/model"
    return f"give it, e.g. {key}=..."
