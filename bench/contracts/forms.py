"""The four output contracts: their names, and what follows from a name.

Rules that this module owns:

* ``quote`` and ``pointer`` ask; ``quote_constrained`` and ``pointer_constrained`` show the same prompt, byte
  for byte, and hold the engine to the form by a grammar. So the free and the constrained arm of a pair
  differ in decoding alone.
* A grammar says where an answer ends, so a constrained request has no stop string: one would cut a quote
  that spans a line break.
"""

from __future__ import annotations

import dataclasses

from bench.specs import SamplingSpec

QUOTE, POINTER = "quote", "pointer"
CONSTRAINED = "_constrained"
CONTRACTS = (QUOTE, POINTER, QUOTE + CONSTRAINED, POINTER + CONSTRAINED)


def is_constrained(name: str) -> bool:
    """Whether the contract is held to by a grammar."""
    return name.endswith(CONSTRAINED)


def free_form(name: str) -> str:
    """The contract without its grammar: what the prompt says and how an answer is read."""
    return name.removesuffix(CONSTRAINED)


def is_pointer(name: str) -> bool:
    """Whether answers are numbers of items, not quotes."""
    return free_form(name) == POINTER


def lead_of(instruct: bool) -> str:
    """What stands between the end of a prompt and its answer: a chat turn begins with the answer itself."""
    return "" if instruct else " "


def sampling_for(name: str, sampling: SamplingSpec) -> SamplingSpec:
    """How tokens are drawn under a contract."""
    return dataclasses.replace(sampling, stop=()) if is_constrained(name) else sampling
