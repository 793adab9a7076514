# make demo   train a certified model and show it beside scikit-learn's
# make test   all tests           make lint   style, types, who may import whom
# make bench  the peers, side by side in one run (ARGS="--only a9a,imdb" or ARGS=--fresh)
# make bench-unseen  the same on sets that were not used in tuning
# make growth        time against the number of rows       make memory  peaks of each solver
# make literature    every algorithm of the papers on three sets (ARGS="--only reuters2000")
# make reading       svmlight text against scikit-learn's reader     make end-to-end  text to model
# make out-of-core   a store of four times the allowed memory, under a control group
# make faults        kills at random moments, full disks            make fuzz  garbage, for hours
# make findings      what the papers found, as experiments  make passes  what a pass of each costs

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: demo test lint bench bench-unseen growth mutants first-fit memory literature findings
.PHONY: passes reading end-to-end out-of-core faults fuzz clean

$(VENV)/.done: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit('pegasos needs Python 3.11 or newer; call make PYTHON=python3.11') if sys.version_info < (3, 11) else None"
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(RUN) -m pip install --quiet --disable-pip-version-check -e ".[plot,test,lint,bench]"
	touch $@

demo: $(VENV)/.done
	$(RUN) benchmarks/demo.py

test: $(VENV)/.done
	$(RUN) -m pytest -n 2

lint: $(VENV)/.done
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

mutants: $(VENV)/.done
	$(RUN) tests/mutants.py

bench: $(VENV)/.done
	$(RUN) benchmarks/linear.py $(ARGS)

bench-unseen: $(VENV)/.done
	$(RUN) benchmarks/unseen.py $(ARGS)

growth: $(VENV)/.done
	$(RUN) benchmarks/growth.py

first-fit: $(VENV)/.done
	$(RUN) benchmarks/first_fit.py

memory: $(VENV)/.done
	$(RUN) benchmarks/memory.py

literature: $(VENV)/.done
	$(RUN) benchmarks/literature.py $(ARGS)

findings: $(VENV)/.done
	$(RUN) benchmarks/findings.py $(ARGS)

passes: $(VENV)/.done
	$(RUN) benchmarks/passes.py

reading: $(VENV)/.done
	$(RUN) benchmarks/reading.py $(ARGS)

end-to-end: $(VENV)/.done
	$(RUN) benchmarks/end_to_end.py $(ARGS)

out-of-core: $(VENV)/.done
	$(RUN) benchmarks/out_of_core.py $(ARGS)

faults: $(VENV)/.done
	$(RUN) tests/faults.py $(ARGS)

fuzz: $(VENV)/.done
	$(RUN) -m pip install --quiet --disable-pip-version-check -e ".[fuzz]"
	$(RUN) tests/fuzz/run.py $(ARGS)

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
