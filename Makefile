# make demo | test | test-newest | quick | soundness | lint | fmt | golden | codes | bench | site | playground | vsix | clean. Each sets up what it needs in .venv, once.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Versions to hold pip to, with their hashes: CI gives requirements.lock. Then nothing else is installed but tdsl itself, and no
# package is built here: its hash would not be that of a published file.
CONSTRAINTS ?=
PIP := $(BIN)/python -m pip install -q
# What pip fetches, a line a package: a minute without a word looks like a call that hangs.
PIP_SHOWN := $(BIN)/python -m pip install
SHOW_PACKAGES := while read -r what name _; do case "$$what" in Collecting) echo "  $${name%%[<>=!~;[]*}" ;; Installing) echo "  unpacking" ;; esac; done
LOCKED := $(PIP) --no-deps --only-binary :all: --require-hashes -r $(CONSTRAINTS) && $(PIP) --no-deps --no-build-isolation -e .
# An environment of its own for the newest versions of what tdsl needs, and what the tests in tests/core.py need besides.
NEWEST := .venv-newest
NEWEST_TOOLS := hypothesis openpyxl pytest pytest-timeout pytest-xdist
# One more than the cores that CI has: tests of routers and of other programs wait for them.
WORKERS ?= 3
PYTEST_ARGS ?=
DESIGN ?= dgx_superpod_h100
# Random designs of `make soundness`, and the seed of the first (default: today's date).
N ?= 1000
SEED ?=

.PHONY: codes site playground mutants fuzz sbom help demo test test-newest soundness lint fmt golden bench bench-quick bench-compare vsix clean system

help:
	@echo "make demo    install, and build $(DESIGN) into out/"
	@echo "make test    all tests, slow ones included, but those of the daily run (make soundness)"
	@echo "make test-newest  tests of each command and target, with the newest versions of all dependencies, in $(NEWEST)"
	@echo "make quick   language, fabric, library and house rules: the tests to run after each change"
	@echo "make soundness N=5000 [SEED=1]  random designs against independent judges, writes those that differ; the library in every format and beside its page"
	@echo "make fuzz N=1000000 [SEED=1]  random inputs for everything that reads; writes those that raise"
	@echo "make fuzz KIND=syntax SECONDS=600  the same guided by coverage (atheris: pip install '.[fuzz]')"
	@echo "make mutants N=40 GROUP=proofs [SEED=1]  faults put into the source, against the tests; lists those that no test notices"
	@echo "make sbom    write sbom.cdx.json from requirements.lock"
	@echo "make site    write the documentation as a site into out/site"
	@echo "make playground  write the page with tdsl and an editor for the browser into build/playground (needs node and npm)"
	@echo "make lint    ruff and mypy"
	@echo "make fmt     format the sources"
	@echo "make golden [FOR=targets/cabling]  rewrite the expected outputs that tests compare with, or those alone"
	@echo "make codes   list the free codes of findings and checks"
	@echo "make bench   measure speed and memory beside named peers; writes tables and plots of docs/performance.md (about an hour)"
	@echo "make bench-quick  the same with small designs, into out/bench"
	@echo "make bench-compare BASE=HEAD~1 HEAD=HEAD  what became 15% slower from one commit to another"
	@echo "make vsix    pack the extension for VS Code (needs npm)"
	@echo "make clean   remove what these made, .venv included"

$(BIN)/python:
	@scripts/make-venv "$(PYTHON)" "$(VENV)"

$(VENV)/.installed: pyproject.toml hatch_build.py | $(BIN)/python
	@echo "installing tdsl and what it needs into $(VENV), once: one or two minutes"
	@$(if $(CONSTRAINTS),$(LOCKED),$(PIP_SHOWN) -e . | $(SHOW_PACKAGES))
	@touch $@

$(VENV)/.installed-dev: pyproject.toml hatch_build.py | $(BIN)/python
	@echo "installing tdsl and its development tools into $(VENV)"
	@$(if $(CONSTRAINTS),$(LOCKED),$(PIP) -e '.[dev]')
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	@echo "building $(DESIGN), a design of the library, into out/"
	@$(BIN)/tdsl build $(DESIGN) --out out 2>&1
	@echo
	@echo "Open out/diagram/fabric.svg in a browser. Then:"
	@echo
	@echo "  $(BIN)/tdsl check $(DESIGN)"
	@echo "  $(BIN)/tdsl init my_pod --from $(DESIGN) && $(BIN)/tdsl check my_pod.fab"

system:
	@scripts/system-packages install

