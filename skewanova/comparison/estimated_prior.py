"""Estimate the deployment prior from unlabelled scores of one or several models."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2, chi2_contingency

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, Seed, SkewanovaWarning
from skewanova.base.frames import FrameResult
from skewanova.base.text import write_p
from skewanova.priors import batches, estimation, mixtures
from skewanova.priors.estimation import EstimatedPrior, PriorEstimate
from skewanova.priors.mixtures import N_BINS
from skewanova.scores.reading import read_in_memory
from skewanova.scores.table import ScoreTable, StreamedScores
from skewanova.scores.unlabelled import LabelledCases, UnlabelledScores, as_unlabelled, collect_labelled_cases

#: Refinements of the grid of log-odds around the joint maximum, and the likelihood ratio that it covers.
N_ZOOMS, MAX_RATIO = 4, 30.0


#: Columns of `to_frame`; the model is empty in the row of the pooled estimate.
MODEL_COLUMNS = (
    "model", "batch", "estimate", "conf_low", "conf_high", "n_positive", "n_negative", "n_unlabelled",
    "n_bins", "auc", "statistic", "df", "p_value", "method", "sensitivity_low", "sensitivity_high",
    "half_low", "half_high",
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledPrior(EstimatedPrior):
    """Prior estimated from the scores of several models.

    Attributes
    ----------
    weights : dict
        Weight of each model.
    statistic, p_value : float
        Test that the models estimate the same prior, by a paired bootstrap of cases; nan with batches.
    method : {"pooled", "widest"}
        "pooled" weights the models by their covariance. "widest" is the union of their intervals, for models
        that do not agree and for batches.
    """

    weights: Mapping[str, float]
    statistic: float = np.nan
    p_value: float = np.nan
    method: str = "widest"

    @property
    def agree(self) -> bool:
        """True unless a test (with batches there is none) rejects at .05 that models' estimates are equal."""
        return not self.p_value < estimation.SHIFT_LEVEL

    def describe(self, caveats: Sequence[str] = ()) -> str:
        """Return a phrase: number of models, in doubt with caveats or disagreement, estimate and interval."""
        in_doubt = estimation.caveat_phrase(caveats if self.agree else ["they do not agree"])
        return f"the prior estimated from unlabelled scores of {len(self.weights)} models{in_doubt}: {self}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the columns of `PriorEstimates.to_frame`.

        It holds estimate, conf_low, conf_high, statistic, df, p_value and method; others are nan or ''.
        """
        row = {**vars(self), "model": "", "batch": "", "df": len(self.weights) - 1}
        return pd.DataFrame([row], columns=list(MODEL_COLUMNS))


@dataclass(frozen=True, eq=False)
class PriorEstimates(FrameResult):
    """Estimates of the prior by each model and by all, which any function takes as ``deployment_prior``.

    Attributes
    ----------
    by_model : dict
        The :class:`~skewanova.PriorEstimate` of each model.
    prior : PriorEstimate or PooledPrior
        Estimate of the only model, or of all models.
    assumptions : tuple of str
        Assumptions of the estimates.
    warnings : tuple of str
        Reasons why numbers may be unreliable.
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
        """Return ascending priors, weights (sum 1) for the mean of a function smooth between `breaks`."""
        return self.prior.quadrature(breaks)

    def describe(self) -> str:
        """Return a phrase on the prior and the model or models that estimate it."""
        prior = self.prior
        return prior.describe(self.caveats) if isinstance(prior, PooledPrior) else prior.describe()

    @property
    def caveats(self) -> tuple[str, ...]:
        """Reasons why the interval may be too narrow, with the model if several; first that they disagree."""
        if not isinstance(self.prior, PooledPrior):
            return self.prior.caveats
        caveats = [f"{model}: {text}" for model, item in self.by_model.items() for text in item.caveats]
        if self.prior.agree:
            return tuple(caveats)
        disagreement = (
            f"the models do not agree about the prior ({write_p(self.prior.p_value)}), so label shift does "
            f"not hold for all of them, and the estimate may be far off; {estimation.TO_CHECK}"
        )
        return (disagreement, *caveats)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the pooled estimate (model ""), if any, then each model's and its batches'.

        Columns model, those of :meth:`skewanova.PriorEstimate.to_frame`, and the limits sensitivity_low,
        sensitivity_high, half_low, half_high (nan but for a model's own row).
        """
        rows = [self.prior.to_frame()] if isinstance(self.prior, PooledPrior) else []
        for model, result in self.by_model.items():
            ranges = *result.sensitivity(), *result.half_range()
            rows.append(result.to_frame().assign(model=model))
            rows[-1].loc[0, list(MODEL_COLUMNS[-len(ranges) :])] = ranges
        frame: pd.DataFrame = pd.concat(rows, ignore_index=True)[list(MODEL_COLUMNS)]
        return frame

    def bins_frame(self) -> pd.DataFrame:
        """Return model, bin and the other columns of :meth:`skewanova.PriorEstimate.bins_frame`, by model."""
        frames = {model: result.bins_frame() for model, result in self.by_model.items()}
        return pd.concat(frames, names=["model"]).reset_index(level="model").reset_index(drop=True)


def estimate_prior_from_tables(
    labelled: object,
    unlabelled: object,
    *,
    fold: str | int | None = None,
    n_bins: int = N_BINS,
    confidence_level: float = 0.95,
    rng: Seed = 0,
) -> PriorEstimates:
    """Estimate the deployment prior from a score table and unlabelled scores of its models.

    Use it if the models already score cases in deployment, and the class distributions of the scores are the
    same there (label shift). The result can be passed as ``deployment_prior``.

    Parameters
    ----------
    labelled : ScoreTable, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`. Each case counts once, by its mean score over
        the folds that tested it.
    unlabelled : UnlabelledScores, path or frame
        Scores of the same models in deployment: columns model, y_score and, optionally, batch and case.
        Without `case`, models with the same number of rows are assumed to score the same cases in order.
    fold : str or int, optional
        Use only the labelled cases of this fold.
    n_bins, confidence_level, rng
        As for :func:`~skewanova.estimate_prior`.

    Returns
    -------
    PriorEstimates
        An estimate by each model and, if there are several, a pooled estimate. As models share their cases,
        it weights them by their covariance, from a paired bootstrap of the cases, which also tests that they
        agree.

    Raises
    ------
    ValueError, TypeError
        As for :func:`~skewanova.estimate_prior`; ValueError if no model is in both tables, or a table of
        several folds lacks the column `case`.

    Warns
    -----
    SkewanovaWarning
        As for :func:`~skewanova.estimate_prior`, by model; if a model is missing in a table, or the models
        do not agree.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skewanova import estimate_prior_from_tables
    >>> draw = np.random.default_rng(0).normal
    >>> labels, field = np.repeat([1, 0], [100, 300]), np.repeat([1, 0], [100, 900])
    >>> labelled = pd.DataFrame({"model": "A", "fold": 1, "y_true": labels, "y_score": draw(2 * labels)})
    >>> unlabelled = pd.DataFrame({"model": "A", "y_score": draw(2 * field)})
    >>> result = estimate_prior_from_tables(labelled, unlabelled)
    >>> result.to_frame()[["model", "estimate", "conf_low", "conf_high"]].round(3).values.tolist()
    [['A', 0.095, 0.05, 0.141]]
    """
    if isinstance(labelled, StreamedScores):
        raise InputError(
            "`labelled` must be a table in memory, because bins need its scores; pass frame.compute() of "
            "Dask or frame.toPandas() of Spark"
        )
    with checks.prefix_errors("`labelled`"):
        table = read_in_memory(labelled)
    field_scores = as_unlabelled(unlabelled)
    level = checks.check_fraction(confidence_level, "confidence_level")
    n_bins = checks.check_count(n_bins, "n_bins", minimum=2)
    models, notes = _find_shared_models(table, field_scores)
    cases = {model: collect_labelled_cases(table, model, fold) for model in models}
    options: dict[str, Any] = {"n_bins": n_bins, "confidence_level": level, "rng": rng}
    options["is_only"] = len(models) == 1
    estimates = {m: _estimate_model(cases[m], field_scores.select_model(m), **options) for m in models}
    prior: PriorEstimate | PooledPrior = estimates[models[0]]
    if len(models) > 1 and any(item.method == "batches" for item in estimates.values()):
        prior = _pool_widest(estimates)
    elif len(models) > 1:
        prior = _pool_models(estimates, _bin_cases(estimates, cases, field_scores), rng)
    result = PriorEstimates(estimates, prior, _list_assumptions(table, fold))
    notes += [] if fold is not None else _check_scales(table, estimates)
    for model, item in estimates.items():
        notes += [f"{model}: {text}" if len(models) > 1 else text for text in item.warnings]
    return replace(result, warnings=checks.warn_each([*notes, *result.caveats]))


def _find_shared_models(table: ScoreTable, field_scores: UnlabelledScores) -> tuple[list[str], list[str]]:
    """Return models in both, in the order of `table`, and a note on each other; raise if none is in both."""
    shared = [model for model in table.models if model in field_scores.models]
    if not shared:
        raise InputError(
            f"the unlabelled scores must be of the models {', '.join(map(repr, table.models[:5]))}, but are "
            f"of {', '.join(map(repr, field_scores.models[:5]))}; rename the models in one of the tables"
        )
    rest = [model for model in (*table.models, *field_scores.models) if model not in shared]
    return shared, [f"{model} is in only one of the tables and left out; add it to both" for model in rest]


def _estimate_model(
    cases: LabelledCases, rows: pd.DataFrame, *, is_only: bool, **options: Any
) -> PriorEstimate:
    """Return the prior by a model's scores, without warnings; an error names it, with advice if several."""
    batch = rows["batch"].astype(str).to_numpy() if "batch" in rows else None
    scores, model = rows["y_score"].to_numpy(), str(rows["model"].iloc[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkewanovaWarning)  # issued together, by model
            return estimation.estimate_prior(cases.positive, cases.score, scores, batch=batch, **options)
    except InputError as error:
        remedy = ", or leave the rows of this model out" * (not is_only)
        raise InputError(f"the prior cannot be estimated by model {model!r}: {error}{remedy}") from None


def _check_scales(table: ScoreTable, estimates: Mapping[str, PriorEstimate]) -> Iterator[str]:
    """Yield a warning for each model whose binned scores differ across folds in a class (chi2, p < .05)."""
    for model, item in estimates.items():
        rows = table.frame[table.frame["model"] == model]
        fold, bins = rows["fold"].cat.codes, np.searchsorted(item.bins.edges, rows["y_score"])
        counts = [pd.crosstab(fold[side], bins[side]) for side in (rows["y_true"], ~rows["y_true"])]
        several = [count for count in counts if min(count.shape) > 1]
        p_values = [2 * chi2_contingency(count).pvalue for count in several]
        if min(p_values, default=1.0) < estimation.SHIFT_LEVEL:
            yield (
                f"the scores of {model} are distributed differently in different folds, and may be again in "
                "deployment, which would bias the estimate: pass labelled scores of the deployed model"
            )


def _pool_models(estimates: Mapping[str, PriorEstimate], bins: batches.CaseBins, rng: Seed) -> PooledPrior:
    """Return the prior pooled by covariance, or `_pool_widest` if models disagree."""
    parts = [*estimates.values()]
    level = parts[0].confidence_level
    log_odds, ratio = _compute_joint_ratio(parts, np.full(len(parts), 1 / len(parts)))
    n_bins = [len(item.bins.edges) + 1 for item in parts]
    best_prior = float(expit(log_odds[ratio.argmin()]))
    agreement = batches.assess_agreement(bins, n_bins, best_prior, rng=checks.make_generator(rng))
    tested: dict[str, Any] = {"statistic": agreement.statistic, "p_value": agreement.p_value}
    if agreement.p_value < estimation.SHIFT_LEVEL:  # they are not estimates of one prior
        return replace(_pool_widest(estimates), **tested)
    log_odds, ratio = _compute_joint_ratio(parts, agreement.weights)
    best, last = int(ratio.argmin()), len(ratio) - 1
    conf_low, conf_high = expit(_invert_ratio(log_odds, ratio, level)).tolist()
    low, high = np.clip(_invert_ratio(log_odds, ratio, estimation.DENSITY_LEVEL), *log_odds[[0, -1]]).tolist()
    grid = np.linspace(low, high, estimation.N_PLACES)
    return PooledPrior(
        estimate=float(best == last) if best in {0, last} else float(expit(log_odds[best])),
        conf_low=conf_low,
        conf_high=conf_high,
        confidence_level=level,
        log_odds=grid,
        log_density=-np.interp(grid, log_odds, ratio) / 2,
        weights=dict(zip(estimates, (agreement.weights / agreement.weights.sum()).tolist(), strict=True)),
        method="pooled",
        **tested,
    )


def _compute_joint_ratio(parts: Sequence[PriorEstimate], weights: Floats) -> tuple[Floats, Floats]:
    """Return log-odds near the optimum, and a weighted sum of scaled likelihood ratios, less its minimum."""
    n_unlabelled = np.asarray(float(max(item.n_unlabelled for item in parts)))
    low, high = map(float, mixtures.log_odds_range(n_unlabelled))
    for _ in range(N_ZOOMS):
        log_odds = np.linspace(low, high, 4 * estimation.N_PLACES)
        ratios = (estimation.likelihood_ratio(item, log_odds) for item in parts)
        ratio = np.asarray(sum(weight * item for item, weight in zip(ratios, weights, strict=True)))
        near = np.flatnonzero(ratio - ratio.min() < MAX_RATIO)
        low, high = log_odds[max(near[0] - 1, 0)], log_odds[min(near[-1] + 1, len(log_odds) - 1)]
    return log_odds, ratio - ratio.min()


def _invert_ratio(log_odds: Floats, ratio: Floats, level: float) -> Floats:
    """Return both confidence limits in log-odds, where the ratio is critical; infinite if off the grid."""
    root, critical = np.sqrt(ratio), np.sqrt(chi2.ppf(level, 1))
    first, last = np.flatnonzero(root <= critical)[[0, -1]]
    low = np.interp(critical, root[[first, first - 1]], log_odds[[first, first - 1]])
    high = np.interp(critical, root[last : last + 2], log_odds[last : last + 2])
    return np.array([low if first else -np.inf, high if last + 1 < len(root) else np.inf])


def _bin_cases(
    estimates: Mapping[str, PriorEstimate], cases: Mapping[str, LabelledCases], field_scores: UnlabelledScores
) -> batches.CaseBins:
    """Return bins of cases labelled in all models (raise if none), and unlabelled, jointly only if paired."""
    common = reduce(np.intersect1d, [item.case for item in cases.values()])
    if not len(common):
        raise InputError("the models must share labelled cases, but have none; pass rows of one model alone")
    labelled, unlabelled = [], []
    for model, item in estimates.items():
        retained = np.isin(cases[model].case, common)
        positive = cases[model].positive[retained]
        labelled.append(np.searchsorted(item.bins.edges, cases[model].score[retained]))
        scores = field_scores.select_model(model)["y_score"].to_numpy()
        unlabelled.append(np.searchsorted(item.bins.edges, scores))
    grid = np.stack(labelled, axis=1)
    tables = [np.stack(unlabelled, axis=1)] if field_scores.is_paired else [x[:, None] for x in unlabelled]
    return batches.CaseBins(grid[positive], grid[~positive], tables)


def _pool_widest(estimates: Mapping[str, PriorEstimate]) -> PooledPrior:
    """Return the estimates' mean on the arcsine scale, the mean density, and the union of the intervals."""
    parts: Sequence[PriorEstimate] = [*estimates.values()]
    low, high = min(item.log_odds[0] for item in parts), max(item.log_odds[-1] for item in parts)
    log_odds = np.linspace(low, high, 2 * estimation.N_PLACES - 1)
    densities = np.stack([item.density(expit(log_odds)) for item in parts])
    density = (densities / densities.sum(axis=1, keepdims=True)).sum(axis=0)
    density = np.maximum(density / density.max(), np.exp(-50.0))
    return PooledPrior(
        estimate=float(np.sin(np.mean([np.arcsin(np.sqrt(item.estimate)) for item in parts])) ** 2),
        conf_low=min(item.conf_low for item in parts),
        conf_high=max(item.conf_high for item in parts),
        confidence_level=parts[0].confidence_level,
        log_odds=log_odds,
        log_density=np.log(density),
        weights=dict.fromkeys(estimates, 1 / len(parts)),
    )


def _list_assumptions(table: ScoreTable, fold: str | int | None) -> tuple[str, ...]:
    """Return phrases on what inference at an estimated prior assumes for this table and fold."""
    label_shift = (
        "the scores of each class are spread where the models run as among the labelled cases (label shift), "
        "which no test on unlabelled scores can prove: label some 50 of them, drawn at random, to check"
    )
    several = fold is None and len(table.folds) > 1
    refitted = (
        "the unlabelled scores are by each model refitted on all labelled data, and spread like the mean "
        "scores of the labelled cases over the folds"
    )
    unweighted = "labelled cases count alike: clusters and weights of the table are not used"
    return (label_shift, *[refitted] * several, *[unweighted] * (table.has_clusters or table.has_weights))
