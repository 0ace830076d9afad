"""Split-plot and mixed-model analysis of variance, and random-effects meta-analysis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.linalg import helmert
from scipy.optimize import brentq

from skewanova.base.checks import Floats, InputError, warn_each
from skewanova.evaluation.measures import Evaluation, resolve_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.anova import (
    FACTORS,
    check_cells,
    check_columns,
    check_complete,
    check_frame,
    variation_limit,
)
from skewanova.inference.fold_statistics import FTest
from skewanova.inference.omnibus import OmnibusResult, degenerate_result, make_effect_row, make_omnibus_result
from skewanova.inference.sampling import Codes


def split_plot_anova(
    auprec: Evaluation | pd.DataFrame, *, ratio: float | None = None, role: str = "secondary"
) -> OmnibusResult:
    """Analyse AUPREC by a split plot: models, priors and model:prior, each against its fold interaction.

    Parameters
    ----------
    auprec : Evaluation or DataFrame
        Every cell once; a frame has the columns model, fold, prior, auprec, and no design.
    ratio : float, optional
        Test cases for each training case, needed where a frame is given; 0 for independent folds.
    role : str, default "secondary"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        Terms model, prior, model:prior with Greenhouse and Geisser's degrees of freedom, as the test
        ``repeated_measures`` (``corrected_gg`` if folds share training data) of the response auprec.

    Raises
    ------
    ValueError
        If a cell is missing, there are fewer than 2 models, folds or priors, or `ratio` is missing.

    References
    ----------
    Equal to the strata of R's ``aov(auprec ~ model * prior + Error(fold / (model * prior)))``, with the
    corrections of ``afex::aov_ez``.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.split_plot_anova(measures).to_frame()["term"].tolist()
    ['model', 'prior', 'model:prior']
    """
    frame, ratio = resolve_ratio(auprec, "auprec", ratio, needed="the split plot")
    test = "corrected_gg" if ratio > 0 else "repeated_measures"
    names = {"test": test, "role": role, "response": "auprec"}
    rows, notes = [], []
    for term, contrasts, degenerate in _iter_split_plot_terms(frame):
        f_test = (
            fold_statistics.contrast_test(contrasts, inflation=1 + len(contrasts) * ratio)
            if degenerate is None
            else degenerate[0]
        )
        rows.append(make_effect_row(f_test, contrasts, **names, term=term))
        notes += [degenerate[1]] if degenerate and term == "model" else []
    return OmnibusResult(**names, warnings=warn_each(notes), _table=pd.concat(rows, ignore_index=True))


def sphericity(auprec: pd.DataFrame) -> pd.DataFrame:
    """Test the sphericity of the contrasts in :func:`~skewanova.inference.split_plot_anova`.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; every cell once.

    Returns
    -------
    DataFrame
        Columns term, mauchly_w, mauchly_p, epsilon_gg, epsilon_hf, p_uncorrected, p_gg, p_hf; nan where there
        are too few folds for Mauchly's test, one contrast, or no variation over folds.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.sphericity(measures.auprec)["term"].tolist()
    ['model', 'prior', 'model:prior']
    """
    rows: list[tuple[object, ...]] = []
    for term, contrasts, degenerate in _iter_split_plot_terms(auprec):
        if degenerate:
            rows.append((term, *[np.nan] * 7))
            continue
        n_folds, size = contrasts.shape
        cov = fold_statistics.fold_covariance(contrasts)
        gg = float(fold_statistics.epsilon_gg(cov))
        hf = float(fold_statistics.epsilon_hf(np.asarray(gg), size, n_folds))
        w, p = fold_statistics.mauchly(cov, n_folds) if 1 < size < n_folds else (np.nan, np.nan)
        f_value = fold_statistics.contrast_f(contrasts)[0]
        p_values = [stats.f.sf(f_value, e * size, e * size * (n_folds - 1)) for e in (1.0, gg, hf)]
        rows.append((term, float(w), float(p), gg, hf, *map(float, p_values)))
    columns = ["term", "mauchly_w", "mauchly_p", "epsilon_gg", "epsilon_hf", "p_uncorrected", "p_gg", "p_hf"]
    return pd.DataFrame(rows, columns=columns)


def _iter_split_plot_terms(auprec: pd.DataFrame) -> Iterator[tuple[str, Floats, tuple[FTest, str] | None]]:
    """Yield terms with contrast scores (n_folds, df), and F if there is no variation over folds."""
    check_columns(auprec, (*FACTORS, "auprec"))
    check_cells(auprec, FACTORS)
    models, folds, priors = (list(dict.fromkeys(auprec[factor])) for factor in FACTORS)
    if len(priors) < 2:
        raise InputError(
            "a split plot needs at least 2 priors, but has 1; evaluate at more by "
            "skewanova.evaluate(scores, at_priors=(0.5, 0.1))"
        )
    wide = auprec.pivot(index="fold", columns=["model", "prior"], values="auprec")
    cells = pd.MultiIndex.from_product([models, priors])
    values = wide.reindex(index=folds, columns=cells).to_numpy(dtype=np.float64)
    cube = values.reshape(len(folds), len(models), len(priors))
    check_complete(cube, "auprec", fold=folds, model=models, prior=priors)
    by_model = np.einsum("cm,jmp->jcp", helmert(len(models)), cube)
    by_prior = np.einsum("dp,jmp->jdm", helmert(len(priors)), cube)
    both = np.einsum("dp,jcp->jcd", helmert(len(priors)), by_model)
    limit = variation_limit(auprec["auprec"].to_numpy(dtype=np.float64))
    for term, contrasts in (
        ("model", by_model.sum(axis=-1) / np.sqrt(len(priors))),
        ("prior", by_prior.sum(axis=-1) / np.sqrt(len(models))),
        ("model:prior", both.reshape(len(folds), -1)),
    ):
        _, effect, error = fold_statistics.contrast_f(contrasts)
        df = contrasts.shape[1], contrasts.shape[1] * (len(folds) - 1)
        yield term, contrasts, degenerate_result(float(effect), float(error), limit=limit, df=df)


#: Grid of ratios of the variance between folds to the residual variance, for the search of the likelihood.
VARIANCE_RATIOS = np.concatenate(([0.0], np.geomspace(1e-6, 1e12, 91)))


def mixed_model_anova(iauprec: pd.DataFrame, *, role: str = "secondary") -> OmnibusResult:
    """Test the models of an incomplete table by a mixed model with random folds.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; cells may be missing.
    role : str, default "secondary"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model: the Wald statistic over its degrees of freedom as F, with the residual degrees of
        freedom ``n_cells - n_folds - n_models + 1``. With a complete table that is the blocked F test.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, no residual degrees of freedom, a cell occurs twice or is
        not finite.

    Notes
    -----
    The fit is by restricted maximum likelihood, as R's ``lme4::lmer(iauprec ~ model + (1 | fold))``. Its one
    variance ratio is solved for exactly, because general optimisers may stop with F off by a percent.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.inference import mixed_model_anova
    >>> frame = pd.DataFrame({
    ...     "model": list("AAAABBB"), "fold": [1, 2, 3, 4, 1, 2, 3],
    ...     "iauprec": [0.70, 0.74, 0.71, 0.75, 0.78, 0.80, 0.81],
    ... })
    >>> mixed_model_anova(frame).to_frame()[["df", "df_error", "statistic", "p_value"]].round(3)
        df  df_error  statistic  p_value
    0  1.0       2.0     41.275    0.023
    """
    values = check_frame(iauprec, ("model", "fold"), "iauprec")["iauprec"].to_numpy(dtype=np.float64)
    model, models = pd.factorize(iauprec["model"])
    fold, folds = pd.factorize(iauprec["fold"])
    df, df_error = len(models) - 1, len(values) - len(folds) - len(models) + 1
    if df_error < 1:
        raise InputError(
            f"a mixed model of {len(models)} models and {len(folds)} folds needs at least "
            f"{len(models) + len(folds)} rows, but has {len(values)}; add folds"
        )
    design = np.column_stack([np.ones(len(values)), model[:, None] == np.arange(1, len(models))])
    sums = _sums_of_squares(values, design, fold)
    flat = degenerate_result(*sums, limit=variation_limit(values), df=(df, df_error))
    if flat is not None:
        return make_omnibus_result("mixed", role, flat[0], notes=[flat[1]])
    best = _maximise_likelihood((values - values.mean()) / values.std(), design, fold)
    numbers = best.wald_f, df, df_error, stats.f.sf(best.wald_f, df, df_error)
    f_test = FTest(*map(np.asarray, numbers))
    note = "the mixed model finds no variation between folds, so F is that of a one-way ANOVA"
    notes = [note] if best.ratio == 0 else []
    return make_omnibus_result("mixed", role, f_test, notes=notes)


def _sums_of_squares(values: Floats, design: Floats, fold: Codes) -> tuple[float, float]:
    table = np.column_stack([values, design[:, 1:]])
    within = table - (_sum_by_fold(table, fold) / np.bincount(fold)[:, None])[fold]
    effect = np.linalg.lstsq(within[:, 1:], within[:, 0], rcond=None)[0]
    error = float(((within[:, 0] - within[:, 1:] @ effect) ** 2).sum())
    return float((within[:, 0] ** 2).sum()) - error, error


def _sum_by_fold(table: Floats, fold: Codes) -> Floats:
    sums = np.zeros((int(fold.max()) + 1, table.shape[1]))
    np.add.at(sums, fold, table)
    return sums


class _Likelihood(NamedTuple):
    """Restricted likelihood at one variance ratio: deviance, its slope, and the Wald F."""

    ratio: float
    deviance: float
    slope: float
    wald_f: float


def _maximise_likelihood(values: Floats, design: Floats, fold: Codes) -> _Likelihood:
    """Return the restricted likelihood at its maximum over the variance ratio."""
    grid = [_restricted_likelihood(ratio, values, design, fold) for ratio in VARIANCE_RATIOS]
    optima = grid[:1] if grid[0].slope >= 0 else []
    for low, high in pairwise(grid):
        if low.slope < 0 <= high.slope:
            ratio = brentq(
                lambda r: _restricted_likelihood(r, values, design, fold).slope,
                low.ratio,
                high.ratio,
                xtol=1e-18,
                rtol=1e-14,
            )
            optima.append(_restricted_likelihood(ratio, values, design, fold))
    return min(optima, key=lambda likelihood: likelihood.deviance, default=grid[-1])


def _restricted_likelihood(ratio: float, values: Floats, design: Floats, fold: Codes) -> _Likelihood:
    """Return the profile likelihood for V = I + ratio Z Z', Z the membership of folds."""
    n_cells, n_effects = design.shape
    count = np.bincount(fold)
    shrink = 1 / (1 + count * ratio)  # Z' V^-1 = diag(shrink) Z'
    x_sum, y_sum = _sum_by_fold(design, fold), np.bincount(fold, weights=values)
    weight = ratio * shrink
    cross = design.T @ design - (x_sum.T * weight) @ x_sum  # X' V^-1 X
    inverse = np.linalg.inv(cross)
    effect = inverse @ (design.T @ values - (x_sum.T * weight) @ y_sum)
    residual = values - design @ effect
    total = np.bincount(fold, weights=residual)  # Z' P y = shrink * total
    rest = ((residual - (total / count)[fold]) ** 2).sum() + (shrink * total**2 / count).sum()  # y' P y
    df = n_cells - n_effects
    trace = (count * shrink).sum() - np.trace(inverse @ (x_sum.T * shrink**2) @ x_sum)
    deviance = df * np.log(rest) - np.log(shrink).sum() + np.linalg.slogdet(cross)[1]
    wald = effect[1:] @ np.linalg.solve(inverse[1:, 1:], effect[1:]) / (rest / df) / (n_effects - 1)
    slope = trace - df * ((shrink * total) ** 2).sum() / rest
    return _Likelihood(*map(float, (ratio, deviance, slope, wald)))


