"""Retries and fallbacks: every hop is an ask, a decision and a request of its own.

* The order of the providers is the caller's; whether a hop may be made is the policy's alone. A provider that
  no earlier one lists as its fallback is ``provider.route.unlisted``.
* A refused hop sends nothing and the next provider is asked; a redirect ends the delivery, because whoever
  answers in that way is not where the policy says that it is.
* When nobody may or can answer, that is the result. There is no provider of last resort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from capsules.decision import Ask, DeniedError, Gate
from capsules.egress import Transport, authorize, send
from capsules.errors import CapsuleError

UNLISTED = "provider.route.unlisted"

R = TypeVar("R")


class TransportError(CapsuleError):
    """A hop that brought no answer: a time-out, a refusal by the provider, an empty reply, a redirect.

    ``provider.route.unlisted`` is a redirect, or a peer that is not the endpoint's host; every other code
    leaves it to the policy whether another provider is asked.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One attempt: who was asked, under which decision, and why it brought no answer (``()``: it did)."""

    provider: str
    decision: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Generic[R]):
    """How a delivery ended: the answer of the last hop, or ``None``; and every hop in order."""

    reply: R | None
    hops: tuple[Hop, ...]


def deliver(
    ask: Ask, body: bytes, transport: Transport[R], gate: Gate, fallbacks: Sequence[str] = ()
) -> Delivery[R]:
    """Send to ``ask.provider``, then to each of ``fallbacks``, until one answers.

    Args:
        ask: The first hop.
        body: Exactly the bytes that ``ask.body`` names.
        transport: How they are sent.
        gate: What every hop is decided from.
        fallbacks: Who is asked next, in order; the same provider again is a retry.
    """
    hops: list[Hop] = []
    route = ask.route
    for provider in (ask.provider, *fallbacks):
        decision = authorize(replace(ask, provider=provider, route=route), gate)
        if UNLISTED not in decision.record.refusals:
            route += (provider,)  # its own fallbacks may follow, whether or not it could answer
        try:
            reply = send(decision.require(), body, transport, gate.clock)
        except DeniedError as error:
            hops.append(Hop(provider=provider, decision=decision.id, codes=error.codes))
        except TransportError as error:
            hops.append(Hop(provider=provider, decision=decision.id, codes=(error.code,)))
            if error.code == UNLISTED:
                break
        else:
            hops.append(Hop(provider=provider, decision=decision.id, codes=()))
            return Delivery(reply=reply, hops=tuple(hops))
    return Delivery(reply=None, hops=tuple(hops))
