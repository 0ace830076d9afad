"""Joint curves of one test set, block by block, against the jackknife values of every case held at once."""

import numpy as np
import pytest

from skewanova import _joint_curves as joint
from skewanova._influence_kernels import jackknife_kernel
from skewanova.priors import UniformPrior

PRIORS = np.array([0.5, 0.1, 0.02])


@pytest.mark.parametrize("n", [5, 900])
@pytest.mark.parametrize("block", [1, 7, 1000])
def test_covariance_is_that_of_all_cases_at_once(n, block, monkeypatch):
    rng = np.random.default_rng(n)
    positive = np.append([True, False], rng.random(n - 2) < 0.3)
    scores = [np.round(rng.normal(size=n) + positive, 1), rng.normal(size=n) + positive]
    size = np.where(positive, positive.sum(), (~positive).sum())
    values = [
        jackknife_kernel(positive, score, UniformPrior(at, at))[1] / size for score in scores for at in PRIORS
    ]
    monkeypatch.setattr(joint, "CASES_AT_ONCE", block)
    found = joint.case_curves(PRIORS, np.ones((2, 3)), (positive, scores))
    units = found.deviations.reshape(-1, 6)
    assert len(units) == min(n, 6)
    assert units.T @ units == pytest.approx(np.array(values) @ np.array(values).T, rel=1e-9, abs=1e-14)
