"""How time and memory of the build stage grow from 1,000 to 100,000 samples, in processes of their own.

The samples are those of ``nq_oracle``, again and again under new ids, over the corpus that they share. Every
prompt is built, stored, read back and validated; rows go to a file as they are made. Numbers go to
``extra_info``; the goals are time per sample that does not grow, and memory that grows by what the plan must
hold of each prompt (its ids) and the store in memory does not count. ``make soak`` runs it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.benchmark_ratio, pytest.mark.soak]

SIZES = (1_000, 10_000, 100_000)
GROWN = """
import json, resource, sys, time
from dataclasses import replace
from pathlib import Path

from bench.build_file import Lean
from bench.build_stage import Bench, Building
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.records_io import row_line
from bench.tokenizers import ByteTokenizer
from capsules.content_id import content_id
from capsules.store import MemoryStore
from tasks.registry import load_task


class Sieve(MemoryStore):
    # Keeps documents alone: what a prompt adds is read back and let go, as a disk would take it.
    def forget(self, kept):
        for name in [name for name in self._objects if name not in kept]:
            del self._objects[name]

    def names(self):
        return set(self._objects)


count, data_dir, rows = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
words = ["experiment=build", "task=nq_oracle", "limit=null", "task.options.as_corpus=true"]
spec = to_spec(compose_config(words))
arms = tuple(
    replace(arm, budget=replace(arm.budget, window=2_000_000, evidence_limit=1_000_000),
            retrieval=replace(arm.retrieval, pool=5, k=5))
    for arm in spec.arms if arm.arm_id == "capsule"
)
spec = replace(spec, arms=arms, task=replace(spec.task, data_dir=data_dir))
data = load_task(spec.task)
store = Sieve()
building = Building(Bench(spec=spec, data=data, tokenizer=ByteTokenizer(), store=store, now=spec.task.as_of))
kept = store.names()
building.one(data.samples[0], arms[0])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
lean, plan = Lean(), []
begin, before, tokens = time.process_time(), peak(), 0
with rows.open("wb") as file:
    for n in range(count):
        sample = data.samples[n % len(data.samples)]
        named = replace(sample, input=replace(sample.input, sample_id=f"{sample.input.sample_id}-{n}"))
        item, row = building.one(named, arms[0])
        assert row.status == "ok", row.error
        file.write(row_line(row))
        plan.append(lean(item))
        tokens += row.n_prompt
        store.forget(kept)
seconds = time.process_time() - begin
print(json.dumps({"samples": count, "us_a_sample": round(seconds / count * 1e6), "base_kib": before,
                  "grown_kib": peak() - before, "tokens": tokens, "row_bytes": rows.stat().st_size}))
"""


@pytest.mark.parametrize("count", SIZES)
def test_time_and_memory(count: int, capsule_data: Path, tmp_path: Path, benchmark: Any) -> None:
    def grow() -> dict[str, int]:
        command = [sys.executable, "-c", GROWN, str(count), str(capsule_data), str(tmp_path / "builds.jsonl")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: dict[str, int] = json.loads(done.stdout)
        return found

    benchmark.extra_info.update(benchmark.pedantic(grow, rounds=1))
