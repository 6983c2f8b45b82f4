"""Model profiles: every field is in the id, names are resolved, weights pinned, adapters by digest."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from capsules.codec import digest_of, preimage, read_stored, to_value
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.model_profile import ModelProfile, ParallelLayout, profile_id

PROFILE = ModelProfile(
    schema_id="model-profile/1",
    model_id="example/small-1b",
    revision="0123456789abcdef0123456789abcdef01234567",
    weight_digest=content_id(b"weights"),
    tokenizer_digest=content_id(b"tokenizer"),
    chat_template_digest=content_id(b"template"),
    adapters=(content_id(b"first"), content_id(b"second")),
    dtype="bfloat16",
    quantization="awq",
    kv_dtype="fp8_e4m3",
    attention_backend="FLASH_ATTN",
    engine="vllm",
    engine_version="0.32.0",
    block_size=16,
    window=4096,
    parallel=ParallelLayout(tensor=1, pipeline=1, context=1, expert=1, data=1),
)

# For every field all that may stand there instead; the union is checked against the dataclass.
CHANGES: dict[str, list[Any]] = {
    "model_id": ["example/small-1B"],
    "revision": ["1123456789abcdef0123456789abcdef01234567", None],
    "weight_digest": [content_id(b"other weights"), None],
    "tokenizer_digest": [content_id(b"other tokenizer")],
    "chat_template_digest": [content_id(b"other template"), None],
    "adapters": [(), PROFILE.adapters[:1], PROFILE.adapters[::-1], (*PROFILE.adapters, content_id(b"third"))],
    "dtype": ["float16"],
    "quantization": ["gptq", None],
    "kv_dtype": ["bfloat16"],
    "attention_backend": ["FLASHINFER"],
    "engine": ["sglang"],
    "engine_version": ["0.32.1"],
    "block_size": [32],
    "window": [8192],
    "parallel": [replace(PROFILE.parallel, **{field.name: 2}) for field in fields(ParallelLayout)],
}
VARIANTS = [(name, replace(PROFILE, **{name: value})) for name, values in CHANGES.items() for value in values]


def refusal(**changes: Any) -> tuple[str, str]:
    with pytest.raises(SchemaError) as refused:
        replace(PROFILE, **changes)
    return refused.value.code, refused.value.at


def test_every_field_is_in_the_id() -> None:
    assert CHANGES.keys() | {"schema_id"} == {field.name for field in fields(ModelProfile)}
    ids = [profile_id(PROFILE), *(profile_id(profile) for _, profile in VARIANTS)]
    assert len(set(ids)) == len(ids) == 27


def test_the_id_is_that_of_the_canonical_record() -> None:
    assert profile_id(PROFILE) == digest_of(PROFILE) == content_id(preimage(PROFILE))
    assert read_stored(preimage(PROFILE), ModelProfile) == PROFILE
    assert to_value(PROFILE)["parallel"] == {"context": 1, "data": 1, "expert": 1, "pipeline": 1, "tensor": 1}


def test_an_adapter_replaced_under_the_same_name_is_another_profile() -> None:
    def loaded(folder: dict[str, bytes]) -> ModelProfile:
        return replace(PROFILE, adapters=tuple(content_id(data) for data in folder.values()))

    before, after = loaded({"medical": b"trained in May"}), loaded({"medical": b"trained in June"})
    assert profile_id(before) != profile_id(after)
    assert profile_id(loaded({"renamed": b"trained in May"})) == profile_id(before)


@pytest.mark.parametrize("name", ["dtype", "quantization", "kv_dtype", "attention_backend", "engine_version"])
@pytest.mark.parametrize("value", ["auto", "AUTO", "", "two words", "fp8\n"])
def test_names_are_resolved(name: str, value: str) -> None:
    assert refusal(**{name: value}) == ("schema.word", f"/{name}")
    assert replace(PROFILE, **{name: "auto_gptq"})


def test_weights_are_pinned() -> None:
    assert refusal(revision=None, weight_digest=None) == ("schema.field.missing", "/weight_digest")
    for revision in ("main", "0123456789ABCDEF0123456789abcdef01234567", "0" * 39, "0" * 40 + "\n"):
        assert refusal(revision=revision) == ("id.malformed", "/revision")


def test_other_refusals() -> None:
    assert refusal(adapters=(PROFILE.adapters[0],) * 2) == ("schema.duplicate", "/adapters/1")
    assert refusal(adapters=("medical",)) == ("id.malformed", "/adapters/0")
    assert refusal(block_size=0) == ("schema.limit", "/block_size")
    assert refusal(schema_id="model-profile/2") == ("schema.major.unsupported", "/schema_id")
