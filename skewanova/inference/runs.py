"""Comparison of models with several runs on a single test set (Obuchowski and Rockette 1995).

A run is one training, such as one seed. An area varies with the run, and with the cases that all runs share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special
from scipy.linalg import helmert

from skewanova.base.checks import (
    Floats,
    InputError,
    check_choice,
    check_float_array,
    check_fraction,
    check_number,
    warn_each,
)
from skewanova.base.rounding import TIE
from skewanova.inference.fold_statistics import epsilon_gg, fold_covariance, pair_indices
from skewanova.inference.sampling import name_models
from skewanova.inference.single_test_set import LARGEST_DF, OMNIBUS_FIELDS, ModelComparison, make_pair_tests

#: Designs of runs: run j of all models shares something, such as the training sample, or nothing.
RUN_DESIGNS = ("crossed", "nested")


#: Differences of covariances below this share of them are rounding.
ROUNDING = 1e-10


#: Methods for degrees of freedom: Banerjee's bound, which few runs need, or Hillis's as published.
DF_METHODS = ("banerjee", "hillis")


#: Level, shared by all pairs, at which t has Banerjee's critical value. At larger levels t is more
#: conservative, and at .005 it still has its nominal level (studies/records/runs-few.csv).
MATCHED_LEVEL = 0.02


class CaseCovariances(NamedTuple):
    """Mean covariances over cases, Cov1 to Cov3 of Obuchowski and Rockette (1995).

    They are those of two models in one run (nan if runs are nested), of one model in two runs, and of two
    models in two runs.
    """

    same_run: float
    same_model: float
    different: float

    def mean_square(self, n_runs: int) -> float:
        """Return n_runs * max(Cov2 - Cov3, 0), the part of cases in the mean square between models."""
        return n_runs * max(self.same_model - self.different, 0.0)


class DegreesOfFreedom(NamedTuple):
    """Degrees of freedom of a variance with a part from runs and a part from cases.

    `method` is one of `DF_METHODS`. By ``banerjee``, t has Banerjee's (1961) critical value, whose square is
    the mean of the squares for the two parts, weighted by their shares.
    """

    method: str = "banerjee"
    case_df: float = np.inf

    def compute_df(self, variance: ArrayLike, noise: ArrayLike, df: ArrayLike, *, n_tests: int = 1) -> Floats:
        """Return df of variance (0: inf): its part `noise` on `df`, the rest on `case_df` (hillis: inf)."""
        total, part, df = (np.asarray(array, dtype=np.float64) for array in (variance, noise, df))
        varies = (part > 0) & (total > 0)
        if self.method == "hillis":  # Hillis 2007, eq. 8
            return np.where(varies, total**2 * df / np.where(varies, part, 1.0) ** 2, np.inf)
        share = np.where(total > 0, part / np.where(total > 0, total, 1.0), 0.0)
        quantile = 1 - MATCHED_LEVEL / n_tests / 2
        run_square = special.stdtrit(df, quantile) ** 2
        case_square = special.stdtrit(min(self.case_df, LARGEST_DF), quantile) ** 2
        critical = np.sqrt(share * run_square + (1 - share) * case_square)
        df_bound = special.stdtridf(quantile, critical)  # below 0 where t is normal but for rounding
        df_bound = np.where((share > 0) & (df_bound > 0), df_bound, self.case_df)
        return np.asarray(np.where(total > 0, df_bound, np.inf))


@dataclass(frozen=True, eq=False, kw_only=True)
class RunsComparison(ModelComparison):
    """Models compared over several runs on the same cases: all at once, and every pair.

    Attributes
    ----------
    models, estimate
        Names, and the mean area over runs.
    f_omnibus, df, df_omnibus, p_omnibus, model_a, model_b, difference, std_error, statistic, df_error,
    p_value, p_adjusted, conf_low, conf_high, critical_value
        As of :class:`~skewanova.inference.TestSetComparison`.
    model_low, model_high : ndarray of shape (n_models,)
        Interval of every model's mean area, not simultaneous.
    components : DataFrame
        Variance components of one area, as of :func:`~skewanova.inference.components`.
    """

    model_low: Floats
    model_high: Floats
    components: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return a row a pair: models, difference, std_error, df_error, statistic, p-values, limits."""
        names = (
            "model_a", "model_b", "difference", "std_error", "df_error", "statistic", "p_value", "p_adjusted",
            "conf_low", "conf_high",
        )  # fmt: skip
        return pd.DataFrame({name: getattr(self, name) for name in names})


def compare_runs(
    areas: ArrayLike,
    covariance: ArrayLike,
    *,
    models: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    runs: str = "crossed",
    df: str = "banerjee",
    case_df: float = np.inf,
) -> RunsComparison:
    """Compare models with several runs on the same cases (Obuchowski and Rockette 1995, Hillis 2007).

    Parameters
    ----------
    areas : array_like of shape (n_models, n_runs)
        Area of every model in every run, of any kind that has a covariance over cases.
    covariance : array_like of shape (n_models * n_runs, n_models * n_runs)
        Covariance of these areas over cases, such as the jackknife's
        (:func:`~skewanova.inference.auprec_covariance`), the runs of the first model first.
    models : sequence of str, optional
        Names; by default their numbers from 0.
    confidence_level : float, default 0.95
        Simultaneous level of the intervals of all pairs (Bonferroni), and the level of each model's interval.
    runs : {"crossed", "nested"}, default "crossed"
        Whether run j of all models shares something, such as the training sample, or nothing.
    df : {"banerjee", "hillis"}, default "banerjee"
        Degrees of freedom: a bound with which the tests have their level with few runs, or as published.
    case_df : float, default inf
        Degrees of freedom of `covariance`, for the bound: :func:`~skewanova.compare` takes the number of
        cases (or clusters) of the smaller class, less one.

    Returns
    -------
    RunsComparison
        The test of all models, that of every pair, and the variance components.

    Raises
    ------
    ValueError
        If there are fewer than two models or runs, a number is not finite, the shapes do not fit, or an
        option is unknown or out of range.

    Notes
    -----
    With MS(T) the mean square of the models and MS(TR) that of model x run, F = MS(T) / D with
    D = MS(TR) + J max(Cov2 - Cov3, 0), on K - 1 and D^2 / (MS(TR)^2 / ((K - 1)(J - 1))) degrees of freedom
    (Hillis 2007). Runs of some models may vary more than those of others: of more than two models both
    degrees of freedom are taken times Greenhouse and Geisser's (1959) factor over runs, and a pair is tested
    on its two models alone. The inference is about further runs and further cases.

    With few runs of large variance, Hillis's degrees of freedom reject equal models far too often
    (``studies/records/runs-few.csv``). By default, t has the degrees of freedom for which its critical value,
    at the level .02 shared by all pairs, is Banerjee's (1961): sqrt(R t1^2 + (1 - R) t2^2). R is the share of
    MS(TR) in D; t1 and t2 are critical values with the degrees of freedom of MS(TR) and of the covariance.
    The level then holds for every R.

    For nested runs, MS(R(T)), the mean variance over runs, replaces MS(TR), and Cov3 is the mean over all
    runs of two models. MS(R(T)) has (sum s_i^2)^2 / sum s_i^4 (J - 1) degrees of freedom (Satterthwaite
    1946).

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference import compare_runs
    >>> areas = [[0.80, 0.82, 0.81], [0.70, 0.73, 0.72]]
    >>> result = compare_runs(areas, 0.0004 * np.eye(6) + 0.0002)
    >>> result.difference.round(3).tolist(), bool(result.p_omnibus < 0.05)
    ([0.093], True)
    """
    values, case_covariance = _check_run_areas(areas, covariance)
    names = name_models(models, len(values))
    check_fraction(confidence_level, "confidence_level")
    nested = check_choice(runs, RUN_DESIGNS, "runs") == "nested"
    number = check_number(case_df, "case_df", "above 0")
    if not number > 0:
        raise InputError(f"`case_df` must be degrees of freedom above 0, or inf, but got {number:g}")
    degrees = DegreesOfFreedom(check_choice(df, DF_METHODS, "df"), number)
    omnibus = _test_models(values, case_covariance, degrees, nested=nested)
    difference, std_error, df_error = compare_run_pairs(values, case_covariance, degrees, nested=nested)
    a, b = pair_indices(len(values))
    mean = values.mean(axis=1)
    tail = (1 - confidence_level) / (2 * len(a))
    critical = np.asarray(special.stdtrit(df_error, 1 - tail), dtype=np.float64)
    mean_error, mean_df = run_mean_errors(values, case_covariance, degrees)
    half_width = special.stdtrit(mean_df, (1 + confidence_level) / 2) * mean_error
    warn_each(
        f"models {names[i]} and {names[j]} differ by a constant in all runs and cases, so their difference "
        "has no test; check that they are not copies of one model"
        for i, j in zip(a[std_error == 0], b[std_error == 0], strict=True)
    )
    margin = critical * std_error
    pairs = make_pair_tests(difference, std_error, df_error, critical=critical, half_width=margin)
    return RunsComparison(
        **(vars(pairs) | dict(zip(OMNIBUS_FIELDS, omnibus, strict=True))),
        models=names,
        estimate=mean,
        model_low=mean - half_width,
        model_high=mean + half_width,
        components=components(values, case_covariance, runs=runs),
    )


