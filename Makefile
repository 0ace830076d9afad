.PHONY: check test demo
# What CI runs, all of it.
check:
	bash .ci/run
# The tests alone, in the environment at hand.
test:
	python -m pytest
demo:
	skewanova demo --alpha 0.005 --out demo-report
