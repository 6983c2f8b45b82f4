"""Sentence boundaries by value in five scripts, and what holds of all splits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.sentences import split_sentences
from capsules.unicode_tables import WHITE_SPACE

# "|" marks where one sentence ends and the next begins.
CASES = [
    # Latin
    "Dr. Lind took 3.5 mg.| He slept.",
    "Is it No. 5?| No.| He left.",
    "See p. 7 and pp. 8.| Then stop.",
    "The U.S. Army came.| He lives in the U.S.| The end.",
    "J. R. R. Tolkien wrote it.| Plan B.| It failed.",
    "Mr. The arrived, i.e. The man himself.",
    "At 5 p.m. Monday it rang.| At 5 p.m.| The bus left.",
    "Smith et al. (2020) saw it.| Others etc.| They agreed.",
    "(See Fig. 2.)| Next.| See Fig. 3 there.",
    '"Go!" he said.| "Go."| Then she left.',
    "He left.| \u201cWait.\u201d| \u2018Why?\u2019",
    "He said (twice.)| And left.",
    "Wait... what?| Yes\u2026| Fine!?| End",
    "in 1960.| 5 people came.",
    "e.g. this, vs. that, cf. Lee. Still one.".replace("Lee. Still", "Lee, still"),
    "What?! Yes.".replace("?! ", "?!| "),
    "pi is 3.14159 or so.",
    "www.example.org/a.b is a page.",
    "no stop",
    "It works.and so on.",
    "Yahoo! is a firm.",
    "z.B. Haus, d.h. Bau.| Das ist gut.",
    "\u00bfQu\u00e9 tal?| \u00a1Bien!| Adi\u00f3s.",
    "I like A. A. Milne's book.",
    # lines
    "one\n\n|two\n \t\n|three",
    "hard wrapped\ntext. \n|Next line.",
    "- one\n|- two.| Three\n|1. First item\n|2. Second",
    "# Head\n|Text here\n|## Next. One\n|a) first\n|b) second",
    # tokenized text
    "He saw it . ''| However , she did ( not . )| Then ? ''| They left .",
    # CJK
    "\u5929\u7a7a\u662f\u84dd\u8272\u7684\u3002|\u8349\u662f\u7eff\u7684\uff01|\u662f\u5417\uff1f|\u201c\u597d\u3002\u201d|\u4ed6\u8bf4\u3002",
    '\u4ed6\u8bf4:"\u597d\u3002"|\u7136\u540e\u8d70\u4e86\u3002|"\u597d\u3002"|\u5b8c',
    "\u5024\u306f\uff13\uff0e\uff15\u3067\u3059\uff0e|\u6b21\u3067\u3059\uff0e",
    "\u300c\u884c\u304f\uff01\uff1f\u300d|\u3068\u8a00\u3063\u305f\u3002",
    # Arabic and Urdu
    "\u0627\u0644\u0633\u0645\u0627\u0621 \u0632\u0631\u0642\u0627\u0621.| \u0647\u0644 \u0646\u0639\u0645\u061f| \u062f. \u0623\u062d\u0645\u062f \u0647\u0646\u0627\u06d4| \u0627\u0646\u062a\u0647\u0649",
    # Hindi
    "\u0906\u0915\u093e\u0936 \u0928\u0940\u0932\u093e \u0939\u0948\u0964| \u0921\u0949. \u0938\u093f\u0902\u0939 \u0906\u090f\u0964|\u0905\u0902\u0924\u0965",
    # Thai
    "\u0e17\u0e49\u0e2d\u0e07\u0e1f\u0e49\u0e32| \u0e2b\u0e0d\u0e49\u0e32| \u0e23\u0e32\u0e04\u0e32 50 \u0e1a\u0e32\u0e17| \u0e15\u0e48\u0e32\u0e07\u0e46 \u0e19\u0e32\u0e19\u0e32 \u0e1e.\u0e28. 2563",
]


@pytest.mark.parametrize("marked", CASES)
def test_boundaries(marked: str) -> None:
    expected = [part.strip(WHITE_SPACE) for part in marked.split("|")]
    text = marked.replace("|", "")
    assert [text[start:end] for start, end in split_sentences(text)] == expected


def test_nothing_to_split() -> None:
    assert split_sentences("") == []
    assert split_sentences(" \n\u3000\n ") == []


def test_a_language_other_than_thai_keeps_spaces_between_thai_words() -> None:
    text = "\u0e01\u0e02 \u0e04\u0e07"
    assert (
        split_sentences(text)
        == split_sentences(text, "th")
        == split_sentences(text, "th-TH")
        == [(0, 2), (3, 5)]
    )
    assert split_sentences(text, "en") == [(0, 5)]


@given(st.text() | st.text("aB. !?\u3002\n#-1)\"'\u0e01\u0e02\u0964", max_size=40))
def test_sentences_are_trimmed_in_order_and_hold_all_text(text: str) -> None:
    spans = split_sentences(text)
    position = 0
    for start, end in spans:
        assert position <= start < end
        assert not text[position:start].strip(WHITE_SPACE)
        assert text[start:end].strip(WHITE_SPACE) == text[start:end]
        position = end
    assert not text[position:].strip(WHITE_SPACE)


def test_long_texts_take_linear_time() -> None:
    assert len(split_sentences("A b. " * 40_000)) == 40_000
    assert len(split_sentences('\u597d\u3002"' * 20_000)) > 1
    assert len(split_sentences("." * 200_000)) == 1
    assert len(split_sentences("\n \t" * 100_000 + "a")) == 1


def test_gold_sentences_of_clapnq_are_mostly_found(capsule_data: Path) -> None:
    """Boundaries against the sentences of tokenized encyclopedia passages, tables and all."""
    right = wrong = missed = 0
    for line in (capsule_data / "clapnq" / "clapnq_dev_unanswerable.jsonl").read_text("utf-8").splitlines():
        for passage in json.loads(line)["passages"]:
            gold, position = set(), 0
            for sentence in map(str.strip, passage["sentences"]):
                position = passage["text"].index(sentence, position) + len(sentence)
                gold.add(position)
            found = {end for _, end in split_sentences(passage["text"])}
            right, wrong, missed = (
                right + len(gold & found),
                wrong + len(found - gold),
                missed + len(gold - found),
            )
    assert right / (right + wrong) > 0.99
    assert right / (right + missed) > 0.85  # what is missed has no stop: table cells and headings
