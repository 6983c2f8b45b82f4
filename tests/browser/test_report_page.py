"""The report in a real browser: it fits a phone, heads stick, both colour schemes are readable.

Needs a Chromium on the PATH; without one these tests skip and say so. The page forbids scripts, so the
probe runs in a copy of the page without that rule, in a frame as wide as the device: a browser window
has a least width of its own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from headless import browser, measured, put

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench" / "report" / "fixture"))

PROBE = """
<script>
window.addEventListener("load", () => {
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  const scroll = document.querySelector("#table-differences .scroll");
  scroll.scrollTop = 300;
  scroll.scrollLeft = 200;
  const box = scroll.getBoundingClientRect();
  const head = scroll.querySelector("thead th").getBoundingClientRect();
  const first = scroll.querySelector("tbody tr:not(.group) th").getBoundingClientRect();
  const texts = [...document.querySelectorAll("p, td, th, dd")];
  const sizes = texts.map((e) => parseFloat(getComputedStyle(e).fontSize));
  const drawings = [...document.querySelectorAll("figure svg")];
  parent.postMessage(JSON.stringify({
    page: document.documentElement.scrollWidth,
    width: window.innerWidth,
    headSticks: Math.abs(head.top - box.top) < 2,
    columnSticks: Math.abs(first.left - box.left) < 2,
    ink: style("body").color,
    paper: style("body").backgroundColor,
    svgInk: style("figure svg text").fill,
    drawings: drawings.map((s) => s.getBoundingClientRect().height > 100),
    smallest: Math.min(...sizes),
  }), "*");
});
</script>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    browser()
    from report_fixture.run import make_report

    from bench.report import render_report

    text = render_report(make_report())["report.html"].decode()
    return put(tmp_path_factory.mktemp("page") / "report.html", text, PROBE)


def luminance(colour: str) -> float:
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_heads_stick(page: Path, width: int) -> None:
    found = measured(page, width)
    assert found["width"] == width
    assert found["page"] <= width, "the page scrolls sideways"
    assert found["headSticks"]
    assert found["columnSticks"]
    assert found["drawings"] == [True] * 5
    assert found["smallest"] >= 12


def test_both_schemes_are_readable_and_reach_the_drawings(page: Path) -> None:
    light, dark = measured(page, 900), measured(page, 900, "--blink-settings=preferredColorScheme=0")
    for found in (light, dark):
        assert contrast(found["ink"], found["paper"]) > 10
        assert contrast(found["svgInk"], found["paper"]) > 10
    assert luminance(light["paper"]) > 0.8
    assert luminance(dark["paper"]) < 0.1
