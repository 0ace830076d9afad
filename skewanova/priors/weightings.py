"""Deployment priors: distributions of the class prior, with quadrature, and conversions to the skew.

The prior is the probability of the positive class in deployment. The skew is the number of negatives for each
positive, ``(1 - prior) / prior``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base import checks
from skewanova.base.checks import SMALLEST_PRIOR, Floats, InputError, InputTypeError
from skewanova.priors.elicitation import SMALLEST_SHAPE, beta_quantile, shapes_from_quantiles
from skewanova.priors.evidence import SLACK
from skewanova.priors.quadrature import (
    LARGEST_PRIOR,
    beta_nodes,
    log_skew,
    log_skew_nodes,
    normalise_weights,
    panel_nodes,
    prior_from_log_odds,
)

if TYPE_CHECKING:
    from scipy.stats._distn_infrastructure import rv_continuous_frozen

#: Largest shape of a beta prior; with larger ones, the prior varies by less than rounding errors.
LARGEST_SHAPE = 1e14


class DeploymentPrior(Protocol):
    """Protocol of distributions of the deployment prior."""

    @property
    def low(self) -> float:
        """Smallest prior with weight."""

    @property
    def high(self) -> float:
        """Largest prior with weight."""

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return priors and weights (summing to 1) that average a function smooth between `breaks`."""

    def describe(self) -> str:
        """Return the distribution as a phrase, such as "uniform over priors 0.05 to 0.2"."""


def unwrap_scalar(values: Floats) -> float | Floats:
    """Return a 0-dimensional array as a float, other arrays unchanged."""
    return float(values) if values.ndim == 0 else values


@overload
def skew_from_prior(prior: float) -> float: ...


@overload
def skew_from_prior(prior: ArrayLike) -> Floats: ...


def skew_from_prior(prior: ArrayLike) -> float | Floats:
    """Return the skew (negatives per positive) at a prior, ``(1 - prior) / prior``.

    Parameters
    ----------
    prior : float or array_like
        Probability of the positive class, strictly between 0 and 1.

    Returns
    -------
    float or ndarray
        The skew, of the shape of `prior`.

    Raises
    ------
    ValueError
        If a prior is not strictly between 0 and 1.

    Examples
    --------
    >>> from skewanova import skew_from_prior
    >>> skew_from_prior(0.2)
    4.0
    """
    pi = checks.check_priors(prior)
    return unwrap_scalar((1 - pi) / pi)


@overload
def prior_from_skew(skew: float) -> float: ...


@overload
def prior_from_skew(skew: ArrayLike) -> Floats: ...


def prior_from_skew(skew: ArrayLike) -> float | Floats:
    """Return the prior at a skew, ``1 / (1 + skew)``.

    Parameters
    ----------
    skew : float or array_like
        Negatives per positive, positive and finite.

    Returns
    -------
    float or ndarray
        The prior, of the shape of `skew`.

    Raises
    ------
    ValueError
        If a skew is not positive and finite.

    Examples
    --------
    >>> from skewanova import prior_from_skew
    >>> prior_from_skew(4.0)
    0.2
    """
    return unwrap_scalar(np.asarray(1 / (1 + checks.check_skews(skew))))


