"""Score tables and scorers against loops written out by hand, and what users get wrong."""

import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from loops import each
from messages import exact, expect_error
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skewanova as sa

X, Y = make_classification(200, 5, weights=[0.7], flip_y=0.2, random_state=0)
WORDS = np.array(["no", "yes"])[Y]
LINEAR = LogisticRegression()
BAYES = GaussianNB()
#: Sets of 100 test cases are too small for rare priors, which the package says.
FEW_NEGATIVES = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
HALVES = StratifiedShuffleSplit(4, test_size=0.5, random_state=1)


class Broken(ClassifierMixin, BaseEstimator):
    def __init__(self, answer="raise"):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        if self.answer == "raise":
            raise KeyError("no such column")
        answers = {"nan": np.full(len(X), np.nan), "few": np.zeros(3), "cube": np.zeros((len(X), 3))}
        return answers[self.answer]


def by_hand(estimator, splits, method, sign=1):
    fitted = ((clone(estimator).fit(X[train], Y[train]), X[test]) for train, test in splits)
    return np.concatenate([sign * _column(getattr(model, method)(rows)) for model, rows in fitted])


def _column(score):
    return score if score.ndim == 1 else score[:, 1]


def test_scores_are_those_of_a_loop_by_hand():
    splits = list(HALVES.split(X, Y))
    frame = sa.scores_from_estimators({"linear": LINEAR, "bayes": BAYES}, X, Y, cv=HALVES).frame
    test = np.concatenate([b for _, b in splits])
    methods = ("linear", LINEAR, "decision_function"), ("bayes", BAYES, "predict_proba")
    for model, estimator, method in methods:
        rows = frame[frame["model"] == model]
        np.testing.assert_array_equal(rows["y_score"], by_hand(estimator, splits, method))
        assert (rows["case"].tolist(), rows["y_true"].tolist()) == (test.tolist(), (Y[test] == 1).tolist())
        assert rows["fold"].tolist() == np.repeat([1, 2, 3, 4], 100).tolist()
    assert not hasattr(LINEAR, "coef_")


@each(("cv", "kind"), [
    (4, "kfold"), (KFold(4, shuffle=True), "kfold"),
    (RepeatedStratifiedKFold(n_splits=4, n_repeats=3), "repeated_kfold"),
    (StratifiedShuffleSplit(5, test_size=0.3), "repeated_holdout"),
    (ShuffleSplit(5, test_size=0.3), "repeated_holdout"),
    (list(KFold(3, shuffle=True, random_state=0).split(X)), "kfold"),
])  # fmt: skip
def test_models_share_the_splits_and_their_design_is_seen(cv, kind):
    table = sa.scores_from_estimators({"A": BAYES, "B": DecisionTreeClassifier(max_depth=2)}, X, Y, cv=cv)
    cases = [rows["case"].tolist() for _, rows in table.frame.groupby("model", observed=True)]
    assert cases[0] == cases[1]
    design = sa.scores.infer_design(table)
    assert (design.kind, design.warnings) == (kind, ())


