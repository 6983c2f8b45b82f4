"""The estimate before a run: requests, a range of time, disk; too little disk is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.estimate import Estimate, compression_time, estimate
from bench.planner import Plan
from bench.run_store import RunError
from bench.specs import RunSpec


def test_an_engine_without_constants_has_no_estimate_of_time(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    spec = spec_of()
    plan = toy_plan(spec)
    found = estimate(spec, plan)
    assert (found.requests, found.low_s, found.high_s) == (len(plan.requests), None, None)
    assert "39 requests, no estimate of time" in found.line()


def test_vllm_has_a_range_that_grows_with_the_work(
    spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan]
) -> None:
    small, large = (spec_of("engine=vllm_cpu", f"latency_samples={n}") for n in (0, 4))
    few, many = estimate(small, toy_plan(small)), estimate(large, toy_plan(large))
    assert few.low_s is not None
    assert few.high_s is not None
    assert many.low_s is not None
    assert 2 * 40 / 2 < few.low_s < few.high_s  # two engine starts at least
    assert many.low_s > few.low_s


def test_the_line_is_for_people() -> None:
    line = Estimate(requests=1200, low_s=80, high_s=320, disk_bytes=5 << 20).line()
    assert line == "1,200 requests, about 80 s to 5 min, about 5 MiB on disk"


def test_a_disk_with_too_little_room_is_refused_before_any_engine_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Estimate(requests=1, low_s=None, high_s=None, disk_bytes=10 << 20)
    found.require_space(tmp_path)
    usage = type(shutil.disk_usage(tmp_path))(100 << 20, 91 << 20, 9 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(RunError, match="about 10 MiB needed, 9 MiB free"):
        found.require_space(tmp_path)


def test_the_time_of_a_compressor_is_said_where_it_is_known() -> None:
    found = compression_time("self_information", 10_000, "vllm")
    assert found == ", about 30 s to 2 min on a CPU"  # half and twice 30 s + 10 x 3 s
    assert compression_time("mine:own", 10_000, "vllm") == ""
    # the fake engine scores the texts: no model runs; a library's compressor has a model of its own
    assert compression_time("self_information", 10_000, "fake") == ""
    assert compression_time("llmlingua2", 10_000, "fake") == ", about 15 s to 60 s on a CPU"  # 20 + 10 x 1
