"""Studies of areas against the truth: estimators and intervals (Boyd et al.), binormal fits (Brodersen)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from skewanova._checks import Floats, InputError, check_choice, check_count, check_prior
from skewanova._curve_measures import (
    AREAS,
    BINORMAL_MODELS,
    BOOTSTRAP_METHODS,
    BRODERSEN,
    BRODERSEN_CASES,
    LEVEL,
    N_FOLDS,
    PRIOR,
    QUICK_METHODS,
    SETTINGS,
    binormal_areas,
    bootstrap_limits,
    estimated_areas,
    quick_limits,
)
from skewanova._curve_result import CurveStudy
from skewanova._study_blocks import Cell, means, simulated
from skewanova._true_curves import true_auc, true_auprec

#: Sample sizes of the studies of estimators and of intervals.
SIZES = (50, 100, 200, 500, 1000, 2000, 10000)
INTERVAL_SIZES = (100, 200, 500, 1000, 10000)
#: Shares of positives of the recorded study of intervals.
INTERVAL_PRIORS = (0.5, PRIOR, 0.01)
#: Shares of positives in the study of binormal fits; 0.4 is that of Brodersen's figure 1.
ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
#: Largest sample whose bootstrap intervals are simulated: in a reduced study, and in full.
BOOTSTRAP_UP_TO = {False: 100, True: 1000}
#: Samples in a full study: as a rule, and at 10,000 cases; of intervals, at the prior 0.1, at others and at
#: 10,000 cases, and of bootstraps.
FULL, FULL_LARGE = 10_000, 4_000
FULL_INTERVALS, FULL_OTHER_PRIOR, FULL_LARGE_INTERVALS, FULL_BOOTSTRAP = 2_000, 1_000, 400, 400
LARGE = 5000

ESTIMATORS_COLUMNS = (
    "setting", "prior", "n_total", "estimator", "truth", "mean", "ratio", "std_error", "replicates",
)  # fmt: skip
INTERVALS_COLUMNS = (
    "setting", "prior", "n_total", "method", "level", "coverage", "std_error", "width", "width_std_error",
    "location", "too_high", "too_low", "at_limit", "coverage_without_rule", "replicates",
)  # fmt: skip
BINORMAL_COLUMNS = (
    "measure", "alpha", "n_total", "model", "truth", "mean", "bias", "std_error", "replicates",
)  # fmt: skip


def estimators_study(
    *,
    settings: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> CurveStudy:
    """Simulate samples from known distributions, and compare every estimator's mean with the true area.

    Parameters
    ----------
    settings : sequence of str, optional
        Distributions of the scores: ``binormal``, ``bibeta``, ``offset_uniform``; by default all.
    sizes : sequence of int
        Numbers of cases, a tenth of them positive; at least 20.
    replicates : int, default 200
        Samples of each size.
    full : bool, default False
        Simulate as many as in the recorded study instead: 10,000; 4,000 at 10,000 cases.
    rng : int, default 0
        Seed.
    n_jobs : int, default 1
        Processes; the result is the same for any number.
    progress : bool, default True
        Show a progress bar, if the output is a terminal.

    Returns
    -------
    CurveStudy
        Frame with the columns of `ESTIMATORS_COLUMNS`. ``ratio`` is the mean estimate over the truth.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Notes
    -----
    The number of positives is exact, not binomial. Binomial counts move the ratios of small samples where
    estimates are at prior 0.1 (average precision of 50 binormal cases: 1.38 instead of 1.33).

    References
    ----------
    Boyd, Eng and Page (2013), Area under the precision-recall curve: point estimates and confidence
    intervals.

    Examples
    --------
    >>> from skewanova._curve_studies import estimators_study
    >>> study = estimators_study(settings=["binormal"], sizes=[50], replicates=300, progress=False)
    >>> ratio = study.to_frame().set_index("estimator")["ratio"]
    >>> bool(ratio["average_precision"] > ratio["trapezoid"] > 1)
    True
    """
    cells = [
        Cell(
            (setting, n_total),
            _samples(n_total, replicates, full),
            partial(estimated_areas, setting, n_total),
        )
        for setting, n_total in _grid(settings, sizes, 20)
    ]
    rows = []
    for cell, areas in simulated("estimators", cells, rng=rng, n_jobs=n_jobs, progress=progress):
        truth = true_auprec(*SETTINGS[str(cell.key[0])], PRIOR)
        for estimator, (mean, error) in zip(AREAS, means(areas), strict=True):
            told = (estimator, truth, mean, mean / truth, error / truth, len(areas))
            rows.append((cell.key[0], PRIOR, cell.key[1], *told))
    return CurveStudy("estimators", rng, pd.DataFrame(rows, columns=list(ESTIMATORS_COLUMNS)))


def intervals_study(
    *,
    settings: Sequence[str] | None = None,
    sizes: Sequence[int] = INTERVAL_SIZES,
    priors: Sequence[float] = (PRIOR,),
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> CurveStudy:
    """Simulate samples from known distributions, and count how often intervals hold the true area.

    Parameters
    ----------
    settings, replicates, rng, n_jobs, progress
        As for :func:`estimators_study`.
    sizes : sequence of int
        Numbers of cases.
    priors : sequence of float, default (0.1,)
        Shares of positives, which are also the priors of the deployment; sizes that do not hold 10 positives,
        one for each of the folds of cross-validation, are left out.
    full : bool, default False
        Simulate as many as in the recorded study instead: 2,000 at prior 0.1 and 1,000 at others; 400 at
        10,000 cases. Bootstraps have 400 samples of up to 1,000 cases, below 1,000 at prior 0.1 only;
        without `full`, `replicates` of up to 100 cases.

    Returns
    -------
    CurveStudy
        Frame with the columns of `INTERVALS_COLUMNS`. ``width`` is a mean, ``location`` the mean middle of
        the interval over the truth, ``too_high`` and ``too_low`` the shares whose interval is above or
        below the truth, ``at_limit`` the share with an estimate of 0 or 1, where
        :func:`~skewanova.confidence_interval` follows a rule of its own; ``coverage_without_rule`` counts
        these as misses, as an interval of no width would be.

    Raises
    ------
    ValueError
        As :func:`estimators_study`.

    Examples
    --------
    >>> from skewanova._curve_studies import intervals_study
    >>> study = intervals_study(settings=["binormal"], sizes=[200], replicates=100, progress=False)
    >>> coverage = study.to_frame().set_index("method")["coverage"]
    >>> bool(coverage["cross_validation"] < coverage["influence"])
    True
    """
    designs = [
        (setting, check_prior(prior, "priors"), n_total)
        for setting, n_total in _grid(settings, sizes, 2 * N_FOLDS)
        for prior in dict.fromkeys(priors)
        if N_FOLDS <= round(prior * n_total) <= n_total - N_FOLDS
    ]
    if not designs:
        raise InputError("`sizes` must hold 10 cases of either class at some of `priors`, but none does")
    cells = [cell for design in designs for cell in _interval_cells(design, replicates, full)]
    rows = [
        row
        for cell, limits in simulated("intervals", cells, rng=rng, n_jobs=n_jobs, progress=progress)
        for row in _interval_rows(cell, limits)
    ]
    return CurveStudy("intervals", rng, pd.DataFrame(rows, columns=list(INTERVALS_COLUMNS)))


def binormal_study(
    *,
    alphas: Sequence[float] = ALPHAS,
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> CurveStudy:
    """Simulate 100 binormal cases, and compare empirical and fitted areas with the truth.

    Parameters
    ----------
    alphas : sequence of float
        Shares of positives, each with at least two cases of either class among the hundred.
    replicates, rng, n_jobs, progress
        As for :func:`estimators_study`.
    full : bool, default False
        Simulate 10,000 samples instead, as in the recorded study.

    Returns
    -------
    CurveStudy
        Frame with the columns of `BINORMAL_COLUMNS`. ``measure`` is auprec (Brodersen et al., figure 2) or
        auc (figure 1). The model ``binormal`` of auprec has its alpha fixed at 0.5, with ddof 1.

    Raises
    ------
    ValueError
        If a share is too near to 0 or 1, or a number out of range.

    References
    ----------
    Brodersen et al. (2010), The binormal assumption on precision-recall curves.

    Examples
    --------
    >>> from skewanova._curve_studies import binormal_study
    >>> frame = binormal_study(alphas=[0.1], replicates=100, progress=False).to_frame()
    >>> bias = frame[frame["measure"] == "auprec"].set_index("model")["bias"]
    >>> bool(abs(bias["alpha_binormal_ddof0"]) < bias["average_precision"] < bias["binormal"])
    True
    """
    check_count(replicates, "replicates", minimum=1)
    cells = [
        Cell((alpha,), FULL if full else replicates, partial(binormal_areas, alpha))
        for alpha in dict.fromkeys(map(_check_alpha, alphas))
    ]
    rows = [
        row
        for cell, areas in simulated("binormal", cells, rng=rng, n_jobs=n_jobs, progress=progress)
        for row in _binormal_rows(cell, areas)
    ]
    frame = pd.DataFrame(rows, columns=list(BINORMAL_COLUMNS))
    parts = [frame[frame["measure"] == measure] for measure in BINORMAL_MODELS]
    return CurveStudy("binormal", rng, pd.concat(parts, ignore_index=True))


def _grid(settings: Sequence[str] | None, sizes: Sequence[int], fewest: int) -> Iterator[tuple[str, int]]:
    names = list(SETTINGS) if settings is None else list(dict.fromkeys(settings))
    for name in names:
        check_choice(name, list(SETTINGS), "settings")
    for n_total in sizes:
        check_count(n_total, "sizes", minimum=fewest)
    return ((name, n_total) for name in names for n_total in dict.fromkeys(sizes))


def _samples(n_total: int, replicates: int, full: bool) -> int:
    check_count(replicates, "replicates", minimum=1)
    if not full:
        return replicates
    return FULL_LARGE if n_total > LARGE else FULL


def _check_alpha(alpha: float) -> float:
    value = check_prior(alpha, "alphas")
    if not 2 <= round(BRODERSEN_CASES * value) <= BRODERSEN_CASES - 2:
        raise InputError(f"`alphas` must leave two cases of either class among 100, but got {alpha:g}")
    return value


def _interval_cells(design: tuple[str, float, int], replicates: int, full: bool) -> Iterator[Cell]:
    _, prior, n_total = design
    usual = prior == PRIOR
    many = FULL_LARGE_INTERVALS if n_total > LARGE else FULL_INTERVALS if usual else FULL_OTHER_PRIOR
    samples = many if full else check_count(replicates, "replicates", minimum=1)
    yield Cell(design, samples, partial(quick_limits, *design))
    if n_total <= BOOTSTRAP_UP_TO[full] and (usual or n_total >= 1000 or not full):
        samples = FULL_BOOTSTRAP if full else replicates
        yield Cell((*design, "bootstrap"), samples, partial(bootstrap_limits, *design))


# --- rows of frames -----------------------------------------------------------------------------------------


def _interval_rows(cell: Cell, limits: Floats) -> Iterator[tuple[object, ...]]:
    setting, prior, n_total = cell.key[:3]
    truth = true_auprec(*SETTINGS[setting], prior)
    low, high, at_limit = np.moveaxis(limits, 2, 0)
    covered = ((low <= truth) & (truth <= high)).astype(np.float64)
    methods = BOOTSTRAP_METHODS if len(cell.key) > 3 else QUICK_METHODS
    coverage, width = means(covered), means(high - low)
    missed = (low + high).mean(axis=0) / 2 / truth, (low > truth).mean(axis=0), (high < truth).mean(axis=0)
    published = (covered * (1 - at_limit)).mean(axis=0)
    for j, method in enumerate(methods):
        told = (*coverage[j], *width[j], *(float(part[j]) for part in missed), float(at_limit[:, j].mean()))
        yield (setting, prior, n_total, method, LEVEL, *told, float(published[j]), len(limits))


def _binormal_rows(cell: Cell, areas: Floats) -> Iterator[tuple[object, ...]]:
    alpha = float(cell.key[0])
    truths = {"auprec": true_auprec(*BRODERSEN, alpha), "auc": true_auc(*BRODERSEN)}
    names = [(measure, model) for measure, models in BINORMAL_MODELS.items() for model in models]
    for (measure, model), (mean, error) in zip(names, means(areas), strict=True):
        told = (truths[measure], mean, mean - truths[measure], error, len(areas))
        yield (measure, alpha, BRODERSEN_CASES, model, *told)
