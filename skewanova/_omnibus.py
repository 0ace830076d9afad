"""Tests of all models at once on the fold x model table, in the columns of the paper's ANOVAs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, InputError, Seed
from skewanova._fold_kernels import FTest
from skewanova._omnibus_result import (
    OmnibusResult,
    check_ratio,
    fold_table,
    omnibus_result,
    without_variation,
)
from skewanova.resampling import permutation_test, sign_flip_test


def repeated_measures_anova(iauprec: pd.DataFrame, *, role: str = "check") -> OmnibusResult:
    """Repeated-measures test of the models with Greenhouse and Geisser's correction.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model; its degrees of freedom are those of Greenhouse and Geisser.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, there twice or not finite, or there are fewer than 2 models or 2 folds.

    References
    ----------
    Greenhouse and Geisser (1959). Equal to R's ``afex::aov_ez(correction = "GG")``.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, repeated_measures_anova
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> repeated_measures_anova(measures.iauprec).to_frame()["test"].tolist()
    ['repeated_measures']
    """
    values, _ = fold_table(iauprec)
    return _tested("repeated_measures", role, values, kernels.gg_test)


def corrected_anova(
    iauprec: pd.DataFrame, *, ratio: float, method: str = "corrected_gg", role: str = "check"
) -> OmnibusResult:
    """Test of the models that allows for folds sharing training data.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    ratio : float
        Test cases for each training case, such as 0.25 for 80/20 hold-outs.
    method : {"corrected_f", "corrected_gg", "corrected_hotelling"}
        Which statistic is divided by ``1 + J ratio``.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, there twice or not finite, or there are fewer than 2 models or 2 folds;
        if `ratio` is negative, or Hotelling's test has fewer folds than models.

    References
    ----------
    Nadeau and Bengio (2003), Inference for the generalization error, extended from two models to several.

    Examples
    --------
    >>> from skewanova import corrected_anova, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> corrected_anova(measures.iauprec, ratio=0.25).to_frame()["p_value"].round(2).tolist()
    [0.12]
    """
    check_ratio(ratio)
    values, _ = fold_table(iauprec)
    inflation = 1 + len(values) * ratio
    if method == "corrected_hotelling":
        _check_enough_folds(values)
        return _tested(method, role, values, partial(kernels.hotelling_test, inflation=inflation))
    tests = {"corrected_f": kernels.blocked_test, "corrected_gg": kernels.gg_test}
    if method not in tests:
        raise InputError(
            f"`method` must be corrected_f, corrected_gg or corrected_hotelling; but got {method!r}"
        )
    return _tested(method, role, values, partial(tests[method], inflation=inflation))


def hotelling_anova(iauprec: pd.DataFrame, *, role: str = "check") -> OmnibusResult:
    """Hotelling's T2 test of equal means of the models, whatever their covariance.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, there twice or not finite, or there are fewer than 2 models or 2 folds;
        if there are fewer folds than models.

    References
    ----------
    Hotelling (1931).

    Examples
    --------
    >>> from skewanova import evaluate, hotelling_anova, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> hotelling_anova(measures.iauprec).to_frame()["df_error"].tolist()
    [18.0]
    """
    values, _ = fold_table(iauprec)
    _check_enough_folds(values)
    return _tested("hotelling", role, values, kernels.hotelling_test)


def friedman_anova(iauprec: pd.DataFrame, *, role: str = "check") -> OmnibusResult:
    """Friedman's test of the models' ranks within folds, by Iman and Davenport's F.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model; sums of squares are left out.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, there twice or not finite, or there are fewer than 2 models or 2 folds.

    References
    ----------
    Iman and Davenport (1980); Demsar (2006).

    Examples
    --------
    >>> from skewanova import evaluate, friedman_anova, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> friedman_anova(measures.iauprec).to_frame()["df"].tolist()
    [2.0]
    """
    values, _ = fold_table(iauprec)
    return omnibus_result("friedman", role, kernels.friedman_test(values))


def resampling_anova(
    iauprec: pd.DataFrame,
    *,
    method: str = "sign_flip",
    n_resamples: int = 9999,
    rng: Seed = 0,
    role: str = "check",
) -> OmnibusResult:
    """Test of the models by rearranging the folds' profiles.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    method : {"sign_flip", "permutation"}
        Flip the signs of whole fold profiles, or permute the models within folds.
    n_resamples : int, default 9999
        Random arrangements, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model, with the F that was rearranged.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, there twice or not finite, or there are fewer than 2 models or 2 folds;
        if the method is unknown.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, resampling_anova
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> resampling_anova(measures.iauprec, n_resamples=999).to_frame()["p_value"].tolist()
    [0.001]
    """
    tests = {"sign_flip": sign_flip_test, "permutation": permutation_test}
    if method not in tests:
        raise InputError(f"`method` must be sign_flip or permutation; but got {method!r}")
    values, _ = fold_table(iauprec)

    def rearranged(table: Floats) -> FTest:
        found = tests[method](table, n_resamples=n_resamples, rng=rng)
        return kernels.blocked_test(table)._replace(p_value=found.p_value)

    return _tested(method, role, values, rearranged)


def _check_enough_folds(values: Floats) -> None:
    n_folds, n_models = values.shape
    if n_folds < n_models:
        raise InputError(f"Hotelling's test needs as many folds as models, but has {n_folds} for {n_models}")
    if not kernels.full_rank(values) and without_variation(values) is None:
        raise InputError(
            "Hotelling's test needs differences that vary on their own, but some models move alike"
        )


def _tested(test: str, role: str, values: Floats, compute: Callable[[Floats], FTest]) -> OmnibusResult:
    """Run a test on the table, unless the table leaves nothing to test."""
    contrasts = values @ kernels.helmert(values.shape[-1]).T
    flat = without_variation(values)
    if flat is not None:
        return omnibus_result(test, role, flat[0], contrasts=contrasts, notes=[flat[1]])
    return omnibus_result(test, role, compute(values), contrasts=contrasts)
