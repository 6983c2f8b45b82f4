"""A capsule as one HTML page that needs nothing else: no network, no script, no other file.

Rules that this module owns:

* Autoescape is on, and every text goes through ``visible`` line by line before it.
* A span is marked by its element, its colour and brackets: whoever sees no colour misses nothing.
* Jinja2 is imported when a page is written.
"""

from __future__ import annotations

from importlib import resources

from bench.plural import number_of
from bench.report.page_environment import page_environment
from bench.report.visible import visible
from bench.showing.view import CapsuleView


def to_html(view: CapsuleView) -> str:
    """The page."""
    environment = page_environment(_template)
    environment.filters["visible"] = _visible_lines
    environment.filters["number_of"] = number_of
    return environment.get_template("capsule.html.j2").render(view=view)


def _visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def _template(name: str) -> str:
    package = "bench.report" if name == "report.css" else "bench.showing"
    return resources.files(package).joinpath("templates", name).read_text(encoding="utf-8")
