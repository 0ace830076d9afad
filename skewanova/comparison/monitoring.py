"""Check by later, unlabelled scores that the chosen model is still the choice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2, norm

from skewanova.base import checks
from skewanova.base.checks import FIRST_INEXACT, Bools, Floats, InputError, Seed
from skewanova.base.frames import FrameResult, iter_rows
from skewanova.base.text import Table, build_table, format_column, format_limits, merge_notes, shorten_name
from skewanova.comparison import diff
from skewanova.comparison.result import Comparison
from skewanova.curves.estimators import ESTIMATORS
from skewanova.decision.verdict import list_contenders
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import compute_pair_tests, measure_arcsine_areas
from skewanova.priors import mixtures
from skewanova.priors.estimation import PriorEstimate, estimate_from_bins
from skewanova.priors.evidence import MIN_POSITIVES, effective_negatives, scarce_class
from skewanova.priors.mixtures import BinCounts, BinnedScores, count_by_bin
from skewanova.priors.weightings import DeploymentPrior, PriorLike, as_deployment_prior
from skewanova.scores.unlabelled import SCORE_BIN_COLUMNS, UnlabelledScores, as_unlabelled

MONITOR_COLUMNS = (
    "batch", "n_batches", "n_unlabelled", "estimate", "conf_low", "conf_high", "p_value", "leaders", "state",
    "prior_moved",
)  # fmt: skip


LEAD_COLUMNS = (
    "batch", "n_batches", "n_positive", "n_negative", "difference", "conf_low", "conf_high", "state",
)  # fmt: skip


#: Batches pooled in a window.
WINDOWS = (1, 2, 4, 8, 16, 32)


#: Simulated series of batches from which critical values over all looks are taken.
N_SERIES = 9999


#: States of the chosen model, given an interval of the prior: verdict and reason.
STATES = {
    "choice": ("{} is still the choice", "it may be the best at every compared prior of the interval"),
    "open": (
        "whether {} is still the choice is open",
        "it may be the best at some compared priors of the interval, and is not at others",
    ),
    "changed": ("{} is no longer the choice", "another model leads at every compared prior of the interval"),
    "beyond": ("nothing is known of {}", "the interval lies beyond the priors that were compared"),
}


#: States of the chosen model by labelled cases.
LEAD_STATES = {
    "ahead": "is still ahead",
    "open": "is not shown to be ahead or behind",
    "behind": "is behind, against what the comparison showed",
}


@dataclass(frozen=True, eq=False)
class MonitorReport(FrameResult):
    """State of the chosen model, by the prior of each batch of later scores.

    Attributes
    ----------
    chosen : str
        Model that ranked first in the comparison.
    confidence_level : float
        Level of all intervals of the prior together, and of all tests that it moved.
    looks : int or None
        Number of batches for which the level holds; None for any number.
    table : DataFrame
        One row for each batch, or one with an empty name: batch, n_batches, n_unlabelled, estimate, conf_low,
        conf_high, p_value, leaders, state, prior_moved. The state is ``choice`` (still the choice), ``open``,
        ``changed`` (another model is ahead) or ``beyond``. Estimate, interval and state are those of
        `n_batches` pooled ones, the last of which is the row's; more than one are pooled if only they show a
        change. `p_value` tests label shift in the batch. `leaders` are the names of the models that may be
        the best, joined. `prior_moved` is True if the scores of the last batches differ from those before.
    leaders : DataFrame
        Models that may be the best at each prior, from the comparison.
    warnings : tuple of str
        Reasons why numbers may be unreliable.
    runner_up : str
        Model with which labelled cases compare the chosen one; empty without any.
    lead : DataFrame
        One row for each labelled batch from that on which has enough cases: batch, n_batches, n_positive,
        n_negative, difference, conf_low, conf_high, state. The difference is the chosen model's IAUPREC minus
        the runner-up's on the pooled batches, with its interval over all looks; the state is ``ahead``,
        ``open`` or ``behind``.
    """

    chosen: str
    confidence_level: float
    looks: int | None
    table: pd.DataFrame = field(repr=False)
    leaders: pd.DataFrame = field(repr=False)
    warnings: tuple[str, ...] = field(default=(), repr=False)
    runner_up: str = ""
    lead: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(LEAD_COLUMNS)), repr=False)

    @property
    def changed(self) -> bool:
        """True if a batch shows another model ahead: at all its interval's priors, or by its labels."""
        return bool((self.table["state"] == "changed").any() or (self.lead["state"] == "behind").any())

    @property
    def level_text(self) -> str:
        """Level, such as "95 %" for one look, "95 % over 52 looks", and "95 % over all looks" for None."""
        looks = "" if self.looks == 1 else f" over {'all' if self.looks is None else self.looks} looks"
        return f"{100 * self.confidence_level:g} %{looks}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence a batch: prior with limits, state, if the prior moved; one on labelled cases, if any."""
        result = []
        for row in iter_rows(self.table):
            batch = f"{row.batch}: " if row.batch else ""
            limits = f"({self.level_text}: {row.conf_low:.3g} to {row.conf_high:.3g})"
            pooled = f" of {row.n_batches} batches" if row.n_batches > 1 else ""
            verdict, reason = STATES[row.state]
            verdict = verdict.format(shorten_name(self.chosen))
            has_moved = " The prior has moved." if row.prior_moved else ""
            result.append(
                f"{batch}prior{pooled} {row.estimate:.3g} {limits}: {verdict}, since {reason}.{has_moved}"
            )
        return (*result, *self._describe_lead())

    def _describe_lead(self) -> Iterator[str]:
        """Yield a sentence on the first batch behind, else the last, else on few labels; none without any."""
        rows = [*iter_rows(self.lead)]
        names = [shorten_name(name) for name in (self.chosen, self.runner_up)]
        if self.runner_up and not rows:
            yield (
                f"The labelled cases that {names[0]} and {names[1]} both scored are too few to compare them: "
                f"at least {MIN_POSITIVES} of each class are needed, and more if scores tie."
            )
        if rows:
            row = next((each for each in rows if each.state == "behind"), rows[-1])
            yield (
                f"{f'{row.batch}: ' if row.batch else ''}by {row.n_positive} labelled positives and "
                f"{row.n_negative} negatives, IAUPREC of {names[0]} minus {names[1]} is {row.difference:.3g} "
                f"({self.level_text}: {row.conf_low:.3g} to {row.conf_high:.3g}): {names[0]} "
                f"{LEAD_STATES[row.state]}."
            )

    def to_frame(self) -> pd.DataFrame:
        """Return batch, n_batches, n_unlabelled, estimate, limits, p_value, leaders, state, prior_moved."""
        return self.table.copy()

    def to_table(self) -> Table:
        """Return a text table, one row a batch: scores, prior, interval, models, state, moved."""
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
                "Prior moved": lambda row: "yes" if row.prior_moved else "",
            },
        )

    def summary(self, width: int = 80) -> str:
        """Return sentences and warnings, one a line of any length, and a table of at most `width` columns."""
        notes = [f"warning: {text}" for text in self.warnings]
        return "\n".join([*self.sentences, *notes, "", self.to_table().to_text(width)])


