"""Sampling units of a test set (cases or clusters, perhaps weighted), and standard errors over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base import checks
from skewanova.base.checks import MISSING_TEXT, Bools, Floats, InputError
from skewanova.base.rounding import limit_blas_threads
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import DeploymentPrior, UniformPrior, as_deployment_prior

#: Smallest degrees of freedom, for values with heavy tails.
MIN_DF = 4.0


#: Effective units of the smaller class; with fewer, the kurtosis of single pairs is too rough.
MIN_UNITS_FOR_KURTOSIS = 20


#: Shares of the weight of a class up to this are rounding.
MAX_WEIGHT_ROUNDING = 1e-9


#: Numbers in memory at once, which fit the second-level cache.
BLOCK_SIZE = 1 << 15


Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Sample:
    """Cases of a test set, and the units in which they were sampled.

    `cluster` is the cluster number of every case, or None if each case is a unit. `weight` is the number of
    cases of the population that each stands for. `unit_stratum` is given if the cases are part of a larger
    sample.
    """

    positive: Bools
    cluster: Codes | None = None
    weight: Floats | None = None
    unit_stratum: Codes | None = None

    @property
    def clustered(self) -> bool:
        """True if the sampling units are clusters, not cases."""
        return self.cluster is not None

    @property
    def unit(self) -> Codes:
        """Number of the sampling unit, from 0, of every case."""
        return np.arange(len(self.positive)) if self.cluster is None else self.cluster

    @cached_property
    def n_units(self) -> int:
        """Number of sampling units, clusters or cases."""
        return len(self.positive) if self.cluster is None else int(self.cluster.max()) + 1

    @cached_property
    def stratum(self) -> Codes:
        """Stratum of each unit, 0 negative, 1 positive, 2 both; a cluster alone in one joins the largest."""
        if self.unit_stratum is not None:
            return self.unit_stratum
        if self.cluster is None:
            return self.positive.astype(np.int8)
        kind = classify_units(self)
        return _merge_single_kinds(kind, np.bincount(kind, minlength=3), clustered=True)

    @cached_property
    def strata(self) -> list[tuple[Codes, int]]:
        """Pairs (unit numbers, their count) of the strata that are not empty: negatives, positives, both."""
        strata = [np.flatnonzero(self.stratum == kind) for kind in range(3)]
        return [(rows, len(rows)) for rows in strata if len(rows)]

    @property
    def stratum_numbers(self) -> list[int]:
        """Code of each stratum that is not empty: 0 negatives, 1 positives, 2 both."""
        return [int(self.stratum[rows[0]]) for rows, _ in self.strata]

    @cached_property
    def unit_sums(self) -> UnitSums:
        """UnitSums of negative, positive units: largest weight, sums of shares of it and of their squares."""
        if self.clustered or self.weight is not None:
            return UnitSums.from_cases(self.positive.astype(np.intp), self.unit, self.weight, 2)
        counts = np.bincount(self.positive, minlength=2).astype(np.float64)
        return UnitSums(np.ones(2), counts, counts)

    @cached_property
    def single_unit_classes(self) -> tuple[str, ...]:
        """Descriptions of single-unit classes, positives first, as "the only positive case"; () if none."""
        template = "the only cluster with {} cases" if self.clustered else "the only {} case"
        weights = zip(("negative", "positive"), self.unit_sums.total, strict=True)
        return tuple(template.format(name) for name, total in weights if is_entire_class(1.0, total))[::-1]

    def unit_weights(self, *, positive: bool) -> Floats:
        """Return the weight of every unit's cases in a class, (n_units,)."""
        rows = self.positive == positive
        weight = None if self.weight is None else self.weight[rows]
        return np.bincount(self.unit[rows], weights=weight, minlength=self.n_units).astype(np.float64)

    def effective_size(self, *, positive: bool) -> float:
        """Return Kish's effective number of units (cases or clusters) with cases of a class."""
        return float(self.unit_sums.effective_number()[int(positive)])

    @property
    def stratum_size(self) -> Codes:
        """Number of units in the stratum of every unit."""
        return np.bincount(self.stratum, minlength=3)[self.stratum]

    def deviations(self, values: Floats) -> Floats:
        """Return (values - stratum mean) / sqrt(G (G - 1)); products sum to the jackknife covariance."""
        centered = np.empty(values.shape)  # Efron and Tibshirani 1993, eq. 11.5
        for rows, size in self.strata:
            centered[rows] = (values[rows] - values[rows].mean(axis=0)) / np.sqrt(size * max(size - 1, 1))
        return centered

    @limit_blas_threads()
    def covariance(self, values: Floats) -> Floats:
        """Return the jackknife covariance (n, n) of estimates from unit values (n_units, n)."""
        return np.asarray(sum(centered @ centered.T for _, centered in self.iter_deviations(values)))

    def iter_deviations(self, values: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield (position in `strata`, :meth:`deviations` (n, n_rows) of a block of its units)."""
        step = max(1, BLOCK_SIZE // values.shape[1])
        for number, (rows, size) in enumerate(self.strata):
            parts = [rows[start : start + step] for start in range(0, len(rows), step)]
            blocks = (np.ascontiguousarray(values.take(part, axis=0).T) for part in parts)
            mean = sum(block.sum(axis=1, keepdims=True) for block in blocks) / size
            for part in parts:
                centered = np.subtract(values.take(part, axis=0).T, mean, order="C")
                centered /= np.sqrt(size * max(size - 1, 1))
                yield number, centered

    def estimate_errors(self, values: Floats) -> tuple[Floats, Floats]:
        """Return std errors (nan if a class is one unit), Satterthwaite's df (4 or more) of unit values."""
        # The variance of a variance is (kurtosis - 1) variance^2 / G in each stratum, and not below that of
        # normal values, so heavy tails reduce the degrees of freedom (Satterthwaite 1946).
        flat = values.reshape(len(values), -1)
        unit = ceil_power_of_two(max_abs(flat))
        blocks = ((number, [centered]) for number, centered in self.iter_deviations(flat / unit))
        strata = self.variances_from_sums(power_sums(blocks, len(self.strata), 1, len(unit))[:, :, 0])
        variance, df = np.reshape(_sum_strata(strata), (2, *values.shape[1:]))
        return unit.reshape(variance.shape) * self.to_std_errors(variance), df

    def to_std_errors(self, variances: Floats) -> Floats:
        """Return square roots of variances, all nan if a class has a single unit."""
        return np.full(variances.shape, np.nan) if self.single_unit_classes else np.sqrt(variances)

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of a covariance: the smaller class's effective size less one, at least 1."""
        return max(float(self.unit_sums.effective_number().min()) - 1, 1.0)

    def variances_from_sums(self, sums: Floats) -> Floats:
        """Return strata's parts in variances, then their variances (2, n_strata, ...), from `power_sums`."""
        square, fourth = sums[:, 0], sums[:, 1]
        sizes = np.array([size for _, size in self.strata], dtype=np.float64)
        size = sizes.reshape(-1, *[1] * (square.ndim - 1))
        by_kurtosis = (size - 1) ** 2 * (size * fourth - square**2) / size**3
        normal = 2 * square**2 / np.maximum(size - 1, 1)  # bounds the df of a stratum by size - 1
        return np.array([square, np.maximum(by_kurtosis, normal)])


@dataclass(frozen=True, eq=False)
class SampleSummary(Sample):
    """Numbers of cases on workers; one unit stands for each stratum, and rows of values for all units.

    `sizes` are the numbers of units with negatives only, positives only, and both; `sums` are their weights,
    None if all are 1.
    """

    positive: Bools = field(default_factory=lambda: np.array([False, True]))
    sizes: tuple[int, ...] = (1, 1, 0)
    sums: UnitSums | None = None
    clustered: bool = False

    @cached_property
    def n_units(self) -> int:
        """Number of sampling units, clusters or cases."""
        return sum(self.sizes)

    @cached_property
    def stratum_of_kind(self) -> Codes:
        """Strata of negatives only, positives only, both: 0, 1, 2; a lone cluster joins the largest kind."""
        return _merge_single_kinds(np.arange(3), np.array(self.sizes), clustered=self.clustered)

    @cached_property
    def stratum(self) -> Codes:
        """Code of each stratum that is not empty, 0 negatives, 1 positives, 2 both, as of one unit."""
        return np.flatnonzero(self.stratum_sizes)

    @cached_property
    def stratum_sizes(self) -> Codes:
        """Number of units with negatives only, positives only, both; a lone cluster joins the largest."""
        return np.bincount(self.stratum_of_kind, weights=self.sizes, minlength=3).astype(np.intp)

    @cached_property
    def strata(self) -> list[tuple[Codes, int]]:
        """Pairs of the number of the unit that stands for a stratum, and the stratum's number of units."""
        return [(np.array([i]), int(self.stratum_sizes[kind])) for i, kind in enumerate(self.stratum)]

    @cached_property
    def unit_sums(self) -> UnitSums:
        """UnitSums of negative, positive units: largest weight, sums of shares of it and of their squares."""
        counts = np.array(self.sizes[:2], dtype=np.float64)
        return UnitSums(np.ones(2), counts, counts) if self.sums is None else self.sums

    def deviations(self, values: Floats) -> Floats:
        """Return `values` unchanged, because rows from workers are deviations already."""
        return values

    def iter_deviations(self, values: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield (0, values.T), deviations from workers, whose strata are mixed: for sums of products only."""
        yield 0, values.T


def classify_units(sample: Sample) -> Codes:
    """Return, for each unit, 0 if its cases are all negative, 1 if all positive, 2 for both."""
    negatives, positives = (sample.unit_weights(positive=side) > 0 for side in (False, True))
    return np.where(positives & negatives, 2, positives.astype(np.intp))


def _merge_single_kinds(kind: Codes, counts: Codes, *, clustered: bool) -> Codes:
    """Return the stratum of each entry of `kind`; a kind of one cluster joins the largest kind."""
    alone = np.isin(kind, np.flatnonzero(counts == 1)) & clustered
    return np.where(alone, counts.argmax(), kind)


class VarianceEstimates(NamedTuple):
    """Variances and degrees of freedom of all differences (n_pairs, n_priors) and of all models."""

    pair: Floats
    pair_df: Floats
    model: Floats
    model_df: Floats

    @classmethod
    def from_power_sums(cls, sample: Sample, sums: Floats, n_models: int, unit: Floats) -> VarianceEstimates:
        """Return variances times unit^2, and df, from `power_sums` of deviations over `unit` (n_priors,)."""
        # with few units, the degrees of freedom of a pair are at most the harmonic mean over all pairs
        variance, df = _sum_strata(sample.variances_from_sums(sums))
        variance, pair_df = variance * unit**2, df[n_models:]
        if pair_df.size and sample.df < MIN_UNITS_FOR_KURTOSIS - 1:
            with np.errstate(divide="ignore"):  # infinite if no pair varies
                pair_df = np.minimum(pair_df, 1 / (1 / pair_df).mean(axis=0))
        return cls(variance[n_models:], pair_df, variance[:n_models], df[:n_models])


def _sum_strata(variances: Floats) -> tuple[Floats, Floats]:
    """Return variance and Satterthwaite's df (`MIN_DF` or more); axes: (part, its variance), stratum, ..."""
    variance, var_of_var = variances.sum(axis=1)
    certain = var_of_var <= 0
    df = np.where(certain, np.inf, 2 * variance**2 / np.where(certain, 1.0, var_of_var))
    return variance, np.maximum(df, MIN_DF)


def max_abs(values: Floats) -> Floats:
    """Return the largest absolute value of each column, without a copy of the values."""
    return np.asarray(np.maximum(values.max(axis=0), -values.min(axis=0)))


def ceil_power_of_two(size: Floats) -> Floats:
    """Return the least power of two above each size, 1 for 0; division by it keeps fourth powers in range."""
    return np.asarray(np.ldexp(1.0, np.frexp(size)[1]))


@limit_blas_threads()
def power_sums(
    blocks: Iterable[tuple[int, Sequence[Floats]]], n_strata: int, n_models: int, n_priors: int
) -> Floats:
    """Return sums (n_strata, 2, n_models + n_pairs, n_priors) of squares and fourth powers of deviations.

    The blocks are a position in `Sample.strata` and the deviations (n_priors, n_units) of every model.
    """
    sums = zero_power_sums(n_strata, n_models, n_priors)
    for number, values in blocks:
        add_powers(sums[number], values)
    return sums


def zero_power_sums(n_strata: int, n_models: int, n_priors: int) -> Floats:
    """Return the zeros to which `add_powers` adds, with the shape of `power_sums`."""
    return np.zeros((n_strata, 2, n_models * (n_models + 1) // 2, n_priors))


def add_powers(sums: Floats, values: Sequence[Floats]) -> None:
    """Add to the sums of a stratum, as of `power_sums`, those of a block (n_priors, n_units) a model."""
    models = range(len(values))
    ones, product = np.ones(values[0].shape[1]), np.empty(values[0].shape)
    for row, (i, j) in enumerate([*zip(models, models, strict=True), *combinations(models, 2)]):
        factor = values[i] if i == j else np.subtract(values[i], values[j], out=product)
        for power in sums:
            factor = np.multiply(factor, factor, out=product)
            power[row] += product @ ones


def is_entire_class(part: Any, total: float) -> Any:
    """Return True (elementwise) if `part` is all of a class's weight `total`, up to rounding."""
    return total - part <= MAX_WEIGHT_ROUNDING * total


def check_sample(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: object = None,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Sample, NDArray[Any]]:
    """Return the sample and its scores (n_cases, n_models), checked and without cases of weight 0."""
    positive = checks.check_labels(y_true, pos_label=pos_label)
    columns = _check_columns(y_score)
    checks.check_same_length(y_true=positive, y_score=columns)
    named = None if cluster is None else number_groups(cluster, "cluster", positive)[1]
    if sample_weight is None:
        checks.check_both_classes(positive)
        return Sample(positive, named), columns
    weight = checks.check_weights(sample_weight)
    checks.check_same_length(y_true=positive, sample_weight=weight)
    included = weight > 0
    checks.check_both_classes(positive[included], weighted=True)
    codes = None if named is None else np.unique(named[included], return_inverse=True)[1].reshape(-1)
    return Sample(positive[included], codes, weight[included]), columns[included]


def _check_columns(y_score: Any) -> NDArray[Any]:
    """Return the scores as numbers (n_cases, n_models), or raise if they are not real and finite."""
    table = checks.to_numbers(y_score, "y_score")
    if table.ndim not in {1, 2} or 0 in table.shape:
        fault = f"has shape {table.shape}"
        if isinstance(y_score, Mapping):
            fault = "is a mapping; pass pandas.DataFrame(y_score), with n_cases scores of each model"
        raise InputError(f"`y_score` must have shape (n_cases,) or (n_cases, n_models) above 0, but {fault}")
    columns, remedy = table.reshape(len(table), -1), "pass numpy.asarray(y_score, dtype=float)"
    for j in range(columns.shape[1]):
        checks.check_scores(
            columns[:, j], "y_score" if table.ndim == 1 else f"y_score[:, {j}]", remedy=remedy
        )
    return columns


def number_groups(
    values: ArrayLike, name: str, positive: Bools, *, remedy: str = "leave out `cluster`"
) -> tuple[NDArray[Any], Codes]:
    """Return sorted names and cases' numbers; raise for under 2, missing, or unlike `positive` in length."""
    named = checks.check_vector(checks.to_array(values, name), name)
    checks.check_same_length(y_true=positive, **{name: named})
    no_names = (not isinstance(v, str) and str(v).lower() in MISSING_TEXT for v in named.flat)
    # nan and NaT differ from themselves
    missing = np.flatnonzero([*no_names] if named.dtype == object else named != named)
    kind = name.removesuffix("s")
    if missing.size:
        raise InputError(f"`{name}` must name a {kind} for every case, but row {missing[0]} has none")
    try:
        names, codes = np.unique(named, return_inverse=True)
    except TypeError as error:
        raise InputError(
            f"`{name}` must hold names of one kind, but has "
            f"{', '.join(sorted({type(v).__name__ for v in named.flat}))}; pass [str(v) for v in {name}]"
        ) from error
    if len(names) < 2:
        few = f"at least 2 {kind}s, but all cases are in {names.tolist()[0]!r}"
        raise InputError(f"`{name}` must name {few}; {remedy}")
    return names, codes.reshape(-1)


def name_models(models: Sequence[str] | None, n_models: int) -> tuple[str, ...]:
    """Return the names as text, by default numbers from 0; raise unless two or more, all different."""
    if n_models < 2:
        raise InputError(
            f"`y_score` must hold at least 2 models, one a column, but has {n_models}; for one model pass "
            "its column to skewanova.confidence_interval"
        )
    listed: Any = range(n_models) if models is None else models
    names = tuple(map(str, listed if isinstance(listed, Iterable) else [listed]))
    if len(names) != n_models or len(set(names)) != n_models:
        raise InputError(f"`models` must hold {n_models} different names, but got {names}")
    return names


def target_prior(prior: float | None, deployment_prior: Any, sample: Sample) -> DeploymentPrior:
    """Return the prior stated (raise for both), else the sample's; a single one as uniform, limits equal."""
    if prior is not None and deployment_prior is not None:
        raise InputError("give either `prior` or `deployment_prior`, but got both")
    if deployment_prior is not None:
        return as_deployment_prior(deployment_prior)
    value = (
        float(np.average(sample.positive, weights=sample.weight))
        if prior is None
        else checks.check_prior(prior)
    )
    return UniformPrior(value, value)
