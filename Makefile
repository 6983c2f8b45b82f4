# One command each; every one sets .venv up first (instant when it is complete).
#
#   make bench                                   the default experiment on real vLLM
#   make bench ENGINE=vllm_gpu                   another engine than the one chosen by what the machine has
#   make bench ARGS="experiment=xquad_en limit=16 model=local model.ref=/path"      anything `capsule-bench run` takes
#   make test · make soak · make check
#   CAPSULE_PYTHON=/path/to/python3.11 make ...  another interpreter for .venv

PYTHON3 ?= python3
ENGINE ?= $(engine)
ARGS ?=
SETUP = $(PYTHON3) scripts/setup.py --engine "$(ENGINE)"
RUN = .venv/bin/python -m

.DEFAULT_GOAL := help
.PHONY: help bench test soak check setup dev clean

help:
	@sed -n 's/^#   \(.*\)/\1/p' Makefile

bench:
	@$(SETUP) --bench $(if $(model),model=$(model)) $(ARGS)

setup:
	@$(SETUP)

dev:
	@$(SETUP) --dev

test: dev
	@$(RUN) pytest -m "not soak" $(ARGS)

soak: dev
	@$(RUN) pytest -m soak $(ARGS)

check: dev
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@.venv/bin/lint-imports

clean:
	rm -rf .venv .venv-* build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .benchmarks .hypothesis
