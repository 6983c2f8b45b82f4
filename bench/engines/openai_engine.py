"""A server with an OpenAI-compatible interface as an engine: one stream a request, all of a wave at once.

Rules that this module owns:

* Nothing is sent without a permit of the run's gate for exactly its bytes, and every attempt gets one of its
  own (``remote``). The key comes from the environment variable that the config names; no record keeps it.
* A request that brings no answer is an error result that begins with its code; the wave goes on. The engine
  is lost when a whole wave reached nobody, or when every request of ``_SILENT_WAVES`` waves ran out of time.
  A server that has the model for no request of a wave, knows the key for none (401) or redirects all will do
  so for ever: nothing more is asked. A 403 may be about what one request holds: it costs that request alone.
* Where ids are sent, the server must have counted as many: another count means that it read another prompt.
* Counters and resets are those of vLLM's server, where the provider says that it has them. A server that
  cannot be reset holds what its other users left there: nothing is predicted of its cache.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from threading import Thread

from bench.engines.base import EngineError, EngineInfo, EngineRequest, EngineResult, EngineSettingError
from bench.engines.http_call import REFUSED, TIMEOUT, UNREACHABLE, HttpError
from bench.engines.http_transport import HttpTransport
from bench.engines.openai_body import MODEL_UNKNOWN, request_body
from bench.engines.openai_stream import Answer, StreamError, StreamReader
from bench.engines.remote import Permit, wait_s
from bench.engines.results import failed
from bench.specs import ServerSpec
from capsules.delivery import UNLISTED
from capsules.egress import Outgoing
from capsules.tokenizer import Tokenizer

RECOUNTED = "provider.prompt.recounted"
_SILENT_WAVES = 2
_KEY_UNKNOWN = 401
_COUNTERS = {
    "vllm:prefix_cache_queries_total": "prefix_queries",
    "vllm:prefix_cache_hits_total": "prefix_hits",
    "vllm:prompt_tokens_total": "prompt_tokens",
}
_METRIC = re.compile(r"^(?P<name>[a-z_:]+)(?:\{[^}]*\})? (?P<value>[0-9.e+]+)$", re.MULTILINE)


class OpenAiEngine:
    """See the module. ``openai_start`` makes one.

    Args:
        endpoint: The provider's, for control calls; requests go where their permits say.
        info: What is known of the server.
        server: How it is asked.
        transport: Sends what was let out.
        tokenizer: Gives the text of ids for servers that take none.
        sleep: Waits between attempts.
        on_close: Ends what belongs to the engine.
    """

    def __init__(
        self,
        *,
        endpoint: str,
        info: EngineInfo,
        server: ServerSpec,
        transport: HttpTransport,
        tokenizer: Tokenizer,
        sleep: Callable[[float], None] = time.sleep,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self.info = info
        self._endpoint = endpoint
        self._server = server
        self._transport = transport
        self._tokenizer = tokenizer
        self._sleep = sleep
        self._on_close = on_close
        self._provider = str(info.profile["provider"])
        self._silent = 0  # waves in a row of which nothing came in time
        self._base = self._read_counters()

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """Never: without a permit nothing leaves.

        Raises:
            EngineError: Always.
        """
        raise EngineSettingError("a server is asked with the permit of the run's gate alone (deliver)")

    def deliver(self, requests: Sequence[EngineRequest], permit: Permit) -> list[EngineResult]:
        """Send one wave at once.

        Raises:
            EngineError: The server is lost: nobody was reached, or nothing came in time.
            EngineSettingError: It does not have the model, does not know the key, or is elsewhere.
        """
        results: dict[int, EngineResult] = {}
        statuses: dict[int, int | None] = {}
        faults: list[BaseException] = []
        sent: set[int] = set()

        def work(index: int, request: EngineRequest) -> None:
            def noted(asked: EngineRequest, body: bytes, attempt: int) -> Outgoing | str:
                released = permit(asked, body, attempt)
                if not isinstance(released, str):
                    sent.add(index)
                return released

            try:
                results[index], statuses[index] = self._deliver(request, noted)
            except BaseException as error:  # a bug of ours must not look like an answer that is missing
                faults.append(error)

        threads = [Thread(target=work, args=pair, daemon=True) for pair in enumerate(requests)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if faults:
            raise faults[0]
        found = [results[index] for index in range(len(requests))]
        codes = {(found[index].error or "").partition(":")[0] for index in sent}
        self._require_alive(codes, {statuses[index] for index in sent})
        return found

    def reset_prefix_cache(self) -> bool:
        """Ask for a reset, where the server has one; a 200 is its word, a probe is the proof."""
        if not self._server.control:
            return False
        try:
            self._control("/reset_prefix_cache", "POST")
        except HttpError:
            return False
        return True

    def counters(self) -> dict[str, int]:
        """Tokens since the start; empty where the server does not count for us.

        Raises:
            EngineError: The server no longer answers.
        """
        return {name: value - self._base[name] for name, value in self._read_counters().items()}

    def close(self) -> None:
        """Ends what the engine started; a server that was there stays."""
        self._on_close()

    def _require_alive(self, codes: set[str], statuses: set[int | None]) -> None:
        """Judge the server by what became of the requests of a wave that were sent to it."""
        self._silent = self._silent + 1 if codes == {TIMEOUT} else 0
        if codes == {MODEL_UNKNOWN}:
            raise EngineSettingError(
                f"{MODEL_UNKNOWN}: providers.{self._provider}.server.model: expected a model that "
                f"{self._endpoint} has, found {self._server.model!r}"
            )
        at = f"provider {self._provider} at {self._endpoint}"
        if statuses == {_KEY_UNKNOWN}:
            raise EngineSettingError(
                f"{REFUSED}: {at}: it refused us (status {_KEY_UNKNOWN}): see "
                f"providers.{self._provider}.server.key_env"
            )
        if codes == {UNLISTED}:
            raise EngineSettingError(
                f"{UNLISTED}: {at}: another host answers: see providers.{self._provider}.endpoint"
            )
        if codes == {UNREACHABLE} or self._silent == _SILENT_WAVES:
            raise EngineError(
                f"{codes.pop()}: the server of provider {self._provider} at {self._endpoint} is lost or "
                f"hangs; {self._server.timeout_s} s are given to each answer"
            )

    def _deliver(self, request: EngineRequest, permit: Permit) -> tuple[EngineResult, int | None]:
        """The result, and the status of the refusal that it is."""
        body = request_body(request, self._server, self._tokenizer)
        attempt = 0
        while True:
            attempt += 1
            reader = StreamReader()
            released = permit(request, body, attempt)
            if isinstance(released, str):
                return failed(request, released), None
            try:
                self._transport.stream(released, reader.take)
                return self._result(request, reader.answer(), attempt - 1), None
            except StreamError as error:
                return failed(request, f"{error} (attempt {attempt})"), None
            except HttpError as error:
                wait = wait_s(error, attempt, self._server)
                if wait is None:
                    why = "no answer" if error.status is None else f"status {error.status}"
                    return failed(request, f"{error.code}: {why} (attempt {attempt})"), error.status
            self._sleep(wait)

    def _result(self, request: EngineRequest, answer: Answer, retries: int) -> EngineResult:
        if self._server.prompt == "ids" and answer.n_prompt not in (None, len(request.ids)):
            return failed(request, f"{RECOUNTED}: sent {len(request.ids)} ids, counted {answer.n_prompt}")
        return EngineResult(
            request_id=request.request_id,
            status="ok",
            text=answer.text,
            output_ids=answer.output_ids,
            cached_tokens=answer.cached,
            ttft_us=answer.ttft_us,
            tpot_us=answer.tpot_us,
            e2e_us=answer.e2e_us,
            queue_us=None,
            finish_reason=answer.finish_reason,
            error=None,
            ids_known=bool(answer.output_ids) or answer.n_output == 0,
            n_output=answer.n_output,
            n_prompt=answer.n_prompt,
            cache_write_tokens=answer.cache_write,
            first_text_us=answer.first_text_us,
            itl_us=answer.gaps,
            retries=retries,
        )

    def _control(self, path: str, method: str = "GET") -> str:
        reply = self._transport.control(self._provider, self._endpoint, path, method)
        return reply.body.decode("utf-8", "replace")

    def _read_counters(self) -> dict[str, int]:
        if not self._server.control:
            return {}
        try:
            text = self._control("/metrics")
        except HttpError as error:
            raise EngineError(
                f"{error.code}: the counters of provider {self._provider}: {error.why}"
            ) from error
        totals = dict.fromkeys(_COUNTERS.values(), 0)
        for match in _METRIC.finditer(text):
            if match["name"] in _COUNTERS:
                totals[_COUNTERS[match["name"]]] += int(float(match["value"]))
        return totals
