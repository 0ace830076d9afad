"""Frames of curves: AUPREC along the prior with intervals, regret and support, and points of ROC curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError
from skewanova.base.rounding import TIE, is_maximum
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.groups import Cell
from skewanova.curves.roc import RocCurve
from skewanova.evaluation.measures import Evaluation, build_auprec_frame, check_evaluation, prior_grid
from skewanova.priors.evidence import effective_negatives
from skewanova.scores.design import fold_mean_interval


def auprec_by_prior(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """Return AUPREC of every model and fold on a fine grid of priors.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default 81 priors, evenly spaced in the log-odds, over all that the evaluation uses (or the one).

    Returns
    -------
    DataFrame
        Columns model, fold, prior, auprec, the prior fastest, without folds that a model lacks.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> len(sa.evaluation.auprec_by_prior(measures, [0.1, 0.3]))
    120
    """
    check_evaluation(evaluation)
    grid = prior_grid(evaluation) if priors is None else checks.check_prior_list(priors, "priors")
    areas = evaluation.auprec_by_cell(grid)
    return build_auprec_frame(list_cells(evaluation), grid, areas[~np.isnan(areas[..., 0])])


INTERVAL_COLUMNS = ("model", "prior", "auprec", "std_error", "conf_low", "conf_high", "n_folds")


def auprec_intervals(evaluation: Evaluation, *, alpha: float = 0.05) -> pd.DataFrame:
    """Return the mean AUPREC over folds of every model at every prior, with its interval.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    alpha : float, default 0.05
        The level of each interval is ``1 - alpha``; intervals are not simultaneous.

    Returns
    -------
    DataFrame
        Columns model, prior, auprec, std_error, conf_low, conf_high, n_folds. The variance of a mean over J
        folds is ``s^2 (1 / J + r)``, with r test cases for each training case (Nadeau and Bengio 2003). With
        halvings it is ``s^2 / J`` plus the split-half variance. Limits are on the logit scale, wider if
        effective cases are few. For one fold and for several runs on one test set, std_error and limits are
        nan; :func:`~skewanova.decision.auprec_bands` has limits for both.

    Raises
    ------
    ValueError
        If `alpha` is out of range.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.auprec_intervals(measures)[["model", "prior"]].to_numpy().tolist()
    [['A', 0.5], ['A', 0.2], ['B', 0.5], ['B', 0.2], ['C', 0.5], ['C', 0.2]]
    """
    check_evaluation(evaluation)
    checks.check_alpha(alpha)
    cells = evaluation.auprec.groupby(["model", "prior"], sort=False, observed=True)["auprec"]
    frame = cells.agg(auprec="mean", std="std", n_folds="count").reset_index()
    mean, n_folds, ratio = frame["auprec"], frame["n_folds"].to_numpy(), evaluation.design.ratio
    halves = evaluation.auprec_half_differences(evaluation.priors)
    by_row = None if halves is None else halves.reshape(len(halves), -1)  # priors of a model together
    options = {"size": evaluation.support.effective_size(frame["prior"]), "halves": by_row}
    result = fold_mean_interval(mean, frame["std"], n_folds, ratio=ratio, level=1 - alpha, **options)
    spreads = {"std_error": result.std_error, "conf_low": result.low, "conf_high": result.high}
    if evaluation.design.has_runs:
        spreads = dict.fromkeys(spreads, np.full(len(mean), np.nan))
    return frame.assign(**spreads)[list(INTERVAL_COLUMNS)]


def regret(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """Return the difference of each model's mean AUPREC from that of the best model, at every prior.

    Parameters
    ----------
    evaluation, priors
        As for :func:`auprec_by_prior`; by default also the limits of the deployment prior.

    Returns
    -------
    DataFrame
        Columns model, prior, auprec (mean), best, regret, one model after another. ``best`` is the model with
        the largest mean at that prior (of equal ones, the first), ``regret`` its mean minus the model's mean.

    Raises
    ------
    ValueError
        If a prior is out of range.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.regret(measures, [0.1])[["model", "best", "regret"]].round(3).to_numpy().tolist()
    [['A', 'A', 0.0], ['B', 'A', 0.183], ['C', 'A', 0.025]]
    """
    check_evaluation(evaluation)
    if priors is None:
        deployment = evaluation.deployment_prior
        grid = np.union1d(prior_grid(evaluation), (deployment.low, deployment.high))
    else:
        grid = checks.check_prior_list(priors, "priors")
    means = evaluation.mean_auprec(grid)
    best = np.array(evaluation.models, dtype=object)[is_maximum(means.T).argmax(axis=1)]
    columns = {"auprec": means, "best": np.tile(best, (len(means), 1)), "regret": means.max(axis=0) - means}
    return _cross_frame(columns, model=evaluation.models, prior=grid)


def support(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """Return at which priors the negatives are enough to estimate the precision.

    Parameters
    ----------
    evaluation, priors
        As for :func:`auprec_by_prior`; by default also the rarest supported prior, if it is in their range.

    Returns
    -------
    DataFrame
        Columns prior, effective_negatives, needed, supported, in ascending priors. ``effective_negatives`` is
        the number of distinct negatives over the skew; with clusters and weights, the effective number.
        ``supported`` is True from ``needed`` on: 30, and 50 with fewer than 30 distinct scores
        (``studies/records/support.md``).

    Raises
    ------
    ValueError
        If a prior is out of range.

    Notes
    -----
    At a skew of `s` the precision among `m` negatives is as uncertain as a proportion among ``m / s``. Below
    30, a single false positive changes it by percents, with any estimator. Distinct negatives are counted by
    case. Without a case column they are those of the largest fold over the fraction of the data set that it
    tests, or the sum over independent folds.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.support(measures, [0.2, 0.001])["supported"].tolist()
    [False, True]
    """
    rule = check_evaluation(evaluation).support
    if priors is None:
        grid = prior_grid(evaluation)
        inside = [rule.smallest_prior] if grid[0] < rule.smallest_prior < grid[-1] else []
        grid = np.unique([*grid, *inside])
    else:
        grid = np.unique(checks.check_priors(priors, "priors"))
    return pd.DataFrame(
        {
            "prior": grid,
            "effective_negatives": effective_negatives(rule.n_negative, grid),
            "needed": rule.needed,
            "supported": rule.is_supported(grid),
        }
    )


def write_support_warnings(evaluation: Evaluation) -> list[str]:
    """Return [sentence] on unsupported priors in use and the effective negatives there, or [] if none."""
    frame = support(evaluation, [*evaluation.priors, evaluation.deployment_prior.low])
    thin = frame[~frame["supported"]].iloc[::-1]
    if thin.empty:
        return []
    priors, effective = (_join_ends(thin[name].to_numpy()) for name in ("prior", "effective_negatives"))
    several = "s" if len(thin) > 1 else ""
    units = "clusters with negatives (clusters" if evaluation.design.n_clusters else "negatives (negatives"
    return [
        f"at prior{several} {priors} there are {effective} effective {units} / skew), but "
        f"{evaluation.support.needed:g} are needed: AUPREC there rests on very few false positives"
    ]


def _join_ends(numbers: Floats) -> str:
    """Return "A" or "A and B" for up to two numbers, else "FIRST to LAST", to 3 significant digits."""
    ends = dict.fromkeys((f"{numbers[0]:.3g}", f"{numbers[-1]:.3g}"))
    return (" to " if len(numbers) > 2 else " and ").join(ends)


# --- points of curves ---------------------------------------------------------------------------------------


RECALL_GRID = np.linspace(0.005, 1.0, 200)


RATE_GRID = np.linspace(0.0, 1.0, 201)


def roc(evaluation: Evaluation, *, fpr: ArrayLike = RATE_GRID) -> pd.DataFrame:
    """Return the true positive rate of every model and fold on a common grid of false positive rates.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    fpr : array_like, optional
        False positive rates; by default 0, 0.005, ..., 1.

    Returns
    -------
    DataFrame
        Columns model, fold, fpr, tpr. Between vertices the curve is linear; on a vertical segment the upper
        end is taken.

    Raises
    ------
    ValueError
        If a false positive rate is out of range.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.roc(measures).columns.tolist()
    ['model', 'fold', 'fpr', 'tpr']
    """
    rates = _check_operating_rates(fpr, "fpr", zero=True)

    def interpolate_tpr(roc: RocCurve) -> dict[str, Floats]:
        last = np.append(np.diff(roc.fpr) > 0, True)
        return {"fpr": rates, "tpr": np.interp(rates, roc.fpr[last], roc.tpr[last])}

    return _stack_points(evaluation, interpolate_tpr)


def precision_recall(
    evaluation: Evaluation, priors: ArrayLike | None = None, *, recall: ArrayLike = RECALL_GRID
) -> pd.DataFrame:
    """Return the precision of every model and fold on a common grid of recalls, at several priors.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default those of `at_priors`.
    recall : array_like, optional
        Recalls above 0; by default 0.005, 0.01, ..., 1.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, recall, precision. Between vertices true and false positives grow in
        proportion. If several points have the same recall, the best precision is taken.

    Raises
    ------
    ValueError
        If a prior or a recall is out of range.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> len(sa.evaluation.precision_recall(measures, 0.1, recall=[0.5, 0.9]))
    120
    """
    check_evaluation(evaluation)
    grid = np.asarray(evaluation.priors) if priors is None else checks.check_prior_list(priors, "priors")
    rates = _check_operating_rates(recall, "recall", zero=False)
    columns = {"prior": np.repeat(grid, len(rates)), "recall": np.tile(rates, len(grid))}
    return _stack_points(
        evaluation, lambda roc: {**columns, "precision": _precision(roc, rates, grid).ravel()}
    )


def surface(evaluation: Evaluation) -> pd.DataFrame:
    """Return the P-ROC surface: mean precision over folds by prior and recall (Landgrebe et al. 2006, 4).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, prior, recall, precision; 41 priors as in :func:`auprec_by_prior`, 50 recalls to 1.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.surface(measures).columns.tolist()
    ['model', 'prior', 'recall', 'precision']
    """
    grid, recall = prior_grid(check_evaluation(evaluation), 41), np.linspace(0.02, 1.0, 50)
    parts = [(cell[0], _precision(evaluation.curves[cell], recall, grid)) for cell in list_cells(evaluation)]
    means = [np.mean([part for m, part in parts if m == model], axis=0) for model in evaluation.models]
    return _cross_frame({"precision": np.stack(means)}, model=evaluation.models, prior=grid, recall=recall)


def _cross_frame(columns: dict[str, NDArray[Any]], **levels: Sequence[object] | Floats) -> pd.DataFrame:
    """Return a frame of all combinations of levels, the last fastest, with arrays by them as columns."""
    product = pd.MultiIndex.from_product(list(levels.values()), names=list(levels))
    frame: pd.DataFrame = product.to_frame(index=False)
    return frame.assign(**{name: array.ravel() for name, array in columns.items()})


def _check_operating_rates(values: ArrayLike, name: str, *, zero: bool) -> Floats:
    """Return rates as a vector; raise unless they are at most 1, and above 0 (or 0 if `zero`)."""
    result = checks.check_vector(np.atleast_1d(checks.check_float_array(values, name)), name)
    wrong = result[~((result >= 0 if zero else result > 0) & (result <= 1))]
    if wrong.size:
        least = "from 0 to 1" if zero else "above 0 and at most 1"
        raise InputError(f"`{name}` must hold numbers {least}, but has {wrong[0]:g}")
    return result


def _precision(roc: RocCurve, recall: Floats, priors: Floats) -> Floats:
    """Return the best precision (n_priors, n_recalls) of the curve at each prior and recall above 0."""
    rises = np.diff(roc.tpr) > 0
    level, fewest = (side[np.insert(rises, 0, True)] for side in (roc.tpr, roc.fpr))
    most = roc.fpr[np.append(rises, True)]  # the next segment begins at the largest rate of a recall
    stop = np.searchsorted(level + TIE, recall)
    start = np.maximum(stop - 1, 0)
    share = (recall - level[start]) / np.where(stop > 0, level[stop] - level[start], 1)
    fpr = most[start] + share * (fewest[stop] - most[start])
    return vertex_precision(recall, fpr, priors[:, None])


def skew(evaluation: Evaluation) -> pd.DataFrame:
    """Return accuracy and precision of a threshold as the skew grows (Landgrebe et al. 2006, figure 1).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, skew, tpr, fpr, accuracy, precision. The threshold of each curve is that
        with the largest ``tpr - fpr``, which is best at prior 0.5. There are 61 skews, from 1 to 1000.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.evaluation.skew(measures)["skew"].iloc[[0, -1]].round(6).tolist()
    [1.0, 1000.0]
    """
    skew = np.geomspace(1.0, 1000.0, 61)
    prior = 1 / (1 + skew)

    def measure_youden_point(roc: RocCurve) -> dict[str, Floats]:
        chosen = 1 + int(np.argmax(roc.tpr[1:] - roc.fpr[1:]))
        tpr, fpr = roc.tpr[chosen], roc.fpr[chosen]
        return {
            "prior": prior,
            "skew": skew,
            "tpr": np.full_like(skew, tpr),
            "fpr": np.full_like(skew, fpr),
            "accuracy": prior * tpr + (1 - prior) * (1 - fpr),
            "precision": vertex_precision(tpr, fpr, prior),
        }

    return _stack_points(evaluation, measure_youden_point)


def _stack_points(evaluation: Evaluation, points: Callable[[RocCurve], dict[str, Floats]]) -> pd.DataFrame:
    """Return the points of every curve as one frame, with the columns model and fold first."""
    cells = list_cells(check_evaluation(evaluation))
    parts = [pd.DataFrame(points(evaluation.curves[cell])) for cell in cells]
    frame = pd.concat(parts, keys=cells, names=["model", "fold"])
    return frame.reset_index(["model", "fold"]).reset_index(drop=True)


def list_cells(evaluation: Evaluation) -> list[Cell]:
    """Return a list of every (model, fold) with a curve, in the order of models and folds."""
    cells = ((m, f) for m in evaluation.models for f in evaluation.folds)
    return [cell for cell in cells if cell in evaluation.curves]
