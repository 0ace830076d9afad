.PHONY: check test demo gallery
# What CI runs, all of it.
check:
	bash .ci/run
# The tests alone, in the environment at hand.
test:
	python -m pytest
demo:
	skewanova demo --alpha 0.005 --out demo-report
# Every plot, with the code that draws it: docs/gallery.md.
gallery:
	python examples/gallery.py --out docs/images/gallery --page docs/gallery.md
