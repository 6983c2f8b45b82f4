"""The shapes of both records once more, as tables that a person can hold against the format."""

from __future__ import annotations

from typing import Any

from slow_model import LEVELS

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
