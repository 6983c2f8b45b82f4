"""The one way out: nothing is sent but what the policy allowed, for exactly these bytes, and only once.

    decision = authorize(ask, gate)          validate the capsule, then decide; never raises
    request = decision.require()             the AuthorizedRequest, or a DeniedError
    reply = send(request, body, transport, clock)

* Only this module makes an ``AuthorizedRequest``, out of a decision without refusals, and an ``Outgoing``,
  out of an ``AuthorizedRequest`` that is still allowed when the clock is read again. A transport takes an
  ``Outgoing`` and nothing else, and finds there where to send it.
* A request pins the capsule, the bytes, the provider and its endpoint, the policy and the time. It cannot be
  copied, stored or altered, and it is spent by the first attempt: a retry, a fallback or a redirect is
  another hop and needs a decision of its own.
* At the send everything is decided anew at the clock's later reading; an earlier one is ``clock.rollback``.
* Whatever raises on the way (a rule, the store, the clock) denies. Such a decision says ``evaluated`` false:
  that nothing was found is then no finding.
* A refusal names codes and ids, never content.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import NoReturn, Protocol, TypeVar

from capsules.clock import ROLLBACK, Clock
from capsules.codec import digest_of, read_stored
from capsules.content_id import content_id
from capsules.decision import (
    NOT_EVALUATED,
    SCHEMA_ID,
    UNLABELLED,
    Ask,
    DecisionRecord,
    DeniedError,
    Gate,
    codes_of,
    exempt_refusals,
    facts_of,
    levels_of,
    refusals,
)
from capsules.evidence import EvidenceCapsule
from capsules.policy import Policy
from capsules.prompt import PromptCapsule
from capsules.report import STAGES
from capsules.strict_json import MAX_BYTES
from capsules.timestamp import format_time
from capsules.validation import Given, validate_prompt

SPENT = "decision.spent"

Rule = Callable[[int], set[str]]  # a decision as a function of the time: its refusals

_MINT = object()
_Reply = TypeVar("_Reply", covariant=True)


class _Minted:
    """Base of what only this module may make."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied or stored: ask for another decision")


