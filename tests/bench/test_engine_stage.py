"""What an engine is told before it starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import bench.engine_stage
from bench.engines.base import Engine
from bench.engines.start import EngineStart
from bench.pipeline import Outcome


@pytest.mark.parametrize(("contract", "announced"), [("quote", False), ("quote_constrained", True)])
def test_grammars_are_announced_so_that_no_measured_wave_pays_for_the_first(
    run_small: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contract: str,
    announced: bool,
) -> None:
    starts: list[EngineStart] = []
    start = bench.engine_stage.start_engine

    def noted(one: EngineStart) -> Engine:
        starts.append(one)
        return start(one)

    monkeypatch.setattr(bench.engine_stage, "start_engine", noted)
    run_small(tmp_path, f"arms.capsule.contract.name={contract}", "rebuild=false")
    assert [one.grammars for one in starts] == [announced, announced]  # caching off, caching on
