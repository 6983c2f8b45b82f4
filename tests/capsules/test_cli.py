"""The command line beyond its answers: streams, signals, speed, help. Answers: tests/vectors."""

from __future__ import annotations

import io
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from capsules import __main__ as cli
from capsules.cli_lines import run_lines
from capsules.cli_verify import summary
from capsules.errors import SchemaError
from capsules.report import CHECKS, Ledger, build_report
from capsules.rules import Problem

ROOT = Path(__file__).parents[2]
COMMANDS = ("canonical", "digest", "match", "citations", "cached", "verify")
CASES = ROOT / "tests" / "vectors" / "cases"
NOW = "2024-06-01T12:00:00Z"


def run(*argv: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    streams = io.BytesIO(stdin), io.BytesIO(), io.BytesIO()
    status = cli.main(list(argv), streams)
    return status, streams[1].getvalue(), streams[2].getvalue()


def process(*argv: str, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "capsules", *argv],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=options.get("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        preexec_fn=_hear_ctrl_c,
    )


def _hear_ctrl_c() -> None:
    """A shell starts background jobs deaf to SIGINT, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def echo(value: object) -> object:
    if value == "refuse":
        raise SchemaError("schema.word", "expected another word", at="/x")
    return value


def test_every_line_is_answered_in_its_place() -> None:
    out = io.BytesIO()

    status = run_lines(echo, io.BytesIO(b'1\n"refuse"\n{\n\n\xff\n[2]'), out)

    assert status == 1
    assert out.getvalue().splitlines() == [
        b"1",
        b'{"error":{"at":"/x","code":"schema.word"}}',
        b'{"error":{"at":"","code":"json.syntax"}}',
        b'{"error":{"at":"","code":"json.syntax"}}',
        b'{"error":{"at":"","code":"json.utf8.invalid"}}',
        b"[2]",
    ]


@pytest.mark.parametrize("text", [b"", b"1\n", b"1", b"1\r\n"])
def test_good_lines_end_well(text: bytes) -> None:
    out = io.BytesIO()

    assert run_lines(echo, io.BytesIO(text), out) == 0
    assert out.getvalue() == (b"1\n" if text else b"")


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("extra", [0, 1, 2, 5, 3_000_000])
def test_a_line_over_the_cap_is_refused_and_the_next_one_answered(end: bytes, extra: int) -> None:
    line = b'"' + b"x" * (8 + extra) + b'"'
    out = io.BytesIO()

    status = run_lines(echo, io.BytesIO(line + end + (b"2\n" if end else b"")), out, max_bytes=10)

    wanted = [b'{"error":{"at":"","code":"bytes.size.exceeded"}}'] if extra else [line]
    assert out.getvalue().splitlines() == wanted + ([b"2"] if end else [])
    assert status == (1 if extra else 0)


def test_an_answer_comes_before_the_next_line_is_asked_for() -> None:
    with process("cached") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for _ in range(2):
            running.stdin.write(b'{"ids": [1, 2, 3], "block": 2}\n')
            running.stdin.flush()
            assert b"predicted" in running.stdout.readline()
        running.stdin.close()
        assert running.wait(30) == 0


class Failing(io.BytesIO):
    """A stream whose every use raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def read(self, *args: Any) -> bytes:
        raise self.error

    def write(self, data: Any) -> int:
        raise self.error


def with_stdin(stdin: BinaryIO) -> tuple[int, bytes]:
    err = io.BytesIO()
    return cli.main(["canonical"], (stdin, io.BytesIO(), err)), err.getvalue()


def test_what_goes_wrong_outside_is_status_2_and_one_line() -> None:
    assert with_stdin(Failing(OSError(5, "Input/output error"))) == (
        2,
        b"python -m capsules: cannot read or write: Input/output error\n",
    )
    assert cli.main(["canonical"], (io.BytesIO(b"1"), Failing(BrokenPipeError()), io.BytesIO())) == 2
    assert with_stdin(Failing(KeyboardInterrupt())) == (130, b"")


def test_a_bug_is_never_a_finding() -> None:
    status, err = with_stdin(Failing(ZeroDivisionError("a bug")))

    assert status == 2
    assert err.startswith(b"python -m capsules: internal error\nTraceback")


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with process("canonical", stdout=writing) as running:
        os.close(writing)
        _, err = running.communicate(b"[1]", timeout=30)

    assert (running.returncode, err) == (2, b"")


def test_ctrl_c_ends_quietly() -> None:
    with process("match") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b'{"source": "a", "quote": "a"}\n')
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)

    assert (running.returncode, err) == (130, b"")


