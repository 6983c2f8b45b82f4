"""Models as folders with digests: assembled, downloaded or given, then described once.

Rules of this module:

- ``pip_gguf``: the weights come in a pip package, are checked against the sha256 in the config and
  converted once into ``<user cache>/capsule-bench/models/<sha256>/``. The folder is built under a temporary
  name and renamed when complete, its manifest written last: a folder without a manifest is never used.
- ``hub``: a snapshot at a full 40-hex commit, never a branch. ``local``: any folder.
- Terms are named before anything is downloaded or assembled.
- Digests: weights = ContentId of the canonical list of (name, b3) of the weight files; tokenizer = b3 of
  tokenizer.json. They are computed once and kept with size and mtime of each file; a file that changed is
  read again.
- One process at a time converts (a lock that ends with its process); the others wait and find the result.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.model_digests import MANIFEST, Digests, folder_digests
from bench.specs import ModelSpec

Say = Callable[[str], None]
KINDS = ("pip_gguf", "hub", "local")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_HUB_FILES = ["*.safetensors", "*.json", "tokenizer.model", "*.jinja"]


class ModelError(Exception):
    """The model cannot be prepared; the message names what was expected, what was found and where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A folder that an engine loads.

    Attributes:
        path: The folder: config.json, weights, tokenizer.json.
        weight_digest: ContentId over the weight files.
        tokenizer_digest: ContentId of tokenizer.json's bytes.
        chat_template_digest: ContentId of the chat template, None where the model has none.
        bytes: Size of all files.
    """

    path: Path
    weight_digest: str
    tokenizer_digest: str
    chat_template_digest: str | None
    bytes: int


def cache_root() -> Path:
    """``$CAPSULE_CACHE``, else ``$XDG_CACHE_HOME/capsule-bench``, else ``~/.cache/capsule-bench``."""
    own = os.environ.get("CAPSULE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "capsule-bench"


def prepare_model(spec: ModelSpec, *, say: Say) -> ModelFolder:
    """Makes the model's folder, or finds it.

    Args:
        spec: Which model.
        say: Receives progress, one line a call.

    Raises:
        ModelError: Bad spec, missing package or folder, wrong digest, no space, failed conversion.
    """
    if spec.kind not in KINDS:
        raise ModelError(f"model.kind: expected one of {', '.join(KINDS)}, found {spec.kind!r}")
    try:
        if spec.kind == "pip_gguf":
            return _described(_from_package(spec, say))
        return _described(_from_hub(spec, say) if spec.kind == "hub" else Path(spec.ref).expanduser())
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ModelError(f"the disk is full while preparing model {spec.name!r}: {error}") from error
        raise ModelError(f"cannot prepare model {spec.name!r}: {error}") from error


def _described(path: Path) -> ModelFolder:
    for name in ("config.json", "tokenizer.json"):
        if not (path / name).is_file():
            raise ModelError(f"model folder {path}: expected a file {name}, found none")
    digests: Digests = folder_digests(path, cache_root() / "digests")
    if not digests.weights:
        raise ModelError(f"model folder {path}: expected *.safetensors weights, found none")
    return ModelFolder(
        path=path.resolve(),
        weight_digest=digests.weights,
        tokenizer_digest=digests.tokenizer,
        chat_template_digest=digests.chat_template,
        bytes=digests.bytes,
    )


def _from_hub(spec: ModelSpec, say: Say) -> Path:
    if not _COMMIT.match(spec.revision):
        raise ModelError(
            f"model.revision: expected a full commit of 40 hex digits for {spec.ref!r}, "
            f"found {spec.revision!r}"
        )
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ModelError(f"a hub model needs the package huggingface_hub: {error}") from error
    say(f"Model {spec.name}: {spec.ref} at {spec.revision}. Terms: {spec.terms}")
    try:
        return Path(snapshot_download(spec.ref, revision=spec.revision, allow_patterns=_HUB_FILES))
    except (HfHubHTTPError, LocalEntryNotFoundError, ValueError) as error:
        raise ModelError(f"cannot get {spec.ref!r} at {spec.revision} from the hub: {error}") from error


def _from_package(spec: ModelSpec, say: Say) -> Path:
    if not _SHA256.match(spec.revision):
        raise ModelError(f"model.revision: expected the sha256 of the GGUF file, found {spec.revision!r}")
    models = cache_root() / "models"
    folder = models / spec.revision
    if (folder / MANIFEST).is_file():
        return folder
    models.mkdir(parents=True, exist_ok=True)
    with _lock(models / f"{spec.revision}.lock", say):
        if not (folder / MANIFEST).is_file():
            _convert_into(folder, spec, say)
    return folder


def _convert_into(folder: Path, spec: ModelSpec, say: Say) -> None:
    say(f"Model {spec.name} from the package {spec.ref}. Terms: {spec.terms}")
    try:
        package = importlib.import_module(spec.ref)
    except ImportError as error:
        raise ModelError(f"model {spec.name!r} needs the package {spec.ref}: {error}") from error
    size = sum(Path(part).stat().st_size for part in package.chunk_paths())
    # The file itself, up to four bytes of bfloat16 for each of its bytes, and a margin for the tokenizer.
    needed, free = size * 5 + (64 << 20), shutil.disk_usage(folder.parent).free
    if free < needed:
        raise ModelError(
            f"not enough disk space in {folder.parent}: {needed >> 20} MiB needed while converting, "
            f"{free >> 20} MiB free (CAPSULE_CACHE names another folder)"
        )
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)  # left by a run that was killed: we hold the lock
    temporary.mkdir()
    try:
        _build(temporary, package, spec, say)
        shutil.rmtree(folder, ignore_errors=True)  # without a manifest: not a model
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _build(temporary: Path, package: object, spec: ModelSpec, say: Say) -> None:
    say("  assembling the GGUF file")
    gguf = temporary / "model.gguf"
    try:
        package.assemble(gguf)  # type: ignore[attr-defined]
    except ValueError as error:  # the package's own check
        raise ModelError(f"package {spec.ref}: {error}") from error
    with gguf.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != spec.revision:
        raise ModelError(
            f"package {spec.ref}: expected a GGUF file with sha256 {spec.revision}, found {found}"
        )
    out = temporary / "out"
    out.mkdir()
    versions = _run_conversion(gguf, out, say)
    gguf.unlink()
    for file_path in sorted(out.iterdir()):
        file_path.rename(temporary / file_path.name)
    out.rmdir()
    say("  computing digests")
    folder_digests(temporary, None, extra={"source_sha256": spec.revision, "terms": spec.terms, **versions})


def _run_conversion(gguf: Path, out: Path, say: Say) -> dict[str, str]:
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    log = out.parent / "convert.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.model_convert", str(gguf), str(out), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=sink,
            env={**os.environ, "PYTHONPATH": path},
        )
        try:
            done = _follow(process, say)
        except BaseException:
            process.kill()
            process.wait()
            raise
    if process.returncode != 0 or done is None:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        raise ModelError(
            f"converting the model failed (exit status {process.returncode}). Its last lines:\n"
            + "\n".join(f"  | {line[:300]}" for line in lines)
        )
    log.unlink()
    return done


def _follow(process: subprocess.Popen[bytes], say: Say) -> dict[str, str] | None:
    """Passes the conversion's steps on; returns its last word, None when it never came."""
    assert process.stdout is not None
    done: dict[str, str] | None = None
    with process.stdout as lines:
        for line in lines:
            message = json.loads(line)
            if "done" in message:
                done = message["done"]
            else:
                say(f"  {message['step']}")
    process.wait()
    return done


@contextmanager
def _lock(path: Path, say: Say) -> Iterator[None]:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another process that prepares this model ({path})")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
