"""``capsule-bench explain``: how two capsules differ, field by field, in words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.commands.find_capsule import named_capsule
from bench.commands.output import print_json, print_text
from bench.report.visible import clipped, visible
from capsules.codec import to_value

# The field that names an entry of an array of objects.
KEYS = ("span_id", "claim_id", "source", "id", "item", "reason")
ORDER_BEARING = ("constraints", "evidence_capsule_refs", "rewrites")
LIMIT = 160


def run(arguments: argparse.Namespace) -> int:
    """Explain the difference; the exit code is 0 whether or not there is one."""
    left_id, left = named_capsule(arguments.left, arguments.run_name, arguments.results)
    right_id, right = named_capsule(arguments.right, arguments.run_name, arguments.results)
    lines = list(differences(to_value(left), to_value(right)))
    if arguments.json:
        print_json({"left": left_id, "right": right_id, "equal": left_id == right_id, "differences": lines})
        return 0
    print_text(f"A {left_id}")
    print_text(f"B {right_id}")
    if left_id == right_id:
        print_text("the same capsule: every byte is equal")
    elif left.capsule_id == right.capsule_id:
        print_text(f"two versions of {left.capsule_id}")
    for line in lines:
        print_text(line)
    return 0


def differences(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[str]:
    """Every difference of two capsules' values, one sentence each, in the order of the fields."""
    for name in sorted(set(left) | set(right)):
        yield from _compare(name, left.get(name), right.get(name))


def _compare(at: str, left: Any, right: Any) -> Iterator[str]:
    if left == right:
        return
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for name in sorted(set(left) | set(right)):
            yield from _compare(f"{at}.{name}", left.get(name), right.get(name))
    elif isinstance(left, Sequence) and isinstance(right, Sequence) and not isinstance(left, str):
        yield from _compare_arrays(at, left, right)
    else:
        yield f"{at}: {_words(left)} in A, {_words(right)} in B"


def _compare_arrays(at: str, left: Sequence[Any], right: Sequence[Any]) -> Iterator[str]:
    in_left, in_right = _by_key(left), _by_key(right)
    for key, value in in_left.items():
        if key not in in_right:
            yield f"{at}: only A has {_entry(key, value)}"
        else:
            yield from _compare(f"{at}[{key}]", value, in_right[key])
    for key, value in in_right.items():
        if key not in in_left:
            yield f"{at}: only B has {_entry(key, value)}"
    shared_left = [key for key in in_left if key in in_right]
    if at in ORDER_BEARING and shared_left != [key for key in in_right if key in in_left]:
        yield f"{at}: the same entries in another order"


def _by_key(entries: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index, entry in enumerate(entries):
        key = next((str(entry[k]) for k in KEYS if isinstance(entry, Mapping) and entry.get(k)), None)
        if key is None:
            key = (
                visible(str(entry))
                if not isinstance(entry, Mapping)
                else f"{entry.get('reason', '')}#{index}"
            )
        found[key if key not in found else f"{key}#{index}"] = entry
    return found


def _entry(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        for name in ("exact", "text", "reason", "level"):
            if value.get(name):
                return f"{key} ({name}: {_words(value[name])})"
    return key


def _words(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f'"{clipped(visible(value), LIMIT)}"'
    return clipped(visible(str(value)), LIMIT)
