"""The test of the tests: seeded faults, each of which must make some test fail.

The `.toml` files beside this one list them. A copy of the repository gets one fault at a time and a narrow
set of tests is run on it. What survives shows a promise that no test keeps.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS: list[dict[str, str]] = [
    mutant
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for mutant in tomllib.loads(path.read_text())["mutant"]
]
TASKS = "tests/tasks"
CAPSULES, STORE, VECTORS = "tests/capsules", "tests/capsules/store", "tests/vectors/test_vectors.py"
EVIDENCE, QUICK = "tests/bench/evidence", "not nli and not config and not thousand"
SUITES: dict[str, list[str]] = {
    "vectors": [VECTORS, "-k", "says_what"],
    "digests": [VECTORS, "-k", "says_what or recipes"],
    "reader": [f"{CAPSULES}/test_strict_json.py"],
    "spans": [f"{CAPSULES}/test_span.py", f"{CAPSULES}/validation"],
    "ids": [f"{CAPSULES}/test_content_id.py", f"{STORE}/test_disk_store.py"],
    "policy": [f"{CAPSULES}/test_policy.py"],
    "report": [f"{CAPSULES}/test_report.py"],
    "sealed": [f"{CAPSULES}/validation/test_sealed.py", f"{CAPSULES}/test_tokenized.py"],
    "stage": ["tests/bench/build/test_sealed.py"],
    "cli": [f"{CAPSULES}/test_cli.py"],
    "store": [f"{STORE}/test_disk_store.py", f"{STORE}/test_refusals.py"],
    "refs": [f"{STORE}/test_refs.py"],
    "crash": [f"{STORE}/test_crash.py"],
    "faults": [f"{STORE}/test_faults.py"],
    "rebuild": [
        f"{CAPSULES}/test_{name}.py"
        for name in ("reanchor", "rebuild", "rebuild_prompt", "rebuild_refusals", "rebuild_rewrites")
    ],
    "alias": [
        f"{CAPSULES}/test_{name}.py"
        for name in ("member", "equivalence", "class_keys", "alias", "alias_members")
    ],
    "artifact": [f"{CAPSULES}/test_{name}.py" for name in ("model_profile", "artifact", "kv_chain")],
    "place": [f"{CAPSULES}/test_place.py"],
    "egress": [
        f"{CAPSULES}/test_{name}.py"
        for name in ("egress", "egress_time", "egress_denials", "egress_raising", "delivery")
    ],
    "selection": ["tests/bench/selection"],
    "evidence": [EVIDENCE, "tests/bench/build/test_evidence.py", "-k", QUICK],
    "claims": [EVIDENCE, "tests/bench/build/test_evidence_claims.py", "-k", QUICK],
    "studies": ["tests/bench/studies", "-k", "by_hand or threshold or resample or ratio"],
    "space": [f"{CAPSULES}/test_policy_exhaustive.py"],
    "lines": [f"{CAPSULES}/test_cli_lines.py"],
    "rows": [
        f"{TASKS}/test_{name}.py" for name in ("json_rows", "file_bytes", "tables", "hub", "strict_json")
    ],
    "judging": [f"{TASKS}/test_faults_json.py", "-k", "custom or every_fault"],
    "kinds": [f"{TASKS}/test_kinds.py", "-k", "musique or own"],
    "compression": [
        "tests/bench/build/test_rewriting.py",
        "tests/bench/report/test_compression.py",
        "tests/bench/scorers/test_altered.py",
    ],
    "losses": [
        f"{CAPSULES}/test_loss.py",
        f"{CAPSULES}/test_rewriting.py",
        f"{CAPSULES}/test_rendering.py",
        f"{CAPSULES}/validation/test_render_stage.py",
    ],
    "servers": [
        f"tests/bench/engines/test_{name}.py"
        for name in (
            "sse",
            "openai_stream",
            "openai_engine",
            "openai_refusals",
            "openai_start",
            "server_keeper",
        )
    ],
    "first": [
        "tests/bench/test_policy_first.py",
        "tests/bench/test_engine_stage.py",
        "tests/bench/engines/test_openai_model.py",
    ],
    "replay": ["tests/bench/engines/test_replay.py"],
    "money": ["tests/bench/cost"],
    "routed": ["tests/bench/test_routing.py", "tests/bench/test_routed_run.py"],
    "seam": ["tests/bench/test_authorized_engine.py"],
    "unfit": ["tests/bench/test_unfit_arms.py", "tests/bench/report/test_unbuilt.py", "-k", "not dry"],
    "lost": ["tests/bench/test_lost_compressor.py", "tests/bench/test_lost_resumes.py"],
    "intervals": [
        "tests/bench/metrics",
        "tests/bench/report/test_clusters.py",
        "tests/bench/report/test_content.py",
    ],
    "isolation": ["tests/bench/test_isolation.py"],
    "cutting": ["tests/bench/build/test_chunking.py", "tests/bench/build/test_candidates.py"],
    "sweeps": ["tests/bench/test_sweep_trouble.py", "-k", "refused or elsewhere or one_process"],
    "checked": [f"{TASKS}/test_registry.py", "-k", "checked"],
}
SECONDS = 300  # a test that hangs on a fault has noticed it


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of what the suites need, each of which passes there as long as there is no fault."""
    root = tmp_path_factory.mktemp("mutants")
    for part in ("bench", "capsules", "conf", "docs", "tasks", "tests"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "mutants"))
    shutil.copy(ROOT / "pyproject.toml", root)
    assert run(root, ["-c", "import capsules; print(capsules.__file__)"]).stdout.startswith(
        str(root).encode()
    )
    for suite in sorted({mutant["suite"] for mutant in MUTANTS}):
        assert pytest_on(root, SUITES[suite]) == 0, f"{suite} fails without any fault"
    return root


