"""KV blocks: chained keys by profile and salt, full blocks only, ids compared on a hit."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.artifact import MAX_TOKEN_ID
from capsules.codec import digest_of, preimage, read_stored
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.kv_chain import (
    CacheChain,
    KvBlock,
    block_chain,
    cache_chain,
    cached_tokens,
    confirm_block,
    isolation_salt,
    kv_block,
    root_block,
)
from capsules.model_profile import ModelProfile, ParallelLayout, profile_id
from capsules.prefix_blocks import PrefixPredictor
from capsules.visibility import LEVELS, Visibility

LABEL = Visibility(level="internal", project="demo")
PROFILE = ModelProfile(
    schema_id="model-profile/1",
    model_id="example/small-1b",
    revision=None,
    weight_digest=content_id(b"weights"),
    tokenizer_digest=content_id(b"tokenizer"),
    chat_template_digest=None,
    adapters=(),
    dtype="bfloat16",
    quantization=None,
    kv_dtype="bfloat16",
    attention_backend="TORCH_SDPA",
    engine="vllm",
    engine_version="0.32.0",
    block_size=4,
    window=4096,
    parallel=ParallelLayout(tensor=1, pipeline=1, context=1, expert=1, data=1),
)
ONE_FIELD: dict[str, Any] = {
    "model_id": "other",
    "revision": "0" * 40,
    "weight_digest": content_id(b"w"),
    "tokenizer_digest": content_id(b"t"),
    "chat_template_digest": content_id(b"c"),
    "adapters": (content_id(b"a"),),
    "dtype": "float16",
    "quantization": "awq",
    "kv_dtype": "fp8",
    "attention_backend": "FLASH_ATTN",
    "engine": "other",
    "engine_version": "0.33.0",
    "block_size": 8,
    "window": 2048,
    "parallel": replace(PROFILE.parallel, tensor=2),
}


def refusal(make: Any) -> tuple[str, str]:
    with pytest.raises(CapsuleError) as refused:
        make()
    return refused.value.code, refused.value.at


def joined(context: bytes, *parts: bytes) -> bytes:
    return b"CAPS1 %d %s" % (len(context), context) + b"".join(b" %d %s" % (len(p), p) for p in parts)


def test_the_keys_are_those_of_the_formula() -> None:
    salt = content_id(b"CAPS1 12 isolation/v1 4 demo 8 internal")
    assert isolation_salt(LABEL) == salt
    root = content_id(joined(b"kv/v1", profile_id(PROFILE).encode(), salt.encode(), b"root"))
    assert root_block(PROFILE, LABEL) == root
    first = content_id(joined(b"kv/v1", root.encode(), bytes.fromhex("01000000020000000300000000010000")))
    last = content_id(joined(b"kv/v1", first.encode(), bytes.fromhex("ffffffff000000000000000007000000")))
    ids = [1, 2, 3, 256, MAX_TOKEN_ID, 0, 0, 7, 5]
    assert block_chain(ids, PROFILE, LABEL) == (first, last)


def test_only_full_blocks_are_blocks() -> None:
    assert [len(block_chain(range(n), PROFILE, LABEL)) for n in (0, 1, 3, 4, 5, 8, 11, 12)] == [
        0,
        0,
        0,
        1,
        1,
        2,
        2,
        3,
    ]


def test_any_field_of_the_profile_changes_every_key() -> None:
    assert ONE_FIELD.keys() | {"schema_id"} == {field.name for field in fields(ModelProfile)}
    chains = [block_chain(range(16), PROFILE, LABEL)]
    chains += [
        block_chain(range(16), replace(PROFILE, **{name: value}), LABEL) for name, value in ONE_FIELD.items()
    ]
    keys = [key for chain in chains for key in chain]
    assert len(set(keys)) == len(keys)
    roots = {root_block(PROFILE, LABEL)}
    roots |= {root_block(replace(PROFILE, **{name: value}), LABEL) for name, value in ONE_FIELD.items()}
    assert len(roots) == 1 + len(ONE_FIELD)


def test_an_adapter_replaced_under_the_same_name_shares_no_block() -> None:
    may, june = (
        replace(PROFILE, adapters=(content_id(data),)) for data in (b"trained in May", b"trained in June")
    )
    assert set(block_chain(range(64), may, LABEL)).isdisjoint(block_chain(range(64), june, LABEL))


def test_projects_and_levels_share_no_block() -> None:
    labels = [
        Visibility(level=level, project=project) for level, project in product(LEVELS, ("demo", "dem", "o"))
    ]
    assert len({isolation_salt(label) for label in labels}) == 12
    keys = [key for label in labels for key in block_chain(range(64), PROFILE, label)]
    assert len(set(keys)) == len(keys) == 12 * 16


@given(st.lists(st.integers(0, MAX_TOKEN_ID), max_size=40), st.data())
@settings(max_examples=100, deadline=None)
def test_a_block_stands_for_all_ids_before_it(ids: list[int], data: st.DataObject) -> None:
    chain = block_chain(ids, PROFILE, LABEL)
    assert block_chain([*ids, 1], PROFILE, LABEL)[: len(chain)] == chain
    if ids:
        place = data.draw(st.integers(0, len(ids) - 1))
        other = [*ids[:place], ids[place] ^ 1, *ids[place + 1 :]]
        changed = block_chain(other, PROFILE, LABEL)
        same = place // 4
        assert changed[:same] == chain[:same]
        assert set(changed[same:]).isdisjoint(chain[same:])


def test_ids_beyond_32_bits_are_refused() -> None:
    for ids, code in (
        ([MAX_TOKEN_ID + 1], "schema.limit"),
        ([-1], "schema.limit"),
        ([True], "schema.field.type"),
    ):
        assert refusal(lambda ids=ids: block_chain(ids, PROFILE, LABEL))[0] == code
        assert refusal(lambda ids=ids: kv_block(content_id(b"p"), ids))[0] == code


def test_stored_blocks_follow_the_chain_and_are_compared_on_a_hit() -> None:
    ids, parent, blocks = list(range(100, 112)), root_block(PROFILE, LABEL), []
    for start in (0, 4, 8):
        blocks.append(kv_block(parent, ids[start : start + 4]))
        parent = blocks[-1].key
    assert tuple(block.key for block in blocks) == block_chain(ids, PROFILE, LABEL)
    second = blocks[1]
    assert read_stored(preimage(second), KvBlock) == second
    confirm_block(second, blocks[0].key, ids[4:8])
    assert refusal(lambda: confirm_block(second, blocks[0].key, ids[3:7]))[0] == "artifact.mismatch"
    assert refusal(lambda: confirm_block(second, blocks[0].key, ids[4:7]))[0] == "artifact.mismatch"
    assert refusal(lambda: confirm_block(second, blocks[1].key, ids[4:8]))[0] == "artifact.mismatch"


def test_a_block_that_is_not_what_its_key_says_does_not_exist() -> None:
    block = kv_block(content_id(b"parent"), [1, 2, 3, 4])
    for changes, at in (
        ({"key": content_id(b"x")}, "/key"),
        ({"parent": content_id(b"x")}, "/key"),
        ({"token_ids": (1, 2, 3, 5)}, "/key"),
        ({"token_ids": (1, 2, 3)}, "/token_ids"),
        ({"block_size": 5}, "/token_ids"),
    ):
        assert refusal(lambda changes=changes: replace(block, **changes)) == ("artifact.mismatch", at)
    assert refusal(lambda: kv_block(content_id(b"parent"), []))[0] == "schema.limit"
    assert refusal(lambda: replace(block, token_ids=(1, 2, 3, MAX_TOKEN_ID + 1)))[0] == "schema.limit"


@pytest.fixture
def profile(example: Any) -> ModelProfile:
    return replace(PROFILE, tokenizer_digest=example.prompt.token_budget.tokenizer_digest)


def test_the_predicted_chain_hangs_on_capsule_profile_and_salt(example: Any, profile: ModelProfile) -> None:
    ids = list(range(10))
    chain = cache_chain(example.prompt, ids, profile, LABEL)
    assert chain == CacheChain(
        schema_id="cache-chain/1",
        subject=digest_of(example.prompt),
        profile=profile_id(profile),
        salt=isolation_salt(LABEL),
        block_size=4,
        n_ids=10,
        ids_digest=content_id(b"[0,1,2,3,4,5,6,7,8,9]"),
        blocks=block_chain(ids, profile, LABEL),
    )
    assert read_stored(preimage(chain), CacheChain) == chain
    assert refusal(lambda: replace(chain, blocks=chain.blocks[:1])) == ("artifact.mismatch", "/blocks")
    assert refusal(lambda: replace(chain, n_ids=12)) == ("artifact.mismatch", "/blocks")


def test_what_a_chain_is_not_made_of(example: Any, profile: ModelProfile) -> None:
    other = Visibility(level="internal", project="other")
    assert refusal(lambda: cache_chain(example.prompt, [1], profile, other))[0] == "scope.project.mismatch"
    foreign = replace(profile, tokenizer_digest=content_id(b"another"))
    assert refusal(lambda: cache_chain(example.prompt, [1], foreign, LABEL))[0] == "tokenizer.mismatch"
    for alias in (content_id(b"class key"), example.evidence):
        assert (
            refusal(lambda alias=alias: cache_chain(alias, [1], profile, LABEL))[0] == "object.type.mismatch"
        )
    one = replace(profile, block_size=1)
    assert refusal(lambda: cache_chain(example.prompt, range(10_001), one, LABEL)) == (
        "schema.limit",
        "/blocks",
    )


def test_cached_tokens_are_leading_known_blocks_without_the_last_id(
    example: Any, profile: ModelProfile
) -> None:
    def cached(n: int, known: range | tuple[int, ...]) -> int:
        chain = cache_chain(example.prompt, range(n), profile, LABEL)
        return cached_tokens(chain, {chain.blocks[i] for i in known if i < len(chain.blocks)})

    assert [cached(n, range(9)) for n in (0, 1, 4, 5, 8, 9, 12, 13)] == [0, 0, 0, 4, 4, 8, 8, 12]
    assert cached(13, (0, 2)) == 4
    assert cached(13, (1, 2)) == 0


@given(st.lists(st.lists(st.integers(0, 1), max_size=20), max_size=6))
@settings(max_examples=60, deadline=None)
def test_it_predicts_what_the_predictor_of_one_engine_predicts(
    example: Any, prompts: list[list[int]]
) -> None:
    profile = replace(PROFILE, tokenizer_digest=example.prompt.token_budget.tokenizer_digest)
    predictor, known = PrefixPredictor(profile.block_size), set[str]()
    for ids in prompts:
        chain = cache_chain(example.prompt, ids, profile, LABEL)
        assert cached_tokens(chain, known) == predictor.predicted(ids).tokens
        predictor.add_prompt(ids)
        known.update(chain.blocks)
