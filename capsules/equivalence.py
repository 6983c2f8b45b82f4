"""Equivalence contracts: under which named relation, and for what, two capsules count as the same.

A contract is a plain value, hashed like a capsule. Two capsules are equivalent under it if they share

    class_key = b3(PAE("alias/v1", contract ContentId, project, level, JCS(projection(capsule))))

* A projection is a pure named function of the JSON value of a capsule, with a version of its own;
  applying it twice changes nothing.
* Never ignored, whatever a contract says: schema major, project, label, the scope of the authority, the
  output contract and the tokenizer. A contract that would is refused (``alias.ignore.protected``).
* The contract's id is in the key: equivalence never carries over from one contract to another, and a
  contract that is changed, or revoked by raising its salt, disowns every alias made under it.
* ``evidence``, ``kv`` and ``tokens`` are no uses of an equivalence: they need the exact bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any

from capsules import evidence, prompt
from capsules.arrays import Sorted, itself
from capsules.canonical import canonical_bytes
from capsules.codec import digest_of, to_value
from capsules.content_id import derived_key
from capsules.described import described
from capsules.errors import CapsuleError, SchemaError
from capsules.evidence import EvidenceCapsule
from capsules.member import Member
from capsules.prompt import PromptCapsule
from capsules.rules import Count, Name, Positive, Problem, SchemaIdRule, Time, Word, WordRule
from capsules.shape import Array, Nested, Nullable, Record, law, shape_of

SCHEMA_ID = "equivalence-contract/1"

USES = ("group", "inspect", "substitute")  # count as one | show instead | send instead, once validated

SUBJECTS: Mapping[str, type[Record]] = MappingProxyType(
    {prompt.SCHEMA_ID: PromptCapsule, evidence.SCHEMA_ID: EvidenceCapsule}
)

# Fields by dotted path; what they hold and what holds them is protected with them.
NEVER_IGNORED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        prompt.SCHEMA_ID: (
            "authority.max_level",
            "authority.operations",
            "authority.principal",
            "authority.project",
            "authority.providers",
            "output_contract",
            "project",
            "schema_id",
            "surface_snippet.level",
            "token_budget.tokenizer_digest",
            "token_budget.tokenizer_id",
        ),
        evidence.SCHEMA_ID: ("schema_id", "visibility"),
    }
)

Projection = Callable[[Any, tuple[str, ...]], Any]


class AliasError(CapsuleError):
    """An equivalence that does not hold, or is used for what it does not cover."""


def without_fields(value: Any, ignores: tuple[str, ...]) -> Any:
    """The projection ``fields/1``: a JSON value without the fields at some dotted paths.

    A path goes through arrays: ``exact_spans.norm_id`` is that field of every span.
    """
    if isinstance(value, list):
        return [without_fields(item, ignores) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, item in value.items():
        if name not in ignores:
            inside = f"{name}."
            kept[name] = without_fields(
                item, tuple(path.removeprefix(inside) for path in ignores if path.startswith(inside))
            )
    return kept


PROJECTIONS: Mapping[str, Projection] = MappingProxyType({"fields/1": without_fields})


def field_paths(cls: type[Record]) -> tuple[str, ...]:
    """The dotted paths of all fields of a record class, those of the records inside it too."""
    paths: list[str] = []
    for name, node in shape_of(cls).nodes.items():
        while isinstance(node, Nullable | Array):
            node = node.inner if isinstance(node, Nullable) else node.item
        paths.append(name)
        if isinstance(node, Nested):
            paths += [f"{name}.{path}" for path in field_paths(node.cls)]
    return tuple(paths)


@cache
def _known_paths(subject: str) -> frozenset[str]:
    return frozenset(field_paths(SUBJECTS[subject]))


def is_protected(subject: str, path: str) -> bool:
    """Whether ignoring a path would ignore something that may never be ignored."""
    return any(
        path == kept or path.startswith(f"{kept}.") or kept.startswith(f"{path}.")
        for kept in NEVER_IGNORED[subject]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceContract(Record):
    """A named relation between capsules of one project, and what it may be used for."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    contract_id: Name
    version: Positive
    relation: Name  # in words: what the members have in common
    subject: Annotated[str, WordRule(*SUBJECTS)]
    projection: Annotated[str, WordRule(*PROJECTIONS)]
    ignores: Annotated[tuple[Name, ...], Sorted("path", itself)]
    uses: Annotated[tuple[Word, ...], Sorted("use", itself)]
    project: Name
    salt: Count  # raised to revoke
    expires_at: Time

    @law("subject", "ignores")
    def _ignores_known_fields(self) -> Iterator[Problem]:
        known = _known_paths(self.subject)
        for index, path in enumerate(self.ignores):
            at = f"/ignores/{index}"
            if path not in known:
                yield Problem("schema.word", at, f"the path of a field of {self.subject}", described(path))
            elif is_protected(self.subject, path):
                yield Problem("alias.ignore.protected", at, "a field that may be ignored", path)

    @law("uses")
    def _uses_without_exact_bytes(self) -> Iterator[Problem]:
        for index, use in enumerate(self.uses):
            if use not in USES:
                yield Problem(
                    "alias.use.denied", f"/uses/{index}", f"one of {', '.join(USES)}", described(use)
                )


def revoked(contract: EquivalenceContract) -> EquivalenceContract:
    """The contract that takes the place of a revoked one: no alias of the old one holds under it."""
    return replace(contract, salt=contract.salt + 1)


def projected(contract: EquivalenceContract, value: Any) -> Any:
    """What a contract sees of the JSON value of a capsule."""
    return PROJECTIONS[contract.projection](value, contract.ignores)


def class_key(contract: EquivalenceContract, member: Member) -> str:
    """The key that equivalent capsules share. Project and label are derived from the member itself.

    Raises:
        SchemaError: ``object.type.mismatch``: a capsule of another type than the contract's;
            ``scope.project.mismatch``: of another project; ``label.undetermined``.
    """
    found = member.capsule.schema_id
    if found != contract.subject:
        raise SchemaError(
            "object.type.mismatch", f"expected {contract.subject}, found {found}", at="/schema_id"
        )
    label = member.label()
    if label.project != contract.project:
        raise SchemaError("scope.project.mismatch", "expected the contract's project, found another")
    seen = canonical_bytes(projected(contract, to_value(member.capsule)))
    parts = (digest_of(contract), label.project, label.level)
    return derived_key("alias/v1", *(part.encode() for part in parts), seen)