def run(root: Path, argv: list[str]) -> subprocess.CompletedProcess[bytes]:
    # A cache of its own for every run: one by time and size could keep the bytecode of the healthy file.
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONPATH": str(root)}
        return subprocess.run(
            [sys.executable, *argv],
            cwd=root,
            env=environment,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )


def pytest_on(root: Path, suite: list[str]) -> int:
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not soak"]
    return run(root, ["-m", "pytest", *options, *suite]).returncode


def package_of(mutant: dict[str, str]) -> str:
    return mutant.get("package", "capsules")


def name_of(mutant: dict[str, str]) -> str:
    return mutant["name"].replace(" ", "-")


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_the_fault_can_be_made(mutant: dict[str, str]) -> None:
    text = (ROOT / package_of(mutant) / mutant["file"]).read_text()

    assert text.count(mutant["old"]) == 1, f"{mutant['file']} has changed: renew the fault"
    assert mutant["old"] != mutant["new"]
    assert mutant["suite"] in SUITES
    compile(text.replace(mutant["old"], mutant["new"]), mutant["file"], "exec")


def test_there_are_enough_and_each_is_another() -> None:
    assert len(MUTANTS) >= 140
    assert len({mutant["name"] for mutant in MUTANTS}) == len(MUTANTS)
    faults = {(package_of(one), one["file"], one["old"], one["new"]) for one in MUTANTS}
    assert len(faults) == len(MUTANTS)


@pytest.mark.soak
@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_the_fault_is_noticed(copy: Any, mutant: dict[str, str]) -> None:
    path = copy / package_of(mutant) / mutant["file"]
    healthy = path.read_text()
    path.write_text(healthy.replace(mutant["old"], mutant["new"]))
    try:
        status = pytest_on(copy, SUITES[mutant["suite"]])
    except subprocess.TimeoutExpired:
        status = 1
    finally:
        path.write_text(healthy)

    assert status == 1, f"survived: {mutant['name']} ({mutant['file']}, pytest exit {status})"
