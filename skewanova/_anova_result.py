"""What the paper's analyses of variance return, and how each may be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

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


class CompleteFit:
    """Least squares where every cell stands once: all effects are differences of means.

    Equal to what statsmodels makes of the same table, without its dense matrix of a column a level.
    """

    def __init__(self, values: Floats, codes: dict[str, NDArray[np.intp]], *, crossed: bool) -> None:
        """Take the centred values, the level of each by factor, and whether model and prior interact."""
        self.names, at = tuple(codes), tuple(codes.values())
        cube = np.empty([int(code.max()) + 1 for code in at])
        cube[at] = values
        self._means = {name: _over_others(cube, (i,)) for i, name in enumerate(self.names)}
        terms = {f"C({name})": (mean, mean.size - 1) for name, mean in self._means.items()}
        if crossed:
            m, p = self.names.index("m"), self.names.index("p")
            both = _over_others(cube, (m, p)) - self._means["m"] - self._means["p"]
            terms["C(m):C(p)"] = both, (cube.shape[m] - 1) * (cube.shape[p] - 1)
        rest = cube - sum(effect for effect, _ in terms.values())
        self.resid: Floats = rest[at]
        self.df_resid = cube.size - 1 - sum(df for _, df in terms.values())
        self._size = cube.size
        self._terms = {name: (cube.size * float((e**2).mean()), df) for name, (e, df) in terms.items()}

    def sums_of_squares(self) -> pd.DataFrame:
        """The table as statsmodels has it: types 1, 2 and 3 are one here."""
        error = float((self.resid**2).sum())
        table = pd.DataFrame(
            [*self._terms.values(), (error, self.df_resid)],
            index=[*self._terms, "Residual"],
            columns=["sum_sq", "df"],
        ).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            table["F"] = table["sum_sq"] / table["df"] / np.float64(error / self.df_resid)
        table.loc["Residual", "F"] = np.nan
        return table.assign(**{"PR(>F)": stats.f.sf(table["F"], table["df"], self.df_resid)})

    def effects(self, name: str) -> tuple[Floats, Floats]:
        """Effects of a factor against its first level, and their covariance."""
        mean = self._means[name].ravel()
        variance = float((self.resid**2).sum()) / self.df_resid * mean.size / self._size  # of one mean
        cov = variance * (np.ones((mean.size, mean.size)) + np.eye(mean.size))
        cov[0] = cov[:, 0] = 0.0
        return mean - mean[0], cov


def _over_others(cube: Floats, kept: tuple[int, ...]) -> Floats:
    """Means over all axes but those kept, in the shape of the cube."""
    others = tuple(i for i in range(cube.ndim) if i not in kept)
    return np.asarray(cube.mean(axis=others, keepdims=True))


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
        if self.test == "three_way_interaction":
            raise InputError("effects of single factors are not defined in a model with an interaction")
        if isinstance(self._fit, CompleteFit):
            return levels, *self._fit.effects(INTERNAL[factor])
        names = [f"C({INTERNAL[factor]})[T.{code}]" for code in range(1, len(levels))]
        effect, cov = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
        effect[1:] = self._fit.params[names]
        cov[1:, 1:] = self._fit.cov_params().loc[names, names]
        return levels, effect, cov


INTERNAL = {"model": "m", "fold": "f", "prior": "p"}


def levels_of(values: pd.Series[Any]) -> list[Any]:
    """Distinct values in order of appearance."""
    return list(dict.fromkeys(values))
