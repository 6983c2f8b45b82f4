from __future__ import annotations

import pytest

from bench.retrieval.terms import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("— … !", ()),
        ("The Ferry, the FERRY's 40 l", ("the", "ferry", "the", "ferry", "s", "40", "l")),
        ("Straße STRASSE", ("strasse", "strasse")),
        ("\ufb01led Cafe\u0301 café", ("filed", "café", "café")),
        ("日本語", ("日本", "本語")),
        ("水", ("水",)),
        ("カタカナ123と漢字", ("カタ", "タカ", "カナ", "123", "と漢", "漢字")),
        ("ภาษา", ("ภา", "าษ", "ษา")),
        ("हिन्दी में", ("हिन्दी", "में")),
        ("العَرَبِيّة لغة", ("العَرَبِيّة", "لغة")),
        ("한국어 문장", ("한국어", "문장")),
        ("a_b", ("a", "b")),
    ],
)
def test_terms_of_any_script(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected
