r"""Rows of a run on disk: one JSON object a line, UTF-8, sorted keys, ``\n`` at the end of every line.

Rules that this module owns:

* A row is written by one ``write`` call; ``flush`` makes all rows so far survive a loss of power.
* Only a line that ends in ``\n`` counts. A file that does not end so has a *torn tail*: reading it
  fails, :func:`set_torn_tail_aside` moves the tail to ``<name>.torn`` and says how long it was.
* Reading is strict: unknown and missing fields, wrong types, duplicate keys, floats and constants
  are refused with file and line. (Rows are not capsules: a model may answer with code points that
  the canonical form refuses; lone surrogates are written as ``\uXXXX``, so that nothing is lost.)
"""

from __future__ import annotations

import json
import os
import re
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, Union, get_args, get_origin, get_type_hints

from bench.plural import number_of
from bench.records import RequestRow
from capsules.canonical import canonical_bytes

T = TypeVar("T")

_BLOCK = 1 << 16
_SURROGATE = re.compile("[\ud800-\udfff]")


class RowError(Exception):
    """A run file that does not hold what it should; names file, line, expected and found."""


def row_value(row: Any) -> dict[str, Any]:
    """A row as plain JSON data."""
    value = {f.name: _plain(getattr(row, f.name)) for f in fields(row)}
    if isinstance(row, RequestRow):
        value["segments"] = [{"kind": piece.kind, "n": piece.n} for piece in row.segments]
    return value


def row_of(cls: type[T], value: Any) -> T:
    """The row of plain JSON data.

    Raises:
        ValueError: It is not a row of that type; names the field, expected and found.
    """
    return _record(cls, get_type_hints(cls), value)


def row_line(row: Any) -> bytes:
    """The line of a row, with its newline."""
    text = json.dumps(row_value(row), ensure_ascii=False, sort_keys=True, separators=(",", ":"))  # noqa: TID251
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode("utf-8") + b"\n"


def rows_bytes(rows: Iterable[Any]) -> bytes:
    """The content of a whole file of rows."""
    return b"".join(row_line(row) for row in rows)


def read_rows(path: Path, cls: type[T]) -> list[T]:
    """All rows of a file; a file that does not exist has none.

    Raises:
        RowError: A torn tail, or a line that is not a row of that type.
    """
    return list(iter_rows(path, cls))


def iter_rows(path: Path, cls: type[T]) -> Iterator[T]:
    """The rows of a file, one at a time.

    Raises:
        RowError: As :func:`read_rows`, when the line is reached; a torn tail at once.
    """
    hints = get_type_hints(cls)
    for number, value in _lines(path):
        try:
            yield _record(cls, hints, value)
        except ValueError as error:
            raise RowError(f"{path}:{number}: {error}") from error


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        torn = _torn(file)
        if torn:
            raise RowError(f"{path}: torn tail of {number_of(torn, 'byte')}; resume sets it aside")
        yield from _values(path, file)


def _torn(file: BinaryIO) -> int:
    """Bytes behind the last newline; the file is then at its beginning again."""
    end = file.seek(0, os.SEEK_END)
    at, torn = end, 0
    while at > 0:
        begin = max(0, at - _BLOCK)
        file.seek(begin)
        newline = file.read(at - begin).rfind(b"\n")
        if newline >= 0:
            torn = end - (begin + newline + 1)
            break
        torn, at = end, begin
    file.seek(0)
    return torn


def _values(path: Path, file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file, 1):
        try:
            value = _parse(line.removesuffix(b"\n"))
        except (ValueError, RecursionError) as error:
            raise RowError(f"{path}:{number}: {error}") from error
        if not isinstance(value, dict):
            raise RowError(f"{path}:{number}: expected an object, found {type(value).__name__}")
        yield number, value


def set_torn_tail_aside(path: Path) -> int:
    """Move what follows the last newline to ``<name>.torn``; returns its length in bytes."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0
    keep = data.rfind(b"\n") + 1
    tail = data[keep:]
    if tail:
        with path.with_name(path.name + ".torn").open("ab") as torn:
            torn.write(tail + b"\n")
            torn.flush()
            os.fsync(torn.fileno())
        with path.open("r+b") as file:
            file.truncate(keep)
            os.fsync(file.fileno())
    return len(tail)


def append_value(path: Path, value: dict[str, Any]) -> None:
    """Append one plain object as a line and make it survive a loss of power."""
    with RowWriter(path) as writer:
        writer.append_line(canonical_bytes(value) + b"\n")
        writer.flush()


def read_values(path: Path) -> list[dict[str, Any]]:
    """All plain objects of a file of lines; a file that does not exist has none.

    Raises:
        RowError: A torn tail, or a line that is no object.
    """
    return [value for _, value in _lines(path)]


class RowWriter:
    """Appends rows to a file.

    Raises:
        OSError: From every method: the disk is full, the file is gone, ...
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def append(self, row: Any) -> None:
        """Write one row; one write call unless the disk takes only a part of it."""
        self.append_line(row_line(row))

    def append_line(self, line: bytes) -> None:
        """Write one line, its newline included."""
        view = memoryview(line)
        while view:
            view = view[os.write(self._fd, view) :]

    def flush(self) -> None:
        """Make all rows so far survive a loss of power."""
        os.fsync(self._fd)

    def close(self) -> None:
        """Close the file; may be called again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _parse(line: bytes) -> Any:
    return json.loads(
        line.decode("utf-8"),
        object_pairs_hook=_unique,
        parse_float=_refuse("a float"),
        parse_constant=_refuse("a constant"),
    )


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _refuse(what: str) -> Callable[[str], Any]:
    def refuse(text: str) -> Any:
        raise ValueError(f"expected integers only, found {what} {text}")

    return refuse


def _record(cls: type[T], hints: dict[str, Any], value: Any) -> T:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object for {cls.__name__}, found {type(value).__name__}")
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r} in {cls.__name__}")
    given = {}
    for name, field in known.items():
        if name in value:
            given[name] = _typed(hints[name], value[name], name)
        elif field.default is MISSING:
            raise ValueError(f"missing field {name!r} in {cls.__name__}")
    return cls(**given)


def _typed(hint: Any, value: Any, name: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        (inner,) = [h for h in get_args(hint) if h is not type(None)]
        return _typed(inner, value, name)
    if origin is tuple:
        return _tuple(get_args(hint), value, name)
    if is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, get_type_hints(hint), value)
    if type(value) is not hint:
        raise ValueError(f"{name}: expected {hint.__name__}, found {type(value).__name__}")
    return value


def _tuple(hints: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{name}: expected an array, found {type(value).__name__}")
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(_typed(hints[0], item, name) for item in value)
    if len(value) != len(hints):
        raise ValueError(f"{name}: expected {len(hints)} entries, found {len(value)}")
    return tuple(_typed(hint, item, name) for hint, item in zip(hints, value, strict=True))
