r"""The grammar of a constrained answer: text for llguidance, derived from what the prompt shows.

    %llguidance {"no_forcing": true}
    start: " <q>" answer                                few passages: quote first
    answer: Q1 | Q2
    Q1: (S1 & /X(Y*X)?/) "</q> [1]"
    S1: %regex {"substring_chars": "..."}

Rules that this module owns:

* A quote is a substring of one shown passage, and the number is that passage's own: a finished quote is
  exact and names a source that shows it, by construction. Nothing is elided, nothing is normalized.
* A quote begins and ends with a visible character (X: no White_Space, none of the characters that quote/1
  drops) and has ``min_chars`` to ``MAX_QUOTE_CHARS`` code points. So it is neither empty nor blank.
* A quote and what closes it are one terminal: the lexer takes the longest match, so a terminal of the quote
  alone would swallow the ``<`` of evidence that goes on with one, and refuse the quote before it.
* The passages of one number are one terminal, joined by U+FFFF, which no quote may hold.
* Quote first, as the prompt's examples show, while the passages are few. Beyond ``FEW_NUMBERS`` numbers or
  ``FEW_BYTES`` bytes the compiler's limits are near, and the number comes first (``[2] <q>...</q>``): one
  passage is in play then. If each has at most ``SHORT_BYTES``, number and all are the terminal, which costs
  next to nothing before the number is known; longer ones are compiled ahead, up to the engine's limits.
* No forcing: where only one text can follow, llguidance would send that text's usual tokens, and those may be
  special ones (``<b>`` is one of Gemma's), which end the answer. Without it no special token is ever sent.
* ``substring_chars``, never words: it expresses every quote in every script.
* The text is a function of contract, shown text and lead. A run stores its digest and derives it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from bench.build.base import ShownSource
from bench.contracts.forms import is_constrained, is_pointer
from bench.contracts.passages import Passages, passages
from bench.specs import ContractSpec
from capsules.content_id import content_id
from capsules.normalization import trim

MAX_QUOTE_CHARS = 2000
FEW_NUMBERS = 8
FEW_BYTES = 6000
SHORT_BYTES = 2000
NOTHING_TO_QUOTE = "contract.nothing_to_quote"

_HEAD = '%llguidance {"no_forcing": true}\n'
_JOIN = "\uffff"  # a noncharacter: no capsule can hold it, and other text is cut there
_BLANK = r"\p{White_Space}\x{AD}\x{200B}\x{2060}\x{FEFF}\x{FFFF}"
_VISIBLE = f"[^{_BLANK}]"
_ANY = r"[^\x{FFFF}]"
_SUBSTRING = re.compile(r'^S(\d+): %regex (\{"substring_chars": ".*"\})$', re.MULTILINE)
_POINTER = re.compile(r"^pointer: (.*)$", re.MULTILINE)
_NUMBER = re.compile(r"\[(\d+)\]")
_NUMBER_FIRST = re.compile(r'"\[\d+\] <q>"')


class GrammarError(ValueError):
    """A prompt that no constrained answer is possible to; carries a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def grammar_of(
    contract: ContractSpec, shown: Sequence[ShownSource], texts: Callable[[str], str], *, lead: str
) -> str | None:
    """The grammar that a contract holds answers to; ``None`` for a free one.

    Args:
        contract: The arm's output contract.
        shown: What the prompt shows under which number.
        texts: ContentId -> raw text.
        lead: What stands between the end of the prompt and the answer.

    Raises:
        GrammarError: ``contract.nothing_to_quote``.
    """
    if not is_constrained(contract.name):
        return None
    if is_pointer(contract.name):
        return _pointer_grammar(contract, [source.number for source in shown], lead)
    return _quote_grammar(contract, passages(shown, texts), lead)


def grammar_digest(grammar: str | None) -> str | None:
    """ContentId of a grammar; ``None`` without one."""
    return None if grammar is None else content_id(grammar.encode())


def quotable(grammar: str) -> dict[int, tuple[str, ...]]:
    """The passages under each number of a quote grammar: what :func:`grammar_of` wrote, read back."""
    found = {}
    for number, value in _SUBSTRING.findall(grammar):
        found[int(number)] = tuple(json.loads(value)["substring_chars"].split(_JOIN))
    return found


