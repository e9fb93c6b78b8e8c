PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: study docs test test-mysql test-postgres verify bench clean

study: $(VENV)/.installed
	$(BIN)/halfseen study arms --out study
	$(BIN)/halfseen study linear --out study-linear

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W -n --keep-going -q docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

test: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -m "not slow and not postgres and not mysql" -n auto --dist loadfile

test-mysql: $(VENV)/.installed-test
	$(BIN)/pytest -m mysql

test-postgres: $(VENV)/.installed-test
	$(BIN)/pytest -m postgres

verify: $(VENV)/.installed-test
	$(BIN)/pytest -m slow
	$(BIN)/halfseen verify --out verdicts

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) study study-linear verdicts docs/_build
