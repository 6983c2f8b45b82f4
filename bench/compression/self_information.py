"""Words that the target model finds predictable go first, by its own prompt log-probabilities.

Rules that this module owns:

* The self-information of a token is its negative log-probability given what stands before it; that of a
  unit (a word with its marks and the space before it, ``capsules.words``) is the sum over its tokens.
* Units are encoded one by one, so every token belongs to one unit; a text is scored by itself behind the
  BOS, in parts of at most ``PART`` ids.
* Units stay in order of their self-information, ties by position, while their tokens are within ``rate``
  of the text's; the first that does not fit ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from capsules.tokenizer import Tokenizer
from capsules.unicode_tables import WHITE_SPACE
from capsules.words import units

PART = 1024  # ids a scored part: the engine holds one row of the vocabulary for each

Logprobs = Callable[[Sequence[tuple[int, ...]]], Sequence[Sequence[float | None]]]
"""Prompts as ids -> the log-probability of each id; ``None`` for the first of a prompt."""


class ScoreError(Exception):
    """The engine's scores are not those of the ids that were sent."""


def shorten(
    texts: Sequence[str], rate_bp: int, tokenizer: Tokenizer, logprobs: Logprobs, *, part: int = PART
) -> list[str]:
    """Each text without its least informative units.

    Args:
        texts: What to shorten.
        rate_bp: Share of tokens to keep, in basis points.
        tokenizer: The target model's.
        logprobs: The target model's scores.
        part: Ids scored at once.

    Raises:
        ScoreError: Scores are missing or not finite.
    """
    cut = [units(text) for text in texts]
    encoded = [[tokenizer.encode(unit) for unit in row] for row in cut]
    scores = _scores([[i for ids in row for i in ids] for row in encoded], tokenizer.bos_id, logprobs, part)
    found = []
    for row, ids, score in zip(cut, encoded, scores, strict=True):
        information, at = [], 0
        for unit in ids:
            information.append(-sum(score[at : at + len(unit)]))
            at += len(unit)
        kept = most_informative(information, [len(unit) for unit in ids], rate_bp)
        found.append("".join(row[i] for i in kept).strip(WHITE_SPACE))
    return found


def most_informative(information: Sequence[float], tokens: Sequence[int], rate_bp: int) -> list[int]:
    """Indexes of the units that stay, ascending."""
    limit = sum(tokens) * rate_bp // 10_000
    kept, total = [], 0
    for i in sorted(range(len(tokens)), key=lambda i: (-information[i], i)):
        total += tokens[i]
        if total > limit:
            break
        kept.append(i)
    return sorted(kept)


def _scores(
    rows: Sequence[Sequence[int]], bos_id: int | None, logprobs: Logprobs, part: int
) -> list[list[float]]:
    """The log-probability of every id of every row. The first id of a model without BOS counts 0."""
    lead = () if bos_id is None else (bos_id,)
    step = part - len(lead)
    parts = [
        (r, (*lead, *row[at : at + step])) for r, row in enumerate(rows) for at in range(0, len(row), step)
    ]
    found: list[list[float]] = [[] for _ in rows]
    for wave in _waves(parts, part):
        answers = logprobs([ids for _, ids in wave])
        for (r, ids), scores in zip(wave, answers, strict=True):
            if len(scores) != len(ids):
                raise ScoreError(f"expected {len(ids)} log-probabilities, found {len(scores)}")
            values = [0.0 if s is None and i == 0 else s for i, s in enumerate(scores)][len(lead) :]
            if any(value is None or not isfinite(value) for value in values):
                raise ScoreError("expected finite log-probabilities, found another")
            found[r] += [value for value in values if value is not None]
    return found


def _waves(
    parts: Sequence[tuple[int, tuple[int, ...]]], room_of: int
) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Parts in order, together at most ``room_of`` ids a wave."""
    waves: list[list[tuple[int, tuple[int, ...]]]] = []
    room = 0
    for part in parts:
        if len(part[1]) > room:
            waves.append([])
            room = room_of
        waves[-1].append(part)
        room -= len(part[1])
    return waves
