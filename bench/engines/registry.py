"""Engines by the name used in YAML, or as ``module:attribute``.

The attribute is an ``EngineFactory``: it takes an ``EngineStart`` and returns a started ``Engine``.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.engines.base import Engine, EngineSettingError
from bench.engines.fake import start_fake
from bench.engines.openai_start import start_openai
from bench.engines.replay import REPLAY, start_replay
from bench.engines.start import EngineFactory, EngineStart
from bench.engines.vllm_engine import start_vllm
from bench.engines.vllm_server import start_vllm_server
from bench.registry import RegistryError, resolve, takes
from bench.specs import RunSpec

ENGINES: Mapping[str, EngineFactory] = {
    "fake": start_fake,
    "openai": start_openai,
    REPLAY: start_replay,
    "vllm": start_vllm,
    "vllm_server": start_vllm_server,
}
OF_A_PROVIDER = ("openai", "vllm_server")
_MEMBERS = ("info", "generate", "reset_prefix_cache", "counters", "close")


def engine_factory(name: str) -> EngineFactory:
    """Looks an engine up.

    Raises:
        RegistryError: Unknown name, or what it leads to takes no ``EngineStart``.
    """
    return resolve(ENGINES, name, takes("start"), kind="engine")


def require_engines(spec: RunSpec) -> None:
    """Look the engines of a run up: its own, and those of its providers, whether or not an arm asks them.

    Raises:
        RegistryError: Naming the setting and what is valid there.
    """
    own = {name: made for name, made in ENGINES.items() if name not in OF_A_PROVIDER}
    named = [("engine.name", spec.engine.name, own)]
    named += [
        (f"providers.{p.provider_id}.server.engine", p.server.engine, {n: ENGINES[n] for n in OF_A_PROVIDER})
        for p in spec.providers
        if p.server is not None
    ]
    for setting, name, valid in named:
        try:
            resolve(valid, name, takes("start"), kind="engine")
        except RegistryError as error:
            raise RegistryError(f"{setting}: {error}") from error


def start_engine(start: EngineStart) -> Engine:
    """Starts the engine that the start names: the provider's, or ``start.spec.name`` on this machine.

    A run that is replayed is replayed for every provider: nobody is started or contacted.

    Raises:
        RegistryError: Unknown engine.
        EngineError: It did not start; ``EngineSettingError``: what came back is no ``Engine``.
    """
    server = None if start.provider is None else start.provider.server
    name = start.spec.name if server is None or start.spec.name == REPLAY else server.engine
    engine = engine_factory(name)(start)
    missing = [member for member in _MEMBERS if not hasattr(engine, member)]
    if missing:
        raise EngineSettingError(f"engine {name!r} lacks {', '.join(missing)}: see bench.engines.base.Engine")
    return engine
