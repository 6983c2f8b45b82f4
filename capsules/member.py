"""An exact capsule with the evidence that it refers to: its identity, its label, until when it may be used.

* The identity is computed from the record, never taken from somebody's word.
* The label is derived: of an EvidenceCapsule its own, of a PromptCapsule the join of its evidence and of its
  snippet. A prompt without either has no label (``label.undetermined``), and no label is no permission.
* One project: the prompt's, its authority's and that of all its evidence (``scope.project.mismatch``).
"""

from __future__ import annotations

from dataclasses import dataclass

from capsules.codec import digest_of
from capsules.errors import SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.visibility import Visibility, join_labels

Capsule = PromptCapsule | EvidenceCapsule


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A capsule and, for a prompt, its evidence capsules in the order of their refs.

    Raises:
        SchemaError: ``object.type.mismatch``: no capsule; ``evidence.ref.missing``: other evidence than the
            capsule refers to, or in another order.
    """

    capsule: Capsule
    evidence: tuple[EvidenceCapsule, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.capsule, Capsule):
            found = type(self.capsule).__name__
            raise SchemaError("object.type.mismatch", f"expected a capsule, found {found}")
        prompt = self.capsule if isinstance(self.capsule, PromptCapsule) else None
        wanted = [ref.id for ref in prompt.evidence_capsule_refs] if prompt else []
        found_ids = [digest_of(evidence) for evidence in self.evidence]
        if wanted != found_ids:
            raise SchemaError(
                "evidence.ref.missing", f"expected {wanted}, found {found_ids}", at="/evidence_capsule_refs"
            )

    @property
    def id(self) -> str:
        """The ContentId of the capsule."""
        return digest_of(self.capsule)

    @property
    def expires_at(self) -> str | None:
        """Until when its authority (for evidence: its freshness) lasts; ``None`` is without end."""
        if isinstance(self.capsule, PromptCapsule):
            return self.capsule.authority.expires_at
        return self.capsule.freshness.expires_at

    def label(self) -> Visibility:
        """The join of the labels of everything in it.

        Raises:
            SchemaError: ``label.undetermined``, ``scope.project.mismatch``.
        """
        if isinstance(self.capsule, EvidenceCapsule):
            return self.capsule.visibility
        prompt = self.capsule
        labels = [evidence.visibility for evidence in self.evidence]
        if prompt.surface_snippet is not None:
            labels.append(Visibility(level=prompt.surface_snippet.level, project=prompt.project))
        label = join_labels(labels)
        if {label.project, prompt.authority.project} != {prompt.project}:
            raise SchemaError(
                "scope.project.mismatch",
                "expected evidence and authority of the prompt's project, found another",
            )
        return label
