"""The tokenizer of a run, and the model folder where one is needed.

``model`` is the target model's own; ``hf:<folder>``, ``tiktoken:<encoding>`` and ``bytes`` (one id a byte of
UTF-8, so that nothing has to be installed or fetched) count without a model.
vLLM gets token ids, so it takes the model's tokenizer and no other; engines of one's own choose.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.config_checks import ConfigError
from bench.model_store import ModelFolder, prepare_model
from bench.specs import RunSpec
from bench.tokenizers import ByteTokenizer, HfTokenizer, TiktokenTokenizer
from capsules.tokenizer import Tokenizer

MODEL = "model"
BYTES = "bytes"
NEED_THE_MODEL = ("vllm",)


def run_tokenizer(
    spec: RunSpec, say: Callable[[str], None], *, engine: bool = True
) -> tuple[Tokenizer, ModelFolder | None]:
    """Prepare model and tokenizer.

    Args:
        spec: The run.
        say: Receives lines of progress.
        engine: Whether an engine will run.

    Raises:
        ConfigError: The engine runs a model, and the tokenizer is another one.
        ModelError, TokenizerError: They cannot be had.
    """
    if engine and spec.engine.name in NEED_THE_MODEL and spec.tokenizer != MODEL:
        raise ConfigError(
            f"tokenizer: expected {MODEL!r} for engine {spec.engine.name}, which gets token ids; "
            f"found {spec.tokenizer!r}"
        )
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
