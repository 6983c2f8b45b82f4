"""The synthetic task: the same bytes everywhere, complete truth, and a fair game."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.sentences import split_sentences
from tasks.base import Sample, SourceDoc, TaskData, TaskError, TaskSpec
from tasks.registry import load_task

Make = Callable[..., TaskSpec]
GOLDEN = "b3:3ce8cc1be6d17507a70246ec2dbf1fb921680664309e38401913a80429a66446"
GOLDEN_TEXT = "b3:99547e82a19b8a6711a28a309991ca024d281728fb9d2fc51b3248656b2ff2e9"
NOW = "2026-06-01T00:00:00Z"


@pytest.fixture(scope="module")
def data() -> TaskData:
    spec = TaskSpec(
        name="synthetic",
        project="bench",
        as_of=NOW,
        data_dir=None,
        revision=None,
        digest=None,
        limit=400,
        examples=4,
        seed=0,
        strict=True,
        options={},
    )
    return load_task(spec)


def docs(sample: Sample) -> dict[str, SourceDoc]:
    return {doc.doc_id: doc for doc in sample.input.sources}


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").casefold()


def test_the_default_task_has_its_golden_digest(make_spec: Make) -> None:
    """A change of any byte of the generated task is a new generator revision and a new digest."""
    found = load_task(make_spec(limit=64, examples=2))
    assert (found.revision, found.content_digest) == ("synthetic/1", GOLDEN)
    assert found.rows == 66


def test_the_first_sample_has_its_golden_text(make_spec: Make) -> None:
    sample = load_task(make_spec(limit=1)).samples[0]
    texts = [sample.input.question, *(doc.text for doc in sample.input.sources)]
    assert content_id(canonical_bytes(texts)) == GOLDEN_TEXT


CODE = """
from tasks.base import TaskSpec
from tasks.registry import load_task
spec = TaskSpec(name="synthetic", project="bench", as_of="2026-06-01T00:00:00Z", data_dir=None,
                revision=None, digest=None, limit=64, examples=2, seed=0, strict=True, options={})
