"""Three good rows of every on-disk form, and how a test spoils one of them; for ``test_faults_*.py``."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tasks.base import TaskData, TaskSpec
from tasks.registry import load_task
from tasks.sources import Reading, open_files
from tasks.squad import nested_rows

Row = dict[str, Any]
Step = str | int
TOKEN = "QQTOKENQQ"  # stands where the raw JSON of a fault goes


class Form(NamedTuple):
    """Where a form keeps what faults spoil; paths inside a row."""

    file: str
    question: tuple[Step, ...]
    text: tuple[Step, ...] | None  # of a document; None: it lies in another file
    row_id: tuple[Step, ...] | None = ("id",)
    kind: str = "lines"  # lines, array, nested
    options: tuple[tuple[str, object], ...] = ()
    table: bool = True


def nested(file: str) -> Form:
    return Form(file, ("question",), ("context",), kind="nested")


FORMS = {
    "arcd": nested("squad-multilingual/arcd-test.json"),
    "citation_integrity": Form("citation-integrity/claims_dev.jsonl", ("claim",), None),
    "clapnq": Form(
        "clapnq/clapnq_dev_answerable.jsonl",
        ("input",),
        ("passages", 0, "text"),
        options=(("part", "answerable"),),
    ),
    "cmrc2018": nested("squad-multilingual/cmrc2018_trial.json"),
    "covid_qa": nested("covid-qa/200423_covidQA.json"),
    "custom": Form("", ("question",), ("sources", 0, "text")),
    "fever_symmetric": Form("fever-symmetric/fever_symmetric_full.jsonl", ("claim",), ("evidence_sentence",)),
    "hotpotqa": Form(
        "hotpotqa/hotpotqa_train.json", ("question",), ("context", 0, 1, 0), ("_id",), "array", table=False
    ),
    "jsquad": nested("squad-multilingual/jsquad_valid-v1.3.json"),
    "musique": Form(
        "musique/musique_train.json", ("question",), ("paragraphs", 0, "paragraph_text"), kind="array"
    ),
    "nq_oracle": Form("nq-oracle/nq-open-oracle.jsonl.gz", ("question",), ("ctxs", 0, "text"), None),
    "quotesum": Form("quotesum/quotesum_dev.jsonl", ("question",), ("title1",), ("unique_id",)),
    "ramdocs": Form("ramdocs/RAMDocs_test.jsonl", ("question",), ("documents", 0, "text"), None),
    "squad": nested("squad-multilingual/arcd-test.json"),
    "squality": Form(
        "squality/squality_v1-3_txt_dev.jsonl",
        ("questions", 0, "question_text"),
        ("document",),
        ("metadata", "passage_id"),
    ),
    "timeqa": Form(
        "time-sensitive-qa/tsqa_human_annotated_test.first100.json",
        ("questions", 0, 0),
        ("paras", 0),
        ("index",),
        "array",
        table=False,
    ),
    "xquad_en": nested("xquad/xquad.en.json"),
}


def custom_row(number: int) -> Row:
    text = f"Pier {number} is {number} metres long."
    return {
        "id": f"q{number}",
        "question": f"How long is pier {number}?",
        "sources": [{"id": "d", "text": text}],
    }


def one_question(row: Row) -> Row:
    return {**row, "questions": row["questions"][:1]} if "questions" in row else row


def put(row: Row, path: tuple[Step, ...], value: object) -> Row:
    spoiled = copy.deepcopy(row)
    inner: Any = spoiled
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return spoiled


def cut(row: Row, path: tuple[Step, ...]) -> Row:
    spoiled = put(row, path, None)
    inner: Any = spoiled
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return spoiled


def encode(name: str, rows: list[Row], raw: bytes) -> bytes:
    """The file of these rows; ``raw`` in place of the token."""
    kind = FORMS[name].kind
    dump = json.JSONEncoder(ensure_ascii=False).encode
    if kind == "nested":
        split = ("context", "title")
        articles = [
            {
                "title": row.get("title", ""),
                "paragraphs": [
                    {"context": row["context"], "qas": [{k: v for k, v in row.items() if k not in split}]}
                ],
            }
            for row in rows
        ]
        text = dump({"version": "1.1", "data": articles})
    else:
        parts = [dump(row) for row in rows]
        text = "\n".join(parts) + "\n" if kind == "lines" else "[" + ",".join(parts) + "]"
    return text.encode("utf-8").replace(f'"{TOKEN}"'.encode(), raw)


def good_rows(name: str, capsule_data: Path) -> list[Row]:
    """Three good rows of a form, of three documents."""
    form = FORMS[name]
    if name == "custom":
        return [custom_row(number) for number in range(3)]
    how = Reading(unnest=nested_rows if form.kind == "nested" else None)
    found: dict[str, Row] = {}
    for raw in open_files(name, capsule_data, (form.file,), how).rows:
        assert isinstance(raw.value, dict)
        found.setdefault(json.JSONEncoder().encode(raw.value.get("context", raw.where)), raw.value)
    chosen = [one_question(copy.deepcopy(row)) for row in list(found.values())[:3]]
    for row in chosen if name == "hotpotqa" else []:
        row["context"].insert(0, ["Another page", ["It holds one sentence."]])
    return chosen


WHERE = {"lines": "line 2", "array": "row 1", "nested": "data/1"}


def check(name: str, data: TaskData, code: str, ids: list[str], where: str) -> None:
    """One row refused, with its code and its place; the other two are samples."""
    assert [one.code for one in data.refused] == [code], data.refused
    assert where in data.refused[0].row
    assert data.refused[0].reason
    assert [one.input.sample_id for one in data.samples] == ids
    assert (data.read, data.unused, data.reserved) == (len(ids) + 1, 0, 0)


Q, T = "question", "text"


def path_of(form: Form, field: str) -> tuple[Step, ...] | None:
    return form.question if field == Q else form.text


def cases(names: list[str], faults: Mapping[str, tuple[str, object, str]]) -> list[tuple[str, str]]:
    """Every form with every fault that it can have; an empty title of QuoteSum is a source without title."""
    return [
        (name, fault)
        for name in names
        for fault, (field, _, _) in faults.items()
        if path_of(FORMS[name], field) and (name, fault) != ("quotesum", "an empty document")
    ]


def flat(row: Row) -> Row:
    if "context" in row and isinstance(row.get("answers"), list):
        answers = row["answers"]
        columns = {key: [one[key] for one in answers] for key in ("text", "answer_start")}
        row = {key: row[key] for key in ("id", "title", "context", "question") if key in row}
        row = {**row, "answers": columns}
    return row


def loader(make_spec: Callable[..., TaskSpec], capsule_data: Path, tmp_path: Path) -> Callable[..., TaskData]:
    """Loads a form from a file of these bytes, or from a table."""

    def load_file(name: str, data: bytes | None, *, strict: bool = False, table: Any = None) -> TaskData:
        form = FORMS[name]
        path = tmp_path / ("rows.jsonl" if form.kind == "lines" else "rows.json")
        options: dict[str, object] = dict(form.options)
        if name == "xquad_en":
            path = tmp_path / "xquad.en.json"
        elif name == "citation_integrity":
            options["corpus"] = str(capsule_data / "citation-integrity" / "corpus.jsonl")
        if table is not None:
            path = tmp_path / "rows.parquet"
            table.to_parquet(path)
        else:
            assert data is not None
            path.write_bytes(data)
        if name != "xquad_en":
            options["file"] = str(path)
        return load_task(make_spec(name=name, data_dir=str(tmp_path), strict=strict, options=options))

    return load_file
