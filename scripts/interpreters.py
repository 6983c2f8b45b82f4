"""Finds a Python interpreter of a wanted version: $CAPSULE_PYTHON, PATH, this one, pyenv."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Sequence


class NoPythonError(Exception):
    """No fitting interpreter; the message says how to get one."""


def find_python(versions: Sequence[str], engine: str) -> str:
    """An interpreter of the first version that the machine has.

    ``CAPSULE_PYTHON=/path/to/python`` in the environment comes first. A name on PATH counts only if it runs
    (a version manager's stand-in may not).
    """
    asked = os.environ.get("CAPSULE_PYTHON", "")
    if asked:
        version = version_of(asked)
        if version not in versions:
            raise NoPythonError(
                f"CAPSULE_PYTHON={asked} is {version or 'no Python'}; {engine} needs {' or '.join(versions)}"
            )
        return asked
    for version in versions:
        names = [shutil.which(f"python{version}") or "", sys.executable, *pyenv_pythons(version)]
        for name in names:
            if name and version_of(name) == version:
                return name
    wanted = " or ".join(versions)
    raise NoPythonError(
        f"{engine} needs Python {wanted}, and none was found (on PATH, in pyenv).\n"
        f"  Install it with your system's packages (python{versions[0]}, python{versions[0]}-venv) or with\n"
        f"  `pyenv install {versions[0]}`, or name one: CAPSULE_PYTHON=/path/to/python{versions[0]} make ..."
    )


def pyenv_pythons(version: str) -> list[str]:
    """Interpreters of a version that pyenv has installed, newest first."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = []
    for root in filter(None, roots):
        folders = Path(root, "versions").glob(f"{version}.*")
        found += sorted((str(folder / "bin" / "python") for folder in folders), reverse=True)
    return found


def version_of(python: str) -> str:
    """``major.minor`` of an interpreter, empty if it does not run."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        result = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
