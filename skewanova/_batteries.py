"""Every test that the calibration studies look at, on all replicates of a scenario at once.

Tables are of shape (n_replicates, n_folds, n_models); p-values have one row a replicate, and for tests of
pairs one column a pair, adjusted for the family.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import stats
from scipy.interpolate import CubicSpline

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats
from skewanova._scenarios import Scenario, Tables
from skewanova._ties import TIE_SLACK
from skewanova.resampling import max_t_test, sign_flip_test

#: Random arrangements of the resampling tests.
N_RESAMPLES = 999
#: Ratio of test to training cases that the corrected tests are given where folds are independent in truth.
DECLARED_RATIO = 0.25
#: Folds from which sign flips reach every level in use: 2 ** (1 - 9) < 0.005.
FOLDS_FOR_FLIPS = 9
#: Level of the pretest of equal spreads before ``tukey_if_alike``: a rule that was tried, and not adopted.
ALIKE = 0.25
OMNIBUS_DEFAULT = "default_omnibus"
PAIRS_DEFAULT = "default"

PValues = dict[str, Floats]


def omnibus_tests(tables: Tables, scenario: Scenario, rng: np.random.Generator) -> PValues:
    """p-values of the tests of all models at once, and of the one that is the default for the design."""
    values, inflation = tables.iauprec, _inflation(scenario)
    tests = {
        "two_way": kernels.blocked_test(values).p_value,
        **{name: three_way_test(auprec).p_value for name, auprec in tables.auprec.items()},
        "repeated_measures": kernels.gg_test(values).p_value,
        "hotelling": kernels.hotelling_test(values).p_value,
        "friedman": kernels.friedman_test(values).p_value,
        "permutation": permutation_p(values, rng),
        "sign_flip": sign_flip_test(values, n_resamples=N_RESAMPLES, rng=rng).p_value,
        "corrected_f": kernels.blocked_test(values, inflation=inflation).p_value,
        "corrected_gg": kernels.gg_test(values, inflation=inflation).p_value,
        "corrected_hotelling": kernels.hotelling_test(values, inflation=inflation).p_value,
    }
    return {**tests, OMNIBUS_DEFAULT: tests[default_omnibus(scenario)]}


def pair_tests(tables: Tables, scenario: Scenario, rng: np.random.Generator) -> PValues:
    """Adjusted p-values of the tests of pairs, and of the one that is the default for the design."""
    values = tables.iauprec
    corrected = kernels.paired_t_p(values, inflation=_inflation(scenario))
    tests = {
        "tukey": tukey_p(values),
        **{
            name.replace("three_way", "tukey_three_way"): three_way_tukey_p(auprec)
            for name, auprec in tables.auprec.items()
        },
        "paired_t_holm": kernels.holm(kernels.paired_t_p(values)),
        "corrected_t_holm": kernels.holm(corrected),
        "max_t": max_t_test(values, n_resamples=N_RESAMPLES, rng=rng).p_value,
        "nemenyi": nemenyi_p(values),
        "wilcoxon_holm": kernels.holm(signed_rank_p(values)),
    }
    robust = tests["max_t" if scenario.n_folds >= FOLDS_FOR_FLIPS else "paired_t_holm"]
    alike = brown_forsythe_p(values)[:, None] > ALIKE
    tests["tukey_if_alike"] = np.where(alike, tests["tukey"], robust)
    return {**tests, PAIRS_DEFAULT: tests[default_pairs(scenario)]}


def default_omnibus(scenario: Scenario) -> str:
    """Name the default test of all models, fixed by the design alone."""
    if scenario.ratio == 0:
        return "repeated_measures"
    many = scenario.n_folds >= 5 * (scenario.n_models - 1)
    return "corrected_hotelling" if many else "corrected_gg"


def default_pairs(scenario: Scenario) -> str:
    """Name the default test of pairs, fixed by the design alone."""
    if scenario.ratio > 0:
        return "corrected_t_holm"
    return "max_t" if scenario.n_folds >= FOLDS_FOR_FLIPS else "paired_t_holm"


def _inflation(scenario: Scenario) -> float:
    return 1 + scenario.n_folds * (scenario.ratio or DECLARED_RATIO)


# --- the paper's three-way analysis, in closed form for complete tables -------------------------------------


def three_way_test(auprec: Floats) -> kernels.FTest:
    """F of the models in the additive three-way ANOVA of AUPREC (..., folds, models, priors)."""
    model, residual, df_residual = _three_way(auprec)
    n_models = auprec.shape[-2]
    statistic = (model / (n_models - 1)) / (residual / df_residual)
    p_value = stats.f.sf(statistic, n_models - 1, df_residual)
    df, df_error = (np.full(statistic.shape, d, dtype=np.float64) for d in (n_models - 1, df_residual))
    return kernels.FTest(statistic, df, df_error, np.asarray(p_value))


def three_way_tukey_p(auprec: Floats) -> Floats:
    """Tukey's p-values on the residual mean square of the three-way ANOVA."""
    _, residual, df_residual = _three_way(auprec)
    n_values = auprec.shape[-3] * auprec.shape[-1]
    return _range_p(auprec.mean(axis=(-3, -1)), residual / df_residual / n_values, df_residual)


