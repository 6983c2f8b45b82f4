"""The PromptCapsule: one bounded model input, and the evidence that it refers to."""

from __future__ import annotations

from dataclasses import dataclass

from capsules.authority import Authority
from capsules.budget import TokenBudget
from capsules.omission import Candidates, Omission, Rewrite

SCHEMA_ID = "prompt-capsule/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveObject:
    kind: str
    ref: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSnippet:
    text: str
    derived_from: tuple[str, ...]
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    id: str
    kind: str  # instruction | schema | style | verification | example | blocking | runtime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRef:
    id: str  # ContentId of an EvidenceCapsule
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContract:
    name: str  # quote | pointer | quote_constrained | pointer_constrained
    max_quotes: int
    min_chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCapsule:
    """A typed, versioned, digest-addressed model input."""

    schema_id: str
    capsule_id: str
    task: str
    project: str
    active_object: ActiveObject
    surface_snippet: SurfaceSnippet | None
    constraints: tuple[Constraint, ...]
    authority: Authority
    evidence_capsule_refs: tuple[EvidenceRef, ...]
    output_contract: OutputContract
    token_budget: TokenBudget
    candidates: Candidates
    omissions: tuple[Omission, ...]
    rewrites: tuple[Rewrite, ...]
