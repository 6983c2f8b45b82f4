"""The selector interface: which of the retrieved passages are worth their tokens.

Rules: a selector sees the retrieved passages in rank order and returns indexes of those that stay,
best first, each at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.retrieval.base import Passage, Query

Selector = Callable[[Query, Sequence[Passage]], Sequence[int]]
