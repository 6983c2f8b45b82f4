"""The pytest plug-in in suites of their own, and the documented example: a planted change is explained."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.golden.records import Golden

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs" / "examples" / "own_builder"

Suite = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example package, copied as a user would."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def plain(recorded: tuple[Path, Golden], tmp_path: Path) -> Path:
    """A suite of one test and one golden file, without any setting."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text("def test_one(): pass\n")
    shutil.copy(recorded[0], tmp_path / "tests" / "two.golden.json")
    return tmp_path


def plant(example: Path, file: str, old: str, new: str) -> None:
    path = example / "own_builder" / file
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_the_example_passes_as_it_is_documented(example: Path, suite: Suite) -> None:
    done = suite(example)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_a_planted_change_of_a_rule_names_its_field_and_its_segment(example: Path, suite: Suite) -> None:
    plant(example, "build.py", "with one short quote, as", "with a short quote, as")
    done = suite(example, "-q", "-rN")
    assert done.returncode == 1
    out = done.stdout
    assert "3 of 3 builds differ" in out
    assert "first    sample ferry, arm mine" in out
    assert "field    prompt capsule /constraints/1/text (constraints[form].text)" in out
    assert 'expected "Answer with one short quote, as <q>quote</q> [number]."' in out
    assert 'found    "Answer with a short quote, as <q>quote</q> [number]."' in out
    assert "span     no difference" in out
    assert "segment  3 of " in out
    assert "expected prefix form, 56 tokens" in out
    assert "found    prefix form, 54 tokens" in out
    assert "also     oven/mine, path/mine" in out
    assert "pytest --capsule-golden-update tests/notes.golden.json" in out
    assert "Traceback" not in out


def test_a_planted_change_of_the_selector_names_the_span_that_is_gone(example: Path, suite: Suite) -> None:
    plant(example, "select.py", '"when", "who"', '"when", "who", "ferry", "alma"')
    done = suite(example, "-q", "-rN", "tests/notes.golden.json")
    assert done.returncode == 1
    assert "1 of 3 builds differ" in done.stdout
    assert "field    prompt capsule /omissions/0 (omissions[b3:" in done.stdout
    assert "expected an omission (budget.limit, 26 tokens)" in done.stdout
    assert 'of boats "Her engine was changed in 1974."' in done.stdout
    assert "expected omitted (budget.limit, 33 tokens)\n             found    sent" in done.stdout
    assert "segment  8 of 15" in done.stdout


def test_a_change_that_is_meant_is_recorded_by_its_flag_alone(example: Path, suite: Suite) -> None:
    plant(example, "build.py", "with one short quote, as", "with a short quote, as")
    golden = example / "tests" / "notes.golden.json"
    before = golden.read_bytes()
    assert suite(example, "-q").returncode == 1
    assert golden.read_bytes() == before
    updated = suite(example, "--capsule-golden-update")
    assert updated.returncode == 0
    assert "golden files recorded anew" in updated.stdout
    assert "tests/notes.golden.json" in updated.stdout
    assert golden.read_bytes() != before
    assert suite(example).returncode == 0
    assert "recorded anew" not in suite(example, "--capsule-golden-update").stdout, (
        "nothing was left to change"
    )


def test_an_error_of_the_builder_keeps_its_traceback(example: Path, suite: Suite) -> None:
    plant(example, "build.py", "    kept: list[Item] = []\n", "    kept: list[Item] = []\n    kept[7]\n")
    done = suite(example, "tests/notes.golden.json")
    assert done.returncode == 1
    assert "IndexError" in done.stdout
    assert "_fitting" in done.stdout


def test_what_cannot_be_checked_is_said_in_one_line(example: Path, suite: Suite) -> None:
    (example / "notes.jsonl").unlink()
    done = suite(example, "-rN", "tests/notes.golden.json")
    assert done.returncode == 1
    assert "could not check tests/notes.golden.json: task custom: no such file" in done.stdout


def test_without_option_or_setting_nothing_is_collected(plain: Path, suite: Suite) -> None:
    assert "1 passed" in suite(plain).stdout
    assert "no tests ran" in suite(plain, "tests/two.golden.json").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--capsule-golden"],
        ["--capsule-golden", "tests"],  # the option swallows the folder; it is collected all the same
        ["--capsule-golden=tests/two.golden.json"],
        ["tests/test_one.py", "--capsule-golden=tests/two.golden.json"],
    ],
    ids=" ".join,
)
def test_golden_files_are_items_of_the_suite(arguments: list[str], plain: Path, suite: Suite) -> None:
    done = suite(plain, "-v", *arguments)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    assert "two.golden.json::golden PASSED" in done.stdout


def test_a_file_that_is_not_there_is_a_usage_error(plain: Path, suite: Suite) -> None:
    done = suite(plain, "--capsule-golden=tests/nope.golden.json")
    assert done.returncode == 4
    assert "expected a golden file, found none" in done.stderr


def test_names_of_ones_own_are_set_in_the_ini_file(plain: Path, suite: Suite) -> None:
    (plain / "tests" / "two.golden.json").rename(plain / "tests" / "prompts.json")
    (plain / "pytest.ini").write_text("[pytest]\ncapsule_golden = prompts.json *.pinned\n")
    assert "2 passed" in suite(plain).stdout


def test_the_plugin_costs_a_suite_nothing_until_a_golden_file_is_run() -> None:
    program = "import sys, bench.golden.plugin; print([m for m in sys.modules if m in sys.argv])"
    heavy = (
        "hydra",
        "omegaconf",
        "rich",
        "pandas",
        "pyarrow",
        "matplotlib",
        "jinja2",
        "blake3",
        "bench.config",
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *heavy], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_pytest_finds_the_plugin_of_an_installed_project() -> None:
    import tomllib

    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert points == {"bench.golden.plugin": "bench.golden.plugin"}
