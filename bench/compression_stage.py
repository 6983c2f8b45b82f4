"""Runs the lossy compressors of a run before its prompts are built, and keeps what they answered.

    collect the asks of every (sample, arm) -> answer those that are not stored -> a Rewriter that looks up

Rules that this module owns:

* A compressor is asked once for equal asks. Its answer is an object of the store, ``compressions.jsonl`` says
  which: so a rebuild, a resumed run and ``verify`` repeat it, whatever a model would say today.
* One ask at a time, timed by itself: a compressor's time is what one prompt would wait for. Starting it,
  and its first answer to a text of no sample, are not measured.
* What a compressor cannot answer is an answer too (``compression.failed``): the prompt fails, the run goes
  on. A process that died is started again, at most ``MAX_DEATHS`` times; one that did not start is not.
* Where it is lost for good, what it did not answer is stored as lost (``bench.compression.lost``), so that
  a rebuild repeats it. The next driver drops it and asks again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.build.base import BuildError
from bench.build.registry import builder
from bench.build_stage import Bench, context_of
from bench.compression.backends import Backend, CompressionError
from bench.compression.base import ITEMS, Ask, Reply, Rewriter
from bench.compression.lost import is_lost, lost_arms, lost_reply, warning
from bench.engines.base import EngineError
from bench.engines.replay import REPLAY
from bench.errors import may_pass
from bench.estimate import compression_time
from bench.plural import number_of
from bench.progress import Reporter
from bench.records import CompressionRow
from bench.records_io import RowWriter, read_rows, rows_bytes, set_torn_tail_aside
from bench.run_store import DeadEndError, RunError, RunFolder, write_atomic
from bench.specs import RunSpec
from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.store import Store

OUTPUT_ID = "compression-output/1"
MAX_DEATHS = 2
FAILED = "compression.failed"

Start = Callable[[str, str], Backend]
"""(compressor, model) -> started."""


class _Collected(Exception):
    """Ends a build whose ask was noted."""


def is_lossy(bench: Bench) -> bool:
    """Whether any arm of the run writes texts anew."""
    return rewrites(bench.spec)


def rewrites(spec: RunSpec) -> bool:
    """As :func:`is_lossy`, before anything is loaded."""
    return any(arm.compression.mode != ITEMS for arm in spec.arms)


def compress_all(
    bench: Bench, folder: RunFolder, start: Start, reporter: Reporter, recorded: RunFolder | None = None
) -> Rewriter:
    """Answer every ask of a run.

    Args:
        bench: What every build shares.
        folder: Where answers are kept.
        start: Starts a compressor.
        reporter: For people.
        recorded: A run whose answers are given again, where it has them.

    Raises:
        EngineSettingError: What a compressor is asked can never work.
        RunError: What is stored is no answer, or a process that was ended still lives.
    """
    torn = set_torn_tail_aside(folder.compressions)
    if torn:
        reporter.say(f"{folder.compressions.name}: a torn tail of {number_of(torn, 'byte')} was set aside")
    known = _without_lost(folder, stored_replies(folder, bench.store))
    again = {} if recorded is None else stored_replies(recorded, recorded.store(read_only=True))
    if bench.spec.engine.name != REPLAY:
        again = {digest: reply for digest, reply in again.items() if not is_lost(reply.error)}
    groups: dict[tuple[str, str], list[Ask]] = {}
    with RowWriter(folder.compressions) as rows:
        for digest, ask in collect(bench).items():
            if digest in known:
                continue
            if digest in again:
                known[digest] = _store(ask, again[digest], bench.store, rows)
            else:
                groups.setdefault((ask.compressor, ask.model), []).append(ask)
        for (name, model), asks in groups.items():
            texts = [text for ask in asks for text in ask.texts]
            tokens = sum(len(bench.tokenizer.encode(text)) for text in texts)
            size = f"{number_of(len(texts), 'text')} ({number_of(tokens, 'token', grouped=True)})"
            reporter.say(
                f"compressing {size} of {number_of(len(asks), 'prompt')} with {name}"
                f"{compression_time(name, tokens, bench.spec.engine.name)}"
            )
            group = _Group(name=name, model=model, asks=asks, start=start, spec=bench.spec, reporter=reporter)
            with reporter.bar(f"compressing with {name}", len(asks)) as advance:
                for ask, reply in group.answers():
                    known[ask.digest] = _store(ask, reply, bench.store, rows)
                    advance(1)
    return _lookup(known)


def stored_rewriter(folder: RunFolder) -> Rewriter | None:
    """Only what is stored already, for builds that run no model; ``None`` where nothing is.

    Raises:
        RunError: What is stored is no answer.
    """
    if not folder.compressions.is_file():
        return None
    return _lookup(stored_replies(folder, folder.store(read_only=True)))


def collect(bench: Bench) -> dict[str, Ask]:
    """The asks of all lossy arms by their digest, in the order of samples and arms."""
    asks: dict[str, Ask] = {}

    def note(ask: Ask) -> Reply:
        asks.setdefault(ask.digest, ask)
        raise _Collected

    for sample in bench.data.samples:
        for arm in bench.spec.arms:
            if arm.compression.mode != ITEMS:
                try:
                    builder(arm.builder)(sample.input, context_of(bench, sample, arm, note))
                except (_Collected, BuildError):  # a prompt that cannot be built says so when it is built
                    continue
    return asks


def stored_replies(folder: RunFolder, store: Store) -> dict[str, Reply]:
    """Every stored answer by the digest of its ask.

    Raises:
        RunError: An answer is not there, or is one to another ask.
    """
    found: dict[str, Reply] = {}
    for row in read_rows(folder.compressions, CompressionRow):
        ask, texts, error = read_output(store, row.output)
        if ask != row.ask:
            raise DeadEndError(f"{folder.compressions}: {row.output} answers {ask}, not {row.ask}")
        found[row.ask] = Reply(texts=texts, error=error, us=row.us)
    return found


def read_output(store: Store, output: str) -> tuple[str, tuple[str, ...], str | None]:
    """The digest of the ask, the texts and the error of a stored answer.

    Raises:
        RunError: It is not there, or is no answer.
    """
    try:
        value: Any = parse_strict(store.get(output).data, max_bytes=64 << 20, max_items=1_000_000)
        if value["schema_id"] != OUTPUT_ID:
            raise RunError(f"{output}: expected {OUTPUT_ID}, found {value['schema_id']!r}")
        return content_id(canonical_bytes(value["ask"])), tuple(value["texts"]), value["error"]
    except (CapsuleError, KeyError, TypeError) as error:
        raise RunError(f"{output} is no stored answer of a compressor: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The asks of one compressor with its model."""

    name: str
    model: str
    asks: Sequence[Ask]
    start: Start
    spec: RunSpec
    reporter: Reporter

    def answers(self) -> Iterator[tuple[Ask, Reply]]:
        """Every ask with its answer, or with its loss."""
        backend: Backend | None = None
        deaths = 0
        try:
            for done, ask in enumerate(self.asks):
                if backend is None:
                    try:
                        backend = self.start(self.name, self.model)
                    except EngineError as error:
                        yield from self._lost(done, error)
                        return
                texts: tuple[str, ...] = ()
                began, problem = time.perf_counter_ns(), None
                try:
                    texts = _checked(backend.shorten(ask), ask)
                except CompressionError as error:
                    problem = f"{FAILED}: {error}"
                except EngineError as error:
                    deaths += 1
                    backend.close()
                    backend = None
                    if deaths > MAX_DEATHS or not may_pass(error):
                        yield from self._lost(done, error)
                        return
                    self.reporter.say(f"{error}\nthe compressor died; it is started again")
                    problem = f"{FAILED}: the compressor's process was lost"
                us = (time.perf_counter_ns() - began) // 1000
                yield ask, Reply(texts=texts, error=problem, us=us)
        finally:
            if backend is not None:
                backend.close()

    def _lost(self, done: int, error: EngineError) -> Iterator[tuple[Ask, Reply]]:
        """What follows the first ``done`` asks, once the compressor is lost.

        Raises:
            EngineSettingError: It was no loss: the same can never work.
        """
        if not may_pass(error):
            raise error
        left, arm_ids = self.asks[done:], lost_arms(self.spec, self.name, self.model)
        self.reporter.say(warning(self.name, arm_ids, len(left), len(self.asks), error))
        reply = lost_reply(error)
        yield from ((ask, reply) for ask in left)


