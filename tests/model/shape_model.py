"""The shapes of both records once more, as one table and a slow, obvious checker.

Companion of ``slow_model`` for the stage ``schema``: the set of failure codes of a value.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from slow_model import LEVELS, Codes, Json, b3, seconds

ID, SPAN = r"b3:[0-9a-f]{64}", r"b3:[0-9a-f]{64}:(0|[1-9][0-9]*)-[1-9][0-9]*"
PART = r"[a-z0-9][a-z0-9._-]{0,63}"
PATTERNS = {
    "id": (ID, "id.malformed"),
    "span": (SPAN, "id.malformed"),
    "capsule": (":".join([PART] * 4), "id.malformed"),
    "tokenizer": (r"(hf|tiktoken):[!-~]+", "id.malformed"),
    "word": (r"[a-z][a-z0-9_]*", "schema.word"),
    "time": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", "time.malformed"),
    "level": ("|".join(LEVELS), "schema.word"),
    "norm": ("raw/1|text/1|quote/1|compat/1", "schema.word"),
}
INTS = {"count": (0, 2**53 - 1), "positive": (1, 2**53 - 1), "bp": (0, 10_000), "size": (0, 64 << 20)}
TEXTS = {"text": (0, 10**9), "name": (1, 10**9), "context": (0, 32)}
REASONS = [
    "authority.expired",
    "budget.limit",
    "compression.dropped",
    "contradiction.superseded",
    "duplicate.same_text",
    "freshness.expired",
    "operator.excluded",
    "quote_policy.not_quotable",
    "retrieval.low_rank",
    "retrieval.outside_pool",
    "selection.not_needed",
    "source.unresolvable",
    "visibility.denied",
    "visibility.provider",
]
KINDS = ["instruction", "schema", "style", "verification", "example", "blocking", "runtime"]

# A type is a word of the tables above, "a|b|c" (one of these words), ("?", type) for nullable,
# ("*", type, key) for an array (key: "<" + how it is sorted, "=" + what is distinct, "" neither),
# ("2", type) for a pair, or a dict of fields.
SOURCE = {
    "source": "id",
    "bytes": "size",
    "media_type": "name",
    "origin": {"dataset": "name", "row": "name"},
    "license": "name",
    "title": ("?", "text"),
    "retrieved_as_of": ("?", "time"),
}
SPAN_ROW = {
    "span_id": "span",
    "source": "id",
    "norm_id": "norm",
    "start": "count",
    "end": "positive",
    "exact": "name",
    "text_digest": "id",
    "prefix": "context",
    "suffix": "context",
    "occurrence": "positive",
    "occurrences": "positive",
}
CLAIM = {
    "claim_id": "name",
    "text": "text",
    "span_ids": ("*", "span", "="),
    "status": "supported|unsupported|contradicted",
    "method": "gold|rule|model",
    "confidence_bp": "bp",
}
OMISSION = {
    "item": ("?", "name"),
    "stage": "|".join(sorted({r.split(".")[0] for r in REASONS})),
    "reason": "|".join(REASONS),
    "tokens": ("?", "count"),
    "required": "bool",
    "count": "positive",
}
REWRITE = {
    "items": ("*", "span", "="),
    "text": "text",
    "compressor": "name",
    "tokens_before": "count",
    "dropped": ("*", {"item": "span", "start": "count", "end": "count"}, ""),
    "tokens_sent": "count",
}
SHAPES: dict[str, dict[str, Any]] = {
    "evidence-capsule/1": {
        "schema_id": "evidence-capsule/1",
        "capsule_id": "capsule",
        "source_refs": ("*", SOURCE, "<source"),
        "exact_spans": ("*", SPAN_ROW, "<source start end"),
        "claim_candidates": ("*", CLAIM, "=claim_id"),
        "contradictions": (
            "*",
            {"between": ("2", "name"), "kind": "numeric|negation|date|labelled", "resolution": ("?", "text")},
            "=",
        ),
        "freshness": {"as_of": "time", "expires_at": ("?", "time"), "policy": "hard|soft"},
        "confidence": {"bp": "bp", "method": "name"},
        "visibility": {"level": "level", "project": "name"},
        "quote_policy": {
            "mode": "verbatim|elided",
            "norm_id": "norm",
            "min_chars": "count",
            "max_chars": "count",
            "unique": "bool",
        },
        "missing_evidence": ("*", {"query": "text", "stage": "name", "why": "text"}, "="),
    },
    "prompt-capsule/1": {
        "schema_id": "prompt-capsule/1",
        "capsule_id": "capsule",
        "task": "name",
        "project": "name",
        "active_object": {"kind": "word", "ref": "name", "text": "text"},
        "surface_snippet": ("?", {"text": "text", "derived_from": ("*", "span", "="), "level": "level"}),
        "constraints": ("*", {"id": "name", "kind": "|".join(KINDS), "text": "text"}, "=id"),
        "authority": {
            "principal": "name",
            "project": "name",
            "operations": ("*", "name", "<"),
            "providers": ("*", "name", "<"),
            "max_level": "level",
            "not_before": "time",
            "expires_at": "time",
        },
        "evidence_capsule_refs": ("*", {"id": "id", "required": "bool"}, "=id"),
        "output_contract": {
            "name": "quote|pointer|quote_constrained|pointer_constrained",
            "max_quotes": "count",
            "min_chars": "count",
        },
        "token_budget": {
            "tokenizer_id": "tokenizer",
            "tokenizer_digest": "id",
            "window": "positive",
            "reserved_output": "count",
            "evidence_limit": "count",
            "protected": ("*", "word", "<"),
        },
        "candidates": {"items": "count", "tokens": "count"},
        "omissions": ("*", OMISSION, "<stage reason item"),
        "rewrites": ("*", REWRITE, ""),
    },
}


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
    """Laws between fields that are themselves in order (missing ones raise KeyError: no law then)."""
    table: dict[str, list[Any]] = {
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
        for rule in rules if marker in fields else []:
            try:
                found += rule(r)
            except KeyError:
                continue
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


SPAN_LAWS = [
    lambda r: ["span.range"] * (r["start"] >= r["end"]),
    lambda r: ["span.range"] * (r["start"] < r["end"] and len(r["exact"]) != r["end"] - r["start"]),
    lambda r: ["id.malformed"] * (r["span_id"] != f"{r['source']}:{r['start']}-{r['end']}"),
    lambda r: ["span.exact.mismatch"] * (r["text_digest"] != b3(r["exact"].encode())),
    lambda r: ["span.context.mismatch"] * (len(r["prefix"]) != min(32, r["start"])),
    lambda r: ["schema.limit"] * (r["occurrence"] > r["occurrences"]),
]
QUOTE_LAWS = [lambda r: ["schema.limit"] * (r["min_chars"] > r["max_chars"])]
PAIR_LAWS = [lambda r: ["schema.duplicate"] * (r["between"][0] == r["between"][1])]
DENIED, POOL = "visibility.denied", "retrieval.outside_pool"
OMISSION_LAWS = [
    lambda r: ["schema.word"] * (r["stage"] != r["reason"].split(".")[0]),
    lambda r: ["schema.field.type"] * ((r["item"] is None) != (r["reason"] == DENIED)),
    lambda r: ["id.malformed"] * bool(r["reason"] == POOL and r["item"] and not re.fullmatch(ID, r["item"])),
    lambda r: ["schema.field.type"] * ((r["tokens"] is None) != (r["reason"] == POOL)),
    lambda r: ["schema.limit"] * (r["count"] != 1 and r["reason"] not in (DENIED, POOL)),
]
REWRITE_LAWS = [
    lambda r: ["schema.limit"] * (not r["items"]),
    dropped_in_order,
    lambda r: ["schema.limit"] * (r["tokens_sent"] >= r["tokens_before"]),
]
EVIDENCE_LAWS = [
    lambda r: [
        "source.missing"
        for s in r["exact_spans"]
        if s["source"] not in [x["source"] for x in r["source_refs"]]
    ],
    lambda r: [
        "schema.reference"
        for c in r["claim_candidates"]
        for s in c["span_ids"]
        if s not in [x["span_id"] for x in r["exact_spans"]]
    ],
    lambda r: [
        "schema.reference" for c in r["contradictions"] for name in c["between"] if name not in names_of(r)
    ],
]
PROMPT_LAWS = [
    lambda r: [
        "schema.word" for name in r["token_budget"]["protected"] if name not in SHAPES["prompt-capsule/1"]
    ],
    lambda r: ["schema.duplicate"] * (sum(o["reason"] == POOL for o in r["omissions"]) > 1),
    lambda r: (
        ["schema.duplicate"]
        * (len({i for w in r["rewrites"] for i in w["items"]}) < sum(len(w["items"]) for w in r["rewrites"]))
    ),
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
