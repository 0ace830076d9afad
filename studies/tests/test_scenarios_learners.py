"""The small learners against scikit-learn, on the same cases."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from studies.scenarios import N_NEIGHBOURS, lda, naive_bayes, nearest_neighbours, qda, separation

N_POSITIVE, N_CASES, N_FOLDS = 40, 120, 3
Y = (np.arange(N_CASES) < N_POSITIVE).astype(int)


@pytest.fixture(scope="module")
def case():
    """Correlated features, random training cases for each fold, and the features of 15 test cases."""
    rng = np.random.default_rng(3)
    features = rng.standard_normal((N_CASES, 3)) @ rng.standard_normal((3, 3)) + 0.7 * Y[:, None]
    train = (rng.random((N_FOLDS, N_CASES)) < 0.7).astype(float)
    test = np.stack([features[rng.choice(np.flatnonzero(w == 0), 15, replace=False)] for w in train])
    return features, train, test


def fitted(case, estimator):
    features, train, test = case
    return [(estimator().fit(features[w > 0], Y[w > 0]), x) for w, x in zip(train, test, strict=True)]


def test_lda_is_scikit_learns_decision_function(case):
    models = fitted(case, lambda: LinearDiscriminantAnalysis(solver="lsqr"))
    expected = [model.decision_function(x) for model, x in models]
    np.testing.assert_allclose(lda(*case, N_POSITIVE), expected, rtol=1e-8, atol=1e-10)


def test_qda_is_scikit_learns_decision_function(case):
    expected = [model.decision_function(x) for model, x in fitted(case, QuadraticDiscriminantAnalysis)]
    np.testing.assert_allclose(qda(*case, N_POSITIVE), expected, rtol=1e-8, atol=1e-10)


def test_naive_bayes_is_scikit_learns_log_odds(case):
    models = fitted(case, lambda: GaussianNB(var_smoothing=0))
    expected = [np.diff(model.predict_joint_log_proba(x), axis=1)[:, 0] for model, x in models]
    np.testing.assert_allclose(naive_bayes(*case, N_POSITIVE), expected, rtol=1e-8, atol=1e-10)


def test_nearest_neighbours_counts_as_scikit_learn_and_has_no_ties(case):
    models = fitted(case, lambda: KNeighborsClassifier(N_NEIGHBOURS))
    expected = [np.rint(model.predict_proba(x)[:, 1] * N_NEIGHBOURS) for model, x in models]
    scores = nearest_neighbours(*case, N_POSITIVE)
    np.testing.assert_array_equal(np.floor(scores), expected)
    assert all(len(np.unique(fold)) == len(fold) for fold in scores)


def test_separation_is_welchs_t(case):
    from scipy import stats

    features, train, _ = case
    for found, weight in zip(separation(features, train, N_POSITIVE), train, strict=True):
        kept = weight > 0
        expected = stats.ttest_ind(features[kept & (Y == 1)], features[kept & (Y == 0)], equal_var=False)
        np.testing.assert_allclose(found, expected.statistic**2, rtol=1e-10)


@pytest.mark.parametrize("learner", [lda, qda, naive_bayes, nearest_neighbours])
def test_leading_axes_are_independent_runs(case, learner):
    features, train, test = case
    stacked = np.stack([features, features[:, ::-1] * 2])[:, None]  # (2, 1, cases, features)
    tested = np.stack([test, test[..., ::-1] * 2])[:, None]
    found = learner(stacked[:, 0], train, tested[:, 0], N_POSITIVE)
    np.testing.assert_allclose(found[1], learner(stacked[1, 0], train, tested[1, 0], N_POSITIVE), rtol=1e-9)
    if learner is lda or learner is qda:  # these do not see the scale of the features
        np.testing.assert_allclose(found[1], found[0], rtol=1e-8, atol=1e-10)
