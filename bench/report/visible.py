"""Text from data and models, made safe to look at.

Rules of this module:

* What a reader cannot see is shown as its code point, ``⟨U+202E⟩``: control and format characters
  (bidi overrides and zero-width ones among them), line and paragraph separators, surrogates,
  private-use and unassigned code points, and the invisible letters and marks listed below.
* Nothing else changes: the stored bytes are never touched, only what is displayed.
* HTML escaping is the template's work (autoescape); Markdown and LaTeX escaping is done here.
"""

from __future__ import annotations

import re
import unicodedata

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Default_Ignorable code points and blanks whose category says letter, mark or symbol.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#$&!])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u00a0": "~",
    "−": r"$-$",
    "–": "--",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "Δ": r"$\Delta$",
    "µ": r"\textmu{}",
    "·": r"$\cdot$",
    "†": r"\dag{}",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
    "…": r"\ldots{}",
}


def visible(text: str) -> str:
    """``text`` with every invisible code point written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(c):04X}⟩" if _is_hidden(c) else c for c in text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or bool(_HIDDEN.match(character))


def clipped(text: str, limit: int) -> str:
    """``text`` cut to ``limit`` code points; a cut is said, with how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def markdown(text: str) -> str:
    """``text`` for a Markdown paragraph or table cell: visible, one line, no markup of its own."""
    return _MARKDOWN.sub(r"\\\1", visible(text))


def latex(text: str) -> str:
    """``text`` for LaTeX: visible and without active characters."""
    return "".join(_LATEX.get(c, c) for c in visible(text))
