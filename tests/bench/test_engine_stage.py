"""What an engine's failure calls for: started again, said once, or never tried again, by its type."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.commands.drive import drive_to_end
from bench.engines.base import EngineAbsentError, EngineError, EngineSettingError
from bench.hydra_app import compose_config
from bench.pipeline import start_run
from bench.progress import Reporter

ENGINE = """
KIND, STARTS = None, 0

def start(spec):
    global STARTS
    STARTS += 1
    raise KIND("scripted")
"""


@pytest.mark.parametrize(
    ("kind", "starts", "resumable"),
    [(EngineError, 3, True), (EngineAbsentError, 1, True), (EngineSettingError, 1, False)],
)
def test_only_a_lost_engine_is_started_again_and_only_what_may_pass_is_resumable(
    small: Callable[..., list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: type[EngineError],
    starts: int,
    resumable: bool,
) -> None:
    (tmp_path / "broken_engine.py").write_text(ENGINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_engine", raising=False)
    cfg = compose_config(small("engine.name='broken_engine:start'"))
    reporter = Reporter()
    folder, prepared = start_run(cfg, tmp_path / "results", reporter)
    module = sys.modules["broken_engine"]
    module.KIND = kind  # type: ignore[attr-defined]
    with pytest.raises(kind):
        drive_to_end(folder, prepared, reporter)
    started: int = module.STARTS
    assert started == starts
    out, err = capsys.readouterr()
    assert '"exit":2' in out
    assert ("continue with: capsule-bench resume" in err) == resumable
    assert err.count("the engine is started again") == starts - 1
    assert "was lost" not in err
    assert not folder.complete
