"""The model and the engine that token ids and KV blocks are computed with.

* Every setting that can change an id or a number in a KV block is a field. Two settings that differ give
  two profile ids, so nothing computed under one is ever found under the other.
* Things are named by digest, never by a display name: an adapter that is replaced under the same name
  is another adapter. Adapters stand in the order in which they are applied.
* Names are resolved: ``auto`` means one thing on one machine and another on the next, so it is refused.
* The weights are pinned, by the revision of a repository or by a digest of the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from capsules.arrays import Distinct, itself
from capsules.codec import digest_of
from capsules.rules import ContentId, Name, PatternRule, Positive, Problem, SchemaIdRule
from capsules.shape import Record, law

SCHEMA_ID = "model-profile/1"

Revision = Annotated[str, PatternRule(r"[0-9a-f]{40}", "id.malformed", "40 lower-case hex digits")]
Resolved = Annotated[
    str, PatternRule(r"(?!(?i:auto)\Z)[!-~]+", "schema.word", 'a name in ASCII, resolved (never "auto")')
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelLayout(Record):
    """Over how many ranks the model is cut, in each way; 1 is not at all."""

    tensor: Positive
    pipeline: Positive
    context: Positive
    expert: Positive
    data: Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile(Record):
    """Everything that token ids and KV blocks depend on beside the ids themselves."""

    schema_id: Annotated[str, SchemaIdRule(SCHEMA_ID)]
    model_id: Name
    revision: Revision | None  # of the repository that the weights came from
    weight_digest: ContentId | None
    tokenizer_digest: ContentId
    chat_template_digest: ContentId | None  # null: the model has none
    adapters: Annotated[tuple[ContentId, ...], Distinct("digest", itself)]  # in the order of application
    dtype: Resolved
    quantization: Resolved | None
    kv_dtype: Resolved
    attention_backend: Resolved
    engine: Resolved
    engine_version: Resolved
    block_size: Positive  # tokens a KV block
    window: Positive  # tokens
    parallel: ParallelLayout

    @law("revision", "weight_digest")
    def _pinned(self) -> Iterator[Problem]:
        if self.revision is None and self.weight_digest is None:
            yield Problem(
                "schema.field.missing", "/weight_digest", "a revision or a digest of the weights", "none"
            )


def profile_id(profile: ModelProfile) -> str:
    """The ContentId of a profile."""
    return digest_of(profile)
