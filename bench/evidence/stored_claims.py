"""Claims of an earlier model call, read from a file of stored answers (JSON Lines).

    {"sample": str, "model": str, "request": "b3:...", "shown"?: [doc_id], "claims": [
      {"id": str, "text": str, "spans": [{"source": doc_id, "start": int, "end": int}], "from"?: [claim id]}]}

Rules that this module owns:

* ``request`` is the ContentId of the canonical ``{"schema_id": "claim-request/1", "model", "question",
  "sources": [{"source": doc_id, "digest": "b3:..."}]}`` with the documents that the model was shown, in
  order: an answer to another question or other bytes is not an answer to this one
  (``claim.answer.stale``).
* ``shown`` are those documents; absent: all of the sample, or of the corpus. A claim derives from its
  spans and those of the claims in ``from``; its level is the join of all that was shown, for a model may
  use whatever it sees.
* Claims that derive from each other in a circle derive from nothing (``claim.cycle``).
* The file's bytes must have the digest that the config names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bench.build.base import BuildError
from bench.registry import RegistryError
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.errors import CapsuleError
from capsules.strict_json import parse_strict
from tasks.base import TextRange

REQUEST_SCHEMA = "claim-request/1"


class StoredClaimsError(RegistryError):
    """The file of stored answers cannot be used; the message names what was expected and found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredClaim:
    """A claim as the model stated it; ``derives`` names other claims of the answer."""

    claim_id: str
    text: str
    spans: tuple[TextRange, ...]
    derives: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """One stored answer; ``shown`` is ``None`` for all documents of the sample."""

    sample_id: str
    model: str
    request: str
    shown: tuple[str, ...] | None
    claims: tuple[StoredClaim, ...]


def request_digest(
    question: str, digests: Mapping[str, str], model: str, shown: Sequence[str] | None = None
) -> str:
    """The digest of what a model was asked for a sample's claims.

    Args:
        question: The sample's question.
        digests: ContentId of each document of the sample, or of the corpus, by doc_id, in order.
        model: The model's name.
        shown: The documents that it was shown; ``None`` for all.

    Raises:
        BuildError: ``claim.reference``: a shown document that is not there.
    """
    names = list(digests) if shown is None else list(shown)
    for name in names:
        if name not in digests:
            raise BuildError("claim.reference", f"expected a document of the sample, found {name!r}")
    value = {
        "schema_id": REQUEST_SCHEMA,
        "model": model,
        "question": question,
        "sources": [{"source": name, "digest": digests[name]} for name in names],
    }
    return content_id(canonical_bytes(value))


@lru_cache(maxsize=4)
def stored_answers(path: str, digest: str) -> Mapping[str, StoredAnswer]:
    """The answers of a file, by sample.

    Raises:
        StoredClaimsError: It cannot be read, has other bytes than the config names, or a line is not of
            the form.
    """
    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as error:
        raise StoredClaimsError(f"claims.answers {path}: {error.strerror or error}") from error
    found = content_id(data)
    if found != digest:
        raise StoredClaimsError(f"claims.answers {path}: expected bytes of {digest}, found {found}")
    answers: dict[str, StoredAnswer] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            answer = _answer(parse_strict(line))
        except (CapsuleError, _FormError) as error:
            raise StoredClaimsError(f"claims.answers {path}: line {number}: {error}") from error
        if answer.sample_id in answers:
            raise StoredClaimsError(f"claims.answers {path}: line {number}: a second answer for one sample")
        answers[answer.sample_id] = answer
    return answers


def closure(claims: Sequence[StoredClaim]) -> dict[str, tuple[TextRange, ...]]:
    """All ranges that each claim derives from, its own and those of the claims behind it.

    Raises:
        BuildError: ``claim.cycle``; ``claim.reference``: a claim in ``from`` that is not there.
    """
    by_id = {claim.claim_id: claim for claim in claims}
    done: dict[str, tuple[TextRange, ...]] = {}
    for claim in claims:
        _close(claim.claim_id, by_id, done)
    return done


def _close(start: str, by_id: Mapping[str, StoredClaim], done: dict[str, tuple[TextRange, ...]]) -> None:
    """Depth first without recursion: a chain may be as long as a file."""
    path: dict[str, None] = {}
    stack = [start]
    while stack:
        name = stack[-1]
        if name in done:
            stack.pop()
            continue
        claim = by_id.get(name)
        if claim is None:
            raise BuildError("claim.reference", f"expected a claim of the answer in `from`, found {name!r}")
        waiting = [one for one in claim.derives if one not in done]
        path[name] = None
        if circle := [one for one in waiting if one in path]:
            raise BuildError(
                "claim.cycle", f"claim {name!r} derives from {circle[0]!r}, which derives from it"
            )
        if waiting:
            stack.append(waiting[0])
            continue
        ranges = [*claim.spans, *(one for other in claim.derives for one in done[other])]
        done[name] = tuple(dict.fromkeys(ranges))
        del path[name]
        stack.pop()


class _FormError(Exception):
    pass


def _answer(value: object) -> StoredAnswer:
    row = _object(value, "sample model request claims", "shown")
    shown = row.get("shown")
    claims = tuple(_claim(one) for one in _list(row["claims"], "claims"))
    if len({claim.claim_id for claim in claims}) != len(claims):
        raise _FormError("expected claim ids that differ, found one twice")
    return StoredAnswer(
        sample_id=_text(row["sample"], "sample"),
        model=_text(row["model"], "model"),
        request=_text(row["request"], "request"),
        shown=None if shown is None else tuple(_text(one, "shown") for one in _list(shown, "shown")),
        claims=claims,
    )


def _claim(value: object) -> StoredClaim:
    row = _object(value, "id text spans", "from")
    return StoredClaim(
        claim_id=_text(row["id"], "id"),
        text=_text(row["text"], "text"),
        spans=tuple(_range(one) for one in _list(row["spans"], "spans")),
        derives=tuple(_text(one, "from") for one in _list(row.get("from", []), "from")),
    )


def _range(value: object) -> TextRange:
    row = _object(value, "source start end", "")
    start, end = row["start"], row["end"]
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise _FormError("expected whole numbers 0 <= start < end in a span")
    return TextRange(doc_id=_text(row["source"], "source"), start=start, end=end)


def _object(value: object, needed: str, more: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _FormError("expected an object")
    missing = set(needed.split()) - value.keys()
    unknown = value.keys() - {*needed.split(), *more.split()}
    if missing or unknown:
        raise _FormError(
            f"expected the keys {needed}, and perhaps {more or 'none'}; missing {sorted(missing)}, "
            f"unknown {sorted(unknown)}"
        )
    return value


def _list(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise _FormError(f"expected an array in {name!r}")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise _FormError(f"expected a string that is not empty in {name!r}")
    return value
