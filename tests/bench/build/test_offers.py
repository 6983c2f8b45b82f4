"""What selectors are offered by the builder, and the builder with each of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from building import Arms, Contexts, build

from bench.build.base import BuildContext, BuildError
from bench.selection.base import Offer, SelectionQuery
from bench.specs import AuthoritySpec, ContractSpec, RetrievalSpec, SelectionSpec
from capsules.codec import to_value
from capsules.place import unserved
from tasks.base import Sample, SampleInput, SourceDoc


def selection(name: str, **more: Any) -> SelectionSpec:
    return SelectionSpec(**{"name": name, "unit": "sentence", "k": 9, **more})


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[SelectionQuery, list[Offer]]]:
    """What a user's selector ``own_offers:look`` saw; it takes the last offer."""
    found: list[tuple[SelectionQuery, list[Offer]]] = []
    module = ModuleType("own_offers")

    def look(query: SelectionQuery, offers: list[Offer]) -> list[int]:
        found.append((query, list(offers)))
        return [len(offers) - 1]

    module.look = look  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_offers", module)
    return found


def test_chunks_in_the_order_of_the_retriever(
    harbour: Sample, context: Contexts, arm_of: Arms, seen: list[Any]
) -> None:
    arm = arm_of(selection=SelectionSpec(name="own_offers:look"), contract=ContractSpec(name="pointer"))
    build(harbour.input, context(arm, gold=harbour.gold))
    ((query, offers),) = seen
    assert [offer.rank for offer in offers] == [0, 1, 2, 3, 4]
    assert [offer.score_bp for offer in offers] == [10_000, 8_000, 6_000, 4_000, 2_000]
    assert offers[0].text.startswith("The ferry Alma crosses")
    assert [len(offer.sentences) for offer in offers] == [2, 2, 2, 2, 1]
    assert (query.gold, query.header_each, query.ref) == (None, True, "s-1")
    assert query.header_tokens == len("[1] 0123456789\n") + 1  # by bytes


def test_sentences_by_falling_score_with_what_they_follow(
    harbour: Sample, context: Contexts, arm_of: Arms, seen: list[Any]
) -> None:
    built = build(harbour.input, context(arm_of(selection=selection("own_offers:look"))))
    ((query, offers),) = seen
    assert len(offers) == 9
    assert [offer.score_bp for offer in offers] == sorted((o.score_bp for o in offers), reverse=True)
    best = offers[0]
    assert best.text == "The ferry Alma crosses the sound in nine minutes."
    assert best.score_bp == 10_000  # best of both parts: its own BM25, and the first chunk
    assert best.sentences[0].follows is None
    second = next(offer for offer in offers if offer.text == "She was built in 1931.")
    assert second.sentences[0].follows == best.name
    assert [offer.sentences[0].required for offer in offers].count(True) == 1
    assert built.stages[2].stage == "selection"
    assert len(built.stages[2].items) == 2  # what is required, and the last offer
    assert query.header_each is False


@pytest.mark.parametrize("name", ["top_k", "mmr", "fovea", "oracle"])
def test_every_selector_builds_a_prompt_whose_laws_hold(
    name: str, harbour: Sample, context: Contexts, arm_of: Arms, look: Any
) -> None:
    built = build(harbour.input, context(arm_of(selection=selection(name, k=3)), gold=harbour.gold))
    assert all(built.laws.values())
    assert "She was built in 1931." in look.kept(built)
    assert (built.place is not None) == (name == "fovea")
    assert "selection.not_needed" in look.reasons(built)


def test_a_place_is_served_by_the_capsules_and_stands_in_none(
    harbour: Sample, context: Contexts, arm_of: Arms
) -> None:
    built = build(harbour.input, context(arm_of(selection=selection("fovea"))))
    assert built.place is not None
    assert built.place_report is not None
    assert unserved(built.place, built.evidence) == ()
    for capsule in (*built.evidence, built.prompt):
        assert built.place_report.place_id not in str(to_value(capsule))


def test_the_selector_s_order_decides_what_the_budget_takes_out(
    harbour: Sample, context: Contexts, arm_of: Arms, look: Any
) -> None:
    limited = build(harbour.input, context(arm_of(selection=selection("top_k", tokens=120))))
    assert look.evidence_tokens(limited) <= 120 + 2 * len("<sources 0123456789>\n") + 1
    assert "selection.not_needed" in look.reasons(limited)


def refused(sample: SampleInput, context: BuildContext) -> str:
    with pytest.raises(BuildError) as error:
        build(sample, context)
    return error.value.code


def test_required_evidence_that_cannot_fit(harbour: Sample, context: Contexts, arm_of: Arms) -> None:
    for name in ("top_k", "mmr", "fovea"):
        arm = arm_of(selection=selection(name, tokens=20))
        assert refused(harbour.input, context(arm)) == "budget.required.unfit"


@pytest.mark.parametrize(
    "label", [{"level": "restricted"}, {"project": "other"}, {"expires_at": "2025-12-31T00:00:00Z"}]
)
def test_all_private_foreign_or_expired_gives_no_candidates(
    label: dict[str, str],
    context: Contexts,
    arm_of: Arms,
    doc: Callable[..., SourceDoc],
    sample_of: Callable[..., SampleInput],
    look: Any,
) -> None:
    sample = sample_of("When was Alma built?", doc("a", "Alma was built in 1931.", **label))
    arm = arm_of(selection=selection("fovea"), authority=AuthoritySpec(max_level="internal"))
    built = build(sample, context(arm))
    assert built.flags == ("evidence.empty", "place.no_candidates")
    assert (built.place, look.kept(built)) == (None, [])
    assert built.place_report is not None
    assert built.place_report.unmet == ("term:alma", "term:built")
    assert all(built.laws.values())


def test_a_question_that_names_nothing_says_so(
    context: Contexts, arm_of: Arms, doc: Callable[..., SourceDoc], sample_of: Callable[..., SampleInput]
) -> None:
    sample = sample_of("Who was it?", doc("a", "Alma was built in 1931."))
    assert build(sample, context(arm_of(selection=selection("fovea")))).flags == ("place.no_terms",)


def test_ten_thousand_candidates_are_all_accounted_for_and_more_have_a_code(
    context: Contexts, arm_of: Arms, doc: Callable[..., SourceDoc], sample_of: Callable[..., SampleInput]
) -> None:
    def sample(count: int) -> SampleInput:
        text = "\n\n".join(f"Ferry {n} left pier {n % 7}." for n in range(count))
        return sample_of("Which ferry left pier 4711?", doc("log", text))

    arm = arm_of(selection=selection("fovea"), retrieval=RetrievalSpec(k=10_000))
    built = build(sample(10_000), context(arm))
    assert len(built.stages[0].items) == 10_000
    assert built.place_report is not None
    assert built.place_report.candidates == 10_000
    assert all(built.laws.values())
    assert refused(sample(10_100), context(arm)) == "schema.limit"  # an array holds 10,000 entries at most
