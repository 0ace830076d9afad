"""How often the intervals and bands that `compare` shows hold the truth, design by design.

    python examples/coverage_study.py --replicates 250 --out studies/records/coverage.csv

All models are equal in truth, so every difference is 0; what a mean is in truth is the mean over all models
and tables of the design. Folds: discriminants on feature subsets of their own, retrained in every fold (or,
unstable, with features selected in training), and independent folds of N(0, 1) against N(d, 1), d varying by
.2. One test set and runs: as in the studies of these designs. Deployment prior .05 to .2 (runs: .2 to .4),
which is what the numbers are over, all else by default.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import skewanova as sa
from skewanova.decision import auprec_bands, difference_curves, rank_models
from skewanova.evaluation import auprec_intervals
from skewanova.inference import compare_runs, effects
from skewanova.inference.paired_test_set import measure_runs
from studies.scenarios import HalfFolds, Splits, Task, lda, separation

LEVEL = 0.95

#: Priors at which AUPREC has an interval of its own, those of `compare` for this range.
PRIORS = (0.2, 0.1, 0.05)

#: Priors of bands over runs: all 41 would take most of the time.
RUN_PRIORS = np.linspace(0.2, 0.4, 9)

HOLD_OUTS, HALVES = Task(Splits(20, 5)), Task(Splits(20, 2))

SMALL = (40, 160)


def cut_into_halves(task, n_folds, rng):
    """Test cases (20 halvings, 2 halves, folds, cases) and 1 for the training cases of each."""
    test = HalfFolds(20, n_folds).test_cases(1, rng, task.sizes)[0]
    train = np.zeros((*test.shape[:-1], sum(task.sizes)))
    inside = test.reshape(*test.shape[:2], 1, -1)
    np.put_along_axis(train, np.broadcast_to(inside, (*test.shape[:3], inside.shape[-1])), 1.0, axis=-1)
    np.put_along_axis(train, test, 0.0, axis=-1)
    return test, train


def learner(task, rng, n_noise):
    """Return a function from folds to scores (models, folds, cases): discriminants, or a stress case."""
    pool = task.subsets(task.data(1, rng), rng, 0.0)[0]
    if n_noise:
        pool = np.concatenate([pool, rng.standard_normal((*pool.shape[:-1], n_noise))], axis=-1)

    def score(test, train):
        seen = pool[:, None]
        if n_noise:
            best = np.argsort(-separation(pool, train[None], task.sizes[0]), axis=-1)[..., : task.n_used]
            seen = np.take_along_axis(seen, best[:, :, None], axis=-1)
        tested = np.take_along_axis(seen, test[None, ..., None], axis=2)
        if n_noise:
            return lda(seen, train[None, :, None], tested[:, :, None], task.sizes[0])[:, :, 0]
        return lda(pool, train[None], tested, task.sizes[0])

    return score


def rows_of(scores, test, n_positive, **keys):
    """Scores (models, folds, cases) as rows of a table; keys have a value a fold."""
    n_models, n_folds, n_cases = scores.shape
    frame = {"fold": np.tile(np.repeat(np.arange(n_folds), n_cases), n_models)}
    frame |= {name: np.tile(np.repeat(value, n_cases), n_models) for name, value in keys.items()}
    case = np.tile(test.ravel(), n_models)
    model = np.repeat([f"m{k}" for k in range(n_models)], n_folds * n_cases)
    y_true = (case < n_positive).astype(int)
    return pd.DataFrame({"model": model, **frame, "case": case, "y_true": y_true, "y_score": scores.ravel()})


def learned(rng, *, task, n_noise=0, halvings=False):
    """Table of one data set, cut and learned anew in every fold."""
    score = learner(task, rng, n_noise)
    test, train = (part[0] for part in task.folds(1, rng))
    table = rows_of(score(test, train), test, task.sizes[0])
    if not halvings:
        return table
    cut, inside = cut_into_halves(task, 5, rng)
    parts = [table.assign(part="holdout", halving=pd.NA)]
    for k, (test, train) in enumerate(zip(cut, inside, strict=True)):
        flat, used = test.reshape(-1, test.shape[-1]), train.reshape(-1, train.shape[-1])
        half = np.repeat(["half_a", "half_b"], test.shape[1])
        part = rows_of(score(flat, used), flat, task.sizes[0], part=half)
        parts.append(part.assign(halving=k + 1, fold=part["fold"] % test.shape[1]))
    return pd.concat(parts, ignore_index=True)


def independent(rng, *, n_folds, n_models=4, sizes=(100, 300), jitter=0.2):
    """Table of folds of their own, half of a case's noise shared by the models."""
    positive = np.arange(sum(sizes)) < sizes[0]
    noise = rng.standard_normal((n_models + 1, n_folds, len(positive)))
    scores = np.sqrt(0.5) * (noise[1:] + noise[:1])
    scores += positive * rng.normal(1.5, jitter, size=(n_models, n_folds, 1))
    test = np.broadcast_to(np.arange(len(positive)), (n_folds, len(positive)))
    return rows_of(scores, test, sizes[0]).drop(columns="case")


def one_set(rng, *, n_values=0, n_models=3, sizes=(100, 1500)):
    """Table of one test set; scores rounded to so many values, if any."""
    table = independent(rng, n_folds=1, n_models=n_models, sizes=sizes, jitter=0.0)
    if n_values:
        place = np.clip((table["y_score"] + 3) / 7.5, 0, 1 - 1e-9)
        table["y_score"] = np.floor(place * n_values)
    return table


