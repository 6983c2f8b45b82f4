"""Data sets of the SQuAD form: some by name, and any other that the config names.

By name, from the file as published (below ``task.data_dir``): ``jsquad`` (Japanese), ``cmrc2018``
(Chinese; five offsets of its trial file count UTF-16 units), ``arcd`` (Arabic), ``covid_qa``
(English, long; 17 % of its offsets are wrong by -1, +2 or +3). Their ``window`` of repair is 8.

Any other is ``squad``, a local file or a repository of the hub. Options: ``file`` (JSON below
``task.data_dir``) or ``hub``, ``config``, ``split`` (Parquet, at ``task.revision``); ``dataset`` and
``license`` name it; ``titled``, ``unanswerable`` and ``window`` say what the form allows
(:class:`tasks.squad.SquadForm`); ``neighbours`` and ``example_chars`` as in
:mod:`tasks.neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.fields import RowRefused
from tasks.finish import count_option, finish, only_options, option, rows_digest
from tasks.neighbours import Naming, Settings, choose
from tasks.sources import (
    HubSet,
    Rows,
    find_file,
    hub_parquet,
    local_folder,
    read_json,
    read_parquet,
    require_revision,
)
from tasks.squad import Judged, SquadForm, judge, nested_rows

OPTIONS = (
    "config",
    "dataset",
    "example_chars",
    "file",
    "hub",
    "license",
    "neighbours",
    "split",
    "titled",
    "unanswerable",
    "window",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A published data set of this form: where its file lies, its name and licence."""

    file: str
    dataset: str
    license: str


def load_named(spec: TaskSpec, named: Named) -> TaskData:
    """Load a published data set from its file.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, "example_chars", "neighbours", "window")
    form = SquadForm(titled=True, window=count_option(spec, "window", 8))
    folder = local_folder(spec, named.file)
    found = read_nested(find_file(spec, folder, (named.file,), named.file))
    return squad_data(spec, found, form, Naming(dataset=named.dataset, license=named.license))


def squad(spec: TaskSpec) -> TaskData:
    """Load a data set of the SQuAD form.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *OPTIONS)
    form = SquadForm(
        titled=option(spec, "titled", True),
        unanswerable=option(spec, "unanswerable", False),
        window=count_option(spec, "window", 0),
    )
    dataset = option(spec, "dataset", "squad")
    found = _read(spec, form)
    naming = Naming(dataset=dataset, license=option(spec, "license", "unspecified"))
    return squad_data(spec, found, form, naming)


def squad_data(spec: TaskSpec, found: Rows, form: SquadForm, naming: Naming) -> TaskData:
    """Make the samples of one set of rows of the SQuAD form.

    Raises:
        TaskError: See :mod:`tasks.finish`.
    """
    return neighbour_data(spec, found, judge(found.rows, form), naming)


def neighbour_data(spec: TaskSpec, found: Rows, judged: Judged, naming: Naming) -> TaskData:
    """Make the samples of judged rows, each context among its neighbours.

    Raises:
        TaskError: See :mod:`tasks.finish`.
    """
    settings = Settings(
        limit=spec.limit,
        examples=spec.examples,
        neighbours=count_option(spec, "neighbours", 3),
        example_chars=count_option(spec, "example_chars", 1400),
    )
    chosen = choose(judged.rows, spec, naming, settings)
    data = TaskData(
        samples=chosen.samples,
        examples=chosen.examples,
        dataset=naming.dataset,
        revision=found.revision,
        license=naming.license,
        content_digest=rows_digest([row.value for row in chosen.rows]),
        rows=len(chosen.rows),
        origin=found.origin,
        refused=judged.refused,
        repaired=judged.repaired,
        reserved=chosen.reserved,
    )
    return finish(spec, data)


def read_nested(path: Path) -> Rows:
    """Read a file of nested SQuAD JSON into raw rows.

    Raises:
        TaskError: It cannot be read, or is not of this form at its top level.
    """
    value, file_id = read_json(path)
    try:
        return Rows(rows=tuple(nested_rows(value)), origin="local JSON", revision=f"file:{file_id}")
    except RowRefused as error:
        raise TaskError(f"{path}: expected SQuAD JSON: {error.where or '/'}: {error}") from error


def _read(spec: TaskSpec, form: SquadForm) -> Rows:
    file, repo = option(spec, "file", ""), option(spec, "hub", "")
    if bool(file) == bool(repo):
        raise TaskError(f"task {spec.name}: expected exactly one of task.options.file and task.options.hub")
    if repo:
        hub = HubSet(
            repo=repo, config=option(spec, "config", "plain_text"), split=option(spec, "split", "validation")
        )
        revision = require_revision(spec.revision, repo)
        rows = read_parquet(hub_parquet(hub, revision), form.columns)
        return Rows(rows=rows, origin="hub", revision=revision)
    return read_nested(find_file(spec, local_folder(spec, file), (file,), file))


arcd = partial(
    load_named, named=Named(file="squad-multilingual/arcd-test.json", dataset="arcd-test", license="MIT")
)
cmrc2018 = partial(
    load_named,
    named=Named(
        file="squad-multilingual/cmrc2018_trial.json", dataset="cmrc2018-trial", license="CC-BY-SA-4.0"
    ),
)
covid_qa = partial(
    load_named, named=Named(file="covid-qa/200423_covidQA.json", dataset="covid-qa", license="Apache-2.0")
)
jsquad = partial(
    load_named,
    named=Named(
        file="squad-multilingual/jsquad_valid-v1.3.json", dataset="jsquad-valid-1.3", license="CC-BY-SA-4.0"
    ),
)
