"""The words of a prompt: instructions per output contract, shared by both layouts.

Rules that this module owns:

* Instructions are constants, so the stable prefix is byte-identical over a task.
* They are written for a base model, which continues a pattern rather than obeys: one sentence, no
  mock answer that could be copied (a base model copies it); the examples carry the form.
* What a prompt says about contradictions is the same whether or not its evidence holds one, so it
  depends on the arm alone and is as protected as every instruction.
* An answer stands on one line: generation stops at its end.
"""

from __future__ import annotations

from bench.build.base import BuildError
from capsules.prompt import Constraint

_QUOTE = (
    Constraint(
        id="instruction",
        kind="instruction",
        text="Answer each question with a short quote from the sources and the number of its source.",
    ),
)
_POINTER = (
    Constraint(
        id="instruction",
        kind="instruction",
        text="Answer each question with the number of the passage that holds the answer.",
    ),
)
_DISPUTES = (
    Constraint(
        id="disputes",
        kind="verification",
        text="Sources may contradict each other. Quote the source that the question asks about.",
    ),
)


def instructions(contract: str, tell_disputes: bool = False) -> tuple[Constraint, ...]:
    """The instructions of an output contract; a constrained one reads like the free one.

    Args:
        contract: Name of the output contract.
        tell_disputes: Whether they say that sources may contradict each other.

    Raises:
        BuildError: ``contract.unknown``.
    """
    name = contract.removesuffix("_constrained")
    if name in ("quote", "pointer"):
        return (_QUOTE if name == "quote" else _POINTER) + (_DISPUTES if tell_disputes else ())
    raise BuildError(
        "contract.unknown", f"expected quote, pointer or one of them _constrained, found {contract!r}"
    )


def answer_text(contract: str, quote: str, number: int) -> str:
    """An answer in the form that the contract asks for."""
    if contract.removesuffix("_constrained") == "pointer":
        return f"[{number}]"
    return f"<q>{quote}</q> [{number}]"
