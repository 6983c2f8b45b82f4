"""The rows of a run's files. Shapes: docs/run-folder.md. Plain data, JSON in and out elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from bench.build.base import CompressedText, Piece, ShownSource, StageItems
from bench.selection.place_report import PlaceReport


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRow:
    """A line of ``requests.jsonl``."""

    request_id: str
    request_digest: str
    phase: str  # quality | latency
    sample_id: str
    arm_id: str
    cell_id: str
    salt: str | None
    prompt_capsule: str | None
    provider: str
    ids_digest: str
    n_prompt: int
    segments: tuple[Piece, ...]  # on disk: [{"kind", "n"}]
    predicted_cached: int | None
    predicted_reason: str | None
    grammar_digest: str | None = None  # of the grammar that the answer was held to


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRow:
    """A line of ``responses.jsonl``."""

    request_id: str
    attempt: int
    status: str  # ok | error
    text: str
    output_ids_digest: str | None
    n_output: int | None
    measured_cached: int | None
    ttft_us: int | None
    tpot_us: int | None
    e2e_us: int | None
    queue_us: int | None
    finish_reason: str | None
    error: str | None
    grammar_us: int | None = None  # checking and compiling the grammar; part of ttft_us and e2e_us
    n_prompt: int | None = None  # the engine's own count of the prompt's tokens
    cache_write: int | None = None  # prompt tokens billed as cache writes
    first_text_us: int | None = None
    itl_us: tuple[int, ...] | None = None  # gaps between tokens
    retries: int = 0  # attempts before the one that was answered


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteHop:
    """A provider that was asked for, the decision's id, and the codes of its refusals (none: allowed)."""

    provider: str
    decision: str
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRow:
    """A line of ``routes.jsonl``: who gets a sample of an arm whose provider is ``policy``, and why."""

    sample_id: str
    arm_id: str
    provider: str | None  # None: nobody may have it
    hops: tuple[RouteHop, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationRow:
    """A line of ``isolation.jsonl``: one prompt asked for two projects; see ``bench.isolation``."""

    group: str
    provider: str
    sample_id: str
    arm_id: str
    project: str
    other: str
    n_prompt: int
    with_salt: int | None  # cached tokens that crossed, each project under a salt of its own
    without_salt: int | None  # cached tokens that are shared where there is no salt
    with_salt_null: str | None = None  # why it is null
    without_salt_null: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """A line of ``samples.jsonl``: what scoring needs of a sample, so that it never reloads data.

    Gold spans are in source coordinates: (ContentId of the source, start, end). Where the task brings a
    corpus, a sample has no sources of its own; its documents are those of a build's candidates.
    """

    sample_id: str
    question: str
    project: str
    answers: tuple[str, ...]
    gold_spans: tuple[tuple[str, int, int], ...]
    sources: tuple[tuple[str, str], ...]  # (doc_id, ContentId), all the sample's documents
    distractors: tuple[str, ...]
    expired: tuple[str, ...]
    denied: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRow:
    """A line of ``builds.jsonl``: one (sample, arm)."""

    sample_id: str
    arm_id: str
    status: str  # ok | error
    error: str | None
    prompt_capsule: str | None
    evidence_capsules: tuple[str, ...]
    ids_digest: str | None
    n_prompt: int
    pieces: tuple[Piece, ...]
    shown: tuple[ShownSource, ...]
    stages: tuple[StageItems, ...]
    silent_omissions: int
    silent_tokens: int
    omissions: tuple[tuple[str, int, int | None], ...]  # (reason, items, tokens), sorted by reason
    laws: tuple[tuple[str, bool], ...]
    flags: tuple[str, ...]
    compressor_us: int
    compressed: tuple[CompressedText, ...] = ()
    place: PlaceReport | None = None  # of a selector that looks for a sufficient place


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionRow:
    """A line of ``compressions.jsonl``: one ask to a lossy compressor and where its stored answer is."""

    ask: str  # ContentId of the ask
    output: str  # ContentId of the stored answer
    us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellState:
    """What the engine's counters say of one cell (a line of ``cells.jsonl``)."""

    cell_id: str
    phase: str
    reset_verified: bool
    hits_before: int | None
    hits_after: int | None
    expected_hits: int | None
    void: bool
    code: str | None
    answered: int = 0  # requests that ``wall_us`` covers: those that this driver sent
    provider: str = "local"
    wall_us: int | None = None  # from sending to the last answer, summed over waves


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltRow:
    """What a new process built of one (sample, arm): a line of ``rebuilt.jsonl``."""

    sample_id: str
    arm_id: str
    requests: int  # that were sent
    equal: int  # of them, planned again with an equal request digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A row of ``scores.parquet``."""

    sample_id: str
    arm_id: str
    cell_id: str
    metric: str
    status: str  # ok | undefined | error | void
    value: float | None
    code: str | None
