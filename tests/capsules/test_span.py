"""Spans: units, occurrences, agreement of all selectors, and every gold span of XQuAD."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules import codec
from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.source import SourceText, source_text
from capsules.span import ExactSpan, check_span, make_span, occurrences, span_id


def codes(span: ExactSpan, text: str) -> list[tuple[str, str]]:
    return [(problem.code, problem.at) for problem in check_span(span, text)]


def test_offsets_are_code_points() -> None:
    # Field case A05. UTF-16 would say 27, UTF-8 35, graphemes 22, NFC 23.
    source = source_text("A\U0001f9ea test: caf\u00e9, cafe\u0301 \U0001f1f3\U0001f1f4 done".encode())
    span = make_span(source.source, source.text, 24, 28)
    assert (span.exact, span.start, span.end) == ("done", 24, 28)
    assert span.span_id == f"{source.source}:24-28"
    assert (span.prefix, span.suffix) == (source.text[:24], "")
    assert check_span(span, source.text) == []


@pytest.mark.parametrize(("start", "end"), [(27, 31), (35, 39), (22, 26), (23, 27)])
def test_offsets_in_another_unit_fail(start: int, end: int) -> None:
    text = "A\U0001f9ea test: caf\u00e9, cafe\u0301 \U0001f1f3\U0001f1f4 done"
    good = make_span(content_id(text.encode()), text, 24, 28)
    if end > len(text):
        with pytest.raises(SchemaError) as caught:
            make_span(good.source, text, start, end)
        assert caught.value.code == "span.range"
    prefix = (text + "-" * 40)[start - min(32, start) : start]
    moved = replace(
        good, start=start, end=end, span_id=span_id(good.source, start, end), prefix=prefix[-min(32, start) :]
    )
    assert codes(moved, text)[0][0] in ("span.range", "span.exact.mismatch")


def test_which_occurrence() -> None:
    # Field case A06.
    text = "Zinc 5 mg; iron 5 mg; zinc 5 mg."
    source = content_id(text.encode())
    assert occurrences(text, "5 mg") == [5, 16, 27]
    span = make_span(source, text, 16, 20)
    assert (span.exact, span.occurrence, span.occurrences) == ("5 mg", 2, 3)
    claimed = {"start": 15, "end": 19, "span_id": span_id(source, 15, 19), "prefix": text[:15]}
    assert ("span.exact.mismatch", "/exact") in codes(replace(span, **claimed), text)


@pytest.mark.parametrize(
    ("text", "exact", "starts"),
    [
        ("aaaa", "aa", [0, 1, 2]),
        ("aaaa", "aaaa", [0]),
        ("aaaa", "aaaaa", []),
        ("", "a", []),
        ("abababa", "aba", [0, 2, 4]),
        ("aabaabaabaaaabaa", "aabaa", [0, 3, 6, 11]),
        ("aabaaabaaabaa", "aabaa", [0, 4, 8]),
        ("x aa y aaa z", "aa", [2, 7, 8]),
        ("\U0001f600\U0001f600\U0001f600", "\U0001f600\U0001f600", [0, 1]),
    ],
)
def test_occurrences_overlap(text: str, exact: str, starts: list[int]) -> None:
    assert occurrences(text, exact) == starts


@given(st.text("ab", max_size=60), st.text("ab", min_size=1, max_size=9))
def test_occurrences_are_all_places_where_the_text_stands(text: str, exact: str) -> None:
    assert occurrences(text, exact) == [i for i in range(len(text)) if text.startswith(exact, i)]


@given(
    st.text("ab", min_size=1, max_size=5), st.integers(1, 40), st.text("ab", max_size=5), st.integers(1, 60)
)
def test_occurrences_in_periodic_text(unit: str, times: int, rest: str, size: int) -> None:
    text = unit * times + rest + unit * times
    exact = (unit * 60)[:size]
    assert occurrences(text, exact) == [i for i in range(len(text)) if text.startswith(exact, i)]


@given(text=st.text(alphabet="ab ", min_size=1, max_size=12), data=st.data())
def test_first_middle_and_last_of_several_are_counted_alike(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    every = [i for i in range(len(text)) if text.startswith(text[start:end], i)]

    span = make_span(content_id(text.encode()), text, start, end)

    assert (span.occurrence, span.occurrences) == (every.index(start) + 1, len(every))
    assert check_span(span, text) == []
    more = replace(span, occurrences=len(every) + 1)
    assert codes(more, text) == [("span.context.mismatch", "/occurrences")]


def test_nothing_has_no_occurrences() -> None:
    with pytest.raises(SchemaError) as caught:
        occurrences("abc", "")
    assert caught.value.code == "span.range"


@pytest.mark.parametrize("exact", ["a", "a" * 50, "a" * 5_000, "a" * 500_000], ids=len)
def test_a_megabyte_of_one_letter_is_counted_exactly(exact: str) -> None:
    """With one comparison a hit this would be 2.5e11 steps for the longest; it takes milliseconds."""
    text = "a" * 1_000_000
    span = make_span(content_id(text.encode()), text, 1_000, 1_000 + len(exact))
    assert span.occurrence == 1_001
    assert span.occurrences == 1_000_001 - len(exact)
    assert check_span(span, text) == []


def test_a_megabyte_of_a_long_period_is_counted_exactly() -> None:
    text = ("a" * 999 + "b") * 1_000
    exact = text[500:400_500]
    assert len(occurrences(text, exact)) == 600


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 4), (3, 4), (4, 5)])
def test_a_span_lies_inside_its_text(start: int, end: int) -> None:
    with pytest.raises(SchemaError) as caught:
        make_span(content_id(b"abc"), "abc", start, end)
    assert caught.value.code == "span.range"


def test_a_span_of_refused_characters_is_refused() -> None:
    text = "a\ufdd0b"
    for start, end, at in ((1, 2, "/exact"), (0, 1, "/suffix"), (2, 3, "/prefix")):
        with pytest.raises(SchemaError) as caught:
            make_span(content_id(text.encode()), text, start, end)
        assert (caught.value.code, caught.value.at) == ("json.string.noncharacter", at)


TEXT = "0123456789" * 10
SOURCE = content_id(TEXT.encode())
GOOD = make_span(SOURCE, TEXT, 40, 45)

# A change of one field of a good span, and where construction refuses it.
INCONSISTENT: dict[str, tuple[dict[str, Any], str, str]] = {
    "end at start": ({"end": 40}, "span.range", "/end"),
    "end before start": ({"end": 39}, "span.range", "/end"),
    "longer than its text": ({"end": 46}, "span.range", "/exact"),
    "shorter text": ({"exact": "0123"}, "span.range", "/exact"),
    "another id": ({"span_id": f"{SOURCE}:40-46"}, "id.malformed", "/span_id"),
    "another source": ({"source": content_id(b"")}, "id.malformed", "/span_id"),
    "another text": ({"exact": "01235"}, "span.exact.mismatch", "/text_digest"),
    "another digest": ({"text_digest": SOURCE}, "span.exact.mismatch", "/text_digest"),
    "short prefix": ({"prefix": "789"}, "span.context.mismatch", "/prefix"),
    "long prefix": ({"prefix": "7" * 33}, "schema.limit", "/prefix"),
    "long suffix": ({"suffix": "7" * 33}, "schema.limit", "/suffix"),
    "occurrence 0": ({"occurrence": 0}, "schema.limit", "/occurrence"),
    "occurrence after the last": ({"occurrence": 11}, "schema.limit", "/occurrence"),
    "open norm": ({"norm_id": "nfkc/1"}, "schema.word", "/norm_id"),
}


@pytest.mark.parametrize(("change", "code", "at"), INCONSISTENT.values(), ids=INCONSISTENT.keys())
def test_a_span_agrees_with_itself(change: dict[str, Any], code: str, at: str) -> None:
    with pytest.raises(SchemaError) as caught:
        replace(GOOD, **change)
    assert (caught.value.code, caught.value.at) == (code, at)


def test_what_only_the_source_can_tell() -> None:
    assert (GOOD.occurrence, GOOD.occurrences) == (5, 10)
    assert check_span(GOOD, TEXT) == []
    assert codes(replace(GOOD, prefix="x" * 32), TEXT) == [("span.context.mismatch", "/prefix")]
    assert codes(replace(GOOD, suffix=""), TEXT) == [("span.context.mismatch", "/suffix")]
    assert codes(replace(GOOD, occurrence=4), TEXT) == [("span.context.mismatch", "/occurrence")]
    assert codes(replace(GOOD, occurrences=11), TEXT) == [("span.context.mismatch", "/occurrences")]
    assert codes(GOOD, TEXT[:44]) == [("span.range", "/end")]
    assert codes(GOOD, "x" + TEXT) == [
        ("span.exact.mismatch", "/exact"),
        ("span.context.mismatch", "/prefix"),
        ("span.context.mismatch", "/suffix"),
    ]


def test_a_problem_names_digests_and_no_text() -> None:
    (problem, *_) = check_span(GOOD, "x" + TEXT)
    assert problem.expected == content_id(b"01234")
    assert problem.actual == content_id(b"90123")


# --- XQuAD ---------------------------------------------------------------------------------------

LANGUAGES = ("en", "zh", "ar", "hi", "th")


def gold(folder: Path, language: str) -> Iterator[tuple[SourceText, int, str]]:
    data = json.loads((folder / f"xquad/xquad.{language}.json").read_bytes())["data"]
    for paragraph in (each for article in data for each in article["paragraphs"]):
        source = source_text(paragraph["context"].encode())
        for answer in (each for question in paragraph["qas"] for each in question["answers"]):
            yield source, answer["answer_start"], answer["text"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_gold_span_round_trips(capsule_data: Path, language: str) -> None:
    count = 0
    for source, start, answer in gold(capsule_data, language):
        span = make_span(source.source, source.text, start, start + len(answer))
        assert span.exact == answer
        read = codec.from_value(ExactSpan, parse_strict(canonical_bytes(codec.to_value(span))))
        assert read == span
        assert check_span(read, source.text) == []
        count += 1
    assert count == 1_190


def test_some_contexts_begin_with_a_byte_order_mark_that_counts(capsule_data: Path) -> None:
    begins = {
        language: len({s.source for s, _, _ in gold(capsule_data, language) if s.text.startswith("\ufeff")})
        for language in LANGUAGES
    }
    assert begins == {"en": 0, "zh": 6, "ar": 9, "hi": 8, "th": 7}


def edits(text: str, place: int, rng: random.Random) -> Iterator[str]:
    """One character removed, doubled, replaced by another of the text, by a look-alike."""
    yield text[:place] + text[place + 1 :]
    yield text[:place] + text[place] + text[place:]
    for new in (rng.choice(text), "\u200b", "e\u0301"[1]):
        yield text[:place] + new + text[place + 1 :]


def caught(make: Any, text: str) -> bool:
    """Whether a changed span is refused, by its construction or by its source."""
    try:
        return bool(check_span(make(), text))
    except SchemaError:
        return True


def resealed(span: ExactSpan, exact: str) -> ExactSpan:
    return replace(
        span,
        exact=exact,
        end=span.start + len(exact),
        text_digest=content_id(exact.encode()),
        span_id=span_id(span.source, span.start, span.start + len(exact)),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_one_character_edit_is_caught(capsule_data: Path, language: str) -> None:
    """Of the quote (its digest recomputed or not), of its context, of the source; every tenth span."""
    rng = random.Random(f"edits {language}")
    tried = 0
    for source, start, answer in list(gold(capsule_data, language))[::10]:
        text = source.text
        span = make_span(source.source, text, start, start + len(answer))
        for place in range(len(answer)):
            for exact in set(edits(answer, place, rng)) - {answer}:
                assert caught(partial(replace, span, exact=exact), text)
                # A doubled last character may happen to stand there: then the quote is another true one.
                assert caught(partial(resealed, span, exact), text) or text.startswith(exact, start)
                tried += 2
        for side in ("prefix", "suffix"):
            context = getattr(span, side)
            for place in range(len(context)):
                for new in set(edits(context, place, rng)) - {context}:
                    assert caught(partial(replace, span, **{side: new}), text)
                    tried += 1
        tried += source_edits_caught(source, span, rng)
    assert tried > 10_000


def source_edits_caught(source: SourceText, span: ExactSpan, rng: random.Random) -> int:
    """Edits of the source change its id anywhere; what the span shows of it, the span catches too."""
    text, window = source.text, slice(max(0, span.start - 32), span.end + 32)
    near = range(len(text))[window]
    tried = 0
    for place in [*rng.sample(range(len(text)), 5), *rng.sample(near, min(5, len(near)))]:
        for edited in set(edits(text, place, rng)) - {text}:
            assert source_text(edited.encode()).source != span.source
            assert edited[window] == text[window] or check_span(span, edited) != []
            tried += 1
    return tried
