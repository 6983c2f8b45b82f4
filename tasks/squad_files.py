"""Any data set of the SQuAD form, named by the config: a local file, or a repository of the hub.

Options: ``file`` (JSON below ``task.data_dir``) or ``hub``, ``config``, ``split`` (Parquet, at
``task.revision``); ``dataset`` and ``license`` name it; ``titled``, ``unanswerable`` and
``window`` say what the form allows (:class:`tasks.squad.SquadForm`); ``neighbours`` and
``example_chars`` as in :mod:`tasks.neighbours`.
"""

from __future__ import annotations

from pathlib import Path

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.fields import RowRefused
from tasks.finish import count_option, finish, only_options, option, rows_digest
from tasks.neighbours import Naming, Settings, choose
from tasks.sources import (
    HubSet,
    Rows,
    data_folder,
    find_file,
    hub_parquet,
    read_json,
    read_parquet,
    require_revision,
)
from tasks.squad import SquadForm, judge, nested_rows

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
    judged = judge(found.rows, form)
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
    folder = data_folder(spec, file)
    if folder is None:
        raise TaskError(
            f"task {spec.name}: task.options.file is {file!r} and no folder is set; set CAPSULE_DATA "
            "(or task.data_dir) to the folder that holds it"
        )
    return read_nested(find_file(spec, folder, (file,), file))
