"""Contradictions by a model of natural-language inference: the detector ``nli@MODEL`` (extra ``nli``).

Rules that this module owns:

* The model is a folder (``nli@/path/to/folder``) or a hub id at a full commit (``nli@ORG/NAME@<40
  hex>``), never a branch, never with code of its own. It must name a class ``contradiction`` (any case).
* A pair contradicts if that class is the most probable one in both directions: the order of two sentences
  means nothing.
* The kind is the one that the rule gives for the pair, else ``labelled``: the label is the model's.
* What is over the model's window is cut.
* Pairs are judged one by one on one CPU thread, so that an answer depends on the model and the pair
  alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from bench.evidence.detector import LABELLED, detect
from bench.hub_bars import no_bars
from bench.registry import RegistryError

CONTRADICTION = "contradiction"

Judge = Callable[[str, str], bool]  # whether the second sentence contradicts the first

_HUB = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})")


class NliError(RegistryError):
    """The model cannot be had or used; the message names what was expected and found."""


class Nli:
    """A detector over any judge of ordered pairs."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[str | None]:
        """The kind for each pair, or ``None``."""
        return [
            (detect(left, right) or LABELLED)
            if self._judge(left, right) and self._judge(right, left)
            else None
            for left, right in pairs
        ]


@lru_cache(maxsize=2)
def nli_detector(model: str) -> Nli:
    """The detector of a model, loaded once a process.

    Raises:
        NliError: The extra is missing, or the model is, or it is no model of inference.
    """
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise NliError(
            f"detector nli@{model} needs the extra `nli`: expected torch and transformers, missing "
            f"{' and '.join(missing)}; install them with: python -m pip install -e '.[nli]'"
        )
    hub = _HUB.fullmatch(model)
    if not hub and not (model and Path(model).expanduser().is_dir()):
        raise NliError(
            f"detector nli@{model}: expected a folder, or a hub id at a full commit (ORG/NAME@<40 hex>), "
            "found neither"
        )
    try:
        return Nli(_load(hub["id"], hub["revision"]) if hub else _load(str(Path(model).expanduser()), None))
    except (OSError, ValueError) as error:
        raise NliError(f"detector nli@{model}: the model cannot be loaded: {error}") from error


def _load(model: str, revision: str | None) -> Judge:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    where = {"revision": revision, "trust_remote_code": False, "local_files_only": revision is None}
    with no_bars():
        tokenizer = AutoTokenizer.from_pretrained(model, **where)
        classifier = AutoModelForSequenceClassification.from_pretrained(model, **where).eval()
    classes = {str(name).casefold(): int(number) for number, name in classifier.config.id2label.items()}
    if CONTRADICTION not in classes:
        raise ValueError(f"expected a class {CONTRADICTION!r}, found {', '.join(sorted(classes))}")
    # Some tokenizers do not know the model's window, and some models count two positions of their own.
    window = min(tokenizer.model_max_length, getattr(classifier.config, "max_position_embeddings", 514) - 2)
    torch.set_num_threads(1)

    def judge(premise: str, hypothesis: str) -> bool:
        inputs = tokenizer(premise, hypothesis, return_tensors="pt", truncation=True, max_length=window)
        with torch.no_grad():
            logits = classifier(**inputs).logits[0]
        return int(logits.argmax()) == classes[CONTRADICTION]

    return judge
