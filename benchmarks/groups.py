"""Ten models in twenty folds of 1300 cases: three priors, IAUPREC and AUC for every model and fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from sklearn import metrics

from benchmarks import peers
from benchmarks.measuring import Row, interleaved, ratio, scored_cases
from skewanova import UniformPrior, evaluate
from skewanova.curves.groups import GroupCurves, measures_of_groups

MODELS, FOLDS, CASES = 10, 20, 1300
PRIORS = np.array([0.5, 0.2, 0.1])
#: Priors that the peer averages over, as an everyday stand-in for an integral.
GRID = np.linspace(0.05, 0.20, 16)


def rows(reduced: bool) -> list[Row]:
    """List the rows of target 4."""
    label, score = scored_cases(MODELS * FOLDS * CASES)
    table = pd.DataFrame(
        {
            "model": np.repeat([f"model {m}" for m in range(MODELS)], FOLDS * CASES),
            "fold": np.tile(np.repeat(np.arange(FOLDS), CASES), MODELS),
            "y_true": label.astype(int),
            "y_score": score,
        }
    )
    weighting = UniformPrior(0.05, 0.20)
    sizes = np.full(MODELS * FOLDS, CASES)
    cells = [(f"model {m}", fold) for m in range(MODELS) for fold in range(FOLDS)]
    in_polars = pl.from_pandas(table)
    t = interleaved(
        {
            "arrays": lambda: measures_of_groups(
                GroupCurves(cells, label, score, sizes=sizes), PRIORS, weighting, "trapezoid"
            ),
            "frame": lambda: evaluate(table, at_priors=PRIORS.tolist(), deployment_prior=(0.05, 0.20)),
            "pandas": lambda: _by_pandas(table),
            "polars": lambda: _by_polars(in_polars),
        },
        3 if reduced else 7,
    )
    part = 10
    u = interleaved({"weights": lambda: _weights(label, score, part)}, 1)["weights"] * len(t["arrays"])
    work = f"{MODELS} models x {FOLDS} folds x {CASES} cases"
    scale = MODELS * FOLDS / part
    return [
        Row(
            "4",
            f"{work}, arrays",
            "groupby, roc_curve, numpy / ours",
            *ratio(t["pandas"], t["arrays"]),
            at_least=25,
        ),
        Row(
            "4",
            f"{work}, frame",
            "groupby, roc_curve, numpy / ours",
            *ratio(t["pandas"], t["frame"]),
            at_least=14,
            known=10,
        ),
        Row(
            "4",
            f"{work}, arrays",
            "polars group_by, roc_curve, numpy / ours",
            *ratio(t["polars"], t["arrays"]),
        ),
        Row(
            "4", f"{work}, arrays", "scikit-learn weights / ours", *ratio(u, t["arrays"], scale), at_least=500
        ),
    ]


def _measures(label: np.ndarray, score: np.ndarray) -> list[float]:
    fpr, tpr, _ = metrics.roc_curve(label, score, drop_intermediate=False)
    areas = [peers.area(fpr, tpr, prior) for prior in PRIORS]
    mean = float(np.mean([peers.area(fpr, tpr, prior) for prior in GRID]))
    return [*areas, mean, float(metrics.auc(fpr, tpr))]


def _by_pandas(table: pd.DataFrame) -> list[list[float]]:
    groups = table.groupby(["model", "fold"], sort=False)
    return [_measures(g["y_true"].to_numpy(), g["y_score"].to_numpy()) for _, g in groups]


def _by_polars(table: pl.DataFrame) -> list[list[float]]:
    groups = table.group_by(["model", "fold"], maintain_order=True)
    return [_measures(g["y_true"].to_numpy(), g["y_score"].to_numpy()) for _, g in groups]


def _weights(label: np.ndarray, score: np.ndarray, n_groups: int) -> None:
    for group in range(n_groups):
        rows = slice(group * CASES, (group + 1) * CASES)
        for prior in (*PRIORS, *GRID):
            peers.weighted_precision(label[rows], score[rows], prior)
