"""Questions over the same evidence share its capsules, its fence tag, and every id up to the question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pytest

from bench.build.base import BuildContext, BuiltPrompt
from bench.build.capsule import CapsuleBuilder
from bench.specs import ArmSpec, ClaimsSpec, MissingSpec, RetrievalSpec, SelectionSpec
from capsules.codec import digest_of
from capsules.names import name_part
from tasks.base import Sample, SourceDoc

build = CapsuleBuilder()

Arms = Callable[..., ArmSpec]
Contexts = Callable[..., BuildContext]
ASKED = ("When was the ferry Alma built?", "When was her rudder changed?")
WHOLE: dict[str, Any] = {"retrieval": RetrievalSpec(k=5), "selection": SelectionSpec(k=5)}  # all five chunks


def two(harbour: Sample, ctx: BuildContext) -> list[BuiltPrompt]:
    first = replace(harbour.input, question=ASKED[0])
    return [build(first, ctx), build(replace(first, sample_id="s-2", question=ASKED[1]), ctx)]


def shared(prompts: list[BuiltPrompt]) -> str:
    """What both prompts begin with, as text: an id of the byte tokenizer is a byte."""
    one, other = (prompt.ids[1:] for prompt in prompts)
    return bytes(
        a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    ).decode()


def test_the_same_evidence_has_the_same_digest_and_prefix_whatever_is_asked(
    harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    one, other = prompts = two(harbour, context(arm_of(**WHOLE)))
    assert [digest_of(e) for e in one.evidence] == [digest_of(e) for e in other.evidence]
    assert re.search(r"\n</sources [0-9a-f]{10}>\nQuestion: When was \Z", shared(prompts))
    assert one.prompt is not None
    assert other.prompt is not None
    assert digest_of(one.prompt) != digest_of(other.prompt)


@pytest.mark.parametrize(
    "more",
    [{"claims": ClaimsSpec(method="rule")}, {"missing": MissingSpec(record=True)}],
    ids=["claims", "missing"],
)
def test_evidence_that_speaks_of_the_question_is_its_own(
    harbour: Sample, context: Contexts, arm_of: Arms, more: dict[str, Any]
) -> None:
    one, other = prompts = two(harbour, context(arm_of(**WHOLE, **more)))
    assert [digest_of(e) for e in one.evidence] != [digest_of(e) for e in other.evidence]
    assert re.search(r"\n<sources [0-9a-f]{0,9}\Z", shared(prompts))


def test_evidence_is_named_after_its_documents(harbour: Sample, context: Contexts) -> None:
    def name(*docs: SourceDoc) -> str:
        return build(replace(harbour.input, sources=docs), context()).evidence[0].capsule_id

    boats, birds, fish = harbour.input.sources
    three = name_part("birds\nboats\nfish")
    assert name(boats, birds, fish) == name(fish, boats, birds) == f"p:toy:{three}:evidence-public"
    edited = replace(boats, text=boats.text.replace("nine", "ten"))
    assert name(boats) == name(edited) == "p:toy:boats:evidence-public"
