"""How often tools that compare two models find a difference between two that are equal in truth.

    pip install scikit-learn stambo CompStats mlxtend briertools
    python examples/peers_pairs.py --replicates 100 --out studies/records/peers-pairs.csv

Two settings. One test set of 100 + 900 cases: scores of two models are normal, correlated by .5, and one
standard deviation higher for positives. Two learners on one data set of 100 + 300 cases: logistic regressions
on four features each, all features alike. A tool that is not installed is skipped.
SHARP is among the rivals of `python -m studies rivals`. briertools has no test: its score over a range of
thresholds is printed beside what it is made of here.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from tqdm import tqdm

import skewanova as sa

COLUMNS = ("setting", "tool", "version", "test", "level", "rate", "std_error", "replicates")
LEVELS, N_BOOTSTRAP = (0.05, 0.005), 200
Arrays = tuple[np.ndarray, np.ndarray]


def draw_scores(rng: np.random.Generator) -> Arrays:
    """Draw labels, and the scores of two models (cases, models), of one test set."""
    labels = np.repeat([1, 0], [100, 900])
    common, own = rng.normal(size=(1000, 1)), rng.normal(size=(1000, 2))
    return labels, np.sqrt(0.5) * (common + own) + labels[:, None]


def draw_features(rng: np.random.Generator) -> Arrays:
    """Draw labels, and eight features that are alike, of one data set."""
    labels = np.repeat([1, 0], [100, 300])
    return labels, rng.normal(size=(400, 8)) + 0.5 * labels[:, None]


def learners() -> list[object]:
    """Return two logistic regressions, each on four features."""
    halves = (slice(0, 4), slice(4, 8))
    return [
        make_pipeline(make_column_transformer(("passthrough", half)), LogisticRegression()) for half in halves
    ]


def ours_on_cases(labels: np.ndarray, scores: np.ndarray, seed: int) -> float:
    """Return the p-value of the default on one test set, at the prior of the cases."""
    frame = pd.DataFrame(scores, columns=["a", "b"]).assign(y_true=labels)
    return float(sa.inference.compare_test_set(labels, frame[["a", "b"]], prior=0.1).p_value[0])


def stambo_on_cases(labels: np.ndarray, scores: np.ndarray, seed: int) -> float:
    """Return the p-value of stambo's bootstrap."""
    import stambo

    found = stambo.compare_models(
        labels, scores[:, 0], scores[:, 1], metrics=("AP",), n_bootstrap=N_BOOTSTRAP, seed=seed, silent=True
    )
    return float(found["AP"][0])


def compstats_on_cases(labels: np.ndarray, scores: np.ndarray, seed: int) -> float:
    """Return twice the one-sided p-value of CompStats' bootstrap, at most 1."""
    from CompStats import Perf

    np.random.seed(seed)  # noqa: NPY002  it takes no generator
    first, second = scores.T
    found = Perf(
        labels,
        first,
        other=second,
        score_func=average_precision_score,
        num_samples=N_BOOTSTRAP,
        n_jobs=1,
        use_tqdm=False,
    )
    return min(1.0, 2 * max(found.difference().p_value().values()))


def ours_on_learners(labels: np.ndarray, features: np.ndarray, seed: int) -> float:
    """Return the p-value of `compare_estimators` at its defaults."""
    result = sa.compare_estimators(dict(zip("ab", learners(), strict=True)), features, labels, rng=seed)
    return float(result.verdict.evidence["p_adjusted"].iloc[0])


def mlxtend_on_learners(name: str) -> Callable[[np.ndarray, np.ndarray, int], float]:
    """Return a function from data to the p-value of a test of mlxtend."""

    def p_value(labels: np.ndarray, features: np.ndarray, seed: int) -> float:
        from mlxtend import evaluate

        options = {"scoring": "average_precision", "random_seed": seed}
        options |= {"shuffle": True} if name == "paired_ttest_kfold_cv" else {}
        return float(getattr(evaluate, name)(*learners(), features, labels, **options)[1])

    return p_value


MLXTEND = ("paired_ttest_resampled", "paired_ttest_kfold_cv", "paired_ttest_5x2cv", "combined_ftest_5x2cv")
SETTINGS = {
    "two learners": (
        draw_features,
        {
            ("skewanova", "compare_estimators"): ours_on_learners,
            **{("mlxtend", name): mlxtend_on_learners(name) for name in MLXTEND},
        },
    ),
    "one test set": (
        draw_scores,
        {
            ("skewanova", "compare_test_set"): ours_on_cases,
            ("stambo", "compare_models"): stambo_on_cases,
            ("CompStats", "Perf.difference"): compstats_on_cases,
        },
    ),
}


def rows(replicates: int, seed: int) -> list[tuple[object, ...]]:
    """Return a row for each tool, test and level: how often the p-value is below the level."""
    found = []
    for setting, (draw, tests) in SETTINGS.items():
        for (tool, test), p_value in tests.items():
            if find_spec(tool) is None:
                print(f"skipped: {tool} is not installed")
                continue
            values = []
            for number in tqdm(range(replicates), desc=f"{tool} {test}", disable=None):
                data = draw(np.random.default_rng([seed, number]))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    values.append(p_value(*data, number))
            for level in LEVELS:
                rate = float(np.mean(np.array(values) < level))
                error = np.sqrt(max(rate, 0.001) * (1 - rate) / replicates)
                found.append(
                    (setting, tool, version(tool), test, level, rate, round(float(error), 6), replicates)
                )
    return found


def markdown(table: pd.DataFrame) -> str:
    """Return the rates at .05 and .005 as a table in Markdown."""
    lines = ["| setting | tool | test | .05 | .005 |", "|---|---|---|---:|---:|"]
    for (setting, tool, release, test), rates in table.groupby(list(COLUMNS[:4]), sort=False)["rate"]:
        shares = " | ".join(f"{rate:.2f}".removeprefix("0") for rate in rates)
        lines.append(f"| {setting} | {tool} {release} | `{test}` | {shares} |")
    return "\n".join(lines)


def brier_over_thresholds(low: float = 0.1, high: float = 0.4) -> tuple[float, float]:
    """Return the Brier score of briertools from one threshold to another, and twice our integral of the cost.

    The cost at threshold t is that of a case, if a false positive costs t and a false negative 1 - t.
    """
    from briertools.scorers import BrierScorer

    labels = np.repeat([1, 0], [40, 120])
    logit = np.random.default_rng(0).normal(size=160) + 2 * labels - 2
    scores = sa.scores_from_wide(pd.DataFrame({"y_true": labels, "a": 1 / (1 + np.exp(-logit))}))
    thresholds, costs = np.linspace(low, high, 61), []
    for at in thresholds:
        rows = sa.threshold_table(scores, threshold=at, costs=(at, 1 - at), at_priors=(0.25,))
        costs.append(rows.loc[rows["measure"] == "expected_cost", "estimate"].iloc[0])
    theirs = BrierScorer().score(labels, 1 / (1 + np.exp(-logit)), threshold_range=(low, high))
    return float(theirs), float(2 * np.trapezoid(costs, thresholds))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the rates, print them and save them."""
    parser = argparse.ArgumentParser(description="Two equal models, compared by several tools.")
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    table = pd.DataFrame(rows(options.replicates, options.seed), columns=list(COLUMNS))
    print(table.to_string(index=False))
    if find_spec("briertools"):
        print("briertools, ours: {:.5f}, {:.5f}".format(*brier_over_thresholds()))
    if options.out:
        table.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
