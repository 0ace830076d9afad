"""The paper's 2-way and 3-way analyses of variance.

A complete table is fitted by its means, others by statsmodels. Levels enter formulas as integers, so that no
name of a model or fold becomes part of a formula.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, InputTypeError
from skewanova.base.frames import FrameResult, list_distinct
from skewanova.inference.fold_statistics import ROUNDING

#: Columns of every ANOVA frame, whatever the test.
ANOVA_COLUMNS = (
    *("test", "role", "response", "term", "df", "df_error", "sum_sq", "mean_sq"),
    *("statistic", "p_value", "partial_eta_sq", "breakdown_correlation"),
)


#: Residual sums of squares below this share of the total are rounding.
MAX_ROUNDING_SHARE = 1e-12


TINY = float(np.finfo(np.float64).tiny)


NO_RESIDUAL_VARIATION = (
    "there is no residual variation, so F is infinite and p is 0; check that no fold is a copy of another"
)


IDENTICAL_MODELS = (
    "the models are identical in every fold, so F and p are undefined (nan); check that each has its own "
    "scores"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class HypothesisTest(FrameResult):
    """A test with its role in a comparison, the measure that it is about, and its frame."""

    test: str
    role: str
    response: str
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table, a row an ANOVA term, or a pair of models or of priors.

        Columns test, role, response, then of terms: term, df, df_error, sum_sq, mean_sq, statistic, p_value,
        partial_eta_sq, breakdown_correlation; of pairs those of :func:`~skewanova.inference.posthoc`.
        """
        return self._table.copy()


class CompleteFit:
    """Least squares of a table with one value in every cell, by means of the levels of each factor."""

    def __init__(self, values: Floats, codes: dict[str, NDArray[np.intp]], *, crossed: bool) -> None:
        """Set `sums` (sum_sq, df by term, residual last) and `resid`, with model:prior if `crossed`."""
        index = tuple(codes.values())
        cube = np.empty([int(code.max()) + 1 for code in index])
        cube[index] = values

        def means(*names: str) -> Floats:
            """Return the means over all other factors, whose axes stay, of length 1."""
            others = tuple(i for i, name in enumerate(codes) if name not in names)
            return np.asarray(cube.mean(axis=others, keepdims=True))

        self._means = {name: means(name) for name in codes}
        terms = {name: (mean, mean.size - 1) for name, mean in self._means.items()}
        if crossed:
            model, prior = self._means["model"], self._means["prior"]
            joint = means("model", "prior") - model - prior
            terms["model:prior"] = joint, (model.size - 1) * (prior.size - 1)
        rest = cube - sum(effect for effect, _ in terms.values())
        self.resid: Floats = rest[index]
        df_error, error = cube.size - 1 - sum(df for _, df in terms.values()), float((self.resid**2).sum())
        sums = {name: (cube.size * float((e**2).mean()), df) for name, (e, df) in terms.items()}
        sums["residual"] = error, df_error
        self.sums = pd.DataFrame.from_dict(sums, orient="index", columns=["sum_sq", "df"], dtype=np.float64)
        self._mean_square = error / df_error

    def effects(self, name: str) -> tuple[Floats, Floats]:
        """Return each level's effect less the first level's (n_levels,), and the covariance of these."""
        mean = self._means[name].ravel()
        variance = self._mean_square * mean.size / self.resid.size
        cov = variance * (np.ones((mean.size, mean.size)) + np.eye(mean.size))
        cov[0] = cov[:, 0] = 0.0
        return mean - mean[0], cov


class FormulaFit:
    """Least squares by statsmodels, with sums of squares of type 1, 2 or 3."""

    def __init__(
        self, values: Floats, codes: dict[str, NDArray[np.intp]], *, crossed: bool, sum_of_squares: int
    ) -> None:
        """Set `sums` and `resid` as `CompleteFit` does; raise if the rows do not identify the effects."""
        from statsmodels.formula.api import ols  # loads half of statsmodels, and is seldom used
        from statsmodels.stats.anova import anova_lm

        terms = [f"C({name}, Sum)" for name in codes] + ["C(model, Sum):C(prior, Sum)"] * crossed
        model = ols(f"y ~ {' + '.join(terms)}", pd.DataFrame(codes).assign(y=values))
        n_cells, n_effects = model.exog.shape
        if n_cells <= n_effects or np.linalg.matrix_rank(model.exog) < n_effects:
            effects = f"{n_effects} effects and a residual variance"
            raise InputError(f"{n_cells} rows do not identify {effects}; add the missing rows")
        self._fit = model.fit()
        self.resid: Floats = np.asarray(self._fit.resid)
        kind = sum_of_squares if self._fit.ssr > 0 else 1  # types 2 and 3 divide by the residual variance
        table = anova_lm(self._fit, typ=kind).drop(index="Intercept", errors="ignore")
        names = {name: re.sub(r"C\((\w+), Sum\)", r"\1", str(name)).lower() for name in table.index}
        self.sums = table[["sum_sq", "df"]].rename(index=names)

    def effects(self, name: str) -> tuple[Floats, Floats]:
        """Return each level's effect less the first level's (n_levels,), and the covariance of these."""
        names = [column for column in self._fit.params.index if column.startswith(f"C({name}, Sum)[")]
        effects = np.vstack([np.eye(len(names)), -np.ones(len(names))])  # all levels sum to zero
        contrasts = effects - effects[0]
        cov = self._fit.cov_params().loc[names, names].to_numpy()
        return contrasts @ self._fit.params[names].to_numpy(), contrasts @ cov @ contrasts.T


