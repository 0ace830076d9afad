"""P(best) against importance sampling of its model, its grid against scipy, its guards at their places."""

import itertools

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, score_rows
from loops import each
from messages import expect_error
from scipy import stats

from skewanova import InputError, evaluate
from skewanova.base.rounding import TIE
from skewanova.decision import decision_table, posterior, value_of_information

COVARIANCE = np.array([[4.0, 1.0, 0.5], [1.0, 2.0, -0.5], [0.5, -0.5, 1.0]]) / 100


def by_importance(estimate, covariance, df, draws=200_000):
    """For each number of leading models: the share of the first is smallest for the one that counts."""
    order = np.argsort(-estimate)
    falling, among = estimate[order], covariance[np.ix_(order, order)]
    shares = [leading_by_importance(falling, among, n, df=df, draws=draws) for n in range(2, len(order) + 1)]
    return min(shares, key=lambda share: share[0])[np.argsort(order)]


def leading_by_importance(estimate, covariance, n_leading, *, df, draws):
    """Spread and scale from their priors, true values from the spread, each weighed by its likelihood.

    The other models, whose prior is flat, are drawn given those, from the joint normal distribution.
    """
    rng = np.random.default_rng(11)
    size, n_all = n_leading, len(estimate)
    centre = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, 1:]]))[0][:, 1:].T
    variances, vectors = np.linalg.eigh(centre @ covariance[:size, :size] @ centre.T)
    axes = vectors.T @ centre
    share = 0.0 if np.isinf(df) else len(variances) / (len(variances) + df)
    variances = (1 - share) * variances + share * variances.mean()
    spread = np.abs(stats.cauchy.rvs(scale=np.sqrt(variances.mean()), size=draws, random_state=rng))
    scale = np.ones(draws) if np.isinf(df) else df / rng.chisquare(df, draws)
    true = rng.normal(size=(draws, len(variances))) * spread[:, None]
    weight = stats.norm.pdf(axes @ estimate[:size], true, np.sqrt(scale[:, None] * variances)).prod(axis=1)
    difference = np.hstack([np.full((n_all - size, size), -1 / size), np.eye(n_all - size)])
    to_joint = np.vstack([np.pad(axes, ((0, 0), (0, n_all - size))), difference])
    joint = to_joint @ covariance @ to_joint.T
    joint[range(size - 1), range(size - 1)] = variances
    precision = np.linalg.inv(joint)[size - 1 :]
    cross, own = precision[:, : size - 1], np.linalg.inv(precision[:, size - 1 :])
    centred = difference @ estimate + (axes @ estimate[:size] - true) @ (own @ cross).T
    left = np.sqrt(scale)[:, None] * (rng.normal(size=(draws, n_all - size)) @ np.linalg.cholesky(own).T)
    best = np.hstack([true @ axes, centred + left]).argmax(axis=1)
    return np.bincount(best, weight, minlength=n_all) / weight.sum()


@each("df", [3, 12, np.inf])
@each("estimate", [[0.3, 0.1, 0.25], [0.0, 0.02, -0.02], [0.25, -0.9, 0.1]])
def test_p_best_of_three_models_by_importance_sampling(estimate, df):
    found = posterior.probability_best(np.array(estimate), COVARIANCE, df=df, n_draws=60_000)
    assert found == pytest.approx(by_importance(np.array(estimate), COVARIANCE, df), abs=0.015)


def test_leading_models_and_their_contrasts():
    assert posterior._leading_counts(np.arange(9.0)[::-1]) == [2, 3, 4, 6, 9]
    assert posterior._leading_counts(np.array([0.9, 0.8, 0.8, 0.8 - TIE / 2, 0.1])) == [4, 5]
    assert posterior._leading_counts(np.array([0.9])) == [1]
    assert posterior._leading_counts(np.array([0.9, 0.9])) == [2]
    estimate = np.array([0.3, 0.1, 0.25])
    variances, axes, seen = posterior._orthogonal_contrasts(estimate, COVARIANCE)
    centre = np.eye(3) - 1 / 3
    assert axes @ axes.T == pytest.approx(np.eye(2))
    assert axes.T * variances @ axes == pytest.approx(centre @ COVARIANCE @ centre)
    assert seen @ axes == pytest.approx(estimate - estimate.mean())


