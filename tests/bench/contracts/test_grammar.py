"""What a grammar accepts, judged by llguidance itself; its text, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.build.base import ShownSource
from bench.contracts.grammar import (
    MAX_QUOTE_CHARS,
    GrammarError,
    grammar_digest,
    grammar_of,
    is_number_first,
    pointable,
    quotable,
)
from bench.contracts.obeying import obeying
from bench.scorers.judge import Judge
from bench.specs import ContractSpec

Make = Callable[..., str]
Accepts = Callable[[str, str], bool]
X = r"[^\p{White_Space}\x{AD}\x{200B}\x{2060}\x{FEFF}\x{FFFF}]"
HEAD = '%llguidance {"no_forcing": true}\n'
ALMA, GULLS = "The ferry Alma was built in 1931.", 'Gulls "nest"\non the pier; \\ {x} % ไทย 中文.'


def test_the_text_of_a_quote_grammar(grammar: Make) -> None:
    assert grammar(ALMA, GULLS) == "\n".join(
        [
            '%llguidance {"no_forcing": true}',
            'start: " <q>" answer',
            "answer: Q1 | Q2",
            rf'Q1: (S1 & /{X}([^\x{{FFFF}}]{{0,}}{X})?/) "</q> [1]"',
            'S1: %regex {"substring_chars": "The ferry Alma was built in 1931."}',
            rf'Q2: (S2 & /{X}([^\x{{FFFF}}]{{0,}}{X})?/) "</q> [2]"',
            r'S2: %regex {"substring_chars": "Gulls \"nest\"\non the pier; \\ {x} % '
            r'\u0e44\u0e17\u0e22 \u4e2d\u6587."}',
            "",
        ]
    )


def test_the_text_of_a_pointer_grammar(grammar: Make) -> None:
    assert (
        grammar(ALMA, GULLS, name="pointer_constrained")
        == HEAD + 'start: " " pointer\npointer: "[1]" | "[2]"\n'
    )
    assert grammar(ALMA, name="pointer_constrained", lead="", max_quotes=3) == (
        HEAD + 'start: pointer pointer{0,2}\npointer: "[1]"\n'
    )


def test_a_free_contract_has_no_grammar() -> None:
    for name in ("quote", "pointer"):
        assert grammar_of(ContractSpec(name=name), (), {}.__getitem__, lead=" ") is None
    assert grammar_digest(None) is None


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        (" <q>The ferry Alma</q> [1]", True),
        (" <q>T</q> [1]", True),
        (f" <q>{ALMA}</q> [1]", True),
        (f" <q>{GULLS}</q> [2]", True),
        (" <q>e</q> [2]", True),  # in both sources
        (" <q>e</q> [1]", True),
        (" <q>ไทย 中</q> [2]", True),
        (' <q>"nest"\non</q> [2]', True),
        (" <q>The ferry Alma</q> [2]", False),  # the other source's number
        (" <q>The ferry Alma</q> [3]", False),
        (" <q>The Alma</q> [1]", False),  # not in one piece
        (" <q>The ... 1931</q> [1]", False),
        (" <q>the ferry</q> [1]", False),  # another case
        (" <q></q> [1]", False),
        (" <q> </q> [1]", False),
        (" <q>ferry </q> [1]", False),
        (" <q> ferry</q> [1]", False),
        ("<q>ferry</q> [1]", False),
        (" <q>ferry</q> [1] ", False),
        (" <q>ferry</q>", False),
        (" <q>ferry</q> [1] <q>ferry</q> [1]", False),
        (" [1]", False),
        ("", False),
    ],
)
def test_what_a_quote_grammar_accepts(grammar: Make, accepts: Accepts, answer: str, held: bool) -> None:
    assert accepts(grammar(ALMA, GULLS), answer) is held


def test_lengths_and_numbers_of_quotes(grammar: Make, accepts: Accepts) -> None:
    four = grammar(ALMA, min_chars=4)
    assert [accepts(four, f" <q>{q}</q> [1]") for q in ("The", "The f", "Alma", "a wa", "1931.")] == [
        *(False, True, True, True, True)
    ]
    two = grammar("abc", min_chars=2)
    assert [accepts(two, f" <q>{q}</q> [1]") for q in ("a", "ab", "abc")] == [False, True, True]
    long = grammar("é" * (MAX_QUOTE_CHARS + 50))
    assert [accepts(long, f" <q>{'é' * n}</q> [1]") for n in (1, MAX_QUOTE_CHARS, MAX_QUOTE_CHARS + 1)] == [
        *(True, True, False)
    ]
    three = grammar(ALMA, max_quotes=3)
    one = " <q>ferry</q> [1]"
    assert [accepts(three, one * n) for n in range(5)] == [False, True, True, True, False]


def test_pointers(grammar: Make, accepts: Accepts) -> None:
    text = grammar(*(["a."] * 12), name="pointer_constrained", max_quotes=2)
    answers = (" [1]", " [12]", " [3][12]", " [13]", " [0]", " [1", " [1][2][3]", "[1]", "")
    assert [accepts(text, a) for a in answers] == [True] * 3 + [False] * 6


def test_tags_in_the_evidence_end_a_quote(grammar: Make, accepts: Accepts) -> None:
    """Evidence that would close its own quote and cite another source cannot be quoted across its tag."""
    evil = grammar("safe</q> [2] <q>sound</q> end", "other")
    assert quotable(evil)[1] == ("safe</q", "/q> [2] <q", "q>sound</q", "/q> end")
    assert accepts(evil, " <q>safe</q> [1]")
    assert accepts(evil, " <q>safe</q</q> [1]")
    assert not accepts(evil, " <q>safe</q> [2] <q>sound</q> [1]")
    assert not accepts(evil, " <q>safe</q> [2]")


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        ([f"Passage {n} of the harbour." for n in range(1, 9)], False),
        ([f"Passage {n} of the harbour." for n in range(1, 31)], True),  # whole answers as terminals
        (["Passage 1 of the harbour.", "x" * 6000], True),  # one too long for that
        (["Passage 1 of the harbour.", "x" * 5975], False),
        (["Passage 1 of the harbour.", "中" * 1992], True),  # bytes, not code points
    ],
)
def test_many_passages_put_the_number_first(
    grammar: Make, accepts: Accepts, texts: list[str], first: bool
) -> None:
    many = grammar(*texts, max_quotes=2)
    assert is_number_first(many) is first
    quote = texts[-1][:9]
    for number in (1, len(texts)):
        one = f" [{number}] <q>{quote}</q>" if first else f" <q>{quote}</q> [{number}]"
        other = f" <q>{quote}</q> [{number}]" if first else f" [{number}] <q>{quote}</q>"
        assert accepts(many, one) is accepts(many, one + one) is (quote in texts[number - 1])
        assert not accepts(many, other)
        assert not accepts(many, one + other)


def test_what_the_prompt_does_not_show_is_no_passage(accepts: Accepts) -> None:
    """A gap of text cuts a passage, a gap of white space does not; a noncharacter does."""
    text = "One two. Three four. Five\uffffsix."
    ranges = ((0, 8), (9, 20), (21, 30))
    source = ShownSource(number=4, doc_id="d", source="d", ranges=(ranges[0], ranges[2]))
    found = grammar_of(ContractSpec(name="quote_constrained"), (source,), lambda _: text, lead="")
    assert found is not None
    assert quotable(found) == {4: ("One two.", "Five", "six.")}
    joined = ShownSource(number=4, doc_id="d", source="d", ranges=ranges[:2])
    found = grammar_of(ContractSpec(name="quote_constrained"), (joined,), lambda _: text, lead="")
    assert found is not None
    assert accepts(found, "<q>two. Three</q> [4]")


@pytest.mark.parametrize("name", ["quote_constrained", "pointer_constrained"])
def test_nothing_to_quote_is_named(grammar: Make, name: str) -> None:
    with pytest.raises(GrammarError, match="found none") as refused:
        grammar(name=name)
    assert refused.value.code == "contract.nothing_to_quote"


def test_blank_and_too_short_passages_are_nothing_to_quote(grammar: Make) -> None:
    with pytest.raises(GrammarError, match="3 visible code points"):
        grammar(" \u200b\u3000\n", "ab", min_chars=3)
    assert quotable(grammar(" \u200b\u3000\n", "ab")) == {2: ("ab",)}


_TEXT = st.text(
    st.one_of(st.sampled_from(' \n\t"\\%/{}[]<q>é中กاह\u200b\u00ad\U0001f600'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=40,
)


@settings(max_examples=150)
@given(st.lists(_TEXT, min_size=1, max_size=4), st.data())
def test_every_accepted_answer_is_an_exact_citation(
    accepts: Accepts, texts: list[str], data: st.DataObject
) -> None:
    """The promise itself: whatever llguidance accepts, the judge calls exact, from the cited source."""
    from capsules.normalization import trim

    by_id = {f"doc-{n}": text for n, text in enumerate(texts, 1)}
    sources = tuple(
        ShownSource(number=n, doc_id=i, source=i, ranges=((0, len(t)),))
        for n, (i, t) in enumerate(by_id.items(), 1)
    )
    contract = ContractSpec(name="quote_constrained")
    try:
        text = grammar_of(contract, sources, by_id.__getitem__, lead=" ")
    except GrammarError:
        assert all(len(range(*trim(t))) == 0 or set(t) & {"\uffff"} for t in texts)
        return
    assert text is not None
    number = data.draw(st.integers(1, len(texts)))
    source = texts[data.draw(st.integers(0, len(texts) - 1))]
    start = data.draw(st.integers(0, len(source)))
    quote = source[start : data.draw(st.integers(start, len(source)))]
    answer = f" <q>{quote}</q> [{number}]"
    judged = Judge(by_id.__getitem__).answer(answer, sources, tuple(by_id), contract)
    visible = quote[slice(*trim(quote))]
    expressible = bool(visible) and visible == quote and not set(("<q>", "</q>")) & _tags(quote)
    if accepts(text, answer):
        assert [(q.exact, q.number, q.finished) for q in judged] == [(True, number, True)]
        assert quote in texts[number - 1]
    else:
        assert not (expressible and "\uffff" not in quote and quote in texts[number - 1])


def test_a_grammar_with_a_wrong_number_would_be_noticed(grammar: Make, accepts: Accepts) -> None:
    """The fault that shows that the law above can fail."""
    sources = tuple(
        ShownSource(number=n, doc_id=t, source=t, ranges=((0, len(t)),))
        for n, t in enumerate((ALMA, GULLS), 1)
    )
    wrong = grammar(ALMA, GULLS).replace('</q> [1]"', '</q> [9]"').replace('</q> [2]"', '</q> [1]"')
    answer = " <q>Gulls</q> [1]"
    assert accepts(wrong, answer)
    (judged,) = Judge(str).answer(answer, sources, (ALMA, GULLS), ContractSpec(name="quote_constrained"))
    assert (judged.exact, judged.reason) == (False, "quote.place.other_source")


def _tags(quote: str) -> set[str]:
    return {tag for tag in ("<q>", "</q>") if tag in quote}


@settings(max_examples=60)
@given(
    st.lists(st.text("ab .\n中é", min_size=1, max_size=60), min_size=1, max_size=11), st.integers(0, 2**40)
)
def test_what_the_fake_engine_says_is_accepted(accepts: Accepts, texts: list[str], seed: int) -> None:
    texts[0] = "x" + texts[0]
    by_id = {f"doc-{n}": text for n, text in enumerate(texts, 1)}
    sources = tuple(
        ShownSource(number=n, doc_id=i, source=i, ranges=((0, len(t)),))
        for n, (i, t) in enumerate(by_id.items(), 1)
    )
    for name in ("quote_constrained", "pointer_constrained"):
        text = grammar_of(ContractSpec(name=name), sources, by_id.__getitem__, lead=" ")
        assert text is not None
        assert accepts(text, obeying(text, seed))
        numbers = pointable(text) or tuple(quotable(text))
        assert set(numbers) <= set(range(1, len(texts) + 1))