class MetaAnalysis(NamedTuple):
    """Mean effect over studies, and how much the studies differ beyond their errors."""

    estimate: float
    std_error: float
    df: int
    statistic: float
    p_value: float
    tau: float
    q: float
    q_p_value: float
    i_sq: float


def estimate_mean_effect(effects: Floats, variances: Floats, *, robust: bool = True) -> MetaAnalysis:
    """Return a random-effects meta-analysis with Paule and Mandel's (1982) variance, by t on k - 1 df.

    With that variance Hartung and Knapp's (2001) standard error equals the ordinary one. Both take the
    weights for exact, so the larger of it and the robust one is used (Sidik and Jonkman 2006). Without
    `robust` .07 of tables are rejected at .05 (docs/studies/datasets.md). statsmodels' combine_effects is off
    by up to 2.4e-7 in tau, and with a smaller tolerance it sometimes returns no variance.
    """
    df = len(effects) - 1
    if not (variances > 0).all():
        return MetaAnalysis(float(effects.mean()), *(np.nan,), df, *[np.nan] * 6)
    between = _paule_mandel_variance(effects, variances)
    weight = 1 / (variances + between)
    estimate = float(weight @ effects / weight.sum())
    std_error = float(weight.sum() ** -0.5)
    if robust:
        std_error = max(std_error, _robust_std_error(effects - estimate, weight / weight.sum()))
    statistic = estimate / std_error
    q = _cochran_q(effects, 1 / variances)
    typical = _typical_variance(variances)
    return MetaAnalysis(
        estimate=estimate,
        std_error=std_error,
        df=df,
        statistic=statistic,
        p_value=float(2 * special.stdtr(df, -abs(statistic))),
        tau=float(np.sqrt(between)),
        q=q,
        q_p_value=float(special.chdtrc(df, q)),
        i_sq=float(between / (between + typical)),
    )


