"""Rows of Parquet and Arrow files, through ``datasets``. The only module that imports it.

The rules:

- Files are read in pieces of ``BATCH`` rows; neither the size of a piece nor that of a file's own row
  groups changes a row.
- Nothing of an earlier read is served: the library's own cache is a folder that lives as long as the
  read. Nothing is downloaded, and no code of a data set is run.
- With ``columns``, one that is missing is an error that names it, and others are not looked at. Without,
  the form says what a row lacks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.base import TaskError
from tasks.rows import RawRow

BATCH = 64
KINDS = {".parquet": "Parquet", ".arrow": "Arrow"}


def table_rows(
    paths: tuple[Path, ...],
    columns: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    *,
    batch: int = BATCH,
) -> Iterator[RawRow]:
    """Read the rows of files of one kind, one file after the other.

    Args:
        paths: The files; all Parquet or all Arrow.
        columns: The columns that must be there; none: all columns are read.
        optional: Columns that are read too where they are there.
        batch: How many rows to read at a time.

    Raises:
        TaskError: A file is not of its kind, or a column is missing.
    """
    kind = KINDS[paths[0].suffix]
    with tempfile.TemporaryDirectory(prefix="capsule-tables-") as cache:
        try:
            table = _open(kind, paths, cache)
            found = tuple(table.column_names)
        except Exception as error:  # pyarrow and datasets raise several unrelated families of errors
            raise TaskError(f"{paths[0]}: cannot be read as {kind}: {error}") from error
        missing = [name for name in columns if name not in found]
        if missing:
            raise TaskError(
                f"{paths[0]}: expected the columns {', '.join(columns)}; found {', '.join(found)}"
            )
        if columns:
            table = table.select_columns([name for name in (*columns, *optional) if name in found])
        try:
            for number, row in enumerate(_rows(table, batch)):
                yield RawRow(where=f"row {number}", value=row)
        except (ValueError, OSError, TypeError) as error:  # pyarrow's errors are ValueErrors and OSErrors
            raise TaskError(f"{paths[0]}: cannot be read as {kind}: {error}") from error


def _open(kind: str, paths: tuple[Path, ...], cache: str) -> Any:
    from datasets.packaged_modules.arrow.arrow import Arrow
    from datasets.packaged_modules.parquet.parquet import Parquet

    builder = (Parquet if kind == "Parquet" else Arrow)(
        cache_dir=cache, data_files={"train": [str(path) for path in paths]}
    )
    return builder.as_streaming_dataset(split="train")


def _rows(table: Any, batch: int) -> Iterator[dict[str, object]]:
    for columns in table.iter(batch_size=batch):
        names = list(columns)
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))
