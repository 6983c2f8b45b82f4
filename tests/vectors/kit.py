"""A small valid world to make vectors from: sources, two evidence capsules, a prompt, a policy.

Everything is a plain JSON value here, so that a case may break any rule; ``World.seal`` computes the
ids anew after each change ("re-sealed tampering": what is checked then is not only the digest).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from capsules.canonical import canonical_bytes
from capsules.codec import to_value
from capsules.content_id import content_id
from capsules.span import make_span

NOW = "2024-06-01T12:00:00Z"
VALVE = "The valve shut at 5 bar. The tank held 40 litres. The valve shut late. The crew left at noon."
NOTES = "\ufeffZwölf Ventile, 12 € each; the lamp 🧪 was on.\r\nCafé, cafe\u0301: 40 litres were lost."
TEXTS = {"valve": VALVE, "notes": NOTES}
SOURCES = {name: text.encode() for name, text in TEXTS.items()}
IDS = {name: content_id(data) for name, data in SOURCES.items()}


def span(name: str, quote: str, nth: int = 1) -> dict[str, Any]:
    """The value of an exact span: the nth occurrence of a quote in a source."""
    text, start = TEXTS[name], -1
    for _ in range(nth):
        start = text.index(quote, start + 1)
    return to_value(make_span(IDS[name], text, start, start + len(quote)))


def source_ref(name: str) -> dict[str, Any]:
    """The value of an entry of ``source_refs``."""
    return {
        "source": IDS[name],
        "bytes": len(SOURCES[name]),
        "media_type": "text/plain",
        "origin": {"dataset": "vectors", "row": name},
        "license": "CC0-1.0",
        "title": None,
        "retrieved_as_of": None,
    }


def evidence(level: str, name: str, spans: list[dict[str, Any]]) -> dict[str, Any]:
    """The value of an evidence capsule over one source."""
    spans = sorted(spans, key=lambda item: item["start"])
    return {
        "schema_id": "evidence-capsule/1",
        "capsule_id": f"demo:vectors:q-1:evidence-{level}",
        "source_refs": [source_ref(name)],
        "exact_spans": spans,
        "claim_candidates": [
            {
                "claim_id": f"{name}-1",
                "text": spans[0]["exact"],
                "span_ids": [spans[0]["span_id"]],
                "status": "supported",
                "method": "rule",
                "confidence_bp": 10_000,
            }
        ],
        "contradictions": [],
        "freshness": {
            "as_of": "2024-05-01T00:00:00Z",
            "expires_at": "2024-07-01T00:00:00Z",
            "policy": "hard",
        },
        "confidence": {"bp": 9_000, "method": "retriever-rank"},
        "visibility": {"level": level, "project": "demo"},
        "quote_policy": {
            "mode": "verbatim",
            "norm_id": "quote/1",
            "min_chars": 1,
            "max_chars": 400,
            "unique": False,
        },
        "missing_evidence": [{"query": "who closed the valve?", "stage": "retrieval", "why": "no hit"}],
    }


def prompt() -> dict[str, Any]:
    """The value of the prompt capsule; ``World.seal`` fills the refs."""
    tank = span("valve", "The tank held 40 litres.")
    return {
        "schema_id": "prompt-capsule/1",
        "capsule_id": "demo:vectors:q-1:prompt",
        "task": "vectors",
        "project": "demo",
        "active_object": {"kind": "question", "ref": "q-1", "text": "When did the valve shut?"},
        "surface_snippet": {
            "text": "On a valve.",
            "derived_from": [span("valve", "The valve shut at 5 bar.")["span_id"]],
            "level": "public",
        },
        "constraints": [
            {"id": "task", "kind": "instruction", "text": "Answer from the sources."},
            {"id": "form", "kind": "verification", "text": "Quote word for word."},
            {"id": "needs", "kind": "runtime", "text": "capsules>=1,<2"},
        ],
        "authority": {
            "principal": "tester",
            "project": "demo",
            "operations": ["generate"],
            "providers": ["local"],
            "max_level": "internal",
            "not_before": "2024-01-01T00:00:00Z",
            "expires_at": "2025-01-01T00:00:00Z",
        },
        "evidence_capsule_refs": [],
        "output_contract": {"name": "quote", "max_quotes": 2, "min_chars": 4},
        "token_budget": {
            "tokenizer_id": "hf:example",
            "tokenizer_digest": content_id(b"a tokenizer"),
            "window": 1_024,
            "reserved_output": 64,
            "evidence_limit": 512,
            "protected": ["authority", "constraints", "output_contract"],
        },
        "candidates": {"items": 9, "tokens": 120},
        "omissions": [
            omission(tank["span_id"], "budget.limit", 7),
            omission(content_id(b'["row-8","row-9"]'), "retrieval.outside_pool", None, count=2),
            omission(None, "visibility.denied", 21, count=2),
        ],
        "rewrites": [],
    }


def omission(
    item: str | None, reason: str, tokens: int | None, *, count: int = 1, required: bool = False
) -> dict[str, Any]:
    """The value of an omission."""
    stage = reason.partition(".")[0]
    return {
        "item": item,
        "stage": stage,
        "reason": reason,
        "tokens": tokens,
        "required": required,
        "count": count,
    }


def policy() -> dict[str, Any]:
    """A policy that allows the prompt to be sent to ``local`` and to nobody else."""
    return {
        "schema_id": "policy/1",
        "projects": ["demo", "other"],
        "providers": [
            provider("local", "internal", fallbacks=["cloud"]),
            provider("cloud", "public", endpoint="https://llm.example/v1"),
        ],
        "revoked": [],
        "supported_schemas": ["prompt-capsule/1", "evidence-capsule/1"],
        "runtime": "1.0.0",
    }


def provider(
    name: str, level: str, *, endpoint: str | None = None, fallbacks: list[str] | None = None
) -> Any:
    """The value of a provider of the policy."""
    return {
        "id": name,
        "endpoint": endpoint,
        "max_level": level,
        "projects": ["demo"],
        "operations": ["generate"],
        "fallbacks": fallbacks or [],
    }


def stored(value: dict[str, Any]) -> bytes:
    """The stored form of a value."""
    return canonical_bytes(value)


def wire(value: dict[str, Any]) -> bytes:
    """The wire form of a value: with its digest."""
    return canonical_bytes(value | {"digest": content_id(canonical_bytes(value))})


@dataclass
class World:
    """What one verify case is made of; change the values, then ``seal``."""

    public: dict[str, Any] = field(
        default_factory=lambda: evidence(
            "public",
            "valve",
            [span("valve", "The valve shut at 5 bar."), span("valve", "The valve shut late.")],
        )
    )
    internal: dict[str, Any] = field(
        default_factory=lambda: evidence("internal", "notes", [span("notes", "the lamp 🧪 was on.")])
    )
    prompt: dict[str, Any] = field(default_factory=prompt)
    objects: dict[str, bytes] = field(default_factory=dict)

    def seal(self) -> World:
        """Put sources and evidence into ``objects`` and point the refs at them."""
        self.objects.update({IDS[name]: data for name, data in SOURCES.items()})
        refs = []
        for value in (self.public, self.internal):
            data = stored(value)
            self.objects[content_id(data)] = data
            refs.append({"id": content_id(data), "required": True})
        self.prompt["evidence_capsule_refs"] = refs
        return self

    def copy(self) -> World:
        """An independent copy."""
        return copy.deepcopy(self)