def test_closed_streams_are_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    command = f"{sys.executable} -m capsules canonical <&-"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, check=False)

    assert done.returncode == 2
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["canonical"]) == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_goes_in_and_out(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0

    text = capsys.readouterr().out
    assert "usage: python -m capsules" in text
    assert "example:" in text or "--raw" in text
    assert max(map(len, text.splitlines())) <= 110


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0

    text = capsys.readouterr().out
    assert all(f"    {command}" in text for command in COMMANDS)


@pytest.mark.parametrize(
    "argv", [[], ["frobnicate"], ["digest"], ["verify", "x"], ["canonical", "extra"], ["match", "--near"]]
)
def test_wrong_usage_is_status_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(argv) == 2

    err = capsys.readouterr().err
    assert "usage:" in err
    assert "Traceback" not in err


def test_json_is_accepted_everywhere() -> None:
    case = CASES / "verify-prompt"

    assert run("canonical", "--json", stdin=b"1") == (0, b"1", b"")
    assert run("match", "--json", stdin=b'{"source":"a","quote":"a"}')[0] == 0
    assert run("citations", "--json", stdin=b'{"answer":"a","sources":1}')[0] == 0
    assert run("cached", "--json", stdin=b'{"ids":[1],"block":1}')[0] == 0
    store = str(ROOT / "tests" / "vectors" / "stores" / "main")
    argv = ("verify", str(case / "input"), "--store", store, "--now", NOW)
    plain, quiet = run(*argv), run(*argv, "--json")
    assert plain[:2] == quiet[:2]
    assert quiet[2] == b""
    assert plain[2].startswith(b"valid: b3:")


def test_a_raw_digest_does_not_load_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(b"x" * ((1 << 20) + 1))

    status, out, _ = run("digest", "--raw", str(path))

    assert status == 0
    assert out == run("digest", "--raw", "--json", str(path))[1][11:78] + b"\n"


def test_the_summary_names_failures_and_what_was_not_checked() -> None:
    ledger = Ledger()
    faults = [Problem("span.range", f"/exact_spans/{n}/end", "3", "4") for n in range(60)]
    ledger.judge("span.text", "b3:x", faults)
    ledger.judge("json.strict", None, [Problem("json.syntax", "", "strict canonical JSON", "a refusal")])
    ledger.skip(CHECKS, "input")
    text = summary(build_report(ledger.rows, subject=None, now=NOW, policy_id=None))

    lines = text.splitlines()
    assert lines[0] == f"INVALID: no id at {NOW}"
    assert lines[1] == "  json.syntax: expected strict canonical JSON, found a refusal"
    assert lines[2] == "  span.range at /exact_spans/0/end of b3:x: expected 3, found 4"
    assert lines[-2] == "  and 11 more failures"
    assert lines[-1].startswith("not checked, input not given: authority.level, ")


def test_the_summary_says_who_is_authorized() -> None:
    for failing, word in ((None, "authorized"), ("provider.level", "NOT AUTHORIZED")):
        ledger = Ledger()
        for check in CHECKS:
            ledger.judge(check, None, [Problem("label.flow.denied", "", "", "")] if check == failing else [])
        found = build_report(ledger.rows, subject="b3:x", now=NOW, policy_id=None)
        assert word in summary(found).splitlines()


def test_it_starts_fast_and_loads_no_more_than_it_needs() -> None:
    code = "import capsules.__main__, sys; print(*sorted(m[9:] for m in sys.modules if 'capsules.' in m))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)

    assert done.stdout.split() == [b"__main__", b"cli_help", b"errors"]
    assert min(_seconds("canonical") for _ in range(5)) < 0.5


def _seconds(command: str) -> float:
    """Processor time of a run: what a busy machine does not change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with process(command) as running:
        running.communicate(b"1", timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
