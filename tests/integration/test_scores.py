"""Real vLLM says how likely it finds a prompt: what self_information rests on."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import pytest

from bench.compression.self_information import shorten
from bench.engines.start import EngineStart
from bench.engines.vllm_engine import start_vllm
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ModelSpec
from bench.tokenizers import HfTokenizer

pytestmark = [pytest.mark.engine, pytest.mark.soak]

TEXT = "The Panthers defense gave up just 308 points, ranking sixth in the league."


def test_the_model_scores_a_prompt_and_words_go_by_it(
    spec: EngineSpec, model: ModelSpec, folder: ModelFolder, tmp_path: Path
) -> None:
    tokenizer = HfTokenizer(folder.path, model.name)
    log = tmp_path / "engine.log"
    engine = start_vllm(EngineStart(spec=spec, model=model, folder=folder, prefix_caching=False, log=log))
    try:
        assert tokenizer.bos_id is not None
        ids = (tokenizer.bos_id, *tokenizer.encode(TEXT))
        turned = (tokenizer.bos_id, *tokenizer.encode(" ".join(reversed(TEXT.split(" ")))))
        first, again, other = engine.prompt_logprobs([ids, ids, turned])
        assert first == again
        assert [len(first), len(other)] == [len(ids), len(turned)]
        assert first[0] is None
        values = [value for value in first[1:] if value is not None]
        assert len(values) == len(ids) - 1
        assert all(isfinite(value) and value <= 0 for value in values)
        assert sum(values) > sum(
            value for value in other[1:] if value is not None
        )  # words in order are likelier
        (short,) = shorten([TEXT], 5_000, tokenizer, engine.prompt_logprobs)
        assert "308" in short  # digits surprise
        assert 0 < len(tokenizer.encode(short)) <= len(tokenizer.encode(TEXT)) / 2 + 1
    finally:
        engine.close()
