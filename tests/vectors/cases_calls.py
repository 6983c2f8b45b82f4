"""Vectors of calls (``calls.py``): the store, rendering, validation with a tokenizer, rebuild."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kit
from call_recipe import ID, TOKENIZER, CallVector, call, folder, rewrite, world
from kit import IDS, NOW, SOURCES

from capsules.canonical import canonical_bytes
from capsules.report_json import report_value
from capsules.validation import Given, validate

MORE = SOURCES["notes"] + b" More was written."


def cases() -> Iterator[CallVector]:
    """All of them."""
    for part in (_stores, _refs, _rendering, _validation, _rebuilds):
        yield from part()


def _stores() -> Iterator[CallVector]:
    get: dict[str, Any] = {"call": "get", "object": "object"}
    yield call("get", "an object as it was put", of="object", plant=None, **get)
    yield call("get-link", "a link in its place", "store.symlink", of="object", plant="symlink", **get)
    yield call("get-fifo", "a FIFO in its place", "store.not_regular", of="object", plant="fifo", **get)
    yield call("get-gone", "nothing in its place", "object.missing", of="object", plant="nothing", **get)
    yield call(
        "get-store-link", "a link to a good store", "store.symlink", of="store", plant="symlink", **get
    )
    yield call("get-store-fifo", "a FIFO for a store", "store.not_regular", of="store", plant="fifo", **get)


def _refs() -> Iterator[CallVector]:
    def refs(name: str, why: str, code: str | None, *steps: Any) -> CallVector:
        return call(name, why, code, call="refs", steps=[list(step) for step in steps])

    put, first = ("put", "object"), ("swap", {"id": ID, "seen": False})
    again = ("swap", {"id": ID, "seen": True})
    yield refs("refs", "a ref goes forward", None, put, first, again, ("read", 2))
    yield refs("refs-conflict", "somebody swapped before", "ref.conflict", put, first, first)
    yield refs("refs-rollback", "an older version than was seen", "ref.rollback", put, first, ("read", 2))
    yield refs("refs-vanished", "a ref that was seen is not there", "ref.rollback", put, ("read", 1))
    yield refs("refs-target", "a ref to nothing", "object.missing", first)
    spoilt = (put, first, ("spoil", "{}"), ("open", False))
    yield refs("refs-malformed", "a ref file of another shape", "ref.malformed", *spoilt, ("read", 0))
    yield refs("refs-read-only", "a handle for reading", "store.read_only", put, ("open", True), put)


def _rendering() -> Iterator[CallVector]:
    def rewritten(made: Any) -> None:
        made.prompt["rewrites"] = [rewrite(made.public["exact_spans"][0]["span_id"])]

    def unsaid(made: Any) -> None:
        del made.prompt["omissions"][0]
        made.prompt["candidates"]["items"] = 8

    def bell(made: Any) -> None:
        made.prompt["active_object"]["text"] = "bell \u0007"

    gap = folder(world(unsaid))
    yield call("render", "a prompt that renders", files=folder(world()), call="render")
    yield call(
        "render-rewrite",
        "rewrites are rendered by their builder alone",
        "render.rewrite",
        "/rewrites",
        files=folder(world(rewritten)),
        call="render",
    )
    yield call("render-gap", "text of no item between two items", "render.gap", files=gap, call="render")
    tokens: dict[str, Any] = {"call": "tokenize", "tokenizer": TOKENIZER, "control": [7]}
    yield call("tokenize", "no control id in the content", files=folder(world()), **tokens)
    yield call(
        "tokenize-control",
        "a control id in a question",
        "render.control_token",
        files=folder(world(bell)),
        **tokens,
    )
    evidence = "<sources 0123456789>\n[1] 0123456789\nIt shut.\n</sources 0123456789>\n"
    text = f"Quote.\n\n{evidence}Question: Why?\nAnswer:"
    for name, why, code, body in (
        ("unrender", "a text that reads back", None, text),
        (
            "unrender-open",
            "a fence that is not closed",
            "render.malformed",
            text.replace("</sources", "<sources"),
        ),
        ("unrender-head", "text without a number", "render.malformed", text.replace("[1] 0123456789\n", "")),
    ):
        yield call(name, why, code, files={"text": body.encode()}, call="unrender", tag="0123456789")


def _validation() -> Iterator[CallVector]:
    def unsaid(made: Any) -> None:
        del made.prompt["omissions"][0]
        made.prompt["candidates"]["items"] = 8

    def bell(made: Any) -> None:
        made.prompt["active_object"]["text"] = "bell \u0007"

    asked: dict[str, Any] = {"call": "validate", "now": NOW, "control": [7]}
    own = asked | {"tokenizer": TOKENIZER}
    yield call("validate-tokens", "counted as sent", files=folder(world()), **own)
    yield call(
        "validate-tokenizer",
        "another tokenizer counts for nothing",
        "tokenizer.mismatch",
        "/token_budget/tokenizer_digest",
        files=folder(world()),
        tokenizer="another",
        **asked,
    )
    yield call("validate-gap", "text of no item", "render.gap", files=folder(world(unsaid)), **own)
    yield call("validate-control", "a control id", "render.control_token", files=folder(world(bell)), **own)
    report = report_value(validate(kit.wire(world().prompt), Given(now=NOW)))
    del report["registry_id"]
    short = report | {"checks": [row for row in report["checks"] if row["check"] != "span.text"]}
    for name, why, code, value in (
        ("read-report", "a row for every check", None, report),
        ("read-report-row", "a check without a row", "report.incomplete", short),
        (
            "read-report-verdict",
            "another verdict than the rows'",
            "report.incomplete",
            report | {"valid": False},
        ),
    ):
        yield call(name, why, code, files={"report.json": canonical_bytes(value)}, call="read_report")


def _rebuilds() -> Iterator[CallVector]:
    def tight(made: Any) -> None:
        made.prompt["token_budget"]["evidence_limit"] = 100

    def stale(made: Any) -> None:
        made.prompt["rewrites"] = [rewrite(made.prompt["omissions"][0]["item"])]

    asked = {"call": "rebuild_prompt", "tokenizer": TOKENIZER, "changes": {IDS["notes"]: "changed.txt"}}
    for name, why, code, at, change in (
        ("rebuild", "a source with more at its end", None, "", None),
        (
            "rebuild-limit",
            "more ids of evidence than the limit",
            "budget.evidence.exceeded",
            "/token_budget/evidence_limit",
            tight,
        ),
        ("rebuild-stale", "a rewrite of an item that is not kept", "rewrite.stale", "/rewrites/0", stale),
    ):
        yield call(name, why, code, at, files=folder(world(change), changed__txt=MORE), **asked)
