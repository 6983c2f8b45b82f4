"""What a server does to a whole wave and will do for ever is said once; done to somebody, it is scored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bench.engines.base import EngineSettingError
from bench.errors import may_pass

Make = Callable[..., Any]


def test_a_server_that_has_the_model_for_nobody_is_asked_no_further(
    bench: Make, ask: Any, streams: Any, loopback: Any
) -> None:
    unknown = loopback.says(loopback.reply(404, b'{"error":{"message":"The model `canary` does not exist"}}'))
    b = bench(streams.in_turn(unknown, unknown, streams.answers(5), unknown))
    with pytest.raises(EngineSettingError) as caught:
        b.send(ask(), ask())
    assert str(caught.value) == (
        "provider.model.unknown: providers.cloud.server.model: expected a model that "
        f"{b.server.url}/v1 has, found 'm'"
    )
    assert not may_pass(caught.value)
    assert b.server.connections == 2  # neither is asked again
    found = sorted(str(result.error).partition(":")[0] for result in b.send(ask(), ask()))
    assert found == ["None", "provider.model.unknown"]  # it has it for somebody: a scored failure


@pytest.mark.parametrize(
    ("status", "header", "code", "setting"),
    [
        (401, (), "provider.refused", "server.key_env"),
        (307, ("Location: http://127.0.0.1:1/",), "provider.route.unlisted", "endpoint"),
    ],
)
def test_a_key_that_is_known_for_nobody_and_a_redirect_of_all_end_the_asking(
    bench: Make, ask: Any, streams: Any, loopback: Any, status: int, header: Any, code: str, setting: str
) -> None:
    refusal = loopback.says(loopback.reply(status, b"canary", *header))
    b = bench(streams.in_turn(refusal, refusal, streams.answers(5), refusal))
    with pytest.raises(EngineSettingError) as caught:
        b.send(ask(), ask())
    message = str(caught.value)
    assert message.startswith(f"{code}: provider cloud at {b.server.url}/v1: ")
    assert message.endswith(f": see providers.cloud.{setting}")
    assert not may_pass(caught.value)
    assert b.server.connections == 2  # neither is asked again
    found = sorted(str(result.error).partition(":")[0] for result in b.send(ask(), ask()))
    assert found == ["None", code]  # not to somebody: a scored failure


def test_a_403_may_be_about_one_request_and_costs_it_alone(bench: Make, ask: Any, loopback: Any) -> None:
    b = bench(loopback.says(loopback.reply(403, b"canary")))
    errors = [str(result.error).partition(":")[0] for result in b.send(ask(), ask())]
    assert errors == ["provider.refused"] * 2


def test_what_the_policy_kept_back_says_nothing_of_the_server(bench: Make, ask: Any, loopback: Any) -> None:
    b = bench(loopback.says(loopback.reply(404, b'{"error":"no such model"}')))
    kept_back = iter(["label.flow.denied"])

    def permit(*asked: Any) -> Any:
        return next(kept_back, None) or b.permit(*asked)

    with pytest.raises(EngineSettingError, match=r"provider\.model\.unknown"):
        b.engine.deliver([ask(), ask()], permit)
