"""Which errors may pass: by their type, and in one place."""

from __future__ import annotations

import pytest

from bench.config_checks import ConfigError
from bench.engines.base import EngineAbsentError, EngineError, EngineSettingError
from bench.errors import PermanentError, may_pass
from bench.registry import RegistryError
from bench.run_store import DeadEndError, RunError


@pytest.mark.parametrize(
    "kind", [ConfigError, RegistryError, DeadEndError, EngineSettingError, PermanentError]
)
def test_what_stays_as_it_is(kind: type[Exception]) -> None:
    assert not may_pass(kind("the connection was lost: try again"))  # never by the text


@pytest.mark.parametrize("kind", [EngineError, EngineAbsentError, RunError, OSError, KeyboardInterrupt])
def test_what_may_pass(kind: type[BaseException]) -> None:
    assert may_pass(kind("unknown setting"))
