"""Stage ``render``: what the tokenizer that will be used makes of the capsule.

Only with a tokenizer. Law 2 on reading: ``candidates.tokens`` = tokens of the kept items before any
rewrite + the tokens of the omissions; a rewrite's ``tokens_before`` are those of its items, its
``tokens_sent`` the ids of its segment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from capsules.checks_case import RENDER_CHECKS, Case
from capsules.errors import RenderError
from capsules.prompt import PromptCapsule
from capsules.rendering import Rendered, render
from capsules.report import INPUT
from capsules.rules import Problem
from capsules.tokenized import TokenizedPrompt, tokenize
from capsules.tokenizer import Tokenizer


def check_render(case: Case) -> None:
    """Render, tokenize, and recount on the ids."""
    prompt, tokenizer = case.prompt, case.given.tokenizer
    if prompt is None or tokenizer is None or not case.whole or case.given.store is None:
        case.ledger.skip(RENDER_CHECKS, INPUT)
        return
    budget = prompt.token_budget
    other = Problem(
        "tokenizer.mismatch",
        "/token_budget/tokenizer_digest",
        budget.tokenizer_digest,
        tokenizer.tokenizer_digest,
    )
    same = budget.tokenizer_digest == tokenizer.tokenizer_digest
    if not case.ledger.judge("tokenizer.identity", case.subject, [other] * (not same)):
        return
    rendered = _render(case, prompt)
    sent = None if rendered is None else _tokenize(case, rendered, tokenizer)
    if sent is not None:
        _check_ids(case, prompt, sent, _before(case, prompt, sent, tokenizer))


def _before(case: Case, prompt: PromptCapsule, sent: TokenizedPrompt, tokenizer: Tokenizer) -> dict[str, int]:
    """Tokens of every constraint and kept item before any rewrite, by its id."""
    if not prompt.rewrites:
        return {segment.ref: segment.n for segment in sent.segments if segment.ref is not None}
    bare = replace(prompt, rewrites=())
    rendered = render(bare, [evidence.capsule for evidence in case.evidence], case.texts)
    return {s.ref: len(tokenizer.encode(s.text)) for s in rendered.segments if s.ref is not None}


def _render(case: Case, prompt: PromptCapsule) -> Rendered | None:
    try:
        rendered = render(prompt, [evidence.capsule for evidence in case.evidence], case.texts)
    except RenderError as error:
        found = Problem(error.code, error.at, "a prompt that renders", "a refusal")
        case.ledger.judge("render.segments", case.subject, [found])
        return None
    case.ledger.judge("render.segments", case.subject, [])
    return rendered


def _tokenize(case: Case, rendered: Rendered, tokenizer: Tokenizer) -> TokenizedPrompt | None:
    try:
        sent = tokenize(rendered, tokenizer)
    except RenderError as error:
        found = Problem(error.code, error.at, "content without control ids", "one")
        case.ledger.judge("render.control", case.subject, [found])
        return None
    case.ledger.judge("render.control", case.subject, [])
    return sent


def _check_ids(case: Case, prompt: PromptCapsule, sent: TokenizedPrompt, before: Mapping[str, int]) -> None:
    places = {each.id: f"/constraints/{index}/text" for index, each in enumerate(prompt.constraints)}
    lossy = [segment for segment in sent.segments if segment.lossy]
    for segment in lossy:
        shown = "/evidence_capsule_refs" if segment.kind == "item" else "/active_object/text"
        at = places.get(segment.ref or "", shown)
        case.ledger.inform("render.fidelity", case.subject, "render.lossy", at)
    if not lossy:
        case.ledger.judge("render.fidelity", case.subject, [])
    found = sum(before.values()) + sum(gone.tokens or 0 for gone in prompt.omissions)
    claimed = prompt.candidates.tokens
    unaccounted = Problem(
        "omission.unaccounted", "/candidates/tokens", f"{found} kept and omitted", f"{claimed}"
    )
    problems = [unaccounted] * (found != claimed) + [*_rewrite_problems(prompt, sent, before)]
    case.ledger.judge("omission.tokens", case.subject, problems)
    room = prompt.token_budget.window - prompt.token_budget.reserved_output
    over = Problem(
        "budget.protected.truncated", "/token_budget/window", f"at most {room} ids", f"{len(sent.ids)}"
    )
    case.ledger.judge("budget.window", case.subject, [over] * (len(sent.ids) > room))


def _rewrite_problems(
    prompt: PromptCapsule, sent: TokenizedPrompt, before: Mapping[str, int]
) -> Iterator[Problem]:
    shown = {segment.ref: segment.n for segment in sent.segments if segment.kind == "item"}
    for index, rewrite in enumerate(prompt.rewrites):
        counted = (
            ("tokens_before", sum(before[item] for item in rewrite.items), rewrite.tokens_before),
            ("tokens_sent", shown[rewrite.items[0]], rewrite.tokens_sent),
        )
        for field, found, claimed in counted:
            if found != claimed:
                at = f"/rewrites/{index}/{field}"
                yield Problem("omission.unaccounted", at, f"{found}, counted again", str(claimed))