def _check_run_areas(areas: ArrayLike, covariance: ArrayLike) -> tuple[Floats, Floats]:
    """Return areas (2 or more models, 2 or more runs) and covariance; raise unless finite and matching."""
    values, cov = check_float_array(areas, "areas"), check_float_array(covariance, "covariance")
    if values.ndim != 2 or min(values.shape) < 2:
        raise InputError(f"`areas` needs at least 2 models in rows and 2 runs in columns, not {values.shape}")
    if cov.shape != (size := (values.size, values.size)):
        raise InputError(f"`covariance` must have shape {size}, a row for each area, but has {cov.shape}")
    for name, numbers in (("areas", values), ("covariance", cov)):
        if not np.isfinite(numbers).all():
            row, column = np.argwhere(~np.isfinite(numbers))[0].tolist()
            raise InputError(f"`{name}` must be finite, but has {numbers[row, column]} at [{row}, {column}]")
    return values, cov


def _test_models(
    values: Floats, covariance: Floats, degrees: DegreesOfFreedom, *, nested: bool
) -> tuple[float, float, float, float]:
    """Return F of equal models (nan without variance), df (by GG), error df, p; `covariance` of all areas."""
    n_models, n_runs = values.shape
    effect = n_runs * float(values.mean(axis=1).var(ddof=1))
    noise, df_noise = _run_mean_square(values, nested=nested)
    variance = noise + case_covariances(covariance, n_models, nested=nested).mean_square(n_runs)
    contrasts, over_runs = helmert(n_models), fold_covariance(values.T)
    if nested:
        over_runs = np.diag(np.diag(over_runs))
    factor = float(epsilon_gg(contrasts @ over_runs @ contrasts.T)) if noise > 0 else 1.0
    df_error = float(degrees.compute_df(variance, noise, df_noise if nested else factor * df_noise))
    statistic, df = effect / variance if variance > 0 else np.nan, factor * (n_models - 1)
    return statistic, df, df_error, float(special.fdtrc(df, min(df_error, LARGEST_DF), statistic))


def _run_mean_square(values: Floats, *, nested: bool) -> tuple[float, float]:
    """Return the mean square of model x run and df; if nested, mean variance over runs, Satterthwaite df."""
    n_models, n_runs = values.shape
    centered = values - values.mean(axis=1, keepdims=True)
    if not nested:
        centered = centered - values.mean(axis=0) + values.mean()
    centered[np.abs(centered) <= TIE] = 0.0
    if not nested:
        df = float((n_models - 1) * (n_runs - 1))
        return float((centered**2).sum()) / df, df
    variance = (centered**2).sum(axis=1) / (n_runs - 1)
    equal = variance.sum() ** 2 / (variance**2).sum() if variance.any() else n_models
    return float(variance.mean()), float(equal * (n_runs - 1))


def case_covariances(covariance: Floats, n_models: int, *, nested: bool = False) -> CaseCovariances:
    """Return mean covariances of areas that differ in model, run, both; nested: nan, run, model (any run)."""
    n_runs = len(covariance) // n_models
    model, run = np.repeat(np.arange(n_models), n_runs), np.tile(np.arange(n_runs), n_models)
    other_model, other_run = model[:, None] != model, run[:, None] != run
    different = other_model if nested else other_model & other_run
    return CaseCovariances(
        np.nan if nested else float(covariance[other_model & ~other_run].mean()),
        float(covariance[~other_model & other_run].mean()),
        float(covariance[different].mean()),
    )


