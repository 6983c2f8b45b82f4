"""A driver of one engine without prefix caching, for the test that kills drivers. Run, not imported.

    python drive_engine.py SPEC        (SPEC: JSON with engine, model, folder, log, prompt)

Prints one JSON line with the engine's process record, one with the results of two equal requests; then it
generates until somebody ends it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.engines.base import EngineRequest
from bench.engines.process import ProcessRecord
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.model_store import ModelFolder
from bench.specs import EngineSpec, ModelSpec, SamplingSpec


def say(value: object) -> None:
    print(json.dumps(value), flush=True)  # noqa: TID251


def main() -> None:
    given: dict[str, Any] = json.loads(sys.argv[1])

    def record(process: ProcessRecord) -> None:
        say(process.to_value())

    engine = start_engine(
        EngineStart(
            spec=EngineSpec(**given["engine"]),
            model=ModelSpec(**given["model"]),
            folder=ModelFolder(**{**given["folder"], "path": Path(given["folder"]["path"])}),
            prefix_caching=False,
            log=Path(given["log"]),
            on_process=record,
        )
    )

    def send(max_tokens: int, name: str) -> Any:
        sampling = SamplingSpec(max_tokens=max_tokens, stop=())
        ids = tuple(given["prompt"])
        return engine.generate([EngineRequest(request_id=name, ids=ids, salt=None, sampling=sampling)])[0]

    cached = [send(4, "first").cached_tokens, send(4, "second").cached_tokens]
    say({"cached": cached, "counters": engine.counters(), "prefix_caching": engine.info.prefix_caching})
    while True:
        send(2000, "for ever")


if __name__ == "__main__":
    main()
