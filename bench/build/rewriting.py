"""Evidence that a lossy compressor writes anew: what it is asked for, and what becomes of its answer.

Rules that this module owns:

* ``protected``: every item that is not required is a text of its own; the required ones, authority, prefix,
  question and contract never reach the compressor.
* ``raw``: the whole evidence is one text, sources numbered ``[n]`` as a careful person would write it
  (``bench.build.naive``). Only the evidence is compressed. A single item is sent without a number.
* An answer that is not shorter than what it stands for, by the target model's tokenizer, is put aside and
  the original is sent: ``no_gain``.
* An answer without any text: in ``protected`` the item is omitted (``compression.dropped``), in ``raw``
  there is no prompt (``compression.empty``).
* What is kept of an item is found by alignment (``capsules.rewriting``); all else of it is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.build.base import BuildContext, BuildError, CompressedText
from bench.build.candidates import Item
from bench.compression.base import Ask, model_identity
from capsules.evidence import EvidenceCapsule
from capsules.loss import loss
from capsules.omission import Rewrite
from capsules.prompt import PromptCapsule
from capsules.rendering import (
    ANSWER_MARK,
    QUESTION_MARK,
    Rendered,
    constraint_text,
    is_rendered,
    unrender,
)
from capsules.rewriting import align, dropped_ranges
from capsules.unicode_tables import WHITE_SPACE
from tasks.base import SampleInput

NO_GAIN = "compression.no_gain"
DROPPED = "compression.dropped"
_MARK = re.compile(r"\[[0-9]+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What a compressor did to the kept items.

    Attributes:
        rewrites: By first item.
        dropped: Reason by span_id, for items of which nothing is left.
        texts: One entry a text that was asked for.
        us: The compressor's time.
    """

    rewrites: Mapping[str, Rewrite] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[CompressedText, ...] = ()
    us: int = 0

    @property
    def whole(self) -> bool:
        """Whether one rewrite stands for more than one item: for all."""
        return any(len(rewrite.items) > 1 for rewrite in self.rewrites.values())

    def sent_tokens(self, item: Item) -> int:
        """Tokens that an item costs as it is sent; those of a rewrite of all count at its first item."""
        for rewrite in self.rewrites.values():
            if item.item in rewrite.items:
                return rewrite.tokens_sent if item.item == rewrite.items[0] else 0
        return item.tokens

    def of(self, items: Iterable[str]) -> tuple[Rewrite, ...]:
        """The rewrites of kept items, in their order."""
        return tuple(self.rewrites[item] for item in items if item in self.rewrites)

    def codes(self, exact: Mapping[str, str]) -> tuple[str, ...]:
        """Info codes of what the sent texts lost; ``exact`` holds the text of each item."""
        found = {NO_GAIN for text in self.texts if text.status == "no_gain"}
        for rewrite in self.of(exact):
            found |= set(loss("\n".join(exact[item] for item in rewrite.items), rewrite.text).codes)
        return tuple(sorted(found))


def rewrite_items(
    sample: SampleInput,
    items: Sequence[Item],
    required: frozenset[str],
    ctx: BuildContext,
    seps: Mapping[str, str],
) -> Rewritten:
    """Mode ``protected``: every item that is not required, by itself.

    Args:
        sample: Its project and question go into the ask.
        items: The selected items.
        required: span_ids that are never handed out.
        ctx: The arm and who answers.
        seps: The white space before each item, by span_id.

    Raises:
        BuildError: The compressor failed, or there is none.
    """
    chosen = [item for item in items if item.item not in required]
    if not chosen:
        return Rewritten()
    texts, us = _answers(sample, ctx, [item.text for item in chosen])
    rewrites: dict[str, Rewrite] = {}
    dropped: dict[str, str] = {}
    found = []
    for item, text in zip(chosen, texts, strict=True):
        sent = len(ctx.tokenizer.encode(seps[item.item] + text)) if text else 0
        status = "empty" if not text else "rewritten" if sent < item.tokens else "no_gain"
        if status == "empty":
            dropped[item.item] = DROPPED
        elif status == "rewritten":
            rewrites[item.item] = _rewrite([item], text, ctx, item.tokens, sent)
        found.append(_row([item], status, item.tokens, sent, text))
    return Rewritten(rewrites=rewrites, dropped=dropped, texts=tuple(found), us=us)


def rewrite_whole(
    sample: SampleInput, items: Sequence[Item], verbatim: Rendered, ctx: BuildContext
) -> Rewritten:
    """Mode ``raw``: the whole evidence as one text.

    Args:
        sample: Its project and question go into the ask.
        items: The selected items, in prompt order.
        verbatim: The prompt as it would be sent without compression.
        ctx: The arm and who answers.

    Raises:
        BuildError: The compressor failed, there is none, or nothing came back (``compression.empty``).
    """
    if not items:
        return Rewritten()
    runs = unrender(verbatim.text, verbatim.tag).runs
    asked = "\n".join(f"[{number}] {text.strip(WHITE_SPACE)}" for number, text in runs)
    if len(items) == 1:
        asked = items[0].text
    (text,), us = _answers(sample, ctx, [asked])
    if not text:
        raise BuildError("compression.empty", f"{ctx.arm.compression.name}: nothing came back")
    given, before = len(ctx.tokenizer.encode(asked)), sum(item.tokens for item in items)
    sent = len(ctx.tokenizer.encode(text))
    status = "rewritten" if sent < before else "no_gain"
    rewrites = {}
    if status == "rewritten":
        rewrites = {items[0].item: _rewrite(items, text, ctx, before, sent)}
    return Rewritten(rewrites=rewrites, texts=(_row(items, status, given, sent, text),), us=us)


