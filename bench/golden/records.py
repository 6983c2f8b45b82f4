"""What a golden file holds of each build, as plain data.

Rules that this module owns:

* Nothing here is a clock reading, a host path or a text. Ids of tokens are held by digest, once as a
  whole, once a segment and once a block, so that a change can be placed.
* A candidate that the capsule hides (``visibility.denied``) is not named here either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.build.base import BuiltPrompt, ShownSource
from bench.planner import Prepared
from bench.records import BuildRow
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id

SCHEMA_ID = "golden/1"
BLOCK = 64  # token ids
SHORT = len("b3:") + 16  # a digest that only says "another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSegment:
    """A segment of the sent ids: what it stands for, how many ids, and a short digest of them."""

    kind: str
    n: int
    ref: str | None
    ids: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenStage:
    """How many items, and tokens of items, a stage left."""

    stage: str
    items: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenItem:
    """A candidate and the stages that left it."""

    item: str
    stages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenBuild:
    """One (sample, arm).

    Attributes:
        status: ``ok`` or ``error``.
        code, message: Why there is no prompt; the message only in files with texts.
        blocks: Short digests of every 64 sent ids, in order.
        prompt, evidence: ContentIds of the capsules.
    """

    sample_id: str
    arm_id: str
    status: str
    code: str | None
    message: str | None
    prompt_tokens: int
    stable_tokens: int
    silent_omissions: int
    silent_tokens: int
    level: str | None
    project: str | None
    flags: tuple[str, ...]
    laws: tuple[tuple[str, bool], ...]
    stages: tuple[GoldenStage, ...]
    items: tuple[GoldenItem, ...]
    shown: tuple[ShownSource, ...]
    evidence: tuple[str, ...]
    prompt: str | None
    ids_digest: str | None
    segments: tuple[GoldenSegment, ...]
    blocks: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Sample and arm."""
        return self.sample_id, self.arm_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """The content of a golden file.

    Attributes:
        config: The resolved config, as plain data.
        data: Which data: name, licence, rows and their digest.
        tokenizer: What counted: id and digest.
        capsules: Values of capsules by ContentId, texts replaced by stand-ins.
        texts: Texts by digest; ``None`` in a file without texts.
    """

    config: Mapping[str, Any]
    data: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    builds: tuple[GoldenBuild, ...]
    capsules: Mapping[str, Mapping[str, Any]]
    texts: Mapping[str, str] | None


def golden_build(item: Prepared, row: BuildRow, *, texts: bool) -> GoldenBuild:
    """What a golden file holds of one build: what the builder gave and the row that the stage made of it."""
    built = item.built
    if built is None:
        return _failed(item, texts)
    return GoldenBuild(
        sample_id=item.sample_id,
        arm_id=item.arm_id,
        status="ok",
        code=None,
        message=None,
        prompt_tokens=len(built.ids),
        stable_tokens=len(built.stable_ids),
        silent_omissions=built.silent_omissions,
        silent_tokens=built.silent_tokens,
        level=built.level,
        project=built.project,
        flags=built.flags,
        laws=tuple(sorted(built.laws.items())),
        stages=tuple(GoldenStage(stage=s.stage, items=len(s.items), tokens=s.tokens) for s in built.stages),
        items=_items(built),
        shown=built.shown,
        evidence=row.evidence_capsules,
        prompt=item.prompt_capsule,
        ids_digest=item.ids_digest,
        segments=_segments(built),
        blocks=tuple(_short(built.ids[n : n + BLOCK]) for n in range(0, len(built.ids), BLOCK)),
    )


def _failed(item: Prepared, texts: bool) -> GoldenBuild:
    return GoldenBuild(
        sample_id=item.sample_id,
        arm_id=item.arm_id,
        status="error",
        code=item.code,
        message=item.message if texts else None,
        prompt_tokens=0,
        stable_tokens=0,
        silent_omissions=0,
        silent_tokens=0,
        level=None,
        project=None,
        flags=(),
        laws=(),
        stages=(),
        items=(),
        shown=(),
        evidence=(),
        prompt=None,
        ids_digest=None,
        segments=(),
        blocks=(),
    )


def _items(built: BuiltPrompt) -> tuple[GoldenItem, ...]:
    named: set[str | None] | None = None
    if built.prompt is not None:
        named = {span.span_id for evidence in built.evidence for span in evidence.exact_spans}
        named |= {omission.item for omission in built.prompt.omissions}
    stages: dict[str, list[str]] = {}
    for stage in built.stages:
        for item in stage.items:
            if named is None or item in named:
                stages.setdefault(item, []).append(stage.stage)
    return tuple(GoldenItem(item=item, stages=tuple(names)) for item, names in stages.items())


def _segments(built: BuiltPrompt) -> tuple[GoldenSegment, ...]:
    found, start = [], 0
    for piece in built.pieces:
        ids = built.ids[start : start + piece.n]
        found.append(GoldenSegment(kind=piece.kind, n=piece.n, ref=piece.ref, ids=_short(ids)))
        start += piece.n
    return tuple(found)


def _short(ids: Sequence[int]) -> str:
    return content_id(canonical_bytes(list(ids)))[:SHORT]
