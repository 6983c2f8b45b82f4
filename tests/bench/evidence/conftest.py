"""Sentences of documents, as the rules of evidence see them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.build.candidates import Item
from capsules.content_id import content_id
from capsules.source import Origin
from tasks.base import SampleInput, SourceDoc


def make_doc(doc_id: str, text: str, **more: object) -> SourceDoc:
    fields = {
        "title": None,
        "license": "CC0-1.0",
        "project": "p",
        "origin": Origin(dataset="toy", row=doc_id),
    }
    return SourceDoc(doc_id=doc_id, text=text, **{**fields, **more})  # type: ignore[arg-type]


def make_item(doc_id: str, text: str, **more: object) -> Item:
    doc = make_doc(doc_id, text, **more)
    source = content_id(text.encode())
    return Item(
        item=f"{source}:0-{len(text)}",
        doc=doc,
        places=((0, 0),),
        source=source,
        start=0,
        end=len(text),
        text=text,
        tokens=len(text),
        lossy=False,
    )


@pytest.fixture
def item_of() -> Callable[..., Item]:
    """Makes the only sentence of a document."""
    return make_item


@pytest.fixture
def sample_of() -> Callable[..., SampleInput]:
    """Makes a sample over documents."""

    def make(question: str, *docs: SourceDoc, **more: object) -> SampleInput:
        fields = {"sample_id": "s-1", "task": "toy", "project": "p", "as_of": "2026-01-01T00:00:00Z"}
        return SampleInput(question=question, sources=docs, **{**fields, **more})  # type: ignore[arg-type]

    return make
