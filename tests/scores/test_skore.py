"""Score tables from reports of skore, against those of the same estimators, and what users get wrong."""

import re
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from loops import each
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB

import skewanova as sa
from skewanova.scores import infer_design, scores_from_skore

pytestmark = pytest.mark.slow
X, Y = make_classification(200, 5, weights=[0.7], flip_y=0.2, random_state=0)
WORDS = np.array(["no", "yes"])[Y]
MODELS = {"linear": LogisticRegression(), "bayes": GaussianNB()}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)


def skore():
    """The package, loaded by the first test that needs it; it is in the dependency group `bridges`."""
    return pytest.importorskip("skore")


def evaluate(models=MODELS, features=X, labels=Y, splitter=FOLDS, **options):
    with skore().configuration(show_progress=False):
        return skore().evaluate(models, features, labels, splitter=splitter, **options)


def frame_of(**options):
    return sa.scores_from_estimators(MODELS, X, Y, cv=FOLDS, **options).to_frame()


def test_probabilities_and_their_correction():
    options = {"response_method": "predict_proba", "class_prior": 0.5}
    pd.testing.assert_frame_equal(scores_from_skore(evaluate(), **options).to_frame(), frame_of(**options))


def test_one_cross_validation_is_one_model():
    table = scores_from_skore(evaluate(LogisticRegression()))
    expected = sa.scores_from_estimators({"LogisticRegression": LogisticRegression()}, X, Y, cv=FOLDS)
    pd.testing.assert_frame_equal(table.to_frame(), expected.to_frame())


@each(("stated", "options"), [(None, ("yes", "no")), ("yes", (None, "yes")), ("no", (None,))])
def test_words_as_labels(stated, options):
    models = {"linear": LogisticRegression()}
    report = evaluate(models["linear"], labels=WORDS, pos_label=stated)
    for option, method in product(options, ("decision_function", "predict_proba")):
        table = scores_from_skore(report, pos_label=option, response_method=method)
        label = stated or option
        expected = sa.scores_from_estimators(
            models, X, WORDS, cv=FOLDS, pos_label=label, response_method=method
        ).frame
        np.testing.assert_allclose(table.frame["y_score"], expected["y_score"], rtol=1e-12)
        assert table.frame["y_true"].tolist() == (WORDS[table.frame["case"].astype(int)] == label).tolist()


@each(("splitter", "kind"), [
    (FOLDS, "kfold"), (RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0), "repeated_kfold"),
    ([(np.arange(200) < 100, np.arange(200) >= 100), (np.arange(200) >= 100, np.arange(200) < 100)], "kfold"),
    (0.4, "test_set"),
])  # fmt: skip
def test_the_design_is_seen(splitter, kind):
    table = scores_from_skore(evaluate(splitter=splitter))
    assert infer_design(table).kind == kind
    assert table.models == tuple(MODELS)


def test_one_test_set_has_the_scores_of_the_fitted_models():
    train, test, y_train, y_test = train_test_split(X, Y, test_size=0.5, random_state=0)
    fitted = {name: model.fit(train, y_train) for name, model in MODELS.items()}
    frame = scores_from_skore(evaluate(fitted, test, y_test, "prefit")).frame
    assert frame["case"].tolist() == [*range(100)] * 2
    assert frame["fold"].unique().tolist() == [1]
    expected = [fitted["linear"].decision_function(test), fitted["bayes"].predict_proba(test)[:, 1]]
    np.testing.assert_array_equal(frame["y_score"], np.concatenate(expected))


