"""SQuAD-form data sets named by the config: real fixture files, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.registry import load_task

Make = Callable[..., TaskSpec]


@pytest.fixture
def load(make_spec: Make, capsule_data: Path) -> Callable[..., TaskData]:
    def load_file(file: str, *, examples: int = 0, **options: object) -> TaskData:
        spec = make_spec(
            name="squad", data_dir=str(capsule_data), examples=examples, options={"file": file, **options}
        )
        return load_task(spec)

    return load_file


@pytest.mark.parametrize(
    ("file", "samples", "refused"),
    [("squad.json", 5, {}), ("squad2.json", 5, {"gold.missing": 1}), ("quoref_sample.json", 4, {})],
)
def test_small_real_files_are_read(
    load: Callable[..., TaskData], file: str, samples: int, refused: dict[str, int]
) -> None:
    data = load(f"allennlp-rc-fixtures/{file}")
    assert len(data.samples) == samples
    assert Counter(one.code for one in data.refused) == refused


def test_unanswerable_rows_are_samples_where_allowed(load: Callable[..., TaskData]) -> None:
    data = load("allennlp-rc-fixtures/squad2.json", unanswerable=True)
    assert [one.code for one in data.refused] == ["row.id.duplicate"]  # the published file has it twice
    assert [one.gold.answers for one in data.samples].count(()) == 1


def test_titles_of_the_file_become_titles_of_sources(load: Callable[..., TaskData]) -> None:
    titled = load("allennlp-rc-fixtures/squad.json")
    assert all(doc.title for one in titled.samples for doc in one.input.sources)
    untitled = load("allennlp-rc-fixtures/squad.json", titled=False)
    assert not any(doc.title for one in untitled.samples for doc in one.input.sources)
    assert titled.content_digest != untitled.content_digest


def test_names_of_the_config_reach_the_data(load: Callable[..., TaskData]) -> None:
    data = load("allennlp-rc-fixtures/squad.json", dataset="mine", license="MIT")
    doc = data.samples[0].input.sources[0]
    assert (data.dataset, data.license, doc.license, doc.origin.dataset) == ("mine", "MIT", "MIT", "mine")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "40 hex"),
        ({"hub": "a/b"}, "a/b on the hub: expected task.revision=<40 hex>"),
        ({"file": "a.json"}, "CAPSULE_DATA"),
        ({"file": "a.json", "window": -1}, "0 or more"),
        ({"file": "a.json", "titled": "yes"}, "expected bool"),
    ],
)
def test_a_bad_setting_is_a_named_error(make_spec: Make, options: dict[str, object], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        load_task(make_spec(name="squad", options=options))


PUBLISHED: dict[str, tuple[int, dict[str, int], dict[str, int]]] = {
    "arcd": (699, {"gold.mismatch": 3}, {}),
    "cmrc2018": (1000, {"text.empty": 2}, {"utf16": 5}),
    "covid_qa": (1380, {}, {"nearest+2": 10, "nearest+3": 28, "nearest-1": 196}),
    "jsquad": (4442, {}, {}),
}


@pytest.mark.parametrize(("name", "expected"), PUBLISHED.items())
def test_published_files_are_read_repaired_and_refused_as_counted(
    make_spec: Make, capsule_data: Path, name: str, expected: tuple[int, dict[str, int], dict[str, int]]
) -> None:
    data = load_task(make_spec(name=name, data_dir=str(capsule_data)))
    samples, refused, repaired = expected
    assert len(data.samples) == samples
    assert Counter(one.code for one in data.refused) == refused
    assert data.repaired == repaired
    for sample in data.samples:
        texts = {doc.doc_id: doc.text for doc in sample.input.sources}
        found = {texts[span.doc_id][span.start : span.end] for span in sample.gold.spans}
        assert found == set(sample.gold.answers)


def test_without_a_window_wrong_offsets_are_refused(make_spec: Make, capsule_data: Path) -> None:
    data = load_task(make_spec(name="covid_qa", data_dir=str(capsule_data), options={"window": 0}))
    assert (len(data.samples), len(data.refused), data.repaired) == (1146, 234, {})


def test_a_named_set_without_a_folder_names_the_variable(make_spec: Make) -> None:
    with pytest.raises(TaskError, match="CAPSULE_DATA"):
        load_task(make_spec(name="jsquad"))
