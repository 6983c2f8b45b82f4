"""Tasks whose rows bring their own sources: from raw rows to loaded data, the same for all of them.

The rules:

- Every row is judged, whatever the limit (:mod:`tasks.judging`).
- Few-shot examples are the last rows whose gold spans hold an answer and that, cut down to the
  gold documents and one distractor, show nothing expired or denied and are not longer than
  ``example_chars``. No evaluated row asks the question of an example (data sets with several
  annotators repeat questions); such rows are *reserved*, at most half of all.
- The digest covers the evaluated and the example rows, in file order, by their used columns, then the
  rows of the corpus, if the rows share one; an example shows its gold documents of the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tasks.base import Gold, RefusedRow, Sample, TaskData, TaskSpec
from tasks.fields import whole_row
from tasks.finish import count_option, finish, only_options, rows_digest
from tasks.judging import judge_all
from tasks.passages import CorpusRow
from tasks.rows import Home, Rows
from tasks.sources import FROM, open_home


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A row that became a sample.

    Attributes:
        value: The row that digests cover: the columns used, as read.
        exact: How many places of its gold are where the data say.
        repairs: Class of every repair of its gold.
    """

    sample: Sample
    value: dict[str, object]
    exact: int = 0
    repairs: tuple[str, ...] = ()


Form = Callable[[dict[str, object], TaskSpec, str], Made]  # row, spec, where the row stands


def example_numbers(
    made: tuple[Made, ...], wanted: int, most_chars: int, corpus: Sequence[CorpusRow] = ()
) -> tuple[int, ...]:
    """Choose the rows of the examples: the last ones that have gold and are short enough."""
    chosen: list[int] = []
    asked: set[str] = set()
    rows_of = Counter(one.sample.input.question for one in made)
    left = len(made) // 2
    for number in range(len(made) - 1, -1, -1):
        question = made[number].sample.input.question
        if len(chosen) == wanted:
            break
        if (
            question in asked
            or rows_of[question] > left
            or not may_be_example(made[number].sample, most_chars, corpus)
        ):
            continue
        chosen.append(number)
        asked.add(question)
        left -= rows_of[question]
    return tuple(chosen)


def may_be_example(sample: Sample, most_chars: int, corpus: Sequence[CorpusRow] = ()) -> bool:
    """Whether a sample can be answered by a quote of its gold, hides nothing and is short enough."""
    gold = sample.gold
    shown = cut_down(sample, corpus).input.sources
    texts = {doc.doc_id: doc.text for doc in shown}
    evidence = [texts[span.doc_id][span.start : span.end] for span in gold.spans]
    hidden = {*gold.expired, *gold.denied}
    return (
        any(holds_word(quote, answer) for answer in gold.answers for quote in evidence)
        and not any(doc.doc_id in hidden for doc in shown)
        and sum(len(doc.text) for doc in shown) <= most_chars
    )


def holds_word(quote: str, answer: str) -> bool:
    """Whether the answer stands in the quote and cuts no word ("no" is not in "north")."""
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", quote) is not None


def cut_down(sample: Sample, corpus: Sequence[CorpusRow] = ()) -> Sample:
    """Leave the gold documents and the first distractor, in their order."""
    given, gold = sample.input, sample.gold
    wanted = {span.doc_id for span in gold.spans} | set(gold.distractors[:1])
    shown = tuple(doc for doc in given.sources or (row.doc for row in corpus) if doc.doc_id in wanted)
    return Sample(
        input=replace(
            given,
            sources=shown,
            contradictions=tuple(
                pair for pair in given.contradictions if {pair.left.doc_id, pair.right.doc_id} <= wanted
            ),
            required=tuple(one for one in given.required if one.doc_id in wanted),
        ),
        gold=Gold(answers=gold.answers, spans=gold.spans, distractors=gold.distractors[:1]),
    )


def load_plain(spec: TaskSpec, home: Home, make: Form, *, dataset: str, license: str) -> TaskData:
    """Load a data set of which every row of a file is one sample.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, "example_chars")
    found = open_home(spec, home)
    chars = count_option(spec, "example_chars", 2000)
    return load_listed(spec, found, make, dataset=dataset, license=license, example_chars=chars)


def load_listed(
    spec: TaskSpec,
    found: Rows,
    form: Form,
    *,
    dataset: str,
    license: str,
    example_chars: int,
    corpus: Sequence[CorpusRow] = (),
    refused: Sequence[RefusedRow] = (),
) -> TaskData:
    """Make the samples of one set of rows.

    Args:
        spec: The task.
        found: Its rows.
        form: What makes a sample of a row.
        dataset: Name of the data set.
        license: Its licence.
        example_chars: The longest that an example's documents may be, in code points.
        corpus: What the rows share; then none of them has sources of its own.
        refused: Rows of the corpus that could not become documents.

    Raises:
        TaskError: See :mod:`tasks.finish`.
    """
    verdicts = judge_all(
        found.rows,
        lambda raw: form(whole_row(raw.value), spec, raw.where),
        lambda one: one.sample.input.sample_id,
    )
    made = tuple(one for _, _, one in verdicts.kept)
    examples = example_numbers(made, spec.examples, example_chars, corpus)
    asked = {made[number].sample.input.question for number in examples}
    open_rows = [number for number, one in enumerate(made) if one.sample.input.question not in asked]
    evaluated = open_rows[: spec.limit]
    used = [made[number].value for number in sorted({*examples, *evaluated})]
    used += [dict(row.value) for row in corpus]
    data = TaskData(
        samples=tuple(made[number].sample for number in evaluated),
        examples=tuple(cut_down(made[number].sample, corpus) for number in examples),
        dataset=dataset,
        revision=found.revision(),
        license=license,
        content_digest=rows_digest(used),
        rows=len(used),
        origin=found.origin,
        refused=(*refused, *verdicts.all_refused()),
        repaired=dict(sorted(Counter(repair for one in made for repair in one.repairs).items())),
        reserved=len(made) - len(open_rows),
        read=verdicts.read + len(refused),
        unused=len(open_rows) - len(evaluated),
        exact=sum(one.exact for one in made),
        corpus=tuple(row.doc for row in corpus),
    )
    return finish(spec, data)
