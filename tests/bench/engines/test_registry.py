from __future__ import annotations

import sys
import types
from collections.abc import Callable

import pytest

from bench.engines.base import EngineError
from bench.engines.fake import FakeEngine
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.registry import RegistryError

Start = Callable[..., EngineStart]


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType("my_engines")
    monkeypatch.setitem(sys.modules, "my_engines", module)
    return module


def test_by_name(engine_start: Start) -> None:
    assert isinstance(start_engine(engine_start(name="fake")), FakeEngine)


def test_an_unknown_name_lists_the_known_ones(engine_start: Start) -> None:
    with pytest.raises(
        RegistryError,
        match=r"unknown engine 'vlm': expected one of fake, openai, replay, vllm, vllm_server, or module:",
    ):
        start_engine(engine_start(name="vlm"))


def test_an_engine_of_ones_own(engine_start: Start, plugin: types.ModuleType) -> None:
    fake = start_engine(engine_start(name="fake"))
    plugin.start = lambda start: fake  # type: ignore[attr-defined]
    assert start_engine(engine_start(name="my_engines:start")) is fake


def test_what_is_no_engine_is_refused(engine_start: Start, plugin: types.ModuleType) -> None:
    plugin.start = lambda start: object()  # type: ignore[attr-defined]
    with pytest.raises(EngineError, match="lacks info, generate, reset_prefix_cache, counters, close"):
        start_engine(engine_start(name="my_engines:start"))


def test_the_fake_engine_needs_a_tokenizer(engine_start: Start) -> None:
    start = engine_start(name="fake")
    bare = EngineStart(
        spec=start.spec, model=start.model, folder=None, prefix_caching=True, log=start.log, tokenizer=None
    )
    with pytest.raises(EngineError, match="tokenizer"):
        start_engine(bare)
