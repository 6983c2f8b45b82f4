"""What is wrong with an override, in one line of ours.

Rules that this module owns:

* A message names the override, what was expected there and what was found; names that exist are read from
  the composed config, and nothing of Hydra's grammar is quoted.
* It composes the rest of the overrides again to find those names: the caller keeps Hydra initialised. A sweep
  stands there with its first value. Where nothing composes, a message claims nothing about what there is.
* What a message advises is accepted: a setting is said to be removable only where removing it composes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hydra import compose
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigTypeError, OmegaConfBaseException, ValidationError

from bench.config_groups import CONFIG_NAME, is_part
from bench.config_shape import unknown_setting, wrong_kind

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_QUOTING = "a value with = # ( ) or non-ASCII letters needs quotes inside quotes: 'key=\"a=b\"'"


def one_line(error: Exception, overrides: Sequence[str]) -> str:
    """The message for what composing raised.

    Args:
        error: Hydra's or OmegaConf's.
        overrides: Those that were composed.
    """
    text = str(error)
    if isinstance(error, OverrideParseException):
        return f"override {error.override!r}: {_unreadable(error)}"
    about = _prefixed(text, overrides)
    if about is not None:
        return about
    missing = re.search(r"Could not find '([^']+?)/([^'/]*)'", text)
    if missing:
        group, name = missing.groups()
        offered = [choice for choice in _listed(text) if not is_part(group, choice)]
        return f"unknown {group} {name!r}: expected one of {', '.join(offered)}"
    key = re.search(r"Could not override '([^']+)'", text)
    if key:
        inner = getattr(error.__cause__, "full_key", None) or ""
        return _unknown_key(inner if inner.startswith(key[1]) else key[1], text, overrides)
    lines = text.splitlines()
    cause = error.__cause__
    merged = re.match(
        r"Error merging override (?P<sign>[+~]*)(?P<key>[^=]+)(?:=(?P<value>.*))?$", lines[0] if lines else ""
    )
    if merged and merged["sign"] == "~":
        return f"override '~{merged['key']}': {_kept(merged['key'])}"
    if merged and isinstance(cause, ConfigTypeError | ValidationError):
        return wrong_kind(merged["key"], merged["value"] or "")
    detail = str(cause).splitlines()[0] if cause else ""
    unknown = re.search(r"Key '([^']+)' (?:is )?not in", detail)
    if unknown:
        return f"{lines[0]}: unknown setting {unknown.group(1)!r}"
    if lines and lines[0].startswith("Ambiguous value"):
        return f"{lines[0]}: a list is key=[a,b], a string key='\"a,b\"', a sweep needs -m"
    return ": ".join(part for part in (lines[0] if lines else type(error).__name__, detail) if part)


def below_a_list(overrides: Sequence[str]) -> str | None:
    """The message for a name below a list, where composing raises Python's own error (a list has numbers).

    Args:
        overrides: Those that were composed.

    Returns:
        ``None`` where no override names such a thing: the error is another's.
    """
    before: list[str] = []  # those before it that compose
    for given in overrides:
        key, _, value = given.partition("=")
        try:
            compose(CONFIG_NAME, overrides=[*before, f"{key}=x"])
        except (HydraException, OmegaConfBaseException):
            pass
        except (ValueError, TypeError):
            return wrong_kind(_key(given), value)
        kept = [*before, *_single([given])]
        before = kept if _composed(kept) is not None else before
    return None


def unclosed(text: str) -> str | None:
    """What a value lacks of its brackets and quotes, with the place; ``None`` where all are closed.

    Args:
        text: A whole override; places count its characters from 1.
    """
    opened: list[tuple[str, int]] = []
    quote: tuple[str, int] | None = None
    escaped = False
    for place, char in enumerate(text, start=1):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif quote is not None:
            quote = None if char == quote[0] else quote
        elif char in "'\"":
            quote = char, place
        elif char in _CLOSING:
            opened.append((char, place))
        elif char in _CLOSING.values():
            if not opened or _CLOSING[opened[-1][0]] != char:
                return _expected(opened, f"{char} at character {place}")
            opened.pop()
    if quote is not None:
        return f"expected a second {quote[0]} for that at character {quote[1]}, found the end"
    return _expected(opened, "the end") if opened else None


def _expected(opened: Sequence[tuple[str, int]], found: str) -> str:
    if not opened:
        return f"expected no closing bracket without an opening one, found {found}"
    char, place = opened[-1]
    return f"expected {_CLOSING[char]} for the {char} at character {place}, found {found}"


def _unreadable(error: OverrideParseException) -> str:
    if error.__cause__ is not None and str(error.__cause__):  # e.g. a function that there is not
        return f"{str(error.__cause__).splitlines()[0]} ({_QUOTING})"
    return unclosed(error.override) or f"expected key=value, found what cannot be read so ({_QUOTING})"


def _prefixed(text: str, overrides: Sequence[str]) -> str | None:
    """The message for a ``+`` at what is there already, or a ``~`` at what is not."""
    gone = re.match(r"Could not delete from config\. '([^']+)' does not exist", text)
    if gone:
        nothing = _unknown_key(gone[1], "", overrides)
        return f"override {_given('~', gone[1], overrides)!r}: there is nothing to remove: {nothing}"
    other = re.match(r"Could not delete from config\. The value of '([^']+)' is ", text)
    if other:
        key = other[1]
        given = _given("~", key, overrides)
        rest = _single([one for one in overrides if one != given])
        removable = _composed([*rest, f"~{key}"]) is not None
        advice = f"{key} has another value; ~{key} removes it as it is" if removable else _kept(key)
        return f"override {given!r}: {advice}"
    choice = re.match(r"Could not delete '([^'=]+)(?:=([^']*))?'\. No match in the defaults list", text)
    if choice:
        return _unchosen(choice[1], overrides)
    there = re.match(r"Could not append to config\. An item is already at '([^']+)'", text)
    if there:
        given = _given("+", there[1], overrides)
        plain = given.lstrip("+")
        return f"override {given!r}: {there[1]} is there already: expected {plain} (without +) to set it"
    twice = re.match(r"Multiple values for ([^ ]+)\. To override a value use", text)
    if twice:
        given = _given("+", twice[1], overrides)
        chosen = _choices(twice[1], overrides).get(twice[1])
        named = f" ({chosen})" if chosen else ""
        return (
            f"override {given!r}: {twice[1]} is chosen already{named}: expected {given.lstrip('+')} "
            "(without +) to choose another"
        )
    return None


def _kept(key: str) -> str:
    return f"{key} can be set and not removed; leave it as it is"


def _unchosen(key: str, overrides: Sequence[str]) -> str:
    group, choices = key.partition("@")[0], _choices(key, overrides)
    given = _given("~", key, overrides)
    nothing = f"override {given!r}: there is nothing to remove"
    if not choices:
        return nothing
    if key in choices:
        if given == f"~{key}":  # the first combination has it
            return f"{nothing} in a combination of the sweep"
        return f"override {given!r}: {key} is {choices[key]}; ~{key} removes it"
    near = [f"~{one}" for one in sorted(choices) if one.partition("@")[0] == group]
    known = f"expected one of {', '.join(near)}" if near else f"nothing of the group {group} is chosen"
    return f"{nothing}: {known}"


def _given(sign: str, key: str, overrides: Sequence[str]) -> str:
    """The override of a key with this sign, as it was given."""
    found = [one for one in overrides if one.startswith(sign) and _key(one) == key]
    return found[-1] if found else f"{sign}{key}"


def _key(override: str) -> str:
    return override.split("=", 1)[0].lstrip("+~")


def _listed(text: str) -> list[str]:
    after = text.split("Available options in", 1)
    if len(after) < 2:
        return ["(none)"]
    names = []
    for line in after[1].splitlines()[1:]:
        if not line.startswith("\t"):
            break
        names.append(line.strip())
    return names


def _unknown_key(key: str, text: str, overrides: Sequence[str]) -> str:
    mean = re.search(r"Did you mean to override (?:one of )?([^?]+)\?", text)
    if mean:
        group, at, package = key.partition("@")
        added = f"+{group}@{package if at else group + 's.NAME'}=..."
        hint = f" (to add an arm: {added})" if group == "arm" else ""
        return f"unknown override {key!r}: did you mean {mean.group(1)}?{hint}"
    node: object = _without(key, overrides)
    if node is None:
        return f"unknown setting {key!r}"
    parts = key.split(".")
    for depth, part in enumerate(parts):
        valid = sorted(str(k) for k in node if k != "hydra") if isinstance(node, DictConfig) else []
        if part not in valid:
            return unknown_setting(key, ".".join(parts[:depth]), valid)
        node = node[part] if isinstance(node, DictConfig) else None
    return f"unknown setting {key!r}"


def _choices(key: str, overrides: Sequence[str]) -> Mapping[str, object]:
    """What is chosen of every config group, without the override of ``key``."""
    cfg = _without(key, overrides)
    return {} if cfg is None else dict(cfg.hydra.runtime.choices)


def _without(key: str, overrides: Sequence[str]) -> DictConfig | None:
    """The config without the override of ``key``, to list what there is."""
    rest = _single([one for one in overrides if _key(one) != key])
    whole = _composed(rest)
    if whole is not None:
        return whole
    return _composed(_agreeing(rest))  # another mistake is among them


def _agreeing(overrides: Sequence[str]) -> list[str]:
    """The overrides without those that do not compose with the ones before them."""
    kept: list[str] = []
    for one in overrides:
        if _composed([*kept, one]) is not None:
            kept.append(one)
    return kept


def _composed(overrides: Sequence[str]) -> DictConfig | None:
    try:
        return compose(CONFIG_NAME, overrides=list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException, ValueError, TypeError):  # the latter: below a list
        return None


def _single(overrides: Sequence[str]) -> list[str]:
    """Overrides of one combination: of a sweep its first value, and nothing of an interval or a pattern."""
    single = []
    for one in overrides:
        try:
            override = OverridesParser.create().parse_override(one)
            swept = override.is_sweep_override()
            value = next(iter(override.sweep_string_iterator())) if swept else None
        except HydraException:  # it cannot be read, or what it sweeps over is not known here
            continue
        single.append(f"{one.partition('=')[0]}={value}" if swept else one)
    return single
