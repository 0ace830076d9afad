"""Measures other than AUPREC: the area under the ROC curve, and values at a threshold chosen by a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from skewanova.base.checks import Floats, check_fraction, check_number
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.groups import Cell, aucs_of_groups
from skewanova.curves.roc import RocCurve
from skewanova.decision.operating import ThresholdRule, check_costs, weighted_sum, wilson_estimate
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import ArcsineAreas, ArcsineScale
from skewanova.priors.evidence import Support
from skewanova.priors.weightings import DeploymentPrior, PriorLike, as_deployment_prior, typical_prior
from skewanova.scores.design import logit_interval

#: Values at true and false positive rates, priors, and costs of a false positive and a false negative.
#: Net benefit (Vickers and Elkin 2006) weighs a false positive by the odds of the threshold probability.
VALUES: Mapping[str, Callable[[Floats, Floats, Floats, tuple[float, float]], Floats]] = {
    "recall": lambda tpr, fpr, prior, cost: tpr + 0 * prior,
    "precision": lambda tpr, fpr, prior, cost: vertex_precision(tpr, fpr, prior),
    "expected cost": lambda tpr, fpr, prior, cost: (1 - prior) * cost[0] * fpr + prior * cost[1] * (1 - tpr),
    "net benefit": lambda tpr, fpr, prior, cost: prior * tpr - (1 - prior) * fpr * cost[0] / cost[1],
}


@dataclass(frozen=True)
class Measure:
    """A measure of held-out scores other than AUPREC, for :func:`~skewanova.compare_values`.

    Make it by ``roc_auc()``, ``precision_at_recall(recall)``, ``recall_at_precision(precision)``,
    ``recall_at_alert_rate(flagged)``, ``expected_cost(cost_fp, cost_fn)`` or ``net_benefit(probability)``.
    All but the first take a deployment prior too, over which they are averaged. The threshold is chosen in
    each fold for each prior; the last two take a stated `threshold` instead, also on a single test set.

    Attributes
    ----------
    name : str
        The measure in all outputs, such as ``recall at precision 0.9``.
    value : str
        What it is: area under ROC, recall, precision, expected cost (per case) or net benefit.
    deployment_prior : DeploymentPrior, optional
        The distribution of priors; None if the measure does not depend on the prior.
    rule : ThresholdRule, optional
        How the threshold is chosen; None for the area under ROC.

    Notes
    -----
    A chosen threshold is optimistic. Net benefit is ``prior * TPR - (1 - prior) * FPR * p / (1 - p)``.

    Examples
    --------
    >>> import skewanova as sa
    >>> cost = sa.decision.Measure.expected_cost(1, 20, (0.01, 0.1))
    >>> result = sa.compare_values(sa.load_satellite_scores(), measure=cost)
    >>> result.ranking["model"].tolist()
    ['A', 'C', 'B']
    """

    name: str
    value: str
    deployment_prior: DeploymentPrior | None = None
    rule: ThresholdRule | None = None

    @classmethod
    def roc_auc(cls) -> Measure:
        """Return as a measure the area under the ROC curve, which does not depend on the prior."""
        return cls("area under ROC", "area under ROC")

    @classmethod
    def precision_at_recall(cls, recall: float, deployment_prior: PriorLike = (0.05, 0.20)) -> Measure:
        """Return as a measure the precision at the highest threshold with at least this recall."""
        return cls._at_rate("precision", "recall", recall, deployment_prior)

    @classmethod
    def recall_at_precision(cls, precision: float, deployment_prior: PriorLike = (0.05, 0.20)) -> Measure:
        """Return as a measure the recall at the lowest threshold of at least this precision, 0 if none."""
        return cls._at_rate("recall", "precision", precision, deployment_prior)

    @classmethod
    def recall_at_alert_rate(cls, flagged: float, deployment_prior: PriorLike = (0.05, 0.20)) -> Measure:
        """Return as a measure the recall at the lowest threshold that flags at most this share of cases."""
        return cls._at_rate("recall", "flagged", flagged, deployment_prior)

    @classmethod
    def _at_rate(cls, value: str, rule: str, target: float, prior: PriorLike) -> Measure:
        """Return as a measure `value` (precision, recall) where `rule` (recall, precision, flagged) holds."""
        rate = check_fraction(target, rule, or_one=rule == "recall")
        name = f"{value} at {'alert rate' if rule == 'flagged' else rule} {rate:g}"
        return cls(name, value, as_deployment_prior(prior), ThresholdRule(rule, rate, None))

    @classmethod
    def expected_cost(
        cls,
        cost_fp: float,
        cost_fn: float,
        deployment_prior: PriorLike = (0.05, 0.20),
        *,
        threshold: float | None = None,
    ) -> Measure:
        """Return as a measure the expected cost per case, at the threshold of least cost or a stated one."""
        costs = check_costs((cost_fp, cost_fn), "the costs")
        name = f"expected cost {cost_fp:.12g}:{cost_fn:.12g}"
        return cls(name, "expected cost", as_deployment_prior(deployment_prior))._at_costs(costs, threshold)

    @classmethod
    def net_benefit(
        cls, probability: float, deployment_prior: PriorLike = (0.05, 0.20), *, threshold: float | None = None
    ) -> Measure:
        """Return as a measure the net benefit (odds of `probability`), at the best or a stated threshold."""
        share = check_fraction(probability, "probability")
        measure = cls(f"net benefit at {share:g}", "net benefit", as_deployment_prior(deployment_prior))
        return measure._at_costs((share, 1 - share), threshold)

    def _at_costs(self, costs: tuple[float, float], threshold: float | None) -> Measure:
        """Return the measure at the threshold of least cost, by costs (fp, fn), or at a stated threshold."""
        if threshold is None:
            return replace(self, rule=ThresholdRule("cost", np.nan, costs))
        number = check_number(threshold, "threshold")
        rule = ThresholdRule("threshold", number, costs)
        return replace(self, name=f"{self.name}, threshold {number:.12g}", rule=rule)

    @property
    def greater_is_better(self) -> bool:
        """True unless the value is the expected cost."""
        return self.value != "expected cost"

    @property
    def sign(self) -> float:
        """1.0, or -1.0 for a cost, which makes a gain of a value."""
        return 1.0 if self.greater_is_better else -1.0

    @property
    def threshold(self) -> float | None:
        """The stated threshold; None if it is chosen in each fold, or there is none."""
        return self.rule.target if self.rule is not None and self.rule.name == "threshold" else None

    def describe(self) -> str:
        """Return sentences on the threshold and the prior, "" for the area under ROC."""
        if self.rule is None or self.deployment_prior is None:
            return ""
        best = "of most benefit" if self.value == "net benefit" else "of least cost"
        flagged = "the lowest that flags at most that share, if any"
        rules = {"threshold": "stated", "cost": f"{best} in each fold", "flagged": flagged}
        how = rules.get(self.rule.name, f"that has that {self.rule.name} in each fold, if any")
        return f"Threshold: {how}. Prior: {self.deployment_prior.describe()}."

    def at_rates(self, tpr: Floats, fpr: Floats, priors: Floats) -> Floats:
        """Return the measure (not ROC area) at true and false positive rates and priors, which broadcast."""
        costs = None if self.rule is None else self.rule.costs
        return VALUES[self.value](tpr, fpr, priors, costs or (1.0, 1.0))

    def by_prior(self, curves: Mapping[Cell, RocCurve], priors: Floats) -> Floats:
        """Return the measure (n_curves, n_priors), flagging no case where no threshold meets the target."""
        if self.rule is None:
            return np.repeat(aucs_of_groups(curves)[:, None], len(priors), axis=1)
        rows = []
        for roc in curves.values():
            # without a threshold that meets the target no case is flagged
            vertices = [self.rule.vertex(roc, self.rule.target, prior) or 0 for prior in priors.tolist()]
            rows.append(self.at_rates(roc.tpr[vertices], roc.fpr[vertices], priors))
        return np.array(rows)

    def list_unmet_targets(self, curves: Mapping[Cell, RocCurve]) -> list[str]:
        """Return a warning if in some curves a recall is 0 at an end of the deployment prior, else []."""
        prior, rule = self.deployment_prior, self.rule
        if prior is None or rule is None or rule.name not in {"precision", "flagged"}:
            return []
        n_unmet = (self.by_prior(curves, np.array([prior.low, prior.high])) == 0).any(axis=1).sum()
        text = f"{self.name} is 0 in {n_unmet} of {len(curves)} curves: at some priors no threshold meets it"
        return [text] if n_unmet else []

    def mean(self, curves: Mapping[Cell, RocCurve]) -> Floats:
        """Return the mean over the deployment prior of every curve, (n_curves,)."""
        if self.deployment_prior is None:
            return self.by_prior(curves, np.array([0.5]))[:, 0]
        priors, weights = self.deployment_prior.quadrature()
        return np.asarray(self.by_prior(curves, priors) @ weights / weights.sum())

    def count_limiting_cases(self, support: Support) -> Floats | None:
        """Return the effective number (0-d) of cases behind a mean precision or recall; None for others."""
        # by t, means of precision missed up to .125 (studies/records/measures.md)
        if self.deployment_prior is None or self.value not in {"precision", "recall"}:
            return None
        prior = 0.5 if self.value == "recall" else typical_prior(self.deployment_prior)
        return support.effective_size(prior)

    def gains_at_rates(self) -> tuple[float, Floats]:
        """Return the mean gain over priors at rates 0, and its slopes (2,) in tpr and fpr, at a threshold."""
        prior = np.ones(1)
        if self.deployment_prior is not None:  # costs are linear in the prior
            priors, weights = self.deployment_prior.quadrature()
            prior = np.array([priors @ weights / weights.sum()])
        corners = self.sign * self.at_rates(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), prior)
        return float(corners[0]), corners[1:] - corners[0]


# --- on the cases of a test set -----------------------------------------------------------------------------


class MeasuredCases(NamedTuple):
    """Gains of models with their jackknife values, and the limits of their intervals."""

    areas: ArcsineAreas
    limits: tuple[Floats, Floats]


def limit_areas(areas: ArcsineAreas, alpha: float) -> MeasuredCases:
    """Return areas with their limits of level 1 - alpha, computed on the logit scale."""
    error, df = areas.model_errors()
    size = float(areas.sample.unit_sums.effective_number().min())
    return MeasuredCases(areas, logit_interval(areas.area, error, df=df, level=1 - alpha, size=size))


def measure_gains(
    measure: Measure, rates_and_changes: tuple[Floats, Floats], sample: Sample, alpha: float
) -> MeasuredCases:
    """Return gains, Wilson limits of level 1 - alpha, by (tpr, fpr) (n_models, 2) and jackknife values."""
    rates, changes = rates_and_changes
    origin, slopes = measure.gains_at_rates()
    gains, sizes = origin + rates @ slopes, [sample.effective_size(positive=side) for side in (True, False)]
    limits = []
    for pair in rates.tolist():
        tpr, fpr = (wilson_estimate(*each, 1 - alpha) for each in zip(pair, sizes, strict=True))
        loss = weighted_sum(tpr.complement(), fpr, (slopes[0], -slopes[1]))  # below the gain of no error
        limits.append((origin + slopes[0] - loss.high, origin + slopes[0] - loss.low))
    low, high = np.transpose(limits)
    areas = ArcsineAreas(ArcsineScale(gains, gains, np.ones(len(gains))), changes @ slopes, sample)
    return MeasuredCases(areas, (low, high))
