"""What a run lacks is said before anything of it is made; what it does not need is not asked for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.config import to_spec
from bench.config_checks import ConfigError
from bench.engines.base import EngineSettingError
from bench.groups import may_be_asked
from bench.hydra_app import compose_config
from bench.pipeline import Outcome, build_only, start_run
from bench.progress import Reporter
from bench.registry import RegistryError

QUIET = Reporter(quiet=True)
CLOUD = (
    "+provider@providers.cloud=openai",
    "providers.cloud.endpoint=http://127.0.0.1:9/v1",
    "providers.cloud.server.model=m",
    "providers.cloud.server.key_env=CLOUD_KEY",
    "providers.cloud.projects=[bench]",
)
ASKED = (
    "arms.capsule.provider=cloud",
    "arms.capsule.authority.providers=[cloud]",
    "arms.capsule.caches=[served]",
)

Refused = Callable[..., str]


@pytest.fixture
def refused(small: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """The message of a run that is refused before anything is made."""
    monkeypatch.delenv("CLOUD_KEY", raising=False)

    def begin(kind: type[Exception], *overrides: str) -> str:
        results = tmp_path / "results"
        with pytest.raises(kind) as caught:
            start_run(compose_config(small(*overrides)), results, QUIET)
        assert not results.exists()
        return str(caught.value)

    return begin


def test_a_server_of_ours_needs_the_model_and_a_build_of_its_capsules_does_not(
    refused: Refused, tmp_path: Path
) -> None:
    routing = ("experiment=routing", "engine=fake", "tokenizer=bytes", "limit=2")
    with pytest.raises(
        ConfigError, match=r"^tokenizer: expected 'model' for provider server, whose engine is vl"
    ):
        start_run(compose_config(routing), tmp_path, QUIET)
    assert list(tmp_path.iterdir()) == []
    folder, _, plan = build_only(compose_config(routing), tmp_path, QUIET)
    assert folder.builds.is_file()
    assert plan.requests


def test_a_replay_needs_a_finished_run_of_the_same_model(
    refused: Refused, finished: Outcome, tmp_path: Path
) -> None:
    replay = ("engine=replay",)
    expected = "engine.recorded: expected the folder of a finished run"
    assert refused(EngineSettingError, *replay).startswith(
        f"{expected}, engine.recorded=<its folder>; found none"
    )
    nowhere = tmp_path / "nowhere"
    assert refused(EngineSettingError, *replay, f"engine.recorded={nowhere}") == (
        f"{expected}, found {nowhere}: there is no such folder"
    )
    copy = Path(shutil.copytree(finished.folder.path, tmp_path / "copy"))
    message = refused(EngineSettingError, *replay, f"engine.recorded={copy}", "model.dtype=float32")
    assert message.startswith(
        f"engine.recorded: {copy} asked a model whose dtype is 'bfloat16'; this run's is 'fl"
    )
    (copy / "manifest.json").unlink()
    for engine in (replay, ()):  # what a compressor answered can be taken up by any engine
        assert refused(EngineSettingError, *engine, f"engine.recorded={copy}") == (
            f"{expected}, found {copy}: it has no manifest.json"
        )


def test_a_replay_needs_the_tokenizer_of_its_record_and_not_one_of_its_kind(
    refused: Refused, finished: Outcome, byte_tokenizer: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copytree(byte_tokenizer, tmp_path / "other"))
    file = other / "tokenizer.json"
    assert '"Z":' in file.read_text("utf-8")
    file.write_text(file.read_text("utf-8").replace('"Z":', '"Y2":').replace('"z":', '"Z":'), "utf-8")
    replay = ("engine=replay", f"engine.recorded={finished.folder.path}")
    message = refused(EngineSettingError, *replay, f"tokenizer=hf:{other}")
    assert message.startswith(f"engine.recorded: {finished.folder.path} counted and asked with tokenizer ")
    known, found = message.split("; this run's is ")
    assert ("bytes (b3:" in known, "other (b3:" in found) == (True, True)


def test_a_record_of_which_nothing_would_be_given_again_is_refused(
    refused: Refused, finished: Outcome
) -> None:
    message = refused(EngineSettingError, f"engine.recorded={finished.folder.path}")
    assert message.startswith("engine.recorded: expected engine=replay, ")
    assert "found engine.name='fake' and no such arm" in message


def test_the_bytes_of_a_text_are_no_ids_of_a_servers_model(
    refused: Refused, small: Callable[..., list[str]], tmp_path: Path
) -> None:
    ids = (
        *CLOUD,
        "tokenizer=bytes",
        "providers.cloud.server.prompt=ids",
        "providers.cloud.server.key_env=null",
    )
    message = refused(ConfigError, *ids, *ASKED)
    assert message.startswith(
        "tokenizer: expected 'model', hf:<folder> or tiktoken:<encoding>, the one of 'm',"
    )
    assert "for providers.cloud.server.prompt=ids" in message
    for allowed in ((*ids,), (*ids, *ASKED, "providers.cloud.server.prompt=text")):  # not asked; by text
        start_run(compose_config(small(*allowed)), tmp_path / "allowed", QUIET)


def test_the_key_of_a_provider_that_may_be_asked_must_be_there(
    refused: Refused, small: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refused(EngineSettingError, *CLOUD, *ASKED)
    assert message.startswith(
        "providers.cloud.server.key_env: expected a key in the environment variable CLOUD_KEY, found none"
    )
    for unneeded in ((*CLOUD,), (*CLOUD, *ASKED, "providers.cloud.projects=[other]")):
        start_run(compose_config(small(*unneeded)), tmp_path / "unneeded", QUIET)
    monkeypatch.setenv("CLOUD_KEY", "sk-secret")
    start_run(compose_config(small(*CLOUD, *ASKED)), tmp_path / "found", QUIET)


@pytest.mark.parametrize("asked", [(), ASKED])
@pytest.mark.parametrize(
    ("engine", "found"),
    [
        ("foo", "unknown engine 'foo': expected one of openai, vllm_server, or module:attribute"),
        ("replay", "unknown engine 'replay': expected one of openai, vllm_server, or module:attribute"),
        ("no_such_module:start", "engine 'no_such_module:start': cannot import 'no_such_module'"),
        ("math:pi", "engine 'math:pi': expected a callable (start), found float"),
    ],
)
def test_the_engine_of_every_provider_is_looked_up(
    refused: Refused, asked: tuple[str, ...], engine: str, found: str
) -> None:
    message = refused(RegistryError, *CLOUD, *asked, f"providers.cloud.server.engine='{engine}'")
    assert message.startswith(f"providers.cloud.server.engine: {found}")


def test_the_engine_of_a_provider_is_none_of_a_run(refused: Refused) -> None:
    assert refused(RegistryError, "engine.name=openai") == (
        "engine.name: unknown engine 'openai': expected one of fake, replay, vllm, or module:attribute"
    )


def test_by_policy_the_first_provider_may_be_asked_and_whoever_its_fallbacks_lead_to(
    small: Callable[..., list[str]],
) -> None:
    def asked(*overrides: str) -> frozenset[str]:
        return may_be_asked(to_spec(compose_config(small(*overrides))))

    three = [
        override.replace("cloud", name) for name in ("first", "second", "third") for override in CLOUD[:4]
    ]
    assert asked(*three) == {"local"}
    routed = (*three, "+arm@arms.capsule_routed=capsule_routed", "arms.capsule_routed.caches=[served]")
    assert asked(*routed) == {"local", "first"}
    chain = ("providers.first.fallbacks=[third]", "providers.third.fallbacks=[local]")
    assert asked(*routed, *chain) == {"local", "first", "third"}
    named = ("arms.capsule.provider=second", "arms.capsule.authority.providers=[second]", ASKED[2])
    assert asked(*three, *named, "providers.second.fallbacks=[third]") == {"local", "second"}
