# Everything that a fresh Debian 12 machine needs:
#   make demo    installs, builds, runs and checks the examples
#   make test    installs, builds, runs all tests
# Others: setup, build, bench, cases, nightly, format, clean. Each target does all that is needed before it.

PRESET ?= dev
BUILD  := build/$(PRESET)
PYTHON := .venv/bin/python
JOBS   ?= $(shell nproc)
CASES  ?= ../shared/cases

export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: all setup build demo test test-sanitizers bench cases nightly wheel format check-format clean
all: build

setup:
	@bash tools/setup.sh

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | setup
	cmake --preset $(PRESET)

build: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)

demo: build
	$(PYTHON) examples/demo.py

# The last line counts what ran: C++ tests, lit tests and Python tests together, and the C++ tests of the runtimes again
# under AddressSanitizer + UndefinedBehaviorSanitizer and under ThreadSanitizer.
test: build
	$(PYTHON) tools/run_tests.py --build $(BUILD)

bench: build
	$(PYTHON) bench/run.py

# A minute each: threads, streams, kernels, copies and frees on the simulated NPU. Then ten minutes of CPU time: arbitrary
# bytes into the assembler, in a build that reports its coverage.
NIGHTLY_STRESS := torch-npu-sim/tests/test_stress.py \
	pypto/tests/st/torch/test_operator_processes.py::test_threads_streams_kernels_copies_and_frees
nightly: build
	for test in $(NIGHTLY_STRESS); do \
	  NPU_STRESS_SECONDS=$${NPU_STRESS_SECONDS:-60} $(PYTHON) -m pytest -q -p no:cacheprovider $$test || exit 1; done
	bash ptoas/test/fuzz/nightly.sh

# Programs with references and verdicts that lie beside the tree, if they do.
cases: build
	$(PYTHON) tools/run_cases.py --cases $(CASES) --build $(BUILD)

test-sanitizers: setup
	$(PYTHON) tools/run_tests.py --only sanitizers

# A package for other machines, in dist/. With --no-build-isolation it also holds kernels in torch (pypto.torch).
wheel: setup
	$(PYTHON) -m pip wheel . --no-deps --no-build-isolation -w dist

format:
	git ls-files '*.cpp' '*.h' '*.hpp' | xargs -r clang-format-22 -i
	ruff format . && ruff check --fix .

check-format:
	git ls-files '*.cpp' '*.h' '*.hpp' | xargs -r clang-format-22 --dry-run --Werror
	ruff format --check . && ruff check .

clean:
	rm -rf build
