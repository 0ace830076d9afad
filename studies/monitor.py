"""False alarms and delays of `monitor` over many looks at unlabelled and at labelled scores."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skewanova.base.checks import Bools, Floats, SkewanovaWarning
from skewanova.comparison.monitoring import monitor
from skewanova.priors.mixtures import bin_scores
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one

#: Labelled positives and negatives, and unlabelled scores of a batch; positives score 1.5 higher.
N_POSITIVE, N_NEGATIVE, N_BATCH, SHIFT = 1000, 4000, 1000, 1.5


#: Prior at which the chosen model's lead ends, and the prior after a change.
PRIOR, CHANGED_PRIOR = 0.05, 0.08


#: With labels, the runner-up is as good; after a change, the chosen model's positives score less.
CHANGED_SHIFT = 1.1


#: Years in a full study.
FULL = 1000


MONITOR_STUDY_COLUMNS = (
    "scenario", "n_batches", "change", "looks", "measure", "rate", "std_error", "median_delay", "replicates",
)  # fmt: skip


#: What a series of looks may raise: an alarm that the lead, the prior or the scores' distribution changed.
MEASURES = ("lead", "prior", "label shift", "lead by labels")


class Series(NamedTuple):
    """Number of batches, the batch from which the prior is another one, and the looks of `monitor`.

    If `is_split`, each batch is judged alone. With `n_labelled`, a batch has so many cases, all with labels
    and scores of two models, which are ratings of `n_levels` levels if that is not 0.
    """

    n_batches: int
    change: int = 0
    looks: int | None = 52
    is_split: bool = False
    n_labelled: int = 0
    n_levels: int = 0


#: A year of weeks and ten years without a change, and a year with a change after its first half.
SCENARIOS: Mapping[str, Series] = {
    "year": Series(52),
    "year, open": Series(52, looks=None),
    "year, one by one": Series(52, looks=1, is_split=True),
    "ten years": Series(520, looks=520),
    "ten years, open": Series(520, looks=None),
    "change": Series(52, 27),
    "change, open": Series(52, 27, None),
    "change, one by one": Series(52, 27, 1, is_split=True),
    "year, labels": Series(52, n_labelled=1000),
    "year, few labels": Series(52, n_labelled=250),
    **{f"year, {count} levels": Series(52, n_labelled=250, n_levels=count) for count in (5, 7, 11)},
    "year, labels, open": Series(52, looks=None, n_labelled=250),
    "ten years, labels": Series(520, looks=520, n_labelled=250),
    "change, labels": Series(52, 27, n_labelled=1000),
}


def monitor_study(*, scenarios: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate series of batches, and count alarms without a change and the batches until one is found.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names of `SCENARIOS`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (1,000), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `MONITOR_STUDY_COLUMNS`. ``rate`` is the share of series with an alarm
        before the change or, without one, at any look; ``median_delay`` is that of the first
        alarm from the change on, infinite if most series have none.

    Examples
    --------
    >>> from studies.monitor import monitor_study
    >>> frame = monitor_study(scenarios=["change"], replicates=2, progress=False).to_frame()
    >>> frame["measure"].tolist()
    ['lead', 'prior', 'label shift']
    >>> frame = monitor_study(scenarios=["change, labels"], replicates=1, progress=False).to_frame()
    >>> frame["measure"].tolist()
    ['lead by labels']
    """
    how = Run(**run)
    number = how.number(FULL)
    cells = []
    for name in chosen(scenarios, SCENARIOS, argument="scenarios"):
        series = SCENARIOS[name]
        key = (name, series.n_batches, series.change, "each" if series.is_split else series.looks)
        cells.append(Cell(key, number, partial(one_by_one, partial(measure_series, series))))
    return study_of("monitor", cells, _rows, columns=MONITOR_STUDY_COLUMNS, run=how)


def measure_series(series: Series, rng: np.random.Generator) -> Floats:
    """Return the batches of the first alarm before the change, and from it on; infinite without an alarm."""
    frame = _draw_labelled(series, rng) if series.n_labelled else _draw_unlabelled(series, rng)
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        folder = _write_comparison(Path(name), rng)
        if series.n_labelled:
            prior = (PRIOR / 2, 2 * PRIOR)
            lead = monitor(folder, frame, looks=series.looks, deployment_prior=prior).lead
            behind = lead.set_index(lead["batch"].astype(int))["state"] == "behind"
            alarms = behind.reindex(range(1, series.n_batches + 1), fill_value=False).to_numpy()[None]
        elif series.is_split:
            parts = [monitor(folder, rows.drop(columns="batch")).table for _, rows in frame.groupby("batch")]
            alarms = _find_alarms(pd.concat(parts, ignore_index=True), 1)
        else:
            table = monitor(folder, frame, looks=series.looks).table
            alarms = _find_alarms(table, series.looks or series.n_batches)
    first = series.change - 1 if series.change else series.n_batches
    return np.stack([_first(alarms[:, :first]), _first(alarms[:, first:])])


