"""Intervals at thresholds, and tests across data sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from scipy import special, stats

from skewanova.base.checks import Floats
from skewanova.base.rounding import TIE
from skewanova.curves.roc import RocCurve, curve_from_scores
from skewanova.decision import operating
from skewanova.inference import fold_statistics
from skewanova.inference.effect_sizes import estimate_mean_effect
from skewanova.inference.fold_statistics import range_sf

#: Distance between the classes, whose scores are normal with deviation 1.
DISTANCE = 2.0


SIZES = ((30, 100), (50, 450), (200, 2000))


PRIORS = (0.5, 0.1, 0.01)


#: Fixed thresholds by their false positive rate, and targets that choose a threshold on the cases themselves.
RULES = ("fpr_0.05", "fpr_0.005", "fpr_0.0005", "recall_0.8", "precision_0.5", "flagged_0.1", "cost_1_20")


COSTS = (1.0, 20.0)


LEVEL = 0.95


N_DATASETS = (5, 10, 20)


#: Deviation of the true differences between data sets, in standard errors of one data set's.
BETWEEN = (0.0, 1.0, 4.0)


def operating_study(*, replicates: int = 2000, rng: int = 0) -> pd.DataFrame:
    """How often the intervals of one test set hold what the threshold in truth does.

    Parameters
    ----------
    replicates : int, default 2000
        Samples of each size.
    rng : int, default 0
        Seed.

    Returns
    -------
    DataFrame
        Columns n_positive, n_negative, prior, rule, measure, coverage, std_error, bias (mean estimate less
        mean truth, where both are defined), undefined (share without an estimate), replicates.
    """
    parts = []
    for n_positive, n_negative in SIZES:
        generator = np.random.default_rng([rng, n_positive])
        positive = np.repeat([True, False], [n_positive, n_negative])
        cells: dict[tuple[float, str, str], list[tuple[float, float, bool]]] = {}
        for _ in range(replicates):
            score = generator.normal(size=len(positive)) + DISTANCE * positive
            curve = curve_from_scores(positive, score)
            for rule, prior in product(RULES, PRIORS):
                for measure, row in _judged(curve, rule, prior).items():
                    cells.setdefault((prior, rule, measure), []).append(row)
        rows = [(*key, *_summarised(found)) for key, found in cells.items()]
        parts.append(
            pd.DataFrame(
                rows, columns=["prior", "rule", "measure", "coverage", "std_error", "bias", "undefined"]
            ).assign(n_positive=n_positive, n_negative=n_negative, replicates=replicates)
        )
    order = ["n_positive", "n_negative", "prior", "rule", "measure"]
    rest = ["coverage", "std_error", "bias", "undefined", "replicates"]
    return pd.concat(parts, ignore_index=True)[[*order, *rest]]


def _judged(curve: RocCurve, rule: str, prior: float) -> dict[str, tuple[float, float, bool]]:
    """Estimate, truth, and whether the interval holds it, of every measure."""
    threshold = _threshold(curve, rule, prior)
    if threshold is None:
        return dict.fromkeys(operating.MEASURES, (np.nan, np.nan, False))
    vertex = operating.vertex_at_threshold(curve, threshold)
    recall = operating.wilson_estimate(float(curve.tpr[vertex]), curve.n_positive, LEVEL)
    fpr = operating.wilson_estimate(float(curve.fpr[vertex]), curve.n_negative, LEVEL)
    hits, alarms = float(special.ndtr(DISTANCE - threshold)), float(special.ndtr(-threshold))
    known = operating.Estimate(hits, hits, hits), operating.Estimate(alarms, alarms, alarms)
    truth = operating.compute_measures(known[0], known[1], prior, COSTS)
    found = operating.compute_measures(recall, fpr, prior, COSTS)
    return {
        name: (found[name].value, truth[name].value, _holds(found[name], truth[name].value))
        for name in operating.MEASURES
    }


def _holds(found: operating.Estimate, truth: float) -> bool:
    return bool(np.isnan(truth) or found.low - TIE <= truth <= found.high + TIE)


def _threshold(curve: RocCurve, rule: str, prior: float) -> float | None:
    name, target = rule.split("_")[:2]
    if name == "fpr":
        return float(-special.ndtri(float(target)))
    vertex = operating.ThresholdRule(name, np.nan, COSTS).vertex(curve, float(target), prior)
    return None if vertex is None else float(curve.thresholds[vertex])


def _summarised(found: list[tuple[float, float, bool]]) -> tuple[float, float, float, float]:
    estimate, truth, held = (np.array(side, dtype=np.float64) for side in zip(*found, strict=True))
    defined = np.isfinite(estimate) & np.isfinite(truth)
    reached = np.isfinite(truth)
    if not reached.any():
        return np.nan, np.nan, np.nan, 1.0
    coverage = float(held[reached].mean())
    bias = float((estimate - truth)[defined].mean()) if defined.any() else np.nan
    error = float(np.sqrt(coverage * (1 - coverage) / reached.sum()))
    return coverage, error, bias, float(1 - defined.mean())


def datasets_study(
    *, replicates: int = 2000, n_models: int = 4, n_folds: int = 10, rng: int = 0
) -> pd.DataFrame:
    """How often tests across data sets find a difference between models that are equal on average.

    Parameters
    ----------
    replicates : int, default 2000
        Tables of each setting.
    n_models, n_folds : int, default 4 and 10
        Models, and independent folds of each data set.
    rng : int, default 0
        Seed.

    Returns
    -------
    DataFrame
        Columns n_datasets, between (deviation of true differences between data sets over their standard
        error), test, level, rate (for pairs, of any rejection), std_error, replicates.
    """
    rows = []
    for n_datasets, between in product(N_DATASETS, BETWEEN):
        generator = np.random.default_rng([rng, n_datasets, round(10 * between)])
        p_values = [
            _across_p(_tables(generator, (n_datasets, n_folds, n_models), between)) for _ in range(replicates)
        ]
        for test, level in product(p_values[0], (0.05, 0.005)):
            rate = float(np.mean([found[test] < level for found in p_values]))
            error = float(np.sqrt(rate * (1 - rate) / replicates))
            rows.append((n_datasets, between, test, level, rate, error, replicates))
    columns = ["n_datasets", "between", "test", "level", "rate", "std_error", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def _tables(generator: np.random.Generator, shape: tuple[int, int, int], between: float) -> Floats:
    """Gaussian values of data sets, folds and models; data sets differ in how much their folds vary."""
    n_datasets, n_folds, n_models = shape
    spread = generator.uniform(0.5, 2.0, size=(n_datasets, 1, 1))
    effects = between / np.sqrt(n_folds) * generator.normal(size=(n_datasets, 1, n_models))
    return np.asarray(effects + spread * generator.normal(size=shape))


def _across_p(values: Floats) -> dict[str, float]:
    """Smallest adjusted p of each test across data sets."""
    means = values.mean(axis=1)
    difference = fold_statistics.pair_differences(values)
    effects = difference.mean(axis=1)
    variances = difference.var(axis=1, ddof=1) / values.shape[1]
    of_pairs = {
        "wilcoxon_holm": stats.wilcoxon(effects, axis=0).pvalue,
        "hierarchical": [
            estimate_mean_effect(e, v).p_value for e, v in zip(effects.T, variances.T, strict=True)
        ],
        "paired_t_holm": stats.ttest_1samp(effects, 0).pvalue,
    }
    smallest = {name: float(fold_statistics.adjust_holm(np.asarray(p)).min()) for name, p in of_pairs.items()}
    return {
        "friedman": float(fold_statistics.friedman_test(means).p_value),
        "nemenyi": _nemenyi_p(means),
        **smallest,
    }


def _nemenyi_p(means: Floats) -> float:
    """Nemenyi's p of the pair whose mean ranks lie furthest apart."""
    n_datasets, n_models = means.shape
    ranks = stats.rankdata(means, axis=1).mean(axis=0)
    largest = np.ptp(ranks) / np.sqrt(n_models * (n_models + 1) / (12 * n_datasets))
    return float(range_sf(np.array([largest]), n_models, np.inf)[0])