def _three_way(auprec: Floats) -> tuple[Floats, Floats, int]:
    """Sum of squares of the models and of the residuals, and the residuals' degrees of freedom."""
    axes = (-3, -2, -1)
    centred = auprec - auprec.mean(axis=axes, keepdims=True)
    others = [tuple(a for a in axes if a != axis) for axis in axes]
    effects = [centred.mean(axis=other, keepdims=True) for other in others]
    residual = ((centred - sum(effects)) ** 2).sum(axis=axes)
    n_folds, n_models, n_priors = auprec.shape[-3:]
    model = n_folds * n_priors * (effects[1] ** 2).sum(axis=axes)
    return model, residual, n_folds * n_models * n_priors - n_folds - n_models - n_priors + 2


# --- ranges and ranks ---------------------------------------------------------------------------------------


def tukey_p(values: Floats) -> Floats:
    """Tukey's p-values on the residual mean square of the two-way ANOVA."""
    found = kernels.blocked_f(values)
    return _range_p(
        values.mean(axis=-2), found.error_sum_sq / found.df_error / values.shape[-2], found.df_error
    )


def nemenyi_p(values: Floats) -> Floats:
    """Nemenyi's p-values on the mean ranks (Demsar 2006)."""
    n_folds, n_models = values.shape[-2:]
    ranks = stats.rankdata(values, axis=-1).mean(axis=-2)
    return _range_p(ranks, np.full(ranks.shape[:-1], n_models * (n_models + 1) / (12 * n_folds)), np.inf)


def brown_forsythe_p(values: Floats) -> Floats:
    """p-values of equal spreads of the models: Levene's test about medians, of the two-way residuals."""
    residuals = values - values.mean(axis=-1, keepdims=True)
    distance = np.abs(residuals - np.median(residuals, axis=-2, keepdims=True))
    n_folds, n_models = values.shape[-2:]
    means = distance.mean(axis=-2, keepdims=True)
    between = (
        n_folds * ((means - means.mean(axis=-1, keepdims=True)) ** 2).sum(axis=(-2, -1)) / (n_models - 1)
    )
    within = ((distance - means) ** 2).sum(axis=(-2, -1)) / (n_models * (n_folds - 1))
    return np.asarray(stats.f.sf(between / within, n_models - 1, n_models * (n_folds - 1)))


def signed_rank_p(values: Floats) -> Floats:
    """Exact two-sided p-values of Wilcoxon's signed ranks for every pair, not adjusted; no ties."""
    a, b = kernels.pair_indices(values.shape[-1])
    difference = values[..., a] - values[..., b]
    ranks = np.argsort(np.argsort(np.abs(difference), axis=-2), axis=-2) + 1
    positive = (ranks * (difference > 0)).sum(axis=-2)
    n_folds = values.shape[-2]
    lower = _signed_rank_cdf(n_folds)
    smaller = np.minimum(positive, n_folds * (n_folds + 1) // 2 - positive)
    return np.asarray(np.minimum(2 * lower[smaller], 1.0))


@cache
def _signed_rank_cdf(n_folds: int) -> Floats:
    """Null distribution of the sum of the ranks of positive differences, by adding one rank at a time."""
    chance = np.zeros(n_folds * (n_folds + 1) // 2 + 1)
    chance[0] = 1.0
    for rank in range(1, n_folds + 1):
        moved = np.concatenate([np.zeros(rank), chance[:-rank]])
        chance = (chance + moved) / 2
    return np.cumsum(chance)


def _range_p(means: Floats, variance: Floats, df: float) -> Floats:
    """p-values of the differences of all pairs of means with this variance each."""
    n_models = means.shape[-1]
    a, b = kernels.pair_indices(n_models)
    size = np.abs(means[..., a] - means[..., b]) / np.sqrt(variance)[..., None]
    return np.asarray(np.exp(np.minimum(_log_range_sf(n_models, df)(np.minimum(size, LARGEST_RANGE)), 0.0)))


LARGEST_RANGE = 20.0
RANGE_NODES = 40


@cache
def _log_range_sf(n_models: int, df: float) -> CubicSpline:
    """Log of the studentized range's upper tail, interpolated: the integral itself is slow."""
    nodes = LARGEST_RANGE * np.linspace(0, 1, RANGE_NODES) ** 2
    tail = np.maximum(stats.studentized_range.sf(nodes, n_models, df), 1e-12)
    return CubicSpline(nodes, np.log(tail))


# --- permutation --------------------------------------------------------------------------------------------


def permutation_p(values: Floats, rng: np.random.Generator) -> Floats:
    """Permutation of models within folds, the same arrangements for every replicate: one matrix product."""
    n_folds, n_models = values.shape[-2:]
    identity = np.broadcast_to(np.arange(n_models), (N_RESAMPLES + 1, n_folds, n_models))
    order = rng.permuted(identity, axis=-1)
    order[0] = np.arange(n_models)
    moves = (order[..., None] == np.arange(n_models)).astype(np.float64)  # (arrangement, fold, to, from)
    moves = np.moveaxis(moves, (1, 3), (0, 1)).reshape(n_folds * n_models, -1)
    centred = values - values.mean(axis=-1, keepdims=True)
    sums = (centred.reshape(len(values), -1) @ moves).reshape(len(values), N_RESAMPLES + 1, n_models)
    statistic = (sums**2).sum(axis=-1)
    return np.asarray((statistic >= statistic[:, :1] * (1 - TIE_SLACK)).mean(axis=-1))
