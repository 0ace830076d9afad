"""Split-plot analysis of AUPREC: models, priors and their interaction as factors within folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, InputError, emit
from skewanova._fold_kernels import FTest
from skewanova._omnibus_result import OMNIBUS_LABELS, OmnibusResult, check_ratio, effect_row, flat_test
from skewanova.anova import variation_limit


def split_plot_anova(auprec: pd.DataFrame, *, ratio: float = 0.0, role: str = "check") -> OmnibusResult:
    """Models, priors and their interaction within folds, each against its own interaction with folds.

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
        If a cell is missing, there are fewer than 2 models, folds or priors, or `ratio` is negative.

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
    test = "corrected_gg" if check_ratio(ratio) > 0 else "repeated_measures"
    scores = _split_plot_contrasts(auprec)
    names = {"test": test, "role": role, "response": "auprec"}
    limit = variation_limit(auprec["auprec"].to_numpy(dtype=np.float64))
    rows, notes = [], []
    for term, values in scores.items():
        flat = _flat(values, limit)
        found = flat[0] if flat else kernels.contrast_test(values, inflation=1 + len(values) * ratio)
        rows.append(effect_row(found, values, **names, term=term))
        notes += [flat[1]] if flat and term == "model" else []
    table = pd.concat(rows, ignore_index=True)
    return OmnibusResult(test, role, "auprec", OMNIBUS_LABELS[test], emit(notes), table)


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
        is nan where there are too few folds for it, or nothing to test (one contrast), and the whole row is
        where a term does not vary over folds.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, sphericity
    >>> sphericity(evaluate(load_satellite_scores(), priors=(0.5, 0.2)).auprec)["term"].tolist()
    ['model', 'prior', 'model:prior']
    """
    rows: list[tuple[object, ...]] = []
    limit = variation_limit(auprec["auprec"].to_numpy(dtype=np.float64))
    for term, values in _split_plot_contrasts(auprec).items():
        if _flat(values, limit):
            rows.append((term, *[np.nan] * 7))
            continue
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


def _flat(contrasts: Floats, limit: float) -> tuple[FTest, str] | None:
    """Return F of contrast scores that are the same in every fold, and a note."""
    _, effect, error = kernels.contrast_f(contrasts)
    n_folds, df = contrasts.shape
    return flat_test(float(effect), float(error), limit=limit, df=(df, df * (n_folds - 1)))


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
