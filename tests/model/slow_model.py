"""A second, slow, obvious reading of the rules, for comparison with the fast one for ever.

It shares no code with ``capsules``: plain dicts in, and out come the first stage that fails, the set of
its failure codes, ``valid`` and ``authorized``. Where the two disagree, one of them is wrong.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, NamedTuple

from slow_reader import Json, Reader, Refused, b3, canon

Codes = set[str]
LEVELS = ["public", "internal", "confidential", "restricted"]


def seconds(time: str) -> int | None:
    """Days and seconds since year 0, or None off the calendar."""
    year, month, day, hour, minute, second = map(int, re.split("[-T:]", time[:-1]))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if (
        year < 1
        or not 1 <= month <= 12
        or not 1 <= day <= lengths[month - 1]
        or hour > 23
        or max(minute, second) > 59
    ):
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1]) + day
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def ends(span_id: str) -> tuple[str, int, int]:
    source, _, numbers = span_id.rpartition(":")
    return source, *map(int, numbers.split("-"))  # type: ignore[return-value]


def is_span_id(text: str) -> bool:
    return re.fullmatch(r"b3:[0-9a-f]{64}:(0|[1-9][0-9]*)-[1-9][0-9]*", text) is not None


def span_codes(span: Json, text: str) -> Codes:
    start, end, exact = span["start"], span["end"], span["exact"]
    if end > len(text):
        return {"span.range"}
    same = text[start:end] == exact
    there = [at for at in range(len(text)) if text[at : at + len(exact)] == exact]
    counted = not same or (there.index(start) + 1, len(there)) == (span["occurrence"], span["occurrences"])
    around = (text[max(0, start - 32) : start], text[end : end + 32]) == (span["prefix"], span["suffix"])
    codes = set() if same else {"span.exact.mismatch"}
    return codes if around and counted else codes | {"span.context.mismatch"}


class World(NamedTuple):
    """What a validation is given."""

    store: dict[str, bytes]
    now: int
    project: str | None
    policy: Json
    provider: str | None


def fetch_evidence(world: World, ref: str, shape: Any) -> tuple[Codes, Json]:
    if ref not in world.store:
        return {"evidence.ref.missing"}, None
    data = world.store[ref]
    if b3(data) != ref:
        return {"bytes.digest.mismatch"}, None
    try:
        value = Reader(data).whole()
    except Refused as refused:
        return {str(refused)}, None
    if canon(value) != data:
        return {"json.noncanonical"}, None
    codes, name = shape(value)
    if name == "prompt-capsule/1":
        return {"object.type.mismatch"}, None
    return codes, None if codes else value


def evidence_codes(world: World, evidence: Json, project: str | None) -> Codes:
    codes: Codes = set()
    texts = {}
    for ref in evidence["source_refs"]:
        data = world.store.get(ref["source"])
        if data is None:
            codes.add("source.missing")
        elif b3(data) != ref["source"]:
            codes.add("source.digest.changed")
        else:
            try:
                texts[ref["source"]] = data.decode()
                codes |= {"source.size.mismatch"} if len(data) != ref["bytes"] else set()
            except UnicodeDecodeError:
                codes.add("source.utf8.invalid")
    for span in evidence["exact_spans"]:
        if span["source"] in texts:
            codes |= span_codes(span, texts[span["source"]])
    if any(not claim["span_ids"] for claim in evidence["claim_candidates"]):
        codes.add("label.undetermined")
    if project is not None and evidence["visibility"]["project"] != project:
        codes.add("scope.project.mismatch")
    fresh = evidence["freshness"]
    if fresh["policy"] == "hard" and fresh["expires_at"] and world.now >= (seconds(fresh["expires_at"]) or 0):
        codes.add("freshness.expired")
    return codes


def resolve(world: World, prompt: Json, shape: Any) -> tuple[Codes, list[Json]]:
    codes: Codes = set()
    found = []
    for ref in prompt["evidence_capsule_refs"]:
        wrong, evidence = fetch_evidence(world, ref["id"], shape)
        codes |= wrong
        if evidence is not None:
            found.append(evidence)
            codes |= evidence_codes(world, evidence, prompt["project"])
    levels = [LEVELS.index(evidence["visibility"]["level"]) for evidence in found]
    if any(a >= b for a, b in itertools.pairwise(levels)):
        codes.add("schema.order")
    if prompt["authority"]["project"] != prompt["project"] or world.project not in (None, prompt["project"]):
        codes.add("scope.project.mismatch")
    if any(omission["required"] for omission in prompt["omissions"]):
        codes.add("evidence.required.omitted")
    budget = prompt["token_budget"]
    named = [o["item"] for o in prompt["omissions"] if o["item"] and o["reason"] != "retrieval.outside_pool"]
    truncated = "constraints" in budget["protected"] and any(not is_span_id(item) for item in named)
    if truncated or budget["reserved_output"] + budget["evidence_limit"] > budget["window"]:
        codes.add("budget.protected.truncated")
    whole = len(found) == len(prompt["evidence_capsule_refs"])
    codes |= account_codes(prompt, found, named) if whole else set()
    return codes | snippet_codes(prompt, found, whole), found


def snippet_codes(prompt: Json, found: list[Json], whole: bool) -> Codes:
    snippet = prompt["surface_snippet"]
    if snippet is None:
        return set()
    if not snippet["derived_from"]:
        return {"label.undetermined"}
    codes = set()
    for name in snippet["derived_from"] if whole else []:
        above = [e["visibility"]["level"] for e in found if name in [s["span_id"] for s in e["exact_spans"]]]
        codes |= set() if above else {"schema.reference"}
        if any(LEVELS.index(level) > LEVELS.index(snippet["level"]) for level in above):
            codes.add("label.flow.denied")
    return codes


def account_codes(prompt: Json, found: list[Json], named: list[str]) -> Codes:
    kept = [span["span_id"] for evidence in found for span in evidence["exact_spans"]]
    constraints = [constraint["id"] for constraint in prompt["constraints"]]
    counts = sum(o["count"] for o in prompt["omissions"] if o["reason"] != "retrieval.outside_pool")
    everything = kept + constraints + named
    wrong = len(kept) + len(constraints) + counts != prompt["candidates"]["items"]
    wrong = wrong or any(everything.count(item) > 1 for item in set(kept + named))
    ranges = [ends(item) for item in {*kept, *(item for item in named if is_span_id(item))}]
    for a, b in ((a, b) for a in ranges for b in ranges if a != b and a[0] == b[0]):
        wrong = wrong or max(a[1], b[1]) < min(a[2], b[2])
    codes = {"omission.unaccounted"} if wrong else set()
    if any(item not in kept for rewrite in prompt["rewrites"] for item in rewrite["items"]):
        codes.add("schema.reference")
    return codes


def versions(text: str) -> tuple[int, ...]:
    return tuple([*map(int, text.split(".")), 0, 0][:3])


def runtime_holds(text: str, runtime: str) -> bool:
    number = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,2}"
    if not re.fullmatch(rf"capsules(?:(?:==|!=|<=|>=|<|>){number})(?:,(?:==|!=|<=|>=|<|>){number})*", text):
        return False
    have = versions(runtime)
    for sign, asked in re.findall(rf"(==|!=|<=|>=|<|>)({number})", text):
        want = versions(asked)
        order = (have > want) - (have < want)
        if order not in {"==": [0], "!=": [1, -1], "<=": [0, -1], ">=": [0, 1], "<": [-1], ">": [1]}[sign]:
            return False
    return True


def runtime_codes(prompt: Json, runtime: str) -> Codes:
    texts = [each["text"] for each in prompt["constraints"] if each["kind"] == "runtime"]
    return set() if all(runtime_holds(text, runtime) for text in texts) else {"runtime.unsupported"}


def decide(world: World, prompt: Json, found: list[Json], subject: str) -> tuple[Codes, Codes]:
    """Failure codes that bear on ``valid``, and those that bear on ``authorized`` alone."""
    authority, policy = prompt["authority"], world.policy
    codes = set()
    if world.now < (seconds(authority["not_before"]) or 0):
        codes.add("authority.not_yet_valid")
    if world.now >= (seconds(authority["expires_at"]) or 0):
        codes.add("authority.expired")
    labels = [evidence["visibility"] for evidence in found] + [
        prompt["surface_snippet"] or {"level": "public"}
    ]
    highest = max(LEVELS.index(label["level"]) for label in labels)
    if highest > LEVELS.index(authority["max_level"]):
        codes.add("authority.scope_exceeded")
    if policy is None:
        return codes, set()
    sources = [ref["source"] for evidence in found for ref in evidence["source_refs"]]
    if {subject, *(ref["id"] for ref in prompt["evidence_capsule_refs"]), *sources} & set(policy["revoked"]):
        codes.add("authority.revoked")
    if not {"prompt-capsule/1", *(["evidence-capsule/1"] if found else [])} <= set(
        policy["supported_schemas"]
    ):
        codes.add("schema.major.unsupported")
    if prompt["project"] not in policy["projects"]:
        codes.add("scope.project.mismatch")
    codes |= runtime_codes(prompt, policy["runtime"])
    refused: Codes = set()
    if world.provider is not None:
        if "generate" not in authority["operations"]:
            refused.add("authority.scope_exceeded")
        profiles = [profile for profile in policy["providers"] if profile["id"] == world.provider]
        if world.provider not in authority["providers"] or not profiles:
            refused.add("provider.unauthorized")
        for profile in profiles:
            if "generate" not in profile["operations"] or prompt["project"] not in profile["projects"]:
                refused.add("provider.unauthorized")
            if highest > LEVELS.index(profile["max_level"]):
                refused.add("label.flow.denied")
    return codes, refused


def judge(data: bytes, world: World, shape: Any) -> tuple[str, Codes, bool, bool | None]:
    """(first stage that fails, its codes, valid, authorized) for a prompt capsule in its wire form."""
    denied = None if world.provider is None else False
    try:
        whole = Reader(data).whole()
    except Refused as refused:
        return "parse", {str(refused)}, False, denied
    if not isinstance(whole, dict) or "digest" not in whole:
        return "bytes", {"bytes.digest.missing"}, False, denied
    value = {key: item for key, item in whole.items() if key != "digest"}
    subject = whole["digest"]
    if not isinstance(subject, str) or not re.fullmatch("b3:[0-9a-f]{64}", subject):
        return "bytes", {"id.malformed"}, False, denied
    if b3(canon(value)) != subject:
        return "bytes", {"bytes.digest.mismatch"}, False, denied
    if canon(whole) != data:
        return "parse", {"json.noncanonical"}, False, denied
    codes, name = shape(value)
    wrong_type = {"object.type.mismatch"} if name == "evidence-capsule/1" else set()
    codes = wrong_type or codes or runtime_codes(value, "1.0.0")
    if codes:
        return "schema", codes, False, denied
    codes, found = resolve(world, value, shape)
    if codes:
        return "resolve", codes, False, denied
    codes, refused = decide(world, value, found, subject)
    valid = not codes
    authorized = None if world.provider is None else valid and not refused
    return ("policy" if codes or refused else ""), codes | refused, valid, authorized
