"""Comparison of models on a single test set, with its cases as sampling units.

Areas are compared on the arcsine scale, 2 arcsin(sqrt(area)), where their variance depends least on the area.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.linalg import helmert

from skewanova.base.checks import Floats, check_choice, check_fraction, warn_each
from skewanova.base.rounding import TIE, limit_blas_threads
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference import sampling
from skewanova.inference.case_resampling import ModelScores, measure_models
from skewanova.inference.fold_statistics import adjust_holm, split_rows
from skewanova.inference.sampling import Sample, VarianceEstimates
from skewanova.priors.evidence import effective_negatives, is_sufficient, scarce_class
from skewanova.priors.weightings import DeploymentPrior, PriorLike, typical_prior

#: Eigenvalues of a covariance below this share of its size count as zero.
RANK_TOLERANCE = 1e-10


#: log2 of the quasi-random draws behind the critical value of the largest |z|.
LOG_DRAWS = 16


#: Angles nearer than this have the slope at the area in place of the secant slope.
MIN_ANGLE_DIFFERENCE = 1e-9


#: Positives times area; with fewer, the kurtosis of differences is too rough (studies/records/support.md).
MIN_COUNT_FOR_KURTOSIS = 5


#: Largest degrees of freedom that scipy's F distribution is given.
LARGEST_DF = 1e12


#: Numbers in memory at once while drawing.
BLOCK_SIZE = 4_000_000


@dataclass(frozen=True, eq=False)
class PairTests:
    """Differences between all pairs of models, with tests and intervals; arrays over pairs."""

    difference: Floats
    std_error: Floats
    statistic: Floats
    df_error: Floats
    p_value: Floats
    p_adjusted: Floats
    conf_low: Floats
    conf_high: Floats
    critical_value: Floats


#: Fields of the omnibus test.
OMNIBUS_FIELDS = ("f_omnibus", "df", "df_omnibus", "p_omnibus")


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelComparison(PairTests):
    """Areas of several models, the omnibus test, and all pairs."""

    models: tuple[str, ...]
    estimate: Floats
    f_omnibus: float
    df: float
    df_omnibus: float
    p_omnibus: float

    @property
    def model_a(self) -> tuple[str, ...]:
        """Name of the first model of every pair."""
        return tuple(a for a, _ in combinations(self.models, 2))

    @property
    def model_b(self) -> tuple[str, ...]:
        """Name of the second model of every pair, which is subtracted."""
        return tuple(b for _, b in combinations(self.models, 2))


class ArcsineScale(NamedTuple):
    """Areas, angles 2 arcsin(sqrt(area)) and slopes d area / d angle; all are areas if one is 0 or 1."""

    area: Floats
    angle: Floats
    slope: Floats

    @classmethod
    def from_areas(cls, area: Floats) -> ArcsineScale:
        """Return areas (n_models,), angles, slopes; if one area is 0 or 1, the areas are the angles."""
        if ((area <= 0) | (area >= 1 - TIE)).any():
            return cls(area, area, np.ones(len(area)))
        return cls(area, 2 * np.arcsin(np.sqrt(area)), np.sqrt(area * (1 - area)))

    def secant_slopes(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> Floats:
        """Return differences of areas a, b over those of angles (n_pairs,); a's slope if angles are equal."""
        rise, area_a = self.angle[a] - self.angle[b], self.area[a]
        near = np.abs(rise) <= MIN_ANGLE_DIFFERENCE
        return np.where(near, self.slope[a], (area_a - self.area[b]) / np.where(near, 1.0, rise))

    def pair_errors(self, pair: Floats, single: Floats) -> Floats:
        """Return std errors of area differences from variances of angles' differences, 0 if rounding."""
        a, b = np.triu_indices(len(self.area), 1)
        varies = ~(pair <= RANK_TOLERANCE * (single[a] + single[b]))
        return np.where(varies, np.sqrt(pair), 0.0) * self.secant_slopes(a, b)

    def max_pair_df(self, sample: Sample) -> Floats:
        """Return limits of df: positives x (a + b), 4 or more, if x one is < 5; else, or at slope 1, inf."""
        a, b = np.triu_indices(len(self.area), 1)
        counts = sample.effective_size(positive=True) * self.area
        few = np.minimum(counts[a], counts[b]) < MIN_COUNT_FOR_KURTOSIS
        few &= self.slope[a] != 1  # slopes of 1 are of gains, or of areas of 0 or 1
        return np.where(few, np.maximum(counts[a] + counts[b], sampling.MIN_DF), np.inf)


