"""Fold x model tables for the tests: recorded inputs and R numbers, frames from arrays, simulated tables."""

import itertools
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from skewanova import Evaluation, FoldDesign, UniformPrior, evaluate, read_scores
from skewanova.comparison.analysis import FoldTests, Options

REFERENCE = Path(__file__).parent / "reference"
INPUTS = ("balanced", "tiny_variance", "heteroscedastic")


@cache
def recorded(file):
    """Numbers of one R file: {(input, test, term, quantity): value}."""
    frame = pd.read_csv(REFERENCE / file)
    return {tuple(row[:4]): row[4] for row in frame.itertuples(index=False)}


def r_number(file, name, test, quantity, *, term="model"):
    return recorded(file)[name, test, term, quantity]


@cache
def _inputs(file):
    return dict(iter(pd.read_csv(REFERENCE / file).groupby("input", sort=False)))


def means_of(name):
    """Columns model, fold, iauprec of a recorded input."""
    return _inputs("anova_iauprec.csv")[name].drop(columns="input").reset_index(drop=True)


def auprec_of(name):
    """Columns model, fold, prior, auprec of a recorded input."""
    return _inputs("anova_auprec.csv")[name].drop(columns="input").reset_index(drop=True)


def table_of(name):
    """Recorded input as an array of folds and models."""
    return means_of(name).pivot(index="fold", columns="model", values="iauprec").to_numpy()


def frame_of(values, models=None, *, n_positive=50):
    """Columns model, fold, iauprec, n_positive of an array; nan cells are left out."""
    values = np.asarray(values, dtype=float)
    n_folds, n_models = values.shape
    models = models or [f"M{i}" for i in range(n_models)]
    frame = pd.DataFrame({
        "model": np.repeat(models, n_folds), "fold": np.tile(np.arange(n_folds), n_models),
        "iauprec": values.T.ravel(), "n_positive": n_positive,
    })  # fmt: skip
    return frame[frame["iauprec"].notna()].reset_index(drop=True)


def cells(values, *, models=None, folds=None):
    """Long frame of an array of models x folds."""
    table = np.asarray(values, dtype=float)
    models = models or [f"M{i}" for i in range(table.shape[0])]
    folds = folds or list(range(table.shape[1]))
    rows = [(m, f, table[i, j]) for i, m in enumerate(models) for j, f in enumerate(folds)]
    return pd.DataFrame(rows, columns=["model", "fold", "iauprec"])


def long_frame_of(cube, priors):
    """Columns model, fold, prior, auprec of an array (n_folds, n_models, n_priors)."""
    cells = itertools.product(*(range(cube.shape[axis]) for axis in (1, 0, 2)))
    rows = [(f"M{m}", f, priors[p], cube[f, m, p]) for m, f, p in cells]
    return pd.DataFrame(rows, columns=["model", "fold", "prior", "auprec"])


def designed(measures, ratio):
    """The evaluation as if its folds had so many test cases for each training case (0: independent)."""
    design = FoldDesign("independent") if ratio == 0 else FoldDesign("repeated_holdout", ratio / (1 + ratio))
    return replace(measures, scores=None, stated_design=design)


def evaluation_of(values, kind, priors=(0.5, 0.1)):
    """Evaluation whose IAUPREC is an array of folds and models, and whose folds came about as said."""
    values = np.asarray(values, dtype=float)
    cube = values[:, :, None] - 0.05 * np.arange(len(priors))
    cube = cube + 1e-3 * np.random.default_rng(0).normal(size=cube.shape)
    frame = frame_of(values)
    return Evaluation(
        auprec=long_frame_of(cube, priors), iauprec=frame, curves={}, models=tuple(frame["model"].unique()),
        folds=tuple(frame["fold"].unique()), priors=priors, deployment_prior=UniformPrior(0.1, 0.5),
        area_estimator="trapezoid", stated_design=FoldDesign(kind, None if kind == "independent" else 0.2)
    )  # fmt: skip


def random_table(n_folds, n_models, *, seed=0, spread=0.02, effect=0.0):
    """Fold effects, model effects, noise: values near 0.8."""
    rng = np.random.default_rng(seed)
    noise = spread * rng.normal(size=(n_folds, n_models))
    return 0.8 + 0.03 * rng.normal(size=(n_folds, 1)) + effect * np.arange(n_models) + noise


def correlated_folds(replicates, n_folds, n_models, *, rho, rng):
    """Gaussian tables whose folds have correlation rho for each model: (replicates, n_folds, n_models)."""
    own = np.sqrt(1 - rho) * rng.normal(size=(replicates, n_folds, n_models))
    return own + np.sqrt(rho) * rng.normal(size=(replicates, 1, n_models))


def score_rows(model, fold, y_true, y_score, **columns):
    """Rows of a score table."""
    return pd.DataFrame({"model": model, "fold": fold, **columns, "y_true": y_true, "y_score": y_score})


def draw_rows(shifts, folds, labels, rng, *, common=0.0, own=1.0, stride=None, digits=None):
    """Rows of scores of models by the shift of their positives; what they have in common varies by case.

    With a `stride`, cases have numbers, which begin so much later in every fold (0: the same cases).
    """
    parts = []
    for fold in folds:
        shared = common * rng.normal(size=len(labels)) if common else 0.0
        for model, shift in shifts.items():
            score = shared + own * rng.normal(size=len(labels)) + shift * labels
            part = score_rows(model, fold, labels, score if digits is None else np.round(score, digits))
            parts.append(part if stride is None else part.assign(case=np.arange(len(labels)) + stride * fold))
    return pd.concat(parts, ignore_index=True)


def scored(n_folds, n=60, n_positive=20, seed=3):
    """Rows of scores of three models, in the order of neither quality nor alphabet."""
    labels = (np.arange(n) < n_positive).astype(int)
    return draw_rows({"b": 1.5, "c": 0.3, "a": 0.9}, range(n_folds), labels, np.random.default_rng(seed))


def evaluated(frame):
    """Measure rows of scores at two priors and over a range; also their score table."""
    table = read_scores(frame)
    stated = "independent" if len(table.folds) > 1 else "auto"
    with warnings.catch_warnings(action="ignore"):
        return evaluate(table, at_priors=(0.4, 0.1), deployment_prior=(0.05, 0.3), design=stated), table


def fold_tests(values, kind, priors=(0.5, 0.1)):
    """The tests over folds of `evaluation_of(values, kind, priors)`, by default options."""
    measures = evaluation_of(values, kind, priors)
    return FoldTests(measures, measures.models, measures.design, Options(0.05, "auto", None, None, 0.01, 0))
