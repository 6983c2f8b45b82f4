"""The commands, by name. What a command needs is imported when it runs, so that ``--help`` is instant."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

RUN_HELP = "a run folder, a run id, or `latest`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the command line.

    Attributes:
        module: Where its ``run(arguments) -> exit code`` lies, below ``bench.commands``.
        arguments: Adds its arguments to the parser.
    """

    help: str
    examples: str
    module: str
    arguments: Callable[[argparse.ArgumentParser], object]

    def run(self, arguments: argparse.Namespace) -> int:
        """Import and run it."""
        found: Callable[[argparse.Namespace], int] = importlib.import_module(
            f"bench.commands.{self.module}"
        ).run
        return found(arguments)


def _overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="experiment=NAME, limit=N, and any Hydra override",
    )


def _run(parser: argparse.ArgumentParser) -> None:
    _overrides(parser)
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="sweep: one run a combination of values"
    )


def _one_run(parser: argparse.ArgumentParser, what: str = RUN_HELP) -> None:
    parser.add_argument("target", metavar="RUN", help=what)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _run_or_sweep(parser: argparse.ArgumentParser) -> None:
    _one_run(parser, f"{RUN_HELP}; or the folder or id of a sweep")


def _verify(parser: argparse.ArgumentParser) -> None:
    _one_run(parser)
    parser.add_argument("--now", metavar="TIME", help="judge validity at this time (YYYY-MM-DDTHH:MM:SSZ)")
    parser.add_argument("--skip", action="append", default=[], metavar="CHECK", help="do not make this check")


def _store_of(parser: argparse.ArgumentParser) -> None:
    where = "the run whose store holds a digest (default: latest); may be given again, to search several"
    parser.add_argument("--run", dest="run_name", metavar="RUN", action="append", help=where)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", metavar="RUN|DIGEST", help=f"{RUN_HELP}; or the b3:... of a capsule, or its file"
    )
    _store_of(parser)
    parser.add_argument("--now", metavar="TIME", help="judge a capsule at this time (default: the run's)")
    parser.add_argument(
        "--ids-only", action="store_true", help="no text of the data: ids, places, counts and lengths"
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a capsule as one page, readable offline"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", metavar="A", help="a capsule file, or a digest (with --run)")
    parser.add_argument("right", metavar="B", help="the other one")
    _store_of(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _golden(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("record", "check"), help="write FILE, or compare with it")
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="the golden file, e.g. tests/mine.golden.json"
    )
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="record: experiment=NAME and any Hydra override (none, with --force: FILE's own config); "
        "check: settings that differ from FILE's config",
    )
    parser.add_argument("--force", action="store_true", help="record: overwrite FILE")
    parser.add_argument(
        "--with-text",
        action="store_true",
        default=None,
        help="record: hold the texts too, so that a difference can quote them (default: only generated data)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _recall(parser: argparse.ArgumentParser) -> None:
    _overrides(parser)
    parser.add_argument(
        "--retrievers",
        default="bm25",
        metavar="A,B",
        help="names, as in arms.NAME.retrieval.name (default: bm25)",
    )
    every = "measure these tasks, or `all`, on their whole files (limit=null task.examples=0)"
    parser.add_argument("--tasks", metavar="A,B", help=every)
    parser.add_argument("--k", default="1,2,4,8", metavar="K,K", help="passages to keep (default: 1,2,4,8)")
    parser.add_argument(
        "--chunk",
        default="paragraph",
        help="paragraph (default), document, sentence, or window:SIZE:STRIDE:UNIT (sentences or tokens)",
    )


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", metavar="RUN", nargs="+", help=f"two or more of: {RUN_HELP}")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write page, tables and figures there, too")


def _study(parser: argparse.ArgumentParser) -> None:
    from bench.commands.study import add_studies

    add_studies(parser)


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("tasks", "arms", "metrics", "experiments"))
    data = "tasks: read every file whole and count rows, gold, repairs and refusals"
    parser.add_argument("--data", action="store_true", help=data)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


COMMANDS: Mapping[str, Command] = {
    "run": Command(
        help="run an experiment on its engine, from data to report",
        examples="example: capsule-bench run experiment=quickstart limit=4",
        module="run",
        arguments=_run,
    ),
    "build": Command(
        help="build capsules only, without an engine: counts and predicted cache share",
        examples="example: capsule-bench build experiment=xquad_en limit=8 tokenizer=tiktoken:cl100k_base",
        module="build",
        arguments=_overrides,
    ),
    "resume": Command(
        help="continue an unfinished run or sweep; requests that failed are sent again",
        examples="example: capsule-bench resume latest",
        module="resume",
        arguments=_run_or_sweep,
    ),
    "verify": Command(
        help="re-check every id, count, score and report of a run, from its stored bytes",
        examples="example: capsule-bench verify latest --json",
        module="verify",
        arguments=_verify,
    ),
    "rescore": Command(
        help="compute the scores of a run again from its stored bytes",
        examples="example: capsule-bench rescore latest",
        module="rescore",
        arguments=_one_run,
    ),
    "report": Command(
        help="write the report of a run, or the comparison of a sweep, again from stored bytes",
        examples="example: capsule-bench report latest",
        module="report",
        arguments=_run_or_sweep,
    ),
    "compare": Command(
        help="complete runs side by side: settings, cells, and differences paired by sample",
        examples="example: capsule-bench compare results/quickstart/RUN_A results/quickstart/RUN_B --out cmp",
        module="compare",
        arguments=_compare,
    ),
    "show": Command(
        help="show a run, or a capsule with its spans in context and its omissions by reason",
        examples="example: capsule-bench show b3:... --run latest --html capsule.html",
        module="show",
        arguments=_show,
    ),
    "explain": Command(
        help="say in words how two capsules differ",
        examples="example: capsule-bench explain b3:... b3:... --run latest",
        module="explain",
        arguments=_explain,
    ),
    "golden": Command(
        help="record what builders give on a fixed task, or check it: exit 1 and the first difference",
        examples="example: capsule-bench golden record tests/mine.golden.json experiment=quickstart limit=4 "
        "tokenizer=bytes\nexample: capsule-bench golden check tests/mine.golden.json",
        module="golden",
        arguments=_golden,
    ),
    "recall": Command(
        help="share of the gold evidence that each retriever finds, with intervals; no run, no engine",
        examples="example: capsule-bench recall task=nq_oracle limit=200 --retrievers bm25,hybrid --k 1,2,4",
        module="recall",
        arguments=_recall,
    ),
    "study": Command(
        help="measure one rule of the pipeline on a task, with intervals; no run, no engine",
        examples="example: capsule-bench study answerability task=clapnq limit=null",
        module="study",
        arguments=_study,
    ),
    "list": Command(
        help="list what can be named: tasks, arms, metrics, experiments",
        examples="example: capsule-bench list metrics",
        module="listing",
        arguments=_list,
    ),
}
