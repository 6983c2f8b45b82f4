"""Whether a new process builds the same requests: the run's prompts once more, from its config alone.

    python -m bench.rebuild_check RUN PARENT      (started by ``check_in_new_process`` alone; rows on stdout)

Rules that this module owns:

* The other process shares nothing with the run but config, data, tokenizer and what lossy compressors
  answered: nothing that it builds is written, and its hash seed is its own.
* Compared are request digests (of ids, sampling, salt, grammar), one by one, for every request that was sent.
* It is a measurement: a digest that differs is counted, and a rebuild that fails is said and leaves no rows.
* The other process ends with the one that started it, however that one ends.
* Rows that do not cover the stored requests (a resumed run has sent more since) are made anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.build_stage import Bench, build_all
from bench.compression_stage import stored_rewriter
from bench.config import load_config, to_spec
from bench.engines.process import die_with_parent
from bench.planner import Plan, make_plan
from bench.preparation import prepare
from bench.progress import Reporter
from bench.records import RebuiltRow, RequestRow
from bench.records_io import read_rows, rows_bytes
from bench.routing import route_all
from bench.run_store import RunFolder, write_atomic
from capsules.store import MemoryStore

LAST_LINES = 3


def check_in_new_process(folder: RunFolder, reporter: Reporter) -> None:
    """Rebuild a run's requests in a new process and write ``rebuilt.jsonl``, unless it is there for them."""
    if _covers(read_rows(folder.rebuilt, RebuiltRow), read_rows(folder.requests, RequestRow)):
        return
    folder.rebuilt.unlink(missing_ok=True)
    reporter.say("building every prompt again in a new process ...")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    env.pop("PYTHONHASHSEED", None)
    done = subprocess.run(
        [sys.executable, "-m", "bench.rebuild_check", str(folder.path), str(os.getpid())],
        env=env,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-LAST_LINES:]
        reporter.say(f"the rebuild failed, so it is not measured: {' / '.join(last) or done.returncode}")
        return
    write_atomic(folder.rebuilt, done.stdout)


def _covers(rows: list[RebuiltRow], sent: list[RequestRow]) -> bool:
    """Whether rows of an earlier check speak of these requests (a run's prompts never change)."""
    counted = Counter({(row.sample_id, row.arm_id): row.requests for row in rows})
    return counted == Counter((row.sample_id, row.arm_id) for row in sent)


def rebuild(folder: RunFolder) -> list[RebuiltRow]:
    """Build and plan a run again, and count the stored requests with an equal digest.

    Raises:
        ConfigError, RunError, TaskError, RegistryError: It cannot be built here.
    """
    spec = to_spec(load_config(folder.config.read_text("utf-8")))
    prepared = prepare(spec, Reporter(quiet=True))
    bench = Bench(
        spec=spec,
        data=prepared.data,
        tokenizer=prepared.tokenizer,
        store=MemoryStore(),
        now=spec.task.as_of,
        rewrite=stored_rewriter(folder),
        frame=prepared.frame,
    )
    built = build_all(bench, lambda n: None)
    routes = route_all(spec, built.prepared, bench.store, bench.now)
    plan = make_plan(spec, [row.sample_id for row in built.samples], built.prepared, routes)
    return compare(read_rows(folder.requests, RequestRow), plan)


def compare(sent: list[RequestRow], plan: Plan) -> list[RebuiltRow]:
    """Count, for each (sample, arm), the requests that were sent and those that are planned again."""
    again = {(p.sample_id, p.cell.cell_id, p.phase): p.request_digest for p in plan.requests}
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in sent:
        key = (row.sample_id, row.arm_id)
        requests, equal = counts.get(key, (0, 0))
        same = again.get((row.sample_id, row.cell_id, row.phase)) == row.request_digest
        counts[key] = (requests + 1, equal + same)
    return [
        RebuiltRow(sample_id=sample_id, arm_id=arm_id, requests=requests, equal=equal)
        for (sample_id, arm_id), (requests, equal) in sorted(counts.items())
    ]


def main(argv: list[str]) -> int:
    """Write the rows of one run to standard output; the parent's process id is the last argument."""
    die_with_parent(int(argv[2]))
    sys.stdout.buffer.write(rows_bytes(rebuild(RunFolder(Path(argv[1])))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
