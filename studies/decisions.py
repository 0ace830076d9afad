"""Crossings, leaders and P(best) against the truth.

Negatives score N(0, 1) in every model. A model's positives score N(distance, deviation^2), the distance
varying normally over folds, as it does when a model is trained anew for each; models share half the variance
of a case's score. A wide model gains at rare priors, where its best positives count, and loses at common
ones: so curves cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, optimize, stats
from scipy.special import logit

from skewanova.base.checks import Bools, Floats, InputError, Seed, check_count, make_generator
from skewanova.curves.areas import auprec
from skewanova.curves.chebyshev import panel_priors
from skewanova.curves.distributions import true_auprec
from skewanova.curves.roc import curve_from_scores
from skewanova.decision.bands import BAND_PRIORS, pair_critical_value
from skewanova.decision.joint_curves import (
    JointCurves,
    PanelCurves,
    joint_curves_over_cases,
    joint_curves_over_folds,
)
from skewanova.decision.leads import leader_intervals, list_separated_ranges, locate_crossings
from skewanova.decision.posterior import draw_posterior, expected_gains, expected_losses, probability_best
from skewanova.inference.case_deviations import CaseDeviations, PriorProjection
from skewanova.inference.case_resampling import SortedScores, measure_models
from skewanova.inference.fold_statistics import fraction_best
from skewanova.inference.sampling import Sample, VarianceEstimates
from skewanova.priors.evidence import Support
from skewanova.priors.quadrature import gauss_nodes
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error
from studies.scenarios import DEPLOYMENT, Splits, Task, lda, measures, summed_gains

#: Share of the variance of a case's score that all models have in common.
SHARED_VARIANCE = 0.5


#: Distance between the classes of the first model, and deviation of the second model's positives.
DISTANCE, WIDE = 1.5, 1.4


#: Nodes over the distances of folds: enough for twelve digits.
N_DISTANCES = 24


@dataclass(frozen=True)
class Model:
    """A model: the distance of its classes, and the standard deviation of its positives' scores."""

    distance: float = DISTANCE
    deviation: float = 1.0


@dataclass(frozen=True)
class SampleSizes:
    """How many folds of how many cases, and how the distance varies over folds.

    With one fold the models are fixed, and their spread is that of the cases.
    """

    n_folds: int
    n_positive: int
    n_negative: int
    jitter: float = 0.0

    def describe(self) -> str:
        """Say the design in words."""
        folds = f"{self.n_folds} folds" if self.n_folds > 1 else "one test set"
        return f"{folds} of {self.n_positive} + {self.n_negative} cases"


def mean_true_auprec(model: Model, prior: float, jitter: float) -> float:
    """Return true AUPREC at a prior, averaged over the distances of folds by Gauss-Hermite quadrature."""
    nodes, weights = gauss_nodes("hermite_e", N_DISTANCES if jitter else 1)
    values = [
        true_auprec(stats.norm(0, 1), stats.norm(model.distance + jitter * x, model.deviation), prior)
        for x in nodes
    ]
    return float(weights @ values / weights.sum())


@cache
def crossing_pair(prior: float, jitter: float, deviation: float = WIDE) -> tuple[Model, Model]:
    """Two models whose true mean curves cross at a prior, the wide one ahead below it."""
    narrow = Model()
    target = mean_true_auprec(narrow, prior, jitter)

    def excess(distance: float) -> float:
        return mean_true_auprec(Model(distance, deviation), prior, jitter) - target

    return narrow, Model(float(optimize.brentq(excess, 0.3, 3.0, xtol=1e-12)), deviation)


def draw_scores(
    models: Sequence[Model], design: SampleSizes, rng: np.random.Generator
) -> tuple[Bools, Floats]:
    """Labels, the positives first, and scores of shape (n_folds, n_models, n_cases)."""
    positive = np.arange(design.n_positive + design.n_negative) < design.n_positive
    shape = (design.n_folds, len(models), len(positive))
    common = rng.standard_normal((design.n_folds, 1, len(positive)))
    scores = np.sqrt(SHARED_VARIANCE) * common + np.sqrt(1 - SHARED_VARIANCE) * rng.standard_normal(shape)
    distance = np.array([model.distance for model in models])
    distance = distance + design.jitter * rng.standard_normal(shape[:2])
    deviation = np.array([model.deviation for model in models])
    scores[..., positive] = distance[..., None] + deviation[:, None] * scores[..., positive]
    return positive, scores