def pointable(grammar: str) -> tuple[int, ...]:
    """The numbers of a pointer grammar; none of a quote grammar."""
    rule = _POINTER.search(grammar)
    return tuple(int(number) for number in _NUMBER.findall(rule[1])) if rule else ()


def is_number_first(grammar: str) -> bool:
    """Whether a quote grammar puts the number before the quote."""
    return _NUMBER_FIRST.search(grammar) is not None


def _pointer_grammar(contract: ContractSpec, numbers: Sequence[int], lead: str) -> str:
    if not numbers:
        raise GrammarError(NOTHING_TO_QUOTE, f"{contract.name}: expected shown items, found none")
    pointers = " | ".join(f'"[{number}]"' for number in numbers)
    return f"{_HEAD}start: {_literal(lead)}pointer{_more('pointer', contract)}\npointer: {pointers}\n"


def _quote_grammar(contract: ContractSpec, shown: Sequence[Passages], lead: str) -> str:
    kept = {p.number: parts for p in shown if (parts := _long_enough(p.parts, contract.min_chars))}
    if not kept:
        raise GrammarError(
            NOTHING_TO_QUOTE,
            f"{contract.name}: expected a shown passage of {contract.min_chars} visible code points or more, "
            f"found none among {len(shown)} sources",
        )
    opening, answer, terminal = _form(kept)
    shape = _shape(contract.min_chars, longest=max(map(len, _flat(kept))))
    more = f'(" {opening}" answer)' if opening else '(" " answer)'
    lines = [
        f"start: {_literal(lead + opening)}answer{_more(more, contract)}",
        "answer: " + " | ".join(answer.format(n=number) for number in kept),
    ]
    for number, parts in kept.items():
        value = json.dumps({"substring_chars": _JOIN.join(parts)})  # noqa: TID251  # ASCII, of one form
        lines.append(f"Q{number}: {terminal.format(n=number, quote=f'(S{number} & /{shape}/)')}")
        lines.append(f"S{number}: %regex {value}")
    return _HEAD + "\n".join(lines) + "\n"


def _form(kept: dict[int, tuple[str, ...]]) -> tuple[str, str, str]:
    """What opens an answer, an answer, and the terminal in it."""
    sizes = [sum(len(part.encode()) for part in parts) for parts in kept.values()]
    if len(kept) <= FEW_NUMBERS and sum(sizes) <= FEW_BYTES:
        return "<q>", "Q{n}", '{quote} "</q> [{n}]"'
    if max(sizes) <= SHORT_BYTES:
        return "", "Q{n}", '"[{n}] <q>" {quote} "</q>"'
    return "", '"[{n}] <q>" Q{n}', '{quote} "</q>"'


def _flat(kept: dict[int, tuple[str, ...]]) -> list[str]:
    return [part for parts in kept.values() for part in parts]


def _long_enough(parts: Sequence[str], min_chars: int) -> tuple[str, ...]:
    """Parts that hold a quote; a noncharacter of the text ends one."""
    cut = [piece for part in parts for piece in part.split(_JOIN)]
    return tuple(piece for piece in cut if _shown_length(piece) >= min_chars)


def _shown_length(text: str) -> int:
    start, end = trim(text)
    return end - start


def _shape(min_chars: int, longest: int) -> str:
    """A regular expression for the ends and the length of a quote."""
    most = str(MAX_QUOTE_CHARS - 2) if longest > MAX_QUOTE_CHARS else ""
    between = f"{_ANY}{{{max(0, min_chars - 2)},{most}}}"
    if min_chars > 1:
        return f"{_VISIBLE}{between}{_VISIBLE}"
    return f"{_VISIBLE}({between}{_VISIBLE})?"


def _literal(text: str) -> str:
    return f"{json.dumps(text)} " if text else ""  # noqa: TID251


def _more(rule: str, contract: ContractSpec) -> str:
    """Further answers, up to ``max_quotes``."""
    return f" {rule}{{0,{contract.max_quotes - 1}}}" if contract.max_quotes > 1 else ""
