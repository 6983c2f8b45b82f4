"""How every figure of a report looks, and how it becomes bytes.

Rules of this module:

* The palette is Okabe and Ito's, safe for colour-blind readers. A colour names an arm or a class of
  tokens; none means good or bad. Shape, hatching or a label always says the same as the colour.
* The same values give the same bytes: no dates, salted SVG ids, no global matplotlib state.
* Matplotlib is imported inside functions only: importing the report costs nothing.
* In the SVG of the HTML page all colours become CSS variables, so that one picture serves
  light and dark pages; its text stays text (readable aloud, searchable) in a font of the same
  widths; ids get the figure's name, so that pictures share a page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.report.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B0A400", "#7F7F7F")
MARKERS = {"off": "o", "cold": "s", "primed": "D", "served": "^"}
HATCHES = ("", "//", "...", "xx")
INK, GRID, PAPER = "#1c1c1a", "#d9d8d3", "#fefefd"
_CSS = {
    INK: "var(--ink)",
    GRID: "var(--grid)",
    PAPER: "var(--paper)",
    **{colour: f"var(--colour-{i})" for i, colour in enumerate(PALETTE)},
}
_FONTS = ("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")  # Verdana: the same widths
WIDTH = 6.5  # inches: the text width of most papers

_RC: dict[Any, Any] = {
    "text.parse_math": False,  # an arm named $x$ is a name, not a formula
    "svg.hashsalt": "capsule-bench",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.size": 0,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "figure.facecolor": PAPER,
    "figure.constrained_layout.w_pad": 0.06,
    "savefig.facecolor": PAPER,
    "lines.linewidth": 1.3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A finished figure in its three forms.

    Attributes:
        alt: What the figure shows, in a sentence or two, for readers who do not see it.
    """

    name: str
    title: str
    alt: str
    pdf: bytes
    png: bytes
    svg: str


def draw(name: str, title: str, alt: str, paint: Callable[[], Figure], *, stamp: str) -> Drawn:
    """Run ``paint`` under the report's style and keep its figure as PDF, PNG and SVG.

    Args:
        name: File stem.
        title: Title, for captions and metadata.
        alt: What the figure shows, in words.
        paint: Makes the figure.
        stamp: A line over the figure that must not be lost when it is copied; empty for none.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        figure = paint()
        if stamp:
            figure.suptitle(stamp, fontsize=8.5, fontweight="bold")
        figure.draw_without_rendering()  # lay out once, so that all forms are alike
        figure.set_layout_engine("none")
        return Drawn(
            name=name,
            title=title,
            alt=alt,
            pdf=_saved(figure, "pdf", {"CreationDate": None, "Title": title}),
            png=_saved(figure, "png", {}),
            svg=_inline(name, title, alt, _saved(figure, "svg", {"Date": None}).decode("utf-8")),
        )


def _saved(figure: Figure, form: str, metadata: dict[str, str | None]) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format=form, metadata=metadata, dpi=200)
    return out.getvalue()


def _inline(name: str, title: str, alt: str, svg: str) -> str:
    """The ``<svg>`` element alone, themed by CSS variables, with ids of its own."""
    body = svg[svg.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r'\b(id=")', rf"\g<1>{name}-", body)
    body = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
    for colour, variable in _CSS.items():
        body = body.replace(colour.lower(), variable)
    body = body.replace(*_FONTS)
    head, rest = body.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    label = f'<title id="{name}-title">{_escaped(title)}</title><desc id="{name}-desc">{_escaped(alt)}</desc>'
    return f'{head} role="img" aria-labelledby="{name}-title {name}-desc">{label}{rest}'


def _escaped(text: str) -> str:
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def blank(
    height: float, *, rows: int = 1, columns: int = 1, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of the report's width with a grid of axes, laid out without overlaps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns, sharey=sharey, squeeze=False)
    return figure, [ax for row in axes for ax in row]


def colour_of(names: tuple[str, ...], name: str) -> str:
    """The colour of ``name``, by its place in ``names``."""
    return PALETTE[names.index(name) % len(PALETTE)]


def beside(ax: Axes, x: float, y: float, text: str) -> None:
    """A small label just right of a point; the gap is no space, which SVG would drop."""
    ax.annotate(text, (x, y), xytext=(3, 0), textcoords="offset points", va="center", ha="left", fontsize=7.5)


def inside(ax: Axes, x: float, y: float, text: str) -> None:
    """A small label in the middle of a bar, on paper so that it is read on any colour."""
    box = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
    ax.text(x, y, text, ha="center", va="center", bbox=box, fontsize=7.5)


def thousands(ax: Axes, ticks: int) -> None:
    """At most ``ticks`` round numbers on the horizontal axis, with thousands separators."""
    ax.locator_params(axis="x", nbins=ticks)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def label_rows(ax: Axes, labels: list[str]) -> None:
    """Rows from top to bottom, named at the left, with a little air around them."""
    ax.set_yticks(range(len(labels)), labels=[visible(label) for label in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