def runs(rng, *, n_runs, n_models=3, sizes=(60, 300)):
    """Table of several runs on one test set, as examples/runs_study.py draws them."""
    positive = np.arange(sum(sizes)) < sizes[0]
    shape = (n_models, n_runs, len(positive))
    noise = rng.normal(size=len(positive)) + rng.normal(size=(n_models, 1, len(positive)))
    scores = 0.7 * (noise + rng.normal(size=shape))
    scores += positive * (1.2 + 0.15 * rng.normal(size=(n_models, n_runs, 1)))
    test = np.broadcast_to(np.arange(len(positive)), shape[1:])
    return rows_of(scores, test, sizes[0])


def evaluated(table, design="auto", deployment_prior=(0.05, 0.2), priors=PRIORS):
    """Measures of a table."""
    return sa.evaluate(
        sa.read_scores(table), at_priors=priors, deployment_prior=deployment_prior, design=design
    )


LIMITS = ("estimate", "conf_low", "conf_high")

AREAS = ("auprec", "conf_low", "conf_high")


def own(interval, frame, *, at=(), of=LIMITS):
    """Rows for intervals that each hold by themselves; `of` are the columns of estimate and limits."""
    question = "difference" if "model_a" in frame else "mean"
    shown = frame[[*at, *of]].set_axis([*at, "estimate", "low", "high"], axis=1)
    return shown.assign(interval=interval, question=question)


def together(interval, frame, **columns):
    """Return the same of bands, which hold all together or not."""
    return own(interval, frame, at=["prior"], **columns).assign(all=True)


def over_folds(table, design="auto"):
    """All that a comparison over folds shows with limits."""
    measures = evaluated(table, design)
    ranked, pairs = rank_models(measures), effects(measures)
    return [
        own("IAUPREC of a model", ranked, of=("iauprec", *LIMITS[1:])),
        own("AUPREC of a model at a prior", auprec_intervals(measures), at=["prior"], of=AREAS),
        together("AUPREC along the prior", auprec_bands(measures), of=AREAS),
        own("difference of two models", pairs),
        own("effect size", pairs, of=("effect", "effect_low", "effect_high")),
        together("differences along the prior", difference_curves(measures)),
        own("P(best)", ranked, of=("p_best",) * 3),
    ]


def over_cases(table):
    """Bands on one test set; its intervals have studies of their own."""
    measures = evaluated(table)
    return [
        together("AUPREC along the prior", auprec_bands(measures), of=AREAS),
        together("differences along the prior", difference_curves(measures).dropna()),
    ]


def over_runs(table):
    """Return what several runs on one test set are shown with."""
    measures = evaluated(table, deployment_prior=(0.2, 0.4), at_priors=(0.4, 0.2))
    areas = measure_runs(measures, measures.deployment_prior)
    found = compare_runs(areas.area, areas.covariance, case_df=areas.sample.df)
    limits = found.estimate, found.model_low, found.model_high
    return [
        own("IAUPREC of a model", pd.DataFrame(dict(zip(LIMITS, limits, strict=True)))),
        together("AUPREC along the prior", auprec_bands(measures, RUN_PRIORS), of=AREAS),
        together("differences along the prior", difference_curves(measures, RUN_PRIORS).dropna()),
    ]


#: Every design: what draws a table of it, and what looks at one.
DESIGNS = {
    "20 hold-outs beside 20 halvings": (partial(learned, task=HOLD_OUTS, halvings=True), over_folds),
    "the same, unstable learners": (
        partial(learned, task=Task(Splits(20, 5), SMALL), n_noise=120, halvings=True),
        over_folds,
    ),
    "5 runs on one test set": (partial(runs, n_runs=5), over_runs),
    "20 hold-outs 80/20": (partial(learned, task=HOLD_OUTS), over_folds),
    "20 half splits": (partial(learned, task=HALVES), over_folds),
    "one test set": (one_set, over_cases),
    "one 10-fold cross-validation": (partial(learned, task=Task(Splits(1, 10, 10))), over_folds),
    "20 independent folds": (partial(independent, n_folds=20), partial(over_folds, design="independent")),
    "one test set, 8 distinct scores": (partial(one_set, n_values=8), over_cases),
}


COLUMNS = ("design", "interval", "together", "coverage", "std_error", "replicates")


def coverage_of(design, frames):
    """One row an interval, from all that the tables of a design showed."""
    rows = []
    for name, shown in frames.groupby("interval", sort=False):
        if name == "P(best)":
            sure = shown.groupby("table")["estimate"].max() >= 0.9
            rows.append((design, "P(best) of .9 or more stated", True, float(sure.mean()), sure))
            continue
        truth = 0.0
        if shown["question"].iloc[0] == "mean":
            truth = shown["estimate"].mean()
            if shown["prior"].notna().all():
                truth = shown.groupby("prior")["estimate"].transform("mean")
        inside = (shown["low"] <= truth) & (truth <= shown["high"])
        joint = bool(shown["all"].any())
        by_table = inside.groupby(shown["table"]).agg("all" if joint else "mean").astype(float)
        rows.append((design, name, joint, float(by_table.mean()), by_table))
    return [(*row, float(by_table.std() / np.sqrt(len(by_table))), len(by_table)) for *row, by_table in rows]


def simulated(design, replicates, seed=0):
    """Coverage of all intervals of one design."""
    draw, look = DESIGNS[design]
    rng = np.random.default_rng([seed, list(DESIGNS).index(design)])
    found = []
    for table in range(replicates):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SkewanovaWarning)
            found += [frame.assign(table=table) for frame in look(draw(rng))]
    frames = pd.concat(found, ignore_index=True)
    frames = frames.reindex(columns=list(dict.fromkeys([*frames.columns, "prior", "all"])))
    return coverage_of(design, frames)


def main(arguments=None):
    """Simulate, and write the table, design by design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=250)
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    rows = []
    for design in options.designs:
        rows += simulated(design, options.replicates)
        pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(options.out, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
