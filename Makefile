# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
OUT ?= runs/demo

.PHONY: demo test check programs docs gallery soak clean

# First the locked packages, whose hashes are checked; then torch and assay itself.
$(VENV)/installed: pyproject.toml constraints.txt requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: install it, or pass PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-deps --require-hashes --requirement requirements.lock
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --editable '.[dev,vectors,ray,hf]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/assay run --out $(OUT) --resume

# Programs that the report's tests need: a browser, a small LaTeX (about 150 MB), a reader of PDF.
programs:
	@missing=""; \
	command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing="chromium"; \
	{ command -v pdflatex && kpsewhich booktabs.sty; } >/dev/null || \
	  missing="$$missing texlive-latex-base texlive-latex-recommended"; \
	command -v pdftotext >/dev/null || missing="$$missing poppler-utils"; \
	[ -z "$$missing" ] && exit 0; \
	sudo=""; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	if command -v apt-get >/dev/null && $$sudo true 2>/dev/null; then \
	  $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	else echo "The report's tests need these packages, install them: $$missing"; exit 1; fi

# The documentation as a site that needs no network, in build/site.
docs: $(VENV)/installed
	PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

# The pictures of docs/gallery.md, from runs in runs/gallery; runs that are missing are made first.
gallery: $(VENV)/installed programs
	$(BIN)/python scripts/draw_gallery.py runs/gallery

# Everything: style, types and all tests, in two processes.
test: $(VENV)/installed programs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal

# Style, types and the fast tests, for use while editing: under a minute.
check: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow"

# Long tests, beside the suite: hundreds of faults, hours on two cores.
soak: $(VENV)/installed
	$(BIN)/pytest -q -o python_files='soak_*.py' tests/soak

clean:
	rm -rf $(VENV) runs build dist
