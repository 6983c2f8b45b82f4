"""Data sets of the SQuAD form: some by name, and any other that the config names.

By name: ``jsquad`` (Japanese), ``cmrc2018`` (Chinese; five offsets of its trial file count UTF-16 units),
``arcd`` (Arabic), ``covid_qa`` (English, long; 17 % of its offsets are wrong by -1, +2 or +3). Their
``window`` of repair is 8. The hub's ``covid_qa`` is a later edition with more rows.

Any other is ``squad``, from a file or from the hub (there SQuAD 1.1, unless another one is named).
Options: those of :mod:`tasks.sources`; ``dataset`` and ``license`` name it; ``titled``, ``unanswerable``
and ``window`` say what the form allows (:class:`tasks.squad.SquadForm`); ``neighbours``,
``example_chars`` and ``as_corpus`` as in :mod:`tasks.neighbours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tasks.base import TaskData, TaskError, TaskSpec
from tasks.finish import count_option, finish, only_options, option, rows_digest
from tasks.neighbours import AMONG, Naming, choose, settings_of
from tasks.passages import CorpusRow
from tasks.rows import Home, HubSet, Rows
from tasks.sources import FROM, Reading, open_home
from tasks.squad import Judged, SquadForm, judge, nested_rows

SQUAD = Home(file="", hub=HubSet(repo="rajpurkar/squad", files="plain_text/validation-*.parquet"))
OPTIONS = (*FROM, *AMONG, "dataset", "license", "titled", "unanswerable", "window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A published data set of this form: where it lies, its name and licence."""

    home: Home
    dataset: str
    license: str


def load_named(spec: TaskSpec, named: Named) -> TaskData:
    """Load a published data set.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *FROM, *AMONG, "window")
    form = SquadForm(titled=True, window=count_option(spec, "window", 8))
    found = open_home(spec, named.home, reading(form))
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
    file = option(spec, "file", "")
    if file and not spec.data_dir and not Path(file).is_absolute():  # never another set in its place
        raise TaskError(f"task {spec.name}: expected CAPSULE_DATA (or task.data_dir), the folder of {file}")
    found = open_home(spec, SQUAD, reading(form))
    naming = Naming(dataset=option(spec, "dataset", "squad"), license=option(spec, "license", "unspecified"))
    return squad_data(spec, found, form, naming)


def reading(form: SquadForm) -> Reading:
    """How files of this form are read."""
    return Reading(unnest=nested_rows, columns=form.columns, optional=form.optional)


def squad_data(spec: TaskSpec, found: Rows, form: SquadForm, naming: Naming) -> TaskData:
    """Make the samples of one set of rows of the SQuAD form.

    Raises:
        TaskError: See :mod:`tasks.finish`.
    """
    return neighbour_data(spec, found, judge(found.rows, form), naming)


def neighbour_data(
    spec: TaskSpec, found: Rows, judged: Judged, naming: Naming, more: Sequence[CorpusRow] = ()
) -> TaskData:
    """Make the samples of judged rows, each context among its neighbours or in a corpus of all.

    Args:
        spec: The task.
        found: Its rows, as read.
        judged: The same rows, judged.
        naming: How the data set names what comes out of it.
        more: Documents of the corpus that no row has, after those of the rows.

    Raises:
        TaskError: See :mod:`tasks.finish`.
    """
    settings = settings_of(spec, limit=spec.limit, examples=spec.examples)
    chosen = choose(judged.rows, spec, naming, settings)
    known = {row.context for row in judged.rows}
    rest = [one for one in more if one.doc.text not in known] if settings.as_corpus else []
    rows = [*(row.value for row in chosen.rows), *(one.value for one in rest)]
    data = TaskData(
        samples=chosen.samples,
        examples=chosen.examples,
        dataset=naming.dataset,
        revision=found.revision(),
        license=naming.license,
        content_digest=rows_digest(rows),
        rows=len(rows),
        origin=found.origin,
        refused=judged.refused,
        repaired=judged.repaired,
        reserved=chosen.reserved,
        read=judged.read,
        unused=chosen.unused,
        exact=judged.exact,
        corpus=(*chosen.corpus, *(one.doc for one in rest)),
    )
    return finish(spec, data)


arcd = partial(
    load_named,
    named=Named(
        home=Home(file="squad-multilingual/arcd-test.json"),
        dataset="arcd-test",
        license="MIT",
    ),
)
cmrc2018 = partial(
    load_named,
    named=Named(
        home=Home(
            file="squad-multilingual/cmrc2018_trial.json",
            hub=HubSet(repo="hfl/cmrc2018", files="data/test-*.parquet"),
        ),
        dataset="cmrc2018-trial",
        license="CC-BY-SA-4.0",
    ),
)
covid_qa = partial(
    load_named,
    named=Named(
        home=Home(
            file="covid-qa/200423_covidQA.json",
            hub=HubSet(repo="deepset/covid_qa_deepset", files="covid_qa_deepset/train-*.parquet"),
        ),
        dataset="covid-qa",
        license="Apache-2.0",
    ),
)
jsquad = partial(
    load_named,
    named=Named(
        home=Home(file="squad-multilingual/jsquad_valid-v1.3.json"),
        dataset="jsquad-valid-1.3",
        license="CC-BY-SA-4.0",
    ),
)
