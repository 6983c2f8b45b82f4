"""The four laws of omission accounting, recounted from what is really sent.

Item = the smallest thing that is dropped whole: a sentence-sized span or a constraint. Its tokens
are the ids of its rendered segment, encoded by itself; headers are counted apart.

1. ``ids``: candidates = kept + omitted, disjoint.
2. ``tokens``: the same with item tokens; kept ones are counted on the sent ids.
3. ``code_points``: per source, kept ranges + omitted ranges = candidate ranges, disjoint.
4. ``sent_ids``: sent ids = BOS + prefix + headers + kept items + tail, encoded again and compared; inside
   the frame of a chat template, which is compared whole.

Items of a rewrite are kept: its ``tokens_before``, which must be their item tokens, enter law 2, its
``tokens_sent``, which must be the ids of its segment, law 4.

Denied candidates (``named=False``) are recorded as a sum without names, so laws 1 and 2 hold them
by count and law 3 leaves them out. :func:`judge` returns, :func:`check` raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from capsules.errors import OmissionLawError
from capsules.evidence import EvidenceCapsule
from capsules.omission import Omission, Rewrite
from capsules.prompt import PromptCapsule
from capsules.rendering import Rendered, is_rendered
from capsules.span import ExactSpan, item_range
from capsules.tokenized import Frame, TokenizedPrompt

LAWS = ("ids", "tokens", "code_points", "sent_ids")
OUTSIDE_POOL = "retrieval.outside_pool"

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateItem:
    """An item that was there before anything was dropped.

    Attributes:
        item: span_id or constraint id.
        tokens: Ids of its rendered segment; 0 for a constraint that is not rendered.
        source: ContentId of its source; ``None`` for constraints.
        start: First code point in the source.
        end: One past the last.
        named: ``False`` for denied items, which the record only counts.
    """

    item: str
    tokens: int
    source: str | None = None
    start: int = 0
    end: int = 0
    named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LawResult:
    """What one law says: ``expected`` and ``found`` are numbers or ids, never text of the evidence."""

    law: str
    held: bool
    what: str = ""
    expected: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """All that the laws look at: the record, the candidates, and what is sent.

    Attributes:
        encode: The tokenizer's ``encode``, for the recount of the sent ids.
        frame: The chat template's ids, where there is one.
    """

    prompt: PromptCapsule
    evidence: Sequence[EvidenceCapsule]
    candidates: Sequence[CandidateItem]
    rendered: Rendered
    tokenized: TokenizedPrompt
    encode: Callable[[str], Sequence[int]]
    frame: Frame | None = None

    def spans(self) -> list[ExactSpan]:
        """All kept spans."""
        return [span for capsule in self.evidence for span in capsule.exact_spans]

    def rewrites(self) -> dict[str, Rewrite]:
        """Rewrites by the ref of their segment: their first item."""
        return {rewrite.items[0]: rewrite for rewrite in self.prompt.rewrites}

    def omissions(self) -> list[Omission]:
        """All omissions of candidates: what lies outside the retriever's pool was never one."""
        return [o for o in self.prompt.omissions if o.reason != OUTSIDE_POOL]


def judge(accounts: Accounts) -> tuple[LawResult, ...]:
    """Judge all four laws; each result names the first place where its law fails."""
    laws: Mapping[str, Callable[[Accounts], Iterator[LawResult]]] = {
        "ids": _ids,
        "tokens": _tokens,
        "code_points": _code_points,
        "sent_ids": _sent_ids,
    }
    return tuple(next(laws[law](accounts), LawResult(law=law, held=True)) for law in LAWS)


def check(accounts: Accounts) -> dict[str, bool]:
    """The raising form of :func:`judge`.

    Returns:
        Every law by name, all ``True``.

    Raises:
        OmissionLawError: ``omission.unaccounted``, naming each broken law, expected and found.
    """
    results = judge(accounts)
    broken = [r for r in results if not r.held]
    if broken:
        says = "; ".join(f"law {r.law}: {r.what}: expected {r.expected}, found {r.found}" for r in broken)
        raise OmissionLawError("omission.unaccounted", says, at="/omissions")
    return {result.law: result.held for result in results}


def _ids(accounts: Accounts) -> Iterator[LawResult]:
    wanted = Counter(c.item for c in accounts.candidates if c.named)
    kept = [span.span_id for span in accounts.spans()] + [c.id for c in accounts.prompt.constraints]
    found = Counter(kept + [o.item for o in accounts.omissions() if o.item is not None])
    for item in sorted(i for i in wanted.keys() | found.keys() if not wanted[i] == found[i] == 1):
        yield from _equal("ids", f"times that {item} is accounted for", wanted[item], found[item])
        yield from _equal("ids", f"times that {item} is a candidate", 1, wanted[item])
    hidden = sum(not c.named for c in accounts.candidates)
    counted = sum(o.count for o in accounts.omissions() if o.item is None)
    yield from _equal("ids", "denied items", hidden, counted)
    yield from _equal("ids", "candidates.items", len(accounts.candidates), accounts.prompt.candidates.items)


