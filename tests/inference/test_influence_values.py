"""Influence and jackknife values of a dozen cases against their definitions, spreads by hand."""

import numpy as np
import pytest
from case_values import jackknife_values

from skewanova.curves.estimators import prior_averaged_precision
from skewanova.inference import covariance
from skewanova.priors.weightings import DiscretePrior, UniformPrior

POSITIVE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=bool)
#: Ties within and between the classes; a negative above and one below all positives.
SCORE = np.array([5.0, 6.0, 4.0, 4.0, 4.0, 3.0, 2.0, 2.0, 1.0, 0.0, 3.5, 3.5])
AT = UniformPrior(0.3, 0.3)
TWO = DiscretePrior([0.1, 0.6], [0.75, 0.25])


@pytest.mark.parametrize("few", ["positive", "negative"])
def test_a_class_of_one_case_has_the_value_0_and_one_of_two_has_not(few):
    for count in (1, 2):
        keep = np.flatnonzero((few == "positive") == POSITIVE)[:count]
        rows = np.sort(np.append(keep, np.flatnonzero((few == "positive") != POSITIVE)))
        positive, score = POSITIVE[rows], SCORE[rows]
        _, found = jackknife_values(positive, score, AT)
        alone = positive if few == "positive" else ~positive
        assert found[alone].any() == (count == 2)
        assert found[~alone].any()


def test_slopes_of_precision_are_its_derivatives():
    tpr, fpr, step = np.array([0.2, 0.9]), np.array([0.0, 0.4]), 1e-6
    value, by_tpr, by_fpr = covariance.precision_slopes(tpr, fpr, TWO)
    assert value == pytest.approx(prior_averaged_precision(tpr, fpr, TWO))
    ahead = (prior_averaged_precision(tpr + step, fpr, TWO), prior_averaged_precision(tpr, fpr + step, TWO))
    behind = prior_averaged_precision(tpr - step, fpr, TWO)
    assert by_tpr == pytest.approx((ahead[0] - behind) / (2 * step), rel=1e-6, abs=1e-9)
    assert by_fpr == pytest.approx((ahead[1] - value) / step, rel=1e-4)


def test_several_models_have_the_values_of_each_alone():
    labels, other = POSITIVE.astype(int), SCORE[::-1]
    both = covariance.auprec_influence(labels, np.stack([SCORE, other], axis=1), prior=0.3)
    assert both.shape == (12, 2)
    for column, score in zip(both.T, (SCORE, other), strict=True):
        assert column.tolist() == covariance.auprec_influence(labels, score, prior=0.3).tolist()
