"""What a person sees while a run works: bars on a terminal, plain lines elsewhere; stderr only.

stdout belongs to results. On anything but a terminal a bar prints a line at its start, at its end and
at most every ``PLAIN_EVERY_S`` seconds in between, so that logs stay short.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_EVERY_S = 20.0

Advance = Callable[[int], None]


class Reporter:
    """Lines and bars on stderr.

    Args:
        quiet: Print nothing (tests).
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)
        self._quiet = quiet
        self._bar: Progress | None = None

    def say(self, line: str) -> None:
        """Print one line."""
        if self._quiet:
            return
        target = self._bar.console if self._bar else self._console
        target.print(line, markup=False)

    @contextlib.contextmanager
    def bar(self, what: str, total: int) -> Iterator[Advance]:
        """A bar over ``total`` steps; the yielded function advances it."""
        if self._quiet or not self._console.is_terminal:
            yield from self._plain(what, total)
            return
        columns = (
            TextColumn("{task.description:<28}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._console) as progress:
            self._bar = progress
            task = progress.add_task(what, total=total)
            try:
                yield lambda n: progress.advance(task, n)
            finally:
                self._bar = None

    def _plain(self, what: str, total: int) -> Iterator[Advance]:
        started = shown = time.monotonic()
        done = 0

        def advance(n: int) -> None:
            nonlocal done, shown
            done += n
            now = time.monotonic()
            if now - shown >= PLAIN_EVERY_S and done < total:
                shown = now
                self.say(f"{what}: {done}/{total}")

        self.say(f"{what}: {total} to do")
        yield advance
        self.say(f"{what}: {done}/{total} in {time.monotonic() - started:.1f} s")


def fail(message: str) -> None:
    """Print an error for the user."""
    sys.stderr.write(f"capsule-bench: {message}\n")
