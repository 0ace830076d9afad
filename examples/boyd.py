"""Boyd, Eng and Page (2013): bias of estimates of the area under precision-recall, coverage of its intervals.

Simulates samples of the paper's three distributions, a tenth of the cases positive, and prints the ratio of
every estimator's mean to the truth, and the coverage and width of every interval. Run it with::

    python examples/boyd.py [--replicates 100] [--full] [--jobs 1] [--seed 0] [--out DIR]

Reference: K. Boyd, K. H. Eng and C. D. Page (2013), Area under the precision-recall curve: point estimates
and confidence intervals, ECML PKDD.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from studies.areas import INTERVAL_SIZES, SIZES, estimators_study, intervals_study
from studies.output import study_figures
from studies.results import Study

SMALL = 2000  # cases in the largest sample of a reduced run


def run(options: argparse.Namespace) -> tuple[Study, Study]:
    """Both studies; without ``--full``, of samples of no more than 2,000 cases."""
    given = {"replicates": options.replicates, "full": options.full, "rng": options.seed}
    largest = max(SIZES) if options.full else SMALL
    estimators, intervals = (
        study(sizes=[n for n in sizes if n <= largest], n_jobs=options.jobs, **given)
        for study, sizes in ((estimators_study, SIZES), (intervals_study, INTERVAL_SIZES))
    )
    return estimators, intervals


def save(estimators: Study, intervals: Study, out: Path) -> None:
    """Write the figures and the numbers behind them."""
    out.mkdir(parents=True, exist_ok=True)
    for study in (estimators, intervals):
        study.to_frame().to_csv(out / f"boyd_{study.study}.csv", index=False, float_format="%.6g")
        for name, figure in study_figures(study.study, study.to_frame()):
            figure.savefig(out / f"boyd_{name}.png", dpi=150)


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
