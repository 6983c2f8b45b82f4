"""The PromptCapsule: one bounded model input, and the evidence that it refers to.

``constraints``, ``evidence_capsule_refs`` and ``rewrites`` bear order: it is the order in the prompt.
``omissions`` are sorted by (stage, reason, item), a null item first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, Sorted, itself
from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.described import described
from capsules.omission import OUTSIDE_POOL, Candidates, Omission, Rewrite
from capsules.rules import (
    CapsuleId,
    ContentId,
    Count,
    Flag,
    Level,
    Name,
    Problem,
    SchemaIdRule,
    SpanId,
    Text,
    Word,
    WordRule,
)
from capsules.shape import Record, law, shape_of

SCHEMA_ID = "prompt-capsule/1"


def _id(item: Constraint | EvidenceRef) -> str:
    return item.id


def _omission_key(omission: Omission) -> tuple[str, str, str]:
    return omission.stage, omission.reason, omission.item or ""  # null only where it is the only entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveObject(Record):
    """What the prompt is about."""

    kind: Word  # question | document | ...
    ref: Name
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSnippet(Record):
    """A short text about the object that is no verbatim span, and what it derives from."""

    text: Text
    derived_from: Annotated[tuple[SpanId, ...], Distinct("span_id", itself)]
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint(Record):
    """One part of the stable prefix (a ``runtime`` constraint is checked and not rendered)."""

    id: Name
    kind: Annotated[
        str, WordRule("instruction", "schema", "style", "verification", "example", "blocking", "runtime")
    ]
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRef(Record):
    """An EvidenceCapsule of the prompt, by identity."""

    id: ContentId
    required: Flag


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContract(Record):
    """What form the answer must have."""

    name: Annotated[str, WordRule("quote", "pointer", "quote_constrained", "pointer_constrained")]
    max_quotes: Count
    min_chars: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCapsule(Record):
    """A typed, versioned, digest-addressed model input."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    capsule_id: CapsuleId
    task: Name
    project: Name
    active_object: ActiveObject
    surface_snippet: SurfaceSnippet | None
    constraints: Annotated[tuple[Constraint, ...], Distinct("id", _id)]
    authority: Authority
    evidence_capsule_refs: Annotated[tuple[EvidenceRef, ...], Distinct("id", _id)]
    output_contract: OutputContract
    token_budget: TokenBudget
    candidates: Candidates
    omissions: Annotated[tuple[Omission, ...], Sorted("(stage, reason, item)", _omission_key)]
    rewrites: tuple[Rewrite, ...]

    @law("token_budget")
    def _protected_fields(self) -> Iterator[Problem]:
        """A misspelt name would protect nothing."""
        fields = shape_of(PromptCapsule).nodes
        for index, name in enumerate(self.token_budget.protected):
            if name not in fields:
                at = f"/token_budget/protected/{index}"
                yield Problem(
                    "schema.word", at, f"a field of the prompt: {', '.join(fields)}", described(name)
                )

    @law("omissions")
    def _one_outside_pool(self) -> Iterator[Problem]:
        places = [index for index, gone in enumerate(self.omissions) if gone.reason == OUTSIDE_POOL]
        for index in places[1:]:
            found = f"the same reason as entry {places[0]}"
            yield Problem("schema.duplicate", f"/omissions/{index}", f"one entry {OUTSIDE_POOL}", found)

    @law("rewrites")
    def _rewritten_once(self) -> Iterator[Problem]:
        seen: dict[str, int] = {}
        for index, rewrite in enumerate(self.rewrites):
            for place, item in enumerate(rewrite.items):
                if seen.setdefault(item, index) != index:
                    at = f"/rewrites/{index}/items/{place}"
                    yield Problem("schema.duplicate", at, "an item that no other rewrite holds", "a repeated")
