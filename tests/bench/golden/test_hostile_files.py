"""Whatever a golden file holds: it is read or refused, and a check of what was read ends in words."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.__main__ import main
from bench.config_checks import ConfigError
from bench.golden.check import Checked, lines
from bench.golden.compare import first_difference
from bench.golden.errors import GoldenError
from bench.golden.file import golden_bytes, read_golden
from bench.golden.rebuild import config_of
from bench.golden.records import Golden

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIXED = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def nodes(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            found += nodes(entry, (*at, key))
    return found


def replaced(value: Any, place: tuple[Any, ...], new: Any, *, remove: bool) -> Any:
    result = copy.deepcopy(value)
    node = result
    for name in place[:-1]:
        node = node[name]
    if remove:
        del node[place[-1]]
    else:
        node[place[-1]] = new
    return result


class Files(dict[bool, tuple[Any, list[Any]]]):
    """The content with texts and without, and the places in it; the repr is short, for reports."""

    def __repr__(self) -> str:
        return "<files>"


@pytest.fixture(scope="session")
def files(recorded: tuple[Path, Golden]) -> Files:
    """The file with texts and without, as JSON, with the places in it."""
    golden = recorded[1]
    found = Files()
    for texts in (True, False):
        data = golden_bytes(golden if texts else replace(golden, texts=None))
        value = json.loads(data)
        found[texts] = value, nodes(value)
    return found


@FIXED
@given(st.booleans(), st.integers(0, 10**6), JSON, st.booleans())
def test_any_part_of_a_file_may_be_anything(
    files: Files,
    recorded: tuple[Path, Golden],
    texts: bool,
    where: int,
    new: Any,
    remove: bool,
) -> None:
    value, places = files[texts]
    # Half of the cases at the config and the first build, which are a small part of the nodes.
    chosen = [p for p in places if p[0] in ("config", "data")] if where % 2 else places
    path = recorded[0].with_name("hostile.golden.json")
    content = replaced(value, chosen[where % len(chosen)], new, remove=remove)
    path.write_bytes(json.JSONEncoder().encode(content).encode())
    try:
        golden = read_golden(path)
        config_of(golden, path, {}, ())
    except (GoldenError, ConfigError):
        return
    found = recorded[1] if golden.texts is not None else replace(recorded[1], texts=None)
    difference = first_difference(golden, found)
    said = list(lines(Checked(file=path, builds=len(golden.builds), difference=difference, overridden=False)))
    assert said


def test_a_builder_that_gives_something_else_each_time_is_not_recorded(
    of_notes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "moody.py").write_text(
        "import dataclasses, itertools\n"
        "from bench.build.naive import NaiveBuilder\n"
        "count = itertools.count(5)\n"
        "def build(sample, context):\n"
        "    return dataclasses.replace(NaiveBuilder()(sample, context), silent_tokens=next(count))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "mine.golden.json"
    assert main(["golden", "record", str(path), *of_notes, "arms.naive.builder=moody:build"]) == 2
    assert (
        "two builds in a row differ, so nothing was recorded: sample ferry, arm naive"
        in capsys.readouterr().err
    )
    assert not path.exists()
