"""How much more data would tell two models apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, InputError, check_choice, check_fraction, emit
from skewanova.base.frames import records
from skewanova.base.text import SCREEN_WIDTH, filled, format_factor, format_number, short_names
from skewanova.decision.choice import ranking_order
from skewanova.decision.power import (
    Pilot,
    approximate_power,
    assured_ratio,
    case_factor_over_folds,
    factor_needed,
    folds_needed,
    limit_power,
    shift_needed,
    smallest_numbers,
    t_power,
    z_power,
)
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference import fold_statistics
from skewanova.inference.omnibus import fold_table
from skewanova.inference.paired_test_set import paired_test_set
from skewanova.inference.run_areas import RunAreas, measure_runs
from skewanova.inference.runs import Degrees
from skewanova.inference.sampling import FEWEST_DF
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_rows

#: Probability with which the assured size reaches the power, whatever the pilot's luck.
ASSURANCE = 0.8


PLAN_COLUMNS = (
    "model_a",
    "model_b",
    "design",
    "observed",
    "difference",
    "std_error",
    "alpha",
    "power",
    "assurance",
    "power_now",
    "detectable",
    "limit_power",
    "run_share",
    "n_folds_now",
    "n_folds",
    "n_folds_assured",
    "case_factor",
    "case_factor_assured",
    "positive_factor",
    "negative_factor",
)


class PowerTarget(NamedTuple):
    """What a plan is for: a difference (None for the one observed) found at alpha with a power."""

    difference: float | None
    power: float
    alpha: float
    assurance: float

    def check(self) -> None:
        """Refuse what is out of range."""
        for name in ("power", "alpha", "assurance"):
            check_fraction(getattr(self, name), name)
        if self.difference is not None and not (np.isfinite(self.difference) and self.difference != 0):
            raise InputError(f"`difference` must be finite and not 0, but got {self.difference:g}")


def plans(
    measures: Evaluation,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    assurance: float = ASSURANCE,
    control: str | None = None,
) -> pd.DataFrame:
    """Work out how many folds or cases would tell each pair of models apart, from an evaluation.

    Parameters
    ----------
    measures : Evaluation
        Of folds, or of one test set together with its scores.
    difference, power, assurance
        As for :func:`~skewanova.plan_comparison`.
    alpha : float, default 0.05
        Level of each pair's test.
    control : str, optional
        Model that all others are compared with: only its pairs are planned for.

    Returns
    -------
    DataFrame
        One row a pair, in the order of the evaluation's models; columns of `PLAN_COLUMNS`.

    Raises
    ------
    ValueError
        If an option is out of range, or a model lacks a fold.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import plans
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5,))
    >>> plans(measures, difference=0.05)["case_factor"].round(2).tolist()
    [37.52, 2.29, 41.94]
    """
    target = PowerTarget(difference, power, alpha, assurance)
    target.check()
    design, table = measures.design, measures.scores
    pairs = list(combinations(measures.models, 2))
    if design.has_runs:
        runs = measure_runs(measures, measures.deployment_prior)
        columns = _over_cases(runs.means, target) if design.runs == "fixed" else _over_runs(runs, target)
    elif table is not None and design.is_test_set:
        areas = paired_test_set(measures).angles(measures, measures.deployment_prior)
        columns = _over_cases(areas, target)
    else:
        columns = _over_folds(measures, target)
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(**columns)
    settled = frame.assign(
        design=design.kind, alpha=alpha, power=power, assurance=assurance, n_folds_now=float(design.n_folds)
    ).reindex(columns=list(PLAN_COLUMNS))
    if control is None:
        return settled
    check_choice(control, measures.models, "control")
    return settled[(settled[["model_a", "model_b"]] == control).any(axis=1)].reset_index(drop=True)


def _over_folds(measures: Evaluation, target: PowerTarget) -> dict[str, Any]:
    """All pairs at once, from the mean and deviation of their differences over folds."""
    values, _ = fold_table(measures.iauprec)
    paired, n_folds = fold_statistics.paired_t(values), measures.design.n_folds
    deviation = paired.std_error * np.sqrt(len(values))
    halves = measures.iauprec_between_halves
    shared = np.full(deviation.shape, measures.design.ratio)
    if halves is not None:
        shared = _shared(halves, deviation)
    size = paired.estimate if target.difference is None else np.full(deviation.shape, target.difference)
    varies = deviation > 0  # else the models agree in every fold: nothing to plan with
    df = None if halves is None else float(len(halves))
    pilot_df = n_folds - 1.0 if df is None else df
    options: dict[str, Any] = {"ratio": shared[varies], "alpha": target.alpha, "df": df}
    effect, spread = size[varies], deviation[varies]
    assured = spread / assured_ratio(pilot_df, target.assurance)
    pilot_options: dict[str, Any] = {**options, "pilot_df": pilot_df}
    needed = shift_needed(pilot_df, target.power, target.alpha, pilot_df)
    error = deviation * np.sqrt(1 / n_folds + shared)
    columns = {
        "power_now": t_power(effect, spread, n_folds, **pilot_options),
        "detectable": needed * error[varies],
        "limit_power": limit_power(effect, spread, **pilot_options),
        "n_folds": folds_needed(effect, spread, power=target.power, **pilot_options),
        "n_folds_assured": folds_needed(effect, assured, power=target.power, **options),
        "case_factor": case_factor_over_folds(effect, spread, n_folds, power=target.power, **pilot_options),
        "case_factor_assured": case_factor_over_folds(
            effect, assured, n_folds, power=target.power, **options
        ),
    }
    spread_out = {name: _where(varies, column) for name, column in columns.items()}
    return {"observed": paired.estimate, "difference": size, "std_error": error, **spread_out}


def _where(mask: Any, values: Floats) -> Floats:
    """Values at their places, and nan elsewhere."""
    full = np.full(mask.shape, np.nan)
    full[mask] = values
    return full


def _shared(halves: Floats, deviation: Floats) -> Floats:
    """What halvings show in the place of the ratio: the variance that more folds leave, over a fold's."""
    variance = (fold_statistics.pair_differences(halves) ** 2).mean(axis=0)
    return np.asarray(variance / np.where(deviation > 0, deviation, np.nan) ** 2)


