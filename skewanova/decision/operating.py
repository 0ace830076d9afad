"""Performance of one decision threshold at several priors, with confidence intervals.

The recall T and the false positive rate F of a threshold are independent binomial proportions. Limits of
their sums and ratios are combined from Wilson's limits (MOVER: Zou and Donner 2008; Donner and Zou 2012).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, InputTypeError
from skewanova.base.rounding import TIE
from skewanova.curves.groups import Cell, PackedCurves
from skewanova.curves.roc import RocCurve
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.intervals import wilson_limits
from skewanova.priors.weightings import DeploymentPrior, as_deployment_prior
from skewanova.scores.design import FoldDesign, as_design, fold_mean_interval, infer_design
from skewanova.scores.reading import read_in_memory, read_parts
from skewanova.scores.table import Label, ScoreTable

#: Measures of a threshold, in the order of every frame.
MEASURES = ("recall", "fpr", "precision", "npv", "flagged", "error_rate", "f_measure", "expected_cost")


class Estimate(NamedTuple):
    """A value with its confidence limits."""

    value: float
    low: float
    high: float

    def complement(self) -> Estimate:
        """Return 1 minus the proportion, with its limits, the lower one first."""
        return Estimate(1 - self.value, 1 - self.high, 1 - self.low)


def vertex_at_threshold(roc: RocCurve, threshold: float) -> int:
    """Return the index of the vertex of the rule ``score >= threshold``; 0 if it flags no case."""
    return int(np.count_nonzero(roc.thresholds >= threshold)) - 1


def wilson_estimate(value: float, size: float, level: float) -> Estimate:
    """Return a proportion of `size` trials with Wilson's (1927) confidence limits at this level."""
    return Estimate(value, *wilson_limits(value, size, level))


def compute_measures(
    recall: Estimate, fpr: Estimate, prior: float, costs: tuple[float, float] | None
) -> dict[str, Estimate]:
    """Return recall, fpr, precision, npv, flagged, error_rate, f_measure, expected_cost (or nan) by name."""
    miss, other = recall.complement(), 1 - prior
    unit_costs = (np.nan, np.nan) if costs is None else costs
    estimates = (
        recall,
        fpr,
        _predictive_value(recall, fpr, prior / other),
        _predictive_value(fpr.complement(), miss, other / prior),
        weighted_sum(recall, fpr, (prior, other)),
        weighted_sum(miss, fpr, (prior, other)),
        _f_measure(recall, fpr, other / prior),
        weighted_sum(miss, fpr, (prior * unit_costs[1], other * unit_costs[0])),
    )
    return dict(zip(MEASURES, estimates, strict=True))


def weighted_sum(first: Estimate, second: Estimate, weights: tuple[float, float]) -> Estimate:
    """Return ``a * first + b * second`` and limits, for weights (a, b) of 0 or more (Zou and Donner 2008)."""
    a, b = weights
    value = a * first.value + b * second.value
    below = np.hypot(a * (first.value - first.low), b * (second.value - second.low))
    above = np.hypot(a * (first.high - first.value), b * (second.high - second.value))
    return Estimate(float(value), float(value - below), float(value + above))


def proportion_ratio(over: Estimate, under: Estimate) -> Estimate:
    """Return ``over / under`` and limits (Donner and Zou 2012); infinite if `under` is 0, nan if both are."""
    # the limits of the ratio q are where a limit of over - q under is 0
    product = over.value * under.value
    low, high = over.low * (2 * over.value - over.low), over.high * (2 * over.value - over.high)
    down, up = under.low * (2 * under.value - under.low), under.high * (2 * under.value - under.high)
    # the smaller root of the quadratic, in the form without cancellation
    bottom = product + np.sqrt(max(product**2 - low * up, 0.0))
    lower = (low / bottom if bottom > 0 else np.inf) if low > 0 else 0.0
    upper = (product + np.sqrt(max(product**2 - high * down, 0.0))) / down if down > 0 else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(over.value, under.value)
    return Estimate(float(value), float(lower), float(upper))


