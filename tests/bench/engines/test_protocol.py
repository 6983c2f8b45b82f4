from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.engines.base import EngineError, EngineRequest, EngineResult
from bench.engines.protocol import (
    decode,
    encode,
    request_from_value,
    request_to_value,
    result_from_value,
    result_to_value,
)
from bench.specs import SamplingSpec

texts = st.text(st.characters(exclude_categories=["Cs"]))


@settings(deadline=None)  # a loaded machine is no failure
@given(st.lists(st.integers(0, 300_000)), st.none() | texts, st.lists(texts, max_size=2))
def test_a_request_crosses_unchanged(ids: list[int], salt: str | None, stop: list[str]) -> None:
    sampling = SamplingSpec(temperature="0", max_tokens=5, stop=tuple(stop), seed=3)
    request = EngineRequest(request_id="b3:1", ids=tuple(ids), salt=salt, sampling=sampling, grammar=salt)
    line = encode(request_to_value(request))
    assert line.count(b"\n") == 1
    assert request_from_value(decode(line)) == request


@settings(deadline=None)  # a loaded machine is no failure
@given(texts, st.lists(st.integers(0, 300_000)), st.none() | st.integers(0), st.booleans())
def test_a_result_crosses_unchanged(text: str, ids: list[int], n: int | None, preempted: bool) -> None:
    result = EngineResult(
        request_id="b3:1",
        status="ok",
        text=text,
        output_ids=tuple(ids),
        cached_tokens=n,
        ttft_us=n,
        tpot_us=None,
        e2e_us=n,
        queue_us=n,
        finish_reason="stop",
        error=None,
        preempted=preempted,
        grammar_us=n,
    )
    assert result_from_value(decode(encode(result_to_value(result)))) == result


@pytest.mark.parametrize("line", [b"", b"nope", b"[]", b"null", b'"ok"', b"\xff"])
def test_anything_but_an_object_is_refused(line: bytes) -> None:
    with pytest.raises(EngineError, match="engine process sent no JSON"):
        decode(line)


def test_missing_and_unknown_fields_are_refused() -> None:
    with pytest.raises(EngineError, match="expected fields"):
        result_from_value({"request_id": "x"})
