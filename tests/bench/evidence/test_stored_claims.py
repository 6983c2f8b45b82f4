from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.build.base import BuildError
from bench.evidence.stored_claims import (
    StoredClaim,
    StoredClaimsError,
    closure,
    request_digest,
    stored_answers,
)
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from tasks.base import TextRange

LINE: dict[str, Any] = {
    "sample": "s-1",
    "model": "m",
    "request": "b3:" + "0" * 64,
    "claims": [{"id": "c1", "text": "A claim.", "spans": [{"source": "boats", "start": 0, "end": 4}]}],
}


def written(folder: Path, *lines: object) -> tuple[str, str]:
    data = b"\n".join(canonical_bytes(line) for line in lines) + b"\n\n"
    path = folder / "answers.jsonl"
    path.write_bytes(data)
    return str(path), content_id(data)


def place(doc_id: str, start: int) -> TextRange:
    return TextRange(doc_id=doc_id, start=start, end=start + 1)


def claim(name: str, *spans: TextRange, derives: tuple[str, ...] = ()) -> StoredClaim:
    return StoredClaim(claim_id=name, text=name, spans=spans, derives=derives)


def test_a_line_is_an_answer(tmp_path: Path) -> None:
    answer = stored_answers(*written(tmp_path, LINE))["s-1"]
    assert (answer.model, answer.shown) == ("m", None)
    assert answer.claims == (
        StoredClaim(
            claim_id="c1", text="A claim.", spans=(TextRange(doc_id="boats", start=0, end=4),), derives=()
        ),
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": ""}, "line 2: expected a string that is not empty in 'model'"),
        ({"claims": {}}, "line 2: expected an array in 'claims'"),
        ({"more": 1}, "unknown ['more']"),
        ({"sample": "s-1"}, "line 2: a second answer for one sample"),
        ({"claims": [LINE["claims"][0], LINE["claims"][0]]}, "expected claim ids that differ"),
        (
            {"claims": [{**LINE["claims"][0], "spans": [{"source": "b", "start": 4, "end": 4}]}]},
            "start < end",
        ),
        ({"claims": [{"id": "c", "text": "t"}]}, "missing ['spans']"),
        ({"claims": ["c"]}, "expected an object"),
    ],
)
def test_what_a_line_may_not_be(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path, digest = written(tmp_path, LINE, {**LINE, "sample": "s-2", **change})
    with pytest.raises(StoredClaimsError) as caught:
        stored_answers(path, digest)
    assert message in str(caught.value)


def test_other_bytes_and_no_file_are_refused(tmp_path: Path) -> None:
    path, digest = written(tmp_path, LINE)
    with pytest.raises(StoredClaimsError, match="expected bytes of b3:0{64}, found " + digest):
        stored_answers(path, "b3:" + "0" * 64)
    with pytest.raises(StoredClaimsError, match="No such file"):
        stored_answers(str(tmp_path / "none"), digest)
    (tmp_path / "answers.jsonl").write_bytes(b'{"a": 1, "a": 2}')
    with pytest.raises(StoredClaimsError, match=r"line 1: .*twice|line 1: .*duplicate|line 1: .*key"):
        stored_answers(path, content_id(b'{"a": 1, "a": 2}'))


def test_a_claim_derives_from_what_is_behind_it() -> None:
    found = closure(
        [
            claim("top", place("a", 1), derives=("middle", "side")),
            claim("middle", derives=("base",)),
            claim("side", place("a", 1)),
            claim("base", place("b", 2)),
        ]
    )
    assert found["top"] == (place("a", 1), place("b", 2))
    assert found["middle"] == (place("b", 2),)


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ([claim("a", place("d", 0), derives=("a",))], "claim.cycle"),
        ([claim("a", derives=("b",)), claim("b", derives=("c",)), claim("c", derives=("a",))], "claim.cycle"),
        ([claim("a", derives=("gone",))], "claim.reference"),
    ],
)
def test_circles_and_dangling_names_are_refused(claims: list[StoredClaim], code: str) -> None:
    with pytest.raises(BuildError) as caught:
        closure(claims)
    assert caught.value.code == code


def test_a_diamond_is_no_circle_and_a_long_chain_needs_no_stack() -> None:
    closure(
        [claim("a", derives=("b", "c")), claim("b", derives=("d",)), claim("c", derives=("d",)), claim("d")]
    )
    chain = [claim(f"c{n}", derives=(f"c{n + 1}",)) for n in range(20_000)]
    assert closure([*chain, claim("c20000", place("d", 7))])["c0"] == (place("d", 7),)


def test_the_request_is_the_question_the_model_and_the_bytes() -> None:
    docs = {"a": content_id(b"One."), "b": content_id(b"Two.")}
    value = {
        "schema_id": "claim-request/1",
        "model": "m",
        "question": "Which?",
        "sources": [{"source": "b", "digest": content_id(b"Two.")}],
    }
    assert request_digest("Which?", docs, "m", ["b"]) == content_id(canonical_bytes(value))
    digests = {
        request_digest("Which?", docs, "m"),
        request_digest("Which?", docs, "m", ["b", "a"]),
        request_digest("Which?", docs, "n"),
        request_digest("What?", docs, "m"),
        request_digest("Which?", {**docs, "b": content_id(b"Three.")}, "m"),
    }
    assert len(digests) == 5
    assert request_digest("Which?", docs, "m") == request_digest("Which?", docs, "m", ["a", "b"])
    with pytest.raises(BuildError, match="expected a document of the sample, found 'c'"):
        request_digest("Which?", docs, "m", ["c"])
