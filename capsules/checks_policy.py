"""Stage ``policy``: authority at the injected clock, the policy file, and the named provider.

Authority is half-open: valid while ``not_before <= now < expires_at``. Revocation, schemas, runtime
and project of the policy bear on ``valid``; what a provider and an operation need bears on
``authorized``. Every refusal is collected, and any one of them denies.
"""

from __future__ import annotations

from collections.abc import Iterator

from capsules.checks_case import Case
from capsules.checks_schema import runtime_problems
from capsules.described import described
from capsules.policy import Policy, Use, provider_problems
from capsules.prompt import PromptCapsule
from capsules.report import AUTHORIZATION, INPUT
from capsules.rules import LEVELS, Problem
from capsules.timestamp import format_time, parse_time


def check_policy(case: Case) -> None:
    """Everything that time, authority and policy have to say."""
    prompt, policy = case.prompt, case.given.policy
    if prompt is not None:
        case.ledger.judge("authority.validity", case.subject, _validity_problems(prompt, case.given.seconds))
        _check_levels(case, prompt)
    if policy is not None:
        case.ledger.judge("policy.revoked", case.subject, _revoked_problems(case, policy))
        _check_listed(case, policy)
    if case.given.provider is not None:
        _check_use(case, case.given.provider)


def _validity_problems(prompt: PromptCapsule, now: int) -> Iterator[Problem]:
    authority = prompt.authority
    if now < parse_time(authority.not_before):
        found = format_time(now)
        yield Problem(
            "authority.not_yet_valid", "/authority/not_before", f"not before {authority.not_before}", found
        )
    if now >= parse_time(authority.expires_at):
        found = format_time(now)
        yield Problem("authority.expired", "/authority/expires_at", f"before {authority.expires_at}", found)


def _levels(case: Case) -> list[tuple[str, str]]:
    """(pointer into the prompt, level) of everything in it that has a label."""
    levels = [
        (f"/evidence_capsule_refs/{evidence.place}", evidence.capsule.visibility.level)
        for evidence in case.evidence
    ]
    if case.prompt is not None and case.prompt.surface_snippet is not None:
        levels.append(("/surface_snippet/level", case.prompt.surface_snippet.level))
    return levels


def _check_levels(case: Case, prompt: PromptCapsule) -> None:
    if not case.whole:
        case.ledger.skip(("authority.level",), INPUT)
        return
    highest = prompt.authority.max_level
    problems = [
        Problem("authority.scope_exceeded", at, f"at most {highest}", level)
        for at, level in _levels(case)
        if LEVELS.index(level) > LEVELS.index(highest)
    ]
    case.ledger.judge("authority.level", case.subject, problems)


def _revoked_problems(case: Case, policy: Policy) -> Iterator[Problem]:
    named = [("", case.subject)]
    if case.prompt is not None:
        refs = case.prompt.evidence_capsule_refs
        named += [(f"/evidence_capsule_refs/{place}", ref.id) for place, ref in enumerate(refs)]
    for evidence in case.evidence:
        at = "/source_refs" if case.prompt is None else f"/evidence_capsule_refs/{evidence.place}"
        named += [(at, ref.source) for ref in evidence.capsule.source_refs]
    for at, name in dict.fromkeys(named):
        if name in policy.revoked:
            yield Problem("authority.revoked", at, "an id that is not revoked", name)


def _check_listed(case: Case, policy: Policy) -> None:
    schemas = {evidence.capsule.schema_id for evidence in case.evidence}
    if case.prompt is not None:
        schemas.add(case.prompt.schema_id)
    case.ledger.judge(
        "policy.schema",
        case.subject,
        [
            Problem("schema.major.unsupported", "/schema_id", "a schema of the policy", schema_id)
            for schema_id in sorted(schemas - set(policy.supported_schemas))
        ],
    )
    if case.prompt is not None:
        case.ledger.judge("policy.runtime", case.subject, runtime_problems(case.prompt, policy.runtime))
    project = _project(case)
    found = Problem("scope.project.mismatch", "/project", "a project of the policy", described(project))
    case.ledger.judge("policy.project", case.subject, [found] * (project not in policy.projects))


def _project(case: Case) -> str:
    return case.evidence[0].capsule.visibility.project if case.prompt is None else case.prompt.project


def _check_use(case: Case, provider: str) -> None:
    operation = case.given.operation
    if case.prompt is None:
        # Evidence by itself carries no authority, and nothing is sent without one.
        missing = Problem("authority.missing", "", "the authority of a prompt capsule", "none")
        for check in ("authority.operation", "authority.provider"):
            case.ledger.judge(check, case.subject, [missing])
    else:
        authority = case.prompt.authority
        refused = Problem(
            "authority.scope_exceeded", "/authority/operations", "the operation", ascii(operation)[:80]
        )
        case.ledger.judge(
            "authority.operation", case.subject, [refused] * (operation not in authority.operations)
        )
        refused = Problem(
            "provider.unauthorized", "/authority/providers", "the provider", ascii(provider)[:80]
        )
        case.ledger.judge(
            "authority.provider", case.subject, [refused] * (provider not in authority.providers)
        )
    if case.given.policy is not None:
        use = Use(
            provider=provider,
            operation=operation,
            project=_project(case),
            levels=tuple(level for _, level in _levels(case)),
        )
        if not case.whole:  # the levels of the evidence are unknown: neither allowed nor denied
            case.ledger.skip(("provider.level",), INPUT)
        for check, problems in provider_problems(case.given.policy, use).items():
            if check != "provider.level" or case.whole:
                case.ledger.judge(check, case.subject, problems)
        case.ledger.skip(sorted(AUTHORIZATION), "policy")
