# make demo | test | lint | fmt | golden | bench | vsix | clean. Each sets up what it needs in .venv, once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Versions to hold pip to: CI gives requirements.lock.
CONSTRAINTS ?=
PIP := $(BIN)/python -m pip install -q $(if $(CONSTRAINTS),-c $(CONSTRAINTS))
WORKERS ?= 2
PYTEST_ARGS ?=
DESIGN ?= dgx_superpod_h100

.PHONY: help demo test lint fmt golden bench vsix clean system

help:
	@echo "make demo    install, and build $(DESIGN) into out/"
	@echo "make test    all tests, slow ones included"
	@echo "make lint    ruff and mypy"
	@echo "make fmt     format the sources"
	@echo "make golden  rewrite the expected outputs that tests compare with"
	@echo "make bench   measure speed and memory against named peers"
	@echo "make vsix    pack the extension for VS Code (needs npm)"
	@echo "make clean   remove what these made, .venv included"

$(BIN)/python:
	@scripts/make-venv "$(PYTHON)" "$(VENV)"

$(VENV)/.installed: pyproject.toml hatch_build.py | $(BIN)/python
	@echo "installing tdsl into $(VENV)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml hatch_build.py | $(BIN)/python
	@echo "installing tdsl and its development tools into $(VENV)"
	@$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	@$(BIN)/tdsl build $(DESIGN) --out out 2>&1
	@echo
	@echo "Open out/diagram/fabric.svg in a browser."

system:
	@scripts/system-packages install

tests/npm/node_modules/.package-lock.json: tests/npm/package-lock.json
	@scripts/node-packages tests/npm

test: $(VENV)/.installed-dev system tests/npm/node_modules/.package-lock.json
	$(BIN)/python -m pytest -n $(WORKERS) -rfEs $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fmt: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) -q --golden $(PYTEST_ARGS)

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run.py

vsix:
	@command -v npm >/dev/null || { echo "npm is not installed (Debian: nodejs npm)" >&2; exit 1; }
	@scripts/node-packages grammar/vscode
	@npm run --prefix grammar/vscode vsix

clean:
	rm -rf $(VENV) tests/npm/node_modules grammar/vscode/node_modules grammar/vscode/out grammar/vscode/fab.vsix build dist out .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
