"""A run with an arm that looks for places: recorded, stored, verified, and every fault of a report found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.build_stage import Bench, build_all
from bench.records import BuildRow
from bench.records_io import read_rows, rows_bytes
from bench.specs import RunSpec
from bench.stored_run import StoredRun
from bench.tokenizers import HfTokenizer
from bench.verify_places import place_findings
from capsules.codec import read_stored
from capsules.place import Place
from capsules.store import MemoryStore
from tasks.registry import load_task


class Stored:
    """As much of a stored run as the check reads."""

    def __init__(self, builds: tuple[BuildRow, ...], store: MemoryStore) -> None:
        self.builds, self.store = list(builds), store

    def text(self, source: str) -> str:
        return self.store.get(source).data.decode()


@pytest.fixture(scope="module")
def made(small: Callable[..., list[str]]) -> Stored:
    from bench.config import to_spec
    from bench.hydra_app import compose_config

    spec: RunSpec = to_spec(compose_config(small("limit=4", "+arm@arms.capsule_fovea=capsule_fovea")))
    arm = next(arm for arm in spec.arms if arm.arm_id == "capsule_fovea")
    spec, store = replace(spec, arms=(arm,)), MemoryStore()
    tokenizer = HfTokenizer(Path(spec.tokenizer.removeprefix("hf:")), "bytes")
    data = load_task(spec.task)
    bench = Bench(spec=spec, data=data, tokenizer=tokenizer, store=store, now=spec.task.as_of)
    return Stored(build_all(bench, lambda n: None).builds, store)


def findings(stored: Stored, *builds: BuildRow) -> list[str]:
    run: StoredRun = Stored(builds or tuple(stored.builds), stored.store)  # type: ignore[assignment]
    return list(place_findings(run))


def test_places_are_stored_and_in_order(made: Stored, tmp_path: Path) -> None:
    assert findings(made) == []
    row = made.builds[0]
    assert row.place is not None
    assert row.place.place_id is not None
    place = read_stored(made.store.get(row.place.place_id).data, Place)
    assert place.active_object.ref == row.sample_id
    path = tmp_path / "builds.jsonl"
    path.write_bytes(rows_bytes(made.builds))
    assert read_rows(path, BuildRow) == made.builds
    old = [
        {k: v for k, v in json.loads(line).items() if k != "place"} for line in path.read_bytes().splitlines()
    ]
    path.write_text("".join(json.dumps(value) + "\n" for value in old))  # noqa: TID251
    assert [one.place for one in read_rows(path, BuildRow)] == [None] * len(old)  # runs from before places


def changed(row: BuildRow, **more: object) -> BuildRow:
    assert row.place is not None
    return replace(row, place=replace(row.place, **more))  # type: ignore[arg-type]


def test_every_fault_of_a_report_is_found(made: Stored) -> None:
    row = next(row for row in made.builds if row.place is not None and len(row.place.met_by) > 2)
    report = row.place
    assert report is not None
    terms = [need for need, _ in report.met_by if need.startswith("term:")]
    spans = dict(report.met_by)["lead"]
    other = made.builds[1] if row is made.builds[0] else made.builds[0]
    assert other.place is not None
    lied = tuple(("term:zzzzz" if need == terms[0] else need, span) for need, span in report.met_by)
    faults = {
        "are not those met": changed(row, needs=(*report.needs, "term:more")),
        "needs that are met without a place": changed(row, place_id=None),
        "is for": changed(row, met_by=report.met_by[1:], needs=report.needs[1:]),
        "other spans than": changed(row, met_by=tuple((need, spans[:1]) for need, _ in report.met_by)),
        "term:zzzzz is not met by": changed(
            row, met_by=lied, needs=tuple("term:zzzzz" if n == terms[0] else n for n in report.needs)
        ),
        "the report says": changed(row, place_id=other.place.place_id),
        "neither in the evidence nor omitted": replace(row, evidence_capsules=()),
    }
    for says, broken in faults.items():
        assert any(says in finding for finding in findings(made, broken)), (says, findings(made, broken))


def test_a_capsule_that_names_its_place_is_found(made: Stored) -> None:
    row = made.builds[0]
    assert row.place is not None
    place_id = row.place.place_id
    assert place_id is not None
    assert row.prompt_capsule is not None

    data = made.store.get(row.prompt_capsule).data
    spoilt = made.store.put(data.replace(b'"ref":"', b'"ref":"' + place_id.encode(), 1))
    found = findings(made, replace(row, prompt_capsule=spoilt))
    assert any("holds the id of its place" in one for one in found)
