"""Writes a running run down: request rows before sending, answers after, output ids in the store."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from bench.engines.base import EngineResult
from bench.planner import Planned
from bench.records import CellState, ResponseRow
from bench.records_io import RowWriter
from bench.request_identity import ids_bytes
from bench.run_store import RunFolder
from capsules.canonical import parse_strict
from capsules.store import Store

_MAX_IDS = 1_000_000


class Recorder:
    """The growing files of a run.

    Args:
        folder: The run.
        store: Its content-addressed store.
        attempts: Attempts so far by request_id.
    """

    def __init__(self, folder: RunFolder, store: Store, attempts: dict[str, int]) -> None:
        self._store = store
        self._attempts = attempts
        self._requests = RowWriter(folder.requests)
        self._responses = RowWriter(folder.responses)
        self._cells = RowWriter(folder.cells)

    def request(self, planned: Planned, predicted: int | None, reason: str | None) -> None:
        """Write a request with its prediction, before it is sent."""
        self._requests.append(planned.row(predicted, reason))

    def flush_requests(self) -> None:
        """Make the request rows survive a loss of power."""
        self._requests.flush()

    def responses(self, results: Sequence[EngineResult]) -> list[ResponseRow]:
        """Write the answers of a wave; they are on disk when this returns."""
        digests = iter(self._store.put_many([ids_bytes(r.output_ids) for r in results if _has_ids(r)]))
        rows = []
        for result in results:
            attempt = self._attempts.get(result.request_id, 0) + 1
            self._attempts[result.request_id] = attempt
            row = _response_row(result, attempt, next(digests) if _has_ids(result) else None)
            self._responses.append(row)
            rows.append(row)
        self._responses.flush()
        return rows

    def cell(self, state: CellState) -> None:
        """Write what the counters say of a cell."""
        self._cells.append(state)
        self._cells.flush()

    def output_ids(self, digest: str) -> tuple[int, ...]:
        """Stored output ids."""
        return read_ids(self._store, digest)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in (self._requests, self._responses, self._cells):
            writer.close()


def read_ids(store: Store, digest: str) -> tuple[int, ...]:
    """Token ids by the digest of their stored form.

    Raises:
        StoreError: They are not there, or other bytes are.
        ValueError: The object is no array of ids.
    """
    value = parse_strict(store.get(digest).data, max_bytes=64 << 20, max_items=_MAX_IDS)
    if not isinstance(value, list) or not all(type(i) is int for i in value):
        raise ValueError(f"object {digest} is no array of token ids")
    return tuple(i for i in value if isinstance(i, int))


def _response_row(result: EngineResult, attempt: int, output_digest: str | None) -> ResponseRow:
    ok = result.status == "ok"
    return ResponseRow(
        request_id=result.request_id,
        attempt=attempt,
        status=result.status,
        text=result.text,
        output_ids_digest=output_digest,
        n_output=_n_output(result) if ok else None,
        measured_cached=result.cached_tokens,
        ttft_us=result.ttft_us,
        tpot_us=result.tpot_us,
        e2e_us=result.e2e_us,
        queue_us=result.queue_us,
        finish_reason=result.finish_reason,
        error=result.error,
        grammar_us=result.grammar_us,
        n_prompt=result.n_prompt,
        cache_write=result.cache_write_tokens,
        first_text_us=result.first_text_us,
        itl_us=result.itl_us,
        retries=result.retries,
    )


def _n_output(result: EngineResult) -> int | None:
    """Generated tokens: those whose ids are known, or as many as a server counted."""
    return len(result.output_ids) if result.ids_known else result.n_output


def _has_ids(result: EngineResult) -> bool:
    return result.status == "ok" and result.ids_known