def _predictive_value(right: Estimate, wrong: Estimate, prior_odds: float) -> Estimate:
    """Return precision by recall, fpr and prior odds, or npv by 1 - fpr, 1 - recall and inverse odds."""
    with np.errstate(invalid="ignore", over="ignore"):  # infinite odds give the value 1
        odds = np.array(proportion_ratio(right, wrong)) * prior_odds
        return Estimate(*(1 - 1 / (1 + odds)).tolist())


def _f_measure(recall: Estimate, fpr: Estimate, skew: float) -> Estimate:
    """Return the harmonic mean of precision and recall, 2T / (T + skew F + 1), with its limits."""
    # Landgrebe et al. 2006 print a geometric mean without the skew
    unit = 1 / (1 + skew)  # the squares of large skews would overflow
    rest = Estimate(*(unit + skew * unit * rate for rate in fpr))
    quotient = np.minimum(np.array(proportion_ratio(recall, rest)) * unit, recall)
    return Estimate(*(2 * quotient / (1 + quotient)).tolist())


def fold_mean(values: Floats, level: float, *, ratio: float) -> Estimate:
    """Return the mean over folds and its t limits, variance inflated by 1 + J ratio (Nadeau and Bengio)."""
    exponent = np.frexp(np.abs(values).max())[1] + 1  # sums and squares of large costs may overflow
    small = np.ldexp(values, -exponent)
    mean = float(small.mean())
    _, low, high = fold_mean_interval(mean, small.std(ddof=1), len(small), ratio=ratio, level=level)
    with np.errstate(over="ignore"):  # a limit may be infinite
        return Estimate(*np.ldexp(np.array([mean, float(low), float(high)]), exponent).tolist())


#: Columns of the threshold and its prior, of the estimate of a measure, and all columns of the table.
THRESHOLD_COLUMNS = ("model", "level", "fold", "rule", "target", "chosen_prior", "prior", "threshold")
ESTIMATE_COLUMNS = ("estimate", "conf_low", "conf_high", "confidence_level", "method", "chosen_on")
OPERATING_COLUMNS = (*THRESHOLD_COLUMNS, "measure", *ESTIMATE_COLUMNS)


#: Level of a row: one fold, or the mean over the folds of a model.
FOLD, MEAN = "fold", "mean"


#: Cases on which a threshold was chosen: those of the evaluation, or others.
ON_SAME_CASES, ON_OTHER_CASES = "same cases", "other cases"


#: Quantiles of a prior distribution at which a threshold is evaluated, besides its mean.
PRIOR_QUANTILES = (0.05, 0.95)


#: What lowers the threshold of each rule.
REMEDIES = {
    "threshold": "state a lower `threshold`",
    "recall": "state a higher `recall`",
    "precision": "state a lower `precision`",
    "flagged": "state a larger `flagged`",
    "cost": "state a larger cost of a false negative",
}


#: Rules whose threshold depends on the prior for which it is chosen.
PRIOR_RULES = ("precision", "flagged", "cost")


