"""What a vector is made of, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from capsules.canonical import canonical_bytes

MAIN = "main"  # the store that holds every object that is whole


@dataclass(frozen=True, kw_only=True)
class Vector:
    """One case.

    Attributes:
        name: Folder name; a case that must not pass ends in ``_fail``.
        why: One line: what it shows.
        argv: Arguments; files are those of the folder, stores are ``../../stores/<name>``.
        codes: Failure codes that must come out, exactly these and in this order (info codes apart).
        answers: What each line of the output must say at least, worked out by hand.
        output: The exact output, worked out by hand, where it is no JSON line.
        exit: Exit status.
        files: Files of the folder by name; ``input`` is stdin unless argv names it.
        repeat: (text, times) in place of a large ``input``.
        objects: What the main store must hold for it.
        damage: Name of a store of its own, and its files by path.
    """

    name: str
    why: str
    argv: tuple[str, ...]
    codes: tuple[str, ...] = ()
    answers: tuple[dict[str, Any], ...] = ()
    output: bytes | None = None
    exit: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    repeat: tuple[str, int] | None = None
    objects: dict[str, bytes] = field(default_factory=dict)
    damage: tuple[str, dict[str, bytes]] | None = None

    def args(self) -> bytes:
        """``args.json``."""
        value: dict[str, Any] = {"argv": list(self.argv)}
        if self.repeat is not None:
            value["stdin"] = {"repeat": self.repeat[0], "times": self.repeat[1]}
        elif "input" in self.files and "input" not in self.argv:
            value["stdin"] = "input"
        return canonical_bytes(value) + b"\n"


def store_path(name: str = MAIN) -> str:
    """How argv names a store."""
    return f"../../stores/{name}"


def object_path(object_id: str) -> str:
    """Where a store keeps an object."""
    return f"objects/b3/{object_id[3:5]}/{object_id[5:]}"


def lines(*values: Any) -> bytes:
    """JSON lines; bytes are taken as they are (for lines that are no JSON)."""
    return b"".join((v if isinstance(v, bytes) else canonical_bytes(v)) + b"\n" for v in values)


def jsonl(
    name: str,
    why: str,
    command: str,
    questions: list[Any],
    answers: list[dict[str, Any]],
    codes: tuple[str, ...],
    *,
    exit: int = 0,
) -> Vector:
    """A vector of a JSON-lines command."""
    return Vector(
        name=name,
        why=why,
        argv=(command,),
        files={"input": lines(*questions)},
        answers=tuple(answers),
        codes=codes,
        exit=exit,
    )


def failure_codes(value: Any, kinds: dict[str, str]) -> Iterator[str]:
    """Every failure code in an expected result, each once, in order of appearance."""
    seen = set()
    for text in _strings(value):
        if kinds.get(text) == "failure" and text not in seen:
            seen.add(text)
            yield text


def _strings(value: Any) -> Iterator[str]:
    """The strings that stand for codes: under ``code`` and in ``codes``."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "code" and isinstance(item, str):
                yield item
            elif key == "codes" and isinstance(item, list):
                yield from item
            else:
                yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
