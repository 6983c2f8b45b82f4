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

import os
import sys
import tempfile
from collections.abc import Callable, Sequence

import hydra
from hydra import compose, initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from bench.config import register_schema, under_schema
from bench.config_checks import ConfigError
from bench.config_groups import CONFIG_MODULE, CONFIG_NAME, VERSION_BASE, is_part, options
from bench.override_errors import below_a_list, one_line

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
            raise ConfigError(one_line(error, expanded)) from error
        except (ValueError, TypeError) as error:
            found = _of_a_list(error, expanded)
            if found is error:
                raise
            raise found from error


def expand(overrides: Sequence[str]) -> list[str]:
    """Overrides with the shorthands written out; a bare word, and a value without a key, are refused.

    Raises:
        ConfigError: An override without ``=`` (and not a deletion ``~key``), or without a key.
    """
    expanded = []
    for item in overrides:
        if "=" not in item and not item.startswith("~"):
            raise ConfigError(f"override {item!r}: expected key=value, e.g. experiment=quickstart")
        if not item.partition("=")[0].lstrip("+~").strip():
            raise ConfigError(f"override {item!r}: expected key=value or ~key, found no key")
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
        _require_choices(expanded)
        # Options first: argparse takes no overrides after an option that follows others.
        argv = ["--multirun", *expanded, *_QUIET, f"hydra.sweep.dir={_quoted(folder)}"]
        try:
            _sweep(argv, job)
        except (HydraException, OmegaConfBaseException) as error:
            with initialize_config_module(config_module=CONFIG_MODULE, version_base=VERSION_BASE):
                raise ConfigError(one_line(error, expanded)) from error
        except (ValueError, TypeError) as error:
            with initialize_config_module(config_module=CONFIG_MODULE, version_base=VERSION_BASE):
                found = _of_a_list(error, expanded)
            if found is error:
                raise  # a job's own
            raise found from error


def _of_a_list(error: Exception, overrides: Sequence[str]) -> Exception:
    """Our error for a name below a list, which composing leaves to Python; else the error itself."""
    message = below_a_list(overrides)
    return error if message is None else ConfigError(message)


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


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
