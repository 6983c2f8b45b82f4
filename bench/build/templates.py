"""The words of a prompt: instructions per output contract, shared by both layouts.

Rules that this module owns:

* Instructions are constants, so the stable prefix is byte-identical over a task.
* A base model continues a pattern rather than obeys: one sentence, no mock answer that could be copied
  (a base model copies it); the examples carry the form.
* An instruct model obeys and may get no example: the sentence names the form.
* What a prompt says about contradictions is the same whether or not its evidence holds one, so it
  depends on the arm alone and is as protected as every instruction.
* An answer stands on one line: generation stops at its end.
"""

from __future__ import annotations

from bench.build.base import BuildError
from bench.contracts.forms import POINTER, QUOTE, free_form, is_pointer
from capsules.prompt import Constraint

_BASE = {
    QUOTE: "Answer each question with a short quote from the sources and the number of its source.",
    POINTER: "Answer each question with the number of the passage that holds the answer.",
}
_INSTRUCT = {
    QUOTE: "Answer each question with a short quote, copied word for word from the sources, between <q> "
    "and </q>, then the number of its source in square brackets. Write nothing else.",
    POINTER: "Answer each question with the number of the passage that holds the answer, in square brackets. "
    "Write nothing else.",
}
_DISPUTES = (
    Constraint(
        id="disputes",
        kind="verification",
        text="Sources may contradict each other. Quote the source that the question asks about.",
    ),
)


def instructions(
    contract: str, tell_disputes: bool = False, *, instruct: bool = False
) -> tuple[Constraint, ...]:
    """The instructions of an output contract; a constrained one reads like the free one.

    Args:
        contract: Name of the output contract.
        tell_disputes: Whether they say that sources may contradict each other.
        instruct: Whether they are for a model that obeys instructions.

    Raises:
        BuildError: ``contract.unknown``.
    """
    text = (_INSTRUCT if instruct else _BASE).get(free_form(contract))
    if text is not None:
        asked = Constraint(id="instruction", kind="instruction", text=text)
        return (asked, *(_DISPUTES if tell_disputes else ()))
    raise BuildError(
        "contract.unknown", f"expected quote, pointer or one of them _constrained, found {contract!r}"
    )


def answer_text(contract: str, quote: str, number: int) -> str:
    """An answer in the form that the contract asks for."""
    if is_pointer(contract):
        return f"[{number}]"
    return f"<q>{quote}</q> [{number}]"
