"""The one way in: which place is read, and by which reader."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsules.content_id import content_id
from tasks.base import TaskError, TaskSpec
from tasks.rows import Home, HubSet
from tasks.sources import Reading, data_folder, open_files, open_home
from tasks.squad import nested_rows

Make = Callable[..., TaskSpec]
HOME = Home(file="set/rows.jsonl", hub=HubSet(repo="org/set", files="rows-*.parquet"))
COMMIT = "a" * 40
ROWS = [{"id": "a"}, {"id": "b"}]
LINES = b'{"id": "a"}\n{"id": "b"}\n'
ARRAY = b'[{"id": "a"}, {"id": "b"}]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the same rows in every kind of file."""
    root = tmp_path / "set"
    root.mkdir()
    (root / "rows.jsonl").write_bytes(LINES)
    (root / "rows.jsonl.gz").write_bytes(gzip.compress(LINES))
    (root / "rows.json").write_bytes(ARRAY)
    (root / "rows.json.gz").write_bytes(gzip.compress(ARRAY))
    pq.write_table(pa.Table.from_pylist(ROWS), root / "rows.parquet")
    for number in range(2):
        pq.write_table(
            pa.Table.from_pylist(ROWS[number : number + 1]), root / f"part-{number:05}-of-00002.parquet"
        )
    return tmp_path


@pytest.mark.parametrize(
    ("file", "origin", "data"),
    [
        ("set/rows.jsonl", "local JSON Lines", LINES),
        ("set/rows.jsonl.gz", "local JSON Lines", LINES),
        ("set/rows.json", "local JSON", ARRAY),
        ("set/rows.json.gz", "local JSON", ARRAY),
        ("set/rows.parquet", "local Parquet", None),
        ("set/part-*.parquet", "local Parquet", None),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_the_name_says_which_reader(
    make_spec: Make, folder: Path, file: str, origin: str, data: bytes | None, absolute: bool
) -> None:
    named = str(folder / file) if absolute else file
    found = open_home(make_spec(data_dir=None if absolute else str(folder), options={"file": named}), HOME)
    assert [one.value for one in found.rows] == ROWS
    assert found.origin == origin
    if data is not None:
        assert found.revision() == f"file:{content_id(data)}"
    assert found.revision().startswith("file:b3:")


def test_without_an_option_the_home_is_read(make_spec: Make, folder: Path) -> None:
    found = open_home(make_spec(data_dir=str(folder), options={"file": ""}), HOME)
    assert [one.value for one in found.rows] == ROWS


def test_nested_json_is_read_through_its_array(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"version": 1.1, "data": [{"paragraphs": [{"qas": [{"id": "q"}]}]}]}')
    found = open_files("t", tmp_path, ("a.json",), Reading(unnest=nested_rows))
    assert [(one.where, one.value) for one in found.rows] == [("data/0/paragraphs/0/qas/0", {"id": "q"})]


def test_a_json_file_without_structure_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a": ')
    with pytest.raises(TaskError, match=r"a\.json: expected an array of rows: json\.syntax"):
        list(open_files("t", tmp_path, ("a.json",), Reading()).rows)


def test_a_missing_folder_names_the_variable_and_what_was_expected_where(
    make_spec: Make, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(TaskError) as caught:
        data_folder(make_spec(data_dir=str(gone)), "xquad/xquad.en.json")
    for part in ("CAPSULE_DATA", "task.data_dir", "xquad/xquad.en.json", str(gone)):
        assert part in str(caught.value)


def test_a_file_in_place_of_the_folder_is_no_folder(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(TaskError, match="no such folder"):
        data_folder(make_spec(data_dir=str(tmp_path / "file")), "x")


def test_the_first_name_that_exists_is_taken(folder: Path) -> None:
    found = open_files("t", folder, ("set/none.json", "set/rows.json"), Reading())
    assert found.origin == "local JSON"
    with pytest.raises(TaskError, match=r"expected .*set/c\.json.*CAPSULE_DATA"):
        open_files("t", folder, ("set/c.json",), Reading())


def test_several_files_are_of_one_kind_and_no_json(folder: Path) -> None:
    with pytest.raises(TaskError, match=r"expected files of one kind, found \.gz, \.json, \.jsonl"):
        open_files("t", folder, ("set/rows.json*",), Reading())
    (folder / "set" / "other.json").write_bytes(ARRAY)
    with pytest.raises(TaskError, match="expected one file of JSON, found 2"):
        open_files("t", folder, ("set/*.json",), Reading())


def hub_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, list[str]]]:
    import huggingface_hub

    asked: list[tuple[str, str, list[str]]] = []

    def snapshot(repo: str, *, repo_type: str, revision: str, allow_patterns: list[str]) -> str:
        assert repo_type == "dataset"
        asked.append((repo, revision, allow_patterns))
        return str(folder / "set")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    return asked


@pytest.mark.parametrize("pattern", ["rows.jsonl", "rows.json", "rows.parquet", "part-*.parquet"])
def test_the_hub_is_read_by_the_same_readers(
    make_spec: Make, folder: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    asked = hub_at(folder, monkeypatch)
    spec = make_spec(revision=COMMIT, options={"hub": "me/mine", "hub_files": pattern})
    found = open_home(spec, HOME)
    assert [one.value for one in found.rows] == ROWS
    assert (found.origin, found.revision()) == ("hub", COMMIT)
    assert asked == [("me/mine", COMMIT, [pattern])]


def test_with_a_folder_the_hub_is_never_asked(
    make_spec: Make, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = hub_at(folder, monkeypatch)
    list(open_home(make_spec(data_dir=str(folder), revision=COMMIT, options={"hub": "a/b"}), HOME).rows)
    assert asked == []


@pytest.mark.parametrize("revision", [None, "main"])
def test_the_hub_is_refused_without_a_commit(
    make_spec: Make, folder: Path, monkeypatch: pytest.MonkeyPatch, revision: str | None
) -> None:
    asked = hub_at(folder, monkeypatch)
    with pytest.raises(TaskError, match=r"org/set on the hub: expected task\.revision=<40 hex>"):
        open_home(make_spec(revision=revision), HOME)
    assert asked == []


def test_a_set_without_a_known_repository_says_what_to_do(make_spec: Make) -> None:
    with pytest.raises(TaskError) as caught:
        open_home(make_spec(name="t", revision=COMMIT), Home(file="set/rows.jsonl"))
    for part in ("set/rows.jsonl", "CAPSULE_DATA", "task.options.hub=ORG/NAME", "task.revision=<40 hex>"):
        assert part in str(caught.value)
