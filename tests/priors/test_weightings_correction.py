"""Probabilities at another prior: Bayes by counting, and what the correction leaves alone."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each

from skewanova import InputError, InputTypeError, correct_class_prior

SHARES = st.integers(1, 99).map(lambda n: n / 100)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1), st.integers(1, 9))
def test_it_is_bayes_where_negatives_are_repeated(cells, times):
    """Cells of (positives, negatives): adding copies of all negatives changes the prior and nothing else."""
    cells = [cell for cell in cells if sum(cell)] + [(3, 5)]
    positives, negatives = (sum(column) for column in zip(*cells, strict=True))
    learnt = [float(Fraction(p, p + n)) for p, n in cells]
    expected = [float(Fraction(p, p + times * n)) for p, n in cells]
    train_prior, prior = positives / (positives + negatives), positives / (positives + times * negatives)
    corrected = correct_class_prior(learnt, train_prior=train_prior, prior=prior)
    np.testing.assert_allclose(corrected, expected, rtol=1e-12)


def test_probabilities_at_the_edge_of_the_doubles_are_never_put_in_another_order():
    near = np.concatenate((np.geomspace(5e-324, 1e-3, 400), 1 - np.geomspace(1e-3, 1e-16, 400), [1.0]))
    for train_prior, prior in [(0.5, 1e-6), (1e-6, 0.5), (0.5, 0.999999)]:
        corrected = correct_class_prior(near, train_prior=train_prior, prior=prior)
        assert (np.diff(corrected) >= 0).all()
        assert corrected.min() >= 0
        assert corrected[-1] == 1


def test_by_hand():
    """Odds of 1 to 4 learnt at 1 to 3, used at 1 to 9: a third of them."""
    found = correct_class_prior(0.2, train_prior=0.25, prior=0.1)
    assert type(found) is float
    assert found == pytest.approx(1 / 13)
    assert correct_class_prior([0.2], train_prior=0.25, prior=0.1).tolist() == [found]


@each(("probability", "options", "message"), [
    ([-0.5, 2.0], {}, "`probability` must lie between 0 and 1, but got -0.5"),
    ([0.5, 1.5, -1], {}, "`probability` must lie between 0 and 1, but got 1.5"),
    ([0.1, np.nan], {}, "`probability` must lie between 0 and 1, but got nan"),
    (["0.1"], {}, "`probability` must hold real numbers, but has dtype <U3"),
    (0.1, {"prior": 0}, "`prior` must lie strictly between 0 and 1, but got 0"),
    (0.1, {"train_prior": 4}, "`train_prior` must lie strictly between 0 and 1, but got 4"),
])  # fmt: skip
def test_what_is_refused(probability, options, message):
    with pytest.raises(InputTypeError if "real" in message else InputError, match=f"^{message}"):
        correct_class_prior(probability, **{"train_prior": 0.5, "prior": 0.1, **options})


def test_certainty_and_shape_stay():
    corrected = correct_class_prior([[0, 1], [0.5, 1]], train_prior=0.5, prior=0.01)
    np.testing.assert_allclose(corrected, [[0, 1], [0.01, 1]])
