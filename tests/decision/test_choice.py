import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed
from loops import each
from scipy import stats
from scipy.special import expit, logit

import skewanova as sa
from skewanova.decision import choice, decision_table, find_regions, posterior, rank_models
from skewanova.decision.joint_curves import iauprec_covariance
from skewanova.decision.joint_curves import mean_curves as _mean_curves
from skewanova.decision.leads import REGION_COLUMNS
from skewanova.priors.weightings import as_deployment_prior, typical_prior
from skewanova.scores.design import logit_interval

RANKING_COLUMNS = (
    "rank", "rank_low", "rank_high", "model", "iauprec", "std", "conf_low", "conf_high", "group", "auc",
    "rarest_prior", "auprec_at_rarest", "expected_regret", "max_regret", "p_best",
)  # fmt: skip
DECISION_COLUMNS = (
    "model", "expected_auprec", "shrunken", "worst_auprec", "worst_prior", "expected_regret", "max_regret",
    "p_best", "expected_loss", "p_best_over", "auprec_at_rarest", "auprec_commonest", "sensitivity",
    "loss_per_tenfold",
)  # fmt: skip

GRID = 100_000


def through(*points):
    """ROC curve through the given (fpr, tpr) points."""
    fpr, tpr = zip((0, 0), *points, (1, 1), strict=True)
    return sa.RocCurve.from_rates(fpr, tpr, n_positive=100, n_negative=900)


def measure(curves, *, priors=(0.5, 0.1, 0.01), deployment=(0.05, 0.2), estimator="trapezoid"):
    """Evaluation of known curves: {model: one curve a fold (None where it is missing)}."""
    weighting = as_deployment_prior(deployment)
    flat = {(m, f): roc for m, folds in curves.items() for f, roc in enumerate(folds) if roc is not None}
    long = [
        (m, f, p, float(sa.auprec(roc, p, area_estimator=estimator)))
        for (m, f), roc in flat.items()
        for p in priors
    ]
    means = [
        (m, f, sa.iauprec(roc, weighting, area_estimator=estimator), sa.auc(roc), 100, 900)
        for (m, f), roc in flat.items()
    ]
    return sa.Evaluation(
        auprec=pd.DataFrame(long, columns=["model", "fold", "prior", "auprec"]),
        iauprec=pd.DataFrame(means, columns=["model", "fold", "iauprec", "auc", "n_positive", "n_negative"]),
        curves=flat, models=tuple(curves), folds=tuple(range(max(map(len, curves.values())))),
        priors=tuple(priors), deployment_prior=weighting, area_estimator=estimator,
        stated_design=sa.FoldDesign("independent")
    )  # fmt: skip


def random_curve(rng, steps=6):
    rates = np.sort(rng.random((2, steps)), axis=1)
    return through(*zip(rates[0] ** rng.choice([1, 2, 4]), rates[1] ** 0.5, strict=True))


def random_models(seed, n_models=4, n_folds=3, **options):
    rng = np.random.default_rng(seed)
    return measure({f"M{m}": [random_curve(rng) for _ in range(n_folds)] for m in range(n_models)}, **options)


EARLY = [through((x, 0.5)) for x in (0.0, 0.001, 0.0005)]  # few false alarms at first: for rare positives
MIDDLE = [through((x, 0.72)) for x in (0.01, 0.012, 0.011)]
LATE = [through((x, 0.93)) for x in (0.10, 0.11, 0.09)]  # the largest area: for common positives
CROSSING = {"late": LATE, "early": EARLY, "middle": MIDDLE}
WIDE = (0.9, 0.5, 0.1, 0.01, 0.0005)

WEIGHTINGS = {
    "uniform": sa.UniformPrior(0.005, 0.4), "skew": sa.UniformSkew(1.5, 199), "beta": sa.BetaPrior(2, 12),
    "beta_rare": sa.BetaPrior(0.5, 30), "discrete": sa.DiscretePrior((0.3, 0.02, 0.08), (1, 5, 3)),
    "discrete_spare": sa.DiscretePrior((0.9, 0.02, 0.08, 0.001), (0, 5, 3, 0)),
    "single": sa.UniformPrior(0.07, 0.07), "single_discrete": sa.DiscretePrior((0.07,)),
}  # fmt: skip