def draw_panel(
    models: Sequence[Model], design: SampleSizes, limits: tuple[float, float], rng: np.random.Generator
) -> PanelCurves:
    """Simulate the design once, and measure its curves between two priors as the package does."""
    edges, priors = panel_priors(*limits)
    return PanelCurves(*limits, edges, draw_joint(models, design, priors, rng))


def draw_joint(
    models: Sequence[Model], design: SampleSizes, priors: Floats, rng: np.random.Generator
) -> JointCurves:
    """Simulate the design once, and measure its curves at priors."""
    positive, scores = draw_scores(models, design, rng)
    if design.n_folds > 1:
        areas = trapezoid_areas(scores, design.n_positive, tuple(priors.tolist()))
        return joint_curves_over_folds(priors, areas, ratio=0.0)  # folds on their own
    return case_curves(priors, Sample(positive), list(scores[0]), "trapezoid")


def case_curves(
    priors: Floats, sample: Sample, scores: Sequence[NDArray[Any]], area_estimator: str
) -> JointCurves:
    """Curves of models on one test set, with the jackknife's covariance over its units."""
    models = [SortedScores(sample, score) for score in scores]
    curves = [curve_from_scores(sample.positive, score, sample.weight) for score in scores]
    estimate = np.stack([auprec(curve, priors, area_estimator=area_estimator) for curve in curves])

    def measure(nodes: Floats, turns: Sequence[PriorProjection]) -> list[tuple[Floats, VarianceEstimates]]:
        return CaseDeviations.from_models(models, nodes, area_estimator).project(turns)

    return joint_curves_over_cases([(priors, estimate)], measure, sample, area_estimator)[0]


def trapezoid_areas(scores: Floats, n_positive: int, priors: tuple[float, ...]) -> Floats:
    """AUPREC (..., priors) of scores (..., cases) without ties, positives first, by a table of all gains."""
    return summed_gains(scores, n_positive, _gains(n_positive, scores.shape[-1] - n_positive, priors))


@lru_cache(maxsize=1)
def _gains(n_positive: int, n_negative: int, priors: tuple[float, ...]) -> Floats:
    """Return the term of positive j with f negatives above it, by prior (Landgrebe et al. 2006, eq. 4)."""
    true = np.arange(n_positive + 1)[:, None, None] / n_positive
    false = np.arange(n_negative + 1)[:, None] / n_negative
    at = np.array(priors)
    with np.errstate(invalid="ignore"):
        precision = at * true / (at * true + (1 - at) * false)
    precision[0, 0] = 1.0  # above the first positive; 0 where a negative stands there
    return np.asarray((precision[:-1] + precision[1:]) / (2 * n_positive))


#: Replicates in a full study of crossings, and of the others.
FULL_CROSSINGS, FULL = 2000, 1000


LEVEL = 0.95


#: Range of priors looked at, and the prior at which the true curves cross.
CROSSING_LIMITS = (0.005, 0.7)


TRUE_CROSSING = 0.1


JITTER = 0.1


CROSSING_DESIGNS: Mapping[str, SampleSizes] = MappingProxyType(
    {
        "folds-5": SampleSizes(5, 100, 900, JITTER),
        "folds-10": SampleSizes(10, 100, 900, JITTER),
        "folds-20": SampleSizes(20, 100, 900, JITTER),
        "folds-10-small": SampleSizes(10, 50, 450, JITTER),
        "one-set-small": SampleSizes(1, 100, 900),
        "one-set": SampleSizes(1, 300, 2700),
    }
)


