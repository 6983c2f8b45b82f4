"""Vectors of ``verify``: spans and sources that do not agree."""

from __future__ import annotations

from collections.abc import Iterator

import kit
from kit import IDS, SOURCES, World, span, stored
from recipes import Vector, object_path
from verify_recipe import Change, both, put, verify

from capsules.content_id import content_id


def cases() -> Iterator[Vector]:
    """All of them."""
    yield from _spans()
    yield from _sources()


def _spans() -> Iterator[Vector]:
    def moved(start: int, end: int) -> Change:
        """The first span at another place, consistent in itself."""

        def change(world: World) -> None:
            target = world.public["exact_spans"][0]
            exact = kit.VALVE[start:end].ljust(end - start, "x")
            target.update(start=start, end=end, exact=exact, text_digest=content_id(exact.encode()))
            target.update(
                span_id=f"{IDS['valve']}:{start}-{end}", prefix=kit.VALVE[max(0, start - 32) : start]
            )
            world.public["claim_candidates"][0]["span_ids"] = [target["span_id"]]
            world.public["exact_spans"].sort(key=lambda item: (item["start"], item["end"]))

        return change

    def quoting(old: str, new: str) -> Change:
        def change(world: World) -> None:
            target = world.public["exact_spans"][0]
            target["exact"] = target["exact"].replace(old, new)
            target["text_digest"] = content_id(target["exact"].encode())

        return change

    for name, change, codes, why in (
        ("exact", quoting("5 bar", "7 bar"), ("span.exact.mismatch",), "one digit of a quote, re-sealed"),
        ("case", quoting("The", "the"), ("span.exact.mismatch",), "one letter in another case"),
        (
            "moved",
            moved(1, 25),
            ("span.context.mismatch",),
            "moved by one code point, its suffix left behind",
        ),
        ("past-end", moved(90, 114), ("span.range",), "a range beyond the end of the source"),
        (
            "prefix",
            put("public/exact_spans/1/prefix", "x" * 32),
            ("span.context.mismatch",),
            "another prefix",
        ),
        (
            "suffix",
            put("public/exact_spans/0/suffix", "x" * 32),
            ("span.context.mismatch",),
            "another suffix",
        ),
        (
            "suffix-short",
            put("public/exact_spans/0/suffix", ""),
            ("span.context.mismatch",),
            "a suffix left out",
        ),
        (
            "occurrence",
            both(put("public/exact_spans/0/occurrence", 2), put("public/exact_spans/0/occurrences", 2)),
            ("span.context.mismatch",),
            "another occurrence",
        ),
        (
            "occurrences",
            put("public/exact_spans/0/occurrences", 3),
            ("span.context.mismatch",),
            "another count",
        ),
        (
            "several",
            both(quoting("5 bar", "7 bar"), put("public/exact_spans/1/suffix", "")),
            ("span.exact.mismatch", "span.context.mismatch"),
            "two spans, each with its own failure",
        ),
    ):
        yield verify(f"verify-span-{name}_fail", why, change, codes, of="public")
    for name, unit, encoding in (("bytes", 1, "utf-8"), ("utf16", 2, "utf-16-le")):
        yield verify(
            f"verify-span-{name}_fail",
            f"offsets counted in units of {encoding}",
            counted_in(encoding, unit),
            ("span.exact.mismatch", "span.context.mismatch"),
            of="internal",
        )
    yield verify(
        "verify-span-in-prompt_fail",
        "the same failure below a prompt, under the id of the evidence",
        quoting("5 bar", "7 bar"),
        ("span.exact.mismatch",),
    )


def counted_in(encoding: str, unit: int) -> Change:
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


def _sources() -> Iterator[Vector]:
    valve = object_path(IDS["valve"])
    public = content_id(stored(World().public))

    def swap(paths: dict[str, bytes]) -> None:
        paths[valve] = SOURCES["valve"].replace(b"5 bar", b"7 bar")

    def lose(paths: dict[str, bytes]) -> None:
        del paths[valve]

    def trade(paths: dict[str, bytes]) -> None:
        paths[valve] = SOURCES["notes"]

    def empty(paths: dict[str, bytes]) -> None:
        paths[valve] = b""

    def spoil(paths: dict[str, bytes]) -> None:
        paths[object_path(public)] = paths[object_path(public)].replace(b"5 bar", b"7 bar")

    def forget(paths: dict[str, bytes]) -> None:
        del paths[object_path(public)]

    def age(paths: dict[str, bytes]) -> None:
        paths["FORMAT"] = b'{"format":"capsule-store/9","hash":"b3"}'

    for name, harm, codes, why in (
        ("swapped", swap, ("source.digest.changed",), "a source of the same size with other bytes"),
        ("traded", trade, ("source.digest.changed",), "another source in its place"),
        ("emptied", empty, ("source.digest.changed",), "a source of no bytes"),
        ("lost", lose, ("source.missing",), "a source that the store does not hold"),
    ):
        yield verify(
            f"verify-source-{name}_fail", why, None, codes, of="public", damage=(f"source-{name}", harm)
        )
    yield verify(
        "verify-prompt-source-lost_fail",
        "the same below a prompt",
        None,
        ("source.missing",),
        damage=("prompt-source-lost", lose),
    )
    yield verify(
        "verify-evidence-spoilt_fail",
        "a stored evidence capsule with a flipped digit",
        None,
        ("bytes.digest.mismatch",),
        damage=("evidence-spoilt", spoil),
    )
    yield verify(
        "verify-evidence-lost_fail",
        "an evidence capsule that the store does not hold",
        None,
        ("evidence.ref.missing",),
        damage=("evidence-lost", forget),
    )
    yield verify(
        "verify-store-format_fail",
        "a store of another format is not read: exit 2",
        None,
        ("store.format.unknown",),
        damage=("format", age),
        exit=2,
    )
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
