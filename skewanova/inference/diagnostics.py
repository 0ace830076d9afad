"""Checks of the assumptions behind the tests, and quantiles of residuals."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, lgamma
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.linalg import helmert

from skewanova.base.checks import (
    Floats,
    InputError,
    Seed,
    check_alpha,
    check_count,
    check_fraction,
    make_generator,
)
from skewanova.base.rounding import argsort_descending
from skewanova.evaluation.measures import FOLD_IMBALANCE, Evaluation, check_evaluation
from skewanova.inference import fold_statistics
from skewanova.inference.anova import FACTORS, AnovaResult, check_anova, check_columns, variation_limit
from skewanova.inference.omnibus import build_fold_table, find_degenerate
from skewanova.scores.pairing import check_rankings, check_score_values


def residuals(result: AnovaResult) -> pd.DataFrame:
    """Test the residuals of an analysis of variance for normality and for equal variances of the models.

    Parameters
    ----------
    result : AnovaResult
        Result of :func:`two_way_anova` or :func:`three_way_anova`.

    Returns
    -------
    DataFrame
        Columns check, statistic, p_value: Shapiro-Wilk, and Brown-Forsythe (Levene's test about medians) over
        models; nan where there is no residual variation.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5,))
    >>> result = sa.inference.two_way_anova(measures.iauprec)
    >>> sa.inference.residuals(result)["check"].tolist()
    ['shapiro_wilk', 'brown_forsythe']
    """
    frame, names = check_anova(result).residuals(), ("shapiro_wilk", "brown_forsythe")
    tests = np.full((2, 2), np.nan)
    if result.rounding == 0:
        groups = [group.to_numpy() for _, group in frame.groupby("model", observed=True)["residual"]]
        tests = np.array([stats.shapiro(frame["residual"]), _brown_forsythe(groups)])
    return pd.DataFrame({"check": names, "statistic": tests[:, 0], "p_value": tests[:, 1]})


def _brown_forsythe(groups: list[Floats]) -> tuple[float, float]:
    """Return F and p of Levene's test about medians; nan where deviations do not vary in any group."""
    deviations = [np.abs(group - np.median(group)) for group in groups]
    if max(map(np.ptp, deviations)) <= 1e-12 * max(map(np.max, deviations)):
        return np.nan, np.nan
    statistic, p_value = stats.levene(*groups, center="median")
    return float(statistic), float(p_value)


#: Level at which a check gives advice.
CHECK_LEVEL = 0.05


#: Largest number of residuals for which Shapiro and Wilk's p-value is accurate.
MAX_SHAPIRO_RESIDUALS = 5000


_BY_RANKS = "read sign_flip and friedman in result.tests (tables/tests.csv of --out)"


#: Advice where the test of an assumption rejects, or the best model is near the ceiling.
ADVICE = {
    "normality": f"residuals are not normal: where folds are independent, {_BY_RANKS}",
    "spread": (
        "models spread unequally over folds: do not rely on Tukey's tests or label permutation, which pool "
        "their variances"
    ),
    "sphericity": (
        "differences between models vary unequally: the uncorrected F and Tukey's tests reject too often"
    ),
    "additivity": (
        "differences between models grow with the level of the fold: read them fold by fold, from the table "
        "iauprec (of compare_values: values)"
    ),
    "ceiling": (
        "the best model is close to the ceiling of 1, where differences shrink and normality fails: where "
        f"folds are independent, {_BY_RANKS}"
    ),
}


CHECK_COLUMNS = ("check", "statistic", "p_value", "advice")


