"""``python -m capsules``: check capsules, quotes and citations without an engine.

Exit status: 0 ok, 1 a finding, 2 could not do it (usage, I/O, a bug), 130 interrupted. Results go to
stdout, everything else to stderr. Modules are imported by the command that needs them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from capsules import cli_help
from capsules.errors import CapsuleError

_OK, _FINDING, _FAILED, _INTERRUPTED = 0, 1, 2, 130
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO


_Command = Callable[[argparse.Namespace, _Streams], int]


def _canonical(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.canonical import canonical_bytes, parse_strict
    from capsules.cli_lines import refusal
    from capsules.strict_json import MAX_BYTES

    try:
        output = canonical_bytes(parse_strict(streams.stdin.read(MAX_BYTES + 1)))
    except CapsuleError as error:
        streams.stderr.write(refusal(error, message=False))
        return _FINDING
    streams.stdout.write(output)
    return _OK


def _digest(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.canonical import canonical_bytes, parse_strict
    from capsules.cli_lines import refusal
    from capsules.content_id import content_id
    from capsules.strict_json import MAX_BYTES

    if args.raw:
        digest = _raw_digest(args.file)
    else:
        try:
            value = parse_strict(_read(args.file, MAX_BYTES + 1))
        except CapsuleError as error:
            streams.stderr.write(refusal(error, message=True))
            return _FINDING
        if isinstance(value, dict):
            value.pop("digest", None)
        digest = content_id(canonical_bytes(value))
    output = canonical_bytes({"digest": digest}) if args.json else digest.encode()
    streams.stdout.write(output + b"\n")
    return _OK


def _match(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.cli_lines import run_lines
    from capsules.cli_match import match_line

    return run_lines(match_line, streams.stdin, streams.stdout)


def _citations(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.cli_citations import citations_line
    from capsules.cli_lines import run_lines

    return run_lines(citations_line, streams.stdin, streams.stdout)


def _cached(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.cli_lines import run_lines
    from capsules.prefix_blocks import CachedState, cached_line

    state = CachedState()
    return run_lines(lambda value: cached_line(state, value), streams.stdin, streams.stdout)


def _verify(args: argparse.Namespace, streams: _Streams) -> int:
    from capsules.cli_lines import refusal
    from capsules.cli_verify import exit_status, summary
    from capsules.disk_store import DiskStore
    from capsules.policy import read_policy
    from capsules.report_json import report_bytes
    from capsules.strict_json import MAX_BYTES
    from capsules.validation import Given, validate

    if args.provider is not None and args.policy is None:
        return _usage(streams, "verify: --provider needs --policy: without a policy nothing is authorized")
    data = _read(args.file, MAX_BYTES + 1)
    try:
        policy = None if args.policy is None else read_policy(_read(args.policy, MAX_BYTES + 1))
        given = Given(
            now=args.now,
            store=DiskStore(args.store, read_only=True),
            project=args.project,
            policy=policy,
            provider=args.provider,
        )
        report = validate(data, given, expect=args.expect)
    except CapsuleError as error:  # about the inputs, not about the capsule
        streams.stderr.write(refusal(error, message=True))
        return _FAILED
    streams.stdout.write(report_bytes(report) + b"\n")
    if not args.json:
        streams.stderr.write(summary(report).encode())
    return exit_status(report, provider=args.provider)


def _read(path: str, limit: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(limit)


def _raw_digest(path: str) -> str:
    from blake3 import blake3

    hasher = blake3()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            hasher.update(chunk)
    return f"b3:{hasher.hexdigest()}"


def _usage(streams: _Streams, text: str) -> int:
    streams.stderr.write(f"python -m capsules {text}\n".encode())
    return _FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m capsules",
        description="Check capsules, quotes and citations. Each command has its own --help.",
        epilog="exit: 0 ok, 1 a finding, 2 could not do it. Results on stdout, the rest on stderr.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, run: _Command, help_line: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=help_line, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.set_defaults(run=run)
        command.add_argument("--json", action="store_true", help="only JSON, on stdout as on stderr")
        return command

    add("canonical", _canonical, "canonical bytes of JSON on stdin", cli_help.CANONICAL)
    digest = add("digest", _digest, "ContentId of a file", cli_help.DIGEST)
    digest.add_argument("file", metavar="FILE")
    digest.add_argument("--raw", action="store_true", help="hash the bytes as they are")
    add("match", _match, "quote verdicts, JSON lines", cli_help.MATCH)
    add("citations", _citations, "citation marks, JSON lines", cli_help.CITATIONS)
    add("cached", _cached, "predicted cache hits, JSON lines", cli_help.CACHED)
    verify = add("verify", _verify, "validation report of a capsule", cli_help.VERIFY)
    verify.add_argument("file", metavar="FILE")
    verify.add_argument("--store", required=True, metavar="DIR", help="content-addressed store")
    verify.add_argument("--now", required=True, metavar="TIME", help="the clock: YYYY-MM-DDTHH:MM:SSZ")
    verify.add_argument("--project", metavar="P", help="the project that you work for")
    verify.add_argument(
        "--policy", metavar="FILE", help="policy/1 file; nothing is allowed that it does not allow"
    )
    verify.add_argument("--provider", metavar="ID", help="who would receive the prompt (needs --policy)")
    verify.add_argument("--expect", metavar="b3:...", help="the id that the capsule must have")
    return parser


def main(argv: list[str] | None = None, streams: tuple[BinaryIO, BinaryIO, BinaryIO] | None = None) -> int:
    """Run one command and return its exit status.

    Args:
        argv: Arguments; those of the process by default.
        streams: stdin, stdout, stderr as bytes; those of the process by default.
    """
    try:
        args = _parser().parse_args(argv)
    except SystemExit as done:  # argparse has printed help (0) or a usage error (2)
        return int(done.code or 0)
    if streams is None and None in (sys.stdin, sys.stdout, sys.stderr):  # closed by the caller
        return _FAILED
    stdin, stdout, stderr = streams or (sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer)
    run: _Command = args.run
    try:
        status = run(args, _Streams(stdin=stdin, stdout=stdout, stderr=stderr))
        stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        if streams is None:  # whoever read our output has gone; the interpreter must not flush to it again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as error:
        name = "" if error.filename is None else f" {error.filename!r}"
        stderr.write(f"python -m capsules: cannot read or write{name}: {error.strerror}\n".encode())
        return _FAILED
    except Exception:  # a bug of ours is never a finding about the capsule
        import traceback

        stderr.write(f"python -m capsules: internal error\n{traceback.format_exc()}".encode())
        return _FAILED
    return status


if __name__ == "__main__":
    sys.exit(main())
