"""The grammar of citation marks, both ways, and the code in which there are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsules.citation import parse_citations
from capsules.citation_marks import parse_marks, render_marks
from capsules.code_ranges import code_ranges


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("[1]", [(1,)]),
        ("[1][2]", [(1,), (2,)]),
        ("[1, 2]", [(1, 2)]),
        ("[ 1 ;2 ]", [(1, 2)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1\u20133,7]", [(1, 2, 3, 7)]),
        ("[1 \u2014 2]", [(1, 2)]),
        ("[2,4-5]", [(2, 4, 5)]),
        ("[5-5]", [(5,)]),
        ("[1, 1]", [(1, 1)]),
        ("[007]", [(7,)]),
        ("[0]", [(0,)]),
        ("\uff3b\uff11\uff0c\uff12\uff3d", [(1, 2)]),
        ("[\u0661\u060c\u0662]", [(1, 2)]),
        ("[\u096f]", [(9,)]),
        ("[\u0e51]", [(1,)]),
        ("\u30103\u3011", [(3,)]),
        ("\u30101\u2020source\u3011", [(1,)]),
        ("\u30101,2\u2020a.pdf [x]\u3011", [(1, 2)]),
        ("[^1]", [(1,)]),
        ("[^1, 2]", [(1, 2)]),
        ("^[1]", [(1,)]),
        ("^1^", [(1,)]),
        ("^1,2^", [(1, 2)]),
        ("[[4]]", [(4,)]),
        ("[[4]](https://example.org/a)", [(4,)]),
        ("[4](#ref-4)", [(4,)]),
        ("[4](see below)", [(4,)]),
        ("[1-100]", [tuple(range(1, 101))]),
        ("x[999999999]", [(999_999_999,)]),
    ],
)
def test_forms(text: str, ids: list[tuple[int, ...]]) -> None:
    marks, malformed = parse_marks(text)
    assert ([mark.ids for mark in marks], malformed) == (ids, ())


@pytest.mark.parametrize(
    ("text", "end"),
    [("a [4](https://example.org/a_b) c", 30), ("a [4](see) c", 5), ("^[4] c", 4), ("[[4]]", 5)],
)
def test_a_mark_ends_after_its_target(text: str, end: int) -> None:
    (mark,), _ = parse_marks(text)
    assert mark.end == end


@pytest.mark.parametrize(
    "text",
    [
        "[3-1]",
        "[1-101]",
        "[1, 9-7]",
        "[-1]",
        "[1.2]",
        "[1,,2]",
        "[1 2]",
        "[1-]",
        "[1-2-3]",
        "[1234567890]",
        "\u30104:0\u2020source\u3011",
        "[Source 1]",
        "[doc 3, p. 4]",
        "[citation: 2]",
        "[Ref. 1]",
        "[#3]",
        "[1",
        "[^12",
        "[1, 2,",
        "\u30103",
    ],
)
def test_malformed_marks_are_reported(text: str) -> None:
    for line_end in ("\n", "\r\n"):
        marks, malformed = parse_marks(f"a {text}{line_end}b")
        assert (marks, [(mark.text, mark.start) for mark in malformed]) == ((), [(text, 2)])


@pytest.mark.parametrize(
    "text",
    [
        "[sic]",
        "[CT]",
        "[]",
        "[ ]",
        "[x]",
        "[...]",
        "2^10",
        "^a^",
        "a[i]",
        "[the 3 cats]",
        "\u3010\u3011",
        "[1\n]b",
        "[",
        "]1[",
    ],
)
def test_what_is_neither_mark_nor_malformed(text: str) -> None:
    marks, malformed = parse_marks(text)
    assert marks == ()
    assert [mark.text for mark in malformed] == (["[1"] if text == "[1\n]b" else [])


def test_a_footnote_definition_cites_nothing() -> None:
    report = parse_citations("It shut.[^1]\n\n[^1]: A manual.\n  [^2]: Another [1].", sources=2)
    assert report.marks == 2
    assert [(sentence.text, sentence.cited) for sentence in report.sentences] == [
        ("It shut.", (1,)),
        ("[^1]: A manual.", ()),
        ("[^2]: Another.", (1,)),
    ]


class TestCode:
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("a `b` c", ["`b`"]),
            ("a ``b `c` d`` e", ["``b `c` d``"]),
            ("`a` and `b`", ["`a`", "`b`"]),
            ("```\na\n```\nb", ["```\na\n```"]),
            ("x\n  ~~~ py\na\n~~~~\nb", ["  ~~~ py\na\n~~~~"]),
            ("````\n```\n````", ["````\n```\n````"]),
            ("```\nnever closed", ["```\nnever closed"]),
            ("~~~\n```\n", ["~~~\n```\n"]),
            ("```a``` b", ["```a```"]),
            ("one `two\nthree` four", ["`two\nthree`"]),
            ("one `two\n\nthree` four", ["`two", "` four"]),
            ("an open `end [1]\nnext", ["`end [1]"]),
            ("``quoted'' [1] `a`", ["`a`"]),
            ("`quoted' [1]", []),
            ("no code", []),
            ("``", ["``"]),
            ("", []),
        ],
    )
    def test_ranges(self, text: str, code: list[str]) -> None:
        assert [text[start:end] for start, end in code_ranges(text)] == code

    def test_marks_around_code_count(self) -> None:
        marks, _ = parse_marks("a [1] `b[2]` c [3]\n```\n[4]\n```\nd [5] `e [6]")
        assert [mark.ids for mark in marks] == [(1,), (3,), (5,)]


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**9 - 1)))
def test_rendered_marks_give_their_ids_back(ids: list[int]) -> None:
    marks, malformed = parse_marks(render_marks(ids))
    assert [number for mark in marks for number in mark.ids] == ids
    assert malformed == ()
    sentences = parse_citations(f"So it is {render_marks(ids)}.", sources=10**9, base=0).sentences
    assert list(sentences[0].cited) == list(dict.fromkeys(ids))


@pytest.mark.parametrize("number", [-1, 10**9])
def test_ids_that_no_mark_can_hold_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"found {number}"):
        render_marks([1, number])
