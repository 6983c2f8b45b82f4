"""The kinds of answers of the synthetic task, and the pools of names that they come from.

An answer is short and quotable: a number with its unit, a time, a date, a person, a word. Numbers
are whole (``scale`` moves the decimal point), so no float is formatted anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.synthetic_draw import Draw

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

PEOPLE = (
    "Ingrid Løvås",
    "Tomáš Hruška",
    "Agnieszka Wróbel",
    "Hélène Caradec",
    "Jürgen Öhlund",
    "Ana Šimić",
    "Maeve O’Dowd",
    "Ruben de Graaf",
    "Sólveig Þórsdóttir",
    "Mehmet Çelik",
    "Ioana Țepeș",
    "Nils Bergström",
    "Beatriz Muñoz",
    "Caoimhe Ní Bhriain",
    "Peter Halloway",
    "Zsófia Kőszegi",
    "Daniel Okafor",
    "Lucía Ibáñez",
    "Marek Dvořák",
    "Signe Møller",
    "Amélie Duchêne",
    "Gareth Pryce",
    "Elif Yıldız",
    "João Falcão",
    "Ruth Abernathy",
    "Kazimierz Żuk",
    "Priya Raman",
    "Oskar Lindqvist",
    "Françoise Le Goff",
    "Samuel Ndlovu",
    "Nguyễn Thị Hoa",
    "Katarína Ďuricová",
)

# In their own script: readers see them in running text, they are never an answer.
NATIVE_PEOPLE = (
    "山本由紀",
    "陈美玲",
    "ليلى منصور",
    "김하늘",
    "Ελένη Παππά",
    "Олена Коваль",
    "अनिल शर्मा",
    "דנה לוי",
)

COLOURS = ("signal red", "ochre yellow", "sea green", "slate grey", "chalk white", "cobalt blue")
WEEKDAYS = (
    "Mondays and Thursdays",
    "Tuesdays and Fridays",
    "Wednesdays and Saturdays",
    "Tuesdays and Saturdays",
    "Mondays and Fridays",
    "Wednesdays and Sundays",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in a form such as ``{n} m``; ``scale=1`` draws tenths."""

    low: int
    high: int
    form: str
    step: int = 1
    scale: int = 0
    kind: str = "numeric"

    def draw(self, draw: Draw) -> str:
        """Draw an answer."""
        number = self.low + self.step * draw.below((self.high - self.low) // self.step + 1)
        if self.scale:
            whole, part = divmod(number, 10**self.scale)
            return self.form.replace("{n}", f"{whole}.{part:0{self.scale}d}")
        return self.form.replace(
            "{n}", f"{number // 1000},{number % 1000:03d}" if number >= 10000 else str(number)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day in steps of five minutes."""

    first: int
    last: int
    kind: str = "clock"

    def draw(self, draw: Draw) -> str:
        """Draw an answer."""
        return f"{draw.between(self.first, self.last):02d}:{5 * draw.below(12):02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day of the year, or with ``years`` a full date in one of them."""

    years: tuple[int, int] | None = None
    kind: str = "date"

    def draw(self, draw: Draw) -> str:
        """Draw an answer."""
        day = f"{draw.between(1, 28)} {draw.pick(MONTHS)}"
        return day if self.years is None else f"{day} {draw.between(*self.years)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One of a few words."""

    words: tuple[str, ...]
    kind: str = "word"

    def draw(self, draw: Draw) -> str:
        """Draw an answer."""
        return draw.pick(self.words)


PERSON = Word(words=PEOPLE, kind="person")
Value = Number | Clock | Day | Word


def distinct(value: Value, draw: Draw, wanted: int) -> tuple[str, ...]:
    """Draw so many answers of one kind, no two equal."""
    found: list[str] = []
    while len(found) < wanted:
        answer = value.draw(draw)
        if answer not in found:
            found.append(answer)
    return tuple(found)
