"""Records that the caller sealed stand for their bytes: the report is that of the bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import capsules.validation
from capsules.__main__ import main
from capsules.canonical import parse_strict
from capsules.checks_case import Case, SealedCapsule
from capsules.codec import RECORD_TYPES, Sealed, from_value, read_stored, seal
from capsules.content_id import content_id
from capsules.errors import CapsuleError, StoreError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.report import ValidationReport
from capsules.store import MemoryStore, Store
from capsules.validation import Given, validate

VECTORS = Path(__file__).parents[2] / "vectors" / "cases"
VERIFIED = sorted(path.parent for path in VECTORS.glob("verify-*/args.json"))
NOW = "2024-06-01T12:00:00Z"


def sealed_in(values: list[Any]) -> Iterator[SealedCapsule]:
    """What can be sealed of some JSON values: a record that breaks a rule does not exist."""
    for value in values:
        if isinstance(value, dict):
            value.pop("digest", None)
            cls: Any = RECORD_TYPES.get(str(value.get("schema_id")))
            try:
                yield seal(from_value(cls, value))
            except (CapsuleError, AttributeError, TypeError):
                continue


def parsed(data: bytes) -> Any:
    try:
        return parse_strict(data)
    except CapsuleError:
        return None


def stored(store: Store, value: Any) -> Iterator[bytes]:
    refs = value.get("evidence_capsule_refs", []) if isinstance(value, dict) else []
    for ref in refs if isinstance(refs, list) else []:
        try:
            yield store.get(ref["id"]).data
        except (StoreError, KeyError, TypeError):
            continue


def test_every_vector_has_the_same_report_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """All vectors of ``verify``, in the form of the file and in the stored form."""
    met, taken = set[str](), 0

    def both(data: bytes, given: Given, *, expect: str | None = None) -> ValidationReport:
        nonlocal taken
        plain = validate(data, given, expect=expect)
        value = parsed(data)
        evidence = [parsed(one) for one in stored(given.store, value)] if given.store else []
        made = list(sealed_in([value, *evidence]))
        assert validate(data, given, expect=expect, sealed=made) == plain
        for one in made[:1]:
            found = validate(one.data, given, expect=one.digest, sealed=made)
            assert found == validate(one.data, given, expect=one.digest)
            met.update(found.codes())
            taken += 1
        return plain

    monkeypatch.setattr(capsules.validation, "validate", both)
    for case in VERIFIED:
        argv = parse_strict((case / "args.json").read_bytes())
        monkeypatch.chdir(case)
        main(argv["argv"], streams())  # type: ignore[call-overload, index, arg-type]

    assert taken > 60
    assert met >= {
        "source.digest.changed",
        "span.exact.mismatch",
        "span.context.mismatch",
        "scope.project.mismatch",
        "authority.expired",
        "evidence.required.omitted",
        "budget.protected.truncated",
        "provider.unauthorized",
        "label.flow.denied",
        "omission.unaccounted",
    }


def streams() -> Any:
    return io.BytesIO(), io.BytesIO(), io.BytesIO()


Fault = Callable[[Any], object]


def other_text(world: Any) -> None:
    span = world.public["exact_spans"][0]
    span["exact"] = span["exact"].replace("5", "6")
    span["text_digest"] = content_id(span["exact"].encode())


def required_omitted(world: Any) -> None:
    world.prompt["omissions"][0]["required"] = True


def other_project(world: Any) -> None:
    world.prompt["project"] = world.prompt["authority"]["project"] = "other"


def expired(world: Any) -> None:
    world.prompt["authority"]["expires_at"] = NOW


def miscounted(world: Any) -> None:
    world.prompt["candidates"]["items"] += 1


def higher_level(world: Any) -> None:
    world.prompt["authority"]["max_level"] = "public"


def nothing(world: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        (nothing, ()),
        (other_text, ("span.exact.mismatch",)),
        (required_omitted, ("evidence.required.omitted",)),
        (other_project, ("scope.project.mismatch",)),
        (expired, ("authority.expired",)),
        (miscounted, ("omission.unaccounted",)),
        (higher_level, ("authority.scope_exceeded",)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_a_sealed_record_says_wrongly_is_found(
    world: Any, stored_in: Any, fault: Fault, codes: tuple[str, ...]
) -> None:
    fault(world)
    world.seal()

    report = reported(world, stored_in(world))

    assert report.codes() == codes


def test_changed_bytes_of_a_source_are_found(world: Any, stored_in: Any) -> None:
    store = stored_in(world)
    source = world.public["source_refs"][0]["source"]
    store._objects[source] = store._objects[source].replace(b"5 bar", b"6 bar")

    assert reported(world, store).codes() == ("source.digest.changed",)


def test_changed_bytes_of_evidence_are_found(world: Any, stored_in: Any) -> None:
    store = stored_in(world)
    ref = world.prompt["evidence_capsule_refs"][0]["id"]
    store._objects[ref] = store._objects[ref].replace(b"5 bar", b"6 bar")

    assert reported(world, store).codes() == ("bytes.digest.mismatch",)


@pytest.mark.parametrize("name", ["prompt", "public"])
def test_another_digest_is_found(world: Any, stored_in: Any, name: str) -> None:
    (made,) = sealed_in([getattr(world, name)])
    other = content_id(b"another")

    report = validate(made.data, Given(now=NOW, store=stored_in(world)), expect=other, sealed=[made])

    assert report.codes() == ("bytes.digest.mismatch",)


@pytest.mark.parametrize("name", ["prompt", "public"])
def test_a_record_stands_for_its_own_bytes_alone(world: Any, name: str) -> None:
    """A record under the id of other bytes, which nothing but this test makes, is not taken for them."""
    value = getattr(world, name)
    honest, other = sealed_in([value, {**value, "capsule_id": "demo:vectors:q-2:other"}])
    object.__setattr__(other, "digest", honest.digest)
    given = Given(now=NOW)

    def known(sealed: SealedCapsule) -> object:
        case = Case(given=given, data=honest.data, expect=None, wanted=None, sealed={sealed.digest: sealed})
        return case.sealed_as(honest.digest, honest.data)

    assert known(honest) is honest.record
    assert known(other) is None


@pytest.mark.parametrize(("name", "wanted"), [("prompt", EvidenceCapsule), ("public", PromptCapsule)])
def test_another_type_is_found(world: Any, name: str, wanted: Any) -> None:
    (made,) = sealed_in([getattr(world, name)])
    arguments = {"expect": made.digest, "record_type": wanted}

    report = validate(made.data, Given(now=NOW), sealed=[made], **arguments)

    assert report.codes() == ("object.type.mismatch",)
    assert report == validate(made.data, Given(now=NOW), **arguments)


def test_a_ref_to_a_sealed_prompt_is_found(world: Any, stored_in: Any) -> None:
    (other,) = sealed_in([world.prompt])
    store = stored_in(world)
    store.put(other.data)
    value = {**world.prompt, "evidence_capsule_refs": [{"id": other.digest, "required": True}]}
    (prompt,) = sealed_in([value])
    given = Given(now=NOW, store=store)

    report = validate(prompt.data, given, expect=prompt.digest, sealed=[prompt, other])

    assert report.codes() == ("object.type.mismatch",)
    assert report == validate(prompt.data, given, expect=prompt.digest)


def test_sealed_bytes_cannot_be_chosen(world: Any) -> None:
    (made,) = sealed_in([world.prompt])
    with pytest.raises(TypeError):
        Sealed(record=made.record, data=b"{}", digest=content_id(b"{}"))  # type: ignore[call-arg]
    assert made.digest == content_id(made.data)
    assert read_stored(made.data, type(made.record)) == made.record


def reported(world: Any, store: MemoryStore) -> ValidationReport:
    """The report of a world whose three capsules are sealed; it is that of their bytes alone."""
    sealed = list(sealed_in([world.prompt, world.public, world.internal]))
    assert len(sealed) == 3
    given = Given(now=NOW, store=store, project="demo")
    prompt = sealed[0]
    report = validate(prompt.data, given, expect=prompt.digest, sealed=sealed)
    assert report == validate(prompt.data, given, expect=prompt.digest)
    return report