CROSSING_COLUMNS = (
    "setting", "design", "true_prior", "method", "level", "coverage", "std_error", "found", "open",
    "median_width", "replicates",
)  # fmt: skip


CROSSING_METHODS = ("fieller", "delta", "set")


def crossings_study(*, settings: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate two models whose true curves cross, and count how often intervals hold the crossing.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `CROSSING_DESIGNS`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (2,000; 1,000 in the other
        studies), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `CROSSING_COLUMNS`. ``fieller`` and ``delta`` count the intervals of
        crossings that were found, ``set`` all priors not decided between the models, whether a crossing was
        found or not.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.decisions import crossings_study
    >>> study = crossings_study(settings=["folds-5"], replicates=4, progress=False)
    >>> study.to_frame()["method"].tolist()
    ['fieller', 'delta', 'set']
    """
    how = Run(**run)
    cells = _cells(settings, CROSSING_DESIGNS, _crossing_measures, how.number(FULL_CROSSINGS))
    return study_of("crossings", cells, _crossing_rows, columns=CROSSING_COLUMNS, run=how)


def _cells(
    settings: Sequence[str] | None,
    known: Mapping[str, Any],
    measure: Callable[[Any, np.random.Generator], Floats],
    replicates: int,
) -> list[Cell]:
    """Return a cell for each setting asked for."""
    return [
        Cell((name,), replicates, partial(one_by_one, partial(measure, known[name])))
        for name in chosen(settings, known)
    ]


def _crossing_rows(cell: Cell, found: Floats) -> Iterator[tuple[object, ...]]:
    name, seen = str(cell.key[0]), found[:, 0] == 1
    head = (name, CROSSING_DESIGNS[name].describe(), TRUE_CROSSING)
    for j, method in enumerate(CROSSING_METHODS):
        kept = found if method == "set" else found[seen]
        if not len(kept):  # no crossing was found, so there is nothing to tell of them
            kept = np.full((1, found.shape[1]), np.nan)
        share = share_and_error(kept[:, 1 + j])
        told = (float(seen.mean()), float(kept[:, 4].mean()), float(np.median(kept[:, 5 + j])), len(found))
        yield (*head, method, LEVEL, *share, *told)


def _crossing_measures(design: SampleSizes, rng: np.random.Generator) -> Floats:
    """Whether a crossing was found; whether Fieller, delta and the whole set hold the truth; open; widths."""
    panel = draw_panel(crossing_pair(TRUE_CROSSING, design.jitter), design, CROSSING_LIMITS, rng)
    critical = panel.joint.critical_value(1 - LEVEL)
    widths = panel.joint.half_widths(critical)
    (ranges,) = list_separated_ranges(panel.edges, panel.joint.pairs()[0], widths)
    stretches = [(low, high) for sign, low, high in ranges if sign <= 0]
    at = logit(TRUE_CROSSING)
    in_set = any(low <= at <= high for low, high in stretches)
    width = sum(high - low for low, high in stretches)
    found = [c for c in locate_crossings(panel, critical) if c.model_above == 0]  # in the true direction
    if not found:
        return np.array([0, 0, 0, in_set, 0, 0, 0, width], dtype=float)
    nearest = min(found, key=lambda c: abs(logit(c.prior) - at))
    low, high = logit(nearest.conf_low), logit(nearest.conf_high)
    reach = critical * nearest.std_error / (nearest.prior * (1 - nearest.prior))
    inside = (low <= at <= high, abs(logit(nearest.prior) - at) <= reach, in_set)
    is_open = nearest.open_low or nearest.open_high
    return np.array([1, *inside, is_open, high - low, 2 * reach, width], dtype=float)


LEADER_LIMITS = (0.01, 0.3)


#: Effective negatives from which models were left out on one test set when the study was recorded.
RECORDED_NEED = 100


SWAP, SWAP_DEVIATION = 0.05, 1.8


LEADER_COLUMNS = (
    "setting", "design", "models", "level", "best_always_in", "std_error", "all_alike", "swap_reported",
    "one_winner", "replicates",
)  # fmt: skip


@dataclass(frozen=True)
class LeaderSetting:
    """Models, equal in truth or swapping the lead at `SWAP`, and how they are tested."""

    design: SampleSizes
    n_equal: int = 0

    def models(self) -> tuple[Model, ...]:
        """Return the models."""
        return (
            (Model(),) * self.n_equal
            if self.n_equal
            else crossing_pair(SWAP, self.design.jitter, SWAP_DEVIATION)
        )

    def describe(self) -> str:
        """Say which models these are."""
        return f"{self.n_equal} equal" if self.n_equal else "2 that swap the lead"


LEADER_SETTINGS: Mapping[str, LeaderSetting] = MappingProxyType(
    {
        "equal-2-folds-10": LeaderSetting(SampleSizes(10, 100, 900, JITTER), 2),
        "equal-2-folds-20": LeaderSetting(SampleSizes(20, 100, 900, JITTER), 2),
        "equal-4-folds-10": LeaderSetting(SampleSizes(10, 100, 900, JITTER), 4),
        "equal-2-one-set": LeaderSetting(SampleSizes(1, 300, 2700), 2),
        "swap-folds-10": LeaderSetting(SampleSizes(10, 100, 1900, JITTER)),
        "swap-folds-20": LeaderSetting(SampleSizes(20, 100, 1900, JITTER)),
        "swap-one-set": LeaderSetting(SampleSizes(1, 300, 2700)),
    }
)


def leaders_study(*, settings: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate models that are equal, or swap the lead, and count what the sets of leaders say.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `LEADER_SETTINGS`; by default all.
    **run
        As for :func:`crossings_study`.

    Returns
    -------
    Study
        Frame with the columns of `LEADER_COLUMNS`: how often a best model was a contender at every prior; all
        models were contenders at every prior; each of two was the only contender on its side of the true
        crossing; one and the same model was the only contender at every prior.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.decisions import leaders_study
    >>> frame = leaders_study(settings=["equal-2-folds-10"], replicates=4, progress=False).to_frame()
    >>> frame["models"].tolist()
    ['2 equal']
    """
    how = Run(**run)
    cells = _cells(settings, LEADER_SETTINGS, _leader_measures, how.number(FULL))
    return study_of("leaders", cells, _leader_rows, columns=LEADER_COLUMNS, run=how)


def _leader_rows(cell: Cell, found: Floats) -> Iterator[tuple[object, ...]]:
    name, share = str(cell.key[0]), found.mean(axis=0)
    setting = LEADER_SETTINGS[name]
    told = (setting.design.describe(), setting.describe(), LEVEL, *share_and_error(found[:, 0]))
    yield (name, *told, *share[1:], len(found))


def _leader_measures(setting: LeaderSetting, rng: np.random.Generator) -> Floats:
    """Whether a best model is always in; all are; a swap is reported; one model wins everywhere."""
    panel = draw_panel(setting.models(), setting.design, LEADER_LIMITS, rng)
    priors = np.geomspace(*LEADER_LIMITS, BAND_PRIORS)
    critical = pair_critical_value(_thinned(panel, priors), 1 - LEVEL, n_draws=999, rng=rng)
    n_negative = setting.design.n_negative
    support = Support(n_negative, setting.design.n_positive, RECORDED_NEED)
    rarest = 0.0 if setting.design.n_folds > 1 else support.smallest_prior
    stretches = leader_intervals(replace(panel, rarest=rarest), critical)
    everyone = set(range(len(panel.joint.estimate)))
    alike = all(set(inside) == everyone for _, inside, _, _ in stretches)
    sole = {inside[0] for _, inside, _, _ in stretches if len(inside) == 1}
    winner = len(sole) == 1 and all(len(inside) == 1 for _, inside, _, _ in stretches)
    if setting.n_equal:  # every model is a best one: the set holds the best while it holds them all
        return np.array([alike, alike, False, winner], dtype=float)
    at = logit(SWAP)
    held = all(
        (0 in inside or high <= at) and (1 in inside or low >= at) for _, inside, low, high in stretches
    )
    below = any(inside == (1,) and high <= at for _, inside, _, high in stretches)
    above = any(inside == (0,) and low >= at for _, inside, low, _ in stretches)
    return np.array([held, alike, below and above, winner], dtype=float)


def _thinned(panel: PanelCurves, priors: Floats) -> JointCurves:
    """Return the curves at the priors of the bands, read off the panels."""
    joint = panel.joint
    nearest = np.unique(np.abs(logit(joint.priors)[None] - logit(priors)[:, None]).argmin(axis=1))
    columns = (joint.pair_error, joint.pair_df, joint.model_df)
    of_cases = (None if column is None else column[:, nearest] for column in columns)
    at_nearest = joint.priors[nearest], joint.estimate[:, nearest], joint.deviations[..., nearest]
    return JointCurves(*at_nearest, joint.df, *of_cases)


BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0)


