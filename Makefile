# Every target explains itself: run `make` to see them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORES := $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types imports tests format bench reproduce clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(READY) ## Make the virtual environment with everything pinned

$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

demo: $(READY) ## Aggregate the embedded example and show what came out
	@$(BIN)/python examples/demo.py

test: lint types imports tests ## Lint, types, import rules and all tests

lint: $(READY) ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types (mypy, strict)
	$(BIN)/mypy

imports: $(READY) ## Check that imports point downwards
	$(BIN)/lint-imports --no-cache

tests: $(READY) ## Run all tests, in parallel
	@sh scripts/install-java.sh || true
	@sh scripts/install-chromium.sh || true
	$(BIN)/python -m pytest -n $(CORES) --dist loadfile

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## Run the benchmarks against the rivals (minutes)
	$(BIN)/python -m benchmarks

reproduce: $(READY) ## Reproduce the paper's tables and figure (up to half an hour)
	$(BIN)/covote reproduce all

clean: ## Remove the virtual environment, caches and outputs
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist src/*.egg-info demo-output covote-output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
