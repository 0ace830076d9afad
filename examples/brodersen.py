"""Brodersen et al. (2010): empirical and binormal areas under precision-recall as the classes grow unequal.

Simulates the paper's 100 cases, their scores normal around -1 and +1 with standard deviation 2, and prints
the bias of every area: that under precision-recall (its figure 2) and under ROC (figure 1). Run it with::

    python examples/brodersen.py [--replicates 200] [--full] [--jobs 1] [--seed 0] [--out DIR]

Reference: K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann (2010), The binormal assumption on
precision-recall curves, ICPR.
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
from skewanova._curve_measures import BRODERSEN, BRODERSEN_CASES
from skewanova._curve_studies import CurveStudy, binormal_study
from skewanova._true_curves import sample_scores, true_roc

MARKERS = "osD^v"


def plot_bias(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the bias of every model by the share of positives, for one measure, with 95 % Monte Carlo bars."""
    ax = Figure(figsize=(6.4, 4.4), layout="constrained").subplots() if ax is None else ax
    groups = list(frame.groupby("model", sort=False))
    colours = sns.color_palette("colorblind", len(groups))
    for (name, rows), colour, marker in zip(groups, colours, MARKERS, strict=False):
        bars = 1.96 * rows["std_error"]
        ax.errorbar(rows["alpha"], rows["bias"], yerr=bars, color=colour, marker=marker, label=str(name))
    ax.axhline(0, color="0.4", linewidth=1, linestyle="--")
    ax.set_xlabel("share of positives")
    ax.set_ylabel("mean estimate - truth")
    ax.legend(frameon=False)
    return ax


def plot_curves(seed: int, alpha: float = 0.4, *, ax: Axes | None = None) -> Axes:
    """Draw the true, the empirical and the fitted precision-recall curve of one sample (figure 1)."""
    ax = Figure(figsize=(5.4, 4.4), layout="constrained").subplots() if ax is None else ax
    labels, scores = sample_scores(*BRODERSEN, BRODERSEN_CASES, prior=alpha, rng=seed)
    roc = true_roc(*BRODERSEN)
    with_alarms = roc.fpr + roc.tpr > 0
    true, false = alpha * roc.tpr[with_alarms], (1 - alpha) * roc.fpr[with_alarms]
    precision, recall, _ = sa.precision_recall_curve(labels, scores)
    smooth = sa.fit_binormal(labels, scores).precision_recall()
    colours = sns.color_palette("colorblind")
    ax.plot(true / alpha, true / (true + false), color="0.3", label="true")
    ax.plot(recall, precision, color=colours[0], linewidth=1, label="empirical")
    ax.plot(smooth[1], smooth[0], color=colours[1], linestyle="--", label="alpha-binormal")
    ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False)
    return ax


def save(study: CurveStudy, seed: int, out: Path) -> None:
    """Write the figures and the numbers behind them."""
    out.mkdir(parents=True, exist_ok=True)
    frame = study.to_frame()
    frame.to_csv(out / "brodersen_bias.csv", index=False, float_format="%.6g")
    for measure in study.groups:
        ax = plot_bias(frame[frame["measure"] == measure])
        ax.set_title(f"Bias of {measure}, {BRODERSEN_CASES} cases", loc="left")
        ax.figure.savefig(out / f"brodersen_{measure}.png", dpi=150)
    plot_curves(seed).figure.savefig(out / "brodersen_curves.png", dpi=150)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=200, help="samples of each share (200)")
    parser.add_argument("--full", action="store_true", help="as many as in the recorded study: minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write figures and numbers")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate, print, and draw if asked to."""
    options = parse(argv)
    study = binormal_study(
        replicates=options.replicates, full=options.full, rng=options.seed, n_jobs=options.jobs
    )
    print("\n\n".join(table.to_text() for table in study.to_tables()))
    if options.out:
        save(study, options.seed, options.out)


if __name__ == "__main__":
    main()
