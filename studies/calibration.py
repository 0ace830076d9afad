"""Size and power of all tests over folds.

Tables are of shape (n_replicates, n_folds, n_models); p-values have one row a replicate, and for tests of
pairs one column a pair, adjusted for the family.

Each scenario is simulated in blocks of replicates with seeds of their own, so a result depends on the seed
and the number of replicates, and never on how many processes shared the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.interpolate import CubicSpline

from skewanova.base.checks import Floats
from skewanova.base.rounding import TIE_SLACK
from skewanova.comparison.analysis import choose_omnibus_test
from skewanova.inference import fold_statistics
from skewanova.inference.fold_statistics import max_t_test, pair_indices, sign_flip_test
from studies.results import OMNIBUS_DEFAULT, PAIRS_DEFAULT, Study, name_pairwise_test, role, study_of
from studies.runner import Cell, Run, chosen, means
from studies.scenarios import LEVELS, SCENARIOS, Scenario, Tables

#: Random arrangements of the resampling tests.
N_RESAMPLES = 999


#: Ratio of test to training cases that the corrected tests are given where folds are independent in truth.
DECLARED_RATIO = 0.25


#: Folds from which sign flips reach every level in use: 2 ** (1 - 9) < 0.005.
FOLDS_FOR_FLIPS = 9


#: Level of the pretest of equal spreads before ``tukey_if_alike``: a rule that was tried, and not adopted.
ALIKE = 0.25


PValues = dict[str, Floats]


def run_omnibus_tests(tables: Tables, scenario: Scenario, rng: np.random.Generator) -> PValues:
    """p-values of the tests of all models at once, and of the one that is the default for the design."""
    values, inflation = tables.iauprec, _inflation(scenario)
    tests = {
        "two_way": fold_statistics.blocked_test(values).p_value,
        **{name: three_way_test(auprec).p_value for name, auprec in tables.auprec.items()},
        "repeated_measures": fold_statistics.gg_test(values).p_value,
        "hotelling": fold_statistics.hotelling_test(values).p_value,
        "friedman": fold_statistics.friedman_test(values).p_value,
        "permutation": permutation_p(values, rng),
        "sign_flip": sign_flip_test(values, n_resamples=N_RESAMPLES, rng=rng),
        "corrected_f": fold_statistics.blocked_test(values, inflation=inflation).p_value,
        "corrected_gg": fold_statistics.gg_test(values, inflation=inflation).p_value,
        "corrected_hotelling": fold_statistics.hotelling_test(values, inflation=inflation).p_value,
    }
    return {**tests, OMNIBUS_DEFAULT: tests[default_omnibus(scenario)]}


def compute_pair_tests(tables: Tables, scenario: Scenario, rng: np.random.Generator) -> PValues:
    """Return adjusted p-values of the tests of pairs, and of the one that is the default for the design."""
    values = tables.iauprec
    corrected = fold_statistics.paired_t_p_values(values, inflation=_inflation(scenario))
    tests = {
        "tukey": tukey_p(values),
        **{
            name.replace("three_way", "tukey_three_way"): three_way_tukey_p(auprec)
            for name, auprec in tables.auprec.items()
        },
        "paired_t_holm": fold_statistics.adjust_holm(fold_statistics.paired_t_p_values(values)),
        "corrected_t_holm": fold_statistics.adjust_holm(corrected),
        "max_t": max_t_test(values, n_resamples=N_RESAMPLES, rng=rng),
        "nemenyi": nemenyi_p(values),
        "wilcoxon_holm": fold_statistics.adjust_holm(signed_rank_p(values)),
    }
    robust = tests["max_t" if scenario.n_folds >= FOLDS_FOR_FLIPS else "paired_t_holm"]
    alike = brown_forsythe_p(values)[:, None] > ALIKE
    tests["tukey_if_alike"] = np.where(alike, tests["tukey"], robust)
    return {**tests, PAIRS_DEFAULT: tests[default_pairs(scenario)]}


def default_omnibus(scenario: Scenario) -> str:
    """Name the default test of all models, fixed by the design alone."""
    return choose_omnibus_test(scenario.fold_design, scenario.n_models)


def default_pairs(scenario: Scenario) -> str:
    """Name the default test of pairs, fixed by the design alone."""
    return name_pairwise_test(scenario.fold_design, min(LEVELS))


def _inflation(scenario: Scenario) -> float:
    return 1 + scenario.n_folds * (scenario.ratio or DECLARED_RATIO)


def three_way_test(auprec: Floats) -> fold_statistics.FTest:
    """F of the models in the additive three-way ANOVA of AUPREC (..., folds, models, priors)."""
    model, residual, df_residual = _three_way(auprec)
    n_models = auprec.shape[-2]
    statistic = (model / (n_models - 1)) / (residual / df_residual)
    p_value = stats.f.sf(statistic, n_models - 1, df_residual)
    df, df_error = (np.full(statistic.shape, d, dtype=np.float64) for d in (n_models - 1, df_residual))
    return fold_statistics.FTest(statistic, df, df_error, np.asarray(p_value))


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


def tukey_p(values: Floats) -> Floats:
    """Tukey's p-values on the residual mean square of the two-way ANOVA."""
    n_folds, n_models = values.shape[-2:]
    df = (n_models - 1) * (n_folds - 1)
    error = fold_statistics.blocked_f(values).error_sum_sq / df
    return _range_p(values.mean(axis=-2), error / n_folds, df)


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
    a, b = fold_statistics.pair_indices(values.shape[-1])
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
    a, b = fold_statistics.pair_indices(n_models)
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