def _require_mint(mint: object, cls: type) -> None:
    if mint is not _MINT:
        raise TypeError(f"only a decision makes a {cls.__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizedRequest(_Minted):
    """The permission to send one body to one provider, once.

    Attributes:
        decision: ContentId of ``record``.
        record: What was decided.
        issued_at: The clock's reading at the decision, in seconds.
        rule: The decision at any time; it is asked again when the request is sent.

    Raises:
        TypeError: On any construction but that by ``authorize`` and ``exempt``.
    """

    decision: str
    record: DecisionRecord
    issued_at: int
    rule: Rule = field(repr=False, compare=False)
    unspent: list[None] = field(default_factory=lambda: [None], init=False, repr=False, compare=False)
    mint: InitVar[object]

    def __post_init__(self, mint: object) -> None:
        _require_mint(mint, AuthorizedRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing(_Minted):
    """A body on its way out: released for this provider, at this time.

    Attributes:
        provider, endpoint: Where it may go, and nowhere else.
        sent_at: The clock's reading, in seconds.

    Raises:
        TypeError: On any construction but that by ``release``.
    """

    decision: str
    provider: str
    endpoint: str | None
    body: bytes = field(repr=False)
    sent_at: int
    mint: InitVar[object]

    def __post_init__(self, mint: object) -> None:
        _require_mint(mint, Outgoing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer to an ``Ask``.

    Attributes:
        id: ContentId of ``record``.
        request: The permission; ``None``: denied, ``record.refusals`` says why.
        evaluated: Whether every rule was asked. False only for a denial.
    """

    id: str
    record: DecisionRecord
    request: AuthorizedRequest | None
    evaluated: bool

    def require(self) -> AuthorizedRequest:
        """The permission.

        Raises:
            DeniedError: There is none.
        """
        if self.request is None:
            raise DeniedError(self.record.refusals, self.id, self.record.capsule, self.evaluated)
        return self.request


class Transport(Protocol[_Reply]):
    """What can send. It takes an ``Outgoing``, so nothing reaches it without a decision."""

    def send(self, outgoing: Outgoing) -> _Reply:
        """Send ``outgoing.body`` to ``outgoing.endpoint``, follow nothing, and return the answer."""
        ...


@dataclass(slots=True)
class _Findings:
    """What an attempt to decide came to, as far as it went."""

    codes: set[str] = field(default_factory=set)
    now: int | None = None
    policy: str | None = None
    endpoint: str | None = None
    levels: tuple[str, ...] = ()
    rule: Rule | None = None
    evaluated: bool = True


def authorize(ask: Ask, gate: Gate) -> Decision:
    """Validate a capsule for a provider, and decide whether the body may go there.

    Whatever raises on the way denies; the decision is always a value.
    """
    return _decide(ask, gate, None)


def exempt(ask: Ask, gate: Gate) -> Decision:
    """Decide on a body that has no capsule: ``unlabelled``, for ``local`` alone."""
    return _decide(ask, gate, UNLABELLED)


def _decide(ask: Ask, gate: Gate, exemption: str | None) -> Decision:
    found = _Findings()
    try:
        found.now = gate.clock()
        found.policy = digest_of(gate.policy)
        profile = gate.policy.provider(ask.provider)
        found.endpoint = None if profile is None else profile.endpoint
        if exemption is None:
            _judge(ask, gate, found.now, found)
        else:
            found.rule = partial(_exempt_rule, gate.policy, ask)
            found.codes = found.rule(found.now)
    except Exception as error:  # of whatever kind: nothing is sent (KeyboardInterrupt passes)
        found.codes.update(codes_of(error))
        found.evaluated = False
    if found.rule is None and not found.codes:
        found.codes.add(NOT_EVALUATED)
        found.evaluated = False
    record = DecisionRecord(
        schema_id=SCHEMA_ID,
        policy=found.policy,
        capsule=ask.capsule,
        body=ask.body,
        provider=ask.provider,
        endpoint=found.endpoint,
        operation=ask.operation,
        project=ask.project,
        levels=found.levels,
        route=ask.route,
        now=None if found.now is None else format_time(found.now),
        refusals=tuple(sorted(found.codes)),
        exemption=exemption,
    )
    name, request = digest_of(record), None
    if found.rule is not None and found.now is not None and not found.codes:
        request = AuthorizedRequest(
            decision=name, record=record, issued_at=found.now, rule=found.rule, mint=_MINT
        )
    return Decision(id=name, record=record, request=request, evaluated=found.evaluated)


def _judge(ask: Ask, gate: Gate, now: int, found: _Findings) -> None:
    """Two formulations of the policy, and both must allow: the validation's checks and the rule."""
    if ask.capsule is None:
        found.codes.add("authority.missing")
        return
    data = gate.store.get(ask.capsule, max_bytes=MAX_BYTES).data
    given = Given(
        now=format_time(now),
        store=gate.store,
        project=ask.project,
        policy=gate.policy,
        provider=ask.provider,
        operation=ask.operation,
        tokenizer=gate.tokenizer,
    )
    report = validate_prompt(data, given, expect=ask.capsule)
    found.codes.update(report.codes())
    if STAGES.index(report.stage_reached) < STAGES.index("policy"):
        return  # what stands in the capsule is not known well enough to ask more
    prompt = read_stored(data, PromptCapsule)
    stored = [gate.store.get(ref.id, max_bytes=MAX_BYTES).data for ref in prompt.evidence_capsule_refs]
    facts = facts_of(ask.capsule, prompt, [read_stored(one, EvidenceCapsule) for one in stored])
    found.levels = levels_of(facts, ask)
    rule = partial(refusals, gate.policy, facts, ask)
    found.codes.update(rule(now))
    if report.authorized:
        found.rule = rule


def _exempt_rule(policy: Policy, ask: Ask, _now: int) -> set[str]:
    return exempt_refusals(policy, ask)


def release(request: AuthorizedRequest, body: bytes, clock: Clock) -> Outgoing:
    """Read the clock again, decide again, and let a body out: the last step before a transport.

    The request is spent by this, whatever comes of it.

    Raises:
        DeniedError: ``decision.spent``: released before; ``bytes.digest.mismatch``: other bytes than those
            that were asked for; ``clock.rollback``; or what the decision says at the later reading.
        TypeError: Something else than an AuthorizedRequest.
    """
    if type(request) is not AuthorizedRequest:
        raise TypeError(f"expected an AuthorizedRequest, found {type(request).__name__}")
    record, codes, evaluated, now = request.record, set(), True, request.issued_at
    try:
        request.unspent.pop()  # atomic: of two threads one gets it
    except IndexError:
        codes.add(SPENT)
    if content_id(body) != record.body or digest_of(record) != request.decision:
        codes.add("bytes.digest.mismatch")
    try:
        now = clock()
        if now < request.issued_at:
            codes.add(ROLLBACK)
        codes.update(request.rule(max(now, request.issued_at)))
    except Exception as error:  # as in a decision: nothing is sent
        codes.update(codes_of(error))
        evaluated = False
    if codes:
        raise DeniedError(tuple(sorted(codes)), request.decision, record.capsule, evaluated)
    return Outgoing(
        decision=request.decision,
        provider=record.provider,
        endpoint=record.endpoint,
        body=body,
        sent_at=now,
        mint=_MINT,
    )


def send(request: AuthorizedRequest, body: bytes, transport: Transport[_Reply], clock: Clock) -> _Reply:
    """Release a body and hand it to a transport.

    Raises:
        DeniedError, TypeError: As ``release``; the transport was not called.
    """
    return transport.send(release(request, body, clock))
