"""Tests of all models at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, InputError, Seed, emit
from skewanova.base.frames import Framed
from skewanova.inference import fold_statistics
from skewanova.inference.anova import ANOVA_COLUMNS, IDENTICAL, NO_RESIDUALS, variation_limit
from skewanova.inference.catalogue import OMNIBUS_LABELS
from skewanova.inference.fold_resampling import permutation_test, sign_flip_test
from skewanova.inference.fold_statistics import FTest
from skewanova.scores.design import check_ratio


@dataclass(frozen=True, eq=False)
class OmnibusResult(Framed):
    """One test of all models at once.

    Attributes
    ----------
    test, role, response : str
        As in the rows.
    label : str
        How the test may be read.
    warnings : tuple of str
        What went beyond the ordinary.
    """

    test: str
    role: str
    response: str
    label: str
    warnings: tuple[str, ...]
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a term, in the columns of every ANOVA frame."""
        return self._table.copy()


def fold_table(frame: pd.DataFrame, response: str = "iauprec") -> tuple[Floats, list[str]]:
    """Values of a complete long frame as an array of folds and models, and the models in order.

    Parameters
    ----------
    frame : DataFrame
        Columns model, fold and the response, one row a cell.
    response : str, default "iauprec"
        Column of the values.

    Returns
    -------
    values : ndarray of shape (n_folds, n_models)
        The table.
    models : list of str
        Its columns, in order of appearance.

    Raises
    ------
    ValueError
        If a cell is missing, stands twice or is not finite, or there are fewer than 2 models or 2 folds.
    """
    models, folds = list(dict.fromkeys(frame["model"])), list(dict.fromkeys(frame["fold"]))
    for word, levels in (("models", models), ("folds", folds)):
        if len(levels) < 2:
            raise InputError(f"a test of several models needs at least 2 {word}, but there is {len(levels)}")
    if frame.duplicated(["model", "fold"]).any():
        raise InputError("every (model, fold) must stand once in the frame")
    wide = frame.pivot(index="fold", columns="model", values=response).loc[folds, models]
    values = wide.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"`{response}` must be there and finite for every model in every fold")
    return values, models


def without_variation(values: Floats) -> tuple[FTest, str] | None:
    """Return F where the residuals are but rounding (infinite, or nan for identical models), and a note."""
    found = fold_statistics.blocked_f(values)
    sums = float(found.model_sum_sq), float(found.error_sum_sq)
    return flat_test(*sums, limit=variation_limit(values), df=(found.df, found.df_error))


def flat_test(
    effect: float, error: float, *, limit: float, df: tuple[float, float]
) -> tuple[FTest, str] | None:
    """As :func:`without_variation`, from sums of squares that are rounding up to a limit."""
    if error > limit:
        return None
    statistic, p_value = (np.nan, np.nan) if effect <= limit else (np.inf, 0.0)
    test = FTest(*(np.asarray(v) for v in (statistic, *df, p_value)))
    return test, IDENTICAL if effect <= limit else NO_RESIDUALS


def omnibus_result(
    test: str, role: str, found: FTest, *, contrasts: Floats | None = None, notes: Sequence[str] = ()
) -> OmnibusResult:
    """One row for the models; sums of squares from the contrast scores, where there are any."""
    table = effect_row(found, contrasts, test=test, role=role, response="iauprec", term="model")
    return OmnibusResult(test, role, "iauprec", OMNIBUS_LABELS[test], emit(notes), table)


def effect_row(found: FTest, contrasts: Floats | None, **names: str) -> pd.DataFrame:
    """Return one row of an ANOVA frame: its names, degrees of freedom, statistic and sums of squares."""
    row: dict[str, object] = {**dict.fromkeys(ANOVA_COLUMNS, np.nan), **names}
    row |= {"df": float(found.df), "df_error": float(found.df_error)}
    row |= {"statistic": float(found.statistic), "p_value": float(found.p_value)}
    if contrasts is not None:
        _, effect, error = fold_statistics.contrast_f(contrasts)
        row |= {"sum_sq": float(effect), "mean_sq": float(effect) / contrasts.shape[-1]}
        row["partial_eta_sq"] = float(effect / (effect + error)) if effect + error > 0 else np.nan
    return pd.DataFrame([row])[list(ANOVA_COLUMNS)]


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
    return _tested("repeated_measures", role, values, fold_statistics.gg_test)


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
        return _tested(method, role, values, partial(fold_statistics.hotelling_test, inflation=inflation))
    tests = {"corrected_f": fold_statistics.blocked_test, "corrected_gg": fold_statistics.gg_test}
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
    return _tested("hotelling", role, values, fold_statistics.hotelling_test)


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
    return omnibus_result("friedman", role, fold_statistics.friedman_test(values))


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
        return fold_statistics.blocked_test(table)._replace(p_value=found.p_value)

    return _tested(method, role, values, rearranged)


def _check_enough_folds(values: Floats) -> None:
    n_folds, n_models = values.shape
    if n_folds < n_models:
        raise InputError(f"Hotelling's test needs as many folds as models, but has {n_folds} for {n_models}")
    if not fold_statistics.full_rank(values) and without_variation(values) is None:
        raise InputError(
            "Hotelling's test needs differences that vary on their own, but some models move alike"
        )


def _tested(test: str, role: str, values: Floats, compute: Callable[[Floats], FTest]) -> OmnibusResult:
    """Run a test on the table, unless the table leaves nothing to test."""
    contrasts = values @ fold_statistics.helmert(values.shape[-1]).T
    flat = without_variation(values)
    if flat is not None:
        return omnibus_result(test, role, flat[0], contrasts=contrasts, notes=[flat[1]])
    return omnibus_result(test, role, compute(values), contrasts=contrasts)