@dataclass(frozen=True)
class UniformPrior:
    """Uniform distribution of the prior between `low` and `high` (as in Landgrebe's table 1).

    Parameters
    ----------
    low, high : float
        Limits of the prior; equal limits are a known prior.

    Raises
    ------
    ValueError
        If a limit is not strictly between 0 and 1, or `low` exceeds `high`.

    Examples
    --------
    >>> from skewanova import UniformPrior
    >>> UniformPrior(0.05, 0.20).describe()
    'uniform over priors 0.05 to 0.2'
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        checks.check_prior(self.low, "deployment_prior")
        checks.check_prior(self.high, "deployment_prior")
        checks.check_ordered(self.low, self.high)

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return descending priors (one if limits are equal), weights summing to 1, by Gauss-Legendre."""
        if self.low == self.high:
            return np.array([self.low]), np.array([1.0])
        nodes, step = log_skew_nodes(log_skew(self.high), log_skew(self.low), breaks)
        priors = prior_from_log_odds(-nodes)
        return priors, normalise_weights(step * priors * (1 - priors))

    def describe(self) -> str:
        """Return the phrase "uniform over priors LOW to HIGH", or "prior LOW" if they are equal."""
        if self.low == self.high:
            return f"prior {self.low:g}"
        return f"uniform over priors {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class UniformSkew:
    """Uniform distribution of the skew between `low_skew` and `high_skew` (Landgrebe's eq. 5 as printed).

    Parameters
    ----------
    low_skew, high_skew : float
        Limits of the skew (negatives per positive).

    Raises
    ------
    ValueError
        If a limit is not positive and finite, or `low_skew` exceeds `high_skew`.

    Examples
    --------
    >>> from skewanova import UniformSkew
    >>> weighting = UniformSkew(4, 19)
    >>> round(weighting.low, 4), round(weighting.high, 4)
    (0.05, 0.2)
    """

    low_skew: float
    high_skew: float

    def __post_init__(self) -> None:
        """Make both skews floats, or raise unless they are positive, finite and in order."""
        for name in ("low_skew", "high_skew"):
            skew = checks.check_skews(checks.check_number(getattr(self, name), name, "above 0"), name)
            object.__setattr__(self, name, float(skew))
        if self.low_skew > self.high_skew:
            raise InputError(
                f"`low_skew` must not be above `high_skew`, but got {self.low_skew:g} > {self.high_skew:g}"
            )

    @property
    def low(self) -> float:
        """Smallest prior, that of the largest skew."""
        return min(1 / (1 + self.high_skew), LARGEST_PRIOR)

    @property
    def high(self) -> float:
        """Largest prior, that of the smallest skew."""
        return min(1 / (1 + self.low_skew), LARGEST_PRIOR)

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return descending priors (one if limits are equal), weights summing to 1, by Gauss-Legendre."""
        if self.low_skew == self.high_skew:
            return np.array([self.low]), np.array([1.0])
        nodes, step = log_skew_nodes(float(np.log(self.low_skew)), float(np.log(self.high_skew)), breaks)
        return prior_from_log_odds(-nodes), normalise_weights(step * np.exp(nodes))

    def describe(self) -> str:
        """Return the phrase "uniform over skews LOW to HIGH"."""
        return f"uniform over skews {self.low_skew:g} to {self.high_skew:g}"


@dataclass(frozen=True)
class BetaPrior:
    """Beta distribution of the prior.

    Parameters
    ----------
    a, b : float
        Shapes, at least 0.1; the mean prior is ``a / (a + b)``.

    Raises
    ------
    ValueError
        If a shape is not from 0.1 to 1e14.

    Examples
    --------
    >>> from skewanova import BetaPrior
    >>> priors, weights = BetaPrior(2, 30).quadrature()
    >>> round(float(weights @ priors), 10)
    0.0625
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        """Raise unless both shapes are numbers from 0.1 to 1e14; keep them as given."""
        limits = f"{SMALLEST_SHAPE} to {LARGEST_SHAPE:g}"
        for name in ("a", "b"):
            shape = checks.check_number(getattr(self, name), name, f"from {limits}")
            if not SMALLEST_SHAPE <= shape <= LARGEST_SHAPE:
                hint = "; give one prior as a number instead" * (shape > LARGEST_SHAPE)
                raise InputError(f"`{name}` must be from {limits}, but got {shape}{hint}")

    @classmethod
    def from_quantiles(cls, quantiles: Mapping[float, float]) -> Self:
        """Return the beta distribution with stated quantiles, such as an expert's limits.

        Parameters
        ----------
        quantiles : mapping
            Prior at each of two or more probabilities. With ``{0.05: 0.02, 0.95: 0.15}``, the prior is below
            0.02 with probability 0.05, and below 0.15 with probability 0.95.

        Returns
        -------
        BetaPrior
            The distribution with exactly these two quantiles (Shih 2015, The model identification of beta
            distribution based on quantiles), or the least-squares fit to more of them in log-odds.

        Raises
        ------
        ValueError
            If a probability or a quantile is not strictly between 0 and 1, there are fewer than two,
            quantiles do not increase, the shapes would be below 0.1, or the odds of a fitted quantile have an
            error above 25 %.

        Warns
        -----
        SkewanovaWarning
            If the odds of a fitted quantile have an error above 5 %.

        Examples
        --------
        >>> from skewanova import BetaPrior
        >>> BetaPrior.from_quantiles({0.05: 0.02, 0.95: 0.15}).describe()
        'beta(2.89163, 36.8129) over priors, mean 0.0728'
        """
        a, b, notes = shapes_from_quantiles(quantiles)
        checks.warn_each(notes)
        return cls(a, b)

    @property
    def low(self) -> float:
        """Prior below which the weight is negligible (1e-3 of it lies below)."""
        return float(np.clip(beta_quantile(self.a, self.b, 1e-3), SMALLEST_PRIOR, LARGEST_PRIOR))

    @property
    def high(self) -> float:
        """Prior above which the weight is negligible (1e-3 of it lies above)."""
        return float(np.clip(beta_quantile(self.a, self.b, 1 - 1e-3), SMALLEST_PRIOR, LARGEST_PRIOR))

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return ascending priors and weights summing to 1, by Gauss-Legendre over the log-odds."""
        return beta_nodes(self.a, self.b, breaks)

    def describe(self) -> str:
        """Return the phrase "beta(A, B) over priors, mean MEAN"."""
        return f"beta({self.a:g}, {self.b:g}) over priors, mean {self.a / (self.a + self.b):.3g}"


@dataclass(frozen=True)
class DiscretePrior:
    """Discrete distribution of the prior.

    Parameters
    ----------
    priors : sequence of float
        Values of the prior, each strictly between 0 and 1.
    weights : sequence of float, optional
        Relative weights of the values; equal by default.

    Raises
    ------
    ValueError
        If a prior is out of range, lengths differ, or the weights are negative or all zero.

    Examples
    --------
    >>> from skewanova import DiscretePrior
    >>> DiscretePrior((0.1, 0.2), (3, 1)).quadrature()[1].tolist()
    [0.75, 0.25]
    """

    priors: Sequence[float]
    weights: Sequence[float] | None = None
    _nodes: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Store the checked priors with weights that sum to 1 for `quadrature`, or raise."""
        priors = checks.check_prior_list(self.priors, "priors")
        weights = (
            np.ones(len(priors)) if self.weights is None else checks.check_weights(self.weights, "weights")
        )
        checks.check_same_length(priors=priors, weights=weights)
        if not weights.max() > 0:
            raise InputError(f"`weights` must not all be zero, but got {weights}")
        object.__setattr__(self, "_nodes", (priors, normalise_weights(weights / weights.max())))

    @property
    def low(self) -> float:
        """Smallest prior with weight."""
        return float(self._nodes[0][self._nodes[1] > 0].min())

    @property
    def high(self) -> float:
        """Largest prior with weight."""
        return float(self._nodes[0][self._nodes[1] > 0].max())

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return copies of the priors, in their order, and weights summing to 1; `breaks` are ignored."""
        priors, weights = self._nodes
        return priors.copy(), weights.copy()

    def describe(self) -> str:
        """Return the phrase "priors (weights) P (W), ..." in the order of `priors`; the weights sum to 1."""
        values = ", ".join(f"{p:g} ({w:.3g})" for p, w in zip(*self._nodes, strict=True))
        return f"priors (weights) {values}"


#: A continuous distribution of scipy.stats with its parameters, as ``scipy.stats.truncnorm(...)``.
FrozenDistribution: TypeAlias = "rv_continuous_frozen[Any, Any]"


@dataclass(frozen=True)
class ContinuousPrior:
    """Distribution of the prior by a continuous distribution of scipy.stats.

    Averages use Gauss-Legendre panels in the log-odds between close quantiles. Their relative error is about
    1e-9 for smooth densities, and 1e-5 for densities with a kink.

    Parameters
    ----------
    distribution : frozen distribution
        Frozen distribution such as ``scipy.stats.triang(0.3, 0.05, 0.2)``, with support between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If it is not a frozen continuous distribution, or (ValueError) its support is not between 0 and 1.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.priors import ContinuousPrior
    >>> priors, weights = ContinuousPrior(stats.triang(0.3, 0.05, 0.2)).quadrature()
    >>> round(float(weights @ priors), 4)
    0.1367
    """

    distribution: FrozenDistribution

    def __post_init__(self) -> None:
        """Raise unless the distribution is continuous and frozen, with support between 0 and 1."""
        is_frozen = not getattr(self.distribution, "numargs", 0)
        if not (is_frozen and all(callable(getattr(self.distribution, name, None)) for name in _FROZEN)):
            raise InputTypeError(
                "a distribution of the prior must be continuous, with its parameters, as scipy.stats.beta"
                f"(2, 30), not {checks.describe_value(self.distribution)}; or use "
                "skewanova.DiscretePrior((0.1, 0.2))"
            )
        low, high = self.distribution.support()
        if np.ndim(low) or not 0 <= low < high <= 1:
            raise InputError(
                "a distribution of the prior must have valid parameters and its support between 0 and 1, but "
                f"has {low} to {high}; state two quantiles, as in "
                "skewanova.BetaPrior.from_quantiles({0.05: 0.02, 0.95: 0.15})"
            )

    @property
    def low(self) -> float:
        """Prior below which the weight is negligible (1e-3 of it lies below)."""
        return float(np.clip(self.distribution.ppf(1e-3), SMALLEST_PRIOR, LARGEST_PRIOR))

    @property
    def high(self) -> float:
        """Prior above which the weight is negligible (1e-3 of it lies above)."""
        return float(np.clip(self.distribution.isf(1e-3), SMALLEST_PRIOR, LARGEST_PRIOR))

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return ascending priors and weights summing to 1: Gauss-Legendre panels between quantiles."""
        tails = np.geomspace(1e-15, 1e-2, 14)
        below, above = self.distribution.ppf(tails), self.distribution.isf(tails)
        quantiles = np.concatenate([below, self.distribution.ppf(np.linspace(0.02, 0.98, 49)), above])
        nodes, step = panel_nodes(np.clip(quantiles, SMALLEST_PRIOR, LARGEST_PRIOR), breaks)
        weights = step * self.distribution.pdf(nodes) * nodes * (1 - nodes)  # dp = p (1 - p) d log-odds
        return nodes, normalise_weights(weights)

    def describe(self) -> str:
        """Return the phrase "scipy's NAME over priors, mean MEAN"."""
        name = getattr(getattr(self.distribution, "dist", None), "name", "distribution")
        return f"scipy's {name} over priors, mean {float(self.distribution.mean()):.3g}"