#: Factors of the three-way analysis.
FACTORS: tuple[str, ...] = ("model", "fold", "prior")


@dataclass(frozen=True, eq=False, kw_only=True)
class AnovaResult(HypothesisTest):
    """One analysis of variance.

    Attributes
    ----------
    test, role, response : str
        As in the frame.
    alpha : float
        Level of the breakdown correlation.
    warnings : tuple of str
        Texts of all warnings.
    """

    alpha: float
    warnings: tuple[str, ...]
    _frame: pd.DataFrame = field(repr=False)
    _fit: CompleteFit | FormulaFit = field(repr=False)
    rounding: float = field(repr=False)  # largest difference that is rounding; 0 if residuals vary

    def row(self, term: str) -> pd.Series[Any]:
        """Return the row of the table for one term, such as ``model``; raise InputError if there is none."""
        checks.check_choice(term, self._table["term"].tolist(), "term")
        return self._table[self._table["term"] == term].iloc[0]

    def effect_sizes(self) -> pd.DataFrame:
        """Return a frame of term, eta_sq, partial_eta_sq, omega_sq, cohen_f; a row a term but residual."""
        table, error = self._table[:-1], self._table.iloc[-1]
        sum_sq, total = table["sum_sq"], self._table["sum_sq"].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return table[["term"]].assign(
                eta_sq=sum_sq / total,
                partial_eta_sq=table["partial_eta_sq"],
                omega_sq=(sum_sq - table["df"] * error["mean_sq"]) / (total + error["mean_sq"]),
                cohen_f=np.sqrt(sum_sq / error["sum_sq"]),
            )

    def residuals(self) -> pd.DataFrame:
        """Return a frame with a row an observation: model, fold, [prior, recall,] fitted, residual."""
        factors = [c for c in (*FACTORS, "recall") if c in self._frame]
        values, residual = self._frame[self.response].to_numpy(dtype=np.float64), self._fit.resid
        return self._frame[factors].assign(fitted=values - residual, residual=residual)

    def effects(self, factor: str) -> tuple[list[Any], Floats, Floats]:
        """Return levels as they first occur, effects less the first's, covariance; raise with interaction."""
        if self.test == "three_way_interaction":
            raise InputError(
                "effects of single factors are not defined in a model with an interaction; fit it by "
                "skewanova.inference.three_way_anova(skewanova.evaluate(scores).auprec, interaction=False)"
            )
        return list_distinct(self._frame[factor]), *self._fit.effects(factor)


def two_way_anova(
    iauprec: pd.DataFrame, *, response: str = "iauprec", sum_of_squares: int = 2, alpha: float = 0.05
) -> AnovaResult:
    """Analyse IAUPREC by a two-way ANOVA with the factors model and fold, folds as blocks.

    This is the paper's test of the models (Landgrebe et al. 2006, section 5). It assumes independent folds of
    equal variances; for folds that share training data use :func:`omnibus_test`.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold and the response; one row a cell.
    response : str, default "iauprec"
        Column to analyse.
    sum_of_squares : {1, 2, 3}, default 2
        Type of the sums of squares; all types agree if every model has every fold.
    alpha : float, default 0.05
        Level of the breakdown correlation.

    Returns
    -------
    AnovaResult
        Terms model, fold, residual. ``breakdown_correlation`` is the correlation between folds from which on
        the models no longer differ at level `alpha`; it is nan if they do not differ. It is the rho at which
        F / (1 + J rho / (1 - rho)), the equicorrelated form of Nadeau and Bengio (2003), is critical.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, a cell occurs twice, or a value is missing.

    Warns
    -----
    SkewanovaWarning
        If there is no residual variation (F is inf) or the models are identical (F is nan).

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.inference import two_way_anova
    >>> iauprec = [0.70, 0.74, 0.71, 0.78, 0.80, 0.81]
    >>> frame = pd.DataFrame({"model": list("AAABBB"), "fold": [1, 2, 3] * 2, "iauprec": iauprec})
    >>> two_way_anova(frame).to_frame()[["term", "df", "statistic", "p_value"]].round(4)
           term   df  statistic  p_value
    0     model  1.0    48.0000   0.0202
    1      fold  2.0     2.3333   0.3000
    2  residual  2.0        NaN      NaN
    """
    frame = check_frame(iauprec, FACTORS[:2], response)
    return _fit_anova(frame, "two_way", FACTORS[:2], sum_of_squares=sum_of_squares, alpha=alpha)


