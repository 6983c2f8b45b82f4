"""Own data: a JSON Lines file (or a table), one sample a line. ``docs/own-data.md`` is the form's page.

    {"id": str, "question": str,
     "sources": [{"id": str, "text": str, "title"?, "project"?, "level"?, "as_of"?,
                  "expires_at"?, "license"?}],
     "answers"?: [str], "spans"?: [{"source": str, "start": int, "end": int}],
     "required"?: [{"source", "start", "end"}]}

The rules:

- Offsets are code points of the raw text, half-open. ``spans`` and ``answers`` are gold and seen
  by scorers alone; ``required`` is seen by builders, which may not drop it.
- An unknown key is refused: a misspelt ``expires_at`` would otherwise lift a limit in silence.
- What a source does not say: the project of the run, level ``public``, no expiry.
- With the option ``corpus`` the lines have no ``sources``: the named file holds one source a line, all
  lines share them, and ranges name them. Two sources of one id: the first line stays.
- Examples, digest: :mod:`tasks.listed`.

Options: those of :mod:`tasks.sources` (a table has the columns above; null is a missing key), ``corpus``
(a file like ``file``; on a hub like ``hub_files``), ``dataset``, ``license``, ``max_level`` (what the gold
counts as denied lies above it), ``example_chars``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from capsules.source import Origin
from capsules.timestamp import is_time
from capsules.visibility import LEVELS
from tasks.base import (
    Gold,
    RefusedRow,
    Sample,
    SampleInput,
    SourceDoc,
    TaskData,
    TaskError,
    TaskSpec,
    TextRange,
)
from tasks.fields import (
    RowRefused,
    checked_text,
    field,
    known_keys,
    of_kind,
    optional,
    text_field,
    whole_row,
)
from tasks.finish import count_option, only_options, option
from tasks.judging import judge_all
from tasks.listed import Made, load_listed
from tasks.passages import CorpusRow
from tasks.rows import Home, RawRow, Rows
from tasks.sources import FROM, open_home

ROW_KEYS = frozenset({"id", "question", "sources", "answers", "spans", "required"})
SOURCE_KEYS = frozenset({"id", "text", "title", "project", "level", "as_of", "expires_at", "license"})
RANGE_KEYS = frozenset({"source", "start", "end"})


def custom(spec: TaskSpec) -> TaskData:
    """Load a file of own data.

    Raises:
        TaskError: No file is named or found, or see :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, "corpus", "dataset", "example_chars", "license", "max_level")
    if option(spec, "max_level", "internal") not in LEVELS:
        raise TaskError(f"task.options.max_level: expected one of {', '.join(LEVELS)}")
    # Without a folder of data, a file is looked for below the working directory.
    beside = option(spec, "file", "") and not spec.data_dir
    where = replace(spec, data_dir=".") if beside else spec
    found = open_home(where, Home(file=""))
    corpus: list[CorpusRow] = []
    refused: list[RefusedRow] = []
    known: Known | None = None
    if name := option(spec, "corpus", ""):
        named = {**spec.options, "file": name if option(spec, "file", "") else "", "hub_files": name}
        shared = open_home(replace(where, options=named), Home(file=""))
        corpus, refused = corpus_rows(shared, spec)
        known = Known.of([row.doc for row in corpus], spec)
        lines = found.revision
        found = replace(found, revision=lambda: f"{lines()}, {shared.revision()}")
    return load_listed(
        spec,
        found,
        lambda row, spec, where: custom_row(row, spec, known),
        dataset=option(spec, "dataset", "custom"),
        license=option(spec, "license", "unspecified"),
        example_chars=count_option(spec, "example_chars", 2000),
        corpus=corpus,
        refused=refused,
    )


