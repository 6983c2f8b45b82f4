"""``capsule-bench show``: a run in short, or a capsule with its spans in context and what was left out."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from bench.commands.find_capsule import Capsule, run_store, stored_capsule
from bench.commands.output import print_json, print_text
from bench.report.visible import clipped, visible
from bench.run_store import find_run, read_json
from bench.stored_run import StoredRun
from capsules.codec import to_value
from capsules.content_id import is_content_id
from capsules.errors import CapsuleError
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule
from capsules.store import Store

CONTEXT = 60
TEXT_LIMIT = 600


def run(arguments: argparse.Namespace) -> int:
    """Show a run or a capsule."""
    if is_content_id(arguments.target):
        store = run_store(arguments.run_name, arguments.results)
        capsule = stored_capsule(arguments.target, store)
        if arguments.json:
            print_json({"digest": arguments.target, "capsule": to_value(capsule)})
        else:
            for line in capsule_lines(arguments.target, capsule, store):
                print_text(line)
        return 0
    folder = find_run(arguments.target, arguments.results)
    stored = StoredRun(folder)
    manifest = read_json(folder.manifest) if folder.complete else None
    if arguments.json:
        print_json(
            {
                "run": str(folder.path),
                "complete": folder.complete,
                "facts": stored.facts,
                "counts": {**stored.counts().to_value(), "missing": stored.counts().missing},
                "void": list(stored.void()),
                "manifest": manifest,
            }
        )
        return 0
    for line in run_lines(stored):
        print_text(line)
    return 0


def run_lines(run: StoredRun) -> Iterator[str]:
    """A run in short."""
    counts, facts = run.counts(), run.facts
    yield f"run        {run.folder.path}"
    yield f"state      {'complete' if run.folder.complete else 'not complete'}"
    yield f"experiment {run.spec.experiment}, begun at {facts['started']}, judged at {facts['now']}"
    yield f"config     {facts['config_digest']}"
    data = facts["dataset"]
    yield f"data       {data['name']}, {data['rows']} rows, {data['content_digest']} ({data['origin']})"
    yield f"model      {run.spec.model.name}; engine {run.spec.engine.name}"
    skipped = ", ".join(f"{reason} {n}" for reason, n in sorted(counts.skipped.items())) or "none"
    yield (
        f"requests   {counts.planned} planned: {counts.done} done, {counts.failed} failed, "
        f"skipped: {skipped}, {counts.missing} to do"
    )
    for void in run.void():
        yield f"void       {void}"
    yield "prompts (sample, arm, tokens, capsule):"
    for row in run.builds:
        what = row.prompt_capsule or (
            "no capsule" if row.status == "ok" else f"error: {visible(row.error or '')}"
        )
        yield f"  {visible(row.sample_id)}  {row.arm_id}  {row.n_prompt}  {what}"


def capsule_lines(digest: str, capsule: Capsule, store: Store) -> Iterator[str]:
    """A capsule for people; invisible characters are written out."""
    yield f"{capsule.schema_id}  {capsule.capsule_id}"
    yield f"digest     {digest}"
    if isinstance(capsule, PromptCapsule):
        yield from _prompt_lines(capsule, store)
    else:
        yield from _evidence_lines(capsule, store)


def _prompt_lines(prompt: PromptCapsule, store: Store) -> Iterator[str]:
    yield f"project    {visible(prompt.project)}, task {visible(prompt.task)}"
    yield f"{prompt.active_object.kind:<10} {visible(prompt.active_object.text)}"
    authority = prompt.authority
    yield (
        f"authority  {visible(authority.principal)}: {', '.join(authority.operations)} through "
        f"{', '.join(authority.providers)}, at most {authority.max_level}, "
        f"{authority.not_before} to {authority.expires_at}"
    )
    budget = prompt.token_budget
    yield (
        f"budget     evidence {budget.evidence_limit}, output {budget.reserved_output}, "
        f"window {budget.window} ({budget.tokenizer_id})"
    )
    yield f"contract   {prompt.output_contract.name}"
    for constraint in prompt.constraints:
        yield f"{constraint.kind} {visible(constraint.id)}:"
        yield from _indented(constraint.text)
    yield f"candidates {prompt.candidates.items} items, {prompt.candidates.tokens} tokens"
    yield from _omission_lines(prompt)
    for ref in prompt.evidence_capsule_refs:
        yield ""
        yield f"evidence{' (required)' if ref.required else ''} {ref.id}"
        evidence = stored_capsule(ref.id, store)
        if isinstance(evidence, EvidenceCapsule):
            yield from _evidence_lines(evidence, store)


def _omission_lines(prompt: PromptCapsule) -> Iterator[str]:
    totals: dict[str, list[int]] = {}
    for omission in prompt.omissions:
        entry = totals.setdefault(omission.reason, [0, 0])
        entry[0] += omission.count
        entry[1] += omission.tokens or 0
    yield f"left out   {sum(n for n, _ in totals.values())} items"
    for reason, (items, tokens) in sorted(totals.items()):
        yield f"  {reason:<28} {items} items, {tokens} tokens"
        for omission in prompt.omissions:
            if omission.reason == reason and omission.item is not None:
                required = "  required" if omission.required else ""
                yield f"    {omission.item}  {omission.tokens} tokens{required}"


def _evidence_lines(evidence: EvidenceCapsule, store: Store) -> Iterator[str]:
    label, fresh = evidence.visibility, evidence.freshness
    yield f"label      {label.level}, project {visible(label.project)}"
    yield f"fresh      as of {fresh.as_of}, expires {fresh.expires_at or 'never'} ({fresh.policy})"
    for ref in evidence.source_refs:
        origin = f"{visible(ref.origin.dataset)} {visible(ref.origin.row)}"
        yield f"source     {ref.source}  {origin}  {visible(ref.license)}"
    for span in evidence.exact_spans:
        yield f"span       {span.start}-{span.end} of {span.source} ({span.occurrence} of {span.occurrences})"
        yield from _indented(_in_context(span.source, span.start, span.end, span.exact, store))
    for claim in evidence.claim_candidates:
        yield f"claim      {claim.claim_id}: {claim.status} by {claim.method}, {claim.confidence_bp} bp"
    for clash in evidence.contradictions:
        yield f"clash      {clash.kind}: {clash.between[0]} against {clash.between[1]}"
    for missing in evidence.missing_evidence:
        yield f"missing    {visible(missing.query)} ({missing.stage}: {visible(missing.why)})"


def _in_context(source: str, start: int, end: int, exact: str, store: Store) -> str:
    """The span between what stands before and after it: ``before[[span]]after``."""
    try:
        text = store.get(source).data.decode("utf-8")
    except (CapsuleError, UnicodeDecodeError):
        return f"[[{exact}]] (its source is not in this store)"
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    return f"{before}[[{text[start:end]}]]{after}"


def _indented(text: str) -> Iterator[str]:
    for line in clipped(text, TEXT_LIMIT).split("\n"):
        yield "    " + visible(line)