def three_way_anova(
    auprec: pd.DataFrame, *, interaction: bool = False, sum_of_squares: int = 2, alpha: float = 0.05
) -> AnovaResult:
    """Analyse AUPREC by the published three-way ANOVA with the factors model, fold and prior.

    The analysis is that of Landgrebe et al. (2006), sections 5 and 6. Priors of one fold are not independent,
    so use :func:`split_plot_anova` to test the models.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; one row a cell.
    interaction : bool, default False
        Whether to add the interaction of model and prior.
    sum_of_squares : {1, 2, 3}, default 2
        As for :func:`two_way_anova`.
    alpha : float, default 0.05
        Level recorded with the result.

    Returns
    -------
    AnovaResult
        Terms model, fold, prior, [model:prior,] residual; the p-values depend on the number of priors.

    Raises
    ------
    ValueError
        As :func:`two_way_anova`.

    Warns
    -----
    SkewanovaWarning
        As :func:`two_way_anova`, and if there is one prior only, so that the analysis is two-way.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.three_way_anova(measures.auprec).to_frame()["term"].tolist()
    ['model', 'fold', 'prior', 'residual']
    """
    frame = check_frame(auprec, FACTORS, "auprec")
    test, factors, notes = "three_way_interaction" if interaction else "three_way", FACTORS, []
    if frame["prior"].nunique() == 1:
        test, factors = "three_way", FACTORS[:2]
        notes = [
            "there is one prior only, so the three-way ANOVA is the two-way; evaluate at more by "
            "at_priors=[0.5, 0.1] (--at-priors 0.5,0.1)"
        ]
    return _fit_anova(frame, test, factors, sum_of_squares=sum_of_squares, alpha=alpha, notes=notes)


def threshold_anova(precision: pd.DataFrame, *, sum_of_squares: int = 2, alpha: float = 0.05) -> AnovaResult:
    """Analyse precision by a three-way ANOVA of model, prior and recall (Landgrebe et al. 2006, section 1).

    Do not use it as a test. It counts every point of a curve at every prior as an observation, so p decreases
    as the grid grows. Recall takes the place of the threshold, because models share no scale of scores.

    Parameters
    ----------
    precision : DataFrame
        From :func:`~skewanova.evaluation.precision_recall`; the folds are replicates, not blocks.
    sum_of_squares, alpha
        As for :func:`three_way_anova`.

    Returns
    -------
    AnovaResult
        Terms model, prior, recall, residual.

    Raises
    ------
    ValueError
        As :func:`two_way_anova`, and if there is one prior or one recall only.

    Warns
    -----
    SkewanovaWarning
        Always, with the number of observations per curve.

    Examples
    --------
    >>> import warnings
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> points = sa.evaluation.precision_recall(measures, recall=[0.3, 0.6, 0.9])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     result = sa.inference.threshold_anova(points)
    >>> result.to_frame()["term"].tolist()
    ['model', 'prior', 'recall', 'residual']
    """
    frame = check_frame(precision, ("model", "fold", "prior", "recall"), "precision")
    n_priors, n_recalls = frame["prior"].nunique(), frame["recall"].nunique()
    if min(n_priors, n_recalls) < 2:
        raise InputError(
            f"`prior` and `recall` must have at least 2 values, but have {n_priors} and {n_recalls}; use "
            + _SOURCES["precision"]
        )
    points = len(frame) / len(frame[["model", "fold"]].drop_duplicates())
    note = (
        f"this ANOVA makes {points:g} observations of every curve, so its F grows with the grid of recalls "
        "and priors; test the models by skewanova.compare(scores)"
    )
    test, factors = "three_way_thresholds", ("model", "prior", "recall")
    return _fit_anova(frame, test, factors, sum_of_squares=sum_of_squares, alpha=alpha, notes=[note])


