"""estimate_prior_from_tables(): the prior of the deployment by the models of a score table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import chi2, chi2_contingency

from skewanova.base.checks import (
    Floats,
    InputError,
    Seed,
    check_count,
    check_fraction,
    check_scores,
    emit,
    seeded,
)
from skewanova.base.frames import Framed
from skewanova.base.text import p_words
from skewanova.priors import batches, mixtures
from skewanova.priors.estimation import (
    CUT,
    PLACES,
    SHIFT_LEVEL,
    EstimatedPrior,
    PriorEstimate,
    caveat_phrase,
    check_overlap,
    count_by_batch,
    estimate_from_bins,
    likelihood_ratio,
    note_beyond,
    with_batches,
)
from skewanova.priors.mixtures import N_BINS, binned
from skewanova.scores.reading import read_rows
from skewanova.scores.table import ScoreTable, StreamedScores
from skewanova.scores.unlabelled import LabelledCases, UnlabelledScores, labelled_cases, read_unlabelled

#: How often the likelihood of several models is looked at more closely, and how far down it is looked at.
ZOOMS, FAR = 4, 30.0


#: Columns of `to_frame`: those of one estimate behind the model, which is empty for all together.
MODEL_COLUMNS = (
    "model", "batch", "estimate", "conf_low", "conf_high", "n_positive", "n_negative", "n_unlabelled",
    "n_bins", "auc", "statistic", "df", "p_value", "method", "sensitivity_low", "sensitivity_high",
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledPrior(EstimatedPrior):
    """What several models say together.

    Attributes
    ----------
    weights : dict
        Weight of each model.
    statistic, p_value : float
        Whether the models differ, by a paired bootstrap of cases; nan with batches.
    method : {"pooled", "widest"}
        By their covariance or, where they do not agree or with batches, as far as that of any model reaches.
    """

    weights: Mapping[str, float]
    statistic: float
    p_value: float
    method: str

    @property
    def agree(self) -> bool:
        """Whether the test does not tell the models' estimates apart, at the level .05."""
        return not self.p_value < SHIFT_LEVEL

    def describe(self) -> str:
        """Name the weighting in words."""
        return self.described(())

    def described(self, caveats: Sequence[str]) -> str:
        """The same, with a word of doubt before the number where the models have any."""
        doubts = [*caveats, *(["they do not agree"] if not self.agree else [])]
        models = f"{len(self.weights)} models{caveat_phrase(doubts)}"
        return f"the prior estimated from unlabelled scores of {models}: {self}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row; columns of `MODEL_COLUMNS`, where the model is empty."""
        row: dict[str, Any] = dict.fromkeys(MODEL_COLUMNS, np.nan)
        row |= {"model": "", "batch": "", "estimate": self.estimate, "method": self.method}
        row |= {"conf_low": self.conf_low, "conf_high": self.conf_high}
        row |= {"statistic": self.statistic, "p_value": self.p_value, "df": len(self.weights) - 1}
        return pd.DataFrame([row], columns=list(MODEL_COLUMNS))


