"""Prompts that could not be built, by arm and code, and when a run has nothing left to do.

Rules that this module owns:

* A sample that fits no prompt of an arm is an error of that sample and arm. It stays in every denominator,
  and so does an arm whose samples all fail; the rest of the run goes on.
* Only where no arm has any prompt the run stops. The error names every arm, its codes, what the builder said
  of the first sample, and the tokenizer that counted. It may pass where a compressor was lost, except in
  a replay.
* A prompt that is missing because a dry build runs no lossy compressor is no reason to stop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bench.compression.lost import LOST
from bench.plural import number_of
from bench.records import BuildRow
from bench.run_store import DeadEndError, RunError

FAILED = "build.failed"
NOT_RUN = "compression.unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbuilt:
    """Prompts of one arm that could not be built for one reason.

    Attributes:
        samples: How many.
        of: Samples of the arm.
        sample_id, said: The first of them, and what its builder said.
    """

    arm_id: str
    code: str
    samples: int
    of: int
    sample_id: str
    said: str

    def line(self) -> str:
        """For people."""
        return (
            f"{self.arm_id}: {self.samples} of {number_of(self.of, 'sample')} without a prompt, {self.code} "
            f"(the first, {self.sample_id}: {self.said})"
        )


class Tally:
    """Counts the rows of a build as they are made."""

    def __init__(self) -> None:
        self._samples: dict[str, int] = {}
        self._failed: dict[tuple[str, str], list[BuildRow]] = {}
        self._prompts = 0

    def add(self, row: BuildRow) -> None:
        """Count one row."""
        self._samples[row.arm_id] = self._samples.get(row.arm_id, 0) + 1
        if row.status == "ok":
            self._prompts += 1
        else:
            self._failed.setdefault((row.arm_id, _parts(row)[0]), []).append(row)

    def unbuilt(self) -> tuple[Unbuilt, ...]:
        """What could not be built: arms as they came, the most frequent code of an arm first."""
        arms = list(self._samples)
        found = [
            Unbuilt(
                arm_id=arm_id,
                code=code,
                samples=len(rows),
                of=self._samples[arm_id],
                sample_id=rows[0].sample_id,
                said=_parts(rows[0])[1],
            )
            for (arm_id, code), rows in self._failed.items()
        ]
        return tuple(sorted(found, key=lambda one: (arms.index(one.arm_id), -one.samples, one.code)))

    def require_prompts(self, tokenizer: str, *, replay: bool = False) -> None:
        """Refuse a run that has nothing to send.

        Args:
            tokenizer: The setting that says who counted, for the message.
            replay: Whether the run repeats a record, which will hold no more than now.

        Raises:
            DeadEndError: No arm has a prompt; ``RunError`` where a lost compressor can be asked again.
        """
        found = self.unbuilt()
        if self._prompts or not found or any(one.code == NOT_RUN for one in found):
            return
        told = "".join(f"\n  {one.line()}" for one in found)
        kind = RunError if not replay and any(one.code == LOST for one in found) else DeadEndError
        raise kind(
            f"no prompt can be built for any arm (tokens are counted with tokenizer={tokenizer}):{told}"
        )


def tally(rows: Iterable[BuildRow]) -> Tally:
    """The counts of all these rows."""
    counts = Tally()
    for row in rows:
        counts.add(row)
    return counts


def _parts(row: BuildRow) -> tuple[str, str]:
    """Code and message of a row that is an error."""
    code, _, said = (row.error or FAILED).partition(": ")
    return code, said or "no message"
