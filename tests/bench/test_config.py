"""Config: the schema, its frozen twin, its digest, and one clear line for every mistake."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from bench.config import config_digest, dump_config, load_config, to_spec
from bench.config_checks import ConfigError
from bench.config_groups import options
from bench.hydra_app import compose_config, expand
from bench.override_errors import unclosed
from bench.specs import RunSpec


@pytest.mark.parametrize("experiment", options("experiment"))
def test_every_shipped_experiment_composes_and_survives_the_round_trip_through_its_yaml(
    experiment: str,
) -> None:
    cfg = compose_config([f"experiment={experiment}"])
    spec = to_spec(cfg)
    assert spec.experiment == experiment
    assert to_spec(load_config(dump_config(cfg))) == spec


def test_all_shipped_experiments_are_known() -> None:
    assert options("experiment") == [
        "all_arms", "budget_sweep", "build", "compression", "contracts", "prefix_caching", "quickstart",
        "routing", "xquad", "xquad_en",
    ]  # fmt: skip


def test_quickstart_is_what_the_project_promises() -> None:
    spec = to_spec(compose_config([]))
    cells = [arm.cell_id(cache) for arm in spec.arms for cache in arm.caches]
    three = ("off", "cold", "primed")
    expected = [f"{arm}.{cache}" for arm in ("naive", "capsule", "capsule_extractive") for cache in three]
    assert sorted(cells) == sorted([*expected, "naive_volatile.primed"])
    assert {arm.contract.name for arm in spec.arms} == {"quote"}
    assert (spec.task.name, spec.task.limit, spec.concurrency) == ("synthetic", 32, 8)
    assert (spec.engine.block_size, spec.engine.retention, spec.engine.window) == (32, "none", 4096)


def test_limit_is_short_for_the_limit_of_the_task() -> None:
    assert expand(["limit=3", "seed=1"]) == ["task.limit=3", "seed=1"]
    assert to_spec(compose_config(["limit=3"])).task.limit == 3


def test_the_digest_follows_every_setting_that_changes_a_result_and_no_path(
    spec_of: Callable[..., RunSpec],
) -> None:
    base = config_digest(spec_of())
    for change in ("sampling.temperature=0.5", "sampling.max_tokens=41", "sampling.stop=[x]", "seed=1",
                   "engine.block_size=32", "arms.capsule.selection.k=3", "task.seed=1", "concurrency=3",
                   "arms.naive.caches=[cold]"):  # fmt: skip
        assert config_digest(spec_of(change)) != base, change
    assert config_digest(spec_of("task.data_dir=/somewhere/else")) == base
    local = ["model=local", "model.name=m"]
    assert config_digest(spec_of(*local, "model.ref=/a/m")) == config_digest(
        spec_of(*local, "model.ref=/b/m")
    )


def test_the_digest_refuses_a_float_and_names_it(spec_of: Callable[..., RunSpec]) -> None:
    with pytest.raises(ConfigError, match=r"json\.number\.float"):
        config_digest(spec_of("+task.options.x=0.5"))


BAD = {
    "unknown task": (["task=nope"], "unknown task 'nope': expected one of "),
    "unknown experiment": (["experiment=nope"], "unknown experiment 'nope': expected one of all_arms, "),
    "unknown model": (["model=nope"], "unknown model 'nope': expected one of gemma3_270m, local, qwen2_5"),
    "unknown engine": (["engine=nope"], "unknown engine 'nope': expected one of fake, replay, vllm_cpu, "),
    "unknown arm": (["+arm@arms.x=nope"], "unknown arm 'nope': expected one of capsule, "),
    "arm that is not there": (["arm@arms.x=naive"], "did you mean arm@arms.capsule"),
    "setting of an arm that is not there": (["arms.x.caches=[off]"], "expected one of capsule, "),
    "misspelt key": (["concurency=3"], "did you mean concurrency?"),
    "misspelt key below": (["task.limitt=3"], "did you mean task.limit?"),
    "added key": (["+bar.x=1"], "unknown setting 'bar': expected one of experiment, "),
    "added key in an arm": (["+arms.naive.foo=1"], "'arms.naive.foo': expected one of layout, builder, "),
    "word for a number": (["concurrency=abc"], "concurrency: expected a whole number, found abc"),
    "fraction for an integer": (["limit=1.5"], "task.limit: expected a whole number or null, found 1.5"),
    "boolean for an integer": (["seed=true"], "seed: expected a whole number, found true"),
    "word for a yes or no": (["rebuild=perhaps"], "rebuild: expected true or false, found perhaps"),
    "name for settings, misspelt": (
        ["arms.capsule.contract=quotee"],
        "arms.capsule.contract: expected settings of its own (name, max_quotes, min_chars), found quotee; "
        "did you mean arms.capsule.contract.name=quote? (names: quote, pointer, quote_constrained, p",
    ),
    "compression without capsules": (
        ["arms.naive.compression.name=extractive"],
        "arms.naive.compression.name: expected none for layout naive, found 'extractive'",
    ),
    "name for settings": (["arms.naive.retrieval=dense"], "did you mean arms.naive.retrieval.name=dense? ("),
    "nothing for settings": (["arms.naive.selection=null"], "which one is said by arms.naive.selection.name"),
    "name for an arm": (["arms.naive=capsule"], "a ready one is chosen by arm@arms.naive=..., and added "),
    "name for arms": (["arms=naive"], "arms: expected settings by name (+arm@arms.NAME=...), found naive"),
    "a setting below a word": (["arms.naive.contract.name.x=1"],
                               "arms.naive.contract.name: expected text, found a setting below it (x)"),
    "word for a list": (["sampling.stop=x"], "sampling.stop: expected a list (sampling.stop=[a,b]), found x"),
    "number for a choice": (["task=3"], "task: expected one of arcd, "),
    "list of numbers for a choice": (["model=[1]"], "model: expected one of gemma3_270m, "),
    "fraction for a price": (
        ["prices.providers.local.engine_hour=1.5"],
        "prices.providers.local.engine_hour: expected a whole number or null, found 1.5; prices are whole "
        "currency micro-units",
    ),
    "day of the prices that no calendar has": (
        ["prices=example", "prices.as_of=2026-13-45"],
        "prices.as_of: expected a day that the calendar has (YYYY-MM-DD), found '2026-13-45'",
    ),
    "day of the prices that is no leap day": (
        ["prices=example", "prices.as_of=2026-02-29"],
        "prices.as_of: expected a day that the calendar has (YYYY-MM-DD), found '2026-02-29'",
    ),
    "price of nobody": (
        ["+price@prices.providers.cloud=blank"],
        "prices.providers.cloud: expected a provider of the run (local), found none named 'cloud'; "
        "+price@prices.providers.cloud=... prices a provider, +provider@providers.cloud=openai adds it",
    ),
    "key for a server of our own": (
        ["+provider@providers.own=vllm_server", "providers.own.server.key_env=K"],
        "providers.own.server.key_env: a server of our own takes no key, found 'K'",
    ),
    "removed arm that is not there": (
        ["~arms.x"],
        "override '~arms.x': there is nothing to remove: unknown setting 'arms.x': expected one of capsule, "
        "capsule_extractive, naive, naive_volatile in arms",
    ),
    "removed choice that is not there": (
        ["~arm@arms.x"],
        "override '~arm@arms.x': there is nothing to remove: expected one of ~arm@arms.capsule, "
        "~arm@arms.capsule_extractive, ~arm@arms.naive, ~arm@arms.naive_volatile",
    ),
    "removed choice of a group that nothing is chosen of": (
        ["~provider@providers.x"],
        "'~provider@providers.x': there is nothing to remove: nothing of the group provider is chosen",
    ),
    "removed choice of another name": (
        ["~arm@arms.naive=capsule"],
        "override '~arm@arms.naive=capsule': arm@arms.naive is naive; ~arm@arms.naive removes it",
    ),
    "removed setting of another value": (
        ["~seed=3"],
        "override '~seed=3': seed has another value; ~seed removes it as it is",
    ),
    "removed setting of another value that cannot be removed": (
        ["~task.limit=3"],
        "override '~task.limit=3': task.limit can be set and not removed; leave it as it is",
    ),
    "removed option of another value": (
        ["+task.options.x=1", "~task.options.x=2"],
        "override '~task.options.x=2': task.options.x has another value; ~task.options.x removes it as it is",
    ),
    "removed arm of another value": (
        ["~arms.naive=3"],
        "override '~arms.naive=3': arms.naive has another value; ~arms.naive removes it as it is",
    ),
    "removed setting": (["~task.limit"], "override '~task.limit': task.limit can be set and not removed"),
    "added setting that is there": (
        ["+engine.recorded=a"],
        "override '+engine.recorded=a': engine.recorded is there already: expected engine.recorded=a ",
    ),
    "added choice that is there": (
        ["+arm@arms.naive=capsule"],
        "override '+arm@arms.naive=capsule': arm@arms.naive is chosen already (naive): expected "
        "arm@arms.naive=capsule (without +) to choose another",
    ),
    "a bracket that is not closed": (
        ["task.options=[1"],
        "override 'task.options=[1': expected ] for the [ at character 14, found the end",
    ),
    "a brace that is closed as a bracket": (
        ["task.options={a:[1}"],
        "override 'task.options={a:[1}': expected ] for the [ at character 17, found } at character 19",
    ),
    "a bracket that was not opened": (
        ["task.options=1]"],
        "expected no closing bracket without an opening one, found ] at character 15",
    ),
    "a quote that is not closed": (
        ["task.project='it]"],
        "expected a second ' for that at character 14, found the end",
    ),
    "an unknown function": (["task.project=f(x)"], "override 'task.project=f(x)': Unknown function 'f' ("),
    "no value": (["quickstart"], "expected key=value"),
    "no key": (["=3"], "override '=3': expected key=value or ~key, found no key"),
    "no key to add": (["++=3"], "override '++=3': expected key=value or ~key, found no key"),
    "nothing to remove": (["~"], "override '~': expected key=value or ~key, found no key"),
    "a name below a list": (
        ["arms.capsule.caches.x=1"],
        "arms.capsule.caches: expected a list (arms.capsule.caches=[a,b]), found a setting below it (x)",
    ),
    "a name further below a list, of an added arm": (
        ["seed=1", "+arm@arms.more=naive", "arms.more.caches.x.y=1"],
        "arms.more.caches: expected a list (arms.more.caches=[a,b]), found a setting below it (x.y)",
    ),
    "two misspelt keys": (["concurency=3", "sed=1"], "did you mean concurrency?"),
    "zero": (["limit=0"], "task.limit (or limit): expected at least 1, found 0"),
    "unknown cache state": (
        ["arms.naive.caches=[warm]"],
        "expected one of off, cold, primed, served, found 'warm'",
    ),
    "a cache state twice": (["arms.naive.caches=[cold,cold]"], "names a cache state twice"),
    "no cache state": (["arms.naive.caches=[]"], "expected some of off, cold, primed"),
    "no arm": (["~arm@arms.naive", "~arm@arms.naive_volatile", "~arm@arms.capsule",
                "~arm@arms.capsule_extractive"], "arms is empty"),
    "branch for a revision": (["task.revision=main"], "a full commit hash (40 hex digits), found 'main'"),
    "short model revision": (["model.kind=hub", "model.revision=abc"], "expected a full commit hash"),
    "model without folder": (["model=local"], "model.ref is not set"),
    "budget that cannot fit": (["arms.naive.budget.evidence_limit=5000"],
                               "reserved_output + evidence_limit = 5064 tokens, but the window is 4096"),
    "window beyond the engine": (["engine.window=2048"], "more than engine.window 2048"),
    "more output than reserved": (["sampling.max_tokens=65"], "more than arms.naive.budget.reserved_output"),
    "temperature": (["sampling.temperature=hot"], "expected a decimal number"),
    "local time": (["task.as_of='2026-01-01 00:00'"], "expected YYYY-MM-DDTHH:MM:SSZ"),
    "authority that ends before it begins": (["arms.naive.authority.expires_at='2019-01-01T00:00:00Z'"],
                                             "must be after not_before"),
    "tokenizer": (["tokenizer=word"], "expected model, bytes, hf:<id or folder> or tiktoken:<encoding>"),
    "sweep without -m": (["seed=1,2"], "a sweep needs -m"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_line_that_names_what_was_expected(name: str) -> None:
    overrides, expected = BAD[name]
    with pytest.raises(ConfigError) as caught:
        to_spec(compose_config(overrides))
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ["a=[1,{b:(2)}]", "a='[' ", 'a="{"', r"a=\[", "a='it\\'s ('", "a=b=c"])
def test_brackets_and_quotes_that_are_closed_quoted_or_escaped_lack_nothing(text: str) -> None:
    assert unclosed(text) is None


def test_an_unquoted_off_in_yaml_is_explained() -> None:
    text = dump_config(compose_config([])).replace("'off'", "off")
    with pytest.raises(ConfigError, match='write "off" in quotes'):
        to_spec(load_config(text))


@pytest.mark.parametrize("value", ["a#b", "a=b", "(a)", "日本", "café"])
def test_values_that_hydra_cannot_read_bare_say_how_to_quote_them_and_work_quoted(value: str) -> None:
    with pytest.raises(ConfigError, match="quotes inside quotes"):
        compose_config([f"task.project={value}"])
    assert compose_config([f'task.project="{value}"']).task.project == value


def test_a_quoted_sentence_with_a_comma_is_one_string() -> None:
    assert compose_config(["task.project='What is it, then?'"]).task.project == "What is it, then?"


def test_composing_keeps_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compose_config(["limit=1"])
    assert Path.cwd() == tmp_path
    assert os.listdir(tmp_path) == []


def test_a_stored_config_with_another_shape_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown"):
        load_config(OmegaConf.to_yaml({"unknown": 1}))
    with pytest.raises(ConfigError, match="expected a mapping"):
        load_config("[1, 2]")
    with pytest.raises(ConfigError, match=r"config\.yaml"):
        load_config("a: [")


def test_config_files_of_ones_own_are_found_beside_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - /arm@arms.capsule: capsule\n  - _self_\n"
        "experiment: mine\nseed: 7\n"
    )
    spec = to_spec(compose_config([f"hydra.searchpath=[file://{tmp_path}]", "experiment=mine"]))
    assert (spec.experiment, spec.seed, [arm.arm_id for arm in spec.arms]) == ("mine", 7, ["capsule"])
