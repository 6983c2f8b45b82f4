"""Before the first request: the key by the name of its variable, the model by the server's own list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bench.engines.base import EngineAbsentError, EngineSettingError
from bench.engines.openai_start import credentials_of, path_under
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.specs import ProviderSpec, ServerSpec

SERVER = ServerSpec(engine="openai", model="m", timeout_s=5)


@pytest.fixture
def begin(engine_start: Callable[..., EngineStart]) -> Callable[..., Any]:
    def make(endpoint: str | None, **changes: Any) -> Any:
        provider = ProviderSpec(
            provider_id="cloud", endpoint=endpoint, max_level="public", projects=("p",),
            operations=("generate",), fallbacks=(), server=replace(SERVER, **changes),
        )  # fmt: skip
        return start_engine(replace(engine_start(), provider=provider))

    return make


def listing(loopback: Any, body: bytes, status: int = 200) -> Any:
    return loopback.says(loopback.reply(status, body))


def test_a_model_that_is_listed(begin: Any, server: Any, loopback: Any) -> None:
    one = server(listing(loopback, b'{"data": [{"id": "other"}, {"id": "m"}]}'))
    engine = begin(one.url + "/v1")
    assert one.received.startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert b"\r\nContent-Length: 0\r\n" in one.received  # a control call has no body
    assert (engine.info.name, engine.info.streaming, engine.info.fake) == ("openai", True, False)
    assert engine.info.profile["model_listed"] is True


def test_a_wrong_model_name_is_named_with_what_there_is(begin: Any, server: Any, loopback: Any) -> None:
    one = server(listing(loopback, b'{"data": [{"id": "a"}, {"id": "b"}]}'))
    with pytest.raises(EngineSettingError) as caught:
        begin(one.url)
    assert str(caught.value) == (
        "provider.model.unknown: providers.cloud.server.model: "
        f"expected one that {one.url} has (a, b), found 'm'"
    )


@pytest.mark.parametrize(
    ("body", "status"), [(b"{}", 404), (b"busy", 500), (b"no JSON", 200), (b'{"data": 7}', 200), (b"[]", 200)]
)
def test_a_server_that_lists_nothing_is_believed(
    begin: Any, server: Any, loopback: Any, body: bytes, status: int
) -> None:
    assert begin(server(listing(loopback, body, status)).url).info.profile["model_listed"] is False


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_ends_it_at_once(begin: Any, server: Any, loopback: Any, status: int) -> None:
    one = server(listing(loopback, b"canary", status))
    with pytest.raises(EngineSettingError) as caught:
        begin(one.url)
    assert str(caught.value) == (
        f"provider.refused: provider cloud at {one.url}: it refused us (status {status}): "
        "see providers.cloud.server.key_env"
    )


def test_a_redirect_is_another_host_and_stays_one(begin: Any, server: Any, loopback: Any) -> None:
    one = server(loopback.says(loopback.reply(307, b"", "Location: http://127.0.0.1:1/")))
    with pytest.raises(EngineSettingError, match=r"^provider\.route\.unlisted: .*providers\.cloud\.endpoint"):
        begin(one.url)


def test_a_server_that_is_busy_may_answer_later(begin: Any, server: Any, loopback: Any) -> None:
    with pytest.raises(EngineAbsentError, match=r"^provider\.rate_limited: .* \(status 429\)$"):
        begin(server(listing(loopback, b"canary", 429)).url)


def test_nobody_at_the_endpoint_is_named(begin: Any, server: Any) -> None:
    gone = server()
    gone.close()
    with pytest.raises(EngineAbsentError) as caught:
        begin(gone.url)
    assert str(caught.value) == (
        f"provider.unreachable: provider cloud at {gone.url}: nobody answers there (ConnectionRefusedError). "
        "Start the server and continue, or start a new run with another providers.cloud.endpoint"
    )


def test_a_provider_without_an_address_is_refused(begin: Any) -> None:
    with pytest.raises(
        EngineSettingError, match=r"providers\.cloud: expected an endpoint and a server, found N"
    ):
        begin(None)


def test_the_key_comes_from_the_variable_that_is_named(
    begin: Any, server: Any, loopback: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = server(listing(loopback, b"{}"))
    monkeypatch.setenv("MY_KEY", "sk-secret")
    engine = begin(one.url, key_env="MY_KEY")
    assert b"Authorization: Bearer sk-secret\r\n" in one.received
    assert "sk-secret" not in repr(engine.info)
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(
        EngineSettingError, match=r"expected a key in the environment variable MY_KEY, found none"
    ):
        begin(one.url, key_env="MY_KEY")


@pytest.mark.parametrize("key", ["sk-\n", " sk", "sk\u00e9", "\x00"])
def test_a_value_that_is_no_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(EngineSettingError) as caught:
        credentials_of("cloud", replace(SERVER, key_env="K"), {"K": key})
    assert "found something that is no key" in str(caught.value)
    assert key.strip() not in str(caught.value).replace("K,", "")


def test_paths_under_an_endpoint() -> None:
    assert path_under("https://llm.example/v1", "/models") == "/v1/models"
    assert path_under("https://llm.example/a/v1/", "/models") == "/a/v1/models"
    assert path_under("http://127.0.0.1:8000", "/models") == "/models"
