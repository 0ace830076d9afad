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

from skewanova.studies.areas import binormal_study
from skewanova.studies.output import study_figures
from skewanova.studies.results import Study


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
    print("\n\n".join(table.to_text() for table in study.to_tables()))
    if options.out:
        save(study, options.seed, options.out)


if __name__ == "__main__":
    main()
