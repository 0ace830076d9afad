.PHONY: check test demo docs gallery wheel lowest fuzz mutants
# What CI runs, all of it.
check:
	bash .ci/run
# The tests alone, in the environment at hand.
test:
	python -m pytest
demo:
	skewanova demo --alpha 0.005 --out demo-report
# The site, to docs/_build/html.
docs:
	python -m sphinx -W --keep-going -q -b html docs docs/_build/html
# The built wheel, alone in a fresh environment, runs the demo.
wheel:
	bash .ci/wheel
# All tests with the lowest versions that pyproject.toml allows (Python 3.11 or 3.12).
lowest:
	bash .ci/lowest
# Every plot, with the code that draws it: docs/gallery.md.
gallery:
	python examples/gallery.py --out docs/images/gallery --page docs/gallery.md
# Search for hostile input that breaks a rule: make fuzz SEED=1 MINUTES=20 ONLY=names
SEED ?= 0
MINUTES ?= 60
fuzz:
	python tests/fuzz/run.py --seed $(SEED) --minutes $(MINUTES) --only '$(ONLY)'
# Would the tests notice? 100 random mutants of a module (MODULE=skewanova/roc.py; extra "mutants"): docs/mutants.md.
mutants:
	python tests/mutants.py $(MODULE) --seed $(SEED)
