from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from byte_ids import ByteTokenizer
from layouts import evidence_of, prompt_of

from capsules.content_id import content_id
from capsules.errors import OmissionLawError
from capsules.omission import Candidates, DroppedRange, Omission, Rewrite
from capsules.omission_laws import LAWS, Accounts, CandidateItem, check, judge
from capsules.prompt import Constraint
from capsules.rendering import Segment, render
from capsules.tokenized import Frame, tokenize

TEXT = "Aa. Bbb. Cccc. Ddddd."
SOURCE = content_id(TEXT.encode())
RANGES = [(0, 3), (4, 8), (9, 14), (15, 21)]  # item tokens, one a byte with SEP: 3, 5, 6, 7
ITEMS = [f"{SOURCE}:{a}-{b}" for a, b in RANGES]
TOKENS = [3, 5, 6, 7]


def omission(i: int, **changes: Any) -> Omission:
    gone = Omission(
        item=ITEMS[i], stage="budget", reason="budget.limit", tokens=TOKENS[i], required=False, count=1
    )
    return replace(gone, **changes)


DENIED = Omission(
    item=None, stage="visibility", reason="visibility.denied", tokens=11, required=False, count=2
)
CONSTRAINTS = (
    Constraint(id="i", kind="instruction", text="Quote."),  # 6 + 2 tokens
    Constraint(id="r", kind="runtime", text="capsules>=1"),  # not rendered: 0 tokens
)
CANDIDATES = (
    *(
        CandidateItem(item=item, source=SOURCE, start=a, end=b, tokens=n)
        for item, (a, b), n in zip(ITEMS, RANGES, TOKENS, strict=True)
    ),
    CandidateItem(item="hidden-1", source=content_id(b"h"), start=0, end=5, tokens=5, named=False),
    CandidateItem(item="hidden-2", source=content_id(b"h"), start=6, end=11, tokens=6, named=False),
    CandidateItem(item="i", tokens=8),
    CandidateItem(item="r", tokens=0),
)


def accounts(
    kept: Sequence[int] = (0, 1),
    omissions: Sequence[Omission] | None = None,
    candidates: Sequence[CandidateItem] = CANDIDATES,
    totals: Candidates | None = None,
) -> Accounts:
    gone = (omission(2), omission(3), DENIED) if omissions is None else tuple(omissions)
    evidence = evidence_of([TEXT], [[RANGES[i] for i in kept]])
    prompt = replace(
        prompt_of([evidence], constraints=CONSTRAINTS),
        candidates=totals or Candidates(items=8, tokens=40),
        omissions=tuple(sorted(gone, key=lambda o: (o.stage, o.reason, o.item or ""))),
    )
    rendered = render(prompt, [evidence], {SOURCE: TEXT})
    return Accounts(
        prompt=prompt,
        evidence=(evidence,),
        candidates=candidates,
        rendered=rendered,
        tokenized=tokenize(rendered, ByteTokenizer()),
        encode=ByteTokenizer().encode,
    )


def broken(found: Accounts) -> dict[str, tuple[str, str, str]]:
    return {r.law: (r.what, r.expected, r.found) for r in judge(found) if not r.held}


def test_books_in_order_hold_all_four_laws() -> None:
    assert check(accounts()) == dict.fromkeys(LAWS, True)
    assert [result.law for result in judge(accounts())] == list(LAWS)


def test_a_deleted_omission_is_unaccounted_in_ids_tokens_and_code_points() -> None:
    found = broken(accounts(omissions=[omission(3), DENIED]))
    assert found["ids"] == (f"times that {ITEMS[2]} is accounted for", "1", "0")
    assert found["tokens"] == ("kept and omitted item tokens", "40", "34")
    assert found["code_points"] == (f"code points of {SOURCE}", "18", "13")
    assert "sent_ids" not in found


def test_the_raising_form_names_law_expected_and_found() -> None:
    with pytest.raises(OmissionLawError) as refused:
        check(accounts(omissions=[omission(3), DENIED]))
    assert refused.value.code == "omission.unaccounted"
    assert "law tokens: kept and omitted item tokens: expected 40, found 34" in str(refused.value)
    assert "law ids: " in str(refused.value)


