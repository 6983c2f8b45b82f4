"""Vectors of ``verify``: capsules that are valid, and bytes that are not what they were."""

from __future__ import annotations

from collections.abc import Iterator

from kit import omission
from recipes import Vector
from verify_recipe import both, put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _valid()
    yield from _bytes()


def _valid() -> Iterator[Vector]:
    soft = put("public/freshness/policy", "soft")
    yield verify("verify-prompt", "a prompt capsule in its wire form")
    yield verify("verify-prompt-stored", "its stored form, with the id expected", form="stored", expect="own")
    yield verify("verify-prompt-expected", "the wire form, with the id expected too", expect="own")
    yield verify("verify-evidence", "an evidence capsule by itself", of="public")
    yield verify(
        "verify-evidence-astral", "a source with U+FEFF in front and an astral character", of="internal"
    )
    yield verify("verify-evidence-project", "and its project", of="public", project="demo")
    yield verify("verify-project", "the project that was asked for", project="demo")
    yield verify("verify-not-before-0", "the first valid second", now="2024-01-01T00:00:00Z")
    yield verify("verify-freshness-last", "the last fresh second", now="2024-06-30T23:59:59Z")
    yield verify(
        "verify-freshness-soft",
        "stale under a soft policy: an information",
        soft,
        of="public",
        now="2024-07-01T00:00:00Z",
    )
    yield verify(
        "verify-freshness-none",
        "evidence that does not expire",
        both(put("public/freshness/expires_at", None), put("internal/freshness/expires_at", None)),
        now="2024-12-31T23:59:59Z",
    )
    yield verify(
        "verify-snippet-higher",
        "a snippet may claim a higher level than it must",
        put("prompt/surface_snippet/level", "internal"),
    )
    yield verify("verify-no-snippet", "no snippet", put("prompt/surface_snippet", None))
    yield verify(
        "verify-no-evidence",
        "a prompt without evidence: nothing to resolve",
        both(put("prompt/surface_snippet", None), put("prompt/candidates/items", 6)),
        late=put("prompt/evidence_capsule_refs", []),
    )
    yield verify(
        "verify-runtime-exact",
        "a runtime constraint that holds",
        put("prompt/constraints/2/text", "capsules==1"),
    )
    yield verify(
        "verify-window-exact",
        "window = reserved_output + evidence_limit",
        put("prompt/token_budget/window", 576),
    )
    yield verify(
        "verify-omitted-unprotected",
        "an omitted constraint that nothing protects",
        both(
            put("prompt/token_budget/protected", []),
            put("prompt/omissions/0", omission("example-1", "budget.limit", 40)),
        ),
    )


def _bytes() -> Iterator[Vector]:
    other = content_id(b"another capsule")

    def flip(data: bytes) -> bytes:
        return data.replace(b"When did", b"Then did")

    yield verify(
        "verify-bit_fail", "one bit of the question flipped", None, ("bytes.digest.mismatch",), edit=flip
    )
    yield verify(
        "verify-bit-evidence_fail",
        "one bit of a quote flipped",
        None,
        ("bytes.digest.mismatch",),
        of="public",
        edit=lambda data: data.replace(b"5 bar", b"7 bar"),
    )
    yield verify(
        "verify-bit-stored_fail",
        "one bit of the stored form",
        None,
        ("bytes.digest.mismatch",),
        form="stored",
        expect="own",
        edit=flip,
    )
    yield verify(
        "verify-truncated-stored_fail",
        "the stored form cut short",
        None,
        ("bytes.digest.mismatch",),
        form="stored",
        expect="own",
        edit=lambda data: data[:-1],
    )
    yield verify(
        "verify-extended-stored_fail",
        "a newline after the stored form",
        None,
        ("bytes.digest.mismatch",),
        form="stored",
        expect="own",
        edit=lambda data: data + b"\n",
    )
    yield verify(
        "verify-empty-stored_fail",
        "an empty file",
        None,
        ("bytes.digest.mismatch",),
        form="stored",
        expect="own",
        edit=lambda data: b"",
    )
    yield verify(
        "verify-expected-other_fail",
        "a valid capsule, but not the one expected",
        None,
        ("bytes.digest.mismatch",),
        expect=other,
    )
    yield verify(
        "verify-no-digest_fail",
        "the stored form without an id to hold it against: exit 2",
        None,
        ("bytes.digest.missing",),
        form="stored",
        exit=2,
    )
    yield verify(
        "verify-digest-malformed_fail",
        "a digest that is no ContentId",
        None,
        ("id.malformed",),
        edit=lambda data: data.replace(b'"digest":"b3:', b'"digest":"B3:'),
    )
    yield verify(
        "verify-digest-null_fail",
        "a digest that is no string",
        None,
        ("id.malformed",),
        edit=lambda data: _without_digest(data, b"null"),
    )
    yield verify(
        "verify-truncated_fail",
        "the wire form cut short",
        None,
        ("json.syntax",),
        edit=lambda data: data[:-1],
    )
    yield verify("verify-zero-length_fail", "an empty file", None, ("json.syntax",), edit=lambda data: b"")
    yield verify(
        "verify-newline_fail",
        "a final newline is not canonical",
        None,
        ("json.noncanonical",),
        edit=lambda data: data + b"\n",
    )
    yield verify(
        "verify-spaces_fail",
        "white space is not canonical",
        None,
        ("json.noncanonical",),
        edit=lambda data: data.replace(b'"task":', b'"task": '),
    )
    yield verify(
        "verify-key-order_fail",
        "the digest at the end is not canonical",
        None,
        ("json.noncanonical",),
        edit=_digest_last,
    )
    yield verify(
        "verify-escape_fail",
        "an escape that is not needed is not canonical",
        None,
        ("json.noncanonical",),
        edit=lambda data: data.replace(b"When did", rb"\u0057hen did"),
    )
    yield verify(
        "verify-bom_fail", "a byte order mark", None, ("json.bom",), edit=lambda data: b"\xef\xbb\xbf" + data
    )
    yield verify(
        "verify-duplicate-key_fail",
        "a key twice",
        None,
        ("json.key.duplicate",),
        edit=lambda data: data.replace(b'"task":', b'"task":"other","task":'),
    )
    yield verify(
        "verify-float_fail",
        "a float",
        None,
        ("json.number.float",),
        edit=lambda data: data.replace(b'"window":1024', b'"window":1024.0'),
    )
    yield verify(
        "verify-array_fail",
        "an array holds no digest",
        None,
        ("bytes.digest.missing",),
        exit=2,
        edit=lambda data: b"[]",
    )


def _without_digest(data: bytes, instead: bytes) -> bytes:
    start = data.index(b'"digest":') + len(b'"digest":')
    return data[:start] + instead + data[start + 69 :]


def _digest_last(data: bytes) -> bytes:
    start = data.index(b'"digest":')
    member = data[start : start + len(b'"digest":') + 69]
    return data.replace(member + b",", b"")[:-1] + b"," + member + b"}"
