"""Landgrebe et al. (2006), figures 1 and 2: what accuracy and precision show as the classes grow unequal.

Draws Highleyman's two Gaussian classes and trains a linear discriminant. Prints its accuracy, true negative
rate and precision by skew, the area under its ROC curve, whole and over a limited range (eq. 2), and that
under precision-recall at three priors (eq. 4). Needs the extra ``sklearn``. Run it with::

    python examples/landgrebe.py [--seed 0] [--out DIR]

Reference: T. Landgrebe, P. Paclik, R. Duin and A. Bradley (2006), Precision-recall operating characteristic
(P-ROC) curves in imprecise environments, ICPR.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from numpy.typing import NDArray

import skewanova as sa
from skewanova.base.text import Table

try:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
except ImportError:
    sys.exit('This example needs scikit-learn: pip install "skewanova[sklearn]"')

Floats = NDArray[np.float64]

# Highleyman (1961), as pattern recognition toolboxes have it: mean and standard deviation of both features
POSITIVE, NEGATIVE = ((1.0, 1.0), (1.0, 0.5)), ((2.0, 0.0), (0.1, 2.0))
N_TRAIN, N_TEST = 500, 20_000  # cases of each class
SKEWS = np.geomspace(1, 100, 41)
PRIORS = (0.5, 0.1, 0.01)
FPR_RANGE = (0.0, 0.1)


def draw(n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """So many cases of each class, and which are positive."""
    features = [rng.normal(mean, deviation, size=(n, 2)) for mean, deviation in (POSITIVE, NEGATIVE)]
    return np.concatenate(features), np.repeat([True, False], n)


def scores(seed: int = 0) -> tuple[Floats, NDArray[np.bool_]]:
    """Test cases' scores by a linear discriminant trained on as many of each class, and their labels."""
    rng = np.random.default_rng(seed)
    train, test = draw(N_TRAIN, rng), draw(N_TEST, rng)
    fitted = LinearDiscriminantAnalysis().fit(*train)
    return fitted.decision_function(test[0]), test[1]


def by_skew(score: Floats, positive: NDArray[np.bool_]) -> pd.DataFrame:
    """Accuracy, true negative rate and precision of the discriminant, trained at equal priors, by skew."""
    recall, alarms = (score[positive] >= 0).mean(), (score[~positive] >= 0).mean()
    return pd.DataFrame(
        {
            "skew": SKEWS,
            "accuracy": (recall + SKEWS * (1 - alarms)) / (1 + SKEWS),
            "true negative rate": 1 - alarms,
            "precision": recall / (recall + SKEWS * alarms),  # eq. 3
        }
    )


def figure_1(frame: pd.DataFrame) -> Figure:
    """Accuracy goes to the true negative rate, precision to 0."""
    figure = Figure(figsize=(5.5, 4), layout="constrained")
    ax = figure.subplots()
    styles = {"accuracy": "-", "precision": "--", "true negative rate": ":"}
    for (name, style), colour in zip(styles.items(), sns.color_palette("colorblind"), strict=False):
        ax.plot(frame["skew"], frame[name], linestyle=style, color=colour, label=name)
    ax.set(xscale="log", xlabel="skew (negatives for each positive)", ylabel="performance", ylim=(0, 1))
    ax.legend(frameon=False)
    return figure


def figure_2(roc: sa.RocCurve) -> Figure:
    """Return the ROC curve, which no prior changes, over the precision-recall curves at three priors."""
    figure = Figure(figsize=(4.5, 8), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    top.plot(roc.fpr, roc.tpr, color="black")
    top.set(xlabel="false positive rate", ylabel="true positive rate")
    recall, alarms = roc.tpr[1:], roc.fpr[1:]
    for prior, colour in zip(PRIORS, sns.color_palette("colorblind"), strict=False):
        bottom.plot(
            recall, prior * recall / (prior * recall + (1 - prior) * alarms), color=colour, label=f"{prior:g}"
        )
    bottom.set(xlabel="recall", ylabel="precision", ylim=(0, 1.02))
    bottom.legend(title="prior", frameon=False)
    return figure


def tables(frame: pd.DataFrame, roc: sa.RocCurve, seed: int) -> tuple[Table, Table]:
    """Figure 1 at some skews, and the areas."""
    shown = frame.iloc[[0, 10, 20, 30, 40]]
    rows = tuple((f"{row[0]:.1f}", *(f"{value:.3f}" for value in row[1:])) for row in shown.to_numpy())
    note = f"{N_TRAIN} training and {N_TEST:,} test cases of each class, seed {seed}."
    area, part = sa.auc(roc), sa.auc(roc, fpr_range=FPR_RANGE)
    mean = sa.auc(roc, fpr_range=FPR_RANGE, normalised=True)
    low, high = FPR_RANGE
    areas = (
        ("AUC", f"{area:.4f}"),
        (f"AUC of FPR {low:g}-{high:g}", f"{part:.4f}"),
        ("the same, normalised", f"{mean:.4f}"),
        *((f"AUPREC({prior:g})", f"{sa.auprec(roc, prior):.4f}") for prior in PRIORS),
    )
    return (
        Table("figure_1", "Performance by skew", tuple(name.capitalize() for name in frame), rows, note=note),
        Table("areas", "Areas (eq. 2 and 4)", ("Measure", "value"), areas),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate, print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write both figures")
    options = parser.parse_args(argv)
    score, positive = scores(options.seed)
    frame, roc = by_skew(score, positive), sa.roc_curve(positive, score)
    print("\n\n".join(table.to_text() for table in tables(frame, roc, options.seed)))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        figure_1(frame).savefig(options.out / "landgrebe_figure_1.png", dpi=150)
        figure_2(roc).savefig(options.out / "landgrebe_figure_2.png", dpi=150)


if __name__ == "__main__":
    main()