def test_an_item_kept_and_omitted_breaks_disjointness() -> None:
    found = broken(accounts(kept=(0, 1, 2)))
    assert found["ids"] == (f"times that {ITEMS[2]} is accounted for", "1", "2")
    assert found["tokens"] == ("kept and omitted item tokens", "40", "46")
    assert found["code_points"] == (f"code points of {SOURCE}, counted once", "18", "23")


def test_an_item_that_was_no_candidate() -> None:
    found = broken(accounts(candidates=CANDIDATES[1:]))
    assert found["ids"] == (f"times that {ITEMS[0]} is accounted for", "0", "1")
    assert found["tokens"] == (f"item tokens of {ITEMS[0]}", "0", "3")
    assert found["code_points"] == (f"code points of {SOURCE}", "15", "18")


def test_a_candidate_listed_twice() -> None:
    found = broken(accounts(candidates=(*CANDIDATES, CANDIDATES[0])))
    assert found["ids"][0] == f"times that {ITEMS[0]} is accounted for"


@pytest.mark.parametrize(
    ("change", "what", "expected", "found"),
    [
        ({"tokens": 5}, f"omitted tokens of {ITEMS[2]}", "6", "5"),
        ({"tokens": 7}, f"omitted tokens of {ITEMS[2]}", "6", "7"),
    ],
)
def test_a_wrong_count_of_an_omitted_item(
    change: dict[str, Any], what: str, expected: str, found: str
) -> None:
    gone = [omission(2, **change), omission(3), DENIED]
    assert broken(accounts(omissions=gone)) == {"tokens": (what, expected, found)}


def test_denied_items_are_held_by_count_and_by_tokens() -> None:
    found = broken(accounts(omissions=[omission(2), omission(3), replace(DENIED, count=1)]))
    assert found == {"ids": ("denied items", "2", "1")}
    found = broken(accounts(omissions=[omission(2), omission(3), replace(DENIED, tokens=10)]))
    assert found == {"tokens": ("kept and omitted item tokens", "40", "39")}


def test_the_totals_of_the_record() -> None:
    assert broken(accounts(totals=Candidates(items=7, tokens=40))) == {"ids": ("candidates.items", "8", "7")}
    assert broken(accounts(totals=Candidates(items=8, tokens=41))) == {
        "tokens": ("candidates.tokens", "40", "41")
    }


def test_what_lies_outside_the_retrievers_pool_was_no_candidate() -> None:
    outside = Omission(
        item=content_id(b"[]"),
        stage="retrieval",
        reason="retrieval.outside_pool",
        tokens=None,
        required=False,
        count=9,
    )
    assert broken(accounts(omissions=[omission(2), omission(3), DENIED, outside])) == {}


def test_an_omitted_range_that_is_no_candidate_range() -> None:
    shifted = omission(2, item=f"{SOURCE}:10-14")
    found = broken(accounts(omissions=[shifted, omission(3), DENIED]))
    assert found["code_points"] == (f"code points of {SOURCE}", "18", "17")


