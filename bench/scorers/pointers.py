"""Reads an answer of the contract ``pointer``: numbers of shown items, ``[3]``.

Rules of this module:

* Every number in a citation mark is an attempted pointer, each number once. A known one resolves to
  the items under it: their span_ids and their text, verbatim by construction.
* A number that nothing stands under is attempted and exact nowhere: ``contract.number_unknown``. What
  looks like a mark and is none counts as one attempt: ``contract.pointer_malformed``, or
  ``contract.unfinished`` where the answer ends in the middle of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench.build.base import ShownSource
from capsules.citation_marks import parse_marks

_OPEN = re.compile(r"[\[［【][^\]］】]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPointer:
    """One attempted pointer.

    Attributes:
        text: As the model wrote it.
        shown: What stands under its number, ``None`` without a known one.
        codes: What is wrong with it.
    """

    text: str
    shown: ShownSource | None
    codes: tuple[str, ...]


def parse_pointers(answer: str, shown: Sequence[ShownSource]) -> tuple[AnswerPointer, ...]:
    """The attempted pointers of an answer, in order."""
    by_number = {source.number: source for source in shown}
    marks, malformed = parse_marks(answer)
    found: list[tuple[int, AnswerPointer]] = []
    seen: set[int] = set()
    for mark in marks:
        for number in mark.ids:
            if number not in seen:
                seen.add(number)
                found.append((mark.start, _pointer(number, by_number.get(number))))
    for bad in malformed:
        cut = _OPEN.match(answer, bad.start) is not None
        code = "contract.unfinished" if cut else "contract.pointer_malformed"
        found.append((bad.start, AnswerPointer(text=bad.text, shown=None, codes=(code,))))
    return tuple(pointer for _, pointer in sorted(found, key=lambda entry: entry[0]))


def _pointer(number: int, shown: ShownSource | None) -> AnswerPointer:
    codes = () if shown is not None else ("contract.number_unknown",)
    return AnswerPointer(text=f"[{number}]", shown=shown, codes=codes)
