"""Sample sizes with which the tests of pairs have a stated power."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    check_choice,
    check_fraction,
    check_number,
    warn_each,
)
from skewanova.base.frames import iter_rows
from skewanova.base.text import SCREEN_WIDTH, format_factor, format_number, shorten_names, wrap_lines
from skewanova.decision.bands import mask_compared_pairs
from skewanova.decision.choice import ranking_order
from skewanova.decision.power import (
    FoldTest,
    Pilot,
    approximate_power,
    case_factor_for_power,
    find_smallest_counts,
    noncentrality_for_power,
    quantile_ratio,
    z_power,
)
from skewanova.evaluation.measures import Evaluation, check_evaluation, evaluate
from skewanova.inference import fold_statistics
from skewanova.inference.anova import check_levels
from skewanova.inference.omnibus import build_fold_table
from skewanova.inference.paired_test_set import RunAreas, get_test_set, measure_runs
from skewanova.inference.runs import DegreesOfFreedom
from skewanova.inference.sampling import MIN_DF
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.priors.weightings import PriorLike, as_deployment_prior
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_in_memory

#: Default probability that the assured size has the power.
ASSURANCE = 0.8


#: Smallest level of a plan; 1 less a half of it is known to four digits.
MIN_ALPHA = 1e-12


#: Columns of the pair, of the goal, of the power at present, of sizes, and all columns of a plan.
PAIR_COLUMNS = ("model_a", "model_b", "design", "observed", "difference", "std_error")
GOAL_COLUMNS = ("alpha", "power", "assurance")
POWER_COLUMNS = ("power_now", "detectable", "limit_power", "run_share")
FOLD_COLUMNS = ("n_folds_now", "n_folds", "n_folds_assured")
CASE_COLUMNS = ("case_factor", "case_factor_assured", "positive_factor", "negative_factor")
PLAN_COLUMNS = (*PAIR_COLUMNS, *GOAL_COLUMNS, *POWER_COLUMNS, *FOLD_COLUMNS, *CASE_COLUMNS)


#: Function that returns the power to detect a difference, by factors of the present sizes.
PowerFunction = Callable[..., float]


@dataclass(frozen=True)
class PowerTarget:
    """Difference (None for the observed one), power, level and assurance to plan for, with any control."""

    difference: float | None
    power: float
    alpha: float
    assurance: float
    control: str | None = None

    def __post_init__(self) -> None:
        """Raise unless MIN_ALPHA <= alpha <= 0.5, power, assurance are in (0, 1), difference is above 0."""
        for name in GOAL_COLUMNS:
            check_fraction(getattr(self, name), name, largest=0.5 if name == "alpha" else 1.0)
        if self.alpha < MIN_ALPHA:
            each = f"must be at least {MIN_ALPHA:g} in a plan (with `bonferroni`, for each pair)"
            raise InputError(f"`alpha` {each}, but got {self.alpha:g}")
        size = 1.0 if self.difference is None else check_number(self.difference, "difference", "above 0")
        if not 0 < size < np.inf:
            raise InputError(f"`difference` must be finite and above 0, but got {size:g}")

    def size(self, observed: Any) -> Any:
        """Return the stated difference of IAUPREC, or `observed` if none is stated."""
        return observed if self.difference is None else self.difference


def plan_sample_sizes(
    measures: Evaluation,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    assurance: float = ASSURANCE,
    control: str | None = None,
) -> pd.DataFrame:
    """Compute the folds or cases needed to separate each pair of models, from an evaluation.

    Parameters
    ----------
    measures : Evaluation
        Evaluation of several folds, or of one test set with its scores.
    difference, power, assurance, control
        As for :func:`~skewanova.plan_comparison`.
    alpha : float, default 0.05
        Level of the test of each pair.

    Returns
    -------
    DataFrame
        One row for each pair, in the order of the models, with columns model_a, model_b, design, observed,
        difference, std_error, alpha, power, assurance, power_now, detectable, limit_power, run_share,
        n_folds_now, n_folds, n_folds_assured, case_factor, case_factor_assured, positive_factor and
        negative_factor, as explained at :func:`~skewanova.plan_comparison`.

    Raises
    ------
    ValueError
        If an option is out of range, or a model lacks a fold.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5,))
    >>> sa.decision.plan_sample_sizes(measures, difference=0.05)["case_factor"].round(2).tolist()
    [37.52, 2.29, 41.94]
    """
    design = check_evaluation(measures, "measures").design
    check_levels(len(measures.models), 2)
    target = PowerTarget(difference, power, alpha, assurance, control)
    if design.has_runs:
        runs, fixed = measure_runs(measures, measures.deployment_prior), design.runs == "fixed"
        columns = plan_over_cases(runs.means, target) if fixed else _plan_over_runs(runs, target)
    elif measures.scores is not None and design.is_test_set:
        areas = get_test_set(measures).measure_areas(measures, measures.deployment_prior)
        columns = plan_over_cases(areas, target)
    else:
        halves = measures.iauprec_half_differences
        return plan_folds(measures.iauprec, design, target, halves=halves)
    return build_plan(columns, measures.models, design, target)


def plan_folds(
    iauprec: pd.DataFrame, design: FoldDesign, target: PowerTarget, *, halves: Floats | None = None
) -> pd.DataFrame:
    """Return the frame of :func:`plan_sample_sizes` of any measure; sizes are nan if a pair never varies."""
    values, models = build_fold_table(iauprec)
    paired, n_folds = fold_statistics.paired_t(values), len(values)
    deviation = paired.std_error * np.sqrt(n_folds)
    varies = deviation > 0
    deviation = np.where(varies, deviation, 1.0)
    df, pilot_df, shared, size = None, n_folds - 1.0, design.ratio, target.size(paired.estimate)
    if halves is not None:
        df = pilot_df = float(len(halves))
        shared = (fold_statistics.pair_differences(halves) ** 2).mean(axis=0) / deviation**2
    error = deviation * np.sqrt(1 / n_folds + shared)
    test = FoldTest(size, deviation, shared, target.alpha, df, pilot_df)
    unlucky = replace(test, deviation=deviation / quantile_ratio(pilot_df, target.assurance), pilot_df=np.inf)
    columns = {
        "power_now": test.power(n_folds),
        "detectable": noncentrality_for_power(pilot_df, target.power, target.alpha, pilot_df) * error,
        "limit_power": test.limit_power(),
        "n_folds": test.folds_for_power(target.power),
        "n_folds_assured": unlucky.folds_for_power(target.power),
        "case_factor": test.case_factor(n_folds, target.power),
        "case_factor_assured": unlucky.case_factor(n_folds, target.power),
    }
    planned = {name: np.where(varies, column, np.nan) for name, column in columns.items()}
    planned |= {"observed": paired.estimate, "difference": size, "std_error": np.where(varies, error, 0.0)}
    return build_plan(planned, models, design, target)


def build_plan(
    columns: dict[str, Any], models: Sequence[str], design: FoldDesign, target: PowerTarget
) -> pd.DataFrame:
    """Return `PLAN_COLUMNS`, a row for each pair (with the control, if any), from columns (n_pairs,)."""
    goal = {name: getattr(target, name) for name in GOAL_COLUMNS}
    frame = pd.DataFrame(combinations(models, 2), columns=["model_a", "model_b"]).assign(
        **columns, **goal, design=design.kind, n_folds_now=float(design.n_folds)
    )
    frame = frame[mask_compared_pairs(models, target.control)].reset_index(drop=True)
    return frame.reindex(columns=list(PLAN_COLUMNS))


def _plan_pair(
    observed: float, error: float, target: PowerTarget, power: PowerFunction, *, assured: PowerFunction
) -> dict[str, float]:
    """Return observed, difference, std_error, power_now, detectable, case_factor(_assured) by name."""
    size, factor_for = target.size(observed), partial(case_factor_for_power, power=target.power)
    return {
        "observed": observed,
        "difference": size,
        "std_error": error,
        "power_now": power(size),
        "detectable": factor_for(lambda times: power(times * error)) * error if error > 0 else np.nan,
        "case_factor": factor_for(lambda factor: power(size, factor=factor)),
        "case_factor_assured": factor_for(lambda factor: assured(factor=factor)),
    }


@dataclass(frozen=True)
class _RunVariances:
    """Variance components of the difference of a pair with several runs on one test set.

    `runs` is the variance between runs, with `df` degrees of freedom; `run_cases` is its part that is due to
    cases. `shared` is the variance due to cases that all runs share, with `cases_df`. More cases reduce
    `run_cases` and `shared`, more runs reduce `runs`.
    """

    runs: float
    run_cases: float
    shared: float
    df: float
    n_runs: int
    cases_df: float
    n_tests: int

    @property
    def run_share(self) -> float:
        """Share of the variance of the mean difference that more cases do not reduce."""
        total = self.runs / self.n_runs + self.shared
        return max(self.runs - self.run_cases, 0.0) / self.n_runs / total

    def power(self, size: float, alpha: float, pilot: Pilot, *, n_runs: float, factor: float = 1.0) -> float:
        """Return the power to detect `size` with `n_runs` runs and `factor` times the present cases."""
        true = np.maximum(self.runs / pilot.ratio**2 - self.run_cases, 0.0)
        over_runs = np.asarray(true + self.run_cases / factor) / n_runs
        total, of_runs = over_runs + self.shared / factor, self.df / (self.n_runs - 1) * (n_runs - 1)
        degrees = DegreesOfFreedom(case_df=max(self.cases_df * factor, min(self.cases_df, MIN_DF)))
        df = degrees.compute_df(total, over_runs, of_runs, n_tests=self.n_tests)
        return float(approximate_power(abs(size) / np.sqrt(total), df, alpha) @ pilot.weight)

    def runs_for_power(self, size: float, pilot: Pilot, target: PowerTarget) -> float:
        """Return the smallest number of runs, from 2, with the power; infinite if none up to 1e7 has it."""
        if self.shared > 0 and float(z_power(size, np.sqrt(self.shared), target.alpha)) <= target.power:
            return np.inf

        def has_power(n_runs: NDArray[np.int64]) -> Bools:
            return np.asarray(self.power(size, target.alpha, pilot, n_runs=int(n_runs)) >= target.power)

        return float(find_smallest_counts(has_power, np.asarray(True)))


def _plan_over_runs(areas: RunAreas, target: PowerTarget) -> dict[str, Any]:
    """Return columns (n_pairs,) of :func:`_plan_runs_of_pair` by name, nan where it leaves them out."""
    mean, (errors, _) = areas.area.mean(axis=1), areas.pair_errors()
    pairs = zip(combinations(range(len(mean)), 2), errors.tolist(), strict=True)
    rows = [
        _plan_runs_of_pair(float(mean[i] - mean[j]), error, _variances_with_runs(areas, i, j, error), target)
        for (i, j), error in pairs
    ]
    return dict(pd.DataFrame(rows))


def _variances_with_runs(areas: RunAreas, i: int, j: int, error: float) -> _RunVariances:
    """Return the variance components of models i and j, given the standard error of their difference."""
    n_runs = areas.area.shape[1]
    over_cases = areas.values.reshape(len(areas.values), *areas.area.shape)
    if areas.runs == "nested":
        each = areas.area[[i, j]].var(axis=1, ddof=1)
        runs, df = float(each.sum()), float((n_runs - 1) * each.sum() ** 2 / max((each**2).sum(), 1e-300))
        parts = [over_cases[:, i], over_cases[:, j]]
    else:
        runs, df = float((areas.area[i] - areas.area[j]).var(ddof=1)), n_runs - 1.0
        parts = [over_cases[:, i] - over_cases[:, j]]
    variance = sum(_uncorrelated_variance(areas.sample.covariance(part)) for part in parts)
    run_cases = float(np.clip(variance, 0.0, runs))
    shared = max(error**2 - runs / n_runs, 0.0)
    return _RunVariances(runs, run_cases, shared, df, n_runs, areas.sample.df, comb(len(areas.area), 2))


def _uncorrelated_variance(covariance: Floats) -> float:
    """Return the mean of the diagonal (variances) less the mean of the other entries (covariances)."""
    n = len(covariance)
    variance = float(np.trace(covariance))
    return variance / n - (float(covariance.sum()) - variance) / (n * (n - 1))


def _plan_runs_of_pair(
    observed: float, error: float, pair: _RunVariances, target: PowerTarget
) -> dict[str, float]:
    """Return :func:`_plan_pair`, limit_power, run_share, n_folds(_assured); its first 3 if runs are equal."""
    size = target.size(observed)
    if not (error > 0 and pair.runs > 0):
        return {"observed": observed, "difference": size, "std_error": error}
    pilot = Pilot.from_df(pair.df)
    unlucky = Pilot(np.array([quantile_ratio(pair.df, target.assurance)]), np.ones(1))
    power = partial(pair.power, alpha=target.alpha, n_runs=pair.n_runs, pilot=pilot)
    return {
        **_plan_pair(observed, error, target, power, assured=partial(power, size, pilot=unlucky)),
        "limit_power": float(z_power(size, np.sqrt(pair.shared), target.alpha)) if pair.shared > 0 else 1.0,
        "run_share": pair.run_share,
        "n_folds": pair.runs_for_power(size, pilot, target),
        "n_folds_assured": pair.runs_for_power(size, unlucky, target),
    }


class _CaseVariances(NamedTuple):
    """Variance components of a difference on one test set, of units of negatives, positives or both."""

    observed: float
    variance: Floats
    var_of_var: Floats

    def scale_variance(
        self, factor: float = 1.0, *, positive: float = 1.0, negative: float = 1.0
    ) -> tuple[float, float]:
        """Return variance and Satterthwaite df with multiples of classes, the lesser for clusters of both."""
        factors = factor * np.array([negative, positive, min(negative, positive)])
        variance = float((self.variance / factors).sum())
        var_of_var = float((self.var_of_var / factors**3).sum())
        return variance, max(2 * (variance / np.sqrt(var_of_var)) ** 2, MIN_DF) if var_of_var > 0 else np.inf

    def power(self, size: float, alpha: float, pilot_df: float, **factors: float) -> float:
        """Return the power to detect `size` with factors of cases and classes; nan if the variance is 0."""
        variance, df = self.scale_variance(**factors)
        if not variance > 0:
            return np.nan
        return float(approximate_power(abs(size) / np.sqrt(variance), df, alpha, pilot_df))


def plan_over_cases(areas: ArcsineAreas, target: PowerTarget) -> dict[str, Any]:
    """Return the columns (n_pairs,) of :func:`_plan_cases_of_pair` by name, over cases of one test set."""
    pairs = zip(combinations(areas.area.tolist(), 2), *areas.pair_variances_by_stratum(), strict=True)
    rows = [_plan_cases_of_pair(_CaseVariances(a - b, *strata), target) for (a, b), *strata in pairs]
    return dict(pd.DataFrame(rows))


def _plan_cases_of_pair(pair: _CaseVariances, target: PowerTarget) -> dict[str, float]:
    """Return the columns of :func:`_plan_pair` by name, and positive_factor and negative_factor."""
    size, (variance, df) = target.size(pair.observed), pair.scale_variance()
    power, ratio = partial(pair.power, alpha=target.alpha, pilot_df=df), quantile_ratio(df, target.assurance)
    assured = partial(pair.power, float(size * ratio), target.alpha, np.inf)
    return {
        **_plan_pair(pair.observed, float(np.sqrt(variance)), target, power, assured=assured),
        "positive_factor": case_factor_for_power(lambda n: power(size, positive=n), target.power),
        "negative_factor": case_factor_for_power(lambda n: power(size, negative=n), target.power),
    }


OBSERVED_DIFFERENCE_NOTE = (
    "Planned for the differences observed, which are uncertain, so the power is optimistic. Better state the "
    "smallest difference that would matter by difference=0.05 (--difference 0.05)."
)


#: Smallest share of runs in the variance at which more runs are advised rather than more cases.
MIN_SHARE_FOR_RUNS = 0.5


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """Sample sizes that separate each pair of models.

    Attributes
    ----------
    design, units : str
        Description of the design; sampling units, cases or clusters.
    power, alpha, assurance : float
        Planned power, the level of the test of each pair, and the probability that the assured sizes have
        the power, given the uncertainty of the estimated variance.
    overlapping : bool
        True if folds share training data, which limits the power of more folds of the same data.
    difference_is_stated : bool
        True if the difference was stated rather than observed.
    warnings : tuple of str
        Warnings about the plan.
    """

    design: str
    power: float
    alpha: float
    assurance: float
    overlapping: bool
    difference_is_stated: bool
    units: str
    warnings: tuple[str, ...]
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the frame of :func:`~skewanova.decision.plan_sample_sizes`, models by falling IAUPREC."""
        return self._table.copy()

    @property
    def sentences(self) -> tuple[str, ...]:
        """A text for each pair on its power now and the folds, runs or cases it needs."""
        short = shorten_names([*self._table["model_a"], *self._table["model_b"]])
        return tuple(_describe_pair(row, short, self) for row in iter_rows(self._table))

    def summary(self) -> str:
        """Return the design, the sentences and the warnings as text of at most 80 columns."""
        lines = [f"Design: {self.design}", *(f"- {s}" for s in self.sentences), *self.warnings]
        return wrap_lines(lines, SCREEN_WIDTH)

    def __repr__(self) -> str:
        return self.summary()


