"""Values that the engine tests share."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.engines.base import EngineInfo, EngineRequest, EngineResult
from bench.engines.http_transport import HttpTransport
from bench.engines.openai_engine import OpenAiEngine
from bench.engines.openai_start import server_info, transport_of
from bench.engines.start import EngineStart
from bench.specs import EngineSpec, ModelSpec, ProviderSpec, SamplingSpec, ServerSpec
from capsules.decision import DeniedError
from capsules.delivery import TransportError
from capsules.egress import Outgoing

NEAR = ServerSpec(engine="openai", model="m", salt=True, return_ids=True, timeout_s=5, backoff_ms=10)


class CharTokenizer:
    """One id a character: the code point and 10; id 2 is the BOS."""

    tokenizer_id = "hf:chars"
    tokenizer_digest = "b3:" + "0" * 64
    bos_id = 2
    control_ids = frozenset({2})

    def encode(self, text: str) -> list[int]:
        return [ord(c) + 10 for c in text]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join("<bos>" if i == 2 else chr(i - 10) for i in ids)


@pytest.fixture
def tokenizer() -> CharTokenizer:
    return CharTokenizer()


@pytest.fixture
def engine_spec() -> Callable[..., EngineSpec]:
    def make(**changes: object) -> EngineSpec:
        values: dict[str, object] = {
            "name": "fake",
            "block_size": 4,
            "window": 4096,
            "max_num_seqs": 8,
            "kv_space_gib": 1,
            "enforce_eager": True,
            "retention": "none",
            "device": "cpu",
            "start_timeout_s": 60,
            "idle_timeout_s": 60,
        }
        return EngineSpec(**(values | changes))  # type: ignore[arg-type]

    return make


@pytest.fixture
def engine_start(
    engine_spec: Callable[..., EngineSpec], tokenizer: CharTokenizer, tmp_path: Path
) -> Callable[..., EngineStart]:
    def make(*, prefix_caching: bool = True, folder: object = None, **changes: object) -> EngineStart:
        model = ModelSpec(name="m", kind="local", ref="/m", revision="local", dtype="bfloat16", terms="none")
        return EngineStart(
            spec=engine_spec(**changes),
            model=model,
            folder=folder,  # type: ignore[arg-type]
            prefix_caching=prefix_caching,
            log=tmp_path / "engine-0.log",
            tokenizer=tokenizer,
        )

    return make


@pytest.fixture
def request_of() -> Callable[..., EngineRequest]:
    def make(
        ids: Sequence[int], *, salt: str | None = None, request_id: str = "r", max_tokens: int = 200
    ) -> EngineRequest:
        sampling = SamplingSpec(max_tokens=max_tokens)
        return EngineRequest(request_id=request_id, ids=tuple(ids), salt=salt, sampling=sampling)

    return make


@pytest.fixture
def server(loopback: Any) -> Iterator[Callable[..., Any]]:
    """Starts servers and closes them."""
    started: list[Any] = []

    def start(act: Any = b"", **options: Any) -> Any:
        started.append(loopback.Server(act, **options))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def outgoing(routing: Any) -> Callable[..., Outgoing]:
    """A body that was let out to a provider at an endpoint."""

    def make(endpoint: str | None, provider: str = "cloud") -> Outgoing:
        s = routing.scene([routing.provider(provider, endpoint=endpoint)])
        released: Outgoing = s.outgoing(provider)
        return released

    return make


@pytest.fixture
def transport() -> HttpTransport:
    return HttpTransport(timeout_s=5)


@pytest.fixture
def code_of() -> Callable[[HttpTransport, Outgoing], str]:
    """The code of a refusal; nothing of the request or the reply may be in it, or in what it came from."""

    def send(transport: HttpTransport, what: Outgoing) -> str:
        with pytest.raises(TransportError) as caught:
            transport.send(what)
        text = "".join(traceback.format_exception(caught.value))
        error: BaseException | None = caught.value
        while error is not None:
            text += repr(error) + repr(error.args)
            error = error.__context__
        assert "canary-" not in text  # what every canary begins with
        assert what.body.decode() not in text
        return caught.value.code

    return send


class Asked:
    """The engine over one scripted server, behind the policy of a scene; notes permits and waits."""

    def __init__(self, server: Any, routing: Any, start: Any, tokenizer: Any, spec: ServerSpec) -> None:
        self.server = server
        self.scene = routing.scene([routing.provider("cloud", endpoint=server.url + "/v1")])
        self.permits: list[tuple[bytes, int]] = []
        self.refuse_from: int | None = None
        self.waits: list[float] = []
        provider = ProviderSpec(
            provider_id="cloud", endpoint=server.url + "/v1", max_level="internal", projects=("demo",),
            operations=("generate",), fallbacks=(), server=spec,
        )  # fmt: skip
        info: EngineInfo = server_info(provider, spec, start(), listed=True, start_us=0)
        self.engine = OpenAiEngine(
            endpoint=provider.endpoint or "", info=info, server=spec, tokenizer=tokenizer,
            transport=transport_of(provider, spec, {"KEY": "sk-secret"}), sleep=self.waits.append,
        )  # fmt: skip

    def permit(self, request: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
        self.permits.append((body, attempt))
        if self.refuse_from is not None and attempt >= self.refuse_from:
            return "authority.expired"
        self.scene.body = body
        try:
            released: Outgoing = self.scene.outgoing("cloud")
        except DeniedError as error:
            return error.code
        return released

    def send(self, *requests: EngineRequest) -> list[EngineResult]:
        return self.engine.deliver(requests, self.permit)


@pytest.fixture
def bench(
    server: Callable[..., Any], routing: Any, engine_start: Any, tokenizer: Any
) -> Callable[..., Asked]:
    """The engine ``openai`` over a server that acts as it is told."""

    def make(act: Any, **changes: Any) -> Asked:
        return Asked(server(act), routing, engine_start, tokenizer, dataclasses.replace(NEAR, **changes))

    return make


@pytest.fixture
def ask(request_of: Callable[..., EngineRequest]) -> Callable[..., EngineRequest]:
    return lambda n=5, **more: request_of([2, *range(20, 20 + n - 1)], **more)
