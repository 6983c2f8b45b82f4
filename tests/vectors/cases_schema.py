"""Vectors of ``verify``: types, versions, and every rule of the shape, re-sealed."""

from __future__ import annotations

from collections.abc import Iterator

from kit import IDS, World, span
from recipes import Vector
from verify_recipe import Change, both, drop, put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _schema()
    yield from _shape()


def _schema() -> Iterator[Vector]:
    for name, schema_id, code, why in (
        ("major", "prompt-capsule/2", "schema.major.unsupported", "a later major"),
        ("major-0", "prompt-capsule/0", "schema.major.unsupported", "an earlier major"),
        ("major-none", "prompt-capsule", "schema.major.unsupported", "no major at all"),
        ("type", "alias/1", "object.type.mismatch", "a type that is no capsule"),
        ("type-newline", "prompt-capsule/1\n", "schema.major.unsupported", "a newline after the schema id"),
        ("other-type", "evidence-capsule/1", "schema.field.missing", "a prompt that calls itself evidence"),
    ):
        codes = (code,) if name != "other-type" else ("schema.field.missing", "schema.field.unknown")
        yield verify(f"verify-schema-{name}_fail", why, put("prompt/schema_id", schema_id), codes)
    yield verify(
        "verify-schema-missing_fail", "no schema_id", drop("prompt/schema_id"), ("schema.field.missing",)
    )
    yield verify(
        "verify-schema-null_fail",
        "a schema_id that is no string",
        put("prompt/schema_id", None),
        ("schema.field.type",),
    )
    for name, text, why in (
        ("later", "capsules>=2", "a later runtime is asked for"),
        ("upper", "capsules>=1,<1.0.0", "the upper bound excludes this runtime"),
        ("package", "vllm>=0.1", "another package cannot be shown to hold"),
        ("form", "capsules ~> 1", "another form cannot be shown to hold"),
        ("empty", "", "nothing cannot be shown to hold"),
    ):
        yield verify(
            f"verify-runtime-{name}_fail",
            why,
            put("prompt/constraints/2/text", text),
            ("runtime.unsupported",),
        )


