"""Vectors of ``citations`` and ``cached``, and of lines that are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recipes import Vector, jsonl

# name: (answer, sources, cited ids over all sentences, malformed texts, why)
MARKS: dict[str, tuple[str, int, list[int], list[str], str]] = {
    "adjacent": ("A[1][2].", 2, [1, 2], [], "two marks"),
    "list": ("A [1, 2].", 2, [1, 2], [], "a list in one mark"),
    "range": ("A [1-3].", 3, [1, 2, 3], [], "a range"),
    "range-dash": ("A [1\u20133].", 3, [1, 2, 3], [], "a range with an en dash"),
    "mixed": ("A [2,4-5].", 5, [2, 4, 5], [], "a list with a range"),
    "fullwidth": ("A\u30103\u3011.", 3, [3], [], "full-width brackets"),
    "fullwidth-source": ("A\u30101\u2020source\u3011.", 1, [1], [], "full-width brackets with a dagger"),
    "footnote": ("A[^1].", 1, [1], [], "a footnote mark"),
    "twice": ("A [1] [1].", 1, [1], [], "the same twice is one distinct id"),
    "after-stop": (
        "It shut.[1] It held. [2]",
        2,
        [1, 2],
        [],
        "marks after the stop belong to the sentence before",
    ),
}
NO_MARKS: dict[str, tuple[str, int, list[int], list[str], str]] = {
    "none": ("It shut.", 1, [], [], "no mark at all"),
    "in-code": ("x `a[1]` y", 1, [], [], "no marks in code"),
    "in-fence": ("x\n```\ndp[i][0]\n```\ny", 1, [], [], "none in a fenced block"),
    "backwards": ("A [3-1].", 3, [], ["[3-1]"], "a range that runs backwards is malformed"),
    "range-101": ("A [1-102].", 200, [], ["[1-102]"], "a range wider than 100 is malformed"),
    "empty": ("", 1, [], [], "an empty answer"),
}

# name: (requests, answers as (predicted, shared_tokens), why)
CACHED: dict[str, tuple[list[dict[str, Any]], list[tuple[int, int]], str]] = {
    "repeat": (
        [{"ids": [1, 2, 3, 4, 5], "block": 2}] * 2,
        [(0, 0), (4, 5)],
        "a repeat hits its full blocks",
    ),
    "exact-multiple": (
        [{"ids": [1, 2, 3, 4], "block": 2}] * 2,
        [(0, 0), (2, 4)],
        "the last token is always computed: a repeat of two blocks hits one",
    ),
    "generated": (
        [{"ids": [1, 2, 3], "block": 2, "generated": [4, 5, 6]}, {"ids": [1, 2, 3, 4, 5, 6, 7], "block": 2}],
        [(0, 0), (4, 5)],
        "generated ids count too, without the last one",
    ),
    "chained": (
        [{"ids": [1, 2, 3, 4, 5], "block": 2}, {"ids": [9, 9, 3, 4, 5], "block": 2}],
        [(0, 0), (0, 0)],
        "the same block after another beginning is another block",
    ),
    "short-prefix": (
        [{"ids": [1, 2, 3, 4, 5], "block": 4}, {"ids": [1, 2, 3, 9, 9], "block": 4}],
        [(0, 0), (0, 3)],
        "a shared prefix shorter than a block is told apart from none",
    ),
    "salts": (
        [{"ids": [1, 2, 3], "block": 2, "salt": salt} for salt in ("p", "q", "p")],
        [(0, 0), (0, 0), (2, 3)],
        "another salt shares nothing",
    ),
}

# name: (command, bad line, code, pointer, why)
BAD: dict[str, tuple[str, Any, str, str, str]] = {
    "match-json": ("match", b'{"source": "a"', "json.syntax", "", "a line that is no JSON"),
    "match-blank-line": ("match", b"", "json.syntax", "", "a blank line is answered too"),
    "match-utf8": (
        "match",
        b'{"source":"\xff","quote":"a"}',
        "json.utf8.invalid",
        "",
        "a line that is not UTF-8",
    ),
    "match-surrogate": (
        "match",
        rb'{"source":"\ud800","quote":"a"}',
        "json.string.surrogate",
        "/source",
        "a lone surrogate in a source",
    ),
    "match-missing": ("match", {"source": "a"}, "schema.field.missing", "/quote", "no quote"),
    "match-unknown": (
        "match",
        {"source": "a", "quote": "a", "fuzzy": True},
        "schema.field.unknown",
        "/fuzzy",
        "a misspelt option",
    ),
    "match-type": (
        "match",
        {"source": "a", "quote": 1},
        "schema.field.type",
        "/quote",
        "a number for a quote",
    ),
    "match-array": ("match", ["a", "a"], "schema.field.type", "", "an array for an object"),
    "match-negative": (
        "match",
        {"source": "a", "quote": "a", "start": -1, "end": 1},
        "schema.limit",
        "/start",
        "a negative offset",
    ),
    "match-norm": (
        "match",
        {"source": "a", "quote": "a", "normalization": "nfkc"},
        "schema.word",
        "/normalization",
        "a normalization that is not registered",
    ),
    "citations-missing": (
        "citations",
        {"answer": "A [1]."},
        "schema.field.missing",
        "/sources",
        "no number of sources",
    ),
    "citations-type": (
        "citations",
        {"answer": "A [1].", "sources": True},
        "schema.field.type",
        "/sources",
        "true is no number",
    ),
    "citations-float": (
        "citations",
        b'{"answer":"A","sources":1.0}',
        "json.number.float",
        "/sources",
        "1.0 is no integer",
    ),
    "cached-block": ("cached", {"ids": [1], "block": 0}, "schema.limit", "/block", "a block of no tokens"),
    "cached-ids": ("cached", {"ids": [1, -2], "block": 2}, "schema.limit", "/ids/1", "a negative token id"),
    "cached-bool": (
        "cached",
        {"ids": [True], "block": 2},
        "schema.field.type",
        "/ids/0",
        "true is no token id",
    ),
    "cached-salt": (
        "cached",
        {"ids": [1], "block": 2, "salt": None},
        "schema.field.type",
        "/salt",
        "null is no salt; leave it out",
    ),
}

GOOD_LINE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "match": ({"source": "ab", "quote": "ab"}, {"match": "raw_exact"}),
    "citations": ({"answer": "A [1].", "sources": 1}, {"marks": 1}),
    "cached": ({"ids": [1, 2, 3], "block": 2}, {"predicted": 0}),
}


def cases() -> Iterator[Vector]:
    """All of them."""
    for table, suffix in ((MARKS, ""), (NO_MARKS, "_fail")):  # type: ignore[assignment]
        for name, (answer, sources, cited, malformed, why) in table.items():  # type: ignore[misc]
            said = {
                "+cited": cited,
                "malformed": [{"text": text, "start": answer.index(text)} for text in malformed],  # type: ignore[attr-defined]
            }
            yield jsonl(
                f"citations-{name}{suffix}",
                why,
                "citations",
                [{"answer": answer, "sources": sources}],
                [said],
                (),
            )
    yield jsonl(
        "citations-unknown_fail",
        "an id beyond the sources is unknown, not cited",
        "citations",
        [{"answer": "It shut [3].", "sources": 2}],
        [{"sentences": [{"text": "It shut.", "start": 0, "end": 12, "cited": [], "unknown": [3]}]}],
        (),
    )
    yield jsonl(
        "citations-base-0",
        "with base 0 the first source is [0]",
        "citations",
        [{"answer": "It shut [0].", "sources": 1, "base": 0}],
        [{"sentences": [{"text": "It shut.", "start": 0, "end": 12, "cited": [0], "unknown": []}]}],
        (),
    )
    for name, (requests, answers, why) in CACHED.items():
        said = [{"predicted": predicted, "shared_tokens": shared} for predicted, shared in answers]  # type: ignore[assignment]
        yield jsonl(f"cached-{name}", why, "cached", requests, said, ())  # type: ignore[arg-type]
    for name, (command, bad, code, at, why) in BAD.items():
        good, said_good = GOOD_LINE[command]
        error = {"error": {"code": code, "at": at}}
        yield jsonl(
            f"{name}_fail",
            f"{why}; the lines around it are answered",
            command,
            [good, bad, good],
            [said_good, error, said_good]
            if command != "cached"
            else [said_good, error, {"shared_tokens": 3}],
            (code,),
            exit=1,
        )
