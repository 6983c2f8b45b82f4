"""Loads a module of tests by its path: with import-mode=importlib test modules cannot import each other.

What stands in this folder can be imported by its name (``pythonpath`` in pyproject.toml).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load(path: Path, name: str | None = None) -> ModuleType:
    """The module in a file, known to others under this name, or that of the file."""
    spec = importlib.util.spec_from_file_location(name or path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
