"""The run folder: its name, how it is found, and that files are whole or absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.run_store import (
    RUN_ID,
    RunError,
    create_run,
    find_run,
    read_json,
    write_atomic,
    write_json,
)

NOON = 1_780_315_200  # 2026-06-01T12:00:00Z


def started(results: Path, now: int) -> Path:
    folder = create_run(results, "e", now)
    folder.config.write_text("x")
    return folder.path


def test_a_run_id_is_the_utc_second_and_eight_hex_digits(tmp_path: Path) -> None:
    folder = create_run(tmp_path, "quickstart", NOON)
    assert folder.path.parent == tmp_path / "quickstart"
    assert folder.run_id.startswith("20260601T120000Z-")
    assert RUN_ID.fullmatch(folder.run_id)


def test_many_runs_in_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    assert len({create_run(tmp_path, "e", NOON).path for _ in range(50)}) == 50


def test_a_folder_that_is_there_already_is_never_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda n: "0" * 2 * n)
    create_run(tmp_path, "e", NOON)
    with pytest.raises(RunError, match="File exists"):
        create_run(tmp_path, "e", NOON)


def test_runs_are_found_by_path_by_id_and_as_the_latest(tmp_path: Path) -> None:
    early, late = started(tmp_path, NOON), started(tmp_path, NOON + 1)
    assert find_run("latest", tmp_path).path == late
    assert find_run(early.name, tmp_path).path == early
    assert find_run(str(early), tmp_path / "elsewhere").path == early


def test_what_build_left_is_the_latest_only_where_there_is_no_run(tmp_path: Path) -> None:
    dry = started(tmp_path, NOON + 1)
    (dry / "build.json").write_text("{}")
    assert find_run("latest", tmp_path).path == dry
    run = started(tmp_path, NOON)
    assert find_run("latest", tmp_path).path == run
    (dry / "requests.jsonl").write_text("")  # it was driven after all
    assert find_run("latest", tmp_path).path == dry


def test_a_run_that_died_before_its_prompts_were_built_is_the_latest_only_to_continue(tmp_path: Path) -> None:
    built, died = started(tmp_path, NOON), started(tmp_path, NOON + 1)
    (built / "builds.jsonl").write_text("")
    assert find_run("latest", tmp_path).path == built
    assert find_run("latest", tmp_path, to_continue=True).path == died


def test_a_dry_folder_is_marked_before_anything_else_is_in_it(tmp_path: Path) -> None:
    folder = create_run(tmp_path, "e", NOON, dry=True)
    assert folder.dry
    assert [path.name for path in folder.path.iterdir()] == ["build.json"]


def test_reference_results_are_never_the_latest_run(tmp_path: Path) -> None:
    reference = tmp_path / "reference" / "quickstart"
    reference.mkdir(parents=True)
    (reference / "config.yaml").write_text("x")
    with pytest.raises(RunError, match="there is no run"):
        find_run("latest", tmp_path)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run folder nope"):
        find_run("nope", tmp_path)
    with pytest.raises(RunError, match=r"it has no config\.yaml"):
        find_run(str(tmp_path), tmp_path)


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_atomic(path, b"old")
    with pytest.raises(TypeError):
        write_atomic(path, object())  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_json_files_are_canonical_and_refuse_floats(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    write_json(path, {"b": 1, "a": [None, True]})
    assert path.read_bytes() == b'{"a":[null,true],"b":1}'
    assert read_json(path) == {"a": [None, True], "b": 1}
    with pytest.raises(Exception, match=r"json\.number\.float"):
        write_json(path, {"a": 0.5})
    path.write_bytes(b'{"a":1,"a":2}')
    with pytest.raises(RunError, match=r"json\.key\.duplicate"):
        read_json(path)
    with pytest.raises(RunError, match="is missing"):
        read_json(tmp_path / "none.json")
