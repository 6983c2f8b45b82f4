"""Words that the rules of this package know: English ones, and months.

Rules that this module owns: a language without a list here is judged by its numbers and terms alone;
nothing is stemmed, so a word of another form is another word.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


STOP_WORDS = _words(
    "a about after all also an and any are as at be became been before being between both but by can could",
    "did do does during each for from had has have he her hers him his how i if in into is it its itself may",
    "me more most much my now of on once one or other our out over own s she should since so some such than",
    "that the their them then there these they this those through to under until up very was we were what",
    "when where which while who whom whose why will with would you your according name named called known",
    "many lrb rrb lsb rsb made",  # brackets of the Penn Treebank are no words
)

NEGATIONS = _words(
    "not no never neither nor cannot without nobody none nothing nowhere t failed fails fail refused refuses",
    "lacks lacked incapable unable denied denies",  # "t" is what is left of "isn't"
)

_MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
MONTHS: Mapping[str, int] = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}

# "one" is a pronoun more often than a number.
_FROM_TWO = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
NUMBER_WORDS: Mapping[str, str] = {word: str(n) for n, word in enumerate(_FROM_TWO.split(), 2)}

# Pairs of sides; a sentence with a word of one side says the opposite of one with a word of the other.
OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (
        _words("increase increased increases rise rose rises grew grows"),
        _words("decrease decreased decreases fell falls shrank"),
    ),
    (_words("more higher larger bigger greater above"), _words("fewer less lower smaller below")),
    (_words("first earliest youngest"), _words("last latest oldest")),
    (_words("before earlier"), _words("after later")),
    (_words("open opened opens"), _words("closed closes shut")),
    (
        _words("begin began begins start started starts"),
        _words("end ended ends finished stopped stop stops"),
    ),
    (_words("won wins win winner"), _words("lost loses lose loser")),
    (_words("alive living lives"), _words("dead died deceased")),
    (
        _words("allow allowed allows permitted permits"),
        _words("forbid forbidden forbids banned bans prohibited prohibits"),
    ),
    (_words("accepted accepts approved approves"), _words("rejected rejects declined declines")),
    (_words("true correct"), _words("false incorrect wrong")),
    (
        _words("male man men he his him actor son brother father husband king"),
        _words("female woman women she her actress daughter sister mother wife queen"),
    ),
    (_words("north northern"), _words("south southern")),
    (_words("east eastern"), _words("west western")),
    (_words("hot warm"), _words("cold cool")),
    (_words("public"), _words("private")),
    (_words("success successful"), _words("failure unsuccessful")),
    (_words("always"), _words("never")),
    (_words("includes included including"), _words("excludes excluded excluding")),
    (_words("major majority"), _words("minor minority")),
)
