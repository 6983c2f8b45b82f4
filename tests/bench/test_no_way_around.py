"""There is no way around the seam: nothing else reaches an engine, a connection or a permission."""

from __future__ import annotations

import ast
import gc
import io
import socket
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.engines.base import Engine
from bench.engines.registry import ENGINES, start_engine
from bench.engines.start import EngineStart
from capsules import egress
from capsules.codec import read_stored
from capsules.prompt import PromptCapsule

PACKAGE = Path(bench.__file__).parent


def calls(path: Path, name: str) -> int:
    return sum(
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name
        for node in ast.walk(ast.parse(path.read_bytes()))
    )


def names_called(path: Path, name: str) -> int:
    tree = ast.parse(path.read_bytes())
    return sum(isinstance(node, ast.Call) and getattr(node.func, "id", "") == name for node in ast.walk(tree))


def test_only_the_seam_hands_ids_to_an_engine() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if calls(path, "generate")
    }
    # runner, cache_state and isolation hold what engine_stage gives them; the workers are the other side
    assert found == {
        "egress.py",
        "runner.py",
        "cache_state.py",
        "isolation.py",
        "engines/vllm_worker.py",
        "engines/vllm_scores.py",
    }


def test_only_the_seam_hands_texts_to_an_engine_that_scores() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if calls(path, "prompt_logprobs")
    }
    assert found == {"scoring_gate.py", "engines/vllm_worker.py"}
    held = {path.name for path in PACKAGE.rglob("*.py") if names_called(path, "scoring")}
    assert held == {"engine_stage.py"}


def test_a_runner_is_made_with_an_authorized_engine_alone() -> None:
    tree = ast.parse((PACKAGE / "engine_stage.py").read_bytes())
    made = [
        node.args[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_runner"
    ]
    assert [ast.unparse(engine) for engine in made] == ["asked"] * 2
    named = [
        ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "asked"
    ]
    assert named == ["AuthorizedEngine(engine, gate)"] * 2  # one that is started, one that never is
    (annotated,) = [node for node in ast.walk(tree) if getattr(node, "name", "") == "_runner"]
    assert isinstance(annotated, ast.FunctionDef)
    assert ast.unparse(annotated.args.args[2].annotation or ast.Constant(None)) == "AuthorizedEngine"
    others = [path for path in PACKAGE.rglob("*.py") if "start_engine(" in path.read_text()]
    assert {path.name for path in others} == {"engine_stage.py", "registry.py"}


NETWORK = {"socket", "ssl", "http", "urllib", "asyncio", "requests", "httpx", "aiohttp", "openai", "ftplib"}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_only_the_transport_opens_a_connection() -> None:
    found = {
        path.relative_to(PACKAGE.parent).as_posix()
        for package in ("bench", "tasks", "capsules")
        for path in (PACKAGE.parent / package).rglob("*.py")
        if {name.split(".")[0] for name in imported(path)} & NETWORK
    }
    assert found == {"bench/engines/http_transport.py", "bench/engines/http_connection.py"}
    users = {path.name for path in PACKAGE.rglob("*.py") if "bench.engines.http_connection" in imported(path)}
    assert users == {"http_transport.py"}


LOCAL_ENGINES = (
    "fake.py",
    "vllm_engine.py",
    "process.py",
    "child.py",
    "protocol.py",
    "results.py",
    "start.py",
)


@pytest.mark.parametrize("name", LOCAL_ENGINES)
def test_engines_of_this_machine_know_no_transport(name: str) -> None:
    known = imported(PACKAGE / "engines" / name)
    assert not {n for n in known if "transport" in n or "egress" in n or "delivery" in n}


def reached(start: object) -> list[object]:
    """Every object that a value leads to, modules, types and functions apart."""
    seen: dict[int, object] = {}
    queue = [start]
    while queue:
        value = queue.pop()
        if (
            id(value) in seen
            or isinstance(value, type)
            or callable(value)
            or type(value).__name__ == "module"
        ):
            continue
        seen[id(value)] = value
        queue += gc.get_referents(value)
    return list(seen.values())


def test_a_replaying_engine_holds_no_transport_and_no_permission(
    seam: Any, world: Any, tmp_path: Path
) -> None:
    start = EngineStart(
        spec=world.spec.engine, model=world.spec.model, folder=None, prefix_caching=True,
        log=tmp_path / "log", tokenizer=seam.tokenizer_of(world.spec),
    )  # fmt: skip
    fake: Engine = start_engine(start)
    replay: Engine = seam.Replay()  # the protocol has no place for a transport
    assert "transport" not in Engine.__annotations__
    assert not [name for name in dir(Engine) if "transport" in name or name == "send"]
    assert set(ENGINES) >= {"fake", "vllm"}
    for engine in (fake, replay):
        for value in reached(engine):
            assert not isinstance(value, egress.AuthorizedRequest | egress.Outgoing | socket.socket)
            assert not hasattr(type(value), "send") or isinstance(value, io.IOBase)


def test_nothing_that_a_run_stores_can_be_turned_into_a_permission(world: Any) -> None:
    p = world.cell("capsule.off")[0]
    prompt = read_stored(world.store.get(str(p.prepared.prompt_capsule)).data, PromptCapsule)
    assert isinstance(prompt, PromptCapsule)
    for record in (p, p.row(None, "engine.unknown"), prompt, world.gate()):
        with pytest.raises(TypeError, match="expected an AuthorizedRequest"):
            egress.release(record, b"", lambda: 0)  # type: ignore[arg-type]
