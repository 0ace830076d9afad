"""Size of the test on one set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from skewanova.base.checks import Bools, Floats, check_count
from skewanova.curves.distributions import true_iauprec
from skewanova.inference.influence import FEWEST_DF, mean_precision, precision_slopes
from skewanova.priors.evidence import ENOUGH_OVER_CASES
from skewanova.priors.weightings import DeploymentPrior, DiscretePrior, as_deployment_prior
from skewanova.studies.results import Study, study_of
from skewanova.studies.runner import Cell, Run, chosen, means, one_by_one, together

#: Correlation of the two models' scores within either class.
CORRELATION = 0.5


ALPHA = 0.05


class Pair(NamedTuple):
    """Negatives' scores are N(0, 1); the first model's positives are N(mean, 1), the second's have `spread`.

    The mean of the second model's positives is such that both have the same true area.
    """

    mean: float
    spread: float


SETTINGS: Mapping[str, Pair] = {
    "binormal": Pair(1.0, 1.0),
    "strong_binormal": Pair(2.0, 1.0),
    "crossing": Pair(1.0, 1.5),
}


WEIGHTINGS: tuple[float | tuple[float, float], ...] = (0.5, 0.2, 0.1, 0.01, (0.05, 0.2))


SIZES = (50, 100, 200, 500)


#: m/lam below and at the limit from which the test's size is claimed.
THIN, ENOUGH = 25, ENOUGH_OVER_CASES


#: Largest number of negatives simulated.
MOST_NEGATIVES = 10_000


#: Samples in a full study: as a rule, where no claim is made, and of bootstraps.
FULL, FULL_THIN, FULL_BOOTSTRAP = 10_000, 2_000, 500


#: The bootstrap is tried up to this many positives and negatives, with this many resamples.
BOOTSTRAP_UP_TO, N_RESAMPLES = (100, 500), 400


TESTS, BOOTSTRAP_TESTS = ("compare_on_one_set", "influence_z"), ("bootstrap_z",)


PAIRED_COLUMNS = (
    "setting", "weighting", "n_positive", "n_negative", "support", "claimed", "truth", "test", "level",
    "rate", "std_error", "spread_ratio", "replicates",
)  # fmt: skip


class Design(NamedTuple):
    """Two models' true curves, the weighting of the priors, and the sizes of the classes."""

    setting: str
    weighting: float | tuple[float, float]
    n_positive: int
    support: int

    @property
    def n_negative(self) -> int:
        """Negatives that make m/lam the wanted one, at the geometric mean of lam."""
        priors, weights = as_deployment_prior(self.weighting).quadrature()
        return round(self.support * float(np.exp(weights @ np.log((1 - priors) / priors))))

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Scores of shape (2, size, n_cases) of two models, the positives first."""
        first, second = rng.normal(size=(2, size, self.n_positive + self.n_negative))
        second = CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second
        mean, spread = SETTINGS[self.setting]
        first[:, : self.n_positive] += mean
        second[:, : self.n_positive] *= spread
        second[:, : self.n_positive] += second_mean(self.setting, self.weighting)
        return np.stack([first, second])


def paired_study(
    *,
    settings: Sequence[str] | None = None,
    weightings: Sequence[float | tuple[float, float]] = WEIGHTINGS,
    sizes: Sequence[int] = SIZES,
    **run: Any,
) -> Study:
    """Simulate two models with the same true area on the same cases, and count rejections of that.

    Parameters
    ----------
    settings : sequence of str, optional
        ``binormal`` and ``strong_binormal``, where both models have the same true curve, and ``crossing``,
        where the curves differ and only the areas are the same; by default all.
    weightings : sequence of float or (low, high)
        Priors, or deployment priors.
    sizes : sequence of int
        Numbers of positives, at least 10. The negatives make m/lam 25, 100, and the number of positives if
        that is larger, as far as they are no more than 10,000.
    **run
        Fields of :class:`~skewanova.studies.runner.Run`: replicates, full (10,000; 2,000 where m/lam is below
        100; 500 for ``bootstrap_z``, which is not simulated otherwise), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `PAIRED_COLUMNS`. ``rate`` is the share of samples with p < .05,
        ``spread_ratio`` the standard error (root mean square) over the standard deviation of the difference.
        ``influence_z`` has the influence covariance and a normal deviate, ``bootstrap_z`` the standard error
        of a paired stratified bootstrap.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from skewanova.studies.one_set import paired_study
    >>> options = {"settings": ["binormal"], "weightings": [0.5], "sizes": [50]}
    >>> frame = paired_study(**options, replicates=200, progress=False).to_frame()
    >>> frame["n_negative"].unique().tolist(), bool((frame["rate"] < 0.2).all())
    ([25, 100], True)
    """
    how = Run(**run)
    cells = [cell for design in _designs(settings, weightings, sizes) for cell in _cells(design, how)]
    return study_of("paired", cells, _rows, columns=PAIRED_COLUMNS, run=how)


@cache
def second_mean(setting: str, weighting: float | tuple[float, float]) -> float:
    """Mean of the second model's positives that gives both models the same area."""
    mean, spread = SETTINGS[setting]
    if spread == 1:
        return mean
    negative, truth = stats.norm(0, 1), true_pair_area(setting, weighting)

    def excess(other: float) -> float:
        return true_iauprec(negative, stats.norm(other, spread), weighting) - truth

    return float(optimize.brentq(excess, mean - 4 * spread, mean + 4 * spread, xtol=1e-12))


