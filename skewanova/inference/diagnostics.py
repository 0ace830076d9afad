"""What the tests assume; residuals and their quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, exp, lgamma, prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skewanova.base.checks import Floats, InputError, Seed, check_count, check_fraction, seeded
from skewanova.base.rounding import argsort_descending
from skewanova.evaluation.measures import Evaluation
from skewanova.inference import fold_statistics
from skewanova.inference.anova import AnovaResult, variation_limit
from skewanova.inference.omnibus import find_degenerate, fold_table
from skewanova.scores.design import FOLD_IMBALANCE
from skewanova.scores.pairing import ranking_findings, score_findings


def residuals(result: AnovaResult) -> pd.DataFrame:
    """Check what the F test assumes of the residuals: normality, and equal spread of the models.

    Parameters
    ----------
    result : AnovaResult
        Of :func:`two_way_anova` or :func:`three_way_anova`.

    Returns
    -------
    DataFrame
        Columns check, statistic, p_value: Shapiro-Wilk, and Brown-Forsythe (Levene's test about medians) over
        models; nan where there is no residual variation.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import residuals, two_way_anova
    >>> result = two_way_anova(evaluate(load_satellite_scores(), at_priors=(0.5,)).iauprec)
    >>> residuals(result)["check"].tolist()
    ['shapiro_wilk', 'brown_forsythe']
    """
    frame = result.residuals()
    tests: dict[str, tuple[Any, ...]] = dict.fromkeys(("shapiro_wilk", "brown_forsythe"), (np.nan, np.nan))
    if result.rounding == 0:
        groups = [group.to_numpy() for _, group in frame.groupby("model", observed=True)["residual"]]
        tests["shapiro_wilk"] = tuple(stats.shapiro(frame["residual"]))
        tests["brown_forsythe"] = tuple(stats.levene(*groups, center="median"))
    rows = [(name, *map(float, values)) for name, values in tests.items()]
    return pd.DataFrame(rows, columns=["check", "statistic", "p_value"])


#: Level at which a check gives advice: it warns, it decides nothing.
CHECK_LEVEL = 0.05


#: Shapiro and Wilk's test is tabulated up to here.
MOST_RESIDUALS = 5000


#: Advice where the test of an assumption rejects.
ADVICE = {
    "normality": (
        "residuals are not normal: where folds are independent, read the sign-flip and Friedman rows beside"
    ),
    "spread": (
        "models spread unequally over folds: do not rely on Tukey's tests or label permutation, which pool "
        "their variances"
    ),
    "sphericity": (
        "differences between models vary unequally: the uncorrected F and Tukey's tests reject too often"
    ),
    "additivity": (
        "differences between models grow with the level of the fold: read the differences fold by fold, or "
        "on another scale"
    ),
}


CHECK_COLUMNS = ("check", "statistic", "p_value", "advice")


Row = tuple[str, float, float, str]


def assumptions(iauprec: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Check what the tests of IAUPREC assume, and advise where it does not hold.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec, n_positive; every model in every fold.
    alpha : float, default 0.05
        Level of the tests, for the check whether resampling can reach it.

    Returns
    -------
    DataFrame
        Columns check, statistic, p_value, advice, with the rows normality (Shapiro-Wilk of the two-way
        residuals), spread (Brown-Forsythe of these, over models), sphericity (Mauchly), additivity (Tukey's
        one degree of freedom), fold_imbalance (largest over smallest number of positives), ceiling (how many
        standard deviations the best model's mean lies below 1), smallest_p_sign_flip, smallest_p_permutation
        and smallest_p_wilcoxon_holm (the smallest p-value that all arrangements can give; random ones end at
        1 over their number). ``advice`` is empty where there is none to give.

    Raises
    ------
    ValueError
        If the table is incomplete.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import assumptions
    >>> checks = assumptions(evaluate(load_satellite_scores(), at_priors=(0.5, 0.2)).iauprec)
    >>> checks.loc[checks["advice"] != "", "check"].tolist()
    ['normality', 'sphericity', 'additivity']
    """
    check_fraction(alpha, "alpha")
    values, _ = fold_table(iauprec)
    tests = {
        **_residual_tests(values),
        "sphericity": _sphericity_test(values),
        "additivity": additivity_test(values),
    }
    rows = [
        *((check, *test, ADVICE[check] if test[1] < CHECK_LEVEL else "") for check, test in tests.items()),
        _imbalance_row(iauprec["n_positive"].to_numpy(dtype=np.float64)),
        _ceiling_row(values),
        *_smallest_p_rows(*values.shape, alpha=alpha),
    ]
    return pd.DataFrame(rows, columns=list(CHECK_COLUMNS))


def soundness(evaluation: Evaluation) -> pd.DataFrame:
    """Check what the scores themselves tell against taking them for what they are given as.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns as of :func:`assumptions`, with the rows smallest_auc (below .5 scores may be turned around),
        collapsed_folds (in how many (model, fold) a model that ranks well elsewhere ranks near chance, and
        most others do not), positives_a_fold, share_of_cases (60 to 99 % of all cases in every fold look like
        bootstrap resamples; only where cases are named), different_scores (of the model with the fewest, in
        the fold where it has most, counted up to 100; two are decisions) and share_at_best_score; and, where
        a model's scores look like names of cases, identifiers.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import soundness
    >>> checks = soundness(evaluate(load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> checks["check"].tolist()[:3], bool((checks["advice"] == "").all())
    (['smallest_auc', 'collapsed_folds', 'positives_a_fold'], True)
    """
    auc = auc_by_fold(evaluation)
    score_checks = [] if evaluation.scores is None else score_findings(evaluation.scores, auc)
    rows = [
        (check.check, check.statistic, np.nan, check.advice)
        for check in (*ranking_findings(auc), *score_checks)
    ]
    return pd.DataFrame(rows, columns=list(CHECK_COLUMNS))


def auc_by_fold(evaluation: Evaluation) -> pd.DataFrame:
    """AUC, a row a fold and a column a model."""
    return evaluation.iauprec.pivot(index="fold", columns="model", values="auc")[list(evaluation.models)]


def additivity_test(values: Floats) -> tuple[float, float]:
    """Return F and p of Tukey's (1949) one degree of freedom for non-additivity of a fold table.

    Both are nan where there is no variation between folds, between models, or left over.
    """
    grand = values.mean()
    fold, model = values.mean(axis=1) - grand, values.mean(axis=0) - grand
    residual = values - grand - fold[:, None] - model
    weight = (fold**2).sum() * (model**2).sum()
    if weight <= 1e-24 * grand**4 or find_degenerate(values) is not None:
        return np.nan, np.nan
    explained = float(fold @ values @ model) ** 2 / weight
    df_error = residual.size - len(fold) - len(model)
    left = float((residual**2).sum()) - explained
    if left <= 1e-12 * explained or df_error < 1:
        return np.nan, np.nan
    statistic = explained / (left / df_error)
    return statistic, float(stats.f.sf(statistic, 1, df_error))


def _residual_tests(values: Floats) -> dict[str, tuple[float, float]]:
    """Test the two-way residuals: Shapiro and Wilk's test, and Brown and Forsythe's over models."""
    tests: dict[str, Any] = dict.fromkeys(("normality", "spread"), (np.nan, np.nan))
    if find_degenerate(values) is None:
        residual = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
        if residual.size <= MOST_RESIDUALS:
            tests["normality"] = stats.shapiro(residual.ravel())
        # two folds leave each model two residuals of one size, and two models mirror each other
        if min(values.shape) > 2:
            tests["spread"] = stats.levene(*residual.T, center="median")
    return {check: (float(test[0]), float(test[1])) for check, test in tests.items()}


def _sphericity_test(values: Floats) -> tuple[float, float]:
    """Return Mauchly's W and its p-value; nan where there is nothing to test."""
    n_folds, n_models = values.shape
    if n_models < 3 or not fold_statistics.full_rank(values):
        return np.nan, np.nan
    contrasts = values @ fold_statistics.helmert(n_models).T
    w, p = fold_statistics.mauchly(fold_statistics.fold_covariance(contrasts), n_folds)
    return float(w), float(p)


def _imbalance_row(positives: Floats) -> Row:
    ratio = float(positives.max() / positives.min())
    advice = f"folds differ by a factor of {ratio:.2g} in positives, yet count alike: use stratified folds"
    return ("fold_imbalance", ratio, np.nan, advice if ratio > FOLD_IMBALANCE else "")


def _ceiling_row(values: Floats) -> Row:
    mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
    best = argsort_descending(mean)[0]
    gap, deviation = float(1 - mean[best]), float(spread[best])
    distance = gap / deviation if deviation > fold_statistics.ROUNDING else np.inf
    distance = distance if gap > fold_statistics.ROUNDING else 0.0
    advice = "the best model is close to the ceiling of 1, where differences shrink and normality fails"
    return ("ceiling", distance, np.nan, advice if distance < 2 else "")


def _smallest_p_rows(n_folds: int, n_models: int, *, alpha: float) -> list[Row]:
    pairs = comb(n_models, 2)
    advice = f"with {n_folds} folds this test cannot reach {alpha:g}: more folds are needed"
    smallest = {
        "sign_flip": 2.0 ** (1 - n_folds),
        "permutation": exp((1 - n_folds) * lgamma(n_models + 1)),
        "wilcoxon_holm": min(1.0, pairs * 2.0 ** (1 - n_folds)),
    }
    return [
        (f"smallest_p_{test}", np.nan, p_value, advice if p_value >= alpha else "")
        for test, p_value in smallest.items()
    ]


#: Numbers worked on at a time.
BLOCK_SIZE = 2_000_000


QUANTILE_COLUMNS = (
    "residual",
    "standardized",
    "theoretical",
    "pointwise_low",
    "pointwise_high",
    "simultaneous_low",
    "simultaneous_high",
)


def residual_quantiles(
    result: AnovaResult | pd.DataFrame, *, confidence_level: float = 0.95, n_draws: int = 4999, rng: Seed = 0
) -> pd.DataFrame:
    """Ordered residuals of an analysis of variance beside those of a normal sample.

    Parameters
    ----------
    result : AnovaResult or DataFrame
        The analysis, or its ``residuals()``: columns model, fold, [prior,] fitted, residual; the frame is
        taken to come from main effects alone.
    confidence_level : float, default 0.95
        Level of both envelopes.
    n_draws : int, default 4999
        Normal samples drawn.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        The factors and the columns of `QUANTILE_COLUMNS`, smallest residual first. ``standardized`` is the
        residual over the root of the residual mean square; ``theoretical`` is Blom's normal quantile. A
        pointwise envelope holds one ordered residual of a normal sample with probability `confidence_level`,
        the simultaneous one all of them.

    Raises
    ------
    ValueError
        If columns are missing, nothing is left to vary, or an option is out of range.

    Notes
    -----
    The residuals are correlated and share one estimate of their spread, so envelopes for independent values
    would be wrong. Normal samples of the same layout are swept by the same factors instead; under the model
    their standardized residuals have the distribution of those observed, whatever the effects. The
    simultaneous envelope cuts the same number of draws from either end at every place (Myllymaki et al.
    2017, global rank envelope).

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import residual_quantiles, two_way_anova
    >>> result = two_way_anova(evaluate(load_satellite_scores(), at_priors=(0.5,)).iauprec)
    >>> found = residual_quantiles(result)
    >>> outside = found["standardized"].lt(found["simultaneous_low"])
    >>> bool(outside.any())
    True
    """
    check_fraction(confidence_level, "confidence_level")
    check_count(n_draws, "n_draws", minimum=99)
    frame, crossed = _residual_frame(result)
    residual = frame["residual"].to_numpy(dtype=np.float64)
    sweep, spare = _sweep(frame, crossed)
    square = float(residual @ residual)
    if spare < 1 or square <= variation_limit(frame["fitted"].to_numpy(dtype=np.float64) + residual):
        raise InputError("the residuals must vary, but the analysis leaves nothing to vary")
    draws = _standardized_draws(sweep, len(frame), spare, n_draws=n_draws, rng=rng)
    n = len(frame)
    ordered = frame.assign(standardized=residual / np.sqrt(square / spare)).sort_values(
        "residual", kind="stable", ignore_index=True
    )
    pointwise_low, pointwise_high = _by_place(
        draws,
        lambda part: np.quantile(part, [(1 - confidence_level) / 2, (1 + confidence_level) / 2], axis=0),
    )
    simultaneous_low, simultaneous_high = _rank_envelope(draws, confidence_level)
    envelopes = {
        "theoretical": stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25)),  # Blom 1958
        "pointwise_low": pointwise_low,
        "pointwise_high": pointwise_high,
        "simultaneous_low": simultaneous_low,
        "simultaneous_high": simultaneous_high,
    }
    factors = [c for c in ordered if c not in ("fitted", "residual", "standardized")]
    return ordered.assign(**envelopes)[[*factors, *QUANTILE_COLUMNS]]


def _residual_frame(result: AnovaResult | pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Return the residuals, and whether models and priors interact in the analysis."""
    frame = result if isinstance(result, pd.DataFrame) else result.residuals()
    missing = [c for c in ("model", "fold", "fitted", "residual") if c not in frame]
    if missing:
        raise InputError(
            f"`result` must have the columns model, fold, fitted, residual; it lacks {missing[0]}"
        )
    factors = [c for c in ("model", "fold", "prior") if c in frame]
    crossed = isinstance(result, AnovaResult) and result.test == "three_way_interaction"
    return frame[[*factors, "fitted", "residual"]], crossed


def _sweep(frame: pd.DataFrame, crossed: bool) -> tuple[Callable[[Floats], Floats], int]:
    """What takes the effects of the factors out of rows of values, and the degrees of freedom left."""
    terms = [[c] for c in ("model", "fold", "prior") if c in frame] + [["model", "prior"]] * crossed
    codes = [frame.groupby(term, sort=False, observed=True).ngroup().to_numpy() for term in terms]
    shape = tuple(int(code.max()) + 1 for code in codes)
    if not crossed and len(frame) == prod(shape):  # every cell stands: effects are means
        return _means_out(codes, shape), len(frame) - 1 - sum(size - 1 for size in shape)
    columns = np.hstack([np.eye(size)[code] for size, code in zip(shape, codes, strict=True)])
    left, size, _ = np.linalg.svd(columns, full_matrices=False)
    basis = left[:, size > 1e-10 * size[0]]
    return lambda rows: rows - rows @ basis @ basis.T, len(frame) - basis.shape[1]


def _means_out(
    codes: Sequence[NDArray[np.integer[Any]]], shape: tuple[int, ...]
) -> Callable[[Floats], Floats]:
    """Take the means of every factor out of rows of values; the cells come back in another order."""
    order = np.argsort(np.ravel_multi_index(tuple(codes), shape))

    def swept(rows: Floats) -> Floats:
        cube = rows[:, order].reshape(-1, *shape)
        for axis in range(1, cube.ndim):
            others = tuple(i for i in range(1, cube.ndim) if i != axis)
            cube -= cube.mean(axis=others, keepdims=True)
        return cube.reshape(len(rows), -1)

    return swept


def _standardized_draws(
    sweep: Callable[[Floats], Floats], n: int, spare: int, *, n_draws: int, rng: Seed
) -> Floats:
    """Ordered residuals of normal samples over the root of their mean square, of shape (n_draws, n)."""
    generator, draws = seeded(rng), np.empty((n_draws, n))
    rows = max(1, BLOCK_SIZE // n)
    for start in range(0, n_draws, rows):
        part = sweep(generator.standard_normal((min(rows, n_draws - start), n)))
        part /= np.sqrt((part**2).sum(axis=1, keepdims=True) / spare)
        draws[start : start + rows] = np.sort(part, axis=1)
    return draws


def _by_place(draws: Floats, what: Callable[[Floats], Floats]) -> Floats:
    """Apply a function of whole columns to some of them at a time, and join what it returns."""
    columns = max(1, BLOCK_SIZE // len(draws))
    starts = range(0, draws.shape[1], columns)
    return np.hstack([what(draws[:, start : start + columns]) for start in starts])


def _rank_envelope(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Narrowest envelope, cut alike at every place, that holds a share of whole draws."""

    def depth(part: Floats) -> Floats:
        order = part.argsort(axis=0)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(part))[:, None], axis=0)
        return np.asarray(np.minimum(rank, len(part) - 1 - rank).min(axis=1, keepdims=True))

    last = len(draws) - 1
    cut = int(np.quantile(_by_place(draws, depth).min(axis=1), 1 - level, method="lower"))
    low, high = _by_place(draws, lambda part: np.sort(part, axis=0)[[cut, last - cut]])
    return low, high
