"""One data set in every kind of file, and on the hub: the same samples, refusals and content digest.

The tables are written through ``datasets`` from the rows of the published files, in one piece, in small
row groups, and as Arrow; the hub's client answers from a folder, and everything after it is the real path.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import pytest

from tasks import tables
from tasks.base import TaskData, TaskError, TaskSpec
from tasks.registry import load_task
from tasks.rows import Rows
from tasks.sources import Reading, open_files
from tasks.squad import nested_rows

Make = Callable[..., TaskSpec]
COMMIT = "b" * 40
LIMIT = 40  # rows of every file


class Set(NamedTuple):
    file: str
    nested: bool = False
    options: tuple[tuple[str, object], ...] = ()


SETS = {
    "arcd": Set("squad-multilingual/arcd-test.json", nested=True),
    "citation_integrity": Set("citation-integrity/claims_dev.jsonl"),
    "clapnq": Set("clapnq/clapnq_dev_answerable.jsonl", options=(("part", "answerable"),)),
    "cmrc2018": Set("squad-multilingual/cmrc2018_trial.json", nested=True),
    "covid_qa": Set("covid-qa/200423_covidQA.json", nested=True),
    "fever_symmetric": Set("fever-symmetric/fever_symmetric_full.jsonl"),
    "hotpotqa": Set("hotpotqa/hotpot_dev_distractor_v1.first100.json"),
    "jsquad": Set("squad-multilingual/jsquad_valid-v1.3.json", nested=True),
    "musique": Set("musique/musique_train.json"),
    "nq_oracle": Set("nq-oracle/nq-open-oracle.jsonl.gz"),
    "quotesum": Set("quotesum/quotesum_dev.jsonl"),
    "ramdocs": Set("ramdocs/RAMDocs_test.jsonl"),
    "squad": Set("allennlp-rc-fixtures/squad2.json", nested=True),
    "squality": Set("squality/squality_v1-3_txt_dev.jsonl"),
}  # timeqa's rows mix types in one array, which no table can hold; custom and xquad have tests of their own


def read(folder: Path, one: Set) -> Rows:
    return open_files("t", folder, (one.file,), Reading(unnest=nested_rows if one.nested else None))


def in_columns(row: Any) -> Any:
    """A row as a table holds it: SQuAD answers as columns."""
    if isinstance(row, dict) and isinstance(row.get("answers"), list) and "context" in row:
        answers = row["answers"]
        columns = {name: [answer[name] for answer in answers] for name in ("text", "answer_start")}
        keep = {name: row[name] for name in ("id", "title", "context", "question") if name in row}
        return {**keep, "answers": columns}
    return row


@pytest.fixture
def table(capsule_data: Path) -> Callable[[str], Any]:
    """The first rows of a published file as a table."""

    def make(name: str) -> Any:
        rows = [in_columns(raw.value) for raw in list(read(capsule_data, SETS[name]).rows)[:LIMIT]]
        return datasets.Dataset.from_list(rows)

    return make


def as_read(data: TaskData) -> tuple[object, ...]:
    refused = [(one.code, one.reason) for one in data.refused]
    counts = (data.rows, data.reserved, data.read, data.unused, data.exact, data.repaired)
    return data.samples, data.examples, data.content_digest, refused, counts


@pytest.mark.parametrize("name", SETS)
def test_every_kind_of_file_gives_the_same(
    make_spec: Make,
    capsule_data: Path,
    tmp_path: Path,
    table: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    import huggingface_hub

    one, rows = SETS[name], table(name)
    lines = tmp_path / "rows.jsonl"
    rows.to_json(lines, force_ascii=False)
    rows.to_parquet(tmp_path / "rows.parquet")
    rows.to_parquet(tmp_path / "small.parquet", batch_size=3)
    rows.save_to_disk(tmp_path / "disk", num_shards=2)
    options = dict(one.options)
    if name == "citation_integrity":
        options["corpus"] = str(capsule_data / "citation-integrity" / "corpus.jsonl")
    spec = make_spec(name=name, examples=1, limit=9, options=options)

    def load(file: str) -> TaskData:
        return load_task(replace(spec, options={**options, "file": str(tmp_path / file)}))

    def snapshot(*_: object, **__: object) -> str:
        return str(tmp_path)

    expected = load("rows.jsonl")
    assert expected.read is not None
    for file in ("rows.parquet", "small.parquet", "disk/data-*.arrow"):
        assert as_read(load(file)) == as_read(expected), file
    monkeypatch.setattr(tables, "BATCH", 2)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    there = {**options, "hub": "org/set", "hub_files": "rows.parquet"}
    hub = load_task(replace(spec, revision=COMMIT, options=there))
    assert (hub.origin, as_read(hub)) == ("hub", as_read(expected))
    pinned = replace(spec, options={**options, "file": str(tmp_path / "rows.parquet")})
    assert load_task(replace(pinned, digest=expected.content_digest)).samples == expected.samples
    with pytest.raises(TaskError, match=r"expected the rows b3:0000.*found b3:.*local Parquet"):
        load_task(replace(pinned, digest="b3:" + "0" * 64))


@pytest.mark.parametrize("name", SETS)
def test_the_published_file_and_a_table_of_it_have_one_digest(
    make_spec: Make, capsule_data: Path, tmp_path: Path, name: str
) -> None:
    """The whole of a small file; of a large one its head, as the limit cuts it."""
    one = SETS[name]
    rows = [in_columns(raw.value) for raw in read(capsule_data, one).rows]
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "rows.parquet")
    options = dict(one.options)
    if name == "citation_integrity":
        options["corpus"] = str(capsule_data / "citation-integrity" / "corpus.jsonl")
    spec = make_spec(name=name, limit=50)
    local, parquet = (
        load_task(replace(spec, options={**options, "file": str(file)}))
        for file in (capsule_data / one.file, tmp_path / "rows.parquet")
    )
    assert as_read(parquet) == as_read(local)


def test_own_data_in_a_table(make_spec: Make, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "q", "sources": [{"id": "s", "text": "t u", "level": "internal"}]},
        {
            "id": "b",
            "question": "q",
            "sources": [{"id": "s", "text": "t u", "title": None}],
            "answers": ["t"],
        },
    ]
    rows.reverse()  # the columns are those of the first row
    encoded = [json.JSONEncoder().encode(row) for row in rows]  # a key that is not there stays so
    (tmp_path / "rows.jsonl").write_text("\n".join(encoded), encoding="utf-8")
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "rows.parquet")
    spec = make_spec(name="custom")
    lines, parquet = (
        load_task(replace(spec, options={"file": str(tmp_path / name)}))
        for name in ("rows.jsonl", "rows.parquet")
    )
    assert as_read(lines) == as_read(parquet)
    assert len(lines.samples) == 2


def test_another_row_is_another_digest(make_spec: Make, tmp_path: Path, table: Callable[[str], Any]) -> None:
    found = []
    for name in ("a", "b"):
        rows = table("musique").to_list()
        rows[3]["question"] += "?" if name == "b" else ""
        datasets.Dataset.from_list(rows).to_parquet(tmp_path / f"{name}.parquet")
        spec = make_spec(name="musique", options={"file": str(tmp_path / f"{name}.parquet")})
        found.append(load_task(spec).content_digest)
    assert found[0] != found[1]
