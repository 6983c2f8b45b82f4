"""A compressor that is lost: it did not start, or it died too often.

Rules that this module owns:

* It costs the prompts whose texts it has not answered, and nothing else: each of them is an error with the
  code ``compression.lost`` and the cause, and stays in every denominator. What it answered before stays.
* It is said at once, with the arms, so that nobody waits for hours to learn it.
* Lost is no answer. Whoever drives the run again asks again; only a replay repeats it, whose record has no
  answer either.
* A setting that can never work is no loss: it stops the run (``PermanentError``).
"""

from __future__ import annotations

from bench.compression.base import ITEMS, Reply, model_identity
from bench.engines.base import EngineError
from bench.specs import RunSpec

LOST = "compression.lost"
_CAUSE = 300  # characters


def is_lost(error: str | None) -> bool:
    """Whether an error of an answer, or of a prompt, is that its compressor was lost."""
    return error is not None and error.split(":", 1)[0] == LOST


def lost_reply(error: EngineError) -> Reply:
    """What stands in the place of an answer."""
    return Reply(texts=(), error=f"{LOST}: {_cause(error)}", us=0)


def lost_arms(spec: RunSpec, name: str, model: str) -> list[str]:
    """The arms that need a compressor with its model."""
    return [
        arm.arm_id
        for arm in spec.arms
        if (arm.compression.name, model_identity(arm.compression.model)) == (name, model)
        and arm.compression.mode != ITEMS
    ]


def warning(name: str, arm_ids: list[str], asks: int, of: int, error: EngineError) -> str:
    """What is said at once.

    Args:
        name: The compressor.
        arm_ids: The arms that need it.
        asks: How many asks it did not answer.
        of: Out of how many.
        error: Why.
    """
    return (
        f"WARNING: {name} is lost, {asks:,} of {of:,} asks have no answer: arm{'s' if arm_ids[1:] else ''} "
        f"{', '.join(arm_ids)} cannot be built for them ({LOST}), and they will count as errors. The rest of "
        "the run goes on. To mend it first, stop here (Ctrl-C); `capsule-bench resume` asks it again, also "
        f"after the end of the run. The cause:\n{error}"
    )


def _cause(error: EngineError) -> str:
    """The first line of what happened."""
    return (error.problem.splitlines() or [type(error).__name__])[0][:_CAUSE]
