"""All generators: the same few cases every time and all that once broke a rule, or new ones for some time.

`make fuzz SEED=1 MINUTES=20` draws new cases, for each generator its share of the time.
"""

import os
import time
import warnings
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz import arrays, damage, designs, faults, names, options, priors, tables
from fuzz.generator import CORPUS, Generator
from studies.one_set import paired_study

MODULES = (tables, designs, priors, damage, options, names, faults, arrays)
GENERATORS = [generator for module in MODULES for generator in module.GENERATORS]
MINUTES, SEED = (float(os.environ.get(f"FUZZ_{name}", 0)) for name in ("MINUTES", "SEED"))
DRAWN = [generator for generator in GENERATORS if generator.examples or MINUTES]
ONCE_BROKEN = [
    pytest.param(generator, case, id=f"{generator.name}-{name}")
    for generator in GENERATORS
    for name, case in generator.corpus()
]


@pytest.mark.parametrize("generator", DRAWN, ids=lambda generator: generator.name)
def test_no_case_breaks_the_rule(generator, request):
    end = time.monotonic() + 60 * MINUTES / len(request.session.items)
    phases = [Phase.generate, Phase.shrink]
    options = {"derandomize": not MINUTES, "database": None, "deadline": None, "phases": phases}
    options |= {"max_examples": generator.examples or 1, "suppress_health_check": list(HealthCheck)}
    test = settings(**options)(given(generator.cases)(generator.check))
    for turn in count():
        (seed(SEED * 1_000_003 + turn)(test) if MINUTES else test)()
        if time.monotonic() >= end:
            break


@pytest.mark.parametrize(("generator", "case"), ONCE_BROKEN)
def test_what_once_broke_it_does_not_any_more(generator, case, monkeypatch):
    # of the 1,440 designs of a study 90, which differ in all else
    monkeypatch.setitem(paired_study.__kwdefaults__, "sizes", (30,))
    monkeypatch.setitem(paired_study.__kwdefaults__, "models", (3,))
    generator.check(case)


def test_every_folder_of_the_corpus_has_a_generator_whose_rules_warnings_break():
    names = {generator.name for generator in GENERATORS}
    assert len(names) == len(GENERATORS)
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= names
    noisy = Generator("noisy", st.none(), lambda _: warnings.warn("x", RuntimeWarning, stacklevel=1), 1)
    with pytest.raises(RuntimeWarning):
        noisy.check(None)
