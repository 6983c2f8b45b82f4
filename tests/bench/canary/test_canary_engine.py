"""The canary through the engine that asks servers: no other provider gets it, and no error tells it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from bench.engines.base import EngineInfo, EngineRequest, EngineSettingError
from bench.engines.openai_engine import OpenAiEngine
from bench.engines.openai_start import transport_of
from bench.specs import ProviderSpec, SamplingSpec, ServerSpec
from bench.tokenizers import ByteTokenizer
from capsules.decision import DeniedError
from capsules.egress import Outgoing

SERVER = ServerSpec(engine="openai", model="m", prompt="text", timeout_s=5, retries=2, backoff_ms=1)
TRIGGERS = ("307", "429", "500", "400", "malformed", "broken off", "empty", "half", "closed")


def acts(loopback: Any, streams: Any, other: Any, canary: str) -> dict[str, Any]:
    def says(status: int, *headers: str) -> Any:
        return loopback.says(loopback.reply(status, f'{{"error":"{canary}"}}'.encode(), *headers))

    return {
        "307": says(307, f"Location: {other.url}/v1"),
        "429": says(429, "Retry-After: 0", f"Location: {other.url}"),
        "500": says(500),
        "400": says(400),
        "malformed": streams.streams(f"data: {canary}\n\n".encode()),
        "broken off": streams.streams(streams.event({"error": canary})),
        "empty": streams.streams(streams.DONE),
        "half": streams.streams(streams.token(canary), end=b""),
        "closed": lambda server, peer: None,
    }


class Asking:
    """An engine for one provider of a scene; its permits are the policy's, and are counted."""

    def __init__(self, scene: Any, name: str, endpoint: str) -> None:
        self.scene, self.name, self.permits = scene, name, 0
        provider = ProviderSpec(
            provider_id=name, endpoint=endpoint, max_level="internal", projects=("demo",),
            operations=("generate",), fallbacks=(), server=SERVER,
        )  # fmt: skip
        info = EngineInfo(
            name="openai", fake=False, block_size=None, prefix_caching=True, block_rule=True,
            scheduling_known=False, streaming=True, start_us=0, profile={"provider": name}, cache_known=False,
        )  # fmt: skip
        self.engine = OpenAiEngine(
            endpoint=endpoint, info=info, server=SERVER, transport=transport_of(provider, SERVER, {}),
            tokenizer=ByteTokenizer(), sleep=lambda seconds: None,
        )  # fmt: skip

    def permit(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        self.permits += 1
        self.scene.body = body
        try:
            released: Outgoing = self.scene.outgoing(self.name)
        except DeniedError as error:
            return error.code
        return released

    def ask(self, text: str) -> str:
        ids = (256, *ByteTokenizer().encode(text))
        request = EngineRequest(request_id="r", ids=ids, salt=None, sampling=SamplingSpec())
        (result,) = self.engine.deliver([request], self.permit)
        assert result.status == "error"
        assert result.text == ""
        return str(result.error)


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_what_one_provider_got_no_other_gets_and_no_error_tells(
    canary: str, loopback: Any, streams: Any, servers: tuple[Any, Any], sendable: dict[str, Any],
    trigger: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    near, other = servers
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, other.url)
    near.act = acts(loopback, streams, other, canary)[trigger]
    assert set(acts(loopback, streams, other, canary)) == set(TRIGGERS)
    told = ""
    for stored in list(sendable.values())[::6]:
        s = replace(stored)
        asking = Asking(s, "near", near.url)
        before = len(near.received)
        if trigger == "307":  # every request of the wave was sent elsewhere: the run is over
            with pytest.raises(EngineSettingError, match=r"^provider\.route\.unlisted: ") as raised:
                asking.ask(f"The prompt of {canary}.")
            told += f"{raised.value} {raised.value!r}"
        else:
            told += asking.ask(f"The prompt of {canary}.")
        assert canary.encode() in near.received[before:]  # the control: it did go out
        assert asking.permits == (3 if trigger in ("429", "500", "closed") else 1)
        assert Asking(s, "cloud", other.url).ask(canary) == "label.flow.denied"
        told += repr(asking.engine.info)
    assert (other.connections, other.received) == (0, b"")
    out, err = capfd.readouterr()
    assert canary not in told + caplog.text + out + err


def test_a_permit_leads_to_its_own_endpoint_whatever_the_engine_was_told(
    canary: str, streams: Any, servers: tuple[Any, Any], sendable: dict[str, Any]
) -> None:
    near, other = servers
    near.act = streams.streams(streams.DONE)
    s = replace(next(iter(sendable.values())))
    before = len(near.received)
    Asking(s, "near", other.url).ask(canary)  # an engine with another address than the policy's
    assert canary.encode() in near.received[before:]
    assert (other.connections, other.received) == (0, b"")
