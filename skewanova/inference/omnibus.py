"""Omnibus tests, of all models at once: over folds, by a split plot, and by a mixed model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.linalg import helmert
from scipy.optimize import brentq

from skewanova.base.checks import Floats, InputError, Seed, check_choice, warn_each
from skewanova.evaluation.measures import Evaluation, half_differences, resolve_ratio
from skewanova.inference import anova, fold_statistics
from skewanova.inference.anova import HypothesisTest
from skewanova.inference.catalogue import TestInfo, get_test
from skewanova.inference.fold_statistics import FTest, contrast_f, model_contrasts
from skewanova.inference.sampling import Codes


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


def build_fold_table(frame: pd.DataFrame) -> tuple[Floats, list[str]]:
    """Return IAUPREC (n_folds, n_models), models as they first occur; raise for missing, repeated cells."""
    values, levels = _build_cell_table(frame, ("fold", "model"), "iauprec")
    return values, levels["model"]


def _build_cell_table(
    frame: pd.DataFrame, factors: Sequence[str], response: str
) -> tuple[Floats, dict[str, list[Any]]]:
    """Return a complete response (or raise), an axis a factor, and levels by factor as they first occur."""
    ordered = [factor for factor in anova.FACTORS if factor in factors]
    anova.check_columns(frame, (*ordered, response))
    anova.check_cells(frame, ordered)
    codes, names = zip(*(pd.factorize(frame[f], use_na_sentinel=False) for f in factors), strict=True)
    levels = {factor: list(each) for factor, each in zip(factors, names, strict=True)}
    values = np.full([len(each) for each in names], np.nan)
    values[codes] = anova.to_real_column(frame[response], response)
    anova.check_complete(values, response, **levels)
    return values, levels


def find_degenerate(values: Floats, contrasts: Floats | None = None) -> tuple[FTest, str] | None:
    """Return F (inf or nan) and a note if contrasts (of models) have rounding errors only, else None."""
    scores = model_contrasts(values) if contrasts is None else contrasts
    _, effect, error = map(float, contrast_f(scores))
    n_folds, size = scores.shape
    return degenerate_result(
        effect, error, limit=anova.variation_limit(values), df=(size, size * (n_folds - 1))
    )


def degenerate_result(
    effect: float, error: float, *, limit: float, df: tuple[float, float]
) -> tuple[FTest, str] | None:
    """Return F (inf, or nan without effect) and a note if the error sum of squares is rounding, else None."""
    if error > limit:
        return None
    statistic, p_value = (np.nan, np.nan) if effect <= limit else (np.inf, 0.0)
    test = FTest(*(np.asarray(v) for v in (statistic, *df, p_value)))
    return test, anova.IDENTICAL_MODELS if effect <= limit else anova.NO_RESIDUAL_VARIATION


def make_omnibus_result(
    test: str, role: str, f_test: FTest, *, contrasts: Floats | None = None, note: str = ""
) -> OmnibusResult:
    """Return the result with one row, the term model, with sums of squares of contrasts; warn of the note."""
    names = {"test": test, "role": role, "response": "iauprec"}
    table = make_effect_row(f_test, contrasts, **names, term="model")
    return OmnibusResult(**names, warnings=warn_each([note] * bool(note)), _table=table)


def make_effect_row(f_test: FTest, contrasts: Floats | None, **names: str) -> pd.DataFrame:
    """Return an ANOVA row: names, FTest; sum_sq, mean_sq, partial_eta_sq (of F), nan without contrasts."""
    row: dict[str, Any] = {**names, **{key: float(value) for key, value in f_test._asdict().items()}}
    if contrasts is not None:
        effect = float(contrast_f(contrasts).sum_sq)
        row |= {"sum_sq": effect, "mean_sq": effect / contrasts.shape[-1]}
        scaled = row["statistic"] * row["df"]
        row["partial_eta_sq"] = 1.0 if np.isposinf(scaled) else scaled / (scaled + row["df_error"])
    return pd.DataFrame([row]).reindex(columns=list(anova.ANOVA_COLUMNS))


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
        One row, the term model: F, df, df_error, p and, but for ``friedman``, sum_sq and partial_eta_sq.
        Without residual variation F is inf, or nan for identical models, with a warning but for ranks.

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
        _check_has_full_rank(values, halves, models, method)
    inflation = 1 + len(values) * ratio
    needs = kernel_arguments(test, inflation=inflation, halves=halves, n_resamples=n_resamples, rng=rng)
    if test.uses_ranks:
        return make_omnibus_result(method, role, KERNELS[method](values, **needs))
    varied = halves is not None and find_degenerate(halves) is None
    degenerate = None if varied else find_degenerate(values)
    f_test, note = degenerate or (KERNELS[method](values, **needs), "")
    return make_omnibus_result(method, role, f_test, contrasts=model_contrasts(values), note=note)


def kernel_arguments(test: TestInfo, **options: Any) -> dict[str, Any]:
    """Return those of the options inflation, halves, n_resamples and rng that a test needs."""
    needs = {"inflation": test.needs_ratio, "halves": test.needs_halvings}
    return {name: value for name, value in options.items() if needs.get(name, test.needs_draws)}


def _resampling_f_test(values: Floats, *, rearrange: Callable[..., Floats], **draws: Any) -> FTest:
    """Return the blocked F of (n_folds, n_models), with sign-flip or permutation p-value by `rearrange`."""
    return fold_statistics.blocked_test(values)._replace(p_value=rearrange(values, **draws))


KERNELS: dict[str, Callable[..., FTest]] = {
    "repeated_measures": fold_statistics.gg_test,
    "hotelling": fold_statistics.hotelling_test,
    "friedman": fold_statistics.friedman_test,
    "sign_flip": partial(_resampling_f_test, rearrange=fold_statistics.sign_flip_test),
    "permutation": partial(_resampling_f_test, rearrange=fold_statistics.permutation_test),
    "corrected_f": fold_statistics.blocked_test,
    "corrected_gg": fold_statistics.gg_test,
    "corrected_hotelling": fold_statistics.hotelling_test,
    "split_half_gg": fold_statistics.gg_test,
    "split_half_hotelling": fold_statistics.hotelling_test,
}


#: Omnibus tests over folds.
OMNIBUS_TESTS = tuple(KERNELS)


def _check_has_full_rank(
    values: Floats, halves: Floats | None, models: Sequence[object], method: str
) -> None:
    """Raise InputError if Hotelling's covariance is singular: few folds or halvings, or dependent models."""
    n_models = values.shape[1]
    unit, n_needed = ("folds", n_models) if halves is None else ("halvings", n_models - 1)
    if (n_units := len(values if halves is None else halves)) < n_needed:
        univariate = "repeated_measures" if method == "hotelling" else method.replace("hotelling", "gg")
        raise InputError(
            f"Hotelling's test of {n_models} models needs at least {n_needed} {unit}, but has {n_units}; add "
            f"{unit}, or use method={univariate!r}"
        )
    if halves is not None and fold_statistics.has_full_rank(np.concatenate([halves, -halves])):
        return
    if not fold_statistics.has_full_rank(values) and find_degenerate(values) is None:
        basis: list[int] = []
        for i in range(n_models):
            basis += [i] * fold_statistics.has_full_rank(values[:, [*basis, i]])
        alike = ", ".join(repr(model) for i, model in enumerate(models) if i not in basis)
        raise InputError(
            "Hotelling's test needs a covariance of full rank, but the changes over folds of other models "
            f"determine those of {alike}; leave that out"
        )


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
        ``repeated_measures`` (``corrected_gg`` if folds share training data) of the response auprec. They
        equal the strata of R's ``aov(auprec ~ model * prior + Error(fold / (model * prior)))``, with the
        corrections of ``afex::aov_ez``. Without an error F is inf, or nan without effect; for models with a
        warning.

    Raises
    ------
    ValueError
        If a cell is missing, there are fewer than 2 models, folds or priors, or `ratio` is missing.

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
        inflation = 1 + len(contrasts) * ratio
        f_test, note = degenerate or (fold_statistics.contrast_test(contrasts, inflation=inflation), "")
        rows.append(make_effect_row(f_test, contrasts, **names, term=term))
        notes += [note] * (term == "model" and note != "")
    return OmnibusResult(**names, warnings=warn_each(notes), _table=pd.concat(rows, ignore_index=True))


