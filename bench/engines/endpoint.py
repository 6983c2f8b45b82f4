"""Addresses of providers: the one plain form that is accepted, taken apart.

Rules that this module owns:

* ``http`` is for this machine alone (an address that loops back, or ``localhost``); any other host needs
  ``https``.
* Lower-case hosts, no user, no query, no fragment, no dot segments: what is not of that form is no endpoint.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9][a-z0-9.-]{0,252})(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~-]*)*)"
)
_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The address that the host is; ``None`` for a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def here(self) -> bool:
        """Whether the host is this machine."""
        return self.host == "localhost" if self.address is None else self.address.is_loopback


def target_of(endpoint: str | None) -> Target | None:
    """An endpoint taken apart; ``None`` if there is none or it is not of the plain form."""
    match = _ENDPOINT.fullmatch(endpoint or "")
    if match is None or _dotted(match["path"]):
        return None
    scheme, host = match["scheme"], match["host"]
    target = Target(
        scheme=scheme,
        host=host.strip("[]"),
        port=int(match["port"] or _PORTS[scheme]),
        path=match["path"].rstrip("/"),
    )
    bad_literal = host.startswith("[") and target.address is None
    plain_to_others = scheme == "http" and not target.here
    return None if bad_literal or plain_to_others or not 0 < target.port < 65_536 else target


def plain_path(path: str) -> bool:
    """Whether a path can be appended to an endpoint: plain segments, each after a slash, or nothing."""
    return _PATH.fullmatch(path) is not None and not _dotted(path)


def _dotted(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))
