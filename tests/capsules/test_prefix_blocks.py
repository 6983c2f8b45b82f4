from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsules.errors import SchemaError
from capsules.prefix_blocks import (
    CachedState,
    Prediction,
    PrefixPredictor,
    SharedPrefixes,
    cached_line,
    pack_ids,
)

PREFIX = list(range(100, 140))  # 40 ids: two full blocks of 16 and 8 ids


def test_first_request_hits_nothing_and_the_second_hits_full_blocks_only() -> None:
    predictor = PrefixPredictor(16)
    assert predictor.predicted([*PREFIX, 1]) == Prediction(tokens=0)
    predictor.add_prompt([*PREFIX, 1])
    assert predictor.predicted([*PREFIX, 2]) == Prediction(tokens=32)


@pytest.mark.parametrize(("n", "hit"), [(15, 0), (16, 0), (17, 16), (32, 16), (33, 32)])
def test_the_last_token_of_a_prompt_is_always_computed(n: int, hit: int) -> None:
    predictor = PrefixPredictor(16)
    predictor.add_prompt(PREFIX[:n])
    assert predictor.predicted(PREFIX[:n]) == Prediction(tokens=hit)


def test_generated_ids_extend_the_cache_but_for_the_last() -> None:
    predictor = PrefixPredictor(16)
    follow_up = [*PREFIX[:10], *range(8), 99]  # 10 ids, 8 generated ones, one more
    predictor.add_prompt(PREFIX[:10])
    predictor.add_finished(PREFIX[:10], list(range(6)))  # leaves 10 + 5 ids: no full block
    assert predictor.predicted(follow_up) == Prediction(tokens=0)
    predictor.add_finished(PREFIX[:10], list(range(7)))  # leaves 10 + 6 ids: one block
    assert predictor.predicted(follow_up) == Prediction(tokens=16)


def test_salts_are_apart_and_none_missing_and_empty_are_one() -> None:
    predictor = PrefixPredictor(16)
    predictor.add_prompt(PREFIX, "a")
    assert predictor.predicted(PREFIX, "b").tokens == 0
    assert predictor.predicted(PREFIX, "a").tokens == 32
    assert predictor.predicted(PREFIX).tokens == 0
    predictor.add_prompt(PREFIX, None)
    assert predictor.predicted(PREFIX, "").tokens == predictor.predicted(PREFIX).tokens == 32


def test_a_block_stands_for_everything_before_it() -> None:
    predictor = PrefixPredictor(16)
    predictor.add_prompt([0] * 16 + PREFIX[:16])
    assert predictor.predicted([*PREFIX[:16], 5]).tokens == 0  # the same ids, another beginning
    assert predictor.predicted([1] * 16 + PREFIX[:16] + [5]).tokens == 0


def test_a_wave_hits_its_first_request_in_submission_order() -> None:
    predictor = PrefixPredictor(16)
    found = []
    for last in range(4):
        found.append(predictor.predicted([*PREFIX, last]).tokens)
        predictor.add_prompt([*PREFIX, last])
    assert found == [0, 32, 32, 32]


def test_unknown_scheduling_gives_null_until_the_first_has_finished() -> None:
    predictor = PrefixPredictor(16, scheduling_known=False)
    assert predictor.predicted([*PREFIX, 1]) == Prediction(tokens=0)
    predictor.add_prompt([*PREFIX, 1])
    predictor.add_prompt([*PREFIX, 2])
    assert predictor.predicted([*PREFIX, 3]) == Prediction(tokens=None, reason="concurrent_first")
    assert predictor.predicted([7] * 40) == Prediction(tokens=0)  # shares nothing with what runs
    predictor.add_finished([*PREFIX, 1], [5, 6])
    assert predictor.predicted([*PREFIX, 3]) == Prediction(tokens=32)


def test_of_a_wave_whose_order_nobody_knows_either_of_two_may_compute_what_they_share() -> None:
    predictor = PrefixPredictor(16, scheduling_known=False)
    wave = [[*PREFIX, 1], [*PREFIX, 2], [7] * 40]
    for ids in wave:
        predictor.add_prompt(ids)
    shared = Prediction(tokens=None, reason="concurrent_first")
    found = [predictor.predicted(ids, submitted=True) for ids in wave]
    assert found == [shared, shared, Prediction(tokens=0)]  # the third shares with itself alone
    predictor.add_finished(wave[0], [])
    assert predictor.predicted(wave[1], submitted=True) == Prediction(tokens=32)


