"""scikit-learn estimators and the output of its `cross_validate`, as score tables and scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from tqdm import tqdm

from skewanova._checks import Bools, InputError, InputTypeError, check_choice, check_labels, check_prior
from skewanova._estimators import ESTIMATORS
from skewanova._responses import (
    RESPONSES,
    as_rows,
    at_data_prior,
    check_response,
    count_rows,
    cut_params,
    cut_rows,
    held_out_rows,
    positive_scores,
    sklearn_module,
)
from skewanova._score_table import ScoreTable, build_table
from skewanova.auprec import auprec_score, iauprec_score
from skewanova.priors import DeploymentPrior, as_deployment_prior

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Data:
    """Features, labels as given and as booleans, and how held-out cases are scored."""

    features: Any
    labels: Any
    positive: Bools
    pos_label: object
    response_method: str
    class_prior: float | None

    def scores(self, estimator: Any, test: Rows) -> NDArray[Any]:
        """Scores of the test cases by a fitted estimator."""
        score = positive_scores(
            estimator,
            cut_rows(self.features, test),
            response_method=self.response_method,
            pos_label=self.pos_label,
        )
        return at_data_prior(score, self.class_prior, float(self.positive.mean()))

    def fit_and_score(
        self, estimator: Any, split: tuple[Rows, Rows], params: Mapping[str, Any]
    ) -> NDArray[Any]:
        """Scores of the test cases by a clone trained on the others."""
        train, test = split
        given = cut_params(params, train, len(self.positive))
        fitted = sklearn_module("base").clone(estimator)
        fitted.fit(cut_rows(self.features, train), cut_rows(self.labels, train), **given)
        return self.scores(fitted, test)


def scores_from_estimators(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    pos_label: object = None,
    response_method: str = "auto",
    class_prior: float | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> ScoreTable:
    """Train every estimator on the same splits, and collect the scores of the held-out cases.

    Parameters
    ----------
    estimators : mapping of str to estimator
        scikit-learn classifiers by the name of the model; they are cloned, never fitted themselves.
    X : array, sparse matrix, frame or list
        Features, one row a case.
    y : array_like
        Labels of two classes.
    cv : int or splitter, default 5
        Number of stratified folds, any splitter of scikit-learn, or an iterable of (train, test) positions.
        The splits are drawn once and shared by all models.
    groups : array_like, optional
        Groups of cases for the splitter.
    params : mapping, optional
        Further arguments of `fit`, such as ``{"sample_weight": w}``; those with one value a case are cut to
        the training cases. With metadata routing enabled, pipelines and searches route them on.
    pos_label : object, optional
        The positive class; needed unless the labels are {0, 1}, booleans or {-1, 1}.
    response_method : {"auto", "decision_function", "predict_proba"}
        What scores cases; "auto" takes the decision function where there is one, else the probability.
    class_prior : float, optional
        Prior that resampled or re-weighted training showed to the estimators. With it, probabilities are
        corrected to the share of positives in `y`, so that thresholds on them mean what they say. Ranks, and
        so AUPREC, do not change.
    n_jobs : int, optional
        Number of processes, as in joblib.
    progress : bool, default True
        Show a progress bar, if the output is a terminal.

    Returns
    -------
    ScoreTable
        The checked table. Folds are numbered from 1; cases are rows of `X`, from 0, so that the design of the
        folds is seen by :func:`find_resampling`.

    Raises
    ------
    ValueError
        If labels are not of two classes, lengths differ, a fold lacks a class, or an option is unknown.
    TypeError
        If `estimators` is no mapping, or an estimator cannot score cases.
    RuntimeError
        If an estimator fails; the message names model and fold.

    See Also
    --------
    scores_from_cv_results : The same from what `cross_validate` returned.
    correct_class_prior : The correction behind `class_prior`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skewanova import scores_from_estimators
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"naive Bayes": GaussianNB(), "logistic": LogisticRegression(solver="liblinear")}
    >>> table = scores_from_estimators(models, X, y, cv=3)
    >>> table.models, table.folds, len(table.frame)
    (('naive Bayes', 'logistic'), (1, 2, 3), 1138)
    """
    selection = sklearn_module("model_selection")
    _check_named(estimators, "estimators")
    data = _checked_data(X, y, pos_label=pos_label, response_method=response_method, class_prior=class_prior)
    splitter = selection.check_cv(cv, data.labels, classifier=True)
    splits = [tuple(map(np.asarray, split)) for split in splitter.split(data.features, data.labels, groups)]
    jobs = (
        delayed(_named)(name, fold, data.fit_and_score, estimator, split, params or {})
        for name, estimator in estimators.items()
        for fold, split in enumerate(splits, 1)
    )
    total = len(estimators) * len(splits)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    scores = list(tqdm(done, total=total, unit="fit", disable=None if progress else True))
    return _table({name: [test for _, test in splits] for name in estimators}, scores, data.positive)


def scores_from_cv_results(
    cv_results: Mapping[str, Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    pos_label: object = None,
    response_method: str = "auto",
    class_prior: float | None = None,
) -> ScoreTable:
    """Collect held-out scores from the fitted estimators that scikit-learn's `cross_validate` returned.

    Parameters
    ----------
    cv_results : mapping of str to mapping
        By the name of the model, what ``cross_validate(..., return_estimator=True, return_indices=True)``
        returned; all on the same splits.
    X, y, pos_label, response_method, class_prior
        As for :func:`scores_from_estimators`; `X` and `y` as they were cross-validated.

    Returns
    -------
    ScoreTable
        As for :func:`scores_from_estimators`.

    Raises
    ------
    ValueError
        As :func:`scores_from_estimators`, or if estimators or indices are missing, or models were validated
        on different splits.
    TypeError, RuntimeError
        As :func:`scores_from_estimators`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skewanova import scores_from_cv_results
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> results = cross_validate(GaussianNB(), X, y, return_estimator=True, return_indices=True)
    >>> scores_from_cv_results({"naive Bayes": results}, X, y).folds
    (1, 2, 3, 4, 5)
    """
    _check_named(cv_results, "cv_results")
    data = _checked_data(X, y, pos_label=pos_label, response_method=response_method, class_prior=class_prior)
    tests = {name: held_out_rows(result, len(data.positive), name) for name, result in cv_results.items()}
    _check_same_splits(tests)
    scores = [
        _named(name, fold, data.scores, estimator, test)
        for name, result in cv_results.items()
        for fold, (estimator, test) in enumerate(zip(result["estimator"], tests[name], strict=True), 1)
    ]
    return _table(tests, scores, data.positive)


def auprec_scorer(
    *,
    prior: float,
    estimator: str = "trapezoid",
    pos_label: object = None,
    response_method: str = "auto",
) -> Any:
    """Make a scorer of AUPREC at a prior for `GridSearchCV`, `cross_validate` and their like.

    Parameters
    ----------
    prior, estimator, pos_label
        As for :func:`auprec_score`.
    response_method : {"auto", "decision_function", "predict_proba"}
        As for :func:`scores_from_estimators`.

    Returns
    -------
    callable
        scikit-learn scorer; ``.set_score_request(sample_weight=True)`` where metadata routing is enabled.

    Raises
    ------
    ValueError
        If an option is out of range, or scikit-learn is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skewanova import auprec_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=auprec_scorer(prior=0.1), cv=3).round(2)
    array([0.92, 0.94, 0.94])
    """
    check_prior(prior)
    return _scorer(auprec_score, response_method, prior=prior, estimator=estimator, pos_label=pos_label)


def iauprec_scorer(
    *,
    deployment_prior: DeploymentPrior | tuple[float, float] | float,
    estimator: str = "trapezoid",
    pos_label: object = None,
    response_method: str = "auto",
) -> Any:
    """Make a scorer of IAUPREC for `GridSearchCV`, `cross_validate` and their like.

    Parameters
    ----------
    deployment_prior, estimator, pos_label
        As for :func:`iauprec_score`.
    response_method : {"auto", "decision_function", "predict_proba"}
        As for :func:`scores_from_estimators`.

    Returns
    -------
    callable
        As for :func:`auprec_scorer`.

    Raises
    ------
    ValueError, TypeError
        As :func:`auprec_scorer` and :func:`iauprec_score`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skewanova import iauprec_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> depths = {"max_depth": [1, 3]}
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> search = GridSearchCV(tree, depths, scoring=iauprec_scorer(deployment_prior=(0.05, 0.2)))
    >>> search.fit(X, y).best_params_
    {'max_depth': 3}
    """
    as_deployment_prior(deployment_prior)
    options = {"deployment_prior": deployment_prior, "estimator": estimator, "pos_label": pos_label}
    return _scorer(iauprec_score, response_method, **options)


def _scorer(measure: Callable[..., float], response_method: str, **options: Any) -> Any:
    check_response(response_method, None)
    check_choice(options["estimator"], ESTIMATORS, "estimator")
    method = RESPONSES if response_method == "auto" else response_method
    return sklearn_module("metrics").make_scorer(measure, response_method=method, **options)


def _check_named(models: object, name: str) -> None:
    if not isinstance(models, Mapping):
        raise InputTypeError(f"`{name}` must be a mapping by the name of the model, but got {models!r:.60}")
    if not models:
        raise InputError(f"`{name}` must hold at least one model, but is empty")
    unnamed = [key for key in models if not isinstance(key, str)]
    if unnamed:
        raise InputTypeError(f"`{name}` must name models by text, but has the name {unnamed[0]!r}")


def _checked_data(X: Any, y: Any, *, pos_label: object, **options: Any) -> _Data:
    check_response(**options)
    features, labels = as_rows(X), as_rows(y)
    positive = check_labels(labels, pos_label=pos_label, name="y")
    if count_rows(features, "X") != len(positive):
        raise InputError(
            f"`X` and `y` must be equally long, but have {count_rows(features, 'X')} and {len(positive)}"
        )
    return _Data(features, labels, positive, pos_label, **options)


def _named(model: str, fold: int, work: Callable[..., NDArray[Any]], *args: Any) -> NDArray[Any]:
    """Do the work; an error says which model and fold it came from."""
    try:
        return work(*args)
    except (InputError, InputTypeError) as error:
        raise type(error)(f"model {model!r} cannot be used in fold {fold}: {error}") from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise RuntimeError(f"model {model!r} failed in fold {fold}: {told}") from error


def _check_same_splits(tests: Mapping[str, Sequence[Rows]]) -> None:
    """Models are paired by their cases, so all must have been validated on the same."""
    first, *others = tests
    for name in others:
        same = len(tests[name]) == len(tests[first])
        if not (same and all(map(np.array_equal, tests[name], tests[first]))):
            raise InputError(
                f"all models must be validated on the same splits, but those of {name!r} and {first!r} "
                "differ; give cross_validate one splitter with a fixed random_state, or one list of splits"
            )


def _table(
    tests: Mapping[str, Sequence[Rows]], scores: Sequence[NDArray[Any]], positive: Bools
) -> ScoreTable:
    """Score table of the models' test cases, scores in the order of models and folds."""
    keys = [(name, fold) for name, folds in tests.items() for fold in range(1, len(folds) + 1)]
    cases = [test for folds in tests.values() for test in folds]
    size = [len(test) for test in cases]
    for (name, fold), score, n_cases in zip(keys, scores, size, strict=True):
        if len(score) != n_cases:
            raise InputError(
                f"model {name!r} gave {len(score)} scores for the {n_cases} cases of fold {fold}"
            )
    case = np.concatenate(cases)
    model, number = (np.repeat(np.array(column, dtype=object), size) for column in zip(*keys, strict=True))
    frame = pd.DataFrame(
        {
            "model": model,
            "fold": number,
            "y_true": positive[case],
            "y_score": np.concatenate(scores),
            "case": case,
        }
    )
    return build_table(
        frame, lambda row: f"row {case[row]} of X (model {model[row]!r}, fold {number[row]})", None, None
    )
