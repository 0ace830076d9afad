"""Probability that each of several models is the best, from their estimates and how these vary together.

The models' true values are taken as draws from one normal distribution, whose spread is unknown: its prior is
half-Cauchy, on the scale of the standard errors (Gelman 2006). Differences that do not stand out from the
noise are thereby drawn together. Without that, with a flat prior, which is also what a bootstrap of folds
amounts to, the probability is too near to 1 wherever the models are nearly equal (docs/studies/decisions.md).
A covariance from few folds is drawn towards equal variances of all contrasts, with the weight of as many
degrees of freedom as there are contrasts.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from skewanova._checks import Floats, Seed, seeded
from skewanova._fold_kernels import helmert
from skewanova._ties import TIE
from skewanova.resampling import share_best

#: Draws from the posterior.
N_DRAWS = 9999
#: Equally likely values of the spread between models, and of the scale of a covariance estimated from folds.
N_SPREADS, N_SCALES = 200, 40


def probability_best(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Posterior probability that each model has the largest true value.

    Parameters
    ----------
    estimate, covariance : ndarray of shape (n_models,), (n_models, n_models)
        Estimates and their sampling covariance.
    df : float
        Degrees of freedom of the covariance; infinite where it is as good as known.
    n_draws : int, default 9999
        Draws from the posterior.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    ndarray of shape (n_models,)
        Probabilities that sum to 1; models that never differ share theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova._p_best import probability_best
    >>> probability_best(np.array([0.9, 0.5]), 0.001 * np.eye(2), df=19).round(2).tolist()
    [1.0, 0.0]
    """
    variances, axes, seen = _contrasts(estimate, covariance)
    if not variances.any():
        return share_best(estimate[None])
    pooled = len(variances) / (len(variances) + df)
    variances = (1 - pooled) * variances + pooled * variances.mean()
    spread, scale = _grid(float(np.sqrt(variances.mean())), df)
    error = scale[:, None] * variances  # (n_points, n_contrasts)
    total = error + spread[:, None] ** 2
    log_likelihood = -0.5 * (np.log(total) + seen**2 / total).sum(axis=1)
    weight = np.exp(log_likelihood - log_likelihood.max())
    generator = seeded(rng)
    point = generator.choice(len(weight), size=n_draws, p=weight / weight.sum())
    kept = 1 - error[point] / total[point]
    noise = generator.standard_normal((n_draws, len(estimate))) @ axes.T  # whichever way the axes point
    return share_best((kept * seen + np.sqrt(kept * error[point]) * noise) @ axes)


def _contrasts(estimate: Floats, covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Variances, directions (n_contrasts, n_models) and values of contrasts that are not always zero."""
    contrasts = helmert(len(estimate))
    variances, vectors = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    variances = np.where(variances <= TIE * np.trace(covariance), 0.0, variances)
    axes = vectors.T @ contrasts
    seen = axes @ estimate
    told = (variances > 0) | (np.abs(seen) > TIE)
    return variances[told], axes[told], seen[told]


def _grid(size: float, df: float) -> tuple[Floats, Floats]:
    """Every pair of a spread between models and a scale of the covariance, all equally likely beforehand."""
    spread = size * np.tan(np.pi / 2 * (np.arange(N_SPREADS) + 0.5) / N_SPREADS)
    share = (np.arange(N_SCALES) + 0.5) / N_SCALES
    scale = df / stats.chi2.isf(share, df) if np.isfinite(df) else np.ones(1)
    spreads, scales = np.meshgrid(spread, scale)
    return spreads.ravel(), scales.ravel()
