"""Statistics of fold x model tables, tests by sign flips and permutations, and the studentized range.

Values have shape (..., n_folds, n_models), so that one call serves one table or all replicates of a
simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations, product
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebpts1
from numpy.typing import NDArray
from scipy import special, stats
from scipy.interpolate import PPoly
from scipy.linalg import helmert
from scipy.optimize import brentq

from skewanova.base.checks import Floats, Seed, make_generator
from skewanova.base.rounding import TIE_SLACK, is_maximum, limit_blas_threads, snap_ties
from skewanova.priors.quadrature import gauss_nodes

#: Differences below this share of the largest value are rounding.
ROUNDING = 8 * float(np.finfo(np.float64).eps)


#: Numbers in memory at a time.
BLOCK_SIZE = 4_000_000


class EffectTest(NamedTuple):
    """F of an effect against its interaction with the folds, with the sums of squares of both."""

    statistic: Floats
    sum_sq: Floats
    error_sum_sq: Floats


def blocked_f(values: Floats) -> EffectTest:
    """Return the two-way F of models against model x fold, with both sums of squares, each (...,)."""
    return contrast_f(model_contrasts(values))


def model_contrasts(values: Floats) -> Floats:
    """Return the scores (..., n_folds, n_models - 1) of orthonormal contrasts between models."""
    return np.asarray((values - values.mean(axis=-1, keepdims=True)) @ helmert(values.shape[-1]).T)


def fold_covariance(values: Floats) -> Floats:
    """Return the covariance matrix of the models over folds, (..., n_models, n_models)."""
    centred = values - values.mean(axis=-2, keepdims=True)
    return np.asarray(np.swapaxes(centred, -1, -2) @ centred / (values.shape[-2] - 1))


def epsilon_gg(contrast_cov: Floats) -> Floats:
    """Return Greenhouse and Geisser's epsilon (...,) of contrast covariances (Box 1954); nan if all are 0."""
    size = contrast_cov.shape[-1]
    trace = np.trace(contrast_cov, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilon = trace**2 / (size * (contrast_cov**2).sum(axis=(-2, -1)))
    return np.asarray(epsilon)


def epsilon_hf(gg: Floats, size: int, n_folds: int) -> Floats:
    """Return Huynh-Feldt (1976) epsilon: 1 for one contrast, nan for two folds; 1 if above 1 or below 0."""
    if size == 1 or n_folds < 3:
        return np.where(np.isnan(gg), np.nan, 1.0 if size == 1 else np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = (n_folds * size * gg - 2) / (size * (n_folds - 1 - size * gg))
    return np.asarray(np.minimum(np.where(raw <= 0, 1.0, raw), 1.0))


def mauchly(contrast_cov: Floats, n_folds: int) -> tuple[Floats, Floats]:
    """Return Mauchly's W (0: singular, nan: all 0), p (Anderson 2003, 10.7.4); needs contrasts < folds."""
    # R's mauchly.test has the number of models, not of contrasts, in one place of that term: p to a percent
    size, df_cov = contrast_cov.shape[-1], n_folds - 1
    sign, log_det = np.linalg.slogdet(contrast_cov)
    trace = np.trace(contrast_cov, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_w = np.where(sign > 0, log_det - size * np.log(trace / size), -np.inf)
    log_w = np.where(trace > 0, log_w, np.nan)
    rho = 1 - (2 * size**2 + size + 2) / (6 * size * df_cov)
    omega = (
        (size + 2) * (size - 1) * (size - 2) * (2 * size**3 + 6 * size**2 + 3 * size + 2)
        / (288 * (df_cov * size * rho) ** 2)
    )  # fmt: skip
    chi2, df = -df_cov * rho * log_w, size * (size + 1) / 2 - 1
    first, second = special.chdtrc(df, chi2), special.chdtrc(df + 4, chi2)
    return np.exp(log_w), np.asarray(first + omega * (second - first))


def has_full_rank(values: Floats) -> bool:
    """Return True if the covariance over folds of differences between models has rank n_models - 1."""
    contrasts = values[:, 1:] - values[:, :1]
    tolerance = 1e-10 * float(np.abs(values).max())
    rank = np.linalg.matrix_rank(contrasts - contrasts.mean(axis=0), tol=tolerance)
    return bool(rank == values.shape[1] - 1)


def contrast_f(contrasts: Floats) -> EffectTest:
    """Return F (inf, nan without error) of mean contrast scores (..., n_folds, df), both sums of squares."""
    n_folds = contrasts.shape[-2]
    mean = contrasts.mean(axis=-2, keepdims=True)
    effect = n_folds * (mean**2).sum(axis=(-2, -1))
    error = ((contrasts - mean) ** 2).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return EffectTest(np.asarray(effect / (error / (n_folds - 1))), effect, error)


class FTest(NamedTuple):
    """An F statistic with its degrees of freedom and p-value."""

    statistic: Floats
    df: Floats
    df_error: Floats
    p_value: Floats


def make_f_test(statistic: Floats, df: Floats | int, df_error: Floats | int) -> FTest:
    """Return an F statistic with its degrees of freedom, broadcast to its shape, and upper-tail p-value."""
    shape = np.shape(statistic)
    df, df_error = np.broadcast_to(df, shape), np.broadcast_to(df_error, shape)
    return FTest(np.asarray(statistic), df, df_error, np.asarray(stats.f.sf(statistic, df, df_error)))


def blocked_test(values: Floats, *, inflation: float = 1.0) -> FTest:
    """Test equal means of models by the blocked F over `inflation` (1 + J r for shared training data)."""
    df = values.shape[-1] - 1
    return make_f_test(blocked_f(values).statistic / inflation, df, df * (values.shape[-2] - 1))


def gg_test(values: Floats, *, inflation: float = 1.0, halves: Floats | None = None) -> FTest:
    """Test equal models by the blocked F over `inflation` or, given halvings, their variance, on GG df."""
    if halves is None:
        return contrast_test(model_contrasts(values), inflation=inflation)
    mean, cov = _mean_contrasts(values, halves)  # their sum of squares over its expectation
    df = mean.shape[-1] * epsilon_gg(cov)
    return make_f_test((mean**2).sum(axis=-1) / np.trace(cov, axis1=-2, axis2=-1), df, df * halves.shape[-2])


def contrast_test(contrasts: Floats, *, inflation: float = 1.0) -> FTest:
    """Test that mean contrast scores (..., n_folds, df) are 0 by F / `inflation` on Greenhouse-Geisser df."""
    n_folds, size = contrasts.shape[-2:]
    df = epsilon_gg(fold_covariance(contrasts)) * size
    return make_f_test(contrast_f(contrasts)[0] / inflation, df, df * (n_folds - 1))


def hotelling_test(values: Floats, *, inflation: float = 1.0, halves: Floats | None = None) -> FTest:
    """Test equal models by Hotelling's T2 of contrasts of full rank, as F over `inflation` or of halvings."""
    if halves is None:
        contrasts, scale = model_contrasts(values), values.shape[-2]
        mean, cov = contrasts.mean(axis=-2), fold_covariance(contrasts)
    else:
        (mean, cov), scale = _mean_contrasts(values, halves), 1
    t2 = scale * (mean * np.linalg.solve(cov, mean[..., None])[..., 0]).sum(axis=-1)
    df, df_cov = mean.shape[-1], mean_df(values, halves)
    return make_f_test(t2 / inflation * (df_cov - df + 1) / (df_cov * df), df, df_cov - df + 1)


def friedman_test(values: Floats) -> FTest:
    """Return Iman-Davenport F of (..., folds, models): inf (p its chance) if all agree, nan if all tie."""
    n_folds, n_models = values.shape[-2:]
    ranks = stats.rankdata(snap_ties(values), axis=-1) - (n_models + 1) / 2
    spread = (ranks**2).sum(axis=(-2, -1)) / (n_folds * (n_models - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        chi2 = (ranks.sum(axis=-2) ** 2).sum(axis=-1) / (n_folds * spread)  # Friedman's, corrected for ties
        statistic = np.asarray((n_folds - 1) * chi2 / (n_folds * (n_models - 1) - chi2))
    test = make_f_test(statistic, n_models - 1, (n_models - 1) * (n_folds - 1))
    agreed = np.exp((1 - n_folds) * special.gammaln(n_models + 1))  # chance that all folds agree
    return test._replace(p_value=np.where(np.isinf(statistic), agreed, test.p_value))


def covariance_of_means(values: Floats, ratio: float) -> Floats:
    """Return the covariance ``S (1 / J + ratio)`` of models' means over J folds (Nadeau and Bengio 2003)."""
    return np.asarray(fold_covariance(values) * (1 / values.shape[-2] + ratio))


def split_half_covariance(values: Floats, halves: Floats) -> Floats:
    """Return the covariance ``V + S / J`` of means over J folds, V = halves.T @ halves / n_halvings."""
    between = np.swapaxes(halves, -1, -2) @ halves / halves.shape[-2]  # their mean is 0 by symmetry
    return np.asarray(between + fold_covariance(values) / values.shape[-2])


def mean_df(values: Floats, halves: Floats | None = None) -> int:
    """Return the degrees of freedom of a mean's variance: folds less one, or the number of halvings."""
    return int(values.shape[-2]) - 1 if halves is None else int(halves.shape[-2])


def _mean_contrasts(values: Floats, halves: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal contrasts of models' means (..., n_models - 1), and their split-half covariance."""
    contrasts = helmert(values.shape[-1])
    return values.mean(axis=-2) @ contrasts.T, contrasts @ split_half_covariance(values, halves) @ contrasts.T


def pair_indices(n_models: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices (n_pairs,) of first and second models, in the order (0, 1), (0, 2), ..., (1, 2)."""
    return np.triu_indices(n_models, 1)


def pair_differences(values: Floats) -> Floats:
    """Return first less second model of all pairs, (..., n_folds, n_pairs), 0 where that is rounding."""
    a, b = pair_indices(values.shape[-1])
    difference = values[..., a] - values[..., b]
    limit = ROUNDING * np.abs(values).max(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(difference) <= limit, 0.0, difference)


class PairedT(NamedTuple):
    """Paired t statistics of every pair of models."""

    estimate: Floats
    std_error: Floats
    statistic: Floats


def paired_t(values: Floats, *, inflation: float = 1.0, halves: Floats | None = None) -> PairedT:
    """Return estimate, std_error, t of pairs; without variation t is inf or -inf, nan for equal models."""
    difference = pair_differences(values)
    estimate = difference.mean(axis=-2)
    deviation = difference.std(axis=-2, ddof=1)
    rounding = ROUNDING * np.abs(values).max(axis=(-2, -1))[..., None]
    flat = deviation <= np.maximum(1e-12 * np.abs(difference).max(axis=-2), rounding)  # alike in every fold
    factor, between = inflation, np.zeros(estimate.shape)
    if halves is not None:
        factor, between = 1.0, np.sqrt((pair_differences(halves) ** 2).mean(axis=-2))
    spread = np.where(flat, 0.0, deviation * np.sqrt(factor / values.shape[-2]))
    flat &= between <= rounding
    std_error = np.where(flat, 0.0, np.hypot(spread, between))
    certain = np.where(np.abs(estimate) <= rounding, np.nan, np.copysign(np.inf, estimate))
    statistic = np.where(flat, certain, estimate / np.where(flat, 1.0, std_error))
    return PairedT(estimate, std_error, statistic)


def paired_t_p_values(values: Floats, *, inflation: float = 1.0, halves: Floats | None = None) -> Floats:
    """Return two-sided, unadjusted p-values (..., n_pairs) of the paired t tests of all pairs."""
    statistic = np.abs(paired_t(values, inflation=inflation, halves=halves).statistic)
    return np.asarray(2 * stats.t.sf(statistic, mean_df(values, halves)))


def adjust_holm(p_values: Floats) -> Floats:
    """Return p-values adjusted by Holm (1979) along the last axis; nan stays nan and does not count."""
    # statsmodels takes one family a call and collects garbage in each; this takes all of a simulation
    order = np.argsort(p_values, axis=-1)
    ranked = np.take_along_axis(p_values, order, axis=-1)
    tested = np.isfinite(ranked).sum(axis=-1, keepdims=True)
    factor = tested - np.arange(p_values.shape[-1])
    stepped = np.minimum(np.fmax.accumulate(ranked * factor, axis=-1), 1.0)
    adjusted = np.empty_like(stepped)
    np.put_along_axis(adjusted, order, np.where(np.isnan(ranked), np.nan, stepped), axis=-1)
    return adjusted


def fraction_best(means: Floats) -> Floats:
    """Return the fraction of resamples (rows) in which each model has the largest mean; ties are shared."""
    best = is_maximum(means)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def draw_sign_flips(n_folds: int, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return all 2^(n_folds - 1) rows of signs, or n_resamples + 1 random ones if fewer; row 0 is all 1."""
    # a two-sided statistic does not change if all folds flip, so enumerated rows fix the first fold's sign
    if 2 ** (n_folds - 1) <= n_resamples + 1:
        return np.array([(1.0, *row) for row in product((1.0, -1.0), repeat=n_folds - 1)])
    signs = make_generator(rng).choice((1.0, -1.0), size=(n_resamples + 1, n_folds))
    signs[0] = 1.0
    return signs


@limit_blas_threads()
def sign_flip_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return p of equal means by the blocked F under sign flips of independent, symmetric fold profiles."""
    centred = _centre_folds(values)
    signs = draw_sign_flips(centred.shape[-2], n_resamples=n_resamples, rng=rng)
    effects = signs @ centred  # (..., n_arrangements, n_models)
    return _upper_tail_share((effects**2).sum(axis=-1))


def permutation_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return p of exchangeable models by the blocked F under permutations within folds of one table."""
    centred = _centre_folds(values)
    n_folds, n_models = centred.shape
    if (n_folds - 1) * lgamma(n_models + 1) <= log(n_resamples + 1) + TIE_SLACK:
        sums = centred[:1]  # the first fold fixed, all others permuted in every way
        orders: NDArray[np.intp] = np.array(list(permutations(range(n_models))))
        for fold in centred[1:]:
            sums = (sums[:, None, :] + fold[orders]).reshape(-1, n_models)
    else:
        generator, parts = make_generator(rng), [centred.sum(axis=0)[None]]
        for block in split_rows(np.empty(n_resamples), max(1, BLOCK_SIZE // centred.size)):
            tables = np.broadcast_to(centred, (len(block), n_folds, n_models))
            parts.append(generator.permuted(tables, axis=-1).sum(axis=-2))
        sums = np.concatenate(parts)
    return _upper_tail_share((sums**2).sum(axis=-1))


@limit_blas_threads()
def max_t_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return adjusted p (..., n_pairs), 1 for equal models, by step-down max-T under all or random flips."""
    # algorithm 4.1 of Westfall and Young (1993), counted as Phipson and Smyth (2010) do
    signs = draw_sign_flips(values.shape[-2], n_resamples=n_resamples, rng=rng)
    difference = pair_differences(values)
    order = np.argsort(squared_t(difference, signs[:1])[..., 0, :], axis=-1)[..., None, :]
    ranked = np.take_along_axis(difference, order, axis=-1)  # the least extreme first: its maximum is itself
    limit = squared_t(ranked, signs[:1]) * (1 - TIE_SLACK)
    counts = np.zeros(limit.shape)
    for part in split_rows(signs, max(1, BLOCK_SIZE // limit.size)):
        largest = np.maximum.accumulate(squared_t(ranked, part), axis=-1)
        counts += (largest >= limit).sum(axis=-2, keepdims=True)
    falling = np.maximum.accumulate(counts[..., ::-1] / len(signs), axis=-1)[..., ::-1]
    adjusted = np.empty_like(falling)
    np.put_along_axis(adjusted, order, falling, axis=-1)
    return adjusted[..., 0, :]


def squared_t(difference: Floats, signs: Floats) -> Floats:
    """Return t^2 / (n_folds - 1) of differences (..., n_folds, n) by each row of signs, (..., n_rows, n)."""
    total = (difference**2).sum(axis=-2)[..., None, :]
    square = np.asarray(signs @ difference)  # in place from here on: these are large
    square *= square
    square /= difference.shape[-2]  # J mean^2
    rest = total - square
    np.maximum(rest, 1e-15 * total, out=rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(square, rest, out=square, where=total != 0)  # where all is 0, so is the square
    return square


def _centre_folds(values: Floats) -> Floats:
    """Return values less the mean over models of their fold, 0 where that is rounding."""
    centred = values - values.mean(axis=-1, keepdims=True)
    rounding = ROUNDING * np.abs(values).max(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(centred) <= rounding, 0.0, centred)


def _upper_tail_share(statistic: Floats) -> Floats:
    """Return the share of statistics on the last axis that reach the first, which is the observed one."""
    return np.asarray((statistic >= statistic[..., :1] * (1 - TIE_SLACK)).mean(axis=-1))


#: Largest standard normal value that is integrated over; the tail beyond it is below 1e-16.
MAX_NORMAL = 8.5


#: Nodes over the pooled deviation, more below so many degrees of freedom, where its distribution is wide.
FEW_DF_NODES, NODES, FEW_DF = 600, 96, 10


#: Degrees of freedom from which on the pooled deviation is 1 but for rounding.
INFINITE_DF = 1e10


#: Degree and width of the polynomial pieces for the tail of the range, accurate to the last two digits.
DEGREE, PIECE = 7, 1 / 16


def range_sf(value: Floats, n_levels: int, df: float) -> Floats:
    """Return P(studentized range > value) (n,), within 1e-13 of scipy.stats.studentized_range.sf."""
    # E_s [1 - R(q s)], s the pooled deviation, R the distribution of the range of normal values (Tukey 1949)
    node, weight = deviation_nodes(df)
    normal, largest = _normal_range(n_levels), 2 * MAX_NORMAL / node.min()  # the tail beyond is 0
    tail = normal(np.minimum(value, largest)[:, None] * node) @ weight
    return np.where(value > largest, 0.0, np.clip(tail, 0.0, 1.0))


@cache
def range_isf(alpha: float, n_levels: int, df: float) -> float:
    """Return the value that the studentized range exceeds with probability alpha, cached for all priors."""

    def excess(value: float) -> float:
        return float(range_sf(np.array([value]), n_levels, df)[0]) - alpha

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))


@cache
def deviation_nodes(df: float) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes of chi / sqrt(df), and their probabilities; only 1 from 1e10 df on."""
    if df >= INFINITE_DF:
        return np.ones(1), np.ones(1)
    low, high = np.sqrt(stats.chi2.isf([1 - 1e-16, 1e-16], df))
    legendre, weight = gauss_nodes("legendre", NODES if df >= FEW_DF else FEW_DF_NODES)
    chi = (high + low) / 2 + (high - low) / 2 * legendre
    weight = weight * stats.chi.pdf(chi, df)
    return chi / np.sqrt(df), weight / weight.sum()


def split_rows(values: NDArray[Any], size: int) -> list[NDArray[Any]]:
    """Return a list of consecutive blocks of at most `size` rows, which are views."""
    return [values[start : start + size] for start in range(0, len(values), size)]


@cache
def _normal_range(n_levels: int) -> Callable[[Floats], Floats]:
    """Return a piecewise polynomial of w that gives P(range of `n_levels` standard normal values > w)."""
    edges = np.arange(0.0, 2 * MAX_NORMAL + PIECE, PIECE)
    position = (chebpts1(DEGREE + 1) + 1) / 2
    widths = edges[:-1, None] + PIECE * position
    values = _normal_range_sf(widths.ravel(), n_levels).reshape(widths.shape)
    powers = np.linalg.solve(np.vander(position), values.T)  # of the way along a piece, the highest first
    curve = PPoly(powers / PIECE ** np.arange(DEGREE, -1, -1.0)[:, None], edges)
    return lambda width: curve(np.minimum(width, edges[-1]))


def _normal_range_sf(width: Floats, n_levels: int) -> Floats:
    """Return the probability that the range of `n_levels` standard normal values exceeds each width."""
    # k E_z [Phi(z)^n - (Phi(z) - Phi(z - w))^n], n = k - 1 and z the largest: no cancellation, as one power
    # is taken out. The trapezoid rule converges geometrically in 1/h, the faster the fewer levels.
    n, step = n_levels - 1, min(0.2, 0.7 / np.sqrt(n_levels))
    largest = np.arange(-MAX_NORMAL, MAX_NORMAL + step / 2, step)
    below = special.ndtr(largest)
    density = n_levels * step * np.exp(-(largest**2) / 2) / np.sqrt(2 * np.pi) * below**n
    with np.errstate(divide="ignore"):  # a width of 0 leaves nothing between
        inside = np.log1p(-special.ndtr(largest - width[:, None]) / below)
    return np.asarray(-np.expm1(n * inside) @ density)