def _shape() -> Iterator[Vector]:
    rows: tuple[tuple[str, Change, tuple[str, ...], str], ...] = (
        ("missing", drop("prompt/task"), ("schema.field.missing",), "a field of the prompt is missing"),
        ("missing-deep", drop("public/exact_spans/0/suffix"), ("schema.field.missing",), "a field of a span"),
        ("unknown", put("prompt/note", "x"), ("schema.field.unknown",), "an unknown field"),
        (
            "unknown-deep",
            put("public/visibility/hint", "x"),
            ("schema.field.unknown",),
            "an unknown field inside",
        ),
        ("type-bool", put("prompt/token_budget/window", True), ("schema.field.type",), "true is no integer"),
        ("type-string", put("public/confidence/bp", "9000"), ("schema.field.type",), "a string for a number"),
        ("null", put("prompt/task", None), ("schema.field.type",), "null where it is not allowed"),
        ("negative", put("prompt/candidates/items", -1), ("schema.limit",), "a negative count"),
        (
            "basis-points",
            put("public/confidence/bp", 10_001),
            ("schema.limit",),
            "more than 10,000 basis points",
        ),
        ("word", put("public/visibility/level", "secret"), ("schema.word",), "a level that is none"),
        (
            "reason",
            put("prompt/omissions/0/reason", "budget.other"),
            ("schema.word",),
            "a reason that is none",
        ),
        (
            "stage",
            put("prompt/omissions/0/stage", "retrieval"),
            ("schema.word",),
            "a stage that is not that of its reason",
        ),
        (
            "time",
            put("prompt/authority/expires_at", "2025-01-01T00:00:00+00:00"),
            ("time.malformed",),
            "another time form",
        ),
        (
            "time-date",
            put("public/freshness/as_of", "2024-02-30T00:00:00Z"),
            ("time.malformed",),
            "a day that is none",
        ),
        ("capsule-id", put("prompt/capsule_id", "../../etc/passwd"), ("id.malformed",), "a path for a name"),
        (
            "capsule-id-newline",
            put("prompt/capsule_id", "demo:vectors:q-1:prompt\n"),
            ("id.malformed",),
            "a newline",
        ),
        (
            "source-id",
            put("public/source_refs/0/source", "b3:" + "A" * 64),
            ("id.malformed",),
            "an id in capitals",
        ),
        (
            "span-id",
            put("public/exact_spans/0/span_id", IDS["valve"] + ":1-24"),
            ("id.malformed",),
            "a span_id that names another place",
        ),
        (
            "order",
            lambda world: world.public["exact_spans"].reverse(),
            ("schema.order",),
            "spans out of order",
        ),
        (
            "twice",
            lambda world: world.public["exact_spans"].append(dict(world.public["exact_spans"][1])),
            ("schema.order",),
            "the same span twice",
        ),
        (
            "operations",
            put("prompt/authority/operations", ["score", "generate"]),
            ("schema.order",),
            "not sorted",
        ),
        (
            "duplicate",
            lambda world: world.prompt["constraints"].append(world.prompt["constraints"][0]),
            ("schema.duplicate",),
            "a constraint id twice",
        ),
        (
            "claim-dangling",
            put("public/claim_candidates/0/span_ids", [IDS["valve"] + ":0-3"]),
            ("schema.reference",),
            "a claim about a span that is not there",
        ),
        (
            "contradiction-dangling",
            put(
                "public/contradictions",
                [{"between": ["valve-1", "notes-1"], "kind": "date", "resolution": None}],
            ),
            ("schema.reference",),
            "a contradiction with a claim that is not there",
        ),
        (
            "source-unlisted",
            put("public/source_refs", []),
            ("source.missing",),
            "spans of a source that is not listed",
        ),
        (
            "text-digest",
            put("public/exact_spans/0/text_digest", content_id(b"x")),
            ("span.exact.mismatch",),
            "a text_digest of another text",
        ),
        ("span-empty", put("public/exact_spans/0/end", 0), ("schema.limit",), "an end that is no end"),
        (
            "span-length",
            put("public/exact_spans/0/exact", "The valve shut"),
            ("span.range", "span.exact.mismatch"),
            "a quote shorter than its range",
        ),
        (
            "prefix-length",
            put("public/exact_spans/1/prefix", "x"),
            ("span.context.mismatch",),
            "a prefix too short",
        ),
        (
            "noncharacter",
            put("prompt/active_object/text", "\ue000"),
            (),
            "a private-use character is allowed",
        ),
        (
            "many",
            both(drop("prompt/task"), put("prompt/candidates/items", -1), put("prompt/project", 7)),
            ("schema.field.missing", "schema.field.type", "schema.limit"),
            "every failure of the stage is reported",
        ),
        (
            "rewrite-longer",
            put(
                "prompt/rewrites",
                [
                    {
                        "items": [span("valve", "The valve shut late.")["span_id"]],
                        "text": "late",
                        "compressor": "x",
                        "dropped": [],
                        "tokens_before": 3,
                        "tokens_sent": 3,
                    }
                ],
            ),
            ("schema.limit",),
            "a rewrite that saves nothing",
        ),
        (
            "rewrite-range",
            put(
                "prompt/rewrites",
                [
                    {
                        "items": [span("valve", "The valve shut late.")["span_id"]],
                        "text": "late",
                        "compressor": "x",
                        "tokens_before": 3,
                        "tokens_sent": 2,
                        "dropped": [
                            {"item": span("valve", "The valve shut late.")["span_id"], "start": 0, "end": 4}
                        ],
                    }
                ],
            ),
            ("span.range",),
            "a dropped range outside of its item",
        ),
        (
            "denied-named",
            put("prompt/omissions/2/item", "valve-secret"),
            ("schema.field.type",),
            "a denied item must not be named",
        ),
    )
    for name, change, codes, why in rows:
        of = "public" if _touches_public(change) else "prompt"
        suffix = "_fail" if codes else ""
        yield verify(f"verify-shape-{name}{suffix}", why, change, codes, of=of)


def _touches_public(change: Change) -> bool:
    world, same = World(), World()
    change(world)
    return world.public != same.public
