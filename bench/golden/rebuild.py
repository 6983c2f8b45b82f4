"""Builds what a golden file is about: every (sample, arm) of a config, in memory, without an engine.

Rules that this module owns:

* Nothing is written but the golden file: the store lives as long as the build.
* Texts go into a file only where the data are generated, or where the user asks for them; a file says
  by its ``texts`` which of the two it is, and is rebuilt in the same way.
* A prompt that cannot be built is a build with its code: whether it should be so is the file's to say.
* Builds stand by sample, in the order of the data, then by the name of the arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.build_stage import Bench, Built, build_each
from bench.config import to_spec, under_schema
from bench.config_checks import ConfigError
from bench.golden.errors import GoldenError
from bench.golden.places import located, portable
from bench.golden.records import Golden, golden_build
from bench.golden.texts import without_texts
from bench.hydra_app import expand
from bench.preparation import Prepared, prepare
from bench.progress import Reporter
from capsules.codec import to_value
from capsules.store import MemoryStore

GENERATED = "generated"


def build_golden(
    config: DictConfig, file: Path, env: Mapping[str, str], reporter: Reporter, *, texts: bool | None
) -> Golden:
    """Build what ``file`` is to hold.

    Args:
        config: The resolved config.
        file: Where it will be written: paths are relative to its folder.
        env: The environment (``CAPSULE_DATA``).
        reporter: For people.
        texts: Whether texts go into it; ``None``: only generated ones.

    Raises:
        ConfigError, RegistryError, TaskError, TokenizerError, ModelError: It cannot be built.
    """
    spec = to_spec(config)
    prepared = prepare(spec, reporter, engine=False)
    store = MemoryStore()
    with reporter.bar("building capsules", len(prepared.data.samples) * len(spec.arms)) as advance:
        bench = Bench(
            spec=spec,
            data=prepared.data,
            tokenizer=prepared.tokenizer,
            store=store,
            now=spec.task.as_of,
        )
        built = build_each(bench, advance)
    kept = prepared.data.origin == GENERATED if texts is None else texts
    return _golden(portable(_plain(config), file, env), prepared, built, texts=kept)


def config_of(golden: Golden, file: Path, env: Mapping[str, str], overrides: Sequence[str]) -> DictConfig:
    """The config that a golden file holds, with overrides.

    Raises:
        GoldenError: The file's config is none.
        ConfigError: An override that cannot be used.
    """
    try:
        held = under_schema(OmegaConf.create(dict(golden.config)))
        placed = located(_plain(held), file, env)
    except (ConfigError, OmegaConfBaseException, ValueError) as error:
        raise GoldenError(f"{file}: config: expected a run's config: {error}") from error
    config = under_schema(OmegaConf.create(placed))
    for override in overrides:
        _override(config, override)
    return config


def _plain(config: DictConfig) -> dict[str, Any]:
    container = OmegaConf.to_container(config, resolve=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def _override(config: DictConfig, text: str) -> None:
    (expanded,) = expand([text])
    try:
        parsed = OverridesParser.create().parse_override(expanded)
    except HydraException as error:
        raise ConfigError(f"override {text!r}: {str(error).splitlines()[0]}") from error
    if parsed.type is not OverrideType.CHANGE or parsed.is_sweep_override() or "@" in text.split("=")[0]:
        raise ConfigError(
            f"override {text!r}: expected setting=value of the file's config; "
            "to add or take away something, record another file"
        )
    key = parsed.key_or_group
    if OmegaConf.select(config, key, default=config) is config:
        raise ConfigError(f"override {text!r}: the file's config has no setting {key!r}")
    try:
        OmegaConf.update(config, key, parsed.value())
    except OmegaConfBaseException as error:
        raise ConfigError(f"override {text!r}: {str(error).splitlines()[0]}") from error


def _golden(config: Mapping[str, Any], prepared: Prepared, built: Built, *, texts: bool) -> Golden:
    data = prepared.data
    table: dict[str, str] = {}
    capsules: dict[str, dict[str, Any]] = {}
    place = {sample.input.sample_id: index for index, sample in enumerate(data.samples)}
    pairs = sorted(
        zip(built.prepared, built.builds, strict=True),
        key=lambda pair: (place[pair[1].sample_id], pair[1].arm_id),
    )
    for item, row in pairs:
        if item.built is None:
            continue
        for digest, record in zip(row.evidence_capsules, item.built.evidence, strict=True):
            capsules[digest] = without_texts(to_value(record), table)
        if item.built.prompt is not None and row.prompt_capsule is not None:
            capsules[row.prompt_capsule] = without_texts(to_value(item.built.prompt), table)
    return Golden(
        config=config,
        data={
            "name": data.dataset,
            "license": data.license,
            "content_digest": data.content_digest,
            "rows": data.rows,
            "samples": len(data.samples),
        },
        tokenizer={"id": prepared.tokenizer.tokenizer_id, "digest": prepared.tokenizer.tokenizer_digest},
        builds=tuple(golden_build(item, row, texts=texts) for item, row in pairs),
        capsules=capsules,
        texts=table if texts else None,
    )
