"""A capsule as text for a terminal.

Rules that this module owns: spans stand between ``[[`` and ``]]`` and, on a terminal, are highlighted;
contradictions stand side by side; what is invisible is written out, what is long is cut and says so.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.plural import number_of
from bench.report.visible import clipped, visible
from bench.showing.view import (
    CapsuleView,
    ClaimView,
    ContradictionView,
    EvidenceView,
    ReasonView,
    SpanView,
)

LIMIT = 600
MARK = "bold reverse"
HEAD = "bold"
BAD = "bold red"

Piece = Text | Table


def lines(view: CapsuleView, *, colour: bool, width: int) -> Iterator[str]:
    """The lines of a capsule; with ``colour`` they hold terminal escapes of our own."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, highlight=False, emoji=False, markup=False
    )
    for piece in _capsule(view):
        console.print(piece, soft_wrap=isinstance(piece, Text))
    yield from (line.rstrip() for line in out.getvalue().split("\n")[:-1])


def _capsule(view: CapsuleView) -> Iterator[Piece]:
    yield _head(f"{view.schema_id}  {view.capsule_id}")
    yield _fact("digest", view.digest)
    if view.question is not None:
        yield _fact("asked", _short(view.question))
    yield _fact("validity", view.validity.line, BAD if view.validity.ok is False else "")
    for failure in view.validity.failures:
        yield _fact("", failure, BAD)
    yield from (_fact(name, value) for name, value in view.facts)
    for name, text in view.constraints:
        yield _head(name)
        yield from _block(text)
    for rewrite in view.rewrites:
        yield _head(f"rewrite {rewrite.name}")
        yield from _block(rewrite.text)
        yield from (_fact(name, _short(value)) for name, value in rewrite.facts)
    for evidence in view.evidence:
        yield Text("")
        yield from _evidence(evidence)
    if view.question is not None:
        yield Text("")
        yield _head(f"left out: {number_of(view.omitted, 'item')}")
        for reason in view.reasons:
            yield from _reason(reason)


def _evidence(evidence: EvidenceView) -> Iterator[Piece]:
    yield _head(f"evidence{' (required)' if evidence.required else ''} {evidence.digest}")
    if evidence.unread is not None:
        yield _fact("not read", evidence.unread, BAD)
        return
    yield from (_fact(name, value, BAD if "EXPIRED" in value else "") for name, value in evidence.facts)
    for source, said in evidence.sources:
        yield _fact("source", f"{said}  {source}")
    for span in evidence.spans:
        yield _fact(
            "span",
            f"{span.place} of {span.document}" + ("" if span.known else " (its source is not in the store)"),
        )
        yield _in_context(span)
    for claim in evidence.claims:
        yield from _claim(claim)
    for clash in evidence.contradictions:
        yield from _contradiction(clash)
    for query, why in evidence.missing:
        yield _fact("missing", f"{_short(query)} ({_short(why)})")


def _claim(claim: ClaimView) -> Iterator[Piece]:
    said = f"{claim.claim_id}: {claim.status} by {claim.method}, {claim.confidence}"
    yield _fact("claim", said, BAD if claim.status == "contradicted" else "")
    yield from _block(claim.text)
    for span in claim.support:
        yield Text(f"      from {visible(span.place)} of {visible(span.document)}: {_short(span.text, 120)}")
    if not claim.support:
        yield Text("      from no span", style=BAD)


def _contradiction(clash: ContradictionView) -> Iterator[Piece]:
    yield _fact(
        "contradiction", f"{clash.kind}; {_short(clash.resolution) if clash.resolution else 'not resolved'}"
    )
    table = Table(box=None, show_header=True, padding=(0, 2, 0, 4), expand=True)
    for side in (clash.left, clash.right):
        table.add_column(visible(side.document), ratio=1, header_style=HEAD, overflow="fold")
    table.add_row(*(Text("\n".join(_shown(side.text))) for side in (clash.left, clash.right)))
    table.add_row(*(Text(visible(side.name), style="dim") for side in (clash.left, clash.right)))
    yield table


def _reason(reason: ReasonView) -> Iterator[Piece]:
    yield Text(f"  {reason.reason}: {number_of(reason.items, 'item')}, {number_of(reason.tokens, 'token')}")
    for entry in reason.entries:
        text = "" if entry.text is None else f'  "{_short(entry.text, 100)}"'
        required = "  required" if entry.required else ""
        yield Text(
            f"    {visible(entry.item)}  {entry.tokens}{required}{text}", style=BAD if required else ""
        )


def _in_context(span: SpanView) -> Text:
    text = Text("    ")
    text.append(_inline(span.before))
    text.append("[[", style=MARK)
    text.append(_inline(clipped(span.text, LIMIT)), style=MARK)
    text.append("]]", style=MARK)
    text.append(_inline(span.after))
    return text


def _inline(text: str) -> str:
    return "\n    ".join(visible(line) for line in text.split("\n"))


def _head(text: str) -> Text:
    return Text(visible(text), style=HEAD)


def _fact(name: str, value: str, style: str = "") -> Text:
    return Text(f"{name:<16} ").append(visible(value), style=style)


def _block(text: str) -> Iterator[Text]:
    yield from (Text(f"    {line}") for line in _shown(text))


def _shown(text: str) -> list[str]:
    return [visible(line) for line in clipped(text, LIMIT).split("\n")]


def _short(text: str, limit: int = LIMIT) -> str:
    return visible(clipped(text, limit))
