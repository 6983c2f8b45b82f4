"""Vectors of ``match``: what is an exact quote, and what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recipes import Vector, jsonl

DOSE = "Zinc 5 mg; iron 5 mg; zinc 5 mg."
PUMP = "The pump must not run dry for more than 30 s. Below 5 bar the alarm is silent."
OFFICE = "The o\ufb03ce \ufb01led the re\ufb02ected costs."
CURLY = "He said \u201cdon\u2019t wait\u201d \u2014 twice."
ZERO = "soft\u00adware up\u200bdate\u00a0v2"
ASTRAL = "A\U0001f9ea test: caf\u00e9, cafe\u0301 \U0001f1f3\U0001f1f4 done"
VALVE = "The valve shut. The tank held. The crew left."

# name: (question, what the verdict must say, why)
EXACT: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "raw": (
        {"source": VALVE, "quote": "The tank held."},
        {
            "match": "raw_exact",
            "place": "cited",
            "normalization": "raw/1",
            "start": 16,
            "end": 30,
            "occurrences": [[16, 30]],
            "occurrences_total": 1,
            "text": "The tank held.",
        },
        "the text stands there, once",
    ),
    "trimmed": (
        {"source": VALVE, "quote": "\u00a0\n The tank held.\u200b"},
        {"match": "raw_exact", "start": 16, "end": 30},
        "white space and dropped characters around a quote are not part of it",
    ),
    "astral": (
        {"source": ASTRAL, "quote": "done"},
        {"match": "raw_exact", "start": 24, "end": 28},
        "offsets are code points: not UTF-16 units (27), bytes (35) or graphemes (22)",
    ),
    "claimed": (
        {"source": DOSE, "quote": "5 mg", "start": 16, "end": 20},
        {"match": "raw_exact", "start": 16, "end": 20, "occurrences_total": 3},
        "a claimed position that holds settles which of three occurrences",
    ),
    "prefix": (
        {"source": DOSE, "quote": "5 mg", "prefix": "iron "},
        {"match": "raw_exact", "start": 16, "end": 20},
        "the text before selects among occurrences",
    ),
    "suffix": (
        {"source": DOSE, "quote": "5 mg", "suffix": "."},
        {"match": "raw_exact", "start": 27, "end": 31},
        "the text after selects among occurrences",
    ),
    "ambiguous": (
        {"source": DOSE, "quote": "5 mg"},
        {
            "match": "raw_exact",
            "start": None,
            "end": None,
            "codes": ["quote.ambiguous"],
            "occurrences": [[5, 9], [16, 20], [27, 31]],
            "occurrences_total": 3,
        },
        "three occurrences: exact, but nowhere in particular",
    ),
    "overlapping": (
        {"source": "aaaa", "quote": "aa"},
        {"match": "raw_exact", "occurrences": [[0, 2], [1, 3], [2, 4]], "occurrences_total": 3},
        "overlapping occurrences are counted",
    ),
    "curly": (
        {"source": CURLY, "quote": '"don\'t wait"'},
        {"match": "norm_exact", "normalization": "quote/1", "start": 8, "end": 20},
        "quotation marks fold under quote/1, and the offsets are those of the raw text",
    ),
    "zero-width": (
        {"source": ZERO, "quote": "software update v2"},
        {"match": "norm_exact", "normalization": "quote/1", "start": 0, "end": 20},
        "soft hyphen, zero-width space and no-break space under quote/1",
    ),
    "line-ends": (
        {"source": "one\r\ntwo", "quote": "one\ntwo"},
        {"match": "norm_exact", "normalization": "text/1", "start": 0, "end": 8},
        "the weakest normalization that does is named: text/1",
    ),
    "composed": (
        {"source": "cafe\u0301 noir", "quote": "caf\u00e9 noir"},
        {"match": "norm_exact", "normalization": "text/1", "start": 0, "end": 10},
        "NFC is part of text/1",
    ),
    "ligatures": (
        {"source": OFFICE, "quote": "office filed the reflected", "normalization": "compat/1"},
        {"match": "norm_exact", "normalization": "compat/1", "start": 4, "end": 26},
        "letter ligatures under compat/1; 26 quoted characters are 22 code points of the source",
    ),
    "brackets": (
        {"source": "clotting time [CT] rose 4%", "quote": "clotting time [CT] rose 4%"},
        {"match": "raw_exact", "start": 0, "end": 26},
        "brackets are text",
    ),
    "partial-token": (
        {"source": "give 150 mg", "quote": "50 mg"},
        {"match": "raw_exact", "start": 6, "codes": ["quote.partial_token"]},
        "exact, and flagged: it cuts the number 150",
    ),
}

# name: (question, what the verdict must say, why); none of these is an exact citation
NOT_EXACT: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "absent": (
        {"source": VALVE, "quote": "The tank fell."},
        {"match": "absent", "place": "none"},
        "it is not there",
    ),
    "case": ({"source": VALVE, "quote": "the tank held."}, {"match": "absent"}, "case never folds"),
    "empty": (
        {"source": VALVE, "quote": ""},
        {"match": "invalid", "codes": ["quote.empty"]},
        "nothing quoted",
    ),
    "blank": (
        {"source": VALVE, "quote": "  \n"},
        {"match": "invalid", "codes": ["quote.empty"]},
        "only white space",
    ),
    "zero-width-only": (
        {"source": VALVE, "quote": "\u200b"},
        {"match": "invalid", "codes": ["quote.empty"]},
        "only a dropped character",
    ),
    "too-short": (
        {"source": VALVE, "quote": "The", "min_chars": 4},
        {"match": "invalid", "codes": ["quote.too_short"]},
        "shorter than asked for",
    ),
    "claimed-wrong": (
        {"source": DOSE, "quote": "5 mg", "start": 15, "end": 19},
        {"match": "absent", "codes": ["span.exact.mismatch"]},
        "a claimed position that does not hold is never moved to another occurrence",
    ),
    "claimed-utf16": (
        {"source": ASTRAL, "quote": "done", "start": 27, "end": 31},
        {"match": "absent", "codes": ["span.exact.mismatch"]},
        "a position counted in UTF-16 units",
    ),
    "prefix-wrong": (
        {"source": DOSE, "quote": "5 mg", "prefix": "lead "},
        {"match": "absent", "codes": ["span.context.mismatch"]},
        "no occurrence stands after that text",
    ),
    "suffix-wrong": (
        {"source": DOSE, "quote": "5 mg", "suffix": " a day"},
        {"match": "absent", "codes": ["span.context.mismatch"]},
        "no occurrence stands before that text",
    ),
    "inside-character": (
        {"source": OFFICE, "quote": "ice filed", "normalization": "compat/1"},
        {"match": "absent", "codes": ["quote.inside_character"], "widened": [5, 13]},
        "it would begin inside the ligature U+FB03",
    ),
    "nfkc-trap": (
        {"source": "area 10\u00b2 m", "quote": "area 102 m", "normalization": "compat/1"},
        {"match": "absent"},
        "superscripts never fold: 10\u00b2 is not 102",
    ),
    "opposite": (
        {"source": CURLY, "quote": '"do wait"'},
        {"match": "absent"},
        "the opposite is under no normalization the same",
    ),
    "elided": (
        {"source": PUMP, "quote": "The pump must ... run dry for more"},
        {
            "match": "elided",
            "start": 0,
            "end": 34,
            "pieces": [{"start": 0, "end": 13, "gap": " not "}, {"start": 18, "end": 34, "gap": None}],
        },
        "an elision that swallows a negation is no exact citation, and shows what it skipped",
    ),
    "elided-order": (
        {"source": PUMP, "quote": "the alarm ... The pump must"},
        {"match": "absent"},
        "pieces out of order",
    ),
    "stitched": (
        {"source": PUMP, "quote": "The pump must not run dry Below 5 bar the alarm"},
        {"match": "stitched", "start": None, "normalization": None},
        "two pieces without a mark of the omission",
    ),
    "stitched-short": (
        {"source": VALVE, "quote": "The valve shut. The crew left."},
        {"match": "absent"},
        "a piece of fewer than 12 code points stitches nothing",
    ),
    "near": (
        {"source": VALVE, "quote": "The tank help.", "near": True},
        {"match": "near", "distance": 1},
        "one edit away: near, only when asked for",
    ),
    "near-not-asked": (
        {"source": VALVE, "quote": "The tank help."},
        {"match": "absent"},
        "the same, not asked for",
    ),
    "norm-too-weak": (
        {"source": CURLY, "quote": '"don\'t wait"', "normalization": "text/1"},
        {"match": "absent"},
        "the normalization that would be needed was not allowed",
    ),
}


_FAILURES = (
    "quote.empty",
    "quote.too_short",
    "quote.inside_character",
    "span.exact.mismatch",
    "span.context.mismatch",
)


def cases() -> Iterator[Vector]:
    """All of them."""
    for table, suffix in ((EXACT, ""), (NOT_EXACT, "_fail")):
        for name, (question, verdict, why) in table.items():
            codes = tuple(code for code in verdict.get("codes", ()) if code in _FAILURES)
            yield jsonl(f"match-{name}{suffix}", why, "match", [question], [verdict], codes)
