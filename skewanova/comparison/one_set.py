"""The same on one test set.

The tests over folds ask whether methods differ when they are trained and tested again; these ask whether the
fitted models differ on further cases. See :mod:`skewanova.inference.influence` for the covariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Bools, Floats, emit, seeded
from skewanova.base.progress import stage
from skewanova.comparison.folds import Analysis, Options, headline_letters, no_prior_pairs
from skewanova.decision.bands import DIFFERENCE_COLUMNS, critical_value
from skewanova.decision.choice import ranking_of
from skewanova.decision.joint_curves import CASES_AT_ONCE, condensed
from skewanova.evaluation.measures import Evaluation, prior_grid
from skewanova.inference.anova import ANOVA_COLUMNS
from skewanova.inference.influence import jackknife_by_prior, stratified_covariance
from skewanova.inference.intervals import interval_table
from skewanova.inference.omnibus import OmnibusResult
from skewanova.inference.one_set import (
    Angles,
    OneSetComparison,
    compare_on_one_set,
    contrast_errors,
    pair_tests,
)
from skewanova.inference.pairwise import POSTHOC_COLUMNS
from skewanova.priors.evidence import (
    ENOUGH_OVER_CASES,
    POSITIVES_FOR_TESTS,
    are_enough,
    effective_negatives,
)
from skewanova.priors.weightings import Target
from skewanova.scores.pairing import PairedCases, paired_cases
from skewanova.scores.table import Scores

#: Positives times area below which the test may be liberal (docs/studies/paired.md).
ENOUGH_HITS = 10


#: Most numbers held at once for the difference curves: beyond, the grid of priors is coarser.
MOST_VALUES = 100_000_000


N_DRAWS = 9999


class _Set(NamedTuple):
    """Cases of the test set, the models in ranking order."""

    positive: Bools
    scores: Floats
    measures: Evaluation

    def compare(self, target: Target, alpha: float) -> OneSetComparison:
        """Compare at one prior or over a deployment prior."""
        return compare_on_one_set(
            self.positive,
            self.scores,
            deployment_prior=target,
            models=self.measures.models,
            confidence_level=1 - alpha,
            area_estimator=self.measures.area_estimator,
        )


def analyse_one_set(
    table: Scores, measures: Evaluation, promised: pd.DataFrame, options: Options
) -> tuple[Analysis, list[str]]:
    """Compare models on the only fold of a table."""
    stage("tests of all models")
    cases = _in_order(paired_cases(table), table.models, measures)
    found = cases.compare(measures.deployment_prior, options.alpha)
    stage("pairs of models")
    posthoc = _posthoc(cases, found, options.alpha)
    stage("ranking, differences")
    intervals = _intervals(table, measures, options)
    letters = headline_letters(measures, posthoc)
    ranked = ranking_of(measures, promised, letters=letters, alpha=options.alpha)
    analysis = Analysis(
        tests=(_omnibus(found),),
        posthoc=posthoc,
        prior_pairs=no_prior_pairs(),
        ranking=ranked.assign(
            conf_low=intervals["conf_low"].tolist(), conf_high=intervals["conf_high"].tolist()
        ),
        difference_curves=_difference_curves(cases, options),
        equivalence=_equivalence(found, options.rope),
        assumptions=_assumptions(cases, found),
        residuals=pd.DataFrame(columns=["model", "fold", "fitted", "residual"]),
    )
    told = dict.fromkeys(text for text in intervals["warning"] if text)
    return analysis, [*emit(_unused(options)), *told]


def _in_order(cases: PairedCases, models: Sequence[str], measures: Evaluation) -> _Set:
    position = [models.index(model) for model in measures.models]
    return _Set(cases.positive, np.column_stack([cases.scores[i] for i in position]), measures)


def _omnibus(found: OneSetComparison) -> OmnibusResult:
    """F test that all models are equal, as a row of the ANOVA frame."""
    row = dict.fromkeys(ANOVA_COLUMNS, np.nan) | {
        "test": "influence",
        "role": "headline",
        "response": "iauprec",
        "term": "model",
        "df": float(found.df),
        "df_error": found.df_omnibus,
        "statistic": found.f_omnibus,
        "p_value": found.p_omnibus,
    }
    frame = pd.DataFrame([row])[list(ANOVA_COLUMNS)]
    return OmnibusResult("influence", "headline", "iauprec", (), frame)


def _posthoc(cases: _Set, found: OneSetComparison, alpha: float) -> pd.DataFrame:
    """All pairs over the deployment prior and, as a check, at each prior: one family each."""
    parts = [_pairs(found, alpha, role="headline", response="iauprec", prior=np.nan)]
    for prior in cases.measures.priors:
        at = _pairs(cases.compare(prior, alpha), alpha, role="check", response="auprec", prior=prior)
        if not _supported(cases.positive, prior):  # the formula would promise too much
            at[list(POSTHOC_COLUMNS[7:14])] = np.nan
            at["reject"] = False
        parts.append(at)
    return pd.concat(parts, ignore_index=True)


def _pairs(found: OneSetComparison, alpha: float, *, role: str, response: str, prior: float) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "test": "influence_holm",
            "role": role,
            "response": response,
            "prior": prior,
            "model_a": found.model_a,
            "model_b": found.model_b,
            "estimate": found.difference,
            "std_error": found.std_error,
            "df": found.df_error,
            "statistic": found.statistic,
            "p_value": found.p_value,
            "p_adjusted": found.p_adjusted,
            "conf_low": found.conf_low,
            "conf_high": found.conf_high,
            "reject": found.p_adjusted < alpha,
        }
    )[list(POSTHOC_COLUMNS)]


def _intervals(table: Scores, measures: Evaluation, options: Options) -> pd.DataFrame:
    """Interval of every model's IAUPREC, in the order of the measures."""
    frame = interval_table(
        table,
        deployment_prior=measures.deployment_prior,
        confidence_level=1 - options.alpha,
        area_estimator=measures.area_estimator,
        rng=options.rng,
    )
    return frame.set_index("model").loc[list(measures.models)]


