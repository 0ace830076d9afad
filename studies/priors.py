"""Coverage of the interval of an estimated prior, and size and power of the test of label shift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri
from scipy.stats import chi2

from skewanova.base.checks import Floats
from skewanova.priors import estimation, mixtures
from skewanova.priors.mixtures import CASES_PER_BIN, N_BINS, BinCounts, bin_edges, count_by_bin
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, means

#: Samples of each setting in the recorded study.
RECORDED = 1000


#: Bins asked for; "rule" is what `estimate_prior` takes.
BINS = ("4", "8", "20", "rule")


#: Levels of the intervals and of the test.
LEVELS = (0.05, 0.005)


#: Samples of the bootstrap where chi2 is too small.
DRAWS = 199


PRIOR_STUDY_COLUMNS = (
    "setting", "n_positive", "n_unlabelled", "auc", "prior", "violation", "bins", "level", "coverage",
    "std_error", "bias", "width", "shift_rejected", "replicates",
)  # fmt: skip


class Setting(NamedTuple):
    """Where samples come from: normal scores, four negatives a positive, and what breaks label shift."""

    n_positive: int = 100
    n_unlabelled: int = 2000
    auc: float = 0.85
    prior: float = 0.05
    violation: str = ""
    digits: int | None = None  #: scores rounded to so many, for ties


def _grid() -> dict[str, Setting]:
    """Return settings by name: one thing moved at a time from the usual, and the corners that are hardest."""
    sizes = {f"positives {n}": Setting(n_positive=n) for n in (30, 60, 300, 1000)}
    fields = {f"unlabelled {n}": Setting(n_unlabelled=n) for n in (100, 500, 10_000, 100_000)}
    priors = {f"prior {p:g}": Setting(prior=p) for p in (0.005, 0.02, 0.2, 0.5)}
    models = {f"auc {a:g}": Setting(auc=a) for a in (0.6, 0.7, 0.95)}
    hard = {
        "weak and few": Setting(30, 1000, 0.6, 0.2),
        "weak few rare": Setting(30, 1000, 0.6, 0.02),
        "few and rare": Setting(30, 100, 0.85, 0.005),
        "ties": Setting(digits=0),
    }
    broken = {
        "positives shifted": Setting(violation="positives"),
        "negatives shifted": Setting(violation="negatives"),
        "new subpopulation": Setting(violation="subpopulation"),
    }
    return {"usual": Setting(), **sizes, **fields, **priors, **models, **hard, **broken}


SETTINGS = _grid()


#: By how many standard deviations a class is shifted, and the share of a subpopulation between the classes.
SHIFT, NEWCOMERS = 0.3, 0.05


def prior_study(*, scenarios: Sequence[str] | None = None, bins: Sequence[str] = BINS, **run: Any) -> Study:
    """Simulate labelled and unlabelled scores, and count how often the interval holds the prior.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `SETTINGS`; by default all.
    bins : sequence of str, default ("4", "8", "20", "rule")
        Numbers of bins, taken as they are; "rule" takes eight, fewer with few cases, and the bootstrap where
        chi2 is too small, as :func:`~skewanova.estimate_prior` does.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (1,000), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `PRIOR_STUDY_COLUMNS`. ``bias`` is that of the estimate, ``width`` the mean
        width of the interval, ``shift_rejected`` the rate of the test of label shift at the level.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.priors import prior_study
    >>> study = prior_study(scenarios=["usual"], bins=["8"], replicates=5, progress=False)
    >>> study.to_frame()[["setting", "bins", "level"]].values.tolist()
    [['usual', '8', 0.05], ['usual', '8', 0.005]]
    """
    how = Run(**run)
    asked = chosen(bins, dict.fromkeys(BINS), argument="bins")
    cells = [
        Cell((name,), how.number(RECORDED), partial(_measures, SETTINGS[name], asked))
        for name in chosen(scenarios, SETTINGS, argument="scenarios")
    ]
    return study_of("prior", cells, _rows, columns=PRIOR_STUDY_COLUMNS, run=how)


def sample(setting: Setting, draws: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Scores of labelled positives and negatives, and unlabelled scores."""
    distance = float(ndtri(setting.auc) * np.sqrt(2))
    positive = draws.normal(distance, 1, setting.n_positive)
    negative = draws.normal(0, 1, 4 * setting.n_positive)
    is_positive = draws.random(setting.n_unlabelled) < setting.prior
    moved = {"positives": is_positive, "negatives": ~is_positive}.get(setting.violation, False)
    field = draws.normal(distance * is_positive + SHIFT * np.asarray(moved), 1)
    if setting.violation == "subpopulation":
        new = draws.random(setting.n_unlabelled) < NEWCOMERS
        field = np.where(new, draws.normal(distance / 2, 0.2, setting.n_unlabelled), field)
    scores = positive, negative, field
    if setting.digits is None:
        return scores
    return scores[0].round(setting.digits), scores[1].round(setting.digits), scores[2].round(setting.digits)