def test_the_grid_holds_quantiles_and_leads_without_variance_are_certain():
    spread, scale = posterior._spread_and_scale_grid(0.2, 6.0)
    assert len(spread) == len(scale) == posterior.N_SPREADS * posterior.N_SCALES == 8000
    middle = (np.arange(posterior.N_SPREADS) + 0.5) / posterior.N_SPREADS
    assert np.unique(spread) == pytest.approx(stats.halfcauchy.ppf(middle, scale=0.2))
    middle = (np.arange(posterior.N_SCALES) + 0.5) / posterior.N_SCALES
    assert np.unique(scale) == pytest.approx(np.sort(6 / stats.chi2.ppf(middle, 6)))
    assert len({*zip(spread, scale, strict=True)}) == 8000
    known = posterior._spread_and_scale_grid(0.2, np.inf)
    expected = stats.halfcauchy.ppf((np.arange(posterior.N_SPREADS) + 0.5) / posterior.N_SPREADS, scale=0.2)
    assert known[0] == pytest.approx(expected)
    assert (known[1] == 1).all()
    zero = np.zeros((3, 3))
    assert posterior.probability_best(np.array([0.5, 0.7, 0.6]), zero, df=5).tolist() == [0, 1, 0]
    assert posterior.probability_best(np.array([0.7, 0.7, 0.6]), zero, df=5).tolist() == [0.5, 0.5, 0]
    covariance = np.zeros((3, 3))
    covariance[2, 2] = 0.01
    found = posterior.probability_best(np.array([0.6, 0.5, 0.55]), covariance, df=np.inf)
    assert found[1] == 0  # whatever the third does
    assert 0 < found[2] < 0.5
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(("share", "kept"), [(0.2, 1), (5.0, 2)])
def test_variance_below_rounding_is_none(share, kept):
    # The third model differs from the second by a variance that is a share of rounding.
    covariance = np.diag([1.0, 0.0, 0.0])
    tiny = np.zeros((3, 3))
    tiny[2, 2] = 4 * share * TIE
    variances, axes, _ = posterior._orthogonal_contrasts(np.zeros(3), covariance + tiny)
    assert (len(variances), len(axes)) == (kept, kept)
    assert (variances > 0).all()


@pytest.mark.parametrize(("gap", "kept"), [(0.5, 0), (3.0, 1)])
def test_a_difference_without_variance_counts_beyond_the_tolerance(gap, kept):
    # Of two models the contrast is their difference over the root of 2.
    variances, _, seen = posterior._orthogonal_contrasts(np.array([gap * TIE, 0.0]), np.zeros((2, 2)))
    assert (len(variances), len(seen)) == (kept, kept)


def test_9999_draws_from_seed_0_are_shared_by_models_that_are_the_same():
    estimate = np.array([0.3, 0.1, 0.25])
    found = posterior.probability_best(estimate, COVARIANCE, df=4)
    assert (posterior.N_DRAWS, found * 9999) == (9999, pytest.approx(np.round(found * 9999)))
    assert found.tolist() == posterior.probability_best(estimate, COVARIANCE, df=4, rng=0).tolist()
    drawn = (posterior.probability_best(estimate, COVARIANCE, df=4, rng=seed) for seed in (0, 1, 2))
    assert len(set(map(tuple, drawn))) == 3
    near = 1.0 - 1e-6
    rows = [[1.0, 0.5, 0.5, 0.5], [0.5, 1.0, 1.0, near], [0.5, 1.0, 1.0, near], [0.5, near, near, 1.0]]
    covariance = 1e-3 * np.array(rows)
    found = posterior.probability_best(np.array([0.75, 0.74, 0.74, 0.7401]), covariance, df=40, rng=0)
    assert found[1] == found[2] > 0
    assert found.sum() == pytest.approx(1)


def unit_loss(lead, deviation):
    """Expected loss of the leader of two normal values (Raiffa and Schlaifer 1961)."""
    return deviation * stats.norm.pdf(lead / deviation) - lead * stats.norm.sf(lead / deviation)


@pytest.mark.parametrize("ratio", [0.8, 0.5, 0.1, 1e-9])
def test_value_of_information_of_two_normal_values_is_the_closed_form(ratio):
    covariance = np.array([[4, 1], [1, 3]]) * 1e-4
    draws = np.random.default_rng(0).multivariate_normal([0.70, 0.69], covariance, size=400_000)
    deviation = np.sqrt(5e-4)
    assert posterior.expected_losses(draws).min() == pytest.approx(unit_loss(0.01, deviation), abs=1e-4)
    expected = unit_loss(0.01, deviation * np.sqrt(1 - ratio))
    (gain,) = posterior.expected_gains(draws, covariance, np.array([ratio]))
    assert gain == pytest.approx(expected, abs=1e-4)


