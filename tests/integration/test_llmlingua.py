"""The real library in its own environment: a tiny causal model and a tiny token classifier, made here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.compression.base import Ask
from bench.compression.library_env import LibraryEnvironment, library_environment
from bench.compression.llmlingua import LibraryBackend, library_model, start_library
from bench.engines.process import ProcessRecord, find_strays
from capsules.rewriting import align

pytestmark = pytest.mark.soak

TEXT = (
    "The Panthers defense gave up just 308 points, ranking sixth in the league. It did not lose at home. "
    "Kawann Short led the team in sacks with 11, while also forcing three fumbles and recovering two."
)
MAKE = """
import sys, torch
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import (BertConfig, BertForTokenClassification, BertTokenizerFast, LlamaConfig,
                          LlamaForCausalLM, PreTrainedTokenizerFast)
folder, words = sys.argv[1], sorted(set(sys.argv[2].replace(",", " ,").replace(".", " .").split()))
torch.manual_seed(0)
vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
with open(folder + "/vocab.txt", "w") as file:
    file.write("\\n".join(vocabulary))
two = BertTokenizerFast(folder + "/vocab.txt", do_lower_case=False)
two.save_pretrained(folder + "/classifier")
config = BertConfig(vocab_size=len(two), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=64, num_labels=2)
BertForTokenClassification(config).save_pretrained(folder + "/classifier")
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(["<s>", *alphabet])}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
one = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="<s>")
one.save_pretrained(folder + "/causal")
config = LlamaConfig(vocab_size=len(one), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                     num_attention_heads=2, max_position_embeddings=4096)
LlamaForCausalLM(config).save_pretrained(folder + "/causal")
"""


@pytest.fixture(scope="module")
def environment() -> LibraryEnvironment:
    """The environment of the user's cache; made here if it is not there (minutes)."""
    return library_environment(print)


@pytest.fixture(scope="module")
def models(environment: LibraryEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(environment.python), "-c", MAKE, str(folder), TEXT], check=True, env=clean)
    return folder


@pytest.fixture
def start(environment: LibraryEnvironment, tmp_path: Path) -> Iterator[Callable[..., LibraryBackend]]:
    records: list[ProcessRecord] = []
    started: list[LibraryBackend] = []

    def make(name: str, folder: Path) -> LibraryBackend:
        backend, facts = start_library(
            name,
            library_model(str(folder), None),
            environment,
            log=tmp_path / "worker.log",
            limit_s=300,
            on_process=records.append,
            ended=lambda: None,
        )
        assert facts["llmlingua"] == "0.2.2"
        started.append(backend)
        return backend

    yield make
    for backend in started:
        backend.close()
    assert find_strays(records) == []


def ask(name: str, mode: str, *texts: str) -> Ask:
    return Ask(compressor=name, model="m", mode=mode, rate_bp=5_000, project="p", question="", texts=texts)


def mapped(text: str, original: str) -> float:
    """Share of a text's characters, white space apart, that alignment finds in the original."""
    placed = align(text, [(f"b3:{'0' * 64}:0-{len(original)}", original)])
    found = "".join(text[piece.start : piece.end] for piece in placed)
    return len("".join(found.split())) / len("".join(text.split()))


def test_llmlingua_drops_and_goes_on_past_three_steps(
    start: Callable[..., LibraryBackend], models: Path
) -> None:
    backend = start("llmlingua", models / "causal")
    long = " ".join([TEXT] * 5)  # some 1,000 ids: five steps of 200, where pairs of tensors are passed on
    (raw,) = backend.shorten(ask("llmlingua", "raw", long))
    assert 0 < len(raw) < len(long)
    short, again = backend.shorten(ask("llmlingua", "protected", TEXT, TEXT))
    assert 0 < len(short) < len(TEXT)
    assert short == again
    original = iter(TEXT)  # one id a letter: only letters went
    assert all(letter in original for letter in short)


def test_llmlingua2_takes_any_token_classifier(start: Callable[..., LibraryBackend], models: Path) -> None:
    backend = start("llmlingua2", models / "classifier")
    raw, same = backend.shorten(ask("llmlingua2", "raw", TEXT, TEXT))
    assert 0 < len(raw) < len(TEXT)
    assert raw == same
    assert mapped(raw, TEXT) > 0.9
