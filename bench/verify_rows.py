"""Checks of a run's rows against each other and against the store."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contracts.forms import lead_of
from bench.contracts.grammar import grammar_digest, grammar_of
from bench.planner import sampling_of, says_ids, takes_salts
from bench.records import BuildRow, RequestRow
from bench.request_identity import ids_bytes, request_digest, request_id, salt_of
from bench.resume import last_answers
from bench.routing import by_sample
from bench.stored_run import StoredRun
from capsules.codec import read_stored
from capsules.content_id import content_id
from capsules.evidence import EvidenceCapsule
from capsules.visibility import LEVELS, join_levels


def request_findings(run: StoredRun) -> Iterator[str]:
    """Every id of a request, from the ids that were sent."""
    builds = {(row.sample_id, row.arm_id): row for row in run.builds}
    arms = {arm.arm_id: arm.provider for arm in run.spec.arms}
    routes = by_sample(run.routes)
    seen: set[str] = set()
    for row in run.requests:
        route = routes.get((row.sample_id, row.arm_id))
        wanted = arms.get(row.arm_id) if route is None else route.provider
        if row.provider != wanted:
            yield f"{row.request_id}: was sent to {row.provider}, its route says {wanted}"
        yield from _request(run, row, builds.get((row.sample_id, row.arm_id)))
        if row.request_id in seen:
            yield f"{row.request_id} stands twice"
        seen.add(row.request_id)


def _request(run: StoredRun, row: RequestRow, build: BuildRow | None) -> Iterator[str]:
    ids = run.ids(row.ids_digest)
    if content_id(ids_bytes(ids)) != row.ids_digest:
        yield f"{row.request_id}: stored ids are not canonical"
    if len(ids) != row.n_prompt or sum(piece.n for piece in row.segments) != len(ids):
        yield f"{row.request_id}: n_prompt {row.n_prompt}, segments and {len(ids)} ids disagree"
    contract = next((arm.contract for arm in run.spec.arms if arm.arm_id == row.arm_id), None)
    if contract is None:
        yield f"{row.request_id}: no arm {row.arm_id} in the config"
        return
    sampling = sampling_of(run.spec, row.phase, contract.name)
    digest = request_digest(row.ids_digest, sampling, row.salt, row.grammar_digest)
    if digest != row.request_digest:
        yield f"{row.request_id}: expected request_digest {digest}, found {row.request_digest}"
    grammar = grammar_digest(
        grammar_of(contract, build.shown, run.text, lead=lead_of(run.spec.model.instruct)) if build else None
    )
    if grammar != row.grammar_digest:
        yield f"{row.request_id}: expected grammar_digest {grammar}, found {row.grammar_digest}"
    if request_id(row.cell_id, row.sample_id, row.phase, row.request_digest) != row.request_id:
        yield f"{row.request_id}: not the id of its cell, sample, phase and digest"
    if build is None or (build.ids_digest, build.prompt_capsule) != (row.ids_digest, row.prompt_capsule):
        yield f"{row.request_id}: not the prompt that builds.jsonl has for {row.sample_id}, {row.arm_id}"


def salt_findings(run: StoredRun) -> Iterator[str]:
    """Salts: none without caching, one a cell and label, one a request when cold, all derived."""
    caches = {arm.cell_id(cache): cache for arm in run.spec.arms for cache in arm.caches}
    owner: dict[str, tuple[str, str, str | None]] = {}
    builds = {(row.sample_id, row.arm_id): row for row in run.builds}
    projects = {row.sample_id: row.project for row in run.samples}
    for row in run.requests:
        cache = caches.get(row.cell_id, "?")
        if (row.salt is None) != (cache == "off" or not takes_salts(run.spec, row.provider)):
            yield f"{row.request_id}: salt {row.salt} in cache state {cache}"
            continue
        if row.salt is None:
            continue
        holder = (row.cell_id, row.phase, row.sample_id if cache == "cold" else None)
        if owner.setdefault(row.salt, holder) != holder:
            yield f"{row.request_id}: shares its salt with {owner[row.salt]}"
        lowest = _lowest_level(run, builds[row.sample_id, row.arm_id])
        project = projects[row.sample_id]
        if not any(
            salt_of(row.cell_id, cache, row.phase, project, level, row.sample_id) == row.salt
            for level in LEVELS[LEVELS.index(lowest) :]
        ):
            yield f"{row.request_id}: salt {row.salt} is not that of its cell, phase, project and level"


def isolation_findings(run: StoredRun) -> Iterator[str]:
    """Prompts that were asked for two projects: those of the run, and nothing crossed under salts."""
    builds = {(row.sample_id, row.arm_id): row.n_prompt for row in run.builds}
    projects = {row.sample_id: row.project for row in run.samples}
    for row in run.isolation:
        at = f"isolation.jsonl: {row.group}, {row.arm_id}, {row.sample_id}"
        if builds.get((row.sample_id, row.arm_id)) != row.n_prompt:
            yield f"{at}: not a prompt of builds.jsonl"
        if row.project != projects.get(row.sample_id) or row.other == row.project:
            yield f"{at}: projects {row.project} and {row.other}"
        if row.with_salt:
            yield f"{at}: {row.with_salt} cached tokens crossed from one project into another under salts"


def _lowest_level(run: StoredRun, build: BuildRow) -> str:
    """A level that the prompt's label cannot be below: the join of its evidence capsules.

    Few-shot examples may raise it, and the evidence of naive arms has no label on disk.
    """
    levels = [
        read_stored(run.store.get(digest).data, EvidenceCapsule).visibility.level
        for digest in build.evidence_capsules
    ]
    return join_levels(levels or LEVELS[:1])


def response_findings(run: StoredRun) -> Iterator[str]:
    """Every request has its answer; what was generated is stored."""
    answers = last_answers(run.responses)
    silent = {row.request_id for row in run.requests if not says_ids(run.spec, row.provider)}
    attempts: set[tuple[str, int]] = set()
    for response in run.responses:
        key = (response.request_id, response.attempt)
        if key in attempts:
            yield f"{response.request_id}: attempt {response.attempt} stands twice"
        attempts.add(key)
        if response.status == "ok":
            if response.output_ids_digest is None:
                if response.request_id in silent:
                    continue
                yield f"{response.request_id}: ok without output ids"
            elif len(run.ids(response.output_ids_digest)) != response.n_output:
                yield f"{response.request_id}: n_output {response.n_output} is not the number of stored ids"
    for row in run.requests:
        if row.request_id not in answers:
            yield f"{row.request_id}: no answer"


def prediction_findings(run: StoredRun) -> Iterator[str]:
    """The law: a prediction is null with a reason, or equals what was measured."""
    answers = last_answers(run.responses)
    void = {(cell.cell_id, cell.phase) for cell in run.cells if cell.void}
    for row in run.requests:
        answer = answers.get(row.request_id)
        if row.predicted_cached is None:
            if row.predicted_reason is None:
                yield f"{row.request_id}: no prediction and no reason"
        elif (
            answer is None
            or answer.measured_cached is None
            or (row.cell_id, row.phase) in void
            or answer.retries  # what an attempt without an answer left in the cache, nobody knows
        ):
            continue
        elif answer.measured_cached != row.predicted_cached:
            yield (
                f"{row.request_id} ({row.cell_id}, {row.sample_id}): predicted {row.predicted_cached}, "
                f"measured {answer.measured_cached}"
            )
