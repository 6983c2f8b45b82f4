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
    yield from _runtime()
    yield from _fields()
    yield from _values()
    yield from _ids()
    yield from _arrays()
    yield from _references()
    yield from _spans()
    yield _private_use()
    yield _many()
    yield from _accounts()


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


def _runtime() -> Iterator[Vector]:
    for name, text, why in (
        ("later", "capsules>=2", "a later runtime is asked for"),
        ("upper", "capsules>=1,<1.0.0", "the upper bound excludes this runtime"),
        ("package", "vllm>=0.1", "another package cannot be shown to hold"),
        ("form", "capsules ~> 1", "another form cannot be shown to hold"),
        ("empty", "", "nothing cannot be shown to hold"),
    ):
        change = put("prompt/constraints/2/text", text)
        yield verify(f"verify-runtime-{name}_fail", why, change, ("runtime.unsupported",))


def _shape(name: str, why: str, change: Change, *codes: str) -> Vector:
    """A capsule of another shape: the evidence alone if it is there that the change is."""
    of = "public" if _touches_public(change) else "prompt"
    suffix = "_fail" if codes else ""
    return verify(f"verify-shape-{name}{suffix}", why, change, codes, of=of)


def _fields() -> Iterator[Vector]:
    """Fields that are missing, unknown or of another type."""
    missing, unknown, other = "schema.field.missing", "schema.field.unknown", "schema.field.type"
    for name, change, code, why in (
        ("missing", drop("prompt/task"), missing, "a field of the prompt is missing"),
        ("missing-deep", drop("public/exact_spans/0/suffix"), missing, "a field of a span"),
        ("unknown", put("prompt/note", "x"), unknown, "an unknown field"),
        ("unknown-deep", put("public/visibility/hint", "x"), unknown, "an unknown field inside"),
        ("type-bool", put("prompt/token_budget/window", True), other, "true is no integer"),
        ("type-string", put("public/confidence/bp", "9000"), other, "a string for a number"),
        ("null", put("prompt/task", None), other, "null where it is not allowed"),
    ):
        yield _shape(name, why, change, code)


def _values() -> Iterator[Vector]:
    """Numbers out of their limits, words that are none, and times."""
    limit, word, time = "schema.limit", "schema.word", "time.malformed"
    offset = put("prompt/authority/expires_at", "2025-01-01T00:00:00+00:00")
    for name, change, code, why in (
        ("negative", put("prompt/candidates/items", -1), limit, "a negative count"),
        ("basis-points", put("public/confidence/bp", 10_001), limit, "more than 10,000 basis points"),
        ("word", put("public/visibility/level", "secret"), word, "a level that is none"),
        ("reason", put("prompt/omissions/0/reason", "budget.other"), word, "a reason that is none"),
        (
            "stage",
            put("prompt/omissions/0/stage", "retrieval"),
            word,
            "a stage that is not that of its reason",
        ),
        ("time", offset, time, "another time form"),
        ("time-date", put("public/freshness/as_of", "2024-02-30T00:00:00Z"), time, "a day that is none"),
    ):
        yield _shape(name, why, change, code)


def _ids() -> Iterator[Vector]:
    newline = "demo:vectors:q-1:prompt\n"
    elsewhere = IDS["valve"] + ":1-24"
    for name, path, value, why in (
        ("capsule-id", "prompt/capsule_id", "../../etc/passwd", "a path for a name"),
        ("capsule-id-newline", "prompt/capsule_id", newline, "a newline"),
        ("source-id", "public/source_refs/0/source", "b3:" + "A" * 64, "an id in capitals"),
        ("span-id", "public/exact_spans/0/span_id", elsewhere, "a span_id that names another place"),
    ):
        yield _shape(name, why, put(path, value), "id.malformed")


def _arrays() -> Iterator[Vector]:
    """Items out of order, or there twice."""

    def span_twice(world: World) -> None:
        world.public["exact_spans"].append(dict(world.public["exact_spans"][1]))

    def constraint_twice(world: World) -> None:
        world.prompt["constraints"].append(world.prompt["constraints"][0])

    def backwards(world: World) -> None:
        world.public["exact_spans"].reverse()

    yield _shape("order", "spans out of order", backwards, "schema.order")
    yield _shape("twice", "the same span twice", span_twice, "schema.order")
    unsorted = put("prompt/authority/operations", ["score", "generate"])
    yield _shape("operations", "not sorted", unsorted, "schema.order")
    yield _shape("duplicate", "a constraint id twice", constraint_twice, "schema.duplicate")


def _references() -> Iterator[Vector]:
    """Names of what is not there."""
    between = {"between": ["valve-1", "notes-1"], "kind": "date", "resolution": None}
    yield _shape(
        "claim-dangling",
        "a claim about a span that is not there",
        put("public/claim_candidates/0/span_ids", [IDS["valve"] + ":0-3"]),
        "schema.reference",
    )
    yield _shape(
        "contradiction-dangling",
        "a contradiction with a claim that is not there",
        put("public/contradictions", [between]),
        "schema.reference",
    )
    unlisted = put("public/source_refs", [])
    yield _shape("source-unlisted", "spans of a source that is not listed", unlisted, "source.missing")


def _spans() -> Iterator[Vector]:
    """Spans that contradict themselves."""
    first = "public/exact_spans/0"
    rows: tuple[tuple[str, Change, tuple[str, ...], str], ...] = (
        (
            "text-digest",
            put(f"{first}/text_digest", content_id(b"x")),
            ("span.exact.mismatch",),
            "a text_digest of another text",
        ),
        ("span-empty", put(f"{first}/end", 0), ("schema.limit",), "an end that is no end"),
        (
            "span-length",
            put(f"{first}/exact", "The valve shut"),
            ("span.range", "span.exact.mismatch"),
            "a quote shorter than its range",
        ),
        (
            "prefix-length",
            put("public/exact_spans/1/prefix", "x"),
            ("span.context.mismatch",),
            "a prefix too short",
        ),
    )
    for name, change, codes, why in rows:
        yield _shape(name, why, change, *codes)


def _private_use() -> Vector:
    private = put("prompt/active_object/text", "\ue000")
    return _shape("noncharacter", "a private-use character is allowed", private)


def _many() -> Vector:
    return _shape(
        "many",
        "every failure of the stage is reported",
        both(drop("prompt/task"), put("prompt/candidates/items", -1), put("prompt/project", 7)),
        "schema.field.missing",
        "schema.field.type",
        "schema.limit",
    )


def _accounts() -> Iterator[Vector]:
    """Rewrites, and an omission that is denied."""
    late = span("valve", "The valve shut late.")["span_id"]
    rewrite = {
        "items": [late],
        "text": "late",
        "compressor": "x",
        "dropped": [],
        "tokens_before": 3,
        "tokens_sent": 3,
    }
    outside = {"tokens_sent": 2, "dropped": [{"item": late, "start": 0, "end": 4}]}
    longer, beyond = put("prompt/rewrites", [rewrite]), put("prompt/rewrites", [rewrite | outside])
    yield _shape("rewrite-longer", "a rewrite that saves nothing", longer, "schema.limit")
    yield _shape("rewrite-range", "a dropped range outside of its item", beyond, "span.range")
    named = put("prompt/omissions/2/item", "valve-secret")
    yield _shape("denied-named", "a denied item must not be named", named, "schema.field.type")


def _touches_public(change: Change) -> bool:
    world, same = World(), World()
    change(world)
    return world.public != same.public
