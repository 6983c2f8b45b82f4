from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.build.base import BuildError
from bench.build.examples import fenced, make_example, plain
from capsules.rendering import unrender
from tasks.base import Gold, Sample, SourceDoc, TextRange


def test_an_example_shows_its_gold_and_another_passage(examples: tuple[Sample, ...]) -> None:
    example = make_example(examples[0], False, "p", "public")
    assert example.passages == (
        "Long ago there was a well near the barn.",
        "Lars painted the barn in spring. Now the barn is red. It pleases everyone.",
    )
    assert (example.number, example.quote, example.levels) == (2, "red", ("public", "public"))
    turned = make_example(examples[0], True, "p", "public")
    assert (turned.number, turned.passages) == (1, example.passages[::-1])


def test_both_visual_forms(examples: tuple[Sample, ...]) -> None:
    example = make_example(examples[0], True, "p", "public")
    text = fenced(example, "quote")
    tag = text[len("<sources ") :][:10]
    assert text == (
        f"<sources {tag}>\n"
        f"[1] {tag}\nLars painted the barn in spring. Now the barn is red. It pleases everyone.\n"
        f"[2] {tag}\nLong ago there was a well near the barn.\n</sources {tag}>\n"
        "Question: Which colour has the barn?\nAnswer: <q>red</q> [1]"
    )
    shown = unrender(text.removesuffix(" <q>red</q> [1]"), tag)
    assert shown.runs == tuple(enumerate(example.passages, 1))
    assert plain(example, "pointer") == (
        "[1] Lars painted the barn in spring. Now the barn is red. It pleases everyone.\n"
        "[2] Long ago there was a well near the barn.\n"
        "Question: Which colour has the barn?\nAnswer: [1]"
    )


def test_long_sources_are_cut_at_sentences_around_the_gold(
    examples: tuple[Sample, ...], doc: Callable[..., SourceDoc]
) -> None:
    before, after = "Before it there is this. " * 30, " After it there is that." * 30
    text = f"{before}The answer is 42.{after}"
    sample = replace(
        examples[0],
        input=replace(examples[0].input, sources=(doc("gold", text), doc("other", "So it is. " * 60))),
        gold=Gold(
            answers=("41",), spans=(TextRange(doc_id="gold", start=len(before), end=len(before) + 17),)
        ),
    )
    example = make_example(sample, True, "p", "public")
    shown, other = example.passages
    assert shown in text
    assert 270 <= len(shown) <= 300
    assert shown.startswith("The answer is 42. After")
    assert shown.endswith(".")
    assert other == "So it is. " * 15 + "So it is."  # 159 code points
    assert example.quote == "The answer is 42."  # no accepted answer stands in the evidence


def test_only_what_the_arm_may_show_is_shown(
    examples: tuple[Sample, ...], doc: Callable[..., SourceDoc]
) -> None:
    other, gold = examples[0].input.sources
    hidden = replace(
        examples[0], input=replace(examples[0].input, sources=(replace(other, level="restricted"), gold))
    )
    example = make_example(hidden, False, "p", "internal")
    assert (len(example.passages), example.number) == (1, 1)
    for bad in (replace(gold, level="restricted"), replace(gold, project="q")):
        sample = replace(examples[0], input=replace(examples[0].input, sources=(other, bad)))
        with pytest.raises(BuildError) as refused:
            make_example(sample, False, "p", "internal")
        assert refused.value.code == "example.unusable"


def test_examples_without_usable_gold_are_refused(examples: tuple[Sample, ...]) -> None:
    for spans in (
        (),
        (TextRange(doc_id="gold", start=32, end=33),),
        (TextRange(doc_id="no", start=0, end=1),),
    ):
        with pytest.raises(BuildError, match=r"expected"):
            make_example(replace(examples[0], gold=Gold(answers=(), spans=spans)), False, "p", "public")
