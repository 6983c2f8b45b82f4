"""Host paths of a config, so that a golden file means the same on every machine.

Rules that this module owns:

* A folder of data that ``CAPSULE_DATA`` names is not written: at the check it is that variable's again.
* A file of data that was named by itself (``task.options.file``, absolute or without ``task.data_dir``) is
  written as a folder and a name in it.
* Every other path (``task.data_dir``, ``tokenizer=hf:<folder>``, the folder of a local model) is written
  relative to the folder of the golden file, with ``/``, and read back from there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

VARIABLE = "CAPSULE_DATA"
_HF = "hf:"


def portable(config: Mapping[str, Any], file: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The config as it is written into ``file``."""
    folder = file.resolve().parent

    def relative(path: str) -> str:
        return Path(os.path.relpath(Path(path).expanduser().resolve(), folder)).as_posix()

    task = _file_in_a_folder(config["task"])
    if task["data_dir"] and env.get(VARIABLE) and _same(task["data_dir"], env[VARIABLE]):
        task["data_dir"] = None
    return _each_path({**config, "task": task}, relative)


def located(config: Mapping[str, Any], file: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The config that a golden file holds, with paths of this machine."""
    folder = file.resolve().parent
    placed = _each_path(config, lambda path: str((folder / path).resolve()))
    if placed["task"]["data_dir"] is None:
        placed["task"]["data_dir"] = env.get(VARIABLE) or None
    return placed


def _file_in_a_folder(task: Mapping[str, Any]) -> dict[str, Any]:
    options = task["options"]
    file = options.get("file")
    if not isinstance(file, str) or not file or (task["data_dir"] and not Path(file).is_absolute()):
        return dict(task)
    path = Path(file).expanduser().resolve()
    return {**task, "data_dir": str(path.parent), "options": {**options, "file": path.name}}


def _same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve()


def _each_path(config: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    task, model, tokenizer = dict(config["task"]), dict(config["model"]), config["tokenizer"]
    if task["data_dir"]:
        task["data_dir"] = change(task["data_dir"])
    if model["kind"] == "local":
        model["ref"] = change(model["ref"])
    if tokenizer.startswith(_HF):
        tokenizer = _HF + change(tokenizer.removeprefix(_HF))
    return {**config, "task": task, "model": model, "tokenizer": tokenizer}