def _measures(
    setting: Setting, bins: Sequence[str], seed: np.random.SeedSequence, size: int
) -> dict[str, Floats]:
    """Return counts by "bins|class" of each replicate, and critical values by "bins|critical"."""
    draws = np.random.default_rng(seed)
    samples = [sample(setting, draws) for _ in range(size)]
    found: dict[str, Floats] = {}
    for way in bins:
        counts = [_counted(each, way, setting) for each in samples]
        found |= {
            f"{way}|{name}": np.stack([_padded(getattr(one, name), way) for one in counts])
            for name in BinCounts._fields
        }
        found[f"{way}|critical"] = np.stack([_critical(one, way, setting, draws) for one in counts])
    return found


def _counted(scores: tuple[Floats, Floats, Floats], way: str, setting: Setting) -> BinCounts:
    """Return a sample in bins at its own quantiles."""
    n_bins = max(2, min(N_BINS, setting.n_positive // CASES_PER_BIN)) if way == "rule" else int(way)
    edges = bin_edges(np.concatenate(scores[:2]), n_bins)
    return BinCounts(*(count_by_bin(part, edges) for part in scores))


def _padded(counts: Floats, way: str) -> Floats:
    """Return counts padded with empty bins, which change nothing, where ties left fewer bins."""
    return np.pad(counts, (0, (N_BINS if way == "rule" else int(way)) - len(counts)))


def _critical(counts: BinCounts, way: str, setting: Setting, draws: np.random.Generator) -> Floats:
    """Critical values at the levels: chi2's or, where `estimate_prior` has it, the bootstrap's."""
    levels = 1 - np.array(LEVELS)
    if way != "rule" or not estimation.is_chi2_too_small(counts):
        return np.asarray(chi2.ppf(levels, 1))
    at = np.asarray(logit(setting.prior))
    return mixtures.bootstrap_critical_value(counts, at, levels, n_resamples=DRAWS, rng=draws)


def judged(counts: BinCounts, critical: Floats, prior: float) -> Iterator[dict[str, Floats]]:
    """For each level, by replicate: whether the interval holds the prior, and what else is counted."""
    peak = mixtures.find_peak(counts)
    ratios = mixtures.likelihood_ratio_statistic(counts, np.full(counts.shape, logit(prior)), peak.height)
    best = np.asarray(expit(peak.log_odds))
    misfit = mixtures.g2_statistic(counts, mixtures.fit_classes(counts, best), best)
    df = (counts.positive + counts.negative > 0).sum(axis=-1) - 2
    bias = mixtures.find_likeliest_prior(counts) - prior
    for level, bound in zip(LEVELS, critical.T, strict=True):
        low, high = mixtures.interval_limits(peak, (bound, bound))
        yield {
            "coverage": (ratios <= bound).astype(np.float64),
            "bias": bias,
            "width": np.asarray(expit(high) - expit(low)),
            "shift_rejected": np.where(df > 0, misfit > chi2.ppf(1 - level, np.maximum(df, 1)), np.nan),
        }


def _rows(cell: Cell, values: Mapping[str, Floats]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each number of bins and level."""
    (name,) = cell.key
    setting = SETTINGS[name]
    for way in dict.fromkeys(key.split("|")[0] for key in values):
        counts = BinCounts(*(values[f"{way}|{part}"] for part in BinCounts._fields))
        every = judged(counts, values[f"{way}|critical"], setting.prior)
        for level, found in zip(LEVELS, every, strict=True):
            share, error = means(found["coverage"][:, None])[0]
            rest = [float(np.mean(found[what])) for what in ("bias", "width", "shift_rejected")]
            yield (name, *setting[:5], way, level, share, error, *rest, len(counts.positive))
