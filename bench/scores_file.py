"""``scores.parquet``: the long table of scores; equal rows give equal bytes under one pyarrow version."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.records import ScoreRow
from bench.records_io import RowError

SCHEMA = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("arm_id", pa.string(), nullable=False),
        pa.field("cell_id", pa.string(), nullable=False),
        pa.field("metric", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("code", pa.string()),
    ]
)


def scores_bytes(rows: Sequence[ScoreRow]) -> bytes:
    """The file's bytes: one row group, no compression, so that nothing but pyarrow decides them."""
    columns = {name: [getattr(row, name) for row in rows] for name in SCHEMA.names}
    sink = io.BytesIO()
    pq.write_table(
        pa.table(columns, schema=SCHEMA), sink, compression="none", row_group_size=max(len(rows), 1)
    )
    return sink.getvalue()


def read_scores(path: Path) -> list[ScoreRow]:
    """The rows of a stored file.

    Raises:
        RowError: It is missing, or no table of scores.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise RowError(f"{path}: cannot be read: {error}") from error
    if table.schema.names != SCHEMA.names:
        raise RowError(f"{path}: expected the columns {', '.join(SCHEMA.names)}, found {table.schema.names}")
    return [ScoreRow(**row) for row in table.to_pylist()]
