"""Papers of a synthetic world: sentences put together, with the place of every statement known.

A paper is 60 to 110 words in two or three paragraphs: an opener, its statements and as many
asides as fit, in a drawn order. Ranges of statements are recorded while the text is built, so
they are exact by construction, in code points of the raw text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.synthetic_draw import Draw
from tasks.synthetic_facts import Domain
from tasks.synthetic_prose import ASIDES, NATIVE_NAMES, OPENERS, PLACES, TITLES
from tasks.synthetic_values import NATIVE_PEOPLE, PEOPLE

FEWEST_WORDS, MOST_WORDS = 60, 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as one paper states it.

    Attributes:
        kind: Which of the domain's facts (its first question names it uniquely).
        value: The answer that this statement gives.
        lead: What stands before the clause.
        clause: The clause, with ``{name}`` and ``{v}``.
    """

    kind: str
    value: str
    lead: str
    clause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A written paper: its text, and the half-open range of each statement by kind."""

    title: str
    text: str
    ranges: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place of a world: its name in text and in document ids."""

    name: str
    slug: str


class Writer:
    """Writes the papers of one world; what is told once is not told again."""

    def __init__(self, draw: Draw, domain: Domain, taken: frozenset[str], latest_year: int) -> None:
        """Start a world.

        Args:
            draw: Where choices come from.
            domain: The kind of its places.
            taken: Answers of the world: no aside may mention such a person.
            latest_year: The last year that asides may name.
        """
        self._draw = draw
        self._domain = domain
        self._people = [name for name in draw.shuffled(PEOPLE) if name not in taken]
        self._natives = list(draw.shuffled(NATIVE_PEOPLE))
        self._towns = list(draw.shuffled([name for name, _ in PLACES]))
        self._latest_year = latest_year
        self._told: set[str] = set()

    def write(
        self, kind: str, place: Place, statements: tuple[Statement, ...], slots: dict[str, str]
    ) -> Paper:
        """Write a paper.

        Args:
            kind: One of ``OPENERS``.
            place: What it is about.
            statements: What it must state.
            slots: Further slots (``own_year``, ``own_month``, ``date``, ``org``).
        """
        fill = {
            "name": place.name,
            "it": self._domain.it,
            "place": self._draw.pick(self._towns),
            "native": self._draw.pick(NATIVE_NAMES),
            "person": self._people.pop(),
            "native_person": self._draw.pick(self._natives),
            "year": str(self._latest_year - self._draw.below(58)),
            **slots,
        }
        opener = self._draw.pick(OPENERS[kind]).format_map(fill)
        body = [(one.kind, sentence(one, fill)) for one in statements]
        body += [("", aside) for aside in self._asides(kind, fill, [opener, *(text for _, text in body)])]
        text, ranges = lay_out(self._draw, (("", opener), *self._draw.shuffled(body)))
        return Paper(title=TITLES[kind].format_map(fill), text=text, ranges=ranges)

    def _asides(self, kind: str, fill: Mapping[str, str], told: list[str]) -> list[str]:
        pool = self._domain.asides if kind == "guide" else ASIDES[kind]
        wanted = self._draw.between(FEWEST_WORDS + 4, MOST_WORDS - 10)
        words = sum(len(text.split()) for text in told)
        asides: list[str] = []
        for aside in self._draw.shuffled(pool):
            written = aside.format_map(fill)
            more = len(written.split())
            if words < wanted and words + more <= MOST_WORDS and aside not in self._told:
                self._told.add(aside)
                asides.append(written)
                words += more
        return asides


def sentence(statement: Statement, fill: Mapping[str, str]) -> str:
    """Write a statement as one sentence."""
    clause = statement.clause.format_map({**fill, "v": statement.value})
    whole = statement.lead.format_map(fill) + clause
    return f"{whole[0].upper()}{whole[1:]}."


def lay_out(draw: Draw, sentences: tuple[tuple[str, str], ...]) -> tuple[str, dict[str, tuple[int, int]]]:
    """Lay sentences out in two or three paragraphs.

    Args:
        draw: Decides how many paragraphs.
        sentences: Pairs (kind of the statement or ``""``, text).

    Returns:
        The text, and the range of every statement by kind.
    """
    parts = 3 if len(sentences) >= 6 and draw.one_in(2) else 2
    breaks = {len(sentences) * part // parts for part in range(1, parts)}
    text = ""
    ranges: dict[str, tuple[int, int]] = {}
    for place, (kind, written) in enumerate(sentences):
        text += "" if place == 0 else "\n\n" if place in breaks else " "
        if kind:
            ranges[kind] = (len(text), len(text) + len(written))
        text += written
    return text, ranges
