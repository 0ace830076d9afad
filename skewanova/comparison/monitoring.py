"""Check by later, unlabelled scores that the chosen model is still the choice."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import FIRST_INEXACT, InputError, Seed, check_fraction, check_scores, warn_each
from skewanova.base.frames import FrameResult, iter_rows
from skewanova.base.text import Table, build_table, format_column, format_limits, shorten_name
from skewanova.comparison.diff import (
    WRITTEN_FOLDER,
    check_ranking,
    describe_other,
    describe_path,
    get_leader,
    read_result_csv,
)
from skewanova.comparison.result import Comparison
from skewanova.priors.estimation import estimate_from_bins
from skewanova.priors.mixtures import BinCounts, BinnedScores, count_by_bin
from skewanova.scores.unlabelled import SCORE_BIN_COLUMNS, as_unlabelled

MONITOR_COLUMNS = (
    "batch", "n_unlabelled", "estimate", "conf_low", "conf_high", "p_value", "leaders", "state",
)  # fmt: skip


#: States of the chosen model, given an interval of the prior: verdict and reason.
STATES = {
    "choice": ("{} is still the choice", "it may be the best at every prior of the interval"),
    "open": (
        "{} may no longer be the choice",
        "it may be the best at some priors of the interval, and is not at others",
    ),
    "changed": ("{} is no longer the choice", "another model is ahead at every prior of the interval"),
    "beyond": ("nothing is known of {}", "the interval lies beyond the priors that were compared"),
}


@dataclass(frozen=True, eq=False)
class MonitorReport(FrameResult):
    """State of the chosen model, by the prior of each batch of later scores.

    Attributes
    ----------
    chosen : str
        Model that ranked first in the comparison.
    confidence_level : float
        Level of the intervals of the prior.
    table : DataFrame
        One row for each batch, or one with an empty name; columns of `MONITOR_COLUMNS`. The state is
        ``choice`` (still the choice), ``open``, ``changed`` (another model is ahead) or ``beyond``.
    leaders : DataFrame
        Models that may be the best at each prior, from the comparison.
    warnings : tuple of str
        Reasons why numbers may be unreliable.
    """

    chosen: str
    confidence_level: float
    table: pd.DataFrame = field(repr=False)
    leaders: pd.DataFrame = field(repr=False)
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @property
    def changed(self) -> bool:
        """True if, for some batch, another model is ahead at every prior of its interval."""
        return bool((self.table["state"] == "changed").any())

    @property
    def level_text(self) -> str:
        """Level of the intervals in words."""
        return f"{100 * self.confidence_level:g} %"

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each batch."""
        result = []
        for row in iter_rows(self.table):
            batch = f"{row.batch}: " if row.batch else ""
            prior = f"prior {row.estimate:.3g} ({self.level_text} {row.conf_low:.3g} to {row.conf_high:.3g})"
            verdict, reason = STATES[row.state]
            result.append(f"{batch}{prior}: {verdict.format(shorten_name(self.chosen))}, since {reason}.")
        return tuple(result)

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def to_table(self) -> Table:
        """Return the table with formatted cells."""
        return build_table(
            "monitor",
            f"Prior by batch, and whether {self.chosen} is still the choice",
            self.table,
            {
                "Batch": lambda row: row.batch or "(all)",
                "Scores": lambda row: f"{row.n_unlabelled:,}",
                "Prior": format_column("estimate"),
                f"{self.level_text} interval": format_limits,
                "May be the best": lambda row: row.leaders,
                "State": lambda row: row.state,
            },
        )

    def summary(self, width: int = 80) -> str:
        """Return sentences, warnings and the table as text of at most `width` columns."""
        notes = [f"warning: {text}" for text in self.warnings]
        return "\n".join([*self.sentences, *notes, "", self.to_table().to_text(width)])


