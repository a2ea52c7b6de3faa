# Every target creates .venv and installs by itself when it is missing or out of date.
#
#   PYTHON=python3.12 make demo          use another interpreter (3.11 to 3.13)
#   TORCH_INDEX=URL make demo            let pip take torch from a CPU-only package index (saves about 3 GB)
#   PORT=8080 make demo                  serve elsewhere

PYTHON ?= python3
TORCH_INDEX ?=
PORT ?= 5077
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP_FLAGS := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX),)

.DEFAULT_GOAL := help
.PHONY: help demo serve test check bench clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Bluffline needs Python 3.11 to 3.13; this is %d.%d. Say which to use: PYTHON=python3.12 make ..." % v)'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): some minutes without a word, most of them for torch"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[test]'
	@touch $@

demo serve: export BLUFFLINE_PORT := $(PORT)

demo: $(STAMP) ## Measure the bundled corpus, log to MLflow, print the verdicts and serve the dashboard
	$(BIN)/bluffline run
	$(BIN)/bluffline serve

serve: $(STAMP) ## Serve the dashboard on what has been measured
	$(BIN)/bluffline serve

check: $(STAMP) ## Format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests run in a process a core, a file in one of them; more threads would only wait for each other.
test: export OMP_NUM_THREADS := 1

test: check ## Everything: checks, then all tests with the real model, MLflow and browser
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile

bench: $(STAMP) ## Print the speed and memory ratios
	@for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## Remove the environment and all caches (keeps var/)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
