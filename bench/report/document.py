"""A report as a value: sections of blocks, from which Markdown and HTML are written.

Texts in blocks are plain: each writer makes them visible and escapes them in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.report.figure_style import Drawn
from bench.report.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text; ``warning`` makes it stand out."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Label and value, one a line."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """Lines for a shell."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """What one cell answered, and the verdict on it."""

    cell: str
    text: str | None
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One sample with the answers of several cells."""

    sample_id: str
    question: str
    accepted: tuple[str, ...]
    answers: tuple[ShownAnswer, ...]


Block = Paragraph | Facts | Commands | Example | Table | Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and its blocks; ``anchor`` is its id in the HTML."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The whole report."""

    title: str
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, in order."""
        return tuple(b for s in self.sections for b in s.blocks if isinstance(b, Table))

    @property
    def figures(self) -> tuple[Drawn, ...]:
        """All figures, in order."""
        return tuple(b for s in self.sections for b in s.blocks if isinstance(b, Drawn))
