"""A canary in every field x every way out: no byte of it at a sink that may not have it.

The first provider is allowed, gets the body and then fails in some way. Everything else listens in vain:
where a redirect points, fallbacks that may not have it, a proxy of the environment. Errors, logs, decisions
and validation reports name codes and ids.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.engines.http_transport import HttpTransport
from bench.pipeline import Outcome
from capsules import checks_policy
from capsules.canonical import canonical_bytes, parse_strict
from capsules.codec import preimage
from capsules.content_id import content_id
from capsules.decision import DeniedError
from capsules.delivery import deliver
from capsules.egress import authorize
from capsules.report_json import report_bytes
from capsules.timestamp import format_time
from capsules.validation import Given, validate

CANARY = "canary-7f3a91"
BYTES = CANARY.encode()
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of every single value of a record."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path


def contradict(world: Any) -> None:
    """Gives the public capsule the one free text that the kit's has not."""
    between = [world.public["claim_candidates"][0]["claim_id"], world.public["exact_spans"][1]["span_id"]]
    world.public["contradictions"] = [{"between": between, "kind": "date", "resolution": "later"}]


def planted(record: str, path: tuple[Any, ...]) -> Callable[[Any], None]:
    """Puts the canary where a path leads."""

    def edit(world: Any) -> None:
        contradict(world)
        place = getattr(world, record)
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = CANARY

    return edit


def scenes(routing: Any, *providers: dict[str, Any]) -> dict[str, Any]:
    """A scene for every field that takes the canary, its body everything that there is to send."""
    world = routing.kit.World().seal()
    contradict(world)
    found = {}
    for record in ("prompt", "public", "internal"):
        for path in leaves(getattr(world, record)):
            if path[0] == "evidence_capsule_refs":
                continue  # made anew by sealing
            s = routing.scene(providers, edit=planted(record, path))
            s.body = b"\n".join(s.store._objects.values())
            assert BYTES in s.body
            found["/".join(map(str, (record, *path)))] = s
    found["source"] = in_a_source(routing, providers)
    return found


def in_a_source(routing: Any, providers: Sequence[dict[str, Any]]) -> Any:
    """The canary in a source, and so in the exact text and the context of its spans."""
    kit = routing.kit
    text = kit.TEXTS["notes"].replace("the lamp", f"{CANARY} here, {CANARY} the lamp")

    def quote_it(world: Any) -> None:
        world.internal = kit.evidence("internal", "notes", [kit.span("notes", f"{CANARY} the lamp")])

    with pytest.MonkeyPatch.context() as patch:
        for table, value in (
            (kit.TEXTS, text),
            (kit.SOURCES, text.encode()),
            (kit.IDS, content_id(text.encode())),
        ):
            patch.setitem(table, "notes", value)
        s = routing.scene(providers, edit=quote_it)
    s.body = b"\n".join(s.store._objects.values())
    assert s.body.count(BYTES) >= 5
    return s


@pytest.fixture(scope="module")
def servers(loopback: Any) -> Iterator[tuple[Any, Any]]:
    """The provider that may have it, and the one that may not."""
    with loopback.serving(b"", b"") as (near, other):
        yield near, other


@pytest.fixture(scope="module")
def everywhere(routing: Any, servers: tuple[Any, Any]) -> dict[str, Any]:
    """Every field. near is allowed; cloud is its fallback for public levels; far is nobody's fallback."""
    near, other = servers
    return scenes(
        routing,
        routing.provider("near", endpoint=near.url, fallbacks=["cloud"]),
        routing.provider("cloud", "public", endpoint=other.url),
        routing.provider("far", endpoint=other.url),
    )


@pytest.fixture(scope="module")
def sendable(everywhere: dict[str, Any]) -> dict[str, Any]:
    """Those that may be sent to near: the free texts and the names."""
    return {name: s for name, s in everywhere.items() if authorize(s.ask("near"), s.gate).request is not None}