@dataclass(frozen=True, eq=False)
class PriorEstimates(Framed):
    """The prior by each model and together; a deployment prior wherever one is asked for.

    Attributes
    ----------
    by_model : dict
        A :class:`~skewanova.PriorEstimate` for every model.
    prior : PriorEstimate or PooledPrior
        That of the one model, or of all together.
    assumptions : tuple of str
        What is taken for granted beside label shift.
    warnings : tuple of str
        What to keep in mind when reading the numbers.
    """

    by_model: Mapping[str, PriorEstimate]
    prior: PriorEstimate | PooledPrior
    assumptions: tuple[str, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = field(default=(), repr=False)

    @property
    def low(self) -> float:
        """Smallest prior with weight."""
        return self.prior.low

    @property
    def high(self) -> float:
        """Largest prior with weight."""
        return self.prior.high

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Priors and weights that average a function smooth between `breaks`."""
        return self.prior.quadrature(breaks)

    def describe(self) -> str:
        """Name the weighting in words."""
        if isinstance(self.prior, PooledPrior):
            return self.prior.described(self.caveats)
        return self.prior.describe()

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the interval may be too narrow."""
        pooled, told = self.prior, []
        if isinstance(pooled, PooledPrior) and not pooled.agree:
            told.append(
                f"the models do not agree about the prior ({p_words(pooled.p_value)}), so label shift does "
                "not hold for all of them, and the estimate may be far off"
            )
        of_models = [f"{model}: {text}" for model, result in self.by_model.items() for text in result.caveats]
        return (*told, *of_models)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for all models, if there are several, then one for each and its batches."""
        rows = [self.prior.to_frame()] if isinstance(self.prior, PooledPrior) else []
        for model, result in self.by_model.items():
            low, high = result.sensitivity()
            rows.append(result.to_frame().assign(model=model))
            rows[-1].loc[0, ["sensitivity_low", "sensitivity_high"]] = low, high
        frame: pd.DataFrame = pd.concat(rows, ignore_index=True)[list(MODEL_COLUMNS)]
        return frame

    def bins_frame(self) -> pd.DataFrame:
        """Return one row a bin of every model, with residuals."""
        parts = [result.bins_frame().assign(model=model) for model, result in self.by_model.items()]
        frame: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return frame[["model", *(column for column in frame if column != "model")]]


class _How(NamedTuple):
    """How estimates are made."""

    n_bins: int
    level: float
    rng: Seed


def estimate_prior_from_tables(
    labelled: object,
    unlabelled: object,
    *,
    fold: str | int | None = None,
    n_bins: int = N_BINS,
    confidence_level: float = 0.95,
    rng: Seed = 0,
) -> PriorEstimates:
    """Estimate the prior of the deployment from a score table and unlabelled scores of its models.

    Parameters
    ----------
    labelled : ScoreTable, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`. Each case counts once, by its mean score over
        the folds that tested it.
    unlabelled : UnlabelledScores, path or frame
        Scores of the same models where they run: columns model, y_score and, optionally, batch and case.
        Models are taken to be scored on the same cases: those of `case`, or row by row where they have
        equally many.
    fold : str or int, optional
        Take the labelled cases of this fold alone.
    n_bins, confidence_level, rng
        As for :func:`~skewanova.estimate_prior`.

    Returns
    -------
    PriorEstimates
        An estimate by each model and, of several, what they say together; itself a deployment prior.

    Raises
    ------
    ValueError
        As :func:`~skewanova.estimate_prior`; if no model is in both tables, or several folds have no cases.
    TypeError
        If scores are not real numbers.

    Warns
    -----
    SkewanovaWarning
        As :func:`~skewanova.estimate_prior`, by model; if models are missing or do not agree.

    Notes
    -----
    Several models share their cases, so their estimates are pooled by the covariance that a paired bootstrap
    of the cases finds, and the same bootstrap tests whether they agree.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skewanova import estimate_prior_from_tables
    >>> draw = np.random.default_rng(0).normal
    >>> labels, field = np.repeat([1, 0], [100, 300]), np.repeat([1, 0], [100, 900])
    >>> held = pd.DataFrame({"model": "A", "fold": 1, "y_true": labels, "y_score": draw(2 * labels)})
    >>> found = estimate_prior_from_tables(held, pd.DataFrame({"model": "A", "y_score": draw(2 * field)}))
    >>> found.to_frame()[["model", "estimate", "conf_low", "conf_high"]].round(3).values.tolist()
    [['A', 0.095, 0.05, 0.141]]
    """
    table = labelled if isinstance(labelled, ScoreTable) else _read(labelled)
    field_scores = unlabelled if isinstance(unlabelled, UnlabelledScores) else read_unlabelled(unlabelled)
    level = check_fraction(confidence_level, "confidence_level")
    how = _How(check_count(n_bins, "n_bins", minimum=2), level, rng)
    models, notes = _shared_models(table, field_scores)
    cases = {model: labelled_cases(table, model, fold) for model in models}
    found, told = {}, []
    for model in models:
        found[model] = _estimate(cases[model], field_scores.of(model), how)
        told += [f"{model}: {text}" if len(models) > 1 else text for text in found[model].warnings]
    prior = found[models[0]] if len(models) == 1 else _pooled(found, cases, field_scores, how)
    result = PriorEstimates(found, prior, _assumptions(table, fold), ())
    scales = [] if fold is not None else [*_scale_notes(table, found)]
    return replace(result, warnings=emit([*notes, *scales, *told, *result.caveats]))


def _read(labelled: object) -> ScoreTable:
    """The labelled table, in memory."""
    if isinstance(labelled, StreamedScores):
        raise InputError(
            "`labelled` must be a table in memory, since bins need its scores: use read_scores()"
        )
    return read_rows(labelled)


def _shared_models(table: ScoreTable, field_scores: UnlabelledScores) -> tuple[list[str], list[str]]:
    """Models of both tables, and what to say of the others."""
    shared = [model for model in table.models if model in field_scores.models]
    if not shared:
        raise InputError(
            f"`unlabelled` must hold scores of the models {', '.join(map(repr, table.models[:5]))}, but has "
            f"those of {', '.join(map(repr, field_scores.models[:5]))}"
        )
    rest = [model for model in (*table.models, *field_scores.models) if model not in shared]
    return shared, [f"{model} is not in both tables and says nothing of the prior" for model in rest]


def _estimate(cases: LabelledCases, rows: pd.DataFrame, how: _How) -> PriorEstimate:
    """Estimate of one model; warnings are kept, not sent."""
    scores = check_scores(rows["y_score"].to_numpy(), "unlabelled")
    try:
        check_overlap(cases.score, scores)
        bins = binned(cases.positive, cases.score, scores, how.n_bins)
    except InputError as error:
        model = str(rows["model"].iloc[0])
        raise InputError(
            f"model {model!r} says nothing of the prior: {error}, or leave the model out"
        ) from None
    result = estimate_from_bins(bins, how.level, rng=how.rng)
    if "batch" in rows:
        names = rows["batch"].astype(str).to_numpy()
        result = with_batches(result, count_by_batch(names, scores, result.binned.edges), rng=how.rng)
    return replace(result, warnings=(*note_beyond(cases.score, scores), *result.warnings))


def _scale_notes(table: ScoreTable, found: Mapping[str, PriorEstimate]) -> Iterator[str]:
    """Say which models score on another scale from fold to fold, and so may again when they are refitted."""
    for model, item in found.items():
        rows = table.frame[table.frame["model"] == model]
        fold, bins = rows["fold"].cat.codes, np.searchsorted(item.binned.edges, rows["y_score"])
        counts = [pd.crosstab(fold[side], bins[side]) for side in (rows["y_true"], ~rows["y_true"])]
        several = [count for count in counts if min(count.shape) > 1]
        if min((2 * chi2_contingency(count).pvalue for count in several), default=1.0) < SHIFT_LEVEL:
            yield (
                f"the scores of {model} are spread differently from fold to fold, and so may be those of the "
                "model that runs, which moves the estimate: give labelled scores of that very model"
            )


def _pooled(
    found: Mapping[str, PriorEstimate],
    cases: Mapping[str, LabelledCases],
    field_scores: UnlabelledScores,
    how: _How,
) -> PooledPrior:
    """All models together: by their covariance, or as far as any reaches where batches are predicted."""
    if any(item.method == "batches" for item in found.values()):
        return _widest(found, how.level)
    parts = [*found.values()]
    alike = _joined(parts, np.full(len(parts), 1 / len(parts)))
    bins, n_bins = _bins_by_case(found, cases, field_scores), [len(item.binned.edges) + 1 for item in parts]
    told = batches.assess_agreement(bins, n_bins, float(expit(alike.top)), rng=seeded(how.rng))
    if told.p_value < SHIFT_LEVEL:  # they are not estimates of one prior
        return replace(_widest(found, how.level), statistic=told.statistic, p_value=told.p_value)
    joined = _joined(parts, told.weights)
    conf_low, conf_high = expit(joined.limits(how.level))
    low, high = np.clip(joined.limits(CUT), *joined.places[[0, -1]]).tolist()
    log_odds = np.linspace(low, high, PLACES)
    return PooledPrior(
        estimate=joined.estimate,
        conf_low=float(conf_low),
        conf_high=float(conf_high),
        confidence_level=how.level,
        log_odds=log_odds,
        log_density=-np.interp(log_odds, joined.places, joined.ratio) / 2,
        weights=dict(zip(found, (told.weights / told.weights.sum()).tolist(), strict=True)),
        statistic=told.statistic,
        p_value=told.p_value,
        method="pooled",
    )


@dataclass(frozen=True, eq=False)
class _Joined:
    """The likelihood of several models, a weighted sum of the logs of theirs, around its maximum."""

    places: Floats  #: log-odds
    ratio: Floats  #: twice the fall from the maximum

    @property
    def top(self) -> float:
        """Log-odds of the maximum."""
        return float(self.places[self.ratio.argmin()])

    @property
    def estimate(self) -> float:
        """The likeliest prior, 0 or 1 at the ends."""
        best, last = int(self.ratio.argmin()), len(self.ratio) - 1
        return 0.0 if best == 0 else 1.0 if best == last else float(expit(self.top))

    def limits(self, level: float) -> Floats:
        """Log-odds at which the ratio reaches its critical value; infinite beyond the ends."""
        depth, bound = np.sqrt(self.ratio), np.sqrt(chi2.ppf(level, 1))
        first, *_, last = np.flatnonzero(depth <= bound)[[0, 0, -1]]
        low = np.interp(bound, depth[[first, first - 1]], self.places[[first, first - 1]])
        high = np.interp(bound, depth[last : last + 2], self.places[last : last + 2])
        return np.array([low if first else -np.inf, high if last + 1 < len(depth) else np.inf])


def _joined(parts: Sequence[PriorEstimate], weights: Floats) -> _Joined:
    """Models together, looked at more and more closely."""
    falls = [likelihood_ratio(item) for item in parts]
    ends = mixtures.ends(np.asarray(float(max(item.n_unlabelled for item in parts))))
    low, high = map(float, ends)
    for _ in range(ZOOMS):
        places = np.linspace(low, high, 4 * PLACES)
        fall = np.asarray(sum(weight * each(places) for each, weight in zip(falls, weights, strict=True)))
        near = np.flatnonzero(fall - fall.min() < FAR)
        low, high = places[max(near[0] - 1, 0)], places[min(near[-1] + 1, len(places) - 1)]
    return _Joined(places, fall - fall.min())


def _bins_by_case(
    found: Mapping[str, PriorEstimate], cases: Mapping[str, LabelledCases], field_scores: UnlabelledScores
) -> batches.Cases:
    """Bin of every case by each model: labelled ones that all models scored, unlabelled ones as they pair."""
    common = _common(cases)
    columns = []
    for model, item in found.items():
        retained = np.isin(cases[model].case, common)
        columns.append(np.searchsorted(item.binned.edges, cases[model].score[retained]))
    first = next(iter(cases.values()))
    positive = first.positive[np.isin(first.case, common)]
    grid = np.stack(columns, axis=1)
    field_bins = [
        np.searchsorted(item.binned.edges, field_scores.of(model)["y_score"].to_numpy())
        for model, item in found.items()
    ]
    paired = [np.stack(field_bins, axis=1)] if field_scores.paired else field_bins
    return batches.Cases(grid[positive], grid[~positive], paired)


def _common(cases: Mapping[str, LabelledCases]) -> NDArray[np.intp]:
    """Cases that all models were scored on."""
    retained = None
    for item in cases.values():
        retained = item.case if retained is None else np.intersect1d(retained, item.case)
    if retained is None or not len(retained):
        raise InputError("the models must share labelled cases, but have none in common; estimate one by one")
    return retained


def _widest(found: Mapping[str, PriorEstimate], level: float) -> PooledPrior:
    """Where models do not agree, or predict further batches: equal parts of what each has."""
    parts: Sequence[PriorEstimate] = [*found.values()]
    log_odds = np.linspace(
        min(item.log_odds[0] for item in parts), max(item.log_odds[-1] for item in parts), 2 * PLACES - 1
    )
    heights = np.stack([item.density(expit(log_odds)) for item in parts])
    density = (heights / heights.sum(axis=1, keepdims=True)).sum(axis=0)
    density = np.maximum(density / density.max(), np.exp(-50.0))
    return PooledPrior(
        estimate=float(np.sin(np.mean([np.arcsin(np.sqrt(item.estimate)) for item in parts])) ** 2),
        conf_low=min(item.conf_low for item in parts),
        conf_high=max(item.conf_high for item in parts),
        confidence_level=level,
        log_odds=log_odds,
        log_density=np.log(density),
        weights=dict.fromkeys(found, 1 / len(parts)),
        statistic=np.nan,
        p_value=np.nan,
        method="widest",
    )


def _assumptions(table: ScoreTable, fold: str | int | None) -> tuple[str, ...]:
    """What is taken for granted of the tables."""
    alike = (
        "the scores of each class are spread where the models run as among the labelled cases (label shift)"
    )
    several = fold is None and len(table.folds) > 1
    refitted = (
        "the unlabelled scores are by each model refitted on all labelled data, and spread like the mean "
        "scores of the labelled cases over the folds"
    )
    plain = "labelled cases count alike: clusters and weights of the table are not used"
    return (alike, *[refitted] * several, *[plain] * (table.has_clusters or table.has_weights))
