"""Runs that ask a server beside the engine of this process: who gets which sample, and what is said of it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lamp import write_lamp

from bench.config import to_spec
from bench.engines.base import EngineAbsentError, EngineSettingError
from bench.engines.registry import start_engine
from bench.engines.start import EngineStart
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, drive, start_run
from bench.planner import LATENCY, QUALITY
from bench.progress import Reporter
from bench.records import RouteRow
from bench.records_io import read_rows, rows_bytes
from bench.stored_run import StoredRun
from bench.verification import verify_run
from capsules.codec import read_stored
from capsules.evidence import EvidenceCapsule


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six samples, every second one, the first too, with internal evidence, which holds a canary."""
    folder = tmp_path_factory.mktemp("own")
    return write_lamp(folder / "own.jsonl", "Of canary-7f3a91: the lamp is out.")


@pytest.fixture(scope="module")
def asked(
    rows: Path, loopback: Any, streams: Any, small: Any, run_small: Any,
    tmp_path_factory: pytest.TempPathFactory, seam: Any,
) -> Iterator[Callable[..., tuple[Outcome, Any]]]:  # fmt: skip
    """Runs small routed experiments against a server that pretends; each against one of its own."""
    servers: list[Any] = []

    def run(*more: str, leak: bool = False) -> tuple[Outcome, Any]:
        folder = tmp_path_factory.mktemp("routed")
        spec = to_spec(compose_config(small()))
        engine = start_engine(
            EngineStart(
                spec=spec.engine, model=spec.model, folder=None, prefix_caching=True, log=folder / "log",
                tokenizer=seam.tokenizer_of(spec),
            )
        )  # fmt: skip
        servers.append(loopback.Server(streams.Pretender(engine, loopback, leak=leak)))
        outcome = run_small(
            folder, "task=custom", f"task.options.file={rows}", "task.examples=0", "limit=null",
            "arms.naive.caches=[primed]", "~arm@arms.naive_volatile",
            "+arm@arms.capsule_routed=capsule_routed", "+provider@providers.server=vllm",
            f"providers.server.endpoint={servers[-1].url}/v1",
            "providers.server.projects=[bench]", "providers.server.fallbacks=[local]",
            "providers.server.server.model=m", "providers.server.server.control=true",
            "providers.server.server.block_size=16", "arms.capsule.caches=[primed]", "latency_samples=2",
            "floor_samples=0", "isolation_samples=2", *more,
        )  # fmt: skip
        return outcome, servers[-1]

    yield run
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def routed(asked: Any) -> tuple[Outcome, Any]:
    """One such run, shared."""
    result: tuple[Outcome, Any] = asked()
    return result


def test_private_samples_stay_and_public_ones_go_and_every_row_says_so(routed: tuple[Outcome, Any]) -> None:
    outcome, _ = routed
    assert (outcome.exit_code, outcome.void) == (0, ())
    run = StoredRun(outcome.folder)
    private = {"s0", "s2", "s4"}
    got = {r.sample_id: r.provider for r in run.routes}
    assert got == {f"s{n}": "local" if f"s{n}" in private else "server" for n in range(6)}
    for route in run.routes:
        first, *rest = route.hops
        assert first.provider == "server"
        assert first.codes == (("label.flow.denied",) if route.sample_id in private else ())
        assert [(hop.provider, hop.codes) for hop in rest] == (
            [("local", ())] if route.sample_id in private else []
        )
    for row in run.requests:
        wanted = got[row.sample_id] if row.arm_id == "capsule_routed" else "local"
        assert row.provider == wanted
    phases = Counter((row.provider, row.phase) for row in run.requests if row.arm_id == "capsule_routed")
    assert phases["server", QUALITY] == phases["local", QUALITY] == 3 * 2  # two cache states
    assert sum(n for (_, phase), n in phases.items() if phase == LATENCY) == 2 * 2


def test_no_byte_of_private_evidence_reached_the_server(
    routed: tuple[Outcome, Any], streams: Any, seam: Any
) -> None:
    outcome, server = routed
    canary = "canary-7f3a91"
    run = StoredRun(outcome.folder)
    decode = seam.tokenizer_of(run.spec).decode
    sent = "".join(decode(body["prompt"]) for body in streams.bodies(server.received))
    assert "The lamp stands" in sent  # the control: evidence did go there
    assert canary not in sent
    for row in run.requests:
        if row.provider == "server":
            build = next(b for b in run.builds if (b.sample_id, b.arm_id) == (row.sample_id, row.arm_id))
            for digest in build.evidence_capsules:
                assert read_stored(run.store.get(digest).data, EvidenceCapsule).visibility.level == "public"


