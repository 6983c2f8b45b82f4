"""Vectors of ``verify``: capsules that are valid, and bytes that are not what they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kit import omission
from recipes import Vector
from verify_recipe import both, put, verify

from capsules.content_id import content_id

Edit = Callable[[bytes], bytes]


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _valid()
    yield from _other_bytes()
    yield from _no_digest()
    yield from _no_json()
    yield from _not_canonical()
    yield from _refused_json()


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


def _edited(name: str, why: str, code: str, edit: Edit, **more: Any) -> Vector:
    """A valid capsule, the bytes of whose file are then changed."""
    return verify(f"verify-{name}_fail", why, None, (code,), edit=edit, **more)


def _replaced(old: bytes, new: bytes) -> Edit:
    return lambda data: data.replace(old, new)


def _other_bytes() -> Iterator[Vector]:
    """Not the bytes that the digest, or the id that is expected, stands for."""
    code, flip = "bytes.digest.mismatch", _replaced(b"When did", b"Then did")
    yield _edited("bit", "one bit of the question flipped", code, flip)
    in_quote = _replaced(b"5 bar", b"7 bar")
    yield _edited("bit-evidence", "one bit of a quote flipped", code, in_quote, of="public")
    stored: tuple[tuple[str, str, Edit], ...] = (
        ("bit", "one bit of the stored form", flip),
        ("truncated", "the stored form cut short", lambda data: data[:-1]),
        ("extended", "a newline after the stored form", lambda data: data + b"\n"),
        ("empty", "an empty file", lambda data: b""),
    )
    for name, why, edit in stored:
        yield _edited(f"{name}-stored", why, code, edit, form="stored", expect="own")
    yield verify(
        "verify-expected-other_fail",
        "a valid capsule, but not the one expected",
        None,
        (code,),
        expect=content_id(b"another capsule"),
    )


def _no_digest() -> Iterator[Vector]:
    """No digest to hold the bytes against, or one that is none."""
    yield verify(
        "verify-no-digest_fail",
        "the stored form without an id to hold it against: exit 2",
        None,
        ("bytes.digest.missing",),
        form="stored",
        exit=2,
    )
    capitals = _replaced(b'"digest":"b3:', b'"digest":"B3:')
    yield _edited("digest-malformed", "a digest that is no ContentId", "id.malformed", capitals)
    yield _edited("digest-null", "a digest that is no string", "id.malformed", _digest_null)


def _no_json() -> Iterator[Vector]:
    yield _edited("truncated", "the wire form cut short", "json.syntax", lambda data: data[:-1])
    yield _edited("zero-length", "an empty file", "json.syntax", lambda data: b"")


def _not_canonical() -> Iterator[Vector]:
    rows: tuple[tuple[str, str, Edit], ...] = (
        ("newline", "a final newline is not canonical", lambda data: data + b"\n"),
        ("spaces", "white space is not canonical", _replaced(b'"task":', b'"task": ')),
        ("key-order", "the digest at the end is not canonical", _digest_last),
        (
            "escape",
            "an escape that is not needed is not canonical",
            _replaced(b"When did", rb"\u0057hen did"),
        ),
    )
    for name, why, edit in rows:
        yield _edited(name, why, "json.noncanonical", edit)


def _refused_json() -> Iterator[Vector]:
    """JSON elsewhere, but not here."""
    twice = _replaced(b'"task":', b'"task":"other","task":')
    as_float = _replaced(b'"window":1024', b'"window":1024.0')
    yield _edited("bom", "a byte order mark", "json.bom", lambda data: b"\xef\xbb\xbf" + data)
    yield _edited("duplicate-key", "a key twice", "json.key.duplicate", twice)
    yield _edited("float", "a float", "json.number.float", as_float)
    yield _edited("array", "an array holds no digest", "bytes.digest.missing", lambda data: b"[]", exit=2)


def _digest_null(data: bytes) -> bytes:
    start = data.index(b'"digest":') + len(b'"digest":')
    return data[:start] + b"null" + data[start + 69 :]


def _digest_last(data: bytes) -> bytes:
    start = data.index(b'"digest":')
    member = data[start : start + len(b'"digest":') + 69]
    return data.replace(member + b",", b"")[:-1] + b"," + member + b"}"
