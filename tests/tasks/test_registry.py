"""Task names, tasks of the user's own, and what is checked of every task."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from capsules.source import Origin
from tasks.base import (
    Gold,
    LabelledContradiction,
    Sample,
    SampleInput,
    SourceDoc,
    TaskData,
    TaskError,
    TaskSpec,
    TextRange,
)
from tasks.registry import TASKS, load_task, resolve_task

Make = Callable[..., TaskSpec]


def test_names_resolve_to_their_tasks() -> None:
    for name, task in TASKS.items():
        assert resolve_task(name) is task


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(TaskError) as caught:
        resolve_task("xquad_fr")
    for name in TASKS:
        assert name in str(caught.value)
    assert "module:attribute" in str(caught.value)


@pytest.mark.parametrize("name", ["no_such_module:task", "tasks.synthetic:nothing", ":x", "tasks.synthetic:"])
def test_what_cannot_be_imported_is_a_named_error(name: str) -> None:
    with pytest.raises(TaskError, match="cannot be imported"):
        resolve_task(name)


def test_what_is_no_function_is_a_named_error() -> None:
    with pytest.raises(TaskError, match="found str"):
        resolve_task("tasks.synthetic:REVISION")


DOC = SourceDoc(
    doc_id="d",
    text="The lamp stands 41 m high.",
    title=None,
    origin=Origin(dataset="own", row="d"),
    license="CC0-1.0",
    project="bench",
)
SAMPLE = Sample(
    input=SampleInput(
        sample_id="s",
        task="own:task",
        project="bench",
        question="How high?",
        sources=(DOC,),
        as_of="2026-06-01T00:00:00Z",
    ),
    gold=Gold(answers=("41 m",), spans=(TextRange(doc_id="d", start=16, end=20),)),
)
DATA = TaskData(
    samples=(SAMPLE,),
    examples=(),
    dataset="own",
    revision="1",
    license="CC0-1.0",
    content_digest="b3:" + "0" * 64,
    rows=1,
    origin="own",
)


@pytest.fixture
def load_own(make_spec: Make, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], TaskData]:
    """Load what a task of the user's own returns."""

    def load(data: Any) -> TaskData:
        module = ModuleType("own_tasks_of_a_user")
        module.task = lambda spec: data  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "own_tasks_of_a_user", module)
        return load_task(make_spec(name="own_tasks_of_a_user:task"))

    return load


def test_a_task_of_ones_own_is_loaded(load_own: Callable[[Any], TaskData]) -> None:
    assert load_own(DATA) is DATA


def test_a_corpus_takes_the_place_of_the_samples_sources(load_own: Callable[[Any], TaskData]) -> None:
    assert load_own(shared(DOC)) == shared(DOC)
    example = replace(SAMPLE, input=replace(SAMPLE.input, sample_id="example"))  # keeps its own
    load_own(replace(shared(DOC), examples=(example,)))


def with_doc(**changes: Any) -> TaskData:
    return with_input(sources=(replace(DOC, **changes),))


def with_input(**changes: Any) -> TaskData:
    return replace(DATA, samples=(replace(SAMPLE, input=replace(SAMPLE.input, **changes)),))


def with_gold(**changes: Any) -> TaskData:
    return replace(DATA, samples=(replace(SAMPLE, gold=replace(SAMPLE.gold, **changes)),))


def at(start: int, end: int, doc_id: str = "d") -> TextRange:
    return TextRange(doc_id=doc_id, start=start, end=end)


def shared(*corpus: SourceDoc) -> TaskData:
    return replace(with_input(sources=()), corpus=corpus)


BROKEN: dict[str, tuple[Any, str]] = {
    "no TaskData": ([SAMPLE], "expected TaskData"),
    "a digest of another form": (replace(DATA, content_digest="abc"), "content digest"),
    "rows that do not add up": (replace(DATA, read=3, unused=1), "3 rows read, but 2 evaluated"),
    "an id twice": (replace(DATA, samples=(SAMPLE, SAMPLE)), "twice"),
    "an example that is evaluated": (replace(DATA, examples=(SAMPLE,)), "twice"),
    "another project": (with_input(project="other"), "project"),
    "no source": (with_input(sources=()), "no source"),
    "a doc_id twice": (with_input(sources=(DOC, DOC)), "not unique"),
    "an empty question": (with_input(question=" "), "question: expected text"),
    "a time of another form": (with_input(as_of="2026-06-01"), "as_of"),
    "an empty document": (with_doc(text="\n"), "text.empty"),
    "a control character": (with_doc(text="a\x00b, that is long enough"), "text.control"),
    "a lone surrogate": (with_doc(text="a\ud800b, that is long enough"), "json.string.surrogate"),
    "an unknown level": (with_doc(level="secret"), "level"),
    "an expiry of another form": (with_doc(expires_at="soon"), "expires_at"),
    "an empty gold range": (with_gold(spans=(at(3, 3),)), "gold span"),
    "a gold range past the end": (with_gold(spans=(at(3, 27),)), "gold span"),
    "a negative gold range": (with_gold(spans=(at(-1, 3),)), "gold span"),
    "gold in an unknown document": (with_gold(spans=(at(0, 3, "e"),)), "unknown document"),
    "an unknown distractor": (with_gold(distractors=("e",)), "does not have"),
    "an unknown denied document": (with_gold(denied=("e",)), "does not have"),
    "a required range past the end": (with_input(required=(at(0, 99),)), "required"),
    "sources beside a corpus": (replace(DATA, corpus=(DOC,)), "expected no sources of its own"),
    "a doc_id twice in a corpus": (shared(DOC, DOC), "doc_ids of the corpus"),
    "a document of a corpus that is no text": (
        shared(DOC, replace(DOC, doc_id="e", text="\n")),
        "text.empty",
    ),
    "a gold range past the end of the corpus's document": (shared(replace(DOC, text="Short.")), "gold span"),
    "gold outside the corpus": (shared(replace(DOC, doc_id="e")), "unknown document"),
    "a contradiction past the end": (
        with_input(contradictions=(LabelledContradiction(left=at(0, 3), right=at(0, 99), kind="numeric"),)),
        "contradiction",
    ),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN)
def test_what_a_task_returns_is_checked(load_own: Callable[[Any], TaskData], data: Any, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        load_own(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("as_of", "2026-06-01"),
        ("as_of", "2026-02-30T00:00:00Z"),
        ("project", ""),
        ("limit", 0),
        ("examples", -1),
        ("digest", "abc"),
    ],
)
def test_a_spec_that_no_task_could_follow_is_refused(make_spec: Make, key: str, value: object) -> None:
    with pytest.raises(TaskError, match=rf"task\.{key}"):
        load_task(make_spec(**{key: value}))


CONF = Path(__file__).parents[2] / "conf" / "task"


def test_every_task_has_a_config_and_every_config_a_task() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} - {"local_set"} == set(TASKS)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_config_names_its_task_and_options_that_it_knows(name: str, make_spec: Make) -> None:
    """Composed without the schema: an unknown option would be refused before any file is looked for."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(CONF), version_base=None):
        values = OmegaConf.to_container(compose(name), resolve=True)
    assert isinstance(values, dict)
    assert values["name"] == name
    spec = make_spec(**{str(key): value for key, value in values.items()})
    if name == "synthetic":
        assert len(load_task(replace(spec, limit=4)).samples) == 4
        return
    expected = (
        r"expected (exactly one of )?task\.options\.file" if name in ("custom", "squad") else "no such folder"
    )
    with pytest.raises(TaskError, match=expected):
        load_task(replace(spec, data_dir="/nowhere"))
