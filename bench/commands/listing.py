"""``capsule-bench list``: what can be named in a config, and what is measured."""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import textwrap
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

import conf
from bench.commands.output import print_json, print_text
from bench.config_checks import ConfigError
from bench.config_groups import is_part, options
from bench.progress import Reporter

Entry = tuple[str, str]

LEAST = 30  # columns of a description, however narrow the terminal is


def run(arguments: argparse.Namespace) -> int:
    """List tasks, arms, metrics or experiments; with ``--data`` what the tasks hold."""
    if arguments.data:
        return _data(arguments)
    entries = _metrics() if arguments.what == "metrics" else _group(arguments.what)
    if arguments.json:
        print_json({arguments.what: [{"name": name, "about": about} for name, about in entries]})
        return 0
    width = max((len(name) for name, _ in entries), default=0)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for name, about in entries:
        print_text(shown(f"{name:<{width}}  ", about, columns))
    return 0


def shown(head: str, about: str, columns: int | None) -> str:
    """One entry: whole lines for a pipe, folded below the description on a terminal.

    Args:
        head: The padded name.
        about: Its description.
        columns: Width of the terminal; ``None``: there is none.
    """
    if columns is None:
        return f"{head}{about}".rstrip()
    room = max(columns, len(head) + LEAST)
    folded = textwrap.fill(
        about,
        room,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (folded or head).rstrip()


def _data(arguments: argparse.Namespace) -> int:
    """Print what every task holds; 2 if one of them cannot be loaded."""
    from bench.task_table import count_tasks, markdown, table_names

    if arguments.what != "tasks":
        raise ConfigError(f"--data: expected `list tasks`, found `list {arguments.what}`")
    names = table_names()
    with Reporter().bar("reading tasks", len(names)) as advance:
        rows = count_tasks(names, advance)
    if arguments.json:
        print_json({"tasks": [row.to_value() for row in rows]})
    else:
        print_text("\n".join(markdown(rows)))
    return 2 if any(row.error is not None for row in rows) else 0


def _metrics() -> list[Entry]:
    from bench.metrics.names import METRICS

    return [(name, f"[{spec.unit}] {spec.definition}") for name, spec in METRICS.items()]


def _group(what: str) -> list[Entry]:
    group = {"tasks": "task", "arms": "arm", "experiments": "experiment"}[what]
    return [(name, _about(group, name)) for name in options(group) if not is_part(group, name)]


def _about(group: str, name: str) -> str:
    """The first comment of the config file that is not a directive, whole: what the choice is for."""
    path = Path(conf.__path__[0]) / group / f"{name}.yaml"
    if not path.is_file():
        return ""
    lines = [line for line in path.read_text("utf-8").splitlines() if "@package" not in line]
    after = itertools.dropwhile(lambda line: not line.startswith("#"), lines)
    block = itertools.takewhile(lambda line: line.startswith("#"), after)
    about = " ".join(line[1:].strip() for line in block)
    if about:
        return about
    loaded = OmegaConf.load(path)
    return str(loaded.get("name", "")) if isinstance(loaded, DictConfig) else ""
