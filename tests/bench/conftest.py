"""Fixtures for the tests of configuration, runner, run store and commands: small runs on the fake engine."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scripted_library import BESIDE, TWO, ScriptedLibrary, scripted_library

from bench.build.base import BuiltPrompt, Piece
from bench.config import to_spec
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, start_run
from bench.planner import Plan, Prepared, make_plan
from bench.progress import Reporter
from bench.request_identity import ids_bytes
from bench.run_store import create_run
from bench.specs import RunSpec
from bench.tokenizers import ByteTokenizer
from capsules.content_id import content_id

ROOT = Path(__file__).resolve().parents[2]

SMALL = (
    "engine=fake",
    "limit=3",
    "latency_samples=1",
    "floor_samples=2",
    "isolation_samples=0",
    "rebuild=false",
    "concurrency=2",
    "sampling.max_tokens=40",
    "bootstrap=20",
    "~arm@arms.capsule_extractive",
)


@pytest.fixture(scope="session")
def byte_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer of the `tokenizers` package: one id a byte, ``<bos>`` as BOS."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("tokenizer") / "bytes"
    folder.mkdir()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<bos>", special=True)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"bos_token": "<bos>"}', "utf-8")
    return folder


@pytest.fixture(scope="session")
def small(byte_tokenizer: Path) -> Callable[..., list[str]]:
    """Overrides of a small run on the fake engine, and more of them."""

    def overrides(*more: str) -> list[str]:
        return [*SMALL, f"tokenizer=hf:{byte_tokenizer}", *more]

    return overrides


@pytest.fixture
def spec_of(small: Callable[..., list[str]]) -> Callable[..., RunSpec]:
    """The frozen spec of a small run."""
    return lambda *more: _spec(tuple(small(*more)))


@cache
def _spec(overrides: tuple[str, ...]) -> RunSpec:
    return to_spec(compose_config(overrides))


@pytest.fixture(scope="module")
def world(seam: Any, small: Callable[..., list[str]]) -> Any:
    """Two planned samples in every cell of a small run, and the store of their capsules."""
    return seam.planned_world(_spec(tuple(small("limit=2"))))


@pytest.fixture(scope="session")
def run_small(small: Callable[..., list[str]]) -> Callable[..., Outcome]:
    """Runs a small experiment in this process, to the manifest."""

    def run(results: Path, *more: str) -> Outcome:
        reporter = Reporter(quiet=True)
        return drive(*start_run(compose_config(small(*more)), results, reporter), reporter)

    return run


@pytest.fixture(scope="session")
def finished(run_small: Callable[..., Outcome], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One finished small run, shared: tests copy it before they change it."""
    return run_small(tmp_path_factory.mktemp("results"))


def toy_prompt(ids: Sequence[int], stable: int, level: str = "public") -> BuiltPrompt:
    """A prompt of these ids, the first ``stable`` of which are the stable prefix."""
    return BuiltPrompt(
        ids=tuple(ids),
        stable_ids=tuple(ids[:stable]),
        pieces=(Piece(kind="joined", n=len(ids)),),
        shown=(),
        stages=(),
        silent_omissions=0,
        silent_tokens=0,
        prompt=None,
        evidence=(),
        sources={},
        project="p",
        level=level,
    )


@pytest.fixture
def toy_plan() -> Callable[..., Plan]:
    """A plan of byte prompts: a stable text of the arm, then one of the sample; no data is needed."""

    def make(
        spec: RunSpec,
        samples: Sequence[str] = ("s1", "s2", "s3", "s4"),
        *,
        broken: Sequence[tuple[str, str]] = (),
        length: int | None = None,
        levels: Sequence[str] = ("public",),
    ) -> Plan:
        encode, items = ByteTokenizer().encode, []
        for n, sample in enumerate(samples):
            for arm in spec.arms:
                stable = [256, *encode(f"{arm.arm_id}: a stable prefix of more than two blocks of ids. ")]
                ids = stable + encode(
                    f"[1] Source of {sample}. It has two sentences.\nQuestion: {sample}?\nAnswer:"
                )
                if length is not None:
                    ids = (ids * (length // len(ids) + 1))[:length]
                if (sample, arm.arm_id) in broken:
                    built, digest, code = None, None, "budget.required.unfit"
                else:
                    built = toy_prompt(
                        ids, 0 if arm.layout == "naive_volatile" else len(stable), levels[n % len(levels)]
                    )
                    digest, code = content_id(ids_bytes(ids)), None
                items.append(
                    Prepared(
                        sample_id=sample,
                        arm_id=arm.arm_id,
                        built=built,
                        ids_digest=digest,
                        prompt_capsule=None,
                        code=code,
                    )
                )
        return make_plan(spec, samples, items)

    return make


@pytest.fixture
def bench(
    driven: Any, spec_of: Callable[..., RunSpec], toy_plan: Callable[..., Plan], tmp_path: Path
) -> Callable[..., Any]:
    """A toy plan that can be driven through the runner."""

    def make(*overrides: str, **options: object) -> Any:
        spec = spec_of("latency_samples=2", *overrides)
        return driven.Bench(spec, toy_plan(spec, **options), create_run(tmp_path, "e", 0))

    return make


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line in a process of its own, in an empty working folder."""

    def call(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(arguments),
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedLibrary]:
    """The library's environment in a cache of its own, not started yet."""
    folder = tmp_path_factory.mktemp("library")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSULE_CACHE", str(folder / "cache"))
        yield scripted_library(folder)


@pytest.fixture(scope="module")
def begun(small: Callable[..., list[str]], library: ScriptedLibrary) -> Callable[..., tuple[Outcome, str]]:
    """Runs a small experiment with arm ``two``; also what it said."""

    def run(results: Path, *more: str) -> tuple[Outcome, str]:
        words = small(*more, f"arms.two.compression.model={library.model}")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            outcome = drive(*start_run(compose_config(words), results, Reporter()), Reporter())
        return outcome, said.getvalue()

    return run


@pytest.fixture(scope="module")
def unstarted(
    begun: Callable[..., tuple[Outcome, str]],
    library: ScriptedLibrary,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Outcome, str]:
    """A finished run whose worker ended at its start."""
    library.broken()
    return begun(tmp_path_factory.mktemp("unstarted"), *BESIDE, *TWO, "rebuild=true")


def command(arguments: Sequence[str]) -> list[str]:
    """The command line as a process starts it."""
    return [sys.executable, "-m", "bench", *arguments]
