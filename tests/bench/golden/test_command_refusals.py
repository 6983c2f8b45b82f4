"""What `golden check` cannot use: builders that build nothing, damaged files, folders that are not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.golden.records import Golden

ROOT = Path(__file__).resolve().parents[3]
Out = pytest.CaptureFixture[str]


def test_builders_that_can_build_nothing_any_more_are_a_finding(
    of_notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    (tmp_path / "mine.py").write_text(
        "from bench.build.base import BuildError\n"
        "from bench.build.naive import NaiveBuilder\n"
        "build = NaiveBuilder()\n"
        "def broken(sample, context):\n"
        "    raise BuildError('mine.broken', 'expected \\x1b[31m nothing')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "mine.golden.json"
    assert (
        main(["golden", "record", str(path), *of_notes, "--with-text", "arms.naive.builder=mine:build"]) == 0
    )
    capsys.readouterr()
    assert main(["golden", "check", str(path), "arms.naive.builder=mine:broken"]) == 1
    out = capsys.readouterr().out
    assert "first    sample ferry, arm naive" in out
    assert "field    build /status" in out
    assert 'found    "error"' in out
    assert "\x1b" not in out
    assert main(["golden", "record", str(path), *of_notes, "--force", "arms.naive.builder=mine:broken"]) == 0
    assert "recorded as not built: mine.broken 1" in capsys.readouterr().out


def edited(value: dict[str, Any], edit: Callable[[dict[str, Any]], object]) -> bytes:
    edit(value)
    return json.JSONEncoder().encode(value).encode()


def _capsule(value: dict[str, Any]) -> dict[str, Any]:
    return next(c for c in value["capsules"].values() if c["schema_id"] == "prompt-capsule/1")


EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another schema": (lambda v: v.update(schema_id="golden/2"), "expected golden/1, found 'golden/2'"),
    "no schema": (lambda v: v.pop("schema_id"), "expected a golden file with schema_id golden/1, found none"),
    "a field too many": (lambda v: v.update(extra=1), "extra: expected exactly the fields"),
    "a field too few": (lambda v: v.pop("texts"), "texts: expected exactly the fields"),
    "builds is no array": (lambda v: v.update(builds={}), "builds: expected an array, found dict"),
    "a float": (lambda v: v["data"].update(rows=1.5), "json.number.float"),
    "a build of another form": (lambda v: v["builds"][0].pop("level"), "builds[0]: missing field 'level'"),
    "a count that is a word": (
        lambda v: v["builds"][1].update(prompt_tokens="7"),
        "builds[1]: prompt_tokens: expected int, found str",
    ),
    "a build twice": (lambda v: v["builds"].append(v["builds"][0]), "once, found again"),
    "a capsule is gone": (lambda v: v.update(capsules={}), "capsules: expected b3:"),
    "a capsule was edited": (lambda v: _capsule(v).update(task="t"), "the file was edited"),
    "a capsule breaks its own rules": (lambda v: _capsule(v).update(omissions=3), "schema.field.type"),
    "a text was edited": (lambda v: v["texts"].update({next(iter(v["texts"])): "x"}), "the file was edited"),
    "a text stands in a capsule": (
        lambda v: _capsule(v)["active_object"].update(text="x"),
        "expected {chars, digest} in the place of a text, found str",
    ),
    "a text is gone": (lambda v: v["texts"].popitem(), "expected its text b3:"),
    "config of a list": (lambda v: v["config"].update(model=[[]]), "list is not a subclass of ModelConfig"),
    "config of another program": (lambda v: v["config"].update(colour="red"), "unknown setting 'colour'"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_what_is_no_golden_file_is_2_and_one_clear_line(
    name: str, recorded: tuple[Path, Golden], tmp_path: Path, capsys: Out
) -> None:
    edit, said = EDITS[name]
    path = tmp_path / "edited.golden.json"
    path.write_bytes(edited(json.loads(recorded[0].read_bytes()), edit))
    assert main(["golden", "check", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "expected a golden file: No such file"),
        (b"", "json.syntax"),
        (b"[1]", "expected a golden file with schema_id golden/1, found none"),
        (b'{"schema_id": "golden/1", "schema_id": "golden/1"}', "json.key.duplicate"),
        (b"\xff\xfe{}", "json.utf8.invalid"),
        (b"[" * 2000, "json.depth.exceeded"),
    ],
)
def test_what_is_no_file_of_json_is_2(content: bytes | None, said: str, tmp_path: Path, capsys: Out) -> None:
    path = tmp_path / "x.golden.json"
    if content is not None:
        path.write_bytes(content)
    assert main(["golden", "check", str(path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("arms.capsule.nope=1", "the file's config has no setting 'arms.capsule.nope'"),
        ("arms.other.selection.k=1", "the file's config has no setting 'arms.other.selection.k'"),
        ("arm@arms.x=naive", "expected setting=value of the file's config"),
        ("~arms.naive", "expected setting=value of the file's config"),
        ("arms.naive.selection.k=1,2", "expected setting=value of the file's config"),
        ("arms.naive.selection.k=many", "arms.naive.selection.k=many"),
        ("word", "expected key=value"),
        ("arms.naive.selection.k=0", "arms.naive.selection.k: expected at least 1, found 0"),
    ],
)
def test_overrides_that_cannot_be_used_are_2(
    override: str, said: str, recorded: tuple[Path, Golden], capsys: Out
) -> None:
    assert main(["golden", "check", str(recorded[0]), override]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named_before_anything_is_built(tmp_path: Path, capsys: Out) -> None:
    assert (
        main(["golden", "record", str(tmp_path / "no" / "x.golden.json"), "limit=1", "tokenizer=bytes"]) == 2
    )
    err = capsys.readouterr().err
    assert f"expected a folder {tmp_path / 'no'}, found none" in err
    assert "building" not in err


def test_counts_in_bytes_need_nothing_and_are_no_tokenizer_of_an_engine(capsys: Out, tmp_path: Path) -> None:
    assert main(["run", "tokenizer=bytes", "--results", str(tmp_path)]) == 2
    assert "expected 'model' for engine vllm" in capsys.readouterr().err
