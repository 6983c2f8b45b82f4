"""What the synthetic task's places have in common: facts that are stated, asked and confused.

A fact has clauses with ``{name}`` and ``{v}``; each is a whole statement in the present tense (or
of a date in the past), so that it can stand alone and after "... says that". Facts are *measured*
(two records may disagree on them) or *changing* (a notice about them may have expired, a plan
may intend another value). The places are in :mod:`tasks.synthetic_sites` and
:mod:`tasks.synthetic_works`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.synthetic_values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One kind of fact about a kind of place."""

    value: Value
    clauses: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A kind of place.

    Attributes:
        kind: Last word of its name ("Kråkøya Light").
        slug: The same in document ids.
        it: What running text calls it.
        measured: Facts on which two records may disagree.
        changing: Facts that notices and plans are about.
        asides: Sentences of a guide that answer no question.
    """

    kind: str
    slug: str
    it: str
    measured: tuple[Fact, ...]
    changing: tuple[Fact, ...]
    asides: tuple[str, ...]
