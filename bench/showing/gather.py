"""From a capsule and a store to what is shown (``bench.showing.view``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.commands.find_capsule import Capsule, stored_capsule
from bench.planner import OPERATION
from bench.plural import number_of
from bench.run_store import RunError
from bench.showing.evidence import Sources, evidence_view
from bench.showing.rewrites import rewrite_view
from bench.showing.view import CapsuleView, EvidenceView, OmissionView, ReasonView, ValidityView
from capsules.authority import Authority
from capsules.codec import preimage
from capsules.decision import LOCAL
from capsules.errors import CapsuleError, StoreError
from capsules.evidence import EvidenceCapsule
from capsules.omission import Omission
from capsules.prompt import EvidenceRef, PromptCapsule
from capsules.report import ValidationReport
from capsules.store import Store
from capsules.validation import Given, validate

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where a capsule is looked at.

    Attributes:
        store: Holds its evidence and sources; ``None`` for a capsule file without a run.
        now: The time of judgement; ``None`` where there is none.
        hide: Show no text of data.
    """

    store: Store | None
    now: str | None
    hide: bool = False

    @property
    def text(self) -> Callable[[str], str]:
        """How a text of data is shown."""
        return (lambda text: f"({len(text)} characters)") if self.hide else (lambda text: text)


def gather(digest: str, capsule: Capsule, setting: Setting) -> CapsuleView:
    """Everything that is shown of a capsule."""
    sources = Sources(setting.store, setting.text)
    if isinstance(capsule, EvidenceCapsule):
        return CapsuleView(
            digest=digest,
            schema_id=capsule.schema_id,
            capsule_id=capsule.capsule_id,
            question=None,
            facts=(),
            validity=_validity(digest, capsule, setting),
            evidence=(evidence_view(digest, False, capsule, sources, setting.now),),
        )
    return CapsuleView(
        digest=digest,
        schema_id=capsule.schema_id,
        capsule_id=capsule.capsule_id,
        question=setting.text(capsule.active_object.text),
        facts=_prompt_facts(capsule, setting),
        validity=_validity(digest, capsule, setting),
        constraints=tuple((f"{c.kind} {c.id}", setting.text(c.text)) for c in capsule.constraints),
        reasons=tuple(_reasons(capsule, sources)),
        rewrites=tuple(rewrite_view(rewrite, sources) for rewrite in capsule.rewrites),
        evidence=tuple(_referred(ref, sources, setting) for ref in capsule.evidence_capsule_refs),
    )


def _prompt_facts(prompt: PromptCapsule, setting: Setting) -> Facts:
    grant, budget, contract = prompt.authority, prompt.token_budget, prompt.output_contract
    facts = [
        ("project, task", f"{prompt.project}, {prompt.task}"),
        (prompt.active_object.kind, prompt.active_object.ref),
        (
            "authority",
            f"{grant.principal} may {', '.join(grant.operations)} through {', '.join(grant.providers)}, "
            f"at most {grant.max_level}",
        ),
        ("authority holds", f"{grant.not_before} to {grant.expires_at}{_at(grant, setting.now)}"),
        (
            "output contract",
            f"{contract.name}, at most {contract.max_quotes}, from {contract.min_chars} characters up",
        ),
        (
            "budget",
            f"evidence {budget.evidence_limit}, output {budget.reserved_output}, window {budget.window} "
            f"tokens of {budget.tokenizer_id}",
        ),
        ("candidates", _amount(prompt.candidates.items, prompt.candidates.tokens)),
    ]
    if prompt.surface_snippet is not None:
        facts.append(("surface snippet", setting.text(prompt.surface_snippet.text)))
    return tuple(facts)


def _amount(items: int, tokens: int) -> str:
    return f"{number_of(items, 'item')}, {number_of(tokens, 'token')}"


def _at(grant: Authority, now: str | None) -> str:
    if now is None:
        return ""
    if now < grant.not_before:
        return f": not yet at {now}"
    return f": {'in force' if now < grant.expires_at else 'over'} at {now}"


def _referred(ref: EvidenceRef, sources: Sources, setting: Setting) -> EvidenceView:
    if setting.store is None:
        return EvidenceView(digest=ref.id, required=ref.required, unread="no store was given (--run RUN)")
    try:
        capsule = stored_capsule(ref.id, setting.store)
    except (RunError, CapsuleError) as error:
        return EvidenceView(digest=ref.id, required=ref.required, unread=str(error))
    if not isinstance(capsule, EvidenceCapsule):
        return EvidenceView(digest=ref.id, required=ref.required, unread=f"it is a {capsule.schema_id}")
    return evidence_view(ref.id, ref.required, capsule, sources, setting.now)


def _reasons(prompt: PromptCapsule, sources: Sources) -> Iterator[ReasonView]:
    groups: dict[str, list[Omission]] = {}
    for omission in prompt.omissions:
        groups.setdefault(omission.reason, []).append(omission)
    for reason, gone in sorted(groups.items()):
        yield ReasonView(
            reason=reason,
            items=sum(one.count for one in gone),
            tokens=sum(one.tokens or 0 for one in gone),
            entries=tuple(
                OmissionView(
                    item=one.item,
                    tokens="not counted" if one.tokens is None else number_of(one.tokens, "token"),
                    required=one.required,
                    text=sources.of_span_id(one.item),
                )
                for one in gone
                if one.item is not None
            ),
        )


def _validity(digest: str, capsule: Capsule, setting: Setting) -> ValidityView:
    if setting.now is None:
        return ValidityView(line="not judged: no time was given (--now TIME)", ok=None, failures=())
    prompt = capsule if isinstance(capsule, PromptCapsule) else None
    given = Given(
        now=setting.now,
        store=setting.store,
        project=capsule.project if isinstance(capsule, PromptCapsule) else capsule.visibility.project,
        provider=None if prompt is None else next(iter(prompt.authority.providers), LOCAL),
        operation=OPERATION,
    )
    try:
        report = validate(preimage(capsule), given, expect=digest)
    except StoreError as error:
        return ValidityView(line=f"not judged: {error}", ok=None, failures=())
    return _said(report, setting.now)


def _said(report: ValidationReport, now: str) -> ValidityView:
    results = [row.result for row in report.checks]
    counts = (
        f"{results.count('pass')} checks passed, {results.count('not_evaluated')} not made for want of input"
    )
    failures = tuple(f"{row.code} at {row.at or '/'}" for row in report.checks if row.result == "fail")
    word = "valid" if report.valid else "NOT VALID"
    return ValidityView(line=f"{word} at {now}: {counts}", ok=report.valid, failures=failures)