def points_of(weighting):
    """Priors of equal weight (or weights) that stand for the weighting, by brute force."""
    middle = (np.arange(GRID) + 0.5) / GRID
    if isinstance(weighting, sa.UniformPrior):
        return weighting.low + (weighting.high - weighting.low) * middle, np.full(GRID, 1 / GRID)
    if isinstance(weighting, sa.UniformSkew):
        skews = weighting.low_skew + (weighting.high_skew - weighting.low_skew) * middle
        return 1 / (1 + skews), np.full(GRID, 1 / GRID)
    if isinstance(weighting, sa.BetaPrior):
        return stats.beta.ppf(middle, weighting.a, weighting.b), np.full(GRID, 1 / GRID)
    weights = np.ones(len(weighting.priors)) if weighting.weights is None else np.asarray(weighting.weights)
    return np.asarray(weighting.priors), weights / weights.sum()


def trapezoid(roc, priors):
    """AUPREC vertex by vertex; before the first vertex its precision counts."""
    area, before = 0.0, None
    for i in range(1, len(roc.tpr)):
        precision = priors * roc.tpr[i] / (priors * roc.tpr[i] + (1 - priors) * roc.fpr[i])
        before = precision if before is None else before
        area = area + (roc.tpr[i] - roc.tpr[i - 1]) * (before + precision) / 2
        before = precision
    return area


def means_at(evaluation, priors):
    """Mean AUPREC over folds, of shape (models, priors), straight from the curves."""
    at = np.asarray(priors, dtype=float)
    values = {model: [] for model in evaluation.models}
    for (model, _), roc in evaluation.curves.items():
        plain = evaluation.area_estimator == "trapezoid"
        area = trapezoid(roc, at) if plain else sa.auprec(roc, at, area_estimator=evaluation.area_estimator)
        values[model].append(area)
    return np.array([np.mean(folds, axis=0) for folds in values.values()])


def test_columns_and_order():
    measures = random_models(0)
    before = measures.iauprec.copy(deep=True), measures.auprec.copy(deep=True), measures.models
    ranked = rank_models(measures, letters={"M1": "ab"}, rng=9)
    assert (tuple(ranked), ranked["rank"].tolist()) == (RANKING_COLUMNS, [1, 2, 3, 4])
    assert ranked.set_index("model")["group"].to_dict() == {"M0": "", "M1": "ab", "M2": "", "M3": ""}
    mean = measures.iauprec.groupby("model")["iauprec"].mean()
    assert ranked["model"].tolist() == mean.sort_values(ascending=False).index.tolist()
    assert ranked["iauprec"].is_monotonic_decreasing
    assert choice.ranking_order(measures) == tuple(ranked["model"])
    np.testing.assert_allclose(ranked["iauprec"], mean[ranked["model"]], rtol=1e-14)
    expected = measures.iauprec.groupby("model")["auc"].mean()[ranked["model"]]
    np.testing.assert_allclose(ranked["auc"], expected, rtol=1e-14)
    pd.testing.assert_frame_equal(measures.iauprec, before[0])  # the input is never modified
    pd.testing.assert_frame_equal(measures.auprec, before[1])
    assert measures.models == before[2]
    assert ranked["p_best"].tolist() == decision_table(measures, rng=9)["p_best"].tolist()
    assert rank_models(measures)["p_best"].tolist() == decision_table(measures, rng=0)["p_best"].tolist()
    assert ranked["p_best"].tolist() != rank_models(measures)["p_best"].tolist()
    with pytest.raises(sa.InputError, match=r"^`alpha` must lie above 0 and at most 0.5, but got nan$"):
        rank_models(measures, alpha=np.nan)
    with pytest.raises(sa.InputTypeError, match=r"^`letters` must be a mapping as {'A': 'a'}, but is str$"):
        rank_models(measures, letters="ab")


