"""The stage ``render``: with the tokenizer at hand, on the ids that would be sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from capsules.content_id import content_id
from capsules.validation import Given, validate

NOW = "2024-06-01T12:00:00Z"
STAGE = (
    "tokenizer.identity",
    "render.segments",
    "render.control",
    "render.fidelity",
    "omission.tokens",
    "budget.window",
)


def fitted(world: Any) -> Any:
    """Candidates recounted for one id a code point."""
    items = world.public["exact_spans"] + world.internal["exact_spans"]
    kept = sum(len(span["exact"]) for span in items) + 1  # the space before the second item of the valve
    rendered = [entry for entry in world.prompt["constraints"] if entry["kind"] != "runtime"]
    kept += sum(len(entry["text"]) + 2 for entry in rendered)
    world.prompt["candidates"]["tokens"] = kept + sum(o["tokens"] or 0 for o in world.prompt["omissions"])
    return world


def judge(kit: Any, world: Any, stored_in: Callable[[Any], Any], tokenizer: Any) -> Any:
    world.seal()
    return validate(kit.wire(world.prompt), Given(now=NOW, store=stored_in(world), tokenizer=tokenizer))


def rows(report: Any, check: str) -> list[tuple[str, str | None]]:
    return [(row.result, row.code or row.blocked_by) for row in report.checks if row.check == check]


def test_a_prompt_that_is_sent_as_accounted(kit: Any, world: Any, stored_in: Any, tokenizer: Any) -> None:
    report = judge(kit, fitted(world), stored_in, tokenizer)

    assert report.codes() == ()
    assert report.stage_reached == "render"
    assert [rows(report, check)[0][0] for check in STAGE] == ["pass"] * 6


def test_another_tokenizer_counts_for_nothing(kit: Any, world: Any, stored_in: Any, tokenizer: Any) -> None:
    tokenizer.tokenizer_digest = content_id(b"another tokenizer")

    report = judge(kit, world, stored_in, tokenizer)

    assert report.codes() == ("tokenizer.mismatch",)
    assert [rows(report, check) for check in STAGE[1:]] == [[("not_evaluated", "render")]] * 5


def test_tokens_that_do_not_add_up(kit: Any, world: Any, stored_in: Any, tokenizer: Any) -> None:
    fitted(world).prompt["candidates"]["tokens"] += 1

    assert judge(kit, world, stored_in, tokenizer).codes() == ("omission.unaccounted",)


def test_a_window_one_id_too_small(kit: Any, world: Any, stored_in: Any, tokenizer: Any) -> None:
    fitted(world).prompt["token_budget"].update(window=10_000, evidence_limit=0)
    over = judge(kit, world, stored_in, tokenizer)
    assert over.codes() == ()
    sent = len(_text(kit, world)) + 1  # and the BOS
    for window, codes in ((sent + 64, ()), (sent + 63, ("budget.protected.truncated",))):
        world.prompt["token_budget"]["window"] = window
        assert judge(kit, world, stored_in, tokenizer).codes() == codes


def _text(kit: Any, world: Any) -> str:
    from capsules.codec import from_value
    from capsules.evidence import EvidenceCapsule
    from capsules.prompt import PromptCapsule
    from capsules.rendering import render

    capsules = [from_value(EvidenceCapsule, value) for value in (world.public, world.internal)]
    texts = {kit.IDS[name]: text for name, text in kit.TEXTS.items()}
    return render(from_value(PromptCapsule, world.prompt), capsules, texts).text


def test_a_control_id_in_content(kit: Any, world: Any, stored_in: Any, tokenizer: Any) -> None:
    world.prompt["active_object"]["text"] = "bell \u0007"

    report = judge(kit, fitted(world), stored_in, tokenizer)

    assert report.codes() == ("render.control_token",)
    assert rows(report, "budget.window") == [("not_evaluated", "render")]


def test_text_that_does_not_survive_the_tokenizer_is_an_information(
    kit: Any, world: Any, stored_in: Any, tokenizer: Any
) -> None:
    world.prompt["constraints"][0]["text"] = "É"
    world.prompt["active_object"]["text"] = "É?"
    tokenizer.lossy_also = "🧪"

    report = judge(kit, fitted(world), stored_in, tokenizer)

    assert report.valid
    assert [(row.code, row.at) for row in report.checks if row.check == "render.fidelity"] == [
        ("render.lossy", "/constraints/0/text"),
        ("render.lossy", "/evidence_capsule_refs"),
        ("render.lossy", "/active_object/text"),
    ]


def test_items_that_leave_text_between_them_unsaid(
    kit: Any, world: Any, stored_in: Any, tokenizer: Any
) -> None:
    del world.prompt["omissions"][0]  # the sentence between the two kept ones
    world.prompt["candidates"]["items"] = 8

    report = judge(kit, fitted(world), stored_in, tokenizer)

    assert report.codes() == ("render.gap",)
    assert rows(report, "render.control") == [("not_evaluated", "render")]


def rewritten(world: Any, text: str, dropped: list[list[int]], before: int, sent: int) -> Any:
    """The first item, "The valve shut at 5 bar." (24 ids), written anew."""
    item = fitted(world).public["exact_spans"][0]["span_id"]
    world.prompt["rewrites"] = [
        {
            "items": [item],
            "text": text,
            "compressor": "x",
            "dropped": [{"item": item, "start": start, "end": end} for start, end in dropped],
            "tokens_before": before,
            "tokens_sent": sent,
        }
    ]
    return world


def test_a_rewrite_is_counted_before_and_as_sent(
    kit: Any, world: Any, stored_in: Any, tokenizer: Any
) -> None:
    report = judge(kit, rewritten(world, "valve shut", [[0, 4], [14, 24]], 24, 10), stored_in, tokenizer)

    assert report.codes() == ()
    assert [rows(report, check)[0][0] for check in STAGE] == ["pass"] * 6


@pytest.mark.parametrize(
    ("before", "sent", "at"), [(23, 10, "/rewrites/0/tokens_before"), (24, 11, "/rewrites/0/tokens_sent")]
)
def test_a_rewrite_whose_counts_are_wrong(
    kit: Any, world: Any, stored_in: Any, tokenizer: Any, before: int, sent: int, at: str
) -> None:
    changed = rewritten(world, "valve shut", [[0, 4], [14, 24]], before, sent)

    report = judge(kit, changed, stored_in, tokenizer)

    assert [(row.code, row.at) for row in report.checks if row.result == "fail"] == [
        ("omission.unaccounted", at)
    ]


def test_a_rewrite_that_does_not_hold_what_it_keeps(
    kit: Any, world: Any, stored_in: Any, tokenizer: Any
) -> None:
    report = judge(kit, rewritten(world, "valve", [], 24, 5), stored_in, tokenizer)

    assert report.codes() == ("render.rewrite",)


def test_without_its_evidence_nothing_is_rendered(kit: Any, world: Any, tokenizer: Any) -> None:
    prompt = validate(kit.wire(world.prompt), Given(now=NOW, tokenizer=tokenizer))
    evidence = validate(kit.wire(world.public), Given(now=NOW, tokenizer=tokenizer))

    for report in (prompt, evidence):
        assert report.valid
        assert [rows(report, check) for check in STAGE] == [[("not_evaluated", "input")]] * 6
