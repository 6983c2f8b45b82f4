"""A driver that is interrupted while a wave is at a server: it ends at once, and `resume` goes on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.config import to_spec
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.hydra_app import compose_config
from bench.pipeline import drive, resume_run
from bench.progress import Reporter
from bench.run_store import RunFolder
from bench.stored_run import StoredRun
from bench.verification import verify_run
from capsules.canonical import canonical_bytes

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, WAVE, TIMEOUT_S = 8, 2, 300


class Stalling:
    """A server that answers ``answered`` completions, then lets all others wait until it is told to go on.

    Attributes:
        stalled: Set once a completion waits.
        go_on: Set: everything is answered again.
    """

    def __init__(self, pretender: Any, loopback: Any, answered: int) -> None:
        self._pretender, self._loopback, self._left = pretender, loopback, answered
        self.stalled, self.go_on = threading.Event(), threading.Event()

    def __call__(self, server: Any, peer: socket.socket) -> None:
        if server.request.startswith(b"POST /v1/completions ") and not self.go_on.is_set():
            if not self._left:
                self.stalled.set()
                self._loopback.waits(server, peer)
                return
            self._left -= 1
        self._pretender(server, peer)


@pytest.fixture
def stalling(
    small: Callable[..., list[str]], loopback: Any, streams: Any, seam: Any, tmp_path: Path
) -> Iterator[tuple[Any, Stalling]]:
    """A server, and what it does."""
    spec = to_spec(compose_config(small()))
    engine = start_engine(
        EngineStart(
            spec=spec.engine, model=spec.model, folder=None, prefix_caching=True, log=tmp_path / "log",
            tokenizer=seam.tokenizer_of(spec),
        )
    )  # fmt: skip
    act = Stalling(streams.Pretender(engine, loopback), loopback, answered=WAVE + 1)
    server = loopback.Server(act)
    yield server, act
    server.close()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Samples that a server may have."""
    file = tmp_path / "own.jsonl"
    text = "The lamp stands {} m high. It was lit in 1891."
    rows = [
        {"id": f"s{n}", "question": "How high stands the lamp?",
         "sources": [{"id": "guide", "text": text.format(40 + n)}], "answers": [f"{40 + n} m"]}
        for n in range(SAMPLES)
    ]  # fmt: skip
    file.write_bytes(b"\n".join(canonical_bytes(row) for row in rows))
    return file


def test_an_interrupt_with_a_wave_in_flight_ends_at_once_and_resume_asks_for_each_request_once(
    small: Callable[..., list[str]], stalling: tuple[Any, Stalling], streams: Any, rows: Path, tmp_path: Path
) -> None:
    server, act = stalling
    overrides = small(
        "task=custom", f"task.options.file={rows}", "task.examples=0", "limit=null", "latency_samples=0",
        "~arm@arms.naive", "~arm@arms.naive_volatile", f"concurrency={WAVE}", "arms.capsule.caches=[served]",
        "arms.capsule.provider=cloud", "arms.capsule.authority.providers=[cloud]",
        "+provider@providers.cloud=vllm", f"providers.cloud.endpoint={server.url}/v1",
        "providers.cloud.projects=[bench]", "providers.cloud.server.model=m",
        f"providers.cloud.server.timeout_s={TIMEOUT_S}",
    )  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "bench", "run", "--results", str(tmp_path / "results"), *overrides],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background ignores it
    )  # fmt: skip
    try:
        assert act.stalled.wait(120)
        time.sleep(0.2)  # the other request of the wave is on its way too
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S / 5)  # long before the answers would be overdue
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    ended = json.loads(out)
    assert (ended["complete"], ended["exit"]) == (False, 130)
    assert f"interrupted; continue with: capsule-bench resume {ended['run']}" in err
    assert "Traceback" not in err
    folder = RunFolder(Path(ended["run"]))
    assert not folder.lock.exists()
    before = StoredRun(folder)
    kept = {row.request_id: row for row in before.responses}
    assert [row.status for row in kept.values()] == [
        "ok"
    ] * WAVE  # a whole wave; the one in flight left nothing
    assert len(before.requests) == 2 * WAVE

    act.go_on.set()
    outcome = drive(folder, resume_run(folder, Reporter(quiet=True)), Reporter(quiet=True))
    assert (outcome.exit_code, outcome.counts.planned, outcome.counts.done) == (0, SAMPLES, SAMPLES)
    after = StoredRun(folder)
    assert Counter(row.sample_id for row in after.requests) == {f"s{n}": 1 for n in range(SAMPLES)}
    assert len(after.responses) == SAMPLES
    assert {row.attempt for row in after.responses} == {1}
    assert {row.request_id: row for row in after.responses if row.request_id in kept} == kept
    asked = Counter(tuple(body["prompt"]) for body in streams.bodies(server.received))
    prompts = {row.sample_id: tuple(after.ids(row.ids_digest)) for row in after.requests}
    again = {sample for sample, ids in prompts.items() if asked[ids] != 1}
    assert len(again) == WAVE  # of the wave in flight, and of no other
    assert all(asked[prompts[sample]] == 2 for sample in again)
    assert all(check.result == "pass" for check in verify_run(folder, None))
