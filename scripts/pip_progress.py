"""Runs pip with one line of progress; everything that it prints goes to a log."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Sequence


def run_pip(command: Sequence[str], log_path: Path) -> str | None:
    """Runs pip with a progress line; returns its output if it failed, None if it did not."""
    progress = Progress()
    lines: list[str] = []
    with log_path.open("a", encoding="utf-8") as log:
        print("$", *command, file=log)
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            for line in process.stdout or ():
                log.write(line)
                lines.append(line)
                progress.line(line)
    progress.end()
    return None if process.returncode == 0 else "".join(lines)


class Progress:
    """pip's output as one line: rewritten in place on a terminal, every 15 seconds elsewhere."""

    def __init__(self) -> None:
        """Starts the clock."""
        self.began = time.monotonic()
        self.shown = self.began
        self.found = 0
        self.text = ""
        self.terminal = sys.stderr.isatty()

    def line(self, line: str) -> None:
        """Takes one line of pip's output."""
        words = line.split()
        if not words:
            return
        if words[0] in ("Collecting", "Obtaining"):
            self.found += 1
            self.text = f"{self.found} packages found: {words[1][:50]}"
        elif words[0] in ("Downloading", "Building"):
            what = Path(words[1] if len(words) > 1 else "").name
            self.text = f"{self.found} packages found: {words[0].lower()} {what[:60]}"
        elif line.startswith("Installing collected"):
            self.text = f"installing {len(words) - 3} packages"
        self.show()

    def show(self) -> None:
        """Shows the state, if it is time to."""
        now = time.monotonic()
        if now - self.shown < (0.2 if self.terminal else 15):
            return
        self.shown = now
        text = f"  {now - self.began:4.0f} s  {self.text}"
        if self.terminal:
            print(f"\r{text[:100]:<100}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clears the line on a terminal."""
        if self.terminal:
            print("\r" + " " * 100 + "\r", end="", file=sys.stderr, flush=True)