@dataclass(frozen=True)
class _RunPair:
    """What a plan needs of one pair of models with several runs on one test set.

    Attributes
    ----------
    runs : float
        Variance of the difference in one run, that which all runs share left out.
    own_cases : float
        The part of it that cases bring in, and more cases take away.
    shared : float
        Variance that cases bring into all runs alike, and no number of runs takes away.
    df : float
        Degrees of freedom of the first.
    n_runs : int
        Number of runs.
    of_cases : float
        Degrees of freedom of what cases bring in.
    n_tests : int
        Number of pairs.
    """

    runs: float
    own_cases: float
    shared: float
    df: float
    n_runs: int
    of_cases: float
    n_tests: int

    @property
    def run_share(self) -> float:
        """Share of the variance of the mean difference that more cases do not bring down."""
        total = self.runs / self.n_runs + self.shared
        return max(self.runs - self.own_cases, 0.0) / self.n_runs / total

    def variances(self, pilot: Pilot, factor: float) -> Floats:
        """Variance in one run with so many times the cases, over what the pilot allows."""
        true = np.maximum(self.runs / pilot.ratio**2 - self.own_cases, 0.0)
        return np.asarray(true + self.own_cases / factor)

    def power(self, size: float, alpha: float, pilot: Pilot, *, n_runs: float, factor: float = 1.0) -> float:
        """Power with so many runs and times the cases; degrees of freedom as the test has them."""
        over_runs, shared = self.variances(pilot, factor), self.shared / factor
        total, of_runs = over_runs / n_runs + shared, self.df / (self.n_runs - 1) * (n_runs - 1)
        degrees = Degrees(of_cases=max(self.of_cases * factor, min(self.of_cases, FEWEST_DF)))
        df = degrees.at(total, over_runs / n_runs, of_runs, n_tests=self.n_tests)
        return float(pilot.mean(approximate_power(abs(size) / np.sqrt(total), df, alpha)))

    def runs_needed(self, size: float, pilot: Pilot, target: PowerTarget) -> float:
        """Smallest number of runs with the power, infinite where cases alone leave too much variance."""
        if self.shared > 0 and float(z_power(size, np.sqrt(self.shared), target.alpha)) <= target.power:
            return np.inf
        return float(
            smallest_numbers(
                lambda n, at: np.array(
                    [self.power(size, target.alpha, pilot, n_runs=int(n[0])) >= target.power]
                )[at],
                np.array([True]),
            )[0]
        )

    def cases_needed(self, size: float, pilot: Pilot, target: PowerTarget) -> float:
        """How many times the cases have the power with the runs there are."""
        return factor_needed(
            lambda f: self.power(size, target.alpha, pilot, n_runs=self.n_runs, factor=f), target.power
        )