def test_value_of_information_with_a_normal_prior_equals_brute_force():
    # the prior of precision P, the data of covariance V now and ratio * V later, both drawn and updated
    rng, ratio = np.random.default_rng(1), 0.4
    V = np.array([[4.0, 1, 0.5], [1, 3, 0], [0.5, 0, 6]]) * 1e-4
    prior = 3e-4
    contrast = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    precision = np.linalg.inv(contrast @ V @ contrast.T)
    now = np.linalg.inv(precision + np.eye(2) / prior)
    mean = now @ precision @ contrast @ np.array([0.71, 0.70, 0.69])
    draws = rng.multivariate_normal(mean, now, size=300_000)
    later = np.linalg.inv(precision / ratio + np.eye(2) / prior)
    further = np.linalg.inv(precision * (1 / ratio - 1))  # covariance of the data still to come
    data = draws + rng.multivariate_normal([0, 0], further, size=len(draws))
    updated = (np.linalg.solve(now, mean) + data @ np.linalg.inv(further)) @ later
    brute = (updated @ contrast).max(axis=1).mean() - (mean @ contrast).max()
    (gain,) = posterior.expected_gains(draws @ contrast, V, np.array([ratio]))
    assert gain == pytest.approx(brute, rel=0.01)


@pytest.fixture(scope="module")
def measures():
    """Three models in eight independent folds of 20 + 80 cases."""
    rng, labels = np.random.default_rng(4), np.repeat([1, 0], [20, 80])
    cells = itertools.product({"a": 1.5, "b": 1.4, "c": 1.0}.items(), range(8))
    rows = [score_rows(m, fold, labels, rng.normal(shift * labels)) for (m, shift), fold in cells]
    return designed(evaluate(pd.concat(rows), design="independent"), 0)


def test_value_of_information_rests_on_p_best_and_the_ratio_of_folds(measures):
    table, value = decision_table(measures), value_of_information(measures, unit_cost=1e-9)
    frame = value.to_frame()
    assert value.evpi == table["expected_loss"].min()
    assert value.model == table["model"][table["expected_loss"].idxmin()]
    assert (frame["evsi"].diff().iloc[1:] >= -1e-12).all()
    assert (frame["n_more"].iloc[0], frame["n_more"].iloc[-1], value.n_now) == (8, 80_000, 800)
    assert (frame["n_total"] - frame["n_more"] == 800).all()
    assert 0.9 * value.evpi < frame["evsi"].iloc[-1] < value.evpi
    assert value.n_worth == frame["n_more"][frame["net_gain"].idxmax()] > 0
    assert value_of_information(measures, unit_cost=1.0).n_worth == 0
    assert "no more cases are worth it" in value_of_information(measures, unit_cost=1.0).summary()
    both = measures, designed(measures, 0.25)
    gains = [value_of_information(part, unit="folds").to_frame()["evsi"].iloc[-1] for part in both]
    losses = [value_of_information(part).evpi for part in both]
    assert gains[0] > 0.9 * losses[0]
    assert gains[1] < 0.5 * losses[1]


@pytest.mark.parametrize(("options", "message"), [
    ({"unit": "patients"}, "`unit` must be one of cases, folds; but got 'patients'"),
    ({"unit_cost": -1.0}, "`unit_cost` must be an area that one unit costs, 0 or more, but got -1"),
])  # fmt: skip
def test_value_of_information_checks_its_options(measures, options, message):
    expect_error(message, value_of_information, measures, **options)


def test_value_of_information_says_what_the_data_lack():
    columns = (("A", np.arange(60.0)), ("B", -np.arange(60.0)))
    one_positive = pd.concat(score_rows(m, 1, [1] + [0] * 59, score, case=range(60)) for m, score in columns)
    with pytest.raises(InputError, match="needs several cases or clusters of each class; add some"):
        value_of_information(evaluate(one_positive))
    y = np.tile([1, 0, 0], 20)
    runs = [one_positive.assign(y_true=np.tile(y, 2), fold=run) for run in (1, 2)]
    runs[1]["y_score"] += np.tile(y, 2)
    with pytest.raises(InputError, match="needs a design without runs; plan runs by "):
        value_of_information(evaluate(pd.concat(runs)))
