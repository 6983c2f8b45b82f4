"""The driver's end of an engine process, against small real processes that behave badly."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.engines.base import EngineAbsentError, EngineError
from bench.engines.child import Child, last_lines
from bench.engines.process import ProcessRecord, session_members

PRELUDE = """
import json, os, signal, subprocess, sys, time
receive, send, parent = (int(word) for word in sys.argv[1:4])
requests, answers = os.fdopen(receive, "rb"), os.fdopen(send, "wb")
def answer(value):
    answers.write(json.dumps({"ok": value}).encode() + b"\\n"); answers.flush()
"""
ECHO = 'for line in requests: answer(json.loads(line)["op"])'

StartChild = Callable[[str], Child]


@pytest.fixture
def start_child(tmp_path: Path) -> Iterator[StartChild]:
    children: list[Child] = []

    def start(body: str) -> Child:
        script = tmp_path / f"child{len(children)}.py"
        script.write_text(PRELUDE + textwrap.dedent(body))
        log = tmp_path / f"engine-{len(children)}.log"
        records: list[ProcessRecord] = []
        child = Child([sys.executable, str(script)], env=os.environ, log=log, on_process=records.append)
        assert records == [child.record]
        children.append(child)
        return child

    yield start
    for child in children:
        child.close()


def test_it_asks_and_closes(start_child: StartChild) -> None:
    child = start_child(ECHO)
    assert child.ask({"op": "reset"}, limit_s=20, what="resetting") == "reset"
    assert child.ask({"op": "x" * 300_000}, limit_s=20, what="a long one") == "x" * 300_000
    assert session_members(child.record.pid) == [child.record.pid]
    assert os.path.isdir(child.record.tmp_dir)
    child.close()
    child.close()
    assert session_members(child.record.pid) == []
    assert not os.path.exists(child.record.tmp_dir)
    with pytest.raises(EngineError, match="no longer usable: closed"):
        child.ask({"op": "reset"}, limit_s=1, what="resetting")


def test_the_child_has_a_temporary_folder_of_its_own(start_child: StartChild) -> None:
    child = start_child("import tempfile\nfor line in requests: answer(tempfile.gettempdir())")
    found = child.ask({"op": "x"}, limit_s=20, what="asking")
    assert found == child.record.tmp_dir != tempfile.gettempdir()


def test_a_death_names_the_signal_and_shows_the_log(start_child: StartChild) -> None:
    child = start_child('print("last words", flush=True)\nos.kill(os.getpid(), signal.SIGKILL)')
    with pytest.raises(EngineError, match=r"(?s)starting: the engine process ended \(signal 9\).*last words"):
        child.ask({"op": "start"}, limit_s=20, what="starting")
    with pytest.raises(EngineError, match="no longer usable: starting: the engine process ended"):
        child.ask({"op": "reset"}, limit_s=1, what="resetting")


def test_an_exit_names_the_status(start_child: StartChild) -> None:
    child = start_child("sys.exit('no such model')")
    with pytest.raises(EngineError, match=r"(?s)\(exit status 1\).*\| no such model"):
        child.ask({"op": "start"}, limit_s=20, what="starting")


def test_a_hang_is_ended(start_child: StartChild) -> None:
    child = start_child("time.sleep(600)")
    with pytest.raises(EngineError, match=r"generating: no answer within 0\.5 s"):
        child.ask({"op": "generate"}, limit_s=0.5, what="generating")
    assert session_members(child.record.pid) == []


def test_a_child_that_never_reads_cannot_block_the_driver(start_child: StartChild) -> None:
    child = start_child("time.sleep(600)")
    with pytest.raises(EngineError, match="no answer within 1 s"):
        child.ask({"op": "x" * 10_000_000}, limit_s=1, what="sending")


def test_one_that_ignores_sigterm_is_killed_with_its_own_children(start_child: StartChild) -> None:
    child = start_child(
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        code = "import os, time; os.setpgid(0, 0); time.sleep(600)"
        sleeper = subprocess.Popen([sys.executable, "-c", code])
        for line in requests: answer(sleeper.pid)
        """
    )
    sleeper = child.ask({"op": "x"}, limit_s=20, what="asking")
    end = time.monotonic() + 20
    while os.getpgid(sleeper) != sleeper and time.monotonic() < end:
        time.sleep(0.02)  # until it has left the process group; the session stays
    assert session_members(child.record.pid) == sorted([child.record.pid, sleeper])
    child.close(grace_s=0.5)
    assert session_members(child.record.pid) == []


