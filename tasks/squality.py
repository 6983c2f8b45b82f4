"""SQuALITY: questions about whole short stories, with four written summaries as answers each.

https://github.com/nyu-mll/SQuALITY. Summaries CC BY 4.0; stories under the Project Gutenberg licence.
Each question of a story is a sample over the one long source. The answers are free text and the data
name no evidence, so the gold has no spans and no row can be a few-shot example.
"""

from __future__ import annotations

from collections.abc import Iterator

from tasks.base import Gold, Sample, SampleInput, TaskData, TaskSpec
from tasks.fields import field, of_kind, text_field
from tasks.finish import only_options
from tasks.listed import Made, load_listed
from tasks.passages import source
from tasks.rows import Home, RawRow
from tasks.sources import FROM, open_home

DATASET, LICENSE = "squality-1.3-dev", "CC-BY-4.0 (stories: Project Gutenberg licence)"
HOME = Home(file="squality/squality_v1-3_txt_dev.jsonl")


def squality(spec: TaskSpec) -> TaskData:
    """Load SQuALITY: its text file, or the one that ``file`` names (such as the HTML twin).

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM)
    found = open_home(spec, HOME).split(questions)
    return load_listed(spec, found, squality_row, dataset=DATASET, license=LICENSE, example_chars=0)


def questions(raw: RawRow) -> Iterator[RawRow]:
    """Split a story into one raw row a question; what cannot be split stays as it is."""
    story = raw.value
    listed = story.get("questions") if isinstance(story, dict) else None
    if not isinstance(story, dict) or not isinstance(listed, list):
        yield raw
        return
    for number, question in enumerate(listed):
        row = {"metadata": story.get("metadata"), "document": story.get("document"), "question": question}
        yield RawRow(where=f"{raw.where} question {number}", value=row)


def squality_row(row: dict[str, object], spec: TaskSpec, where: str) -> Made:
    """Make a sample of one question.

    Raises:
        RowRefused: It cannot become a sample.
    """
    metadata: dict[str, object] = field(row, "metadata", dict)
    story = text_field(metadata, "passage_id", "/metadata")
    asked: dict[str, object] = field(row, "question", dict)
    responses: list[object] = field(asked, "responses", list, "/question")
    answers = tuple(
        text_field(
            of_kind(one, dict, f"/question/responses/{n}"), "response_text", f"/question/responses/{n}"
        )
        for n, one in enumerate(responses)
    )
    doc_id = f"story-{story}"
    text = text_field(row, "document")
    number, question = field(asked, "question_number", int, "/question"), text_field(asked, "question_text")
    sample = Sample(
        input=SampleInput(
            sample_id=f"{story}-q{number}",
            task=spec.name,
            project=spec.project,
            question=question,
            sources=(source(spec, doc_id, text, dataset=DATASET, row=story, license=LICENSE),),
            as_of=spec.as_of,
        ),
        gold=Gold(answers=tuple(dict.fromkeys(answers)), spans=()),
    )
    value: dict[str, object] = {
        "passage_id": story,
        "document": text,
        "question_number": number,
        "question_text": question,
        "responses": list(answers),
    }
    return Made(sample=sample, value=value)
