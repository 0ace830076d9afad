"""How much more data would tell two models apart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skewanova._checks import InputError, check_choice, check_fraction, emit
from skewanova._design import find_resampling
from skewanova._estimators import ESTIMATORS
from skewanova._plans import PLAN_COLUMNS, plan_frame
from skewanova._rendering import format_factor, format_number, short_names
from skewanova._score_table import ScoreTable
from skewanova.decision import ranking_order
from skewanova.evaluation import evaluate
from skewanova.priors import DeploymentPrior, as_deployment_prior
from skewanova.scores import check_paired, complete_table, read_scores

__all__ = ["PLAN_COLUMNS", "ComparisonPlan", "plan_comparison"]

OPTIMISTIC = (
    "Planned for the differences observed. These are uncertain, and a pair is looked at because its "
    "difference seems worth it: the power promised is optimistic. Better state the smallest difference that "
    "would matter."
)
#: Factors within this share of 1 ask for nothing more.
ENOUGH = 1.0


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """Size at which each pair of models would be told apart.

    Attributes
    ----------
    design : str
        How the folds came about, in words, or that there is one test set.
    power, alpha : float
        Power wanted, and the level of each pair's test.
    overlapping : bool
        Whether folds share training data, so that more folds of the same data have a limit.
    given : bool
        Whether the difference was stated rather than observed.
    warnings : tuple of str
        What to keep in mind.
    """

    design: str
    power: float
    alpha: float
    overlapping: bool
    given: bool
    warnings: tuple[str, ...]
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair, in the columns of `PLAN_COLUMNS`."""
        return self._table.copy()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What each pair would need, in words."""
        short = short_names([*self._table["model_a"], *self._table["model_b"]])
        return tuple(_sentence(row, short, self) for row in _records(self._table))

    def summary(self) -> str:
        """Return the plan as text of at most 80 columns."""
        lines = [f"Design: {self.design}", *(f"- {s}" for s in self.sentences), *self.warnings]
        return "\n".join(textwrap.fill(line, 80, subsequent_indent="  ") for line in lines)


def plan_comparison(
    scores: object,
    deployment_prior: DeploymentPrior | tuple[float, float] | float = (0.05, 0.20),
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    bonferroni: bool = False,
    estimator: str = "trapezoid",
    resampling: str = "auto",
    test_fraction: float | None = None,
) -> ComparisonPlan:
    """Work out how many folds or cases would tell each pair of models apart.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores of at least two models, as for :func:`~skewanova.read_scores`: of several folds, or of
        one test set with cases in the same order (or named) for all models.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Over what the prior of the deployment is believed to vary.
    difference : float, optional
        Difference of IAUPREC to be found; by default, for each pair, the observed one.
    power : float, default 0.8
        Probability of finding it.
    alpha : float, default 0.05
        Level of the two-sided test.
    bonferroni : bool, default False
        Whether to divide `alpha` by the number of pairs, as the first step of Holm's adjustment does.
    estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    resampling, test_fraction
        As for :func:`~skewanova.compare`.

    Returns
    -------
    ComparisonPlan
        Its frame has the columns of `PLAN_COLUMNS`: ``power_now`` is the power of the present data,
        ``limit_power`` that of infinitely many folds of the same data; ``n_folds`` the smallest number of
        folds with the power wanted; ``case_factor`` how many times the present cases have it, with the folds
        there are; ``positive_factor`` and ``negative_factor`` likewise for one class alone, the other kept
        (one test set only). Infinite where nothing is enough, nan where it does not apply.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if an option is out of range, there are fewer than 2
        models, or the models were scored on different cases.

    Warns
    -----
    SkewanovaWarning
        If the differences planned for are the observed ones, or the design of the folds had to be assumed.

    Notes
    -----
    Folds: the power of the corrected paired t test is that of a noncentral t with J - 1 degrees of freedom
    and the shift ``difference / (s sqrt(1/J + r))``, s being the observed deviation of the difference over
    folds and r the test cases for each training case (0 for independent folds). More folds of the same data
    bring down ``1/J`` only. ``case_factor`` takes ``s^2`` as inversely proportional to the cases. One test
    set: the influence variance of the difference, ``v1/n + v2/m`` for n positives and m negatives, and the
    normal test.

    Examples
    --------
    >>> from skewanova import load_satellite_scores, plan_comparison
    >>> plan = plan_comparison(load_satellite_scores(), difference=0.05)
    >>> plan.to_frame()[["model_a", "model_b", "limit_power", "case_factor"]].round(2).to_numpy().tolist()
    [['A', 'C', 0.61, 2.09], ['A', 'B', 0.09, 34.32], ['C', 'B', 0.08, 38.35]]
    """
    check_fraction(power, "power")
    check_fraction(alpha, "alpha")
    check_choice(estimator, ESTIMATORS, "estimator")
    if difference is not None and not (np.isfinite(difference) and difference != 0):
        raise InputError(f"`difference` must be finite and not 0, but got {difference:g}")
    table, _ = complete_table(scores if isinstance(scores, ScoreTable) else read_scores(scores))
    if len(table.models) < 2:
        raise InputError(f"a comparison needs at least 2 models, but the table has {len(table.models)}")
    notes = list(check_paired(table))
    weighting = as_deployment_prior(deployment_prior)
    level = alpha / (len(table.models) * (len(table.models) - 1) // 2) if bonferroni else alpha
    design, told = find_resampling(table, resampling=resampling, test_fraction=test_fraction)
    notes += emit(told)
    measures = evaluate(table, priors=(weighting.low,), deployment_prior=weighting, estimator=estimator)
    measures = measures.ordered(ranking_order(measures))
    return ComparisonPlan(
        design=design.describe(),
        power=power,
        alpha=level,
        overlapping=design.overlapping,
        given=difference is not None,
        warnings=(*notes, *measures.warnings, *emit([] if difference is not None else [OPTIMISTIC])),
        _table=plan_frame(table, measures, design, difference=difference, power=power, alpha=level),
    )


def _sentence(row: Any, short: dict[str, str], plan: ComparisonPlan) -> str:
    pair = f"{short[row.model_a]} and {short[row.model_b]}"
    if np.isnan(row.power_now):
        return f"{pair}: their difference does not vary, so nothing can be planned from it."
    size = f"{'a difference' if plan.given else 'the observed difference'} of {format_number(row.difference)}"
    now = f"{pair}: {size} is found at {row.alpha:.3g} with power {format_number(row.power_now, 2)} now"
    if row.case_factor <= ENOUGH:
        return f"{now}, which is enough."
    return f"{now}. {_more_cases(row)}{_more_folds(row, plan)}"


def _more_cases(row: Any) -> str:
    if np.isinf(row.case_factor):
        return f"No number of cases gives power {row.power:g}."
    what = "test cases" if row.design == "one_set" else "cases in the data"
    return f"About {format_factor(row.case_factor)} times as many {what} would give power {row.power:g}."


def _more_folds(row: Any, plan: ComparisonPlan) -> str:
    if row.design == "one_set":
        return ""
    if np.isfinite(row.n_folds):
        kind = "folds of the same data" if plan.overlapping else "independent folds"
        return f" So would {row.n_folds:g} {kind} instead of {row.n_folds_now:g}."
    if plan.overlapping:
        return (
            " More folds of the same data cannot: they share training data, and infinitely many have power "
            f"{format_number(row.limit_power, 2)}."
        )
    return ""


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
