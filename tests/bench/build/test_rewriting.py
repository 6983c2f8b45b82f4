"""Evidence written anew by a lossy compressor: fake compressors that answer by script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from building import Arms, Contexts

from bench.build.base import BuildError, BuiltPrompt
from bench.build.capsule import CapsuleBuilder
from bench.build.rewriting import changed_parts
from bench.compression.base import Ask, Reply
from bench.specs import BudgetSpec, CompressionSpec
from bench.tokenizers import ByteTokenizer
from tasks.base import Sample

REQUIRED = "The ferry Alma crosses the sound in nine minutes."


@pytest.fixture
def built(harbour: Sample, context: Contexts, arm_of: Arms) -> Callable[..., BuiltPrompt]:
    """Builds the harbour's prompt with a function from text to text as compressor; asks go to ``seen``."""

    def build(
        mode: str, shorten: Callable[[str], str], seen: list[Ask] | None = None, **more: Any
    ) -> BuiltPrompt:
        def answer(ask: Ask) -> Reply:
            if seen is not None:
                seen.append(ask)
            return Reply(texts=tuple(shorten(text) for text in ask.texts), error=None, us=1234)

        spec = CompressionSpec(name="own:short", rate_bp=5_000, mode=mode)
        arm = arm_of(compression=spec, **more)
        return CapsuleBuilder()(harbour.input, replace(context(arm), rewrite=answer))

    return build


def without(word: str) -> Callable[[str], str]:
    return lambda text: text.replace(word, "")


def test_protected_gives_out_items_one_by_one_and_never_a_required_one(
    built: Callable[..., BuiltPrompt], look: Any
) -> None:
    seen: list[Ask] = []
    made = built("protected", without("the "), seen)
    (ask,) = seen
    assert (ask.compressor, ask.rate_bp, ask.project) == ("own:short", 5_000, "p")
    assert REQUIRED not in ask.texts
    assert "Her engine was changed in 1974." in ask.texts
    assert REQUIRED in look.text(made)
    assert {text.status for text in made.compressed} == {"rewritten", "no_gain"}
    prompt = look.prompt(made)
    assert sorted(each.text for each in prompt.rewrites) == [
        "Gulls nest on east pier.",
        "Terns prefer sandbank.",
    ]
    assert made.compressor_us == 1234
    assert "compression.no_gain" in made.flags
    assert all(made.laws.values())


def test_raw_gives_out_the_whole_evidence_with_numbers(built: Callable[..., BuiltPrompt], look: Any) -> None:
    seen: list[Ask] = []
    made = built("raw", lambda text: text.replace("[2] ", "").replace(REQUIRED, ""), seen)
    (text,) = seen[0].texts
    assert [line[:4] for line in text.split("\n") if line.startswith("[")] == ["[1] ", "[2] ", "[3] "]
    assert REQUIRED in text
    (rewrite,) = look.prompt(made).rewrites
    assert len(rewrite.items) == len([i for e in made.evidence for i in e.exact_spans])
    (gone,) = rewrite.dropped  # the mark that went is of no source
    assert (gone.start, gone.end) == (0, len(REQUIRED))
    assert rewrite.text == text.replace("[2] ", "").replace(REQUIRED, "")
    assert REQUIRED not in look.text(made)
    assert all(made.laws.values())
    assert [source.number for source in made.shown] == [1, 2, 3]


def test_tokens_before_enter_the_books_and_tokens_sent_the_prompt(
    built: Callable[..., BuiltPrompt], look: Any
) -> None:
    made = built("protected", lambda text: text.split(" ")[0])
    rewrites = look.prompt(made).rewrites
    saved = sum(each.tokens_before - each.tokens_sent for each in rewrites)
    assert saved > 0
    stage = made.stages[-1].tokens
    assert stage - saved == sum(p.n for p in made.pieces if p.kind == "item")


@pytest.mark.parametrize("mode", ["protected", "raw"])
def test_an_answer_that_is_not_shorter_is_put_aside(
    built: Callable[..., BuiltPrompt], look: Any, mode: str
) -> None:
    for longer in (str, lambda text: text + " and more"):
        made = built(mode, longer)
        assert look.prompt(made).rewrites == ()
        assert {text.status for text in made.compressed} == {"no_gain"}
        assert {text.text for text in made.compressed} == {None}
        assert made.flags == ("compression.no_gain",)
        assert REQUIRED in look.text(made)


def test_nothing_left_of_an_item_is_an_omission(built: Callable[..., BuiltPrompt], look: Any) -> None:
    made = built("protected", lambda text: " \n" if text.startswith("Terns") else text)
    assert look.reasons(made)["compression.dropped"] == ["Terns prefer the sandbank."]
    assert [t.status for t in made.compressed].count("empty") == 1
    assert all(made.laws.values())


