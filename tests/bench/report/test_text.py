"""Escaping, numbers and tables: what a reader sees."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.metrics.bootstrap import Interval
from bench.report import numbers
from bench.report.table import Table, to_csv, to_latex, to_markdown
from bench.report.visible import clipped, latex, markdown, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Łódź – “90”", "Łódź – “90”"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("a\u200b\u00ad\ufeffb", "a⟨U+200B⟩⟨U+00AD⟩⟨U+FEFF⟩b"),
        ("a\nb\tc\x00\x1b", "a⟨U+000A⟩b⟨U+0009⟩c⟨U+0000⟩⟨U+001B⟩"),
        ("a\u2028b\u2029", "a⟨U+2028⟩b⟨U+2029⟩"),
        ("\ue000\U000e0041\u3164\ufe0f\u034f", "⟨U+E000⟩⟨U+E0041⟩⟨U+3164⟩⟨U+FE0F⟩⟨U+034F⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("日本 العربية हिन्दी ไทย", "日本 العربية हिन्दी ไทย"),
        ("e\u0301", "e\u0301"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_shown_text_is_printable_and_stays_so(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert "\n" not in shown
    shown.encode("utf-8")


def test_markdown_has_no_markup_from_data() -> None:
    assert markdown("a|b*c_d`e<f>[g](h)") == r"a\|b\*c\_d\`e\<f\>\[g\](h)"


def test_latex_has_no_active_characters() -> None:
    assert latex("50% of_a & b #1 {x} ~^\\ <|>") == (
        r"50\% of\_a \& b \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}\textbar{}\textgreater{}"
    )


def test_clipping_says_how_much_is_missing() -> None:
    assert clipped("abc", 3) == "abc"
    assert clipped("a" * 1205, 5) == "aaaaa… (+1,200 characters)"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (numbers.share(0.43751), "0.438"),
        (numbers.share(None), "–"),
        (numbers.share(-0.0001), "0.000"),
        (numbers.difference("share", -0.25), "−0.250"),
        (numbers.difference("share", 0.25), "+0.250"),
        (numbers.difference("share", 0.0), "0.000"),
        (numbers.amount(1234567.0), "1,234,567"),
        (numbers.amount(238.44), "238.4"),
        (numbers.milliseconds(1_234_567), "1,235"),
        (numbers.milliseconds(12_345), "12.3"),
        (numbers.interval("share", Interval(low=-0.1, high=0.2, flat=False)), "[−0.100,\u00a00.200]"),
        (numbers.interval("us", Interval(low=1000, high=2000, flat=True)), "[1.0,\u00a02.0]†"),
        (numbers.interval("share", None), ""),
        (numbers.count_of(12, 1600), "12 of 1,600"),
    ],
)
def test_numbers_for_people(shown: str, expected: str) -> None:
    assert shown == expected


def table() -> Table:
    return Table(
        name="t",
        caption="50 % of it",
        head=("Arm", "Cache", "Value"),
        rows=(("a", "off", "1"), ("a", "cold", "2"), ("b_c", "off", "3|4")),
        data_head=("cell", "value", "why"),
        data=(("a.off", 0.1, None), ("=1+1", 3, 'say "x", y')),
        right=frozenset({2}),
        groups=1,
        notes=("Note.",),
    )


def test_csv_reads_back_and_runs_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(table()))))
    assert rows == [["cell", "value", "why"], ["a.off", "0.1", ""], ["'=1+1", "3", 'say "x", y']]
    assert "\r" not in to_csv(table())


def test_markdown_table_shows_a_group_once() -> None:
    assert to_markdown(table()).splitlines() == [
        "| Arm | Cache | Value |",
        "| --- | --- | ---: |",
        "| a | off | 1 |",
        "|  | cold | 2 |",
        r"| b\_c | off | 3\|4 |",
        "",
        "Note.",
    ]


def test_latex_table_is_booktabs_with_a_heading_a_group() -> None:
    text = to_latex(table())
    assert text.count(r"\midrule") == 2
    assert r"\multicolumn{2}{l}{\textbf{b\_c}} \\" in text
    assert r"    off & 3\textbar{}4 \\" in text
    assert r"\caption{50 \% of it}" in text
    assert r"\begin{tabular}{lr}" in text
    assert text.count("{") == text.count("}")
