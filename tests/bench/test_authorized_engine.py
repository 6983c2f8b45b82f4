"""The seam between a run and its engine: what is admitted, what is refused; and there is no way around."""

from __future__ import annotations

import ast
import dataclasses
import gc
import io
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.build_stage import Bench, build_all
from bench.egress import AuthorizedEngine, RunGate, local_policy
from bench.engines.base import Engine, EngineError, EngineInfo, EngineRequest, EngineResult
from bench.engines.registry import ENGINES, start_engine
from bench.engines.start import EngineStart
from bench.pipeline import Outcome
from bench.planner import Plan, Planned, make_plan
from bench.records import RequestRow
from bench.records_io import read_rows
from bench.specs import RunSpec, SamplingSpec
from bench.tokenizers import HfTokenizer
from capsules import egress
from capsules.codec import read_stored
from capsules.prompt import PromptCapsule
from capsules.store import MemoryStore
from tasks.registry import load_task

PACKAGE = Path(bench.__file__).parent


@dataclasses.dataclass(frozen=True)
class World:
    """A plan of two samples in every cell, and the store that holds its capsules."""

    spec: RunSpec
    plan: Plan
    store: MemoryStore

    def gate(self, now: str | None = None, **changes: Any) -> RunGate:
        rules = local_policy(p.prompt.project for p in self.plan.requests)
        rules = dataclasses.replace(rules, **changes)
        return RunGate(plan=self.plan, store=self.store, now=now or self.spec.task.as_of, rules=rules)

    def cell(self, cell_id: str) -> tuple[Planned, ...]:
        return self.plan.quality[cell_id]


@pytest.fixture(scope="module")
def world(small: Callable[..., list[str]]) -> World:
    from bench.config import to_spec
    from bench.hydra_app import compose_config

    spec = to_spec(compose_config(small("limit=2")))
    store = MemoryStore()
    tokenizer = HfTokenizer(Path(spec.tokenizer.removeprefix("hf:")), "bytes")
    stage = Bench(spec=spec, data=load_task(spec.task), tokenizer=tokenizer, store=store, now=spec.task.as_of)
    built = build_all(stage, lambda n: None)
    return World(spec, make_plan(spec, [row.sample_id for row in built.samples], built.prepared), store)


class Replay:
    """An engine that answers from a table, as one does that replays a stored run. Notes what reached it."""

    info: EngineInfo = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.waves: list[list[str]] = []
        self.closed = False

    def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
        self.waves.append([request.request_id for request in requests])
        return [
            EngineResult(
                request_id=request.request_id, status="ok", text="stored", output_ids=(1,),
                cached_tokens=None, ttft_us=None, tpot_us=None, e2e_us=None,
                queue_us=None, finish_reason="stop", error=None,
            )
            for request in requests
        ]  # fmt: skip

    def reset_prefix_cache(self) -> bool:
        return True

    def counters(self) -> dict[str, int]:
        return {"prefix_hits": 3}

    def close(self) -> None:
        self.closed = True


def request_of(p: Planned, **changes: Any) -> EngineRequest:
    fields = {"request_id": p.request_id, "ids": p.prompt.ids, "salt": p.salt, "sampling": p.sampling}
    return EngineRequest(**(fields | changes))


def part(ids: Sequence[int], salt: str | None, name: str = "fill") -> EngineRequest:
    return EngineRequest(request_id=name, ids=tuple(ids), salt=salt, sampling=SamplingSpec(max_tokens=1))


def outcomes(gate: RunGate, *requests: EngineRequest) -> list[str | None]:
    """The error of each answer; ``None`` for one that the engine gave."""
    found = AuthorizedEngine(Replay(), gate).generate(requests)
    assert [result.request_id for result in found] == [request.request_id for request in requests]
    for result in found:
        assert (result.text == "stored") == (result.status == "ok")
    return [result.error for result in found]


def test_everything_that_is_planned_is_sent_under_a_capsule_or_as_unlabelled(world: World) -> None:
    gate, replay = world.gate(), Replay()
    engine = AuthorizedEngine(replay, gate)

    results = engine.generate([request_of(p) for p in world.plan.requests])

    assert {result.status for result in results} == {"ok"}
    assert replay.waves == [[p.request_id for p in world.plan.requests]]
    naive = sum(p.prepared.prompt_capsule is None for p in world.plan.requests)
    assert 0 < naive < len(results)
    assert gate.tally == {"authorized": len(results) - naive, "unlabelled": naive}
    assert gate.line() == f"{len(results) - naive} authorized, {naive} unlabelled, 0 refused"