P_BEST_METHODS = ("posterior", "bootstrap")


P_BEST_COLUMNS = (
    "setting", "design", "spread", "method", "p_low", "p_high", "mean_p", "truly_best", "std_error",
    "n_models", "replicates",
)  # fmt: skip


HOLD_OUTS = Task(Splits(20, 5), sizes=(100, 300))


@dataclass(frozen=True)
class BestSetting:
    """Models whose distances differ at random by `spread`, weak ones beside them, and how they are tested."""

    spread: float
    design: SampleSizes | None = None
    n_leading: int = 4
    weaker: tuple[float, ...] = ()

    def describe(self) -> str:
        """Say the design in words."""
        design = self.design.describe() if self.design else "20 hold-outs (80/20) of 400 cases"
        return f"{design}, {len(self.weaker)} weak models" if self.weaker else design

    def distances(self, rng: np.random.Generator) -> Floats:
        """Distances of the leading models, drawn, and of the weak ones."""
        leading = 1.5 + self.spread * rng.standard_normal(self.n_leading)
        return np.append(leading, 1.5 - np.array(self.weaker))


#: How much less the positives of weak models are moved: at least five standard errors in every design.
WEAKER = (0.8, 1.0)


BEST_SETTINGS: Mapping[str, BestSetting] = MappingProxyType(
    {
        **{
            f"folds-{n}-{spread:g}": BestSetting(spread, SampleSizes(n, 50, 150, 0.2))
            for n in (10, 20)
            for spread in (0.05, 0.1, 0.2)
        },
        **{f"hold-outs-{spread:g}": BestSetting(spread) for spread in (0.1, 0.2, 0.4)},
        **{
            f"one-set-{spread:g}": BestSetting(spread, SampleSizes(1, 100, 900))
            for spread in (0.05, 0.1, 0.2)
        },
        **{
            f"two-{name}-{spread:g}{'-weak' * bool(weaker)}": BestSetting(spread, design, 2, weaker)
            for name, (design, spreads) in {
                "folds-10": (SampleSizes(10, 50, 150, 0.2), (0.0, 0.1, 0.2)),
                "folds-20": (SampleSizes(20, 50, 150, 0.2), (0.0, 0.1, 0.15)),
                "one-set": (SampleSizes(1, 100, 900), (0.0, 0.1, 0.2)),
            }.items()
            for spread in spreads
            for weaker in ((), WEAKER)
        },
    }
)


