"""The normalizations under which a quote may equal its source, from the strictest to the most lenient.

An entry is immutable once released: another rule is another id. All are idempotent, and none folds case,
digits or word breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from capsules.alignment import Rules
from capsules.canonical import canonical_bytes
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.unicode_tables import UNICODE_VERSION

ORDER = ("raw/1", "text/1", "quote/1", "compat/1")


@dataclass(frozen=True, slots=True, kw_only=True)
class NormEntry:
    """A registered normalization.

    Attributes:
        norm_id: Its name, ``<word>/<version>``.
        spec_text: What it does, in words from which it could be written again.
        unicode_version: The version of Unicode whose data it uses.
        vectors_id: ContentId of its test vectors: the canonical array of [raw, normalized] pairs.
    """

    norm_id: str
    spec_text: str
    unicode_version: str
    vectors_id: str

    def entry_id(self) -> str:
        """ContentId of the entry, for a run's manifest."""
        return content_id(
            canonical_bytes(
                {
                    "norm_id": self.norm_id,
                    "spec_text": self.spec_text,
                    "unicode_version": self.unicode_version,
                    "vectors_id": self.vectors_id,
                }
            )
        )


_QUOTE_TEXT = (
    "drop U+00AD U+200B U+2060 U+FEFF; U+2018 and U+2019 become U+0027, U+201C and U+201D become U+0022, "
    "U+2010 and U+2011 become U+002D; NFC; every run of White_Space becomes one U+0020"
)
_SPEC_TEXTS = {
    "raw/1": "identity",
    "text/1": "CR LF and CR become LF; NFC",
    "quote/1": f"in this order: {_QUOTE_TEXT}",
    "compat/1": (
        "in this order: each character is replaced by its decomposition if the tag of that is <wide>, "
        "<narrow>, <isolated>, <initial>, <medial> or <final>, or if the tag is <compat> and a letter "
        f"decomposes to two or more letters, repeatedly; {_QUOTE_TEXT}"
    ),
}
_VECTORS_IDS = {
    "raw/1": "b3:6bed225611d9ea6ecce6096f2fd1daf0118eb086f67f0865a2cba23c5302a348",
    "text/1": "b3:614e0f5c0254a29a8e4dd4670a28bbffe01b0b9d472398a1acbd720c1371d94d",
    "quote/1": "b3:ce4846839ae13763382e85769a8a9f3ee4e08bc34242367de309c35f267867e9",
    "compat/1": "b3:c349f20dff5b62146a9b269d6ccc304f367e44d2af77a49ce131de3a85e54a6b",
}
_RULES = {
    "raw/1": Rules(),
    "text/1": Rules(line_ends=True),
    "quote/1": Rules(quote=True),
    "compat/1": Rules(quote=True, compat=True),
}

NORMS: Mapping[str, NormEntry] = MappingProxyType(
    {
        norm_id: NormEntry(
            norm_id=norm_id,
            spec_text=_SPEC_TEXTS[norm_id],
            unicode_version=UNICODE_VERSION,
            vectors_id=_VECTORS_IDS[norm_id],
        )
        for norm_id in ORDER
    }
)


def up_to(norm_id: str) -> tuple[str, ...]:
    """The registered normalizations from the strictest to ``norm_id``.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """
    rules_of(norm_id)
    return ORDER[: ORDER.index(norm_id) + 1]


def rules_of(norm_id: str) -> Rules:
    """What a normalization does.

    Raises:
        SchemaError: ``schema.word`` if no normalization has that id.
    """
    if norm_id not in _RULES:
        expected = ", ".join(ORDER)
        raise SchemaError("schema.word", f"expected one of {expected}", at="/normalization")
    return _RULES[norm_id]
