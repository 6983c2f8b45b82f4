"""KV blocks: the keys under which an engine's computed blocks may be found again.

    salt    = b3(PAE("isolation/v1", project, level))
    block_0 = b3(PAE("kv/v1", model_profile_id, salt, "root"))
    block_i = b3(PAE("kv/v1", block_{i-1}, u32le of the token ids of a full block))

* The salt keeps projects and levels apart, the profile every setting: equal ids share no block across them.
* Only full blocks are blocks. A block stands for all ids before it too.
* Token ids are stored with a block and compared on a hit (``artifact.mismatch``).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from capsules.artifact import ArtifactError, TokenId, exact_id, ids_bytes, require_same, token_id
from capsules.content_id import content_id, derived_key
from capsules.errors import SchemaError
from capsules.model_profile import ModelProfile, profile_id
from capsules.prefix_blocks import pack_ids
from capsules.prompt import PromptCapsule
from capsules.rules import ContentId, Count, Positive, Problem, SchemaIdRule
from capsules.shape import Record, law
from capsules.visibility import Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class KvBlock(Record):
    """What stands beside a stored KV block: its key, the block before it, and its token ids."""

    schema_id: Annotated[str, SchemaIdRule("kv-block/1")]
    key: ContentId
    parent: ContentId
    block_size: Positive
    token_ids: tuple[TokenId, ...]

    @law("block_size", "token_ids")
    def _full(self) -> Iterator[Problem]:
        if len(self.token_ids) != self.block_size:
            yield Problem(
                "artifact.mismatch", "/token_ids", f"{self.block_size} ids", f"{len(self.token_ids)}"
            )

    @law("key", "parent", "token_ids")
    def _key_of_content(self) -> Iterator[Problem]:
        key = _next_block(self.parent, self.token_ids)
        if self.key != key:
            yield Problem("artifact.mismatch", "/key", key, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheChain(Record):
    """The cache blocks that a prompt is predicted to fill under a model profile, first block first."""

    schema_id: Annotated[str, SchemaIdRule("cache-chain/1")]
    subject: ContentId  # the PromptCapsule
    profile: ContentId
    salt: ContentId
    block_size: Positive
    n_ids: Count
    ids_digest: ContentId
    blocks: tuple[ContentId, ...]

    @law("block_size", "n_ids", "blocks")
    def _full_blocks(self) -> Iterator[Problem]:
        full = self.n_ids // self.block_size
        if len(self.blocks) != full:
            yield Problem("artifact.mismatch", "/blocks", f"{full} full blocks", str(len(self.blocks)))


def isolation_salt(label: Visibility) -> str:
    """What keeps the blocks of a project and level apart from all others."""
    return derived_key("isolation/v1", label.project.encode(), label.level.encode())


def root_block(profile: ModelProfile, label: Visibility) -> str:
    """Block 0: no ids yet, only the profile and the salt."""
    return derived_key("kv/v1", profile_id(profile).encode(), isolation_salt(label).encode(), b"root")


def block_chain(ids: Sequence[int], profile: ModelProfile, label: Visibility) -> tuple[str, ...]:
    """The keys of the full blocks of some ids, first block first.

    Raises:
        SchemaError: ``schema.field.type``, ``schema.limit``: not an integer of 32 bits.
    """
    checked = [token_id(token, index) for index, token in enumerate(ids)]
    keys, key, size = [], root_block(profile, label), profile.block_size
    for start in range(0, len(checked) - size + 1, size):
        key = _next_block(key, checked[start : start + size])
        keys.append(key)
    return tuple(keys)


def kv_block(parent: str, ids: Sequence[int]) -> KvBlock:
    """The record of one full block of ids behind another block.

    Raises:
        SchemaError: ``schema.field.type``, ``schema.limit``: no ids, or not integers of 32 bits.
    """
    checked = tuple(token_id(token, index) for index, token in enumerate(ids))
    return KvBlock(
        schema_id="kv-block/1",
        key=_next_block(parent, checked),
        parent=parent,
        block_size=len(checked),
        token_ids=checked,
    )


def cache_chain(
    prompt: PromptCapsule, ids: Sequence[int], profile: ModelProfile, label: Visibility
) -> CacheChain:
    """The predicted cache blocks of a prompt.

    Args:
        prompt: The exact capsule.
        ids: Its ids as sent.
        profile: The model and engine.
        label: The join of everything that stands in the prompt.

    Raises:
        SchemaError: ``object.type.mismatch``; ``scope.project.mismatch``: the label of another project;
            ``tokenizer.mismatch``; ``schema.limit``: an id beyond 32 bits, or over 10,000 blocks.
    """
    subject, wanted = exact_id(prompt), prompt.token_budget.tokenizer_digest
    if label.project != prompt.project:
        raise SchemaError("scope.project.mismatch", "expected a label of the prompt's project, found another")
    if profile.tokenizer_digest != wanted:
        raise SchemaError("tokenizer.mismatch", f"expected {wanted}, found {profile.tokenizer_digest}")
    return CacheChain(
        schema_id="cache-chain/1",
        subject=subject,
        profile=profile_id(profile),
        salt=isolation_salt(label),
        block_size=profile.block_size,
        n_ids=len(ids),
        ids_digest=content_id(ids_bytes(ids)),
        blocks=block_chain(ids, profile, label),
    )


def cached_tokens(chain: CacheChain, known: Container[str]) -> int:
    """Tokens of the leading blocks that are known; the last id of a prompt is always computed."""
    most = max(chain.n_ids - 1, 0) // chain.block_size
    hits = 0
    for key in chain.blocks[:most]:
        if key not in known:
            break
        hits += 1
    return hits * chain.block_size


def confirm_block(block: KvBlock, parent: str, ids: Sequence[int]) -> None:
    """On a hit: the block stands behind this parent and holds exactly these ids.

    Raises:
        ArtifactError: ``artifact.mismatch``, naming what differs (never the ids).
    """
    require_same("the block before", parent, block.parent)
    if tuple(ids) != block.token_ids:
        raise ArtifactError("artifact.mismatch", "expected the token ids that were asked for, found others")


def _next_block(parent: str, ids: Sequence[int]) -> str:
    return derived_key("kv/v1", parent.encode(), pack_ids(ids))
