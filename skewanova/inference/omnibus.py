"""Omnibus tests, of all models at once over folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import helmert

from skewanova.base.checks import Floats, InputError, Seed, check_choice, warn_each
from skewanova.evaluation.measures import Evaluation, half_differences, resolve_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.anova import (
    ANOVA_COLUMNS,
    IDENTICAL_MODELS,
    NO_RESIDUAL_VARIATION,
    HypothesisTest,
    check_cells,
    check_columns,
    check_complete,
    variation_limit,
)
from skewanova.inference.catalogue import TestInfo, get_test
from skewanova.inference.fold_statistics import FTest, ResamplingPValues, permutation_test, sign_flip_test


@dataclass(frozen=True, eq=False, kw_only=True)
class OmnibusResult(HypothesisTest):
    """One test of all models at once.

    Attributes
    ----------
    test, role, response : str
        As in the frame.
    warnings : tuple of str
        Texts of all warnings.
    """

    warnings: tuple[str, ...] = ()


def build_fold_table(frame: pd.DataFrame, response: str = "iauprec") -> tuple[Floats, list[str]]:
    """Return values (n_folds, n_models) of a complete long frame, and the models in order of appearance."""
    check_columns(frame, ("model", "fold", response))
    check_cells(frame, ("model", "fold"))
    model, models = pd.factorize(frame["model"], use_na_sentinel=False)
    fold, folds = pd.factorize(frame["fold"], use_na_sentinel=False)
    values = np.full((len(folds), len(models)), np.nan)
    values[fold, model] = frame[response]
    check_complete(values, response, fold=list(folds), model=list(models))
    return values, list(models)


def find_degenerate(values: Floats) -> tuple[FTest, str] | None:
    """Return the F test of a table whose residuals are only rounding, with a note; None for other tables."""
    f_test = fold_statistics.blocked_f(values)
    sums = float(f_test.model_sum_sq), float(f_test.error_sum_sq)
    return degenerate_result(*sums, limit=variation_limit(values), df=(f_test.df, f_test.df_error))


def degenerate_result(
    effect: float, error: float, *, limit: float, df: tuple[float, float]
) -> tuple[FTest, str] | None:
    """Return the test if the error sum of squares is only rounding: F infinite, or nan without effect."""
    if error > limit:
        return None
    statistic, p_value = (np.nan, np.nan) if effect <= limit else (np.inf, 0.0)
    test = FTest(*(np.asarray(v) for v in (statistic, *df, p_value)))
    return test, IDENTICAL_MODELS if effect <= limit else NO_RESIDUAL_VARIATION


def make_omnibus_result(
    test: str, role: str, f_test: FTest, *, contrasts: Floats | None = None, notes: Sequence[str] = ()
) -> OmnibusResult:
    """Return the result of a test of the models, with sums of squares if there are contrast scores."""
    names = {"test": test, "role": role, "response": "iauprec"}
    table = make_effect_row(f_test, contrasts, **names, term="model")
    return OmnibusResult(**names, warnings=warn_each(notes), _table=table)


def make_effect_row(f_test: FTest, contrasts: Floats | None, **names: str) -> pd.DataFrame:
    """Return one row of an ANOVA frame."""
    row: dict[str, object] = {**names, **{key: float(value) for key, value in f_test._asdict().items()}}
    if contrasts is not None:
        effect = float(fold_statistics.contrast_f(contrasts)[1])
        row |= {"sum_sq": effect, "mean_sq": effect / contrasts.shape[-1]}
        row["partial_eta_sq"] = partial_eta_squared(f_test)
    return pd.DataFrame([row]).reindex(columns=list(ANOVA_COLUMNS))


def partial_eta_squared(f_test: FTest) -> float:
    """Return F df / (F df + df_error), or 1 for an infinite F."""
    scaled = float(f_test.statistic) * float(f_test.df)
    return 1.0 if np.isposinf(scaled) else scaled / (scaled + float(f_test.df_error))


def omnibus_test(
    iauprec: Evaluation | pd.DataFrame,
    *,
    method: str,
    ratio: float | None = None,
    n_resamples: int = 9999,
    rng: Seed = 0,
    role: str = "secondary",
) -> OmnibusResult:
    """Test whether all models have the same mean over folds.

    Parameters
    ----------
    iauprec : Evaluation or DataFrame
        Every model in every fold; a frame has the columns model, fold, iauprec, and no design.
    method : str
        One of

        - ``repeated_measures``: F with Greenhouse and Geisser's (1959) degrees of freedom, equal to R's
          ``afex::aov_ez(correction = "GG")``;
        - ``hotelling``: T2 (Hotelling 1931), whatever the covariance; needs as many folds as models;
        - ``friedman``: ranks within folds, by the F of Iman and Davenport (1980; Demsar 2006);
        - ``sign_flip``, ``permutation``: the blocked F under flipped signs of whole fold profiles, or models
          permuted within folds;
        - ``corrected_f``, ``corrected_gg``, ``corrected_hotelling``: the blocked, the repeated-measures and
          Hotelling's F over ``1 + J r``, for J folds that share training data, with r test cases for each
          training case (Nadeau and Bengio 2003);
        - ``split_half_gg``, ``split_half_hotelling``: the contrasts between mean models against the variance
          that halvings of the evaluation show.
    ratio : float, optional
        Test cases for each training case, which the corrected tests need where a frame is given.
    n_resamples : int, default 9999
        Random arrangements for ``sign_flip`` and ``permutation``, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.
    role : str, default "secondary"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model; for ``friedman`` without sums of squares.

    Raises
    ------
    ValueError
        If a (model, fold) is missing, repeated or not finite, there are fewer than 2 models or 2 folds, an
        option is unknown or out of range, or a test lacks its ratio or halvings.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.omnibus_test(measures, method="corrected_gg").to_frame()["p_value"].round(2).tolist()
    [0.12]
    """
    check_choice(method, OMNIBUS_TESTS, "method")
    test = get_test(method)
    frame, ratio = resolve_ratio(iauprec, "iauprec", ratio, needed=method if test.needs_ratio else "")
    values, models = build_fold_table(frame)
    halves = half_differences(iauprec, models, needed=method) if test.needs_halvings else None
    if test.needs_full_rank:
        _check_has_full_rank(values, halves)
    inflation = 1 + len(values) * ratio
    needs = kernel_arguments(test, inflation=inflation, halves=halves, n_resamples=n_resamples, rng=rng)
    compute = partial(KERNELS[method], **needs)
    if test.uses_ranks:
        return make_omnibus_result(method, role, compute(values))
    return _test_unless_degenerate(method, role, values, compute, halves=halves)


def kernel_arguments(
    test: TestInfo, *, inflation: float, halves: Floats | None, n_resamples: int, rng: Seed
) -> dict[str, Any]:
    """Return the keyword arguments that the function of a test needs besides the values."""
    needs: dict[str, Any] = {"inflation": inflation} if test.needs_ratio else {}
    needs |= {"halves": halves} if test.needs_halvings else {}
    return needs | ({"n_resamples": n_resamples, "rng": rng} if test.needs_draws else {})


def _resampling_f_test(values: Floats, *, rearrange: Callable[..., ResamplingPValues], **draws: Any) -> FTest:
    """Return the blocked F with the p-value of a resampling test."""
    result = rearrange(values, **draws)
    return fold_statistics.blocked_test(values)._replace(p_value=result.p_value)


KERNELS: dict[str, Callable[..., FTest]] = {
    "repeated_measures": fold_statistics.gg_test,
    "hotelling": fold_statistics.hotelling_test,
    "friedman": fold_statistics.friedman_test,
    "sign_flip": partial(_resampling_f_test, rearrange=sign_flip_test),
    "permutation": partial(_resampling_f_test, rearrange=permutation_test),
    "corrected_f": fold_statistics.blocked_test,
    "corrected_gg": fold_statistics.gg_test,
    "corrected_hotelling": fold_statistics.hotelling_test,
    "split_half_gg": fold_statistics.gg_test,
    "split_half_hotelling": fold_statistics.hotelling_test,
}


#: Omnibus tests over folds.
OMNIBUS_TESTS = tuple(KERNELS)


def _check_has_full_rank(values: Floats, halves: Floats | None) -> None:
    """Check that Hotelling's covariance matrix of folds or halvings is invertible."""
    n_folds, n_models = values.shape
    if halves is not None and len(halves) < n_models - 1:
        n_needed = f"{n_models - 1} halvings for {n_models} models"
        raise InputError(f"Hotelling's test needs {n_needed}, but has {len(halves)}; add halvings")
    if halves is None and n_folds < n_models:
        raise InputError(f"Hotelling's test needs as many folds as models, but has {n_folds} for {n_models}")
    if halves is not None and fold_statistics.has_full_rank(np.concatenate([halves, -halves])):
        return
    if not fold_statistics.has_full_rank(values) and find_degenerate(values) is None:
        raise InputError(
            "Hotelling's test needs a covariance of full rank, but some models move alike; leave one of them "
            "out"
        )


def _test_unless_degenerate(
    test: str, role: str, values: Floats, compute: Callable[[Floats], FTest], *, halves: Floats | None
) -> OmnibusResult:
    """Return the test of a table, or the degenerate result of a table without residual variation."""
    contrasts = values @ helmert(values.shape[-1]).T
    varied = halves is not None and find_degenerate(halves) is None
    flat = None if varied else find_degenerate(values)
    if flat is not None:
        return make_omnibus_result(test, role, flat[0], contrasts=contrasts, notes=[flat[1]])
    return make_omnibus_result(test, role, compute(values), contrasts=contrasts)
