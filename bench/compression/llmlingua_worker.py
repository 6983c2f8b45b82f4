"""The library llmlingua in a process and an environment of its own.

    python -m bench.compression.llmlingua_worker IN OUT PARENT     (started by ``llmlingua`` alone)

    driver -> worker   {"op": "start", "model", "revision", "two"}
                       {"op": "shorten", "texts", "rate_bp", "step"}
    worker -> driver   {"ok": value} · {"fatal": str}      (one JSON object a line: bench.engines.protocol)

Rules of this module:

* The library is used as it is, by its public calls. One thing is laid around the *model* that it loads: the
  library keeps a KV cache as pairs of tensors, and models of today take and give objects. And LLMLingua-2
  tells how words are cut from the model's *name*: for other names it is told from the tokenizer.
* A text that the library fails on is the answer {"error": type}; nothing of the text is in it.
* It dies with the driver, and when its pipe is closed.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from bench.engines.process import die_with_parent
from bench.engines.protocol import Message, decode, encode

_WORDPIECE, _SENTENCEPIECE = "bert-base-multilingual-cased", "xlm-roberta-large"


def plain_cache(model: Any) -> None:
    """Make a model take and give its KV cache as pairs of tensors, whole for every layer."""
    from transformers import DynamicCache

    inner = model.forward

    def forward(*given: Any, past_key_values: Any = None, **more: Any) -> Any:
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(past_key_values or ()):
            cache.update(keys, values, layer)
        out = inner(*given, past_key_values=cache, **more)
        out.past_key_values = [(layer.keys, layer.values) for layer in cache.layers]
        return out

    model.forward = forward


def known_family(library: Any) -> None:
    """Tell LLMLingua-2 how its tokenizer cuts words, where the model's name does not."""
    if not any(family in library.model_name for family in (_WORDPIECE, _SENTENCEPIECE)):
        library.model_name = _WORDPIECE if library.tokenizer.cls_token == "[CLS]" else _SENTENCEPIECE


class Worker:
    """One of the library's compressors.

    Args:
        model: A folder, or a hub id.
        revision: The hub's commit; ``None`` for a folder.
        two: Whether it is LLMLingua-2 (a token classifier).
    """

    def __init__(self, model: str, revision: str | None, *, two: bool) -> None:
        from llmlingua import PromptCompressor

        if revision is not None:
            from huggingface_hub import snapshot_download

            model = snapshot_download(model, revision=revision)
        self._two = two
        self._library = PromptCompressor(
            model_name=model,
            device_map="cpu",
            use_llmlingua2=two,
            model_config={"trust_remote_code": False, "local_files_only": True},
        )
        if two:
            known_family(self._library)
        else:
            plain_cache(self._library.model)

    def shorten(self, text: str, rate: float, step: int | None) -> str | dict[str, str]:
        """A text after the library, or the type of its error.

        Args:
            text: What to shorten.
            rate: The share asked for.
            step: ``iterative_size``; ``None`` leaves it to the library.
        """
        more = {} if step is None or self._two else {"iterative_size": step}
        try:
            found = self._library.compress_prompt([text], rate=rate, **more)
            return str(found["compressed_prompt"])
        except Exception as error:  # the library raises what torch and Python raise
            traceback.print_exc()
            return {"error": type(error).__name__}

    def facts(self) -> Message:
        """Versions, for the log of the run."""
        from importlib.metadata import version

        return {name: version(name) for name in ("llmlingua", "transformers", "torch")}


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the pipe is closed."""

    def answer(message: Mapping[str, object]) -> None:
        answers.write(encode(message))
        answers.flush()

    worker: Worker | None = None
    try:
        for line in requests:
            message = decode(line)
            if worker is None:
                worker = Worker(message["model"], message["revision"], two=message["two"])
                answer({"ok": worker.facts()})
            elif message["op"] == "shorten":
                rate, step = int(message["rate_bp"]) / 10_000, message["step"]
                answer({"ok": [worker.shorten(text, rate, step) for text in message["texts"]]})
            else:
                raise ValueError(f"unknown message {message['op']!r}")
    except Exception as error:
        traceback.print_exc()
        answer({"fatal": f"{type(error).__name__}: {str(error)[:2000]}"})
        raise SystemExit(1) from error


def main(argv: Sequence[str]) -> int:
    """Serve until the request pipe is closed."""
    receive, send, parent = (int(word) for word in argv[1:4])
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    with os.fdopen(receive, "rb") as requests, os.fdopen(send, "wb") as answers:
        serve(requests, answers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
