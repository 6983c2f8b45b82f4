"""pytest plug-in: golden files as test items of your own suite.

    pytest --capsule-golden                       every *.golden.json below the collected folders
    pytest --capsule-golden=tests/mine.golden.json          that one (may be given again)
    pytest --capsule-golden-update                record the collected ones anew, where they differ

or in the ini file: ``capsule_golden = *.golden.json`` (patterns of names; setting it turns the plug-in on).

Rules that this module owns:

* It is loaded into every pytest run where this project is installed, so it imports nothing but pytest
  until a golden file is run, and without its option or setting it collects nothing.
* A file is never written without ``--capsule-golden-update``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

OPTION, UPDATE, INI = "capsule_golden", "capsule_golden_update", "capsule_golden"
PATTERN = "*.golden.json"
_UPDATED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the ini setting."""
    group = parser.getgroup("capsule-golden", "golden files of prompt builders")
    group.addoption(
        "--capsule-golden",
        dest=OPTION,
        action="append",
        nargs="?",
        const="",
        metavar="FILE",
        help=f"check golden files: every {PATTERN} that is collected, or FILE (may be given again)",
    )
    group.addoption(
        "--capsule-golden-update",
        dest=UPDATE,
        action="store_true",
        help="record the collected golden files anew instead of failing where they differ",
    )
    parser.addini(
        INI, type="args", default=[], help=f"names of golden files to check, e.g. {PATTERN}; turns them on"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Golden files that are named are collected, wherever they lie."""
    config.stash[_UPDATED] = []
    for name in _named(config):
        path = config.invocation_params.dir / name
        if path.is_dir():  # `--capsule-golden tests`: the option took the folder that was meant for pytest
            _collect(config, name)
        elif path.is_file():
            if not any(path.is_relative_to(config.invocation_params.dir / arg) for arg in config.args):
                config.args.append(str(path))
        else:
            raise pytest.UsageError(f"--capsule-golden={name}: expected a golden file, found none")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A golden file of this run, as a collector of one item."""
    if not _wanted(file_path, parent.config):
        return None
    file: pytest.Collector = GoldenFile.from_parent(parent, path=file_path)
    return file


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which files were recorded anew."""
    updated = config.stash.get(_UPDATED, [])
    if updated:
        terminalreporter.section("golden files recorded anew")
        for name in updated:
            terminalreporter.line(name)


class GoldenFile(pytest.File):
    """A golden file."""

    def collect(self) -> Iterator[GoldenItem]:
        """One item: the whole file is built and compared at once."""
        yield GoldenItem.from_parent(self, name="golden")


class GoldenMismatchError(Exception):
    """What was built is not what the file holds; the text names the first difference."""


class GoldenItem(pytest.Item):
    """Builds what the file is about, and compares."""

    def runtest(self) -> None:
        """Check the file, or record it anew.

        Raises:
            GoldenMismatchError: The builders give something else.
        """
        from bench.golden.check import check, lines, record_again
        from bench.progress import Reporter
        from bench.report.visible import visible

        reporter = Reporter(quiet=True)
        if self.config.getoption(UPDATE):
            _, changed = record_again(self.path, os.environ, reporter)
            if changed:
                self.config.stash[_UPDATED].append(self._short_name())
            return
        checked = check(self.path, os.environ, reporter)
        if checked.difference is not None:
            named = replace(checked, file=Path(self._short_name()))
            raise GoldenMismatchError("\n".join(visible(line) for line in lines(named)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The difference, or why it could not be looked for; other errors keep their traceback."""
        from bench.errors import is_expected

        error = excinfo.value
        if isinstance(error, GoldenMismatchError):
            return f"{error}\n  or: pytest --capsule-golden-update {self._short_name()}"
        if isinstance(error, Exception) and is_expected(error):
            return f"could not check {self._short_name()}: {error}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the item is from."""
        return self.path, None, f"golden file {self._short_name()}"

    def _short_name(self) -> str:
        return os.path.relpath(self.path, self.config.invocation_params.dir)


def _named(config: pytest.Config) -> list[str]:
    return [name for name in config.getoption(OPTION) or () if name]


def _wanted(path: Path, config: pytest.Config) -> bool:
    named = _named(config)
    files = [name for name in named if not (config.invocation_params.dir / name).is_dir()]
    if files:
        return any(path == (config.invocation_params.dir / name).resolve() for name in files)
    patterns = config.getini(INI) or [PATTERN]
    asked = config.getoption(OPTION) or config.getoption(UPDATE) or config.getini(INI)
    return bool(asked) and any(fnmatch(path.name, pattern) for pattern in patterns)


def _collect(config: pytest.Config, folder: str) -> None:
    """Add a folder to what is collected; alone where no other argument was given."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = []
        config.args_source = pytest.Config.ArgsSource.ARGS
    config.args.append(folder)
