"""The same ids in every process: hash seeds, locales, time zones, Python 3.11 to 3.13.

Other interpreters come from CAPSULE_PYTHONS (executables separated as in PATH, each with blake3). What
cannot be tried here is skipped, and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import capsules
from capsules import codec
from capsules.content_id import content_id

ROOT = Path(capsules.__file__).parents[1]

# Reads both wire forms, rebuilds and reseals them, and prints every id that it derives on the way.
SCRIPT = r"""
import json, locale, sys
from capsules import codec
from capsules.canonical import canonical_bytes, parse_strict
from capsules.content_id import content_id, derived_key
from capsules.errors import ParseError
from capsules.names import capsule_id
from capsules.source import source_text
from capsules.span import make_span
from capsules.timestamp import format_time, parse_time
locale.setlocale(locale.LC_ALL, "")
given = json.loads(sys.stdin.buffer.read())
ids = {}
for schema_id, text in given["wires"].items():
    record = codec.read_wire(text.encode(), codec.RECORD_TYPES[schema_id])
    forms = codec.wire(record), codec.preimage(record)
    ids[schema_id] = [codec.digest_of(record), *map(content_id, forms)]
for name, text in given["texts"].items():
    source = source_text(text.encode())
    ids[name] = codec.digest_of(make_span(source.source, source.text, 3, 9))
ids["set"] = content_id(canonical_bytes(sorted({"alpha", "beta", "gamma", "delta", "eps"})))
ids["keys"] = content_id(canonical_bytes({"\uf8ff": 1, "\U0001d11e": 2, "I": 3, "i": 4, "\u0130": 5}))
ids["key"] = derived_key("salt/v1", "I\u0131\u0130i".encode())
ids["name"] = capsule_id("I", "i", "\u0130", "TITLE")
ids["refused"] = []
bad = (b"[1 ,\n]", b'{"a":1,}', b"[1,", b'"\\x"', b'{"a" 1}', b"\xff", b"[1.0]", b'"\\ud800"', b"[" * 99, b"")
for data in bad:
    try:
        parse_strict(data)
    except ParseError as error:
        ids["refused"].append(str(error))
ids["time"] = format_time(parse_time("2024-03-31T01:30:00Z"))
print(json.dumps(ids))
"""


def ids_of(example: Any, python: str = sys.executable, **environment: str) -> dict[str, Any]:
    """The ids that another process computes, in an environment of exactly ``environment``."""
    given = {
        "wires": {
            record.schema_id: codec.wire(record).decode() for record in (example.evidence, example.prompt)
        },
        "texts": {name: source.text for name, source in example.sources.items()},
    }
    done = subprocess.run(
        [python, "-X", "utf8=0", "-c", SCRIPT],
        input=json.JSONEncoder().encode(given).encode(),
        capture_output=True,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        },
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    ids: dict[str, Any] = json.loads(done.stdout)
    return ids


@pytest.fixture(scope="module")
def expected(example: Any) -> dict[str, Any]:
    """The ids of a plain process, anchored to those of this one and to known values."""
    ids = ids_of(example)
    for record in (example.evidence, example.prompt):
        sealed = codec.seal(record)
        assert ids[record.schema_id] == [sealed.digest, content_id(codec.wire(record)), sealed.digest]
    assert ids["set"] == "b3:ef8602803c471549811e2c378138726a358921c3e09576fe3e811b0231cdff28"
    assert ids["name"].split(":")[1] == "i"
    assert len(ids["refused"]) == 10
    assert ids["time"] == "2024-03-31T01:30:00Z"
    return ids


@pytest.mark.parametrize("seed", [*map(str, range(8)), "random"])
def test_hash_seeds(example: Any, expected: dict[str, Any], seed: str) -> None:
    # Field case A17.
    assert ids_of(example, PYTHONHASHSEED=seed) == expected


@pytest.mark.parametrize("zone", ["UTC", "Etc/GMT+14", "Etc/GMT-14", "Asia/Kolkata", "XXX-14"])
def test_time_zones(example: Any, expected: dict[str, Any], zone: str) -> None:
    assert ids_of(example, TZ=zone) == expected


@pytest.mark.parametrize("name", ["C", "POSIX"])
def test_plain_locales(example: Any, expected: dict[str, Any], name: str) -> None:
    assert ids_of(example, LC_ALL=name, PYTHONCOERCECLOCALE="0") == expected


@pytest.fixture(scope="module")
def turkish(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the locale tr_TR.UTF-8, where upper and lower case of I differ from everywhere else."""
    localedef = shutil.which("localedef")
    if localedef is None:
        pytest.skip("localedef is not installed: ids under tr_TR.UTF-8 are not checked")
    folder = tmp_path_factory.mktemp("locales")
    made = subprocess.run(
        [localedef, "--no-archive", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")],
        capture_output=True,
        timeout=60,
        check=False,
    )
    if not (folder / "tr_TR.UTF-8").is_dir():
        why = made.stderr.decode()[:200]
        pytest.skip(f"localedef cannot make tr_TR.UTF-8: ids under it are not checked ({why})")
    return str(folder)


def test_turkish(example: Any, expected: dict[str, Any], turkish: str) -> None:
    assert ids_of(example, LOCPATH=turkish, LC_ALL="tr_TR.UTF-8") == expected


def test_other_pythons(example: Any, expected: dict[str, Any]) -> None:
    pythons = [path for path in os.environ.get("CAPSULE_PYTHONS", "").split(os.pathsep) if path]
    if not pythons:
        pytest.skip("CAPSULE_PYTHONS names no interpreter: ids under other Python versions are not checked")
    tried = set()
    for python in pythons:
        version = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"],
            capture_output=True,
            timeout=60,
            check=True,
        )
        tried.add(version.stdout.decode().strip())
        assert ids_of(example, python) == expected
    missing = {"3.11", "3.12", "3.13"} - tried - {f"{sys.version_info[0]}.{sys.version_info[1]}"}
    if missing:
        pytest.skip(f"checked {sorted(tried)}; CAPSULE_PYTHONS lacks Python {sorted(missing)}")
