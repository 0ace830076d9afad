"""Finished frames as tables of text, and results in words: the only place that rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skewanova._checks import Floats
from skewanova._rendering import Table, first_rows, format_number, format_p
from skewanova._sentences import RESPONSE_NAMES, TEST_NAMES
from skewanova._ties import is_largest

#: How the intervals of the ranking were found.
_OVER_FOLDS = "t over folds, allowing for the training data they share"
_OVER_CASES = "over samples of cases"
_OVER_CASES_POSTERIOR = "t posterior of each pair's difference over cases, under a flat prior."
_OVER_FOLDS_POSTERIOR = (
    "Bayesian correlated t test with flat priors, allowing for the training data that folds share."
)
_TOGETHER = "Intervals and adjusted p hold together for the pairs of one test and measure, at {:g}."
#: Priors beyond these are left to the files: a table is no wider than a page.
MOST_PRIORS = 12


def performance_table(auprec: pd.DataFrame, iauprec: pd.DataFrame, ranking: pd.DataFrame) -> Table:
    """Mean and standard deviation over folds of every measure: table 1 of Landgrebe et al. 2006.

    Parameters
    ----------
    auprec, iauprec, ranking : DataFrame
        As a comparison holds them.

    Returns
    -------
    Table
        One row a model, in ranking order; the best mean of each column is bold.
    """
    models = ranking["model"].tolist()
    priors = auprec["prior"].unique()
    shown = evenly(priors, MOST_PRIORS)
    by_prior = dict(iter(auprec[auprec["prior"].isin(shown)].groupby("prior", sort=False, observed=True)))
    groups = dict(zip(_prior_heads(shown), by_prior.values(), strict=True))
    columns = {head: group.groupby("model", observed=True)["auprec"] for head, group in groups.items()}
    columns["IAUPREC"] = iauprec.groupby("model", observed=True)["iauprec"]
    columns["AUC"] = iauprec.groupby("model", observed=True)["auc"]
    means = {head: by_model.mean().loc[models] for head, by_model in columns.items()}
    spreads = {head: by_model.std().loc[models] for head, by_model in columns.items()}
    rows = [(m, *(_mean_sd(means[head][m], spreads[head][m]) for head in columns)) for m in models]
    best = frozenset(
        (i, j)
        for j, head in enumerate(columns, start=1)
        for i in np.flatnonzero(is_largest(means[head])).tolist()
    )
    over_folds = any(spread.notna().any() for spread in spreads.values())
    what = "AUPREC at each prior, IAUPREC and AUC"
    return Table(
        "measures",
        f"Mean (standard deviation over folds) of {what}" if over_folds else f"{what} on the test set",
        ("Model", *columns),
        tuple(rows),
        bold=best,
        note=""
        if len(shown) == len(priors)
        else f"{len(shown)} of {len(priors):,} priors: auprec.csv holds them all.",
    )


def ranking_table(ranking: pd.DataFrame, level: float) -> Table:
    """Ranking with intervals, regret and the probability of being best.

    Parameters
    ----------
    ranking : DataFrame
        As a comparison holds it.
    level : float
        Level of its intervals.

    Returns
    -------
    Table
        One row a model.
    """
    rows = [
        (
            row.model,
            format_number(row.iauprec),
            _interval(row.conf_low, row.conf_high),
            row.group,
            format_number(row.worst_auprec),
            format_number(row.expected_regret),
            format_number(row.max_regret),
            format_number(row.p_best, 2),
        )
        for row in _records(ranking)
    ]
    worst = ranking["worst_prior"].iloc[0]
    header = (
        "Model", "IAUPREC", f"{100 * level:g} % interval", "Group", "Worst",
        "Mean regret", "Max regret", "P(best)",
    )  # fmt: skip
    over_folds = ranking["std"].notna().any()
    interval = _OVER_FOLDS if over_folds else _OVER_CASES
    return Table(
        "ranking",
        "Ranking by mean IAUPREC over folds" if over_folds else "Ranking by IAUPREC on the test set",
        header,
        tuple(rows),
        note=(
            f"Interval: {interval}. Worst: {'mean ' if over_folds else ''}AUPREC at prior {worst:g}, the "
            "rarest of the deployment. Regret: shortfall from the best model over the deployment prior. "
            "P(best): probability of the largest true IAUPREC. Models that share a letter were not found to "
            "differ."
        ),
    )


def anova_table(anova: pd.DataFrame) -> Table:
    """Every analysis of variance, a row a term.

    Parameters
    ----------
    anova : DataFrame
        As a comparison holds it.

    Returns
    -------
    Table
        One row a term of each test.
    """
    rows = [
        (
            f"{TEST_NAMES.get(row.test, row.test)}, {RESPONSE_NAMES.get(row.response, row.response)}",
            row.term,
            _df(row.df),
            _df(row.df_error),
            format_number(row.sum_sq, 4),
            format_number(row.statistic, 2),
            format_p(row.p_value),
            format_number(row.partial_eta_sq),
            format_number(row.breakdown_correlation, 2),
        )
        for row in _records(anova)
    ]
    header = (
        "Test",
        "Term",
        "df",
        "Error df",
        "Sum of squares",
        "F",
        "p",
        "Partial eta sq.",
        "Breakdown corr.",
    )
    return Table("anova", "Analysis of variance", header, tuple(rows))


def posthoc_table(posthoc: pd.DataFrame, alpha: float) -> Table:
    """Pairwise differences with simultaneous intervals.

    Parameters
    ----------
    posthoc : DataFrame
        As a comparison holds it.
    alpha : float
        Level of the tests.

    Returns
    -------
    Table
        One row a pair of each family.
    """
    shown, cut = first_rows(posthoc, "posthoc.csv")
    rows = [
        (
            f"{row.model_a} - {row.model_b}",
            TEST_NAMES.get(row.test, row.test),
            RESPONSE_NAMES.get(row.response, row.response)
            + ("" if np.isnan(row.prior) else f"({row.prior:g})"),
            format_number(row.estimate),
            _interval(row.conf_low, row.conf_high),
            format_p(row.p_adjusted),
            "yes" if row.reject else "no",
        )
        for row in _records(shown)
    ]
    header = ("Pair", "Test", "Measure", "Difference", "Interval", "Adjusted p", f"Differ at {alpha:g}")
    return Table(
        "pairs", "Pairwise differences with simultaneous intervals", header, tuple(rows),
        note=" ".join([_TOGETHER.format(alpha), cut]).strip(),
    )  # fmt: skip


def prior_pairs_table(prior_posthoc: pd.DataFrame, alpha: float) -> Table:
    """Pairwise differences between priors, all models together.

    Parameters
    ----------
    prior_posthoc : DataFrame
        As a comparison holds it.
    alpha : float
        Level of the tests.

    Returns
    -------
    Table
        One row a pair of priors.
    """
    shown, cut = first_rows(prior_posthoc, "prior_differences.csv")
    rows = [
        (
            f"{row.prior_a:g} - {row.prior_b:g}",
            format_number(row.estimate),
            _interval(row.conf_low, row.conf_high),
            format_p(row.p_adjusted),
            "yes" if row.reject else "no",
        )
        for row in _records(shown)
    ]
    header = ("Priors", "Difference", "Interval", "Adjusted p", f"Differ at {alpha:g}")
    return Table(
        "priors", "Differences of AUPREC between priors (Tukey HSD, 3-way mean square)", header, tuple(rows),
        note=cut,
    )  # fmt: skip


def regions_table(regions: pd.DataFrame) -> Table:
    """Which model leads at which prior.

    Parameters
    ----------
    regions : DataFrame
        As a comparison holds it.

    Returns
    -------
    Table
        One row a stretch of priors.
    """
    rows = [
        (
            row.model,
            f"{row.prior_low:.4g} to {row.prior_high:.4g}",
            format_number(row.margin, 4),
            row.runner_up,
        )
        for row in _records(regions)
    ]
    header = ("Model", "Priors", "Mean lead", "Runner-up")
    return Table("regions", "Largest mean AUPREC by prior (the lead is not tested)", header, tuple(rows))


def evenly(values: Sequence[float] | Floats, most: int) -> Floats:
    """At most so many of the values, evenly chosen in their order, the first and the last among them."""
    places = np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)
    chosen: Floats = np.asarray(values, dtype=np.float64)[places]
    return chosen


def _prior_heads(priors: Iterable[float]) -> list[str]:
    """Column heads with as few digits as keep the priors apart."""
    values = list(priors)
    heads: list[str] = []
    for digits in range(6, 18):
        heads = [f"AUPREC({p:.{digits}g})" for p in values]
        if len(set(heads)) == len(heads):
            break
    return heads


def intervals_table(intervals: pd.DataFrame) -> Table:
    """Confidence intervals of every model and fold.

    Parameters
    ----------
    intervals : DataFrame
        As :func:`~skewanova.interval_table` returns it.

    Returns
    -------
    Table
        One row a model and fold; warnings stand once below.
    """
    rows = [
        (row.model, _fold_or(row), format_number(row.estimate), _interval(row.low, row.high), row.method)
        for row in _records(intervals)
    ]
    level = f"{100 * intervals['confidence_level'].iloc[0]:g} % interval"
    notes = dict.fromkeys(text for text in intervals["warning"] if text)
    header = ("Model", "Fold", "AUPREC", level, "Method")
    return Table("intervals", "Confidence intervals", header, tuple(rows), note=" ".join(notes))


def _fold_or(row: Any) -> str:
    """The fold, or what the row is about where it has none: in brackets, as no fold is called."""
    return str(row.fold) if row.level == "fold" else f"({row.level})"


def practical_table(practical: pd.DataFrame, *, one_set: bool = False) -> Table:
    """Probability that two models are practically equal.

    Parameters
    ----------
    practical : DataFrame
        As :func:`~skewanova.bayesian_comparisons` returns it.
    one_set : bool, default False
        Whether it comes from one test set rather than from folds.

    Returns
    -------
    Table
        One row a pair.
    """
    shown, cut = first_rows(practical, "practical.csv")
    rows = [
        (
            f"{row.model_a} - {row.model_b}",
            format_number(row.p_a_ahead, 2),
            format_number(row.p_equal, 2),
            format_number(row.p_b_ahead, 2),
        )
        for row in _records(shown)
    ]
    width = practical["rope"].iloc[0]
    return Table(
        "practical",
        f"Probability that a pair differs by less than {width:g} in IAUPREC, or one is ahead",
        ("Pair", "First ahead", "Practically equal", "Second ahead"),
        tuple(rows),
        note=f"{_OVER_CASES_POSTERIOR if one_set else _OVER_FOLDS_POSTERIOR} {cut}".strip(),
    )


def checks_table(checks: pd.DataFrame) -> Table:
    """Return what the tests assume, and what follows.

    Parameters
    ----------
    checks : DataFrame
        As :func:`~skewanova.assumption_checks` returns it.

    Returns
    -------
    Table
        One row a check.
    """
    rows = [
        (
            row.check.replace("_", " "),
            format_number(row.statistic),
            format_p(row.p_value),
            row.advice or "nothing to add",
        )
        for row in _records(checks)
    ]
    return Table("checks", "Assumptions of the tests", ("Check", "Statistic", "p", "Advice"), tuple(rows))


def _df(value: float) -> str:
    """Degrees of freedom, which need not be whole."""
    return f"{value:.0f}" if value % 1 == 0 else format_number(value, 2)


def _mean_sd(mean: float, std: float) -> str:
    return format_number(mean) if np.isnan(std) else f"{format_number(mean)} ({format_number(std)})"


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{format_number(low)} to {format_number(high)}"


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