def _tokens(accounts: Accounts) -> Iterator[LawResult]:
    wanted = {c.item: c.tokens for c in accounts.candidates if c.named}
    sent = {s.ref: s.n for s in accounts.tokenized.segments if s.ref is not None}
    omissions, rewrites = accounts.omissions(), accounts.rewrites()
    sent |= {item: rewrite.tokens_before for item, rewrite in rewrites.items()}
    for item, tokens in sent.items():
        items = rewrites[item].items if item in rewrites else (item,)
        expected = sum([wanted.get(i, 0) for i in items])
        if expected != tokens:
            yield from _equal("tokens", f"item tokens of {item}", expected, tokens)
    for omission in omissions:
        if omission.item is not None:
            expected = wanted.get(omission.item, 0)
            if expected != omission.tokens:
                yield from _equal("tokens", f"omitted tokens of {omission.item}", expected, omission.tokens)
    total = sum(c.tokens for c in accounts.candidates)
    found = sum(sent.values()) + sum(o.tokens or 0 for o in omissions)
    yield from _equal("tokens", "kept and omitted item tokens", total, found)
    yield from _equal("tokens", "candidates.tokens", total, accounts.prompt.candidates.tokens)


def _code_points(accounts: Accounts) -> Iterator[LawResult]:
    wanted: dict[str, list[Range]] = {}
    for candidate in accounts.candidates:
        if candidate.source is not None and candidate.named:
            wanted.setdefault(candidate.source, []).append((candidate.start, candidate.end))
    found: dict[str, list[Range]] = {}
    for span in accounts.spans():
        found.setdefault(span.source, []).append((span.start, span.end))
    for omission in accounts.omissions():
        place = item_range(omission.item or "")
        if place is not None:
            found.setdefault(place[0], []).append(place[1])
    for source in sorted(wanted.keys() | found.keys()):
        ranges = found.get(source, [])
        covered = _merged(ranges)
        total = _length(ranges)
        expected = _merged(wanted.get(source, []))
        if expected == covered and _length(covered) == total:
            continue
        yield from _equal("code_points", f"code points of {source}, counted once", _length(covered), total)
        yield from _equal("code_points", f"code points of {source}", _length(expected), _length(covered))
        yield from _equal("code_points", f"ranges of {source}", expected, covered)


def _sent_ids(accounts: Accounts) -> Iterator[LawResult]:
    ids, parts, rewrites = accounts.tokenized.ids, accounts.tokenized.segments, accounts.rewrites()
    yield from _equal("sent_ids", "ids in segments", len(ids), sum(part.n for part in parts))
    frame = accounts.frame or Frame(head=(), tail=())
    content = [part for part in parts if part.kind not in ("bos", "frame")]
    around = sum(part.n for part in parts if part.kind == "frame")
    bos = sum(part.n for part in parts if part.kind == "bos")
    segments = accounts.rendered.segments
    yield from _equal("sent_ids", "segments", len(segments), len(content))
    at = len(frame.head) or bos
    yield from _equal("sent_ids", "ids of the frame", at - bos + len(frame.tail), around)
    yield from _equal("sent_ids", "whether the frame leads", True, ids[: len(frame.head)] == frame.head)
    closes = ids[len(ids) - len(frame.tail) :] == frame.tail
    yield from _equal("sent_ids", "whether the frame closes", True, closes)
    for segment, part in zip(segments, content, strict=True):
        again = tuple(accounts.encode(segment.text))
        same = again == ids[at : at + part.n]
        if not same or segment.kind != part.kind or len(again) != part.n:
            yield from _equal("sent_ids", f"kind of the segment at id {at}", segment.kind, part.kind)
            what = f"ids of the {segment.kind} segment at id {at}"
            yield from _equal("sent_ids", what, len(again), part.n)
            yield from _equal("sent_ids", f"whether the ids at {at} are those of their segment", True, same)
        if part.kind == "item" and part.ref in rewrites:
            said = rewrites[part.ref].tokens_sent
            yield from _equal("sent_ids", f"tokens_sent of the rewrite at id {at}", part.n, said)
        at += part.n
    rendered = sorted(c.id for c in accounts.prompt.constraints if is_rendered(c.kind))
    yield from _equal("sent_ids", "prefix segments", rendered, sorted(_refs(accounts, "prefix")))
    inside = {item for first, rewrite in rewrites.items() for item in rewrite.items if item != first}
    kept = sorted(span.span_id for span in accounts.spans() if span.span_id not in inside)
    yield from _equal("sent_ids", "item segments", kept, sorted(_refs(accounts, "item")))


def _refs(accounts: Accounts, kind: str) -> list[str]:
    return [s.ref or "" for s in accounts.rendered.segments if s.kind == kind]


def _equal(law: str, what: str, expected: object, found: object) -> Iterator[LawResult]:
    if expected != found:
        yield LawResult(law=law, held=False, what=what, expected=str(expected), found=str(found))


def _merged(ranges: Iterable[Range]) -> list[Range]:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _length(ranges: Iterable[Range]) -> int:
    return sum([end - start for start, end in ranges])