_FROZEN = ("support", "pdf", "ppf", "isf", "mean")


#: Arguments that are accepted as a deployment prior everywhere.
PriorLike: TypeAlias = "DeploymentPrior | FrozenDistribution | tuple[float, float] | float"


def _convert_scipy(value: Any) -> DeploymentPrior:
    """Return scipy's beta(a, b) as a BetaPrior, uniform as a UniformPrior, others as a ContinuousPrior."""
    name = getattr(getattr(value, "dist", None), "name", "")
    if name == "beta" and len(value.args) == 2 and not value.kwds:
        return BetaPrior(*value.args)
    if name == "uniform":
        return UniformPrior(*map(float, value.support()))
    return ContinuousPrior(value)


def typical_prior(weighting: DeploymentPrior) -> float:
    """Return the prior whose skew is the geometric mean of the skews of a deployment prior."""
    priors, weights = weighting.quadrature()
    return float(prior_from_log_odds(weights @ np.log(priors / (1 - priors))))


def as_deployment_prior(value: PriorLike) -> DeploymentPrior:
    """Return a UniformPrior of ``(low, high)`` or one number, one of scipy's, or `value` itself; or raise."""
    if not isinstance(value, tuple | list | float | int | np.ndarray | type):
        if hasattr(value, "quadrature"):
            return cast("DeploymentPrior", value)
        if hasattr(value, "ppf"):
            return _convert_scipy(value)
    expected = InputTypeError(
        "`deployment_prior` must be a pair (low, high), one prior, or a deployment prior such as "
        f"skewanova.BetaPrior(2, 30), but got {checks.describe_value(value)}"
    )
    try:
        limits = checks.check_float_array(cast("Any", value), "deployment_prior")
    except InputTypeError as error:
        raise expected from error
    if limits.size not in {1, 2}:
        raise expected
    low, high = float(limits.flat[0]), float(limits.flat[-1])
    if 1 < low < high < 1 / SMALLEST_PRIOR:
        percent = f", or ({low / 100:g}, {high / 100:g})" * (high < 100)
        rule = f"`deployment_prior` must lie strictly between 0 and 1, but got {checks.describe_value(value)}"
        raise InputError(f"{rule}; did you mean skewanova.UniformSkew({low:g}, {high:g}){percent}?")
    return UniformPrior(low, high)