def compare_run_pairs(
    values: Floats, covariance: Floats, degrees: DegreesOfFreedom, *, nested: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return differences of pairs, standard errors sqrt(2 D / J) and df, each from its two models alone."""
    n_models, n_runs = values.shape
    pairs = []
    for i, j in zip(*pair_indices(n_models), strict=True):
        both = values[[i, j]]
        rows = np.concatenate([np.arange(k * n_runs, (k + 1) * n_runs) for k in (i, j)])
        shared = case_covariances(covariance[np.ix_(rows, rows)], 2, nested=nested)
        noise, df_noise = _run_mean_square(both, nested=nested)
        variance = noise + shared.mean_square(n_runs)
        if variance <= ROUNDING * n_runs * (abs(shared.same_model) + abs(shared.different)):
            variance = 0.0
        pairs.append((both[0].mean() - both[1].mean(), variance, noise, df_noise))
    difference, variance, noise, df_noise = np.transpose(pairs)
    df = degrees.compute_df(variance, noise, df_noise, n_tests=len(pairs))
    return difference, np.sqrt(2 * variance / n_runs), df


def run_mean_errors(values: Floats, covariance: Floats, degrees: DegreesOfFreedom) -> tuple[Floats, Floats]:
    """Return standard errors sqrt((MS(R) + J Cov2) / J) of models' means, and df (Hillis 2014, eq. 18)."""
    n_models, n_runs = values.shape
    noise = values.var(axis=1, ddof=1)
    blocks = covariance.reshape(n_models, n_runs, n_models, n_runs)
    of_model = np.array([blocks[i, :, i] for i in range(n_models)])
    other = ~np.eye(n_runs, dtype=bool)
    variance = noise + n_runs * np.maximum(of_model[:, other].mean(axis=1), 0.0)
    return np.sqrt(variance / n_runs), degrees.compute_df(variance, noise, n_runs - 1)


def components(areas: ArrayLike, covariance: ArrayLike, *, runs: str = "crossed") -> pd.DataFrame:
    """Estimate the variance components of one area: runs, model x run, cases (Hillis 2007, table 1).

    Parameters
    ----------
    areas, covariance, runs
        As for :func:`compare_runs`, which raises for the same reasons.

    Returns
    -------
    DataFrame
        Columns component, variance, std_dev, share. ``run`` is the variance shared by all models of a run (of
        nested runs, that of each model's runs), ``model x run`` (crossed runs only) the rest over runs, and
        ``cases, ...`` that over samples of cases, by the areas that share it. None is below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference import components
    >>> areas = [[0.80, 0.82, 0.81], [0.70, 0.73, 0.72]]
    >>> components(areas, 0.00001 * np.eye(6) + 0.00002)["share"].round(2).tolist()
    [0.8, 0.04, 0.11, 0.0, 0.0, 0.05]
    """
    values, case_covariance = _check_run_areas(areas, covariance)
    nested, n_models = check_choice(runs, RUN_DESIGNS, "runs") == "nested", len(values)
    shared = case_covariances(case_covariance, n_models, nested=nested)
    one_area = float(np.diag(case_covariance).mean()) - shared.same_model
    noise, _ = _run_mean_square(values, nested=nested)
    rows = {
        "cases, all runs and models": shared.different,
        "cases, all runs of a model": shared.same_model - shared.different,
    }
    if nested:
        return component_frame({"run": noise - one_area} | rows | {"cases, one area": one_area})
    models_of_run = shared.same_run - shared.different
    one_area -= models_of_run
    run = (n_models * values.mean(axis=0).var(ddof=1) - noise) / n_models - models_of_run
    rows |= {"cases, all models of a run": models_of_run, "cases, one area": one_area}
    return component_frame({"run": run, "model x run": noise - one_area} | rows)


def component_frame(rows: Mapping[str, float]) -> pd.DataFrame:
    """Return component, variance (negative: 0), std_dev, share of the sum (nan if it is 0), a row each."""
    variance = np.maximum(np.array(list(rows.values()), dtype=np.float64), 0.0)
    spreads = {"std_dev": np.sqrt(variance), "share": variance / (variance.sum() or np.nan)}
    return pd.DataFrame({"component": list(rows), "variance": variance, **spreads})
