"""Runs pip with one line of progress; everything that it prints goes to a log.

pip says nothing while it installs, so a clock of our own ticks, and the installed packages are counted.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Sequence


def run_pip(command: Sequence[str], log_path: Path) -> str | None:
    """Runs pip with a progress line.

    Args:
        command: The whole command; its first word is the Python of the environment.
        log_path: Receives what pip prints (appended).

    Returns:
        What pip printed, if it failed; None if it did not.
    """
    lines: list[str] = []
    with log_path.open("a", encoding="utf-8") as log, Progress(Path(command[0]).parent.parent) as progress:
        print("$", *command, file=log)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            for line in process.stdout or ():
                log.write(line)
                lines.append(line)
                progress.line(line)
    return None if process.returncode == 0 else "".join(lines)


class Progress:
    """One line: rewritten every second on a terminal, printed every 15 seconds elsewhere."""

    def __init__(self, venv: Path) -> None:
        """Takes the environment whose packages are counted."""
        self.venv = venv
        self.began = time.monotonic()
        self.found = 0
        self.installing = 0
        self.text = "asking the package index"
        self.terminal = sys.stderr.isatty()
        self.done = threading.Event()
        self.clock = threading.Thread(target=self.tick, daemon=True)

    def __enter__(self) -> Progress:
        """Starts the clock."""
        self.clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops the clock and clears the line."""
        self.done.set()
        self.clock.join()
        if self.terminal:
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr, flush=True)

    def line(self, line: str) -> None:
        """Takes one line of pip's output."""
        words = line.split()
        if len(words) < 2:
            return
        if words[0] in ("Collecting", "Obtaining"):
            self.found += 1
            self.text = f"{self.found} packages found: {words[1][:50]}"
        elif words[0] in ("Downloading", "Building"):
            self.text = f"{self.found} packages found: {words[0].lower()} {Path(words[1]).name[:60]}"
        elif line.startswith("Installing collected"):
            self.installing = len(words) - 3

    def tick(self) -> None:
        """Shows the state until pip has ended."""
        while not self.done.wait(1 if self.terminal else 15):
            if self.installing:
                ready = len(list(self.venv.glob("lib/python*/site-packages/*.dist-info")))
                self.text = f"installing: {min(ready, self.installing)} of {self.installing} packages"
            text = f"  {time.monotonic() - self.began:4.0f} s  {self.text}"
            if self.terminal:
                print(f"\r{text[:100]:<100}", end="", file=sys.stderr, flush=True)
            else:
                print(text, file=sys.stderr, flush=True)