def assumptions(iauprec: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Check the assumptions of the tests of IAUPREC, and advise if they fail.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec, n_positive (for fold_imbalance and ceiling); every model in every fold.
    alpha : float, default 0.05
        Level that resampling tests may be unable to reach; the other checks have the level .05.

    Returns
    -------
    DataFrame
        Columns check, statistic, p_value (nan where undefined), advice (may be empty). Rows: normality
        (Shapiro-Wilk of the two-way residuals), spread (Brown-Forsythe of these, over models), sphericity
        (Mauchly; both nan for two models), additivity (Tukey's one degree of freedom), fold_imbalance
        (largest over smallest number of positives), ceiling (how many standard deviations the best model's
        mean lies below 1), smallest_p_sign_flip, smallest_p_permutation and smallest_p_wilcoxon_holm (the
        smallest p-value that all arrangements can give).

    Raises
    ------
    ValueError
        If the table is incomplete.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> checks = sa.inference.assumptions(measures.iauprec)
    >>> checks.loc[checks["advice"] != "", "check"].tolist()
    ['normality', 'sphericity', 'additivity']
    """
    check_alpha(alpha)
    values, _ = build_fold_table(iauprec)
    few = f"with {len(values)} folds this test cannot reach {alpha:g}: more folds are needed"
    n_folds, n_models = values.shape
    smallest = {
        "sign_flip": 2.0 ** (1 - n_folds),
        "permutation": exp((1 - n_folds) * lgamma(n_models + 1)),
        "wilcoxon_holm": min(1.0, comb(n_models, 2) * 2.0 ** (1 - n_folds)),
    }
    rows = [
        *(
            (check, float(statistic), float(p), ADVICE[check] if p < CHECK_LEVEL else "")
            for check, (statistic, p) in _test_assumptions(values).items()
        ),
        *(_check_sizes_and_ceiling(iauprec["n_positive"], values) if "n_positive" in iauprec else ()),
        *((f"smallest_p_{test}", np.nan, p, few if p >= alpha else "") for test, p in smallest.items()),
    ]
    return pd.DataFrame(rows, columns=list(CHECK_COLUMNS))


def _check_sizes_and_ceiling(
    n_positive: pd.Series[Any], values: Floats
) -> list[tuple[str, float, float, str]]:
    """Return rows (check, number, nan, advice): fold_imbalance, a ratio; ceiling, SDs from the best to 1."""
    ratio, mean = float(n_positive.max() / n_positive.min()), values.mean(axis=0)
    best = argsort_descending(mean)[0]
    gap, deviation = float(1 - mean[best]), float(values.std(axis=0, ddof=1)[best])
    # standard deviations below 1
    distance = gap / deviation if deviation > fold_statistics.ROUNDING else np.inf
    distance = distance if gap > fold_statistics.ROUNDING else 0.0
    uneven = f"folds differ by a factor of {ratio:.2g} in positives, yet count alike: use stratified folds"
    return [
        ("fold_imbalance", ratio, np.nan, uneven if ratio > FOLD_IMBALANCE else ""),
        ("ceiling", distance, np.nan, ADVICE["ceiling"] if distance < 2 else ""),
    ]


def soundness(evaluation: Evaluation) -> pd.DataFrame:
    """Check the scores for signs that they are not held-out scores of the positive class.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns of :func:`assumptions`, p_value nan. Rows: smallest_auc (below .5: inverted?), perfect_auc
        (models, if any), collapsed_folds (cells where a model, unlike most, ranks near chance) and, of an
        evaluation with scores, positives_a_fold (least), share_of_cases (60 to 99 % of named cases in every
        fold look like bootstrap resamples), different_scores (of the model with the fewest, up to 100; two
        are decisions), share_at_best_score (largest), identifiers (models whose scores name cases, if any).

    Examples
    --------
    >>> import skewanova as sa
    >>> checks = sa.inference.soundness(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> checks["check"].tolist()[:3], bool((checks["advice"] == "").all())
    (['smallest_auc', 'collapsed_folds', 'positives_a_fold'], True)
    """
    auc = pivot_auc(check_evaluation(evaluation))
    checks = [*check_rankings(auc)]
    checks += [] if evaluation.scores is None else check_score_values(evaluation.scores, auc)
    rows = [(check.check, check.statistic, np.nan, check.advice) for check in checks]
    return pd.DataFrame(rows, columns=list(CHECK_COLUMNS))


def pivot_auc(evaluation: Evaluation) -> pd.DataFrame:
    """Return the AUC by sorted fold (rows) and model (columns, in the evaluation's order), nan if missing."""
    return evaluation.iauprec.pivot(index="fold", columns="model", values="auc")[list(evaluation.models)]


def additivity_test(values: Floats) -> tuple[float, float]:
    """Return F and p of Tukey's (1949) test of additivity of (n_folds, n_models); nan if flat, or no df."""
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


def _test_assumptions(values: Floats) -> dict[str, Any]:
    """Return (statistic, p), nan if undefined, by check: normality, spread, sphericity, additivity."""
    tests: dict[str, Any] = dict.fromkeys(("normality", "spread", "sphericity"), (np.nan, np.nan))
    n_folds, n_models = values.shape
    if find_degenerate(values) is None:
        residual = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
        if residual.size <= MAX_SHAPIRO_RESIDUALS:
            tests["normality"] = stats.shapiro(residual.ravel())
        if n_models > 2:  # two models mirror each other
            tests["spread"] = _brown_forsythe(list(residual.T))
    if n_models > 2 and fold_statistics.has_full_rank(values):
        contrasts = values @ helmert(n_models).T
        tests["sphericity"] = fold_statistics.mauchly(fold_statistics.fold_covariance(contrasts), n_folds)
    return tests | {"additivity": additivity_test(values)}


#: Normal quantiles, and the envelopes about them.
ENVELOPES = ("theoretical", "pointwise_low", "pointwise_high", "simultaneous_low", "simultaneous_high")


def residual_quantiles(
    result: AnovaResult | pd.DataFrame, *, confidence_level: float = 0.95, n_draws: int = 4999, rng: Seed = 0
) -> pd.DataFrame:
    """Compare the ordered residuals of an analysis of variance with those of normal samples.

    Parameters
    ----------
    result : AnovaResult or DataFrame
        The analysis, or its ``residuals()`` if it has main effects only.
    confidence_level : float, default 0.95
        Level of both envelopes.
    n_draws : int, default 4999
        Normal samples drawn.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        Rows by rising residual: the factors, residual, standardized (over the root of the residual mean
        square), theoretical (Blom's normal quantile), pointwise_low, pointwise_high, simultaneous_low,
        simultaneous_high: limits that hold one, or every, ordered residual of a normal sample at this level.

    Raises
    ------
    ValueError
        If columns are missing, the residuals do not vary, or an option is out of range.

    Notes
    -----
    Residuals are correlated and share one estimate of their variance. The same effects are therefore taken
    out of normal samples of the same layout. Under the model their standardized residuals have the
    distribution of those observed. The simultaneous envelope is the global rank envelope of Myllymaki et al.
    (2017).

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5,))
    >>> result = sa.inference.two_way_anova(measures.iauprec)
    >>> quantiles = sa.inference.residual_quantiles(result)
    >>> bool(quantiles["standardized"].lt(quantiles["simultaneous_low"]).any())
    True
    """
    check_fraction(confidence_level, "confidence_level")
    check_count(n_draws, "n_draws", minimum=99)
    frame = result if isinstance(result, pd.DataFrame) else check_anova(result).residuals()
    check_columns(frame, ("model", "fold", "fitted", "residual"))
    factors = [factor for factor in FACTORS if factor in frame]
    fitted, residual = (frame[column].to_numpy(dtype=np.float64) for column in ("fitted", "residual"))
    crossed = isinstance(result, AnovaResult) and result.test == "three_way_interaction"
    terms = [[factor] for factor in factors] + [["model", "prior"]] * crossed
    basis, n = _effect_basis(frame, terms), len(frame)
    square = float(residual @ residual)
    if n <= basis.shape[1] or square <= variation_limit(fitted + residual):
        raise InputError(
            "the residuals must vary, but the analysis leaves no residual variation; give at least 2 models "
            "a row in each of at least 2 folds, and every model scores of its own"
        )
    draws = make_generator(rng).standard_normal((n_draws, n))
    draws -= draws @ basis @ basis.T
    draws /= np.sqrt((draws**2).sum(axis=1, keepdims=True) / (n - basis.shape[1]))
    draws.sort(axis=1)
    standardized = residual / np.sqrt(square / (n - basis.shape[1]))
    theoretical = stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))  # Blom 1958
    tails = (1 - confidence_level) / 2, (1 + confidence_level) / 2
    limits = theoretical, *np.quantile(draws, tails, axis=0), *_rank_envelope(draws, confidence_level)
    frame = frame[[*factors, "residual"]].assign(standardized=standardized)
    ordered = frame.sort_values("residual", kind="stable", ignore_index=True)
    return ordered.assign(**dict(zip(ENVELOPES, limits, strict=True)))


def _effect_basis(frame: pd.DataFrame, terms: Sequence[list[str]]) -> Floats:
    """Return an orthonormal basis (n_rows, rank) of the indicators of the levels of each term."""
    codes = [frame.groupby(term, sort=False, observed=True).ngroup().to_numpy() for term in terms]
    columns = np.hstack([np.eye(int(code.max()) + 1)[code] for code in codes])
    left, size, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, size > 1e-10 * size[0]])


def _rank_envelope(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Return lower and upper limits (n,) within which at least a share `level` of the rows lie entirely."""
    rank, last = draws.argsort(axis=0).argsort(axis=0), len(draws) - 1
    depth = np.minimum(rank, last - rank).min(axis=1)  # least rank from either end, over the columns
    cut = int(np.quantile(depth, 1 - level, method="lower"))
    low, high = np.sort(draws, axis=0)[[cut, last - cut]]
    return low, high