def _checked(texts: Sequence[str], ask: Ask) -> tuple[str, ...]:
    if len(texts) != len(ask.texts):
        raise CompressionError(f"expected {len(ask.texts)} texts, found {len(texts)}")
    try:
        canonical_bytes(list(texts))
    except CapsuleError as error:
        raise CompressionError(f"a text without canonical form ({error.code})") from error
    return tuple(texts)


def _without_lost(folder: RunFolder, stored: Mapping[str, Reply]) -> dict[str, Reply]:
    """The stored answers; what an earlier driver's compressor was lost for is taken off the file."""
    kept = {digest: reply for digest, reply in stored.items() if not is_lost(reply.error)}
    if len(kept) != len(stored):
        rows = [row for row in read_rows(folder.compressions, CompressionRow) if row.ask in kept]
        write_atomic(folder.compressions, rows_bytes(rows))
    return kept


def _store(ask: Ask, reply: Reply, store: Store, rows: RowWriter) -> Reply:
    value = {"schema_id": OUTPUT_ID, "ask": ask.value(), "texts": list(reply.texts), "error": reply.error}
    (output,) = store.put_many([canonical_bytes(value)])
    rows.append(CompressionRow(ask=ask.digest, output=output, us=reply.us))
    rows.flush()
    return reply


def _lookup(known: Mapping[str, Reply]) -> Rewriter:
    def rewrite(ask: Ask) -> Reply:
        reply = known.get(ask.digest)
        if reply is None:
            raise BuildError(
                "compression.unavailable", f"no stored answer of {ask.compressor} to {ask.digest}"
            )
        return reply

    return rewrite
