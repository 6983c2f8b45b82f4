"""The top of the report: what ran, and what went wrong while it ran.

Every fact comes from the stored rows or the manifest; what the manifest lacks is "not recorded".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.metrics.clusters import labels
from bench.metrics.summary import reasons
from bench.plural import number_of
from bench.records import ScoreRow
from bench.report.numbers import count_of
from bench.report.view import RunView

NOT_RECORDED = "not recorded"
Fact = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Predicted against measured cached tokens; compared are answered requests of cells that are not void."""

    compared: int
    equal: int
    mismatches: tuple[str, ...]  # request ids, sorted
    nulls: Mapping[str, int]  # reason -> requests without a prediction
    unmeasured: Mapping[str, int]  # reason -> requests that were sent and have no measurement


def fake_engines(view: RunView) -> list[str]:
    """Names of the engines that are no model."""
    return [
        f"{engine.get('name')} of a fake engine" if engine.get("replayed") else str(engine.get("name"))
        for engine in _engines(view)
        if engine.get("fake")
    ]


def replayed_runs(view: RunView) -> list[str]:
    """Ids of the runs whose recorded answers are given again here."""
    profiles = [_mapping(engine, "profile") for engine in _engines(view) if engine.get("replayed")]
    return list(dict.fromkeys(_text(profile, "recorded_run") for profile in profiles))


def what_ran(view: RunView) -> list[Fact]:
    """Experiment, engine, model, data, sizes, hardware, versions."""
    manifest, spec = view.input.manifest, view.input.spec
    code = _mapping(manifest, "code")
    data = _mapping(manifest, "dataset")
    return [
        ("Experiment", spec.experiment),
        ("Run", _text(manifest, "run_id")),
        ("Engine", _described_engines(view)),
        ("Model", f"{spec.model.name} ({spec.model.kind} {spec.model.ref}, {spec.model.dtype})"),
        ("Model revision", spec.model.revision),
        ("Data", f"{_text(data, 'name')}, revision {_text(data, 'revision')}, {_text(data, 'origin')}"),
        ("Data digest", f"{_text(data, 'content_digest')} over {_text(data, 'rows')} rows"),
        ("Data licence", _text(data, "license")),
        ("Samples", _samples(view)),
        ("Arms", ", ".join(f"{arm.arm_id} ({'/'.join(arm.caches)})" for arm in view.arms)),
        ("Quality requests", f"{_planned(view, 'quality'):,}, {spec.concurrency} at a time"),
        ("Latency requests", f"{_planned(view, 'latency'):,}, one at a time, cells interleaved"),
        ("Sampling", f"temperature {spec.sampling.temperature}, at most {spec.sampling.max_tokens} tokens"),
        ("Hardware", _pairs(_mapping(manifest, "hardware"))),
        ("Python", f"{_text(manifest, 'python')}, Unicode {_text(manifest, 'unidata_version')}"),
        ("Packages", _pairs(_mapping(manifest, "packages"))),
        ("Code", f"{_text(code, 'commit')}{_dirty(code)}"),
        ("Configuration digest", _text(manifest, "config_digest")),
        ("Validity judged at", _text(manifest, "now")),
        ("Seed", f"{spec.seed}; {spec.bootstrap:,} bootstrap resamples"),
    ]


def what_went_wrong(view: RunView) -> list[Fact]:
    """Errors, void cells, refused rows, predictions; zeros are said."""
    predictions = compare_predictions(view)
    quality = [row for cell in view.cells for row in view.metric_rows(cell.cell_id, "exact_citation")]
    latency = [row for cell in view.cells for row in view.metric_rows(cell.cell_id, "e2e_us")]
    failed = [
        f"{row.sample_id}/{row.arm_id} ({row.error or 'no message'})"
        for row in view.input.builds
        if row.status != "ok"
    ]
    void = [f"{row.cell_id}, {row.phase} ({row.code or 'no code'})" for row in view.input.cells if row.void]
    facts = [
        ("Quality answers with errors", _errors(quality)),
        ("Latency requests with errors", _errors(latency)),
        ("Prompts that could not be built", _listed(failed)),
        ("Void cells", _listed(void)),
        (
            "Refused data rows",
            _listed([f"{row.row}: {row.code}, {row.reason}" for row in view.input.refused]),
        ),
        ("Predicted = measured cached tokens", _agreement(predictions)),
        ("Requests without a prediction", _counts(predictions.nulls)),
        ("Requests without a measurement", _counts(predictions.unmeasured)),
    ]
    repaired = _mapping(_mapping(view.input.manifest, "dataset"), "repaired")
    if repaired:
        facts.append(("Repaired gold", _pairs(repaired)))
    return facts


