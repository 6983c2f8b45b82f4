"""Two capsules, explained: section by section, complete.

Rules that this module owns:

* Every change of every field is in exactly one section; equal capsules have none.
* Spans are told as what became of them (kept, moved, changed, gone, new), and an omission together with
  what the other side did with the item.
* Evidence capsules of two prompts are paired by the last part of their name (``evidence-public``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.diff.fields import LEFT_ONLY, ORDER, RIGHT_ONLY, Change, changes
from bench.diff.sentences import entry_words, sentences
from bench.diff.spans import CHANGED as SPAN_CHANGED
from bench.diff.spans import GONE, KEPT, MOVED, NEW, SpanPair, pair_spans
from bench.diff.texts import quoted
from bench.report.visible import visible

Value = Mapping[str, Any]

TITLES = {
    "active_object": "what is asked",
    "candidates": "candidates",
    "capsule_id": "identity",
    "claim_candidates": "claims",
    "constraints": "constraints",
    "evidence_capsule_refs": "evidence and its order",
    "exact_spans": "spans",
    "missing_evidence": "missing evidence",
    "output_contract": "output contract",
    "project": "identity",
    "quote_policy": "quote policy",
    "schema_id": "identity",
    "source_refs": "sources",
    "surface_snippet": "surface snippet",
    "task": "identity",
    "token_budget": "budget",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What differs in one part of a capsule."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How two capsules differ.

    Attributes:
        sections: In words, the parts that differ.
        changes: Every difference, with the capsule that it is in (``prompt`` or the evidence's name).
        spans: How many spans were kept, moved, changed, gone and new.
    """

    sections: tuple[Section, ...]
    changes: tuple[tuple[str, Change], ...]
    spans: Mapping[str, int]


def explain(
    left: Value, right: Value, left_evidence: Iterable[Value] = (), right_evidence: Iterable[Value] = ()
) -> Explanation:
    """Explain how the values of two capsules of one type differ.

    Args:
        left: A.
        right: B.
        left_evidence: The evidence capsules of A, if it is a prompt, as far as they are at hand.
        right_evidence: Those of B.
    """
    fates = _Fates(left, right)
    sections: list[Section] = []
    found: list[tuple[str, Change]] = []
    counts: Counter[str] = Counter()
    for name, one, other in [("", left, right), *_pairs(left_evidence, right_evidence)]:
        if one is None or other is None:
            change = _alone(name, one, other)
            value: Value = one or other or {}
            spans = [
                SpanPair(kind=GONE if one else NEW, left=one and s, right=other and s) for s in _spans(value)
            ]
            sections.append(_only(change, value))
            found.append((name, change))
        else:
            here = list(changes(one, other))
            spans = pair_spans(_spans(one), _spans(other))
            sections += _sections(name, here, spans, fates)
            found += [(name or "prompt", change) for change in here]
        counts.update(pair.kind for pair in spans)
    return Explanation(sections=tuple(sections), changes=tuple(found), spans=dict(sorted(counts.items())))


def _spans(value: Value) -> Sequence[Value]:
    found: Sequence[Value] = value.get("exact_spans", ())
    return found


def _alone(name: str, one: Value | None, other: Value | None) -> Change:
    """An evidence capsule that only one side has."""
    return Change(at="", label=name, kind=LEFT_ONLY if other is None else RIGHT_ONLY, left=one, right=other)


def _only(change: Change, value: Value) -> Section:
    who = "A" if change.kind == LEFT_ONLY else "B"
    spans = (f"span {quoted(span['exact'])} ({span['span_id']})" for span in _spans(value))
    return Section(title=f"evidence {change.label}", lines=(f"only {who} has it", *spans))


def _pairs(left: Iterable[Value], right: Iterable[Value]) -> Iterator[tuple[str, Value | None, Value | None]]:
    ours, theirs = _by_name(left), _by_name(right)
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        yield name, ours.get(name), theirs.get(name)


def _by_name(capsules: Iterable[Value]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for value in capsules:
        name = str(value["capsule_id"]).rpartition(":")[2]
        found[name if name not in found else f"{name}#{len(found) + 1}"] = value
    return found


def _sections(name: str, found: list[Change], spans: list[SpanPair], fates: _Fates) -> Iterator[Section]:
    lines: dict[str, list[str]] = {}
    for change in found:
        field = change.at.split("/")[1]
        title = TITLES.get(field, field.replace("_", " "))
        if field == "exact_spans" and change.kind != ORDER:
            lines.setdefault(title, [])  # told below, span by span
        elif field == "omissions" and change.kind in (LEFT_ONLY, RIGHT_ONLY):
            lines.setdefault(title, []).append(fates.omission(change))
        else:
            lines.setdefault(title, []).extend(sentences(change))
    if "spans" in lines:
        lines["spans"] = [_counted(spans), *lines["spans"], *_span_lines(spans, fates)]
    where = f"evidence {name}: " if name else ""
    for title, said in lines.items():
        yield Section(title=where + title, lines=tuple(said))


def _counted(spans: list[SpanPair]) -> str:
    counts = Counter(pair.kind for pair in spans)
    return ", ".join(
        f"{counts[kind]} {kind}" for kind in (KEPT, MOVED, SPAN_CHANGED, GONE, NEW) if counts[kind]
    )


def _span_lines(spans: list[SpanPair], fates: _Fates) -> Iterator[str]:
    for pair in spans:
        text, place = quoted(pair.span["exact"]), pair.span["span_id"]
        if pair.kind == GONE:
            yield f"gone: {text} ({place}){fates.of(place, right=True)}"
        elif pair.kind == NEW:
            yield f"new: {text} ({place}){fates.of(place, right=False)}"
        elif pair.kind == MOVED and pair.right is not None:
            yield f"moved: {text} from {place} to {pair.right['span_id']}"
        elif pair.kind == SPAN_CHANGED:
            for change in changes(pair.left, pair.right):
                yield from (f"changed: {place}: {line}" for line in sentences(change))


class _Fates:
    """What each prompt did with an item: its reason to omit it, or none."""

    def __init__(self, left: Value, right: Value) -> None:
        self._prompts = "omissions" in left
        self._reasons = tuple(
            {gone["item"]: gone["reason"] for gone in side.get("omissions", ())} for side in (left, right)
        )

    def of(self, item: str, *, right: bool) -> str:
        """What one prompt did with an item that only the other one sends."""
        if not self._prompts:
            return ""
        reason, who = self._reasons[right].get(item), "B" if right else "A"
        return f"; {who} omits it ({reason})" if reason else f"; {who} does not name it"

    def omission(self, change: Change) -> str:
        """An omission that only one side has."""
        value = change.left if change.kind == LEFT_ONLY else change.right
        who, other = ("A", "B") if change.kind == LEFT_ONLY else ("B", "A")
        item = visible(str(value["item"])) if value["item"] is not None else "hidden items"
        return f"{item}: only {who} has {entry_words(value)}; {other} does not omit it"
