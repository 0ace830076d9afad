"""What every test of all models at once returns: rows of the one ANOVA frame, and how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from skewanova import _fold_kernels as kernels
from skewanova._anova_result import ANOVA_COLUMNS, IDENTICAL, NO_RESIDUALS
from skewanova._checks import Floats, InputError, check_not_negative, emit
from skewanova._fold_kernels import FTest
from skewanova._framed import Framed
from skewanova.anova import variation_limit

ROLES = ("headline", "as_published", "check")

OMNIBUS_LABELS = {
    "repeated_measures": (
        "Models against model:fold with Greenhouse and Geisser's degrees of freedom. Valid when folds are "
        "independent (simulated rate of rejecting true equality at level .05: .04)."
    ),
    "hotelling": "Hotelling's T2 on contrasts between models. Valid when folds are independent.",
    "friedman": "Friedman's ranks with Iman and Davenport's F. Valid when folds are independent.",
    "permutation": (
        "Permutation of models within folds. Valid when folds are independent and models spread alike."
    ),
    "sign_flip": "Sign flips of whole fold profiles. Valid when folds are independent and symmetric.",
    "mixed": (
        "Mixed model with random folds, for tables with missing cells. Valid when folds are independent."
    ),
    "corrected_f": "2-way F corrected for shared training data (Nadeau and Bengio 2003).",
    "corrected_gg": (
        "2-way F with Greenhouse and Geisser's degrees of freedom, corrected for shared training data "
        "(Nadeau and Bengio 2003; simulated rate of rejecting true equality at level .05: .05 or less with "
        "stable learners, up to .11 with unstable ones on 80/20 splits)."
    ),
    "corrected_hotelling": (
        "Hotelling's T2 on contrasts between models, corrected for shared training data (Nadeau and "
        "Bengio 2003; simulated rate of rejecting true equality at level .05: .05 with stable learners, up "
        "to .11 with unstable ones on 80/20 splits)."
    ),
    "influence": (
        "F test of the models' areas on the same cases, with their jackknife covariance on the angular scale "
        "(DeLong's idea carried to AUPREC). It is about these fitted models on further cases, not about "
        "training them again."
    ),
}

#: More test cases than these for each training case are a slip.
LARGEST_RATIO = 1e9


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
    found = kernels.blocked_f(values)
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


def check_ratio(ratio: float) -> float:
    """Test cases for each training case: 0 or more."""
    return check_not_negative(
        ratio, "ratio", what="a number of test cases for each training case", largest=LARGEST_RATIO
    )


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
        _, effect, error = kernels.contrast_f(contrasts)
        row |= {"sum_sq": float(effect), "mean_sq": float(effect) / contrasts.shape[-1]}
        row["partial_eta_sq"] = float(effect / (effect + error)) if effect + error > 0 else np.nan
    return pd.DataFrame([row])[list(ANOVA_COLUMNS)]
