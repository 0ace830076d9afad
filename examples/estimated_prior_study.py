"""What an estimated prior is used for: intervals over it, and the prior of a further batch.

    python examples/estimated_prior_study.py --replicates 150 --out studies/records/prior-uses.csv

Normal scores as in `python -m studies prior`: 100 labelled positives and 400 negatives, 2,000 unlabelled
cases, an area under ROC of .85. "IAUPREC" is its interval over the estimated prior, which holds or does not
hold the IAUPREC of the population over the same estimate; the prior is estimated from the labelled cases
that the interval is of, or from others. "further batch" is the 95 % range of the prior of a further batch,
predicted from several; the log-odds of batches are normal around those of .1, and "true
spread" is how wide the range of their true distribution is.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri
from scipy.stats import norm

import skewanova as sa
from skewanova.curves import true_iauprec
from studies.priors import Setting, sample

COLUMNS = ("use", "setting", "way", "coverage", "std_error", "width", "replicates")

#: Priors in the deployment of the intervals of IAUPREC.
PRIORS = (0.02, 0.05, 0.2)

#: Batches, unlabelled cases in each, and the standard deviation of their log-odds.
BATCHES = ((8, 250, 0.5), (20, 250, 0.5), (8, 250, 0.0), (8, 5000, 0.5))


def labels_of(setting):
    """Labels in the order in which `sample` draws the labelled scores."""
    return np.repeat([1, 0], [setting.n_positive, 4 * setting.n_positive])


def intervals(prior, rng):
    """Whether the interval of IAUPREC holds, and its width, by whose labels the prior was estimated from."""
    setting = Setting(prior=prior)
    labels = labels_of(setting)
    own, other = sample(setting, rng), sample(setting, rng)
    scores = np.concatenate(own[:2])
    population = norm(0, 1), norm(float(ndtri(setting.auc) * np.sqrt(2)), 1)
    found = {}
    for way, labelled in (("the same cases", scores), ("other cases", np.concatenate(other[:2]))):
        estimate = sa.estimate_prior(labels, labelled, own[2])
        interval = sa.confidence_interval(labels, scores, deployment_prior=estimate)
        truth = true_iauprec(*population, estimate)
        found[way] = interval.conf_low <= truth <= interval.conf_high, interval.conf_high - interval.conf_low
    return found


def further_batch(n_batches, n_unlabelled, spread, rng):
    """Whether the range of a further batch holds its prior, and the range's width."""
    priors = expit(logit(0.1) + spread * rng.standard_normal(n_batches + 1))
    drawn = [sample(Setting(n_unlabelled=n_unlabelled, prior=prior), rng) for prior in priors[:-1]]
    batch = np.repeat(range(n_batches), n_unlabelled)
    labelled, unlabelled = np.concatenate(drawn[0][:2]), np.concatenate([scores[2] for scores in drawn])
    estimate = sa.estimate_prior(labels_of(Setting()), labelled, unlabelled, batch=batch)
    low, high = estimate.central_interval(0.95)
    known = expit(logit(0.1) + np.array([-1.96, 1.96]) * spread)
    held = known[0] <= priors[-1] <= known[1]
    return {"predicted": (low <= priors[-1] <= high, high - low), "true spread": (held, known[1] - known[0])}


def rows_of(use, setting, draw, replicates):
    """One row a way: how often it held, and how wide it was."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        found = [draw(rng) for _ in range(replicates)]
    for way in found[0]:
        held, width = np.array([one[way] for one in found], dtype=float).T
        error = held.std(ddof=1) / np.sqrt(replicates)
        yield use, setting, way, held.mean(), error, width.mean(), replicates


def main(arguments=None):
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=150)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    rows = []
    for prior in PRIORS:
        rows += rows_of("IAUPREC", f"prior {prior:g}", partial(intervals, prior), options.replicates)
    for batches in BATCHES:
        name = "{} batches of {}, log-odds vary by {:g}".format(*batches)
        rows += rows_of("further batch", name, partial(further_batch, *batches), options.replicates)
    pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(options.out, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