def test_the_canary_stands_in_every_field_and_most_texts_can_be_sent(
    everywhere: dict[str, Any], sendable: dict[str, Any]
) -> None:
    assert len(everywhere) > 150
    assert len(sendable) >= 34
    assert {
        "prompt/active_object/text", "prompt/surface_snippet/text", "prompt/constraints/0/text",
        "prompt/authority/principal", "public/source_refs/0/title", "public/claim_candidates/0/text",
        "public/contradictions/0/resolution", "internal/missing_evidence/0/why",
        "internal/claim_candidates/0/text", "source",
    } <= sendable.keys()  # fmt: skip


REDIRECTS = (301, 302, 303, 307, 308)
FAILURES = {
    "429": "provider.rate_limited", "500": "provider.failed", "503": "provider.failed",
    "400 content filter": "provider.refused", "time-out": "provider.timeout", "empty": "provider.reply.empty",
    "closed": "provider.reply.empty", "garbage": "provider.reply.malformed",
}  # fmt: skip
TARGETS = ["cloud", "far", "gone"]  # may not have it; is no fallback; is unknown


def acts(loopback: Any, other: Any) -> dict[str, Any]:
    redirect = {
        str(status): loopback.says(loopback.reply(status, b"moved", f"Location: {other.url}/v1"))
        for status in REDIRECTS
    }
    return redirect | {
        "429": loopback.says(loopback.reply(429, b"{}", "Retry-After: 0", f"Location: {other.url}")),
        "500": loopback.says(loopback.reply(500)),
        "503": loopback.says(loopback.reply(503)),
        "400 content filter": loopback.says(loopback.reply(400, b'{"error":"content_filter"}')),
        "time-out": loopback.waits,
        "empty": loopback.says(loopback.reply(200, b"")),
        "closed": lambda server, peer: None,
        "garbage": loopback.says(b"<html>"),
    }