def _robust_std_error(residual: Floats, share: Floats) -> float:
    """Return the HC2 standard error of a weighted mean, which holds for any variances."""
    rest = np.maximum(1 - share, np.finfo(float).tiny)  # a study with all of the weight has no residual
    return float(np.sqrt((share**2 * residual**2 / rest).sum()))


def _cochran_q(effects: Floats, weight: Floats) -> float:
    """Return the weighted sum of squares about the weighted mean (Cochran 1954)."""
    mean = weight @ effects / weight.sum()
    return float(weight @ (effects - mean) ** 2)


def _paule_mandel_variance(effects: Floats, variances: Floats) -> float:
    """Return the variance between studies at which Cochran's Q equals k - 1."""
    df = len(effects) - 1

    def excess(between: float) -> float:
        return _cochran_q(effects, 1 / (variances + between)) - df

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.ptp(effects) ** 2 * len(effects))  # there, the sum is below (k - 1)
    return float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-14))


def _typical_variance(variances: Floats) -> float:
    """Return the error variance of a typical study (Higgins and Thompson 2002)."""
    # the square of the sum less the sum of squares is rounding where one study has nearly all the weight
    least = variances.min()
    weight = least / variances
    before, after = np.append(0.0, weight[:-1]), np.append(weight[1:], 0.0)
    others = np.cumsum(before) + np.cumsum(after[::-1])[::-1]
    return float((len(weight) - 1) * weight.sum() / (weight @ others) * least)
