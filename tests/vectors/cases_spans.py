"""Vectors of ``verify``: spans and sources that do not agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import kit
from kit import IDS, SOURCES, World, span, stored
from recipes import Vector, object_path
from verify_recipe import Change, both, put, verify

from capsules.content_id import content_id

Paths = dict[str, bytes]


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _quotes()
    yield from _places()
    yield from _contexts()
    yield _several()
    yield from _other_units()
    yield _below_a_prompt()
    yield from _harmed_sources()
    yield from _harmed_evidence()
    yield _other_format()
    yield from _recorded_sources()


def _failing(name: str, why: str, change: Change, *codes: str) -> Vector:
    return verify(f"verify-span-{name}_fail", why, change, codes, of="public")


def _quoting(old: str, new: str) -> Change:
    """Other words in the first span, consistent in itself."""

    def change(world: World) -> None:
        target = world.public["exact_spans"][0]
        target["exact"] = target["exact"].replace(old, new)
        target["text_digest"] = content_id(target["exact"].encode())

    return change


_bars = _quoting("5 bar", "7 bar")


def _quotes() -> Iterator[Vector]:
    code = "span.exact.mismatch"
    yield _failing("exact", "one digit of a quote, re-sealed", _bars, code)
    yield _failing("case", "one letter in another case", _quoting("The", "the"), code)


def _moved(start: int, end: int) -> Change:
    """The first span at another place, consistent in itself."""

    def change(world: World) -> None:
        target = world.public["exact_spans"][0]
        exact = kit.VALVE[start:end].ljust(end - start, "x")
        target.update(start=start, end=end, exact=exact, text_digest=content_id(exact.encode()))
        target.update(span_id=f"{IDS['valve']}:{start}-{end}", prefix=kit.VALVE[max(0, start - 32) : start])
        world.public["claim_candidates"][0]["span_ids"] = [target["span_id"]]
        world.public["exact_spans"].sort(key=lambda item: (item["start"], item["end"]))

    return change


def _places() -> Iterator[Vector]:
    why = "moved by one code point, its suffix left behind"
    yield _failing("moved", why, _moved(1, 25), "span.context.mismatch")
    yield _failing("past-end", "a range beyond the end of the source", _moved(90, 114), "span.range")


def _contexts() -> Iterator[Vector]:
    """What stands around a quote, and which of its occurrences it is."""
    first, second = "public/exact_spans/0", "public/exact_spans/1"
    occurrence = both(put(f"{first}/occurrence", 2), put(f"{first}/occurrences", 2))
    for name, change, why in (
        ("prefix", put(f"{second}/prefix", "x" * 32), "another prefix"),
        ("suffix", put(f"{first}/suffix", "x" * 32), "another suffix"),
        ("suffix-short", put(f"{first}/suffix", ""), "a suffix left out"),
        ("occurrence", occurrence, "another occurrence"),
        ("occurrences", put(f"{first}/occurrences", 3), "another count"),
    ):
        yield _failing(name, why, change, "span.context.mismatch")


def _several() -> Vector:
    change = both(_bars, put("public/exact_spans/1/suffix", ""))
    codes = ("span.exact.mismatch", "span.context.mismatch")
    return _failing("several", "two spans, each with its own failure", change, *codes)


def _other_units() -> Iterator[Vector]:
    for name, unit, encoding in (("bytes", 1, "utf-8"), ("utf16", 2, "utf-16-le")):
        yield verify(
            f"verify-span-{name}_fail",
            f"offsets counted in units of {encoding}",
            _counted_in(encoding, unit),
            ("span.exact.mismatch", "span.context.mismatch"),
            of="internal",
        )


def _counted_in(encoding: str, unit: int) -> Change:
    """A span of the notes whose offsets count other units than code points."""

    def change(world: World) -> None:
        world.internal = kit.evidence("internal", "notes", [span("notes", "Café")])
        target = world.internal["exact_spans"][0]
        by = len(kit.NOTES[: target["start"]].encode(encoding)) // unit - target["start"]
        target["start"] += by
        target["end"] += by
        target["span_id"] = f"{IDS['notes']}:{target['start']}-{target['end']}"
        world.internal["claim_candidates"][0]["span_ids"] = [target["span_id"]]

    return change


def _below_a_prompt() -> Vector:
    return verify(
        "verify-span-in-prompt_fail",
        "the same failure below a prompt, under the id of the evidence",
        _bars,
        ("span.exact.mismatch",),
    )


def _set(path: str, data: bytes) -> Callable[[Paths], None]:
    return lambda paths: paths.update({path: data})


def _lose(path: str) -> Callable[[Paths], None]:
    def harm(paths: Paths) -> None:
        del paths[path]

    return harm


def _harmed_sources() -> Iterator[Vector]:
    """A store in which the source is another one, or none."""
    valve = object_path(IDS["valve"])
    swapped = SOURCES["valve"].replace(b"5 bar", b"7 bar")
    for name, harm, code, why in (
        (
            "swapped",
            _set(valve, swapped),
            "source.digest.changed",
            "a source of the same size with other bytes",
        ),
        ("traded", _set(valve, SOURCES["notes"]), "source.digest.changed", "another source in its place"),
        ("emptied", _set(valve, b""), "source.digest.changed", "a source of no bytes"),
        ("lost", _lose(valve), "source.missing", "a source that the store does not hold"),
    ):
        damage = (f"source-{name}", harm)
        yield verify(f"verify-source-{name}_fail", why, None, (code,), of="public", damage=damage)
    yield verify(
        "verify-prompt-source-lost_fail",
        "the same below a prompt",
        None,
        ("source.missing",),
        damage=("prompt-source-lost", _lose(valve)),
    )


def _harmed_evidence() -> Iterator[Vector]:
    """A store in which a stored evidence capsule is another one, or none."""
    data = stored(World().public)
    path = object_path(content_id(data))
    yield verify(
        "verify-evidence-spoilt_fail",
        "a stored evidence capsule with a flipped digit",
        None,
        ("bytes.digest.mismatch",),
        damage=("evidence-spoilt", _set(path, data.replace(b"5 bar", b"7 bar"))),
    )
    yield verify(
        "verify-evidence-lost_fail",
        "an evidence capsule that the store does not hold",
        None,
        ("evidence.ref.missing",),
        damage=("evidence-lost", _lose(path)),
    )


def _other_format() -> Vector:
    return verify(
        "verify-store-format_fail",
        "a store of another format is not read: exit 2",
        None,
        ("store.format.unknown",),
        damage=("format", _set("FORMAT", b'{"format":"capsule-store/9","hash":"b3"}')),
        exit=2,
    )


def _recorded_sources() -> Iterator[Vector]:
    """A source that is whole, of which the capsule says what it is not."""
    yield verify(
        "verify-source-size_fail",
        "the size that the capsule records is another one",
        put("public/source_refs/0/bytes", 1),
        ("source.size.mismatch",),
        of="public",
    )
    yield verify(
        "verify-source-binary_fail",
        "a source that is not UTF-8",
        _binary,
        ("source.utf8.invalid",),
        of="public",
        late=lambda world: world.objects.update({content_id(b"\xff\xfe"): b"\xff\xfe"}),
    )


def _binary(world: World) -> None:
    world.public["source_refs"][0].update(source=content_id(b"\xff\xfe"), bytes=2)
    world.public["exact_spans"] = []
    world.public["claim_candidates"] = []
