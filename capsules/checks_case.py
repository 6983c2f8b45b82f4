"""One validation under way: what was given, what was read so far, and the ledger of rows.

The stages (``checks_bytes``, ``checks_schema``, ...) each take a ``Case``, add to it what they read,
and add rows. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from capsules.codec import Sealed
from capsules.evidence import EvidenceCapsule
from capsules.policy import Policy
from capsules.prompt import PromptCapsule
from capsules.report import AUTHORIZATION, INPUT, Ledger
from capsules.shape import Record
from capsules.store import Store
from capsules.timestamp import parse_time
from capsules.tokenizer import Tokenizer

Capsule = PromptCapsule | EvidenceCapsule
SealedCapsule = Sealed[PromptCapsule] | Sealed[EvidenceCapsule]

OPERATION = "generate"  # what is done with a prompt unless the caller names something else


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The inputs of a validation. What is ``None`` was not given, and its checks are not made.

    Attributes:
        now: The clock, ``YYYY-MM-DDTHH:MM:SSZ``.
        store: Where evidence capsules and sources are looked up.
        project: The project that the caller works for.
        policy: The policy file (``capsules.policy.read_policy``).
        provider: Who would receive the prompt. Without a policy only the capsule's own authority is
            asked, and ``authorized`` can become false but never true.
        operation: What the provider would do with it.
        tokenizer: The tokenizer that the prompt will be sent with.

    Raises:
        SchemaError: ``time.malformed``.
    """

    now: str
    store: Store | None = None
    project: str | None = None
    policy: Policy | None = None
    provider: str | None = None
    operation: str = OPERATION
    tokenizer: Tokenizer | None = None

    def __post_init__(self) -> None:
        parse_time(self.now, "/now")

    @property
    def seconds(self) -> int:
        """The clock in seconds since 1970."""
        return parse_time(self.now)


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
        expect: The id that the capsule must have; ``None`` where its bytes name it.
        wanted: The type that the caller asked for; ``None`` takes either.
        subject: The capsule's ContentId once it is known.
        value: The parsed JSON value, without ``digest``.
        prompt: The capsule if it is a prompt.
        evidence: The capsule itself if it is evidence, else what the refs led to, as far as it did.
        whole: Whether every ref led to an evidence capsule.
        texts: Raw texts of the sources at hand, by ContentId.
        sealed: Capsules that the caller sealed, by ContentId.
        record: The sealed record whose bytes ``data`` are, if there is one.
    """

    given: Given
    data: bytes
    expect: str | None
    wanted: type[Record] | None
    ledger: Ledger = field(default_factory=Ledger)
    subject: str | None = None
    value: Any = None
    prompt: PromptCapsule | None = None
    evidence: list[Evidence] = field(default_factory=list)
    whole: bool = True
    texts: dict[str, str] = field(default_factory=dict)
    sealed: Mapping[str, SealedCapsule] = field(default_factory=dict)
    record: Capsule | None = None

    def sealed_as(self, object_id: str | None, data: bytes) -> Capsule | None:
        """The record that was sealed under an id as exactly these bytes, which carry that id."""
        found = None if object_id is None else self.sealed.get(object_id)
        return found.record if found is not None and found.data == data else None


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
RENDER_CHECKS = (
    "tokenizer.identity",
    "render.segments",
    "render.control",
    "render.fidelity",
    "omission.tokens",
    "budget.window",
)


def skip_without_input(case: Case) -> None:
    """Rows for the checks whose input was not given, whatever the capsule holds."""
    given = case.given
    skipped: list[str] = []
    if given.policy is None:
        skipped += POLICY_CHECKS
    if given.provider is None:
        skipped += sorted(AUTHORIZATION.difference(skipped))
    if given.tokenizer is None:
        skipped += RENDER_CHECKS
    case.ledger.skip(skipped, INPUT)