def test_equal_models_keep_their_order_and_one_fold_has_no_spread():
    curves = {"z": EARLY, "a": LATE, "m": EARLY, "b": EARLY[::-1]}
    assert choice.ranking_order(measure(curves, deployment=0.001))[:3] == ("z", "m", "b")
    assert rank_models(measure(curves, deployment=0.001))["model"].tolist() == ["z", "m", "b", "a"]
    measures = random_models(3, n_folds=1)
    ranked, spread = rank_models(measures), ["std", "conf_low", "conf_high", "p_best"]
    assert ranked[spread].isna().all(axis=None)
    assert ranked.drop(columns=spread).notna().all(axis=None)
    assert (decision_table(measures)["p_best_over"] == "").all()
    assert (decision_table(random_models(3, n_folds=2))["p_best_over"] == "folds").all()


@pytest.mark.parametrize(("alpha", "ratio"), [(0.05, 0), (0.005, 0), (0.05, 0.25)])
def test_intervals_and_p_best_rest_on_the_spread_over_folds(alpha, ratio):
    measures = designed(random_models(2, n_folds=7), ratio)
    ranked = rank_models(measures, alpha=alpha)
    table = measures.iauprec.pivot(index="fold", columns="model", values="iauprec")[list(ranked["model"])]
    error = table.std() * np.sqrt(1 / 7 + ratio)  # Nadeau and Bengio 2003
    size = measures.support.effective_size(typical_prior(measures.deployment_prior))
    limits = logit_interval(table.mean(), error, df=6, level=1 - alpha, size=size)
    np.testing.assert_allclose(ranked["std"], table.std(), rtol=1e-12)
    np.testing.assert_allclose([ranked["conf_low"], ranked["conf_high"]], limits, rtol=1e-10)
    covariance = np.cov(table.to_numpy().T) * (1 / 7 + ratio)
    expected = posterior.probability_best(table.mean().to_numpy(), covariance, df=6)
    assert ranked["p_best"].tolist() == pytest.approx(expected.tolist(), abs=1e-3)


def test_missing_cells_and_a_single_model():
    curves = {"A": LATE, "B": [EARLY[0], None, EARLY[2]]}
    ranked = rank_models(measure(curves)).set_index("model")
    only = measure({"B": [EARLY[0], EARLY[2]]}).iauprec["iauprec"]
    assert ranked.loc["B", "iauprec"] == pytest.approx(only.mean(), rel=1e-12)
    size = measure(curves).support.effective_size(typical_prior(measure(curves).deployment_prior))
    limits = logit_interval(only.mean(), stats.sem(only), df=1, level=0.95, size=size)
    assert tuple(ranked.loc["B", ["conf_low", "conf_high"]]) == pytest.approx(limits, rel=1e-10)
    assert ranked["p_best"].isna().all()
    measures = measure({"only": LATE})
    row = rank_models(measures).iloc[0]
    assert (row["rank"], row["model"], row["p_best"]) == (1, "only", 1.0)
    assert (row["expected_regret"], row["max_regret"]) == (0.0, 0.0)
    (lead,) = find_regions(measures).itertuples()
    assert (lead.model, lead.runner_up) == ("only", "")
    assert np.isnan(lead.margin)
    assert (lead.prior_low, lead.prior_high) == pytest.approx((0.01, 0.5))


def check_regions(measures, regions):
    """Regions tile the range, neighbours differ, and nobody is ahead of the leader anywhere."""
    low = min(*measures.priors, measures.deployment_prior.low)
    high = max(*measures.priors, measures.deployment_prior.high)
    assert (tuple(regions), regions["prior_low"].iloc[0]) == (REGION_COLUMNS, pytest.approx(low, rel=1e-12))
    assert regions["prior_high"].iloc[-1] == pytest.approx(high, rel=1e-12)
    assert regions["prior_low"].tolist()[1:] == regions["prior_high"].tolist()[:-1]
    assert all(a != b for a, b in pairwise(regions["model"]))
    position = {model: i for i, model in enumerate(measures.models)}
    for row in regions.itertuples():
        means = means_at(measures, expit(np.linspace(logit(row.prior_low), logit(row.prior_high), 301)))
        np.testing.assert_allclose(means[position[row.model]], means.max(axis=0), atol=1e-11)