def true_pair_area(setting: str, weighting: DeploymentPrior | float | tuple[float, float]) -> float:
    """Area that both models have."""
    return true_iauprec(stats.norm(0, 1), stats.norm(SETTINGS[setting].mean, 1), weighting)


def by_influence(design: Design, rng: np.random.Generator, size: int) -> Floats:
    """Difference, standard error and p of each sample, by each of `TESTS`: shape (size, tests, 3)."""
    curves = [Curves.of(score, design.n_positive) for score in design.sample(rng, size)]
    weighting, n = nodes_of(design.weighting), design.n_positive
    area = np.stack([mean_precision(curve.tpr, curve.fpr, weighting).mean(axis=1) for curve in curves])
    left_out = [curve.left_out(weighting) / root for curve, root in zip(curves, _slope(area), strict=True)]
    error, df = _spreads(left_out[0] - left_out[1], n)
    rise = np.diff(-2 * np.arcsin(np.sqrt(area)), axis=0)[0]
    p_value = 2 * special.stdtr(df, -np.abs(rise) / error)
    gap = curves[0].influence(weighting) - curves[1].influence(weighting)
    plain = np.sqrt((gap[:, :n] ** 2).mean(axis=1) / n + (gap[:, n:] ** 2).mean(axis=1) / design.n_negative)
    difference = area[0] - area[1]
    found = (difference, error * difference / rise, p_value), (difference, plain, _normal(difference, plain))
    return np.moveaxis(np.array(found), 2, 0)


def by_bootstrap(design: Design, rng: np.random.Generator) -> Floats:
    """The same of one sample, by a paired bootstrap of the positives and of the negatives."""
    scores, weighting = design.sample(rng, 1)[:, 0], nodes_of(design.weighting)
    sizes = (design.n_positive, design.n_negative)
    drawn = np.hstack([rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES) for n in sizes]).astype(float)
    positive = np.arange(sum(sizes)) < design.n_positive
    resampled = [weighted_areas(positive, score, drawn, weighting) for score in scores]
    area = [float(weighted_areas(positive, s, np.ones((1, len(s))), weighting)[0]) for s in scores]
    difference = np.array(area[0] - area[1])
    error = (resampled[0] - resampled[1]).std(ddof=1)
    return np.array([[difference, error, _normal(difference, error)]])


def _normal(difference: Floats, error: Floats) -> Floats:
    return np.asarray(2 * special.ndtr(-np.abs(difference) / error))


def _slope(area: Floats) -> Floats:
    return np.sqrt(area * (1 - area))[:, :, None]


class Curves(NamedTuple):
    """Curves of many samples of untied scores at once: rates at every positive, the best first.

    ``ranked`` has the number of the case at every rank among the positives, ``above`` how many positives are
    above every negative; both have a row a sample.
    """

    tpr: Floats
    fpr: Floats
    ranked: NDArray[np.intp]
    above: NDArray[np.intp]

    @classmethod
    def of(cls, score: Floats, n_positive: int) -> Curves:
        """Rank the cases of every row, the positives first among the columns."""
        (size, cases), n = score.shape, n_positive
        order = np.argsort(-score, axis=1)
        hit = order < n
        place = np.nonzero(hit)[1].reshape(size, n)
        above = np.empty((size, cases - n), dtype=np.intp)
        passed = np.nonzero(~hit)[1].reshape(size, cases - n) - np.arange(cases - n)
        np.put_along_axis(above, order[~hit].reshape(size, cases - n) - n, passed, axis=1)
        fpr = (place - np.arange(n)) / (cases - n)
        return cls(np.tile(np.arange(1, n + 1) / n, (size, 1)), fpr, order[hit].reshape(size, n), above)

    def left_out(self, weighting: DeploymentPrior) -> Floats:
        """As :func:`~skewanova.inference.influence.jackknife_kernel`, for every sample."""
        n, m = self.ranked.shape[1], self.above.shape[1]
        total = mean_precision(self.tpr, self.fpr, weighting).sum(axis=1, keepdims=True)
        kept, fewer = (
            mean_precision(self.tpr, (m * self.fpr - less) / (m - 1), weighting) for less in (0, 1)
        )
        without = kept.sum(axis=1, keepdims=True) + self._below(fewer - kept)
        of_negative = (m - 1) * (total - without) / n
        kept, fewer = (
            mean_precision((n * self.tpr - less) / (n - 1), self.fpr, weighting) for less in (0, 1)
        )
        without = np.cumsum(kept, axis=1) - kept + _suffix(fewer) - fewer
        return self._by_case((n - 1) * total / n - without, of_negative)

    def influence(self, weighting: DeploymentPrior) -> Floats:
        """As :func:`~skewanova.inference.influence.influence_kernel`, for every sample."""
        n = self.ranked.shape[1]
        precision, by_tpr, by_fpr = precision_slopes(self.tpr, self.fpr, weighting)
        mean = (by_tpr * self.tpr).sum(axis=1, keepdims=True)
        of_positive = precision - precision.mean(axis=1, keepdims=True) + (_suffix(by_tpr) - mean) / n
        of_negative = (self._below(by_fpr) - (by_fpr * self.fpr).sum(axis=1, keepdims=True)) / n
        return self._by_case(of_positive, of_negative)

    def _below(self, slope: Floats) -> Floats:
        """Sum over the positives below every negative."""
        ends = np.concatenate([_suffix(slope), np.zeros((len(slope), 1))], axis=1)
        return np.take_along_axis(ends, self.above, axis=1)

    def _by_case(self, of_positive: Floats, of_negative: Floats) -> Floats:
        values = np.empty_like(of_positive)
        np.put_along_axis(values, self.ranked, of_positive, axis=1)
        return np.concatenate([values, of_negative], axis=1)


