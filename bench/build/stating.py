"""From kept items to what the evidence capsules say of them: claims, contradictions, what is missing.

Rule that this module owns: all of it is stated anew for every draft, of exactly the items that the draft
keeps, so that a capsule never speaks of evidence that the budget took out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.build.candidates import Candidates, Item
from bench.build.narrowing import Narrowed
from bench.build.sealing import Kept
from bench.evidence.claims import Stated, kept_claims
from bench.evidence.disputes import shown
from bench.evidence.missing import missing_evidence
from bench.specs import ArmSpec
from capsules.span import ExactSpan
from capsules.visibility import LEVELS, join_levels
from tasks.base import SampleInput


def state(
    sample: SampleInput,
    candidates: Candidates,
    narrowed: Narrowed,
    stated: Stated,
    spans: Mapping[str, ExactSpan],
    kept: Sequence[Item],
    arm: ArmSpec,
) -> Kept:
    """The kept items with what they state, where they disagree and what they lack."""
    in_sample = sorted(kept, key=lambda i: (i.place, i.start))
    claims, out = kept_claims(sample.question, stated, in_sample, narrowed.required, arm)
    return Kept(
        items=kept,
        spans=spans,
        claims=claims,
        disputes=shown(sample, in_sample, narrowed.found, arm.contradictions.policy),
        missing=missing_evidence(sample.question, candidates, kept, out, stated.answered, arm.missing),
        floor=join_levels([LEVELS[0], *(item.doc.level for item in candidates.named)]),
    )
