PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip compiles every file on one core; compileall does on all of them.
INSTALL = $(BIN)/pip --quiet --disable-pip-version-check install --no-compile -c constraints.txt -e $(1) \
  && { $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true; }
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest
SPREAD := -n auto --dist loadfile --no-loadscope-reorder $(if $(CI),--durations=100 --durations-min=1)

.PHONY: install study serve docs test test-slow test-mysql test-postgres test-wheel test-least verify verify-quick \
  wheel hashes licences sbom bench clean

study: $(VENV)/.installed
	$(BIN)/halfseen study arms --out study
	$(BIN)/halfseen study linear --out study-linear

# A demo loop on this machine, without keys.
serve: $(VENV)/.installed-serve
	mkdir -p build
	$(BIN)/halfseen serve --loops demo --open --database build/demo.sqlite

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W -n --keep-going -q docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

test: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python tests/report/browsers.py
	$(BIN)/mypy > $(VENV)/mypy.txt & types=$$!; \
	$(PYTEST) -m "not slow and not postgres and not mysql" $(SPREAD); tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/mypy.txt; exit $$((tests + types))

test-slow: $(VENV)/.installed-test
	$(PYTEST) -m slow $(SPREAD)

test-mysql: $(VENV)/.installed-test
	$(PYTEST) -m mysql

test-postgres: $(VENV)/.installed-test
	$(PYTEST) -m postgres

# The wheel, installed by hash and without extras in a folder of its own, as a user has it.
test-wheel: wheel
	PYTHON=$(PYTHON) .ci/try-wheel dist/*.whl

# The wheel with the least version of every dependency that pyproject.toml allows.
test-least: wheel
	build/venv/bin/python tools/least_versions.py > build/least.txt
	PYTHON=$(PYTHON) .ci/try-wheel dist/*.whl build/least.txt

install: $(VENV)/.installed-test

verify: test-slow
	$(BIN)/halfseen verify --out verdicts

verify-quick: $(VENV)/.installed
	$(BIN)/halfseen verify --quick

# Built by the pinned, hashed backend.
wheel:
	rm -rf build/venv dist
	$(PYTHON) -m venv build/venv
	build/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
	build/venv/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .

# The hashes of every pinned version, from the index that pip uses.
hashes: $(VENV)/.installed-test
	$(BIN)/python tools/pin_hashes.py

licences: $(VENV)/.installed-test
	$(BIN)/python tools/licences.py

sbom: $(VENV)/.installed
	mkdir -p dist
	$(BIN)/python tools/sbom.py dist/sbom.cdx.json

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench.py

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,.)
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(call INSTALL,".[docs]")
	touch $@

$(VENV)/.installed-serve: $(VENV)/.installed
	$(call INSTALL,".[serve]")
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(call INSTALL,".[test]")
	touch $@

clean:
	rm -rf $(VENV) study study-linear verdicts docs/_build build dist
