"""Where rows come from: the one way in for every form that is not generated.

The rules:

- ``task.data_dir`` set: local files alone, never the network. Not set: the hub alone, at exactly
  ``task.revision`` (:mod:`tasks.hub`).
- A name that ends in ``.parquet`` or ``.arrow`` is read through ``datasets`` (:mod:`tasks.tables`), also
  from the hub; JSON (``.json``) and JSON Lines (any other name), packed (``.gz``) or not, by our own strict
  reader (:mod:`tasks.json_rows`), also from the hub: a library that guesses types passes ``NaN``, changes
  ids, and fails a whole file for one row.
- Options of every such task: ``file`` (below ``task.data_dir``, or absolute; a pattern such as
  ``part/train-*.parquet`` for several), ``hub`` (a repository) and ``hub_files`` (a pattern in it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks.base import TaskError, TaskSpec
from tasks.fields import RowRefused
from tasks.file_bytes import FileBytes, files_revision
from tasks.finish import option
from tasks.hub import hub_files, matching, require_revision
from tasks.json_rows import array_rows, keyed_items, line_rows
from tasks.rows import Home, HubSet, RawRow, Rows
from tasks.strict_json import Unreadable
from tasks.tables import KINDS, table_rows

FROM = ("file", "hub", "hub_files")

Unnest = Callable[[Iterator[object]], Iterator[RawRow]]  # articles of nested SQuAD JSON -> rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the files of a form are read.

    Attributes:
        unnest: Makes rows of the array ``data`` of a JSON file; ``None``: the file is an array of rows.
        columns: Columns that a table must have; none: the form says what a row lacks.
        optional: Columns that are read too where a table has them.
    """

    unnest: Unnest | None = None
    columns: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


PLAIN = Reading()
NO_FILE = "task.options.file, a file of rows (docs/own-data.md, docs/tasks.md),"


def open_home(spec: TaskSpec, home: Home, how: Reading = PLAIN) -> Rows:
    """Open the rows of a data set, from the place that the spec says.

    Raises:
        TaskError: There is no such place, or nothing in it; while reading: see the readers.
    """
    file = option(spec, "file", "") or home.file
    if file and Path(file).is_absolute():
        return open_files(spec.name, Path(file).parent, (Path(file).name,), how)
    if spec.data_dir:
        if not file:
            raise TaskError(
                f"task {spec.name}: expected {NO_FILE} absolute or below task.data_dir; found none"
            )
        return open_files(spec.name, data_folder(spec, file), (file,), how)
    return open_hub(spec, home, how)


def open_hub(spec: TaskSpec, home: Home, how: Reading) -> Rows:
    """Open the rows of a data set on the hub.

    Raises:
        TaskError: No repository is known or named, or see :mod:`tasks.hub`.
    """
    known = home.hub or HubSet(repo="", files="")
    hub = HubSet(
        repo=option(spec, "hub", "") or known.repo, files=option(spec, "hub_files", "") or known.files
    )
    if not hub.repo or not hub.files:
        raise TaskError(
            f"task {spec.name}: expected {home.file or NO_FILE} in the folder of local data, "
            "and no folder is set; set CAPSULE_DATA (or task.data_dir) to the folder that holds it, or name "
            "a copy on the hub: task.options.hub=ORG/NAME task.options.hub_files=PATTERN "
            "task.revision=<40 hex>"
        )
    commit = require_revision(spec.revision, hub.repo)
    return opened(hub_files(hub, commit), how, origin="hub", revision=lambda: commit)


def open_files(task: str, folder: Path, names: tuple[str, ...], how: Reading) -> Rows:
    """Open the local files of the first of these names (or patterns) that exists.

    Raises:
        TaskError: None exists.
    """
    for name in names:
        paths = matching(folder, name)
        if paths:
            return opened(paths, how)
    what = f"no such file: expected {' or '.join(str(folder / name) for name in names)}"
    raise TaskError(f"task {task}: {what}; set CAPSULE_DATA (or task.data_dir) to the folder that holds it")


def data_folder(spec: TaskSpec, expected: str) -> Path:
    """Return the folder of local data.

    Args:
        spec: The task; its ``data_dir`` is set.
        expected: What should lie in the folder, for the message.

    Raises:
        TaskError: The folder does not exist.
    """
    folder = Path(spec.data_dir or "")
    if not folder.is_dir():
        raise TaskError(
            f"task {spec.name}: no such folder: expected {expected} in {folder}; set CAPSULE_DATA (or "
            "task.data_dir) to the folder that holds it"
        )
    return folder


def opened(
    paths: tuple[Path, ...],
    how: Reading,
    *,
    origin: str | None = None,
    revision: Callable[[], str] | None = None,
) -> Rows:
    """The rows of files, by the kind that their names say."""
    first = paths[0]
    kinds = sorted({path.suffix for path in paths})
    if len(kinds) > 1:
        raise TaskError(f"{first.parent}: expected files of one kind, found {', '.join(kinds)}")
    if first.suffix in KINDS:
        return Rows(
            rows=table_rows(paths, how.columns, how.optional),
            origin=origin or f"local {KINDS[first.suffix]}",
            revision=revision or (lambda: files_revision(paths)),
        )
    if len(paths) > 1:
        raise TaskError(f"{first}: expected one file of JSON, found {len(paths)}")
    file = FileBytes(first)
    whole = ".json" in (first.suffix, Path(first.stem).suffix)
    rows = _document(file, how) if whole else line_rows(file.chunks())
    kind = "local JSON" if whole else "local JSON Lines"
    return Rows(rows=rows, origin=origin or kind, revision=revision or file.revision)


def _document(file: FileBytes, how: Reading) -> Iterator[RawRow]:
    try:
        if how.unnest is None:
            yield from array_rows(file.chunks())
        else:
            yield from how.unnest(keyed_items(file.chunks(), "data"))
    except (Unreadable, RowRefused) as error:
        expected = "an array of rows" if how.unnest is None else "SQuAD JSON"
        raise TaskError(f"{file.path}: expected {expected}: {error.code}: {error}") from error
