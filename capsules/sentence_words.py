"""Words around a full stop: what keeps it from ending a sentence, and what often begins one.

All in lower case, without the last full stop. Initials and dotted letters (``J``, ``U.S``, ``พ.ศ``) are no
list: ``capsules.sentences`` tells them by their form.
"""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A name or a comparison follows: the full stop never ends a sentence.
NEVER_ENDS = _words(
    "mr mrs ms mx dr drs prof rev hon messrs mme mlle gen col lt sgt capt cmdr maj brig gov sen rep "
    "pres supt insp adm e.g i.e eg ie cf vs viz approx ca bzw z.b d.h u.a vgl dgl nr hr fr hrsg sog "
    "डॉ श्री श्रीमती सुश्री प्रो पं"
)

# May stand at the end of a sentence: there, only a word that often begins one tells.
MAY_END = _words(
    "st mt ft jr sr inc ltd co corp bros etc al dept univ assn est ave blvd rd hwy jan feb mar apr jun "
    "jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun fig figs eq eqs sec ch vol vols "
    "ed eds art trans orig resp incl excl min max avg fl pt op cit ibid usw ff ph.d m.d b.a m.a a.m p.m "
    "am pm"
)

# An abbreviation only before a number: "No. 5", but "Did it? No. He left."
BEFORE_NUMBER = _words("no nos p pp par para app tab ref refs art ex n l ll v")

STARTERS = _words(
    "the a an this that these those it its he his she her they their we our you your i my in on at as "
    "but and or however for from with when while if after before since although though because there "
    "here then thus therefore moreover furthermore meanwhile what who how why where so some many most all "
    "each both another by to according during under over until once today now"
)
