from __future__ import annotations

import pytest

from bench.config import config_digest, to_spec
from bench.config_checks import ConfigError
from bench.hydra_app import compose_config
from bench.specs import RunSpec

AT = "arms.capsule"
DIGEST = "b3:" + "0" * 64


def spec(*overrides: str) -> RunSpec:
    return to_spec(compose_config(["experiment=quickstart", "engine=fake", *overrides]))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["claims.method=luck"], "claims.method: expected one of none, rule, gold, model, found 'luck'"),
        (["claims.method=gold"], "expected retrieval or selection to be one of gold, oracle too"),
        (["claims.method=model"], "expected claims.answers=FILE and claims.digest=b3:"),
        (["claims.method=model", "claims.answers=a", "claims.digest=x"], "found 'a' and 'x'"),
        (["claims.answers=a"], "belong to claims.method=model, not none"),
        (["claims.limit=-1"], "claims.limit: expected at least 0"),
        (["claims.limit=1"], "expected 0 for claims.method=none, found 1"),
        (
            ["claims.limit=3", "claims.method=model", "claims.answers=a", f"claims.digest={DIGEST}"],
            "expected 0 for claims.method=model, found 3: only method rule takes sentences up to a limit; "
            "add arms.capsule.claims.limit=0",
        ),
        (["claims.support_bp=0", "claims.method=rule"], "claims.support_bp: expected 1 to 10000"),
        (["claims.support_bp=1"], "needs a method of claims"),
        (["contradictions.policy=vote"], "expected one of show_both, newest_wins, drop"),
        (["contradictions.similarity_bp=6000"], "similarity_bp needs a detector"),
        (["freshness.policy=lax"], "expected one of hard, soft"),
        (["freshness.max_age_days=0"], "max_age_days: expected 1 to 1000000"),
        (["missing.answerable_bp=6000"], "needs missing.record=true"),
    ],
)
def test_settings_that_cannot_work_or_have_no_effect(overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        spec(*(f"{AT}.{one}" for one in overrides))
    assert str(caught.value).startswith(AT)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "override",
    ["claims.method=rule", "contradictions.policy=drop", "freshness.policy=soft", "missing.record=true"],
)
def test_naive_arms_have_no_such_settings(override: str) -> None:
    with pytest.raises(ConfigError, match="has an effect on the layout capsule alone, found naive"):
        spec(f"arms.naive.{override}")


def test_stored_answers_are_named_by_their_bytes_and_not_by_their_place() -> None:
    asked = [f"{AT}.claims.method=model", f"{AT}.claims.digest={DIGEST}"]
    one = spec(*asked, f"{AT}.claims.answers=/here/answers.jsonl")
    two = spec(*asked, f"{AT}.claims.answers=/there/answers.jsonl")
    assert config_digest(one) == config_digest(two)
    other = spec(*asked[:1], f"{AT}.claims.answers=/here/answers.jsonl", f"{AT}.claims.digest={DIGEST[:-1]}1")
    assert config_digest(one) != config_digest(other)
