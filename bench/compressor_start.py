"""Starts the lossy compressors that a run names."""

from __future__ import annotations

from bench.build_stage import Bench
from bench.compression.backends import Backend, FunctionBackend, ScoringBackend
from bench.compression.registry import SELF_INFORMATION
from bench.compression.self_information import PART
from bench.compression_stage import Start
from bench.engine_stage import start_scorer
from bench.engines.start import EngineStart
from bench.lock import RunLock
from bench.model_store import ModelFolder
from bench.progress import Reporter
from bench.run_store import RunFolder

LOG = "engine-compression.log"


def compressor_starter(
    bench: Bench, folder: RunFolder, model: ModelFolder | None, lock: RunLock, reporter: Reporter
) -> Start:
    """What starts a compressor of this run by its name and model."""

    def start(name: str, model_name: str) -> Backend:
        if name == SELF_INFORMATION:
            return _scoring(bench, folder, model, lock, reporter)
        return FunctionBackend(name)

    return start


def _scoring(
    bench: Bench, folder: RunFolder, model: ModelFolder | None, lock: RunLock, reporter: Reporter
) -> ScoringBackend:
    spec, tokenizer = bench.spec, bench.tokenizer
    reporter.say(f"starting the engine {spec.engine.name} to score texts ...")
    projects = sorted({sample.input.project for sample in bench.data.samples})
    scorer = start_scorer(
        EngineStart(
            spec=spec.engine,
            model=spec.model,
            folder=model,
            prefix_caching=False,
            log=folder.path / LOG,
            tokenizer=tokenizer,
            on_process=lock.add_engine,
        ),
        projects,
        bench.store,
        bench.now,
    )

    def close() -> None:
        scorer.close()
        lock.check_ended()

    try:
        lead = () if tokenizer.bos_id is None else (tokenizer.bos_id,)
        scorer.score(projects[0], [(*lead, *tokenizer.encode("The first answer takes longer."))])
    except BaseException:
        close()
        raise
    return ScoringBackend(scorer.score, tokenizer, close, part=min(PART, spec.engine.window - 1))
