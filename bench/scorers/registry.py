"""The scorers by name: a plain dict, read by ``score_run``.

A scorer of one's own replaces the one whose metrics it yields: pass a changed copy of the dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bench.scorers.accounting import ACCOUNTING
from bench.scorers.base import Scorer
from bench.scorers.citations import CITATIONS
from bench.scorers.latency import LATENCY
from bench.scorers.recall import RECALL
from bench.scorers.sufficiency import SUFFICIENCY
from bench.scorers.tokens import TOKENS

SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        "accounting": ACCOUNTING,
        "citations": CITATIONS,
        "latency": LATENCY,
        "recall": RECALL,
        "sufficiency": SUFFICIENCY,
        "tokens": TOKENS,
    }
)