@dataclass(frozen=True)
class ThresholdRule:
    """Rule for the choice of a threshold."""

    name: str
    target: Any  #: number, or in tables a mapping of numbers by model
    costs: tuple[float, float] | None

    def targets(self, models: Sequence[str]) -> dict[str, float]:
        """Return the target of each model, a number; raise unless a mapping names exactly these models."""
        targets = self.target if isinstance(self.target, Mapping) else dict.fromkeys(models, self.target)
        if set(targets) != set(models):
            raise InputError(
                f"`threshold` must name every model once, but got {list(targets)!r} for {list(models)!r}"
            )
        rule = "`threshold` must be a number for every model"
        try:
            numbers = {model: float(target) for model, target in targets.items()}
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{rule}, in a dict if they differ, but got {self.target!r}") from error
        if self.name == "threshold" and np.isnan([*numbers.values()]).any():
            raise InputError(f"{rule}, but got {self.target!r}")
        return numbers

    def vertex(self, roc: RocCurve, target: float, prior: float) -> int | None:
        """Return the index of the vertex of the chosen threshold; None if none has the precision.

        This is `target` itself, the highest threshold with this recall or the least expected cost, or the
        lowest with this precision or that flags at most this proportion of cases.
        """
        true, false = prior * roc.tpr, (1 - prior) * roc.fpr
        match self.name:
            case "threshold":
                return vertex_at_threshold(roc, target)
            case "recall":
                return int(np.argmax(roc.tpr >= target - TIE))
            case "flagged":
                return int(np.flatnonzero(true + false <= target + TIE)[-1])
            case "precision":  # the first vertex flags no case and has none
                sufficient = np.flatnonzero(true >= (target - TIE) * (true + false))
                return int(sufficient[-1]) if sufficient[-1] > 0 else None
        cost_fp, cost_fn = self.costs or (1.0, 1.0)
        cost = (1 - prior) * cost_fp * roc.fpr + prior * cost_fn * (1 - roc.tpr)
        return int(np.argmax(cost <= cost.min() + TIE * max(cost_fp, cost_fn)))

    def judge(
        self, roc: RocCurve, source: RocCurve, target: float, *, priors: tuple[float, float], level: float
    ) -> tuple[float, dict[str, Estimate]]:
        """Return threshold by `source` at priors[0], and measures of `roc` at priors[1] by name; or nan."""
        vertex = self.vertex(source, target, priors[0])
        if vertex is None:
            return np.nan, dict.fromkeys(MEASURES, Estimate(np.nan, np.nan, np.nan))
        cutoff = float(source.thresholds[vertex])
        vertex = vertex_at_threshold(roc, cutoff)
        recall = wilson_estimate(float(roc.tpr[vertex]), roc.n_positive, level)
        fpr = wilson_estimate(float(roc.fpr[vertex]), roc.n_negative, level)
        return cutoff, compute_measures(recall, fpr, priors[1], self.costs)


