"""Token artifacts: attached to exact capsules, found under the exact setting, compared on a hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from capsules.alias import AliasRecord
from capsules.artifact import (
    FENCED,
    MAX_TOKEN_ID,
    ArtifactError,
    TokenArtifact,
    confirm_tokens,
    ids_bytes,
    read_ids,
    token_artifact,
    tokens_key,
)
from capsules.codec import digest_of, preimage, read_stored
from capsules.content_id import content_id
from capsules.errors import CapsuleError, ParseError, SchemaError
from capsules.visibility import Visibility

IDS = (2, 0, 7, MAX_TOKEN_ID)
OTHER_RENDER = replace(FENCED, layout="fences/2")


@pytest.fixture
def artifact(example: Any) -> TokenArtifact:
    return token_artifact(example.prompt, IDS, digest(example))


def digest(example: Any) -> str:
    return str(example.prompt.token_budget.tokenizer_digest)


def refusal(make: Any) -> tuple[str, str]:
    with pytest.raises(CapsuleError) as refused:
        make()
    return refused.value.code, refused.value.at


def test_the_key_is_the_one_of_the_formula(example: Any, artifact: TokenArtifact) -> None:
    subject, render, tokenizer = digest_of(example.prompt), digest_of(FENCED), digest(example)
    joined = b"CAPS1 9 tokens/v1" + b"".join(b" 67 " + part.encode() for part in (subject, render, tokenizer))
    assert artifact.key == tokens_key(example.prompt, tokenizer) == content_id(joined)
    assert (artifact.subject, artifact.render_profile, artifact.tokenizer_digest) == (
        subject,
        render,
        tokenizer,
    )
    assert artifact.ids_digest == content_id(b"[2,0,7,4294967295]")
    assert artifact.n_ids == 4


def test_each_part_is_in_the_key(example: Any) -> None:
    prompt, tokenizer = example.prompt, digest(example)
    keys = {
        tokens_key(prompt, tokenizer),
        tokens_key(replace(prompt, capsule_id="a:b:c:d"), tokenizer),
        tokens_key(prompt, tokenizer, render=OTHER_RENDER),
        tokens_key(prompt, tokenizer, render=replace(FENCED, segmentation="whole/1")),
        tokens_key(prompt, content_id(b"other")),
    }
    assert len(keys) == 5


def test_it_reads_back(artifact: TokenArtifact) -> None:
    assert read_stored(preimage(artifact), TokenArtifact) == artifact
    assert read_ids(artifact, ids_bytes(IDS)) == IDS


def test_a_record_whose_key_is_not_its_own_does_not_exist(artifact: TokenArtifact) -> None:
    for name in ("key", "subject", "render_profile", "tokenizer_digest"):
        assert refusal(lambda name=name: replace(artifact, **{name: content_id(b"x")})) == (
            "artifact.mismatch",
            "/key",
        )


def test_only_an_exact_prompt_capsule_has_tokens(example: Any) -> None:
    alias = AliasRecord(
        schema_id="alias/1",
        class_key=content_id(b"class"),
        contract=content_id(b"contract"),
        label=Visibility(level="public", project="demo"),
        members=(digest_of(example.prompt),),
        created_at="2024-01-01T00:00:00Z",
        expires_at="2025-01-01T00:00:00Z",
    )
    for other in (alias, alias.class_key, digest_of(example.prompt), example.evidence, None):
        assert refusal(lambda other=other: tokens_key(other, digest(example)))[0] == "object.type.mismatch"
        assert (
            refusal(lambda other=other: token_artifact(other, IDS, digest(example)))[0]
            == "object.type.mismatch"
        )


def test_ids_of_another_tokenizer_are_refused(example: Any) -> None:
    other = content_id(b"other")
    assert refusal(lambda: token_artifact(example.prompt, IDS, other))[0] == "tokenizer.mismatch"


@pytest.mark.parametrize(
    ("ids", "code", "at"),
    [
        ([0, -1], "schema.limit", "/1"),
        ([MAX_TOKEN_ID + 1], "schema.limit", "/0"),
        ([True], "schema.field.type", "/0"),
        ([1.0], "schema.field.type", "/0"),
    ],
)
def test_token_ids_are_integers_of_32_bits(ids: list[Any], code: str, at: str) -> None:
    assert refusal(lambda: ids_bytes(ids)) == (code, at)


def test_stored_ids_are_verified(artifact: TokenArtifact) -> None:
    assert refusal(lambda: read_ids(artifact, b"[2,0,7]"))[0] == "artifact.mismatch"

    def claimed(data: bytes, n: int = 3) -> TokenArtifact:
        return replace(artifact, ids_digest=content_id(data), n_ids=n)

    for data, n, error, code in (
        (b"[2,0,7]", 4, ArtifactError, "artifact.mismatch"),
        (b"[2, 0,7]", 3, ParseError, "json.noncanonical"),
        (b'{"ids":[]}', 3, SchemaError, "schema.field.type"),
        (b"[2,0,true]", 3, SchemaError, "schema.field.type"),
        (b"", 0, ParseError, "json.syntax"),
    ):
        with pytest.raises(error) as refused:
            read_ids(claimed(data, n), data)
        assert refused.value.code == code
    assert read_ids(claimed(b"[]", 0), b"[]") == ()


def test_many_ids_are_no_capsule_and_have_no_cap_of_ten_thousand(example: Any) -> None:
    ids = tuple(range(30_000))
    artifact = token_artifact(example.prompt, ids, digest(example))
    assert read_ids(artifact, ids_bytes(ids)) == ids


def test_on_a_hit_key_and_ids_are_compared(example: Any, artifact: TokenArtifact) -> None:
    tokenizer = digest(example)
    confirm_tokens(artifact, example.prompt, IDS, tokenizer)
    confirm_tokens(artifact, example.prompt, list(IDS), tokenizer)
    renamed = replace(example.prompt, capsule_id="a:b:c:d")
    for hit in (
        lambda: confirm_tokens(artifact, example.prompt, IDS[:-1], tokenizer),
        lambda: confirm_tokens(artifact, example.prompt, (3, *IDS[1:]), tokenizer),
        lambda: confirm_tokens(artifact, renamed, IDS, tokenizer),
        lambda: confirm_tokens(artifact, example.prompt, IDS, content_id(b"other")),
        lambda: confirm_tokens(artifact, example.prompt, IDS, tokenizer, render=OTHER_RENDER),
    ):
        assert refusal(hit)[0] == "artifact.mismatch"
    assert (
        refusal(lambda: confirm_tokens(artifact, artifact.subject, IDS, tokenizer))[0]
        == "object.type.mismatch"
    )
