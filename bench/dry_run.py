"""``build``: what a run would send, counted without an engine.

The cached share is what the block rule predicts when every request finishes before the next, with the
engine's configured block size; it is a prediction and says so. The folder that it leaves can be shown,
but is no run: it has neither requests nor a manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.cache_state import stable_prefixes
from bench.planner import Plan, Planned
from bench.specs import RunSpec
from capsules.prefix_blocks import PrefixPredictor

DEFAULT_BLOCK = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """What one cell would send."""

    cell_id: str
    prompts: int
    tokens: int
    shortest: int
    longest: int
    stable: int
    cached: int

    @property
    def share_bp(self) -> int:
        """Predicted cached share of the prompt tokens, in basis points."""
        return self.cached * 10_000 // self.tokens if self.tokens else 0

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "cell_id": self.cell_id,
            "prompts": self.prompts,
            "prompt_tokens": self.tokens,
            "shortest": self.shortest,
            "longest": self.longest,
            "stable_prefix": self.stable,
            "predicted_cached": self.cached,
            "predicted_share_bp": self.share_bp,
        }


def count_cells(spec: RunSpec, plan: Plan) -> list[CellCount]:
    """Count the quality requests of every cell."""
    block = spec.engine.block_size or DEFAULT_BLOCK
    return [
        _count(cell.cell_id, cell.cache, plan.quality[cell.cell_id], block)
        for group in plan.groups
        for cell in group.cells
    ]


def _count(cell_id: str, cache: str, planned: Sequence[Planned], block: int) -> CellCount:
    lengths = [len(p.prompt.ids) for p in planned]
    prefixes = stable_prefixes(planned)
    return CellCount(
        cell_id=cell_id,
        prompts=len(planned),
        tokens=sum(lengths),
        shortest=min(lengths, default=0),
        longest=max(lengths, default=0),
        stable=min((len(ids) for ids in prefixes.values()), default=0),
        cached=_predicted(planned, prefixes, block) if cache == "primed" else 0,
    )


def _predicted(planned: Sequence[Planned], prefixes: dict[str | None, tuple[int, ...]], block: int) -> int:
    predictor = PrefixPredictor(block)
    for salt, ids in prefixes.items():
        predictor.add_prompt(ids, salt)
    total = 0
    for p in planned:
        total += predictor.predicted(p.prompt.ids, p.salt).tokens or 0
        predictor.add_prompt(p.prompt.ids, p.salt)
    return total
