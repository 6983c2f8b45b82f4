from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.engines.base import EngineError
from bench.engines.process import (
    TOKEN_VARIABLE,
    ProcessRecord,
    end_group,
    end_stray,
    find_strays,
    process_record,
    remove_tmp,
    session_members,
)

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# Starts a sleeper in the same session, prints its id, and ends: a session without its first process.
LEAVE = [
    sys.executable,
    "-c",
    "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
    " stdout=subprocess.DEVNULL); print(p.pid)",
]


def start(command: list[str], token: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        env={**os.environ, TOKEN_VARIABLE: token},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.fixture
def sleeper() -> Iterator[tuple[subprocess.Popen[bytes], ProcessRecord]]:
    process = start(SLEEP, "t1")
    yield process, process_record(process.pid, token="t1", tmp_dir="/none")
    process.kill()
    process.communicate()


def test_a_record_survives_being_written_down(sleeper: tuple[subprocess.Popen[bytes], ProcessRecord]) -> None:
    _, record = sleeper
    assert ProcessRecord.from_value(record.to_value()) == record


@pytest.mark.parametrize(
    "change",
    [{"pid": "7"}, {"pid": True}, {"pid": 1}, {"pid": -4}, {"started": ""}, {"token": None}, {"tmp_dir": 3}],
)
def test_a_bad_record_is_refused(change: dict[str, object]) -> None:
    value: dict[str, object] = {"pid": 7, "started": "b:1", "token": "t", "tmp_dir": "/none"}
    with pytest.raises(EngineError, match="not an engine process record"):
        ProcessRecord.from_value(value | change)


def test_a_living_engine_is_a_stray_and_ends(sleeper: tuple[subprocess.Popen[bytes], ProcessRecord]) -> None:
    process, record = sleeper
    assert find_strays([record]) == [record]
    end_stray(record)
    assert process.wait() == -signal.SIGTERM
    assert find_strays([record]) == []


def test_a_process_id_used_again_is_left_alone(
    sleeper: tuple[subprocess.Popen[bytes], ProcessRecord],
) -> None:
    process, record = sleeper
    boot, _, ticks = record.started.rpartition(":")
    for started in (f"{boot}:{int(ticks) - 1}", f"another-boot:{ticks}"):
        other = ProcessRecord(pid=record.pid, started=started, token="t1", tmp_dir="/none")
        assert find_strays([other]) == []
        end_stray(other)
    assert process.poll() is None


def test_what_a_dead_engine_left_is_found_by_its_token() -> None:
    process = start(LEAVE, "t2")
    record = process_record(process.pid, token="t2", tmp_dir="/none")
    assert process.stdout is not None
    left = int(process.stdout.read())
    process.wait()
    process.stdout.close()
    assert session_members(record.pid) == [left]
    stranger = ProcessRecord(pid=record.pid, started=record.started, token="t3", tmp_dir="/none")
    assert find_strays([stranger, record]) == [record]
    end_stray(stranger)
    assert session_members(record.pid) == [left]
    end_stray(record)
    assert session_members(record.pid) == []


def test_a_zombie_is_no_living_process(sleeper: tuple[subprocess.Popen[bytes], ProcessRecord]) -> None:
    process, record = sleeper
    process.kill()
    end = time.monotonic() + 20
    while session_members(record.pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert Path(f"/proc/{record.pid}").exists()  # not waited for yet
    assert find_strays([record]) == []
    end_group(record.pid)


def test_a_name_with_parentheses_and_spaces_is_read() -> None:
    rename = "import ctypes, time; ctypes.CDLL(None).prctl(15, b') S 1 (x', 0, 0, 0)"
    code = f"{rename}; print(1, flush=True); time.sleep(600)"
    process = start([sys.executable, "-c", code], "t4")
    assert process.stdout is not None
    process.stdout.readline()
    record = process_record(process.pid, token="t4", tmp_dir="/none")
    assert session_members(process.pid) == [process.pid]
    end_stray(record)
    process.communicate()


def test_recording_a_dead_process_is_an_error() -> None:
    process = start([sys.executable, "-c", ""], "t5")
    process.communicate()
    with pytest.raises(EngineError, match=f"engine process {process.pid} ended"):
        process_record(process.pid, token="t5", tmp_dir="/none")


def test_only_our_own_temporary_folders_are_removed(tmp_path: Path) -> None:
    ours = tempfile.mkdtemp(prefix="capsule-engine-")
    Path(ours, "vllm_dist_x").write_text("x")
    elsewhere = tmp_path / "capsule-engine-x"
    elsewhere.mkdir()
    other = tempfile.mkdtemp(prefix="other-")
    for path in (ours, str(elsewhere), other, f"{ours}/../{Path(other).name}", "/", ""):
        remove_tmp(path)
    assert not Path(ours).exists()
    assert elsewhere.is_dir()
    assert Path(other).is_dir()
    Path(other).rmdir()


def test_a_child_that_asks_for_it_dies_with_its_parent() -> None:
    child = (
        "import sys, time\nfrom bench.engines.process import die_with_parent\n"
        "die_with_parent(int(sys.argv[1]))\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    code = (
        "import os, subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-c', {child!r}, str(os.getpid())], stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True); time.sleep(600)"
    )
    parent = start([sys.executable, "-c", code], "t6")
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert sorted(session_members(parent.pid)) == sorted([parent.pid, pid])
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 20
    while session_members(parent.pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert session_members(parent.pid) == []


def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    code = f"from bench.engines.process import die_with_parent\ndie_with_parent({os.getpid() + 1})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "the parent process died first\n")