def test_the_states_of_a_routed_cell_are_attested_at_both_and_every_answer_is_predicted(
    routed: tuple[Outcome, Any],
) -> None:
    run = StoredRun(routed[0].folder)
    seen = {(c.cell_id, c.phase, c.provider) for c in run.cells if c.cell_id.startswith("capsule_routed")}
    assert seen == {
        (f"capsule_routed.{cache}", phase, provider)
        for cache in ("cold", "primed") for phase in (QUALITY, LATENCY) for provider in ("local", "server")
        if phase == QUALITY or (f"capsule_routed.{cache}", phase, provider) in seen
    }  # fmt: skip
    assert all(cell.reset_verified and not cell.void for cell in run.cells)
    answers = {row.request_id: row for row in run.responses}
    for row in run.requests:
        measured = answers[row.request_id].measured_cached
        assert measured is not None
        assert row.predicted_cached in (None, measured)
        if row.cell_id.endswith(".cold"):
            assert measured == 0
        elif row.provider == "server":
            assert measured > 0


def test_what_a_server_streams_is_kept(routed: tuple[Outcome, Any]) -> None:
    run = StoredRun(routed[0].folder)
    provider = {row.request_id: row.provider for row in run.requests}
    for row in run.responses:
        streamed = provider[row.request_id] == "server"
        assert (row.first_text_us is not None) == streamed
        assert (row.itl_us is not None) == streamed
        assert row.output_ids_digest is not None


def test_the_report_says_who_got_how_many_and_why(routed: tuple[Outcome, Any]) -> None:
    text = (routed[0].folder.path / "report.md").read_text("utf-8")
    assert "label.flow.denied" in text
    table = (routed[0].folder.path / "tables" / "routes.csv").read_text("utf-8").splitlines()
    assert "capsule_routed,server,3,6,allowed,3" in table
    assert "capsule_routed,server,3,6,label.flow.denied,3" in table
    assert "capsule_routed,local,3,6,allowed,3" in table


def test_the_run_verifies_and_a_route_that_was_altered_is_found(
    routed: tuple[Outcome, Any], tmp_path: Path
) -> None:

    assert all(check.result == "pass" for check in verify_run(routed[0].folder, None))
    folder = type(routed[0].folder)(Path(shutil.copytree(routed[0].folder.path, tmp_path / "copy")))
    routes = [replace(route, provider="server") for route in read_rows(folder.routes, RouteRow)]
    folder.routes.write_bytes(rows_bytes(routes))
    failed = {check.check: check.detail for check in verify_run(folder, None) if check.result == "fail"}
    assert "its route says server" in failed["requests.identity"]


def test_no_token_crosses_from_one_project_into_another_and_without_salts_they_do(
    routed: tuple[Outcome, Any],
) -> None:
    rows = StoredRun(routed[0].folder).isolation
    assert {(row.group, row.provider) for row in rows} == {("on", "local"), ("server-on", "server")}
    assert {(row.arm_id, row.sample_id) for row in rows if row.group == "server-on"} == {
        ("capsule_routed", "s1"), ("capsule_routed", "s3"),
    }  # fmt: skip
    for row in rows:
        assert (row.project, row.other) == ("bench", "bench-other")
        assert row.with_salt == 0
        assert row.without_salt == (row.n_prompt - 1) // 16 * 16 > 0
    text = (routed[0].folder.path / "report.md").read_text("utf-8")
    assert "cached across projects, with salt" in text
    assert "all samples belong to one project" not in text


def test_a_server_that_ignores_salts_is_found_out(asked: Any) -> None:
    outcome, _ = asked(leak=True)
    rows = StoredRun(outcome.folder).isolation
    assert {row.provider for row in rows if row.with_salt} == {"server"}
    assert "capsule_routed.cold (quality: cell.cold.hits)" in outcome.void
    (failed,) = [check for check in verify_run(outcome.folder, None) if check.check == "requests.salts"]
    assert failed.result == "fail"
    assert "cached tokens crossed from one project into another under salts" in failed.detail


