"""Engines that end, or never begin: nothing of theirs lives on, and the reason is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.engines.base import EngineError
from bench.engines.process import ProcessRecord, end_stray, find_strays, session_members
from bench.engines.start import EngineStart
from bench.engines.vllm_engine import start_vllm
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ModelSpec

pytestmark = pytest.mark.engine


@pytest.mark.soak
def test_a_killed_driver_takes_its_engine_along(
    spec: EngineSpec, model: ModelSpec, folder: ModelFolder, tmp_path: Path
) -> None:
    """An engine without prefix caching, driven by a process that dies by SIGKILL while it generates."""
    given = {
        "engine": asdict(spec),
        "model": asdict(model),
        "folder": {**asdict(folder), "path": str(folder.path)},
        "log": str(tmp_path / "engine-0.log"),
        "prompt": [2, *range(1000, 1150)],  # a BOS and 150 tokens
    }
    script = Path(__file__).with_name("drive_engine.py")
    driver = subprocess.Popen(
        [sys.executable, str(script), json.dumps(given)],  # noqa: TID251
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert driver.stdout is not None
    with driver, driver.stdout:
        record = ProcessRecord.from_value(json.loads(driver.stdout.readline()))
        said = json.loads(driver.stdout.readline())
        assert said["cached"] == [0, 0]  # measured zeros, not unknown
        assert said["prefix_caching"] is False
        assert said["counters"]["prefix_hits"] == 0
        assert find_strays([record]) == [record]
        time.sleep(0.5)  # it generates by now; the law does not depend on it
        driver.kill()
    end = time.monotonic() + 30
    while session_members(record.pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert session_members(record.pid) == []
    end_stray(record)  # what a resume does: nothing lives, the temporary folder goes
    assert not Path(record.tmp_dir).exists()


def test_an_engine_that_cannot_start_shows_its_own_last_lines(
    spec: EngineSpec, model: ModelSpec, folder: ModelFolder, tmp_path: Path
) -> None:
    broken = tmp_path / "model"
    broken.mkdir()
    for file in folder.path.iterdir():
        (broken / file.name).symlink_to(file)
    (broken / "config.json").unlink()
    (broken / "config.json").write_text('{"model_type": "no_such_model", "architectures": ["NoSuchModel"]}')
    records: list[ProcessRecord] = []
    start = EngineStart(
        spec=spec,
        model=model,
        folder=replace(folder, path=broken),
        prefix_caching=True,
        log=tmp_path / "engine-0.log",
        on_process=records.append,
    )
    with pytest.raises(EngineError, match=r"(?s)starting the engine: .*no_such_model.*engine-0\.log:\n  \| "):
        start_vllm(start)
    assert session_members(records[0].pid) == []
    assert not Path(records[0].tmp_dir).exists()