def test_groups_are_the_clusters():
    groups = np.arange(200) // 10
    splits = list(GroupKFold(4).split(X, Y, groups))
    frame = scores_from_skore(evaluate(splitter=splits), groups=groups).frame
    assert (frame["cluster"].astype(int) == frame["case"].astype(int) // 10).all()
    with pytest.raises(sa.InputError, match=r"^`groups` must be a list of 200 groups"):
        scores_from_skore(evaluate(splitter=splits), groups=groups[1:])


def test_each_model_may_have_features_of_its_own():
    reports = {"all": evaluate(GaussianNB()), "two": evaluate(GaussianNB(), pd.DataFrame(X[:, :2]))}
    frame = scores_from_skore(skore().compare(reports)).frame
    expected = sa.scores_from_estimators({"two": GaussianNB()}, X[:, :2], Y, cv=FOLDS).frame
    two = frame["model"] == "two"
    np.testing.assert_array_equal(frame["y_score"][two], expected["y_score"])


def test_learners_of_skrub():
    skrub = pytest.importorskip("skrub")
    learner = skrub.X().skb.apply(LogisticRegression(), y=skrub.y()).skb.make_learner()
    report = evaluate(learner, None, None, data={"X": X, "y": Y})
    expected = sa.scores_from_estimators({"A": LogisticRegression()}, X, Y, cv=FOLDS).frame
    np.testing.assert_array_equal(scores_from_skore(report).frame["y_score"], expected["y_score"])


def test_nothing_is_predicted_anew(monkeypatch):
    def predict_proba(self, X):
        raise AssertionError

    expected, report = frame_of(), evaluate()
    monkeypatch.setattr(GaussianNB, "predict_proba", predict_proba)
    pd.testing.assert_frame_equal(scores_from_skore(report).to_frame(), expected)


@each(("model", "labels", "task"), [
    (LinearRegression(), X[:, 0], "regression"),
    (GaussianNB(), np.arange(200) % 3, "multiclass-classification"),
])  # fmt: skip
@each("splitter", [4, 0.5])
def test_reports_on_something_else(model, labels, task, splitter):
    message = (
        f"the report of {type(model).__name__!r} is on {task}, but AUPREC needs classifiers of two classes; "
        "leave regressors out, and evaluate one of several classes against the rest"
    )
    with pytest.raises(sa.InputError, match=f"^{re.escape(message)}$"):
        scores_from_skore(evaluate(model, labels=labels, splitter=splitter))


@each("report", [{"A": 1}, pd.DataFrame(), None, MODELS["linear"]])
def test_no_report(report):
    message = (
        "`report` must be a ComparisonReport, CrossValidationReport or EstimatorReport of skore, but got "
        f"{type(report).__name__}"
    )
    with pytest.raises(sa.InputTypeError, match=f"^{message}"):
        scores_from_skore(report)


def test_a_report_without_labels():
    words = {"ml_task": "binary-classification", "estimator_name_": "A"}
    report = SimpleNamespace(get_predictions=print, y_test=None, **words)
    message = "the report of 'A' has no labels of test cases; give it `y`"
    with pytest.raises(sa.InputError, match=f"^{message}"):
        scores_from_skore(report)


def test_models_that_give_no_scores():
    message = r"^model 'bayes' cannot be used in fold 1: GaussianNB has no decision_function to score cases"
    with pytest.raises(sa.InputTypeError, match=message):
        scores_from_skore(evaluate(), response_method="decision_function")


def test_positive_classes():
    with pytest.raises(sa.InputError, match=r"^`y` has the labels 'no', 'yes': name the positive"):
        scores_from_skore(evaluate(labels=WORDS))
    message = "the report has the positive class 'yes'; leave out `pos_label`='no'"
    with pytest.raises(sa.InputError, match=f"^{message}"):
        scores_from_skore(evaluate(labels=WORDS, pos_label="yes"), pos_label="no")


def test_models_on_other_cases_or_splits():
    first, later = evaluate(GaussianNB()), evaluate(LogisticRegression(), X[::-1], Y[::-1])
    message = (
        "all models must be validated on the same cases, but the labels `y` of 'B' are others; give "
        "skore.evaluate the same `X` and `y` for all"
    )
    with pytest.raises(sa.InputError, match=f"^{message}"):
        scores_from_skore(skore().compare({"A": first, "B": later}))
    later = evaluate(LogisticRegression(), splitter=5)
    message = (
        "^all models must be validated on the same splits, but those of 'B' and 'A' differ; validate them "
    )
    with pytest.raises(sa.InputError, match=message):
        scores_from_skore(skore().compare({"A": first, "B": later}))


def test_class_priors_need_probabilities():
    with pytest.raises(sa.InputError, match=r"^`class_prior` corrects probabilities"):
        scores_from_skore(evaluate(), class_prior=0.5)