def test_each_provider_is_priced_by_its_own_table(asked: Any) -> None:
    outcome, _ = asked(
        "prices.providers.local.engine_hour=3600000000", "+price@prices.providers.server=blank",
        "prices.providers.server.input_uncached=1000000", "prices.providers.server.cache_read=500000",
        "prices.providers.server.output=2000000",
        "latency_samples=0", "isolation_samples=0",
    )  # fmt: skip
    run = StoredRun(outcome.folder)
    (line,) = [
        line
        for line in (outcome.folder.path / "tables" / "cost.csv").read_text("utf-8").splitlines()
        if line.startswith("capsule_routed.primed,")
    ]
    cell_id, n, priced, per_answer, _, _, tokens, engine, compressor, *_ = line.split(",")
    assert (n, priced, compressor) == ("6", "6", "0")
    answers = {row.request_id: row for row in run.responses}
    billed = 0.0
    for row in run.requests:
        answer = answers[row.request_id]
        if (row.cell_id, row.provider) == (cell_id, "server"):
            read, output = answer.measured_cached, answer.n_output
            assert read is not None
            assert output is not None
            billed += (row.n_prompt - read) * 1.0 + read * 0.5 + output * 2.0
    assert float(tokens) == pytest.approx(billed / 6)
    # an hour of the local engine costs as many micro-units as it has microseconds
    wall = sum(c.wall_us or 0 for c in run.cells if (c.cell_id, c.provider) == (cell_id, "local"))
    assert float(engine) == pytest.approx(wall / 6)
    assert float(per_answer) == pytest.approx((billed + wall) / 6)


def test_a_server_that_is_gone_stops_nobody_else_and_the_run_can_be_resumed(
    rows: Path, small: Any, loopback: Any, tmp_path: Path
) -> None:
    gone = loopback.Server(b"")
    gone.close()
    cfg = compose_config(
        small(
            "task=custom", f"task.options.file={rows}", "task.examples=0", "limit=null", "~arm@arms.naive",
            "~arm@arms.naive_volatile", "+arm@arms.capsule_routed=capsule_routed",
            "+provider@providers.server=vllm", f"providers.server.endpoint={gone.url}/v1",
            "+provider@providers.other=vllm", f"providers.other.endpoint={gone.url}/v2",
            "providers.server.projects=[bench]", "providers.server.fallbacks=[local]",
            "providers.server.server.model=m", "providers.server.server.control=true",
            "providers.other.server.model=m", "providers.other.server.control=true",
        )
    )  # fmt: skip
    reporter = Reporter(quiet=True)
    folder, prepared = start_run(cfg, tmp_path, reporter)
    with pytest.raises(EngineAbsentError, match=r"^provider\.unreachable: provider server at \S+: nobody "):
        drive(folder, prepared, reporter)
    assert not folder.complete
    assert not folder.lock.exists()
    run = StoredRun(folder)
    assert run.counts().failed == 0
    assert (
        run.counts().missing
        == 3 * 2 + sum(r.provider == "server" for r in run.routes if r.sample_id in latency_samples(run)) * 2
    )  # cold and primed
    assert {row.provider for row in run.requests} == {"local"}


def latency_samples(run: StoredRun) -> set[str]:
    return {cell.sample_id for cell in run.expected if LATENCY in cell.phases}


def test_a_routed_arm_that_fits_no_prompt_is_an_error_and_goes_to_nobody(asked: Any) -> None:
    outcome, server = asked("arms.capsule_routed.budget.evidence_limit=20")
    skipped = {"budget.required.unfit": 6 * 2 + 2 * 2}  # two cache states: six samples, two of them timed
    assert (outcome.counts.skipped, outcome.counts.failed, outcome.exit_code) == (skipped, 0, 3)
    assert StoredRun(outcome.folder).routes == []
    assert server.received == b""
    assert {check.result for check in verify_run(outcome.folder, None)} == {"pass"}


def test_a_replay_answers_for_every_provider_and_contacts_nobody(
    routed: tuple[Outcome, Any], asked: Any
) -> None:
    recorded = routed[0].folder
    outcome, server = asked("engine=replay", f"engine.recorded={recorded.path}")
    assert server.received == b""
    assert (outcome.exit_code, outcome.void) == (0, ())
    known, found = StoredRun(recorded), StoredRun(outcome.folder)
    text = {row.request_id: row.text for row in known.responses}
    assert {row.request_id: row.text for row in found.responses} == text
    assert {row.provider for row in found.requests} == {"local", "server"}
    assert {engine["info"]["name"] for engine in found.engines} == {"replay"}
    with pytest.raises(EngineSettingError, match=r"for the model 'm'; this run's is 'n'"):
        asked("engine=replay", f"engine.recorded={recorded.path}", "providers.server.server.model=n")
