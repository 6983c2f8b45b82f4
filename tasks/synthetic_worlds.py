"""Worlds of the synthetic task: papers about two places of one kind, and what is true in them.

A world has 6 to 8 sources that all its questions share, in a drawn order:

======== =============================== ====================================================
guide    public                          current facts of the main place
handbook internal (authorized)           current facts that only the staff writes down
sibling  public                          the same kinds of facts of another place: distractor
register public, old                     contradicts a newer record on a number or a date
survey   public, new (or in the guide)   the newer record: it is right
notice   public, expired                 a value that held until it ran out
memo     confidential or restricted      a planned value: denied
partner  of a foreign project            somebody else's value: denied
======== =============================== ====================================================

(memo, partner and survey are not in every world, but one of memo and partner is.) Four questions
a world: a plain fact (of either place, or from the handbook), the contradicted one, the one of
the notice, and the one of memo or partner. No right answer occurs anywhere outside its gold
sentence: a world where one would is drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capsules.source import Origin
from capsules.timestamp import format_time, parse_time
from tasks.base import LabelledContradiction, SourceDoc, TextRange
from tasks.synthetic_draw import Draw
from tasks.synthetic_facts import Domain, Fact
from tasks.synthetic_papers import Paper, Place, Statement, Writer
from tasks.synthetic_prose import (
    ASK_NEWER,
    ASK_NOW,
    CURRENT,
    DRAFT,
    FOREIGN,
    NEWER,
    OLDER,
    PARTNERS,
    PLACES,
    STALE,
)
from tasks.synthetic_sites import FERRY, HUT, LIGHT, MILL
from tasks.synthetic_values import MONTHS, distinct
from tasks.synthetic_works import ARCHIVE, GLASSHOUSE, OBSERVATORY, PUMPING_STATION

DOMAINS = (LIGHT, GLASSHOUSE, FERRY, OBSERVATORY, HUT, ARCHIVE, MILL, PUMPING_STATION)
LICENSE = "CC0-1.0"
DAY = 86_400
TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: where its answer stands, and which documents only look as if."""

    role: str  # plain | newer | current | official
    text: str
    answer: str
    gold: TextRange
    distractors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The shared sources of some questions, with the truth about each source."""

    sources: tuple[SourceDoc, ...]
    questions: tuple[Question, ...]
    contradiction: LabelledContradiction
    expired: tuple[str, ...]
    denied: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Desk:
    """What is on the desk while one world is written."""

    draw: Draw
    domain: Domain
    main: Place
    other: Place
    project: str
    now: int
    row: str
    writer: Writer
    docs: list[SourceDoc] = field(default_factory=list)
    papers: dict[str, Paper] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        statements: tuple[Statement, ...],
        *,
        as_of: int,
        about: Place | None = None,
        expires_at: int | None = None,
        level: str = "public",
        project: str | None = None,
        slots: Mapping[str, str] | None = None,
    ) -> str:
        """Write a paper, file it as a source, return its doc_id."""
        place = about or self.main
        year, month = format_time(as_of)[:4], MONTHS[int(format_time(as_of)[5:7]) - 1]
        # Old papers speak of their own year; for the others asides name any earlier one.
        own = {"year": year, "month": month} if kind in ("register", "survey", "notice") else {}
        paper = self.writer.write(kind, place, statements, {"month": month, **own, **(slots or {})})
        doc_id = f"{place.slug}-{kind}" + (f"-{year}" if own else "")
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
                as_of=format_time(as_of),
                expires_at=None if expires_at is None else format_time(expires_at),
            )
        )
        return doc_id

    def span(self, doc_id: str, kind: str) -> TextRange:
        start, end = self.papers[doc_id].ranges[kind]
        return TextRange(doc_id=doc_id, start=start, end=end)

    def ago(self, least: int, most: int) -> int:
        return self.now - DAY * self.draw.between(least, most)


def make_world(names: tuple[str | int, ...], domain_number: int, project: str, as_of: str) -> World:
    """Make the world of these names: the same for the same arguments, on every machine.

    Raises:
        RuntimeError: No try gave a fair world (does not happen with the tables as they are).
    """
    for attempt in range(TRIES):
        draw = Draw(*names, attempt)
        row = "-".join(str(name) for name in names[1:])
        world = _write(draw, DOMAINS[domain_number % len(DOMAINS)], project, parse_time(as_of), row)
        if is_fair(world):
            return world
    raise RuntimeError(f"no fair world of {names} in {TRIES} tries")


def is_fair(world: World) -> bool:
    """Whether every answer stands in its gold sentence once, and nowhere else in the world."""
    for question in world.questions:
        answer = _plain(question.answer)
        for doc in world.sources:
            here = 1 if doc.doc_id == question.gold.doc_id else 0
            if _plain(doc.text).count(answer) != here or answer in _plain(doc.title or ""):
                return False
        if answer in _plain(question.text):
            return False
    return True


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ").casefold()
