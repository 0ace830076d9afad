"""How much more data would tell two models apart."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.optimize import brentq

from skewanova.base.checks import Bools, Floats, InputError, check_fraction, emit
from skewanova.base.frames import records
from skewanova.base.text import format_factor, format_number, short_names
from skewanova.decision.choice import ranking_order
from skewanova.decision.joint_curves import run_areas
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference import fold_statistics
from skewanova.inference.jackknife import measured
from skewanova.inference.omnibus import fold_table
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.design import Resampling
from skewanova.scores.pairing import check_paired, check_several_models, complete_table, paired_cases
from skewanova.scores.reading import read_scores
from skewanova.scores.table import Scores, ScoreTable

#: Sizes beyond this many folds, or this many times the cases, count as out of reach.
MOST_FOLDS = 10_000_000


SMALLEST_FACTOR, LARGEST_FACTOR = 1e-6, 1e9


#: Standard errors that leave no doubt.
CERTAIN = 8.0


def t_power(
    difference: ArrayLike,
    deviation: ArrayLike,
    n_folds: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    df: float | None = None,
) -> Floats:
    """Power of the two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    With correlation ratio / (1 + ratio) between folds, the corrected statistic is noncentral t exactly. All
    numbers may be arrays. The degrees of freedom are those of the folds unless halvings give them.
    """
    known = np.asarray(n_folds) - 1 if df is None else df
    return shift_power(_shift(difference, deviation, n_folds, ratio), known, alpha)


def _shift(difference: ArrayLike, deviation: ArrayLike, n_folds: ArrayLike, ratio: ArrayLike) -> Floats:
    error = np.asarray(deviation, dtype=np.float64) * np.sqrt(1 / np.asarray(n_folds) + np.asarray(ratio))
    return np.asarray(np.abs(difference) / error)


def shift_power(shift: ArrayLike, df: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided t test whose statistic is noncentral t with that shift."""
    shift, df = np.broadcast_arrays(np.asarray(shift, dtype=np.float64), df)
    limit = stats.t.isf(alpha / 2, df)
    certain = shift > CERTAIN * (1 + limit)  # where scipy's noncentral t runs out of digits, and power is 1
    kept = np.where(certain, 0.0, shift)
    with np.errstate(all="ignore"):  # older scipy divides by 0 on its way to tails that are next to nothing
        wrong_side = stats.nct.cdf(-limit, df, kept)  # nan for some large shifts, where it is below 1e-15
        right_side = stats.nct.sf(limit, df, kept)
    return np.where(certain, 1.0, right_side + np.nan_to_num(wrong_side))[()]


@cache
def shift_needed(df: float, power: float, alpha: float) -> float:
    """Smallest shift at which the two-sided t test has that power; 0 where even no difference has it."""
    if power <= alpha:
        return 0.0

    def excess(shift: float) -> float:
        return float(shift_power(shift, df, alpha)) - power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-13))


