"""What is shown of a text that a compressor wrote: itself, what it dropped, and what was lost by that."""

from __future__ import annotations

from bench.plural import number_of
from bench.showing.evidence import Sources
from bench.showing.view import RewriteView
from capsules.loss import loss
from capsules.omission import Rewrite

UNKNOWN = (("lost", "unknown: a source is not in the store"),)


def rewrite_view(rewrite: Rewrite, sources: Sources) -> RewriteView:
    """A rewrite, ready to be shown; losses are recomputed from the sources."""
    name = f"{rewrite.compressor}: {rewrite.tokens_before} to {number_of(rewrite.tokens_sent, 'token')}"
    return RewriteView(
        name=f"{name}, {number_of(len(rewrite.items), 'item')}",
        text=sources.shown(rewrite.text),
        facts=_facts(rewrite, sources),
    )


def _facts(rewrite: Rewrite, sources: Sources) -> tuple[tuple[str, str], ...]:
    exact: dict[str, tuple[int, str]] = {}
    for item in rewrite.items:
        source, _, place = item.rpartition(":")
        start, _, end = place.partition("-")
        text = sources.text(source)
        if text is None:
            return UNKNOWN
        exact[item] = int(start), text[int(start) : int(end)]
    gone = [
        exact[each.item][1][each.start - exact[each.item][0] : each.end - exact[each.item][0]]
        for each in rewrite.dropped
    ]
    lost = loss("\n".join(text for _, text in exact.values()), rewrite.text)
    found = (
        ("numbers lost", lost.numbers_lost),
        ("numbers added", lost.numbers_added),
        ("negations lost", lost.negations_lost),
        ("names lost", lost.names_lost),
    )
    return (
        ("dropped", sources.shown(" | ".join(gone)) if gone else "nothing"),
        *((name, sources.shown(", ".join(words)) if words else "none") for name, words in found),
        ("broken", f"{lost.broken} characters"),
    )
