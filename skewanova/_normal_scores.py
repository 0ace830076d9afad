"""Kernels of the binormal model: areas and their slopes, power transforms, a test of normality.

The curves depend on two numbers: ``a = (mu+ - mu-) / s-`` and ``b = s+ / s-``. A positive with standard score
z stands at ``x = a + b z`` on the negatives' scale; recall there is Phi(-z), the false positive rate Phi(-x).
"""

from __future__ import annotations

import numpy as np
from scipy import special
from scipy.optimize import minimize_scalar

from skewanova._checks import Floats

#: Standard scores of positives beyond which nothing is left to integrate (1e-19 on either side).
REACH = 9.0
#: Standard scores of negatives within which precision changes at any skew up to 1e300.
NEGATIVE_REACH = 40.0
PANEL_NODES = 16
LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)
#: Range in which the power of a Box-Cox transform is sought.
POWERS = (-5.0, 5.0)


def positive_nodes(a: float, b: float) -> tuple[Floats, Floats]:
    """Standard scores of positives and their weights, finer where these pass the negatives."""
    edges = np.arange(-REACH, REACH + 0.25, 0.5)
    if b > 1:  # else even panels are fine enough for x = a + b z as well
        crossing = (np.arange(-NEGATIVE_REACH, NEGATIVE_REACH + 0.25, 0.5) - a) / b
        edges = np.unique(np.concatenate([edges, crossing[np.abs(crossing) < REACH]]))
    node, weight = np.polynomial.legendre.leggauss(PANEL_NODES)
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (node + 1)).ravel()
    return z, (half * weight).ravel() * np.exp(-(z**2) / 2 - LOG_ROOT_TWO_PI)


def precision_at(z: Floats, a: float, b: float, log_skew: float) -> Floats:
    """Precision at the threshold of a positive with standard score z (Brodersen et al. 2010, eq. 6)."""
    # log of alpha (1 - Phi+(t)) less log of (1 - alpha) (1 - Phi-(t))
    return np.asarray(special.expit(special.log_ndtr(-z) - special.log_ndtr(-(a + b * z)) - log_skew))


def auprec_and_slopes(a: float, b: float, priors: Floats, shares: Floats) -> tuple[float, Floats]:
    """AUPREC averaged over priors (eqs 7 and 8, corrected), and its derivatives in a and b."""
    z, weight = positive_nodes(a, b)
    x = a + b * z
    hazard = np.exp(-(x**2) / 2 - LOG_ROOT_TWO_PI - special.log_ndtr(-x))
    area, slopes = 0.0, np.zeros(2)
    for prior, share in zip(priors, shares, strict=True):
        precision = precision_at(z, a, b, float(-special.logit(prior)))
        moved = weight * precision * (1 - precision) * hazard
        area += float(share * (weight @ precision))
        slopes += share * np.array([moved.sum(), moved @ z])
    return area, slopes


def auc_and_slopes(a: float, b: float) -> tuple[float, Floats]:
    """AUC = Phi(a / sqrt(1 + b^2)) and its derivatives in a and b."""
    root = np.sqrt(1 + b**2)
    density = np.exp(-((a / root) ** 2) / 2 - LOG_ROOT_TWO_PI)
    return float(special.ndtr(a / root)), density * np.array([1 / root, -a * b / root**3])


def shape_covariance(a: float, b: float, n_positive: int, n_negative: int) -> Floats:
    """Covariance of the estimates of a and b under the model: Var(mean) = s^2 / n, Var(sd) = s^2 / (2 n)."""
    n, m = n_positive, n_negative
    joint = a * b / (2 * m)  # through the negatives' standard deviation
    return np.array([[b**2 / n + 1 / m + a**2 / (2 * m), joint], [joint, b**2 * (1 / (2 * n) + 1 / (2 * m))]])


# --- transform and check ------------------------------------------------------------------------------------


def box_cox(score: Floats, power: float) -> Floats:
    """Box and Cox (1964): (score^power - 1) / power, the logarithm at power 0."""
    return np.asarray(special.boxcox(score, power))


def best_power(positive: Floats, negative: Floats) -> float:
    """Power with the largest likelihood of two normal classes, each with its own mean and variance."""
    log_sum = np.log(positive).sum() + np.log(negative).sum()
    centre = np.exp(log_sum / (len(positive) + len(negative)))  # keeps powers of large scores finite

    def loss(power: float) -> float:
        spread = sum(len(s) * np.log(box_cox(s / centre, power).std()) for s in (positive, negative))
        return float(spread)  # the Jacobian of scores with geometric mean 1 is 1

    return float(minimize_scalar(loss, bounds=POWERS, method="bounded", options={"xatol": 1e-8}).x)


def normality_p(values: Floats) -> float:
    """p-value of the Anderson-Darling test of normality, mean and variance estimated.

    D'Agostino and Stephens (1986), table 4.9; nan for fewer than 8 values.
    """
    n = len(values)
    if n < 8:
        return np.nan
    z = np.sort((values - values.mean()) / values.std(ddof=1))
    odd = np.arange(1, 2 * n, 2)
    square = -n - float(odd @ (special.log_ndtr(z) + special.log_ndtr(-z[::-1]))) / n
    return _anderson_p(square * (1 + 0.75 / n + 2.25 / n**2))


def _anderson_p(adjusted: float) -> float:
    a2 = adjusted
    if a2 >= 10:
        return 0.0
    if a2 >= 0.6:
        return float(np.exp(1.2937 - 5.709 * a2 + 0.0186 * a2**2))
    if a2 >= 0.34:
        return float(np.exp(0.9177 - 4.279 * a2 - 1.38 * a2**2))
    if a2 >= 0.2:
        return float(1 - np.exp(-8.318 + 42.796 * a2 - 59.938 * a2**2))
    return float(1 - np.exp(-13.436 + 101.14 * a2 - 223.73 * a2**2))