def p_best_study(*, settings: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate models that differ at random, and hold P(best) against how often a model is the best.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `BEST_SETTINGS`; by default all.
    **run
        As for :func:`crossings_study`.

    Returns
    -------
    Study
        Frame with the columns of `P_BEST_COLUMNS`: for each range of P(best), its mean and the share of
        models that were the best in truth. ``bootstrap`` resamples folds (with one test set: draws from a
        flat prior), its deviations widened as the posterior's are.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.decisions import p_best_study
    >>> frame = p_best_study(settings=["folds-10-0.1"], replicates=4, progress=False).to_frame()
    >>> int(frame["n_models"].sum())
    32
    """
    how = Run(**run)
    cells = _cells(settings, BEST_SETTINGS, _best_measures, how.number(FULL))
    return study_of("p_best", cells, _best_rows, columns=P_BEST_COLUMNS, run=how)


def _best_rows(cell: Cell, found: Floats) -> Iterator[tuple[object, ...]]:
    name = str(cell.key[0])
    setting = BEST_SETTINGS[name]
    for j, method in enumerate(P_BEST_METHODS):
        for values in _reliability(found[:, 1 + j].ravel(), found[:, 0].ravel()):
            yield (name, setting.describe(), setting.spread, method, *values, len(found))


def fold_bootstrap_means(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return means of the models (n_resamples, n_models) over folds drawn with replacement.

    They cover the variation from fold to fold. Folds of one data set share training data, so their spread
    understates the uncertainty about new data sets.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise InputError(
            f"`values` must be finite, of shape (at least 2 folds, models), but has shape {table.shape}"
        )
    check_count(n_resamples, "n_resamples", minimum=1)
    n_folds = len(table)
    draws = make_generator(rng).multinomial(n_folds, np.full(n_folds, 1 / n_folds), size=n_resamples)
    return np.asarray(draws @ table / n_folds)


def _best_measures(setting: BestSetting, rng: np.random.Generator) -> Floats:
    """1 for the truly best model, and P(best) by each method, of shape (3, n_models)."""
    distance = setting.distances(rng)
    if setting.design is None:
        values, ratio = _held_out(distance - 1.5, rng), HOLD_OUTS.splits.ratio
    else:
        models = [Model(d) for d in distance]
        if setting.design.n_folds == 1:
            return np.array([distance == distance.max(), *_one_set_shares(models, setting.design, rng)])
        _, scores = draw_scores(models, setting.design, rng)
        values = measures(scores, setting.design.n_positive).iauprec
        ratio = 0.0
    n_folds = len(values)
    covariance = np.cov(values.T) * (1 / n_folds + ratio)
    mean = values.mean(axis=0)
    posterior = probability_best(mean, covariance, df=n_folds - 1, n_draws=2000, rng=rng)
    moved = np.sqrt(1 + n_folds * ratio) * (fold_bootstrap_means(values, n_resamples=2000, rng=rng) - mean)
    return np.array([distance == distance.max(), posterior, fraction_best(mean + moved)])


def _one_set_shares(
    models: Sequence[Model], design: SampleSizes, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """P(best) by the posterior, and by draws around the estimates."""
    positive, scores = draw_scores(models, design, rng)
    sample = Sample(positive)
    area, values = measure_models(sample, list(scores[0]), [DEPLOYMENT], "trapezoid")
    estimate, covariance = area[:, 0], sample.covariance(values[..., 0])
    draws = rng.multivariate_normal(estimate, covariance, size=2000)
    posterior = probability_best(estimate, covariance, df=sample.df, n_draws=2000, rng=rng)
    return posterior, fraction_best(draws)


def _held_out(shift: Floats, rng: np.random.Generator) -> Floats:
    """IAUPREC (folds, models) of discriminants on features of their own, moved apart by `shift` more."""
    task = HOLD_OUTS
    held = task.subsets(task.data(1, rng), rng, 0.0)
    held[0, :, : task.sizes[0]] += shift[:, None, None] / np.sqrt(task.n_used)
    test, train = task.folds(1, rng)
    tested = np.take_along_axis(held[0][:, None], test[0][None, :, :, None], axis=2)  # models, folds, cases
    scores = lda(held[0], train, tested, task.sizes[0])
    return np.asarray(task.measured(scores[None], test).iauprec[0])


INFORMATION_COLUMNS = (
    "setting", "design", "spread", "models", "evpi", "flat_evpi", "loss", "loss_error", "evsi", "flat_evsi",
    "gain", "gain_error", "replicates",
)  # fmt: skip


#: One test set, judged now and with twice the cases.
INFORMATION_SETTINGS: Mapping[str, BestSetting] = MappingProxyType(
    {
        f"{n}-models-{spread:g}": BestSetting(spread, SampleSizes(1, 100, 900), n)
        for n in (2, 4)
        for spread in (0.0, 0.05, 0.1, 0.2, 0.4)
    }
)


def information_study(*, settings: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate choices now and with twice the cases, and hold the value of information against them.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `INFORMATION_SETTINGS`; by default all.
    **run
        As for :func:`crossings_study`.

    Returns
    -------
    Study
        Frame with the columns of `INFORMATION_COLUMNS`: the mean EVPI and EVSI of twice the cases, by the
        posterior of the package and by a flat prior; the mean true loss of choosing the model with the
        highest area now, and how much of it the choice with twice the cases saves.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.decisions import information_study
    >>> information_study(settings=["2-models-0"], replicates=4, progress=False).to_frame()["loss"].tolist()
    [0.0]
    """
    how = Run(**run)
    cells = _cells(settings, INFORMATION_SETTINGS, _information_measures, how.number(FULL))
    return study_of("information", cells, _information_rows, columns=INFORMATION_COLUMNS, run=how)


def _information_rows(cell: Cell, values: Floats) -> Iterator[tuple[object, ...]]:
    name = str(cell.key[0])
    setting, mean = INFORMATION_SETTINGS[name], values.mean(axis=0)
    error = values.std(axis=0) / np.sqrt(len(values))
    yield (
        name, setting.describe(), setting.spread, setting.n_leading, mean[0], mean[1], mean[4], error[4],
        mean[2], mean[3], mean[5], error[5], len(values),
    )  # fmt: skip


def _information_measures(setting: BestSetting, rng: np.random.Generator) -> Floats:
    """Return EVPI and EVSI by the posterior and a flat prior, the true loss, and the gain of more cases."""
    if setting.design is None:
        raise InputError(f"the value of information is studied on one test set, not on {setting.describe()}")
    models = [Model(distance) for distance in setting.distances(rng)]
    truth = _true_areas()(np.array([model.distance for model in models]))
    design = setting.design
    double = SampleSizes(1, 2 * design.n_positive, 2 * design.n_negative)
    positive, scores = draw_scores(models, double, rng)
    now = np.arange(len(positive)) % 2 == 0
    sample = Sample(positive[now])
    area, values = measure_models(sample, list(scores[0][:, now]), [DEPLOYMENT], "trapezoid")
    later, _ = measure_models(Sample(positive), list(scores[0]), [DEPLOYMENT], "trapezoid")
    covariance, half = sample.covariance(values[..., 0]), np.array([0.5])
    posterior = draw_posterior(area[:, 0], covariance, df=sample.df, n_draws=2000, rng=rng)
    flat = rng.multivariate_normal(area[:, 0], covariance, size=2000)
    loss, loss_later = (truth.max() - truth[found[:, 0].argmax()] for found in (area, later))
    losses = (expected_losses(draws).min() for draws in (posterior, flat))
    gains = (expected_gains(draws, covariance, half)[0] for draws in (posterior, flat))
    return np.array([*losses, *gains, loss, loss - loss_later])


@cache
def _true_areas() -> Callable[[Floats], Floats]:
    """Return the true IAUPREC of a model by the distance of its classes."""
    distances = np.linspace(-1, 4, 26)
    priors, weights = DEPLOYMENT.quadrature()
    areas = [weights @ [mean_true_auprec(Model(d), prior, 0) for prior in priors] for d in distances]
    return interpolate.CubicSpline(distances, areas)


def _reliability(p_best: Floats, is_best: Floats) -> Iterator[tuple[float, ...]]:
    """Limits, mean P(best), share that is the best, its standard error and count, of every range."""
    place = np.clip(np.searchsorted(BINS, p_best, side="right") - 1, 0, len(BINS) - 2)
    for k, (low, high) in enumerate(pairwise(BINS)):
        rows = place == k
        if rows.any():
            yield (low, high, float(p_best[rows].mean()), *share_and_error(is_best[rows]), int(rows.sum()))
