"""Tests of all models at once on the fold x model table, beside the paper's ANOVAs: same rows, same columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, InputError, Seed, emit
from skewanova._fold_kernels import FTest
from skewanova.anova import ANOVA_COLUMNS
from skewanova.resampling import Resampled, permutation_test, sign_flip_test

ROLES = ("headline", "as_published", "check")

OMNIBUS_LABELS = {
    "repeated_measures": (
        "Models against model:fold with Greenhouse and Geisser's degrees of freedom. Valid when folds are "
        "independent."
    ),
    "hotelling": "Hotelling's T2 on contrasts between models. Valid when folds are independent.",
    "friedman": "Friedman's ranks with Iman and Davenport's F. Valid when folds are independent.",
    "permutation": "Permutation of models within folds. Valid when folds are independent and models spread alike.",
    "sign_flip": "Sign flips of whole fold profiles. Valid when folds are independent and symmetric.",
    "mixed": "Mixed model with random folds, for tables with missing cells. Valid when folds are independent.",
    "corrected_f": "2-way F corrected for shared training data (Nadeau and Bengio 2003).",
    "corrected_gg": (
        "2-way F with Greenhouse and Geisser's degrees of freedom, corrected for shared training data (Nadeau "
        "and Bengio 2003)."
    ),
    "corrected_hotelling": (
        "Hotelling's T2 on contrasts between models, corrected for shared training data (Nadeau and Bengio 2003)."
    ),
}


@dataclass(frozen=True, eq=False)
class OmnibusResult:
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
        As :func:`fold_table`.

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
    return _f_result("repeated_measures", role, kernels.gg_test(values), values)


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
        As :func:`fold_table`; if `ratio` is negative, or Hotelling's test has fewer folds than models.

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
    if not (np.isfinite(ratio) and ratio >= 0):
        raise InputError(f"`ratio` must be a number of test cases for each training case, but got {ratio:g}")
    values, _ = fold_table(iauprec)
    inflation = 1 + len(values) * ratio
    if method == "corrected_hotelling":
        _check_enough_folds(values)
        return _f_result(method, role, kernels.hotelling_test(values, inflation=inflation), values)
    tests = {"corrected_f": kernels.blocked_test, "corrected_gg": kernels.gg_test}
    if method not in tests:
        raise InputError(
            f"`method` must be corrected_f, corrected_gg or corrected_hotelling; but got {method!r}"
        )
    return _f_result(method, role, tests[method](values, inflation=inflation), values)


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
        As :func:`fold_table`; if there are fewer folds than models.

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
    return _f_result("hotelling", role, kernels.hotelling_test(values), values)


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
        As :func:`fold_table`.

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
    return _f_result("friedman", role, kernels.friedman_test(values), None)


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
        As :func:`fold_table`; if the method is unknown.

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
    found: Resampled = tests[method](values, n_resamples=n_resamples, rng=rng)
    blocked = kernels.blocked_test(values)
    return _f_result(method, role, blocked._replace(p_value=found.p_value), values)


def mixed_model_anova(iauprec: pd.DataFrame, *, role: str = "check") -> OmnibusResult:
    """Test of the models where cells are missing: folds random, model:fold the residual.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; cells may be missing.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model. The Wald statistic over its degrees of freedom is referred to F with the residual
        degrees of freedom of the table, ``n_cells - n_folds - n_models + 1``: with a complete table that is
        the blocked F test, where the Wald chi-square of the software would reject too often.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, or no residual degrees of freedom.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, mixed_model_anova
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> mixed_model_anova(measures.iauprec.iloc[1:]).to_frame()["df_error"].tolist()
    [37.0]
    """
    coded = pd.DataFrame(
        {
            "y": iauprec["iauprec"].to_numpy(dtype=np.float64),
            "m": pd.factorize(iauprec["model"])[0],
            "f": pd.factorize(iauprec["fold"])[0],
        }
    )
    n_models, n_folds = coded["m"].nunique(), coded["f"].nunique()
    df_error = len(coded) - n_folds - n_models + 1
    if min(n_models, n_folds) < 2 or df_error < 1:
        raise InputError(
            f"a mixed model needs 2 models, 2 folds and cells to spare, but has {n_models} models, {n_folds} "
            f"folds and {len(coded)} cells"
        )
    statistic, notes = _wald_f(coded, n_models)
    test = FTest(
        *(
            np.asarray(v)
            for v in (statistic, n_models - 1, df_error, stats.f.sf(statistic, n_models - 1, df_error))
        )
    )
    return _f_result("mixed", role, test, None, notes)


def split_plot_anova(auprec: pd.DataFrame, *, ratio: float = 0.0, role: str = "check") -> OmnibusResult:
    """Models, priors and their interaction as within-fold factors: each against its own interaction with folds.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; every cell once.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        Terms model, prior, model:prior with Greenhouse and Geisser's degrees of freedom, as the test
        ``repeated_measures`` (``corrected_gg`` if `ratio` is positive) of the response auprec. Unlike the
        3-way ANOVA it does not take the values at several priors for independent.

    Raises
    ------
    ValueError
        If a cell is missing, or there are fewer than 2 models, folds or priors.

    References
    ----------
    Equal to the strata of R's ``aov(auprec ~ model * prior + Error(fold / (model * prior)))``, with the
    corrections of ``afex::aov_ez``.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, split_plot_anova
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> split_plot_anova(measures.auprec).to_frame()["term"].tolist()
    ['model', 'prior', 'model:prior']
    """
    test = "corrected_gg" if ratio > 0 else "repeated_measures"
    scores = _split_plot_contrasts(auprec)
    rows = [
        _row(
            test,
            role,
            "auprec",
            term,
            kernels.contrast_test(values, inflation=1 + len(values) * ratio),
            values,
        )
        for term, values in scores.items()
    ]
    return OmnibusResult(test, role, "auprec", OMNIBUS_LABELS[test], (), pd.concat(rows, ignore_index=True))


def sphericity(auprec: pd.DataFrame) -> pd.DataFrame:
    """Sphericity of the contrasts behind :func:`split_plot_anova`.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; every cell once.

    Returns
    -------
    DataFrame
        Columns term, mauchly_w, mauchly_p, epsilon_gg, epsilon_hf, p_uncorrected, p_gg, p_hf; Mauchly's test
        is nan where there are too few folds for it, or nothing to test (one contrast).

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, sphericity
    >>> sphericity(evaluate(load_satellite_scores(), priors=(0.5, 0.2)).auprec)["term"].tolist()
    ['model', 'prior', 'model:prior']
    """
    rows = []
    for term, values in _split_plot_contrasts(auprec).items():
        n_folds, size = values.shape
        cov = kernels.fold_covariance(values)
        gg = float(kernels.epsilon_gg(cov))
        hf = float(kernels.epsilon_hf(np.asarray(gg), size, n_folds))
        w, p = kernels.mauchly(cov, n_folds) if 1 < size < n_folds else (np.nan, np.nan)
        f_value = kernels.contrast_f(values)[0]
        p_values = [stats.f.sf(f_value, e * size, e * size * (n_folds - 1)) for e in (1.0, gg, hf)]
        rows.append((term, float(w), float(p), gg, hf, *map(float, p_values)))
    columns = ["term", "mauchly_w", "mauchly_p", "epsilon_gg", "epsilon_hf", "p_uncorrected", "p_gg", "p_hf"]
    return pd.DataFrame(rows, columns=columns)


# --- helpers ----------------------------------------------------------------------------------------------------


def _split_plot_contrasts(auprec: pd.DataFrame) -> dict[str, Floats]:
    """Orthonormal contrast scores of every fold, for each term: arrays of shape (n_folds, df)."""
    models, folds, priors = (list(dict.fromkeys(auprec[c])) for c in ("model", "fold", "prior"))
    if min(len(models), len(folds), len(priors)) < 2:
        raise InputError("a split-plot analysis needs at least 2 models, 2 folds and 2 priors")
    if auprec.duplicated(["model", "fold", "prior"]).any():
        raise InputError("every (model, fold, prior) must stand once in the frame")
    wide = auprec.pivot(index="fold", columns=["model", "prior"], values="auprec")
    cells = [(m, p) for m in models for p in priors]
    values = wide.reindex(index=folds, columns=pd.MultiIndex.from_tuples(cells)).to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise InputError("`auprec` must be there and finite in every (model, fold, prior)")
    cube = values.reshape(len(folds), len(models), len(priors))
    by_model = np.einsum("cm,jmp->jcp", kernels.helmert(len(models)), cube)
    by_prior = np.einsum("dp,jmp->jdm", kernels.helmert(len(priors)), cube)
    both = np.einsum("dp,jcp->jcd", kernels.helmert(len(priors)), by_model)
    return {
        "model": by_model.sum(axis=-1) / np.sqrt(len(priors)),
        "prior": by_prior.sum(axis=-1) / np.sqrt(len(models)),
        "model:prior": both.reshape(len(folds), -1),
    }


def _check_enough_folds(values: Floats) -> None:
    n_folds, n_models = values.shape
    if n_folds < n_models:
        raise InputError(f"Hotelling's test needs as many folds as models, but has {n_folds} for {n_models}")


def _wald_f(coded: pd.DataFrame, n_models: int) -> tuple[float, list[str]]:
    """Wald F of the models under restricted maximum likelihood."""
    import warnings

    scale = float(coded["y"].std()) or 1.0
    data = coded.assign(y=(coded["y"] - coded["y"].mean()) / scale)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit: Any = smf.mixedlm("y ~ C(m)", data, groups=data["f"]).fit(reml=True)
    names = [f"C(m)[T.{code}]" for code in range(1, n_models)]
    effect, cov = fit.params[names].to_numpy(), fit.cov_params().loc[names, names].to_numpy()
    notes = [] if fit.converged else ["the mixed model did not converge: its test is a rough guide"]
    boundary = any("boundary" in str(note.message).lower() for note in told)
    if boundary:
        notes.append("the mixed model finds no variation between folds")
    return float(effect @ np.linalg.solve(cov, effect) / len(names)), notes


def _f_result(
    test: str, role: str, found: FTest, values: Floats | None, notes: list[str] | None = None
) -> OmnibusResult:
    contrasts = None if values is None else values @ kernels.helmert(values.shape[-1]).T
    table = _row(test, role, "iauprec", "model", found, contrasts)
    return OmnibusResult(test, role, "iauprec", OMNIBUS_LABELS[test], emit(notes or []), table)


def _row(
    test: str, role: str, response: str, term: str, found: FTest, contrasts: Floats | None
) -> pd.DataFrame:
    """One row of an ANOVA frame; sums of squares from the contrast scores, where there are any."""
    row: dict[str, object] = dict.fromkeys(ANOVA_COLUMNS, np.nan)
    row |= {"test": test, "role": role, "response": response, "term": term}
    row |= {"df": float(found.df), "df_error": float(found.df_error)}
    row |= {"statistic": float(found.statistic), "p_value": float(found.p_value)}
    if contrasts is not None:
        _, effect, error = kernels.contrast_f(contrasts)
        row |= {"sum_sq": float(effect), "mean_sq": float(effect) / contrasts.shape[-1]}
        row["partial_eta_sq"] = float(effect / (effect + error)) if effect + error > 0 else np.nan
    return pd.DataFrame([row])[list(ANOVA_COLUMNS)]
