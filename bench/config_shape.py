"""What a setting is by the schema, in words: for a value of another kind than its setting has.

Rule that this module owns: such a message names the key, what was expected there and what was found. What was
expected is read from the schema, never from another library's text.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from bench.compression.registry import COMPRESSORS, LOSSY
from bench.config_schema import (
    ArmConfig,
    CompressionConfig,
    ContractConfig,
    PriceConfig,
    ProviderConfig,
    RetrievalConfig,
    RunConfig,
    SelectionConfig,
)
from bench.contracts.forms import CONTRACTS
from bench.retrieval.registry import RETRIEVERS
from bench.selection.registry import SELECTORS

_NAMES: Mapping[type, Sequence[str]] = {
    CompressionConfig: tuple(sorted((*COMPRESSORS, *LOSSY))),
    ContractConfig: tuple(CONTRACTS),
    RetrievalConfig: tuple(sorted(RETRIEVERS)),
    SelectionConfig: tuple(sorted(SELECTORS)),
}
_GROUPS: Mapping[object, str] = {ArmConfig: "arm", PriceConfig: "price", ProviderConfig: "provider"}
_PLAIN: Mapping[object, str] = {int: "a whole number", bool: "true or false", str: "text"}


def wrong_kind(key: str, found: str) -> str:
    """One line for a value of another kind than its setting has.

    Args:
        key: The dotted name that was set.
        found: What was found, as it was written.
    """
    known, kind, below = _kind_at(key)
    if below:
        found = f"a setting below it ({below})"
    return f"{known}: expected {_words(kind, known)}, found {found}{_hint(kind, known, found)}"


def unknown_key(key: str) -> str:
    """One line for a name that the schema does not have (``+key=...`` can add such a name)."""
    known, kind, _ = _kind_at(key)
    kind = _without_none(kind)
    names = [f.name for f in fields(kind)] if isinstance(kind, type) and is_dataclass(kind) else []
    return unknown_setting(key, known, names)


def unknown_setting(key: str, inside: str, names: Sequence[str]) -> str:
    """One line for a name that is not among those that there are.

    Args:
        key: The dotted name that was set.
        inside: The part of it that there is, empty at the top.
        names: What there is in that part.
    """
    part = key.removeprefix(f"{inside}.").split(".")[0]
    near = difflib.get_close_matches(part, names, n=1)
    meant = f"{inside}.{near[0]}" if near and inside else "".join(near)
    known = f"expected one of {', '.join(names)}" if names else "there is none"
    return (
        f"unknown setting {key!r}: {known}{f' in {inside}' if inside else ''}"
        f"{f'; did you mean {meant}?' if near else ''}"
    )


def _kind_at(key: str) -> tuple[str, object, str]:
    """The longest part of a name that the schema has, its type, and the rest of the name."""
    kind: object = RunConfig
    parts = key.split(".")
    for depth, part in enumerate(parts):
        inner = _inner(kind, part)
        if inner is None:
            return ".".join(parts[:depth]), kind, ".".join(parts[depth:])
        kind = inner
    return key, kind, ""


def _inner(kind: object, part: str) -> object | None:
    kind = _without_none(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return get_type_hints(kind).get(part)
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _without_none(kind: object) -> object:
    if get_origin(kind) not in (Union, types.UnionType):
        return kind
    (known,) = (one for one in get_args(kind) if one is not type(None))
    return known


def _words(kind: object, key: str) -> str:
    known = _without_none(kind)
    if isinstance(known, type) and is_dataclass(known):
        words = f"settings of its own ({', '.join(f.name for f in fields(known))})"
    elif get_origin(known) is list:
        words = f"a list ({key}=[a,b])"
    elif get_origin(known) is dict:
        group = _GROUPS.get(get_args(known)[1])
        words = f"settings by name ({f'+{group}@{key}.NAME=...' if group else f'+{key}.NAME=...'})"
    else:
        words = _PLAIN.get(known, "another value")
    return f"{words} or null" if known is not kind else words


def _hint(kind: object, key: str, found: str) -> str:
    """Which setting was meant, for a name that was given to what has a ``name``; the unit, for a price."""
    if key.startswith("prices.providers.") and _without_none(kind) is int:
        return "; prices are whole currency micro-units: 1000000 is 1 USD"
    known: Any = _without_none(kind)
    if known in _GROUPS:
        return (
            f"; a ready one is chosen by {_GROUPS[known]}@{key}=..., and added by +{_GROUPS[known]}@{key}=..."
        )
    names = _NAMES.get(known)
    if names is None:
        return ""
    near = difflib.get_close_matches(found, names, n=1)
    meant = f"did you mean {key}.name={near[0]}?" if near else f"which one is said by {key}.name"
    return f"; {meant} (names: {', '.join(names)})"
