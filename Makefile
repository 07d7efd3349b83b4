# Two commands do all the set-up: `make demo` and `make test`. See CONTRIBUTING.md for the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What is installed anew after a change. Python sources are read from src as they are.
SOURCES := pyproject.toml CMakeLists.txt $(shell find core -name '*.[ch]pp')

.PHONY: demo test develop lint types bench docs sanitize fuzz stubs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	$(BIN)/tacit demo

test: $(VENV)/.developed
	$(BIN)/python -m pytest -n 2

develop: $(VENV)/.developed

lint: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	find core -name '*.[ch]pp' -exec $(BIN)/clang-format --dry-run -Werror {} +
	$(BIN)/lint-imports --no-cache

# TypeScript checks the types that the explorer's modules state in comments, where npm is at hand.
types: $(VENV)/.developed
	$(BIN)/mypy
	if command -v npm > /dev/null; then \
	  npm install --silent --no-fund --no-audit --prefix build/typescript typescript@5 && \
	  build/typescript/node_modules/.bin/tsc -p tests/explore/tsconfig.json; \
	else echo "no npm: types of the explorer's modules are not checked"; fi

bench: $(VENV)/.developed .venv-boomer/.installed .venv-deeprob/.installed
	$(call install,.[bench])
	$(BIN)/pip install -q --no-deps sparsecomputation six  # it asks for a package that was renamed
	$(BIN)/pip install -q --no-deps pami validators deprecated wrapt  # it asks for far more than it needs
	$(BIN)/python -m benchmarks

# mlrl-boomer asks for versions of NumPy and scikit-learn of its own.
.venv-boomer/.installed:
	$(PYTHON) -m venv .venv-boomer
	.venv-boomer/bin/pip install -q mlrl-boomer==0.12.3
	touch $@

# deeprob-kit asks for PyTorch, and for a NumPy below 2.
.venv-deeprob/.installed:
	$(PYTHON) -m venv .venv-deeprob
	.venv-deeprob/bin/pip install -q deeprob-kit==1.1.0 "numpy<2"
	touch $@

docs: $(VENV)/.developed
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, run through the kernel tests.
sanitize: $(VENV)/.developed
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTACIT_SANITIZE=ON \
	  -DPython_EXECUTABLE=$(abspath $(BIN))/python -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir)
	$(BIN)/cmake --build build/sanitize
	BIN=$(BIN) sh tests/sanitize.sh

# Throws damaged files and odd arrays at the library: so many seconds of each kind.
SECONDS ?= 600
fuzz: $(VENV)/.developed
	cd tests && $(abspath $(BIN))/python -m fuzz --seconds $(SECONDS) --first $$(date +%s)

# Writes src/tacit/_core.pyi anew from the compiled module.
stubs: $(VENV)/.developed
	$(BIN)/python tests/support/make_stub.py

clean:
	rm -rf build docs/_build docs/gallery docs/api/generated $(VENV)/.installed $(VENV)/.developed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip

# The tools of the build stay in the environment, so that only what has changed is compiled again.
define install
$(BIN)/python -m pip install -q --group build
$(BIN)/python -m pip install -q --no-build-isolation -e '$(1)'
endef

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(call install,.[explore])
	touch $@

$(VENV)/.developed: $(SOURCES) | $(BIN)/python
	$(call install,.[dev])
	touch $@ $(VENV)/.installed
