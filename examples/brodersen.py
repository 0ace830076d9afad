"""Brodersen et al. (2010): empirical and binormal areas under precision-recall as the classes grow unequal.

Simulates the paper's 100 cases, their scores normal around -1 and +1 with standard deviation 2. Prints the
bias of every area, under precision-recall (its figure 2) and under ROC (figure 1b), and that of the curves of
figure 1c. Figure 1 is drawn on a typical sample, and says how typical. Run it with::

    python examples/brodersen.py [--replicates 200] [--full] [--jobs 1] [--seed 0] [--out DIR]

Reference: K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann (2010), The binormal assumption on
precision-recall curves, ICPR.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import skewanova as sa
from skewanova.base.text import Table
from skewanova.curves.distributions import sample_scores, true_roc
from studies.areas import binormal_study, fit_moments
from studies.output import SHOWN_ALPHA, study_figures
from studies.results import Study
from studies.scenarios import BRODERSEN, BRODERSEN_CASES

Floats = NDArray[np.float64]

RECALLS = np.round(np.linspace(0.1, 0.9, 9), 1)


def precisions(roc: sa.RocCurve, prior: float) -> Floats:
    """Precision at `RECALLS`, between vertices along the exact segment."""
    first = np.insert(np.diff(roc.tpr) > 0, 0, True)
    alarms = np.interp(RECALLS, roc.tpr[first], roc.fpr[first])
    return prior * RECALLS / (prior * RECALLS + (1 - prior) * alarms)


def curve_bias(replicates: int, seed: int) -> pd.DataFrame:
    """Mean deviation of every curve from the truth, by recall, and its spread over samples."""
    truth = precisions(true_roc(*BRODERSEN), SHOWN_ALPHA)
    found: dict[str, list[Floats]] = {"empirical": [], "binormal": [], "alpha_binormal": []}
    rng = np.random.default_rng([seed, 1])
    for _ in range(replicates):
        positive, score = sample_scores(*BRODERSEN, BRODERSEN_CASES, prior=SHOWN_ALPHA, rng=rng)
        fitted = fit_moments(positive, score, ddof=0)
        found["empirical"].append(precisions(sa.roc_curve(positive, score), SHOWN_ALPHA))
        found["binormal"].append(fitted.precision_recall(0.5, recall=RECALLS)[0])
        found["alpha_binormal"].append(fitted.precision_recall(SHOWN_ALPHA, recall=RECALLS)[0])
    frames = [
        pd.DataFrame(
            {"recall": RECALLS, "truth": truth, "curve": name, "bias": np.mean(values, axis=0) - truth}
        )
        .assign(std_dev=np.std(values, axis=0))
        .assign(std_error=lambda frame: frame["std_dev"] / np.sqrt(replicates))
        for name, values in found.items()
    ]
    return pd.concat(frames, ignore_index=True)


def curve_table(frame: pd.DataFrame) -> Table:
    """Bias (standard deviation over samples) of the curves, a row for each recall."""
    cells = frame.assign(
        cell=[f"{b:+.3f} ({s:.3f})" for b, s in zip(frame["bias"], frame["std_dev"], strict=True)]
    )
    wide = cells.pivot(index="recall", columns="curve", values="cell")[list(dict.fromkeys(frame["curve"]))]
    truth = frame.groupby("recall")["truth"].first()
    rows = tuple((f"{recall:g}", f"{truth[recall]:.3f}", *wide.loc[recall]) for recall in wide.index)
    caption = f"Bias (standard deviation) of the precision at a recall, share of positives {SHOWN_ALPHA:g}"
    return Table("curves", caption, ("Recall", "truth", *map(str, wide.columns)), rows)


def save(study: Study, seed: int, out: Path) -> None:
    """Write the figures and the numbers behind them."""
    out.mkdir(parents=True, exist_ok=True)
    frame = study.to_frame()
    frame.to_csv(out / "brodersen_bias.csv", index=False, float_format="%.6g")
    for name, figure in study_figures(study.study, frame, seed=seed):
        figure.savefig(out / f"brodersen_{name}.png", dpi=150)


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
    curves = curve_bias(options.replicates, options.seed)
    print("\n\n".join(table.to_text() for table in (*study.to_tables(), curve_table(curves))))
    if options.out:
        save(study, options.seed, options.out)
        curves.to_csv(options.out / "brodersen_curves.csv", index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
