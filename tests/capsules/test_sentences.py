"""Sentence boundaries by value in five scripts, and what holds of all splits."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules import sentences
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
    "The pole is 3.8 m.| Fritz left.| It held 40 g.| Ada left.",
    "It took 5 h.| Nobody spoke for 12\u00a0s.| Nils ran 100 m.",
    "Of 3.8 m. high walls, 2 t. each.",
    "In 2001 F. Lee came.| Roma, 100 a. C. Plan.| Plan m. Red.",
    "В 1990 г. Иванов уехал.",
    # lines
    "one\n\n|two\n \t\n|three",
    "hard wrapped\ntext. \n|Next line.",
    "- one\n|- two.| Three\n|1. First item\n|2. Second",
    "# Head\n|Text here\n|## Next.| One\n|a) first\n|b) second",
    # tokenized text
    "He saw it . ''| However , she did ( not . )| Then ? ''| They left .",
    # CJK
    "天空是蓝色的。|草是绿的\uff01|是吗\uff1f|\u201c好。\u201d|他说。",
    '他说:"好。"|然后走了。|"好。"|完',
    "値は\uff13\uff0e\uff15です\uff0e|次です\uff0e",
    "「行く\uff01\uff1f」|と言った。",
    # Arabic and Urdu
    "السماء زرقاء.| هل نعم؟| د. أحمد هنا۔| انتهى",
    # Hindi
    "आकाश नीला है।| डॉ. सिंह आए।|अंत॥",
    # Thai
    "ท้องฟ้า| หญ้า| ราคา 50 บาท| ต่างๆ นานา| พ.ศ. 2563",
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
    text = "กข คง"
    assert (
        split_sentences(text)
        == split_sentences(text, "th")
        == split_sentences(text, "th-TH")
        == [(0, 2), (3, 5)]
    )
    assert split_sentences(text, "en") == [(0, 5)]


@settings(deadline=None)
@given(st.text() | st.text("aB. !?。\n#-1)\"'กข।", max_size=40))
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
    assert len(split_sentences('好。"' * 20_000)) > 1
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


def test_one_by_one_a_text_is_read_as_far_as_sentences_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []
    soft_ends = sentences._soft_ends
    monkeypatch.setattr(sentences, "_soft_ends", lambda *args: judged.append(1) or soft_ends(*args))
    text = "A pier. " * 1000
    assert list(islice(sentences.iter_sentences(text), 3)) == split_sentences(text)[:3]
    assert len(judged) == 3 + 1000  # the whole text once, by the list
