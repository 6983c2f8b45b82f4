"""The values that every task yields, and the protocol that every task implements.

Builders receive a :class:`SampleInput`, a type without gold. Gold travels beside it, in
:class:`Gold`, and reaches only scorers and the arms that are called upper bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from capsules.source import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDoc:
    """One source document, as a task hands it to the pipeline.

    Attributes:
        doc_id: Unique within the sample; a readable name, not an identity.
        text: The raw text; its UTF-8 bytes are the source.
        title: A title, citable only as a source of its own; never part of ``text``.
        project: The project that the document belongs to.
        level: Visibility level (``capsules.visibility.LEVELS``).
        as_of: When it was true or retrieved (RFC 3339 UTC seconds), from the data.
        expires_at: When it stops being valid (same form), from the data.
    """

    doc_id: str
    text: str
    title: str | None
    origin: Origin
    license: str
    project: str
    level: str = "public"
    as_of: str | None = None
    expires_at: str | None = None
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRange:
    """A half-open range of code points in one document's raw text."""

    doc_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledContradiction:
    """Two ranges that the data itself labels as contradicting each other (not gold)."""

    left: TextRange
    right: TextRange
    kind: str  # numeric | negation | date | labelled


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleInput:
    """What a builder may see of a sample: no gold."""

    sample_id: str
    task: str
    project: str
    question: str
    sources: tuple[SourceDoc, ...]  # empty where the task brings a corpus
    as_of: str  # "today" for the sample: from data or config, never from a clock
    contradictions: tuple[LabelledContradiction, ...] = ()
    required: tuple[TextRange, ...] = ()  # required by the user's data, if any


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The truth about a sample.

    Attributes:
        answers: Accepted answer strings.
        spans: Gold evidence; ``spans[i]`` need not be unique by text.
        distractors: doc_ids that look relevant and are not.
        expired: doc_ids that are no longer valid at the sample's ``as_of``.
        denied: doc_ids that may not be shown (too private, or of a foreign project).
    """

    answers: tuple[str, ...]
    spans: tuple[TextRange, ...]
    distractors: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What a builder may see, and the truth beside it."""

    input: SampleInput
    gold: Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRow:
    """A row that could not become a sample: which, where and why."""

    row: str
    where: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """A loaded task.

    Attributes:
        samples: Evaluated samples, in file order.
        examples: Samples for few-shot examples; disjoint from ``samples``.
        refused: Rows that were refused, each with its reason.
        repaired: Counts of gold repairs by class, over all good rows, whatever the limit.
        dataset: Name of the data set.
        revision: Pinned revision (40 hex) or generator version.
        license: Licence of the data.
        content_digest: ContentId over the rows used alone (see docs), the same from a
            hub and from a file.
        rows: Number of rows that the digest covers.
        origin: How the rows were obtained, for people ("local JSON", "hub", "generated").
        reserved: Number of good rows that are not evaluated because examples use their text; those of
            the examples are among them.
        read: Number of rows read; ``None``: the task does not say. Where it says, read = samples +
            reserved + refused + unused. Rows that became documents of a corpus are not among them.
        unused: Number of good rows that are not evaluated because of the limit.
        exact: Number of gold places that are where the data say, over all good rows; the repaired ones
            come on top.
        corpus: Documents that all samples share and a retriever searches; then no evaluated sample has
            sources of its own, and ranges name documents of the corpus. Empty: every sample brings its own.
    """

    samples: tuple[Sample, ...]
    examples: tuple[Sample, ...]
    dataset: str
    revision: str
    license: str
    content_digest: str
    rows: int
    origin: str
    refused: tuple[RefusedRow, ...] = ()
    repaired: Mapping[str, int] = field(default_factory=dict)
    reserved: int = 0
    read: int | None = None
    unused: int = 0
    exact: int = 0
    corpus: tuple[SourceDoc, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """What the config says about the task (frozen form of the Hydra group ``task``).

    Attributes:
        name: Registry name or ``module:attribute``.
        project: The project under which the samples are run.
        as_of: "Today" for freshness, RFC 3339 UTC seconds.
        data_dir: Folder of local data (``None``: not set).
        revision: Pinned 40-hex revision for hub data sets.
        digest: Expected content digest, or ``None``.
        options: Task-specific settings.
    """

    name: str
    project: str
    as_of: str
    data_dir: str | None
    revision: str | None
    digest: str | None
    limit: int | None
    examples: int
    seed: int
    strict: bool
    options: Mapping[str, object]


class Task(Protocol):
    """A task is a function from its spec to loaded data; it raises ``TaskError`` alone."""

    def __call__(self, spec: TaskSpec) -> TaskData:
        """Load the task."""
        ...


class TaskError(Exception):
    """The task cannot be loaded; the message names what was expected, found, and where."""
