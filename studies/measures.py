"""Size and coverage of measures of scores besides AUPREC, over folds and on single test sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from skewanova import FoldDesign, SkewanovaWarning, compare_values
from skewanova.base.checks import Floats
from skewanova.comparison.values import resolve_design
from skewanova.curves.estimators import ROC_AUC
from skewanova.curves.groups import Cell as Curve
from skewanova.curves.roc import RocCurve, curve_from_scores
from skewanova.decision.measures import Measure, MeasuredCases, limit_areas, measure_gains
from skewanova.inference.case_resampling import SortedScores, measure_models, measure_rates
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import ArcsineAreas, compute_pair_tests, omnibus_f_test
from skewanova.priors.evidence import Support
from skewanova.priors.weightings import UniformPrior
from skewanova.scores.design import fold_mean_interval
from skewanova.scores.values import read_values
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one
from studies.scenarios import LEVELS
from studies.values import DESIGNS, PROBABILITIES, SAMPLES, SETTING, default_p_values, draw_parts

PRIOR = 0.1

#: Measures over folds, with thresholds chosen in each fold.
FOLD_MEASURES: Mapping[str, Measure] = {
    "expected cost 1:5": Measure.expected_cost(1, 5, PRIOR),
    "net benefit at 0.2": Measure.net_benefit(0.2, PRIOR),
    "precision at recall 0.8": Measure.precision_at_recall(0.8, PRIOR),
    "recall at precision 0.3": Measure.recall_at_precision(0.3, PRIOR),
    "recall at alert rate 0.2": Measure.recall_at_alert_rate(0.2, PRIOR),
}


#: Measures on a test set, whose threshold is stated.
CASE_MEASURES: Mapping[str, Measure] = {
    "area under ROC": Measure.roc_auc(),
    "expected cost 1:5, stated threshold": Measure.expected_cost(1, 5, PRIOR, threshold=0.8),
    "net benefit at 0.2, stated threshold": Measure.net_benefit(0.2, PRIOR, threshold=0.8),
}


class SampleSize(NamedTuple):
    """Numbers of positives and negatives, and distance of the classes; scores correlate by one half.

    Cases of a cluster, of which each has both classes, share .3 of the variance. Weights are 1 or 4.
    """

    n_positive: int
    n_negative: int
    distance: float
    n_clusters: int = 0
    weighted: bool = False


TEST_SETS: Mapping[str, SampleSize] = (
    {
        f"test set {p} + {n}, distance {d:g}": SampleSize(p, n, d)
        for p, n in ((5, 50), (10, 40), (10, 200), (20, 80), (20, 400), (50, 200), (100, 400))
        for d in (0.8, 2.0)
    }
    | {
        f"{k} clusters of 5, distance {d:g}": SampleSize(k, 4 * k, d, k)
        for k in (20, 40, 80)
        for d in (0.8, 2.0)
    }
    | {
        f"weighted test set {p} + {4 * p}, distance {d:g}": SampleSize(p, 4 * p, d, weighted=True)
        for p in (20, 50, 100)
        for d in (0.8, 2.0)
    }
)

#: Runs on one test set of 50 + 200 cases, which share half of the variance of a case.
RUNS: Mapping[str, int] = {f"{n} runs on one test set": n for n in (5, 10, 20)}


N_MODELS = 3

MEASURE_COLUMNS = ("learner", "design", "measure", "question", "level", "rate", "std_error", "replicates")


def measures_study(*, scenarios: Sequence[str] | None = None, **run: Any) -> Study:
    """Count false differences between equal models, and misses of intervals, of measures of scores.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Designs, names from `TEST_SETS`, `RUNS` and, of the study of values, `DESIGNS` and
        `SAMPLES` but data sets.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (200 over folds, 2,000 of test sets), rng,
        n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `MEASURE_COLUMNS`. The rate is that of tests of all models or families of
        pairs that reject, or of intervals of a mean or of a difference that miss; of the means over folds,
        the true one is the average over all replicates.

    Examples
    --------
    >>> from studies.measures import measures_study
    >>> study = measures_study(scenarios=["test set 20 + 80, distance 2"], replicates=4, progress=False)
    >>> sorted(set(study.to_frame()["question"]))
    ['interval of a difference', 'interval of a mean', 'models', 'pairs']
    """
    how = Run(**run)
    folds = [name for name in (*DESIGNS, *SAMPLES) if "data sets" not in name]
    cells = []
    for name in chosen(scenarios, dict.fromkeys([*TEST_SETS, *RUNS, *folds]), argument="scenarios"):
        if name in TEST_SETS:
            draw = partial(one_by_one, partial(numbers_of_test_set, TEST_SETS[name]))
            cells.append(Cell(("binormal", name), how.number(2000), draw))
            continue
        if name in RUNS:
            draw = partial(one_by_one, partial(numbers_of_runs, RUNS[name]))
            cells.append(Cell(("binormal", name), how.number(2000), draw))
            continue
        for learner in PROBABILITIES:
            draw = partial(one_by_one, partial(numbers_over_folds, learner, name))
            cells.append(Cell((learner, name), how.number(200), draw))
    return study_of("measures", cells, _rows, columns=MEASURE_COLUMNS, run=how)


def numbers_over_folds(learner: str, name: str, rng: np.random.Generator) -> Floats:
    """P of all models, smallest of pairs, of one difference, mean and limits, of each measure (n, 6)."""
    parts, stated = draw_parts(learner, name, rng)
    curves = [
        [curve_from_scores(label, p) for p in models]
        for each, labels in parts
        for models, label in zip(np.moveaxis(each, 1, 0), labels, strict=True)
    ]
    n_cases = SETTING.n_negative, SETTING.n_positive
    if name in SAMPLES:  # each fold has cases of its own
        n_positive = sum(int(labels.sum()) for _, labels in parts)
        n_cases = sum(labels.size for _, labels in parts) - n_positive, n_positive
    return curve_numbers(curves, stated, Support(*n_cases))


def numbers_of_runs(n_runs: int, rng: np.random.Generator) -> Floats:
    """Return the numbers of :func:`numbers_over_folds` of runs, equal in truth on their test set."""
    positive = np.arange(250) < 50
    case, run = rng.standard_normal(250), rng.standard_normal((n_runs, N_MODELS, 250))
    scores = 1.5 * positive + (case + run) / np.sqrt(2)
    curves = [[curve_from_scores(positive, score) for score in models] for models in scores]
    return curve_numbers(curves, "runs")


def curve_numbers(
    curves: Sequence[Sequence[RocCurve]], stated: str | FoldDesign, support: Support | None = None
) -> Floats:
    """Return the numbers of :func:`numbers_over_folds` of curves, a list of the models for every fold."""
    rows = []
    for measure in FOLD_MEASURES.values():
        cells: dict[Curve, RocCurve] = {
            (str(k), j): roc for j, models in enumerate(curves) for k, roc in enumerate(models)
        }
        gains = measure.sign * measure.mean(cells).reshape(len(curves), N_MODELS)
        size = None if support is None else measure.count_limiting_cases(support)
        rows.append(gain_numbers(gains, stated, size))
    return np.array(rows)


def gain_numbers(gains: Floats, stated: str | FoldDesign, size: Floats | None = None) -> tuple[float, ...]:
    """Return the numbers of :func:`numbers_over_folds` of gains (n_folds, n_models)."""
    design, _ = resolve_design(stated, read_values({str(k): column for k, column in enumerate(gains.T)}))
    difference, mean = (
        fold_mean_interval(
            column.mean(), column.std(ddof=1), len(gains), ratio=design.ratio, level=0.95, size=n
        )
        for column, n in ((gains[:, 0] - gains[:, 1], None), (gains[:, 0], size))
    )
    misses = float(difference.low > 0 or difference.high < 0)
    limits = float(mean.low), float(mean.high)
    return (*default_p_values(gains, stated), misses, gains[:, 0].mean(), *limits)


def numbers_of_test_set(setting: SampleSize, rng: np.random.Generator) -> Floats:
    """Return the numbers of :func:`numbers_over_folds` on a test set; in place of a mean the true one."""
    positive = np.arange(setting.n_positive + setting.n_negative) < setting.n_positive
    noise, cluster, weight = rng.standard_normal((len(positive), N_MODELS + 1)), None, None
    if setting.n_clusters:
        cluster = np.arange(len(positive)) % setting.n_clusters
        common = rng.standard_normal((setting.n_clusters, N_MODELS + 1))[cluster]
        noise = np.sqrt(0.3) * common + np.sqrt(0.7) * noise
    if setting.weighted:
        weight = rng.choice([1.0, 4.0], len(positive))
    scores = setting.distance * positive[:, None] + (noise[:, :1] + noise[:, 1:]) / np.sqrt(2)
    sample = Sample(positive, cluster, weight)
    return np.array([case_numbers(m, sample, scores, setting) for m in CASE_MEASURES.values()])


def case_numbers(measure: Measure, sample: Sample, scores: Floats, setting: SampleSize) -> tuple[float, ...]:
    """Return the numbers of one measure on one test set."""
    areas, (low, high) = measure_sample(measure, sample, scores)
    truth = true_gain(measure, setting.distance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        pairs = compute_pair_tests(areas, level=0.95, simultaneous="none")
        p_models = omnibus_f_test(areas)[3]
    misses = float(pairs.conf_low[0] > 0 or pairs.conf_high[0] < 0)
    p_pairs = float(np.nanmin(np.append(pairs.p_adjusted, 1.0)))
    p_all = 1.0 if np.isnan(p_models) else p_models
    return p_all, p_pairs, misses, truth, float(low[0]), float(high[0])


def measure_sample(measure: Measure, sample: Sample, scores: Floats) -> MeasuredCases:
    """Gains of the models (columns of scores), as `compare_values` measures them."""
    models = [SortedScores(sample, column) for column in scores.T]
    if measure.threshold is None:
        area, values = measure_models(sample, models, [UniformPrior(0.5, 0.5)], ROC_AUC)
        return limit_areas(ArcsineAreas.from_areas(area[:, 0], values[..., 0], sample), 0.05)
    parts = [measure_rates(model, measure.threshold) for model in models]
    rates, values = np.stack([each for each, _ in parts]), np.stack([each for _, each in parts], axis=1)
    return measure_gains(measure, (rates, values), sample, 0.05)


def curves_of_test_set(replicates: int, *, crossing: bool, seed: int = 77) -> tuple[float, float]:
    """Return the rates of rejecting bands at .05 and .005 or, if `crossing`, of covering it and of none.

    Scores of 50 positives and 200 negatives are normal and correlate by one half. A false negative costs five
    times a false positive. Covered crossings are counted among samples that have one.
    """
    measure = Measure.expected_cost(1, 5, (0.05, 0.3), threshold=0.8)
    shapes = np.array([[1.5, 1.0], [1.0, 0.6]] if crossing else [[1.5, 1.0]] * N_MODELS)
    misses = special.ndtr((0.8 - shapes[:, 0]) / shapes[:, 1])
    alarms = special.ndtr(-0.8 / shapes[:, 1])
    odds = (alarms[0] - alarms[1]) / (5 * (misses[1] - misses[0])) if crossing else np.nan
    truth = odds / (1 + odds)
    rng, positive, results = np.random.default_rng(seed), np.arange(250) < 50, []
    for i in range(replicates):
        shared = np.sqrt(0.5) * rng.normal(size=250)
        columns = {"case": np.arange(250), "y_true": positive.astype(int)}
        parts = []
        for name, (distance, spread) in zip("abc", shapes.tolist(), strict=False):
            score = distance * positive + spread * (shared + np.sqrt(0.5) * rng.normal(size=250))
            parts.append(pd.DataFrame({"model": name, "y_score": score, **columns}))
        tables = compare_values(pd.concat(parts), measure=measure, rng=i).tables
        if crossing:
            found = tables["crossings"].query("model_below == 'b'")
            covers = (found["conf_low"] <= truth) & (truth <= found["conf_high"])
            results.append((bool(covers.any()), found.empty))
        else:
            smallest = tables["difference_curves"]["p_adjusted"].min()
            results.append((smallest < 0.05, smallest < 0.005))
    first, second = np.mean(results, axis=0)
    return float(first / (1 - second) if crossing else first), float(second)


def true_gain(measure: Measure, distance: float) -> float:
    """Return the gain of normal scores with unit variance, in closed form."""
    if measure.threshold is None:
        return float(special.ndtr(distance / np.sqrt(2)))
    origin, slopes = measure.gains_at_rates()
    rates = special.ndtr(np.array([distance, 0.0]) - measure.threshold)
    return float(origin + rates @ slopes)


def _rows(cell: Cell, numbers: Floats) -> Iterator[tuple[object, ...]]:
    names = CASE_MEASURES if cell.key[1] in TEST_SETS else FOLD_MEASURES
    for name, each in zip(names, np.moveaxis(numbers, 1, 0), strict=True):
        p_models, p_pairs, misses, mean, low, high = each.T
        truth = mean.mean()
        intervals = {"interval of a difference": misses, "interval of a mean": (low > truth) | (high < truth)}
        rates = {(question, 0.05): np.asarray(hits, dtype=np.float64) for question, hits in intervals.items()}
        for level in LEVELS:
            rates["models", level] = (p_models <= level).astype(np.float64)
            rates["pairs", level] = (p_pairs <= level).astype(np.float64)
        for (question, level), hits in rates.items():
            rate = float(hits.mean())
            error = float(np.sqrt(rate * (1 - rate) / len(hits)))
            yield *cell.key, name, question, level, rate, error, len(hits)