def plan_comparison(
    scores: object,
    deployment_prior: PriorLike = (0.05, 0.20),
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    assurance: float = ASSURANCE,
    bonferroni: bool = False,
    control: str | None = None,
    area_estimator: str = "trapezoid",
    design: str | FoldDesign = "auto",
) -> ComparisonPlan:
    """Compute the folds or cases needed to separate each pair of models.

    Use it after a pilot, to plan a study. Do not use it to judge a finished comparison by its power for the
    observed differences, which are uncertain.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores of at least two models, as for :func:`~skewanova.read_scores`. They are from several
        folds, or from one test set with case names or the same order of cases for all models.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Range or distribution of the class prior in deployment.
    difference : float, optional
        Difference of IAUPREC to detect; by default, the observed one of each pair.
    power : float, default 0.8
        Probability of detecting it.
    alpha : float, default 0.05
        Level of the two-sided test.
    assurance : float, default 0.8
        Probability that the assured sizes have the power, given the uncertainty of the estimated variance.
    bonferroni : bool, default False
        If True, divide `alpha` by the number of pairs, as the first step of Holm's adjustment does.
    control : str, optional
        Model that all others are compared with; only its pairs are planned and counted.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    design : str or FoldDesign, default "auto"
        As for :func:`~skewanova.compare`.

    Returns
    -------
    ComparisonPlan
        Its frame is that of :func:`~skewanova.decision.plan_sample_sizes`. ``power_now`` is the power of a
        new sample of the present size, and ``limit_power`` that of infinitely many folds of the same data.
        ``n_folds`` is the smallest number of folds with the planned power, and ``case_factor`` the factor of
        the present cases (or clusters). ``n_folds_assured`` and ``case_factor_assured`` have the power with
        the probability `assurance`. ``positive_factor`` and ``negative_factor`` are for more cases of one
        class (one test set only). ``run_share`` is the share of the variance due to runs on one test set.
        Sizes are infinite if none is enough, and nan if they do not apply.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if an option is out of range, there are fewer than 2
        models, or the models were scored on different cases.

    Warns
    -----
    SkewanovaWarning
        If the observed differences are planned for, or the design of the folds had to be assumed.

    Notes
    -----
    Over J folds, the corrected paired t statistic is noncentral t with J - 1 degrees of freedom and the
    noncentrality ``difference / (s sqrt(1/J + r))``. Here s is the standard deviation of the difference over
    folds, and r the ratio of test to training cases (0 for independent folds). With M halvings, the
    noncentrality is ``difference / sqrt(V + s^2 / J)`` on M degrees of freedom, with the mean square V
    between halves. ``case_factor`` assumes that ``s^2`` and V are inversely proportional to the cases. On one
    test set, the jackknife variance is ``v1/n + v2/m`` for n positives and m negatives, with Satterthwaite's
    degrees of freedom. With several runs, the components of runs and of cases fall with their numbers.

    Every power is averaged over the distribution of the true variance given its estimate (scaled inverse
    chi-square), because a plan that ignores this uncertainty has less than its nominal power.

    Examples
    --------
    >>> from skewanova import load_satellite_scores, plan_comparison
    >>> plan = plan_comparison(load_satellite_scores(), difference=0.05)
    >>> columns = ["model_a", "model_b", "case_factor", "case_factor_assured"]
    >>> plan.to_frame()[columns].round(2).to_numpy().tolist()
    [['A', 'C', 2.29, 2.9], ['A', 'B', 37.52, 47.54], ['C', 'B', 41.94, 53.13]]
    """
    target = PowerTarget(difference, power, alpha, assurance, control)
    table, _ = complete_table(read_in_memory(scores))
    check_several_models(table)
    if control is not None:
        check_choice(control, table.models, "control")
    notes = check_paired(table)
    prior = as_deployment_prior(deployment_prior)
    measures = evaluate(
        table, at_priors=(prior.low,), deployment_prior=prior, area_estimator=area_estimator, design=design
    )
    measures = measures.reorder_models(ranking_order(measures))
    if bonferroni:
        target = replace(target, alpha=alpha / count_compared_pairs(len(table.models), control))
    optimistic = warn_each([] if difference is not None else [OBSERVED_DIFFERENCE_NOTE])
    return ComparisonPlan(
        design=measures.design.describe(),
        power=power,
        alpha=target.alpha,
        assurance=assurance,
        overlapping=measures.design.overlapping,
        difference_is_stated=difference is not None,
        units=measures.design.units,
        warnings=(*notes, *measures.design.warnings, *measures.warnings, *optimistic),
        _table=plan_sample_sizes(measures, **asdict(target)),
    )


