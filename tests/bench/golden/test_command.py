"""``capsule-bench golden``: exit codes, what is written over, what a file holds and what it never holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.golden.records import Golden

ROOT = Path(__file__).resolve().parents[3]
Out = pytest.CaptureFixture[str]


def test_what_was_recorded_is_equal_and_in_another_process_too(
    recorded: tuple[Path, Golden], capsys: Out
) -> None:
    path, golden = recorded
    assert [(b.sample_id, b.arm_id) for b in golden.builds] == [
        ("w00000-q0", "capsule"),
        ("w00000-q0", "naive"),
        ("w00000-q1", "capsule"),
        ("w00000-q1", "naive"),
    ]
    assert main(["golden", "check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 4 builds, all equal\n"
    again = path.with_name("again.golden.json")
    shutil.copy(path, again)
    done = subprocess.run(
        [sys.executable, "-m", "bench", "golden", "record", str(again), "--force", "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "77"},
        capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["changed"] is False
    assert again.read_bytes() == path.read_bytes()


def test_a_difference_is_1_and_names_field_span_and_segment(
    recorded: tuple[Path, Golden], capsys: Out
) -> None:
    path, golden = recorded
    assert main(["golden", "check", str(path), "arms.capsule.selection.k=1"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"{path}: 2 of 4 builds differ"
    assert out[1] == "  first    sample w00000-q0, arm capsule"
    assert out[2].startswith("  field    prompt capsule /omissions/")
    assert out[3:5] == [
        "             expected nothing",
        "             found    an omission (selection.not_needed, 60 tokens)",
    ]
    assert 'of odegard-light-handbook "The notes below describe the daily round at Ødegård Light."' in out[5]
    assert out[6:8] == [
        "             expected sent",
        "             found    omitted (selection.not_needed, 60 tokens)",
    ]
    assert out[8].startswith("  segment  ")
    tokens = {build.key: build.prompt_tokens for build in golden.builds}
    assert out[11].startswith(f"  tokens   expected {tokens['w00000-q0', 'capsule']}, found ")
    assert out[12] == "  also     w00000-q1/capsule"
    assert len(out) == 13, "with overrides there is no hint to record"


def test_json_holds_the_same(
    recorded: tuple[Path, Golden], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path, _ = recorded
    assert main(["golden", "check", str(path), "arms.naive.selection.k=1", "--json"]) == 1
    value = json.loads(capsysbinary.readouterr().out)
    assert (value["equal"], value["builds"]) == (False, 4)
    difference = value["difference"]
    assert (difference["sample"], difference["arm"], difference["compared"]) == ("w00000-q0", "naive", 4)
    assert difference["field"]["at"] == "build /silent_omissions"
    assert difference["span"]["found"] == "left out after retrieval"
    assert difference["segment"]["at"].startswith("2 of 2 (first other token in ")
    assert difference["builds"] == [{"sample": f"w00000-q{n}", "arm": "naive"} for n in (0, 1)]


def test_a_file_is_never_overwritten_unasked(recorded: tuple[Path, Golden], capsys: Out) -> None:
    path, _ = recorded
    before = path.read_bytes()
    assert main(["golden", "record", str(path), "limit=1", "tokenizer=bytes"]) == 2
    err = capsys.readouterr().err
    assert f"{path} is there already: --force records it anew" in err
    assert "building" not in err
    assert path.read_bytes() == before


def test_a_file_of_private_data_holds_no_text(
    of_notes: list[str], notes: Path, tmp_path: Path, capsys: Out
) -> None:
    path = tmp_path / "mine.golden.json"
    assert main(["golden", "record", str(path), *of_notes]) == 0
    assert "without any text of the data" in capsys.readouterr().out
    held = path.read_text("utf-8").lower()
    for word in ("ferry alma", "1931", "gulls", "leave until may", str(notes.parent.parent).lower()):
        assert word not in held
    value = json.loads(held)
    assert value["texts"] is None
    # The confidential note is counted, and named nowhere: neither as a source nor by its place.
    capsule = next(c for c in value["capsules"].values() if c["schema_id"] == "prompt-capsule/1")
    assert [o for o in capsule["omissions"] if o["item"] is None] == [
        {
            "count": 1,
            "item": None,
            "reason": "visibility.denied",
            "required": False,
            "stage": "visibility",
            "tokens": 31,
        }
    ]
    (build,) = (b for b in value["builds"] if b["arm_id"] == "capsule")
    assert len(build["items"]) == 4


def test_without_texts_a_difference_names_places_lengths_and_digests(
    of_notes: list[str], notes: Path, tmp_path: Path, capsys: Out
) -> None:
    path = tmp_path / "mine.golden.json"
    main(["golden", "record", str(path), *of_notes])
    capsys.readouterr()
    assert main(["golden", "check", str(path), "arms.capsule.selection.k=1"]) == 1
    out = capsys.readouterr().out
    assert re.search(
        r"span     b3:[0-9a-f]{64}:0-28 of birds a text of 28 characters \(b3:[0-9a-f]{64}\)", out
    )
    assert "found    omitted (selection.not_needed, 28 tokens)" in out
    assert "Gulls" not in out
    notes.write_text(notes.read_text("utf-8").replace("1931.", "1932."), "utf-8")
    assert main(["golden", "check", str(path)]) == 1
    out = capsys.readouterr().out
    assert "field    /data/content_digest" in out
    assert "1932" not in out


def test_with_text_a_difference_quotes_it(of_notes: list[str], tmp_path: Path, capsys: Out) -> None:
    path = tmp_path / "mine.golden.json"
    assert main(["golden", "record", str(path), *of_notes, "--with-text"]) == 0
    capsys.readouterr()
    assert main(["golden", "check", str(path), "arms.capsule.selection.k=1"]) == 1
    assert '"Gulls nest on the east pier."' in capsys.readouterr().out


def test_a_file_means_the_same_where_it_was_moved_to_with_its_data(
    of_notes: list[str], notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPSULE_DATA", "/no/such/folder")  # the file names its own data
    (tmp_path / "tests").mkdir()
    assert main(["golden", "record", str(tmp_path / "tests" / "mine.golden.json"), *of_notes]) == 0
    assert (
        json.loads((tmp_path / "tests" / "mine.golden.json").read_bytes())["config"]["task"]["data_dir"]
        == "../data"
    )
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(tmp_path / "tests", elsewhere / "tests")
    shutil.move(notes.parent, elsewhere / "data")
    monkeypatch.chdir("/")
    assert main(["golden", "check", str(elsewhere / "tests" / "mine.golden.json")]) == 0
    assert main(["golden", "check", str(tmp_path / "tests" / "mine.golden.json")]) == 2


def test_the_folder_of_public_data_is_that_of_the_machine(
    two_arms: tuple[str, ...],
    capsule_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Out,
) -> None:
    path = tmp_path / "quotes.golden.json"
    asked = [*two_arms, "task=quotesum", "limit=1", "task.examples=0"]  # no hub is asked for it
    assert main(["golden", "record", str(path), *asked]) == 0
    assert json.loads(path.read_bytes())["config"]["task"]["data_dir"] is None
    assert main(["golden", "check", str(path)]) == 0
    monkeypatch.delenv("CAPSULE_DATA")
    capsys.readouterr()
    assert main(["golden", "check", str(path)]) == 2
    assert "set CAPSULE_DATA" in capsys.readouterr().err
