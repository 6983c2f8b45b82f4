"""Starts the lossy compressors that a run names.

Rule that this module owns: of a compressor that did not start nothing is left, or the run stops: what goes on
without it must not share the machine with it.
"""

from __future__ import annotations

from bench.build_stage import Bench
from bench.compression.backends import Backend, FunctionBackend, ScoringBackend
from bench.compression.base import model_identity
from bench.compression.library_env import library_environment
from bench.compression.llmlingua import LibraryModel, library_model, start_library
from bench.compression.registry import LIBRARY, SELF_INFORMATION
from bench.compression.self_information import PART
from bench.compression_stage import Start
from bench.engine_stage import start_scorer
from bench.engines.base import EngineError
from bench.engines.start import EngineStart
from bench.lock import RunLock
from bench.model_store import ModelFolder
from bench.preparation import Prepared
from bench.progress import Reporter
from bench.run_store import RunFolder

LOG = "engine-compression.log"


def compressor_starter(
    bench: Bench, folder: RunFolder, prepared: Prepared, lock: RunLock, reporter: Reporter
) -> Start:
    """What starts a compressor of this run by its name and model."""
    places = {model_identity(arm.compression.model): arm.compression.model for arm in bench.spec.arms}
    model = prepared.model

    def start(name: str, model_name: str) -> Backend:
        if name == SELF_INFORMATION:
            return _scoring(bench, folder, model, lock, reporter)
        if name in LIBRARY:
            if prepared.not_set_up is not None:
                raise prepared.not_set_up
            own = None if model is None else model.path
            return _library(name, library_model(places[model_name], own), bench, folder, lock, reporter)
        return FunctionBackend(name)

    def start_alone(name: str, model_name: str) -> Backend:
        try:
            return start(name, model_name)
        except EngineError:
            lock.check_ended()
            raise

    return start_alone


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


def _library(
    name: str, model: LibraryModel, bench: Bench, folder: RunFolder, lock: RunLock, reporter: Reporter
) -> Backend:
    reporter.say(f"starting {name} with its model ...")
    backend, facts = start_library(
        name,
        model,
        library_environment(reporter.say),
        log=folder.path / f"compressor-{name}.log",
        limit_s=bench.spec.engine.idle_timeout_s,
        on_process=lock.add_engine,
        ended=lock.check_ended,
    )
    reporter.say(f"{name} is ready: {', '.join(f'{package} {v}' for package, v in facts.items())}")
    return backend
