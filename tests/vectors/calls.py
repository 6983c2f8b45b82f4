"""The closed table of calls that the vectors of ``calls/`` make inside the process.

Each folder of ``calls/`` has ``args.json`` with ``call`` and its arguments, the files that the call reads,
and ``expected.json`` with ``code`` and ``at`` of the first refusal (``null`` and ``""``: it came out well).
What a repository cannot keep (a symlink, a FIFO, a written store) is made in a scratch folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsules.alias import AliasRecord, Caller, make_alias, resolve
from capsules.artifact import TokenArtifact, confirm_tokens
from capsules.canonical import canonical_bytes, parse_strict
from capsules.codec import digest_of, from_value, preimage
from capsules.content_id import content_id
from capsules.decision import Ask, Gate
from capsules.delivery import TransportError, deliver
from capsules.disk_store import DiskStore
from capsules.egress import Outgoing, authorize, send
from capsules.equivalence import EquivalenceContract
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.kv_chain import KvBlock, confirm_block
from capsules.member import Member
from capsules.policy import read_policy
from capsules.prompt import PromptCapsule
from capsules.rebuild_prompt import rebuild_prompt
from capsules.rendering import render, unrender
from capsules.report_json import read_report, registry_id
from capsules.store import MemoryStore
from capsules.store_refs import Ref
from capsules.timestamp import parse_time
from capsules.tokenized import tokenize
from capsules.validation import Given, validate

Found = tuple[str, str] | None  # code and pointer of the first refusal
PROJECT, NAME = "demo", "demo:vectors:q-1:prompt"


class ByteTokenizer:
    """One id a byte of UTF-8, behind a BOS.

    Args:
        name: The digest is that of this text.
        control: Bytes that are control ids.
    """

    tokenizer_id = "hf:bytes"
    bos_id: int | None = 256

    def __init__(self, name: str, control: Sequence[int]) -> None:
        self.tokenizer_digest = content_id(name.encode())
        self.control_ids = frozenset({256, *control})

    def encode(self, text: str) -> list[int]:
        """The bytes."""
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the bytes."""
        return bytes(ids).decode()


@dataclass(frozen=True)
class Inputs:
    """What one call is made with."""

    folder: Path
    scratch: Path
    args: dict[str, Any]

    def value(self, name: str) -> Any:
        """The JSON value of a file."""
        return parse_strict((self.folder / name).read_bytes())

    def prompt(self, name: str = "prompt.json") -> PromptCapsule:
        """A prompt capsule."""
        return from_value(PromptCapsule, self.value(name))

    def evidence(self) -> list[EvidenceCapsule]:
        """The evidence capsules, in order."""
        return [from_value(EvidenceCapsule, self.value(p.name)) for p in self._named("evidence-*.json")]

    def texts(self) -> dict[str, str]:
        """The texts of the sources, by id."""
        found = [path.read_bytes() for path in self._named("source-*.txt")]
        return {content_id(data): data.decode() for data in found}

    def store(self) -> MemoryStore:
        """A store of everything in the folder that a capsule may refer to."""
        store = MemoryStore()
        store.put_many(text.encode() for text in self.texts().values())
        store.put_many(preimage(capsule) for capsule in self.evidence())
        store.put_many(preimage(self.prompt(path.name)) for path in self._named("prompt*.json"))
        return store

    def tokenizer(self) -> ByteTokenizer:
        """The tokenizer that the arguments name."""
        return ByteTokenizer(self.args["tokenizer"], self.args.get("control", ()))

    def contract(self) -> EquivalenceContract:
        """The equivalence contract."""
        return from_value(EquivalenceContract, self.value("contract.json"))

    def members(self) -> list[Member]:
        """The members that the arguments name."""
        evidence = tuple(self.evidence())
        return [Member(capsule=self.prompt(name), evidence=evidence) for name in self.args["members"]]

    def _named(self, pattern: str) -> Iterator[Path]:
        yield from sorted(self.folder.glob(pattern))


def _contract(given: Inputs) -> Found:
    given.contract()
    return None


def _make_alias(given: Inputs) -> Found:
    made, ends = given.args["created_at"], given.args.get("expires_at")
    make_alias(given.contract(), given.members(), created_at=made, expires_at=ends)
    return None


def _resolve_alias(given: Inputs) -> Found:
    args = given.args
    store = given.store() if args["store"] else None
    members = {member.id: member for member in given.members()}
    context = Given(now=args["now"], store=store, project=PROJECT)
    caller = Caller(
        project=PROJECT,
        now=args["now"],
        use=args["use"],
        load=members.__getitem__,
        validate=lambda data, expect: validate(data, context, expect=expect),
    )
    alias = from_value(AliasRecord, given.value("alias.json"))
    resolve(alias, given.contract(), caller, member=args.get("member"))
    return None


def _confirm_tokens(given: Inputs) -> Found:
    artifact = from_value(TokenArtifact, given.value("artifact.json"))
    confirm_tokens(artifact, given.prompt(), given.value("ids.json"), given.args["tokenizer_digest"])
    return None


def _confirm_block(given: Inputs) -> Found:
    block = from_value(KvBlock, given.value("block.json"))
    confirm_block(block, given.args["parent"], given.value("ids.json"))
    return None


