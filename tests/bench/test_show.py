"""``show`` and ``explain``: what a person reads; what a terminal could be fooled with is written out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.commands.explain import differences
from bench.commands.show import capsule_lines
from bench.pipeline import Outcome
from bench.stored_run import StoredRun
from capsules.codec import read_stored, to_value, wire
from capsules.evidence import EvidenceCapsule
from capsules.prompt import PromptCapsule


@pytest.fixture
def run(finished: Outcome) -> StoredRun:
    return StoredRun(finished.folder)


def prompts(run: StoredRun) -> Iterator[tuple[str, PromptCapsule]]:
    for row in run.builds:
        if row.prompt_capsule is not None:
            yield row.prompt_capsule, read_stored(run.store.get(row.prompt_capsule).data, PromptCapsule)


def test_a_run_in_short_names_its_prompts(run: StoredRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run.folder.path)]) == 0
    out = capsys.readouterr().out
    assert "28 planned: 28 done, 0 failed, skipped: none, 0 to do" in out
    for digest, _ in prompts(run):
        assert digest in out


def test_a_capsule_shows_its_spans_in_context_and_every_omission_by_reason(run: StoredRun) -> None:
    digest, prompt = next(prompts(run))
    lines = list(capsule_lines(digest, prompt, run.store))
    text = "\n".join(lines)
    assert prompt.active_object.text in text
    for omission in prompt.omissions:
        assert omission.reason in text
        assert omission.item is None or omission.item in text
    for ref in prompt.evidence_capsule_refs:
        evidence = read_stored(run.store.get(ref.id).data, EvidenceCapsule)
        for span in evidence.exact_spans:
            assert f"[[{span.exact}]]".split("\n")[0] in text


def test_a_capsule_is_found_by_digest_in_the_latest_run(
    run: StoredRun, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    digest, prompt = next(prompts(run))
    results = str(run.folder.path.parent.parent)
    assert main(["show", digest, "--results", results, "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == {"digest": digest, "capsule": to_value(prompt)}
    assert main(["show", "b3:" + "0" * 64, "--results", results]) == 2


def test_control_and_bidi_characters_are_written_out(run: StoredRun) -> None:
    _, prompt = next(prompts(run))
    value = to_value(prompt)
    value["active_object"]["text"] = "safe\u202edesrever\x1b[31m"
    from capsules.codec import from_value

    text = "\n".join(capsule_lines("b3:x", from_value(PromptCapsule, value), run.store))
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "⟨U+202E⟩" in text
    assert "⟨U+001B⟩" in text


def test_two_versions_are_explained_field_by_field() -> None:
    left = {
        "task": "t",
        "constraints": [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}],
        "omissions": [{"item": None, "reason": "visibility.denied", "count": 1}],
        "authority": {"max_level": "public", "providers": ["local"]},
    }
    right = {
        "task": "t",
        "constraints": [{"id": "b", "text": "z"}, {"id": "a", "text": "x"}],
        "omissions": [{"item": None, "reason": "visibility.denied", "count": 3}],
        "authority": {"max_level": "internal", "providers": ["local", "other"]},
    }
    assert list(differences(left, right)) == [
        'authority.max_level: "public" in A, "internal" in B',
        "authority.providers: only B has other",
        'constraints[b].text: "y" in A, "z" in B',
        "constraints: the same entries in another order",
        "omissions[visibility.denied].count: 1 in A, 3 in B",
    ]
    assert list(differences(left, left)) == []


def test_explain_takes_files_and_digests(
    run: StoredRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (first_id, first), (second_id, _) = list(prompts(run))[:2]
    file = tmp_path / "capsule.json"
    file.write_bytes(wire(first))
    where = ["--run", str(run.folder.path)]
    assert main(["explain", str(file), first_id, *where]) == 0
    assert "the same capsule: every byte is equal" in capsys.readouterr().out
    assert main(["explain", str(file), second_id, *where]) == 0
    assert "active_object.text: " in capsys.readouterr().out
    file.write_bytes(wire(first).replace(b'"task":"synthetic"', b'"task":"synthetiC"'))
    assert main(["explain", str(file), first_id, *where]) == 2
    assert "bytes.digest.mismatch" in capsys.readouterr().err
