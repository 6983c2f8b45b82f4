"""Samples from rows that share contexts: the gold context among its nearest neighbours.

The rules:

- Contexts are numbered by first appearance among the accepted rows.
- A sample's sources are its own context and the ``neighbours`` nearest others by that number (on
  a tie the earlier one), all in file order: the place in the prompt says nothing.
- Few-shot examples come from the end of the file: going backward over the pairs of contexts
  (last and last but one, and so on), each pair not longer than ``example_chars`` gives one
  example. Its gold is alternately the second and the first of its pair, its row the last one with
  gold of that context. At least half of the contexts stay for evaluation.
- The contexts of the examples are kept out of the evaluated samples, as gold and as neighbours;
  rows of such contexts are *reserved*.
- With ``as_corpus`` no sample has sources of its own: all contexts that no example uses are the corpus,
  in file order, whatever the limit.
- With ``spread`` a limit takes rows evenly from the whole file instead of its first ones: rows that follow
  each other ask about the same contexts. With ``together=N`` too it takes them as groups of N rows of one
  context (of those with so many, evenly from the file): each group asks about the same sources.
- *Rows used*: the evaluated rows, the rows of the examples, and for every other context that is
  shown the first row that has it; in file order. Digests cover exactly these.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from capsules.source import Origin
from tasks.base import Gold, Sample, SampleInput, SourceDoc, TaskError, TaskSpec, TextRange
from tasks.finish import count_option, option
from tasks.squad import SquadRow

AMONG = ("as_corpus", "example_chars", "neighbours", "spread", "together")  # the options of these rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How a data set names what comes out of it.

    Attributes:
        dataset: Name of the data set (``xquad.en``).
        license: Its licence.
        prefix: Put before row ids where several sets share them (``en-``).
    """

    dataset: str
    license: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How samples are made: ``limit`` evaluated ones, ``examples``, and the options above."""

    limit: int | None
    examples: int
    neighbours: int
    example_chars: int
    as_corpus: bool = False
    spread: bool = False
    together: int = 1


def settings_of(spec: TaskSpec, *, limit: int | None, examples: int) -> Settings:
    """The settings of a task, for this many samples and examples of one file.

    Raises:
        TaskError: An option is of another type or out of range, or ``together`` has no effect.
    """
    spread, together = option(spec, "spread", False), option(spec, "together", 1)
    if together < 1 or (together > 1 and (not spread or limit is None)):
        raise TaskError(
            f"task.options.together of {spec.name}: expected 1, or more with task.options.spread=true and a "
            f"task.limit, found {together} with spread={str(spread).lower()} and "
            f"{'no limit' if limit is None else f'limit={limit}'}"
        )
    return Settings(
        limit=limit,
        examples=examples,
        neighbours=count_option(spec, "neighbours", 3),
        example_chars=count_option(spec, "example_chars", 1400),
        as_corpus=option(spec, "as_corpus", False),
        spread=spread,
        together=together,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The samples of one file.

    Attributes:
        rows: The rows used, in file order.
        reserved: Number of accepted rows kept out because examples use their contexts.
        unused: Number of accepted rows left out because of the limit.
        corpus: What all samples share, if the settings say so.
    """

    samples: tuple[Sample, ...]
    examples: tuple[Sample, ...]
    rows: tuple[SquadRow, ...]
    reserved: int
    unused: int
    corpus: tuple[SourceDoc, ...] = ()


class Contexts:
    """The distinct contexts of a file, numbered from 0 in order of appearance."""

    def __init__(self, rows: tuple[SquadRow, ...]) -> None:
        numbers: dict[str, int] = {}
        self.of_row = [numbers.setdefault(row.context, len(numbers)) for row in rows]
        self.texts = tuple(numbers)
        self.last_with_gold = {n: index for index, n in enumerate(self.of_row) if rows[index].ranges}
        self.first_row: dict[int, int] = {}
        for index, number in enumerate(self.of_row):
            self.first_row.setdefault(number, index)


