"""What the manifest says of code and packages, in a checkout and outside of one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.provenance import PACKAGES, code_state, interpreter, package_versions
from capsules.canonical import canonical_bytes


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.py").write_text("x = 1\n")
    return tmp_path


def test_outside_git_the_code_is_named_by_the_digest_of_its_files_alone(code: Path) -> None:
    state = code_state(code)
    assert (state["commit"], state["dirty_digest"]) == (None, None)
    (code / "bench" / "a.py").write_text("x = 2\n")
    assert code_state(code)["files_digest"] != state["files_digest"]
    (code / "README.md").write_text("not code")
    assert code_state(code)["files_digest"] == code_state(code)["files_digest"]


def test_a_clean_checkout_has_a_commit_and_nothing_dirty(code: Path) -> None:
    git(code, "init", "-q")
    git(code, "add", ".")
    git(code, "commit", "-q", "-m", "one")
    state = code_state(code)
    assert state["commit"] is not None
    assert len(state["commit"]) == 40
    assert state["dirty_digest"] is None


def test_every_change_of_the_code_gives_another_dirty_digest(code: Path) -> None:
    git(code, "init", "-q")
    git(code, "add", ".")
    git(code, "commit", "-q", "-m", "one")
    (code / "bench" / "a.py").write_text("x = 2\n")
    changed = code_state(code)["dirty_digest"]
    (code / "bench" / "b.py").write_text("new\n")
    added = code_state(code)["dirty_digest"]
    (code / "bench" / "b.py").write_text("newer\n")
    edited = code_state(code)["dirty_digest"]
    assert None not in (changed, added, edited)
    assert len({changed, added, edited}) == 3
    (code / "notes.txt").write_text("not code")
    assert code_state(code)["dirty_digest"] == edited


def test_a_repository_of_a_folder_above_is_not_ours(code: Path) -> None:
    git(code, "init", "-q")
    inner = code / "inner"
    (inner / "bench").mkdir(parents=True)
    assert code_state(inner)["commit"] is None


def test_everything_is_plain_data_without_floats() -> None:
    canonical_bytes({**interpreter(), "packages": package_versions(), "code": code_state()})
    assert set(package_versions()) <= set(PACKAGES)
    assert "blake3" in package_versions()
