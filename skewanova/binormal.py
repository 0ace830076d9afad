"""Binormal and alpha-binormal models: smooth ROC and precision-recall curves (Brodersen et al. 2010).

Scores of either class are taken to be normal. With alpha the share of positives, recall at a threshold t is
``1 - Phi+(t)``, precision ``alpha (1 - Phi+(t)) / (alpha (1 - Phi+(t)) + (1 - alpha) (1 - Phi-(t)))``.
The paper prints the recall as ``1 - Phi-(t)``, and its eq. 7 without the negatives' distribution function;
both are corrected here: precision at recall r is
``alpha r / (alpha r + (1 - alpha) (1 - Phi-(Phi+^-1(1 - r))))``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from skewanova._checks import (
    Bools,
    Floats,
    InputError,
    check_count,
    check_labels,
    check_prior,
    check_same_length,
    check_scores,
    emit,
)
from skewanova._normal_scores import (
    auc_and_slopes,
    auprec_and_slopes,
    best_power,
    box_cox,
    normality_p,
    precision_at,
    shape_covariance,
)
from skewanova._true_curves import curve_at
from skewanova.priors import DeploymentPrior, as_deployment_prior
from skewanova.roc import RocCurve

#: Chance of a warning when the model holds, over both classes.
CHECK_LEVEL = 0.01

Target = DeploymentPrior | tuple[float, float] | float


@dataclass(frozen=True)
class BinormalFit:
    """Two normal distributions of scores, and the curves and areas they imply.

    Attributes
    ----------
    mean_positive, mean_negative, std_positive, std_negative : float
        Moments of the scores, transformed where `power` is a number.
    n_positive, n_negative : int
        Class sizes the moments come from.
    alpha : float
        Prior where none is given: the share of positives, or the number the caller fixed.
    power : float or None
        Power of the Box-Cox transform.
    normality_positive, normality_negative : float
        p-values of Anderson-Darling tests of the (transformed) scores; nan below 8 cases.
    """

    mean_positive: float
    mean_negative: float
    std_positive: float
    std_negative: float
    n_positive: int
    n_negative: int
    alpha: float
    power: float | None = None
    normality_positive: float = field(default=np.nan, repr=False)
    normality_negative: float = field(default=np.nan, repr=False)

    @property
    def auc(self) -> float:
        """Area under the ROC curve."""
        return auc_and_slopes(*self._shape)[0]

    @property
    def auc_std_error(self) -> float:
        """Standard error of the AUC, by the delta method."""
        return self._std_error(auc_and_slopes(*self._shape)[1])

    def auprec(self, prior: float | None = None) -> float:
        """AUPREC at a prior, by default `alpha`."""
        return self.iauprec(self._prior(prior))

    def auprec_std_error(self, prior: float | None = None) -> float:
        """Standard error of AUPREC at a known prior, by the delta method."""
        return self.iauprec_std_error(self._prior(prior))

    def iauprec(self, deployment_prior: Target) -> float:
        """Mean AUPREC over a deployment prior, as for :func:`~skewanova.iauprec`."""
        return auprec_and_slopes(*self._shape, *as_deployment_prior(deployment_prior).quadrature())[0]

    def iauprec_std_error(self, deployment_prior: Target) -> float:
        """Standard error of the mean AUPREC, by the delta method."""
        nodes = as_deployment_prior(deployment_prior).quadrature()
        return self._std_error(auprec_and_slopes(*self._shape, *nodes)[1])

    def roc(self, *, n_points: int = 1001) -> RocCurve:
        """ROC curve at thresholds over both classes, joined by straight lines (Brodersen et al., eq. 5)."""
        check_count(n_points, "n_points", minimum=2)
        z = special.ndtri(np.arange(1, n_points + 1) / (n_points + 1))
        a, b = self._shape
        x = np.unique(np.concatenate([z, a + b * z]))[::-1]  # in units of the negatives
        curve = curve_at(
            self.mean_negative + self.std_negative * x, special.ndtr(-x), special.ndtr((a - x) / b)
        )
        return RocCurve(curve.fpr, curve.tpr, curve.thresholds, self.n_positive, self.n_negative)

    def precision_recall(
        self, prior: float | None = None, *, recall: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Precision at recalls in (0, 1], by default a thousand (Brodersen et al., eq. 7, corrected).

        Returns
        -------
        precision, recall : ndarray
            Points of the curve.
        """
        at = np.arange(1, 1001) / 1000 if recall is None else np.asarray(recall, dtype=np.float64)
        if not ((at > 0) & (at <= 1)).all():
            raise InputError(f"`recall` must lie in (0, 1], but got {at[~((at > 0) & (at <= 1))].flat[0]:g}")
        log_skew = float(-special.logit(self._prior(prior)))
        return precision_at(-special.ndtri(at), *self._shape, log_skew), at

    @property
    def _shape(self) -> tuple[float, float]:
        gap = (self.mean_positive - self.mean_negative) / self.std_negative
        return gap, self.std_positive / self.std_negative

    def _prior(self, prior: float | None) -> float:
        return self.alpha if prior is None else check_prior(prior)

    def _std_error(self, slopes: Floats) -> float:
        covariance = shape_covariance(*self._shape, self.n_positive, self.n_negative)
        return float(np.sqrt(slopes @ covariance @ slopes))