def corpus_rows(found: Rows, spec: TaskSpec) -> tuple[list[CorpusRow], list[RefusedRow]]:
    """The sources of a corpus file, and the lines that are none, each in file order.

    Raises:
        TaskError: The file has no source.
    """

    def judge(raw: RawRow) -> CorpusRow:
        row = whole_row(raw.value)
        return CorpusRow(doc=_source(row, "", spec), value=row)

    verdicts = judge_all(found.rows, judge, lambda row: row.doc.doc_id)
    rows = [row for _, _, row in verdicts.kept]
    if not rows:
        raise TaskError(f"task {spec.name}: expected at least one source in task.options.corpus, found none")
    return rows, [replace(row, row=f"corpus {row.row}") for row in verdicts.all_refused()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The documents that a line may name, and which of them may not be shown."""

    docs: Mapping[str, SourceDoc]
    expired: tuple[str, ...]
    denied: tuple[str, ...]

    @classmethod
    def of(cls, docs: Sequence[SourceDoc], spec: TaskSpec) -> Known:
        """Judge the labels and times of these documents."""
        highest = LEVELS.index(option(spec, "max_level", "internal"))
        return cls(
            docs={doc.doc_id: doc for doc in docs},
            expired=tuple(d.doc_id for d in docs if d.expires_at is not None and d.expires_at <= spec.as_of),
            denied=tuple(
                d.doc_id for d in docs if d.project != spec.project or LEVELS.index(d.level) > highest
            ),
        )


def custom_row(row: dict[str, object], spec: TaskSpec, corpus: Known | None = None) -> Made:
    """Make a sample of one row, all of which is used.

    Raises:
        RowRefused: The row is not of the form.
    """
    sample = custom_sample(row, spec, corpus)
    return Made(sample=sample, value=row, exact=len(sample.gold.spans))


def custom_sample(row: dict[str, object], spec: TaskSpec, corpus: Known | None = None) -> Sample:
    """Make a sample of one row.

    Args:
        row: The line.
        spec: The task.
        corpus: The documents that the lines share; ``None``: every line brings its own.

    Raises:
        RowRefused: The row is not of the form.
    """
    known_keys(row, ROW_KEYS)
    sources = _own_sources(row, spec) if corpus is None else ()
    known = Known.of(sources, spec) if corpus is None else corpus
    if corpus is not None and "sources" in row:
        raise RowRefused("row.field.unknown", "/sources", "a line has no sources where the task has a corpus")
    answers = optional(row, "answers", list) or []
    return Sample(
        input=SampleInput(
            sample_id=text_field(row, "id"),
            task=spec.name,
            project=spec.project,
            question=text_field(row, "question"),
            sources=sources,
            as_of=spec.as_of,
            required=_ranges(row, "required", known.docs),
        ),
        gold=Gold(
            answers=tuple(
                checked_text(of_kind(a, str, f"/answers/{i}"), f"/answers/{i}") for i, a in enumerate(answers)
            ),
            spans=_ranges(row, "spans", known.docs),
            expired=known.expired,
            denied=known.denied,
        ),
    )


def _own_sources(row: dict[str, object], spec: TaskSpec) -> tuple[SourceDoc, ...]:
    listed = field(row, "sources", list)
    sources = tuple(_source(one, f"/sources/{i}", spec) for i, one in enumerate(listed))
    if not sources:
        raise RowRefused("row.field.value", "/sources", "expected at least one source")
    if len({doc.doc_id for doc in sources}) < len(sources):
        raise RowRefused("row.id.duplicate", "/sources", "two sources with one id")
    return sources


def _source(value: object, where: str, spec: TaskSpec) -> SourceDoc:
    one: dict[str, object] = of_kind(value, dict, where)
    known_keys(one, SOURCE_KEYS, where)
    level = optional(one, "level", str, where) or "public"
    if level not in LEVELS:
        raise RowRefused(
            "row.field.value", f"{where}/level", f"expected one of {', '.join(LEVELS)}, found {level!r}"
        )
    doc_id = text_field(one, "id", where)
    return SourceDoc(
        doc_id=doc_id,
        text=text_field(one, "text", where),
        title=optional(one, "title", str, where),
        origin=Origin(dataset=option(spec, "dataset", "custom"), row=doc_id),
        license=optional(one, "license", str, where) or option(spec, "license", "unspecified"),
        project=optional(one, "project", str, where) or spec.project,
        level=level,
        as_of=_time(one, "as_of", where),
        expires_at=_time(one, "expires_at", where),
    )


def _time(one: dict[str, object], name: str, where: str) -> str | None:
    value = optional(one, name, str, where)
    if value is not None and not is_time(value):
        raise RowRefused(
            "row.field.value", f"{where}/{name}", f"expected YYYY-MM-DDTHH:MM:SSZ, found {value[:40]!r}"
        )
    return value


def _ranges(row: dict[str, object], name: str, docs: Mapping[str, SourceDoc]) -> tuple[TextRange, ...]:
    found: list[TextRange] = []
    listed: list[object] = optional(row, name, list) or []
    for i, value in enumerate(listed):
        where = f"/{name}/{i}"
        one: dict[str, object] = of_kind(value, dict, where)
        known_keys(one, RANGE_KEYS, where)
        source = field(one, "source", str, where)
        start, end = field(one, "start", int, where), field(one, "end", int, where)
        if source not in docs:
            raise RowRefused(
                "gold.source.missing", f"{where}/source", f"no source {source[:40]!r} in the row"
            )
        length = len(docs[source].text)
        if not 0 <= start < end <= length:
            raise RowRefused("gold.range", where, f"[{start}, {end}) of a text of {length} code points")
        found.append(TextRange(doc_id=source, start=start, end=end))
    return tuple(found)