def threshold_table(
    scores: object,
    *,
    threshold: float | Mapping[str, float] | None = None,
    recall: float | None = None,
    precision: float | None = None,
    flagged: float | None = None,
    costs: tuple[float, float] | None = None,
    at_priors: Sequence[float] | DeploymentPrior = (0.5, 0.1, 0.01),
    chosen_prior: float | Sequence[float] | None = None,
    choose_on: object = None,
    confidence_level: float = 0.95,
    design: str | FoldDesign = "auto",
) -> pd.DataFrame:
    """Compute recall, precision, cost and other measures of every model at one threshold, by prior.

    Parameters
    ----------
    scores : ScoreTable, path, frame or Evaluation
        Held-out scores, as for :func:`~skewanova.read_scores`; one model or one fold is enough.
    threshold : float or mapping, optional
        Flag cases with at least this score; a mapping has one threshold for each model.
    recall : float, optional
        Choose the highest threshold with at least this recall instead.
    precision : float, optional
        Choose the lowest threshold with at least this precision at `chosen_prior` instead.
    flagged : float, optional
        Choose the lowest threshold that flags at most this proportion of cases at `chosen_prior` instead.
    costs : (float, float), optional
        Costs of a false positive and of a false negative. Without any option above, the threshold with the
        smallest expected cost at `chosen_prior` is chosen.
    at_priors : sequence of float or DeploymentPrior, default (0.5, 0.1, 0.01)
        Priors at which the threshold is evaluated. A distribution, such as ``BetaPrior(2, 98)``, is evaluated
        at its mean, for which the threshold is chosen, and at its 5 % and 95 % quantiles.
    chosen_prior : float or sequence of float, optional
        Priors for which the threshold is chosen; by default each of `at_priors` separately. Not allowed with
        `threshold` or `recall`, which do not depend on the prior.
    choose_on : str, int, ScoreTable, path or frame, optional
        Choose the threshold on other cases: a part of `scores` (a value of its column part), or a table of
        the same models, with the same folds or one fold.
    confidence_level : float, default 0.95
        Level of each interval.
    design : str or FoldDesign, default "auto"
        Design of the folds, as for :func:`~skewanova.compare`. An Evaluation has its design already.

    Returns
    -------
    DataFrame
        Columns model, level, fold, rule, target, chosen_prior, prior, threshold, measure, estimate, conf_low,
        conf_high, confidence_level, method, chosen_on. There are eight rows (measures recall, fpr, precision,
        npv, flagged, error_rate, f_measure, expected_cost) for each model, fold, chosen prior and prior, with
        ``level`` fold. Several folds have rows of their mean too, with ``level`` mean. ``flagged`` is the
        proportion of cases flagged, and ``expected_cost`` is per case. Thresholds are observed scores, or
        infinity, which flags no case. Undefined measures are nan, and so are all if none reaches the target.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError unless exactly one rule is given, or if a number is out
        of range.

    Warns
    -----
    SkewanovaWarning
        If no threshold has the precision, or a mean over folds is undefined.

    Notes
    -----
    In one fold, recall and false positive rate have Wilson's intervals, from which the others follow (MOVER:
    Zou and Donner 2008; Donner and Zou 2012). Means over folds have t intervals with the variance of Nadeau
    and Bengio (2003). If the threshold is chosen for its precision or cost on the evaluated cases, its
    estimates are optimistic (docs/operating.md measures the bias). Avoid this with `choose_on`.

    Examples
    --------
    >>> from skewanova import load_satellite_scores, threshold_table
    >>> table = threshold_table(load_satellite_scores(), recall=0.8, at_priors=(0.1,))
    >>> mean = table[(table["level"] == "mean") & (table["measure"] == "precision")]
    >>> mean[["model", "estimate", "conf_low", "conf_high"]].round(2).to_numpy().tolist()
    [['A', 0.44, 0.37, 0.5], ['B', 0.3, 0.18, 0.41], ['C', 0.42, 0.32, 0.52]]
    """
    rule = _choose_rule(costs, recall=recall, precision=precision, flagged=flagged, threshold=threshold)
    checks.check_fraction(confidence_level, "confidence_level")
    pairs = _prior_pairs(rule, at_priors, chosen_prior)
    if isinstance(choose_on, str | int):
        choose_on, scores = _split_parts(scores, str(choose_on))
    measured = _read_curves(scores, design)
    targets = rule.targets(measured.models)
    choosing = measured.curves if choose_on is None else _curves_for_choice(rule, choose_on, measured)
    chosen_on = ON_SAME_CASES if choose_on is None and rule.name != "threshold" else ON_OTHER_CASES
    cells = [cell for cell in product(measured.models, measured.folds) if cell in measured.curves]
    rows: list[tuple[object, ...]] = []
    for (model, fold), priors in product(cells, pairs):
        roc, source, target = measured.curves[model, fold], choosing[model, fold], targets[model]
        cutoff, estimates = rule.judge(roc, source, target, priors=priors, level=confidence_level)
        keys = (model, FOLD, fold, rule.name, target, *priors, cutoff)
        for name, estimate in estimates.items():
            method = "wilson" if name in {"recall", "fpr"} else "mover"
            rows.append((*keys, name, *estimate, confidence_level, method, chosen_on))
    frame = pd.DataFrame(rows, columns=list(OPERATING_COLUMNS))
    frame["fold"] = frame["fold"].convert_dtypes()
    notes = _note_unreached(rule, frame)
    if len(measured.folds) > 1:
        means = _average_folds(frame, confidence_level, measured.ratio)
        notes += _note_undefined(rule, means)
        means["fold"] = means["fold"].astype(frame["fold"].dtype)
        frame = pd.concat([frame, means], ignore_index=True)
    checks.warn_each(notes)
    return frame


def _split_parts(scores: object, part: str) -> tuple[Any, Any]:
    """Return tables of rows whose column part is `part`, and of the others; raise unless path or frame."""
    if isinstance(scores, ScoreTable | Evaluation):
        raise InputTypeError(
            f"`choose_on` can name a part of a path or frame only, but got {type(scores).__name__}; give "
            "that path or frame, or pass other scores to choose on, as choose_on=skewanova.read_scores(FILE)"
        )
    with checks.prefix_errors("`scores`", "skewanova.read_scores(each part of "):
        return read_parts(scores, part)