def monitor(
    comparison: Comparison | str | os.PathLike[str],
    unlabelled: object,
    *,
    looks: int | None = 52,
    confidence_level: float = 0.95,
    deployment_prior: PriorLike | None = None,
    rng: Seed = 0,
) -> MonitorReport:
    """Check by later scores, most of them unlabelled, that the chosen model is still the choice.

    The prior of each batch is estimated from the scores of the model that ranked first. Its interval is
    compared with the ranges of priors in which each model may be the best. Where some labels are known by
    now, the model is compared with the runner-up on these cases. Pass all batches so far at each look.

    Parameters
    ----------
    comparison : Comparison or path
        A comparison, or the folder that `save` or ``--out`` wrote.
    unlabelled : UnlabelledScores, path or frame
        Scores of the model in deployment: columns model, y_score and, optionally, batch, in order of
        time, and y_true, blank where no label is known yet. Labelled cases need scores of another model too.
    looks : int or None, default 52
        Number of batches, one look at each, for which the level holds; raised to the number of `unlabelled`,
        and 1 without batches. None holds it for any number, with less power.
    confidence_level : float, default 0.95
        Level of all intervals of the prior together. A change of the choice, of the prior, and of the
        scores' distribution, and of the lead by labelled cases, each has a false alarm in at most
        ``1 - confidence_level`` of series.
    deployment_prior : (low, high) or deployment prior, optional
        Priors at which labelled cases compare the models; by default those of the comparison.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the bootstrap that small samples need.

    Returns
    -------
    MonitorReport
        A row and a sentence for each batch, and `lead`; ``changed`` is True if another model is ahead.

    Raises
    ------
    ValueError
        If the folder holds no comparison with binned scores, or `unlabelled` lacks the chosen model.

    Warns
    -----
    SkewanovaWarning
        If the scores do not fit a mixture of the labelled classes, at the level over all looks.

    Notes
    -----
    At each look the last 1, 2, 4, ... 32 batches are pooled, so that a small change that lasts is found too.
    The critical value is that of the largest statistic over all windows and looks, from simulated series of
    independent batches of equal size (``studies/records/monitor.md`` has the error rates). Whether the prior
    moved is tested by the difference of the mean score statistic of a window from all batches before it,
    where the error of the labelled sample cancels. Without a number of looks, look t has ``6 / (pi t)^2`` of
    the level. Labelled cases of the same windows are compared as by
    :func:`~skewanova.inference.compare_test_set`, from 10 of each class on (30 if scores tie).

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
    level = checks.check_fraction(confidence_level, "confidence_level")
    rng = checks.make_generator(rng)
    looks = looks if looks is None else checks.check_count(looks, "looks", minimum=1)
    frames = _load_frames(comparison)
    chosen = diff.get_leader(frames["ranking"])
    field_scores = as_unlabelled(unlabelled)
    if chosen not in field_scores.models:
        raise InputError(
            f"`unlabelled` must hold scores of {chosen!r}, the model that was chosen, but has those of "
            f"{', '.join(map(repr, field_scores.models[:5]))}; add its rows, or rename the model in them"
        )
    bins, rows = _select_bins(frames["score_bins"], chosen), field_scores.select_model(chosen)
    parts: Any = [("", rows)] if "batch" not in rows else rows.groupby("batch", sort=True, observed=True)
    scores = (checks.check_scores(part["y_score"].to_numpy(), "unlabelled") for _, part in parts)
    counts = np.array([count_by_bin(score, bins.edges) for score in scores])
    if "batch" not in rows:
        looks = 1
    elif looks is not None:
        looks = max(looks, len(counts))
    labelled = bins.counts._replace(unlabelled=counts.sum(axis=0))
    pooled = estimate_from_bins(replace(bins, counts=labelled), level, rng=rng)
    series = Looks(1 - level, looks)
    names = [str(name) for name, _ in parts]
    table = _judge_batches(pooled, counts, frames["leaders"], chosen, looks=series)
    table.insert(0, "batch", pd.Series(names, dtype=object))
    warnings = [text for text in pooled.warnings if text != pooled.label_shift.note]
    rejected = table["p_value"] < [series.share(number) for number in range(1, len(table) + 1)]
    shifts = table[rejected].set_index("batch")["p_value"].items()
    shifted = {str(name): [replace(pooled.label_shift, p_value=value).note] for name, value in shifts}
    warnings += merge_notes("batch", shifted) if "batch" in rows else shifted.get("", [])
    labelled_lead: dict[str, Any] = {}
    if field_scores.has_labels:
        runner_up = _find_runner_up(frames["ranking"], field_scores)
        batches = {str(name): field_scores.pair_labelled((chosen, runner_up), name) for name, _ in parts}
        leads = _judge_lead(batches, _load_measure(comparison, deployment_prior), series)
        labelled_lead = {"runner_up": runner_up, "lead": pd.DataFrame(leads, columns=list(LEAD_COLUMNS))}
    return MonitorReport(
        chosen, level, looks, table, frames["leaders"], checks.warn_each(warnings), **labelled_lead
    )


def _find_runner_up(ranking: pd.DataFrame, scores: UnlabelledScores) -> str:
    """Return the name of the best of the other ranked models that have scores; raise if none has."""
    chosen, *others = ranking.sort_values("rank", kind="stable")["model"].astype(str)
    result = next((name for name in others if name in scores.models), None)
    if result is None:
        raise InputError(
            f"`unlabelled` has labels, but only scores of {chosen!r}: add those of another model, such as "
            f"{others[0]!r}, for all its cases, or leave out the column y_true"
        )
    return result


def _load_measure(comparison: Any, deployment_prior: PriorLike | None) -> tuple[DeploymentPrior, str]:
    """Return the prior, else the comparison's (a folder's only if uniform or one prior), and estimator."""
    settings = diff.load_ranking(comparison, "comparison")[1]
    estimator = checks.check_choice(
        str(settings.get("area_estimator", "trapezoid")), ESTIMATORS, "area_estimator"
    )
    if deployment_prior is not None:
        return as_deployment_prior(deployment_prior), estimator
    if isinstance(comparison, Comparison):
        return comparison.evaluation.deployment_prior, estimator
    low, high = settings.get("deployment_limits", (0.0, 0.0))
    if (low != high and not str(settings["deployment_prior"]).startswith("uniform over priors")) or not low:
        raise InputError(
            "`deployment_prior` must be given, because the folder does not hold the one that was compared: "
            f"{settings.get('deployment_prior', 'none')}; state it, as in skewanova.BetaPrior(2, 30), "
            "or --deployment-prior beta:2:30"
        )
    return as_deployment_prior((low, high)), estimator


def _judge_lead(
    batches: Mapping[str, tuple[Bools, Floats]], measure: tuple[DeploymentPrior, str], looks: Looks
) -> Iterator[tuple[Any, ...]]:
    """Yield `LEAD_COLUMNS` by labelled batch with cases enough: longest window behind, else ahead, open."""
    labelled = {name: cases for name, cases in batches.items() if len(cases[0])}
    for number, name in enumerate(labelled, 1):
        level = 1 - 2 * float(norm.sf(looks.critical_value(number)))
        rows = []
        for length in _list_windows(number):
            window = [*labelled.values()][number - length : number]
            positive, scores = map(np.concatenate, zip(*window, strict=True))
            sizes, low = (int(positive.sum()), int((~positive).sum())), measure[0].low
            n_scores = min(len(np.unique(column)) for column in scores.T)
            effective = float(effective_negatives(sizes[1], low))
            if min(sizes) >= MIN_POSITIVES and not scarce_class(n_scores, sizes[0], effective, low):
                areas = measure_arcsine_areas(Sample(positive), scores.T, *measure)
                test = compute_pair_tests(areas, level=level, simultaneous="none")
                limits = float(test.conf_low[0]), float(test.conf_high[0])
                state = "behind" if limits[1] < 0 else "ahead" if limits[0] > 0 else "open"
                rows.append((name, length, *sizes, float(test.difference[0]), *limits, state))
        if rows:
            yield min(rows[::-1], key=lambda row: ("behind", "ahead", "open").index(row[-1]))


def _judge_batches(
    pooled: PriorEstimate, counts: Floats, leaders: pd.DataFrame, chosen: str, *, looks: Looks
) -> pd.DataFrame:
    """Return `MONITOR_COLUMNS[1:]`, a row a batch: its shortest window "changed", else the batch alone."""
    windows = _estimate_windows(pooled, counts, looks)
    ranges, limits = list_contenders(leaders), zip(windows["conf_low"], windows["conf_high"], strict=True)
    states = [_classify_state(ranges, chosen, interval) for interval in limits]
    windows["leaders"], windows["state"] = zip(*states, strict=True)
    ordered = windows.assign(other=windows["state"] != "changed").sort_values(
        ["number", "other"], kind="stable"
    )
    table = ordered.drop_duplicates("number", ignore_index=True)
    alone = windows.loc[windows["n_batches"] == 1, "statistic"].to_numpy()
    ends = _detect_moves(pooled, counts, windows, looks)
    p_value = chi2.sf(alone, pooled.label_shift.df)  # nan without degrees of freedom
    return table.assign(p_value=p_value, prior_moved=table["number"].isin(ends))[list(MONITOR_COLUMNS[1:])]


class Looks(NamedTuple):
    """Error rate `alpha` of all looks together, and how many there are, None for any number."""

    alpha: float
    size: int | None

    def share(self, number: int) -> float:
        """Return the error rate of look `number`, from 1: alpha / size, else 6 alpha / (pi number)^2."""
        return self.alpha / self.size if self.size is not None else self.alpha * 6 / (np.pi * number) ** 2

    def critical_value(self, number: int, *, of_moves: bool = False) -> float:
        """Return critical |z| over all looks, of means or moves; without size, of look `number`, for both."""
        if self.size is not None:
            return simulate_critical_values(self.size, self.alpha)[of_moves]
        return float(norm.isf(self.share(number) / (2 * len(_list_windows(number)))))


def _list_windows(number: int) -> list[int]:
    """Return the lengths of windows (1, 2, 4, ... 32, at most `number`) that end at batch `number` from 1."""
    return [length for length in WINDOWS if length <= number]


@lru_cache(maxsize=8)
def simulate_critical_values(looks: int, alpha: float) -> tuple[float, float]:
    """Return critical |z| over looks and windows: of means, of differences from before (inf for one look)."""
    if looks == 1:
        return float(norm.isf(alpha / 2)), np.inf
    sums = np.zeros((looks + 1, N_SERIES))
    np.cumsum(np.random.default_rng(0).standard_normal((looks, N_SERIES)), axis=0, out=sums[1:])
    means, moves = np.zeros(N_SERIES), np.zeros(N_SERIES)
    for number in range(1, looks + 1):
        for length in _list_windows(number):
            before = number - length
            window = sums[number] - sums[before]
            np.maximum(means, np.abs(window) / np.sqrt(length), out=means)
            if before:
                difference = window / length - sums[before] / before
                np.maximum(moves, np.abs(difference) / np.sqrt(1 / length + 1 / before), out=moves)
    first, second = (float(np.quantile(largest, 1 - alpha)) for largest in (means, moves))
    return first, second


def _estimate_windows(pooled: PriorEstimate, counts: Floats, looks: Looks) -> pd.DataFrame:
    """Return number (of the last batch), n_batches, n_unlabelled, estimate, limits, statistic, by window."""
    sums = np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])
    ends = [(number, length) for number in range(1, len(counts) + 1) for length in _list_windows(number)]
    number, length = np.transpose(ends)
    unlabelled = sums[number] - sums[number - length]
    positive, negative = (np.broadcast_to(part, unlabelled.shape) for part in pooled.bins.counts[:2])
    windows = BinCounts(positive, negative, unlabelled)
    peak = mixtures.find_peak(windows)
    squares = np.array([looks.critical_value(last) ** 2 for last, _ in ends])
    first, second = pooled.ratio_scale
    low, high = mixtures.interval_limits(peak, (squares * first, squares * second))
    prior = expit(peak.log_odds)
    return pd.DataFrame(
        {
            "number": number,
            "n_batches": length,
            "n_unlabelled": unlabelled.sum(axis=1).astype(int),
            "estimate": mixtures.find_likeliest_prior(windows),
            "conf_low": expit(low),
            "conf_high": expit(high),
            "statistic": mixtures.g2_statistic(windows, mixtures.fit_classes(windows, prior), prior),
        }
    )


def _detect_moves(pooled: PriorEstimate, counts: Floats, windows: pd.DataFrame, looks: Looks) -> set[int]:
    """Return the numbers of the batches that end a window unlike all batches before it."""
    total = pooled.bins.counts._replace(unlabelled=counts.sum(axis=0))
    prior = np.asarray(expit(mixtures.find_peak(total).log_odds))
    fit = mixtures.fit_classes(total, prior)
    mixture = fit.mixture(prior)
    score = np.divide(fit.positive - fit.negative, mixture, out=np.zeros_like(mixture), where=mixture > 0)
    sizes = np.r_[0.0, counts.sum(axis=1).cumsum()]
    sums = np.r_[0.0, (counts @ score).cumsum()]
    share = total.unlabelled / sizes[-1]
    spread = np.sqrt(share @ score**2 - (share @ score) ** 2)
    later = windows[windows["n_batches"] < windows["number"]]
    end, start = later["number"].to_numpy(), (later["number"] - later["n_batches"]).to_numpy()
    size = sizes[end] - sizes[start]
    difference = (sums[end] - sums[start]) / size - sums[start] / sizes[start]
    critical = np.array([looks.critical_value(number, of_moves=True) for number in end])
    has_moved = np.abs(difference) > critical * (spread * np.sqrt(1 / size + 1 / sizes[start]))
    return set(end[has_moved & (spread > 0)])


def _load_frames(comparison: object) -> Mapping[str, pd.DataFrame]:
    """Return frames ranking, leaders, score_bins of a comparison or, checked, its folder; else raise."""
    names = ("ranking", "leaders", "score_bins")
    if isinstance(comparison, Comparison):
        return {name: comparison.tables[name] for name in names}
    if not isinstance(comparison, str | os.PathLike):
        raise InputError(f"`comparison` must be a Comparison or a folder, {diff.describe_other(comparison)}")
    path = Path(comparison)
    try:
        return _check_frames({n: diff.read_result_csv(path / "tables" / f"{n}.csv") for n in names})
    except (OSError, KeyError, ValueError, OverflowError) as error:
        raise InputError(
            f"`comparison` must be {diff.WRITTEN_FOLDER}, {diff.describe_path(path)}"
            + f" ({error})" * isinstance(error, ValueError)
        ) from error


def _check_frames(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Return ranking, leaders, score_bins with numeric columns; raise ValueError at bad values or order."""
    ends = {"prior_low": float, "prior_high": float}
    numbers = dict.fromkeys(("score_high", "n_positive", "n_negative"), float)
    leaders, bins = frames["leaders"].astype(ends), frames["score_bins"].astype(numbers)
    if not ((leaders["prior_low"] <= leaders["prior_high"]) & (leaders["contender"] != "")).all():
        raise ValueError("leaders.csv lacks a name, or its priors fall")
    for _, rows in bins[list(SCORE_BIN_COLUMNS)].groupby("model"):
        counts, edges = rows[["n_positive", "n_negative"]].to_numpy(), rows["score_high"].to_numpy()[:-1]
        exact = ((counts >= 0) & (counts < FIRST_INEXACT)).all()
        if not (exact and (counts.sum(axis=0) > 0).all()):
            raise ValueError("score_bins.csv has no cases of a class, or no valid number of them")
        if not (len(edges) and np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
            raise ValueError("score_high of score_bins.csv does not rise")
    return {"ranking": diff.check_ranking(frames["ranking"]), "leaders": leaders, "score_bins": bins}


def _select_bins(frame: pd.DataFrame, chosen: str) -> BinnedScores:
    """Return a model's inner bin edges and labelled counts, all else 0; raise if it has no rows."""
    rows = frame.loc[frame["model"] == chosen, list(SCORE_BIN_COLUMNS)]
    if rows.empty:
        raise InputError(
            f"the comparison has no binned scores of {chosen!r}: compare again from a table in memory with a "
            "column `case`, or with one fold"
        )
    positive, negative = (rows[name].to_numpy(dtype=np.float64) for name in ("n_positive", "n_negative"))
    counts = BinCounts(positive, negative, np.zeros(len(rows)))
    no_scores = np.zeros(1)  # single scores are not stored; a test of label shift would need them
    edges = rows["score_high"].to_numpy(dtype=np.float64)[:-1]
    return BinnedScores(edges, counts, no_scores, no_scores, no_scores)


def _classify_state(
    ranges: Iterable[tuple[tuple[str, ...], float, float]], chosen: str, interval: tuple[float, float]
) -> tuple[str, str]:
    """Return contenders; "choice", "open", "changed" if `chosen` is in all, some, no ranges, or "beyond"."""
    overlapping = [names for names, low, high in ranges if low <= interval[1] and high >= interval[0]]
    if not overlapping:
        return "", "beyond"
    is_contender = [chosen in names for names in overlapping]
    state = "choice" if all(is_contender) else "open" if any(is_contender) else "changed"
    return ", ".join(dict.fromkeys(name for names in overlapping for name in names)), state
