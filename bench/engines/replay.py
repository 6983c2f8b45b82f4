"""Answers that a finished run recorded, given again: for judging them anew without an engine.

Rules that this module owns:

* A request is answered by the record of the same ``request_id``, else of the same ``request_digest`` (another
  arm or experiment that asked for exactly the same: ids, sampling, salt). What no record answers is an error
  result with ``replay.missing``; nothing is made up, and nothing is sent.
* A run is replayed for the model that it asked and for no other: name, kind, reference, revision and data
  type must be equal, the tokenizer too, and of a provider the model's name. Prompt, temperature, stop words,
  lengths and grammar are in the request digest.
* Every provider's requests are answered from the record, by what the same provider had answered.
* A replayed answer carries no times: nothing was measured now. Text, ids and token counts are the record's.
* What no model had said stays so: a replayed fake engine is fake.
* Records of void cells, and answers that were errors, are no answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.config import load_config, to_spec
from bench.config_checks import ConfigError
from bench.contracts.grammar import grammar_digest
from bench.engines.base import EngineInfo, EngineRequest, EngineResult, EngineSettingError
from bench.engines.results import failed
from bench.engines.start import EngineStart
from bench.recorder import read_ids
from bench.records import CellState, RequestRow, ResponseRow
from bench.records_io import RowError, read_rows, read_values
from bench.request_identity import ids_bytes, request_digest
from bench.resume import last_answers
from bench.run_store import RunError, RunFolder, read_json
from bench.specs import EngineSpec, ModelSpec, ProviderSpec
from capsules.content_id import content_id
from capsules.decision import LOCAL
from capsules.store import Store
from capsules.tokenizer import Tokenizer

MISSING = "replay.missing"
REPLAY = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The answers of a finished run.

    Attributes:
        run_id: Its id.
        manifest: ContentId of its manifest, which fixes everything else.
        by_id, by_digest: Final answers of one provider by request_id and by request_digest.
        fake: Whether any of its engines was no model.
        store: Holds the ids of what was generated.
    """

    run_id: str
    manifest: str
    by_id: Mapping[str, ResponseRow]
    by_digest: Mapping[str, ResponseRow]
    store: Store
    fake: bool


class ReplayEngine:
    """See the module. ``start_replay`` makes one."""

    def __init__(self, recorded: Recorded, info: EngineInfo) -> None:
        self.info = info
        self._recorded = recorded

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        """The record of each request."""
        return [self._answer(request) for request in requests]

    def reset_prefix_cache(self) -> bool:
        """There is no cache."""
        return False

    def counters(self) -> dict[str, int]:
        """Nothing is counted now."""
        return {}

    def close(self) -> None:
        """There is nothing to end."""

    def _answer(self, request: EngineRequest) -> EngineResult:
        row = self._recorded.by_id.get(request.request_id)
        if row is None:
            asked = request_digest(
                content_id(ids_bytes(request.ids)),
                request.sampling,
                request.salt,
                grammar_digest(request.grammar),
            )
            row = self._recorded.by_digest.get(asked)
        if row is None:
            return failed(request, f"{MISSING}: run {self._recorded.run_id} has no answer to this request")
        digest = row.output_ids_digest
        return EngineResult(
            request_id=request.request_id,
            status="ok",
            text=row.text,
            output_ids=() if digest is None else read_ids(self._recorded.store, digest),
            cached_tokens=row.measured_cached,
            ttft_us=None,
            tpot_us=None,
            e2e_us=None,
            queue_us=None,
            finish_reason=row.finish_reason,
            error=None,
            ids_known=digest is not None,
            n_output=row.n_output,
            n_prompt=row.n_prompt,
            cache_write_tokens=row.cache_write,
        )


def start_replay(start: EngineStart) -> ReplayEngine:
    """An engine over the run folder that ``engine.recorded`` names.

    Raises:
        EngineSettingError: There is no finished run there, it holds what it should not, or it asked another
            model.
    """
    folder = recorded_folder(start.spec, start.model, providers=(start.provider,) if start.provider else ())
    try:
        recorded = read_recorded(folder, start.provider.provider_id if start.provider else LOCAL)
    except (OSError, RowError, RunError) as error:
        raise EngineSettingError(f"engine.recorded: {folder.path} cannot be replayed: {error}") from error
    info = EngineInfo(
        name=REPLAY,
        fake=recorded.fake,
        block_size=None,
        prefix_caching=start.prefix_caching,
        block_rule=False,
        scheduling_known=False,
        streaming=False,
        start_us=0,
        cache_known=False,
        replayed=True,
        profile={
            "model": start.model.name,
            "engine": "replay",
            "engine_version": "1",
            "recorded_run": recorded.run_id,
            "recorded_manifest": recorded.manifest,
            "prefix_caching": start.prefix_caching,
            "device": "none",
        },
    )
    return ReplayEngine(recorded, info)


