"""The worker and its driver: a real process, and a module named llmlingua that answers by script."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bench.compression.backends import CompressionError
from bench.compression.base import Ask
from bench.compression.library_env import LibraryEnvironment
from bench.compression.llmlingua import (
    LibraryBackend,
    LibraryModel,
    library_model,
    start_library,
    worker_environment,
)
from bench.compression.llmlingua_worker import known_family, plain_cache, serve
from bench.config import to_spec
from bench.engines.base import EngineError
from bench.engines.process import ProcessRecord, find_strays
from bench.engines.protocol import decode, encode
from bench.hydra_app import compose_config
from bench.preparation import require_library_models

SCRIPTED = '''
import os, time

class PromptCompressor:
    """Keeps the first half of the words, and says how it was called."""

    def __init__(self, model_name, device_map, use_llmlingua2, model_config):
        if not os.path.isdir(model_name):
            raise OSError("no such model")
        self.model_name, self.two = model_name, use_llmlingua2
        self.tokenizer = type("Tokenizer", (), {"cls_token": "[CLS]"})
        self.model = type("Model", (), {"forward": None})()

    def compress_prompt(self, context, rate, **more):
        (text,) = context
        if "die" in text:
            os._exit(7)
        if "sleep" in text:
            time.sleep(60)
        if "secret" in text:
            raise ValueError("secret is no word of mine")
        words = text.split(" ")
        kept = words[: int(len(words) * rate)]
        return {"compressed_prompt": " ".join([*kept, f"{self.two}{sorted(more.items())}"])}
'''
RUN = (
    "import sys; sys.path.insert(0, {fake!r})\n"
    "from bench.compression.llmlingua_worker import main\n"
    "raise SystemExit(main(['worker', *sys.argv[1:]]))"
)


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A folder with the scripted module, and versions for it and what it stands beside."""
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "llmlingua.py").write_text(SCRIPTED, "utf-8")
    (folder / "transformers.py").write_text("class DynamicCache:\n    pass\n", "utf-8")
    for name in ("llmlingua", "transformers", "torch"):
        info = folder / f"{name}-9.9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n", "utf-8")
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> LibraryEnvironment:
    return LibraryEnvironment(python=Path(sys.executable), tiktoken=tmp_path / "tiktoken")


@pytest.fixture
def start(
    fake: Path, environment: LibraryEnvironment, tmp_path: Path
) -> Iterator[Callable[..., tuple[LibraryBackend, Any]]]:
    """Starts workers; their processes are gone at the end."""
    records: list[ProcessRecord] = []
    backends: list[LibraryBackend] = []

    def make(name: str = "llmlingua2", limit_s: float = 30.0, model: str = "") -> tuple[LibraryBackend, Any]:
        backend, facts = start_library(
            name,
            LibraryModel(model=model or str(tmp_path), revision=None),
            environment,
            log=tmp_path / "worker.log",
            limit_s=limit_s,
            on_process=records.append,
            ended=lambda: None,
            command=[sys.executable, "-c", RUN.format(fake=str(fake))],
        )
        backends.append(backend)
        return backend, facts

    yield make
    for backend in backends:
        backend.close()
    assert find_strays(records) == []


def ask(*texts: str, mode: str = "protected", rate_bp: int = 5_000) -> Ask:
    return Ask(
        compressor="llmlingua", model="", mode=mode, rate_bp=rate_bp, project="p", question="", texts=texts
    )


def test_texts_come_back_in_order_with_rate_and_step(start: Callable[..., Any]) -> None:
    backend, facts = start()
    assert facts == {"llmlingua": "9.9", "transformers": "9.9", "torch": "9.9"}
    assert backend.shorten(ask("a b c d", "e f")) == ["a b True[]", "e True[]"]  # LLMLingua-2 has no steps
    one, _ = start("llmlingua")
    assert one.shorten(ask("a b c d")) == ["a b False[('iterative_size', 20)]"]
    assert one.shorten(ask("a b c d", mode="raw", rate_bp=2_500)) == ["a False[]"]  # the library's defaults


def test_a_text_that_the_library_fails_on_is_named_by_its_error_alone(start: Callable[..., Any]) -> None:
    backend, _ = start()
    with pytest.raises(CompressionError) as refused:
        backend.shorten(ask("fine text here", "my secret"))
    assert str(refused.value) == "llmlingua raised ValueError"
    assert backend.shorten(ask("a b")) == ["a True[]"]  # it goes on


def test_a_worker_that_dies_or_hangs_is_an_engine_error(start: Callable[..., Any]) -> None:
    backend, _ = start()
    with pytest.raises(EngineError, match="exit status 7"):
        backend.shorten(ask("now die"))
    slow, _ = start(limit_s=1.0)
    with pytest.raises(EngineError, match="no answer within 1 s"):
        slow.shorten(ask("now sleep"))


def test_a_worker_that_does_not_start_shows_its_log(start: Callable[..., Any]) -> None:
    with pytest.raises(EngineError, match=r"starting llmlingua2: OSError\. It said: OSError: no such model"):
        start(model="/nowhere")


