"""The reader and the writer of canonical JSON once more: slow and obvious, refusing by code what is refused.

Shares no code with ``capsules``; ``slow_model`` reads capsules with it.
"""

from __future__ import annotations

import re
from typing import Any

from blake3 import blake3

Json = Any


def b3(data: bytes) -> str:
    return "b3:" + blake3(data).hexdigest()


class Refused(Exception):
    """The reader's own code."""


def canon(value: Json) -> bytes:
    if value is None or value is True or value is False:
        return {None: b"null", True: b"true", False: b"false"}[value]
    if isinstance(value, int):
        return b"%d" % value
    if isinstance(value, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
        letters = [short.get(c) or (c if c >= " " else f"\\u{ord(c):04x}") for c in value]
        return f'"{"".join(letters)}"'.encode()
    if isinstance(value, list):
        return b"[" + b",".join(canon(item) for item in value) + b"]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return b"{" + b",".join(canon(key) + b":" + canon(value[key]) for key in keys) + b"}"


class Reader:
    """Recursive descent over text, refusing what is not allowed where it stands."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(b"\xef\xbb\xbf"):
            raise Refused("json.bom")
        try:
            self.text = data.decode()
        except UnicodeDecodeError:
            raise Refused("json.utf8.invalid") from None
        if "\0" in self.text[:2]:
            raise Refused("json.utf8.invalid")
        self.at = 0

    def whole(self) -> Json:
        value = self.value(1)
        self.space()
        if self.at < len(self.text):
            raise Refused("json.syntax")
        return value

    def space(self) -> None:
        while self.text[self.at : self.at + 1] in (" ", "\t", "\n", "\r") and self.at < len(self.text):
            self.at += 1

    def take(self, pattern: str) -> str | None:
        self.space()
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def need(self, pattern: str) -> str:
        found = self.take(pattern)
        if found is None:
            raise Refused("json.syntax")
        return found

    def value(self, depth: int) -> Json:
        opened = self.take(r"[\[{]")
        if opened and depth > 32:
            raise Refused("json.depth.exceeded")
        if opened:
            return self.members(depth) if opened == "{" else self.items(depth)
        if self.take('"'):
            return self.string()
        if self.take("NaN|-?Infinity"):
            raise Refused("json.constant")
        word = self.need(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
        if word in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[word]
        if re.search(r"[.eE]", word):
            raise Refused("json.number.float")
        if word == "-0":
            raise Refused("json.number.negative_zero")
        if len(word) > 17 or abs(int(word)) > 2**53 - 1:
            raise Refused("json.number.range")
        return int(word)

    def items(self, depth: int) -> Json:
        found: list[Json] = []
        if self.take(r"\]"):
            return found
        while True:
            found.append(self.value(depth + 1))
            if self.need(r"[,\]]") == "]":
                return found

    def members(self, depth: int) -> Json:
        found: dict[str, Json] = {}
        if self.take(r"\}"):
            return found
        while True:
            self.need('"')
            key = self.string()
            self.need(":")
            value = self.value(depth + 1)
            if key in found:
                raise Refused("json.key.duplicate")
            found[key] = value
            if self.need(r"[,}]") == "}":
                return found

    def string(self) -> str:
        units = []
        while True:
            if self.at >= len(self.text) or self.text[self.at] < " ":
                raise Refused("json.syntax")
            letter = self.text[self.at]
            self.at += 1
            if letter == '"':
                break
            if letter == "\\":
                escape = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}').match(self.text, self.at)
                if escape is None:
                    raise Refused("json.syntax")
                self.at = escape.end()
                word = escape.group()
                plain = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
                letter = chr(int(word[1:], 16)) if word[0] == "u" else plain.get(word, word)
            units.append(letter)
        text = "".join(units).encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
        for letter in text:
            point = ord(letter)
            if 0xD800 <= point <= 0xDFFF:
                raise Refused("json.string.surrogate")
            if 0xFDD0 <= point <= 0xFDEF or point & 0xFFFE == 0xFFFE:
                raise Refused("json.string.noncharacter")
        return text
