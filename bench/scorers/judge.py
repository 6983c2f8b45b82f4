"""Judges the quotes of an answer against what its prompt showed.

Rules of this module:

* The verdict is the core's (``capsules.prompt_quote``), under quote/1, the normalization of the
  capsules' quote policy. The naive arms are judged by the same rule.
* A quote claims one number, the first known one. Without a known number it can be exact nowhere.
* A quote that no original holds, but a text that a compressor wrote anew and the prompt showed does, is
  ``quote.altered``: the model quoted faithfully what was not there before.
* An unfinished quote is ``invalid`` with ``contract.unfinished``: it counts, and never as exact.
* A pointer that resolves is exact and unique: what it cites is what the prompt shows under that number,
  verbatim and at one place. Whether it is the *right* item is another question.
* Sources are indexed once, and equal answers to equal prompts are judged once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench.build.base import ShownSource
from bench.contracts.forms import is_constrained, is_pointer
from bench.records import BuildRow
from bench.scorers.answer import AnswerQuote, parse_answer
from bench.scorers.pointers import AnswerPointer, parse_pointers
from bench.specs import ContractSpec
from capsules.normalization import normalize, trim
from capsules.prompt_quote import PromptSource, match_in_prompt
from capsules.quote_match import match_quote
from capsules.quote_verdict import EXACT_MATCHES, QuoteVerdict
from capsules.source_index import SourceIndex

NORMALIZATION = "quote/1"
ALTERED = "quote.altered"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuote:
    """An attempted quote and the verdict on it.

    Attributes:
        text: As the model wrote it; what a pointer resolves to.
        number: The number that it claims, ``None`` without a known one.
        source: ContentId of the source with that number.
        match, place: The core's two axes.
        exact: Whether it is an exact citation.
        unique: Whether it is, and the cited source shows it once.
        span: Raw range in the cited source (the first one if ambiguous), ``None`` unless exact.
        codes: What is remarkable, the form's codes before the match's.
        finished: Whether its form is complete.
        pointer: Whether the model wrote a number only.
    """

    text: str
    number: int | None
    source: str | None
    match: str
    place: str
    exact: bool
    unique: bool
    span: tuple[int, int] | None
    codes: tuple[str, ...]
    finished: bool = True
    pointer: bool = False

    @property
    def span_id(self) -> str | None:
        """The cited range as a capsule names it, ``None`` unless exact."""
        if self.source is None or self.span is None:
            return None
        return f"{self.source}:{self.span[0]}-{self.span[1]}"

    @property
    def reason(self) -> str | None:
        """The code that says why it is not both exact and unique; ``None`` if it is."""
        if self.exact:
            return None if self.unique else "quote.ambiguous"
        if ALTERED in self.codes:
            return ALTERED
        if self.number is None or self.match == "invalid":
            return self.codes[0]
        if self.match in EXACT_MATCHES:
            return f"quote.place.{self.place}"
        return f"quote.{self.match}"


class Judge:
    """Judges answers; holds the indexed sources of a run.

    Args:
        texts: ContentId -> raw text.
    """

    def __init__(self, texts: Callable[[str], str]) -> None:
        self._texts = texts
        self._indexed: dict[str, SourceIndex] = {}
        self._judged: dict[tuple[object, ...], tuple[JudgedQuote, ...]] = {}

    def text(self, source: str) -> str:
        """The raw text of a source."""
        return self._index(source).text

    def folded(self, source: str) -> str:
        """The text of a source as quotes are compared."""
        return self._index(source).normalized(NORMALIZATION).text

    def answer(
        self,
        text: str,
        shown: tuple[ShownSource, ...],
        sources: tuple[str, ...],
        contract: ContractSpec,
        rewritten: tuple[str, ...] = (),
    ) -> tuple[JudgedQuote, ...]:
        """The quotes of an answer, in order, each with its verdict.

        Args:
            text: The answer.
            shown: What the prompt showed under which number.
            sources: ContentIds of all sources of the sample, shown or not.
            contract: The arm's output contract.
            rewritten: Texts that the prompt shows in place of originals.
        """
        key = (text, shown, sources, contract, rewritten)
        if key not in self._judged:
            judged = self._judge(text, shown, sources, contract)
            self._judged[key] = tuple(_altered(quote, rewritten) for quote in judged)
        return self._judged[key]

    def holds_at(self, source: str, quote: str, span: tuple[int, int]) -> bool:
        """Whether the check accepts ``quote`` as exact at the given range of a source."""
        start, end = span
        return self._accepted(match_quote(self._index(source), quote, start=start, end=end, stitched=False))

    def occurs(self, source: str, quote: str) -> bool:
        """Whether the check accepts ``quote`` as exact anywhere in a source."""
        return self._accepted(match_quote(self._index(source), quote, stitched=False))

    def _accepted(self, verdict: QuoteVerdict) -> bool:
        return verdict.match in EXACT_MATCHES

    def _index(self, source: str) -> SourceIndex:
        if source not in self._indexed:
            self._indexed[source] = SourceIndex(self._texts(source))
        return self._indexed[source]

    def _judge(
        self, text: str, shown: Sequence[ShownSource], sources: Sequence[str], contract: ContractSpec
    ) -> list[JudgedQuote]:
        if is_pointer(contract.name):
            return [self._resolved(pointer) for pointer in parse_pointers(text, shown)]
        quotes = parse_answer(text, sources=len(shown), leading=is_constrained(contract.name))
        prompt = [
            PromptSource(number=s.number, source_id=s.source, index=self._index(s.source), shown=s.ranges)
            for s in shown
        ]
        visible = {s.source for s in shown}
        omitted = [self._index(source) for source in sources if source not in visible]
        by_number = {s.number: s.source for s in shown}
        return [_judged(quote, by_number, prompt, omitted, contract) for quote in quotes]

    def _resolved(self, pointer: AnswerPointer) -> JudgedQuote:
        if pointer.shown is None:
            return _invalid(pointer.text, pointer.codes, pointer=True)
        shown = pointer.shown
        text = self.text(shown.source)
        return JudgedQuote(
            text="\n".join(text[start:end] for start, end in shown.ranges),
            number=shown.number,
            source=shown.source,
            match="raw_exact",
            place="cited",
            exact=True,
            unique=True,
            span=(shown.ranges[0][0], shown.ranges[-1][1]),
            codes=pointer.codes,
            pointer=True,
        )


def _invalid(text: str, codes: tuple[str, ...], *, pointer: bool) -> JudgedQuote:
    return JudgedQuote(
        text=text,
        number=None,
        source=None,
        match="invalid",
        place="none",
        exact=False,
        unique=False,
        span=None,
        codes=codes,
        finished="contract.unfinished" not in codes,
        pointer=pointer,
    )


def _judged(
    quote: AnswerQuote,
    by_number: dict[int, str],
    prompt: Sequence[PromptSource],
    omitted: Sequence[SourceIndex],
    contract: ContractSpec,
) -> JudgedQuote:
    source = None if quote.number is None else by_number.get(quote.number)
    if is_constrained(contract.name) and quote.number is None:  # cut before its number was complete
        return _invalid(quote.text, ("contract.unfinished",), pointer=False)
    if not quote.finished:
        return _invalid(quote.text, quote.codes, pointer=False)
    cited = () if quote.number is None else (quote.number,)
    found = match_in_prompt(
        quote.text, cited, prompt, omitted, normalization=NORMALIZATION, min_chars=contract.min_chars
    )
    return JudgedQuote(
        text=quote.text,
        number=quote.number,
        source=source,
        match=found.match,
        place=found.place,
        exact=found.exact,
        unique=found.unique,
        span=found.verdict.occurrences[0] if found.exact else None,
        codes=(*quote.codes, *found.verdict.codes),
    )


def rewritten_texts(build: BuildRow) -> tuple[str, ...]:
    """The texts that a prompt shows in place of originals."""
    sent = set(build.stages[-1].items) if build.stages else set()
    return tuple(each.text for each in build.compressed if each.text is not None and sent >= {*each.items})


def _altered(quote: JudgedQuote, rewritten: Sequence[str]) -> JudgedQuote:
    folded = fold(quote.text)
    if not folded or quote.match == "invalid" or quote.match in EXACT_MATCHES:
        return quote
    if any(folded in fold(text) for text in rewritten):
        return replace(quote, codes=(*quote.codes, ALTERED))
    return quote


def fold(text: str) -> str:
    """``text`` as quotes are compared: trimmed and normalized."""
    start, end = trim(text)
    return normalize(text[start:end], NORMALIZATION).text
