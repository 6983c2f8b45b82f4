"""The tokenizer of a run, and the model folder where one is needed.

``model`` is the target model's own; ``hf:<folder>``, ``tiktoken:<encoding>`` and ``bytes`` (one id a byte of
UTF-8, so that nothing has to be installed or fetched) count without a model.
vLLM gets token ids and loads the run's model, so it takes the model's tokenizer and no other, also as the
server of a provider that an arm may ask; engines of one's own choose. A server that is there and takes ids
takes those of its model, which the bytes of a text are not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.config_checks import ConfigError
from bench.engines.replay import REPLAY
from bench.groups import may_be_asked
from bench.model_store import ModelFolder, prepare_model
from bench.specs import RunSpec
from bench.tokenizers import ByteTokenizer, HfTokenizer, TiktokenTokenizer
from capsules.tokenizer import Tokenizer

MODEL = "model"
BYTES = "bytes"
NEED_THE_MODEL = ("vllm", "vllm_server")
SERVER, BY_IDS = "openai", "ids"


def run_tokenizer(
    spec: RunSpec, say: Callable[[str], None], *, engine: bool = True
) -> tuple[Tokenizer, ModelFolder | None]:
    """Prepare model and tokenizer.

    Args:
        spec: The run.
        say: Receives lines of progress.
        engine: Whether an engine will run.

    Raises:
        ConfigError: The engine runs a model, or a server takes the ids of one, and the tokenizer is another.
        ModelError, TokenizerError: They cannot be had.
    """
    if engine and spec.tokenizer != MODEL:
        _require_no_model(spec)
        _require_no_bytes(spec)
    if spec.tokenizer == MODEL:
        folder = prepare_model(spec.model, say=say)
        return HfTokenizer(folder.path, spec.model.name), folder
    if spec.tokenizer == BYTES:
        return ByteTokenizer(), None
    kind, _, rest = spec.tokenizer.partition(":")
    if kind == "tiktoken":
        return TiktokenTokenizer(rest), None
    path = Path(rest).expanduser()
    return HfTokenizer(path, path.name), None


def _require_no_model(spec: RunSpec) -> None:
    asked = may_be_asked(spec)
    engines = [("engine", spec.engine.name)] + [
        (f"provider {p.provider_id}, whose engine is", p.server.engine)
        for p in spec.providers
        if p.server is not None and p.provider_id in asked
    ]
    for what, name in engines:
        if name in NEED_THE_MODEL:
            raise ConfigError(
                f"tokenizer: expected {MODEL!r} for {what} {name}, which gets token ids and loads "
                f"the model's folder; found {spec.tokenizer!r}, which prepares none"
            )


def _require_no_bytes(spec: RunSpec) -> None:
    if spec.tokenizer != BYTES or spec.engine.name == REPLAY:  # a replay sends nothing
        return
    asked = may_be_asked(spec)
    for p in spec.providers:
        server = p.server if p.provider_id in asked else None
        if server is not None and (server.engine, server.prompt) == (SERVER, BY_IDS):
            at = f"providers.{p.provider_id}.server"
            raise ConfigError(
                f"tokenizer: expected {MODEL!r}, hf:<folder> or tiktoken:<encoding>, the one of "
                f"{server.model!r}, for {at}.prompt={BY_IDS}, by which the server takes our ids for its "
                f"model's own; found {BYTES!r}. With {at}.prompt=text (or chat) it gets their text"
            )