def _difference_curves(cases: _Set, options: Options) -> pd.DataFrame:
    """Differences along the prior; bands from the joint covariance, where the set can speak for the prior."""
    measures = cases.measures
    grid = prior_grid(measures, int(np.clip(MOST_VALUES // cases.scores.size, 9, 41)))
    pairs = list(combinations(measures.models, 2))
    mean = measures.mean_auprec(grid)
    tested = _supported(cases.positive, grid)
    columns = {name: np.full((len(pairs), len(grid)), np.nan) for name in DIFFERENCE_COLUMNS[4:9]}
    if tested.any():
        for name, values in _band(cases, grid[tested], mean[:, tested], options).items():
            columns[name][:, tested] = values
    frame = pd.DataFrame(
        {
            "model_a": np.repeat([a for a, _ in pairs], len(grid)),
            "model_b": np.repeat([b for _, b in pairs], len(grid)),
            "prior": np.tile(grid, len(pairs)),
            "estimate": np.concatenate([a - b for a, b in combinations(mean, 2)]),
            **{name: values.ravel() for name, values in columns.items()},
        }
    )
    return frame.assign(reject=frame["p_adjusted"] < options.alpha)[list(DIFFERENCE_COLUMNS)]


def _band(cases: _Set, grid: Floats, mean: Floats, options: Options) -> dict[str, Floats]:
    """Test every pair at every prior at once: the largest |z| is referred to its joint distribution.

    A t statistic counts as the z of the same p-value; the arrays returned have shape (n_pairs, n_priors).
    """
    values = np.stack([jackknife_by_prior(cases.positive, score, grid) for score in cases.scores.T], axis=2)
    angles = [Angles.of(area, at, cases.positive) for area, at in zip(mean.T, values, strict=True)]
    tests = [pair_tests(at, level=1 - options.alpha, simultaneous="none") for at in angles]
    largest = np.sort(_largest(angles, options))
    std_error, statistic, df_error, p_value = (
        np.stack([getattr(at, name) for at in tests], axis=1)
        for name in ("std_error", "statistic", "df_error", "p_value")
    )
    reached = N_DRAWS - np.searchsorted(largest, -special.ndtri(p_value / 2))
    critical = critical_value(largest, options.alpha)
    estimate = np.stack([at.difference for at in tests], axis=1)
    margin = -special.stdtrit(df_error, special.ndtr(-critical)) * std_error
    margin[(std_error == 0) & (estimate != 0)] = np.nan
    return {
        "std_error": std_error,
        "statistic": statistic,
        "p_adjusted": np.where(np.isnan(statistic), np.nan, (1 + reached) / (1 + N_DRAWS)),
        "conf_low": estimate - margin,
        "conf_high": estimate + margin,
    }


def _largest(angles: Sequence[Angles], options: Options) -> Floats:
    """Draws of the largest |z| over all pairs and priors."""
    values, positive = np.hstack([at.values for at in angles]), angles[0].positive
    unit = np.eye(len(angles[0].area))
    contrasts = np.kron(
        np.eye(len(angles)), [unit[a] - unit[b] for a, b in combinations(range(len(unit)), 2)]
    )
    varying = contrast_errors(contrasts, stratified_covariance(values, positive)) > 0
    root = _root(values, positive)
    draws = _normal_draws(root, options)
    largest = np.zeros(len(draws))
    for contrast in contrasts[varying]:  # one at a time: all would not fit
        a, b = contrast.argmax(), contrast.argmin()
        spread = np.linalg.norm(root[:, a] - root[:, b])
        np.maximum(largest, np.abs(draws[:, a] - draws[:, b]) / spread, out=largest)
    return largest


def _root(values: Floats, positive: Bools) -> Floats:
    """Symmetric root of the covariance, without the covariance, which loses half of its digits."""
    size = np.where(positive, np.count_nonzero(positive), np.count_nonzero(~positive))[:, None]
    blocks = (slice(start, start + CASES_AT_ONCE) for start in range(0, len(values), CASES_AT_ONCE))
    return condensed(values[rows] / size[rows] for rows in blocks)


def _supported(positive: Bools, prior: Floats | float) -> Bools:
    """Whether the effective negatives are enough."""
    return are_enough(effective_negatives(np.count_nonzero(~positive), prior), ENOUGH_OVER_CASES)


def _normal_draws(root: Floats, options: Options) -> Floats:
    """Draws of the estimates' errors, of shape (N_DRAWS, n_estimates), from the root of their covariance."""
    return np.asarray(seeded(options.rng).standard_normal((N_DRAWS, len(root))) @ root)


def _equivalence(found: OneSetComparison, rope: float) -> pd.DataFrame:
    """Posterior of each difference under a flat prior: t about the estimate.

    Without spread, models that are the same are equal; of others nothing is known.
    """
    spread = np.where(found.std_error == 0, np.nan, found.std_error)
    alike = (found.std_error == 0) & (found.difference == 0)
    ahead, behind = (
        np.where(alike, 0.0, special.stdtr(found.df_error, (side * found.difference - rope) / spread))
        for side in (1, -1)
    )
    return pd.DataFrame(
        {
            "model_a": found.model_a,
            "model_b": found.model_b,
            "rope": rope,
            "p_a_ahead": ahead,
            "p_equal": np.clip(1 - ahead - behind, 0, 1),
            "p_b_ahead": behind,
        }
    )


def _assumptions(cases: _Set, found: OneSetComparison) -> pd.DataFrame:
    """Return whether the set is large enough for a formula that holds in large samples."""
    positives = float(np.count_nonzero(cases.positive))
    low = cases.measures.deployment_prior.low
    support = float(effective_negatives(np.count_nonzero(~cases.positive), low))
    error = float(np.sqrt(np.diag(found.covariance))[0])
    distance = float(1 - found.estimate[0]) / error if error > 0 else 0.0
    rows = [
        ("positives", positives, POSITIVES_FOR_TESTS, "few positives: standard errors are rough"),
        (
            "positives_times_area",
            positives * float(found.estimate.min()),
            ENOUGH_HITS,
            "positives times the smallest area are few: tests may reject too often",
        ),
        (
            "effective_negatives",
            support,
            ENOUGH_OVER_CASES,
            f"negatives / skew at prior {low:g} is small: standard errors are too small there",
        ),
        ("ceiling", distance, 2.0, "the best model is close to the ceiling of 1, where differences shrink"),
    ]
    return pd.DataFrame(
        [(name, value, np.nan, advice if value < enough else "") for name, value, enough, advice in rows],
        columns=["check", "statistic", "p_value", "advice"],
    )


def _unused(options: Options) -> list[str]:
    named = {"control": options.control is not None, "interaction": options.interaction}
    return [
        f"{name} is not used: it needs folds, and there is one test set"
        for name, given in named.items()
        if given
    ]
