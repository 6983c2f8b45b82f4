"""The desk at which one synthetic world is written: its facts, and the papers filed so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capsules.source import Origin
from capsules.timestamp import format_time
from tasks.base import SourceDoc, TextRange
from tasks.synthetic_draw import Draw
from tasks.synthetic_facts import Domain, Fact
from tasks.synthetic_papers import Paper, Place, Statement, Writer
from tasks.synthetic_prose import CURRENT, TITLES
from tasks.synthetic_values import MONTHS, distinct

LICENSE = "CC0-1.0"
DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a world, each with its values: the right one first, then the others."""

    plain: Fact
    inside: Fact
    measured: Fact
    noticed: Fact
    planned: Fact
    assumed: Fact
    values: Mapping[str, tuple[str, ...]]

    def value(self, fact: Fact, place: int) -> str:
        """Value 0 is right, 1 is the other place's, 2 the old, stale, planned or assumed one."""
        return self.values[fact.questions[0]][place]


def draw_facts(draw: Draw, domain: Domain) -> Facts:
    """Choose six kinds of facts and three values of each."""
    measured, changing = draw.shuffled(domain.measured), draw.shuffled(domain.changing)
    plain, inside, assumed = draw.shuffled((*measured[1:], *changing[2:]))[:3]
    facts = (plain, inside, measured[0], changing[0], changing[1], assumed)
    return Facts(
        plain=plain,
        inside=inside,
        measured=measured[0],
        noticed=changing[0],
        planned=changing[1],
        assumed=assumed,
        values={fact.questions[0]: distinct(fact.value, draw, 3) for fact in facts},
    )


@dataclass(slots=True, kw_only=True)
class Desk:
    """What is on the desk while one world is written."""

    draw: Draw
    writer: Writer
    project: str
    row: str
    now: int
    leads: list[str] = field(default_factory=list)
    docs: list[SourceDoc] = field(default_factory=list)
    papers: dict[str, Paper] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        place: Place,
        statements: tuple[Statement, ...],
        *,
        as_of: int,
        expires_at: int | None = None,
        level: str = "public",
        project: str | None = None,
        slots: Mapping[str, str] | None = None,
    ) -> str:
        """Write a paper, file it as a source, return its doc_id."""
        written = format_time(as_of)
        own = {"own_year": written[:4], "own_month": MONTHS[int(written[5:7]) - 1]}
        paper = self.writer.write(kind, place, statements, {**own, **(slots or {})})
        doc_id = f"{place.slug}-{kind}" + (f"-{written[:4]}" if "{own_year}" in TITLES[kind] else "")
        self.papers[doc_id] = paper
        self.docs.append(
            SourceDoc(
                doc_id=doc_id,
                text=paper.text,
                title=paper.title,
                origin=Origin(dataset="synthetic", row=f"{self.row}/{doc_id}"),
                license=LICENSE,
                project=project or self.project,
                level=level,
                as_of=written,
                expires_at=None if expires_at is None else format_time(expires_at),
            )
        )
        return doc_id

    def span(self, doc_id: str, kind: str) -> TextRange:
        """Where a paper states a kind of fact."""
        start, end = self.papers[doc_id].ranges[kind]
        return TextRange(doc_id=doc_id, start=start, end=end)

    def ago(self, least: int, most: int) -> int:
        """A time so many days before now."""
        return self.now - DAY * self.draw.between(least, most)

    def state(self, fact: Fact, value: str, leads: tuple[str, ...]) -> Statement:
        """Choose the words of a statement."""
        clause = self.draw.pick(fact.clauses)
        return Statement(kind=fact.questions[0], value=value, lead=self.draw.pick(leads), clause=clause)

    def state_now(self, fact: Fact, value: str) -> Statement:
        """Choose the words of a statement about now; leads take turns, so that few repeat."""
        if not self.leads:
            self.leads = list(self.draw.shuffled(CURRENT))
        return self.state(fact, value, (self.leads.pop(),))
