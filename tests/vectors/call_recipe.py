"""One vector of ``calls/``, and the small valid world that most of them are made on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kit import SOURCES, World, stored

from capsules.content_id import content_id

TOKENIZER = "a tokenizer"  # the kit's
ID = content_id(b"object")


@dataclass(frozen=True, kw_only=True)
class CallVector:
    """One call.

    Attributes:
        name: Folder name; a call that is refused ends in ``_fail``.
        why: One line: what it shows.
        args: ``args.json``.
        code, at: The first refusal, worked out by hand; ``None``: it comes out well.
        files: Files of the folder by name.
    """

    name: str
    why: str
    args: dict[str, Any]
    code: str | None = None
    at: str = ""
    files: dict[str, bytes]


def call(
    name: str,
    why: str,
    code: str | None = None,
    at: str = "",
    *,
    files: dict[str, bytes] | None = None,
    **args: Any,
) -> CallVector:
    """A vector; ``_fail`` is added to its name if it is refused."""
    suffix = "_fail" if code else ""
    return CallVector(name=f"{name}{suffix}", why=why, args=args, code=code, at=at, files=files or {})


def world(change: Callable[[Any], object] | None = None) -> World:
    """The kit's world, counted with one id a byte."""
    made = World()
    if change is not None:
        change(made)
    made.seal()
    prompt = made.prompt
    spans = [*made.public["exact_spans"], *made.internal["exact_spans"]]
    kept = sum(len(item["exact"].encode()) for item in spans) + 1  # the space before "The valve shut late."
    texts = [item["text"] for item in prompt["constraints"] if item["kind"] != "runtime"]
    kept += sum(len(text.encode()) + 2 for text in texts)
    prompt["candidates"]["tokens"] = kept + sum(item["tokens"] or 0 for item in prompt["omissions"])
    return made


def folder(made: World, **more: bytes) -> dict[str, bytes]:
    """The files of a world."""
    return {
        "prompt.json": stored(made.prompt),
        "evidence-1.json": stored(made.public),
        "evidence-2.json": stored(made.internal),
        "source-1.txt": SOURCES["valve"],
        "source-2.txt": SOURCES["notes"],
    } | {name.replace("__", "."): data for name, data in more.items()}


def rewrite(item: str) -> dict[str, Any]:
    """The value of a rewrite of one item."""
    return {
        "items": [item],
        "text": "valve",
        "compressor": "x",
        "dropped": [],
        "tokens_before": 9,
        "tokens_sent": 5,
    }
