from __future__ import annotations

from pathlib import Path

import pytest

from bench.evidence.detectors import detector
from bench.evidence.nli import Nli, NliError, nli_detector

CLASSES = ("entailment", "neutral", "contradiction")


def test_a_pair_contradicts_in_both_directions_or_not_at_all() -> None:
    says = {("a", "b"), ("b", "a"), ("a", "c")}
    ask = Nli(lambda premise, hypothesis: (premise, hypothesis) in says)
    assert ask([("a", "b"), ("a", "c"), ("c", "a"), ("b", "c")]) == ["labelled", None, None, None]


def test_the_kind_is_the_rule_s_where_the_rule_sees_one() -> None:
    ask = Nli(lambda premise, hypothesis: True)
    assert ask([("The ferry needs 7 minutes.", "The ferry needs 8 minutes.")]) == ["numeric"]


@pytest.mark.parametrize("model", ["", "org/name", "org/name@main", "org/name@abc"])
def test_a_model_is_a_folder_or_a_full_commit(model: str) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(NliError, match="expected a folder, or a hub id at a full commit"):
        nli_detector(model)


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.evidence.nli.find_spec", lambda name: None)
    with pytest.raises(NliError, match=r"missing torch and transformers; install them with: .*\[nli\]"):
        nli_detector("/some/folder")


def tiny_model(folder: Path, classes: tuple[str, ...], bias: int) -> str:
    """A classifier of two layers with random weights that always prefers one class."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "ferry", "mill", "gull"]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label=dict(enumerate(classes)),
    )
    model = transformers.BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.bias[bias] = 1.0
    model.save_pretrained(folder)
    return f"nli@{folder}"


@pytest.mark.parametrize(("bias", "kind"), [(2, "labelled"), (1, None)])
def test_a_model_of_a_folder_judges(tmp_path: Path, bias: int, kind: str | None) -> None:
    name = tiny_model(tmp_path, CLASSES, bias)
    assert detector(name)([("The ferry.", "The mill.")]) == [kind]
    assert detector(name)([("The ferry. " * 60, "The mill.")]) == [kind]  # over the window: cut, not refused


def test_a_model_without_the_class_is_refused(tmp_path: Path) -> None:
    name = tiny_model(tmp_path, ("yes", "no", "maybe"), 0)
    with pytest.raises(NliError, match="expected a class 'contradiction', found maybe, no, yes"):
        detector(name)