def z_power(difference: ArrayLike, std_error: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided normal test."""
    with np.errstate(over="ignore", invalid="ignore"):  # certain; unknown where no difference meets no error
        limit, shift = -special.ndtri(alpha / 2), np.abs(difference) / np.asarray(std_error)
    return np.asarray(special.ndtr(shift - limit) + special.ndtr(-shift - limit))[()]


def limit_power(
    difference: ArrayLike,
    deviation: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    df: float | None = None,
) -> Floats:
    """Power with infinitely many folds of the same data: what they share is left of the variance."""
    nothing = np.equal(ratio, 0)
    left = np.where(nothing, 1.0, ratio)
    if df is not None:
        power = shift_power(_shift(difference, deviation, np.inf, left), df, alpha)
    else:
        power = z_power(difference, np.asarray(deviation) * np.sqrt(left), alpha)
    return np.where(nothing, 1.0, power)[()]


def folds_needed(
    difference: ArrayLike,
    deviation: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    power: float,
    df: float | None = None,
) -> Floats:
    """Smallest number of folds with that power, for each difference; infinite where no number has it."""
    difference, deviation, ratio = np.broadcast_arrays(np.atleast_1d(difference), deviation, ratio)
    low, high = np.ones(difference.shape, dtype=np.int64), np.full(difference.shape, 2)
    options: dict[str, Any] = {"alpha": alpha, "df": df}
    reachable = limit_power(difference, deviation, ratio=ratio, **options) > power

    def reached(n_folds: NDArray[np.int64], at: Bools) -> Bools:
        found = t_power(difference[at], deviation[at], n_folds[at], ratio=ratio[at], **options)
        return np.asarray(found >= power)

    wanted = reachable.copy()
    while wanted.any():
        wanted[wanted] = ~reached(high, wanted)
        low, high = np.where(wanted, high, low), np.where(wanted, 2 * high, high)
        reachable &= high <= MOST_FOLDS
        wanted &= reachable
    while (wanted := reachable & (high - low > 1)).any():
        middle = (low + high) // 2
        enough = np.zeros_like(wanted)
        enough[wanted] = reached(middle, wanted)
        low, high = np.where(wanted & ~enough, middle, low), np.where(wanted & enough, middle, high)
    return np.where(reachable, high.astype(np.float64), np.inf)[0 if difference.size == 1 else slice(None)]


def case_factor_over_folds(
    difference: Floats,
    deviation: Floats,
    n_folds: int,
    *,
    ratio: ArrayLike,
    alpha: float,
    power: float,
    df: float | None = None,
) -> Floats:
    """How many times as many cases have that power: they bring down the squared deviation alike."""
    needed = shift_needed(n_folds - 1 if df is None else df, power, alpha)
    with np.errstate(divide="ignore"):
        factor = (needed / _shift(difference, deviation, n_folds, ratio)) ** 2
    return np.where(factor > LARGEST_FACTOR, np.inf, np.maximum(factor, SMALLEST_FACTOR))


def factor_needed(power_of: Callable[[float], float], power: float) -> float:
    """How many times as many cases have that power; infinite where no number has it, nan where unknown."""
    power = check_fraction(power, "power")
    low, high = SMALLEST_FACTOR, LARGEST_FACTOR
    at_ends = power_of(low), power_of(high)
    if np.isnan(power_of(1.0)):
        return np.nan
    if at_ends[0] >= power:
        return low
    if np.isnan(at_ends).any():
        return np.nan
    if at_ends[1] < power:
        return np.inf
    first, last = float(np.log(low)), float(np.log(high))
    known = dict(zip((first, last), at_ends, strict=True))  # exp(log(high)) is a little less

    def excess(log_factor: float) -> float:
        return (known[log_factor] if log_factor in known else power_of(np.exp(log_factor))) - power

    return float(min(np.exp(brentq(excess, first, last, xtol=1e-10)), high))


PLAN_COLUMNS = (
    "model_a",
    "model_b",
    "design",
    "observed",
    "difference",
    "std_error",
    "alpha",
    "power",
    "power_now",
    "detectable",
    "limit_power",
    "n_folds_now",
    "n_folds",
    "case_factor",
    "positive_factor",
    "negative_factor",
)


class _Pair(NamedTuple):
    """What a plan needs of one pair on one test set."""

    observed: float
    positive: float  # variance that the positives add
    negative: float
    mixed: float = 0.0  # and clusters that hold both


def plans(
    measures: Evaluation,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Work out how many folds or cases would tell each pair of models apart, from an evaluation.

    Parameters
    ----------
    measures : Evaluation
        Of folds, or of one test set together with its scores.
    difference, power
        As for :func:`~skewanova.plan_comparison`.
    alpha : float, default 0.05
        Level of each pair's test.

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
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5,))
    >>> plans(measures, difference=0.05)["case_factor"].round(2).tolist()
    [34.32, 2.09, 38.35]
    """
    _check_options(difference, power, alpha)
    pairs = list(combinations(measures.models, 2))
    options: dict[str, float] = {"power": power, "alpha": alpha}
    design, table = measures.design, measures.scores
    if design.kind == "shared_cases" and design.runs == "fixed":
        areas = run_areas(measures, measures.deployment_prior)
        known = _over_cases(areas.sample, areas.area.mean(axis=1), areas.mean_values)
    elif table is not None and design.kind == "one_set":
        known = _one_set(table, measures)
    else:
        return _folds(measures, pairs, design, difference, **options)
    rows = [
        (a, b, *_plan(pair, design, difference, power=power, alpha=alpha))
        for (a, b), pair in zip(pairs, known, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(PLAN_COLUMNS))


def _check_options(difference: float | None, power: float, alpha: float) -> None:
    check_fraction(power, "power")
    check_fraction(alpha, "alpha")
    if difference is not None and not (np.isfinite(difference) and difference != 0):
        raise InputError(f"`difference` must be finite and not 0, but got {difference:g}")


def _folds(
    measures: Evaluation,
    pairs: Sequence[tuple[str, str]],
    design: Resampling,
    difference: float | None,
    *,
    power: float,
    alpha: float,
) -> pd.DataFrame:
    """All pairs at once, from the mean and deviation of their differences over folds."""
    values, _ = fold_table(measures.iauprec)
    found = fold_statistics.paired_t(values)
    deviation = found.std_error * np.sqrt(len(values))
    wanted = found.estimate if difference is None else np.full(len(pairs), difference)
    numbers = np.full((4, len(pairs)), np.nan)
    detectable = np.full(len(pairs), np.nan)
    moved = deviation > 0  # else the models agree in every fold: nothing to plan with
    size, spread = wanted[moved], deviation[moved]
    halves = measures.iauprec_between_halves
    ratio = np.full(len(pairs), design.ratio) if halves is None else _shared(halves, deviation)
    if design.kind == "shared_cases":  # cases that all runs share do not come in by more runs
        ratio = _shared_by_runs(measures, deviation)
    df = None if halves is None else float(len(halves))
    options: dict[str, Any] = {"ratio": ratio[moved], "alpha": alpha, "df": df}
    numbers[0, moved] = t_power(size, spread, design.n_folds, **options)
    numbers[1, moved] = limit_power(size, spread, **options)
    numbers[2, moved] = folds_needed(size, spread, power=power, **options)
    if design.kind != "shared_cases":
        numbers[3, moved] = case_factor_over_folds(size, spread, design.n_folds, power=power, **options)
    else:
        numbers[3, moved] = [
            _case_factor_over_runs(*pair, n_runs=design.n_folds, power=power, alpha=alpha)
            for pair in zip(size.tolist(), spread.tolist(), ratio[moved].tolist(), strict=True)
        ]
    error = deviation * np.sqrt(1 / design.n_folds + ratio)
    detectable[moved] = shift_needed(design.n_folds - 1 if df is None else df, power, alpha) * error[moved]
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(
        design=design.kind,
        observed=found.estimate,
        difference=wanted,
        std_error=error,
        detectable=detectable,
        alpha=alpha,
        power=power,
        n_folds_now=float(design.n_folds),
        positive_factor=np.nan,
        negative_factor=np.nan,
    )
    names = ("power_now", "limit_power", "n_folds", "case_factor")
    return frame.assign(**dict(zip(names, numbers, strict=True)))[list(PLAN_COLUMNS)]


def _case_factor_over_runs(
    size: float, spread: float, ratio: float, *, n_runs: int, power: float, alpha: float
) -> float:
    """How many times the cases reach the power, if only what all runs share falls with them."""
    return factor_needed(lambda f: float(t_power(size, spread, n_runs, ratio=ratio / f, alpha=alpha)), power)


def _shared_by_runs(measures: Evaluation, deviation: Floats) -> Floats:
    """What cases add to the variance of a mean difference, however many runs, over that of one run."""
    found = run_areas(measures, measures.deployment_prior)
    error, _ = found.pairs()
    spread = np.where(deviation > 0, deviation, np.nan)
    return np.asarray(np.maximum((error / spread) ** 2 - 1 / found.area.shape[1], 0.0))


def _shared(halves: Floats, deviation: Floats) -> Floats:
    """What halvings show in the place of the ratio: the variance that more folds leave, over a fold's."""
    variance = (fold_statistics.pair_differences(halves) ** 2).mean(axis=0)
    return np.asarray(variance / np.where(deviation > 0, deviation, np.nan) ** 2)


def _one_set(table: Scores, measures: Evaluation) -> list[_Pair]:
    """The same of the only fold of a table."""
    cases = paired_cases(table)
    sample = Sample(cases.positive, cases.cluster, cases.weight)
    columns = [cases.scores[table.models.index(model)] for model in measures.models]
    area, values = measured(sample, columns, [measures.deployment_prior], measures.area_estimator)
    return _over_cases(sample, area[:, 0], values[..., 0])


def _over_cases(sample: Sample, area: Floats, values: Floats) -> list[_Pair]:
    """Difference of every pair, and the variance that the units of each stratum add to it."""
    deviations = sample.deviations(values)
    pairs = []
    for i, j in combinations(range(len(area)), 2):
        moved = (deviations[:, i] - deviations[:, j]) ** 2
        negative, positive, mixed = np.bincount(sample.stratum, weights=moved, minlength=3).tolist()
        pairs.append(_Pair(float(area[i] - area[j]), positive, negative, mixed))
    return pairs


def _plan(
    pair: _Pair, design: Resampling, difference: float | None, *, power: float, alpha: float
) -> tuple[object, ...]:
    """Everything from the column design on."""
    wanted = pair.observed if difference is None else difference
    std_error = float(np.sqrt(pair.positive + pair.negative + pair.mixed))
    found = _cases(
        pair, wanted, design.n_folds, power=power, alpha=alpha
    )  # nan where the models agree on every case
    detectable = shift_needed(np.inf, power, alpha) * std_error if std_error > 0 else np.nan
    sizes = (pair.observed, wanted, std_error, alpha, power, found[0], detectable)
    return (design.kind, *sizes, *found[1:])


def _cases(pair: _Pair, wanted: float, n_folds: int, *, power: float, alpha: float) -> tuple[float, ...]:
    """Power now and without limit, folds now, and the factors of all cases and of either class."""

    def power_of(positive: float, negative: float) -> float:
        both = min(positive, negative)  # clusters that hold both classes
        variance = pair.positive / positive + pair.negative / negative + pair.mixed / both
        return float(z_power(wanted, np.sqrt(variance), alpha)) if variance > 0 else np.nan

    factors = (
        factor_needed(lambda f: power_of(f, f), power),
        factor_needed(lambda f: power_of(f, 1), power),
        factor_needed(lambda f: power_of(1, f), power),
    )
    return (power_of(1, 1), np.nan, n_folds, np.nan, *factors)


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
        return tuple(_sentence(row, short, self) for row in records(self._table))

    def summary(self) -> str:
        """Return the plan as text of at most 80 columns."""
        lines = [f"Design: {self.design}", *(f"- {s}" for s in self.sentences), *self.warnings]
        return "\n".join(textwrap.fill(line, 80, subsequent_indent="  ") for line in lines)


def plan_comparison(
    scores: object,
    deployment_prior: Target = (0.05, 0.20),
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    bonferroni: bool = False,
    area_estimator: str = "trapezoid",
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
    area_estimator : str, default "trapezoid"
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
    bring down ``1/J`` only. Where the design has M halvings, the shift is ``difference / sqrt(V + s^2 / J)``,
    V being the mean square between halves, on M degrees of freedom. ``case_factor`` takes ``s^2`` (and V) as
    inversely proportional to the cases. One test set: the jackknife variance of the difference,
    ``v1/n + v2/m`` for n positives and m negatives, and the normal test.

    Examples
    --------
    >>> from skewanova import load_satellite_scores, plan_comparison
    >>> plan = plan_comparison(load_satellite_scores(), difference=0.05)
    >>> plan.to_frame()[["model_a", "model_b", "limit_power", "case_factor"]].round(2).to_numpy().tolist()
    [['A', 'C', 0.61, 2.09], ['A', 'B', 0.09, 34.32], ['C', 'B', 0.08, 38.35]]
    """
    _check_options(difference, power, alpha)
    table, _ = complete_table(scores if isinstance(scores, ScoreTable) else read_scores(scores))
    check_several_models(table)
    notes = check_paired(table)
    weighting = as_deployment_prior(deployment_prior)
    measures = evaluate(
        table,
        priors=(weighting.low,),
        deployment_prior=weighting,
        area_estimator=area_estimator,
        resampling=resampling,
        test_fraction=test_fraction,
    )
    measures = measures.ordered(ranking_order(measures))
    level = alpha / comb(len(table.models), 2) if bonferroni else alpha
    told = (*notes, *measures.design.warnings, *measures.warnings)
    return ComparisonPlan(
        design=measures.design.describe(),
        power=power,
        alpha=level,
        overlapping=measures.design.overlapping,
        given=difference is not None,
        warnings=(*told, *emit([] if difference is not None else [OPTIMISTIC])),
        _table=plans(measures, difference=difference, power=power, alpha=level),
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
        kind = "runs on the same cases" if row.design == "shared_cases" else kind
        return f" So would {row.n_folds:g} {kind} instead of {row.n_folds_now:g}."
    if plan.overlapping:
        return (
            " More folds of the same data cannot: they share training data, and infinitely many have power "
            f"{format_number(row.limit_power, 2)}."
        )
    return ""