def _ids(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> dict[str, tuple[str, str, str]]:
    books = accounts()
    return broken(replace(books, tokenized=replace(books.tokenized, ids=change(books.tokenized.ids))))


def test_the_sent_ids_are_encoded_again_and_compared() -> None:
    assert _ids(lambda ids: (*ids, 7)) == {"sent_ids": ("ids in segments", "99", "98")}
    assert _ids(lambda ids: (*ids[:-1], 7)) == {
        "sent_ids": ("whether the ids at 91 are those of their segment", "True", "False")
    }


def test_segments_that_were_not_rendered_or_not_sent() -> None:
    books = accounts()
    more = replace(books.rendered, segments=(*books.rendered.segments, Segment(kind="tail", text="x")))
    assert broken(replace(books, rendered=more)) == {"sent_ids": ("segments", "10", "9")}
    swapped = [replace(s, kind="header") if s.kind == "item" else s for s in books.tokenized.segments]
    found = broken(replace(books, tokenized=replace(books.tokenized, segments=tuple(swapped))))
    assert found == {"sent_ids": ("kind of the segment at id 45", "item", "header")}
    merged = list(books.tokenized.segments)
    merged[4:6] = [replace(merged[4], n=2), replace(merged[5], n=6)]
    found = broken(replace(books, tokenized=replace(books.tokenized, segments=tuple(merged))))
    assert found["sent_ids"] == ("ids of the item segment at id 45", "3", "2")


def test_every_kept_item_and_constraint_is_a_segment() -> None:
    books = accounts()
    unnamed = [replace(s, ref="other") if s.ref == ITEMS[0] else s for s in books.rendered.segments]
    found = broken(replace(books, rendered=replace(books.rendered, segments=tuple(unnamed))))
    assert found["sent_ids"][0] == "item segments"
    unnamed = [replace(s, ref="other") if s.ref == "i" else s for s in books.rendered.segments]
    found = broken(replace(books, rendered=replace(books.rendered, segments=tuple(unnamed))))
    assert found["sent_ids"][0] == "prefix segments"


SHORT = Rewrite(  # "Bbb." (5 tokens with its space) becomes "Bb"
    items=(ITEMS[1],),
    text="Bb",
    compressor="c",
    dropped=(DroppedRange(item=ITEMS[1], start=6, end=8),),
    tokens_before=5,
    tokens_sent=3,
)
WHOLE = Rewrite(
    items=(ITEMS[0], ITEMS[1]),
    text="Aa. Bb",
    compressor="c",
    dropped=(DroppedRange(item=ITEMS[1], start=6, end=8),),
    tokens_before=8,
    tokens_sent=6,
)


def rewritten(rewrite: Rewrite) -> Accounts:
    old = accounts()
    prompt = replace(old.prompt, rewrites=(rewrite,))
    rendered = render(prompt, old.evidence, {SOURCE: TEXT})
    return replace(old, prompt=prompt, rendered=rendered, tokenized=tokenize(rendered, ByteTokenizer()))


@pytest.mark.parametrize("rewrite", [SHORT, WHOLE])
def test_rewritten_items_enter_law_2_as_they_were_and_law_4_as_sent(rewrite: Rewrite) -> None:
    assert check(rewritten(rewrite)) == dict.fromkeys(LAWS, True)


@pytest.mark.parametrize(
    ("rewrite", "law"),
    [
        (replace(SHORT, tokens_before=6), "tokens"),
        (replace(WHOLE, tokens_before=9), "tokens"),
        (replace(SHORT, tokens_sent=2), "sent_ids"),
        (replace(WHOLE, tokens_sent=5), "sent_ids"),
    ],
)
def test_a_wrong_count_of_a_rewrite_breaks_one_law(rewrite: Rewrite, law: str) -> None:
    assert [result.law for result in judge(rewritten(rewrite)) if not result.held] == [law]


FRAME = Frame(head=(256, 300, 10), tail=(301, 10))


def test_a_prompt_inside_a_frame_keeps_all_laws() -> None:
    found = accounts()
    inside = replace(found, tokenized=tokenize(found.rendered, ByteTokenizer(), FRAME), frame=FRAME)
    assert check(inside) == dict.fromkeys(LAWS, True)


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (None, "ids of the frame"),
        (Frame(head=(256, 300, 10), tail=(301, 11)), "whether the frame closes"),
        (Frame(head=(256, 302, 10), tail=(301, 10)), "whether the frame leads"),
        (Frame(head=(256, 300), tail=(301, 10)), "ids of the frame"),
    ],
)
def test_another_frame_than_the_one_sent_breaks_the_fourth_law(frame: Frame | None, what: str) -> None:
    found = accounts()
    inside = replace(found, tokenized=tokenize(found.rendered, ByteTokenizer(), FRAME), frame=frame)
    assert broken(inside)["sent_ids"][0] == what
