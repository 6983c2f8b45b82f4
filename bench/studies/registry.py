"""The studies by name. What a study needs is imported when it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCommand:
    """A study of the command line: ``capsule-bench study NAME``.

    Attributes:
        module: Where its ``run(arguments) -> exit code`` lies.
        arguments: Adds its arguments to the parser.
    """

    help: str
    examples: str
    module: str
    arguments: Callable[[argparse.ArgumentParser], object]


def _task(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="task=NAME, limit=N (limit=null: all), and any Hydra override",
    )
    parser.add_argument("--out", metavar="DIR", help="also write the table there, as CSV and Markdown")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")


def _contradictions(parser: argparse.ArgumentParser) -> None:
    _task(parser)
    parser.add_argument(
        "--detectors",
        default="rule,rule_named",
        metavar="A,B",
        help="rule, rule_named, nli@MODEL (a folder, or ORG/NAME@<40 hex>), module:attribute "
        "(default: rule,rule_named)",
    )
    parser.add_argument(
        "--similarity",
        default="5000",
        metavar="BP,BP",
        help="similarity_bp, as in arms.NAME.contradictions (default: 5000)",
    )


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "overrides", nargs="*", metavar="key=value", help="limit=N (limit=null: all), and any Hydra override"
    )
    parser.add_argument(
        "--tasks",
        default="musique,hotpotqa,ramdocs,xquad",
        metavar="A,B",
        help="tasks to measure (default: musique,hotpotqa,ramdocs,xquad)",
    )
    parser.add_argument(
        "--budgets",
        default="64,96,128,192,256,384,512",
        metavar="N,N",
        help="token budgets, headers included (default: 64,96,128,192,256,384,512)",
    )
    parser.add_argument("--retrieval", default="bm25", help="the retriever of the pool (default: bm25)")
    parser.add_argument("--pool", type=int, default=100, help="chunks that it keeps (default: 100)")
    parser.add_argument(
        "--split", default="all", help="all (default), or the first or second half of each data file"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="folder of the files (default: RESULTS/selection)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


STUDIES: Mapping[str, StudyCommand] = {
    "answerability": StudyCommand(
        help="does the kept evidence answer? the decision without gold against the task's gold",
        examples="example: capsule-bench study answerability task=clapnq limit=null",
        module="bench.studies.answerability",
        arguments=_task,
    ),
    "contradictions": StudyCommand(
        help="precision and recall of detectors of contradictions on pairs that the task labels",
        examples="example: capsule-bench study contradictions task=fever_symmetric limit=null",
        module="bench.studies.contradictions",
        arguments=_contradictions,
    ),
    "selection": StudyCommand(
        help="gold evidence that each selector shows for its tokens, with curves and intervals",
        examples="example: capsule-bench study selection --tasks musique,hotpotqa limit=null --split second",
        module="bench.studies.selection",
        arguments=_selection,
    ),
    "stages": StudyCommand(
        help="time that each stage of a build takes, a sample and arm, with intervals",
        examples="example: capsule-bench study stages experiment=build +arm@arms.fovea=capsule_fovea",
        module="bench.studies.stages",
        arguments=_task,
    ),
}