def _suffix(values: Floats) -> Floats:
    """Sum of every value and those after it."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]


def _spreads(values: Floats, n_positive: int) -> tuple[Floats, Floats]:
    """As :func:`~skewanova.inference.influence.spread_of`, for every row."""
    variance = doubt = np.zeros(len(values))
    for part in (values[:, :n_positive], values[:, n_positive:]):
        size, squares = part.shape[1], (part - part.mean(axis=1, keepdims=True)) ** 2
        square = squares.mean(axis=1)
        variance = variance + square / (size - 1)
        doubt = doubt + ((squares**2).mean(axis=1) - square**2) / size**3
    return np.sqrt(variance), np.maximum(2 * variance**2 / doubt, FEWEST_DF)


@cache
def nodes_of(weighting: float | tuple[float, float]) -> DeploymentPrior:
    """The weighting as its quadrature, which is then computed once."""
    priors, weights = as_deployment_prior(weighting).quadrature()
    return DiscretePrior(priors.tolist(), weights.tolist())


def weighted_areas(positive: Bools, score: Floats, weight: Floats, weighting: DeploymentPrior) -> Floats:
    """Average precision of untied scores for every row of case weights."""
    order = np.argsort(-score)
    hits, false = (np.where(rows, weight[:, order], 0) for rows in (positive[order], ~positive[order]))
    step = hits / hits.sum(axis=1, keepdims=True)
    tpr, fpr = np.cumsum(step, axis=1), np.cumsum(false / false.sum(axis=1, keepdims=True), axis=1)
    total = np.zeros(len(weight))
    for prior, share in zip(*weighting.quadrature(), strict=True):
        alarms = prior * tpr + (1 - prior) * fpr
        precision = np.divide(prior * tpr, alarms, out=np.zeros_like(tpr), where=alarms > 0)
        total += share * (step * precision).sum(axis=1)
    return total


def _designs(
    settings: Sequence[str] | None, weightings: Sequence[float | tuple[float, float]], sizes: Sequence[int]
) -> Iterator[Design]:
    for n_positive in sizes:
        check_count(n_positive, "sizes", minimum=10)
    grid = product(chosen(settings, SETTINGS), dict.fromkeys(weightings), dict.fromkeys(sizes))
    for name, weighting, n_positive in grid:
        for support in dict.fromkeys((THIN, ENOUGH, max(ENOUGH, n_positive))):
            design = Design(name, weighting, n_positive, support)
            if design.n_negative <= MOST_NEGATIVES:
                yield design


def _cells(design: Design, how: Run) -> Iterator[Cell]:
    small = design.n_positive <= BOOTSTRAP_UP_TO[0] and design.n_negative <= BOOTSTRAP_UP_TO[1]
    claimed = design.support >= ENOUGH
    number = how.number(FULL if claimed else FULL_THIN)
    yield Cell((*design, "influence"), number, partial(together, partial(by_influence, design)))
    if how.full and small and claimed:
        yield Cell((*design, "bootstrap"), FULL_BOOTSTRAP, partial(one_by_one, partial(by_bootstrap, design)))


def _rows(cell: Cell, found: Floats) -> Iterator[tuple[object, ...]]:
    """A row a test; `found` has the axes sample, test, and (difference, standard error, p)."""
    design = Design(*cell.key[:-1])
    weighting = as_deployment_prior(design.weighting).describe()
    sizes = (design.n_positive, design.n_negative, design.support, design.support >= ENOUGH)
    truth = true_pair_area(design.setting, design.weighting)
    tests = TESTS if cell.key[-1] == "influence" else BOOTSTRAP_TESTS
    rates = means((found[:, :, 2] < ALPHA).astype(np.float64))
    error, spread = np.sqrt((found[:, :, 1] ** 2).mean(axis=0)), found[:, :, 0].std(axis=0)
    ratios = np.divide(error, spread, out=np.full_like(error, np.nan), where=spread > 0)  # no spread of one
    for test, rate, ratio in zip(tests, rates, ratios, strict=True):
        yield (design.setting, weighting, *sizes, truth, test, ALPHA, *rate, float(ratio), len(found))