def recorded_folder(
    spec: EngineSpec,
    model: ModelSpec,
    *,
    providers: Iterable[ProviderSpec] = (),
) -> RunFolder:
    """The finished run that a replay takes its answers from; its rows are not read.

    Args:
        spec: Names it.
        model: Which model it must have asked.
        providers: Who must have answered in it, by the same model.

    Raises:
        EngineSettingError: As ``finished_run``, or it asked another model.
    """
    folder = finished_run(spec)
    try:
        asked = to_spec(load_config(folder.config.read_text("utf-8")))
    except (OSError, ConfigError) as error:
        raise EngineSettingError(f"engine.recorded: {folder.path} cannot be replayed: {error}") from error
    _require_model(folder, asked.model, model)
    models = {p.provider_id: p.server.model for p in asked.providers if p.server is not None}
    for provider in providers:
        wanted = None if provider.server is None else provider.server.model
        if wanted is None:
            continue
        if provider.provider_id not in models:
            raise EngineSettingError(
                f"engine.recorded: {folder.path} knew no provider {provider.provider_id}: it has none of its "
                f"answers; it knew {', '.join(sorted(models)) or 'none'}"
            )
        known = models[provider.provider_id]
        if known != wanted:
            raise EngineSettingError(
                f"engine.recorded: {folder.path} asked provider {provider.provider_id} for the model "
                f"{known!r}; this run's is {wanted!r}: its answers are none of this model"
            )
    return folder


def require_tokenizer(folder: RunFolder, tokenizer: Tokenizer) -> None:
    """Refuse a record that was asked by the ids of another tokenizer.

    Raises:
        EngineSettingError: Naming both; or what the run wrote down of its own cannot be read.
    """
    try:
        known = read_json(folder.facts)["tokenizer"]
    except (OSError, RunError, KeyError) as error:
        raise EngineSettingError(f"engine.recorded: {folder.path} cannot be replayed: {error}") from error
    if known["digest"] != tokenizer.tokenizer_digest:
        raise EngineSettingError(
            f"engine.recorded: {folder.path} counted and asked with tokenizer {known['id']} "
            f"({known['digest']}); this run's is {tokenizer.tokenizer_id} ({tokenizer.tokenizer_digest}): "
            "none of its requests is one of these"
        )


def finished_run(spec: EngineSpec) -> RunFolder:
    """The folder that ``engine.recorded`` names.

    Raises:
        EngineSettingError: None is named, or it is no finished run.
    """
    if not spec.recorded:
        raise EngineSettingError(
            "engine.recorded: expected the folder of a finished run, engine.recorded=<its folder>; found none"
        )
    folder = RunFolder(Path(spec.recorded).expanduser())
    if not folder.complete:
        found = "it has no manifest.json" if folder.path.is_dir() else "there is no such folder"
        raise EngineSettingError(
            f"engine.recorded: expected the folder of a finished run, found {folder.path}: {found}"
        )
    return folder


def read_recorded(folder: RunFolder, provider: str = LOCAL) -> Recorded:
    """The answers of a finished run that one provider gave.

    Raises:
        OSError, RowError: A file is missing, or holds what it should not.
    """
    void = {(cell.cell_id, cell.phase) for cell in read_rows(folder.cells, CellState) if cell.void}
    answers = last_answers(read_rows(folder.responses, ResponseRow))
    by_id: dict[str, ResponseRow] = {}
    by_digest: dict[str, ResponseRow] = {}
    for row in read_rows(folder.requests, RequestRow):
        answer = answers.get(row.request_id)
        if row.provider != provider or answer is None or answer.status != "ok":
            continue
        if (row.cell_id, row.phase) in void:
            continue
        by_id[row.request_id] = answer
        by_digest.setdefault(row.request_digest, answer)
    return Recorded(
        run_id=folder.run_id,
        manifest=content_id(folder.manifest.read_bytes()),
        by_id=by_id,
        by_digest=by_digest,
        store=folder.store(read_only=True),
        fake=any(engine["info"]["fake"] for engine in read_values(folder.engines)),
    )


def _require_model(folder: RunFolder, asked: ModelSpec, wanted: ModelSpec) -> None:
    for key in ("name", "kind", "ref", "revision", "dtype"):
        known, found = getattr(asked, key), getattr(wanted, key)
        if known != found:
            raise EngineSettingError(
                f"engine.recorded: {folder.path} asked a model whose {key} is {known!r}; this run's is "
                f"{found!r}: its answers are none of this model"
            )
