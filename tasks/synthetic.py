"""The synthetic task: generated samples whose truth is complete.

Every document's label, expiry and place in the truth is known, so omission, freshness and routing
can be scored exactly and not only asserted. The text is ours (CC0-1.0): results on this task may
be published with their evidence. How worlds are made: :mod:`tasks.synthetic_worlds`.

The same settings give the same bytes on every Python version and machine. ``limit`` may be any
number; samples of a larger limit begin with those of a smaller one. Examples come from worlds of
a stream of their own, cut down to the gold document and one distractor, both public.
"""

from __future__ import annotations

from capsules.content_id import content_id
from tasks.base import Gold, Sample, SampleInput, SourceDoc, TaskData, TaskSpec
from tasks.finish import finish, only_options, rows_digest
from tasks.synthetic_desk import LICENSE
from tasks.synthetic_worlds import DOMAINS, Question, World, make_world

REVISION = "synthetic/1"
QUESTIONS = 4
DEFAULT_LIMIT = 64


def synthetic(spec: TaskSpec) -> TaskData:
    """Generate the task.

    Raises:
        TaskError: An unknown option, or another digest than pinned.
    """
    only_options(spec)
    limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
    samples: list[Sample] = []
    for number in range(-(-limit // QUESTIONS)):
        world = make_world(("world", REVISION, spec.seed, number), number, spec.project, spec.as_of)
        samples += [
            _sample(spec, f"w{number:05d}-q{place}", world, world.sources, question)
            for place, question in enumerate(world.questions)
        ]
    examples = tuple(_example(spec, number) for number in range(spec.examples))
    chosen = tuple(samples[:limit])
    rows = [sample_value(sample) for sample in (*chosen, *examples)]
    data = TaskData(
        samples=chosen,
        examples=examples,
        dataset="synthetic",
        revision=REVISION,
        license=LICENSE,
        content_digest=rows_digest(rows),
        rows=len(rows),
        origin="generated",
        reserved=len(examples),
        read=len(rows),
        exact=sum(len(one.gold.spans) for one in (*chosen, *examples)),
    )
    return finish(spec, data)


def _example(spec: TaskSpec, number: int) -> Sample:
    """Take a question that two public papers settle; domains differ from those of the first worlds."""
    names = ("example", REVISION, spec.seed, number)
    world = make_world(names, number + len(DOMAINS) // 2, spec.project, spec.as_of)
    levels = {doc.doc_id: doc.level for doc in world.sources}
    question, shown = next(
        (one, pair)
        for one in sorted(world.questions, key=lambda one: one.role != "plain")
        for pair in [(one.gold.doc_id, one.distractors[0])]
        if all(levels[doc_id] == "public" for doc_id in pair)
    )
    sources = tuple(doc for doc in world.sources if doc.doc_id in shown)
    return _sample(spec, f"example-{number:02d}", world, sources, question)


def _sample(
    spec: TaskSpec, sample_id: str, world: World, sources: tuple[SourceDoc, ...], question: Question
) -> Sample:
    ids = {doc.doc_id for doc in sources}
    pair = world.contradiction
    shows_both = pair.left.doc_id in ids and pair.right.doc_id in ids
    return Sample(
        input=SampleInput(
            sample_id=sample_id,
            task=spec.name,
            project=spec.project,
            question=question.text,
            sources=sources,
            as_of=spec.as_of,
            contradictions=(pair,) if shows_both else (),
        ),
        gold=Gold(
            answers=(question.answer,),
            spans=(question.gold,),
            distractors=tuple(doc_id for doc_id in question.distractors if doc_id in ids),
            expired=tuple(doc_id for doc_id in world.expired if doc_id in ids),
            denied=tuple(doc_id for doc_id in world.denied if doc_id in ids),
        ),
    )


def sample_value(sample: Sample) -> dict[str, object]:
    """The row that the content digest covers: everything of a sample, texts by their ContentId."""
    given, gold = sample.input, sample.gold
    return {
        "sample_id": given.sample_id,
        "question": given.question,
        "answers": list(gold.answers),
        "spans": [[one.doc_id, one.start, one.end] for one in gold.spans],
        "distractors": list(gold.distractors),
        "expired": list(gold.expired),
        "denied": list(gold.denied),
        "contradictions": [
            [one.kind, *([part.doc_id, part.start, part.end] for part in (one.left, one.right))]
            for one in given.contradictions
        ],
        "sources": [
            {
                "doc_id": doc.doc_id,
                "text": content_id(doc.text.encode("utf-8")),
                "title": doc.title,
                "project": doc.project,
                "level": doc.level,
                "as_of": doc.as_of,
                "expires_at": doc.expires_at,
            }
            for doc in given.sources
        ],
    }
