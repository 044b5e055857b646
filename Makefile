# Each target works as the only command on a fresh clone: it makes its own virtual environment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test check slow bench clean sync

help:
	@echo "make demo    list and call the tools of a demo page on the embedded engine"
	@echo "make test    the tests (brings Chromium by apt-get when it is missing and it may)"
	@echo "make check   ruff, pyright strict, the floors of the house"
	@echo "make slow    the tests that take longer"
	@echo "make bench   medians and ratios, beside the peer"

$(VENV)/.core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pywebmcp needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	@touch $@

demo: $(VENV)/.core
	@$(BIN)/webmcp demo

test: $(VENV)/.dev
	@sh scripts/ensure_chromium.sh
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" tests

slow: $(VENV)/.dev
	@sh scripts/ensure_chromium.sh
	$(BIN)/python -m pytest -m slow tests || [ $$? -eq 5 ]  # 5: there are none yet

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/generate_sync.py --check

sync: $(VENV)/.dev
	$(BIN)/python scripts/generate_sync.py

bench: $(VENV)/.dev
	@sh scripts/ensure_chromium.sh
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache
