"""Stage ``resolve``, third part: what was left out, what may not be, and what was rewritten.

* Law 1 on reading: ``candidates.items`` = kept spans + constraints + the counts of the omissions
  (``retrieval.outside_pool`` apart), and no item is in two of these.
* Law 3 as far as it goes: no two item ranges of one source overlap, kept or omitted.
* A required omission is ``evidence.required.omitted``, whatever its reason.
* ``budget.protected.truncated``: an omitted constraint while ``constraints`` is protected, or a window
  smaller than ``reserved_output + evidence_limit``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from capsules.checks_case import Case
from capsules.omission import OUTSIDE_POOL
from capsules.prompt import PromptCapsule
from capsules.report import INPUT
from capsules.rules import SPAN_ID_PATTERN, Problem

_SPAN_ID = re.compile(SPAN_ID_PATTERN)
_NEED_EVIDENCE = ("omission.items", "omission.ranges", "rewrite.items")


def check_accounts(case: Case) -> None:
    """The accounts of a prompt capsule."""
    prompt = case.prompt
    if prompt is None:
        return
    if case.whole:
        kept = [span.span_id for evidence in case.evidence for span in evidence.capsule.exact_spans]
        case.ledger.judge("omission.items", case.subject, _item_problems(prompt, kept))
        case.ledger.judge("omission.ranges", case.subject, _range_problems(prompt, kept))
        case.ledger.judge("rewrite.items", case.subject, _rewrite_problems(prompt, set(kept)))
    else:
        case.ledger.skip(_NEED_EVIDENCE, INPUT if case.given.store is None else "resolve")
    case.ledger.judge("evidence.required", case.subject, _required_problems(prompt))
    case.ledger.judge("budget.protected", case.subject, _protected_problems(prompt))


def _item_problems(prompt: PromptCapsule, kept: list[str]) -> Iterator[Problem]:
    code = "omission.unaccounted"
    omitted = [gone for gone in prompt.omissions if gone.reason != OUTSIDE_POOL]
    found = len(kept) + len(prompt.constraints) + sum(gone.count for gone in omitted)
    if found != prompt.candidates.items:
        yield Problem(code, "/candidates/items", f"{found} kept and omitted", str(prompt.candidates.items))
    once = set(kept)
    if len(once) < len(kept):
        for span_id, times in Counter(kept).items():
            if times > 1:
                yield Problem(code, "/evidence_capsule_refs", f"span {span_id} kept once", f"{times} times")
    named = [(index, "/constraints/{}/id", each.id) for index, each in enumerate(prompt.constraints)]
    named += [
        (index, "/omissions/{}/item", gone.item)
        for index, gone in enumerate(prompt.omissions)
        if gone.item is not None and gone.reason != OUTSIDE_POOL
    ]
    for index, at, item in named:
        if item in once:
            yield Problem(code, at.format(index), "an item that stands nowhere else", "a repeated one")
        once.add(item)


@lru_cache(maxsize=1 << 16)  # an item is omitted from many prompts
def _place(item: str) -> tuple[str, int, int] | None:
    """Source and range of a span_id; ``None`` for any other item."""
    if not _SPAN_ID.fullmatch(item):
        return None
    source, _, numbers = item.rpartition(":")
    start, _, end = numbers.partition("-")
    return source, int(start), int(end)


def _range_problems(prompt: PromptCapsule, kept: list[str]) -> Iterator[Problem]:
    ats = dict.fromkeys(kept, "/evidence_capsule_refs")
    for index, gone in enumerate(prompt.omissions):
        if gone.item is not None and _place(gone.item):
            ats.setdefault(gone.item, f"/omissions/{index}/item")
    ranges = [(*place, at) for item, at in ats.items() if (place := _place(item))]
    before, reach = "", 0
    for source, first, last, at in sorted(ranges):
        if source == before and first < reach:
            yield Problem(
                "omission.unaccounted", at, f"a range of its source from {reach} on", f"{first}-{last}"
            )
        reach = last if source != before else max(reach, last)
        before = source


def _rewrite_problems(prompt: PromptCapsule, kept: set[str]) -> Iterator[Problem]:
    for index, rewrite in enumerate(prompt.rewrites):
        for place, item in enumerate(rewrite.items):
            if item not in kept:
                at = f"/rewrites/{index}/items/{place}"
                yield Problem("schema.reference", at, "a span of the evidence", "another")


def _required_problems(prompt: PromptCapsule) -> Iterator[Problem]:
    for index, gone in enumerate(prompt.omissions):
        if gone.required:
            yield Problem("evidence.required.omitted", f"/omissions/{index}", "no required item", gone.reason)


def _protected_problems(prompt: PromptCapsule) -> Iterator[Problem]:
    code = "budget.protected.truncated"
    budget = prompt.token_budget
    asked = budget.reserved_output + budget.evidence_limit
    if budget.window < asked:
        yield Problem(code, "/token_budget/window", f"at least {asked}", str(budget.window))
    if "constraints" not in budget.protected:
        return
    for index, gone in enumerate(prompt.omissions):
        if gone.item is not None and gone.reason != OUTSIDE_POOL and not _place(gone.item):
            yield Problem(code, f"/omissions/{index}/item", "no protected constraint", gone.reason)