#: What makes the frame of each response.
_SOURCES = {
    "iauprec": "skewanova.evaluate(scores).iauprec",
    "auprec": "skewanova.evaluate(scores).auprec",
    "precision": "skewanova.evaluation.precision_recall(skewanova.evaluate(scores))",
    "residual": "skewanova.inference.two_way_anova(skewanova.evaluate(scores).iauprec).residuals()",
    "reject": "skewanova.compare(scores).pairs",
    "estimate": "skewanova.compare(scores).pairs.query(\"role == 'primary'\")",
    "expected_auprec": "skewanova.decision.decision_table(skewanova.evaluate(scores))",
}


def check_columns(frame: object, columns: Sequence[str]) -> None:
    """Raise InputTypeError if `frame` is no DataFrame, InputError unless it has each of the columns once."""
    source = _SOURCES.get(columns[-1], "")
    if not isinstance(frame, pd.DataFrame):
        example = source or _SOURCES["iauprec"]
        raise InputTypeError(f"pass a pandas DataFrame such as {example}, not {checks.describe_type(frame)}")
    repeated = [column for column in columns if [*frame].count(column) > 1]
    if repeated:
        raise InputError(f"the frame has the column {repeated[0]} more than once; keep one of them")
    missing = [column for column in columns if column not in frame]
    if missing:
        remedy = f"; {source} has them" if source else ""
        extra = [name for name in frame if name == "value" or not ("value" in frame or name in columns)]
        if missing == ["iauprec"] and len(extra) == 1:
            remedy = f"; rename a measure of your own by frame.rename(columns={{{extra[0]!r}: 'iauprec'}})"
        raise InputError(
            f"the frame needs the columns {', '.join(columns)}, but lacks {', '.join(missing)}{remedy}"
        )


def check_frame(frame: pd.DataFrame, factors: Sequence[str], response: str) -> pd.DataFrame:
    """Return factors, response (floats), rows from 0; raise if not finite, repeated, one model or fold."""
    columns = [*factors, response]
    check_columns(frame, columns)
    cells = frame[columns].reset_index(drop=True)
    numbers = cells[response] = to_real_column(cells[response], response)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(
            f"`{response}` must be finite in every row, but is {numbers[bad[0]]} in row {bad[0]}; leave such "
            "rows out"
        )
    for factor in factors:
        if len(missing := np.flatnonzero(cells[factor].isna())):
            fault = f"is missing in {len(missing)}, the first row {missing[0]}; fill in or leave out those"
            raise InputError(f"`{factor}` must be given in every row, but {fault}")
    check_cells(cells, factors)
    return cells


def to_real_column(values: pd.Series[Any], name: str) -> Floats:
    """Return floats, nan if missing; raise InputTypeError unless real numbers, booleans or their text."""
    message = f"`{name}` must hold real numbers, but has dtype {values.dtype}"
    if values.dtype.kind in "cmM":  # complex numbers and dates would be cast
        raise InputTypeError(message)
    try:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as error:
        numbers = pd.to_numeric(values.astype(object).map(str), errors="coerce")
        row = int(np.argmax(numbers.isna() & values.notna()))
        bad = f"the first that is not a number is {values.iloc[row]!r:.40} in row {row}"
        raise InputTypeError(f"{message}; {bad}") from error


def check_cells(frame: pd.DataFrame, factors: Sequence[str]) -> None:
    """Raise InputError for under two models or folds, or a combination of the factors in several rows."""
    repeated = frame[frame.duplicated(list(factors))].astype(object)
    if len(repeated):
        cell = ", ".join(f"{f}={repeated.iloc[0][f]!r}" for f in factors)
        raise InputError(
            f"the frame must have one row for each {' and '.join(factors)}, but {len(repeated)} more rows "
            f"repeat one, the first {cell}; keep one row, or the mean, of each"
        )
    check_levels(frame["model"].nunique(dropna=False), frame["fold"].nunique(dropna=False))


def check_levels(n_models: int, n_folds: int) -> None:
    """Raise InputError unless there are at least two models and two folds."""
    if n_models < 2:
        raise InputError(f"a comparison needs at least 2 models, but has {n_models}; add models")
    if n_folds < 2:
        raise InputError(
            f"a test over folds needs at least 2 folds, but has {n_folds}; compare models on a single test "
            "set by skewanova.compare(scores), whose tests are over cases"
        )


