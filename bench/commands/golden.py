"""``capsule-bench golden record|check``: pin what builders give, and see the first thing that changed."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.commands.output import print_json, print_text
from bench.golden import check as golden
from bench.golden.records import Golden
from bench.hydra_app import compose_config
from bench.plural import number_of
from bench.progress import Reporter
from bench.report.visible import visible


def run(arguments: argparse.Namespace) -> int:
    """Record or check a golden file; a check that finds a difference ends with 1."""
    if arguments.action == "record":
        return _record(arguments)
    checked = golden.check(arguments.file, os.environ, Reporter(), arguments.overrides)
    if arguments.json:
        print_json(checked.to_value())
    else:
        for line in golden.lines(checked):
            print_text(visible(line))
    return 0 if checked.difference is None else 1


def _record(arguments: argparse.Namespace) -> int:
    reporter, file = Reporter(), Path(arguments.file)
    golden.refuse_to_overwrite(file, arguments.force)
    if file.exists() and not arguments.overrides and arguments.with_text is None:
        found, changed = golden.record_again(file, os.environ, reporter)
    else:
        config = compose_config(arguments.overrides)
        found, changed = golden.record(
            file, config, os.environ, reporter, force=arguments.force, texts=arguments.with_text
        )
    if arguments.json:
        value = {
            "file": str(file),
            "changed": changed,
            "builds": len(found.builds),
            "texts": found.texts is not None,
            "errors": dict(sorted(_errors(found).items())),
        }
        print_json(value)
    else:
        for line in _lines(file, found, changed):
            print_text(visible(line))
    return 0


def _lines(file: Path, found: Golden, changed: bool) -> Iterator[str]:
    tokens = sum(build.prompt_tokens for build in found.builds)
    texts = "with texts" if found.texts is not None else "without any text of the data"
    state = "written" if changed else "unchanged, byte for byte"
    counted = f"{number_of(len(found.builds), 'build')}, {number_of(tokens, 'prompt token')}"
    yield f"{file}: {state}: {counted}, {texts}"
    for code, count in sorted(_errors(found).items()):
        yield f"  recorded as not built: {code} {count}"


def _errors(found: Golden) -> Counter[str]:
    return Counter(build.code or "build.failed" for build in found.builds if build.status != "ok")
