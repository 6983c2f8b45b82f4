"""Grammars of small prompts, and llguidance itself to judge what they accept."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from bench.build.base import ShownSource
from bench.contracts.grammar import grammar_of
from bench.specs import ContractSpec


def shown(texts: Iterable[str]) -> tuple[tuple[ShownSource, ...], Callable[[str], str]]:
    """Each text whole, under the numbers from 1; its own name is its id."""
    by_id = {f"doc-{n}": text for n, text in enumerate(texts, 1)}
    sources = tuple(
        ShownSource(number=n, doc_id=name, source=name, ranges=((0, len(text)),))
        for n, (name, text) in enumerate(by_id.items(), 1)
    )
    return sources, by_id.__getitem__


@pytest.fixture
def grammar() -> Callable[..., str]:
    """The grammar of a contract over whole texts."""

    def make(*texts: str, name: str = "quote_constrained", lead: str = " ", **contract: int) -> str:
        sources, text = shown(texts)
        found = grammar_of(ContractSpec(name=name, **contract), sources, text, lead=lead)
        assert found is not None
        return found

    return make


@pytest.fixture(scope="session")
def accepts() -> Callable[[str, str], bool]:
    """Whether llguidance accepts a whole answer under a grammar, byte by byte."""
    llguidance = pytest.importorskip("llguidance", reason="grammars are judged by llguidance: install vLLM")
    tokenizer = llguidance.LLTokenizer("byte")

    def accepted(grammar: str, answer: str) -> bool:
        matcher = llguidance.LLMatcher(tokenizer, llguidance.grammar_from("grammar", grammar))
        assert not matcher.get_error(), matcher.get_error()
        ids = list(answer.encode())
        taken = matcher.try_consume_tokens(ids)
        assert not matcher.get_error() or taken < len(ids), matcher.get_error()
        return taken == len(ids) and bool(matcher.is_accepting())

    return accepted