def fit_binormal(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float | None = None,
    ddof: int = 0,
    boxcox: bool = False,
    pos_label: object = None,
) -> BinormalFit:
    """Fit two normal distributions to the scores of either class.

    Parameters
    ----------
    y_true, pos_label
        As for :func:`~skewanova.roc_curve`; at least two cases of either class.
    y_score : array_like of shape (n_cases,)
        Finite scores, not all equal within a class.
    alpha : float, optional
        Prior of the fit's curves: by default the share of positives (the paper's alpha-binormal model); 0.5
        gives its binormal model.
    ddof : int, default 0
        Variances divide by n - ddof: 0 is maximum likelihood, as the paper states; its released code has 1.
    boxcox : bool, default False
        Whether to transform positive scores first, by the power with the largest likelihood.

    Returns
    -------
    BinormalFit
        Moments, curves, areas and their standard errors.

    Raises
    ------
    ValueError
        If a score is NaN or infinite, a class has fewer than two cases or no spread, or `boxcox` is asked for
        with scores that are not positive.

    Warns
    -----
    SkewanovaWarning
        If the scores of a class are not normal (Anderson-Darling test, level 0.01 over both classes).

    Notes
    -----
    The ROC curve, and precision-recall with it, does not change under an increasing transform of the scores,
    but this fit by moments does. So the check is of normality within the classes after the transform that was
    asked for: scores that fail may still have a binormal curve under a transform that was not tried. Standard
    errors take the power, `alpha` and the model itself as given.

    References
    ----------
    Brodersen et al. (2010), The binormal assumption on precision-recall curves.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.binormal import fit_binormal
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [60, 40])
    >>> fit = fit_binormal(labels, rng.normal(2 * labels - 1, 2))
    >>> round(fit.auc, 3), round(fit.auprec(), 3), round(fit.auprec(0.1), 3)
    (0.767, 0.714, 0.366)
    """
    positive, score = _check_input(y_true, y_score, pos_label)
    check_count(ddof, "ddof", minimum=0)
    power = _power(positive, score) if boxcox else None
    values = score if power is None else box_cox(score, power)
    classes = values[positive], values[~positive]
    _check_spreads(*classes, ddof)
    checks = [normality_p(one) for one in classes]
    emit(_normality_notes(checks, power))
    return BinormalFit(
        mean_positive=float(classes[0].mean()),
        mean_negative=float(classes[1].mean()),
        std_positive=float(classes[0].std(ddof=ddof)),
        std_negative=float(classes[1].std(ddof=ddof)),
        n_positive=len(classes[0]),
        n_negative=len(classes[1]),
        alpha=float(positive.mean()) if alpha is None else check_prior(alpha, "alpha"),
        power=power,
        normality_positive=checks[0],
        normality_negative=checks[1],
    )


def _check_input(y_true: ArrayLike, y_score: ArrayLike, pos_label: object) -> tuple[Bools, Floats]:
    positive = check_labels(y_true, pos_label=pos_label)
    given: NDArray[Any] = check_scores(y_score)
    check_same_length(y_true=positive, y_score=given)
    score = given.astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(score))
    if infinite.size:
        raise InputError(
            f"`y_score` must be finite for the binormal model, but has {infinite.size} infinite, the first "
            f"at row {infinite[0]}; ranks alone are enough for `auprec_score`"
        )
    return positive, score


def _check_spreads(positive: Floats, negative: Floats, ddof: int) -> None:
    needed = max(2, ddof + 1)
    for name, values in (("positive", positive), ("negative", negative)):
        if len(values) < needed:
            raise InputError(f"`y_true` must hold at least {needed} {name} cases, but has {len(values)}")
        if np.ptp(values) == 0:
            raise InputError(
                f"`y_score` must vary within each class, but all {name} cases have {values[0]:g}"
            )


def _power(positive: Bools, score: Floats) -> float:
    if not (score > 0).all():
        raise InputError(
            f"`boxcox` needs scores above 0, but the lowest is {score.min():g}; add a constant to all scores"
        )
    _check_spreads(score[positive], score[~positive], 0)
    return best_power(score[positive], score[~positive])


def _normality_notes(p_values: list[float], power: float | None) -> list[str]:
    """One note naming the classes that fail at half the level each."""
    failed = [
        f"{name} (p = {p:.2g})"
        for name, p in zip(("positives", "negatives"), p_values, strict=True)
        if p < CHECK_LEVEL / 2
    ]
    if not failed:
        return []
    scale = "scores" if power is None else f"scores transformed by the Box-Cox power {power:.3g}"
    advice = "try boxcox=True, or use `auprec_score`" if power is None else "use `auprec_score`"
    return [
        f"the binormal model does not hold: {scale} are not normal for {' and '.join(failed)}; areas may be "
        f"off however many cases there are: {advice}, which needs no model"
    ]
