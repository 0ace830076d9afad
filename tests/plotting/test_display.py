"""The display draws the numbers of the package's own functions, as scikit-learn's displays would."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from messages import expect_error
from scipy.integrate import trapezoid
from sklearn.datasets import make_classification
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import cross_validate

import skewanova as sa

X, Y = make_classification(150, 4, weights=[0.7], flip_y=0.2, random_state=0)
FITTED = LogisticRegression().fit(X, Y)
SCORE = FITTED.decision_function(X)
WORDS = np.array(["no", "yes"])[Y]
PRIORS = [0.01, 0.1, 0.5]


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def results():
    return cross_validate(LogisticRegression(), X, Y, cv=3, return_estimator=True, return_indices=True)


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_predictions_estimator_and_words_draw_the_same_line(ax):
    expected = sa.auprec(sa.roc_curve(Y, SCORE), PRIORS, area_estimator="exact")
    options = {"priors": PRIORS, "area_estimator": "exact", "ax": ax}
    shown = [
        sa.AUPRECDisplay.from_predictions(Y, SCORE, **options),
        sa.AUPRECDisplay.from_estimator(FITTED, X, Y, **options),
        sa.AUPRECDisplay.from_estimator(FITTED, X, Y, response_method="predict_proba", **options),
        sa.AUPRECDisplay.from_predictions(WORDS, SCORE, pos_label="yes", **options),
    ]
    for display in shown:
        np.testing.assert_allclose(display.line_.get_ydata(), expected, rtol=1e-12)
        np.testing.assert_array_equal(display.line_.get_xdata(), PRIORS)
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
    assert texts(shown[1]) == ["LogisticRegression"]


def test_it_is_drawn_like_scikit_learns_at_priors_even_in_the_log_odds(ax):
    ours = sa.AUPRECDisplay.from_estimator(FITTED, X, Y, name="mine", ax=ax, plot_chance_level=True)
    options = {"name": "mine", "ax": Figure().subplots(), "plot_chance_level": True}
    theirs = RocCurveDisplay.from_estimator(FITTED, X, Y, **options)
    for name in ("ax_", "figure_", "line_", "chance_level_"):
        assert type(getattr(ours, name)) is type(getattr(theirs, name))
    np.testing.assert_array_equal(ours.chance_level_.get_xdata(), ours.chance_level_.get_ydata())
    again = Figure().subplots()
    assert ours.plot(again) is ours
    assert ours.ax_ is again
    priors = sa.AUPRECDisplay.from_predictions(Y, SCORE, ax=ax).priors
    np.testing.assert_allclose(priors[[0, -1]], [0.001, 0.5], rtol=1e-12)
    np.testing.assert_allclose(np.ptp(np.diff(np.log(priors / (1 - priors)))), 0, atol=1e-12)


def test_one_line_a_fold_with_or_without_weights(results, ax):
    weight = np.arange(150) % 4
    options = {"priors": PRIORS, "sample_weight": weight, "curve_kwargs": {"color": "red"}}
    display = sa.AUPRECDisplay.from_cv_results(results, X, Y, ax=ax, **options)
    splits = zip(display.line_, results["estimator"], results["indices"]["test"], strict=True)
    for line, fitted, test in splits:
        repeated = np.repeat(test, weight[test])
        score = fitted.decision_function(X[repeated])
        expected = [sa.auprec_score(Y[repeated], score, prior=prior) for prior in PRIORS]
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-9)
        assert (line.get_color(), line.get_alpha()) == ("red", 0.5)
    assert texts(display) == ["LogisticRegression\n(3 folds)"]
    display = sa.AUPRECDisplay.from_cv_results(results, X, Y, priors=PRIORS, ax=ax)
    table = sa.scores_from_cv_results({"A": results}, X, Y)
    expected = [sa.auprec(sa.roc_curve(y_true, score), PRIORS) for *_, y_true, score in table.groups()]
    np.testing.assert_allclose(display.auprec, expected, rtol=1e-12)


def test_precision_and_recall_at_a_prior_with_literal_names(ax):
    display = sa.AUPRECDisplay.from_predictions(Y, SCORE, prior=0.02, ax=ax, plot_chance_level=True)
    precision, recall, _ = sa.precision_recall_curve(Y, SCORE, prior=0.02)
    np.testing.assert_allclose(display.line_.get_xdata(), recall)
    np.testing.assert_allclose(display.line_.get_ydata()[1:], precision[1:])
    assert display.line_.get_ydata()[0] == pytest.approx(precision[1])
    area = trapezoid(display.line_.get_ydata(), display.line_.get_xdata())
    assert area == pytest.approx(sa.auprec_score(Y, SCORE, prior=0.02), abs=1e-12)
    assert display.chance_level_.get_ydata().tolist() == [0.02, 0.02]
    assert ax.get_title(loc="left") == "Precision-recall curve at prior 0.02"
    display = sa.AUPRECDisplay.from_predictions(Y, SCORE, name="$x$_\n", ax=ax)
    assert texts(display) == [r"\$x\$_"]
    assert sa.AUPRECDisplay.from_predictions(Y, SCORE, ax=Figure().subplots()).ax_.get_legend() is None
    assert texts(display.plot(ax, name="_b")) == ["_b"]
    display = sa.AUPRECDisplay.from_predictions(Y, SCORE)
    assert plt.figure(display.figure_.number) is display.figure_
    plt.close(display.figure_)
    assert plt.get_fignums() == []


def test_errors_name_the_arguments_of_the_caller_and_what_is_refused(results, ax):
    by_estimator, by_folds = sa.AUPRECDisplay.from_estimator, sa.AUPRECDisplay.from_cv_results
    drawn = sa.AUPRECDisplay.from_predictions
    last = {**results, "indices": {"test": [np.flatnonzero(Y == 1)[:9]] * 3}}
    for call, message in (
        (lambda: by_estimator(FITTED, X, Y[:5], ax=ax), "`X` has 150, `y` has 5"),
        (lambda: by_estimator(FITTED, X, Y + np.arange(150), ax=ax), "^`y` must hold two classes"),
        (lambda: by_folds(results, X, Y[:30], ax=ax), "`X` has 150, `y` has 30"),
        (lambda: by_folds(results, X, Y, sample_weight=[1, 2], ax=ax), "`y` has 150, `sample_weight` has 2"),
        (lambda: by_folds(last, X, Y, ax=ax), "^fold 1: .* has no negative case"),
        (lambda: by_folds({"A": results}, X, Y), "^`cv_results` must be of one .*, and pass its result$"),
        (lambda: by_folds(results, X[:60], Y[:60]), "^`X` must be the data that the model was validated"),
        (lambda: by_estimator(LogisticRegression(), X, Y), "LogisticRegression has no classes_, .* fitted"),
        (lambda: by_estimator(IsolationForest().fit(X), X, Y), "IsolationForest has no classes_, .* fitted"),
        (lambda: sa.AUPRECDisplay([]), r"^`curves` must be skewanova.roc_curve\(y_true, y_score\) or a list"),
        (lambda: sa.AUPRECDisplay(3), "or a list of such, but got 3$"),
        (lambda: drawn(Y, SCORE, priors=[0.1, 2], ax=ax), "^`priors` must lie .* between 0 and 1, but got 2"),
        (lambda: drawn(Y, SCORE, curve_kwargs=5, ax=ax), "options such as {'color': 'red'}, but got 5$"),
        (lambda: drawn(Y, SCORE, prior=0, ax=ax), "^`prior` must lie strictly between 0 and 1, but got 0"),
    ):
        expect_error(message, call, error=(sa.InputError, sa.InputTypeError))
    assert texts(drawn(Y, SCORE, name=5, ax=ax)) == ["5"]
    expect_error("shade", sa.AUPRECDisplay.from_estimator, FITTED, X, Y, shade=True, error=TypeError)