def test_the_default_policy_keeps_everything_on_this_machine() -> None:
    rules = local_policy(["b", "a", "b"])
    assert [profile.id for profile in rules.providers] == ["local"]
    assert rules.providers[0].endpoint is None
    assert rules.providers[0].fallbacks == ()
    assert rules.projects == rules.providers[0].projects == ("a", "b")


def test_a_refused_request_is_an_error_with_its_code_and_the_others_are_sent(world: World) -> None:
    first, second = world.cell("capsule.cold")
    replay = Replay()
    gate = world.gate(revoked=(str(first.prepared.prompt_capsule),))

    results = AuthorizedEngine(replay, gate).generate([request_of(first), request_of(second)])

    assert [(r.status, r.error, r.text, r.output_ids) for r in results] == [
        ("error", "authority.revoked", "", ()),
        ("ok", None, "stored", (1,)),
    ]
    assert replay.waves == [[second.request_id]]
    assert gate.tally == {"authorized": 1, "refused": 1}
    assert AuthorizedEngine(replay, gate).generate([request_of(first)])[0].error == "authority.revoked"
    assert len(replay.waves) == 1  # a wave of which nothing is left does not reach the engine


def test_what_was_refused_is_refused_to_a_replay_too(world: World) -> None:
    """Threat 54: stored answers do not bring an expired authority back."""
    capsules, naive = world.cell("capsule.off"), world.cell("naive.off")
    late = world.gate(now="2100-01-01T00:00:00Z")
    assert outcomes(late, *map(request_of, capsules)) == ["authority.expired"] * 2
    assert outcomes(late, *map(request_of, naive)) == [None, None]  # no capsule, no authority to expire


def provider_with(world: World, **changes: Any) -> dict[str, Any]:
    (local,) = local_policy(p.prompt.project for p in world.plan.requests).providers
    return {"providers": (dataclasses.replace(local, **changes),)}


@pytest.mark.parametrize(
    ("changes", "capsule", "naive"),
    [
        ({"max_level": "public"}, "label.flow.denied", None),
        ({"operations": ()}, "provider.unauthorized", "provider.unauthorized"),
        ({"projects": ("other",)}, "provider.unauthorized", "provider.unauthorized"),
        ({"id": "cloud"}, "provider.unauthorized", "label.undetermined"),
        ({"endpoint": "http://127.0.0.1:9"}, "provider.route.unlisted", "label.undetermined"),
    ],
)
def test_the_policy_decides(
    world: World, changes: dict[str, Any], capsule: str | None, naive: str | None
) -> None:
    labelled = next(p for p in world.cell("capsule.off") if p.prompt.level != "public")
    gate = world.gate(**provider_with(world, **changes))
    assert outcomes(gate, request_of(labelled), request_of(world.cell("naive.off")[0])) == [capsule, naive]


def test_other_ids_under_the_name_of_a_planned_request_are_refused(world: World) -> None:
    p = world.cell("capsule.off")[0]
    other = world.cell("capsule.off")[1].prompt.ids
    changed = (*p.prompt.ids[:-1], p.prompt.ids[-1] + 1)
    gate = world.gate()
    for ids in (other, changed, p.prompt.ids[:-1], (*p.prompt.ids, 1)):
        assert outcomes(gate, request_of(p, ids=ids)) == ["label.undetermined"]
    assert gate.tally == {"refused": 4}


def test_examples_above_the_providers_level_are_refused_with_their_prompt(world: World) -> None:
    p = next(p for p in world.cell("capsule.off") if p.prompt.level != "restricted")
    raised = dataclasses.replace(p.prompt, level="restricted")
    planned = dataclasses.replace(p, prepared=dataclasses.replace(p.prepared, built=raised))
    odd = dataclasses.replace(
        p, prepared=dataclasses.replace(p.prepared, built=dataclasses.replace(raised, level="?"))
    )
    for changed, code in ((planned, "authority.scope_exceeded"), (odd, "schema.word")):
        plan = dataclasses.replace(world.plan, quality={"c": (changed,)}, latency={})
        gate = RunGate(plan=plan, store=world.store, now=world.spec.task.as_of)
        assert outcomes(gate, request_of(changed)) == [code]


def test_parts_of_planned_prompts_go_out_and_nothing_else(world: World) -> None:
    p, other = world.cell("capsule.primed")
    ids, salt = p.prompt.ids, p.salt
    gate = world.gate()
    assert (
        outcomes(
            gate,
            part(ids[:33], "a salt of its own", "probe"),
            part(p.prompt.stable_ids, salt),
            part((*ids, 7, 8), salt),  # a prompt with what was answered to it
            part(other.prompt.ids, other.salt),
        )
        == [None] * 4
    )
    assert (
        outcomes(
            gate,
            part((), salt),
            part(ids[1:40], salt),
            part((*ids[:-1], ids[-1] + 1), salt),
            part(world.cell("naive.primed")[0].prompt.ids, salt),  # of another cell
        )
        == ["label.undetermined"] * 4
    )
    assert gate.tally == {}  # only what is planned is counted


