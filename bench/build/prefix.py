"""What stands before the evidence, the same over a task: instructions, then examples; and if all fits."""

from __future__ import annotations

from collections.abc import Sequence

from bench.build import accounting
from bench.build.base import BuildContext, BuildError
from bench.build.examples import Example, fenced, make_example
from bench.build.templates import instructions
from capsules.prompt import Constraint
from capsules.rendering import ANSWER_MARK, QUESTION_MARK
from capsules.tokenized import framed
from tasks.base import SampleInput


def usable_examples(sample: SampleInput, ctx: BuildContext) -> list[Example]:
    """The context's examples; the gold source stands first in every second one."""
    level = ctx.arm.authority.max_level
    return [make_example(e, i % 2 == 1, sample.project, level) for i, e in enumerate(ctx.examples)]


def prefix_constraints(
    examples: Sequence[Example], contract: str, tell_disputes: bool = False, *, instruct: bool = False
) -> tuple[Constraint, ...]:
    """The stable prefix: instructions, then examples."""
    shown = (
        Constraint(id=f"example-{number}", kind="example", text=fenced(example, contract))
        for number, example in enumerate(examples, 1)
    )
    return (*instructions(contract, tell_disputes, instruct=instruct), *shown)


def require_window(question: str, constraints: tuple[Constraint, ...], ctx: BuildContext) -> None:
    """Refuse a prompt whose protected parts and limits cannot fit its window.

    Raises:
        BuildError: ``budget.protected.truncated``, naming what is needed and the window.
    """
    encode, budget = ctx.tokenizer.encode, ctx.arm.budget
    tail = len(encode(f"{QUESTION_MARK}{question}\n")) + len(encode(ANSWER_MARK))
    around = len(framed((), ctx.tokenizer, ctx.frame))
    fixed = around + sum(accounting.constraint_tokens(constraints, encode)) + tail
    need = fixed + budget.evidence_limit + budget.reserved_output
    if need > budget.window:
        raise BuildError(
            "budget.protected.truncated",
            f"expected at most {budget.window} tokens (budget.window), found {need}: fixed parts {fixed} + "
            f"evidence_limit {budget.evidence_limit} + reserved_output {budget.reserved_output}",
        )
