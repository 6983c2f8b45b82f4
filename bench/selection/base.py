"""The selector interface: which of the retrieved evidence is worth its tokens.

Rules:

* A selector sees *offers*, whole chunks or single sentences (``selection.unit``), and returns indexes of
  those to take, best first, each at most once. It may return a :class:`Selected` to say more.
* Chunks come in the retriever's order; sentences by falling score. Gold is there for ``oracle`` alone.
* The token limit is kept by :mod:`bench.selection.stage` for every selector; one that wants to plan for it
  finds it in the query.
* Nothing here is random or depends on a clock: the same offers give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.retrieval.base import Passage, Query
from bench.selection.place_report import PlaceReport
from bench.specs import SelectionSpec
from capsules.place import Place
from capsules.visibility import Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """An item of an offer.

    Attributes:
        item: Its span_id.
        follows: The item before it in its source, offered or not; ``None`` for a source's first.
        tokens: Item tokens.
        required: Whether it stays whatever the selector says.
    """

    item: str
    follows: str | None
    tokens: int
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Passage):
    """A passage that a selector may take.

    Attributes:
        source: ContentId of its document's bytes.
        title: The document's title; not part of any text.
        label: The document's visibility.
        chunk: Names the chunk that it is, or is a sentence of.
        rank: The retriever's rank of that chunk, 0 first.
        score_bp: Relevance to the question, 10,000 for the best of the offers.
        sentences: What it consists of, by position.
    """

    source: str
    title: str | None
    label: Visibility
    chunk: str
    rank: int
    score_bp: int
    sentences: tuple[Sentence, ...]

    @property
    def name(self) -> str:
        """The span_id of the whole offer: for one sentence, that of the sentence."""
        return f"{self.source}:{self.start}-{self.end}"

    @property
    def tokens(self) -> int:
        """Item tokens."""
        return sum(sentence.tokens for sentence in self.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionQuery(Query):
    """What is asked of a selector.

    Attributes:
        ref: Names the sample.
        spec: The arm's settings of the stage; ``k`` is ``spec.k``.
        header_tokens: Tokens of the header that a run of items stands under.
        header_each: Whether every item has a header of its own.
    """

    ref: str
    spec: SelectionSpec
    header_tokens: int
    header_each: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """A selector's answer with its reasons.

    Attributes:
        order: Indexes of the offers to take, best first.
        place: The smallest sufficient place, for selectors that look for one and find it.
        report: Why the place suffices, or what is missing; ``None`` for selectors without a requirement.
    """

    order: Sequence[int]
    place: Place | None = None
    report: PlaceReport | None = None


Selector = Callable[[SelectionQuery, Sequence[Offer]], Sequence[int] | Selected]