def _over_runs(areas: RunAreas, target: PowerTarget) -> dict[str, Any]:
    """Pairs one by one: what runs bring in falls with runs, what cases bring in with cases."""
    mean, (error, _) = areas.area.mean(axis=1), areas.pair_errors()
    rows = [
        _run_plan(float(mean[i] - mean[j]), float(error[k]), _run_pair(areas, i, j, float(error[k])), target)
        for k, (i, j) in enumerate(combinations(range(len(mean)), 2))
    ]
    return dict(pd.DataFrame(rows))


def _run_pair(areas: RunAreas, i: int, j: int, error: float) -> _RunPair:
    """Variances of a pair's difference by where they come from."""
    n_runs, nested = areas.area.shape[1], areas.runs == "nested"
    own = areas.area[[i, j]].var(axis=1, ddof=1)
    over_cases = areas.values.reshape(len(areas.values), *areas.area.shape)
    if nested:
        runs, df = float(own.sum()), float((n_runs - 1) * own.sum() ** 2 / max((own**2).sum(), 1e-300))
        parts = [over_cases[:, i], over_cases[:, j]]
    else:
        runs, df = float((areas.area[i] - areas.area[j]).var(ddof=1)), n_runs - 1.0
        parts = [over_cases[:, i] - over_cases[:, j]]
    own_cases = sum(_apart(areas.sample.covariance(part)) for part in parts)
    shared = max(error**2 - runs / n_runs, 0.0)
    n_tests = comb(len(areas.area), 2)
    return _RunPair(runs, float(np.clip(own_cases, 0.0, runs)), shared, df, n_runs, areas.sample.df, n_tests)


def _apart(covariance: Floats) -> float:
    """Mean variance less mean covariance: what each has by itself."""
    n = len(covariance)
    variance = float(np.trace(covariance))
    return variance / n - (float(covariance.sum()) - variance) / (n * (n - 1))


def _run_plan(observed: float, error: float, pair: _RunPair, target: PowerTarget) -> dict[str, float]:
    """Numbers of one pair."""
    size = observed if target.difference is None else target.difference
    result = {"observed": observed, "difference": size, "std_error": error}
    if not (error > 0 and pair.runs > 0):
        return result
    pilot, unlucky = Pilot.expected(pair.df), Pilot.assured(pair.df, target.assurance)

    def power_of(of: float) -> float:
        return pair.power(of, target.alpha, pilot, n_runs=pair.n_runs)

    limit = float(z_power(size, np.sqrt(pair.shared), target.alpha)) if pair.shared > 0 else 1.0
    return result | {
        "power_now": power_of(size),
        "detectable": _detectable(power_of, error, target.power),
        "limit_power": limit,
        "run_share": pair.run_share,
        "n_folds": pair.runs_needed(size, pilot, target),
        "n_folds_assured": pair.runs_needed(size, unlucky, target),
        "case_factor": pair.cases_needed(size, pilot, target),
        "case_factor_assured": pair.cases_needed(size, unlucky, target),
    }


class _CasePair(NamedTuple):
    """What a plan needs of one pair on one test set: by stratum, negatives alone, positives alone, both."""

    observed: float
    variance: Floats
    doubt: Floats  # variance of each of these variances

    def scaled(self, positive: float, negative: float) -> tuple[float, float]:
        """Variance, and its degrees of freedom (Satterthwaite 1946), with so many times either class."""
        factor = np.array([negative, positive, min(negative, positive)])  # clusters may hold both classes
        variance, var_of_var = float((self.variance / factor).sum()), float((self.doubt / factor**3).sum())
        return variance, max(2 * variance**2 / var_of_var, FEWEST_DF) if var_of_var > 0 else np.inf

    def power(
        self, size: float, alpha: float, pilot_df: float, *, positive: float = 1.0, negative: float = 1.0
    ) -> float:
        """Power with so many times either class."""
        variance, df = self.scaled(positive, negative)
        if not variance > 0:
            return np.nan
        return float(approximate_power(abs(size) / np.sqrt(variance), df, alpha, pilot_df))


def _over_cases(areas: ArcsineAreas, target: PowerTarget) -> dict[str, pd.Series[float]]:
    """Pairs one by one, from the variance that the units of each stratum add to their difference."""
    pairs = zip(combinations(areas.area.tolist(), 2), *areas.pair_strata(), strict=True)
    rows = [_case_plan(_CasePair(a - b, *strata), target) for (a, b), *strata in pairs]
    return dict(pd.DataFrame(rows))


