"""What the settings of claims, contradictions, freshness and missing evidence must satisfy.

Rule that this module owns: a setting that could have no effect in its arm is refused, so that no config
says something that its capsules do not do.
"""

from __future__ import annotations

from bench.config_checks import ConfigError, in_range, one_of
from bench.specs import UPPER_BOUNDS, ArmSpec, ClaimsSpec, ContradictionsSpec, FreshnessSpec, MissingSpec
from capsules.content_id import is_content_id

CLAIM_METHODS = ("none", "rule", "gold", "model")
POLICIES = ("show_both", "newest_wins", "drop")
AGE_POLICIES = ("hard", "soft")

_SIMILARITY = ContradictionsSpec().similarity_bp
_ANSWERABLE = MissingSpec().answerable_bp


def check_evidence(arm: ArmSpec) -> None:
    """Refuse settings that cannot work or could have no effect.

    Raises:
        ConfigError: Naming the setting of the arm.
    """
    at = f"arms.{arm.arm_id}"
    one_of(f"{at}.claims.method", arm.claims.method, CLAIM_METHODS)
    one_of(f"{at}.contradictions.policy", arm.contradictions.policy, POLICIES)
    one_of(f"{at}.freshness.policy", arm.freshness.policy, AGE_POLICIES)
    in_range(f"{at}.claims.limit", arm.claims.limit, 0)
    in_range(f"{at}.claims.support_bp", arm.claims.support_bp, 1, 10_000)
    in_range(f"{at}.contradictions.similarity_bp", arm.contradictions.similarity_bp, 1, 10_000)
    in_range(f"{at}.missing.answerable_bp", arm.missing.answerable_bp, 0, 10_000)
    if arm.freshness.max_age_days is not None:
        in_range(f"{at}.freshness.max_age_days", arm.freshness.max_age_days, 1, 1_000_000)
    if arm.contradictions.detector == "none" and arm.contradictions.similarity_bp != _SIMILARITY:
        raise ConfigError(f"{at}.contradictions.similarity_bp needs a detector, found none")
    if not arm.missing.record and arm.missing.answerable_bp != _ANSWERABLE:
        raise ConfigError(f"{at}.missing.answerable_bp needs missing.record=true")
    _check_claims(at, arm)
    _check_layout(at, arm)


def _check_claims(at: str, arm: ArmSpec) -> None:
    claims = arm.claims
    if claims.method == "gold" and not {arm.retrieval.name, arm.selection.name} & set(UPPER_BOUNDS):
        raise ConfigError(
            f"{at}.claims.method is gold: expected retrieval or selection to be one of "
            f"{', '.join(UPPER_BOUNDS)} too, found {arm.retrieval.name} and {arm.selection.name}"
        )
    if claims.method == "model":
        if claims.answers is None or claims.digest is None or not is_content_id(claims.digest):
            raise ConfigError(
                f"{at}.claims.method is model: expected claims.answers=FILE and claims.digest=b3:<64 hex> "
                f"of its bytes, found {claims.answers!r} and {claims.digest!r}"
            )
    elif claims.answers is not None or claims.digest is not None:
        raise ConfigError(
            f"{at}.claims.answers and digest belong to claims.method=model, not {claims.method}"
        )
    if claims.method == "none" and claims.support_bp != ClaimsSpec().support_bp:
        raise ConfigError(f"{at}.claims.support_bp needs a method of claims, found none")
    if claims.limit and claims.method != "rule":
        raise ConfigError(
            f"{at}.claims.limit: expected 0 for claims.method={claims.method}, found {claims.limit}: only "
            f"method rule takes sentences up to a limit; add {at}.claims.limit=0"
        )


def _check_layout(at: str, arm: ArmSpec) -> None:
    if arm.layout == "capsule":
        return
    for name, found, silent in (
        ("claims", arm.claims, ClaimsSpec()),
        ("contradictions", arm.contradictions, ContradictionsSpec()),
        ("freshness", arm.freshness, FreshnessSpec()),
        ("missing", arm.missing, MissingSpec()),
    ):
        if found != silent:
            raise ConfigError(f"{at}.{name} has an effect on the layout capsule alone, found {arm.layout}")
