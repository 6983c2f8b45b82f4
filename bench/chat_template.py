"""A model's own chat template as ids around one user turn.

Rules that this module owns:

* The template is the model's, from its tokenizer files, rendered once with a placeholder as the user's turn.
  What stands before and after the placeholder is the frame. The same for every prompt, so it belongs to the
  stable prefix.
* Instructions, examples, evidence and question are one user turn: a system turn is not known to every
  template. A default system turn that a template adds by itself is part of the frame.
* The frame is encoded with its control tokens, the content never: it is spliced in as ids.
* Exactly one BOS leads, whether the template writes it or not.
* A clock is not offered to the template: it would change the prefix from day to day.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.config_checks import ConfigError
from bench.specs import ModelSpec
from bench.tokenizers import HfTokenizer, TokenizerError
from capsules.tokenized import Frame, framed
from capsules.tokenizer import Tokenizer

CONTENT = "the-turn-of-the-user-stands-here"
_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token")


def frame_of(model: ModelSpec, tokenizer: Tokenizer) -> Frame | None:
    """The frame of a model's prompts; ``None`` for a base model.

    Raises:
        ConfigError: ``model.instruct`` is true and the tokenizer is not the model's.
        TokenizerError: The model has no chat template, or one that cannot be used.
    """
    if not model.instruct:
        return None
    if not isinstance(tokenizer, HfTokenizer):
        raise ConfigError(
            "model.instruct: expected a tokenizer with a chat template (tokenizer=model or hf:<folder>), "
            f"found {tokenizer.tokenizer_id}"
        )
    config = _config(tokenizer.folder)
    text = _rendered(tokenizer.folder, _template(tokenizer.folder, config), config)
    before, found, after = text.partition(CONTENT)
    if not found or CONTENT in after:
        raise TokenizerError(
            f"{tokenizer.folder}: expected a chat template that shows the user's turn once, as it is; "
            f"found it {text.count(CONTENT)} times"
        )
    head, bos = tokenizer.encode_control(before), tokenizer.bos_id
    if bos is not None and head[:1] != [bos]:
        head = [bos, *head]
    frame = Frame(head=tuple(head), tail=tuple(tokenizer.encode_control(after)))
    framed((), tokenizer, frame)  # exactly one BOS, or an error here and not at every prompt
    return frame


def _config(folder: Path) -> Mapping[str, Any]:
    path = folder / "tokenizer_config.json"
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise TokenizerError(f"{path}: expected JSON: {error}") from error
    if not isinstance(value, dict):
        raise TokenizerError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def _template(folder: Path, config: Mapping[str, Any]) -> str:
    """The template: a file of its own before the one in the tokenizer's configuration."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text("utf-8")
    template = config.get("chat_template")
    if isinstance(template, list):  # several, by name
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    if not isinstance(template, str):
        raise TokenizerError(
            f"{folder}: model.instruct is true, but neither chat_template.jinja nor tokenizer_config.json "
            "holds a chat template; a base model takes model.instruct=false"
        )
    return template


def _rendered(folder: Path, template: str, config: Mapping[str, Any]) -> str:
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = refuse
    tokens = {name: _token(config.get(name)) for name in _TOKENS if name in config}
    try:
        return environment.from_string(template).render(
            messages=[{"role": "user", "content": CONTENT}], add_generation_prompt=True, **tokens
        )
    except TemplateError as error:
        raise TokenizerError(f"{folder}: the chat template cannot be rendered: {error}") from error


def _token(value: object) -> str:
    return str(value["content"]) if isinstance(value, dict) else "" if value is None else str(value)