print(load_task(spec).content_digest)
"""


@pytest.mark.parametrize("environment", [{"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, {"LC_ALL": "C"}])
def test_the_digest_is_the_same_in_other_processes(environment: dict[str, str]) -> None:
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": root, **environment},
        timeout=60,
    )
    assert done.stdout.strip() == GOLDEN


def test_a_larger_limit_begins_with_the_samples_of_a_smaller_one(make_spec: Make, data: TaskData) -> None:
    for limit in (1, 16, 30):
        found = load_task(make_spec(limit=limit, examples=1))
        assert found.samples == data.samples[:limit]
        assert found.examples == data.examples[:1]


def test_without_a_limit_there_are_64_samples(make_spec: Make) -> None:
    assert len(load_task(make_spec()).samples) == 64


def test_another_seed_gives_other_samples(make_spec: Make, data: TaskData) -> None:
    other = load_task(make_spec(limit=8, seed=1))
    assert not {doc.text for one in other.samples for doc in one.input.sources} & {
        doc.text for one in data.samples for doc in one.input.sources
    }


def test_another_project_and_day_move_with_the_spec(make_spec: Make) -> None:
    found = load_task(make_spec(limit=16, project="harbour", as_of="2031-02-03T04:05:06Z"))
    for sample in found.samples:
        assert sample.input.project == "harbour"
        assert sample.input.as_of == "2031-02-03T04:05:06Z"
        assert {doc.project for doc in sample.input.sources if doc.doc_id not in sample.gold.denied} == {
            "harbour"
        }


def test_a_partner_is_never_the_project_itself(make_spec: Make) -> None:
    found = load_task(make_spec(limit=80, project="heritage-lab"))
    for sample in found.samples:
        for doc in sample.input.sources:
            if doc.doc_id.endswith("-partner"):
                assert doc.project != "heritage-lab"


def test_four_questions_share_the_sources_of_a_world(data: TaskData) -> None:
    for first in range(0, len(data.samples), 4):
        world = data.samples[first : first + 4]
        assert len({one.input.sources for one in world}) == 1
        assert len({one.input.question for one in world}) == 4
        assert len({one.gold.answers for one in world}) == 4


def test_a_world_has_six_to_eight_sources_of_60_to_110_words_in_two_or_three_paragraphs(
    data: TaskData,
) -> None:
    paragraphs: Counter[int] = Counter()
    sizes: Counter[int] = Counter()
    for sample in data.samples[::4]:
        sizes[len(sample.input.sources)] += 1
        for doc in sample.input.sources:
            assert 60 <= len(doc.text.split()) <= 110
            paragraphs[doc.text.count("\n\n") + 1] += 1
    assert set(paragraphs) == {2, 3}
    assert set(sizes) == {6, 7, 8}


def test_the_answer_stands_in_the_gold_span_once_and_nowhere_else(data: TaskData) -> None:
    for sample in (*data.samples, *data.examples):
        (answer,), (span,) = sample.gold.answers, sample.gold.spans
        for doc in sample.input.sources:
            inside = doc.text[span.start : span.end] if doc.doc_id == span.doc_id else ""
            assert plain(doc.text).count(plain(answer)) == (1 if inside else 0)
            assert answer in inside or not inside
            assert plain(answer) not in plain(doc.title or "")
        assert plain(answer) not in plain(sample.input.question)
        assert len(answer) <= 40


def test_a_gold_span_is_exactly_one_sentence(data: TaskData) -> None:
    for sample in (*data.samples, *data.examples):
        (span,) = sample.gold.spans
        text = docs(sample)[span.doc_id].text
        assert (span.start, span.end) in split_sentences(text)
        name = re.search(
            r"\b[^\s]+ (Light|Hut|Ferry|Mill|Glasshouse|Observatory|Station|Archive)",
            text[span.start : span.end],
        )
        assert name is not None, "the sentence names what it is about"
        assert name.group(0) in sample.input.question


def test_gold_documents_may_be_shown(data: TaskData) -> None:
    levels: Counter[str] = Counter()
    for sample in data.samples:
        gold = docs(sample)[sample.gold.spans[0].doc_id]
        assert gold.doc_id not in (*sample.gold.expired, *sample.gold.denied, *sample.gold.distractors)
        assert gold.expires_at is None or gold.expires_at > sample.input.as_of
        levels[gold.level] += 1
    assert set(levels) == {"public", "internal"}
    assert levels["internal"] > len(data.samples) // 10


def test_expired_and_denied_documents_are_exactly_those_listed(data: TaskData) -> None:
    for sample in (*data.samples, *data.examples):
        expired = {d.doc_id for d in sample.input.sources if d.expires_at is not None and d.expires_at <= NOW}
        denied = {
            d.doc_id
            for d in sample.input.sources
            if d.project != sample.input.project or d.level in ("confidential", "restricted")
        }
        assert expired == set(sample.gold.expired)
        assert denied == set(sample.gold.denied)


def test_every_world_has_an_expired_and_a_denied_source(data: TaskData) -> None:
    kinds: Counter[str] = Counter()
    for sample in data.samples[::4]:
        assert len(sample.gold.expired) == 1
        assert 1 <= len(sample.gold.denied) <= 2
        kinds.update(doc.level for doc in sample.input.sources)
        kinds.update("foreign" for doc in sample.input.sources if doc.project != "bench")
    assert min(kinds[kind] for kind in ("public", "internal", "confidential", "restricted", "foreign")) > 10


def test_expiry_is_tried_at_its_very_second(data: TaskData) -> None:
    times = {doc.expires_at for one in data.samples for doc in one.input.sources}
    assert NOW in times  # expired: validity is half-open
    assert "2026-06-01T00:00:01Z" in times  # still valid


def test_stale_planned_and_foreign_values_are_plausible_and_wrong(data: TaskData) -> None:
    """For each question of a world that some paper answers wrongly, that paper gives another value."""
    asked = 0
    for sample in data.samples:
        wrong = [docs(sample)[one] for one in (*sample.gold.expired, *sample.gold.denied)]
        unit = re.sub(r"[\d.,:]+", "#", sample.gold.answers[0])
        if "#" in unit:
            pattern = re.escape(unit).replace(r"\#", "#").replace("#", r"[\d.,:]*\d")
            asked += any(re.search(pattern, doc.text) for doc in wrong)
    assert asked > len(data.samples) // 4


def test_every_question_has_a_distractor_of_the_same_kind(data: TaskData) -> None:
    for sample in data.samples:
        assert sample.gold.distractors
        assert not set(sample.gold.distractors) & {*sample.gold.expired, *sample.gold.denied}


def test_contradictions_are_labelled_and_the_newer_one_is_right(data: TaskData) -> None:
    kinds: Counter[str] = Counter()
    right = 0
    for sample in data.samples:
        (pair,) = sample.input.contradictions
        older, newer = docs(sample)[pair.left.doc_id], docs(sample)[pair.right.doc_id]
        assert older.as_of is not None
        assert newer.as_of is not None
        assert older.as_of < newer.as_of <= NOW
        kinds[pair.kind] += 1
        right += sample.gold.spans == (pair.right,)
        assert sample.gold.spans != (pair.left,)
    assert right == len(data.samples) // 4  # one question a world is about it
    assert set(kinds) == {"numeric", "date"}


def test_examples_are_two_public_papers_of_worlds_of_their_own(data: TaskData) -> None:
    assert [one.input.sample_id for one in data.examples] == [f"example-{n:02d}" for n in range(4)]
    texts = {doc.text for one in data.samples for doc in one.input.sources}
    for example in data.examples:
        assert {(doc.level, doc.project) for doc in example.input.sources} == {("public", "bench")}
        assert len(example.input.sources) == 2
        assert not example.gold.expired
        assert not {doc.text for doc in example.input.sources} & texts


def test_no_place_or_order_gives_the_gold_away(data: TaskData) -> None:
    places = Counter(
        [doc.doc_id for doc in one.input.sources].index(one.gold.spans[0].doc_id) for one in data.samples
    )
    assert set(places) >= set(range(7))
    assert max(places.values()) < len(data.samples) // 4
    thirds = Counter(
        3 * one.gold.spans[0].start // len(docs(one)[one.gold.spans[0].doc_id].text) for one in data.samples
    )
    assert min(thirds[third] for third in range(3)) > len(data.samples) // 8


def test_the_text_is_ordinary_and_not_only_ascii(data: TaskData) -> None:
    text = "".join(doc.text for one in data.samples[::4] for doc in one.input.sources)
    for char in "–’“”\u00a0°€£³éøŁç灯منश":
        assert char in text, char
    assert not re.search(r"\{|\}|  |\n\n\n| \n|\n ", text)
    for doc in (doc for one in data.samples[::4] for doc in one.input.sources):
        assert doc.text == doc.text.strip()


def test_document_ids_are_readable_and_say_nothing_of_their_place_in_the_truth(data: TaskData) -> None:
    for sample in data.samples:
        for doc in sample.input.sources:
            assert re.fullmatch(r"[a-z-]+(-\d{4})?", doc.doc_id)
            assert not re.search("gold|distract|expired|denied|wrong", doc.doc_id)


def test_there_are_no_options(make_spec: Make) -> None:
    with pytest.raises(TaskError, match="known: none"):
        load_task(make_spec(options={"worlds": 3}))


def test_another_digest_than_pinned_is_an_error(make_spec: Make) -> None:
    assert load_task(make_spec(limit=64, examples=2, digest=GOLDEN)).content_digest == GOLDEN
    with pytest.raises(TaskError, match=GOLDEN):
        load_task(make_spec(limit=63, examples=2, digest=GOLDEN))