def _find_alarms(table: pd.DataFrame, n_looks: int) -> Bools:
    return np.stack([table["state"] == "changed", table["prior_moved"], table["p_value"] < 0.05 / n_looks])


def _draw_unlabelled(series: Series, rng: np.random.Generator) -> pd.DataFrame:
    """Draw scores of the chosen model in batches of `N_BATCH`."""
    priors = np.full(series.n_batches, PRIOR)
    if series.change:
        priors[series.change - 1 :] = CHANGED_PRIOR
    size = N_BATCH * series.n_batches
    score = rng.normal(size=size) + SHIFT * (rng.random(size) < np.repeat(priors, N_BATCH))
    batch = np.repeat(np.arange(1, series.n_batches + 1), N_BATCH)
    return pd.DataFrame({"model": "A", "y_score": score, "batch": batch})


def _draw_labelled(series: Series, rng: np.random.Generator) -> pd.DataFrame:
    """Draw labels and the scores of both models, correlated .5 within a class."""
    batch = np.repeat(np.arange(1, series.n_batches + 1), series.n_labelled)
    positive = rng.random(len(batch)) < PRIOR
    has_changed = (batch >= series.change) & (series.change > 0)
    common, *noise = rng.normal(size=(3, len(batch))) * np.sqrt(0.5)
    shifts = {"A": np.where(has_changed, CHANGED_SHIFT, SHIFT), "B": np.full(len(batch), SHIFT)}
    parts = []
    for (model, shift), part in zip(shifts.items(), noise, strict=True):
        score = common + part + shift * positive
        if series.n_levels:  # of equal width between two deviations below negatives and above positives
            score = np.clip(np.floor((score + 2) / (4 + SHIFT) * series.n_levels), 0, series.n_levels - 1)
        parts.append(pd.DataFrame({"model": model, "batch": batch, "y_true": positive * 1, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def _first(alarms: Any) -> Floats:
    """Return the number of the first alarm of each row; infinite without one."""
    if not alarms.shape[1]:
        return np.full(len(alarms), np.inf)
    return np.where(alarms.any(axis=1), alarms.argmax(axis=1) + 1.0, np.inf)


def _write_comparison(folder: Path, rng: np.random.Generator) -> Path:
    """Write what `monitor` reads: the ranking, the ranges of leaders, and bins of new labelled scores."""
    positive = np.arange(N_POSITIVE + N_NEGATIVE) < N_POSITIVE
    score = rng.normal(size=len(positive)) + SHIFT * positive
    bins = bin_scores(positive, score, score, 8)
    n_bins = len(bins.edges) + 1
    frames = {
        "ranking": pd.DataFrame({"rank": [1, 2], "model": ["A", "B"], "iauprec": [0.6, 0.5], "group": "a"}),
        "leaders": pd.DataFrame(
            [(1e-4, PRIOR, "A", "A"), (PRIOR, 0.5, "B", "B")],
            columns=["prior_low", "prior_high", "leader", "contender"],
        ),
        "score_bins": pd.DataFrame(
            {
                "model": "A",
                "bin": range(1, n_bins + 1),
                "score_high": [*bins.edges, np.nan],
                "n_positive": bins.counts.positive,
                "n_negative": bins.counts.negative,
            }
        ),
    }
    (folder / "tables").mkdir()
    for name, frame in frames.items():
        frame.to_csv(folder / "tables" / f"{name}.csv", index=False)
    (folder / "provenance.json").write_text('{"settings": {}}', encoding="utf-8")
    return folder


def _rows(cell: Cell, values: Floats) -> Iterator[tuple[Any, ...]]:
    name, n_batches, change, looks = cell.key
    measures = MEASURES[:3] if values.shape[2] == 3 else MEASURES[3:]
    for i, measure in enumerate(measures):
        early = np.isfinite(values[:, 0, i])
        rate = float(early.mean())
        error = float(np.sqrt(rate * (1 - rate) / len(early)))
        delay = float(np.median(values[~early, 1, i])) if change else np.nan
        yield (name, n_batches, change, str(looks), measure, rate, error, delay, len(early))
