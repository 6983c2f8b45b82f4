"""XQuAD: one SQuAD-form file a language (google/xquad), each question over four paragraphs.

https://github.com/google-deepmind/xquad, CC BY-SA 4.0. From the hub at one commit, or from local
files: ``xquad/xquad.<lang>.json`` (as published on GitHub) or ``xquad.<lang>/validation-*.parquet``
(the hub's layout). Both give the same samples and the same content digest.

``xquad`` takes all five languages, the limit dealt evenly over them (the earlier ones get the
remainder), samples language by language. Sample ids begin with the language, for ids are the
same in all languages.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from tasks.base import TaskData, TaskSpec
from tasks.finish import count_option, finish, only_options, rows_digest
from tasks.neighbours import Chosen, Naming, Settings, choose
from tasks.sources import (
    HubSet,
    Rows,
    data_folder,
    files_id,
    find_file,
    find_parquet,
    hub_parquet,
    read_parquet,
    require_revision,
)
from tasks.squad import Judged, SquadForm, judge
from tasks.squad_files import read_nested

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
    only_options(spec, "neighbours", "example_chars")
    if spec.revision is not None:
        require_revision(spec.revision, REPO)
    expected = " and ".join(f"xquad/xquad.{language}.json" for language in languages)
    folder = data_folder(spec, expected)
    read = [_read(spec, language, folder) for language in languages]
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
        revision=", ".join(dict.fromkeys(part.revision for part in read)),
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
    )
    return finish(spec, data)


def _choose(spec: TaskSpec, language: str, place: int, found: Judged, parts: int) -> Chosen:
    settings = Settings(
        limit=None if spec.limit is None else share(spec.limit, place, parts),
        examples=share(spec.examples, place, parts),
        neighbours=count_option(spec, "neighbours", 3),
        example_chars=count_option(spec, "example_chars", 1400),
    )
    naming = Naming(dataset=f"xquad.{language}", license=LICENSE, prefix=f"{language}-")
    return choose(found.rows, spec, naming, settings)


def share(total: int, place: int, parts: int) -> int:
    """Deal a total evenly: the share of the part at this place, the earlier ones get one more."""
    return total // parts + (place < total % parts)


def _read(spec: TaskSpec, language: str, folder: Path | None) -> Rows:
    hub = HubSet(repo=REPO, config=f"xquad.{language}", split="validation")
    if folder is None:
        revision = require_revision(spec.revision, REPO)
        return Rows(
            rows=read_parquet(hub_parquet(hub, revision), FORM.columns), origin="hub", revision=revision
        )
    parquet = find_parquet(folder, hub)
    if parquet:
        rows = read_parquet(parquet, FORM.columns)
        return Rows(rows=rows, origin="local Parquet", revision=f"file:{files_id(parquet)}")
    names = (f"xquad/xquad.{language}.json", f"xquad.{language}.json")
    return read_nested(find_file(spec, folder, names, f"{names[0]} (or {hub.config}/{hub.split}-*.parquet)"))


xquad = partial(load, languages=LANGUAGES)
xquad_en = partial(load, languages=("en",))
xquad_zh = partial(load, languages=("zh",))
xquad_ar = partial(load, languages=("ar",))
xquad_hi = partial(load, languages=("hi",))
xquad_th = partial(load, languages=("th",))
