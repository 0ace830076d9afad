"""Boyd, Eng and Page (2013): bias of estimates of the area under precision-recall, coverage of its intervals.

Simulates samples of the paper's three distributions, a tenth of the cases positive, and prints the ratio of
every estimator's mean to the truth, and the coverage and width of every interval. Run it with::

    python examples/boyd.py [--replicates 100] [--full] [--jobs 1] [--seed 0] [--out DIR]

Reference: K. Boyd, K. H. Eng and C. D. Page (2013), Area under the precision-recall curve: point estimates
and confidence intervals, ECML PKDD.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skewanova._curve_studies import INTERVAL_SIZES, SIZES, CurveStudy, estimators_study, intervals_study

SMALL = 2000  # cases in the largest sample of a reduced run
MARKERS = "osD^v<>PXh"


def plot_lines(frame: pd.DataFrame, by: str, value: str, *, ax: Axes | None = None) -> Axes:
    """Draw a line over the number of cases for every value of a column, with 95 % Monte Carlo bars."""
    ax = Figure(figsize=(6.4, 4.4), layout="constrained").subplots() if ax is None else ax
    groups = list(frame.groupby(by, sort=False))
    colours = sns.color_palette("colorblind", len(groups))
    for (name, rows), colour, marker in zip(groups, colours, MARKERS, strict=False):
        bars = 1.96 * rows["std_error"] if value in {"ratio", "coverage"} else None
        look = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2}
        ax.errorbar(rows["n_total"], rows[value], yerr=bars, label=str(name), **look)
    ax.set_xscale("log")
    ax.set_xlabel("cases")
    return ax


def plot_ratio(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the ratio of mean estimate to truth by number of cases, for one distribution of the scores."""
    ax = plot_lines(frame, "estimator", "ratio", ax=ax)
    ax.axhline(1, color="0.4", linewidth=1, linestyle="--")
    ax.set_ylabel("mean estimate / truth")
    return ax


def plot_coverage(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the coverage of 95 % intervals by number of cases, for one distribution of the scores."""
    ax = plot_lines(frame, "method", "coverage", ax=ax)
    ax.axhline(frame["level"].iloc[0], color="0.4", linewidth=1, linestyle="--")
    ax.set_ylabel("coverage")
    return ax


def plot_width(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the mean width of 95 % intervals by number of cases, for one distribution of the scores."""
    ax = plot_lines(frame, "method", "width", ax=ax)
    ax.set_yscale("log")
    ax.set_ylabel("mean width")
    return ax


def draw_panels(frame: pd.DataFrame, plot: Callable[..., Axes]) -> Figure:
    """Draw one panel for each distribution of the scores, with one legend."""
    settings = list(dict.fromkeys(frame["setting"]))
    figure = Figure(figsize=(4 * len(settings) + 2, 4), layout="constrained")
    panels = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for setting, ax in zip(settings, panels, strict=True):
        plot(frame[frame["setting"] == setting], ax=ax).set_title(setting.replace("_", " "), loc="left")
        ax.label_outer()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def run(options: argparse.Namespace) -> tuple[CurveStudy, CurveStudy]:
    """Both studies; without ``--full``, of samples of no more than 2,000 cases."""
    given = {"replicates": options.replicates, "full": options.full, "rng": options.seed}
    largest = max(SIZES) if options.full else SMALL
    estimators, intervals = (
        study(sizes=[n for n in sizes if n <= largest], n_jobs=options.jobs, **given)
        for study, sizes in ((estimators_study, SIZES), (intervals_study, INTERVAL_SIZES))
    )
    return estimators, intervals


def save(estimators: CurveStudy, intervals: CurveStudy, out: Path) -> None:
    """Write the figures and the numbers behind them."""
    out.mkdir(parents=True, exist_ok=True)
    for study in (estimators, intervals):
        study.to_frame().to_csv(out / f"boyd_{study.study}.csv", index=False, float_format="%.6g")
    drawn = {"ratio": (estimators, plot_ratio), "coverage": (intervals, plot_coverage)}
    for name, (study, plot) in {**drawn, "width": (intervals, plot_width)}.items():
        draw_panels(study.to_frame(), plot).savefig(out / f"boyd_{name}.png", dpi=150)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicates", type=int, default=100, help="samples of each size (100)")
    parser.add_argument("--full", action="store_true", help="as many as in the recorded study: minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write figures and numbers")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate, print, and draw if asked to."""
    options = parse(argv)
    estimators, intervals = run(options)
    tables = [*estimators.to_tables(), *intervals.to_tables()]
    print("\n\n".join(table.to_text() for table in tables))
    if options.out:
        save(estimators, intervals, options.out)


if __name__ == "__main__":
    main()
