"""Artifacts: what was computed from an exact capsule under an exact setting, and may be used again.

    tokens_key = b3(PAE("tokens/v1", ContentId, render_profile_id, tokenizer_digest))

* An artifact hangs on the id of a PromptCapsule that is computed here, from the record. A name, an alias
  or a claimed digest cannot be passed, so an equivalent capsule never finds it.
* A key is not trusted by itself: token ids are stored with what they key, and compared on a hit
  (``artifact.mismatch``).

KV blocks: ``capsules.kv_chain``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from capsules.canonical import canonical_bytes, parse_strict, require_canonical
from capsules.codec import digest_of
from capsules.content_id import content_id, derived_key
from capsules.errors import CapsuleError, SchemaError
from capsules.prompt import PromptCapsule
from capsules.rules import ContentId, Count, IntRule, Name, Problem, SchemaIdRule
from capsules.shape import Record, law

MAX_TOKEN_ID = 2**32 - 1
MAX_IDS = 1 << 24

TokenId = Annotated[int, IntRule(0, MAX_TOKEN_ID)]


class ArtifactError(CapsuleError):
    """An artifact that does not belong to what it was looked up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderProfile(Record):
    """How a capsule becomes text and how the text is cut before it is encoded."""

    schema_id: Annotated[str, SchemaIdRule("render-profile/1")]
    layout: Name
    segmentation: Name


# What ``capsules.rendering`` and ``capsules.tokenized`` do; another rule needs another name.
FENCED = RenderProfile(schema_id="render-profile/1", layout="fences/1", segmentation="segments/1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenArtifact(Record):
    """The token ids of a prompt, stored as a canonical JSON array of their own."""

    schema_id: Annotated[str, SchemaIdRule("token-artifact/1")]
    key: ContentId
    subject: ContentId  # the PromptCapsule
    render_profile: ContentId
    tokenizer_digest: ContentId
    ids_digest: ContentId  # of the stored array
    n_ids: Count

    @law("key", "subject", "render_profile", "tokenizer_digest")
    def _key_of_the_three(self) -> Iterator[Problem]:
        key = _tokens_key(self.subject, self.render_profile, self.tokenizer_digest)
        if self.key != key:
            yield Problem("artifact.mismatch", "/key", key, self.key)


def tokens_key(prompt: PromptCapsule, tokenizer_digest: str, *, render: RenderProfile = FENCED) -> str:
    """The key under which the token ids of a prompt are kept.

    Raises:
        SchemaError: ``object.type.mismatch``: something else than a PromptCapsule, an alias for one.
    """
    return _tokens_key(exact_id(prompt), digest_of(render), tokenizer_digest)


def token_artifact(
    prompt: PromptCapsule, ids: Sequence[int], tokenizer_digest: str, *, render: RenderProfile = FENCED
) -> TokenArtifact:
    """The artifact of a prompt's token ids; ``ids_bytes`` are the bytes to store beside it.

    Raises:
        SchemaError: ``object.type.mismatch``; ``tokenizer.mismatch``: another tokenizer than that of the
            prompt's budget; ``schema.limit`` for an id beyond 32 bits.
    """
    subject, budget = exact_id(prompt), prompt.token_budget
    if tokenizer_digest != budget.tokenizer_digest:
        raise SchemaError(
            "tokenizer.mismatch", f"expected {budget.tokenizer_digest}, found {tokenizer_digest}"
        )
    rendered = digest_of(render)
    return TokenArtifact(
        schema_id="token-artifact/1",
        key=_tokens_key(subject, rendered, tokenizer_digest),
        subject=subject,
        render_profile=rendered,
        tokenizer_digest=tokenizer_digest,
        ids_digest=content_id(ids_bytes(ids)),
        n_ids=len(ids),
    )


def ids_bytes(ids: Sequence[int]) -> bytes:
    """Token ids as they are stored: a canonical JSON array.

    Raises:
        SchemaError: ``schema.field.type``, ``schema.limit``: not an integer of 32 bits.
    """
    return canonical_bytes([token_id(token, index) for index, token in enumerate(ids)])


def read_ids(artifact: TokenArtifact, data: bytes) -> tuple[int, ...]:
    """The token ids of an artifact from their stored bytes, verified.

    Raises:
        ArtifactError: ``artifact.mismatch``: other bytes, or another number of ids.
        ParseError: What the strict reader refuses; ``json.noncanonical``.
        SchemaError: The bytes hold something else than token ids.
    """
    require_same("the digest of the ids", artifact.ids_digest, content_id(data))
    value = parse_strict(data, max_bytes=len(data), max_items=MAX_IDS)
    require_canonical(data, value)
    if not isinstance(value, list):
        raise SchemaError("schema.field.type", "expected an array of token ids, found another value")
    ids = tuple(token_id(token, index) for index, token in enumerate(value))
    require_same("the number of ids", artifact.n_ids, len(ids))
    return ids


def confirm_tokens(
    artifact: TokenArtifact,
    prompt: PromptCapsule,
    ids: Sequence[int],
    tokenizer_digest: str,
    *,
    render: RenderProfile = FENCED,
) -> None:
    """On a hit: the artifact is that of this prompt, rendering and tokenizer, and holds these ids.

    Raises:
        ArtifactError: ``artifact.mismatch``, naming what differs.
        SchemaError: ``object.type.mismatch``.
    """
    require_same("the key", tokens_key(prompt, tokenizer_digest, render=render), artifact.key)
    require_same("the digest of the ids", content_id(ids_bytes(ids)), artifact.ids_digest)


def _tokens_key(subject: str, render_profile: str, tokenizer_digest: str) -> str:
    parts = (subject, render_profile, tokenizer_digest)
    return derived_key("tokens/v1", *(part.encode() for part in parts))


def exact_id(prompt: object) -> str:
    """The ContentId of a PromptCapsule, and of nothing else.

    Raises:
        SchemaError: ``object.type.mismatch``.
    """
    if type(prompt) is not PromptCapsule:
        found = type(prompt).__name__
        raise SchemaError("object.type.mismatch", f"expected an exact PromptCapsule, found {found}")
    return digest_of(prompt)


def token_id(token: object, index: int) -> int:
    """A token id, checked.

    Raises:
        SchemaError: ``schema.field.type``, ``schema.limit``: not an integer of 32 bits.
    """
    if type(token) is not int:  # not isinstance: true is no token id
        raise SchemaError("schema.field.type", "expected an integer, found another type", at=f"/{index}")
    if not 0 <= token <= MAX_TOKEN_ID:
        raise SchemaError("schema.limit", f"expected 0 to {MAX_TOKEN_ID}, found {token}", at=f"/{index}")
    return token


def require_same(what: str, expected: object, found: object) -> None:
    """Raise unless two ids or numbers agree.

    Raises:
        ArtifactError: ``artifact.mismatch``.
    """
    if expected != found:
        raise ArtifactError("artifact.mismatch", f"expected {what} {expected}, found {found}")