def _choose_rule(costs: tuple[float, float] | None, **options: Any) -> ThresholdRule:
    """Return the rule that is stated, with costs (alone, a rule); raise unless exactly one is."""
    targets = {name: value for name, value in options.items() if value is not None}
    for name, value in targets.items():
        if name != "threshold":
            checks.check_fraction(value, name, or_one=name == "recall")
    cost_pair = None if costs is None else check_costs(costs)
    if not targets and cost_pair is not None:
        targets["cost"] = np.nan
    if len(targets) != 1:
        remedy = "leave out all but one" if targets else "for example, state recall=0.8 (--recall 0.8)"
        raise InputError(
            "exactly one of `threshold`, `recall`, `precision` and `flagged`, or `costs` alone, must be "
            f"given to choose the threshold, but got {', '.join(targets) or 'none'}; {remedy}"
        )
    ((name, target),) = targets.items()
    return ThresholdRule(name, target, cost_pair)


def check_costs(costs: tuple[float, float], name: str = "`costs`") -> tuple[float, float]:
    """Return the costs as two floats; raise unless they are finite, not negative and not both 0."""
    try:
        pair = checks.check_float_array(costs, "costs")
    except (InputError, InputTypeError):  # ragged, or text
        pair = np.empty(0)
    if pair.shape != (2,):
        raise InputTypeError(
            f"{name} must be a pair (false positive, false negative) of numbers, such as (1, 5), but got "
            f"{costs!r}"
        )
    if not (np.isfinite(pair).all() and (pair >= 0).all() and pair.max() > 0):
        raise InputError(f"{name} must be finite, not negative and not both 0, but got {costs!r}")
    return float(pair[0]), float(pair[1])


def _priors_to_judge(priors: Sequence[float] | DeploymentPrior) -> tuple[Floats, float | None]:
    """Return checked priors and None, or a distribution's distinct mean, 5 %, 95 % quantile, and the mean."""
    if not (hasattr(priors, "quadrature") or hasattr(priors, "ppf")):
        return checks.check_prior_list(priors, "at_priors"), None
    grid, weight = as_deployment_prior(cast("DeploymentPrior", priors)).quadrature()
    cumulative = (np.cumsum(weight) - weight / 2) / weight.sum()
    mean = float(grid @ weight / weight.sum())
    ends = np.interp(PRIOR_QUANTILES, cumulative, grid).tolist()
    return np.array(list(dict.fromkeys([mean, *ends]))), mean


def _curves_for_choice(rule: ThresholdRule, choose_on: object, measured: _Curves) -> Mapping[Cell, RocCurve]:
    """Return curves of `choose_on` by cell, a lone fold's for all; raise if any is missing or none needed."""
    if rule.name == "threshold":
        raise InputError(
            "`choose_on` has no effect with `threshold`; leave it out (if it is a part, also its rows: "
            "scores[scores['part'] != 'tuning']), or use `recall` instead"
        )
    if isinstance(choose_on, Evaluation):
        raise InputTypeError(
            "`choose_on` must be a part, table, path or frame, but got Evaluation; pass the scores of "
            "which it was made"
        )
    with checks.prefix_errors("`choose_on`"):
        table = read_in_memory(choose_on)
    curves = table.curves()
    if lacking := [model for model in measured.models if model not in table.models]:
        raise InputError(
            f"`choose_on` must have every model of `scores`, but lacks {lacking[0]!r}; add its rows, or "
            "leave the model out of `scores`"
        )
    result = {}
    for model, fold in measured.curves:
        curve = curves.get((model, fold if len(table.folds) > 1 else table.folds[0]))
        if curve is None:
            raise InputError(
                "`choose_on` must have every model in one fold or in the folds of `scores`, but lacks model "
                f"{model!r} in fold {fold!r}; add its rows, or drop the column case and give all one fold"
            )
        result[model, fold] = curve
    return result


def _prior_pairs(
    rule: ThresholdRule, priors: Any, chosen: float | Sequence[float] | None
) -> list[tuple[float, float]]:
    """Return (each stated or the mean, each prior) or (p, p); (nan, p), or raise, if the rule needs none."""
    grid, mean = _priors_to_judge(priors)
    if rule.name not in PRIOR_RULES:
        if chosen is not None:
            raise InputError(f"`chosen_prior` has no effect with `{rule.name}`; remove it")
        return [(np.nan, prior) for prior in grid.tolist()]
    chosen = mean if chosen is None else chosen
    if chosen is None:
        return [(prior, prior) for prior in grid.tolist()]
    return list(product(checks.check_prior_list(chosen, "chosen_prior").tolist(), grid.tolist()))


