"""Probabilities corrected to a prior that they were not learnt at."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base.checks import Floats, InputError, check_prior, check_real, to_numbers


@overload
def correct_class_prior(probability: float, *, train_prior: float, prior: float) -> float: ...


@overload
def correct_class_prior(probability: ArrayLike, *, train_prior: float, prior: float) -> Floats: ...


def correct_class_prior(probability: ArrayLike, *, train_prior: float, prior: float) -> float | Floats:
    """Correct probabilities of the positive class to a prior that they were not learnt at.

    A classifier trained on resampled or re-weighted classes (``class_weight="balanced"``, SMOTE) believes the
    prior it was shown, so its probabilities and any threshold on them are off where positives are rarer. Its
    ranking is not: the correction rises strictly with the probability, so ROC, AUPREC and IAUPREC stay the
    same and need no correction.

    Parameters
    ----------
    probability : float or array_like
        Probabilities of the positive class, in [0, 1].
    train_prior : float
        Prior they were learnt at: the share of positives (or of their weight) in training, 0.5 if balanced.
    prior : float
        Prior where they will be used.

    Returns
    -------
    float or ndarray
        Probabilities at `prior`, of the shape of `probability`; 0 and 1 stay as they are.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or a prior is not strictly between 0 and 1.
    TypeError
        If probabilities are not real numbers.

    Notes
    -----
    Elkan (2001), theorem 2; Saerens et al. (2002), eq. 4. In doubles, distinct probabilities can round to the
    same value near 0 or 1, so rank by the uncorrected ones.

    Examples
    --------
    >>> from skewanova import correct_class_prior
    >>> correct_class_prior([0.2, 0.5, 0.9], train_prior=0.5, prior=0.1).round(4)
    array([0.027, 0.1  , 0.5  ])
    """
    learnt, used = check_prior(train_prior, "train_prior"), check_prior(prior)
    learnt_posterior = check_real(to_numbers(probability, "probability"), "probability").astype(np.float64)
    bad = learnt_posterior[~((learnt_posterior >= 0) & (learnt_posterior <= 1))]
    if bad.size:
        raise InputError(f"`probability` must lie between 0 and 1, but got {bad[0]:g}")
    positive, negative = (
        learnt_posterior * (used / learnt),
        (1 - learnt_posterior) * ((1 - used) / (1 - learnt)),
    )
    corrected = positive / (positive + negative)
    return float(corrected) if corrected.ndim == 0 else np.asarray(corrected)