def check_complete(values: Floats, response: str, **levels: Sequence[Any]) -> None:
    """Raise InputError if a value is not finite; `levels` are the names along each axis, for the message."""
    missing = np.argwhere(~np.isfinite(values))
    if len(missing):
        cell = [f"{f} {names[i]!r}" for (f, names), i in zip(levels.items(), missing[0], strict=True)]
        raise InputError(
            f"`{response}` must be present and finite for every {' and '.join(levels)}, but is not for "
            f"{len(missing)}, the first {' and '.join(cell)}; leave out all rows of each such "
            f"{' or '.join(levels)}"
        )


def _fit_anova(
    frame: pd.DataFrame,
    test: str,
    factors: Sequence[str],
    *,
    sum_of_squares: int,
    alpha: float,
    notes: Sequence[str] = (),
) -> AnovaResult:
    """Return a checked frame's ANOVA, response last (model:prior by `test`); warn of flat data, `notes`."""
    checks.check_sum_of_squares(sum_of_squares)
    checks.check_alpha(alpha)
    codes = {factor: np.asarray(pd.factorize(frame[factor])[0]) for factor in factors}
    response, crossed = str(frame.columns[-1]), test == "three_way_interaction"
    values = frame[response].to_numpy(dtype=np.float64)
    complete = "fold" in codes and len(values) == prod(int(code.max()) + 1 for code in codes.values())
    centred = values - values.mean()
    fit_table = CompleteFit if complete else partial(FormulaFit, sum_of_squares=sum_of_squares)
    fit: CompleteFit | FormulaFit = fit_table(centred, codes, crossed=crossed)
    limit = variation_limit(values)
    table, message = _build_f_table(fit.sums, limit)
    if test == "two_way":
        correlation = _breakdown_correlation(table.iloc[0], frame["fold"].nunique(), alpha)
        table.loc[0, "breakdown_correlation"] = correlation
    names = {"test": test, "role": "published", "response": response}
    return AnovaResult(
        **names,
        alpha=alpha,
        warnings=checks.warn_each([*notes, *message]),
        _table=table.assign(**names)[list(ANOVA_COLUMNS)],
        _frame=frame,
        _fit=fit,
        rounding=max(float(np.sqrt(limit / len(frame))), TINY) if message else 0.0,
    )


def check_anova(result: object) -> AnovaResult:
    """Return `result` itself if it is an AnovaResult, else raise InputTypeError, saying how to get one."""
    if not isinstance(result, AnovaResult):
        raise InputTypeError(
            f"`result` must be an AnovaResult (with priors, skewanova.inference.three_way_anova("
            f"{_SOURCES['auprec']})), such as skewanova.inference.two_way_anova({_SOURCES['iauprec']}), "
            f"but got {type(result).__name__}"
        )
    return result


def variation_limit(values: Floats) -> float:
    """Return the sum of squares about the mean up to which these values vary by rounding only."""
    total = float(((values - values.mean()) ** 2).sum())
    return max(MAX_ROUNDING_SHARE * total, values.size * (ROUNDING * float(np.abs(values).max())) ** 2)


def _build_f_table(sums: pd.DataFrame, limit: float) -> tuple[pd.DataFrame, list[str]]:
    """Return `sums` with F, p etc., and []; or if the error is rounding, with F inf or nan, and [message]."""
    table = sums.rename_axis("term").reset_index()
    table["mean_sq"] = table["sum_sq"] / table["df"]
    error, is_factor = table.iloc[-1], table["term"] != "residual"
    table["df_error"] = np.where(is_factor, error["df"], np.nan)
    table["partial_eta_sq"] = (table["sum_sq"] / (table["sum_sq"] + error["sum_sq"])).where(is_factor)
    table["breakdown_correlation"] = np.nan
    if error["sum_sq"] > limit:
        table["statistic"] = (table["mean_sq"] / error["mean_sq"]).where(is_factor)
        return table.assign(p_value=stats.f.sf(table["statistic"], table["df"], error["df"])), []
    effect = (table["sum_sq"] > limit) & is_factor  # F is infinite, or nan without effect
    table["statistic"], table["p_value"] = np.where(effect, np.inf, np.nan), np.where(effect, 0.0, np.nan)
    return table, [NO_RESIDUAL_VARIATION if effect[0] else IDENTICAL_MODELS]


def _breakdown_correlation(model: pd.Series[Any], n_folds: int, alpha: float) -> float:
    """Return rho between folds for F / (1 + J rho / (1 - rho)) = F_crit; 1 if F is inf, nan up to F_crit."""
    critical = stats.f.isf(alpha, model["df"], model["df_error"])
    excess = (model["statistic"] / critical - 1) / n_folds
    if np.isinf(excess):
        return 1.0
    return float(excess / (1 + excess)) if excess > 0 else np.nan