def separators(items: Iterable[Item], texts: Mapping[str, str]) -> dict[str, str]:
    """The white space between each item and the item before it in its source.

    Args:
        items: All items of their sources.
        texts: Raw text by source.
    """
    found: dict[str, str] = {}
    ends: dict[str, int] = {}
    for item in sorted(items, key=lambda i: (i.source, i.start)):
        found[item.item] = texts[item.source][ends[item.source] : item.start] if item.source in ends else ""
        ends[item.source] = item.end
    return found


def require_protected(
    prompt: PromptCapsule, evidence: Sequence[EvidenceCapsule], text: str, untouchable: frozenset[str]
) -> None:
    """Refuse a prompt with rewrites in which a protected part is not byte for byte what it was.

    Args:
        prompt: The prompt capsule.
        evidence: Its evidence.
        text: The rendered prompt.
        untouchable: span_ids that no compressor may touch.

    Raises:
        BuildError: ``compression.protected.changed``.
    """
    if not prompt.rewrites:
        return
    spans = {span.span_id: span.exact for each in evidence for span in each.exact_spans}
    touched = {item for rewrite in prompt.rewrites for item in rewrite.items} - untouchable
    parts = [
        *((True, constraint_text(c.text)) for c in prompt.constraints if is_rendered(c.kind)),
        *((item not in touched, exact) for item, exact in spans.items()),
        (True, f"{QUESTION_MARK}{prompt.active_object.text}\n{ANSWER_MARK}"),
    ]
    changed = changed_parts(text, parts)
    if changed:
        raise BuildError(
            "compression.protected.changed",
            f"expected protected parts byte for byte, found {len(changed)} of {len(parts)} parts changed",
        )


def changed_parts(text: str, parts: Sequence[tuple[bool, str]]) -> list[int]:
    """Protected parts that do not stand in a compressed text byte for byte, in order.

    Args:
        text: The whole, after compression.
        parts: (protected, original text), in order. A protected part at either end must stand there.

    Returns:
        Indexes into ``parts``.
    """
    changed, at = [], 0
    for index, (protected, part) in enumerate(parts):
        if not protected:
            continue
        found = text.find(part, at)
        last = index == len(parts) - 1
        if last and text.endswith(part):
            found = max(found, len(text) - len(part)) if len(text) - len(part) >= at else -1
        if found < 0 or (index == 0 and found) or (last and found + len(part) != len(text)):
            changed.append(index)
            continue
        at = found + len(part)
    return changed


def _answers(sample: SampleInput, ctx: BuildContext, texts: Sequence[str]) -> tuple[list[str], int]:
    spec = ctx.arm.compression
    if ctx.rewrite is None:
        raise BuildError("compression.unavailable", f"{spec.name} is not run here: a dry build has no models")
    ask = Ask(
        compressor=spec.name,
        model=model_identity(spec.model),
        mode=spec.mode,
        rate_bp=spec.rate_bp,
        project=sample.project,
        question=sample.question if ":" in spec.name else "",
        texts=tuple(texts),
    )
    reply = ctx.rewrite(ask)
    if reply.error is not None:
        code, _, message = reply.error.partition(": ")
        raise BuildError(code, message)
    if len(reply.texts) != len(texts):
        raise BuildError(
            "compression.failed", f"{spec.name}: expected {len(texts)} texts, found {len(reply.texts)}"
        )
    return [text.strip(WHITE_SPACE) for text in reply.texts], reply.us


def _rewrite(items: Sequence[Item], text: str, ctx: BuildContext, before: int, sent: int) -> Rewrite:
    names = tuple(item.item for item in items)
    # Marks that number the sources are no text of theirs, though a source may hold the same digits.
    content = _MARK.sub(lambda mark: "\0" * len(mark[0]), text) if len(items) > 1 else text
    placed = align(content, [(item.item, item.text) for item in items])
    spec = ctx.arm.compression
    return Rewrite(
        items=names,
        text=text,
        compressor=spec.name,
        dropped=dropped_ranges(names, placed),
        tokens_before=before,
        tokens_sent=sent,
    )


def _row(items: Sequence[Item], status: str, given: int, came: int, text: str) -> CompressedText:
    return CompressedText(
        items=tuple(item.item for item in items),
        status=status,
        tokens_in=given,
        tokens_out=came,
        tokens_before=sum(item.tokens for item in items),
        text=text if status == "rewritten" else None,
    )
