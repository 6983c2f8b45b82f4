"""Engines that are reached over a connection: they send nothing but what a permit lets out.

    permit(request, body, attempt) -> Outgoing | str     a decision for exactly these bytes; str: refused

Rules that this module owns:

* A remote engine is never asked to ``generate``: it is asked to ``deliver``, with the permit of the run's
  gate. Every attempt, a retry too, asks for a permit of its own.
* What is retried: a refusal for being busy (429), a failure of the server (5xx), no connection, no reply. Not
  retried: a time-out (the first copy may still be computed, and a second would measure a busy server), a
  redirect, another refusal, a reply of another form.
* The wait before the n-th retry is ``backoff_ms * 2**(n-1)``, at most ``MAX_WAIT_S``, or what the
  provider asks for if that is longer; a provider that asks for more than ``MAX_WAIT_S`` is not waited for.
* Times are those of the attempt that was answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from bench.engines.base import Engine, EngineRequest, EngineResult
from bench.engines.http_call import EMPTY, FAILED, RATE_LIMITED, UNREACHABLE, HttpError
from bench.specs import ServerSpec
from capsules.egress import Outgoing

MAX_WAIT_S = 60.0
RETRIED = frozenset({RATE_LIMITED, FAILED, UNREACHABLE, EMPTY})

Permit = Callable[[EngineRequest, bytes, int], Outgoing | str]


@runtime_checkable
class RemoteEngine(Engine, Protocol):
    """An engine behind a connection; see the module."""

    def deliver(self, requests: Sequence[EngineRequest], permit: Permit) -> list[EngineResult]:
        """Send one wave, each body under a permit of its own; results in submission order.

        Raises:
            EngineError: The server is lost.
        """
        ...


def wait_s(error: HttpError, attempt: int, server: ServerSpec) -> float | None:
    """Seconds to wait before the next attempt; ``None``: there is none.

    Args:
        error: Why this attempt brought no answer.
        attempt: Its number, from 1.
        server: How often and how patiently this provider is asked.
    """
    if error.code not in RETRIED or attempt > server.retries:
        return None
    asked = float(error.retry_after_s or 0)
    if asked > MAX_WAIT_S:
        return None
    return max(asked, min((server.backoff_ms << (attempt - 1)) / 1000, MAX_WAIT_S))