@dataclass(frozen=True, eq=False)
class ArcsineAreas:
    """Areas of several models over one weighting, with their jackknife values (n_units, n_models)."""

    scale: ArcsineScale
    values: Floats
    sample: Sample

    @classmethod
    def from_areas(cls, area: Floats, values: Floats, sample: Sample) -> Self:
        """Return areas (n_models,) and jackknife values, with angles and slopes of the arcsine scale."""
        return cls(ArcsineScale.from_areas(area), values, sample)

    @property
    def area(self) -> Floats:
        """AUPREC or IAUPREC of the models (n_models,), on the original scale, not the arcsine scale."""
        return self.scale.area

    @cached_property
    def deviation_blocks(self) -> list[tuple[int, Floats]]:
        """Blocks (n_models, n_units) of deviations of the areas, each with its position in `strata`."""
        return list(self.sample.iter_deviations(self.values))

    @cached_property
    @limit_blas_threads()
    def area_covariance(self) -> Floats:
        """Jackknife covariance of the areas (n_models, n_models)."""
        return np.asarray(sum(block @ block.T for _, block in self.deviation_blocks))

    @cached_property
    def covariance(self) -> Floats:
        """Jackknife covariance of the angles (n_models, n_models), by the delta method."""
        return np.asarray(self.area_covariance / np.multiply.outer(self.scale.slope, self.scale.slope))

    def estimate_contrasts(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """Return std errors (nan if a class is one unit), df (n,) of contrasts (n, n_models) of angles."""
        mix = contrasts / self.scale.slope / self._unit
        blocks = ((kind, [mix @ block]) for kind, block in self.deviation_blocks)
        sums = sampling.power_sums(blocks, len(self.sample.strata), 1, len(contrasts))
        spreads = VarianceEstimates.from_power_sums(self.sample, sums, 1, self._unit)
        return self.sample.to_std_errors(spreads.model[0]), spreads.model_df[0]

    def sum_powers(self, slope: Floats) -> tuple[Floats, Floats]:
        """Return a power of two (1,), and sums of powers of (deviation of an area / slope / that power)."""
        scale = slope[:, None] * self._unit
        blocks = ((kind, [*(block / scale)[:, None]]) for kind, block in self.deviation_blocks)
        return self._unit, sampling.power_sums(blocks, len(self.sample.strata), len(self.area), 1)

    @cached_property
    def _unit(self) -> Floats:
        """Power of two (1,) above the largest deviation of an angle, by which powers stay in range."""
        largest = [np.maximum(block.max(axis=1), -block.min(axis=1)) for _, block in self.deviation_blocks]
        return sampling.ceil_power_of_two(np.max(largest / self.scale.slope, keepdims=True)[0])

    @cached_property
    def angle_variances(self) -> VarianceEstimates:
        """Variances and df of the angles (n_models, 1) and of their differences (n_pairs, 1)."""
        unit, sums = self.sum_powers(self.scale.slope)
        return VarianceEstimates.from_power_sums(self.sample, sums, len(self.area), unit)

    def pair_variances_by_stratum(self) -> tuple[Floats, Floats]:
        """Return variances (n_pairs, 3) of area differences by negatives, positives, both; those of these."""
        unit, sums = self.sum_powers(np.ones(len(self.area)))
        result = np.zeros((2, 3, sums.shape[2] - len(self.area)))
        strata = self.sample.variances_from_sums(sums)[:, :, len(self.area) :, 0]
        result[:, self.sample.stratum_numbers] = strata * np.reshape([unit**2, unit**4], (2, 1, 1))
        return result[0].T, result[1].T

    def pair_errors(self) -> tuple[Floats, Floats]:
        """Return standard errors, nan if a class is one unit, and df (n_pairs,) of differences of areas."""
        spreads = self.angle_variances
        error = self.scale.pair_errors(spreads.pair[:, 0], spreads.model[:, 0])
        error = np.full(error.shape, np.nan) if self.sample.single_unit_classes else error
        return error, np.minimum(spreads.pair_df[:, 0], self.scale.max_pair_df(self.sample))

    def model_errors(self) -> tuple[Floats, Floats]:
        """Return standard errors, nan if a class is one unit, and df (n_models,) of all areas."""
        spreads = self.angle_variances
        return self.sample.to_std_errors(spreads.model[:, 0]) * self.scale.slope, spreads.model_df[:, 0]

    @property
    def means(self) -> Self:
        """The areas themselves, the means over a single run."""
        return self

    @property
    def run_deviations(self) -> Floats:
        """No rows (0, n_models), because a single run does not vary."""
        return np.empty((0, len(self.area)))


def compute_pair_tests(angles: ArcsineAreas, *, level: float, simultaneous: str) -> PairTests:
    """Return t tests and intervals of every pair a - b; limits are nan for a constant difference not 0."""
    a, b = np.triu_indices(len(angles.area), 1)
    std_error, df_error = angles.pair_errors()
    difference = angles.area[a] - angles.area[b]
    contrasts = np.eye(len(angles.area))[a] - np.eye(len(angles.area))[b]
    if simultaneous == "max_z":
        normal = max_z_value(contrasts, angles.covariance, level)
    else:
        normal = bonferroni_value(len(contrasts) if simultaneous == "bonferroni" else 1, level)
    critical = t_from_z(normal, df_error)
    half_width = np.where((std_error == 0) & (difference != 0), np.nan, critical * std_error)
    return make_pair_tests(difference, std_error, df_error, critical=critical, half_width=half_width)


def make_pair_tests(
    difference: Floats, std_error: Floats, df_error: Floats, *, critical: Floats, half_width: Floats
) -> PairTests:
    """Return t tests of differences, adjusted by Holm, with intervals of the half-width `half_width`."""
    statistic, p_value = t_test(difference, std_error, df_error)
    tests = difference, std_error, statistic, df_error, p_value, adjust_holm(p_value)
    return PairTests(*tests, difference - half_width, difference + half_width, critical)


def t_from_z(normal: float, df: Floats) -> Floats:
    """Return the t quantile whose upper tail is that of the normal quantile `normal`, for each `df`."""
    return np.asarray(-special.stdtrit(df, special.ndtr(-normal)))


def contrast_errors(contrasts: Floats, covariance: Floats) -> Floats:
    """Return standard errors (n_contrasts,) of contrasts of estimates, 0 where they are rounding."""
    variance = np.einsum("pi,ij,pj->p", contrasts, covariance, contrasts)
    scale = np.abs(contrasts) @ np.diag(covariance)
    return np.asarray(np.sqrt(np.where(variance <= RANK_TOLERANCE * scale, 0.0, variance)))


def t_test(difference: Floats, std_error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return t and its two-sided p-value, both nan for a standard error of 0."""
    statistic = difference / np.where(std_error == 0, np.nan, std_error)
    return statistic, np.asarray(2 * special.stdtr(df, -np.abs(statistic)))


def omnibus_f_test(angles: ArcsineAreas) -> tuple[float, int, float, float]:
    """Return Hotelling's F of equal areas, numerator df, error df and p; (nan, 0, nan, nan) if constant."""
    # over the contrasts that vary, with the harmonic mean of their df as that of the covariance (Hotelling
    # 1931; studies/records/paired.md)
    contrasts, covariance = helmert(len(angles.area)), angles.covariance
    values, vectors = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    varies = values > RANK_TOLERANCE * np.trace(covariance)
    df = int(np.count_nonzero(varies))
    if df == 0:
        return np.nan, 0, np.nan, np.nan
    uncorrelated = vectors[:, varies].T @ contrasts
    error, df_error = angles.estimate_contrasts(uncorrelated)
    rate = max((1 / df_error).mean(), (1 / angles.scale.max_pair_df(angles.sample)).mean())
    df_omnibus = max(float(1 / rate) - (df - 1), 1.0)
    squares = ((uncorrelated @ angles.scale.angle) / error) ** 2
    statistic = float(squares.mean()) * df_omnibus / (df_omnibus + df - 1)
    return statistic, df, df_omnibus, float(special.fdtrc(df, df_omnibus, statistic))


def bonferroni_value(n_pairs: int, level: float) -> float:
    """Return the two-sided normal critical value of `n_pairs` simultaneous intervals."""
    return float(-special.ndtri((1 - level) / (2 * n_pairs)))


def max_z_value(contrasts: Floats, covariance: Floats, level: float) -> float:
    """Return quantile `level` of max ``abs(z)`` of varying normal contrasts, by fixed Sobol points."""
    # unscrambled Sobol points make the value reproducible, whatever the order of the models
    from scipy.stats import qmc

    std_error = contrast_errors(contrasts, covariance)
    varying = std_error > 0
    if np.count_nonzero(varying) <= 1:
        return bonferroni_value(1, level)
    values, vectors = np.linalg.eigh(covariance)
    varies = values > RANK_TOLERANCE * values[-1]
    vectors = vectors * np.where((vectors**3).sum(axis=0) < 0, -1.0, 1.0)
    loading = (contrasts[varying] / std_error[varying, None]) @ vectors[:, varies] * np.sqrt(values[varies])
    points = qmc.Sobol(int(varies.sum()), scramble=False).random_base2(LOG_DRAWS)
    normal = special.ndtri(points + 0.5**LOG_DRAWS / 2)  # multiples of 2^-LOG_DRAWS, moved off 0
    block = max(1, BLOCK_SIZE // len(loading))
    largest = [np.abs(part @ loading.T).max(axis=1) for part in split_rows(normal, block)]
    return float(np.quantile(np.concatenate(largest), level))


#: Methods for simultaneous intervals of all pairs.
SIMULTANEOUS = ("max_z", "bonferroni", "none")


#: Warning about a pair of models whose difference has no variance.
SAME_CHANGES_WARNING = (
    "models {} and {} change alike when any case is left out, so their difference has no standard error or "
    "test; check that they are not copies of one model"
)


#: Warning about a class whose cases are all in one unit.
SINGLE_UNIT_WARNING = (
    "{} cannot show how others would differ, so there is no standard error, test or interval; add others"
)


#: Fewest effective clusters of a class; with fewer, tests exceed their level (studies/records/paired.md).
MIN_CLUSTERS = 10


FEW_CLUSTERS_WARNING = (
    "the clusters with {} count as {:.3g} of equal size, but {} are needed: tests may reject too often; add "
    "clusters"
)


FEW_SCORES_WARNING = (
    "{} distinct scores and {:.3g} effective negatives are few: tests may reject too often; provide "
    "unrounded scores, or add cases"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class TestSetComparison(ModelComparison):
    """Models compared on a single test set: the test of all models, and every pair.

    Attributes
    ----------
    models, estimate, covariance : tuple of str, ndarray, ndarray
        Names in the order of the columns, and what `AuprecCovariance` has.
    model_a, model_b : tuple of str
        The models of every pair; its difference is a minus b.
    difference, std_error, statistic, df_error, p_value, p_adjusted : ndarray of shape (n_pairs,)
        Difference, its jackknife standard error, their ratio, the degrees of freedom of its t distribution,
        its two-sided p-value, and that adjusted by Holm.
    conf_low, conf_high, critical_value : ndarray of shape (n_pairs,)
        Simultaneous intervals at `confidence_level` (separate ones if `simultaneous` is ``none``), and their
        half-widths in standard errors.
    confidence_level : float
        Level of the intervals.
    f_omnibus, df, df_omnibus, p_omnibus
        F test that all models are equal; `df` counts the contrasts that vary, at most n_models - 1, and
        `df_omnibus` are the degrees of freedom of the error.
    weighting : str
        The prior or deployment prior, in words.
    """

    covariance: Floats
    confidence_level: float
    weighting: str


def compare_test_set(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: PriorLike | None = None,
    models: Sequence[str] | None = None,
    confidence_level: float = 0.95,
    simultaneous: str = "max_z",
    area_estimator: str = "trapezoid",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> TestSetComparison:
    """Compare models on a single test set, over its cases.

    Parameters
    ----------
    y_true, y_score, prior, deployment_prior, area_estimator, cluster, sample_weight, pos_label
        As for :func:`~skewanova.inference.auprec_covariance`, with at least two models.
    models : sequence of str, optional
        Names of the columns; by default their numbers from 0.
    confidence_level : float, default 0.95
        Level of the intervals.
    simultaneous : {"max_z", "bonferroni", "none"}, default "max_z"
        Simultaneous intervals of all pairs by the largest ``abs(z)`` or by Bonferroni, or separate ones.

    Returns
    -------
    TestSetComparison
        All pairs, in the order of the columns, and the omnibus test.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.inference.auprec_covariance`, if there are fewer than two models, or their names
        do not fit.

    Warns
    -----
    SkewanovaWarning
        If models do not differ on any case, or all cases of a class are one unit (p is then nan), or a class
        has fewer than 10 effective clusters, or negatives are few for so few distinct scores.

    Notes
    -----
    The inference is about these fitted models, not about the methods that fitted them. The tests compare 2
    arcsin(sqrt(area)), or the areas if one is 0 or 1, by the jackknife over cases or clusters. A difference
    is tested by t with Satterthwaite's degrees of freedom, from the kurtosis of the jackknife values. The
    size of the test was simulated in ``studies/records/paired.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference import compare_test_set
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [300, 100])
    >>> scores = labels[:, None] * [1.5, 0.5] + rng.normal(size=(400, 2))
    >>> result = compare_test_set(labels, scores, prior=0.1, models=["A", "B"])
    >>> result.difference.round(3).tolist(), bool(result.p_adjusted[0] < 0.01)
    ([0.391], True)
    """
    check_choice(simultaneous, SIMULTANEOUS, "simultaneous")
    check_choice(area_estimator, ESTIMATORS, "area_estimator")
    check_fraction(confidence_level, "confidence_level")
    sample, columns = sampling.check_sample(
        y_true, y_score, pos_label=pos_label, cluster=cluster, sample_weight=sample_weight
    )
    names = sampling.name_models(models, columns.shape[1])
    weighting = sampling.target_prior(prior, deployment_prior, sample)
    n_scores = min(len(np.unique(column)) for column in columns.T)
    negatives, positives = sample.unit_sums.effective_number().tolist()
    sizes = positives, float(effective_negatives(negatives, typical_prior(weighting)))
    if scarce_class(n_scores, *sizes, weighting.low, n_models=len(names)) == "negatives":
        warn_each([FEW_SCORES_WARNING.format(n_scores, sizes[1])])
    return compare_areas(
        measure_arcsine_areas(sample, columns.T, weighting, area_estimator),
        weighting=weighting.describe(),
        models=names,
        confidence_level=confidence_level,
        simultaneous=simultaneous,
    )


def list_sample_warnings(sample: Sample) -> list[str]:
    """Return warnings about classes of a single unit, or if none, of fewer than 10 effective clusters."""
    if sample.single_unit_classes or not sample.clustered:
        return [SINGLE_UNIT_WARNING.format(unit) for unit in sample.single_unit_classes]
    sizes = zip(("negatives", "positives"), sample.unit_sums.effective_number(), strict=True)
    few = [(side, size, MIN_CLUSTERS) for side, size in sizes if not is_sufficient(size, MIN_CLUSTERS)]
    return [FEW_CLUSTERS_WARNING.format(*values) for values in few]


def measure_arcsine_areas(
    sample: Sample, scores: Iterable[ModelScores], weighting: DeploymentPrior, area_estimator: str
) -> ArcsineAreas:
    """Return the areas of models over a weighting, with angles on the arcsine scale and jackknife values."""
    estimate, values = measure_models(sample, scores, [weighting], area_estimator)
    return ArcsineAreas.from_areas(estimate[:, 0], values[..., 0], sample)


@limit_blas_threads()
def compare_areas(
    angles: ArcsineAreas,
    *,
    weighting: str,
    models: tuple[str, ...],
    confidence_level: float,
    simultaneous: str = "max_z",
) -> TestSetComparison:
    """Return the comparison of areas; warn of pairs without variance and as :func:`list_sample_warnings`."""
    pairs = compute_pair_tests(angles, level=confidence_level, simultaneous=simultaneous)
    result = TestSetComparison(
        **(vars(pairs) | dict(zip(OMNIBUS_FIELDS, omnibus_f_test(angles), strict=True))),
        models=models,
        estimate=angles.area,
        covariance=angles.area_covariance,
        confidence_level=confidence_level,
        weighting=weighting,
    )
    alike = zip(result.model_a, result.model_b, result.std_error == 0, strict=True)
    warn_each(SAME_CHANGES_WARNING.format(a, b) for a, b, same in alike if same)
    warn_each(list_sample_warnings(angles.sample))
    return result