def test_messages_that_are_none_end_the_worker(monkeypatch: pytest.MonkeyPatch, fake: Path) -> None:
    monkeypatch.syspath_prepend(str(fake))
    for name in ("llmlingua", "transformers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    out = io.BytesIO()
    start = encode({"op": "start", "model": str(fake), "revision": None, "two": True})
    with pytest.raises(SystemExit):
        serve(io.BytesIO(start + encode({"op": "dance"})), out)
    first, last = out.getvalue().splitlines()
    assert "ok" in decode(first)
    assert decode(last) == {"fatal": "ValueError: unknown message 'dance'"}
    for name in ("llmlingua", "transformers"):
        monkeypatch.delitem(sys.modules, name, raising=False)


class Layer:
    def __init__(self, keys: str, values: str) -> None:
        self.keys, self.values = keys, values


class Cache:
    def __init__(self) -> None:
        self.layers: list[Layer] = []

    def update(self, keys: str, values: str, layer: int) -> None:
        assert layer == len(self.layers)
        self.layers.append(Layer(keys, values))


def test_a_model_takes_and_gives_its_cache_as_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("transformers")
    module.DynamicCache = Cache  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", module)
    seen: list[list[tuple[str, str]]] = []

    def forward(ids: str, *, past_key_values: Cache, use_cache: bool) -> Any:
        seen.append([(layer.keys, layer.values) for layer in past_key_values.layers])
        for layer in past_key_values.layers or [Layer("", "")]:
            layer.keys += ids
        if not past_key_values.layers:
            past_key_values.layers.append(Layer(ids, ids))
        return SimpleNamespace(past_key_values=past_key_values)

    model = SimpleNamespace(forward=forward)
    plain_cache(model)
    out = model.forward("a", use_cache=True)
    assert out.past_key_values == [("a", "a")]
    out = model.forward("b", past_key_values=[["k", "v"]], use_cache=True)
    assert out.past_key_values == [("kb", "v")]
    assert seen == [[], [("k", "v")]]


@pytest.mark.parametrize(
    ("name", "cls", "known"),
    [
        ("/models/tiny", "[CLS]", "bert-base-multilingual-cased"),
        ("/models/tiny", "<s>", "xlm-roberta-large"),
        ("x/llmlingua-2-xlm-roberta-large-y", "[CLS]", "x/llmlingua-2-xlm-roberta-large-y"),
    ],
)
def test_the_family_is_told_from_the_tokenizer_where_the_name_does_not(
    name: str, cls: str, known: str
) -> None:
    library = SimpleNamespace(model_name=name, tokenizer=SimpleNamespace(cls_token=cls))
    known_family(library)
    assert library.model_name == known


def test_models_are_folders_or_pinned(tmp_path: Path) -> None:
    commit = "a" * 40
    assert library_model("", tmp_path) == LibraryModel(model=str(tmp_path), revision=None)
    assert library_model(str(tmp_path), None) == LibraryModel(model=str(tmp_path), revision=None)
    assert library_model(f"org/name@{commit}", None) == LibraryModel(model="org/name", revision=commit)
    for named, says in (
        ("", "this run has none"),
        ("org/name", "expected a folder or"),
        ("a@main", "40-hex"),
    ):
        with pytest.raises(EngineError, match=says):
            library_model(named, None)


def test_a_run_without_the_model_that_arms_want_names_them_and_the_cause() -> None:
    cfg = compose_config(
        [
            "engine=fake", "tokenizer=bytes",
            "+arm@arms.one=capsule_llmlingua", "+arm@arms.two=capsule_llmlingua_raw",
        ]
    )  # fmt: skip
    with pytest.raises(EngineError) as refused:
        require_library_models(to_spec(cfg), None)
    assert str(refused.value) == (
        "arms one, two: llmlingua takes the run's own model, and this run has none, because tokenizer=bytes "
        "loads no model: set compression.model of the arm to a folder or <hub id>@<40-hex commit>, or take "
        "tokenizer=model. Or leave them out: ~arms.one ~arms.two"
    )
    named = to_spec(
        compose_config(["+arm@arms.one=capsule_llmlingua2", "arms.one.compression.model=nowhere"])
    )
    with pytest.raises(EngineError, match=r"^arm one: compression\.model: expected a folder or"):
        require_library_models(named, None)


def test_the_worker_knows_no_hub_but_for_a_hub_model(environment: LibraryEnvironment) -> None:
    local = worker_environment(environment, LibraryModel(model="/m", revision=None))
    assert (local["HF_HUB_OFFLINE"], local["TIKTOKEN_CACHE_DIR"]) == ("1", str(environment.tiktoken))
    hub = worker_environment(environment, LibraryModel(model="o/n", revision="a" * 40))
    assert ("HF_HUB_OFFLINE" in hub) == ("HF_HUB_OFFLINE" in os.environ)
