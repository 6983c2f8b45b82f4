"""Tokenizers for the core's protocol: of a model folder, of tiktoken, and of bytes.

Rules that this module owns:

* Text is content: control-token text inside it becomes ordinary pieces, and no tokenizer adds a
  special token by itself. The BOS id is only *named* here; rendering puts it in front, once.
* A tokenizer's digest is of its definition, so a count says what it was made with.
* Counts come from the tokenizer that is asked for, or there is an error: never an estimate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from capsules.content_id import content_id, derived_key


class TokenizerError(Exception):
    """A tokenizer cannot be had; the message names what was expected, found, and where."""


class HfTokenizer:
    """The tokenizer of a model folder, by the ``tokenizers`` package.

    Args:
        folder: Holds ``tokenizer.json`` and, for the BOS, ``tokenizer_config.json`` or ``config.json``.
        name: Hub id or local name; a folder's path is no identity.

    Raises:
        TokenizerError: A file is missing or not readable.
    """

    def __init__(self, folder: Path, name: str) -> None:
        from tokenizers import Tokenizer as FastTokenizer  # heavy: only where it is used

        self.folder = folder
        path = folder / "tokenizer.json"
        try:
            data = path.read_bytes()
        except OSError as error:
            raise TokenizerError(f"expected a tokenizer.json in {folder}: {error.strerror}") from error
        try:
            self._fast = FastTokenizer.from_str(data.decode())
        except Exception as error:  # the package raises bare Exception
            raise TokenizerError(
                f"{path}: expected a tokenizer of the tokenizers package: {error}"
            ) from error
        self._fast.no_truncation()
        self._fast.no_padding()
        self._fast.encode_special_tokens = True  # "<bos>" inside a text is text
        self.tokenizer_id = f"hf:{name}"
        self.tokenizer_digest = content_id(data)
        special = {i for i, token in self._fast.get_added_tokens_decoder().items() if token.special}
        self.bos_id = _bos_id(folder, self._fast.token_to_id)
        self.control_ids = frozenset(special if self.bos_id is None else special | {self.bos_id})

    def encode(self, text: str) -> list[int]:
        """Ids of ``text`` as plain content."""
        ids: list[int] = self._fast.encode(text, add_special_tokens=False).ids
        return ids

    def encode_control(self, text: str) -> list[int]:
        """Ids of a template's own text: control tokens are what they say."""
        self._fast.encode_special_tokens = False
        try:
            ids: list[int] = self._fast.encode(text, add_special_tokens=False).ids
        finally:
            self._fast.encode_special_tokens = True
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special tokens visible."""
        text: str = self._fast.decode(list(ids), skip_special_tokens=False)
        return text


class TiktokenTokenizer:
    """An encoding of the tiktoken package: counts without a model.

    Args:
        encoding: A ``tiktoken.Encoding``, or the name of one (tiktoken loads it, from its cache or
            the network).

    Raises:
        TokenizerError: There is no such encoding, or it cannot be loaded.
    """

    def __init__(self, encoding: object) -> None:
        import tiktoken  # only where it is used

        if isinstance(encoding, str):
            try:
                encoding = tiktoken.get_encoding(encoding)
            except Exception as error:  # unknown names are ValueError; loading raises the transport's own
                raise TokenizerError(
                    f"tiktoken:{encoding}: cannot be loaded ({type(error).__name__}: {str(error)[:120]}). "
                    "tiktoken fetches an encoding once; TIKTOKEN_CACHE_DIR names the folder of a copy"
                ) from error
        assert isinstance(encoding, tiktoken.Encoding)
        self._encoding = encoding
        self.tokenizer_id = f"tiktoken:{encoding.name}"
        special = {name: encoding.encode_single_token(name) for name in sorted(encoding.special_tokens_set)}
        self.tokenizer_digest = derived_key(
            "tiktoken/v1",
            encoding.name.encode(),
            encoding._pat_str.encode(),
            *(f"{name}={i}".encode() for name, i in special.items()),
            *encoding.token_byte_values(),
        )
        self.bos_id: int | None = None
        self.control_ids = frozenset(special.values())

    def encode(self, text: str) -> list[int]:
        """Ids of ``text`` as plain content."""
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special tokens visible."""
        return self._encoding.decode(list(ids))


class ByteTokenizer:
    """One id a UTF-8 byte, 256 as BOS: for tests and for runs without a model."""

    bos_id: int | None = 256
    control_ids = frozenset({256})
    tokenizer_id = "hf:bytes"  # a local name: records admit hf: and tiktoken: only
    tokenizer_digest = derived_key("bytes/v1", b"utf-8", b"bos=256")

    def encode(self, text: str) -> list[int]:
        """The UTF-8 bytes of ``text``."""
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the bytes; BOS is shown as ``<bos>``."""
        try:
            return bytes(ids).decode(errors="replace")
        except ValueError:  # an id that is no byte
            return b"".join(b"<bos>" if i == 256 else bytes([i]) for i in ids).decode(errors="replace")


def _bos_id(folder: Path, token_to_id: Callable[[str], int | None]) -> int | None:
    """The BOS that the folder's config files name.

    ``tokenizer_config.json`` decides where it speaks of ``bos_token`` (``null`` says that there is
    none, as for models whose ``config.json`` names an id that is never sent), else ``config.json``.
    """
    config = _read_config(folder / "tokenizer_config.json")
    if "bos_token" in config:
        token = config["bos_token"]
        if isinstance(token, Mapping):
            token = token.get("content")
        if token is None:
            return None
        found = token_to_id(str(token))
        if found is None:
            raise TokenizerError(
                f"{folder}: bos_token {token!r} of tokenizer_config.json is not in tokenizer.json"
            )
        return found
    model = _read_config(folder / "config.json")
    bos = model.get("bos_token_id")
    return bos if isinstance(bos, int) else None


def _read_config(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise TokenizerError(f"{path}: expected JSON: {error}") from error
    if not isinstance(value, dict):
        raise TokenizerError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value
