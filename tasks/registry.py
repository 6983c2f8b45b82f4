"""Names of tasks and what they load. ``module:attribute`` names a task of the user's own.

A task is a function ``TaskSpec -> TaskData``. What it returns is checked before anything is
built from it (:mod:`tasks.checks`), whoever wrote it.
"""

from __future__ import annotations

import importlib

from tasks.base import Task, TaskData, TaskError, TaskSpec
from tasks.checks import check_data, check_spec
from tasks.claims import citation_integrity, fever_symmetric
from tasks.clapnq import clapnq
from tasks.custom import custom
from tasks.hotpotqa import hotpotqa
from tasks.musique import musique
from tasks.nq_oracle import nq_oracle
from tasks.quotesum import quotesum
from tasks.ramdocs import ramdocs
from tasks.squad_files import arcd, cmrc2018, covid_qa, jsquad, squad
from tasks.squality import squality
from tasks.synthetic import synthetic
from tasks.timeqa import timeqa
from tasks.xquad import xquad, xquad_ar, xquad_en, xquad_hi, xquad_th, xquad_zh

TASKS: dict[str, Task] = {
    "arcd": arcd,
    "citation_integrity": citation_integrity,
    "clapnq": clapnq,
    "cmrc2018": cmrc2018,
    "covid_qa": covid_qa,
    "custom": custom,
    "fever_symmetric": fever_symmetric,
    "hotpotqa": hotpotqa,
    "jsquad": jsquad,
    "musique": musique,
    "nq_oracle": nq_oracle,
    "quotesum": quotesum,
    "ramdocs": ramdocs,
    "squad": squad,
    "squality": squality,
    "synthetic": synthetic,
    "timeqa": timeqa,
    "xquad": xquad,
    "xquad_ar": xquad_ar,
    "xquad_en": xquad_en,
    "xquad_hi": xquad_hi,
    "xquad_th": xquad_th,
    "xquad_zh": xquad_zh,
}


def resolve_task(name: str) -> Task:
    """Return the task of a registry name or ``module:attribute``.

    Raises:
        TaskError: There is none; the message lists the valid names.
    """
    if ":" not in name:
        if name not in TASKS:
            raise TaskError(
                f"unknown task {name!r}; valid names: {', '.join(sorted(TASKS))}; or module:attribute"
            )
        return TASKS[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise TaskError(f"task {name!r}: cannot be imported: {error}") from error
    if not callable(found):
        raise TaskError(
            f"task {name!r}: expected a function TaskSpec -> TaskData, found {type(found).__name__}"
        )
    task: Task = found
    return task


def load_task(spec: TaskSpec) -> TaskData:
    """Load the task that the spec names.

    Raises:
        TaskError: The spec, the data or the task's own samples are not as they must be.
    """
    check_spec(spec)
    data = resolve_task(spec.name)(spec)
    check_data(spec, data)
    return data
