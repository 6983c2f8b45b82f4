"""Models as folders: local ones, and packages whose bytes are wrong. A real one: tests/integration."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from bench.model_digests import MANIFEST
from bench.model_store import ModelError, cache_root, prepare_model
from bench.specs import ModelSpec
from capsules.canonical import canonical_bytes

GGUF = b"GGUF and then nothing that any reader would take for a model"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "cache"
    monkeypatch.setenv("CAPSULE_CACHE", str(root))
    return root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "tokenizer.json").write_bytes(b'{"version": "1.0"}')
    (path / "tokenizer_config.json").write_text('{"chat_template": "{{ x }}"}')
    (path / "model.safetensors").write_bytes(b"weights")
    (path / "README.md").write_text("not part of what is computed")
    return path


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.ModuleType:
    part = tmp_path / "part0"
    part.write_bytes(GGUF)
    module = types.ModuleType("my_gguf")
    module.chunk_paths = lambda: [part]  # type: ignore[attr-defined]
    module.assemble = lambda target: Path(target).write_bytes(part.read_bytes())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_gguf", module)
    return module


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "small"
    path.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=80m", "tmpfs", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mount.returncode != 0:
        pytest.skip(f"a small tmpfs needs the right to mount: {mount.stderr.strip()}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def spec(kind: str, ref: object, revision: str = "local") -> ModelSpec:
    return ModelSpec(
        name="m", kind=kind, ref=str(ref), revision=revision, dtype="bfloat16", terms="Some Terms"
    )


def b3(data: bytes) -> str:
    return "b3:" + blake3(data).hexdigest()


def silent(_line: str) -> None:
    """Takes progress that no test looks at."""


def test_a_local_folder_is_described_by_its_bytes(folder: Path) -> None:
    found = prepare_model(spec("local", folder), say=silent)
    assert found.path == folder
    assert found.tokenizer_digest == b3(b'{"version": "1.0"}')
    assert found.weight_digest == b3(canonical_bytes([["model.safetensors", b3(b"weights")]]))
    assert found.chat_template_digest == b3(b'"{{ x }}"')
    assert found.bytes == len("{}") + 18 + 28 + 7
    assert not (folder / MANIFEST).exists()  # a folder of the user's is never written to


def test_a_changed_file_changes_the_digest(folder: Path) -> None:
    first = prepare_model(spec("local", folder), say=silent)
    (folder / "model.safetensors").write_bytes(b"weighty")
    second = prepare_model(spec("local", folder), say=silent)
    assert second.weight_digest == b3(canonical_bytes([["model.safetensors", b3(b"weighty")]]))
    assert second.tokenizer_digest == first.tokenizer_digest


def test_unchanged_files_are_not_read_again(folder: Path, cache: Path) -> None:
    first = prepare_model(spec("local", folder), say=silent)
    (record,) = (cache / "digests").iterdir()
    written = record.stat().st_mtime_ns
    # Same size and mtime, other bytes: what the record says is returned, so the file was not read.
    weights = folder / "model.safetensors"
    stat = weights.stat()
    weights.write_bytes(b"WEIGHTS")
    os.utime(weights, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert prepare_model(spec("local", folder), say=silent) == first
    assert record.stat().st_mtime_ns == written


@pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"files": 3}'])
def test_a_torn_record_is_made_again(folder: Path, cache: Path, torn: bytes) -> None:
    first = prepare_model(spec("local", folder), say=silent)
    (record,) = (cache / "digests").iterdir()
    record.write_bytes(torn)
    assert prepare_model(spec("local", folder), say=silent) == first


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"expected .*{name.removeprefix('model')}.*, found none"):
        prepare_model(spec("local", folder), say=silent)


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none: expected a file config\.json"):
        prepare_model(spec("local", tmp_path / "none"), say=silent)


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ModelError, match="expected one of pip_gguf, hub, local, found 'ftp'"):
        prepare_model(spec("ftp", "x"), say=silent)


@pytest.mark.parametrize(
    "revision", ["main", "7ae5576", "7AE557604ADF67BE50417F59C2C2F167DEF9A775", "a" * 40 + "\n"]
)
def test_a_hub_model_needs_a_full_commit(revision: str) -> None:
    lines: list[str] = []
    with pytest.raises(ModelError, match="full commit of 40 hex digits"):
        prepare_model(spec("hub", "org/model", revision), say=lines.append)
    assert lines == []  # refused before anything is said or fetched


def test_a_hub_that_cannot_be_reached_is_one_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    lines: list[str] = []
    with pytest.raises(ModelError, match=f"cannot get 'org/model' at {'a' * 40} from the hub"):
        prepare_model(spec("hub", "org/model", "a" * 40), say=lines.append)
    assert lines == [
        f"Model m: org/model at {'a' * 40}. Terms: Some Terms"
    ]  # named before the first download


def test_a_package_that_is_not_installed() -> None:
    with pytest.raises(ModelError, match="needs the package no_such_gguf"):
        prepare_model(spec("pip_gguf", "no_such_gguf", "0" * 64), say=silent)


def test_a_package_revision_is_a_sha256() -> None:
    with pytest.raises(ModelError, match="expected the sha256 of the GGUF file, found 'local'"):
        prepare_model(spec("pip_gguf", "my_gguf"), say=silent)


def test_wrong_bytes_in_the_package_name_both_digests(package: types.ModuleType, cache: Path) -> None:
    lines: list[str] = []
    found = hashlib.sha256(GGUF).hexdigest()
    with pytest.raises(ModelError, match=f"expected a GGUF file with sha256 {'0' * 64}, found {found}"):
        prepare_model(spec("pip_gguf", "my_gguf", "0" * 64), say=lines.append)
    assert lines[0] == "Model m from the package my_gguf. Terms: Some Terms"
    assert [path.name for path in (cache / "models").iterdir()] == ["0" * 64 + ".lock"]


def test_the_packages_own_check_is_reported(package: types.ModuleType) -> None:
    def assemble(target: object) -> None:
        raise ValueError("Assembled file sha256 did not match expected value")

    package.assemble = assemble  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="package my_gguf: Assembled file sha256 did not match"):
        prepare_model(spec("pip_gguf", "my_gguf", "0" * 64), say=silent)


def test_too_little_space_is_said_before_any_work(package: types.ModuleType, cache: Path) -> None:
    huge = Path(package.chunk_paths()[0])
    os.truncate(huge, 1 << 42)  # sparse: 4 TiB, of which five times as much is asked for
    with pytest.raises(
        ModelError, match=r"not enough disk space in .*: 20971584 MiB needed while converting, "
    ):
        prepare_model(spec("pip_gguf", "my_gguf", "0" * 64), say=silent)
    assert [path.name for path in (cache / "models").iterdir()] == ["0" * 64 + ".lock"]


def test_a_disk_that_fills_up_leaves_nothing(
    package: types.ModuleType, cache: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPSULE_CACHE", str(small_disk))
    package.assemble = lambda target: Path(target).write_bytes(bytes(96 << 20))  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match="the disk is full while preparing model 'm'"):
        prepare_model(spec("pip_gguf", "my_gguf", "0" * 64), say=silent)
    assert [path.name for path in (small_disk / "models").iterdir()] == ["0" * 64 + ".lock"]


def test_a_folder_without_a_manifest_is_never_used(
    package: types.ModuleType, cache: Path, folder: Path
) -> None:
    half = cache / "models" / ("0" * 64)
    half.parent.mkdir(parents=True)
    folder.rename(half)
    with pytest.raises(ModelError, match="expected a GGUF file with sha256"):
        prepare_model(spec("pip_gguf", "my_gguf", "0" * 64), say=silent)


def test_a_converted_folder_is_found_without_its_package(cache: Path, folder: Path) -> None:
    done = cache / "models" / ("1" * 64)
    done.parent.mkdir(parents=True)
    folder.rename(done)
    (done / MANIFEST).write_text("{}")
    lines: list[str] = []
    found = prepare_model(spec("pip_gguf", "no_such_gguf", "1" * 64), say=lines.append)
    assert (found.path, lines) == (done, [])


def test_another_process_that_converts_is_waited_for(
    package: types.ModuleType, cache: Path, folder: Path
) -> None:
    (cache / "models").mkdir(parents=True)
    lock = cache / "models" / ("1" * 64 + ".lock")
    done = cache / "models" / ("1" * 64)
    # Another process holds the lock; it makes the folder complete half a second later and ends.
    code = (
        "import fcntl, pathlib, sys, time\nf = open(sys.argv[1], 'ab')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\ntime.sleep(0.5)\npathlib.Path(sys.argv[2]).rename(sys.argv[3])\n"
        "pathlib.Path(sys.argv[3], sys.argv[4]).write_text('{}')\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(lock), str(folder), str(done), MANIFEST], stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    other.stdout.readline()
    lines: list[str] = []
    assert prepare_model(spec("pip_gguf", "my_gguf", "1" * 64), say=lines.append).path == done
    other.communicate()
    assert len(lines) == 1
    assert lines[0].startswith("Waiting for another process")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_root() == tmp_path / "cache"
    monkeypatch.delenv("CAPSULE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_root() == Path("/x/capsule-bench")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_root() == Path("/home/someone/.cache/capsule-bench")
