"""The rows of the build stage on their way to ``builds.jsonl``, one at a time.

Rules that this module owns:

* The first build writes: rows go to a file beside ``builds.jsonl`` as they are made; at the end the rows of
  samples and refusals are written, and the file is renamed, so that ``builds.jsonl`` is whole or absent and
  never without the others.
* A later build of the same run must make the same rows, clock readings apart, or the run is refused. Only
  the row of a prompt whose compressor was lost (``bench.compression.lost``) may become another. The file with
  the new rows takes the place of the old one as a whole.
* Where no arm has any prompt, nothing is written and the run stops (``bench.unbuilt``).
* What is left in memory of a prompt is what the plan needs: its ids, pieces, project and level.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache

from bench.build.base import Piece
from bench.built_rows import without_times
from bench.compression.lost import is_lost
from bench.planner import Prepared
from bench.records import BuildRow, SampleRow
from bench.records_io import RowWriter, iter_rows, read_rows, rows_bytes
from bench.run_store import DeadEndError, RunError, RunFolder, sync_folder, write_atomic
from bench.unbuilt import Tally
from tasks.base import RefusedRow


class BuildRows:
    """Takes the rows of a build in their order.

    Args:
        folder: The run.
        tokenizer: The setting that says who counts tokens, for messages.
        replay: Whether the run repeats a record.
    """

    def __init__(self, folder: RunFolder, tokenizer: str, *, replay: bool = False) -> None:
        self._folder = folder
        self._tokenizer = tokenizer
        self._replay = replay
        self._stored: Iterator[BuildRow] | None = None
        self._path = folder.builds.with_name(".builds.jsonl.tmp")
        self._writer: RowWriter | None = None
        if folder.builds.is_file():
            self._stored = iter_rows(folder.builds, BuildRow)
        else:
            self._path.unlink(missing_ok=True)  # of a driver that was killed
            self._writer = RowWriter(self._path)
        self.tally = Tally()
        self._changed: dict[tuple[str, str], BuildRow] = {}

    def add(self, row: BuildRow) -> None:
        """Write a row, or compare it with the stored one.

        Raises:
            DeadEndError: It is another one than the run began with.
            RunError: A compressor was lost for it, and what it had answered before is gone.
        """
        self.tally.add(row)
        if self._writer is not None:
            self._writer.append(row)
            return
        known = next(self._stored, None) if self._stored is not None else None
        if known is None or without_times([known]) != without_times([row]):
            self._change(known, row)

    def _change(self, known: BuildRow | None, row: BuildRow) -> None:
        key = (row.sample_id, row.arm_id)
        if known is not None and (known.sample_id, known.arm_id) == key and is_lost(known.error):
            self._changed[key] = row
            return
        if is_lost(row.error):
            raise RunError(
                f"{self._folder.compressions}: the answer for arm {row.arm_id} and sample {row.sample_id} is "
                f"gone, and its compressor was lost ({row.error})"
            )
        found = "none" if known is None else known.ids_digest
        raise DeadEndError(
            f"{self._folder.builds}: arm {row.arm_id} builds another prompt for sample {row.sample_id} "
            f"than the run began with (ids {found}, now {row.ids_digest}): start a new run"
        )

    def finish(self, samples: Sequence[SampleRow], refused: Sequence[RefusedRow]) -> None:
        """Make the files whole.

        Raises:
            DeadEndError: The data gives other samples than the run began with, or no arm has a prompt.
        """
        self.tally.require_prompts(self._tokenizer, replay=self._replay)
        if self._writer is None:
            if read_rows(self._folder.samples, SampleRow) != list(samples):
                raise DeadEndError(
                    f"{self._folder.samples}: the data gives other samples than the run began with"
                )
            if self._changed:
                self._rewrite()
            return
        write_atomic(self._folder.samples, rows_bytes(samples))
        write_atomic(self._folder.refused, rows_bytes(refused))
        self._put(self._writer)

    def _rewrite(self) -> None:
        self._path.unlink(missing_ok=True)  # of a driver that was killed
        with RowWriter(self._path) as writer:
            for row in iter_rows(self._folder.builds, BuildRow):
                writer.append(self._changed.get((row.sample_id, row.arm_id), row))
            self._put(writer)

    def _put(self, writer: RowWriter) -> None:
        """Make the written file the one that counts."""
        writer.flush()
        writer.close()
        os.replace(self._path, self._folder.builds)
        sync_folder(self._folder.path)

    def __enter__(self) -> BuildRows:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
            self._path.unlink(missing_ok=True)


class Lean:
    """Takes from prepared prompts what the store holds, and keeps what they share once."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}
        self._prefixes: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __call__(self, item: Prepared) -> Prepared:
        """The same prompt without capsules, sources and stages."""
        built = item.built
        if built is None:
            return item
        stable = self._prefixes.setdefault(built.stable_ids, built.stable_ids)
        return dataclasses.replace(
            item,
            built=dataclasses.replace(
                built,
                ids=tuple([self._ids.setdefault(i, i) for i in built.ids]),
                stable_ids=stable,
                pieces=tuple(_piece(piece.kind, piece.n) for piece in built.pieces),
                shown=(),
                stages=(),
                prompt=None,
                evidence=(),
                sealed=(),
                sources={},
            ),
        )


@lru_cache(maxsize=1 << 14)
def _piece(kind: str, n: int) -> Piece:
    return Piece(kind=kind, n=n)