def count_compared_pairs(n_models: int, control: str | None) -> int:
    """Return the number of pairs of models or, with a control, of the pairs with it (n_models - 1)."""
    return comb(n_models, 2) if control is None else n_models - 1


def _describe_pair(row: Any, short: dict[str, str], plan: ComparisonPlan) -> str:
    """Return one to four sentences on a pair's power now and the cases, folds or runs it needs."""
    pair = f"{short[row.model_a]} and {short[row.model_b]}"
    if np.isnan(row.power_now):
        return f"{pair}: their difference does not vary, so nothing can be planned from it."
    size = "a difference" if plan.difference_is_stated else "the observed difference"
    now = (
        f"{pair}: {size} of {format_number(row.difference)} is found at level {row.alpha:.3g} with power "
        f"{format_number(row.power_now, 2)} now"
    )
    if row.case_factor <= 1:
        return f"{now}, which is enough."
    parts = _describe_cases, _describe_folds, _advise_runs_or_cases
    return f"{now}. {''.join(part(row, plan) for part in parts)}"


def _describe_cases(row: Any, plan: ComparisonPlan) -> str:
    """Return a sentence on how many times as many cases give the power, or that no number does."""
    if np.isinf(row.case_factor):
        return f"No number of {plan.units} gives power {row.power:g}."
    units = f"test {plan.units}" if row.design in {"test_set", "runs"} else f"{plan.units} in the data"
    text = f"About {format_factor(row.case_factor)} times as many {units} would give power {row.power:g}"
    if np.isinf(row.case_factor_assured):
        return f"{text}."
    assured = format_factor(row.case_factor_assured)
    return f"{text} on average, {assured} times with {100 * row.assurance:g} % assurance."


