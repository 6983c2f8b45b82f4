"""Small samples, prompts and answers for the scorers, as factories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from bench.build.base import Piece, ShownSource, StageItems
from bench.records import BuildRow, CellState, RequestRow, ResponseRow, SampleRow, ScoreRow
from bench.report.inputs import ExpectedCell
from bench.scorers.run import score_run
from bench.specs import ContractSpec
from capsules.content_id import content_id

#                    0         1         2         3         4
#                    0123456789012345678901234567890123456789012345678901234567
PUMP = "The pump must not run dry. Below 5 bar the alarm is silent."
TANK = "The tank holds “90 litres”. Zinc 5 mg; iron 5 mg."
GONE = "The old pump had no alarm."


@dataclass
class World:
    """One sample with three documents; ``PUMP`` and ``TANK`` are shown, ``GONE`` is not."""

    texts: dict[str, str] = field(
        default_factory=lambda: {content_id(t.encode()): t for t in (PUMP, TANK, GONE)}
    )

    @property
    def ids(self) -> dict[str, str]:
        return {
            "pump": content_id(PUMP.encode()),
            "tank": content_id(TANK.encode()),
            "gone": content_id(GONE.encode()),
        }

    def sample(self, **changes: Any) -> SampleRow:
        values: dict[str, Any] = {
            "sample_id": "s0",
            "question": "What must not happen?",
            "project": "p",
            "answers": ("run dry",),
            "gold_spans": ((self.ids["pump"], 0, 26),),
            "sources": tuple(self.ids.items()),
            "distractors": ("tank",),
            "expired": ("gone",),
            "denied": (),
        }
        return SampleRow(**(values | changes))

    def build(self, **changes: Any) -> BuildRow:
        pump, tank = self.ids["pump"], self.ids["tank"]
        items = (f"{pump}:0-26", f"{pump}:27-59", f"{tank}:0-27", f"{tank}:28-49")
        values: dict[str, Any] = {
            "sample_id": "s0",
            "arm_id": "capsule",
            "status": "ok",
            "error": None,
            "prompt_capsule": content_id(b"prompt"),
            "evidence_capsules": (),
            "ids_digest": content_id(b"ids"),
            "n_prompt": 100,
            "pieces": (Piece(kind="bos", n=1), Piece(kind="prefix", n=99, ref="i")),
            "shown": (
                ShownSource(number=1, doc_id="pump", source=pump, ranges=((0, 26), (27, 59))),
                ShownSource(number=2, doc_id="tank", source=tank, ranges=((0, 27), (28, 49))),
            ),
            "stages": tuple(
                StageItems(stage=name, items=items, tokens=40)
                for name in ("candidates", "retrieval", "selection", "compression", "budget")
            ),
            "silent_omissions": 0,
            "silent_tokens": 0,
            "omissions": (),
            "laws": (("chars", True), ("ids", True), ("sent", True), ("tokens", True)),
            "flags": (),
            "compressor_us": 0,
        }
        return BuildRow(**(values | changes))

    def request(self, phase: str = "quality", **changes: Any) -> RequestRow:
        values: dict[str, Any] = {
            "request_id": f"r-{phase}",
            "request_digest": "d",
            "phase": phase,
            "sample_id": "s0",
            "arm_id": "capsule",
            "cell_id": "capsule.off",
            "salt": None,
            "prompt_capsule": None,
            "provider": "local",
            "ids_digest": content_id(b"ids"),
            "n_prompt": 100,
            "segments": (),
            "predicted_cached": 0,
            "predicted_reason": None,
        }
        return RequestRow(**(values | changes))

    def response(self, text: str = "", phase: str = "quality", **changes: Any) -> ResponseRow:
        values: dict[str, Any] = {
            "request_id": f"r-{phase}",
            "attempt": 1,
            "status": "ok",
            "text": text,
            "output_ids_digest": None,
            "n_output": 12,
            "measured_cached": 0,
            "ttft_us": 200_000,
            "tpot_us": 30_000,
            "e2e_us": 530_000,
            "queue_us": 10,
            "finish_reason": "stop",
            "error": None,
        }
        return ResponseRow(**(values | changes))

    def score(self, text: str = "", **changes: Any) -> dict[str, ScoreRow]:
        """The rows of one cell, by metric; ``changes`` replace arguments of ``score_run``."""
        arguments: dict[str, Any] = {
            "samples": [self.sample()],
            "builds": [self.build()],
            "requests": [self.request(), self.request("latency")],
            "responses": [self.response(text), self.response(text, "latency")],
            "cells": [],
            "texts": self.texts.__getitem__,
            "contract": {"capsule": ContractSpec()},
            "expected": [
                ExpectedCell(
                    sample_id="s0", arm_id="capsule", cell_id="capsule.off", phases=("quality", "latency")
                )
            ],
        }
        rows = score_run(**(arguments | changes))
        return {row.metric: row for row in rows}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def void_cell() -> Callable[[str], CellState]:
    def make(phase: str) -> CellState:
        return CellState(
            cell_id="capsule.off",
            phase=phase,
            reset_verified=True,
            hits_before=0,
            hits_after=64,
            expected_hits=0,
            void=True,
            code="cell.void",
        )

    return make


@pytest.fixture
def values() -> Callable[[Mapping[str, ScoreRow]], dict[str, float | None]]:
    def of(rows: Mapping[str, ScoreRow]) -> dict[str, float | None]:
        return {metric: row.value for metric, row in rows.items()}

    return of
