"""Log-probabilities of prompts, from a running vLLM.

Rules that this module owns:

* One prompt at a time: vLLM holds logits over the whole vocabulary for every id of a step.
* Such a request never reads the prefix cache. vLLM sees to it by itself; to force it returns scores of ids
  that were never computed, so nothing is forced here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def prompt_logprobs(
    llm: Any, sampling_params: Callable[..., Any], prompts: Sequence[Sequence[int]]
) -> list[list[float | None]]:
    """The log-probability of each id of each prompt given those before it; ``None`` for the first."""
    params = sampling_params(temperature=0.0, max_tokens=1, prompt_logprobs=0)
    found = []
    for ids in prompts:
        (output,) = llm.generate([{"prompt_token_ids": list(ids)}], params, use_tqdm=False)
        rows = zip(ids, output.prompt_logprobs, strict=True)
        found.append([None if row is None else float(row[i].logprob) for i, row in rows])
    return found
