"""Names from a config to objects: registry names, or ``module:attribute`` for your own.

Rules that this module owns: an unknown name lists the valid ones; what ``module:attribute`` brings
is checked against its protocol before any work is done with it; nothing is ever guessed.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bench.errors import PermanentError

T = TypeVar("T")


class RegistryError(PermanentError):
    """A name that leads to no usable object; the message names what was expected and found."""

    code = "registry.unknown"


def resolve(
    registry: Mapping[str, T],
    name: str,
    check: Callable[[object], str | None],
    *,
    kind: str,
    also: Sequence[str] = (),
) -> T:
    """The object that a name stands for.

    Args:
        registry: Built-in objects by name.
        name: A key of ``registry``, or ``module:attribute``.
        check: What is wrong with an object for this protocol, or ``None``; see :func:`takes`.
        kind: What the names stand for, for messages ("builder").
        also: Forms of a name that the caller takes itself, for messages ("nli@MODEL").

    Raises:
        RegistryError: Unknown name, module or attribute, or an object of another protocol.
    """
    if name in registry:
        return registry[name]
    module_name, colon, attribute = name.partition(":")
    if not colon:
        valid = ", ".join((*sorted(registry), *also))
        raise RegistryError(f"unknown {kind} {name!r}: expected one of {valid}, or module:attribute")
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:
        raise RegistryError(f"{kind} {name!r}: cannot import {module_name!r}: {error}") from error
    try:
        found: T = getattr(module, attribute)
    except AttributeError as error:
        raise RegistryError(f"{kind} {name!r}: module {module_name!r} has no {attribute!r}") from error
    complaint = check(found)
    if complaint is not None:
        raise RegistryError(f"{kind} {name!r}: {complaint}")
    return found


def takes(*parameters: str) -> Callable[[object], str | None]:
    """A protocol check: something that can be called with these positional arguments."""

    def check(found: object) -> str | None:
        expected = f"expected a callable ({', '.join(parameters)})"
        if not callable(found) or inspect.isclass(found):
            return f"{expected}, found {type(found).__name__}"
        try:
            signature = inspect.signature(found)
        except ValueError:  # a built-in without a signature: the call itself will tell
            return None
        try:
            signature.bind(*parameters)
        except TypeError as error:
            return f"{expected}, found one with the signature {signature}: {error}"
        return None

    return check
