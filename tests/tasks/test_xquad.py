"""XQuAD from its real files: offsets, neighbours, digests, and the hub's layout as another way in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import Task, TaskData, TaskError, TaskSpec
from tasks.registry import TASKS, load_task
from tasks.xquad import LANGUAGES, REVISION, share

Make = Callable[..., TaskSpec]


@pytest.fixture
def english(make_spec: Make, capsule_data: Path) -> Callable[..., TaskSpec]:
    return partial(
        make_spec,
        name="xquad_en",
        data_dir=str(capsule_data),
        revision=REVISION,
        limit=48,
        examples=2,
        strict=True,
    )


def published(folder: Path, language: str) -> list[dict[str, object]]:
    """The rows of a file as the hub has them, read without any of our code."""
    value = json.loads((folder / "xquad" / f"xquad.{language}.json").read_text(encoding="utf-8"))
    return [
        {
            "id": qa["id"],
            "context": paragraph["context"],
            "question": qa["question"],
            "answers": {
                "text": [one["text"] for one in qa["answers"]],
                "answer_start": [one["answer_start"] for one in qa["answers"]],
            },
        }
        for article in value["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]


def test_48_samples_in_file_order(english: Make, capsule_data: Path) -> None:
    data = load_task(english())
    rows = published(capsule_data, "en")[:48]
    assert [one.input.sample_id for one in data.samples] == [f"en-{row['id']}" for row in rows]
    assert [one.input.question for one in data.samples] == [row["question"] for row in rows]
    assert (data.dataset, data.license, data.origin) == ("xquad.en", "CC-BY-SA-4.0", "local JSON")


def test_the_gold_context_stands_among_its_three_nearest_in_file_order(
    english: Make, capsule_data: Path
) -> None:
    rows = published(capsule_data, "en")
    contexts = list(dict.fromkeys(str(row["context"]) for row in rows))
    data = load_task(english(limit=200))
    for sample, row in zip(data.samples, rows, strict=False):
        own = contexts.index(str(row["context"]))
        others = sorted((n for n in range(240) if n != own), key=lambda n: (abs(n - own), n))[:3]
        assert [doc.text for doc in sample.input.sources] == [contexts[n] for n in sorted([own, *others])]


def test_the_digest_is_over_the_used_rows_alone(english: Make, capsule_data: Path) -> None:
    """48 rows from the top; the contexts they show; two examples at the end and their pairs."""
    data = load_task(english())
    rows = published(capsule_data, "en")
    shown = {doc.text for one in (*data.samples, *data.examples) for doc in one.input.sources}
    asked = {one.input.sample_id for one in (*data.samples, *data.examples)}
    used = [row for row in rows if f"en-{row['id']}" in asked]
    covered = {row["context"] for row in used}
    for text in shown - covered:
        used.append(next(row for row in rows if row["context"] == text))
    used.sort(key=rows.index)
    assert data.rows == len(used) == 53
    assert data.content_digest == content_id(canonical_bytes(used))


def test_the_digest_is_pinned(english: Make) -> None:
    pinned = "b3:62d3c499d226993139d8d0fbb5f393b08e61b2df35bbb1405750ef0e8a862ceb"
    assert load_task(english(digest=pinned)).content_digest == pinned
    with pytest.raises(TaskError) as caught:
        load_task(english(digest=pinned, limit=47))
    assert pinned in str(caught.value)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_gold_span_is_exact_in_code_points(english: Make, language: str) -> None:
    data = load_task(english(name=f"xquad_{language}", limit=None, examples=0))
    assert len(data.samples) == 1190
    assert not data.refused
    for sample in data.samples:
        texts = {doc.doc_id: doc.text for doc in sample.input.sources}
        for answer, span in zip(sample.gold.answers, sample.gold.spans, strict=True):
            assert texts[span.doc_id][span.start : span.end] == answer


@pytest.mark.parametrize(("language", "contexts"), [("zh", 6), ("th", 7), ("en", 0)])
def test_a_leading_byte_order_mark_stays_in_the_text(english: Make, language: str, contexts: int) -> None:
    data = load_task(english(name=f"xquad_{language}", limit=None, examples=0))
    texts = {doc.text for one in data.samples for doc in one.input.sources}
    assert sum(text.startswith("\ufeff") for text in texts) == contexts


def test_all_five_languages_share_the_limit(english: Make) -> None:
    data = load_task(english(name="xquad", limit=12))
    assert [one.input.sample_id[:2] for one in data.samples] == [
        *["en"] * 3,
        *["zh"] * 3,
        *["ar"] * 2,
        *["hi"] * 2,
        *["th"] * 2,
    ]
    assert [one.input.sample_id[:2] for one in data.examples] == ["en", "zh"]
    assert len({one.input.sample_id for one in data.samples}) == 12


def test_shares_add_up() -> None:
    assert [share(7, place, 5) for place in range(5)] == [2, 2, 1, 1, 1]
    assert [share(3, place, 5) for place in range(5)] == [1, 1, 1, 0, 0]


def test_a_language_alone_gives_the_samples_that_it_gives_among_five(english: Make) -> None:
    alone = load_task(english(limit=3, examples=1))
    among = load_task(english(name="xquad", limit=15, examples=5))
    for one, other in zip(alone.samples, among.samples[:3], strict=True):
        assert replace(other.input, task="xquad_en") == one.input
        assert other.gold == one.gold


def hub_folder(folder: Path, rows: list[dict[str, object]], language: str, shards: int = 1) -> Path:
    """Write rows as the hub keeps them: Parquet files of its schema."""
    (folder / f"xquad.{language}").mkdir(parents=True)
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("context", pa.string()),
            ("question", pa.string()),
            ("answers", pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])),
        ]
    )
    size = -(-len(rows) // shards)
    for shard in range(shards):
        name = f"validation-{shard:05d}-of-{shards:05d}.parquet"
        table = pa.Table.from_pylist(rows[shard * size : (shard + 1) * size], schema=schema)
        pq.write_table(table, folder / f"xquad.{language}" / name, row_group_size=100)
    return folder


def samples_and_digest(data: TaskData) -> tuple[object, ...]:
    return data.samples, data.examples, data.content_digest, data.rows, data.refused


@pytest.mark.parametrize(("language", "shards"), [("en", 1), ("th", 3)])
def test_the_hubs_layout_gives_the_same_samples_and_digest(
    english: Make, capsule_data: Path, tmp_path: Path, language: str, shards: int
) -> None:
    folder = hub_folder(tmp_path, published(capsule_data, language), language, shards)
    spec = english(name=f"xquad_{language}")
    local, parquet = load_task(spec), load_task(replace(spec, data_dir=str(folder)))
    assert samples_and_digest(parquet) == samples_and_digest(local)
    assert (local.origin, parquet.origin) == ("local JSON", "local Parquet")


def test_the_hub_path_gives_the_same_samples_and_digest(
    english: Make, capsule_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub's client answers from a snapshot folder; everything after it is the real path."""
    import huggingface_hub

    folder = hub_folder(tmp_path, published(capsule_data, "en"), "en")
    asked: list[tuple[str, str]] = []

    def snapshot(repo: str, *, repo_type: str, revision: str, allow_patterns: list[str]) -> str:
        assert (repo_type, allow_patterns) == ("dataset", ["xquad.en/validation-*.parquet"])
        asked.append((repo, revision))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    hub = load_task(english(data_dir=None))
    assert asked == [("google/xquad", REVISION)]
    assert samples_and_digest(hub) == samples_and_digest(load_task(english()))
    assert (hub.origin, hub.revision) == ("hub", REVISION)


