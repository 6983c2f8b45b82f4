"""Engines by the name used in YAML, or as ``module:attribute``.

The attribute is an ``EngineFactory``: it takes an ``EngineStart`` and returns a started ``Engine``.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.engines.base import Engine, EngineError
from bench.engines.fake import start_fake
from bench.engines.start import EngineFactory, EngineStart
from bench.engines.vllm_engine import start_vllm
from bench.registry import resolve, takes

ENGINES: Mapping[str, EngineFactory] = {"fake": start_fake, "vllm": start_vllm}
_MEMBERS = ("info", "generate", "reset_prefix_cache", "counters", "close")


def engine_factory(name: str) -> EngineFactory:
    """Looks an engine up.

    Raises:
        RegistryError: Unknown name, or what it leads to takes no ``EngineStart``.
    """
    return resolve(ENGINES, name, takes("start"), kind="engine")


def start_engine(start: EngineStart) -> Engine:
    """Starts the engine that ``start.spec.name`` names.

    Raises:
        RegistryError: Unknown engine.
        EngineError: It did not start, or what came back is no ``Engine``.
    """
    engine = engine_factory(start.spec.name)(start)
    missing = [member for member in _MEMBERS if not hasattr(engine, member)]
    if missing:
        raise EngineError(
            f"engine {start.spec.name!r} lacks {', '.join(missing)}: see bench.engines.base.Engine"
        )
    return engine
