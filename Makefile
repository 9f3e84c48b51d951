# Everything runs in .venv, made from the two lock files. Nothing here calls sudo.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help install demo test check bench bench-accuracy mutate golden lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

install: $(STAMP) ## make .venv from both lock files

$(STAMP): requirements.lock requirements-dev.lock pyproject.toml deploy/sampler/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dynascope needs Python 3.11 or newer; set PYTHON=python3.11")'
	@echo "making .venv (two to five minutes the first time, as the network and the disk allow)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e deploy/sampler
	@touch $(STAMP)

demo: $(STAMP) ## run the main path against a local DynamoDB, with planted faults
	$(BIN)/python -m deploy.demo $(ARGS)

check: $(STAMP) ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

CORE := analyzer/model/*,analyzer/knowledge/*,analyzer/statistics/*,analyzer/requests/*,analyzer/contract/*,analyzer/correlator/*,analyzer/traffic/*,analyzer/detectors/*,analyzer/lifecycle/*,analyzer/pipeline.py,analyzer/interfaces.py,analyzer/errors.py

test: $(STAMP) ## every test, and every branch of the core covered (ARGS="tests/traffic" for some)
ifdef ARGS
	$(BIN)/python -m pytest $(ARGS)
else
	@rm -f .coverage .coverage.*
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --cov=analyzer --cov-branch --cov-report=
	$(BIN)/coverage report --include='$(CORE)' --show-missing --skip-covered --fail-under=100
endif

bench: $(STAMP) ## speed and memory, as ratios in one run
	$(BIN)/python -m tests.bench $(ARGS)

bench-accuracy: $(STAMP) ## how often it is right: healthy days and planted faults, by sampling
	$(BIN)/python -m tests.bench.accuracy $(ARGS)

mutate: $(STAMP) ## change detectors and statistics one slip at a time; list what no test notices
	$(BIN)/python -m tests.mutate $(ARGS)

golden: $(STAMP) ## rewrite the golden files; review the difference before you commit it
	$(BIN)/python -m pytest --rewrite-golden $(ARGS)

lock: ## resolve both lock files again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links -o requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml

clean: ## remove .venv and caches
	rm -rf .venv .venv-newest .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
