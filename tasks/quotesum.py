"""QuoteSum: human answers with inline quotes, each naming the source that it is taken from.

https://github.com/google-research-datasets/QuoteSum, CC BY-SA 4.0. A summary holds quotes as
``[ k text ]``; gold spans are these quotes in source k, at the first exact occurrence. A title is
a source of its own (``source-2-title``), because writers quote titles too. A quote that is in
neither is looked for with any white space and any case (class ``folded``); a row with a quote that
is still not found is refused. Answers are the covered short answers.
"""

from __future__ import annotations

import re

from tasks.base import Gold, Sample, SampleInput, SourceDoc, TaskData, TaskSpec, TextRange
from tasks.fields import RowRefused, checked_text, field, text_field
from tasks.listed import Made, load_plain
from tasks.passages import source
from tasks.rows import Home

DATASET, LICENSE = "quotesum-dev", "CC-BY-SA-4.0"
HOME = Home(file="quotesum/quotesum_dev.jsonl")
MOST_SOURCES = 8
_QUOTE = re.compile(r"\[ ([1-8]) (.*?) \]")


def quotesum(spec: TaskSpec) -> TaskData:
    """Load QuoteSum.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    return load_plain(spec, HOME, quotesum_row, dataset=DATASET, license=LICENSE)


def quotesum_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one row.

    Raises:
        RowRefused: It cannot become a sample.
    """
    row_id = text_field(row, "unique_id")
    docs = _sources(row, row_id, spec)
    spans: list[TextRange] = []
    repairs: list[str] = []
    for number, quote in quotes(text_field(row, "summary")):
        span, repair = _find(docs, number, quote)
        spans.append(span)
        repairs += [repair] if repair is not None else []
    if not spans:
        raise RowRefused("gold.missing", "/summary", "expected at least one quote [ k text ]")
    golden = {span.doc_id for span in spans}
    sample = Sample(
        input=SampleInput(
            sample_id=row_id,
            task=spec.name,
            project=spec.project,
            question=text_field(row, "question"),
            sources=tuple(docs.values()),
            as_of=spec.as_of,
        ),
        gold=Gold(
            answers=tuple(
                dict.fromkeys(text for _, text in quotes(field(row, "covered_short_answers", str)))
            ),
            spans=tuple(dict.fromkeys(spans)),
            distractors=tuple(
                doc_id
                for doc_id in docs
                if not golden & {doc_id, f"{doc_id}-title", doc_id.removesuffix("-title")}
            ),
        ),
    )
    numbers = range(1, MOST_SOURCES + 1)
    names = [f"{kind}{number}" for number in numbers for kind in ("title", "source")]
    names += ["unique_id", "question", "summary", "covered_short_answers"]
    return Made(
        sample=sample,
        value={name: row[name] for name in names if name in row},
        exact=len(spans) - len(repairs),
        repairs=tuple(repairs),
    )


def quotes(text: str) -> tuple[tuple[int, str], ...]:
    """Read the inline quotes ``[ k text ]`` of a summary: number of the source, text."""
    return tuple((int(match[1]), match[2].strip()) for match in _QUOTE.finditer(text))


def _sources(row: dict[str, object], row_id: str, spec: TaskSpec) -> dict[str, SourceDoc]:
    docs: dict[str, SourceDoc] = {}
    for number in range(1, MOST_SOURCES + 1):
        text, title = field(row, f"source{number}", str), field(row, f"title{number}", str)
        if not text:
            continue
        doc_id = f"source-{number}"
        checked_text(text, f"/source{number}")
        docs[doc_id] = source(
            spec, doc_id, text, dataset=DATASET, row=f"{row_id}/{doc_id}", license=LICENSE, title=title
        )
        if title:
            title_id = f"{doc_id}-title"
            checked_text(title, f"/title{number}")
            origin = f"{row_id}/{doc_id}#title"
            docs[title_id] = source(spec, title_id, title, dataset=DATASET, row=origin, license=LICENSE)
    return docs


def _find(docs: dict[str, SourceDoc], number: int, quote: str) -> tuple[TextRange, str | None]:
    homes = [docs[name] for name in (f"source-{number}", f"source-{number}-title") if name in docs]
    if not homes or not quote:
        raise RowRefused(
            "gold.source.missing", "/summary", f"a quote of source {number}, which the row lacks"
        )
    for doc in homes:
        start = doc.text.find(quote)
        if start >= 0:
            return TextRange(doc_id=doc.doc_id, start=start, end=start + len(quote)), None
    folded = r"\s+".join(re.escape(word) for word in quote.split())
    for doc in homes:
        match = re.search(folded, doc.text, re.IGNORECASE)
        if match is not None:
            return TextRange(doc_id=doc.doc_id, start=match.start(), end=match.end()), "folded"
    raise RowRefused(
        "gold.mismatch", "/summary", f"{quote[:40]!r} does not occur in source {number} or its title"
    )
