"""Writes a report as Markdown (GitHub flavour)."""

from __future__ import annotations

from bench.report.document import (
    Block,
    Commands,
    Document,
    Example,
    Facts,
    Paragraph,
    ShownAnswer,
)
from bench.report.figure_style import Drawn
from bench.report.table import Table, to_markdown
from bench.report.visible import markdown, visible


def to_report_markdown(document: Document) -> str:
    """The whole report; figures are linked from ``figures/``."""
    parts = [f"# {markdown(document.title)}"]
    for section in document.sections:
        parts.append(f"## {markdown(section.title)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return f"> **{markdown(block.text)}**" if block.warning else markdown(block.text)
        case Facts():
            return "\n".join(["| | |", "| --- | --- |", *(_fact(*pair) for pair in block.pairs)])
        case Commands():
            return "\n".join(["```sh", *(visible(line) for line in block.lines), "```"])
        case Table():
            return f"**{markdown(block.caption)}**\n\n{to_markdown(block)}"
        case Drawn():
            return f"![{markdown(block.alt)}](figures/{block.name}.png)\n\n*{markdown(block.title)}*"
        case Example():
            return _example(block)


def _fact(label: str, value: str) -> str:
    return f"| {markdown(label)} | {markdown(value)} |"


def _example(example: Example) -> str:
    accepted = "; ".join(markdown(answer) for answer in example.accepted) or "none"
    lines = [
        f"**{markdown(example.sample_id)}** {markdown(example.question)}",
        "",
        f"Accepted answers: {accepted}",
        "",
    ]
    return "\n".join([*lines, *(_answer(answer) for answer in example.answers)])


def _answer(answer: ShownAnswer) -> str:
    text = "(no answer)" if answer.text is None else markdown(answer.text) or "(empty)"
    verdicts = "; ".join(markdown(verdict) for verdict in answer.verdicts)
    return f"- {markdown(answer.cell)}: {text}\n  - {verdicts}"
