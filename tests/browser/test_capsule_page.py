"""The page of a capsule in a real browser: it fits a phone, and contradictions stand side by side.

Needs a Chromium on the PATH; without one these tests skip and say so. As for the report, the probe runs in a
copy of the page without its rule against scripts, in a frame as wide as the device.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from headless import browser, measured, put

from bench.showing.page import to_html
from bench.showing.view import (
    CapsuleView,
    ClaimView,
    ContradictionView,
    EvidenceView,
    SideView,
    SpanView,
    ValidityView,
)

PROBE = """
<script>
addEventListener("load", () => {
  const box = (element) => element.getBoundingClientRect();
  const [left, right] = document.querySelectorAll(".sides > div");
  const colours = (selector) => getComputedStyle(document.querySelector(selector));
  parent.postMessage(JSON.stringify({
    page: document.documentElement.scrollWidth,
    width: window.innerWidth,
    beside: box(left).top === box(right).top && box(left).right <= box(right).left,
    below: box(right).top >= box(left).bottom,
    mark: [colours("mark").color, colours("mark").backgroundColor],
    bad: [colours(".bad").color, colours("body").backgroundColor],
    smallest: Math.min(...[...document.querySelectorAll("p, li, dd, code, bdi")]
      .map((element) => parseFloat(getComputedStyle(element).fontSize))),
  }), "*");
});
</script>
"""

LONG = "b3:" + "0123456789abcdef" * 4


def view() -> CapsuleView:
    """A capsule with everything that a page can hold, and long words in it."""
    span = SpanView(
        span_id=f"{LONG}:0-9",
        document="d row",
        place="0-9",
        before="before ",
        text="x" * 300,
        after=" after",
        known=True,
    )
    claim = ClaimView(
        claim_id="c", text="t", status="contradicted", method="rule", confidence="1 %", support=(span,)
    )
    sides = tuple(SideView(name=f"{LONG}:{n}-9", document="d", text="y" * 200) for n in (1, 2))
    evidence = EvidenceView(
        digest=LONG,
        required=True,
        facts=(("freshness", "EXPIRED"),),
        sources=((LONG, "d row"),),
        spans=(span,),
        claims=(claim,),
        contradictions=(ContradictionView(kind="numeric", left=sides[0], right=sides[1], resolution=None),),
        missing=(("q", "retrieval: none"),),
    )
    return CapsuleView(
        digest=LONG,
        schema_id="evidence-capsule/1",
        capsule_id="p:t:o:evidence-public",
        question="q?",
        facts=(("project, task", "p, t"),),
        validity=ValidityView(line="NOT VALID", ok=False, failures=("freshness.expired at /freshness",)),
        evidence=(evidence,),
    )


def look(folder: Path, width: int, *flags: str) -> dict[str, Any]:
    browser()
    return measured(put(folder / "capsule.html", to_html(view()), PROBE), width, *flags)


def contrast(colours: list[str]) -> float:
    def luminance(colour: str) -> float:
        parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted(map(luminance, colours), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("width", "where"), [(360, "below"), (1280, "beside")])
def test_the_page_fits_and_its_sides_stand_beside_or_below_each_other(
    width: int, where: str, tmp_path: Path
) -> None:
    found = look(tmp_path, width)
    assert found["width"] == width
    assert found["page"] <= width, "the page scrolls sideways"
    assert found[where]
    assert found["smallest"] >= 12


@pytest.mark.parametrize("flags", [(), ("--blink-settings=preferredColorScheme=0",)], ids=["light", "dark"])
def test_marks_and_warnings_are_readable_in_both_schemes(flags: tuple[str, ...], tmp_path: Path) -> None:
    found = look(tmp_path, 900, *flags)
    assert contrast(found["mark"]) > 7
    assert contrast(found["bad"]) > 7
