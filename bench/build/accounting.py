"""The books of a build: what was offered, what went where, what the prompt shows.

Rules that this module owns: every candidate is kept or omitted with one closed reason; denied items
are one sum without names; a constraint is an item too (it is always kept: it is protected). What a
corpus holds beside the candidates is one entry without tokens, and no law counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from bench.build.base import Piece, ShownSource, StageItems
from bench.build.candidates import Item, Outside
from capsules.omission import OUTSIDE_POOL, Candidates, Omission
from capsules.omission_laws import CandidateItem
from capsules.prompt import Constraint
from capsules.rendering import ShownNumber, constraint_text, is_rendered
from capsules.tokenized import TokenizedPrompt
from capsules.tokenizer import Tokenizer

DENIED = "visibility.denied"
BUDGET = "budget.limit"


def candidate_items(
    named: Iterable[Item], denied: Iterable[Item], constraints: tuple[Constraint, ...], tokenizer: Tokenizer
) -> list[CandidateItem]:
    """All candidates as the laws count them: items, denied items, constraints."""
    tokens = constraint_tokens(constraints, tokenizer.encode)
    return [
        *(_candidate(item, True) for item in named),
        *(_candidate(item, False) for item in denied),
        *(CandidateItem(item=c.id, tokens=n) for c, n in zip(constraints, tokens, strict=True)),
    ]


@lru_cache(maxsize=64)
def constraint_tokens(
    constraints: tuple[Constraint, ...], encode: Callable[[str], Sequence[int]]
) -> tuple[int, ...]:
    """Item tokens of each constraint: 0 for one that is not rendered. The same for all of a task."""
    return tuple(len(encode(constraint_text(c.text))) if is_rendered(c.kind) else 0 for c in constraints)


def totals(candidates: Sequence[CandidateItem]) -> Candidates:
    """Their number and their item tokens."""
    return Candidates(items=len(candidates), tokens=sum(c.tokens for c in candidates))


def omissions(
    named: Iterable[Item],
    denied: Sequence[Item],
    reasons: Mapping[str, str],
    outside: Outside | None = None,
) -> tuple[Omission, ...]:
    """The omissions of a prompt, in their order.

    Args:
        named: Items that may be named.
        denied: Items that may not.
        reasons: Reason by span_id, for each named item that is not sent.
        outside: What a corpus holds beside the candidates.
    """
    gone = [_omission(item.item, reasons[item.item], item.tokens) for item in named if item.item in reasons]
    if denied:
        tokens = sum(item.tokens for item in denied)
        gone.append(
            Omission(
                item=None,
                stage=_stage(DENIED),
                reason=DENIED,
                tokens=tokens,
                required=False,
                count=len(denied),
            )
        )
    if outside is not None:
        gone.append(
            Omission(
                item=outside.digest,
                stage=_stage(OUTSIDE_POOL),
                reason=OUTSIDE_POOL,
                tokens=None,
                required=False,
                count=outside.count,
            )
        )
    return tuple(sorted(gone, key=lambda o: (o.stage, o.reason, o.item or "")))


def stage(name: str, items: Iterable[Item]) -> StageItems:
    """The items left after a stage, by position in the sample; an item of two documents once."""
    once: dict[str, int] = {}
    for item in sorted(items, key=lambda i: (i.places[0], i.start)):
        once.setdefault(item.item, item.tokens)
    return StageItems(stage=name, items=tuple(once), tokens=sum(once.values()))


def pieces(tokenized: TokenizedPrompt) -> tuple[Piece, ...]:
    """The segments of the sent ids."""
    return tuple(Piece(kind=s.kind, n=s.n, ref=s.ref) for s in tokenized.segments)


def shown_sources(shown: Iterable[ShownNumber], items: Iterable[Item]) -> tuple[ShownSource, ...]:
    """What an answer may cite, with the task's names of the documents."""
    names = {item.source: item.doc.doc_id for item in items}
    return tuple(
        ShownSource(number=s.number, doc_id=names[s.source], source=s.source, ranges=s.ranges) for s in shown
    )


def _candidate(item: Item, named: bool) -> CandidateItem:
    return _counted(item.item, item.tokens, item.source, item.start, item.end, named)


# Items of a source come back with every sample that has it: their rows in the books are made once.
@lru_cache(maxsize=1 << 16)
def _counted(item: str, tokens: int, source: str, start: int, end: int, named: bool) -> CandidateItem:
    return CandidateItem(item=item, tokens=tokens, source=source, start=start, end=end, named=named)


@lru_cache(maxsize=1 << 16)
def _omission(item: str, reason: str, tokens: int) -> Omission:
    return Omission(item=item, stage=_stage(reason), reason=reason, tokens=tokens, required=False, count=1)


def _stage(reason: str) -> str:
    return reason.partition(".")[0]
