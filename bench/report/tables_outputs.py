"""How far the outputs of one arm agree across cache states, beside the floor: the setting against itself."""

from __future__ import annotations

from statistics import median

from bench.metrics.divergence import Divergence, divergence
from bench.report import numbers
from bench.report.table import Table, Value
from bench.report.view import RunView
from bench.specs import ArmSpec


def outputs_table(view: RunView) -> Table | None:
    """How many outputs differ between cache states of one arm; ``None`` if no arm has two."""
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for arm in view.arms:
        states = [state for state in ("off", "cold", "primed") if state in arm.caches]
        floor = output_floor(view, arm)
        for left, right in ((a, b) for i, a in enumerate(states) for b in states[i + 1 :]):
            found = compare_outputs(view, (arm.cell_id(left), "quality"), (arm.cell_id(right), "quality"))
            first = median(found.first.values()) if found.first else None
            rows.append(
                (
                    arm.arm_id,
                    f"{left} and {right}",
                    f"{found.n:,}",
                    f"{found.differ:,}",
                    numbers.amount(first),
                    _floor_text(floor),
                )
            )
            data.append((arm.arm_id, left, right, found.n, found.differ, first, *_floor_data(floor)))
    if not rows:
        return None
    return Table(
        name="outputs",
        caption="Outputs that differ between cache states of one arm.",
        head=(
            "Arm",
            "States",
            "pairs",
            "differ",
            "first differing token (median, from 0)",
            "floor: off against its repeat",
        ),
        rows=tuple(rows),
        data_head=(
            "arm_id",
            "left",
            "right",
            "n",
            "differ",
            "first_median",
            "floor_n",
            "floor_differ",
            "floor_first_median",
        ),
        data=tuple(data),
        right=frozenset({2, 3, 4}),
        groups=1,
        notes=(
            "The floor is how often the setting without caching differs from its own repeat, at the same "
            "concurrency in another order. Only what exceeds it can be laid to caching: in 16-bit "
            "arithmetic another order of computing flips near-ties.",
        ),
    )


def output_floor(view: RunView, arm: ArmSpec) -> Divergence | None:
    """Outputs without caching against their own repeat; ``None`` if the run has no repeat of this arm."""
    off = arm.cell_id("off")
    found = compare_outputs(view, (off, "quality"), (off, "floor"))
    return found if found.n else None


def _floor_text(floor: Divergence | None) -> str:
    return "not measured in this run" if floor is None else f"{floor.differ:,} of {floor.n:,}"


def _floor_data(floor: Divergence | None) -> tuple[Value, ...]:
    if floor is None:
        return (None, None, None)
    return (floor.n, floor.differ, median(floor.first.values()) if floor.first else None)


def compare_outputs(view: RunView, left: tuple[str, str], right: tuple[str, str]) -> Divergence:
    """Output ids of two (cell, phase), sample by sample."""
    sides = []
    for cell_id, phase in (left, right):
        outputs = {}
        for sample_id in view.sample_ids:
            exchange = view.exchange(sample_id, cell_id, phase)
            if exchange is not None and exchange[1].output_ids_digest is not None:
                outputs[sample_id] = view.input.token_ids(exchange[1].output_ids_digest)
        sides.append(outputs)
    return divergence(*sides)
