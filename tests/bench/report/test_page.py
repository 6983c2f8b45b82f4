"""The HTML page: offline, well formed, without markup from data, and complete."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from bench.report import render_report
from bench.report.inputs import ReportInput
from bench.report.visible import visible
from bench.scorers.run import score_run
from bench.specs import ArmSpec
from tasks.base import RefusedRow

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Checks nesting and collects tags, ids and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src", "xlink:href"}:
                self.links.append(value or "")
            assert not name.startswith("on"), f"script attribute {name}"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def html(files: dict[str, bytes]) -> str:
    return files["report.html"].decode()


def test_nothing_is_loaded_from_anywhere(html: str) -> None:
    page = Page(html)
    assert page.tags.isdisjoint({"script", "link", "iframe", "object", "embed", "img"})
    assert all(link.startswith(("#", "figures/", "tables/")) for link in page.links)
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", html)
    assert "http" not in without_names.lower().replace("http-equiv", "")
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_ids_are_unique_and_every_inner_link_has_a_target(html: str) -> None:
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(page.ids)


def test_every_file_that_is_linked_is_written(files: dict[str, bytes], html: str) -> None:
    linked = {link for link in Page(html).links if not link.startswith("#")}
    assert linked == {name for name in files if "/" in name}
    markdown = files["report.md"].decode()
    assert set(re.findall(r"\]\((figures/[^)]+)\)", markdown)) == {n for n in files if n.endswith(".png")}


EVIL = "</p><script>alert(1)</script>\u202e\u200b\x1b[31m![x](http://e) | <q>&amp;"
ARM = "$x^2$ <b>&\u202e"


def hostile(report: ReportInput) -> ReportInput:
    """The fixture run with an arm of a strange name and hostile text in every free field."""

    def renamed(row: Any) -> Any:
        names = ("arm_id",) if isinstance(row, ArmSpec) else ("arm_id", "cell_id")
        changes = {n: getattr(row, n).replace("naive_volatile", ARM) for n in names if hasattr(row, n)}
        return replace(row, **changes)

    lists = ("builds", "requests", "cells", "expected", "scores", "responses")
    rows = {name: [renamed(row) for row in getattr(report, name)] for name in lists}
    rows["responses"] = [replace(r, text=f"{EVIL}<q>{EVIL}</q> [1]") for r in report.responses]
    arms = tuple(renamed(arm) for arm in report.spec.arms)
    return replace(
        report,
        samples=[replace(s, question=EVIL, answers=(EVIL,)) for s in report.samples],
        manifest={**report.manifest, "run_id": EVIL, "engines": [{"name": EVIL, "fake": True}]},
        spec=replace(report.spec, experiment=EVIL, arms=arms),
        refused=(RefusedRow(row=EVIL, where=EVIL, code="x.y", reason=EVIL),),
        **rows,
    )


def test_hostile_text_is_shown_and_does_nothing(report: ReportInput) -> None:
    files = render_report(hostile(report))
    page = Page(files["report.html"].decode())
    assert page.tags.isdisjoint({"script", "b"})
    text = "".join(page.text)
    assert f"FAKE ENGINE: {visible(EVIL)} is no model" in text
    assert "⟨U+202E⟩⟨U+200B⟩⟨U+001B⟩[31m" in text
    assert "$x^2$ <b>&⟨U+202E⟩ · primed" in text  # in the drawings, too: a name, not a formula
    for name in ("report.html", "report.md", *(n for n in files if n.startswith("tables/"))):
        assert not re.search("[\u202e\u200b\x1b]", files[name].decode()), name
    fence = re.compile("```sh.*?```", re.DOTALL)
    markdown = fence.sub("", files["report.md"].decode())
    assert not re.search(r"(?<!\\)<script|(?<!\\)!\[x\]", markdown)
    assert report.samples[0].question not in text


def test_an_empty_run_has_a_report(report: ReportInput) -> None:
    """Nothing was answered: every number is an error or missing, and nothing fails."""
    contract = {arm.arm_id: arm.contract for arm in report.spec.arms}
    nothing: dict[str, list[Any]] = {"builds": [], "requests": [], "responses": [], "cells": []}
    scores = score_run(
        report.samples, texts=report.texts, contract=contract, expected=report.expected, **nothing
    )
    files = render_report(replace(report, scores=scores, manifest={}, **nothing))
    Page(files["report.html"].decode())
    text = files["report.md"].decode()
    assert "120 of 120: 120 build.missing" in text
    assert "not recorded" in text
    assert "nan" not in text.lower()