def truncate_below(weighting: DeploymentPrior, limit: float) -> DiscretePrior:
    """Return the quadrature nodes of a deployment prior from `limit` on as a DiscretePrior; raise if none."""
    priors, weights = weighting.quadrature([limit])
    above = (priors >= limit * (1 - SLACK)) & (weights > 0)
    return DiscretePrior(priors[above].tolist(), weights[above].tolist())


def mass_above(weighting: DeploymentPrior, limit: float) -> float:
    """Return the share of the weight of a deployment prior that is at or above `limit`, from 0 to 1."""
    priors, weights = weighting.quadrature([limit])
    return float(weights[priors >= limit * (1 - SLACK)].sum())


@overload
def correct_class_prior(probability: float, *, train_prior: float, prior: float) -> float: ...


@overload
def correct_class_prior(probability: ArrayLike, *, train_prior: float, prior: float) -> Floats: ...


def correct_class_prior(probability: ArrayLike, *, train_prior: float, prior: float) -> float | Floats:
    """Correct probabilities of the positive class from the training prior to another prior.

    Use it for classifiers trained on resampled or re-weighted classes (``class_weight="balanced"``, SMOTE).
    ROC curves, AUPREC and IAUPREC need no correction, because the ranking does not change.

    Parameters
    ----------
    probability : float or array_like
        Probabilities of the positive class, in [0, 1].
    train_prior : float
        Training prior: the share of positives (or of their weight) in training, 0.5 if balanced.
    prior : float
        Prior in deployment.

    Returns
    -------
    float or ndarray
        Probabilities at `prior`, of the shape of `probability` (Elkan 2001, theorem 2; Saerens et al. 2002,
        eq. 4); 0 and 1 do not change. Distinct probabilities near 0 or 1 can round to the same value, so rank
        by the uncorrected ones.

    Raises
    ------
    ValueError, TypeError
        If a probability is outside [0, 1], or a prior is not strictly between 0 and 1; TypeError if
        probabilities are not real numbers.

    Examples
    --------
    >>> from skewanova import correct_class_prior
    >>> correct_class_prior([0.2, 0.5, 0.9], train_prior=0.5, prior=0.1).round(4)
    array([0.027, 0.1  , 0.5  ])
    """
    learnt, used = checks.check_prior(train_prior, "train_prior"), checks.check_prior(prior)
    values = checks.to_numbers(probability, "probability", exact=False)
    posterior = checks.check_real(values, "probability").astype(np.float64)
    bad = posterior[~((posterior >= 0) & (posterior <= 1))]
    if bad.size:
        raise InputError(f"`probability` must lie between 0 and 1, but got {bad[0]}")
    positive, negative = posterior * (used / learnt), (1 - posterior) * ((1 - used) / (1 - learnt))
    return unwrap_scalar(np.asarray(positive / (positive + negative)))
