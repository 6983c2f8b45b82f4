"""A canary in every field x every way out: no byte of it at a sink that may not have it.

The first provider is allowed, gets the body and then fails in some way. Everything else listens in vain:
where a redirect points, fallbacks that may not have it, a proxy of the environment.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from capsules.delivery import deliver

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


def test_the_canary_stands_in_every_field_and_most_texts_can_be_sent(
    everywhere: dict[str, Any], sendable: dict[str, Any]
) -> None:
    assert len(everywhere) > 150
    assert len(sendable) >= 34
    assert {
        "prompt/active_object/text", "prompt/surface_snippet/text", "prompt/constraints/0/text",
        "prompt/authority/principal", "public/source_refs/0/title", "public/claim_candidates/0/text",
        "public/contradictions/0/resolution", "internal/missing_evidence/0/why",
        "internal/claim_candidates/0/text", "source",
    } <= sendable.keys()  # fmt: skip


REDIRECTS = (301, 302, 303, 307, 308)
FAILURES = {
    "429": "provider.rate_limited", "500": "provider.failed", "503": "provider.failed",
    "400 content filter": "provider.refused", "time-out": "provider.timeout", "empty": "provider.reply.empty",
    "closed": "provider.reply.empty", "garbage": "provider.reply.malformed",
}  # fmt: skip
TARGETS = ["cloud", "far", "gone"]  # may not have it; is no fallback; is unknown


def acts(loopback: Any, other: Any) -> dict[str, Any]:
    redirect = {
        str(status): loopback.says(loopback.reply(status, b"moved", f"Location: {other.url}/v1"))
        for status in REDIRECTS
    }
    return redirect | {
        "429": loopback.says(loopback.reply(429, b"{}", "Retry-After: 0", f"Location: {other.url}")),
        "500": loopback.says(loopback.reply(500)),
        "503": loopback.says(loopback.reply(503)),
        "400 content filter": loopback.says(loopback.reply(400, b'{"error":"content_filter"}')),
        "time-out": loopback.waits,
        "empty": loopback.says(loopback.reply(200, b"")),
        "closed": lambda server, peer: None,
        "garbage": loopback.says(b"<html>"),
    }


def arrived(server: Any, start: int, body: bytes) -> bool:
    """Whether a server got the body; its thread may still read when the transport has given up waiting."""
    until = time.monotonic() + 5
    while not server.received[start:].endswith(body) and time.monotonic() < until:
        time.sleep(0.001)
    return bool(server.received[start:].endswith(body))


@pytest.mark.parametrize("trigger", [*map(str, REDIRECTS), *FAILURES])
def test_what_one_provider_got_no_other_gets(
    canary: str, loopback: Any, servers: tuple[Any, Any], sendable: dict[str, Any], trigger: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    near, other = servers
    for name in PROXIES:
        monkeypatch.setenv(name, other.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    near.act = acts(loopback, other)[trigger]
    transport = HttpTransport(timeout_s=0.05 if trigger == "time-out" else 10)
    told = repr(transport)
    for s in sendable.values():
        before = len(near.received)

        found = deliver(s.ask("near"), s.body, transport, s.gate, TARGETS)

        assert arrived(near, before, s.body)  # the control: it did go out, once
        assert found.reply is None
        told += repr(found)
        if trigger in FAILURES:
            assert [hop.codes[0] for hop in found.hops] == [
                FAILURES[trigger],
                "label.flow.denied",
                "provider.route.unlisted",
                "provider.route.unlisted",
            ]
        else:
            assert [hop.codes for hop in found.hops] == [("provider.route.unlisted",)]
    assert (other.connections, other.received) == (0, b"")
    out, err = capfd.readouterr()
    assert canary not in told + caplog.text + out + err


def test_there_are_enough_combinations(sendable: dict[str, Any]) -> None:
    ways_out = len(REDIRECTS) + len(FAILURES) * len(TARGETS)
    assert len(sendable) * ways_out >= 950  # 500 were asked for
