"""Which raw code points gave which normalized ones, worked out for one short stretch of text.

A stretch is cut into *units*: the smallest pieces such that the normalization of the stretch is the
normalizations of its pieces, joined. A raw and a normalized position correspond where a unit ends; a
place inside a unit corresponds to nothing.

* A character that is dropped belongs to no unit, unless it stands inside one.
* A run of white space is one unit, and so is everything that came from one raw character.
* NFC works on a starter and the marks that join it. If it leaves them alone, each is a unit.
  If it changes them, units are cut greedily from the left wherever both sides normalize apart; a
  changed sequence of more than 64 code points stays whole.

Almost all text corresponds one to one; only the stretches where it may not are looked at closely
(``capsules.unicode_tables.uneven_pattern``).

Why slices of units normalize to slices of the result: the joined normalizations of consecutive units are
a substring of an NFC string, hence NFC themselves, and canonically equivalent to the raw slice.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from capsules.unicode_tables import (
    DROPPED,
    PUNCTUATION,
    WHITE_SPACE,
    compat_table,
    joining_pattern,
    nfc,
    uneven_pattern,
)

_LONGEST_CUT = 64
_PRINTED_SPACE = frozenset(WHITE_SPACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a normalization does, in the order in which it does it.

    Attributes:
        line_ends: CR LF and CR become LF (``text/1``).
        compat: The table ``COMPAT`` of ``capsules.unicode_tables`` is applied.
        quote: The characters ``DROPPED`` go, ``PUNCTUATION`` is made ASCII and runs of white
            space become one space.
    """

    line_ends: bool = False
    compat: bool = False
    quote: bool = False


@dataclass(frozen=True, slots=True)
class Atom:
    """A normalized piece and the raw range that it came from."""

    text: str
    start: int
    end: int


class Units:
    """The units of one stretch, in order; positions count from the beginning of the stretch."""

    __slots__ = ("_norm_ends", "_norm_starts", "_raw_ends", "_raw_starts")

    def __init__(self) -> None:
        self._raw_starts = array("I")
        self._raw_ends = array("I")
        self._norm_starts = array("I")
        self._norm_ends = array("I")

    @property
    def norm_size(self) -> int:
        """Number of normalized code points."""
        return self._norm_ends[-1] if self._norm_ends else 0

    def add_even(self, start: int, end: int) -> None:
        """Append a raw range in which every code point is a unit and gave one code point."""
        norm, size = self.norm_size, end - start
        self._raw_starts.extend(range(start, end))
        self._raw_ends.extend(range(start + 1, end + 1))
        self._norm_starts.extend(range(norm, norm + size))
        self._norm_ends.extend(range(norm + 1, norm + size + 1))

    def add(self, start: int, end: int, size: int) -> None:
        """Append one unit: a raw range that gave ``size`` code points."""
        self._norm_starts.append(self.norm_size)
        self._norm_ends.append(self._norm_starts[-1] + size)
        self._raw_starts.append(start)
        self._raw_ends.append(end)

    def raw_start(self, position: int) -> tuple[int, bool]:
        """Raw start of the unit that holds a normalized position; whether it begins there."""
        unit = bisect_right(self._norm_starts, position) - 1
        return self._raw_starts[unit], self._norm_starts[unit] == position

    def raw_end(self, position: int) -> tuple[int, bool]:
        """Raw end of the unit that holds the normalized position before; whether it ends there."""
        unit = bisect_right(self._norm_starts, position - 1) - 1
        return self._raw_ends[unit], self._norm_ends[unit] == position

    def norm_start(self, position: int) -> int | None:
        """Normalized start of the first unit from a raw position on; ``None`` inside a unit."""
        unit = bisect_right(self._raw_ends, position)
        if unit == len(self._raw_starts):
            return self.norm_size
        return self._norm_starts[unit] if self._raw_starts[unit] >= position else None


def units(raw: str, rules: Rules) -> Units:
    """The units of ``raw``."""
    found = Units()
    position = 0
    for uneven in uneven_pattern(compat=rules.compat, quote=rules.quote).finditer(raw):
        found.add_even(position, uneven.start())
        position = uneven.end()
        for atom in _merged(uneven.group(), rules):
            found.add(uneven.start() + atom.start, uneven.start() + atom.end, len(atom.text))
    found.add_even(position, len(raw))
    return found


def _merged(raw: str, rules: Rules) -> list[Atom]:
    """The atoms of a stretch, those that share a raw character made one."""
    atoms = _composed(_mapped(raw, rules))
    if rules.quote:
        atoms = _collapsed(atoms)
    merged: list[Atom] = []
    for atom in atoms:
        if merged and atom.start < merged[-1].end:
            last = merged.pop()
            atom = Atom(last.text + atom.text, last.start, max(last.end, atom.end))
        merged.append(atom)
    return merged


def _mapped(raw: str, rules: Rules) -> list[Atom]:
    """One atom a character, as they enter NFC."""
    compat = compat_table() if rules.compat else {}
    atoms: list[Atom] = []
    for index, char in enumerate(raw):
        if rules.line_ends and char == "\n" and index and raw[index - 1] == "\r":
            atoms[-1] = Atom("\n", index - 1, index + 1)
            continue
        text = "\n" if rules.line_ends and char == "\r" else compat.get(char, char)
        if rules.quote:
            text = PUNCTUATION.get(text, "" if text in DROPPED else text)
        atoms.extend(Atom(part, index, index + 1) for part in text)
    return atoms


def _composed(atoms: list[Atom]) -> Iterator[Atom]:
    """The atoms after NFC."""
    joining = joining_pattern()
    start = 0
    for index in range(1, len(atoms) + 1):
        if index == len(atoms) or joining.match(atoms[index].text) is None:
            yield from _cut(atoms[start:index])
            start = index


def _cut(atoms: list[Atom]) -> Iterator[Atom]:
    """The atoms of one starter with its marks, cut where both sides normalize apart."""
    while atoms:
        text = "".join(atom.text for atom in atoms)
        whole = nfc(text)
        if whole == text:
            yield from atoms
            return
        size = len(atoms)
        if size <= _LONGEST_CUT:
            size = next(n for n in range(1, size + 1) if nfc(text[:n]) + nfc(text[n:]) == whole)
        yield Atom(nfc(text[:size]), atoms[0].start, atoms[size - 1].end)
        atoms = atoms[size:]


def _collapsed(atoms: Iterator[Atom]) -> Iterator[Atom]:
    """The atoms with each run of white space made one space."""
    space: Atom | None = None
    for atom in atoms:
        if atom.text in _PRINTED_SPACE:
            space = Atom(" ", space.start if space else atom.start, atom.end)
            continue
        if space:
            yield space
            space = None
        yield atom
    if space:
        yield space
