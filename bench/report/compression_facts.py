"""What compression did in one built prompt: rates, losses, and whether gold answers are still there.

Rules of this module:

* Rates are tokens by the target model's tokenizer. *Given* is what a lossy compressor was handed; what came
  back but was not shorter counts as it was given (``no_gain``: the original is sent), never as a saving.
* *Selected* is all evidence after selection. What of it is sent is what is left when dropped items and what
  rewrites saved are taken off; headers are apart.
* Losses are recomputed from the sent texts and their sources; whole items that were dropped are no loss here,
  they have omission records.
* A gold answer is *still there* if it stands, under quote/1, in one shown range or one rewritten text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.build.base import CompressedText
from bench.records import BuildRow, SampleRow
from bench.scorers.judge import fold, rewritten_texts
from capsules.loss import loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Texts that a compressor was handed: their tokens, those sent in their place, and how it went."""

    tokens: int
    sent: int
    texts: int
    no_gain: int
    empty: int

    @property
    def rate(self) -> float | None:
        """Achieved share of tokens; ``None`` where nothing was handed over."""
        return self.sent / self.tokens if self.tokens else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Losses of one prompt, in numbers of numbers, negations, names and characters."""

    numbers: int
    numbers_added: int
    negations: int
    names: int
    broken: int


def text_rate(text: CompressedText) -> float:
    """The compressor's own achieved rate for one text, above 1 where it grew."""
    return text.tokens_out / text.tokens_in


def given(texts: Iterable[CompressedText]) -> Given:
    """Totals from sums: what grew is replaced by the original."""
    rows = list(texts)
    return Given(
        tokens=sum(text.tokens_in for text in rows),
        sent=sum(_sent(text) for text in rows),
        texts=len(rows),
        no_gain=sum(text.status == "no_gain" for text in rows),
        empty=sum(text.status == "empty" for text in rows),
    )


def _sent(text: CompressedText) -> int:
    return {"rewritten": text.tokens_out, "no_gain": text.tokens_in, "empty": 0}[text.status]


def selected(build: BuildRow) -> tuple[int, int]:
    """(item tokens after selection, tokens that were left of them after compression)."""
    stages = {stage.stage: stage for stage in build.stages}
    if not {"selection", "compression"} <= stages.keys():
        return 0, 0
    left = stages["compression"].tokens
    for text in build.compressed:
        if text.status == "rewritten":
            left += text.tokens_out - text.tokens_before
    return stages["selection"].tokens, left


def lost(build: BuildRow, texts: Callable[[str], str]) -> Lost:
    """Losses over all texts that are sent in place of originals."""
    kept = set(build.stages[-1].items) if build.stages else set()
    found = [
        loss("\n".join(_exact(item, texts) for item in text.items), text.text)
        for text in build.compressed
        if text.text is not None and kept >= {*text.items}
    ]
    return Lost(
        numbers=sum(len(each.numbers_lost) for each in found),
        numbers_added=sum(len(each.numbers_added) for each in found),
        negations=sum(len(each.negations_lost) for each in found),
        names=sum(len(each.names_lost) for each in found),
        broken=sum(each.broken for each in found),
    )


def answer_there(build: BuildRow, sample: SampleRow, texts: Callable[[str], str]) -> float | None:
    """1 if an accepted answer still stands in what is sent, else 0; ``None`` without accepted answers."""
    wanted = [folded for answer in sample.answers if (folded := fold(answer))]
    if not wanted:
        return None
    shown = [texts(source.source)[start:end] for source in build.shown for start, end in source.ranges]
    seen = [fold(text) for text in (*shown, *rewritten_texts(build))]
    return float(any(answer in text for answer in wanted for text in seen))


def _exact(item: str, texts: Callable[[str], str]) -> str:
    source, _, place = item.rpartition(":")
    start, _, end = place.partition("-")
    return texts(source)[int(start) : int(end)]
