"""The studentized range beside scipy's, the t distribution and its own limits."""

import numpy as np
import pytest
from loops import each
from scipy import integrate, stats

from skewanova.inference import fold_statistics
from skewanova.inference.fold_statistics import range_isf, range_sf

VALUES = np.array([0.0, 1e-3, 0.05, 0.3, 1.0, 2.0, 3.5, 5.0, 10.0, 30.0])


@each(("n_levels", "df"), [(2, 1), (3, 2), (3, 38), (6, 9), (12, 209), (5, np.inf), (30, 100), (12, 3)])
def test_tail_is_that_of_scipy(n_levels, df):
    known = stats.studentized_range.sf(VALUES, n_levels, df)
    np.testing.assert_allclose(range_sf(VALUES, n_levels, df), known, rtol=0, atol=1e-13)


def test_tail_at_the_edges():
    tail = range_sf(np.array([np.nan, np.inf, 0.0]), 4, 10)
    np.testing.assert_allclose(tail, [np.nan, 0.0, 1.0], rtol=0, atol=1e-13)
    assert range_sf(np.array([]), 4, 10).shape == (0,)


@pytest.mark.parametrize(
    ("alpha", "n_levels", "df"), [(0.05, 3, 38), (0.005, 12, 209), (0.5, 2, 1), (0.9, 4, 5)]
)
def test_critical_value_is_that_of_scipy(alpha, n_levels, df):
    found = range_isf(alpha, n_levels, df)
    assert found == pytest.approx(stats.studentized_range.isf(alpha, n_levels, df), rel=1e-9)
    assert range_sf(np.array([found]), n_levels, df)[0] == pytest.approx(alpha, abs=1e-14)


@each("n_levels", [2, 40, 400])
@each("width", [0.5, 3.0, 6.0])
def test_the_range_of_normal_values_by_adaptive_quadrature(n_levels, width):
    def missing(z):
        """Density of the largest times the chance that some other value lies below it by the width."""
        inside = (stats.norm.cdf(z) - stats.norm.cdf(z - width)) ** (n_levels - 1)
        return n_levels * stats.norm.pdf(z) * (stats.norm.cdf(z) ** (n_levels - 1) - inside)

    expected = integrate.quad(missing, -9, 9, epsabs=1e-14, epsrel=1e-13, limit=500, points=[0, 2, 3, 4])[0]
    found = fold_statistics._normal_range_sf(np.array([[width]]), n_levels)
    assert found.shape == (1, 1)
    assert found[0, 0] == pytest.approx(expected, abs=2e-13)
