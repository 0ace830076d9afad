"""StatisticalMeasures.jl, Precision-Recall Curves: the documentation's example, point by point.

Ten cases with tied scores. Prints the curve, and the area under it by every estimator. Run it with::

    python examples/statisticalmeasures.py [--out DIR]

Reference: documentation of StatisticalMeasures.jl, section Precision-Recall Curves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import skewanova as sa
from skewanova.base.text import Table

TRUTH = ["X", "O", "X", "X", "O", "X", "X", "O", "O", "X"]
X_PROBABILITIES = [0.3, 0.2, 0.4, 0.9, 0.1, 0.4, 0.5, 0.2, 0.8, 0.7]
POSITIVE = "X"  # the second of the ordered levels O < X


def curve() -> pd.DataFrame:
    """Return the curve's points from recall 0, where no threshold applies, to recall 1.

    Each row holds for thresholds up to and including its own, down to the next one: a case is flagged if its
    score is at or above the threshold. The page's bins are closed on the other side, ``[t_1, 1]`` for the
    first point, which flags nothing; at a threshold of .9 itself they would miss the case that scores .9.

    >>> print(curve().round(3).to_string(index=False, na_rep=""))
     threshold  recall  precision
                 0.000      1.000
           0.9   0.167      1.000
           0.8   0.167      0.500
           0.7   0.333      0.667
           0.5   0.500      0.750
           0.4   0.833      0.833
           0.3   1.000      0.857
           0.2   1.000      0.667
           0.1   1.000      0.600
    """
    precision, recall, thresholds = sa.precision_recall_curve(TRUTH, X_PROBABILITIES, pos_label=POSITIVE)
    return pd.DataFrame(
        {"threshold": [None, *thresholds], "recall": recall, "precision": precision}, dtype=float
    )


def areas() -> dict[str, float]:
    """Area under the curve at the sample's own prior, by every estimator."""
    prior = TRUTH.count(POSITIVE) / len(TRUTH)
    roc = sa.roc_curve(TRUTH, X_PROBABILITIES, pos_label=POSITIVE)
    return {estimator: sa.auprec(roc, prior, area_estimator=estimator) for estimator in sa.curves.ESTIMATORS}


def plot_curve(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the curve, and the share of positives as a dashed line."""
    ax = Figure(figsize=(5, 4), layout="constrained").subplots() if ax is None else ax
    ax.plot(frame["recall"], frame["precision"], color=sns.color_palette("colorblind")[0])
    share = frame["precision"].iloc[-1]
    ax.plot([0, 1], [share, share], linewidth=2, linestyle="--", color="black")
    ax.set(xlabel="recall", ylabel="precision")
    return ax


def tables() -> tuple[Table, Table]:
    """Return the curve and the areas, as text."""
    points = tuple(
        ("" if pd.isna(row.threshold) else f"{row.threshold:g}", f"{row.recall:.3f}", f"{row.precision:.3f}")
        for row in curve().itertuples()
    )
    values = tuple((name, f"{area:.4f}") for name, area in areas().items())
    return (
        Table("curve", "Precision-recall curve", ("Threshold", "recall", "precision"), points),
        Table("areas", "Area under it at prior 0.6", ("Estimator", "AUPREC"), values),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write the figure")
    options = parser.parse_args(argv)
    print("\n\n".join(table.to_text() for table in tables()))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        plot_curve(curve()).figure.savefig(options.out / "statisticalmeasures.png", dpi=150)


if __name__ == "__main__":
    main()
