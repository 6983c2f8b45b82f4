"""Writes a report as one HTML page that needs nothing else: no network, no script, no other file.

Rule of this module: autoescape is on (``bench.report.page_environment``), and every text goes through
``visible`` first. The only markup that is passed through is the SVG of our own figures.
"""

from __future__ import annotations

from importlib import resources

from bench.report.document import Document
from bench.report.figure_style import Drawn
from bench.report.page_environment import page_environment
from bench.report.visible import visible


def to_html(document: Document) -> str:
    """The whole report as a page."""
    from markupsafe import Markup

    def svg(figure: Drawn) -> Markup:
        return Markup(figure.svg)  # our own drawing: names and texts in it are escaped

    environment = page_environment(_template)
    environment.filters["visible"] = visible
    environment.filters["svg"] = svg
    environment.tests["kind"] = lambda block, name: type(block).__name__ == name
    return environment.get_template("report.html.j2").render(document=document)


def _template(name: str) -> str:
    return resources.files("bench.report").joinpath("templates", name).read_text(encoding="utf-8")