def test_groups_reach_the_splitter_and_weights_the_training():
    groups = np.arange(200) // 10
    frame = sa.scores_from_estimators({"A": BAYES}, X, Y, cv=GroupKFold(4), groups=groups).frame
    assert frame.groupby(frame["case"].astype(int) // 10)["fold"].nunique().eq(1).all()
    weight = np.random.default_rng(0).integers(1, 9, 200)
    options = {"cv": HALVES, "params": {"sample_weight": weight}}
    frame = sa.scores_from_estimators({"A": LINEAR}, X, Y, **options).frame
    splits = HALVES.split(X, Y)
    fitted = ((clone(LINEAR).fit(X[a], Y[a], sample_weight=weight[a]), X[b]) for a, b in splits)
    expected = [model.decision_function(rows) for model, rows in fitted]
    np.testing.assert_array_equal(frame["y_score"], np.concatenate(expected))


@pytest.mark.parametrize(("cv", "told"), [
    (0, "got 0: k-fold cross-validation"), ("5", "got '5': Expected"), (GroupKFold(2), "'groups' parameter"),
    ([], r"\[\] has no split$"), ([1], r"got \[1\]: cannot unpack"),
])  # fmt: skip
def test_splits_that_cannot_be_made_are_refused_by_name(cv, told):
    with pytest.raises(sa.InputError, match=rf"^`cv` must split the cases, .*{told}"):
        sa.scores_from_estimators({"A": BAYES}, X, Y, cv=cv)


@each(("features", "labels"), [
    (pd.DataFrame(X, index=range(500, 700)).add_prefix("x"), pd.Series(Y, index=range(500, 700))),
    (pd.DataFrame(X), pd.Series(Y, dtype="Int64")), (pd.DataFrame(X), pd.Series(Y == 1, dtype="boolean")),
    (pl.DataFrame(X), pl.Series(Y)), (pl.DataFrame(X).lazy(), Y),
    (pa.table(dict(zip("abcde", X.T, strict=True))), pa.chunked_array([Y[:70], Y[70:]])),
    (X.tolist(), Y.tolist()), (X, 2 * Y - 1),
])  # fmt: skip
def test_every_kind_of_data(features, labels):
    expected = sa.scores_from_estimators({"A": LINEAR}, X, Y, cv=HALVES, params={"sample_weight": None}).frame
    frame = sa.scores_from_estimators({"A": LINEAR}, features, labels, cv=HALVES).frame
    pd.testing.assert_frame_equal(frame, expected)


def test_sparse_features_columns_by_name_and_routed_weights():
    expected = sa.scores_from_estimators({"A": LINEAR}, X, Y, cv=HALVES).frame["y_score"]
    frame = sa.scores_from_estimators({"A": LINEAR}, sparse.csr_matrix(X), Y, cv=HALVES).frame
    np.testing.assert_allclose(frame["y_score"], expected, atol=1e-3)
    frame = pd.DataFrame({"number": X[:, 0], "word": pd.Categorical(WORDS[::-1])})
    encode = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    table = sa.scores_from_estimators({"A": make_pipeline(encode, LINEAR)}, frame, Y, cv=HALVES)
    assert len(table.frame) == 400
    options = {"cv": HALVES, "params": {"sample_weight": np.random.default_rng(0).integers(1, 9, 200)}}
    expected = sa.scores_from_estimators({"A": LINEAR}, X, Y, **options).frame
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline("passthrough", LogisticRegression().set_fit_request(sample_weight=True))
        frame = sa.scores_from_estimators({"A": pipeline}, X, Y, **options).frame
    pd.testing.assert_frame_equal(frame, expected)


@pytest.mark.parametrize(("pos_label", "sign"), [("yes", 1), ("no", -1)])
@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_words_as_labels(pos_label, sign, method):
    options = {"cv": HALVES, "pos_label": pos_label, "response_method": method}
    frame = sa.scores_from_estimators({"A": LINEAR}, X, WORDS, **options).frame
    score = by_hand(LINEAR, HALVES.split(X, Y), method, sign)
    expected = 1 + score if method == "predict_proba" and sign < 0 else score
    np.testing.assert_allclose(frame["y_score"], expected, rtol=1e-12)
    assert frame["y_true"].tolist() == (WORDS[frame["case"].astype(int)] == pos_label).tolist()


@FEW_NEGATIVES
def test_probabilities_of_balanced_training_are_corrected_and_areas_are_not_changed():
    models = {"A": LogisticRegression(class_weight="balanced")}
    options = {"cv": HALVES, "response_method": "predict_proba"}
    plain = sa.scores_from_estimators(models, X, Y, **options).frame
    table = sa.scores_from_estimators(models, X, Y, class_prior=0.5, **options)
    expected = sa.correct_class_prior(plain["y_score"], train_prior=0.5, prior=float(Y.mean()))
    np.testing.assert_array_equal(table.frame["y_score"], expected)
    assert abs(table.frame["y_score"].mean() - Y.mean()) < abs(plain["y_score"].mean() - Y.mean()) / 3
    both = [sa.evaluate(source, at_priors=(0.5, 0.01)).auprec for source in (plain, table)]
    pd.testing.assert_frame_equal(*both)


@each(("estimator", "error", "message"), [
    (Broken(), RuntimeError, "model 'B' failed in fold 1: KeyError: 'no such column'"),
    (Broken("cube"), ValueError,
     "model 'B' cannot be used in fold 1: decision_function must return a vector or two columns, "
     "but returns shape (100, 3)"),
    (Broken("few"), ValueError, "model 'B' gave 3 scores for the 100 cases of fold 1; it must "),
    (LinearRegression(), ValueError, "model 'B' cannot be used in fold 1: LinearRegression has no classes_, "
     "as fitted classifiers have; use one"),
    ("tree", RuntimeError, "model 'B' failed in fold 1: TypeError: Cannot clone object ''tree''"),
])  # fmt: skip
def test_a_model_that_fails_is_named(estimator, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        sa.scores_from_estimators({"A": BAYES, "B": estimator}, X, Y, cv=HALVES)


def test_failures_scores_and_responses_that_are_missing_are_named():
    with pytest.raises(RuntimeError, match=r"^model 'B' failed in fold \d: InvalidParameterError: "):
        sa.scores_from_estimators({"A": BAYES, "B": LogisticRegression(C=-1)}, X, Y, cv=HALVES, n_jobs=2)
    first = next(HALVES.split(X, Y))[1][0]
    message = rf"has 400, the first at row {first} of X \(model 'B', fold 1\);"
    expect_error(message, sa.scores_from_estimators, {"B": Broken("nan")}, X, Y, cv=HALVES, error=ValueError)
    message = (
        "model 'A' cannot be used in fold 1: GaussianNB has no decision_function to score cases with; use "
        "another model, or leave out `response_method` (and any `class_prior`)"
    )
    with pytest.raises(TypeError, match=exact(message)):
        sa.scores_from_estimators({"A": BAYES}, X, Y, response_method="decision_function")
    for method, missing in (("predict_proba", ""), ("auto", "decision_function or ")):
        message = f"has no {missing}predict_proba to score cases with; use another model$"
        with pytest.raises(TypeError, match=message):
            sa.scores_from_estimators({"A": Unscored()}, X, Y, response_method=method)
    with pytest.raises(sa.InputError, match=r"or leave out `groups` if its cases are no more alike"):
        sa.scores_from_estimators({"A": BAYES}, X, Y, groups=np.arange(200) // 4, cv=list(KFold(7).split(X)))


class Unscored(ClassifierMixin, BaseEstimator):
    """A classifier of two classes that gives no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


@each("scored", [sa.scores_from_estimators, sa.compare_estimators])
def test_training_sets_of_one_class(scored):
    """Found by a review: only some learners said so themselves, in words of their own."""
    order = np.argsort(Y, kind="stable")
    message = r"^every split needs both classes, but fold 1 has no (pos|neg)itive case to (train on|test)"
    for learner in (BAYES, LogisticRegression()):
        models = {"A": learner, "B": learner}
        expect_error(message, scored, models, X, Y, cv=[(order[:50], order[50:])])
        expect_error(message, scored, models, X[order], Y[order], cv=KFold(2))


@each(("labels", "cv", "message"), [
    ([1, 0, 0, 0], 3, "`cv`=3 needs at least 3 positive cases .*, but there are 1; add such cases"),
    ([1, 1, 0, 0], 3, "`cv`=3 needs .*, but there are 2; use fewer folds, or add such cases"),
    ([1, 1, 1, 0], np.int64(2), "`cv`=2 needs at least 2 negative cases .*, but there are 1; add such cases"),
    ([1, 0, 0, 0], KFold(2), "`cv` needs at least 2 positive cases .* there are 1; add such cases"),
    ([0, 0, 0, 0], 3, "`y` must hold both classes, but has no positive case"),
    ([1, 1, 0, 0], KFold(4), "every split .* fold 1 has no negative case to test; stratify by cv=2$"),
    ([1, 1, 0, 0], [(range(4), [0, 3, 3])], r"\(model, .* at row 3 of X .*; test each case once in a fold$"),
])  # fmt: skip
@each("scored", [sa.scores_from_estimators, sa.compare_estimators])
def test_four_cases(scored, labels, cv, message):
    expect_error(f"^{message}", scored, {"A": LogisticRegression(), "B": BAYES}, X[:4], labels, cv=cv)


@each("test", [[200], range(1, 201), [-1, 3], [0.5, 1.5], [], [[1, 2]], [True, False]])
def test_cases_of_a_split_that_are_none(test):
    message = r"^`cv` must give .* each as a list of whole numbers from 0 to 199, but fold 2 has (?!.* 1, )"
    with pytest.raises(sa.InputError, match=message):
        sa.scores_from_estimators({"A": BAYES}, X, Y, cv=[(range(100), range(100, 200)), (range(100), test)])


def test_splits_may_be_masks_and_folds_need_both_classes():
    first = np.arange(200) < 100
    masked = sa.scores_from_estimators({"A": BAYES}, X, Y, cv=[(first, ~first)])
    placed = sa.scores_from_estimators({"A": BAYES}, X, Y, cv=[(range(100), range(100, 200))])
    pd.testing.assert_frame_equal(masked.to_frame(), placed.to_frame())
    # Found by fuzzing: what a learner says of its training cases came first.
    models = {"A": LogisticRegression(C=-1), "B": BAYES}
    positive = np.arange(200) < 1
    message = (
        r"^`cv`=3 needs at least 3 positive cases \(or groups with one\), so that every split trains on "
    )
    for scored in (sa.scores_from_estimators, sa.compare_estimators):
        expect_error(message, scored, models, X, positive, cv=3)
    with pytest.raises(TypeError, match=r"^`X` must have one row per case, but is 3$"):
        sa.scores_from_estimators({"A": BAYES}, 3, Y)


@each(("estimators", "labels", "options", "error", "message"), [
    ({"A": BAYES}, np.arange(200) % 3, {}, ValueError, "`y` must hold two classes, but has 3, first seen: 0"),
    ({"A": BAYES}, WORDS, {}, ValueError, "`y` has the labels 'no', 'yes': name the positive"),
    ({"A": BAYES}, Y, {"params": 3}, TypeError, "`params` must be a mapping such as {'sample_weight': w}"),
    ({"A": BAYES}, Y[:-1], {}, ValueError, "arguments must be equally long, but `X` has 200, `y` has 199"),
    ([BAYES], Y, {}, TypeError, "`estimators` must be a mapping by names, as {'A': a, 'B': b}, but got list"),
    ({}, Y, {}, ValueError, "`estimators` must hold at least one model, but is empty"),
    ({1: BAYES, 2: 1}, Y, {}, TypeError, "`estimators` must have names that are text, but has the name 1"),
    ({"A": BAYES}, Y, {"response_method": "predict"}, ValueError, "`response_method` must be one of auto,"),
    ({"A": BAYES}, Y, {"class_prior": 0.5}, ValueError, "`class_prior` corrects probabilities: use it with"),
    ({"A": BAYES}, Y, {"class_prior": 5}, ValueError, "`class_prior` must lie strictly between 0 and 1"),
])  # fmt: skip
def test_input_that_is_refused(estimators, labels, *, options, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        sa.scores_from_estimators(estimators, X, labels, **options)


def test_without_scikit_learn(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    message = re.escape('this needs scikit-learn: pip install "skewanova[sklearn]"')
    expect_error(f"^{message}$", sa.scores_from_estimators, {"A": BAYES}, X, Y)
    expect_error(f"^{message}$", sa.auprec_scorer, prior=0.1)


def validated(estimator, cv=HALVES, **options):
    return cross_validate(estimator, X, Y, cv=cv, return_estimator=True, return_indices=True, **options)


def test_results_of_cross_validate_whole_incomplete_or_failed():
    models = {"linear": LINEAR, "bayes": BAYES}
    results = {name: validated(estimator) for name, estimator in models.items()}
    expected = sa.scores_from_estimators(models, X, Y, cv=HALVES).frame
    pd.testing.assert_frame_equal(sa.scores_from_cv_results(results, X, Y).frame, expected)
    message = r"^`cv_results` must be by model, but 'A' has no 'estimator' and .* as {'A': results}$"
    expect_error(message, sa.scores_from_cv_results, {"A": cross_validate(BAYES, X, Y)}, X, Y)
    message = r"^`X` must be the data that 'A' was validated on, but has only 50 rows"
    expect_error(message, sa.scores_from_cv_results, {"A": validated(BAYES)}, X[:50], Y[:50])
    result = validated(BAYES)
    result["estimator"][2] = clone(BAYES)  # what error_score=nan leaves behind
    with pytest.raises(ValueError, match=r"^model 'A' cannot be used in fold 3: GaussianNB has no classes_"):
        sa.scores_from_cv_results({"A": result}, X, Y)


@pytest.mark.parametrize("other", [KFold(4), StratifiedShuffleSplit(5, test_size=0.5, random_state=1)])
def test_other_splits_are_refused(other):
    results = {"A": validated(BAYES), "B": validated(LINEAR, other)}
    message = r"^all models must be validated on the same splits, but those of 'B' and"
    expect_error(message, sa.scores_from_cv_results, results, X, Y)


SCORERS = [(sa.auprec_scorer(prior=0.1), sa.auprec_score, {"prior": 0.1}), (
    sa.iauprec_scorer(deployment_prior=(0.05, 0.2), area_estimator="exact"), sa.iauprec_score,
    {"deployment_prior": (0.05, 0.2), "area_estimator": "exact"}
)]  # fmt: skip


@each(("scorer", "measure", "options"), SCORERS)
@each("estimator", [LINEAR, BAYES, make_pipeline(StandardScaler(), LINEAR)])
def test_scorers_give_the_measure_of_held_out_scores(scorer, measure, options, estimator):
    found = cross_validate(estimator, X, Y, cv=HALVES, scoring=scorer)["test_score"]
    table = sa.scores_from_estimators({"A": estimator}, X, Y, cv=HALVES)
    expected = [measure(y_true, y_score, **options) for *_, y_true, y_score in table.groups()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("pos_label", ["yes", "no"])
@pytest.mark.parametrize("estimator", [LINEAR, BAYES])
def test_scorers_of_words(pos_label, estimator):
    fitted = clone(estimator).fit(X, WORDS)
    chance = fitted.predict_proba(X)[:, list(fitted.classes_).index(pos_label)]
    expected = sa.auprec_score(pos_label == WORDS, chance, prior=0.1)
    scorer = sa.auprec_scorer(prior=0.1, pos_label=pos_label)
    assert scorer(fitted, X, WORDS) == pytest.approx(expected, rel=1e-12)


def test_scorers_weigh_routed_cases_and_check_their_options():
    weight = np.random.default_rng(0).integers(0, 4, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = sa.auprec_scorer(prior=0.1).set_score_request(sample_weight=True)
        options = {"cv": HALVES, "params": {"sample_weight": weight}}
        found = cross_validate(estimator, X, Y, scoring=scorer, **options)["test_score"]
        search = GridSearchCV(estimator, {"C": [1.0]}, scoring=scorer, cv=HALVES)
        search.fit(X, Y, sample_weight=weight)
    expected = []
    for a, b in HALVES.split(X, Y):
        score = clone(LINEAR).fit(X[a], Y[a], sample_weight=weight[a]).decision_function(X[b])
        repeated = np.repeat(np.arange(len(b)), weight[b])
        expected.append(sa.auprec_score(Y[b][repeated], score[repeated], prior=0.1))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert search.best_score_ == pytest.approx(np.mean(expected), rel=1e-9)
    message = r"^`prior` must lie strictly between 0 and 1, but got 2; write skew 2"
    expect_error(message, sa.auprec_scorer, prior=2)
    with pytest.raises(ValueError, match=r"^`area_estimator` must be one of trapezoid, "):
        sa.auprec_scorer(prior=0.1, area_estimator="area")
    with pytest.raises(TypeError, match=r"^`deployment_prior` must be a pair"):
        sa.iauprec_scorer(deployment_prior="0.1")
    message = r"^`response_method` must be one of auto, decision_function, predict_"
    expect_error(message, sa.iauprec_scorer, deployment_prior=0.1, response_method="predict")