@pytest.mark.parametrize("revision", [None, "main", "51adfef"])
def test_a_revision_that_is_no_commit_fails_before_the_network(
    make_spec: Make, monkeypatch: pytest.MonkeyPatch, revision: str | None
) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("asked the hub"))
    with pytest.raises(TaskError, match="40 hex"):
        load_task(make_spec(name="xquad_en", revision=revision))


def test_a_short_revision_is_refused_for_local_files_too(english: Make) -> None:
    with pytest.raises(TaskError, match="40 hex"):
        load_task(english(revision="main"))


def test_an_empty_folder_says_what_was_expected(make_spec: Make, tmp_path: Path) -> None:
    with pytest.raises(TaskError) as caught:
        load_task(make_spec(name="xquad_en", data_dir=str(tmp_path), revision=REVISION))
    for part in ("CAPSULE_DATA", "xquad/xquad.en.json", "xquad.en/validation-*.parquet", str(tmp_path)):
        assert part in str(caught.value)


def test_files_may_lie_in_the_folder_itself(english: Make, capsule_data: Path, tmp_path: Path) -> None:
    shutil.copyfile(capsule_data / "xquad" / "xquad.en.json", tmp_path / "xquad.en.json")
    assert samples_and_digest(load_task(english(data_dir=str(tmp_path)))) == samples_and_digest(
        load_task(english())
    )


def test_one_bad_row_is_counted_and_fatal_under_strict(
    english: Make, capsule_data: Path, tmp_path: Path
) -> None:
    value = json.loads((capsule_data / "xquad" / "xquad.en.json").read_text(encoding="utf-8"))
    value["data"][0]["paragraphs"][0]["qas"][2]["answers"][0]["answer_start"] += 1
    (tmp_path / "xquad.en.json").write_text(json.JSONEncoder().encode(value), encoding="utf-8")
    spec = english(data_dir=str(tmp_path), strict=False)
    data = load_task(spec)
    assert [(one.row, one.code) for one in data.refused] == [
        ("xquad.en data/0/paragraphs/0/qas/2", "gold.mismatch")
    ]
    assert len(data.samples) == 48
    with pytest.raises(TaskError, match=r"strict.*gold\.mismatch"):
        load_task(replace(spec, strict=True))


def test_a_file_of_another_form_is_a_named_error(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "xquad.en.json").write_text('{"rows": []}')
    with pytest.raises(TaskError, match=r"expected SQuAD JSON: row\.field\.missing: .*under the key"):
        load_task(make_spec(name="xquad_en", data_dir=str(tmp_path)))


@pytest.mark.parametrize("name", [name for name in TASKS if name.startswith("xquad")])
def test_an_unknown_option_lists_the_known_ones(make_spec: Make, name: str) -> None:
    task: Task = TASKS[name]
    with pytest.raises(TaskError, match="example_chars, neighbours"):
        task(make_spec(name=name, options={"neighbors": 3}))


@pytest.mark.parametrize("value", [-1, "3", True, 2.5])
def test_an_option_of_another_kind_is_refused(english: Make, value: object) -> None:
    with pytest.raises(TaskError, match=r"task\.options\.neighbours"):
        load_task(english(options={"neighbours": value}))
