"""What became of the rows of a data set, from the facts and the refusals that a run stores.

Rules that this module owns:

* rows read = evaluated + reserved + refused + beyond the limit; the examples are among the reserved. The
  counts are of the whole file, whatever the limit.
* Gold is counted in places: *exact* where the data say, *repaired* by class elsewhere, and ``left_out``
  where the data name a place that cannot be found and the row has others.
* What a task does not say (``read`` of a task of the user's own) is unknown and stays out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.plural import number_of
from tasks.base import RefusedRow, TaskData

LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCounts:
    """The counts of one task.

    Attributes:
        refused: Rows by code.
        repaired: Gold places by class.
    """

    read: int
    samples: int
    examples: int
    reserved: int
    unused: int
    refused: Mapping[str, int]
    exact: int
    repaired: Mapping[str, int]

    def lines(self) -> Iterator[str]:
        """The counts for people."""
        refused = sum(self.refused.values())
        yield (
            f"rows read: {self.read} = {self.samples} evaluated + {self.reserved} reserved for "
            f"{number_of(self.examples, 'example')} + {refused} refused + {self.unused} beyond the limit"
        )
        repaired = ", ".join(f"{name} {n}" for name, n in self.repaired.items())
        yield f"gold places: {self.exact} exact; repaired: {repaired or 'none'}"

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "read": self.read,
            "samples": self.samples,
            "examples": self.examples,
            "reserved": self.reserved,
            "unused": self.unused,
            "refused": dict(self.refused),
            "gold_exact": self.exact,
            "gold_repaired": dict(self.repaired),
        }


def dataset_facts(data: TaskData) -> dict[str, Any]:
    """What a run stores of its data, beside the refused rows."""
    return {
        "name": data.dataset,
        "revision": data.revision,
        "license": data.license,
        "content_digest": data.content_digest,
        "rows": data.rows,
        "origin": data.origin,
        "refused": len(data.refused),
        "reserved": data.reserved,
        "repaired": dict(data.repaired),
        "read": data.read,
        "samples": len(data.samples),
        "examples": len(data.examples),
        "unused": data.unused,
        "exact": data.exact,
    }


def data_counts(facts: Mapping[str, Any], refused: Sequence[RefusedRow]) -> DataCounts | None:
    """The counts that a run stored; ``None`` where it does not say how many rows were read."""
    if facts.get("read") is None:
        return None
    return DataCounts(
        read=facts["read"],
        samples=facts["samples"],
        examples=facts["examples"],
        reserved=facts["reserved"],
        unused=facts["unused"],
        refused=by_code(refused),
        exact=facts["exact"],
        repaired=facts["repaired"],
    )


def by_code(refused: Sequence[RefusedRow]) -> dict[str, int]:
    """How many rows were refused for each reason."""
    return dict(sorted(Counter(row.code for row in refused).items()))
