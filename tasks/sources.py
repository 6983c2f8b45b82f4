"""Where rows come from: local files and the hub. Nothing else in ``tasks`` reads or downloads.

The rules:

- ``task.data_dir`` set: local files alone, never the network. Not set: the hub alone.
- A hub revision is a full commit hash (40 hex), checked before anything else happens. Files are
  asked for at exactly that commit, also from the cache: another commit that happens to be
  cached is never served in its place.
- Hub files are Parquet; no remote code is ever run, so a data set that is only a script fails
  with a named error.
- Local JSON and JSON Lines go through :mod:`tasks.strict_json`; a fault costs its row.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capsules.content_id import content_id
from tasks.base import TaskError, TaskSpec
from tasks.strict_json import Fault, Unreadable, parse

_REVISION = re.compile(r"[0-9a-f]{40}")
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """One row as read: where it stands (for people) and its value, faults included."""

    where: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of one set: as read, how they were obtained, and which bytes or commit.

    Attributes:
        origin: For people: ``hub``, ``local JSON``, ``local Parquet``.
        revision: The commit on the hub; for local files ``file:<ContentId of their bytes>``.
    """

    rows: tuple[RawRow, ...]
    origin: str
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSet:
    """A data set on the hub: repository, configuration and split."""

    repo: str
    config: str
    split: str


def require_revision(revision: str | None, dataset: str) -> str:
    """Return a revision that is a full commit hash.

    Raises:
        TaskError: It is anything else (a branch, a tag, a short hash, nothing).
    """
    if revision is None or not _REVISION.fullmatch(revision):
        found = "none" if revision is None else repr(revision)
        raise TaskError(
            f"task.revision of {dataset}: expected a full commit hash (40 hex digits), found {found}; "
            "a branch or tag may change between runs"
        )
    return revision


def data_folder(spec: TaskSpec, expected: str) -> Path | None:
    """Return the folder of local data, or ``None`` when none is set.

    Args:
        spec: The task.
        expected: What should lie in the folder, for the message.

    Raises:
        TaskError: The folder is set and does not exist.
    """
    if not spec.data_dir:
        return None
    folder = Path(spec.data_dir)
    if not folder.is_dir():
        raise TaskError(_missing(spec.name, folder, "no such folder", expected))
    return folder


def local_folder(spec: TaskSpec, expected: str) -> Path:
    """Return the folder of local data of a task that has no other way in.

    Raises:
        TaskError: No folder is set, or it does not exist.
    """
    folder = data_folder(spec, expected)
    if folder is None:
        raise TaskError(
            f"task {spec.name}: expected {expected} in the folder of local data, and no folder is set; "
            "set CAPSULE_DATA (or task.data_dir) to the folder that holds it"
        )
    return folder


def find_file(spec: TaskSpec, folder: Path, names: tuple[str, ...], expected: str) -> Path:
    """Return the first file of these names (relative to the folder) that exists.

    Raises:
        TaskError: None exists.
    """
    for name in names:
        path = folder / name
        if path.is_file():
            return path
    raise TaskError(_missing(spec.name, folder, "no such file", expected))


def _missing(task: str, folder: Path, what: str, expected: str) -> str:
    return (
        f"task {task}: {what}: expected {expected} in {folder}; set CAPSULE_DATA (or task.data_dir) "
        "to the folder that holds it"
    )


