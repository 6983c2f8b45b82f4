"""A capsule for people: complete, in context, and safe to look at."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from bench.pipeline import Outcome
from bench.showing.gather import Setting, gather
from bench.showing.page import to_html
from bench.showing.text import lines
from bench.showing.view import CapsuleView
from bench.stored_run import StoredRun
from capsules.claim import ClaimCandidate, Contradiction, MissingEvidence
from capsules.codec import read_stored, seal
from capsules.evidence import Confidence, EvidenceCapsule, Freshness, QuotePolicy
from capsules.prompt import PromptCapsule
from capsules.source import Origin, SourceRef
from capsules.span import make_span
from capsules.store import MemoryStore
from capsules.visibility import Visibility

NOW = "2026-06-01T00:00:00Z"
HOSTILE = "<script>alert(1)</script> \u202edesrever\x1b[31m & [[not a span]]"
TEXTS = (
    "The lamp stands 41 m above the sea. It was lit in 1891.",
    "In the draft the lamp stands 44 m above the sea.",
    f"A third hand wrote 47 m. {HOSTILE}",
)


def evidence(**changes: Any) -> tuple[EvidenceCapsule, MemoryStore]:
    """Three sources that contradict each other."""
    store = MemoryStore()
    ids = store.put_many(text.encode() for text in TEXTS)
    ends = (35, 48, len(TEXTS[2]))
    spans = [
        make_span(source, text, 0, end, norm_id="quote/1")
        for source, text, end in zip(ids, TEXTS, ends, strict=True)
    ]
    order = sorted(range(3), key=lambda i: ids[i])
    record = EvidenceCapsule(
        **{
            "schema_id": "evidence-capsule/1",
            "capsule_id": "p:t:o:evidence-public",
            "source_refs": tuple(
                SourceRef(
                    source=ids[i], bytes=len(TEXTS[i].encode()), media_type="text/plain",
                    origin=Origin(dataset="d", row=f"row{i}"), license="CC0-1.0", title=None,
                    retrieved_as_of=None,
                )
                for i in order
            ),
            "exact_spans": tuple(spans[i] for i in order),
            "claim_candidates": (
                claim("lamp", "The lamp stands 41 m up.", "supported", spans[0].span_id),
                claim("draft", "The lamp stands 44 m up.", "contradicted", spans[1].span_id),
                claim("alone", "It is green.", "unsupported"),
            ),
            "contradictions": (
                Contradiction(between=(spans[0].span_id, spans[1].span_id), kind="numeric", resolution=None),
                Contradiction(between=("lamp", spans[2].span_id), kind="labelled", resolution="newest wins"),
            ),
            "freshness": Freshness(as_of=NOW, expires_at=NOW, policy="hard"),
            "confidence": Confidence(bp=5050, method="rule"),
            "visibility": Visibility(level="public", project="p"),
            "quote_policy": QuotePolicy(
                mode="verbatim", norm_id="quote/1", min_chars=1, max_chars=99, unique=False
            ),
            "missing_evidence": (
                MissingEvidence(query="who lit it?", stage="retrieval", why="no document names one"),
            ),
            **changes,
        }
    )  # fmt: skip
    return record, store


def claim(claim_id: str, text: str, status: str, *span_ids: str) -> ClaimCandidate:
    return ClaimCandidate(
        claim_id=claim_id, text=text, span_ids=span_ids, status=status, method="rule", confidence_bp=10_000
    )


def shown(record: EvidenceCapsule | PromptCapsule, store: Any, **setting: Any) -> CapsuleView:
    return gather(seal(record).digest, record, Setting(**{"store": store, "now": NOW, **setting}))


def text_of(view: CapsuleView, *, colour: bool = False, width: int = 100) -> str:
    return "\n".join(lines(view, colour=colour, width=width))


def prompts(outcome: Outcome) -> Iterator[tuple[PromptCapsule, Any]]:
    run = StoredRun(outcome.folder)
    for row in run.builds:
        if row.prompt_capsule is not None:
            yield read_stored(run.store.get(row.prompt_capsule).data, PromptCapsule), run.store


class Page(HTMLParser):
    """Nesting, headings and text of a page."""

    VOID = ("meta", "br", "link")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.marks = 0
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.marks += tag == "mark"
        assert not any(name.startswith("on") or name in ("src", "style") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def test_every_part_of_evidence_is_in_the_text_and_on_the_page() -> None:
    view = shown(*evidence())
    page = Page(to_html(view))
    for output in (text_of(view), page.text):
        flat = " ".join(output.split())
        assert "[[The lamp stands 41 m above the sea.]]" in flat
        assert "It was lit in 1891." in flat, "what stands after the span in its source"
        for said in (
            "supported by rule, 100 %",
            "The lamp stands 44 m up.",
            "no span",
            "not resolved",
            "newest wins",
            "who lit it?",
            "retrieval: no document names one",
            "50.5 % by rule",
            "public, project p",
            f"expires {NOW} (hard): EXPIRED at {NOW}",
            "CC0-1.0",
            "freshness.expired at /freshness/expires_at",
        ):
            assert said in flat, said
    assert page.marks == 3


def test_contradictions_stand_side_by_side() -> None:
    (line,) = [
        line
        for line in text_of(shown(*evidence())).split("\n")
        if "41 m above" in line and "44 m above" in line
    ]
    assert line.index("41 m") < 55 < line.index("44 m")
    page = to_html(shown(*evidence()))
    assert page.count('<div class="sides">') == 2


def test_a_narrow_terminal_cuts_nothing() -> None:
    narrow = text_of(shown(*evidence()), width=40)
    assert "44 m" in narrow
    assert " ".join(narrow.split()).count("above") >= 3


def test_what_a_reader_could_be_fooled_with_is_written_out() -> None:
    view = shown(*evidence())
    for output in (text_of(view), to_html(view)):
        assert "\u202e" not in output
        assert "\x1b" not in output
        assert "⟨U+202E⟩" in output
        assert "⟨U+001B⟩" in output
    page = to_html(view)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_colour_is_for_terminals_and_says_nothing_that_the_text_does_not() -> None:
    view = shown(*evidence())
    coloured = text_of(view, colour=True)
    assert "\x1b[" in coloured
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in bare.split("\n")] == text_of(view).split("\n")


def test_the_page_can_be_read_by_anybody() -> None:
    page = to_html(shown(*evidence()))
    parsed = Page(page)
    levels = [int(tag[1]) for tag in parsed.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels)), "a level is skipped"
    assert '<html lang="en">' in page
    assert "default-src 'none'" in page
    assert {"header", "nav", "main"} <= set(parsed.tags)
    assert "script" not in parsed.tags
    for anchor in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page


@pytest.mark.parametrize(
    "colours", ["mark { background: #ffe08a; color: #1c1c1a", "mark { background: #f0c060; color: #181816"]
)
def test_marked_text_stands_out_enough(colours: str) -> None:
    assert colours in to_html(shown(*evidence()))
    paper, ink = re.findall("#[0-9a-f]{6}", colours)
    assert contrast(paper, ink) > 7


@pytest.mark.parametrize(("bad", "paper"), [("#a32000", "#fefefd"), ("#ff9d80", "#181816")])
def test_warnings_stand_out_enough(bad: str, paper: str) -> None:
    assert f"--bad: {bad}" in to_html(shown(*evidence()))
    assert contrast(bad, paper) > 7


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_source_that_is_not_at_hand_is_said_and_its_context_comes_from_the_span() -> None:
    record, _ = evidence()
    view = shown(record, MemoryStore())
    assert not any(span.known for span in view.evidence[0].spans)
    assert text_of(view).count("(its source is not in the store)") == 3
    assert to_html(view).count("(its source is not in the store)") == 3
    (lamp,) = [span for span in view.evidence[0].spans if "41 m" in span.text]
    assert lamp.after == " It was lit in 1891.", "the suffix that the span itself holds"
    assert "source.missing" in text_of(view)


def test_hidden_texts_leave_lengths_and_ids() -> None:
    record, store = evidence()
    view = shown(record, store, hide=True)
    for output in (text_of(view), to_html(view)):
        for word in ("lamp stands", "lit in", "green", "newest", "script", "document names"):
            assert word not in output
        assert "(35 characters)" in output
        assert record.exact_spans[0].source in output


def test_a_prompt_shows_what_is_asked_what_is_left_out_and_what_it_may(finished: Outcome) -> None:
    prompt, store = next(prompts(finished))
    view = shown(prompt, store)
    assert view.validity.ok is True
    page = Page(to_html(view))
    for output in (text_of(view), page.text):
        assert prompt.active_object.text in output
        assert "bench may generate through local, at most internal" in output
        assert " 1 items" not in output
        for omission in prompt.omissions:
            assert omission.reason in output
            assert omission.item is None or omission.item in output
    counted = {reason.reason: reason for reason in view.reasons}
    assert sum(reason.items for reason in counted.values()) == sum(o.count for o in prompt.omissions)
    assert counted["visibility.denied"].entries == ()
    kept = [e for e in counted["selection.not_needed"].entries]
    assert all(entry.text for entry in kept), "the store holds the sources of what was left out"
    assert page.marks == sum(len(e.spans) for e in view.evidence) > 0


def test_the_same_capsule_gives_the_same_page(finished: Outcome) -> None:
    prompt, store = next(prompts(finished))
    assert to_html(shown(prompt, store)) == to_html(shown(prompt, store))


def test_evidence_that_cannot_be_read_is_said(finished: Outcome) -> None:
    prompt, _ = next(prompts(finished))
    view = shown(prompt, MemoryStore())
    assert all("object.missing" in (one.unread or "") for one in view.evidence)
    assert "not read" in text_of(view)
    assert "Not read: " in to_html(view)
    assert view.validity.ok is False