def test_what_cannot_be_known_is_null_with_a_reason_and_never_zero() -> None:
    assert PrefixPredictor(None).predicted(PREFIX) == Prediction(tokens=None, reason="engine.unknown")
    assert PrefixPredictor(16, block_rule=False).predicted(PREFIX) == Prediction(
        tokens=None, reason="kv.hybrid"
    )
    predictor = PrefixPredictor(16)
    assert predictor.predicted(PREFIX, prompt_logprobs=True) == Prediction(
        tokens=None, reason="prompt_logprobs"
    )
    predictor.mark_lost("evicted")
    predictor.mark_lost("preempted")  # the first reason stays
    assert predictor.predicted(PREFIX) == Prediction(tokens=None, reason="evicted")
    predictor.reset()
    assert predictor.predicted(PREFIX) == Prediction(tokens=0)
    unknown = PrefixPredictor(None)
    unknown.add_prompt(PREFIX)
    unknown.add_finished(PREFIX, [1])
    assert unknown.predicted(PREFIX).tokens is None


def test_a_reset_forgets_everything() -> None:
    predictor = PrefixPredictor(16, scheduling_known=False)
    predictor.add_prompt(PREFIX)
    predictor.reset()
    assert predictor.predicted(PREFIX) == Prediction(tokens=0)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="block_size: expected at least 1, found 0"):
        PrefixPredictor(0)
    with pytest.raises(ValueError, match="expected evicted or preempted, found 'lost'"):
        PrefixPredictor(16).mark_lost("lost")


_IDS = st.lists(st.integers(0, 2), max_size=24)
_REQUESTS = st.lists(st.tuples(_IDS, _IDS, st.sampled_from(["", "a"])), max_size=8)


@given(_REQUESTS, st.integers(1, 5))
def test_the_chained_keys_agree_with_the_rule_on_longest_common_prefixes(
    requests: list[tuple[list[int], list[int], str]], block: int
) -> None:
    predictor, shared, state = PrefixPredictor(block), SharedPrefixes(), CachedState()
    left: list[tuple[str, list[int]]] = []
    for ids, generated, salt in requests:
        longest = max((_common(ids, other) for s, other in left if s == salt), default=0)
        rule = min(longest, max(len(ids) - 1, 0)) // block * block
        assert predictor.predicted(ids, salt).tokens == rule
        assert shared.longest(pack_ids(ids), salt) == longest
        line = {"ids": ids, "block": block, "salt": salt, "generated": generated}
        assert cached_line(state, line) == {"predicted": rule, "shared_tokens": longest}
        predictor.add_prompt(ids, salt)
        predictor.add_finished(ids, generated, salt)
        shared.add(pack_ids([*ids, *generated[:-1]]), salt)
        left.append((salt, [*ids, *generated[:-1]]))


def _common(left: list[int], right: list[int]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )


def test_ids_are_packed_as_unsigned_32_bit_little_endian() -> None:
    assert pack_ids([1, 2**32 - 1]) == bytes.fromhex("01000000ffffffff")


def test_a_line_tells_no_shared_prefix_from_one_shorter_than_a_block() -> None:
    state = CachedState()
    assert cached_line(state, {"ids": PREFIX[:10], "block": 16}) == {"predicted": 0, "shared_tokens": 0}
    assert cached_line(state, {"ids": [*PREFIX[:10], 7], "block": 16}) == {
        "predicted": 0,
        "shared_tokens": 10,
    }
    assert cached_line(state, {"ids": PREFIX, "block": 16, "salt": "other"})["shared_tokens"] == 0


def test_a_block_size_seen_later_knows_the_earlier_lines() -> None:
    state = CachedState()
    cached_line(state, {"ids": PREFIX, "block": 16})
    assert cached_line(state, {"ids": PREFIX, "block": 8}) == {"predicted": 32, "shared_tokens": 40}


@pytest.mark.parametrize(
    ("line", "code", "at"),
    [
        ([], "schema.field.type", ""),
        ({"block": 16}, "schema.field.missing", "/ids"),
        ({"ids": []}, "schema.field.missing", "/block"),
        ({"ids": [1], "block": 16, "sal/t": "x"}, "schema.field.unknown", "/sal~1t"),
        ({"ids": [1], "block": True}, "schema.field.type", "/block"),
        ({"ids": [1], "block": 0}, "schema.limit", "/block"),
        ({"ids": [1], "block": 16, "salt": None}, "schema.field.type", "/salt"),
        ({"ids": "1", "block": 16}, "schema.field.type", "/ids"),
        ({"ids": [1, True], "block": 16}, "schema.field.type", "/ids/1"),
        ({"ids": [1, -1], "block": 16}, "schema.limit", "/ids/1"),
        ({"ids": [1], "block": 16, "generated": [2**32]}, "schema.limit", "/generated/0"),
    ],
)
def test_a_bad_line_is_refused_and_leaves_nothing(line: object, code: str, at: str) -> None:
    state = CachedState()
    with pytest.raises(SchemaError) as refused:
        cached_line(state, line)
    assert (refused.value.code, refused.value.at) == (code, at)
    assert list(state.shared) == []


def test_an_empty_prompt_predicts_nothing_cached() -> None:
    assert PrefixPredictor(16).predicted([]) == Prediction(tokens=0)
    assert cached_line(CachedState(), {"ids": [], "block": 1}) == {"predicted": 0, "shared_tokens": 0}
