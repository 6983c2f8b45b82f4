"""The shapes of both records once more: a slow, obvious checker of the tables of ``shape_tables``.

Companion of ``slow_model`` for the stage ``schema``: the set of failure codes of a value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from shape_tables import ID, INTS, PATTERNS, SHAPES, TEXTS
from slow_model import Codes, seconds
from slow_reader import Json, b3


def check(value: Json, kind: Any, codes: list[str]) -> bool:
    """Whether a value is of a type; what is wrong goes to ``codes``."""
    before = len(codes)
    if isinstance(kind, dict):
        check_record(value, kind, codes)
    elif isinstance(kind, tuple) and kind[0] == "?":
        return value is None or check(value, kind[1], codes)
    elif isinstance(kind, tuple):
        return check_array(value, kind, codes)
    elif kind == "bool":
        codes += ["schema.field.type"] * (not isinstance(value, bool))
    elif kind in INTS:
        low, high = INTS[kind]
        if type(value) is not int:
            codes.append("schema.field.type")
        elif not low <= value <= high:
            codes.append("schema.limit")
    elif not isinstance(value, str):
        codes.append("schema.field.type")
    elif kind in TEXTS:
        low, high = TEXTS[kind]
        codes += ["schema.limit"] * (not low <= len(value) <= high)
    elif kind in PATTERNS:
        pattern, code = PATTERNS[kind]
        good = re.fullmatch(pattern, value) and (kind != "time" or seconds(value) is not None)
        codes += [code] * (not good)
    else:
        codes += ["schema.word"] * (value not in kind.split("|"))
    return len(codes) == before


def check_array(value: Json, kind: Any, codes: list[str]) -> bool:
    if not isinstance(value, list):
        codes.append("schema.field.type")
        return False
    if len(value) > 10_000 or (kind[0] == "2" and len(value) != 2):
        codes.append("schema.limit")
        return False
    good = [item for item in value if check(item, kind[1], codes)]
    if kind[0] == "*" and kind[2]:
        rule, names = kind[2][0], kind[2][1:].split()
        keys = [[_sortable(item[name]) for name in names] if names else [_sortable(item)] for item in good]
        if rule == "<" and any(not a < b for a, b in itertools.pairwise(keys)):
            codes.append("schema.order")
        if rule == "=" and any(keys[i] in keys[:i] for i in range(len(keys))):
            codes.append("schema.duplicate")
    return len(good) == len(value)


def _sortable(value: Json) -> Any:
    return (value is not None, value or "") if value is None or isinstance(value, str) else value


def check_record(value: Json, fields: dict[str, Any], codes: list[str]) -> None:
    if not isinstance(value, dict):
        codes.append("schema.field.type")
        return
    good = {}
    for name, kind in fields.items():
        if name not in value:
            codes.append("schema.field.missing")
        elif check(value[name], kind, codes):
            good[name] = value[name]
    codes += ["schema.field.unknown"] * (not value.keys() <= fields.keys())
    codes += laws(good, fields)


def laws(r: dict[str, Json], fields: dict[str, Any]) -> list[str]:
    """Laws between fields; one is asked only if the fields that it names are themselves in order."""
    table: dict[str, list[Law]] = {
        "span_id": SPAN_LAWS,
        "min_chars": QUOTE_LAWS,
        "between": PAIR_LAWS,
        "reason": OMISSION_LAWS,
        "compressor": REWRITE_LAWS,
        "source_refs": EVIDENCE_LAWS,
        "rewrites": PROMPT_LAWS,
    }
    found = []
    for marker, rules in table.items():
        for names, rule in rules if marker in fields else []:
            if r.keys() >= set(names.split()):
                found += rule(r)
    if fields.keys() == {"item", "start", "end"} and fields.keys() <= r.keys():
        first, last = span_ends(r["item"])
        found += ["span.range"] * (not first <= r["start"] < r["end"] <= last)
    return found


def span_ends(span_id: str) -> tuple[int, int]:
    first, last = span_id.split(":")[2].split("-")
    return int(first), int(last)


def dropped_in_order(r: dict[str, Json]) -> list[str]:
    found, after = [], (0, 0)
    for gone in r["dropped"]:
        if gone["item"] not in r["items"]:
            found.append("schema.reference")
            continue
        place = r["items"].index(gone["item"])
        found += ["schema.order"] * ((place, gone["start"]) < after)
        after = (place, gone["end"])
    return found


def names_of(r: dict[str, Json]) -> set[str]:
    return {s["span_id"] for s in r["exact_spans"]} | {c["claim_id"] for c in r["claim_candidates"]}


def spans_without_source(r: dict[str, Json]) -> list[str]:
    sources = [ref["source"] for ref in r["source_refs"]]
    return ["source.missing" for span in r["exact_spans"] if span["source"] not in sources]


def claims_without_span(r: dict[str, Json]) -> list[str]:
    spans = [span["span_id"] for span in r["exact_spans"]]
    named = [span for claim in r["claim_candidates"] for span in claim["span_ids"]]
    return ["schema.reference" for span in named if span not in spans]


def pairs_without_member(r: dict[str, Json]) -> list[str]:
    named = [name for pair in r["contradictions"] for name in pair["between"]]
    return ["schema.reference" for name in named if name not in names_of(r)]


def unknown_protected(r: dict[str, Json]) -> list[str]:
    known = SHAPES["prompt-capsule/1"]
    return ["schema.word" for name in r["token_budget"]["protected"] if name not in known]


def rewritten_twice(r: dict[str, Json]) -> list[str]:
    items = [item for rewrite in r["rewrites"] for item in rewrite["items"]]
    return ["schema.duplicate"] * (len(set(items)) < len(items))


# A law: the fields that it needs, and what is wrong with them.
Law = tuple[str, Callable[[dict[str, Json]], list[str]]]
SPAN_LAWS: list[Law] = [
    ("start end", lambda r: ["span.range"] * (r["start"] >= r["end"])),
    (
        "start end exact",
        lambda r: ["span.range"] * (r["start"] < r["end"] and len(r["exact"]) != r["end"] - r["start"]),
    ),
    (
        "span_id source start end",
        lambda r: ["id.malformed"] * (r["span_id"] != f"{r['source']}:{r['start']}-{r['end']}"),
    ),
    ("text_digest exact", lambda r: ["span.exact.mismatch"] * (r["text_digest"] != b3(r["exact"].encode()))),
    ("prefix start", lambda r: ["span.context.mismatch"] * (len(r["prefix"]) != min(32, r["start"]))),
    ("occurrence occurrences", lambda r: ["schema.limit"] * (r["occurrence"] > r["occurrences"])),
]
QUOTE_LAWS: list[Law] = [
    ("min_chars max_chars", lambda r: ["schema.limit"] * (r["min_chars"] > r["max_chars"])),
]
PAIR_LAWS: list[Law] = [
    ("between", lambda r: ["schema.duplicate"] * (r["between"][0] == r["between"][1])),
]
DENIED, POOL = "visibility.denied", "retrieval.outside_pool"
OMISSION_LAWS: list[Law] = [
    ("stage reason", lambda r: ["schema.word"] * (r["stage"] != r["reason"].split(".")[0])),
    ("item reason", lambda r: ["schema.field.type"] * ((r["item"] is None) != (r["reason"] == DENIED))),
    (
        "item reason",
        lambda r: (
            ["id.malformed"] * bool(r["reason"] == POOL and r["item"] and not re.fullmatch(ID, r["item"]))
        ),
    ),
    ("tokens reason", lambda r: ["schema.field.type"] * ((r["tokens"] is None) != (r["reason"] == POOL))),
    ("count reason", lambda r: ["schema.limit"] * (r["count"] != 1 and r["reason"] not in (DENIED, POOL))),
]
REWRITE_LAWS: list[Law] = [
    ("items", lambda r: ["schema.limit"] * (not r["items"])),
    ("dropped items", dropped_in_order),
    ("tokens_sent tokens_before", lambda r: ["schema.limit"] * (r["tokens_sent"] >= r["tokens_before"])),
]
EVIDENCE_LAWS: list[Law] = [
    ("exact_spans source_refs", spans_without_source),
    ("claim_candidates exact_spans", claims_without_span),
    ("contradictions exact_spans claim_candidates", pairs_without_member),
]
PROMPT_LAWS: list[Law] = [
    ("token_budget", unknown_protected),
    ("omissions", lambda r: ["schema.duplicate"] * (sum(o["reason"] == POOL for o in r["omissions"]) > 1)),
    ("rewrites", rewritten_twice),
]


def shape_codes(value: Json) -> tuple[Codes, str]:
    """Failure codes of the stage ``schema``, and the name of the record's type."""
    if not isinstance(value, dict):
        return {"schema.field.type"}, ""
    name = value.get("schema_id")
    if not isinstance(name, str):
        return {"schema.field.type" if "schema_id" in value else "schema.field.missing"}, ""
    if name not in SHAPES:
        same = name.split("/")[0] in ("evidence-capsule", "prompt-capsule")
        return {"schema.major.unsupported" if same else "object.type.mismatch"}, ""
    codes: list[str] = []
    check(value, SHAPES[name], codes)
    return set(codes), name
