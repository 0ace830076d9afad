.PHONY: check test demo docs
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
