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
- Examples, digest: :mod:`tasks.listed`.

Options: those of :mod:`tasks.sources` (a table has the columns above; null is a missing key), ``dataset``,
``license``, ``max_level`` (what the gold counts as denied lies above it), ``example_chars``.
"""

from __future__ import annotations

from dataclasses import replace

from capsules.source import Origin
from capsules.timestamp import is_time
from capsules.visibility import LEVELS
from tasks.base import (
    Gold,
    Sample,
    SampleInput,
    SourceDoc,
    TaskData,
    TaskError,
    TaskSpec,
    TextRange,
)
from tasks.fields import RowRefused, checked_text, field, known_keys, of_kind, optional, text_field
from tasks.finish import count_option, only_options, option
from tasks.listed import Made, load_listed
from tasks.rows import Home
from tasks.sources import FROM, open_home

ROW_KEYS = frozenset({"id", "question", "sources", "answers", "spans", "required"})
SOURCE_KEYS = frozenset({"id", "text", "title", "project", "level", "as_of", "expires_at", "license"})
RANGE_KEYS = frozenset({"source", "start", "end"})


def custom(spec: TaskSpec) -> TaskData:
    """Load a file of own data.

    Raises:
        TaskError: No file is named or found, or see :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, "dataset", "example_chars", "license", "max_level")
    if option(spec, "max_level", "internal") not in LEVELS:
        raise TaskError(f"task.options.max_level: expected one of {', '.join(LEVELS)}")
    # Without a folder of data, a file is looked for below the working directory.
    beside = option(spec, "file", "") and not spec.data_dir
    return load_listed(
        spec,
        open_home(replace(spec, data_dir=".") if beside else spec, Home(file="")),
        custom_row,
        dataset=option(spec, "dataset", "custom"),
        license=option(spec, "license", "unspecified"),
        example_chars=count_option(spec, "example_chars", 2000),
    )


def custom_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one row, all of which is used.

    Raises:
        RowRefused: The row is not of the form.
    """
    sample = custom_sample(row, spec)
    return Made(sample=sample, value=row, exact=len(sample.gold.spans))


def custom_sample(row: dict[str, object], spec: TaskSpec) -> Sample:
    """Make a sample of one row.

    Raises:
        RowRefused: The row is not of the form.
    """
    known_keys(row, ROW_KEYS)
    listed = field(row, "sources", list)
    sources = tuple(_source(one, f"/sources/{i}", spec) for i, one in enumerate(listed))
    if not sources:
        raise RowRefused("row.field.value", "/sources", "expected at least one source")
    texts = {doc.doc_id: doc.text for doc in sources}
    if len(texts) < len(sources):
        raise RowRefused("row.id.duplicate", "/sources", "two sources with one id")
    answers = optional(row, "answers", list) or []
    highest = LEVELS.index(option(spec, "max_level", "internal"))
    return Sample(
        input=SampleInput(
            sample_id=text_field(row, "id"),
            task=spec.name,
            project=spec.project,
            question=text_field(row, "question"),
            sources=sources,
            as_of=spec.as_of,
            required=_ranges(row, "required", texts),
        ),
        gold=Gold(
            answers=tuple(
                checked_text(of_kind(a, str, f"/answers/{i}"), f"/answers/{i}") for i, a in enumerate(answers)
            ),
            spans=_ranges(row, "spans", texts),
            expired=tuple(
                d.doc_id for d in sources if d.expires_at is not None and d.expires_at <= spec.as_of
            ),
            denied=tuple(
                d.doc_id for d in sources if d.project != spec.project or LEVELS.index(d.level) > highest
            ),
        ),
    )


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


def _ranges(row: dict[str, object], name: str, texts: dict[str, str]) -> tuple[TextRange, ...]:
    found: list[TextRange] = []
    listed: list[object] = optional(row, name, list) or []
    for i, value in enumerate(listed):
        where = f"/{name}/{i}"
        one: dict[str, object] = of_kind(value, dict, where)
        known_keys(one, RANGE_KEYS, where)
        source = field(one, "source", str, where)
        start, end = field(one, "start", int, where), field(one, "end", int, where)
        if source not in texts:
            raise RowRefused(
                "gold.source.missing", f"{where}/source", f"no source {source[:40]!r} in the row"
            )
        if not 0 <= start < end <= len(texts[source]):
            raise RowRefused(
                "gold.range", where, f"[{start}, {end}) of a text of {len(texts[source])} code points"
            )
        found.append(TextRange(doc_id=source, start=start, end=end))
    return tuple(found)
