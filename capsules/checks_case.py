"""One validation under way: what was given, what was read so far, and the ledger of rows.

The stages (``checks_bytes``, ``checks_schema``, ...) each take a ``Case``, add to it what they read,
and add rows. Nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from capsules.evidence import EvidenceCapsule
from capsules.policy import Policy
from capsules.prompt import PromptCapsule
from capsules.report import AUTHORIZATION, INPUT, Ledger
from capsules.shape import Record
from capsules.store import Store
from capsules.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The inputs of a validation. What is ``None`` was not given, and its checks are not made.

    Attributes:
        now: Seconds since 1970, from the injected clock.
        store: Where evidence capsules and sources are looked up.
        project: The caller's project.
        policy: The policy file.
        provider: Who would receive the prompt.
        operation: What would be done with it.
        tokenizer: For the checks on the ids that would be sent.
        expect: The id that the capsule must have.
    """

    now: int
    store: Store | None
    project: str | None
    policy: Policy | None
    provider: str | None
    operation: str
    tokenizer: Tokenizer | None
    expect: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """An evidence capsule that was read: its id and its place in ``evidence_capsule_refs``."""

    id: str
    capsule: EvidenceCapsule
    place: int = 0


@dataclass(slots=True, kw_only=True)
class Case:
    """The state of one validation.

    Attributes:
        wanted: The type that the caller asked for; ``None`` takes either.
        subject: The capsule's ContentId once it is known.
        value: The parsed JSON value, without ``digest``.
        prompt: The capsule if it is a prompt.
        evidence: The capsule itself if it is evidence, else what the refs led to, as far as it did.
        whole: Whether every ref led to an evidence capsule.
        texts: Raw texts of the sources at hand, by ContentId.
    """

    given: Given
    data: bytes
    wanted: type[Record] | None
    ledger: Ledger = field(default_factory=Ledger)
    subject: str | None = None
    value: Any = None
    prompt: PromptCapsule | None = None
    evidence: list[Evidence] = field(default_factory=list)
    whole: bool = True
    texts: dict[str, str] = field(default_factory=dict)


# Checks that look at a prompt capsule; for an evidence capsule by itself no prompt was given.
PROMPT_ONLY = (
    "runtime.version",
    "evidence.refs",
    "evidence.order",
    "omission.items",
    "omission.ranges",
    "evidence.required",
    "budget.protected",
    "rewrite.items",
    "authority.validity",
    "authority.level",
    "policy.runtime",
    "authority.operation",
    "authority.provider",
)
POLICY_CHECKS = (
    "policy.revoked",
    "policy.schema",
    "policy.runtime",
    "policy.project",
    "provider.listed",
    "provider.operation",
    "provider.project",
    "provider.level",
)
STORE_CHECKS = ("evidence.refs", "evidence.order", "source.bytes", "span.text", "span.context")


def skip_without_input(case: Case) -> None:
    """Rows for the checks whose input was not given, whatever the capsule holds."""
    given = case.given
    skipped: list[str] = []
    if given.policy is None:
        skipped += POLICY_CHECKS
    if given.provider is None:
        skipped += [check for check in AUTHORIZATION if check not in skipped]
    case.ledger.skip(sorted(skipped), INPUT)
