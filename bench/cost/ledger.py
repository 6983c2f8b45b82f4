"""What every sample of a cell cost, from the stored rows alone.

Rules that this module owns:

* A sample costs what its quality request was billed for: its tokens at the prices of the provider that it was
  sent to, an equal share of the time that this provider's engine spent on the cell (from sending each wave to
  its last answer), and the time of its compressor at the price of an hour of the run's own engine.
* What a provider billed for a request that failed, nobody said: its cost is unknown, and how many samples are
  priced stands beside every sum.
* Latency and floor requests, resets and priming are the price of measuring and no cost of an arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bench.cost.classes import classes_of
from bench.cost.price import time_cost, token_cost
from bench.planner import QUALITY
from bench.records import RequestRow, ResponseRow
from bench.report.view import CellView, RunView
from bench.specs import PriceSpec
from capsules.decision import LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCost:
    """Micro-units of one sample.

    Attributes:
        tokens, engine, compressor: The parts.
        total: Their sum.
    """

    tokens: Fraction
    engine: Fraction
    compressor: Fraction

    @property
    def total(self) -> Fraction:
        """Everything."""
        return self.tokens + self.engine + self.compressor


def cell_costs(view: RunView, cell: CellView) -> dict[str, SampleCost | None]:
    """The cost of every sample of a cell; ``None`` where it is unknown or there was no answer."""
    prices = {price.provider: price for price in view.input.spec.prices.providers}
    shares = engine_shares(view, cell)
    costs: dict[str, SampleCost | None] = {}
    for sample_id in view.sample_ids:
        exchange = view.exchange(sample_id, cell.cell_id, QUALITY)
        build = view.build(sample_id, cell.arm.arm_id)
        costs[sample_id] = None
        if exchange is not None and build is not None:
            costs[sample_id] = _cost(exchange[0], exchange[1], build.compressor_us, prices, shares)
    return costs


def engine_shares(view: RunView, cell: CellView) -> dict[str, Fraction]:
    """Microseconds of the engine a quality request, by provider."""
    wall: dict[str, int] = {}
    answered: dict[str, int] = {}
    for row in view.input.cells:
        if row.cell_id == cell.cell_id and row.phase == QUALITY and row.wall_us is not None:
            wall[row.provider] = wall.get(row.provider, 0) + row.wall_us
            answered[row.provider] = answered.get(row.provider, 0) + row.answered
    return {provider: Fraction(us, answered[provider]) for provider, us in wall.items() if answered[provider]}


def _cost(
    request: RequestRow,
    response: ResponseRow,
    compressor_us: int,
    prices: Mapping[str, PriceSpec],
    shares: Mapping[str, Fraction],
) -> SampleCost | None:
    price, local = prices.get(request.provider), prices.get(LOCAL)
    share = shares.get(request.provider)
    if (
        price is None
        or (price.engine_hour is not None and share is None)
        or (compressor_us and local is None)
    ):
        return None
    tokens = token_cost(classes_of(request, response), price)
    if tokens is None:
        return None
    return SampleCost(
        tokens=tokens,
        engine=time_cost(1, price) * (share or 0),
        compressor=time_cost(compressor_us, local) if compressor_us and local is not None else Fraction(0),
    )
