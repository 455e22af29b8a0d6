# make demo    set everything up, crawl the embedded demo web, show the harvest
# make test    set everything up (servers and browser too, where we may), run all checks and tests
# make check   what CI runs besides the tests: format, lint, types, licences, known holes
# make bench   all benchmarks, quickly
# make fuzz    the long fuzzing run
# make ui      the web page of the repository
# make docs    rewrite what is generated from the code: docs/settings.md, the packed lexicon
# make lock    resolve the dependencies anew into requirements.lock

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench fuzz ui docs lock servers clean

demo: .venv/ready .venv/core
	@$(BIN)/treasure demo

test: .venv/ready-dev .venv/core servers
	@echo "== format, lint, types"
	@$(BIN)/ruff format --check -q treasure tests benchmarks
	@$(BIN)/ruff check -q treasure tests benchmarks
	@$(BIN)/mypy -p treasure
	@echo "== tests"
	@$(BIN)/python -m pytest -n 2 --dist loadfile

check: .venv/ready-dev
	$(BIN)/ruff format --check treasure tests benchmarks
	$(BIN)/ruff check treasure tests benchmarks
	$(BIN)/mypy -p treasure
	$(BIN)/python tools/audit.py

bench: .venv/ready-dev .venv/core
	@for file in benchmarks/[a-z]*.py; do echo "== $$file"; $(BIN)/python $$file --quick || exit 1; done

fuzz: .venv/ready-dev .venv/core
	TREASURE_FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest tests/fuzz

ui: .venv/ready .venv/core
	$(BIN)/treasure ui

docs: .venv/ready .venv/core
	$(BIN)/python tools/settings_page.py > docs/settings.md
	$(BIN)/treasure ddc pack

lock: .venv/ready-dev
	$(BIN)/pip-compile -q --generate-hashes --allow-unsafe --no-emit-index-url --no-emit-trusted-host \
		--no-emit-find-links --no-header --strip-extras --extra dev -o requirements.lock pyproject.toml
	@# Our own extras bring us in as a package of this folder; it is installed from here anyway.
	sed -i -e '/^# WARNING: pip install/d' -e '/^# Consider using a hashable/d' \
		-e '/^treasure-crawler @/,/^[^ ]/{/^treasure-crawler @/d;/^ /d}' requirements.lock

# Packages are pinned and hashed, so that everybody gets what was tested.
.venv/ready .venv/ready-dev: requirements.lock pyproject.toml
	@echo "== setting up .venv (a few minutes the first time)"
	@tools/setup-venv $(PYTHON)
	@touch .venv/ready .venv/ready-dev

# Compiled in place; where that fails, as for want of a compiler, it runs uncompiled.
.venv/core: .venv/ready setup.py $(wildcard treasure/core/*.py)
	@echo "== compiling treasure/core"
	@$(BIN)/python setup.py -q build_ext --inplace
	@touch .venv/core

servers:
	@tools/setup-servers

clean:
	rm -rf .venv build treasure/core/*.so dist artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis
