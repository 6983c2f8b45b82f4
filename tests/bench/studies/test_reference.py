"""The committed tables are what the commands of docs/evidence.md write."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main

REFERENCE = Path(__file__).resolve().parents[3] / "results" / "reference" / "evidence"
STUDIES = (
    ("answerability", "clapnq", ()),
    ("answerability", "timeqa", ()),
    ("contradictions", "fever_symmetric", ("--similarity", "5000,8000")),
    ("contradictions", "ramdocs", ("--similarity", "5000,8000")),
    ("contradictions", "synthetic", ("--similarity", "5000,8000")),
)


def test_every_table_has_its_command() -> None:
    names = {f"{study}-{task}{end}" for study, task, _ in STUDIES for end in (".csv", ".md")}
    assert {path.name for path in REFERENCE.iterdir()} == names


@pytest.mark.soak
@pytest.mark.parametrize(("study", "task", "options"), STUDIES)
def test_a_table_is_made_again_byte_for_byte(
    study: str, task: str, options: tuple[str, ...], tmp_path: Path, capsule_data: Path
) -> None:
    asked = ["study", study, f"task={task}", "limit=null", "task.examples=0", *options]
    assert main([*asked, "--out", str(tmp_path)]) == 0
    for end in (".csv", ".md"):
        name = f"{study}-{task}{end}"
        assert (tmp_path / name).read_bytes() == (REFERENCE / name).read_bytes(), name
