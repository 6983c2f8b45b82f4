"""Normalizations: what they do, by value and by law, and the way back to raw text."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_texts import long_texts, texts

from capsules import unicode_tables
from capsules.content_id import content_id
from capsules.errors import SchemaError
from capsules.norm_registry import up_to
from capsules.normalization import NORMS, ORDER, normalize, normalized_text, trim

VECTORS = Path(__file__).parent / "norm_vectors"


def obvious(text: str, norm_id: str) -> str:
    """The normalizations once more, as their ``spec_text`` says, one step after the other."""
    if norm_id == "raw/1":
        return text
    if norm_id == "text/1":
        return pinned_nfc(text.replace("\r\n", "\n").replace("\r", "\n"))
    if norm_id == "compat/1":
        text = "".join(obvious_compat(char) for char in text)
    for char in "\u00ad\u200b\u2060\ufeff":
        text = text.replace(char, "")
    for pair in ("\u2018'", "\u2019'", '\u201c"', '\u201d"', "\u2010-", "\u2011-"):
        text = text.replace(pair[0], pair[1])
    space = "[\x09-\x0d\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
    return re.sub(space, " ", pinned_nfc(text))


def obvious_compat(char: str) -> str:
    tag, *points = unicodedata.decomposition(char).split()[:1] + [
        chr(int(point, 16)) for point in unicodedata.decomposition(char).split()[1:]
    ] or [""]
    is_letter = all(unicodedata.category(part)[0] == "L" for part in [char, *points])
    if tag in ("<wide>", "<narrow>", "<isolated>", "<initial>", "<medial>", "<final>") or (
        tag == "<compat>" and len(points) > 1 and is_letter
    ):
        return "".join(obvious_compat(part) for part in points)
    return char


def pinned_nfc(text: str) -> str:
    """NFC in which a code point that Unicode 14.0 does not assign is an inert starter."""
    parts = re.split("([\U00010efd-\U00010eff\U0001e030-\U0001e08f\u0cf3])", text)
    return "".join(unicodedata.normalize("NFC", part) for part in parts)


@pytest.mark.parametrize("norm_id", ORDER)
def test_vectors(norm_id: str) -> None:
    data = (VECTORS / f"{norm_id.replace('/', '-')}.json").read_bytes()
    assert content_id(data) == NORMS[norm_id].vectors_id
    pairs = json.loads(data)
    assert len(pairs) == 22
    for raw, expected in pairs:
        assert normalize(raw, norm_id).text == expected


@pytest.mark.parametrize(
    ("norm_id", "entry_id"),
    [
        ("raw/1", "b3:f57a0b9563c006f9bdc38475f4678f5232a7799d321048eb11edafc1b4c3c8dd"),
        ("text/1", "b3:f07d37f540d97daf4d05971d864f4c92ce338ca94189ccd43f8ab27905e34076"),
        ("quote/1", "b3:335c3f6a884829a721cba49ebe73ae3929281ce1d2563a754dbf34ea64eb3661"),
        ("compat/1", "b3:798018054606a9ef04c6066e36a7c475042118e8e89795ad24d54390a5c87dbc"),
    ],
)
def test_an_entry_never_changes(norm_id: str, entry_id: str) -> None:
    assert NORMS[norm_id].norm_id == norm_id
    assert NORMS[norm_id].unicode_version == "14.0.0"
    assert NORMS[norm_id].entry_id() == entry_id


def test_the_registry_is_ordered_and_cannot_be_changed() -> None:
    assert tuple(NORMS) == ORDER == ("raw/1", "text/1", "quote/1", "compat/1")
    assert up_to("text/1") == ("raw/1", "text/1")
    with pytest.raises(TypeError):
        NORMS["raw/1"] = NORMS["text/1"]  # type: ignore[index]


def test_an_unknown_normalization_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"raw/1, text/1, quote/1, compat/1") as refused:
        normalize("a", "quote/2")
    assert (refused.value.code, refused.value.at) == ("schema.word", "/normalization")


def test_white_space_is_the_unicode_property() -> None:
    assert len(unicode_tables.WHITE_SPACE) == len(set(unicode_tables.WHITE_SPACE)) == 25
    spaces = {chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == "Z"}
    assert spaces | set("\t\n\x0b\x0c\r\x85") == set(unicode_tables.WHITE_SPACE)
    assert normalize("a\x1cb", "quote/1").text == "a\x1cb"


@pytest.mark.parametrize("norm_id", ORDER)
def test_every_character(norm_id: str) -> None:
    chars = [chr(c) for c in range(sys.maxunicode + 1) if unicode_tables.category(chr(c)) not in ("Cn", "Co")]
    assert normalize("x".join(chars), norm_id).text == obvious("x".join(chars), norm_id)


@pytest.mark.parametrize("norm_id", ORDER)
@settings(deadline=None)
@given(text=texts | st.text(max_size=20) | long_texts)
def test_normalization_is_what_its_text_says_and_idempotent(norm_id: str, text: str) -> None:
    norm = normalize(text, norm_id).text
    if not unicode_tables.has_unassigned(text):
        assert norm == obvious(text, norm_id)
    assert normalize(norm, norm_id).text == norm
    assert normalized_text(text, norm_id) == norm


@settings(deadline=None)
@given(text=texts)
def test_stricter_normalizations_are_absorbed(text: str) -> None:
    for strict, lenient in (("text/1", "quote/1"), ("text/1", "compat/1"), ("quote/1", "compat/1")):
        assert normalize(normalize(text, strict).text, lenient).text == normalize(text, lenient).text


def test_a_very_long_run_of_marks_takes_linear_time() -> None:
    marks = 300_000  # with the interpreter's own ordering: minutes
    norm = normalize("a" + "\u0301\u0323" * marks, "text/1")
    assert norm.text == "\u1ea1" + "\u0323" * (marks - 1) + "\u0301" * marks
    starters = normalize("\u0f73" * 3000 + "\u1161\u0301\u0323", "text/1").text
    assert starters == "\u0f71" * 3000 + "\u0f72" * 3000 + "\u1161\u0323\u0301"


def test_unassigned_code_points_pass_unchanged_with_an_info_code() -> None:
    for text in ("a\u0378\u0301", "\U00010efd\u0323", "\U0001e4ee\u0301"):
        for norm_id in ORDER:
            norm = normalize(text, norm_id)
            assert norm.text == text
            assert norm.codes == ("norm.unicode.unassigned",)
    assert normalize("plain", "raw/1").codes == ()
    assert normalize("caf\u00e9", "raw/1").codes == ()


def test_characters_assigned_later_are_inert_on_every_python() -> None:
    # U+10EFD has combining class 220 since Unicode 15.0: a newer Python would move it.
    assert unicode_tables.category("\U00010efd") == "Cn"
    assert normalize("e\u0301\U00010efd\u0301", "text/1").text == "\u00e9\U00010efd\u0301"


EVERYWHERE = {
    "text/1": "b3:4d966205db8b964958d434f308b5fd793cc4fdcf900c7914c2b200c1c6c917ff",
    "quote/1": "b3:057e9d6313a8c5fa2feb20c97b2a91e80874b9b098c14201d2daf0c902cd4e44",
    "compat/1": "b3:ef543706ffefed8969cbe8039ff99517de82ef84a066b8be4a6f7dbbdc40461d",
}


@pytest.mark.parametrize("norm_id", EVERYWHERE)
def test_every_character_in_context_is_the_same_on_every_python(norm_id: str) -> None:
    chars = (chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000)
    text = "".join(f"e{char}\u0323\u0301 " for char in chars)
    assert content_id(normalize(text, norm_id).text.encode()) == EVERYWHERE[norm_id]


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are those of Unicode 14.0.0")
def test_the_tables_are_those_of_unicode_14() -> None:
    joining, expanding, compat = set(), set(), {}
    for char in map(chr, range(sys.maxunicode + 1)):
        decomposition = unicodedata.decomposition(char)
        if decomposition and "<" not in decomposition:
            parts = [chr(int(point, 16)) for point in decomposition.split()]
            if len(parts) == 2 and unicodedata.normalize("NFC", "".join(parts)) == char:
                joining.add(parts[1])
        elif decomposition and obvious_compat(char) != char:
            compat[char] = obvious_compat(char)
        if unicodedata.combining(unicodedata.normalize("NFD", char)[0]):
            joining.add(char)
        if len(unicodedata.normalize("NFC", char)) > 1:
            expanding.add(char)
    joining |= set(map(chr, [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]))
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    listed = set(unicode_tables.joining_pattern().findall(every))
    assert listed >= joining
    assert {char for char in listed if char <= "\uffff"} == {char for char in joining if char <= "\uffff"}
    assert len(listed) < 5000
    assert dict(unicode_tables.compat_table()) == compat
    first = {char for char, to in compat.items() if to[0] == " " or to[0] in joining}
    assert set(unicode_tables.joining_pattern(compat=True).findall(every)) == listed | first
    longer = set(re.findall(f"[{unicode_tables._charset(unicode_tables._EXPANDING)}]", every))
    assert longer <= expanding <= longer | listed


def test_unicode_normalization_test(capsule_data: Path) -> None:
    lines = (capsule_data / "unicode" / "NormalizationTest.txt").read_text("utf-8").splitlines()
    cases = 0
    for line in lines:
        if not line or line[0] in "#@":
            continue
        c1, c2, c3, c4, c5 = (
            "".join(chr(int(point, 16)) for point in field.split()) for field in line.split(";")[:5]
        )
        for source, expected in ((c1, c2), (c2, c2), (c3, c2), (c4, c4), (c5, c4)):
            norm = normalize(source, "text/1")
            expected = expected.replace("\r", "\n")
            assert norm.text == expected, line
            assert norm.to_raw(0, len(expected)) == (0, len(source), True)
        cases += 1
    assert cases == 18_593


def test_naughty_strings(capsule_data: Path) -> None:
    strings = json.loads((capsule_data / "blns" / "blns.json").read_text("utf-8"))
    assert len(strings) == 515
    for text in strings:
        for norm_id in ORDER:
            norm = normalize(text, norm_id)
            if not unicode_tables.has_unassigned(text):
                assert norm.text == obvious(text, norm_id)
            if norm.text:
                assert norm.to_raw(0, len(norm.text)).clean


@pytest.mark.parametrize(
    ("quote", "inner"),
    [
        ("", (0, 0)),
        ("a", (0, 1)),
        ("\u200b \n", (3, 3)),
        (" \ufeffa b\u00ad\u3000", (2, 5)),
        ("\x1ca", (0, 2)),
    ],
)
def test_trim(quote: str, inner: tuple[int, int]) -> None:
    assert trim(quote) == inner