def test_nothing_left_at_all_is_no_prompt(built: Callable[..., BuiltPrompt]) -> None:
    with pytest.raises(BuildError, match="nothing came back") as refused:
        built("raw", lambda text: "")
    assert refused.value.code == "compression.empty"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(texts=(), error="compression.failed: it broke", us=1), "compression.failed"),
        (Reply(texts=("a", "b"), error=None, us=1), "compression.failed"),
        (None, "compression.unavailable"),
    ],
)
def test_a_compressor_that_does_not_answer_is_no_prompt(
    harbour: Sample, context: Contexts, arm_of: Arms, reply: Reply | None, code: str
) -> None:
    arm = arm_of(compression=CompressionSpec(name="own:short", mode="raw"))
    rewrite = None if reply is None else lambda ask: reply
    with pytest.raises(BuildError) as refused:
        CapsuleBuilder()(harbour.input, replace(context(arm), rewrite=rewrite))
    assert refused.value.code == code


@pytest.mark.parametrize("text", ["a \ud800 surrogate", "a \ufffe noncharacter"])
def test_a_text_that_no_record_can_hold_is_a_build_error(
    built: Callable[..., BuiltPrompt], text: str
) -> None:
    with pytest.raises(BuildError) as refused:
        built("raw", lambda _: text)
    assert refused.value.code.startswith("json.string.")


def test_the_budget_takes_items_with_their_rewrites(built: Callable[..., BuiltPrompt], look: Any) -> None:
    made = built(
        "protected", lambda text: text.split(" ")[0], budget=BudgetSpec(window=4096, evidence_limit=140)
    )
    assert look.reasons(made)["budget.limit"]
    kept = {span.span_id for e in made.evidence for span in e.exact_spans}
    assert {item for each in look.prompt(made).rewrites for item in each.items} <= kept
    assert look.evidence_tokens(made) <= 140
    with pytest.raises(BuildError) as refused:
        built("raw", lambda text: text[:-1], budget=BudgetSpec(window=4096, evidence_limit=100))
    assert refused.value.code == "budget.required.unfit"


def test_losses_are_flagged(built: Callable[..., BuiltPrompt]) -> None:
    made = built(
        "raw",
        lambda text: text.replace("1974", "197").replace("not ", "").replace("Terns prefer the", "\ufffd"),
    )
    assert made.flags == (
        "compression.character.broken",
        "compression.negation.lost",
        "compression.number.added",
        "compression.number.lost",
    )


def test_the_shown_ranges_leave_out_what_was_dropped(built: Callable[..., BuiltPrompt]) -> None:
    made = built("protected", without("engine "))
    boats = next(source for source in made.shown if source.doc_id == "boats")
    text = made.sources[boats.source]
    shown = "".join(text[a:b] for a, b in boats.ranges)
    assert "engine" not in shown
    assert "Her was changed in 1974." in shown


P1, P2, P3 = "Cite as [n]. Say NONE if unsure.", "if it rains " * 33, "Q: Which valve?"


def test_a21_protected_parts_are_compared_byte_for_byte() -> None:
    parts = [(True, P1), (False, P2), (True, P3)]
    careless = (P1 + P2 + P3).replace("if ", "")
    assert changed_parts(careless, parts) == [0]
    careful = P1 + P2.replace("if ", "") + P3
    assert careful.startswith(P1)
    assert careful.endswith(P3)
    assert changed_parts(careful, parts) == []
    assert changed_parts(P1 + P2 + P3 + "!", parts) == [2]
    assert changed_parts("." + careful, parts) == [0]
    assert changed_parts(P1, [(True, P1), (True, P1)]) == [1]  # one text cannot stand for two parts


def test_a_prompt_in_which_a_protected_part_changed_is_refused(
    built: Callable[..., BuiltPrompt], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench.build import capsule

    real = capsule.render
    broken = lambda *given: replace(  # noqa: E731
        real(*given),
        segments=tuple(
            replace(s, text=s.text.replace("Question", "question")) for s in real(*given).segments
        ),
    )
    monkeypatch.setattr(capsule, "render", broken)
    with pytest.raises(BuildError) as refused:
        built("protected", without("the "))
    assert refused.value.code == "compression.protected.changed"


def test_equal_input_gives_equal_digests(built: Callable[..., BuiltPrompt]) -> None:
    first, second = (built("raw", without("the ")) for _ in range(2))
    assert first.prompt == second.prompt
    assert first.ids == second.ids
    assert ByteTokenizer().decode(first.ids[1:]).endswith("Answer:")
