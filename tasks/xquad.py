"""XQuAD: one SQuAD-form file a language (google/xquad), each question over four paragraphs.

https://github.com/google-deepmind/xquad, CC BY-SA 4.0. From the hub at one commit, or from local
files: ``xquad/xquad.<lang>.json`` (as published on GitHub) or ``xquad.<lang>/validation-*.parquet``
(the hub's layout). Both give the same samples and the same content digest.

``xquad`` takes all five languages, the limit dealt evenly over them (the earlier ones get the
remainder), samples language by language. Sample ids begin with the language, for ids are the
same in all languages. With ``as_corpus`` the samples share one corpus of all languages asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tasks.base import TaskData, TaskSpec
from tasks.finish import finish, only_options, rows_digest
from tasks.hub import require_revision
from tasks.neighbours import AMONG, Chosen, Naming, choose, settings_of
from tasks.rows import Home, HubSet, Rows
from tasks.sources import data_folder, open_files, open_hub
from tasks.squad import Judged, SquadForm, judge
from tasks.squad_files import reading

REPO = "google/xquad"
REVISION = "51adfef1c1287aab1d2d91b5bead9bcfb9c68583"
LANGUAGES = ("en", "zh", "ar", "hi", "th")
LICENSE = "CC-BY-SA-4.0"
FORM = SquadForm()


def load(spec: TaskSpec, languages: tuple[str, ...]) -> TaskData:
    """Load XQuAD in these languages.

    Raises:
        TaskError: See :mod:`tasks.sources` and :mod:`tasks.finish`.
    """
    only_options(spec, *AMONG)
    if spec.revision is not None:
        require_revision(spec.revision, REPO)
    read = [_read(spec, language) for language in languages]
    judged = [judge(part.rows, FORM) for part in read]
    chosen = [
        _choose(spec, language, place, found, len(languages))
        for place, (language, found) in enumerate(zip(languages, judged, strict=True))
    ]
    rows = [row.value for one in chosen for row in one.rows]
    data = TaskData(
        samples=tuple(sample for one in chosen for sample in one.samples),
        examples=tuple(sample for one in chosen for sample in one.examples),
        dataset="xquad" if len(languages) > 1 else f"xquad.{languages[0]}",
        revision=", ".join(dict.fromkeys(part.revision() for part in read)),
        license=LICENSE,
        content_digest=rows_digest(rows),
        rows=len(rows),
        origin=", ".join(dict.fromkeys(part.origin for part in read)),
        refused=tuple(
            replace(row, row=f"xquad.{language} {row.row}")
            for language, found in zip(languages, judged, strict=True)
            for row in found.refused
        ),
        reserved=sum(one.reserved for one in chosen),
        read=sum(found.read for found in judged),
        unused=sum(one.unused for one in chosen),
        exact=sum(found.exact for found in judged),
        corpus=tuple(doc for one in chosen for doc in one.corpus),
    )
    return finish(spec, data)


def _choose(spec: TaskSpec, language: str, place: int, found: Judged, parts: int) -> Chosen:
    limit = None if spec.limit is None else share(spec.limit, place, parts)
    settings = settings_of(spec, limit=limit, examples=share(spec.examples, place, parts))
    naming = Naming(dataset=f"xquad.{language}", license=LICENSE, prefix=f"{language}-")
    return choose(found.rows, spec, naming, settings)


def share(total: int, place: int, parts: int) -> int:
    """Deal a total evenly: the share of the part at this place, the earlier ones get one more."""
    return total // parts + (place < total % parts)


def _read(spec: TaskSpec, language: str) -> Rows:
    hub, how = HubSet(repo=REPO, files=f"xquad.{language}/validation-*.parquet"), reading(FORM)
    names = (hub.files, f"xquad/xquad.{language}.json", f"xquad.{language}.json")
    if not spec.data_dir:
        return open_hub(spec, Home(file=names[1], hub=hub), how)
    return open_files(spec.name, data_folder(spec, names[1]), names, how)


xquad = partial(load, languages=LANGUAGES)
xquad_en = partial(load, languages=("en",))
xquad_zh = partial(load, languages=("zh",))
xquad_ar = partial(load, languages=("ar",))
xquad_hi = partial(load, languages=("hi",))
xquad_th = partial(load, languages=("th",))