def compare_predictions(view: RunView) -> Predictions:
    """Predicted against measured cached tokens."""
    equal = 0
    mismatches: list[str] = []
    nulls: dict[str, int] = {}
    unmeasured: dict[str, int] = {}
    for (sample, cell, phase), request in view.index.requests.items():
        exchange = view.exchange(sample, cell, phase)
        if request.predicted_cached is None:
            reason = request.predicted_reason or "no reason"
            nulls[reason] = nulls.get(reason, 0) + 1
        if exchange is None:
            why = "in a void cell" if (cell, phase) in view.index.void else "failed"
        elif exchange[1].retries:  # an attempt without an answer may have left something
            why = "retried"
        elif exchange[1].measured_cached is None:
            why = "not said by the engine"
        else:
            if request.predicted_cached == exchange[1].measured_cached:
                equal += 1
            elif request.predicted_cached is not None:
                mismatches.append(request.request_id)
            continue
        unmeasured[why] = unmeasured.get(why, 0) + 1
    return Predictions(
        compared=equal + len(mismatches),
        equal=equal,
        mismatches=tuple(sorted(mismatches)),
        nulls=nulls,
        unmeasured=unmeasured,
    )


def _agreement(predictions: Predictions) -> str:
    text = count_of(predictions.equal, predictions.compared)
    if predictions.mismatches:
        text += "; differing: " + _listed(predictions.mismatches)
    return text


def _errors(rows: Sequence[ScoreRow]) -> str:
    bad = [row for row in rows if row.status == "error"]
    text = count_of(len(bad), len(rows))
    return f"{text}: {_counts(reasons(bad))}" if bad else text


def _counts(counts: Mapping[str, int]) -> str:
    if not counts:
        return "0"
    return ", ".join(f"{n:,} {code}" for code, n in sorted(counts.items(), key=lambda i: (-i[1], i[0])))


def _listed(items: Sequence[str], limit: int = 5) -> str:
    if not items:
        return "0"
    more = f" and {len(items) - limit:,} more" if len(items) > limit else ""
    return f"{len(items):,}: " + "; ".join(items[:limit]) + more


def _samples(view: RunView) -> str:
    """How many, and over how many sets of sources: who shares evidence is no independent draw."""
    told = f"{len(view.sample_ids):,} in each of {len(view.cells):,} cells"
    evaluated = set(view.sample_ids)
    own = [row.sample_id for row in view.input.samples if row.sample_id in evaluated and row.sources]
    sets = labels(own, view.clusters)
    if not sets:
        return told
    told += f", over {number_of(len(set(sets)), 'set')} of sources"
    shared = len(set(sets)) < len(sets)
    return told + ("; intervals draw the sets, for samples over the same sources are alike" if shared else "")


def _planned(view: RunView, phase: str) -> int:
    return sum(phase in cell.phases for cell in view.input.expected)


def _engines(view: RunView) -> list[Mapping[str, object]]:
    engines = view.input.manifest.get("engines")
    return [e for e in engines if isinstance(e, Mapping)] if isinstance(engines, list | tuple) else []


def _described_engines(view: RunView) -> str:
    spec = view.input.spec.engine
    described = [
        f"{e.get('name')}, prefix caching {'on' if e.get('prefix_caching') else 'off'}, "
        f"block of {e.get('block_size') or 'unknown'} tokens"
        for e in _engines(view)
    ]
    started = "; ".join(dict.fromkeys(described)) or f"{spec.name} ({NOT_RECORDED})"
    return f"{started}; device {spec.device}, window {spec.window:,}"


def _dirty(code: Mapping[str, object]) -> str:
    return f", with uncommitted changes {code['dirty_digest']}" if code.get("dirty_digest") else ""


def _mapping(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _text(value: Mapping[str, object], key: str) -> str:
    found = value.get(key)
    if found is None:
        return NOT_RECORDED
    return f"{found:,}" if isinstance(found, int) and not isinstance(found, bool) else str(found)


def _pairs(values: Mapping[str, object]) -> str:
    shown = {key: "none" if values[key] is None else _text(values, key) for key in sorted(values)}
    return ", ".join(f"{key} {text}" for key, text in shown.items()) or NOT_RECORDED
