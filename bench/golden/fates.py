"""What became of each candidate of a build: sent, or left out and why.

Rules that this module owns: a candidate's fate is what the capsule says of it (a span of the evidence, or
an omission with its reason) or, where no capsule speaks of it, the last stage that left it. A span whose
text is now somewhere else has moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.diff.spans import MOVED, pair_spans
from bench.golden.records import GoldenBuild
from bench.golden.words import Named, Texts

Side = tuple[GoldenBuild, Mapping[str, Mapping[str, Any]]]


def first_span(left: Side, right: Side, texts: Texts) -> Named | None:
    """The first candidate whose fate, or whose span, differs."""
    ours, theirs = spans_of(left), spans_of(right)
    moved = {
        pair.left["span_id"]: pair.right["span_id"]
        for pair in pair_spans(ours.values(), theirs.values())
        if pair.kind == MOVED and pair.left is not None and pair.right is not None
    }
    expected, found = fates(left), fates(right)
    for item in [*expected, *(item for item in found if item not in expected)]:
        one, other = expected.get(item, "no candidate"), found.get(item, "no candidate")
        if item in moved:
            other = f"moved to {moved[item]}"
        elif one == other:
            fields = [k for k in ours.get(item, {}) if ours[item][k] != theirs[item].get(k)]
            if not fields:
                continue
            other = f"sent with another {fields[0]}"
        span = ours.get(item) or theirs.get(item)
        said = f" {texts.words(span['exact'])}" if span else ""
        document = _document(item, left, right)
        return Named(at=f"{item}{document}{said}", expected=one, found=other)
    return None


def _document(item: str, *sides: Side) -> str:
    """The name of the item's document, where one of the prompts shows it."""
    source = item.rpartition(":")[0]
    names = (f" of {shown.doc_id}" for build, _ in sides for shown in build.shown if shown.source == source)
    return next(names, "")


def spans_of(side: Side) -> dict[str, Mapping[str, Any]]:
    """The spans of the evidence capsules of a build, by span_id."""
    build, capsules = side
    return {
        span["span_id"]: span for digest in build.evidence for span in capsules[digest].get("exact_spans", ())
    }


def fates(side: Side) -> dict[str, str]:
    """The fate of each candidate, in the order of the sample."""
    build, capsules = side
    sent = spans_of(side)
    prompt = capsules[build.prompt] if build.prompt is not None else {}
    gone = {
        omission["item"]: f"omitted ({omission['reason']}, {omission['tokens']} tokens)"
        for omission in prompt.get("omissions", ())
        if omission["item"] is not None
    }
    last = build.stages[-1].stage if build.stages else ""
    found: dict[str, str] = {}
    for entry in build.items:
        item = entry.item
        if item in sent:
            found[item] = "sent"
        elif item in gone:
            found[item] = gone[item]
        elif entry.stages and entry.stages[-1] == last:
            found[item] = "sent"
        else:
            found[item] = f"left out after {entry.stages[-1] if entry.stages else 'no stage'}"
    return (
        found
        | {item: "sent" for item in sent if item not in found}
        | {item: fate for item, fate in gone.items() if item not in found}
    )
