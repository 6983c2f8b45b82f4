"""One HTTP exchange as values: what is asked, what came back, and why nothing came.

Rules that this module owns:

* A call has a body only where an ``Outgoing`` was released for it; a control call has none.
* Headers of ours cannot be set from outside, and a header's value is printable ASCII.
* No error holds what was sent or received: a code, a provider's name, a status, a decision's id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from capsules.delivery import UNLISTED, TransportError
from capsules.egress import Outgoing

TIMEOUT = "provider.timeout"
UNREACHABLE = "provider.unreachable"
MALFORMED = "provider.reply.malformed"
EMPTY = "provider.reply.empty"
TOO_LARGE = "provider.reply.too_large"
RATE_LIMITED = "provider.rate_limited"
REFUSED = "provider.refused"
FAILED = "provider.failed"

SECONDS = re.compile(r"[0-9]{1,6}")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_OWN_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What a provider answered with a status of 2xx: the body, as it came."""

    status: int
    body: bytes


class HttpError(TransportError):
    """A hop that brought no answer, over HTTP.

    Attributes:
        why: The reason alone, in words.
        status: The status of the reply; ``None`` where none came.
        retry_after_s: Seconds that the provider asks to wait; ``None``: it does not say.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        why: str,
        status: int | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(code, message)
        self.why = why
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What is written on a connection; it has a body only where one was released."""

    endpoint: str | None
    provider: str
    method: str
    path: str
    root: bool = False
    body: bytes = b""
    about: str = "(no body)"

    def failed(
        self, code: str, why: str, *, status: int | None = None, retry_after_s: int | None = None
    ) -> HttpError:
        """The error of this call."""
        message = f"provider {self.provider}: {why} {self.about}"
        return HttpError(code, message, why=why, status=status, retry_after_s=retry_after_s)


def call_of(outgoing: Outgoing, path: str) -> Call:
    """The POST of a released body.

    Raises:
        TypeError: Something else than an Outgoing.
    """
    if type(outgoing) is not Outgoing:
        raise TypeError(f"expected an Outgoing, found {type(outgoing).__name__}")
    return Call(
        endpoint=outgoing.endpoint,
        provider=outgoing.provider,
        method="POST",
        path=path,
        body=outgoing.body,
        about=f"(decision {outgoing.decision})",
    )


def code_of(status: int, encoding: str) -> str | None:
    """Why a reply cannot be used, by its head."""
    if 300 <= status < 400:
        return UNLISTED
    if status == 429:
        return RATE_LIMITED
    if 400 <= status < 500:
        return REFUSED
    if status >= 500:
        return FAILED
    if status < 200 or encoding.lower() != "identity":
        return MALFORMED
    return None


def checked_header(provider: str, name: str, value: str) -> tuple[str, str]:
    """A header that may be set.

    Raises:
        ValueError: It is one of ours, or its value is no printable ASCII; the value is not quoted.
    """
    if _HEADER_NAME.fullmatch(name) is None or name.lower() in _OWN_HEADERS:
        raise ValueError(f"credentials of {provider!r}: {name!a} is no header to set")
    if _HEADER_VALUE.fullmatch(value) is None:
        raise ValueError(f"credentials of {provider!r}: expected printable ASCII as the value of {name}")
    return name, value
