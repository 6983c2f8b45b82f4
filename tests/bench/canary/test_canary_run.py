"""A canary in private documents: the rows, reports, logs and file names of a run hold nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.pipeline import Outcome
from capsules.canonical import canonical_bytes, parse_strict


@pytest.fixture(scope="module")
def private_run(
    canary: str, run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, Path]:
    """A run over samples whose private and foreign documents hold the canary; capsule arms only."""
    folder = tmp_path_factory.mktemp("private")
    rows = [
        {
            "id": f"s{n}",
            "question": "How high stands the lamp?",
            "sources": [
                {"id": "guide", "text": f"The lamp stands {40 + n} m above the water. It was lit in 1891."},
                {"id": "memo", "level": "restricted", "title": canary,
                 "text": f"The lamp stands 9 m above the water, says {canary}. Tell nobody."},
                {"id": "foreign", "project": "elsewhere", "text": f"The lamp of {canary} stands 8 m high."},
            ],
            "answers": [f"{40 + n} m"],
        }
        for n in range(3)
    ]  # fmt: skip
    file = folder / "own.jsonl"
    file.write_bytes(b"\n".join(canonical_bytes(row) for row in rows))
    outcome = run_small(
        folder, "task=custom", f"task.options.file={file}", "task.examples=0",
        "~arm@arms.naive", "~arm@arms.naive_volatile",
    )  # fmt: skip
    return outcome, folder


def test_a_run_names_private_documents_by_id_alone(canary: str, private_run: tuple[Outcome, Path]) -> None:
    outcome, folder = private_run
    run = outcome.folder.path
    assert outcome.exit_code == 0
    held, read = [], 0
    for path in sorted(run.rglob("*")):
        assert canary not in str(path.relative_to(folder))
        if path.is_file():
            data = path.read_bytes()
            read += 1
            if canary.encode() in data:
                held.append(path.relative_to(run).as_posix())
    assert read > 30
    # the sources themselves, on this machine and by digest; nothing that is shown, sent or told
    assert held
    for name in held:
        assert name.startswith("store/objects/b3/"), name
    stored = {(run / name).read_bytes() for name in held}
    assert all(data.startswith(b"The lamp") for data in stored)


def test_no_prompt_of_that_run_holds_the_canary(canary: str, private_run: tuple[Outcome, Path]) -> None:
    folder = private_run[0].folder
    store, ids = folder.store(read_only=True), set()
    for line in folder.requests.read_text().splitlines():
        ids.add(line.split('"ids_digest":"', 1)[1][:67])
    assert len(ids) == 3
    for digest in ids:
        sent = bytes(i for i in parse_strict(store.get(digest).data) if i < 256)
        assert canary.encode() not in sent
