"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest
from beside import load
from hypothesis import HealthCheck, settings

# Examples are judged by their result, never by their time; CI draws the same ones each time.
settings.register_profile(
    "capsules",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("capsules")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept-golden",
        action="store_true",
        help="write the golden files of the report instead of comparing",
    )


@pytest.fixture(scope="session")
def capsule_data() -> Path:
    """The folder of public data sets; tests that need it skip loudly without it."""
    value = os.environ.get("CAPSULE_DATA")
    if not value:
        pytest.skip("CAPSULE_DATA is not set: public data sets are not available (see README, 'Tests')")
    path = Path(value)
    if not path.is_dir():
        pytest.fail(f"CAPSULE_DATA names no folder: {path}")
    return path


def _load(name: str) -> ModuleType:
    """A module beside this one (with import-mode=importlib test modules cannot import each other)."""
    return load(Path(__file__).parent / f"{name}.py")


@pytest.fixture(scope="session")
def routing() -> ModuleType:
    """``tests/routing.py``: scenes for the tests of routing."""
    return _load("routing")


@pytest.fixture(scope="session")
def space() -> ModuleType:
    """``tests/policy_space.py``: the decision space of the policy."""
    return _load("policy_space")


@pytest.fixture(scope="session")
def loopback() -> ModuleType:
    """``tests/loopback.py``: providers on 127.0.0.1."""
    return _load("loopback")


@pytest.fixture(scope="session")
def seam() -> ModuleType:
    """``tests/seam.py``: a planned run and an engine that answers from a table."""
    return _load("seam")


@pytest.fixture(scope="session")
def driven() -> ModuleType:
    """``tests/driven.py``: a plan driven through the runner."""
    return _load("driven")


@pytest.fixture(scope="session")
def wrapped() -> ModuleType:
    """``tests/wrapped.py``: engines around an engine."""
    return _load("wrapped")


@pytest.fixture(scope="session")
def streams() -> ModuleType:
    """``tests/streams.py``: what an OpenAI-compatible server writes."""
    return _load("streams")
