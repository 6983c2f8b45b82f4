"""Offers and queries for the tests of selectors: a source is a letter, an offer one sentence of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bench.selection.base import Offer, SelectionQuery, Sentence
from bench.specs import SelectionSpec
from capsules.content_id import content_id
from capsules.visibility import Visibility
from tasks.base import Gold, TextRange


def source_of(letter: str) -> str:
    return content_id(letter.encode())


def make_offer(letter: str, start: int, text: str, **more: Any) -> Offer:
    """A sentence of document letter``; ``after``: start and end of the one that it follows."""
    source, end = source_of(letter), start + len(text)
    after, tokens, required = more.pop("after", None), more.pop("tokens", 10), more.pop("required", False)
    sentence = Sentence(
        item=f"{source}:{start}-{end}",
        follows=f"{source}:{after[0]}-{after[1]}" if after else None,
        tokens=tokens,
        required=required,
    )
    return Offer(
        **{
            "doc_id": letter,
            "start": start,
            "end": end,
            "text": text,
            "source": source,
            "title": None,
            "label": Visibility(level="public", project="p"),
            "chunk": letter,
            "rank": 0,
            "score_bp": 0,
            "sentences": (sentence,),
            **more,
        }
    )


def make_query(question: str = "?", **more: Any) -> SelectionQuery:
    gold = more.pop("gold", None)
    header, each = more.pop("header", 0), more.pop("each", False)
    spec = SelectionSpec(**{"name": "fovea", "unit": "sentence", "k": 99, **more})
    return SelectionQuery(
        question=question, k=spec.k, gold=gold, ref="s-1", spec=spec, header_tokens=header, header_each=each
    )


def make_gold(*spans: tuple[str, int, int]) -> Gold:
    return Gold(answers=("x",), spans=tuple(TextRange(doc_id=d, start=a, end=b) for d, a, b in spans))


@pytest.fixture
def offer() -> Callable[..., Offer]:
    return make_offer


@pytest.fixture
def query() -> Callable[..., SelectionQuery]:
    return make_query


@pytest.fixture
def gold() -> Callable[..., Gold]:
    return make_gold


@pytest.fixture
def document() -> Callable[..., list[Offer]]:
    """Sentences of one document, each following the one before it."""

    def make(letter: str, texts: Sequence[str], **more: Any) -> list[Offer]:
        found: list[Offer] = []
        start = 0
        for text in texts:
            after = (found[-1].start, found[-1].end) if found else None
            found.append(make_offer(letter, start, text, after=after, **more))
            start += len(text) + 1
        return found

    return make


@pytest.fixture
def source() -> Callable[[str], str]:
    return source_of
