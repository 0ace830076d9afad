"""What the paper's analyses of variance return, and how each may be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skewanova._checks import Floats, InputError
from skewanova._framed import Framed

#: Columns of every ANOVA frame, whatever the test.
ANOVA_COLUMNS = (
    "test",
    "role",
    "response",
    "term",
    "df",
    "df_error",
    "sum_sq",
    "mean_sq",
    "statistic",
    "p_value",
    "partial_eta_sq",
    "breakdown_correlation",
)
#: Residual sums of squares below this share of the total are rounding, not variation.
NO_VARIATION = 1e-12
#: Differences below this share of the largest value are rounding, whatever the total variation.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
NO_RESIDUALS = (
    "there is no residual variation: F is infinite and p is 0, which no sample of folds can support"
)
IDENTICAL = "the models are identical in every fold: F and p are undefined (nan)"

LABELS = {
    "two_way": (
        "As published. Valid when folds are independent; on repeated splits of one data set it rejects true "
        "equality far too often (in 67 % of simulated studies at level .05, with 20 hold-outs of 20 %)."
    ),
    "three_way": (
        "As published. Not a valid test of the models: it counts one ROC once for each prior, so p shrinks "
        "as priors are added (it rejects true equality in 44 % of simulated studies at level .05 with 3 "
        "priors and independent folds, in 95 % with 16). Read it as a description."
    ),
}
LABELS["three_way_interaction"] = LABELS["three_way"]


@dataclass(frozen=True, eq=False)
class AnovaResult(Framed):
    """One analysis of variance.

    Attributes
    ----------
    test : str
        ``two_way``, ``three_way`` or ``three_way_interaction``.
    role : str
        ``as_published`` for the paper's tests.
    response : str
        ``iauprec`` or ``auprec``.
    label : str
        How the test may be read.
    alpha : float
        Level used by the breakdown correlation.
    warnings : tuple of str
        What went beyond the ordinary.
    """

    test: str
    role: str
    response: str
    label: str
    alpha: float
    warnings: tuple[str, ...]
    _table: pd.DataFrame = field(repr=False)
    _frame: pd.DataFrame = field(repr=False)
    _fit: Any = field(repr=False)
    rounding: float = field(default=0.0, repr=False)  # differences up to this are none; 0 if residuals vary

    def to_frame(self) -> pd.DataFrame:
        """Return one row a term, in the columns of every ANOVA frame."""
        return self._table.copy()

    def row(self, term: str) -> pd.Series[Any]:
        """Return the row of one term, such as ``model``."""
        found = self._table[self._table["term"] == term]
        if found.empty:
            raise InputError(f"`term` must be one of {', '.join(self._table['term'])}; but got {term!r}")
        return found.iloc[0]

    def effect_sizes(self) -> pd.DataFrame:
        """Effect sizes: columns term, eta_sq, partial_eta_sq, omega_sq, cohen_f."""
        table, error = self._table[:-1], self._table.iloc[-1]
        total = self._table["sum_sq"].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            omega = (table["sum_sq"] - table["df"] * error["mean_sq"]) / (total + error["mean_sq"])
            cohen = np.sqrt(table["sum_sq"] / error["sum_sq"])
        return pd.DataFrame(
            {
                "term": table["term"],
                "eta_sq": table["sum_sq"] / total,
                "partial_eta_sq": table["partial_eta_sq"],
                "omega_sq": omega,
                "cohen_f": cohen,
            }
        )

    def residuals(self) -> pd.DataFrame:
        """Residual of every observation: columns model, fold, [prior,] fitted, residual."""
        factors = [c for c in ("model", "fold", "prior") if c in self._frame]
        values = self._frame[self.response].to_numpy(dtype=np.float64)
        residual = np.asarray(self._fit.resid)
        return self._frame[factors].assign(fitted=values - residual, residual=residual)

    def effects(self, factor: str) -> tuple[list[Any], Floats, Floats]:
        """Levels of a factor, their effects against the first level, and the covariance of these."""
        levels = levels_of(self._frame[factor])
        names = [f"C({INTERNAL[factor]})[T.{code}]" for code in range(1, len(levels))]
        if self.test == "three_way_interaction":
            raise InputError("effects of single factors are not defined in a model with an interaction")
        effect, cov = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
        effect[1:] = self._fit.params[names]
        cov[1:, 1:] = self._fit.cov_params().loc[names, names]
        return levels, effect, cov


INTERNAL = {"model": "m", "fold": "f", "prior": "p"}


def levels_of(values: pd.Series[Any]) -> list[Any]:
    """Distinct values in order of appearance."""
    return list(dict.fromkeys(values))