def test_a_shared_part_goes_out_under_a_prompt_that_may_be_sent(world: World) -> None:
    prompts = world.cell("capsule.primed")
    salt = prompts[0].salt
    same = [p for p in prompts if p.salt == salt]
    stable = part(prompts[0].prompt.stable_ids, salt)
    every = {str(p.prepared.prompt_capsule) for p in same}
    first = str(prompts[0].prepared.prompt_capsule)
    assert outcomes(world.gate(revoked=tuple(sorted(every))), stable) == ["authority.revoked"]
    if every != {first}:
        assert outcomes(world.gate(revoked=(first,)), stable) == [None]
    probe = part(prompts[0].prompt.ids[:9], "probe", "probe")
    assert outcomes(world.gate(revoked=(first,)), probe) == [None]


def test_the_rest_of_an_engine_is_as_it_is(world: World) -> None:
    class Dead(Replay):
        def generate(self, requests: Sequence[EngineRequest]) -> list[EngineResult]:
            raise EngineError("gone")

    replay = Replay()
    engine = AuthorizedEngine(replay, world.gate())
    assert engine.reset_prefix_cache()
    assert engine.counters() == {"prefix_hits": 3}
    assert engine.info is replay.info
    engine.close()
    assert replay.closed
    assert engine.generate([]) == []
    with pytest.raises(EngineError, match="gone"):
        AuthorizedEngine(Dead(), world.gate()).generate([request_of(world.cell("naive.off")[0])])


def test_in_a_real_run_the_rows_without_a_capsule_are_the_unlabelled_ones(finished: Outcome) -> None:
    rows = read_rows(finished.folder.requests, RequestRow)
    assert {row.arm_id for row in rows if row.prompt_capsule is None} == {"naive", "naive_volatile"}
    assert {row.provider for row in rows} == {"local"}
    assert finished.exit_code == 0


# ---- no way around


def calls(path: Path, name: str) -> int:
    return sum(
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name
        for node in ast.walk(ast.parse(path.read_bytes()))
    )


def test_only_the_seam_hands_ids_to_an_engine() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if calls(path, "generate")
    }
    # runner and cache_state hold what engine_stage gives them; the worker is the other side of an engine
    assert found == {"egress.py", "runner.py", "cache_state.py", "engines/vllm_worker.py"}


def test_a_runner_is_made_with_an_authorized_engine_alone() -> None:
    tree = ast.parse((PACKAGE / "engine_stage.py").read_bytes())
    made = [
        node.args[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_runner"
    ]
    assert [ast.unparse(engine) for engine in made] == ["AuthorizedEngine(engine, gate)"]
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
    assert found == {"bench/engines/http_transport.py"}


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


def test_a_replaying_engine_holds_no_transport_and_no_permission(world: World, tmp_path: Path) -> None:
    start = EngineStart(
        spec=world.spec.engine, model=world.spec.model, folder=None, prefix_caching=True,
        log=tmp_path / "log", tokenizer=None,
    )  # fmt: skip
    tokenizer = HfTokenizer(Path(world.spec.tokenizer.removeprefix("hf:")), "bytes")
    fake: Engine = start_engine(dataclasses.replace(start, tokenizer=tokenizer))
    replay: Engine = Replay()  # the protocol has no place for a transport
    assert "transport" not in Engine.__annotations__
    assert not [name for name in dir(Engine) if "transport" in name or name == "send"]
    assert set(ENGINES) >= {"fake", "vllm"}
    for engine in (fake, replay):
        for value in reached(engine):
            assert not isinstance(value, egress.AuthorizedRequest | egress.Outgoing | socket.socket)
            assert not hasattr(type(value), "send") or isinstance(value, io.IOBase)


def test_nothing_that_a_run_stores_can_be_turned_into_a_permission(world: World) -> None:
    p = world.cell("capsule.off")[0]
    prompt = read_stored(world.store.get(str(p.prepared.prompt_capsule)).data, PromptCapsule)
    assert isinstance(prompt, PromptCapsule)
    for record in (p, p.row(None, "engine.unknown"), prompt, world.gate()):
        with pytest.raises(TypeError, match="expected an AuthorizedRequest"):
            egress.release(record, b"", lambda: 0)  # type: ignore[arg-type]
