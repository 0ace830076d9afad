"""The catalogue of tests: every function has a record, and records are what the comparison goes by."""

from types import SimpleNamespace

import numpy as np
from fold_tables import evaluation_of, fold_tests, random_table
from loops import each

from skewanova.comparison.analysis import choose_pairwise_test
from skewanova.inference.catalogue import DESIGN_GROUPS, PAIRWISE_CHOICES, TESTS, get_test, name_test
from skewanova.inference.omnibus import OMNIBUS_TESTS
from skewanova.inference.pairwise import PAIRWISE_TESTS
from skewanova.scores.kinds import DESIGNS, RUNS


def test_every_function_has_a_record_that_says_what_a_reader_needs():
    assert {*OMNIBUS_TESTS} <= {*TESTS}
    assert all(get_test(test).note for test in PAIRWISE_TESTS)
    assert {*PAIRWISE_TESTS, "auto", "tukey"} == {*PAIRWISE_CHOICES}
    assert len({each.name for each in TESTS.values()}) == len(TESTS)
    assert all(each.name and each.methods and each.note and each.statistic for each in TESTS.values())
    kinds = {kind for group in DESIGN_GROUPS.values() for kind in group}
    assert {*DESIGNS} - {"auto", *RUNS} < kinds
    assert {kind for kind in DESIGNS if kind in RUNS} == {*RUNS}
    assert all({*each.designs} <= kinds for each in TESTS.values())
    assert {each.posthoc_test for each in TESTS.values()} - {""} <= {*TESTS}


@each("kind", ["independent", *DESIGN_GROUPS["overlapping"][:-1]])
@each("n_folds", [4, 12])
def test_the_primary_holds_for_the_design(kind, n_folds):
    measures = evaluation_of(random_table(n_folds, 3), kind)
    assert kind in TESTS[fold_tests(random_table(n_folds, 3), kind).omnibus].designs
    assert kind in get_test(choose_pairwise_test(measures.design, 0.05)).designs


def test_corrections_stand_beside_what_they_correct_and_tests_have_names():
    kinds = (fold_tests(random_table(12, 3), kind) for kind in ("independent", "repeated_holdout"))
    independent, overlapping = ({result.test for result in tests.test_models()} for tests in kinds)
    assert independent < overlapping == {test for test in OMNIBUS_TESTS if not TESTS[test].needs_halvings}
    assert {test for test in overlapping if TESTS[test].needs_ratio} == overlapping - independent
    table = random_table(12, 2)
    alike = np.column_stack([table, table[:, 0] + 0.01])
    found = {result.test for result in fold_tests(alike, "repeated_holdout").test_models()}
    needing = {test for test in OMNIBUS_TESTS if TESTS[test].needs_full_rank or TESTS[test].needs_halvings}
    assert {*OMNIBUS_TESTS} - found == needing
    sauce = get_test("sauce")
    assert (sauce.name, sauce.methods, sauce.note) == ("sauce", "sauce", "")
    assert name_test(SimpleNamespace(test="two_way", response="iauprec")) == "2-way ANOVA of IAUPREC"
