"""``capsule-bench verify``: re-check a run from its stored bytes."""

from __future__ import annotations

import argparse

from bench.commands.output import print_json, print_text
from bench.config_checks import ConfigError
from bench.run_store import find_run
from bench.verification import verify_run
from capsules.timestamp import is_time


def run(arguments: argparse.Namespace) -> int:
    """Verify a run; 1 if a check fails."""
    if arguments.now is not None and not is_time(arguments.now):
        raise ConfigError(f"--now: expected YYYY-MM-DDTHH:MM:SSZ, found {arguments.now!r}")
    folder = find_run(arguments.target, arguments.results)
    checks = verify_run(folder, arguments.now, arguments.skip)
    failed = [check for check in checks if check.result == "fail"]
    if arguments.json:
        print_json({"run": str(folder.path), "ok": not failed, "checks": [c.to_value() for c in checks]})
    else:
        width = max(len(check.check) for check in checks)
        for check in checks:
            print_text(f"{check.result:<13} {check.check:<{width}}  {check.detail}".rstrip())
        print_text(f"{folder.path}: {'ok' if not failed else f'{len(failed)} checks failed'}")
    return 1 if failed else 0