#: Effects of the first model in a study of power, in distance between the classes.
EFFECTS = (0.1, 0.2, 0.4, 0.8)


POWER_SCENARIOS = ("S1", "S2a")


#: Replicates of each scenario in a reduced study.
REPLICATES = 400


#: p-values of resampling tests are fractions that may fall on a level, but for rounding.
ROUNDING = 1e-9


TYPE_ONE_ERROR_COLUMNS = (
    "scenario", "design", "n_models", "n_folds", "test", "role", "level", "rate", "std_error", "replicates",
)  # fmt: skip


POWER_COLUMNS = (
    "scenario", "design", "n_models", "n_folds", "effect", "test", "role", "level", "rate", "std_error",
    "adjusted_rate", "replicates",
)  # fmt: skip


def type_one_error_study(*, scenarios: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate models that are equal in truth, and count how often each test says otherwise.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `SCENARIOS`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`: replicates (400 unless said otherwise), full (each
        scenario's own number, 1,000 to 10,000), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `TYPE_ONE_ERROR_COLUMNS`. For tests of pairs the rate is that of families
        with at least one rejection among the models equal in truth; where one model is better, these rows
        are all there is. ``default`` and ``default_omnibus`` (role primary) are what `compare` would use.

    Raises
    ------
    ValueError
        If a scenario is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.calibration import type_one_error_study
    >>> frame = type_one_error_study(scenarios=["S2a"], replicates=50, progress=False).to_frame()
    >>> bool(frame.set_index(["test", "level"])["rate"].loc["two_way", 0.05] > 0.4)
    True
    """
    how = Run(**{"replicates": REPLICATES, **run})
    cells = [_cell(name, None, how) for name in chosen(scenarios, SCENARIOS, argument="scenarios")]
    columns = TYPE_ONE_ERROR_COLUMNS
    return study_of("type_one_error", cells, _null_rows, columns=columns, run=how, seeded_by="")


def power_study(
    *, scenarios: Sequence[str] | None = None, effects: Sequence[float] = EFFECTS, **run: Any
) -> Study:
    """Simulate one model that is better than its equal rivals, and count how often each test finds it.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `SCENARIOS`; by default one with independent folds and one with hold-outs of one data set.
    effects : sequence of float, default (0.1, 0.2, 0.4, 0.8)
        By how much further apart the first model's classes lie.
    **run
        As for :func:`type_one_error_study`.

    Returns
    -------
    Study
        Frame with the columns of `POWER_COLUMNS`. ``rate`` is the power; for tests of pairs, the share of the
        pairs with the better model that were found. ``adjusted_rate`` is the rate at the level at which the
        test rejects true equality as often as it should in the same scenario: what a test is worth once its
        excess of false findings is taken away (nan where its p-values are too coarse to tell).

    Raises
    ------
    ValueError
        As :func:`type_one_error_study`.

    Examples
    --------
    >>> from studies.calibration import power_study
    >>> study = power_study(scenarios=["S1"], effects=[0.8], replicates=50, progress=False)
    >>> frame = study.to_frame().set_index(["test", "level"])
    >>> bool(frame["rate"].loc["default_omnibus", 0.05] > 0.9)
    True
    """
    how = Run(**{"replicates": REPLICATES, **run})
    names = chosen(POWER_SCENARIOS if scenarios is None else scenarios, SCENARIOS, argument="scenarios")
    cells = [_cell(name, effect, how) for name in names for effect in (0.0, *effects)]
    null: PValues = {}

    def rows(cell: Cell, p_values: PValues) -> Iterator[tuple[object, ...]]:
        if cell.key[1] == "0":
            null.update({test: _family(p) for test, p in p_values.items()})
        else:
            yield from _power_rows(cell, p_values, null)

    return study_of("power", cells, rows, columns=POWER_COLUMNS, run=how, seeded_by="")


def _cell(name: str, effect: float | None, how: Run) -> Cell:
    """Return a scenario with one effect (None: the scenario's own)."""
    number = how.number(SCENARIOS[name].full)
    return Cell((name, f"{effect or 0.0:g}"), number, partial(_p_values, SCENARIOS[name], effect))


def _p_values(scenario: Scenario, effect: float | None, seed: np.random.SeedSequence, size: int) -> PValues:
    """p-values of one block: (size,) for tests of all models, (size, n_pairs) for tests of pairs."""
    draws, flips = map(np.random.default_rng, seed.spawn(2))
    tables = scenario.draw(size, draws, **({} if effect is None else {"effect": effect}))
    return {**run_omnibus_tests(tables, scenario, flips), **compute_pair_tests(tables, scenario, flips)}


def _null_rows(cell: Cell, p_values: PValues) -> Iterator[tuple[object, ...]]:
    scenario = SCENARIOS[cell.key[0]]
    equal = pair_indices(scenario.n_models)[0] >= scenario.n_better
    for test, p in p_values.items():
        if p.ndim == 1 and scenario.n_better:
            continue
        smallest = p if p.ndim == 1 else _family(p[:, equal])
        for level in LEVELS:
            rejected = (smallest <= level + ROUNDING).astype(np.float64)
            yield (*_labels(cell), test, role(test), level, *_rate(rejected), len(p))


def _power_rows(cell: Cell, p_values: PValues, null: PValues) -> Iterator[tuple[object, ...]]:
    better = pair_indices(SCENARIOS[cell.key[0]].n_models)[0] == 0
    for test, p in p_values.items():
        about = p[:, None] if p.ndim == 1 else p[:, better]
        for level in LEVELS:
            rate = _rate((about <= level + ROUNDING).mean(axis=1))
            adjusted = adjusted_rate(null[test], about, level)
            yield (*_labels(cell), float(cell.key[1]), test, role(test), level, *rate, adjusted, len(p))


def adjusted_rate(null: Floats, p: Floats, level: float) -> float:
    """Rate at the critical p-value that rejects this share of `null`, ties there rejected at random.

    nan where more than this share of `null` is tied there: the p-values are too coarse to be compared so.
    """
    critical = np.quantile(null, level, method="inverted_cdf")
    at, below = np.isclose(null, critical, rtol=ROUNDING, atol=0), null < critical * (1 - ROUNDING)
    if at.mean() > level:
        return np.nan
    share = (level - below.mean()) / at.mean()
    found = np.isclose(p, critical, rtol=ROUNDING, atol=0)
    return float((p < critical * (1 - ROUNDING)).mean() + share * found.mean())


def _labels(cell: Cell) -> tuple[object, ...]:
    scenario = SCENARIOS[cell.key[0]]
    return cell.key[0], scenario.design, scenario.n_models, scenario.n_folds


def _family(p: Floats) -> Floats:
    """Smallest p of each replicate: a family errs with its first rejection."""
    return p if p.ndim == 1 else p.min(axis=1)


def _rate(rejected: Floats) -> tuple[float, float]:
    """Mean and its Monte Carlo standard error."""
    return means(rejected[:, None])[0]