def test_a_fatal_answer_is_an_error(start_child: StartChild) -> None:
    child = start_child('answers.write(b\'{"fatal": "out of memory"}\\n\'); answers.flush(); time.sleep(600)')
    with pytest.raises(EngineError, match=r"starting: a fatal error\. It said: out of memory\n") as caught:
        child.ask({"op": "start"}, limit_s=20, what="starting")
    assert caught.value.problem == "starting: a fatal error"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"fatal": "OSError: no file named x in directory /home/me/m: sorry"}', "starting: OSError"),
        ('{"fatal": "/home/me/m: OSError: gone"}', "starting: a fatal error"),
        ("no json of /home/me/m", "starting: engine process sent no JSON"),
        ('"/home/me/m"', "starting: engine process sent no JSON object"),
    ],
)
def test_a_report_may_hold_the_problem_and_no_folder_and_the_message_has_all(
    start_child: StartChild, line: str, problem: str
) -> None:
    child = start_child(f"answers.write(b'{line}\\n'); answers.flush(); time.sleep(600)")
    with pytest.raises(EngineError) as caught:
        child.ask({"op": "start"}, limit_s=20, what="starting")
    assert caught.value.problem == problem
    assert "/home/me/m" in str(caught.value)
    assert "Its log" in str(caught.value)
    with pytest.raises(EngineError) as again:
        child.ask({"op": "start"}, limit_s=20, what="starting")
    assert again.value.problem == f"the engine is no longer usable: {problem}"


@pytest.mark.parametrize(
    ("script", "absent"),
    [
        ('answers.write(b\'{"fatal": "out of memory"}\\n\'); answers.flush(); time.sleep(600)', True),
        ("time.sleep(600)", True),
        ("os.kill(os.getpid(), 9)", False),
    ],
)
def test_one_that_lives_and_does_not_start_would_not_start_again_and_one_that_died_may(
    start_child: StartChild, script: str, absent: bool
) -> None:
    with pytest.raises(EngineError) as caught:
        start_child(script).ask({"op": "start"}, limit_s=5, what="starting", starting=True)
    assert isinstance(caught.value, EngineAbsentError) == absent


@pytest.mark.parametrize("line", ["no json", "[1]"])
def test_garbage_is_an_error(start_child: StartChild, line: str) -> None:
    child = start_child(f"answers.write(b'{line}\\n'); answers.flush(); time.sleep(600)")
    with pytest.raises(EngineError, match="engine process sent no JSON"):
        child.ask({"op": "start"}, limit_s=20, what="starting")


def test_an_interrupted_question_makes_the_child_unusable(start_child: StartChild) -> None:
    child = start_child("time.sleep(600)")

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            child.ask({"op": "x"}, limit_s=20, what="generating")
    finally:
        signal.signal(signal.SIGALRM, previous)
    with pytest.raises(EngineError, match=r"interrupted while generating \(KeyboardInterrupt\)"):
        child.ask({"op": "x"}, limit_s=20, what="generating")


def test_a_failing_record_leaves_no_process(tmp_path: Path) -> None:
    records: list[ProcessRecord] = []

    def refuse(record: ProcessRecord) -> None:
        records.append(record)
        raise OSError(28, "No space left on device")

    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(OSError, match="No space left"):
        Child(command, env=os.environ, log=tmp_path / "log", on_process=refuse)
    assert session_members(records[0].pid) == []
    assert not os.path.exists(records[0].tmp_dir)


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(EngineError, match="cannot start the engine process"):
        Child([str(tmp_path / "none")], env=os.environ, log=tmp_path / "log", on_process=lambda record: None)
    assert set(os.listdir("/proc/self/fd")) == before


def test_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "engine-0.log"
    assert "does not exist" in last_lines(log)
    log.write_text("")
    assert "is empty" in last_lines(log)
    log.write_text("".join(f"line {i}\n\n" for i in range(100)))
    assert last_lines(log).splitlines()[1:] == [f"  | line {i}" for i in range(85, 100)]