class _Curves(NamedTuple):
    """ROC curves of all models and folds, and the ratio of test to training cases that folds share."""

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    curves: Mapping[tuple[str, Label], RocCurve]
    ratio: float


def _read_curves(scores: object, stated: str | FoldDesign) -> _Curves:
    """Return the ROC curves by model and fold, of clusters or weights with effective sizes of the classes."""
    if isinstance(scores, Evaluation):
        if as_design(stated) != FoldDesign():
            raise InputError(
                "`design` is for a score table, but `scores` is an Evaluation, which has its design; leave "
                "it out, or pass the score table of the evaluation instead, if it has one"
            )
        if isinstance(scores.curves, PackedCurves):
            raise InputTypeError(
                "`scores` is an Evaluation of Dask or Spark data, whose curves have no thresholds; pass the "
                "Dask or Spark frame instead, which is then read into memory"
            )
        measured = _Curves(scores.models, scores.folds, scores.curves, scores.design.ratio)
        table = scores.scores
    else:
        table = read_in_memory(scores)
        design = infer_design(table, design=stated)
        checks.warn_each(design.warnings)
        measured = _Curves(table.models, table.folds, table.curves(), design.ratio)
    if not (isinstance(table, ScoreTable) and (table.has_clusters or table.has_weights)):
        return measured
    sizes = zip(table.cells, table.effective_counts[table.counts.sum(axis=2) > 0].tolist(), strict=True)
    curves = {cell: replace(measured.curves[cell], n_positive=n, n_negative=m) for cell, (m, n) in sizes}
    return measured._replace(curves=curves)


def _average_folds(frame: pd.DataFrame, level: float, ratio: float) -> pd.DataFrame:
    """Return `OPERATING_COLUMNS` by model, priors, measure: fold mean, t limits; nan if a fold lacks it."""
    keys = ["model", "rule", "target", "chosen_prior", "prior", "measure"]
    rows = []
    for key, group in frame.groupby(keys, sort=False, observed=True, dropna=False):
        values = group["estimate"].to_numpy(dtype=np.float64)
        mean = fold_mean(values, level, ratio=ratio) if len(values) > 1 else (values[0], np.nan, np.nan)
        top = np.inf if key[-1] == "expected_cost" else 1.0
        low, high = (float(np.clip(limit, 0.0, top)) for limit in mean[1:])
        model, *rest, measure = key
        numbers = (mean[0], low, high, level, "corrected_t", group["chosen_on"].iloc[0])
        rows.append((model, MEAN, pd.NA, *rest, np.nan, measure, *numbers))
    return pd.DataFrame(rows, columns=list(OPERATING_COLUMNS))


def _note_unreached(rule: ThresholdRule, frame: pd.DataFrame) -> list[str]:
    """Return one warning for each model and chosen prior that has folds without a threshold."""
    missing = frame[(frame["measure"] == "recall") & frame["estimate"].isna()]
    n_folds: Any = missing.groupby(["model", "chosen_prior"], sort=False, observed=True)["fold"].nunique()
    return [
        f"no threshold of model {model!r} has precision {rule.target:g} at prior {prior:g} in {count} of its "
        f"folds; its rows there are nan, so {REMEDIES[rule.name]}"
        for (model, prior), count in n_folds.items()
    ]


def _note_undefined(rule: ThresholdRule, means: pd.DataFrame) -> list[str]:
    """Return a warning that names the models with a mean recall but no mean precision, or an empty list."""
    recall, precision = (means[means["measure"] == name] for name in ("recall", "precision"))
    undefined = precision[precision["estimate"].isna().to_numpy() & recall["estimate"].notna().to_numpy()]
    models = ", ".join(map(repr, dict.fromkeys(undefined["model"])))
    text = f"the mean precision over folds is undefined for {models}, since no case is flagged in some fold"
    return [f"{text}; {REMEDIES[rule.name]}"] if models else []