def monitor(
    comparison: Comparison | str | os.PathLike[str],
    unlabelled: object,
    *,
    confidence_level: float = 0.95,
    rng: Seed = 0,
) -> MonitorReport:
    """Check by later, unlabelled scores that the chosen model is still the choice.

    The prior of each batch is estimated from the scores of the model that ranked first. Its interval is
    compared with the ranges of priors in which each model may be the best. Use it while the model is deployed
    and labels are not yet known; it does not detect other changes than that of the prior.

    Parameters
    ----------
    comparison : Comparison or path
        A comparison, or the folder that `save` or ``--out`` wrote.
    unlabelled : UnlabelledScores, path or frame
        Scores of the model in deployment: columns model, y_score and, optionally, batch.
    confidence_level : float, default 0.95
        Level of the intervals of the prior.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the bootstrap that small samples need.

    Returns
    -------
    MonitorReport
        A row and a sentence for each batch; ``changed`` is True if another model is ahead.

    Raises
    ------
    ValueError
        If the folder holds no comparison with binned scores, or `unlabelled` lacks the chosen model.

    Warns
    -----
    SkewanovaWarning
        If the scores do not fit a mixture of the labelled classes.

    Examples
    --------
    >>> import skewanova as sa
    >>> scores = sa.load_satellite_scores()
    >>> comparison = sa.compare(scores, at_priors=(0.5, 0.1))
    >>> later = scores.select_folds([13]).to_frame()[["model", "y_score"]]
    >>> result = sa.comparison.monitor(comparison, later)
    >>> result.changed, result.table["state"].tolist()
    (False, ['choice'])
    """
    level = check_fraction(confidence_level, "confidence_level")
    frames = _load_frames(comparison)
    chosen = get_leader(frames["ranking"])
    field_scores = as_unlabelled(unlabelled)
    if chosen not in field_scores.models:
        raise InputError(
            f"`unlabelled` must hold scores of {chosen!r}, the model that was chosen, but has those of "
            f"{', '.join(map(repr, field_scores.models[:5]))}"
        )
    bins, rows = _select_bins(frames["score_bins"], chosen), field_scores.select_model(chosen)
    parts: Any = [("", rows)] if "batch" not in rows else rows.groupby("batch", sort=True, observed=True)
    result, notes = [], []
    for name, part in parts:
        scores = check_scores(part["y_score"].to_numpy(), "unlabelled")
        counts = bins.counts._replace(unlabelled=count_by_bin(scores, bins.edges))
        item = estimate_from_bins(replace(bins, counts=counts), level, rng=rng)
        interval = item.conf_low, item.conf_high
        state = _classify_state(frames["leaders"], chosen, interval)
        result.append((str(name), len(part), item.estimate, *interval, item.label_shift.p_value, *state))
        notes += [f"{name}: {text}" if name != "" else text for text in item.warnings]
    table = pd.DataFrame(result, columns=list(MONITOR_COLUMNS))
    return MonitorReport(chosen, level, table, frames["leaders"], warn_each(notes))


def _load_frames(comparison: object) -> Mapping[str, pd.DataFrame]:
    names = ("ranking", "leaders", "score_bins")
    if isinstance(comparison, Comparison):
        return {name: comparison.tables[name] for name in names}
    if not isinstance(comparison, str | os.PathLike):
        raise InputError(f"`comparison` must be a comparison or a folder, {describe_other(comparison)}")
    try:
        return _check_frames(
            {name: read_result_csv(Path(comparison) / "tables" / f"{name}.csv") for name in names}
        )
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"`comparison` must be {WRITTEN_FOLDER}, {describe_path(Path(comparison))}"
        ) from error


def _check_frames(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Check the frames of a folder, which users may have edited, and return them with numeric columns."""
    ends = {"prior_low": float, "prior_high": float}
    numbers = dict.fromkeys(("score_high", "n_positive", "n_negative"), float)
    leaders, bins = frames["leaders"].astype(ends), frames["score_bins"].astype(numbers)
    if not ((leaders["prior_low"] <= leaders["prior_high"]) & (leaders["contender"] != "")).all():
        raise ValueError("leaders lead from one prior to a higher one")
    for _, rows in bins[list(SCORE_BIN_COLUMNS)].groupby("model"):
        counts, edges = rows[["n_positive", "n_negative"]].to_numpy(), rows["score_high"].to_numpy()[:-1]
        exact = ((counts >= 0) & (counts < FIRST_INEXACT)).all()
        if not (exact and (counts.sum(axis=0) > 0).all()):
            raise ValueError("bins hold cases of both classes")
        if not (len(edges) and np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
            raise ValueError("bins follow each other")
    return {"ranking": check_ranking(frames["ranking"]), "leaders": leaders, "score_bins": bins}


def _select_bins(frame: pd.DataFrame, chosen: str) -> BinnedScores:
    """Return the bin edges and the labelled counts of the chosen model."""
    rows = frame.loc[frame["model"] == chosen, list(SCORE_BIN_COLUMNS)]
    if rows.empty:
        raise InputError(
            f"the comparison has no binned scores of {chosen!r}: compare again from a table in memory with a "
            "column `case`, or with one fold"
        )
    positive, negative = (rows[name].to_numpy(dtype=np.float64) for name in ("n_positive", "n_negative"))
    counts = BinCounts(positive, negative, np.zeros(len(rows)))
    no_scores = np.zeros(1)  # single scores are not stored; a test of label shift would need them
    return BinnedScores(
        rows["score_high"].to_numpy(dtype=np.float64)[:-1], counts, no_scores, no_scores, no_scores
    )


def _classify_state(leaders: pd.DataFrame, chosen: str, interval: tuple[float, float]) -> tuple[str, str]:
    """Return the models that may be best at priors of the interval, and the state of the chosen model."""
    low, high = interval
    overlapping = leaders[(leaders["prior_low"] <= high) & (leaders["prior_high"] >= low)]
    if overlapping.empty:
        return "", "beyond"
    ranges = overlapping.groupby(["prior_low", "prior_high"], sort=True)["contender"]
    is_contender = [chosen in set(names) for _, names in ranges]
    state = "choice" if all(is_contender) else "open" if any(is_contender) else "changed"
    return ", ".join(dict.fromkeys(overlapping["contender"].astype(str))), state
