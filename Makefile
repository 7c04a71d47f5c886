# What `make` alone prints. The lines come from the comments behind the targets.
.DEFAULT_GOAL := help

# Which Python makes the environment.
PYTHON ?= python3

# Where the environment is made. All paths are relative, so that the checkout may stand in a folder with spaces.
VENV ?= .venv

# On Linux, PyPI's torch comes with gigabytes of CUDA libraries, which the tutor does not need. So only a CPU build is
# installed, from PyTorch's own index if that answers; .ci/torch_index.py decides, and reads these from its environment:
#   make learn CUDA=1             the build that pip finds by itself
#   make learn TORCH_INDEX=URL    another index for torch (empty: none but those that pip asks anyway)

# More arguments for pip, for example PIP_ARGS="--find-links wheels --no-index".
PIP_ARGS ?=

# Arguments for the tutor (make learn), for pytest (make test, make check) and for the measurements (make bench).
ARGS ?=

# How many processes run the tests (make test), each with a PyTorch of its own; auto: what fits this machine, 0: none
# but pytest itself.
JOBS ?= auto

# The versions that are installed.
CONSTRAINTS ?= constraints.txt

PY := $(VENV)/bin/python
# A stamp says that the environment is complete: it holds a checksum of what that depends on (the folder, the Python, the
# versions to install, the packages that are there). If nothing of that is different, nothing is asked, neither pip nor
# the network.
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
STATE := { pwd -P; readlink -f $(PY) || ls -lL $(PY); cat pyproject.toml $(CONSTRAINTS); \
	ls -d $(VENV)/lib/python*/site-packages/*.dist-info; } 2>&1 | cksum
NOW := $(shell $(STATE))
ifneq ($(NOW),$(shell cat $(READY) 2>&1))
.PHONY: $(READY)
endif
ifneq ($(NOW),$(shell cat $(READY_DEV) 2>&1))
.PHONY: $(READY_DEV)
endif

# The environment's own Python puts it right; $(PYTHON) makes it if there is none that works.
FIND_PYTHON = for python in "$(PY)" "$(PYTHON)" ""; do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done; \
	test -n "$$python" || { found=$$("$(PYTHON)" -V 2>&1) && \
		echo "The tutor needs Python 3.11 or newer, and '$(PYTHON)' is $$found." || \
		echo "There is no '$(PYTHON)' here. The tutor needs Python 3.11 or newer."; \
		echo "If you have a newer one under another name: make learn PYTHON=python3.12"; exit 1; }
# `make reinstall` knows that something is damaged, and has all files read.
THOROUGH ?=
INSTALL = @$(FIND_PYTHON); "$$python" .ci/make_environment.py "$(VENV)" --constraints "$(CONSTRAINTS)" --again "$(AGAIN)" \
	$(THOROUGH)

# What to type again if that fails.
AGAIN ?= make $(or $(MAKECMDGOALS),learn)
export AGAIN

# The exit code of the tutor if a package that it needs is missing or damaged.
INCOMPLETE := 4

# Tests start many processes; each would compile the tutor again where the environment forbids to keep what was compiled.
test lint: export PYTHONDONTWRITEBYTECODE =

# Folders that are checked; bench is part of the checkout, not of the package.
CODE := src tests $(if $(wildcard bench/*.py),bench)

.PHONY: help learn reinstall test check lint static course format lowest claims bench exam exam-answers exam-explanations exam-walk exam-keys exam-sessions exam-plain exam-environments exam-imports record screens tour clean
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

learn: $(READY) ## open the tutor (the first time: install it into .venv)
	@$(PY) -m attn_tutor $(ARGS) || { code=$$?; test $$code -eq $(INCOMPLETE) || exit $$code; \
		$(MAKE) --no-print-directory reinstall && $(PY) -m attn_tutor $(ARGS); }

reinstall: ## install again what is missing or damaged in .venv
	@rm -f $(READY) $(READY_DEV)
	@$(MAKE) --no-print-directory THOROUGH=--thorough $(if $(wildcard $(READY_DEV)),$(READY_DEV),$(READY))

test: lint ## check everything, then run the tests
	$(PY) -m pytest --numprocesses $(JOBS) --dist worksteal --durations 10 $(ARGS)

# What a change reaches further away is for `make test`, and so are slow tests. With status 5 pytest says that all tests
# were left out.
check: static ## check style, types and imports, then run the quick tests of the rooms that changed
	@tests=$$($(PY) -m tests.changed) && { test -z "$$tests" || \
		$(PY) -m pytest -m "not slow and not long" $$tests $(ARGS) || test $$? -eq 5; }

# Types keep one processor busy, which leaves the others to the course.
lint: $(READY_DEV) ## check style, types, imports and the courses
	@printf 'static course' | xargs -n 1 -P 2 $(MAKE) --no-print-directory

course: $(READY_DEV)
	$(PY) -m attn_tutor lint
	$(PY) -m attn_tutor --course tensors lint

static: $(READY_DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy $(CODE)
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

format: $(READY_DEV) ## format the code and sort its imports
	$(PY) -m ruff check --select I --fix .
	$(PY) -m ruff format .

lowest: build/lowest.txt ## check the claims of the courses on the oldest torch that pyproject.toml allows
	@$(MAKE) --no-print-directory VENV=.venv-lowest CONSTRAINTS=$< claims

# sympy comes in the version that this torch asks for.
build/lowest.txt: pyproject.toml constraints.txt
	@mkdir -p $(@D)
	@oldest=$$(sed -n 's/.*"torch>=\([0-9.]*\).*/\1/p' pyproject.toml) && \
		sed "/^sympy==/d; s/^torch==.*/torch==$$oldest/" constraints.txt > $@

claims: $(READY)
	$(PY) -m attn_tutor lint --claims
	$(PY) -m attn_tutor --course tensors lint --claims

bench: $(READY) ## measure how fast the tutor is here
	@test -f bench/__main__.py || { echo "There is no bench/ in this checkout."; exit 1; }
	$(PY) -m bench $(ARGS)

exam: exam-answers exam-explanations exam-walk exam-keys exam-sessions exam-plain ## judge many answers, examine many explanations, see and complete all steps, type random keys, open two sessions (minutes)

# ARGS chooses answers.
exam-answers: $(READY_DEV)
	$(PY) -m tests.exam.answer_exam $(ARGS)

# For example ARGS="--count 500 --seed 0 --course".
exam-explanations: $(READY_DEV)
	$(PY) -m tests.exam.explanations $(ARGS)

# For example ARGS="--size 160x50".
exam-walk: $(READY_DEV)
	$(PY) -m tests.walk $(ARGS)
	$(PY) -m tests.walk --course tensors

# For example ARGS="--count 20000 --seed 1".
exam-keys: $(READY_DEV)
	$(PY) -m tests.exam.random_keys $(ARGS)

# ARGS="--ssh" has both sessions come through an SSH server.
exam-sessions: $(READY_DEV)
	$(PY) -m tests.exam.two_sessions $(ARGS)

# For example ARGS="--lesson 16 --train --log course.txt".
exam-plain: $(READY_DEV)
	$(PY) -m tests.exam.complete_course $(ARGS)

# ARGS chooses cases. It installs the tutor several times, so `make exam` leaves it out.
exam-environments: $(READY_DEV)
	$(PY) -m tests.exam.environments $(ARGS)

exam-imports: $(READY_DEV)
	$(PY) -m tests.exam.large_imports $(ARGS)

record: $(READY) ## run the course and write its recorded outputs
	$(PY) -m attn_tutor.lessons.authoring.recordings $(ARGS)

screens: $(READY) ## take the pictures in docs/screens
	$(PY) -m bench.screens $(ARGS)

tour: $(READY) ## walk through the first minutes and write docs/tour.md
	$(PY) -m bench.tour

clean: ## remove the environment and all caches
	rm -rf $(VENV) .venv-lowest build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .mypy_worker.*
	find attention lessons tui src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(READY):
	$(INSTALL)
	@$(STATE) > $@

$(READY_DEV):
	$(INSTALL) --dev
	@$(STATE) > $@ && cp $@ $(READY)
