from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import ITEMS, TEXT, evidence_of, prompt_of, refused_with, tag_of, texts_of

from capsules.codec import seal
from capsules.content_id import content_id
from capsules.errors import RenderError
from capsules.omission import DroppedRange, Rewrite
from capsules.prompt import Constraint, PromptCapsule
from capsules.rendering import Segment, Unrendered, fence_tag, render, unrender
from capsules.tokenized import tokenize
from capsules.tokenizer import Tokenizer

Make = Callable[..., PromptCapsule]


def test_the_whole_form_of_a_prompt() -> None:
    source = content_id(TEXT.encode())
    evidence = evidence_of([TEXT], [[ITEMS[0], ITEMS[1], ITEMS[3]]])
    prompt = prompt_of([evidence], omitted=[f"{source}:27-46"])
    tag = tag_of(prompt)
    rendered = render(prompt, [evidence], texts_of(TEXT))
    assert rendered.text == (
        f"Quote.\n\n<sources {tag}>\n"
        f"[1] {tag}\nOne is here. Two follows.\n"
        f"[1] {tag}\n Four ends.\n"
        f"</sources {tag}>\nQuestion: Why?\nAnswer:"
    )
    assert rendered.segments[2:5] == (
        Segment(kind="header", text=f"[1] {tag}\n"),
        Segment(kind="item", text="One is here.", ref=f"{source}:0-12"),
        Segment(kind="item", text=" Two follows.", ref=f"{source}:13-25"),
    )
    assert [(s.number, s.source, s.ranges) for s in rendered.shown] == [(1, source, ((0, 25), (47, 57)))]


def test_adjacent_items_read_as_the_raw_text_unbroken() -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    rendered = render(prompt_of([evidence]), [evidence], texts_of(TEXT))
    assert TEXT in rendered.text
    assert unrender(rendered.text, rendered.tag).runs == ((1, TEXT),)


def test_item_segments_do_not_depend_on_their_neighbours() -> None:
    source = content_id(TEXT.encode())
    for kept in ([2], [1, 2], [0, 2], [2, 3], [0, 1, 2, 3]):
        evidence = evidence_of([TEXT], [[ITEMS[i] for i in kept]])
        gone = [f"{source}:{a}-{b}" for i, (a, b) in enumerate(ITEMS) if i not in kept]
        rendered = render(prompt_of([evidence], gone), [evidence], texts_of(TEXT))
        assert [s.text for s in rendered.segments if s.ref == f"{source}:27-46"] == [
            "\n\nThree stands apart."
        ]


def test_numbers_run_over_all_capsules_and_sources_stand_by_id() -> None:
    texts = ["Alpha.", "Beta.", "Gamma."]
    public = evidence_of(texts[:2], [[(0, 6)], [(0, 5)]])
    internal = evidence_of(texts[2:], [[(0, 6)]], "internal")
    rendered = render(prompt_of([public, internal]), [public, internal], texts_of(*texts))
    order = sorted(texts_of(*texts[:2])) + list(texts_of(texts[2]))
    assert [(s.number, s.source) for s in rendered.shown] == [(i, s) for i, s in enumerate(order, 1)]


def test_a_pointer_contract_numbers_every_item() -> None:
    evidence = evidence_of([TEXT], [ITEMS[:2]])
    rendered = render(prompt_of([evidence], contract="pointer"), [evidence], texts_of(TEXT))
    assert f"[1] {rendered.tag}\nOne is here.\n[2] {rendered.tag}\n Two follows.\n" in rendered.text
    assert [(s.number, s.ranges) for s in rendered.shown] == [(1, ((0, 12),)), (2, ((13, 25),))]


def test_runtime_constraints_are_not_rendered() -> None:
    constraints = [
        Constraint(id="r", kind="runtime", text="capsules>=1,<2"),
        Constraint(id="b", kind="blocking", text="Stop if unsure."),
    ]
    rendered = render(prompt_of([], constraints=constraints), [], {})
    assert rendered.text.startswith("Stop if unsure.\n\n<sources ")