def _case_plan(pair: _CasePair, target: PowerTarget) -> dict[str, float]:
    """Numbers of one pair; nan where the models agree on every case."""
    size = pair.observed if target.difference is None else target.difference
    variance, df = pair.scaled(1.0, 1.0)
    error = float(np.sqrt(variance))

    def factor(*sides: str, pilot_df: float = df, of: float = size) -> float:
        def power_of(times: float) -> float:
            return pair.power(of, target.alpha, pilot_df, **dict.fromkeys(sides, times))

        return factor_needed(power_of, target.power)

    both = ("positive", "negative")
    unlucky = size * float(assured_ratio(df, target.assurance))
    return {
        "observed": pair.observed,
        "difference": size,
        "std_error": error,
        "power_now": pair.power(size, target.alpha, df),
        "detectable": _detectable(lambda of: pair.power(of, target.alpha, df), error, target.power),
        "case_factor": factor(*both),
        "case_factor_assured": factor(*both, pilot_df=np.inf, of=unlucky),
        "positive_factor": factor("positive"),
        "negative_factor": factor("negative"),
    }


def _detectable(power_of: Callable[[float], float], error: float, power: float) -> float:
    """Smallest difference with the power; nan where nothing varies."""
    return factor_needed(lambda times: power_of(times * error), power) * error if error > 0 else np.nan


OPTIMISTIC = (
    "Planned for the differences observed. These are uncertain, and a pair is looked at because its "
    "difference seems worth it: the power promised is optimistic. Better state the smallest difference that "
    "would matter."
)


#: Factors within this share of 1 ask for nothing more.
ENOUGH = 1.0


#: Shares of the variance above which runs, or cases, are the first thing to have more of.
MAIN_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """Size at which each pair of models would be told apart.

    Attributes
    ----------
    design : str
        How the folds came about, in words, or that there is one test set.
    power, alpha : float
        Power wanted, and the level of each pair's test.
    assurance : float
        Probability with which the assured sizes have the power, whatever the luck of these data.
    overlapping : bool
        Whether folds share training data, so that more folds of the same data have a limit.
    given : bool
        Whether the difference was stated rather than observed.
    units : str
        What is counted: cases, or clusters of cases.
    warnings : tuple of str
        What to keep in mind.
    """

    design: str
    power: float
    alpha: float
    assurance: float
    overlapping: bool
    given: bool
    units: str
    warnings: tuple[str, ...]
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair, in the columns of `PLAN_COLUMNS`."""
        return self._table.copy()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What each pair would need, in words."""
        short = short_names([*self._table["model_a"], *self._table["model_b"]])
        return tuple(_sentence(row, short, self) for row in records(self._table))

    def summary(self) -> str:
        """Return the plan as text of at most 80 columns."""
        lines = [f"Design: {self.design}", *(f"- {s}" for s in self.sentences), *self.warnings]
        return filled(lines, SCREEN_WIDTH)


