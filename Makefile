.PHONY: check test test-all coverage demo docs gallery papers package lowest fuzz mutants
# What CI runs, all of it.
check:
	bash .ci/run
# The fast tests, in the environment at hand; all of them.
test:
	python -m pytest
test-all:
	python -m pytest -m "not kernels"
# The same, and which lines none of them runs; the floor is in pyproject.toml.
coverage:
	python -m pytest -m "not kernels" -n auto --dist worksteal --cov=skewanova --cov-report=term:skip-covered
demo:
	skewanova demo --alpha 0.005 --out demo-report
# The site, to docs/_build/html.
docs:
	python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
# The source archive and the wheel built, looked into, and run alone in a fresh environment.
package:
	bash .ci/run package
# All tests with the lowest versions that pyproject.toml allows, by the oldest Python (here and below: nox is in group dev).
lowest:
	nox -s lowest
# Pictures of the report and of tables set by LaTeX; needs Chromium, pdflatex and Ghostscript. A test finds pictures that are stale.
gallery:
	python examples/report_pictures.py --out docs/images
# Every item of the five documents, checked: docs/papers.md.
papers:
	python examples/papers.py --write
# Search for hostile input that breaks a rule: make fuzz SEED=1 MINUTES=20 ONLY=names
SEED ?= 0
MINUTES ?= 60
ONLY ?= rule
fuzz:
	FUZZ_SEED=$(SEED) FUZZ_MINUTES=$(MINUTES) python -m pytest tests/fuzz -m fuzz -k 'breaks_the_rule and $(ONLY)'
# Would the tests notice? 100 random mutants of a module (MODULE=skewanova/curves/roc.py; group mutants): docs/mutants.md.
mutants:
	python tests/mutants.py $(MODULE) --seed $(SEED)