@each("seed", range(12))
def test_regions_of_random_models(seed):
    measures = random_models(
        100 + seed, n_models=2 + seed % 4, n_folds=1 + seed % 3, priors=(0.99, 0.3, 1e-3),
        deployment=(0.05, 0.2)
    )  # fmt: skip
    leads = find_regions(measures)
    check_regions(measures, leads)
    best = means_at(measures, expit(np.linspace(logit(1e-3), logit(0.99), 5000))).argmax(axis=0)
    models = [measures.models[i] for i in best[[0, *(np.flatnonzero(np.diff(best)) + 1)]]]
    assert len(leads) >= len(models)
    wide = leads[logit(leads["prior_high"]) - logit(leads["prior_low"]) > 0.01]
    assert [m for m in wide["model"] if m not in models] == []


@pytest.mark.no_cover
@each("estimator", sa.curves.ESTIMATORS)
@each("ends", [(1e-6, 1 - 1e-6), (0.2, 0.2000001), (1e-5, 1e-4), (0.5, 0.999)])
def test_series_hold_every_digit(estimator, ends):
    measures = random_models(22, n_models=2, n_folds=2, estimator=estimator, priors=ends, deployment=ends)
    curves = _mean_curves(measures)
    at = expit(np.linspace(logit(ends[0]), logit(ends[1]), 101))
    np.testing.assert_allclose(curves.evaluate(at), means_at(measures, at), atol=1e-13)


def test_identical_leaders_a_single_prior_and_the_order_of_models():
    leads = find_regions(measure({"a": EARLY, "b": LATE, "c": EARLY, "d": LATE}, priors=WIDE))
    assert (leads["model"].tolist(), leads["runner_up"].tolist()) == (["a", "b"], ["c", "d"])
    measures = measure(CROSSING, priors=(0.1,), deployment=0.1)
    leads = find_regions(measures)
    means = means_at(measures, [0.1])[:, 0]
    order = np.argsort(-means)
    assert leads["model"].tolist() == [measures.models[order[0]]]
    assert (leads["prior_low"].iloc[0], leads["prior_high"].iloc[0]) == (0.1, 0.1)
    assert leads["margin"].iloc[0] == pytest.approx(means[order[0]] - means[order[1]], rel=1e-10)
    assert leads["runner_up"].iloc[0] == measures.models[order[1]]
    both = [measure(curves, priors=WIDE) for curves in (CROSSING, dict(reversed(CROSSING.items())))]
    for function in (find_regions, rank_models):
        pd.testing.assert_frame_equal(*map(function, both), rtol=1e-9)


@pytest.mark.parametrize("shift", [-1e-14, 1e-14])
def test_a_lead_in_the_last_digits_is_none(shift):
    shared, other = through((0.1, 0.6), (0.2, 0.8)), through((0.1 + shift, 0.6), (0.2, 0.8))
    measures = measure({"a": [shared] * 2, "b": [other] * 2})
    assert (choice.ranking_order(measures), find_regions(measures)["model"].tolist()) == (("a", "b"), ["a"])


@pytest.mark.parametrize("seed", [None, 30])
def test_margin_equals_quadrature(seed):
    measures = random_models(seed, priors=(0.95, 0.002)) if seed else measure(CROSSING, priors=WIDE)
    for row in find_regions(measures).itertuples():
        steps = 20_000
        at = row.prior_low + (row.prior_high - row.prior_low) * (np.arange(steps) + 0.5) / steps
        mean = dict(zip(measures.models, means_at(measures, at).mean(axis=1), strict=True))
        others = {model: value for model, value in mean.items() if model != row.model}
        assert row.runner_up == max(others, key=others.get)
        assert row.margin == pytest.approx(mean[row.model] - others[row.runner_up], abs=1e-7)
        assert row.margin >= 0


