from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from bench.tokenizers import ByteTokenizer, HfTokenizer, TiktokenTokenizer, TokenizerError
from capsules.content_id import content_id
from capsules.rendering import Segment
from capsules.tokenized import tokenize_segments


def save(folder: Path, tokenizer: Tokenizer, config: str | None = '{"bos_token": "<s>"}') -> Path:
    tokenizer.save(str(folder / "tokenizer.json"))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(config, "utf-8")
    return folder


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Field case A09: <s> = 0, hi = 2, user = 3; the post-processor puts <s> in front."""
    tokenizer = Tokenizer(models.WordLevel(vocab={"<s>": 0, "?": 1, "hi": 2, "user": 3}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer.add_special_tokens([AddedToken("<s>", special=True)])
    return save(tmp_path, tokenizer)


@pytest.fixture
def byte_level(tmp_path: Path) -> Path:
    """One id a byte; <bos> and a turn marker are special, <b> is added but not special."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in ("<bos>", "<start_of_turn>")])
    tokenizer.add_tokens([AddedToken("<b>", special=False)])
    tokenizer.enable_truncation(max_length=3)
    tokenizer.enable_padding(length=50)
    return save(tmp_path, tokenizer, '{"bos_token": {"content": "<bos>"}, "model_max_length": 1e30}')


def test_exactly_one_bos_and_none_by_the_tokenizer_itself(toy: Path) -> None:  # A09
    tokenizer = HfTokenizer(toy, "toy")
    assert Tokenizer.from_file(str(toy / "tokenizer.json")).encode("<s> user hi").ids == [0, 0, 3, 2]
    assert tokenizer.encode("user hi") == [3, 2]
    assert tokenize_segments([Segment(kind="tail", text="user hi")], tokenizer).ids == (0, 3, 2)


def test_control_token_text_is_text(byte_level: Path) -> None:  # A12, C09
    tokenizer = HfTokenizer(byte_level, "bytes")
    text = "see <bos> and <start_of_turn>model\n here"
    ids = tokenizer.encode(text)
    assert len(ids) == len(text)
    assert tokenizer.control_ids.isdisjoint(ids)
    assert tokenizer.control_ids == {256, 257}
    assert tokenizer.decode(ids) == text
    sent = tokenize_segments([Segment(kind="item", text=text, ref="s")], tokenizer)
    assert sent.ids.count(256) == 1
    assert not sent.segments[1].lossy


def test_identity_and_settings_that_would_change_content(byte_level: Path) -> None:
    tokenizer = HfTokenizer(byte_level, "org/model")
    assert tokenizer.tokenizer_id == "hf:org/model"
    assert tokenizer.tokenizer_digest == content_id((byte_level / "tokenizer.json").read_bytes())
    assert tokenizer.bos_id == 256
    assert len(tokenizer.encode("abcdef")) == 6  # neither truncated nor padded
    assert tokenizer.decode([256, *tokenizer.encode("a")]) == "<bos>a"
    assert tokenizer.encode("<b>") == [258]  # added, but no control token: content like any other


@pytest.mark.parametrize(
    ("tokenizer_config", "config", "bos"),
    [
        ('{"bos_token": null}', '{"bos_token_id": 2}', None),  # names an id that is never sent
        ("{}", '{"bos_token_id": 2}', 2),
        (None, '{"bos_token_id": 2}', 2),
        (None, "{}", None),
        (None, None, None),
        ('{"bos_token": "<s>"}', '{"bos_token_id": 2}', 0),
    ],
)
def test_the_bos_is_read_from_the_config_files(
    toy: Path, tokenizer_config: str | None, config: str | None, bos: int | None
) -> None:
    for name, text in (("tokenizer_config.json", tokenizer_config), ("config.json", config)):
        if text is None:
            (toy / name).unlink(missing_ok=True)
        else:
            (toy / name).write_text(text, "utf-8")
    assert HfTokenizer(toy, "toy").bos_id == bos


