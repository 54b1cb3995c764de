# On a fresh machine: `make demo` shows what this does, `make test` whether it works.
# Needs Python 3.11 or later; everything else goes into .venv.

VENV := .venv
PYTHON_IN_VENV := $(VENV)/bin/python
RUNTIME := $(VENV)/installed-runtime
DEV := $(VENV)/installed-dev
FUZZ := $(VENV)/fuzz
# Only what is locked, by its hash, and as it is published: building would fetch what builds it.
INSTALL := $(PYTHON_IN_VENV) -m pip install --quiet --disable-pip-version-check --no-input --only-binary=:all: --require-hashes
# More than there are cores: crawls wait now and then.
TEST_PROCESSES ?= 3
MINUTES ?= 5
TARGET ?=

.DEFAULT_GOAL := help
# Hostile pages, servers, rules, files, disks and Redis: what each stands for is in docs/safety.md.
ATTACKS := $(addprefix tests/,pages/test_hostile_shapes.py middlewares/test_responses.py safety topics/test_untrusted_topics.py \
  report/test_damaged_jobs.py project/test_job_runs_no_code.py redis/test_damaged_crawl.py redis/test_pushed_seeds.py \
  redis/test_crawl_names.py redis/test_shared_neighbours.py running/test_full_disk.py $(addprefix crawl/test_crawl_,\
  broken_servers.py charsets.py damaged.py endless.py full_disk.py hostile.py redis_damaged.py redis_users.py))

.PHONY: help demo test attack fuzz lint types docs coverage wheel lowest matrix bench scrapyd lock audit upgrade clean

help: ## show this list
	@echo 'make …'
	@sed -n 's/^\([a-z]*\):.* ## /  \1	/p' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## a focused crawl of a small generated web, next to a breadth-first one (about a minute)
	@$(PYTHON_IN_VENV) -m focused.lab.demo $(ARGS)

test: $(DEV) ## the whole test suite; a part of it with ARGS="tests/pages -x"
	@scripts/need redis-server chromium
	@$(PYTHON_IN_VENV) -m pytest -n $(TEST_PROCESSES) --dist loadfile $(ARGS)

attack: $(DEV) ## only the tests that attack: hostile pages, servers, files, jobs, strangers in Redis; all their cases
	@scripts/need redis-server chromium
	@FOCUSED_ATTACK=all $(PYTHON_IN_VENV) -m pytest -n $(TEST_PROCESSES) --dist loadfile $(ATTACKS) $(ARGS)

fuzz: $(DEV) $(FUZZ)/installed ## fuzz a reader, or each in turn: TARGET=page MINUTES=5; corpora and crashes are in out/fuzz
	@PYTHONPATH=$(FUZZ) $(PYTHON_IN_VENV) -m fuzz $(TARGET) --minutes $(MINUTES)

lint: $(DEV) ## ruff: rules and formatting
	@$(PYTHON_IN_VENV) -m ruff check .
	@$(PYTHON_IN_VENV) -m ruff format --check .

types: $(DEV) ## mypy, strict, also on tests and benchmarks (exceptions in pyproject.toml)
	@$(PYTHON_IN_VENV) -m mypy

docs: $(DEV) ## the documentation as a site, in out/docs; every warning is an error
	@$(PYTHON_IN_VENV) -m sphinx --quiet --fail-on-warning --keep-going --jobs auto docs out/docs
	@echo 'open out/docs/index.html'

coverage: $(DEV) ## coverage of the tests, subprocesses included; a part with ARGS="tests/pages"
	@scripts/need redis-server chromium
	@scripts/coverage $(PYTHON_IN_VENV) -n $(TEST_PROCESSES) --dist loadfile $(ARGS)

wheel: $(DEV) ## build wheel and sdist, and test them in empty environments
	@$(PYTHON_IN_VENV) scripts/matrix.py wheel

lowest: $(DEV) ## some of the tests, with the lowest versions that pyproject.toml allows
	@$(PYTHON_IN_VENV) scripts/matrix.py lowest

matrix: $(DEV) ## wheel and tests with every Python found, with the lowest and the newest versions
	@$(PYTHON_IN_VENV) scripts/matrix.py all

bench: $(RUNTIME) ## list the benchmarks, and how to run each
	@$(PYTHON_IN_VENV) scripts/list_benchmarks.py

scrapyd: $(DEV) ## run scrapyd on http://localhost:6800, in jobs/scrapyd; then .venv/bin/scrapyd-deploy (docs/deploy.md)
	@scripts/run-scrapyd $(PYTHON_IN_VENV) jobs/scrapyd

lock: $(DEV) ## update the locks (requirements*.txt) from pyproject.toml; newer versions with ARGS=--upgrade
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PYTHON_IN_VENV) scripts/lock.py $(ARGS)

audit: | $(VENV)/bin/pip ## compare the locked versions with known advisories (OSV): 0 none, 1 some, 2 could not be compared
	@$(PYTHON_IN_VENV) scripts/audit.py

upgrade: $(DEV) ## newer versions into the locks, and everything that must hold with them
	@scripts/upgrade

clean: ## remove caches, build output and out/; keeps .venv, models/ and jobs/
	@rm -rf build dist out *.egg-info *.egg .pytest_cache .hypothesis .mypy_cache .ruff_cache
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

# Installed anew only when a requirements file has changed; needs no network then.
$(RUNTIME): requirements.txt | $(VENV)/bin/pip
	@echo 'installing requirements.txt …'
	@$(INSTALL) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(RUNTIME)
	@echo 'installing requirements-dev.txt …'
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

# In a folder of its own: there are wheels for few machines, and nothing else needs it.
$(FUZZ)/installed: requirements-fuzz.txt $(DEV)
	@echo 'installing requirements-fuzz.txt …'
	@rm -rf $(FUZZ)
	@$(INSTALL) --target $(FUZZ) -r requirements-fuzz.txt
	@touch $@

# pip is the last thing that a new environment gets: where it is missing, making one was interrupted.
$(VENV)/bin/pip:
	@scripts/make-venv $(VENV)
