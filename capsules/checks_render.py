"""Stage ``render``: what the tokenizer that will be used makes of the capsule.

Only with a tokenizer. Law 2 on reading: ``candidates.tokens`` = tokens of the kept items as sent + the
tokens of the omissions. A prompt with rewrites is rendered by its builder alone and skipped here.
"""

from __future__ import annotations

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
    if prompt.rewrites:
        case.ledger.skip(RENDER_CHECKS, INPUT)
        return
    rendered = _render(case, prompt)
    sent = None if rendered is None else _tokenize(case, rendered, tokenizer)
    if sent is not None:
        _check_ids(case, prompt, sent)


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


def _check_ids(case: Case, prompt: PromptCapsule, sent: TokenizedPrompt) -> None:
    places = {each.id: f"/constraints/{index}/text" for index, each in enumerate(prompt.constraints)}
    lossy = [segment for segment in sent.segments if segment.lossy]
    for segment in lossy:
        shown = "/evidence_capsule_refs" if segment.kind == "item" else "/active_object/text"
        at = places.get(segment.ref or "", shown)
        case.ledger.inform("render.fidelity", case.subject, "render.lossy", at)
    if not lossy:
        case.ledger.judge("render.fidelity", case.subject, [])
    kept = sum(segment.n for segment in sent.segments if segment.ref is not None)
    found = kept + sum(gone.tokens or 0 for gone in prompt.omissions)
    claimed = prompt.candidates.tokens
    unaccounted = Problem(
        "omission.unaccounted", "/candidates/tokens", f"{found} kept and omitted", f"{claimed}"
    )
    case.ledger.judge("omission.tokens", case.subject, [unaccounted] * (found != claimed))
    room = prompt.token_budget.window - prompt.token_budget.reserved_output
    over = Problem(
        "budget.protected.truncated", "/token_budget/window", f"at most {room} ids", f"{len(sent.ids)}"
    )
    case.ledger.judge("budget.window", case.subject, [over] * (len(sent.ids) > room))
