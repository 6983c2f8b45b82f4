"""Citation marks: grammar, code, and which sentence owns a mark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.citation import parse_citations
from capsules.citation_marks import parse_marks
from capsules.sentences import split_sentences


class TestOwnership:
    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("One [1]. Two [2].", [("One.", (1,)), ("Two.", (2,))]),
            ("One.[1] Two.[2]", [("One.", (1,)), ("Two.", (2,))]),
            ("One. [1] Two. [2]", [("One.", (1,)), ("Two.", (2,))]),
            ("One [1][2], more [3]. Two.", [("One, more.", (1, 2, 3)), ("Two.", ())]),
            ("[1] One. Two.", [("One.", (1,)), ("Two.", ())]),
            ("Dr. [1] Lind came.", [("Dr. Lind came.", (1,))]),
            ("One.\n\n[1] Two.", [("One.", ()), ("Two.", (1,))]),
            ("One.\n[1]\nTwo.", [("One.", (1,)), ("Two.", ())]),
            ("One.\n\n[1]\n", [("One.", (1,))]),
            ("Refs:\n[1] First\n[2] Second", [("Refs:", ()), ("First", (1,)), ("Second", (2,))]),
            ("- One [1]\n- [2] Two", [("- One", (1,)), ("- Two", (2,))]),
            ("It is blue\n[1]. Next.", [("It is blue\n.", (1,)), ("Next.", ())]),
            ("It is blue\n[1] and green. Next.", [("It is blue\n and green.", (1,)), ("Next.", ())]),
            ('One.\n[1] "Two."', [("One.", ()), ('"Two."', (1,))]),
            ("[1]", [("", (1,))]),
            (" [1] [2]\n", [("", (1, 2))]),
            (
                "天空是蓝色的\u3002[1]草是绿的[2]\u3002",
                [
                    ("天空是蓝色的\u3002", (1,)),
                    ("草是绿的\u3002", (2,)),
                ],
            ),
            (
                "السماء زرقاء [1]. هل نعم؟[2] لا.",
                [
                    ("السماء زرقاء.", (1,)),
                    ("هل نعم؟", (2,)),
                    ("لا.", ()),
                ],
            ),
            (
                "आकाश नीला है।[1] घास [2]।",
                [
                    ("आकाश नीला है।", (1,)),
                    ("घास।", (2,)),
                ],
            ),
            (
                "ท้องฟ้า[1] หญ้า [2]",
                [("ท้องฟ้า", (1,)), ("หญ้า", (2,))],
            ),
        ],
    )
    def test_sentences_own_their_marks(
        self, answer: str, expected: list[tuple[str, tuple[int, ...]]]
    ) -> None:
        report = parse_citations(answer, sources=9)
        assert [(sentence.text, sentence.cited) for sentence in report.sentences] == expected

    def test_positions_include_the_marks(self) -> None:
        answer = "[1] One [2]. [3] Two\u3002[4]"
        first, second = parse_citations(answer, sources=9).sentences
        assert answer[first.start : first.end] == "[1] One [2]. [3]"
        assert answer[second.start : second.end] == "Two\u3002[4]"

    @pytest.mark.parametrize(("base", "known", "unknown"), [(1, (1, 2), (0, 3)), (0, (0, 1), (3, 2))])
    def test_unknown_ids_are_kept_apart(
        self, base: int, known: tuple[int, ...], unknown: tuple[int, ...]
    ) -> None:
        (sentence,) = parse_citations("One [0, 3][1] [2] [3].", sources=2, base=base).sentences
        assert sorted(sentence.cited) == list(known)
        assert sentence.unknown == unknown

    def test_malformed_marks_stay_in_the_text(self) -> None:
        report = parse_citations("One [3-1] two [2].", sources=2)
        assert report.sentences[0].text == "One [3-1] two."
        assert [mark.start for mark in report.malformed] == [4]

    def test_the_language_goes_to_the_splitter(self) -> None:
        answer = "กข คง [1]"
        assert len(parse_citations(answer, 1).sentences) == 2
        assert len(parse_citations(answer, 1, lang="en").sentences) == 1


@settings(deadline=None)
@given(st.text("aB. 1,-[]^\u3010\u3011`'\n\u3002(", max_size=60), st.integers(0, 3), st.integers(0, 1))
def test_every_mark_is_owned_once_and_text_is_kept(answer: str, sources: int, base: int) -> None:
    report = parse_citations(answer, sources, base)
    marks, malformed = parse_marks(answer)
    assert (report.marks, report.malformed) == (len(marks), malformed)
    assert all(answer[mark.start :].startswith(mark.text) for mark in malformed)
    ids = [number for mark in marks for number in mark.ids]
    owned = [number for sentence in report.sentences for number in (*sentence.cited, *sentence.unknown)]
    assert set(owned) == set(ids)
    position = 0
    for sentence in report.sentences:
        assert position <= sentence.start < sentence.end
        position = sentence.end
    covered = {at for sentence in report.sentences for at in range(sentence.start, sentence.end)}
    assert all(at in covered for mark in marks for at in range(mark.start, mark.end))
    assert all(at in covered or char.isspace() for at, char in enumerate(answer))


def test_an_answer_without_marks_is_split_as_text(capsule_data: Path) -> None:
    strings = json.loads((capsule_data / "blns" / "blns.json").read_text("utf-8"))
    for text in strings:
        report = parse_citations(text, sources=3)
        if not report.marks:
            spans = [(sentence.start, sentence.end) for sentence in report.sentences]
            assert spans == split_sentences(text)


def test_marks_of_real_answers_are_all_found(capsule_data: Path) -> None:
    answers = json.loads((capsule_data / "scholarqabench" / "human_answers.json").read_text("utf-8"))
    known = unknown = 0
    for answer in answers:
        report = parse_citations(answer["output"], len(answer["ctxs"]), base=0)
        marks, _ = parse_marks(answer["output"])
        ids = [number for mark in marks for number in mark.ids]
        known += sum(number < len(answer["ctxs"]) for number in ids)
        unknown += sum(number >= len(answer["ctxs"]) for number in ids)
        assert {n for s in report.sentences for n in (*s.cited, *s.unknown)} == set(ids)
    # 715 and 3 stand in brackets of their own, the others in lists and ranges.
    assert (known, unknown) == (765, 10)


def test_long_answers_take_linear_time() -> None:
    report = parse_citations("It shut [1]. " * 20_000, sources=1)
    assert (len(report.sentences), report.marks) == (20_000, 20_000)
    for text in (
        "[" * 100_000,
        "[1," * 50_000,
        "`" * 50_001,
        "`a" * 20_000,
        "[" + " " * 100_000,
        "^1" * 50_000,
    ):
        parse_marks(text)