@each("name", list(WEIGHTINGS))
def test_decisions_equal_brute_force(name):
    weighting = WEIGHTINGS[name]
    measures = measure(CROSSING, deployment=weighting)
    found = decision_table(measures)
    assert tuple(found) == DECISION_COLUMNS
    ranked = rank_models(measures)
    assert found["model"].tolist() == ranked["model"].tolist()
    assert (ranked["rarest_prior"] == weighting.low).all()
    for column in ("expected_regret", "max_regret", "p_best", "auprec_at_rarest"):
        np.testing.assert_array_equal(found[column], ranked[column])
    np.testing.assert_allclose(found["expected_auprec"], ranked["iauprec"], rtol=1e-14)
    found = found.set_index("model").loc[list(CROSSING)]
    if isinstance(weighting, sa.DiscretePrior):
        priors, weights = weighting.quadrature()
        priors = priors[weights > 0]
    else:
        priors = expit(np.linspace(logit(weighting.low), logit(weighting.high), 2001))
    means = means_at(measures, priors)
    largest, slack = (means.max(axis=0) - means).max(axis=1), 1e-12 if "discrete" in name else 1e-6
    np.testing.assert_allclose(found["max_regret"], largest, rtol=0, atol=slack)
    at, weights = points_of(weighting)
    regret = means_at(measures, at).max(axis=0) - means_at(measures, at)
    # a beta's thin tail is poorly served by equal steps
    slack = 2e-6 if isinstance(weighting, sa.BetaPrior) else 1e-8
    np.testing.assert_allclose(found["expected_regret"], regret @ weights, rtol=0, atol=slack)
    np.testing.assert_allclose(found["worst_auprec"], means.min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found["worst_prior"], priors[means.argmin(axis=1)], rtol=1e-9)
    low, high = (means_at(measures, [end])[:, 0] for end in (weighting.low, weighting.high))
    np.testing.assert_allclose(found["auprec_at_rarest"], low, rtol=1e-12)
    np.testing.assert_allclose(found["auprec_commonest"], high, rtol=1e-12)
    np.testing.assert_allclose(found["sensitivity"], high - low, rtol=1e-9, atol=1e-15)
    assert (found["p_best_over"] == "folds").all()


def test_loss_per_tenfold_is_a_slope_and_estimates_are_drawn_together():
    measures = measure(CROSSING, deployment=sa.UniformSkew(3, 3000))
    found = decision_table(measures).set_index("model").loc[list(CROSSING)]
    ends = means_at(measures, [0.25, 1 / 3001])
    np.testing.assert_allclose(found["loss_per_tenfold"], (ends[:, 0] - ends[:, 1]) / 3, rtol=1e-9)
    at_one = decision_table(measure(CROSSING, deployment=0.25)).set_index("model").loc[list(CROSSING)]
    step = 1e-4
    near = means_at(measures, [1 / (1 + 3 * 10**-step), 1 / (1 + 3 * 10**step)])
    np.testing.assert_allclose(at_one["loss_per_tenfold"], (near[:, 0] - near[:, 1]) / (2 * step), rtol=1e-6)
    assert (at_one["sensitivity"] == 0).all()
    estimate, error = np.array([0.80, 0.70, 0.75, 0.73, 0.72]), 0.0004
    moved = estimate - estimate.mean()
    kept = 1 - 2 * error / (moved**2).sum()
    found = choice.shrink_estimates(estimate, error * np.eye(5) + 0.01, np.inf)  # what all share is no noise
    np.testing.assert_allclose(found, estimate.mean() + kept * moved, rtol=1e-12)
    estimated = choice.shrink_estimates(estimate, error * np.eye(5), 8.0)
    np.testing.assert_allclose(estimated, estimate.mean() + (1 - 0.8 * (1 - kept)) * moved, rtol=1e-12)
    np.testing.assert_allclose(choice.shrink_estimates(estimate, 1.0 * np.eye(5), np.inf), estimate.mean())
    assert np.isnan(choice.shrink_estimates(estimate[:3], np.eye(3), np.inf)).all()
    assert choice.shrink_estimates(np.full(4, 0.5), np.zeros((4, 4)), np.inf).tolist() == [0.5] * 4