def sphericity(auprec: pd.DataFrame) -> pd.DataFrame:
    """Test the sphericity of the contrasts in :func:`~skewanova.inference.split_plot_anova`.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; every cell once, at two or more priors.

    Returns
    -------
    DataFrame
        Rows model, prior, model:prior: term, mauchly_w, mauchly_p, epsilon_gg, epsilon_hf; p_uncorrected,
        p_gg, p_hf, the p-values of F without epsilon and with either. Mauchly's test is nan with one contrast
        or no more folds than contrasts, and all columns without variation over folds.

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
        f_value = contrast_f(contrasts).statistic
        p_values = [stats.f.sf(f_value, e * size, e * size * (n_folds - 1)) for e in (1.0, gg, hf)]
        rows.append((term, float(w), float(p), gg, hf, *map(float, p_values)))
    columns = ["term", "mauchly_w", "mauchly_p", "epsilon_gg", "epsilon_hf", "p_uncorrected", "p_gg", "p_hf"]
    return pd.DataFrame(rows, columns=columns)


def _iter_split_plot_terms(auprec: pd.DataFrame) -> Iterator[tuple[str, Floats, tuple[FTest, str] | None]]:
    """Yield term, contrast scores (n_folds, df), (F, note) if these are flat or None; raise for one prior."""
    cube, _ = _build_cell_table(auprec, ("fold", "model", "prior"), "auprec")
    n_folds, n_models, n_priors = cube.shape
    if n_priors < 2:
        raise InputError(
            "the test needs at least 2 priors, but has 1; evaluate at more by "
            "skewanova.evaluate(scores, at_priors=(0.5, 0.1))"
        )
    by_model = np.einsum("cm,jmp->jcp", helmert(n_models), cube)
    by_prior = np.einsum("dp,jmp->jdm", helmert(n_priors), cube)
    both = np.einsum("dp,jcp->jcd", helmert(n_priors), by_model)
    for term, contrasts in (
        ("model", by_model.sum(axis=-1) / np.sqrt(n_priors)),
        ("prior", by_prior.sum(axis=-1) / np.sqrt(n_models)),
        ("model:prior", both.reshape(n_folds, -1)),
    ):
        yield term, contrasts, find_degenerate(cube, contrasts)


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
        freedom ``n_cells - n_folds - n_models + 1``. With a complete table that is the blocked F test. The
        fit is by restricted maximum likelihood, as R's ``lme4::lmer(iauprec ~ model + (1 | fold))``. Its one
        variance ratio is solved for exactly, because general optimisers may stop with F off by a percent. If
        it is 0, F is that of a one-way ANOVA, with a warning.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, no residual degrees of freedom, a cell occurs twice or is
        not finite.

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
    values = anova.check_frame(iauprec, ("model", "fold"), "iauprec")["iauprec"].to_numpy(dtype=np.float64)
    model, models = pd.factorize(iauprec["model"])
    fold, folds = pd.factorize(iauprec["fold"])
    df, df_error = len(models) - 1, len(values) - len(folds) - len(models) + 1
    if df_error < 1:
        raise InputError(
            f"a mixed model of {len(models)} models and {len(folds)} folds needs at least "
            f"{len(models) + len(folds)} rows, but has {len(values)}; add the missing rows"
        )
    design = np.column_stack([np.ones(len(values)), model[:, None] == np.arange(1, len(models))])
    sums = _sums_of_squares(values, design, fold)
    flat = degenerate_result(*sums, limit=anova.variation_limit(values), df=(df, df_error))
    if flat is not None:
        return make_omnibus_result("mixed", role, flat[0], note=flat[1])
    best = _maximise_likelihood((values - values.mean()) / values.std(), design, fold)
    f_test = fold_statistics.make_f_test(np.asarray(best.wald_f), df, df_error)
    note = "the mixed model finds no variation between folds, so F is that of a one-way ANOVA"
    return make_omnibus_result("mixed", role, f_test, note=note * (best.ratio == 0))


def _sums_of_squares(values: Floats, design: Floats, fold: Codes) -> tuple[float, float]:
    """Return sums of squares within folds, of models (`design` but its first column) and of the error."""
    table = np.column_stack([values, design[:, 1:]])
    within = table - (_sum_by_fold(table, fold) / np.bincount(fold)[:, None])[fold]
    effect = np.linalg.lstsq(within[:, 1:], within[:, 0], rcond=None)[0]
    error = float(((within[:, 0] - within[:, 1:] @ effect) ** 2).sum())
    return float((within[:, 0] ** 2).sum()) - error, error


def _sum_by_fold(table: Floats, fold: Codes) -> Floats:
    """Return the sums (n_folds, n_columns) of the rows of every fold."""
    return np.column_stack([np.bincount(fold, weights=column) for column in table.T])


class _Likelihood(NamedTuple):
    """Restricted likelihood at one variance ratio: deviance, its slope, and the Wald F."""

    ratio: float
    deviance: float
    slope: float
    wald_f: float


def _maximise_likelihood(values: Floats, design: Floats, fold: Codes) -> _Likelihood:
    """Return the restricted likelihood at its maximum over the variance ratio, fold over residual."""
    likelihood = partial(_restricted_likelihood, values=values, design=design, fold=fold)
    grid = [likelihood(ratio) for ratio in VARIANCE_RATIOS]
    optima = grid[:1] if grid[0].slope >= 0 else []
    for low, high in pairwise(grid):
        if low.slope < 0 <= high.slope:
            limits = low.ratio, high.ratio
            ratio = brentq(lambda r: likelihood(r).slope, *limits, xtol=1e-18, rtol=1e-14)
            optima.append(likelihood(ratio))
    return min(optima, key=lambda each: each.deviance, default=grid[-1])


def _restricted_likelihood(ratio: float, values: Floats, design: Floats, fold: Codes) -> _Likelihood:
    """Return ratio, deviance, its slope and Wald F at V = I + ratio Z Z', Z the indicators of the folds."""
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