@pytest.mark.parametrize("trigger", [*map(str, REDIRECTS), *FAILURES])
def test_what_one_provider_got_no_other_gets(
    loopback: Any, servers: tuple[Any, Any], sendable: dict[str, Any], trigger: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    near, other = servers
    for name in PROXIES:
        monkeypatch.setenv(name, other.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    near.act = acts(loopback, other)[trigger]
    transport = HttpTransport(timeout_s=0.05 if trigger == "time-out" else 10)
    told = repr(transport)
    for s in sendable.values():
        before = near.received

        found = deliver(s.ask("near"), s.body, transport, s.gate, TARGETS)

        assert near.received[len(before) :].endswith(s.body)  # the control: it did go out, once
        assert found.reply is None
        told += repr(found)
        if trigger in FAILURES:
            assert [hop.codes[0] for hop in found.hops] == [
                FAILURES[trigger],
                "label.flow.denied",
                "provider.route.unlisted",
                "provider.route.unlisted",
            ]
        else:
            assert [hop.codes for hop in found.hops] == [("provider.route.unlisted",)]
    assert (other.connections, other.received) == (0, b"")
    out, err = capfd.readouterr()
    assert CANARY not in told + caplog.text + out + err


def test_there_are_enough_combinations(sendable: dict[str, Any]) -> None:
    ways_out = len(REDIRECTS) + len(FAILURES) * len(TARGETS)
    assert len(sendable) * ways_out >= 950  # 500 were asked for


# ---- refusals: errors, decisions, reports


def explode(*args: object) -> Any:
    raise RuntimeError(CANARY)


YEAR = 366 * 86_400
REASONS: dict[str, tuple[int, dict[str, Any]]] = {
    "expired": (YEAR, {}),
    "not yet valid": (-YEAR, {}),
    "level": (0, {"provider": "cloud"}),
    "unknown provider": (0, {"provider": "gone"}),
    "operation": (0, {"operation": "train"}),
    "project": (0, {"project": "other"}),
    "route": (0, {"provider": "near", "route": ("far",)}),
    "a rule that raises": (0, {}),
}


def told_by(error: BaseException | None) -> str:
    """Everything that an error says, and what it came from."""
    text = "" if error is None else "".join(traceback.format_exception(error))
    while error is not None:
        text += repr(error) + repr(error.args) + repr(vars(error))
        error = error.__context__
    return text


@pytest.mark.parametrize("reason", REASONS)
def test_a_refusal_says_nothing_of_what_it_keeps(
    routing: Any, servers: tuple[Any, Any], everywhere: dict[str, Any], reason: str,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    shift, changes = REASONS[reason]
    near, other = servers
    sent, told = near.received, ""
    if reason == "a rule that raises":
        monkeypatch.setattr(checks_policy, "_levels", explode)
    for name, built in everywhere.items():
        s = built.at(routing.NOW + shift)

        made = authorize(s.ask(**({"provider": "near"} | changes)), s.gate)

        assert made.request is None, name
        with pytest.raises(DeniedError) as caught:
            made.require()
        told += told_by(caught.value) + repr(made) + preimage(made.record).decode()
    assert CANARY not in told + caplog.text
    assert (near.received, other.received) == (sent, b"")


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason != "a rule that raises"])
def test_a_report_on_texts_and_names_holds_none_of_them(
    routing: Any, sendable: dict[str, Any], reason: str
) -> None:
    shift, changes = REASONS[reason]
    for name, s in sendable.items():
        given = Given(
            now=format_time(routing.NOW + shift),
            store=s.store,
            project=changes.get("project", "demo"),
            policy=s.policy,
            provider=changes.get("provider", "near"),
            operation=changes.get("operation", "generate"),
        )
        report = validate(s.store.get(s.capsule).data, given, expect=s.capsule)
        assert BYTES not in report_bytes(report), name


# ---- a run: rows, reports, logs, names of files


@pytest.fixture(scope="module")
def private_run(
    run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, Path]:
    """A run over samples whose private and foreign documents hold the canary; capsule arms only."""
    folder = tmp_path_factory.mktemp("private")
    rows = [
        {
            "id": f"s{n}",
            "question": "How high stands the lamp?",
            "sources": [
                {"id": "guide", "text": f"The lamp stands {40 + n} m above the water. It was lit in 1891."},
                {"id": "memo", "level": "restricted", "title": CANARY,
                 "text": f"The lamp stands 9 m above the water, says {CANARY}. Tell nobody."},
                {"id": "foreign", "project": "elsewhere", "text": f"The lamp of {CANARY} stands 8 m high."},
            ],
            "answers": [f"{40 + n} m"],
        }
        for n in range(3)
    ]  # fmt: skip
    file = folder / "own.jsonl"
    file.write_bytes(b"\n".join(canonical_bytes(row) for row in rows))
    outcome = run_small(
        folder, "task=custom", f"task.options.file={file}", "task.examples=0",
        "~arm@arms.naive", "~arm@arms.naive_volatile",
    )  # fmt: skip
    return outcome, folder


def test_a_run_names_private_documents_by_id_alone(private_run: tuple[Outcome, Path]) -> None:
    outcome, folder = private_run
    run = outcome.folder.path
    assert outcome.exit_code == 0
    held, read = [], 0
    for path in sorted(run.rglob("*")):
        assert CANARY not in str(path.relative_to(folder))
        if path.is_file():
            data = path.read_bytes()
            read += 1
            if BYTES in data:
                held.append(path.relative_to(run).as_posix())
    assert read > 30
    # the sources themselves, on this machine and by digest; nothing that is shown, sent or told
    assert held
    for name in held:
        assert name.startswith("store/objects/b3/"), name
    stored = {(run / name).read_bytes() for name in held}
    assert all(data.startswith(b"The lamp") for data in stored)


def test_no_prompt_of_that_run_holds_the_canary(private_run: tuple[Outcome, Path]) -> None:
    folder = private_run[0].folder
    store, ids = folder.store(read_only=True), set()
    for line in folder.requests.read_text().splitlines():
        ids.add(line.split('"ids_digest":"', 1)[1][:67])
    assert len(ids) == 3
    for digest in ids:
        sent = bytes(i for i in parse_strict(store.get(digest).data) if i < 256)
        assert BYTES not in sent
