from __future__ import annotations

from collections.abc import Callable

from bench.build.capsule import CapsuleBuilder
from bench.build.laps import STAGES, StopWatch


def test_each_lap_gets_what_passed_since_the_last() -> None:
    readings = iter([100, 103, 110, 111, 200, 205, 300])
    watch = StopWatch(lambda: next(readings))  # 100
    watch("claims")  # 103
    watch("laws")  # 110
    watch("claims")  # 111
    assert watch.take() == {"claims": 3 + 1, "laws": 7}  # 200: what lies between is nobody's
    watch("laws")  # 205
    assert watch.take() == {"laws": 5}


def test_a_build_tells_its_stages_and_is_the_same_with_a_watch(
    doc: Callable[..., object],
    sample_of: Callable[..., object],
    arm_of: Callable[..., object],
    context: Callable[..., object],
) -> None:
    told: list[str] = []
    sample, arm = sample_of("How old is Alma?", doc("d1", "Alma is old. She is 40 years old.")), arm_of()
    plain = CapsuleBuilder()(sample, context(arm))  # type: ignore[arg-type]
    watched = CapsuleBuilder()(sample, context(arm, lap=told.append))  # type: ignore[arg-type]
    assert watched == plain
    assert set(told) == set(STAGES) - {"other", "storing", "validation"}
    ordered = list(dict.fromkeys(told))
    assert ordered.index("selection") < ordered.index("contradictions") < ordered.index("sealing")
    assert told[-1] == "laws"
