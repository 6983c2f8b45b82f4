"""Which choices the config groups offer (``experiment``, ``arm``, ...), read from the config files."""

from __future__ import annotations

from pathlib import Path

from hydra import initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

import conf
from bench.config import register_schema

CONFIG_MODULE = "conf"
CONFIG_NAME = "config"
VERSION_BASE = "1.3"


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