def _describe_folds(row: Any, plan: ComparisonPlan) -> str:
    """Return a sentence after a space on the folds or runs that give the power, or that none do; or ''."""
    if np.isnan(row.n_folds):
        return ""
    further, shared = ("folds of the same data", "training data") if plan.overlapping else ("", "")
    kind = further or "independent folds"
    if row.design == "runs":
        kind, further, shared = f"runs on the same {plan.units}", "runs", f"their {plan.units}"
    if np.isfinite(row.n_folds):
        assured = f" ({row.n_folds_assured:g} assured)" if np.isfinite(row.n_folds_assured) else ""
        return f" So would {row.n_folds:g} {kind}{assured} instead of {row.n_folds_now:g}."
    limit = f"they share {shared}, and infinitely many have power {format_number(row.limit_power, 2)}"
    return f" More {further} cannot: {limit}." if further else ""


def _advise_runs_or_cases(row: Any, plan: ComparisonPlan) -> str:
    """Return a sentence after a space that advises more runs or more cases; '' without runs."""
    if np.isnan(row.run_share):
        return ""
    first, second = ("runs", plan.units) if row.run_share > MIN_SHARE_FOR_RUNS else (plan.units, "runs")
    share = f"{100 * row.run_share:.0f} %"
    return (
        f" More {first} rather than more {second}: runs bring in {share} of the variance of the difference."
    )
