from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.config_checks import ConfigError
from bench.specs import RunSpec

ARM = "arms.capsule.selection"


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ([f"{ARM}.unit=page"], "unit: expected one of chunk, sentence, found 'page'"),
        ([f"{ARM}.tokens=0"], "tokens: expected at least 1, or null for no limit, found 0"),
        ([f"{ARM}.name=mmr", f"{ARM}.lambda_bp=10001"], "lambda_bp: expected 0 to 10000, found 10001"),
        ([f"{ARM}.name=fovea", f"{ARM}.unit=sentence", f"{ARM}.needs=13"], "needs: expected 1 to 12"),
        ([f"{ARM}.name=fovea", f"{ARM}.unit=sentence", f"{ARM}.witness_bp=0"], "witness_bp: expected 1 to"),
        ([f"{ARM}.name=fovea"], "unit: fovea chooses sentences"),
        ([f"{ARM}.name=fovea", f"{ARM}.unit=sentence", f"{ARM}.fill=true"], "fill uses up selection.tokens"),
        ([f"{ARM}.lambda_bp=5000"], "lambda_bp belongs to selection mmr, not top_k"),
        ([f"{ARM}.needs=3"], "needs belongs to selection fovea, not top_k"),
        (["arms.naive.selection.unit=sentence"], "layout naive shows whole chunks"),
        (["arms.naive.selection.tokens=99"], "layout naive shows whole chunks"),
    ],
)
def test_settings_that_cannot_work_or_have_no_effect(
    overrides: list[str], says: str, spec_of: Callable[..., RunSpec]
) -> None:
    with pytest.raises(ConfigError, match=r"selection") as refused:
        spec_of(*overrides)
    assert says in str(refused.value)


def test_settings_that_work(spec_of: Callable[..., RunSpec]) -> None:
    spec = spec_of(
        "+arm@arms.capsule_fovea=capsule_fovea",
        "arms.capsule_fovea.selection.tokens=300",
        "arms.capsule_fovea.selection.fill=true",
        "arms.capsule.selection.name=mmr",
        "arms.capsule.selection.lambda_bp=5000",
        "arms.capsule.selection.tokens=200",
    )
    found = {arm.arm_id: arm.selection for arm in spec.arms}
    assert (found["capsule_fovea"].unit, found["capsule_fovea"].tokens) == ("sentence", 300)
    assert found["capsule"].lambda_bp == 5_000
