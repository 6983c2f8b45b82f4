"""What a build looked for and did not find, as the capsule records it.

Rules that this module owns:

* Every entry names the question as its query, the stage that looked, and why nothing (or not enough) was
  found, in numbers and in words of the question; never in words or names of a source.
* ``retrieval``: content terms of the question that no candidate holds that may be shown and is valid.
* ``selection``: words of the question that candidates hold and nothing that is kept does.
* ``freshness``: how many candidates are out because they expired.
* ``claims``: claims left out because their derivation is not all in the evidence; or no stored answer.
* ``answerability``: the kept evidence scores below ``missing.answerable_bp``.
* ``evidence``: nothing is kept at all.
* What may not be shown is counted among the omissions of the prompt and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.build.candidates import Candidates, Item
from bench.evidence.answerability import assess
from bench.evidence.facts import content_terms
from bench.plural import number_of
from bench.selection.unmet import unmet_needs
from bench.specs import MissingSpec
from capsules.claim import MissingEvidence


def missing_evidence(
    question: str,
    candidates: Candidates,
    kept: Sequence[Item],
    claims_out: int,
    answered: bool,
    spec: MissingSpec,
) -> tuple[MissingEvidence, ...]:
    """The entries of a build; none where the arm does not record them."""
    if not spec.record:
        return ()
    found: list[tuple[str, str]] = []
    live = candidates.live
    absent = content_terms(question).difference(*(content_terms(item.text) for item in live))
    if absent:
        found.append(("retrieval", f"{_nowhere(len(live))}: {', '.join(sorted(absent))}"))
    lost = unmet_needs(question, [item.text for item in live], [item.text for item in kept]) if kept else ()
    if lost:
        found.append(("selection", f"held by candidates, and by none that is kept: {', '.join(lost)}"))
    expired = sum(reason == "freshness.expired" for reason in candidates.dropped.values())
    if expired:
        found.append(("freshness", f"expired: {number_of(expired, 'candidate')}"))
    if claims_out:
        found.append(("claims", f"left out, for a span that they derive from is not shown: {claims_out}"))
    if not answered:
        found.append(("claims", "no stored answer of the model for this sample"))
    if not kept:
        found.append(("evidence", "no candidate is kept"))
    else:
        judged = assess(question, [item.text for item in kept])
        if judged.score_bp < spec.answerable_bp:
            found.append(
                ("answerability", _why(judged.score_bp, spec.answerable_bp, judged.scope, judged.in_scope))
            )
    return tuple(MissingEvidence(query=question, stage=stage, why=why) for stage, why in found)


def _nowhere(live: int) -> str:
    """Where a word was looked for and not found."""
    if live > 1:
        return f"in none of {live} candidates"
    return "not in the only candidate" if live else "no candidate to look in"


def _why(score: int, needed: int, scope: tuple[int, int] | None, in_scope: bool | None) -> str:
    why = f"the evidence may not answer: score {score} of 10000, expected {needed}"
    if scope is not None and not in_scope:
        why += f"; no year from {scope[0]} to {scope[1]} in it"
    return why
