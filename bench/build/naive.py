r"""The naive builders: hidden retrieval and string concatenation, as they are usually written.

    instructions "\n\n" examples "\n\n" ("[n] " chunk "\n")* "Question: " question "\n" "Answer:"

Rules that this module owns:

* The same retrieval and selection as the capsule arms, over *all* documents of the sample or the corpus:
  no visibility, freshness or duplicate rule. Chunks stand by score, one number a chunk, nothing is
  recorded. Of a corpus, the pool alone is counted.
* The prompt is one string, tokenized as one; evidence over ``evidence_limit`` is cut at its end. What
  is not shown whole counts as silently omitted.
* ``naive_volatile`` puts a request id and a time at the head, so no two prompts share a prefix. Both
  are derived from arm and sample, so a rebuild gives the same bytes.
* The stable ids are those that every continuation of the fixed leading text begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.build import accounting
from bench.build.base import BuildContext, BuildError, BuiltPrompt, Piece, ShownSource, build_error
from bench.build.candidates import Item, Place, Source, cut_sources
from bench.build.chunking import ChunkCache
from bench.build.examples import plain
from bench.build.narrowing import rank_and_select
from bench.build.prefix import usable_examples
from bench.build.templates import instructions
from capsules.content_id import derived_key
from capsules.errors import CapsuleError
from capsules.rendering import ANSWER_MARK, QUESTION_MARK
from capsules.timestamp import format_time, parse_time
from capsules.tokenized import assert_plain, framed
from capsules.tokenizer import Tokenizer
from capsules.visibility import LEVELS, join_levels
from tasks.base import SampleInput

VOLATILE = "naive_volatile"

# What may follow the fixed leading text: a chunk of any script, or the question.
_CONTINUATIONS = (
    "[1] The",
    "[1] 7",
    "[1] (",
    '[1] "',
    "[1] \u4e2d",
    "[1] \u0e01",
    "[1] \u0905",
    "[1] \u0627",
    QUESTION_MARK,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """A chunk in the prompt: its number, document and the part of it that is shown."""

    number: int
    source: Source
    place: Place
    start: int
    end: int


class NaiveBuilder:
    """The builder of the layouts ``naive`` and ``naive_volatile``."""

    def __init__(self, cache: ChunkCache | None = None) -> None:
        self._cache = cache or ChunkCache()

    def __call__(self, sample: SampleInput, ctx: BuildContext) -> BuiltPrompt:
        """Build the prompt of one sample.

        Raises:
            BuildError: No prompt can be built; the code says why.
            RegistryError: The arm names a stage that does not exist.
        """
        try:
            return self._build(sample, ctx)
        except (CapsuleError, UnicodeEncodeError) as error:
            raise build_error(error) from error

    def _build(self, sample: SampleInput, ctx: BuildContext) -> BuiltPrompt:
        arm, tokenizer = ctx.arm, ctx.tokenizer
        if arm.compression.name != "none":
            raise BuildError(
                "arm.unsupported", f"naive layouts: expected compression none, found {arm.compression.name!r}"
            )
        pool = None
        if ctx.corpus is not None:
            pool = ctx.corpus.pool(sample, arm, tokenizer, ctx.gold, rules=False)
        chunking = arm.retrieval.chunking
        sources = pool.sources if pool else cut_sources(sample, chunking, tokenizer, self._cache)
        items = [item for source in sources for item in source.items()]
        ranked, chosen = rank_and_select(sample, items, sources, arm, ctx.gold, pool)
        examples = usable_examples(sample, ctx)
        said = instructions(arm.contract.name, instruct=ctx.frame is not None)
        lead = "".join(f"{c.text}\n\n" for c in said)
        lead += "".join(f"{plain(example, arm.contract.name)}\n\n" for example in examples)
        head = _volatile_head(sample, arm.arm_id) if arm.layout == VOLATILE else ""
        tail = f"{QUESTION_MARK}{sample.question}\n{ANSWER_MARK}"
        evidence, chunks = _evidence(chosen, sources, arm.budget.evidence_limit, tokenizer)
        content = _plain(head + lead + evidence + tail, tokenizer)
        ids = framed(content, tokenizer, ctx.frame)
        _require_window(
            len(framed(_plain(head + lead + tail, tokenizer), tokenizer, ctx.frame)), len(ids), ctx
        )
        levels = [c.source.doc.level for c in chunks] + [level for e in examples for level in e.levels]
        kept = _shown_items(items, chunks)
        once = {item.item: item.tokens for item in items}
        left_out = once.keys() - {item.item for item in kept}
        return BuiltPrompt(
            ids=ids,
            stable_ids=() if head else _stable_ids(lead, content, ctx),
            pieces=_pieces(head, content, ctx),
            shown=tuple(
                ShownSource(
                    number=c.number,
                    doc_id=c.source.doc.doc_id,
                    source=c.source.cut.source,
                    ranges=((c.start, c.end),),
                )
                for c in chunks
            ),
            stages=(
                accounting.stage("candidates", items),
                accounting.stage("retrieval", _in(items, ranked)),
                accounting.stage("selection", _in(items, chosen)),
                accounting.stage("compression", _in(items, chosen)),
                accounting.stage("budget", kept),
            ),
            silent_omissions=len(left_out),
            silent_tokens=sum(once[item] for item in left_out),
            prompt=None,
            evidence=(),
            sources={c.source.cut.source: c.source.cut.text for c in chunks},
            project=sample.project,
            level=join_levels([x if x in LEVELS else LEVELS[-1] for x in levels] or LEVELS[:1]),
            flags=("render.lossy",) if _is_lossy(head + lead + evidence + tail, content, tokenizer) else (),
        )


def _volatile_head(sample: SampleInput, arm_id: str) -> str:
    key = derived_key("volatile/v1", arm_id.encode(), sample.sample_id.encode())[3:]
    moment = format_time(parse_time(sample.as_of) + int(key[32:40], 16) % 86_400)
    return f"Request {key[:32]} at {moment}\n"


def _evidence(
    chosen: Sequence[Place], sources: Sequence[Source], limit: int, tokenizer: Tokenizer
) -> tuple[str, list[_Chunk]]:
    """The evidence text within the limit, and the chunks of which something is shown."""
    by_order = {source.order: source for source in sources}
    text, spans = "", []
    for number, place in enumerate(chosen, 1):
        source = by_order[place[0]]
        found = source.passage(place[1])
        text += f"[{number}] "
        chunk = _Chunk(number=number, source=source, place=place, start=found.start, end=found.end)
        spans.append((len(text), chunk))
        text += found.text + "\n"
    length = _cut(text, limit, tokenizer)
    shown = []
    for at, c in spans:
        end = min(c.end, c.start + length - at)
        if end > c.start:
            shown.append(_Chunk(number=c.number, source=c.source, place=c.place, start=c.start, end=end))
    return _line(text[:length]), shown


def _cut(text: str, limit: int, tokenizer: Tokenizer) -> int:
    """Code points of the longest leading part that ids up to the limit spell, its newline included."""
    ids = tokenizer.encode(text)
    if len(ids) <= limit:
        return len(text)
    for n in range(limit, 0, -1):
        part = tokenizer.decode(ids[:n])
        same = next((i for i, (a, b) in enumerate(zip(part, text, strict=False)) if a != b), len(part))
        if len(tokenizer.encode(_line(text[:same]))) <= limit:  # cutting may have changed the count
            return same
    return 0


def _line(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _plain(text: str, tokenizer: Tokenizer) -> list[int]:
    """The ids of the content, none of them a control id."""
    ids = tokenizer.encode(text)
    assert_plain([*([] if tokenizer.bos_id is None else [tokenizer.bos_id]), *ids], tokenizer)
    return ids


def _is_lossy(text: str, content: Sequence[int], tokenizer: Tokenizer) -> bool:
    return tokenizer.decode(content) != text


def _require_window(fixed: int, sent: int, ctx: BuildContext) -> None:
    budget = ctx.arm.budget
    need = max(fixed + budget.evidence_limit, sent) + budget.reserved_output
    if need > budget.window:
        raise BuildError(
            "budget.protected.truncated",
            f"expected at most {budget.window} tokens (budget.window), found {need}: fixed parts {fixed} + "
            f"evidence_limit {budget.evidence_limit} + reserved_output {budget.reserved_output}",
        )


def _stable_ids(lead: str, content: Sequence[int], ctx: BuildContext) -> tuple[int, ...]:
    """The leading ids that the prompt shares with every other continuation of the leading text."""
    stable = content
    for continuation in _CONTINUATIONS:
        stable = stable[: _common(stable, _plain(lead + continuation, ctx.tokenizer))]
    stable = stable[: _common(stable, _plain(lead, ctx.tokenizer))]
    return (*_opening(ctx), *stable)


def _pieces(head: str, content: Sequence[int], ctx: BuildContext) -> tuple[Piece, ...]:
    bos = int(ctx.tokenizer.bos_id is not None)
    volatile = _common(content, _plain(head, ctx.tokenizer)) if head else 0
    found = (
        Piece(kind="bos", n=bos),
        Piece(kind="frame", n=len(_opening(ctx)) - bos),
        Piece(kind="volatile", n=volatile),
        Piece(kind="joined", n=len(content) - volatile),
        Piece(kind="frame", n=len(ctx.frame.tail) if ctx.frame else 0),
    )
    return tuple(piece for piece in found if piece.n)


def _opening(ctx: BuildContext) -> tuple[int, ...]:
    """What stands before the content: BOS, or the head of the frame."""
    return ctx.frame.head if ctx.frame else framed((), ctx.tokenizer, None)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    same = (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(same, min(len(left), len(right)))


def _in(items: Sequence[Item], places: Sequence[Place]) -> list[Item]:
    wanted = set(places)
    return [item for item in items if not wanted.isdisjoint(item.places)]


def _shown_items(items: Sequence[Item], chunks: Sequence[_Chunk]) -> list[Item]:
    """The items that are shown whole."""
    ends = {c.place: c.end for c in chunks}
    return [item for item in items if any(item.end <= ends.get(place, -1) for place in item.places)]
