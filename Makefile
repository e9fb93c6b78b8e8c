PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: study test test-postgres verify bench clean

study: $(VENV)/.installed
	$(BIN)/halfseen study arms --out study
	$(BIN)/halfseen study linear --out study-linear

test: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not slow and not postgres"

test-postgres: $(VENV)/.installed-test
	$(BIN)/pytest -m postgres

verify: $(VENV)/.installed-test
	$(BIN)/pytest -m slow

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) study study-linear
