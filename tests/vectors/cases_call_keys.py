"""Vectors of calls: aliases, artifacts, and what is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kit
from call_recipe import ID, TOKENIZER, CallVector, call, folder, world
from kit import NOW, World, stored

from capsules.alias import make_alias
from capsules.artifact import token_artifact
from capsules.canonical import canonical_bytes
from capsules.codec import from_value, to_value
from capsules.content_id import content_id
from capsules.equivalence import EquivalenceContract
from capsules.evidence import EvidenceCapsule
from capsules.kv_chain import kv_block
from capsules.member import Member
from capsules.prompt import PromptCapsule

MADE = "2024-05-01T00:00:00Z"


CONTRACT = {
    "schema_id": "equivalence-contract/1",
    "contract_id": "same-question",
    "version": 1,
    "relation": "the same question over the same evidence",
    "subject": "prompt-capsule/1",
    "projection": "fields/1",
    "ignores": ["active_object.ref", "capsule_id"],
    "uses": ["inspect", "substitute"],
    "project": "demo",
    "salt": 0,
    "expires_at": "2025-06-01T00:00:00Z",
}
MEMBERS = ["prompt.json", "prompt_twin.json"]


def cases() -> Iterator[CallVector]:
    """All of them."""
    for part in (_contracts, _made_aliases, _resolved_aliases, _artifacts, _egress):
        yield from part()


def _contracts() -> Iterator[CallVector]:
    for name, code, field, value in (
        ("protected", "alias.ignore.protected", "ignores", ["authority.providers"]),
        ("use", "alias.use.denied", "uses", ["kv"]),
    ):
        bad = {"contract.json": stored(CONTRACT | {field: value})}
        why = f"what no contract may say: {name}"
        yield call(f"contract-{name}", why, code, f"/{field}/0", files=bad, call="contract")


def _twins() -> tuple[World, World, dict[str, bytes]]:
    """A prompt, another of the same class, and their folder, where one of another class lies too."""
    made, other, twin = world(), world(), world()
    other.prompt["active_object"]["text"] = "When did the tank leak?"
    twin.prompt["capsule_id"] = "demo:vectors:q-1:again"
    files = folder(
        made,
        prompt_other__json=stored(other.prompt),
        prompt_twin__json=stored(twin.prompt),
        contract__json=stored(CONTRACT),
    )
    return made, twin, files


def _made_aliases() -> Iterator[CallVector]:
    asked: dict[str, Any] = {"call": "make_alias", "created_at": MADE, "files": _twins()[2]}
    late = {"members": MEMBERS, "expires_at": "2025-01-01T00:00:01Z"}
    others = {"members": ["prompt.json", "prompt_other.json"]}
    yield call("alias", "two prompts of one question", members=MEMBERS, **asked)
    yield call("alias-class", "of two questions", "alias.class.mismatch", **asked, **others)
    yield call("alias-late", "a second after its members", "alias.expiry.exceeded", **asked, **late)


def _resolved_aliases() -> Iterator[CallVector]:
    made, twin, files = _twins()
    evidence = tuple(from_value(EvidenceCapsule, value) for value in (made.public, made.internal))
    members = [
        Member(capsule=from_value(PromptCapsule, one.prompt), evidence=evidence) for one in (made, twin)
    ]
    alias = make_alias(from_value(EquivalenceContract, CONTRACT), members, created_at=MADE)
    files = files | {"alias.json": stored(to_value(alias))}
    usual: dict[str, Any] = {
        "call": "resolve_alias",
        "members": MEMBERS,
        "now": NOW,
        "use": "substitute",
        "store": True,
    }
    revoked = files | {"contract.json": stored(CONTRACT | {"salt": 1})}
    yield call("resolve", "an exact member, validated", files=files, **usual)
    for name, why, code, change, given in (
        ("use", "a use that the contract does not list", "alias.use.denied", {"use": "group"}, files),
        ("revoked", "a contract that was revoked", "alias.contract.mismatch", {}, revoked),
        ("late", "the second in which it ends", "alias.expired", {"now": "2025-01-01T00:00:00Z"}, files),
        ("stranger", "an id that is no member", "alias.member.unknown", {"member": ID}, files),
        ("unseen", "a validation without a store", "alias.member.unverified", {"store": False}, files),
    ):
        yield call(f"resolve-{name}", why, code, files=given, **(usual | change))


def _artifacts() -> Iterator[CallVector]:
    made, digest = world(), content_id(TOKENIZER.encode())
    artifact = token_artifact(from_value(PromptCapsule, made.prompt), [1, 2, 3], digest)
    files = {"prompt.json": stored(made.prompt), "artifact.json": stored(to_value(artifact))}
    block = to_value(kv_block(ID, [1, 2, 3, 4]))
    for name, why, ids, code in (
        ("", "the ids that were kept", [1, 2, 3], None),
        ("-other", "other ids under the same key", [1, 2, 4], "artifact.mismatch"),
    ):
        given = files | {"ids.json": canonical_bytes(ids)}
        yield call(f"tokens{name}", why, code, files=given, call="confirm_tokens", tokenizer_digest=digest)
        given = {"block.json": stored(block), "ids.json": canonical_bytes([*ids, 4])}
        yield call(f"block{name}", why, code, files=given, call="confirm_block", parent=ID)
    given = {"block.json": stored(block | {"token_ids": [1, 2, 3, 5]}), "ids.json": b"[1,2,3,5]"}
    yield call(
        "block-key",
        "a key of other ids",
        "artifact.mismatch",
        "/key",
        files=given,
        call="confirm_block",
        parent=ID,
    )


def _egress() -> Iterator[CallVector]:
    files = folder(world(), policy__json=stored(kit.policy()))
    asked: dict[str, Any] = {"body": "as rendered", "provider": "local", "files": files}
    later, earlier = "2024-06-01T12:00:01Z", "2024-06-01T11:59:59Z"
    send = asked | {"call": "send"}
    yield call("send", "sent once, a second later", clock=[NOW, later], times=1, **send)
    yield call("send-twice", "a permission is for once", "decision.spent", clock=[NOW] * 3, times=2, **send)
    yield call(
        "send-rollback", "a clock that went back", "clock.rollback", clock=[NOW, earlier], times=1, **send
    )
    yield call(
        "send-late",
        "the authority ended before the send",
        "authority.expired",
        clock=[NOW, "2025-01-01T00:00:00Z"],
        times=1,
        **send,
    )
    yield call(
        "deliver",
        "the first answers",
        clock=[NOW] * 2,
        failure=None,
        fallbacks=["far"],
        call="deliver",
        **asked,
    )
    yield call(
        "deliver-unlisted",
        "nobody lists the next one as a fallback",
        "provider.route.unlisted",
        clock=[NOW] * 4,
        failure="provider.timeout",
        fallbacks=["far"],
        call="deliver",
        **asked,
    )
