"""What holds of every task's spec and samples, whoever wrote the task.

Checked once after loading, so that builders and scorers can rely on it: ids are unique, ranges
lie inside their documents, labels and times are of the known form, documents are text that can
enter a capsule, and no few-shot example is evaluated. Where a task brings a corpus, an evaluated
sample has no sources of its own, and its ranges lie in documents of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from capsules.content_id import is_content_id
from capsules.timestamp import is_time
from capsules.visibility import LEVELS
from tasks.base import Gold, Sample, SourceDoc, TaskData, TaskError, TaskSpec, TextRange
from tasks.fields import RowRefused, checked_text
from tasks.strict_json import string_fault


def check_spec(spec: TaskSpec) -> None:
    """Refuse a spec that no task could follow.

    Raises:
        TaskError: With the key, what was expected and what was found.
    """
    problems = (
        (is_time(spec.as_of), "as_of", "a time YYYY-MM-DDTHH:MM:SSZ", spec.as_of),
        (bool(spec.project), "project", "a name", spec.project),
        (spec.limit is None or spec.limit > 0, "limit", "null or at least 1", spec.limit),
        (spec.examples >= 0, "examples", "0 or more", spec.examples),
        (spec.digest is None or is_content_id(spec.digest), "digest", "null or b3:<64 hex>", spec.digest),
    )
    for good, key, expected, found in problems:
        if not good:
            raise TaskError(f"task.{key} of {spec.name}: expected {expected}, found {found!r}")


def check_data(spec: TaskSpec, data: TaskData) -> None:
    """Refuse loaded data that break what builders and scorers rely on.

    Raises:
        TaskError: With the sample, what was expected and what was found.
    """
    if not isinstance(data, TaskData):
        raise TaskError(f"task {spec.name}: expected TaskData, found {type(data).__name__}")
    problem = next(_problems(spec, data), None)
    if problem is not None:
        raise TaskError(f"task {spec.name}: {problem}")


def _problems(spec: TaskSpec, data: TaskData) -> Iterator[str]:
    if not is_content_id(data.content_digest):
        yield f"expected a content digest b3:<64 hex>, found {data.content_digest!r}"
    used = len(data.samples) + data.reserved + len(data.refused) + data.unused
    if data.read is not None and data.read != used:
        yield f"{data.read} rows read, but {used} evaluated, reserved, refused or beyond the limit"
    seen: set[str] = set()
    sound: set[SourceDoc] = set()  # most samples share their documents: each is read once
    corpus = {doc.doc_id: doc for doc in data.corpus}
    if len(corpus) < len(data.corpus):
        yield "the doc_ids of the corpus are not unique"
    for doc in data.corpus:
        yield from _doc_problems(doc)
    examples = len(data.examples)
    for number, sample in enumerate((*data.examples, *data.samples)):
        name = sample.input.sample_id
        if name in seen:
            yield f"the sample id {name!r} twice (examples may not be evaluated)"
        seen.add(name)
        if sample.input.project != spec.project:
            yield f"sample {name!r}: expected the project {spec.project!r}, found {sample.input.project!r}"
        for problem in _sample_problems(sample, sound, corpus if number >= examples else {}):
            yield f"sample {name!r}: {problem}"


def _sample_problems(sample: Sample, sound: set[SourceDoc], corpus: Mapping[str, SourceDoc]) -> Iterator[str]:
    docs: Mapping[str, SourceDoc] = {doc.doc_id: doc for doc in sample.input.sources}
    if len(docs) < len(sample.input.sources):
        yield "doc_ids are not unique"
    if corpus and docs:
        yield f"expected no sources of its own, for the task has a corpus; found {len(docs)}"
    docs = docs or corpus
    if not docs:
        yield "no source at all"
    if not is_time(sample.input.as_of):
        yield f"as_of is no time: {sample.input.as_of!r}"
    yield from _text_problems(sample.input.question, "question")
    for doc in sample.input.sources:
        if doc not in sound:
            yield from _doc_problems(doc)
            sound.add(doc)
    for pair in sample.input.contradictions:
        yield from _range_problems((pair.left, pair.right), docs, "contradiction")
    yield from _range_problems(sample.input.required, docs, "required")
    yield from _gold_problems(sample.gold, docs)


def _gold_problems(gold: Gold, docs: Mapping[str, SourceDoc]) -> Iterator[str]:
    yield from _range_problems(gold.spans, docs, "gold span")
    for doc_id in (*gold.distractors, *gold.expired, *gold.denied):
        if doc_id not in docs:
            yield f"gold names the document {doc_id!r}, which the sample does not have"


def _range_problems(ranges: tuple[TextRange, ...], docs: Mapping[str, SourceDoc], what: str) -> Iterator[str]:
    for one in ranges:
        doc = docs.get(one.doc_id)
        if doc is None:
            yield f"{what}: unknown document {one.doc_id!r}"
        elif not 0 <= one.start < one.end <= len(doc.text):
            yield f"{what}: [{one.start}, {one.end}) is no range of {one.doc_id!r}, {len(doc.text)} long"


def _doc_problems(doc: SourceDoc) -> Iterator[str]:
    yield from _text_problems(doc.text, f"document {doc.doc_id!r}")
    if doc.level not in LEVELS:
        yield f"document {doc.doc_id!r}: expected a level of {', '.join(LEVELS)}, found {doc.level!r}"
    for name, time in (("as_of", doc.as_of), ("expires_at", doc.expires_at)):
        if time is not None and not is_time(time):
            yield f"document {doc.doc_id!r}: {name} is no time: {time!r}"


def _text_problems(text: str, where: str) -> Iterator[str]:
    fault = string_fault(text)
    if fault is not None:
        yield f"{where}: {fault.reason} ({fault.code})"
        return
    try:
        checked_text(text, where)
    except RowRefused as error:
        yield f"{where}: {error} ({error.code})"
