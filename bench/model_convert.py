"""GGUF file -> model folder that vLLM loads, run as a process of its own.

    python -m bench.model_convert GGUF OUT PARENT

Rules of this module:

- vLLM reads GGUF only through a plug-in, so the weights are dequantized once with transformers and saved as
  bfloat16 safetensors, without the quantization config. The tokenizer is rebuilt from the GGUF's own
  vocabulary.
- It runs as a process because torch and transformers take seconds and a gigabyte to import: the caller
  keeps neither.
- It dies with the process that started it (PARENT is its id).
- Nothing is fetched: the hub is switched off before the import.
- stdout holds one JSON object a line: ``{"step": str}`` for progress, ``{"done": {...versions}}`` at the
  end. Anything else (libraries' own chatter) goes to stderr; a failure ends with a traceback there and exit
  status 1.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from bench.engines.process import die_with_parent
from capsules.canonical import canonical_bytes


def _report(out: int, message: dict[str, object]) -> None:
    os.write(out, canonical_bytes(message) + b"\n")


def convert(gguf: Path, out: Path, report_fd: int) -> dict[str, str]:
    """Writes ``out`` (config, bfloat16 safetensors, tokenizer.json) from a GGUF file.

    Args:
        gguf: The file; its folder is where transformers looks for it.
        out: An existing empty folder.
        report_fd: File descriptor for progress lines.

    Returns:
        The versions of the libraries that did it: they belong in the folder's manifest.
    """
    import torch
    import transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder, name = str(gguf.parent), gguf.name
    _report(report_fd, {"step": "reading the tokenizer"})
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    _report(report_fd, {"step": "dequantizing the weights"})
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
    )
    # The saved folder holds plain weights: a quantization config would make the loader look for packed ones.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    _report(report_fd, {"step": "writing the weights"})
    model.save_pretrained(str(out))
    tokenizer.save_pretrained(str(out))
    return {"torch": str(torch.__version__), "transformers": str(transformers.__version__)}


def main(argv: list[str]) -> int:
    """Runs the conversion; usage errors exit 2."""
    if len(argv) != 4:
        print("usage: python -m bench.model_convert GGUF OUT PARENT", file=sys.stderr)
        return 2
    die_with_parent(int(argv[3]))
    os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", DO_NOT_TRACK="1")
    report_fd = os.dup(1)
    with contextlib.redirect_stdout(sys.stderr):
        versions = convert(Path(argv[1]), Path(argv[2]), report_fd)
    _report(report_fd, {"done": versions})
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
