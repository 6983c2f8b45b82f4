"""``capsule-bench study NAME``: one rule of the pipeline, measured; no engine and no run folder."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

from bench.studies.registry import STUDIES


def add_studies(parser: argparse.ArgumentParser) -> None:
    """Add a parser for each study."""
    studies = parser.add_subparsers(dest="study", required=True, metavar="STUDY")
    for name, study in STUDIES.items():
        sub = studies.add_parser(
            name,
            help=study.help,
            description=study.help,
            epilog=study.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        study.arguments(sub)


def run(arguments: argparse.Namespace) -> int:
    """Import and run the study."""
    found: Callable[[argparse.Namespace], int] = importlib.import_module(STUDIES[arguments.study].module).run
    return found(arguments)
