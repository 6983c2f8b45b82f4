"""``verify`` finds every change of a finished run, and says which check found it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.manifest import file_digests
from bench.pipeline import Outcome
from bench.run_store import RunError, RunFolder, read_json, write_json
from bench.scores_file import read_scores, scores_bytes
from bench.verification import NAMES, verify_run
from capsules.disk_store import DiskStore


@pytest.fixture
def run(finished: Outcome, tmp_path: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(finished.folder.path, tmp_path / finished.folder.run_id)))


def failures(
    folder: RunFolder, now: str | None = None, *, skip: tuple[str, ...] = ("report",)
) -> dict[str, str]:
    return {check.check: check.detail for check in verify_run(folder, now, skip) if check.result == "fail"}


def adopt(folder: RunFolder) -> None:
    """What somebody who edits a run would do next: correct the digests in the manifest."""
    manifest = read_json(folder.manifest)
    files = {name: (folder.path / name).read_bytes() for name in manifest["files"]}
    write_json(folder.manifest, {**manifest, "files": file_digests(folder, files)})


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text, f"{path.name} holds no {old}"
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_finished_run_passes_every_check(run: RunFolder) -> None:
    checks = verify_run(run, None)
    assert {check.result for check in checks} == {"pass"}
    assert tuple(check.check for check in checks) == NAMES


def test_rows_that_cannot_be_read_are_a_finding_and_the_other_checks_wait(run: RunFolder) -> None:
    run.responses.write_bytes(run.responses.read_bytes()[:-9])
    results = {check.check: check.result for check in verify_run(run, None)}
    assert (results.pop("rows"), results.pop("files")) == ("fail", "fail")
    assert set(results.values()) == {"not_evaluated"}
    assert main(["verify", str(run.path), "--json"]) == 1


def test_a_check_that_does_not_exist_cannot_be_skipped(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(run.path), "--skip", "nope"]) == 2
    assert "unknown check 'nope': expected one of rows, files, config.digest" in capsys.readouterr().err


def test_resume_mends_a_complete_run_that_lost_the_end_of_its_answers(run: RunFolder) -> None:
    run.responses.write_bytes(run.responses.read_bytes()[:-9])
    assert main(["resume", str(run.path)]) == 0
    assert failures(run, skip=()) == {}


@pytest.mark.parametrize(
    "name",
    ["requests.jsonl", "responses.jsonl", "builds.jsonl", "cells.jsonl", "report.md", "scores.parquet"],
)
def test_one_appended_byte_in_any_file_is_found(run: RunFolder, name: str) -> None:
    with (run.path / name).open("ab") as file:
        file.write(b"\n" if name.endswith("md") else b"{}\n")
    found = failures(run)
    assert name in found["files"]
    assert ("missing field" in found.get("rows", "")) == name.endswith(".jsonl")


def test_every_kind_of_object_in_the_store_is_hashed_again(run: RunFolder) -> None:
    store = DiskStore(run.path / "store")
    for object_id in list(store.ids())[::7]:
        path = run.path / "store" / "objects" / "b3" / object_id[3:5] / object_id[5:]
        data = path.read_bytes()
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        assert object_id in failures(run)["store.objects"]
        path.write_bytes(data)


EDITS: dict[str, tuple[str, str, str, str]] = {
    "a better answer": (
        "responses.jsonl",
        '"status":"ok","text":"',
        '"status":"ok","text":"<q>x</q> [1]',
        "scores",
    ),
    "another salt": ("requests.jsonl", '"salt":"b3:0', '"salt":"b3:1', "requests.identity"),
    "another count of tokens": ("requests.jsonl", '"n_prompt":', '"n_prompt":1', "requests.identity"),
    "a prediction": ("requests.jsonl", '"predicted_cached":0', '"predicted_cached":16', "predictions"),
    "a measurement": ("responses.jsonl", '"measured_cached":0', '"measured_cached":16', "predictions"),
    "a time": ("responses.jsonl", '"e2e_us":', '"e2e_us":1', "scores"),
    "an omission": ("builds.jsonl", '"silent_omissions":', '"silent_omissions":1', "scores"),
    "an error made ok": ("run.json", '"config_digest":"b3:', '"config_digest":"b3:0', "config.digest"),
    "a void cell": ("cells.jsonl", '"void":false', '"void":true', "scores"),
    "a config": ("config.yaml", "max_tokens: 40", "max_tokens: 39", "config.digest"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_even_when_the_digests_were_corrected(run: RunFolder, name: str) -> None:
    file, old, new, check = EDITS[name]
    if name == "a time":  # of the last answer, which belongs to the latency subset
        head, _, last = (run.path / file).read_text("utf-8").rpartition(old)
        (run.path / file).write_text(head + new + last, "utf-8")
    else:
        replace_once(run.path / file, old, new)
    assert file in failures(run)["files"]
    adopt(run)
    found = failures(run)
    assert "files" not in found
    assert check in found, found


def test_a_dropped_request_is_found(run: RunFolder) -> None:
    lines = run.requests.read_bytes().splitlines(keepends=True)
    run.requests.write_bytes(b"".join(lines[:-1]))
    adopt(run)
    assert "missing" in failures(run)["counts"]


def test_changed_scores_are_found_and_named(run: RunFolder) -> None:
    rows = read_scores(run.scores)
    run.scores.write_bytes(scores_bytes(rows[1:]))
    adopt(run)
    assert f"{len(rows) - 1} rows stored, {len(rows)} now" in failures(run)["scores"]


def test_under_other_package_versions_values_are_compared_and_it_says_so(run: RunFolder) -> None:
    manifest = read_json(run.manifest)
    manifest["packages"] = {**manifest["packages"], "pyarrow": "1.0", "matplotlib": "1.0"}
    write_json(run.manifest, manifest)
    (run.path / "figures" / "ttft.png").write_bytes(b"drawn otherwise")
    adopt(run)
    checks = {check.check: check for check in verify_run(run, None)}
    # the report names the packages, so its text differs too; figures alone are left out of the comparison
    assert checks["scores"].result == "pass"
    assert "report.md" in checks["report"].detail
    assert ".png" not in checks["report"].detail


# The authority of every arm holds in [2020, 2100).
TIMES = {
    None: ([], ""),
    "2026-06-01T00:00:00Z": ([], ""),
    "2020-01-01T00:00:00Z": ([], ""),
    "2099-12-31T23:59:59Z": ([], ""),
    "2100-01-01T00:00:00Z": (["capsules"], "authority.expired"),
    "2019-12-31T23:59:59Z": (["capsules"], "authority.not_yet_valid"),
}


def test_validity_is_judged_at_the_time_of_the_manifest_or_at_another(run: RunFolder) -> None:
    judged = {now: failures(run, now, skip=("report", "scores")) for now in TIMES}
    assert {now: sorted(found) for now, found in judged.items()} == {
        now: bad for now, (bad, _) in TIMES.items()
    }
    for now, (_, code) in TIMES.items():
        assert code in str(judged[now])


def test_an_unfinished_run_cannot_be_verified(run: RunFolder) -> None:
    run.manifest.unlink()
    with pytest.raises(RunError, match=r"is not complete .* continue it with `capsule-bench resume"):
        verify_run(run, None)


def test_the_command_prints_checks_and_exits_with_1_on_a_finding(
    run: RunFolder, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["verify", str(run.path), "--skip", "report", "--json"]) == 0
    value = json.loads(capsysbinary.readouterr().out)
    assert value["ok"] is True
    assert {c["check"]: c["result"] for c in value["checks"]}["report"] == "not_evaluated"
    replace_once(run.path / "report.md", "Capsule bench", "Capsule Bench")
    assert main(["verify", str(run.path), "--json"]) == 1
    value = json.loads(capsysbinary.readouterr().out)
    assert value["ok"] is False
    assert {c["check"] for c in value["checks"] if c["result"] == "fail"} == {"files", "report"}


@pytest.mark.parametrize("command", ["rescore", "report"])
def test_what_was_changed_is_derived_again_byte_for_byte(
    run: RunFolder, command: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    name = {"rescore": "scores.parquet", "report": "tables/arms.csv"}[command]
    before = (run.path / name).read_bytes()
    (run.path / name).write_bytes(b"x")
    extra = run.path / "tables" / "stale.csv"
    extra.write_bytes(b"x")
    assert main([command, str(run.path), "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["changed"] == [name]
    assert (run.path / name).read_bytes() == before
    assert extra.exists() == (command == "rescore")
    assert failures(run) == {}
    assert main([command, str(run.path), "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["changed"] == []


def test_reading_a_run_changes_nothing_in_it(
    run: RunFolder, snapshot: Callable[[Path], dict[str, bytes]]
) -> None:
    before = snapshot(run.path)
    verify_run(run, None, ("report",))
    main(["show", str(run.path), "--json"])
    assert snapshot(run.path) == before


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    def take(path: Path) -> dict[str, bytes]:
        return {
            os.path.join(folder, name): Path(folder, name).read_bytes()
            for folder, _, names in os.walk(path)
            for name in names
        }

    return take