tests/npm/node_modules/.package-lock.json: tests/npm/package-lock.json
	@scripts/node-packages tests/npm

test: $(VENV)/.installed-dev system tests/npm/node_modules/.package-lock.json
	@$(BIN)/python -m compileall -q tdsl # the programs that tests start are then not compiled by each of them
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rfEs $(PYTEST_ARGS)

# Each time, since there may be newer ones. Of a package whose newest version has no wheel it is the newest that has one.
test-newest:
	@test -x $(NEWEST)/bin/python || scripts/make-venv "$(PYTHON)" "$(NEWEST)"
	@echo "installing the newest versions of all dependencies into $(NEWEST)"
	@$(NEWEST)/bin/python -m pip install -q --upgrade --upgrade-strategy eager --prefer-binary --no-compile -e '.[lsp,mcp]' $(NEWEST_TOOLS)
	@$(NEWEST)/bin/python -m tests.core --newer
	$(NEWEST)/bin/python -m pytest -n $(WORKERS) --dist worksteal -rfE $$($(NEWEST)/bin/python -m tests.core) $(PYTEST_ARGS)

soundness: $(VENV)/.installed-dev
	$(BIN)/python -m tests.soundness.run $(N) $(SEED) --workers $(WORKERS) --out out/soundness
	$(BIN)/python -m tests.soundness.whole_designs --workers $(WORKERS)
	$(BIN)/python -m pytest -n $(WORKERS) -q --daily

# One file a room, of those that take a second or two, and the rules of the house: under a minute on two cores.
QUICK := $(wildcard tests/syntax tests/errors/test_cases.py tests/fabric tests/verify/test_catalogue.py \
  tests/verify/checks/test_judged.py tests/verify/test_compare.py tests/observe/test_readers.py tests/observe/test_match.py \
  tests/changes/test_contract.py tests/ide/test_complete.py tests/ide/test_positions.py tests/ide/test_scopes.py \
  tests/answers/test_judgements.py tests/cli/test_check.py tests/cli/test_build.py tests/safety/test_names.py \
  tests/test_architecture.py tests/test_layers.py tests/test_words.py tests/test_core.py)

quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "not slow" $(QUICK) $(PYTEST_ARGS)

sbom:
	scripts/sbom

fuzz: $(VENV)/.installed-dev
ifdef KIND
	$(BIN)/python -m tests.safety.guided $(KIND) $(or $(SECONDS),60)
else
	$(BIN)/python -m tests.safety.fuzz $(N) $(SEED)
endif

# A group of tests/mutants/run.py: proofs, fabric, rest, or folders of tdsl/ with commas between.
GROUP ?= fabric

mutants: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutants.run $(GROUP) -n $(N) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fmt: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# FOR=targets/cabling: the goldens whose path has these words in this order, such as tests/goldens/targets/routed/cabling.txt.
FOR ?=

golden: $(VENV)/.installed-dev
ifeq ($(FOR),)
	$(BIN)/python -m pytest -n $(WORKERS) -q --golden $(PYTEST_ARGS)
else
	$(BIN)/python -m pytest -n $(WORKERS) -q --golden-for $(FOR) $(PYTEST_ARGS) \
	  $$(grep -rl --include='test_*.py' '"$(firstword $(subst /, ,$(FOR)))/' tests | xargs grep -lw golden)
endif

codes:
	@$(PYTHON) scripts/free-codes

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	@echo "installing the peers of the benchmarks into $(VENV)"
	@$(if $(CONSTRAINTS),true,$(PIP) -e '.[bench]')
	@touch $@

BASE ?= HEAD~1
HEAD ?= HEAD
PARTS ?=

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/run.py $(PARTS)

bench-quick: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/run.py --quick $(PARTS)

bench-compare: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/compare.py --base $(BASE) --head $(HEAD)

site: $(VENV)/.installed-dev
	@scripts/node-packages tests/npm
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "out/site/index.html is the documentation"

playground: $(VENV)/.installed-dev
	@$(BIN)/python scripts/playground

vsix:
	@command -v npm >/dev/null || { echo "npm is not installed (Debian: nodejs npm)" >&2; exit 1; }
	@scripts/node-packages grammar/vscode
	@test -d grammar/vscode/node_modules # else that script has said why
	@npm run --prefix grammar/vscode vsix

clean:
	rm -rf $(VENV) $(NEWEST) tests/npm/node_modules playground/node_modules grammar/vscode/node_modules grammar/vscode/out grammar/vscode/fab.vsix build dist out .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