def _render(given: Inputs) -> Found:
    render(given.prompt(), given.evidence(), given.texts())
    return None


def _tokenize(given: Inputs) -> Found:
    tokenize(render(given.prompt(), given.evidence(), given.texts()), given.tokenizer())
    return None


def _unrender(given: Inputs) -> Found:
    unrender((given.folder / "text").read_text(encoding="utf-8"), given.args["tag"])
    return None


def _validate(given: Inputs) -> Found:
    prompt = given.prompt()
    context = Given(now=given.args["now"], store=given.store(), tokenizer=given.tokenizer())
    report = validate(preimage(prompt), context, expect=digest_of(prompt))
    return next(((row.code or "", row.at or "") for row in report.checks if row.result == "fail"), None)


def _read_report(given: Inputs) -> Found:
    value = given.value("report.json") | {"registry_id": registry_id()}  # codes are appended
    read_report(canonical_bytes(value))
    return None


def _rebuild_prompt(given: Inputs) -> Found:
    changes = {
        source: None if name is None else (given.folder / name).read_bytes()
        for source, name in given.args["changes"].items()
    }
    found = rebuild_prompt(given.prompt(), given.evidence(), given.texts(), changes, given.tokenizer())
    return (found.problems[0].code, found.problems[0].at) if found.problems else None


def _refs(given: Inputs) -> Found:
    """Steps on a store: put TEXT, swap ID (seen: the last ref or none), read (at least), spoil, open."""
    root = given.scratch / "store"
    store = DiskStore(root)
    seen: Ref | None = None
    for step, value in given.args["steps"]:
        if step == "put":
            store.put(value.encode())
        elif step == "swap":
            seen = store.refs.swap(PROJECT, NAME, value["id"], seen=seen if value["seen"] else None)
        elif step == "read":
            seen = store.refs.read(PROJECT, NAME, at_least=value)
        elif step == "spoil":
            names = (content_id(name.encode())[3:] for name in (PROJECT, NAME))
            path = root.joinpath("refs", *names).with_suffix(".json")
            path.chmod(0o644)
            path.write_bytes(value.encode())
        else:
            store = DiskStore(root, read_only=value)
    return None


def _get(given: Inputs) -> Found:
    """Read an object after something else was put in its place, or in the place of the whole store."""
    root, args = given.scratch / "store", given.args
    name = DiskStore(root).put(args["object"].encode())
    path = root if args["of"] == "store" else root / "objects" / "b3" / name[3:5] / name[5:]
    if args["plant"] is not None:
        path.rename(given.scratch / "elsewhere")
    if args["plant"] == "symlink":
        path.symlink_to(given.scratch / "elsewhere")
    elif args["plant"] == "fifo":
        os.mkfifo(path)
    DiskStore(root, read_only=True).get(name)
    return None


class _Transport:
    """Answers, or fails with a code."""

    def __init__(self, failure: str | None) -> None:
        self._failure = failure

    def send(self, outgoing: Outgoing) -> str:
        if self._failure is not None:
            raise TransportError(self._failure, "as told")
        return outgoing.provider


def _route(given: Inputs) -> tuple[Ask, Gate, bytes]:
    """Who asks, what decides, and what is to be sent."""
    body = given.args["body"].encode()
    capsule, provider = digest_of(given.prompt()), given.args["provider"]
    ask = Ask(
        capsule=capsule, body=content_id(body), provider=provider, operation="generate", project=PROJECT
    )
    readings = iter([parse_time(now) for now in given.args["clock"]])
    policy = read_policy(canonical_bytes(given.value("policy.json")))
    return ask, Gate(policy=policy, store=given.store(), clock=lambda: next(readings)), body


def _send(given: Inputs) -> Found:
    ask, gate, body = _route(given)
    request = authorize(ask, gate).require()
    for _ in range(given.args["times"]):
        send(request, body, _Transport(None), gate.clock)
    return None


def _deliver(given: Inputs) -> Found:
    ask, gate, body = _route(given)
    done = deliver(ask, body, _Transport(given.args["failure"]), gate, given.args["fallbacks"])
    codes = done.hops[-1].codes
    return (codes[0], "") if codes else None


CALLS: dict[str, Callable[[Inputs], Found]] = {
    "confirm_block": _confirm_block,
    "confirm_tokens": _confirm_tokens,
    "contract": _contract,
    "deliver": _deliver,
    "get": _get,
    "make_alias": _make_alias,
    "read_report": _read_report,
    "rebuild_prompt": _rebuild_prompt,
    "refs": _refs,
    "render": _render,
    "resolve_alias": _resolve_alias,
    "send": _send,
    "tokenize": _tokenize,
    "unrender": _unrender,
    "validate": _validate,
}


def outcome(folder: Path) -> dict[str, Any]:
    """What a call of ``calls/`` comes to, as ``expected.json`` holds it."""
    args: Any = parse_strict((folder / "args.json").read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = CALLS[args["call"]](Inputs(folder=folder, scratch=Path(scratch), args=args))
        except CapsuleError as error:
            found = (error.code, error.at)
    return {"code": found[0], "at": found[1]} if found else {"code": None, "at": ""}
