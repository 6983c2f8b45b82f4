"""Stage ``resolve``, second part: labels by derivation, projects, freshness.

* Labels flow by derivation, never by scanning text: what derives from spans carries the join of their
  levels. A text that names none is ``label.undetermined``; one that claims less is ``label.flow.denied``
  (claiming more never leaks and is allowed).
* One project: the prompt's, its authority's, the caller's and that of every evidence capsule.
* Freshness is half-open: expired once ``expires_at <= now``. Under the policy ``hard`` that is a
  failure, under ``soft`` an information.
"""

from __future__ import annotations

from collections.abc import Iterator

from capsules.checks_case import Case, Evidence
from capsules.described import described
from capsules.report import INPUT
from capsules.rules import LEVELS, Problem
from capsules.timestamp import parse_time


def check_labels(case: Case) -> None:
    """Everything about labels, projects and age that needs no policy."""
    for evidence in case.evidence:
        case.ledger.judge("label.derivation", evidence.id, _claim_problems(evidence))
    if case.prompt is not None:
        _check_snippet(case)
    _check_projects(case)
    _check_freshness(case)


def _claim_problems(evidence: Evidence) -> Iterator[Problem]:
    for index, claim in enumerate(evidence.capsule.claim_candidates):
        if not claim.span_ids:
            at = f"/claim_candidates/{index}/span_ids"
            yield Problem("label.undetermined", at, "the spans that the claim derives from", "none")


def span_levels(case: Case) -> dict[str, str]:
    """The level of every kept span: that of its capsule, the highest where it stands in several."""
    levels: dict[str, str] = {}
    for evidence in case.evidence:
        level = evidence.capsule.visibility.level
        for span in evidence.capsule.exact_spans:
            levels[span.span_id] = max(levels.get(span.span_id, level), level, key=LEVELS.index)
    return levels


def _check_snippet(case: Case) -> None:
    snippet = None if case.prompt is None else case.prompt.surface_snippet
    if snippet is not None and snippet.derived_from and not case.whole:
        blocked_by = INPUT if case.given.store is None else "resolve"
        case.ledger.skip(("label.derivation",), blocked_by, case.subject)
        return
    problems = []
    if snippet is not None:
        at = "/surface_snippet/derived_from"
        levels = span_levels(case)
        if not snippet.derived_from:
            problems.append(
                Problem("label.undetermined", at, "the spans that the snippet derives from", "none")
            )
        for place, span_id in enumerate(snippet.derived_from):
            if span_id not in levels:
                problems.append(
                    Problem("schema.reference", f"{at}/{place}", "a span of the evidence", "another")
                )
        known = [levels[span_id] for span_id in snippet.derived_from if span_id in levels]
        join = max(known, key=LEVELS.index, default=snippet.level)
        if LEVELS.index(snippet.level) < LEVELS.index(join):
            problems.append(
                Problem("label.flow.denied", "/surface_snippet/level", f"at least {join}", snippet.level)
            )
    case.ledger.judge("label.derivation", case.subject, problems)


def _check_projects(case: Case) -> None:
    asked = case.given.project
    prompt = case.prompt
    code = "scope.project.mismatch"
    if prompt is not None:
        problems = []
        if asked not in (None, prompt.project):
            problems.append(Problem(code, "/project", ascii(asked)[:80], described(prompt.project)))
        if prompt.authority.project != prompt.project:
            at = "/authority/project"
            found = described(prompt.authority.project)
            problems.append(Problem(code, at, "the project of the prompt", found))
        case.ledger.judge("scope.project", case.subject, problems)
        asked, expected = prompt.project, "the project of the prompt"
    elif asked is None:
        case.ledger.skip(("scope.project",), INPUT)
        return
    else:
        expected = ascii(asked)[:80]  # the caller's own word
    for evidence in case.evidence:
        project = evidence.capsule.visibility.project
        problem = Problem(code, "/visibility/project", expected, described(project))
        case.ledger.judge("scope.project", evidence.id, [problem] * (project != asked))


def _check_freshness(case: Case) -> None:
    if not case.evidence:
        if case.whole:
            case.ledger.judge("freshness.expiry", case.subject, [])
        else:
            case.ledger.skip(("freshness.expiry",), INPUT if case.given.store is None else "resolve")
    for evidence in case.evidence:
        freshness = evidence.capsule.freshness
        at = "/freshness/expires_at"
        if freshness.expires_at is None or case.given.seconds < parse_time(freshness.expires_at):
            case.ledger.judge("freshness.expiry", evidence.id, [])
        elif freshness.policy == "soft":
            case.ledger.inform("freshness.expiry", evidence.id, "freshness.stale", at)
        else:
            found = Problem(
                "freshness.expired", at, f"now before {freshness.expires_at}", "now at or after it"
            )
            case.ledger.judge("freshness.expiry", evidence.id, [found])