def nearest_contexts(own: int, count: int, closed: frozenset[int], wanted: int) -> tuple[int, ...]:
    """Number the own context and the nearest others, in file order.

    Args:
        own: Number of the own context.
        count: Number of contexts in the file.
        closed: Contexts that may not be shown.
        wanted: How many others; fewer when the file does not have so many.
    """
    found: list[int] = []
    for distance in range(1, count):
        for number in (own - distance, own + distance):  # the earlier one first: it wins a tie
            if 0 <= number < count and number not in closed and len(found) < wanted:
                found.append(number)
        if len(found) == wanted:
            break
    return tuple(sorted((own, *found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two neighbouring contexts of an example, and the one of them that is its gold."""

    first: int
    second: int
    gold: int


def example_pairs(
    lengths: tuple[int, ...], wanted: int, most_chars: int, golden: Container[int]
) -> tuple[Pair, ...]:
    """Choose the contexts of the examples.

    Args:
        lengths: Length of every context, in file order.
        wanted: Number of examples.
        most_chars: The longest that a pair may be, in code points.
        golden: Contexts that have a row with gold.

    Returns:
        Pairs of neighbouring contexts, the last of the file first; fewer than ``wanted`` when the
        file does not have so many.
    """
    pairs: list[Pair] = []
    second = len(lengths) - 1
    while len(pairs) < wanted and second - 1 >= (len(lengths) + 1) // 2:
        gold = second - len(pairs) % 2
        if lengths[second - 1] + lengths[second] <= most_chars and gold in golden:
            pairs.append(Pair(first=second - 1, second=second, gold=gold))
        second -= 2
    return tuple(pairs)


def choose(rows: tuple[SquadRow, ...], spec: TaskSpec, naming: Naming, settings: Settings) -> Chosen:
    """Make the samples and examples of one file by the rules of this module."""
    contexts = Contexts(rows)
    lengths = tuple(len(text) for text in contexts.texts)
    pairs = example_pairs(lengths, settings.examples, settings.example_chars, contexts.last_with_gold)
    closed = frozenset(number for pair in pairs for number in (pair.first, pair.second))
    make = _Maker(rows, contexts, spec, naming)
    eligible = [index for index, number in enumerate(contexts.of_row) if number not in closed]
    evaluated = _limited(eligible, contexts.of_row, settings)
    shared = [n for n in range(len(lengths)) if n not in closed] if settings.as_corpus else []
    shown = set(shared)
    samples: list[Sample] = []
    for index in evaluated:
        own, wanted = contexts.of_row[index], settings.neighbours
        numbers = () if shared else nearest_contexts(own, len(lengths), closed, wanted)
        shown.update(numbers)
        samples.append(make.sample(index, numbers))
    examples: list[Sample] = []
    used = set(evaluated)
    for pair in pairs:
        index = contexts.last_with_gold[pair.gold]
        used.add(index)
        shown.update((pair.first, pair.second))
        examples.append(make.sample(index, (pair.first, pair.second)))
    covered = {contexts.of_row[index] for index in used}
    used.update(contexts.first_row[number] for number in shown - covered)
    return Chosen(
        samples=tuple(samples),
        examples=tuple(examples),
        rows=tuple(rows[index] for index in sorted(used)),
        reserved=len(rows) - len(eligible),
        unused=len(eligible) - len(evaluated),
        corpus=tuple(make.source(number) for number in shared),
    )


def _limited(eligible: list[int], of_row: list[int], settings: Settings) -> list[int]:
    n, limit = len(eligible), settings.limit
    if limit is None or limit >= n or not settings.spread:
        return eligible[:limit]
    if settings.together == 1:
        return [eligible[place * n // limit] for place in range(limit)]
    rows: dict[int, list[int]] = {}
    for index in eligible:
        rows.setdefault(of_row[index], []).append(index)
    groups = [group[: settings.together] for group in rows.values() if len(group) >= settings.together]
    wanted = -(-limit // settings.together)
    if wanted > len(groups):
        raise TaskError(
            f"task.options.together={settings.together}: expected {wanted} contexts with so many questions "
            f"for task.limit={limit}, found {len(groups)}"
        )
    return [index for place in range(wanted) for index in groups[place * len(groups) // wanted]][:limit]


class _Maker:
    """Makes a sample of a row and the numbers of the contexts that it shows."""

    def __init__(
        self, rows: tuple[SquadRow, ...], contexts: Contexts, spec: TaskSpec, naming: Naming
    ) -> None:
        self._rows, self._contexts, self._spec, self._naming = rows, contexts, spec, naming
        self._sources: dict[int, SourceDoc] = {}  # samples share them

    def sample(self, index: int, numbers: tuple[int, ...]) -> Sample:
        row, own = self._rows[index], self._contexts.of_row[index]
        ranges = tuple(dict.fromkeys(row.ranges))
        return Sample(
            input=SampleInput(
                sample_id=self._naming.prefix + row.row_id,
                task=self._spec.name,
                project=self._spec.project,
                question=row.question,
                sources=tuple(self.source(number) for number in numbers),
                as_of=self._spec.as_of,
            ),
            gold=Gold(
                answers=tuple(dict.fromkeys(text for text, _ in row.answers)),
                spans=tuple(
                    TextRange(doc_id=self._doc_id(own), start=start, end=end) for start, end in ranges
                ),
                distractors=tuple(self._doc_id(number) for number in numbers if number != own),
            ),
        )

    def source(self, number: int) -> SourceDoc:
        if number in self._sources:
            return self._sources[number]
        first = self._rows[self._contexts.first_row[number]]
        self._sources[number] = SourceDoc(
            doc_id=self._doc_id(number),
            text=first.context,
            title=first.title,
            origin=Origin(dataset=self._naming.dataset, row=first.row_id),
            license=self._naming.license,
            project=self._spec.project,
        )
        return self._sources[number]

    def _doc_id(self, number: int) -> str:
        return f"{self._naming.dataset}-context-{number + 1:04d}"