def test_p_best_takes_the_degrees_of_freedom_of_few_clusters():
    rng = np.random.default_rng(2)
    labels, cluster = np.tile(np.repeat([1, 0], [2, 8]), 12), np.repeat(np.arange(12), 10)
    common = rng.normal(size=(12, 3))[cluster]
    frame = pd.DataFrame({"fold": 1, "case": range(120), "y_true": labels, "cluster": cluster})
    scores = (rng.normal((0.5 + 0.9 * k) * labels) + common[:, k] for k in range(3))
    parts = [frame.assign(model=f"m{k}", y_score=score) for k, score in enumerate(scores)]
    with warnings.catch_warnings(action="ignore"):
        measures = sa.evaluate(pd.concat(parts), at_priors=(0.5,), deployment_prior=(0.3, 0.5))
        estimate, covariance, df = iauprec_covariance(measures)
        assert 4 <= df < 20
        decided = decision_table(measures, rng=0)
        found = decided["p_best"].to_numpy()
        known = posterior.probability_best(estimate, covariance, df=np.inf, rng=0)
        single = pd.concat(parts).drop(columns="cluster")
        alone = iauprec_covariance(sa.evaluate(single, at_priors=(0.5,), deployment_prior=(0.3, 0.5)))
    assert decided["p_best_over"].unique().tolist() == ["cases"]
    assert found.max() < known.max()  # less sure than if the covariance were known
    assert df < alone[2] < len(labels)  # cases drawn one by one are more


def decisions(**changes):
    columns = {
        "model": ["A", "B", "C"], "expected_auprec": [0.6, 0.8, 0.7], "expected_regret": [0.3, 0.1, 0.2],
        "worst_auprec": [0.5, 0.4, 0.55], "max_regret": [0.2, 0.4, 0.25], "p_best": [0.1, 0.3, 0.6],
    }  # fmt: skip
    return pd.DataFrame({**columns, **changes})


def test_each_criterion_by_hand_and_its_runner_up():
    found = choice.choose_models(decisions())
    assert tuple(found) == choice.CHOICE_COLUMNS
    assert found[["criterion", "model", "value", "runner_up"]].to_numpy().tolist() == [
        ["highest_expected_auprec", "B", 0.8, "C"], ["minimum_expected_regret", "B", 0.1, "C"],
        ["maximin_auprec", "C", 0.55, "A"], ["minimax_regret", "A", 0.2, "C"],
        ["highest_p_best", "C", 0.6, "B"],
    ]  # fmt: skip
    assert found["margin"].to_numpy() == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.3])
    unknown = choice.choose_models(decisions(worst_auprec=[0.5, np.nan, 0.4]))  # leaves out what follows it
    assert unknown["criterion"].tolist() == found["criterion"].drop(2).tolist()
    two, one = choice.choose_models(decisions().iloc[:2]), choice.choose_models(decisions().iloc[:1])
    assert two["runner_up"].tolist() == ["A", "A", "B", "B", "A"]
    assert two["margin"].notna().all()
    assert (one["model"] == "A").all()
    assert (one["runner_up"] == "").all()
    assert one["margin"].isna().all()


@pytest.mark.parametrize(("more", "first"), [(0.2, "A"), (2.0, "B")])
def test_of_equal_models_the_first_is_picked(more, first):
    unit = 1e-12
    table = decisions(expected_auprec=[0.5, 0.5 + more * unit, 0.3], max_regret=[0.5 + more * unit, 0.5, 0.8])
    found = choice.choose_models(table).set_index("criterion")
    assert found.loc["highest_expected_auprec", "model"] == first
    assert found.loc["minimax_regret", "model"] == first