def read_bytes(path: Path) -> bytes:
    """Read a whole file; ``.gz`` is unpacked.

    Raises:
        TaskError: It cannot be read.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise TaskError(f"{path}: cannot be read: {error}") from error


def read_json(path: Path, *, floats: bool = False) -> tuple[object, str]:
    """Read one JSON file; faults stand in their places.

    Returns:
        The value, and the ContentId of the file.

    Raises:
        TaskError: The file cannot be read or is not JSON.
    """
    data = read_bytes(path)
    try:
        return parse(data, floats=floats), content_id(data)
    except Unreadable as error:
        raise TaskError(f"{path}: {error.code}: {error}") from error


def read_json_list(path: Path, *, floats: bool = False) -> Rows:
    """Read a JSON file that is one array of rows.

    Raises:
        TaskError: The file cannot be read or is no array.
    """
    value, file_id = read_json(path, floats=floats)
    if not isinstance(value, list):
        raise TaskError(f"{path}: expected an array of rows, found {type(value).__name__}")
    rows = tuple(RawRow(where=f"row {number}", value=row) for number, row in enumerate(value))
    return Rows(rows=rows, origin="local JSON", revision=f"file:{file_id}")


def read_json_lines(path: Path, *, floats: bool = False) -> Rows:
    """Read a file of one JSON value a line; a line that is not JSON becomes a fault.

    Lines end with LF or CR LF; lines of white space alone hold no row. The revision is that of the
    unpacked file.

    Raises:
        TaskError: The file cannot be read.
    """
    data = read_bytes(path)
    rows = tuple(_lines(data, floats))
    return Rows(rows=rows, origin="local JSON Lines", revision=f"file:{content_id(data)}")


def _lines(data: bytes, floats: bool) -> Iterator[RawRow]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parse(line, floats=floats)
        except Unreadable as error:
            value = Fault(code=error.code, reason=str(error))
        yield RawRow(where=f"line {number}", value=value)


def find_parquet(folder: Path, hub: HubSet) -> tuple[Path, ...]:
    """Return the Parquet files of a split, in the layout of the hub, in shard order.

    Raises:
        TaskError: Shards are missing.
    """
    paths = tuple(sorted((folder / hub.config).glob(f"{hub.split}-*.parquet")))
    for index, path in enumerate(paths):
        shard = _SHARD.search(path.name)
        if shard is not None and (int(shard[1]), int(shard[2])) != (index, len(paths)):
            raise TaskError(
                f"{path.parent}: expected {int(shard[2])} shards of {hub.split}, found {len(paths)}"
            )
    return paths


def hub_parquet(hub: HubSet, revision: str) -> tuple[Path, ...]:
    """Fetch (or find in the cache) the Parquet files of a split at exactly this commit.

    Raises:
        TaskError: The revision is no commit hash, the commit can neither be fetched nor is it
            in the cache, or it has no Parquet files for the split.
    """
    commit = require_revision(revision, hub.repo)
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            hub.repo,
            repo_type="dataset",
            revision=commit,
            allow_patterns=[f"{hub.config}/{hub.split}-*.parquet"],
        )
    except Exception as error:  # the hub's client raises several unrelated families of errors
        raise TaskError(
            f"{hub.repo}: revision {commit} is neither in the local cache nor could it be fetched "
            f"({type(error).__name__}); set CAPSULE_DATA (or task.data_dir) to a folder with local data"
        ) from error
    paths = find_parquet(Path(folder), hub)
    if not paths:
        raise TaskError(
            f"{hub.repo}: no Parquet files {hub.config}/{hub.split}-*.parquet at revision {commit} "
            "(a data set that is only a script is not run)"
        )
    return paths


def read_parquet(paths: tuple[Path, ...], columns: tuple[str, ...]) -> tuple[RawRow, ...]:
    """Read Parquet files through ``datasets`` into plain rows.

    The reader's own cache is a folder that lives as long as the call, so that no earlier file
    of the same name and time is served.

    Raises:
        TaskError: A file is not Parquet, or a column is missing.
    """
    import datasets

    try:
        with tempfile.TemporaryDirectory(prefix="capsule-parquet-") as cache:
            table = datasets.Dataset.from_parquet(
                [str(path) for path in paths], cache_dir=cache, keep_in_memory=True
            )
            missing = [name for name in columns if name not in table.column_names]
            rows = [] if missing else table.select_columns(list(columns)).to_list()
    except Exception as error:  # pyarrow and datasets raise several unrelated families of errors
        raise TaskError(f"{paths[0]}: cannot be read as Parquet: {error}") from error
    if missing:
        raise TaskError(
            f"{paths[0]}: expected the columns {', '.join(columns)}; found {', '.join(table.column_names)}"
        )
    return tuple(RawRow(where=f"row {number}", value=row) for number, row in enumerate(rows))


def files_id(paths: tuple[Path, ...]) -> str:
    """ContentId of the files' bytes, one after the other."""
    return content_id(b"".join(read_bytes(path) for path in paths))
