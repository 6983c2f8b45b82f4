"""Hydra behind the command line: overrides in, one composed config out, one line for an error.

Single runs go through the compose API, so that every mistake is one clear line and exit code 2
instead of Hydra's own output. ``-m`` hands over to Hydra's multirun (its sweeper and launcher
plug-ins work); Hydra's own output folders go to a folder that is deleted afterwards, because a
run has a folder of its own. The working directory is never changed.

Quoting (Hydra's override grammar): ``key=a,b`` is a sweep and needs ``-m``; a list is
``key=[a,b]``; a value with ``=``, ``#``, parentheses or non-ASCII letters needs quotes that
reach Hydra: ``'key="a=b"'``.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from hydra import compose, initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigTypeError, OmegaConfBaseException, ValidationError

import conf
from bench.config import register_schema, under_schema
from bench.config_checks import ConfigError
from bench.config_shape import wrong_kind

CONFIG_MODULE = "conf"
CONFIG_NAME = "config"
VERSION_BASE = "1.3"

Job = Callable[[int, Sequence[str], DictConfig], None]

_RAISE = "HYDRA_FULL_ERROR"  # makes Hydra raise its errors instead of printing them and exiting
_QUIET = ("hydra/job_logging=none", "hydra/hydra_logging=none", "hydra.output_subdir=null")


def compose_config(overrides: Sequence[str]) -> DictConfig:
    """Compose the config of one run.

    Args:
        overrides: Hydra overrides; ``limit=N`` stands for ``task.limit=N``.

    Raises:
        ConfigError: One line: what is wrong, and what was expected.
    """
    register_schema()
    expanded = expand(overrides)
    _require_choices(expanded)
    GlobalHydra.instance().clear()
    with initialize_config_module(config_module=CONFIG_MODULE, version_base=VERSION_BASE):
        try:
            return under_schema(compose(CONFIG_NAME, overrides=expanded))
        except (HydraException, OmegaConfBaseException) as error:
            raise ConfigError(_one_line(error, expanded)) from error


def expand(overrides: Sequence[str]) -> list[str]:
    """Overrides with the shorthands written out; a bare word is refused.

    Raises:
        ConfigError: An override without ``=`` (and not a deletion ``~key``).
    """
    expanded = []
    for item in overrides:
        if "=" not in item and not item.startswith("~"):
            raise ConfigError(f"override {item!r}: expected key=value, e.g. experiment=quickstart")
        expanded.append("task." + item if item.startswith("limit=") else item)
    return expanded


def _require_choices(overrides: Sequence[str]) -> None:
    """Refuse to choose what others of its group share, and what is no name of a choice."""
    for item in overrides:
        _require_word(item)
        group, _, name = item.partition("=")
        if group == "task" and is_part(group, name):
            choices = [choice for choice in options(group) if not is_part(group, choice)]
            raise ConfigError(f"unknown {group} {name!r}: expected one of {', '.join(choices)}")


def _require_word(item: str) -> None:
    try:
        override = OverridesParser.create().parse_override(item)
        value = override.value()
    except HydraException:
        return  # composing says what is wrong with it
    if value is None or isinstance(value, str | dict) or override.is_sweep_override():
        return
    if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        group, found = override.key_or_group, item.partition("=")[2]
        offered = [name for name in options(group) if not is_part(group, name)]
        if offered:
            raise ConfigError(f"{group}: expected one of {', '.join(offered)}, found {found}")


def multirun(overrides: Sequence[str], job: Job) -> None:
    """Call ``job(number, its overrides, its config)`` once a combination of the sweep.

    A launcher may call it in other processes: what it finds out it has to write down.

    Raises:
        ConfigError: A combination does not compose (before any job starts).
    """
    register_schema()
    with tempfile.TemporaryDirectory(prefix="capsule-bench-sweep-") as folder:
        expanded = expand(overrides)
        # Options first: argparse takes no overrides after an option that follows others.
        argv = ["--multirun", *expanded, *_QUIET, f"hydra.sweep.dir={_quoted(folder)}"]
        try:
            _sweep(argv, job)
        except (HydraException, OmegaConfBaseException) as error:
            with initialize_config_module(config_module=CONFIG_MODULE, version_base=VERSION_BASE):
                raise ConfigError(_one_line(error, expanded)) from error


def _sweep(argv: list[str], job: Job) -> None:
    def task(cfg: DictConfig) -> None:
        register_schema()
        known = HydraConfig.get()
        job(known.job.num, list(known.overrides.task), cfg)

    app = hydra.main(
        config_path=f"pkg://{CONFIG_MODULE}", config_name=CONFIG_NAME, version_base=VERSION_BASE
    )(task)
    saved, before = sys.argv, os.environ.get(_RAISE)
    sys.argv = [saved[0], *argv]
    os.environ[_RAISE] = "1"
    GlobalHydra.instance().clear()
    try:
        app()
    finally:
        sys.argv = saved
        os.environ.pop(_RAISE)
        if before is not None:
            os.environ[_RAISE] = before
        GlobalHydra.instance().clear()


def options(group: str) -> list[str]:
    """The choices of a config group (``experiment``, ``arm``, ``model``, ...)."""
    register_schema()
    GlobalHydra.instance().clear()
    with initialize_config_module(config_module=CONFIG_MODULE, version_base=VERSION_BASE):
        return sorted(GlobalHydra.instance().config_loader().get_group_options(group))


def is_part(group: str, name: str) -> bool:
    """Whether a config file is what others of its group share, and no choice of its own."""
    path = Path(conf.__path__[0]) / group / f"{name}.yaml"
    loaded = OmegaConf.load(path) if path.is_file() else None
    return isinstance(loaded, DictConfig) and OmegaConf.is_missing(loaded, "name")


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    text = str(error)
    if isinstance(error, OverrideParseException):
        hint = "a value with = # ( ) or non-ASCII letters needs quotes inside quotes: 'key=\"a=b\"'"
        return f"override {error.override!r}: {text.splitlines()[0]} ({hint})"
    missing = re.search(r"Could not find '([^']+?)/([^'/]*)'", text)
    if missing:
        group, name = missing.groups()
        offered = [choice for choice in _listed(text) if not is_part(group, choice)]
        return f"unknown {group} {name!r}: expected one of {', '.join(offered)}"
    key = re.search(r"Could not override '([^']+)'", text)
    if key:
        inner = getattr(error.__cause__, "full_key", None) or ""
        return _unknown_key(inner if inner.startswith(key[1]) else key[1], text, overrides)
    lines = text.splitlines()
    cause = error.__cause__
    merged = re.match(r"Error merging override [+~]*(?P<key>[^=]+)=(?P<value>.*)", lines[0] if lines else "")
    if merged and isinstance(cause, ConfigTypeError | ValidationError):
        return wrong_kind(merged["key"], merged["value"])
    detail = str(cause).splitlines()[0] if cause else ""
    unknown = re.search(r"Key '([^']+)' (?:is )?not in", detail)
    if unknown:
        return f"{lines[0]}: unknown setting {unknown.group(1)!r}"
    if lines and lines[0].startswith("Ambiguous value"):
        return f"{lines[0]}: a list is key=[a,b], a string key='\"a,b\"', a sweep needs -m"
    return ": ".join(part for part in (lines[0] if lines else type(error).__name__, detail) if part)


def _listed(text: str) -> list[str]:
    after = text.split("Available options in", 1)
    if len(after) < 2:
        return ["(none)"]
    names = []
    for line in after[1].splitlines()[1:]:
        if not line.startswith("\t"):
            break
        names.append(line.strip())
    return names


def _unknown_key(key: str, text: str, overrides: Sequence[str]) -> str:
    mean = re.search(r"Did you mean to override (?:one of )?([^?]+)\?", text)
    if mean:
        group, at, package = key.partition("@")
        added = f"+{group}@{package if at else group + 's.NAME'}=..."
        hint = f" (to add an arm: {added})" if group == "arm" else ""
        return f"unknown override {key!r}: did you mean {mean.group(1)}?{hint}"
    node: object = _without(key, overrides)
    parts = key.split(".")
    for depth, part in enumerate(parts):
        valid = sorted(str(k) for k in node) if isinstance(node, DictConfig) else []
        if part not in valid:
            near = difflib.get_close_matches(part, valid, n=1)
            hint = f"; did you mean {'.'.join([*parts[:depth], near[0]])}?" if near else ""
            inside = f" in {'.'.join(parts[:depth])}" if depth else ""
            known = f"expected one of {', '.join(valid)}" if valid else "there is none"
            return f"unknown setting {key!r}: {known}{inside}{hint}"
        node = node[part] if isinstance(node, DictConfig) else None
    return f"unknown setting {key!r}"


def _without(key: str, overrides: Sequence[str]) -> DictConfig | None:
    """The config without the override of ``key``, to list what there is."""
    rest = [o for o in overrides if o.split("=", 1)[0].lstrip("+~") != key]
    try:
        return compose(CONFIG_NAME, overrides=rest)
    except (HydraException, OmegaConfBaseException):
        return None


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