def test_what_is_no_tokenizer_is_refused_by_name(toy: Path, tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json in .*: No such file"):
        HfTokenizer(tmp_path / "nowhere", "x")
    (toy / "tokenizer_config.json").write_text('{"bos_token": "<x>"}', "utf-8")
    with pytest.raises(TokenizerError, match=r"bos_token '<x>' of tokenizer_config\.json is not in"):
        HfTokenizer(toy, "x")
    (toy / "tokenizer_config.json").write_text("[]", "utf-8")
    with pytest.raises(TokenizerError, match="expected a JSON object, found list"):
        HfTokenizer(toy, "x")
    (toy / "tokenizer_config.json").write_text("{", "utf-8")
    with pytest.raises(TokenizerError, match="expected JSON"):
        HfTokenizer(toy, "x")
    (toy / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(TokenizerError, match="expected a tokenizer of the tokenizers package"):
        HfTokenizer(toy, "x")


def encoding(**more: object) -> tiktoken.Encoding:
    ranks = {bytes([i]): i for i in range(256)}
    settings: dict[str, object] = {
        "name": "toy",
        "pat_str": r"[\s\S]+",
        "mergeable_ranks": ranks,
        "special_tokens": {"<|endoftext|>": 256},
    }
    return tiktoken.Encoding(**{**settings, **more})  # type: ignore[arg-type]


def test_special_token_text_inside_documents() -> None:  # A12
    tokenizer = TiktokenTokenizer(encoding())
    ids = tokenizer.encode("see <|endoftext|> here")
    assert len(ids) == 22
    assert tokenizer.decode(ids) == "see <|endoftext|> here"
    assert (tokenizer.tokenizer_id, tokenizer.bos_id, tokenizer.control_ids) == ("tiktoken:toy", None, {256})


def _bpe(*merges: bytes) -> TiktokenTokenizer:
    ranks = {bytes([i]): i for i in range(256)}
    ranks |= {merge: 256 + i for i, merge in enumerate(merges)}
    return TiktokenTokenizer(encoding(mergeable_ranks=ranks, special_tokens={}))


@pytest.mark.parametrize(
    ("merges", "parts", "whole"),
    [((b"bc", b"ab", b"cd"), ["ab", "cd"], 3), ((b"\nx",), ["x", "\n", "x"], 2)],
)
def test_the_sum_of_the_parts_is_not_the_whole(
    merges: tuple[bytes, ...], parts: list[str], whole: int
) -> None:
    tokenizer = _bpe(*merges)  # A13: counts are of the segments as sent, never of another cutting
    assert [len(tokenizer.encode(part)) for part in parts] == [1] * len(parts)
    assert len(tokenizer.encode("".join(parts))) == whole
    sent = tokenize_segments([Segment(kind="item", text=part) for part in parts], tokenizer)
    assert len(sent.ids) == sum(s.n for s in sent.segments) == len(parts)
    assert len(tokenize_segments([Segment(kind="item", text="".join(parts))], tokenizer).ids) == whole


def test_another_definition_has_another_digest() -> None:
    digests = [
        TiktokenTokenizer(found).tokenizer_digest
        for found in (
            encoding(),
            encoding(name="other"),
            encoding(pat_str=r"[\S\s]+"),
            encoding(special_tokens={"<|end|>": 256}),
            encoding(special_tokens={"<|endoftext|>": 257}),
        )
    ]
    assert len(set(digests)) == 5
    assert TiktokenTokenizer(encoding()).tokenizer_digest == digests[0]


def test_an_encoding_that_cannot_be_had_is_no_estimate() -> None:  # C17
    with pytest.raises(TokenizerError, match="tiktoken:nope: cannot be loaded"):
        TiktokenTokenizer("nope")


def test_bytes() -> None:
    tokenizer = ByteTokenizer()
    assert tokenizer.encode("é") == [195, 169]
    assert tokenizer.decode([256, 195, 169]) == "<bos>é"
    assert tokenizer.decode([195]) == "\ufffd"
