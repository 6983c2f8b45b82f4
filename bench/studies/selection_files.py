"""The files of a selection study: two CSV tables, a Markdown summary, one figure. No text of any data set.

Rules that this module owns: the same values give the same bytes; every number stands with its n and interval;
what FOVEA does not beat is listed before anything is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.report import figure_style as style
from bench.report import numbers
from bench.report.table import Table, to_csv, to_markdown
from bench.studies.selection_summary import BEATS, LOSES, NOT_TOLD_APART, Difference, Mean
from bench.studies.selectors import CONTENDERS, PLACE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = tuple(CONTENDERS)
LINES = {"fovea": "-", "top_k": "--", "top_k_sentence": "-.", "mmr": ":", "oracle": "-"}
MARKERS = {"fovea": "o", "top_k": "s", "top_k_sentence": "D", "mmr": "^", "oracle": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All that the files are made from.

    Attributes:
        facts: What was asked, for people, as (label, value).
        means, differences: By task, in the order of the tasks.
    """

    facts: tuple[tuple[str, str], ...]
    means: tuple[Mean, ...]
    differences: tuple[Difference, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(dict.fromkeys(mean.task for mean in self.means))


def files(study: Study) -> Mapping[str, bytes]:
    """Every file of the study, by name."""
    drawn = _drawn(study)
    return {
        "selection.csv": to_csv(means_table(study)).encode(),
        "differences.csv": to_csv(differences_table(study)).encode(),
        "selection.md": markdown(study).encode(),
        "selection.pdf": drawn.pdf,
        "selection.png": drawn.png,
    }


def markdown(study: Study) -> str:
    """The summary."""
    parts = [
        "# Selection: gold evidence for its tokens",
        "\n".join(["| | |", "| --- | --- |", *(f"| {label} | {value} |" for label, value in study.facts)]),
        "## Where FOVEA beats another selector, and where it does not",
        _shortfalls(study),
        "## At the tokens of FOVEA's place",
        to_markdown(_place_table(study)),
        "## At equal budgets",
        "![Gold recall against tokens, one panel a task](selection.png)",
        to_markdown(means_table(study)),
        "## FOVEA minus the others, paired by sample",
        to_markdown(differences_table(study)),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def means_table(study: Study) -> Table:
    """Means of every contender at every budget."""
    return Table(
        name="selection",
        caption="Gold recall and sufficiency by tokens.",
        head=("Task", "Budget", "Selector", "n", "gold recall", "gold sufficient", "tokens", "excess"),
        rows=tuple(
            (
                mean.task,
                mean.budget,
                mean.contender,
                f"{mean.n:,}",
                numbers.with_interval(numbers.share(mean.recall), "share", mean.recall_interval),
                numbers.with_interval(numbers.share(mean.sufficient), "share", mean.sufficient_interval),
                numbers.amount(mean.tokens),
                f"{numbers.amount(mean.excess)} (n={mean.n_excess:,})",
            )
            for mean in study.means
        ),
        data_head=(
            *("task", "budget", "selector", "n", "recall", "recall_low", "recall_high"),
            *("sufficient", "sufficient_low", "sufficient_high", "tokens", "excess", "n_excess"),
        ),
        data=tuple(
            (
                *(mean.task, mean.budget, mean.contender, mean.n, mean.recall),
                mean.recall_interval.low if mean.recall_interval else None,
                mean.recall_interval.high if mean.recall_interval else None,
                mean.sufficient,
                mean.sufficient_interval.low if mean.sufficient_interval else None,
                mean.sufficient_interval.high if mean.sufficient_interval else None,
                *(mean.tokens, mean.excess, mean.n_excess),
            )
            for mean in study.means
        ),
        right=frozenset(range(3, 8)),
        groups=2,
        notes=(
            "Budget: tokens with headers, or `place`: in each sample what FOVEA's place costs. Excess: "
            "tokens over the smallest gold cover, in sufficient samples. `oracle` is an upper bound. 95 % "
            "bootstrap intervals over samples, those over one set of sources drawn together; † where all "
            "values were equal.",
        ),
    )


def differences_table(study: Study) -> Table:
    """FOVEA minus every other contender."""
    return Table(
        name="differences",
        caption="FOVEA minus the others, paired by sample.",
        head=("Task", "Measure", "Budget", "against", "n", "difference", "verdict"),
        rows=tuple(
            (
                *(one.task, one.measure, one.budget, one.baseline, f"{one.n:,}"),
                numbers.with_interval(numbers.difference("share", one.mean), "share", one.interval),
                one.verdict,
            )
            for one in _by_measure(study)
        ),
        data_head=("task", "measure", "budget", "baseline", "n", "difference", "low", "high", "verdict"),
        data=tuple(
            (
                *(one.task, one.measure, one.budget, one.baseline, one.n, one.mean),
                one.interval.low if one.interval else None,
                one.interval.high if one.interval else None,
                one.verdict,
            )
            for one in _by_measure(study)
        ),
        right=frozenset({4, 5}),
        groups=2,
    )


def _by_measure(study: Study) -> list[Difference]:
    order = {task: place for place, task in enumerate(study.tasks)}
    return sorted(study.differences, key=lambda one: (order[one.task], one.measure))


def _place_table(study: Study) -> Table:
    found = [mean for mean in study.means if mean.budget == PLACE]
    verdicts = {
        (one.task, one.baseline, one.measure): one for one in study.differences if one.budget == PLACE
    }

    def against(mean: Mean, measure: str) -> str:
        one = verdicts.get((mean.task, mean.contender, measure))
        if one is None:
            return numbers.MISSING
        return numbers.with_interval(numbers.difference("share", one.mean), "share", one.interval)

    return Table(
        name="place",
        caption="At the tokens of FOVEA's place.",
        head=(
            *("Task", "Selector", "n", "tokens", "gold recall", "FOVEA minus it"),
            *("gold sufficient", "FOVEA minus it", "excess"),
        ),
        rows=tuple(
            (
                *(mean.task, mean.contender, f"{mean.n:,}", numbers.amount(mean.tokens)),
                numbers.with_interval(numbers.share(mean.recall), "share", mean.recall_interval),
                against(mean, "recall"),
                numbers.with_interval(numbers.share(mean.sufficient), "share", mean.sufficient_interval),
                against(mean, "sufficient"),
                f"{numbers.amount(mean.excess)} (n={mean.n_excess:,})",
            )
            for mean in found
        ),
        data_head=(),
        data=(),
        right=frozenset(range(2, 9)),
        groups=1,
    )


def _shortfalls(study: Study) -> str:
    """Which comparisons in recall are lost or open, and how many there are of each kind."""
    compared = [one for one in study.differences if one.measure == "recall"]
    lines = []
    for task in study.tasks:
        for baseline in dict.fromkeys(one.baseline for one in compared):
            mine = [one for one in compared if (one.task, one.baseline) == (task, baseline)]
            budgets = {
                verdict: [one.budget for one in mine if one.verdict == verdict]
                for verdict in (BEATS, NOT_TOLD_APART, LOSES)
            }
            words = "; ".join(f"{verdict} at {', '.join(at)}" for verdict, at in budgets.items() if at)
            lines.append(f"- {task}, against {baseline}: {words}.")
    return "\n".join(lines) or "Nothing was compared."


def _drawn(study: Study) -> style.Drawn:
    counts = {mean.task: mean.n for mean in study.means}
    return style.draw(
        "selection",
        "Gold recall against tokens",
        "Mean share of gold spans shown, by tokens (headers included) and selector, with 95 % bands; panels: "
        + ", ".join(f"{task} (n={counts[task]})" for task in study.tasks),
        lambda: _paint(study),
        stamp="",
    )


def _paint(study: Study) -> Figure:
    rows = max(1, (len(study.tasks) + 1) // 2)
    figure, axes = style.blank(
        0.5 + 2.3 * rows, rows=rows, columns=min(2, max(1, len(study.tasks))), sharey=True
    )
    for ax, task in zip(axes, study.tasks, strict=False):
        _panel(ax, task, [mean for mean in study.means if mean.task == task and mean.budget != PLACE])
    for ax in axes[len(study.tasks) :]:
        ax.set_visible(False)
    if study.tasks:
        axes[0].set_ylabel("gold recall")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=len(NAMES), frameon=False, fontsize=7.5
        )
    return figure


def _panel(ax: Axes, task: str, found: Sequence[Mean]) -> None:
    for name in NAMES:
        mine = [mean for mean in found if mean.contender == name]
        x = [int(mean.budget) for mean in mine]
        colour = style.INK if name == "oracle" else style.colour_of(NAMES, name)
        ax.plot(
            x,
            [mean.recall for mean in mine],
            LINES[name],
            marker=MARKERS[name],
            markersize=3,
            color=colour,
            label=name + (" (upper bound)" if name == "oracle" else ""),
        )
        if name in ("fovea", "top_k"):
            bands = [
                (mean.recall_interval.low, mean.recall_interval.high) for mean in mine if mean.recall_interval
            ]
            if len(bands) == len(mine):
                ax.fill_between(
                    x,
                    [low for low, _ in bands],
                    [high for _, high in bands],
                    color=colour,
                    alpha=0.15,
                    linewidth=0,
                )
    ax.set_title(f"{task} (n={found[0].n:,})" if found else task)
    ax.set_xlabel("tokens, headers included")
    ax.set_ylim(0, 1.02)
    ax.grid(axis="y")
