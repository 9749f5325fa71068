# One command each. Every target sets up what it needs on first use.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SEEDS  ?= 200
SEED   ?=
SOAK_SEEDS ?= 300
FRAMES ?= 50000
SOAK_FRAMES ?= 1000000
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS)
TWO_AT_A_TIME := --no-print-directory --jobs 2

.PHONY: help setup setup-dev up demo test check style bench sim fuzz soak wheel docs clean

help:                       ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.runtime: pyproject.toml constraints.txt
	@echo "setting up $(VENV), on first use only: it takes some minutes"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing Lakestream and its libraries (Spark and PyArrow are the largest; more than 1 GB in all)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.kernels: $(VENV)/.runtime
	@echo "compiling the codecs"
	@$(BIN)/python -m lakestream.storage.records.warm
	@$(BIN)/python -m lakestream.storage.tablefile.write.warm
	@$(BIN)/python -m lakestream.table.verify.warm
	@$(BIN)/python -m lakestream.contract.values.warm
	@touch $@

$(VENV)/.classes: $(VENV)/.runtime
	@echo "starting Spark once, so that later starts are quick (needs Java 17)"
	@$(BIN)/python -m lakestream.table.spark.warm
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@echo "installing what the tests need"
	@$(PIP) --editable '.[dev]'
	@touch $@

SETUP     := $(VENV)/.kernels $(VENV)/.classes
SETUP_DEV := $(VENV)/.kernels $(VENV)/.dev $(VENV)/.classes

setup:                      ## install the product into .venv
	@$(MAKE) $(TWO_AT_A_TIME) $(SETUP)

setup-dev:                  ## ... and what the tests need
	@$(MAKE) $(TWO_AT_A_TIME) $(SETUP_DEV)

up: setup                   ## run Lakestream on this machine, data in ./lakestream-data
	@$(BIN)/lakestream up

demo: setup                 ## a tour in a minute: CREATE TABLE, produce, INSERT, query, replay, verify; nothing stays
	@$(BIN)/python examples/tour.py

style: $(VENV)/.dev         ## style, types, layers
	@$(BIN)/ruff format --check lakestream tests benchmarks examples
	@$(BIN)/ruff check lakestream tests benchmarks examples
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check:                      ## style, types, layers, unit and behaviour tests: while you work
	@$(MAKE) $(TWO_AT_A_TIME) $(SETUP_DEV) style
	@$(PYTEST) tests/tidy tests/unit tests/golden tests/behaviour

test:                       ## everything that .ci/run runs
	@$(MAKE) $(TWO_AT_A_TIME) $(SETUP_DEV) style
	@$(PYTEST) tests

sim: setup-dev              ## simulation: make sim SEEDS=200, or SEED=7 for one
	@$(BIN)/python -m tests.simulation.run $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

fuzz: setup-dev             ## damaged Kafka frames: make fuzz FRAMES=50000, or SEED=7 for one round
	@$(BIN)/python -m tests.fuzz.run $(if $(SEED),--seed $(SEED),--frames $(FRAMES))

bench: setup-dev            ## benchmarks beside Apache Kafka, in one run
	@$(BIN)/python -m benchmarks

soak: setup-dev             ## long runs: many seeds, many kills
	@$(BIN)/python -m tests.simulation.run --first 1000 --seeds $(SOAK_SEEDS)
	@$(BIN)/python -m tests.fuzz.run --first 1000 --frames $(SOAK_FRAMES)
	@LAKESTREAM_SOAK=1 $(BIN)/python -m pytest tests/integration tests/compat tests/engines

docs: $(VENV)/.dev         ## build the documentation site into site/, and find broken links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open site/index.html"

wheel: setup-dev            ## build the wheel into dist/
	@$(BIN)/python -m build --wheel --outdir dist .

clean:                      ## remove what was built here; data stays
	@rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