def test_the_tag_depends_on_the_evidence_and_not_on_the_question() -> None:  # A07
    evidence = evidence_of([TEXT], [ITEMS])
    one, two = (
        render(prompt_of([evidence], question=q), [evidence], texts_of(TEXT)).text for q in ("one", "two")
    )
    common = next(i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    assert one[:common].endswith("Question: ")
    other = evidence_of([TEXT], [ITEMS[:3]])
    assert tag_of(prompt_of([other])) != tag_of(prompt_of([evidence]))


def test_the_order_of_evidence_is_meaning() -> None:  # A10
    public, internal = evidence_of(["Alpha."], [[(0, 6)]]), evidence_of(["Beta."], [[(0, 5)]], "internal")
    there, back = prompt_of([public, internal]), prompt_of([internal, public])
    texts = texts_of("Alpha.", "Beta.")
    assert seal(there).digest != seal(back).digest
    assert render(there, [public, internal], texts).text != render(back, [internal, public], texts).text


def test_a_collision_raises_the_counter_wherever_the_tag_is_shown() -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    first = tag_of(prompt_of([evidence]))
    second = tag_of(prompt_of([evidence]), 1)
    colliding = prompt_of([evidence], question=f"What is {first}?")
    assert render(colliding, [evidence], texts_of(TEXT)).tag == second
    twice = prompt_of(
        [evidence],
        question=f"What is {first}?",
        constraints=[Constraint(id="e", kind="example", text=f"[1] {second}\n")],
    )
    assert render(twice, [evidence], texts_of(TEXT)).tag == tag_of(prompt_of([evidence]), 2)
    ids = [content_id(b"x")]
    assert fence_tag(ids, [f"a{fence_tag(ids, [])}b"]) != fence_tag(ids, [])


def test_what_cannot_be_rendered_faithfully_is_refused() -> None:
    evidence = evidence_of([TEXT], [[ITEMS[0], ITEMS[2]]])
    prompt, source = prompt_of([evidence]), content_id(TEXT.encode())
    refused_with("render.gap", prompt, [evidence], texts_of(TEXT))  # "Two follows." is no item at all
    refused_with("source.missing", prompt, [evidence], {})
    refused_with("span.exact.mismatch", prompt, [evidence], {source: TEXT.replace("One", "Six")})
    refused_with("evidence.ref.missing", prompt, [], texts_of(TEXT))
    refused_with("span.range", prompt_of([evidence], [f"{source}:5-20"]), [evidence], texts_of(TEXT))


@pytest.mark.parametrize(
    "change",
    [
        lambda text, tag: text.replace(f"</sources {tag}>", "</sources>"),
        lambda text, tag: text.replace("Answer:", "Answers:"),
        lambda text, tag: text.replace(f"[1] {tag}\n", f"[01] {tag}\n"),
        lambda text, tag: text.replace(f"[1] {tag}\n", ""),
        lambda text, tag: text.replace("Quote.", f"Quote {tag}."),
        lambda text, tag: text.replace("Why?", f"Why {tag}?"),
    ],
)
def test_a_text_of_another_form_is_not_read_back(change: Callable[[str, str], str]) -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    rendered = render(prompt_of([evidence]), [evidence], texts_of(TEXT))
    with pytest.raises(RenderError, match=r"render\.malformed"):
        unrender(change(rendered.text, rendered.tag), rendered.tag)


_PARTS = ["\n", "[", "]", "1", "2", " ", "<", "/", ">", "sources", "a", "Answer:", "Question: "]
_HOSTILE = st.lists(st.sampled_from(_PARTS), max_size=12).map(lambda parts: "".join(["x", *parts]))


@settings(max_examples=60, deadline=None)
@given(st.lists(_HOSTILE, min_size=1, max_size=3, unique=True), _HOSTILE, _HOSTILE)
def test_rendering_is_injective(texts: list[str], question: str, constraint: str) -> None:
    evidence = evidence_of(texts, [[(0, len(t))] for t in texts])
    constraints = [Constraint(id="c", kind="instruction", text=constraint)]
    prompt = prompt_of([evidence], question=question, constraints=constraints)
    rendered = render(prompt, [evidence], texts_of(*texts))
    ordered = [t for _, t in sorted(texts_of(*texts).items())]
    assert unrender(rendered.text, rendered.tag) == Unrendered(
        prefix=constraint + "\n\n", runs=tuple(enumerate(ordered, 1)), question=question
    )


def test_segments_are_tokenized_apart_behind_exactly_one_bos(byte_tokenizer: Tokenizer) -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    rendered = render(prompt_of([evidence]), [evidence], texts_of(TEXT))
    sent = tokenize(rendered, byte_tokenizer)
    assert sent.ids == (256, *rendered.text.encode())
    assert [s.n for s in sent.segments] == [1, *(len(s.text.encode()) for s in rendered.segments)]
    assert sent.count("item") == len(TEXT)
    assert sum(s.n for s in sent.segments) == len(sent.ids)


def rewrite_of(text: str, items: Sequence[str], *dropped: tuple[str, int, int]) -> Rewrite:
    return Rewrite(
        items=tuple(items),
        text=text,
        compressor="c",
        dropped=tuple(DroppedRange(item=i, start=a, end=b) for i, a, b in dropped),
        tokens_before=99,
        tokens_sent=1,
    )


def test_a_rewrite_of_one_item_stands_in_its_place() -> None:
    evidence = evidence_of([TEXT], [[ITEMS[0], ITEMS[1], ITEMS[3]]])
    source = content_id(TEXT.encode())
    second = f"{source}:13-25"  # "Two follows."
    prompt = prompt_of([evidence], omitted=[f"{source}:27-46"])
    changed = replace(
        prompt, rewrites=(rewrite_of("2 follows", [second], (second, 13, 16), (second, 24, 25)),)
    )
    rendered = render(changed, [evidence], texts_of(TEXT))
    tag = tag_of(prompt)  # the tag is of the evidence, not of its form
    assert f"[1] {tag}\nOne is here. 2 follows\n[1] {tag}\n Four ends.\n" in rendered.text
    assert [s.text for s in rendered.segments if s.ref == second] == [" 2 follows"]
    assert rendered.shown[0].ranges == ((0, 12), (16, 24), (47, 57))
    assert unrender(rendered.text, tag).runs == ((1, "One is here. 2 follows"), (1, " Four ends."))


def test_a_rewrite_of_the_whole_evidence_stands_under_no_number() -> None:
    other = "Five stands. Six too."
    evidence = evidence_of([TEXT, other], [ITEMS, [(0, 12), (13, 21)]])
    prompt = prompt_of([evidence])
    plain = render(prompt, [evidence], texts_of(TEXT, other))
    items = [s.ref for s in plain.segments if s.kind == "item" and s.ref]
    sources = list(dict.fromkeys(item.rpartition(":")[0] for item in items))
    names = {
        f"{content_id(TEXT.encode())}:0-12": "One is here.",
        f"{content_id(other.encode())}:13-21": "Six too.",
    }
    text = " ".join(names[item] for item in items if item in names)
    gone = []
    for item in items:
        start, _, end = item.rpartition(":")[2].partition("-")
        gone += [] if item in names else [(item, int(start), int(end))]
    changed = replace(prompt, rewrites=(rewrite_of(text, items, *gone),))
    rendered = render(changed, [evidence], texts_of(TEXT, other))
    assert (
        f"<sources {rendered.tag}>\n[*] {rendered.tag}\n{text}\n</sources {rendered.tag}>\n" in rendered.text
    )
    assert rendered.tag == plain.tag
    assert [(s.kind, s.ref) for s in rendered.segments if s.text == text] == [("item", items[0])]
    assert [(s.number, s.source) for s in rendered.shown] == [(1, sources[0]), (2, sources[1])]
    assert sorted(s.ranges for s in rendered.shown) == [((0, 12),), ((13, 21),)]
    assert unrender(rendered.text, rendered.tag).runs == ((0, text),)
    for wrong in (items[:-1], items[::-1]):
        kept = [each for each in gone if each[0] in wrong]
        kept.sort(key=lambda each: wrong.index(each[0]))
        changed = replace(prompt, rewrites=(rewrite_of(text, wrong, *kept),))
        refused_with("render.rewrite", changed, [evidence], texts_of(TEXT, other))


def test_the_tag_avoids_what_a_rewrite_shows() -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    prompt = prompt_of([evidence])
    first, tag = f"{content_id(TEXT.encode())}:0-12", tag_of(prompt)
    changed = replace(prompt, rewrites=(rewrite_of(f"{tag} is here.", [first], (first, 0, 3)),))
    rendered = render(changed, [evidence], texts_of(TEXT))
    assert rendered.tag == tag_of(prompt, 1)


def test_a_rewrite_that_cannot_stand_is_refused() -> None:
    evidence = evidence_of([TEXT], [ITEMS])
    prompt, source = prompt_of([evidence]), content_id(TEXT.encode())
    for rewrite in (
        rewrite_of("One", [f"{source}:0-12"]),  # claims to keep all of it
        rewrite_of("x", [f"{source}:0-11"], (f"{source}:0-11", 0, 11)),  # of no item
    ):
        refused_with("render.rewrite", replace(prompt, rewrites=(rewrite,)), [evidence], texts_of(TEXT))
