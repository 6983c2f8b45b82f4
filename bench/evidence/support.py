"""Whether spans support a claim, by rule.

Rules that this module owns:

* ``supported``: the claim stands verbatim in one span; or its spans together hold at least ``support_bp``
  of its content terms, every number and date of it, and no span denies what it says.
* ``contradicted``: a span is similar to the claim and the rule detector finds them in conflict.
* Else ``unsupported``. A claim is never dropped for it: that evidence supports nothing is worth knowing.
* The confidence is the share of the claim's content terms that its spans hold, in basis points: 10,000
  for a verbatim one, 0 for one that is not supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.evidence.detector import detect, similar
from bench.evidence.facts import Facts, Placed, facts_of, same_value

SUPPORTED, UNSUPPORTED, CONTRADICTED = "supported", "unsupported", "contradicted"
CERTAIN_BP = 10_000
SIMILAR_BP = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the rule says about a claim.

    Attributes:
        conflicts: Index of each span that contradicts the claim, with the kind.
    """

    status: str
    confidence_bp: int
    conflicts: tuple[tuple[int, str], ...] = ()


def judge(claim: str, spans: Sequence[str], support_bp: int) -> Support:
    """Judge a claim by the texts of its spans."""
    wanted = claim.strip()
    if wanted and any(wanted in span for span in spans):
        return Support(status=SUPPORTED, confidence_bp=CERTAIN_BP)
    conflicts = tuple(
        (place, kind)
        for place, span in enumerate(spans)
        if similar(claim, span, SIMILAR_BP) and (kind := detect(claim, span)) is not None
    )
    if conflicts:
        return Support(status=CONTRADICTED, confidence_bp=0, conflicts=conflicts)
    share = _share(facts_of(claim), [facts_of(span) for span in spans])
    if share is None or share < support_bp:
        return Support(status=UNSUPPORTED, confidence_bp=0)
    return Support(status=SUPPORTED, confidence_bp=share)


def _share(claim: Facts, spans: Sequence[Facts]) -> int | None:
    """Share of the claim's terms in the spans; ``None`` where a number, date or negation is not theirs."""
    held: set[str] = set().union(*(span.terms for span in spans))
    if not claim.terms or claim.negated != any(span.negated for span in spans):
        return None
    known = [one for span in spans for one in _placed(span)]
    if not all(any(same_value(one.value, other.value) for other in known) for one in _placed(claim)):
        return None
    return len(claim.terms & held) * CERTAIN_BP // len(claim.terms)


def _placed(facts: Facts) -> tuple[Placed, ...]:
    return facts.numbers + facts.dates
