"""Record and check: what the command and the pytest plug-in share.

Rules that this module owns: a check compares what the file holds with what is built now from the file's own
config; it writes nothing. A file is overwritten only where that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from bench.golden.compare import Difference, first_difference
from bench.golden.errors import GoldenError
from bench.golden.file import read_golden, write_golden
from bench.golden.rebuild import build_golden, config_of
from bench.golden.records import Golden
from bench.progress import Reporter

SHOWN = 8  # builds named one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a check; ``overridden``: with another config than the file's."""

    file: Path
    builds: int
    difference: Difference | None
    overridden: bool

    def to_value(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "file": str(self.file),
            "equal": self.difference is None,
            "builds": self.builds,
            "difference": self.difference.to_value() if self.difference else None,
        }


def check(file: Path, env: Mapping[str, str], reporter: Reporter, overrides: Sequence[str] = ()) -> Checked:
    """Build what a golden file is about and compare.

    Raises:
        GoldenError: The file cannot be read.
        ConfigError, RegistryError, TaskError, TokenizerError, ModelError: It cannot be built.
    """
    expected = read_golden(file)
    config = config_of(expected, file, env, overrides)
    found = build_golden(config, file, env, reporter, texts=expected.texts is not None)
    return Checked(
        file=file,
        builds=len(expected.builds),
        difference=first_difference(expected, found),
        overridden=bool(overrides),
    )


def record(
    file: Path,
    config: DictConfig,
    env: Mapping[str, str],
    reporter: Reporter,
    *,
    force: bool = False,
    texts: bool | None = None,
) -> tuple[Golden, bool]:
    """Build and write a golden file; (what it holds, whether the file changed).

    Raises:
        GoldenError: The file is there and ``force`` was not given, its folder does not exist, or a builder
            gives something else each time.
        ConfigError, RegistryError, TaskError, TokenizerError, ModelError: It cannot be built.
        OSError: It cannot be written; the old file is as it was.
    """
    refuse_to_overwrite(file, force)
    golden = build_golden(config, file, env, reporter, texts=texts)
    again = first_difference(golden, build_golden(config, file, env, Reporter(quiet=True), texts=texts))
    if again is not None:
        raise GoldenError(
            "two builds in a row differ, so nothing was recorded: "
            f"sample {again.sample_id}, arm {again.arm_id}, {again.field.at}: {again.field.expected}, "
            f"then {again.field.found}"
        )
    return golden, write_golden(file, golden)


def refuse_to_overwrite(file: Path, force: bool) -> None:
    """Refuse a file that is there, or that has no folder.

    Raises:
        GoldenError: It is there and ``force`` was not given, or its folder does not exist.
    """
    if not file.parent.is_dir():
        raise GoldenError(f"{file}: expected a folder {file.parent}, found none")
    if file.exists() and not force:
        raise GoldenError(f"{file} is there already: --force records it anew; `golden check` compares")


def record_again(file: Path, env: Mapping[str, str], reporter: Reporter) -> tuple[Golden, bool]:
    """Record a file anew from its own config; (what it holds, whether the file changed).

    Raises:
        GoldenError: The file cannot be read.
        ConfigError, RegistryError, TaskError, TokenizerError, ModelError: It cannot be built.
        OSError: It cannot be written; the old file is as it was.
    """
    known = read_golden(file)
    config = config_of(known, file, env, ())
    return record(file, config, env, reporter, force=True, texts=known.texts is not None)


def lines(checked: Checked) -> Iterator[str]:
    """The result for people."""
    difference = checked.difference
    if difference is None:
        yield f"{checked.file}: {checked.builds} builds, all equal"
        return
    yield f"{checked.file}: {len(difference.builds)} of {difference.compared} builds differ"
    if difference.sample_id is not None:
        yield f"  first    sample {difference.sample_id}, arm {difference.arm_id}"
    for kind, place in (
        ("field", difference.field),
        ("span", difference.span),
        ("segment", difference.segment),
    ):
        if place is not None:
            yield f"  {kind:<8} {place.at}"
            yield f"  {'':<8}   expected {place.expected}"
            yield f"  {'':<8}   found    {place.found}"
        elif difference.sample_id is not None:
            yield f"  {kind:<8} no difference"
    if difference.tokens and difference.tokens[0] != difference.tokens[1]:
        yield f"  tokens   expected {difference.tokens[0]}, found {difference.tokens[1]}"
    first = (difference.sample_id, difference.arm_id)
    others = [f"{sample}/{arm}" for sample, arm in difference.builds if (sample, arm) != first]
    if others:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        yield f"  also     {', '.join(others[:SHOWN])}{more}"
    if not checked.overridden:
        yield f"  if this is meant: capsule-bench golden record {checked.file} --force"
