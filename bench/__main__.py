"""The command line: ``capsule-bench`` and ``python -m bench``.

Rules that this module owns:

* stdout holds results (one JSON line of ``run`` and ``build``, what was asked for of the others); all
  progress and every message go to stderr.
* Exit: 0 ok · 1 a finding · 2 could not do it (usage, input, I/O) · 3 a run finished with failed or void
  cells · 130 interrupted.
* An error that the user can do something about is one message without a traceback; anything else is a
  bug and keeps its traceback.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from bench.commands import COMMANDS
from bench.errors import describe_os_error, is_expected
from bench.progress import fail

EXAMPLES = """\
examples:
  capsule-bench run                                    the default experiment (quickstart) on real vLLM
  capsule-bench run experiment=xquad_en limit=8        English XQuAD, 8 samples
  capsule-bench run experiment=quickstart '~arm@arms.naive' +arm@arms.mine=capsule arms.mine.selection.k=2
  capsule-bench run -m seed=0,1,2                      a sweep: one run a value
  capsule-bench resume latest                          continue the newest run
  capsule-bench verify latest --json                   re-check everything that a run stored

Overrides are Hydra's: a list is key=[a,b]; a value with = # ( ) or non-ASCII letters needs quotes that reach
Hydra, e.g. 'task.project="a=b"'. Config files of your own: 'hydra.searchpath=[file:///path/to/conf]'.
RUN is a run folder, a run id, or `latest`.
exit codes: 0 ok, 1 a finding, 2 could not do it, 3 finished with failed or void cells, 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """The command-line parser."""
    top = argparse.ArgumentParser(
        prog="capsule-bench",
        description="Measures what digest-addressed, bounded model inputs are worth, on a real engine.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.help,
            description=command.help,
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument(
            "--results",
            type=Path,
            default=Path("results"),
            metavar="DIR",
            help="folder of all results (default: results)",
        )
        command.arguments(sub)
    return top


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of a command; overrides may stand before and after its options."""
    top = parser()
    arguments, rest = top.parse_known_args(argv)
    if any(word.startswith("-") for word in rest) or (rest and "overrides" not in arguments):
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.overrides = [*arguments.overrides, *rest]
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    arguments = parse(argv)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        return COMMANDS[arguments.command].run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read stdout has enough: end without noise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        fail(describe_os_error(error))
        return 2
    except Exception as error:
        if not is_expected(error):
            raise
        fail(str(error))
        return 2


def _terminated(number: int, frame: FrameType | None) -> None:
    """SIGTERM ends a run as Ctrl-C does: engines are ended, the folder can be resumed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