def plan_comparison(
    scores: object,
    deployment_prior: Target = (0.05, 0.20),
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
    assurance : float, default 0.8
        Probability with which the assured sizes have the power, whatever the luck of these data.
    bonferroni : bool, default False
        Whether to divide `alpha` by the number of pairs, as the first step of Holm's adjustment does.
    control : str, optional
        Model that all others are compared with: only its pairs are planned for, and counted.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    design : str or FoldDesign, default "auto"
        As for :func:`~skewanova.compare`.

    Returns
    -------
    ComparisonPlan
        Its frame has the columns of `PLAN_COLUMNS`: ``power_now`` is the power of as many data again,
        ``limit_power`` that of infinitely many folds of the same data; ``n_folds`` the smallest number of
        folds with the power wanted; ``case_factor`` how many times the present cases (of clustered cases, the
        clusters) have it, with the folds there are; ``n_folds_assured`` and ``case_factor_assured`` the sizes
        that have it with the probability `assurance`; ``positive_factor`` and ``negative_factor`` are for one
        class alone, the other kept (one test set only); ``run_share`` is the share of the variance that
        several runs on one test set bring in, and more runs take away. Infinite where nothing is enough, nan
        where it does not apply.

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
    and the shift ``difference / (s sqrt(1/J + r))``, s being the deviation of the difference over folds and
    r the test cases for each training case (0 for independent folds). More folds of the same data bring down
    ``1/J`` only. Where the design has M halvings, the shift is ``difference / sqrt(V + s^2 / J)``, V being
    the mean square between halves, on M degrees of freedom. ``case_factor`` takes ``s^2`` (and V) as
    inversely proportional to the cases. One test set: the jackknife variance of the difference, ``v1/n +
    v2/m`` for n positives and m negatives, with Satterthwaite's degrees of freedom. Several runs: what runs
    bring in falls with their number, what cases bring in with theirs.

    The variance of the data at hand is an estimate. Every power is the mean over what the true variance may
    be (that of the data over a chi-square over its degrees of freedom), so that plans made from many pilots
    have the power they promise on average; a plan that takes the estimate for the truth has less.

    Examples
    --------
    >>> from skewanova import load_satellite_scores, plan_comparison
    >>> plan = plan_comparison(load_satellite_scores(), difference=0.05)
    >>> columns = ["model_a", "model_b", "case_factor", "case_factor_assured"]
    >>> plan.to_frame()[columns].round(2).to_numpy().tolist()
    [['A', 'C', 2.29, 2.9], ['A', 'B', 37.52, 47.54], ['C', 'B', 41.94, 53.13]]
    """
    PowerTarget(difference, power, alpha, assurance).check()
    table, _ = complete_table(read_rows(scores))
    check_several_models(table)
    if control is not None:
        check_choice(control, table.models, "control")
    notes = check_paired(table)
    weighting = as_deployment_prior(deployment_prior)
    measures = evaluate(
        table,
        at_priors=(weighting.low,),
        deployment_prior=weighting,
        area_estimator=area_estimator,
        design=design,
    )
    measures = measures.ordered(ranking_order(measures))
    level = alpha / n_compared(len(table.models), control) if bonferroni else alpha
    messages = (*notes, *measures.design.warnings, *measures.warnings)
    options: dict[str, Any] = {"power": power, "alpha": level, "assurance": assurance}
    return ComparisonPlan(
        design=measures.design.describe(),
        **options,
        overlapping=measures.design.overlapping,
        given=difference is not None,
        units=measures.design.units,
        warnings=(*messages, *emit([] if difference is not None else [OPTIMISTIC])),
        _table=plans(measures, difference=difference, control=control, **options),
    )


def n_compared(n_models: int, control: str | None) -> int:
    """Pairs of models that are compared: all, or those with the control."""
    return comb(n_models, 2) if control is None else n_models - 1


def _sentence(row: Any, short: dict[str, str], plan: ComparisonPlan) -> str:
    pair = f"{short[row.model_a]} and {short[row.model_b]}"
    if np.isnan(row.power_now):
        return f"{pair}: their difference does not vary, so nothing can be planned from it."
    size = f"{'a difference' if plan.given else 'the observed difference'} of {format_number(row.difference)}"
    now = f"{pair}: {size} is found at {row.alpha:.3g} with power {format_number(row.power_now, 2)} now"
    if row.case_factor <= ENOUGH:
        return f"{now}, which is enough."
    return f"{now}. {_more_cases(row, plan)}{_more_folds(row, plan)}{_runs_or_cases(row, plan)}"


def _more_cases(row: Any, plan: ComparisonPlan) -> str:
    if np.isinf(row.case_factor):
        return f"No number of {plan.units} gives power {row.power:g}."
    units = f"test {plan.units}" if row.design in {"test_set", "runs"} else f"{plan.units} in the data"
    text = f"About {format_factor(row.case_factor)} times as many {units} would give power {row.power:g}"
    if np.isinf(row.case_factor_assured):
        return f"{text}."
    assured = format_factor(row.case_factor_assured)
    return f"{text} on average, {assured} times with {100 * row.assurance:g} % assurance."


def _more_folds(row: Any, plan: ComparisonPlan) -> str:
    if np.isnan(row.n_folds):
        return ""
    if np.isfinite(row.n_folds):
        kind = "folds of the same data" if plan.overlapping else "independent folds"
        kind = f"runs on the same {plan.units}" if row.design == "runs" else kind
        assured = f" ({row.n_folds_assured:g} assured)" if np.isfinite(row.n_folds_assured) else ""
        return f" So would {row.n_folds:g} {kind}{assured} instead of {row.n_folds_now:g}."
    why = {True: " More folds of the same data cannot: they share training data, and infinitely many have"}
    if row.design == "runs":
        why = {False: f" More runs cannot: they share their {plan.units}, and infinitely many have"}
    limit = format_number(row.limit_power, 2)
    return f"{why[plan.overlapping]} power {limit}." if plan.overlapping in why else ""


def _runs_or_cases(row: Any, plan: ComparisonPlan) -> str:
    """Whether more runs or more cases would do more, of several runs on one test set."""
    if np.isnan(row.run_share):
        return ""
    first, second = ("runs", plan.units) if row.run_share > MAIN_SHARE else (plan.units, "runs")
    share = f"{100 * row.run_share:.0f} %"
    return (
        f" More {first} rather than more {second}: runs bring in {share} of the variance of the difference."
    )
