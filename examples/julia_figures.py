"""Nagy (2016), Precision-recall curves in Julia: figures 2 and 3, without Julia.

Figure 2 shows the three score distributions of Boyd et al. (2013); figure 3 their true precision-recall
curves, 10 % of the data positive, among ten samples of 500 cases. Prints the areas under them. Run it with::

    python examples/julia_figures.py [--seed 0] [--out DIR]

Reference: T. Nagy (2016), Precision-recall curves in Julia (blog post, after Boyd, Eng and Page, 2013).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import skewanova as sa
from skewanova.base.text import Table
from skewanova.curves.distributions import sample_scores, true_auprec
from studies.scenarios import PRIOR, SETTINGS

RANGES = {"binormal": (-5, 5), "bibeta": (0, 1), "offset_uniform": (-0.5, 2)}
N_CASES, N_SAMPLES = 500, 10
GREY = "0.75"


def sampled_curves(setting: str, *, seed: int = 0) -> pd.DataFrame:
    """Points of ten samples' curves, with the area under each by Boyd's lower trapezoid, as in the post.

    Classes are drawn at random, so each sample has a prior of its own, at which its curve is drawn.
    """
    rng = np.random.default_rng(seed)
    frames = []
    for sample in range(N_SAMPLES):
        labels, scores = sample_scores(*SETTINGS[setting], N_CASES, prior=PRIOR, exact_counts=False, rng=rng)
        precision, recall, _ = sa.precision_recall_curve(labels, scores)
        area = sa.auprec_score(labels, scores, prior=labels.mean(), area_estimator="trapezoid")
        columns = {"recall": recall, "precision": precision, "auprec": area}
        frames.append(pd.DataFrame({"setting": setting, "sample": sample, **columns}))
    return pd.concat(frames, ignore_index=True)


def true_curve(setting: str, n_points: int = 500) -> tuple[Any, Any]:
    """Recall and precision of a distribution, at the post's thresholds up to the highest positive."""
    negative, positive = SETTINGS[setting]
    at = np.linspace(*RANGES[setting], n_points)
    recall = positive.sf(at)
    at, recall = at[recall > 0], recall[recall > 0]
    return recall, PRIOR * recall / (PRIOR * recall + (1 - PRIOR) * negative.sf(at))


def plot_densities(setting: str, *, ax: Axes | None = None) -> Axes:
    """Draw one panel of figure 2: the positives' density in blue, the negatives' in grey."""
    ax = Figure(figsize=(4, 3.4), layout="constrained").subplots() if ax is None else ax
    at = np.linspace(*RANGES[setting], 500)
    negative, positive = SETTINGS[setting]
    ax.plot(at, negative.pdf(at), color=GREY, linewidth=2, label="negatives")
    ax.plot(at, positive.pdf(at), color=sns.color_palette("colorblind")[0], label="positives")
    ax.set(title=setting.replace("_", " "), xlabel="score", yticks=[])
    return ax


def plot_samples(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw one panel of figure 3: the samples' curves in grey, the true one in blue."""
    ax = Figure(figsize=(4, 3.4), layout="constrained").subplots() if ax is None else ax
    setting = str(frame["setting"].iloc[0])
    for _, rows in frame.groupby("sample"):
        ax.plot(rows["recall"], rows["precision"], color=GREY, linewidth=0.8)
    ax.plot(*true_curve(setting), color=sns.color_palette("colorblind")[0], linewidth=2)
    ax.set(title=setting.replace("_", " "), xlabel="recall", ylabel="precision", yticks=[0, 0.5, 1])
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
    ax.set_aspect("equal")
    return ax


def figure_2() -> Figure:
    """Draw the three pairs of densities, one legend beside them, where it hides no line."""
    figure = Figure(figsize=(13, 4), layout="constrained")
    for ax, setting in zip(figure.subplots(1, 3), SETTINGS, strict=True):
        plot_densities(setting, ax=ax)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def figure_3(curves: dict[str, pd.DataFrame]) -> Figure:
    """Draw the three true curves among their samples; high enough for square panels and their titles."""
    figure = Figure(figsize=(12, 4.7), layout="constrained")
    for ax, frame in zip(figure.subplots(1, 3), curves.values(), strict=True):
        plot_samples(frame, ax=ax)
    return figure


def area_table(curves: dict[str, pd.DataFrame], seed: int) -> Table:
    """Return true areas, and the samples' lowest, mean and highest."""
    rows = []
    for setting, frame in curves.items():
        areas = frame.groupby("sample")["auprec"].first()
        values = (true_auprec(*SETTINGS[setting], PRIOR), areas.min(), areas.mean(), areas.max())
        rows.append((setting, *(f"{value:.3f}" for value in values)))
    caption = f"Area under precision-recall: truth, and {N_SAMPLES} samples of {N_CASES} (trapezoid)"
    note = f"Prior {PRIOR:g}, class of every case drawn at random, seed {seed}."
    return Table(
        "areas", caption, ("Distribution", "truth", "lowest", "mean", "highest"), tuple(rows), note=note
    )


def save(curves: dict[str, pd.DataFrame], out: Path) -> None:
    """Write both figures."""
    out.mkdir(parents=True, exist_ok=True)
    figure_2().savefig(out / "julia_figure_2.png", dpi=150)
    figure_3(curves).savefig(out / "julia_figure_3.png", dpi=150)


def main(argv: Sequence[str] | None = None) -> None:
    """Sample, print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write the figures")
    options = parser.parse_args(argv)
    curves = {setting: sampled_curves(setting, seed=options.seed) for setting in SETTINGS}
    print(area_table(curves, options.seed).to_text())
    if options.out:
        save(curves, options.out)


if __name__ == "__main__":
    main()
