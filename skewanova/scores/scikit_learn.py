"""Score tables from estimators and cross_validate of scikit-learn, and scorers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from tqdm import tqdm

from skewanova.base import checks
from skewanova.base.checks import Bools, InputError, InputTypeError
from skewanova.curves.areas import auprec_score, iauprec_score
from skewanova.curves.estimators import ESTIMATORS
from skewanova.priors.weightings import PriorLike, as_deployment_prior, correct_class_prior
from skewanova.scores.columns import HALVING_COLUMNS, HOLDOUT, RawTable
from skewanova.scores.halvings import Rows, Split, Units, build_scores, check_splits, import_sklearn
from skewanova.scores.table import Label, ScoreTable

RESPONSES = ("decision_function", "predict_proba")


def check_response_method(response_method: str, class_prior: float | None) -> None:
    """Raise if the method or the class prior is invalid, or if a prior is set without predict_proba."""
    checks.check_choice(response_method, ("auto", *RESPONSES), "response_method")
    if class_prior is not None:
        checks.check_prior(class_prior, "class_prior")
        if response_method != "predict_proba":
            raise InputError(
                "`class_prior` corrects probabilities: use it with response_method='predict_proba', not "
                f"{response_method!r}, or leave it out, since AUPREC does not need it"
            )


def score_cases(
    estimator: Any, rows: Any, *, response_method: str = "auto", pos_label: object = None
) -> NDArray[Any]:
    """Return scores (n_cases,) by a fitted classifier of two classes, higher for positives; or raise."""
    positive, method = choose_response(estimator, response_method, pos_label)
    return orient_scores(getattr(estimator, method)(rows), positive, method)


def choose_response(estimator: Any, response_method: str, pos_label: object) -> tuple[Bools, str]:
    """Return a mask of `classes_` (positive), and the method (auto: decision_function, if any); or raise."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(f"{type(estimator).__name__} has no classes_, as fitted classifiers have; use one")
    try:
        positive = checks.check_labels(classes, pos_label=pos_label)
    except InputError as error:
        labels = ", ".join(map(repr, np.asarray(classes).tolist()))
        raise InputError(f"the model was trained on the labels {labels}; train it on those of `y`") from error
    if len(positive) != 2 or positive.sum() != 1:
        raise InputError("the model was trained on one class; every training set needs both")
    methods = RESPONSES if response_method == "auto" else (response_method,)
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        kind, missing = type(estimator).__name__, " or ".join(methods)
        auto = ", or leave out `response_method` (and any `class_prior`)"
        hint = "use another model" + auto * any(hasattr(estimator, name) for name in RESPONSES)
        raise InputTypeError(f"{kind} has no {missing} to score cases with; {hint}")
    return positive, method


def orient_scores(scores: Any, positive: Bools, method: str) -> NDArray[Any]:
    """Return the positive column of two, or a vector, negated if the first class is positive; or raise."""
    score = checks.to_array(scores, "y_score")
    if score.ndim == 2 and score.shape[1] == 2:
        return np.asarray(score[:, positive.argmax()])
    if score.ndim != 1:
        raise InputError(f"{method} must return a vector or two columns, but returns shape {score.shape}")
    return score if positive[1] else np.asarray(-score)


def to_rows(data: Any) -> Any:
    """Return data to index by row: lazy frames collected, Arrow as pandas, series not of pandas as arrays."""
    frame: Any = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.Series):
        return frame.to_native() if frame.implementation.is_pandas() else frame.to_numpy()
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas() if frame.implementation.is_pyarrow() else frame.to_native()
    return data


def select_rows(data: Any, rows: NDArray[np.intp]) -> Any:
    """Return the rows at these positions of an array, sparse matrix, frame or list."""
    return import_sklearn("utils")._safe_indexing(data, rows)


def find_test_rows(cv_result: Any, n_cases: int, name: str | None = None) -> list[NDArray[np.intp]]:
    """Return test positions by fold from `cross_validate`; raise if they are lacking or exceed `n_cases`."""
    keys = cv_result if isinstance(cv_result, Mapping) else ()
    lacking = [key for key in ("estimator", "indices") if key not in keys]
    if lacking:
        subject = "of one model, but" if name is None else f"by model, but {name!r}"
        form = "result" if name is None else "results by the name of the model, as {'A': results}"
        raise InputError(
            f"`cv_results` must be {subject} has no {' and no '.join(map(repr, lacking))}: call "
            f"cross_validate({'search' if 'params' in keys else 'estimator'}, X, y, return_estimator=True, "
            f"return_indices=True), and pass its {form}"
        )
    tests = [np.asarray(test) for test in cv_result["indices"]["test"]]
    if max(int(test.max()) for test in tests) >= n_cases:
        model = "the model" if name is None else repr(name)
        raise InputError(f"`X` must be the data that {model} was validated on, but has only {n_cases} rows")
    return tests


def count_rows(data: Any, name: str) -> int:
    """Return the number of rows of an array, sparse matrix, frame or list; raise if it has none to count."""
    shape = getattr(data, "shape", None)
    try:
        return int(shape[0]) if shape else len(data)
    except TypeError as error:
        raise InputTypeError(f"`{name}` must have one row per case, but is {data!r:.40}") from error


def select_params(params: Mapping[str, Any], rows: NDArray[np.intp], n_cases: int) -> dict[str, Any]:
    """Return the arguments of `fit`, those with one value per case restricted to the positions `rows`."""
    result = dict(params)
    for name, value in params.items():
        is_list = hasattr(value, "__len__") and not isinstance(value, str | Mapping)
        if getattr(value, "shape", is_list) and count_rows(value, name) == n_cases:
            result[name] = select_rows(value, rows)
    return result


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Features, labels as given and as booleans, groups, and the method that scores held-out cases."""

    features: Any
    labels: Any
    positive: Bools
    groups: NDArray[Any] | None
    pos_label: object
    response_method: str
    class_prior: float | None

    def scores(self, estimator: Any, test: Rows) -> NDArray[Any]:
        """Return the scores of the test cases by a fitted estimator, corrected if `class_prior` is set."""
        rows, options = select_rows(self.features, test), {"response_method": self.response_method}
        return self.correct(score_cases(estimator, rows, pos_label=self.pos_label, **options))

    def score_report(self, report: Any) -> NDArray[Any]:
        """Return the test cases' scores in an EstimatorReport of skore, corrected if `class_prior` is set."""
        positive, method = choose_response(report.estimator_, self.response_method, self.pos_label)
        score = report.get_predictions(data_source="test", response_method=method)
        is_oriented = report.pos_label is not None  # then skore returns the scores of that class
        return self.correct(score if is_oriented else orient_scores(score, positive, method))

    def correct(self, score: NDArray[Any]) -> NDArray[Any]:
        """Return the scores, corrected, if `class_prior` is set, from it to the share of positives in `y`."""
        if self.class_prior is None:
            return score
        prior = float(self.positive.mean())
        return np.asarray(correct_class_prior(score, train_prior=self.class_prior, prior=prior))

    def fit_and_score(
        self, estimator: Any, split: Split, params: Mapping[str, Any], seed: int | None
    ) -> NDArray[Any]:
        """Return scores of test cases by a clone fitted to training cases; `seed` replaces unset seeds."""
        fitted = import_sklearn("base").clone(estimator)
        options = fitted.get_params(deep=True) if seed is not None and hasattr(fitted, "get_params") else {}
        unset = [name for name, value in options.items() if value is None]
        seeds = {name: seed for name in unset if name.split("__")[-1] == "random_state"}
        if seeds:
            fitted.set_params(**seeds)
        features, labels = (select_rows(data, split.train) for data in (self.features, self.labels))
        fitted.fit(features, labels, **select_params(params, split.train, len(self.positive)))
        return self.scores(fitted, split.test)


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
    """Fit every estimator on the same splits, and collect the scores of the held-out cases.

    Parameters
    ----------
    estimators : mapping of str to estimator
        scikit-learn classifiers by the name of the model; clones of them are fitted. For results of
        `cross_validate` use :func:`scores_from_cv_results`.
    X : array, sparse matrix, frame or list
        Features, one row per case.
    y : array_like
        Labels of two classes.
    cv : int or splitter, default 5
        Number of stratified folds, any splitter of scikit-learn, or an iterable of (train, test) positions.
        All models share the same splits.
    groups : array_like, optional
        Groups of cases for the splitter, such as patients. They are the clusters of the table, and every
        fold must test all of a group or none.
    params : mapping, optional
        Further arguments of `fit`, such as ``{"sample_weight": w}``. Arguments with one value per case are
        restricted to the training cases. With metadata routing, pipelines and searches pass them on.
    pos_label : object, optional
        The positive class; needed unless the labels are {0, 1}, booleans or {-1, 1}, also as text.
    response_method : {"auto", "decision_function", "predict_proba"}
        Method that scores cases; "auto" is the decision function if there is one, else the probability.
    class_prior : float, optional
        Prior in resampled or re-weighted training data; only with "predict_proba", which is corrected to the
        share of positives in `y` (:func:`correct_class_prior`). Order, and so AUPREC, does not change.
    n_jobs, progress : int, optional; bool, default True
        Number of processes, as in joblib; whether to show a progress bar, if the output is a terminal.

    Returns
    -------
    ScoreTable
        The checked table. Folds are numbered from 1, cases by their row in `X` from 0, from which
        :func:`~skewanova.scores.infer_design` infers the design.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        If labels are not of two classes, lengths differ, a fold lacks a class, or an option is unknown;
        TypeError if `estimators` is not a mapping, or an estimator cannot score cases; RuntimeError if an
        estimator fails, with model and fold in the message.

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
    checks.check_named_models(estimators, "estimators")
    options: dict[str, Any] = {"response_method": response_method, "class_prior": class_prior}
    data = check_data(X, y, groups, pos_label=pos_label, **options)
    splits = draw_splits(cv, data)
    return score_splits(estimators, data, splits, params=params, n_jobs=n_jobs, progress=progress)


def draw_splits(cv: Any, data: LabelledData) -> list[Split]:
    """Return the splits of the cases by `cv`, numbered from 1; raise if it fails or a split lacks a class."""
    model_selection = import_sklearn("model_selection")
    n_folds = 5 if cv is None else int(cv) if isinstance(cv, int | np.integer) else 0
    needed, name = (n_folds, f"`cv`={n_folds}") if n_folds > 1 else (2, "`cv`")
    why, remedy = "so that every split trains on one and tests one", "use fewer folds"
    Units.from_groups(data.positive, None).check_units(needed, name, why, remedy=remedy)
    rule = "`cv` must split the cases, as 5, StratifiedKFold(5) or pairs (train, test) do"
    try:
        splitter = model_selection.check_cv(cv, data.labels, classifier=True)
        result = [(train, test) for train, test in splitter.split(data.features, data.labels, data.groups)]
    except (TypeError, ValueError) as error:
        raise InputError(f"{rule}, but got {cv!r:.60}: {error}") from error
    if not result:
        raise InputError(f"{rule}, but {cv!r} has no split")
    n_cases = len(data.positive)
    splits = [
        Split(_check_positions(train, n_cases, fold), _check_positions(test, n_cases, fold), fold)
        for fold, (train, test) in enumerate(result, 1)
    ]
    rest = "" if data.groups is None else " and leave out `groups`"
    return check_splits(splits, data.positive, f"stratify by cv={min(5, *np.bincount(data.positive))}{rest}")


def _check_positions(rows: Any, n_cases: int, fold: int) -> NDArray[np.intp]:
    """Return positions (may repeat) of a side of a split, or of its mask; raise if none or out of range."""
    side = np.asarray(rows)
    result = np.flatnonzero(side) if side.dtype == bool and side.shape == (n_cases,) else side
    is_position = result.ndim == 1 and len(result) > 0 and np.issubdtype(result.dtype, np.integer)
    bad = result[(result < 0) | (result >= n_cases)] if is_position else side
    if not is_position or len(bad):
        raise InputError(
            f"`cv` must give some training and some test cases, each as a list of whole numbers from 0 to "
            f"{n_cases - 1}, but fold {fold} has {bad!r:.60}"
        )
    return result.astype(np.intp)


def score_splits(
    estimators: Mapping[str, Any],
    data: LabelledData,
    splits: Sequence[Split],
    *,
    params: Mapping[str, Any] | None,
    n_jobs: int | None,
    progress: bool,
    rng: np.random.Generator | None = None,
) -> ScoreTable:
    """Fit every estimator on every split, and return the table of the scores of the test cases.

    With a generator, every estimator without a seed gets one per split, whatever the number of processes.
    """
    if not isinstance(params, Mapping | None):
        raise InputTypeError(
            f"`params` must be a mapping such as {{'sample_weight': w}}, but got {params!r:.60}"
        )
    shape = len(estimators), len(splits)
    seeds = np.full(shape, None) if rng is None else rng.integers(2**31, size=shape).astype(object)
    jobs = (
        delayed(_name_errors)(name, split.label, data.fit_and_score, estimator, split, params or {}, seed)
        for (name, estimator), row in zip(estimators.items(), seeds, strict=True)
        for split, seed in zip(splits, row, strict=True)
    )
    done = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    scores = list(tqdm(done, total=seeds.size, unit="fit", disable=None if progress else True))
    return _build_table(list(estimators), splits, scores, data)


def scores_from_cv_results(
    cv_results: Mapping[str, Mapping[str, Any]],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    pos_label: object = None,
    response_method: str = "auto",
    class_prior: float | None = None,
) -> ScoreTable:
    """Collect held-out scores from the fitted estimators of results of `cross_validate`.

    Parameters
    ----------
    cv_results : mapping of str to mapping
        Results of ``cross_validate(..., return_estimator=True, return_indices=True)`` by the name of the
        model, all on the same splits.
    X, y, groups, pos_label, response_method, class_prior
        As for :func:`scores_from_estimators`; `X`, `y` and `groups` as passed to `cross_validate`.

    Returns
    -------
    ScoreTable
        As for :func:`scores_from_estimators`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As :func:`scores_from_estimators`; ValueError also if estimators or indices are missing, or models
        were validated on different splits.

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
    checks.check_named_models(cv_results, "cv_results")
    options: dict[str, Any] = {"response_method": response_method, "class_prior": class_prior}
    data = check_data(X, y, groups, pos_label=pos_label, **options)
    n_cases = len(data.positive)
    tests = {name: find_test_rows(result, n_cases, name) for name, result in cv_results.items()}
    scored = {name: zip(result["estimator"], tests[name], strict=True) for name, result in cv_results.items()}
    return _collect_scores(tests, scored, data, data.scores)


def scores_from_skore(
    report: Any,
    *,
    groups: Any = None,
    pos_label: object = None,
    response_method: str = "auto",
    class_prior: float | None = None,
) -> ScoreTable:
    """Collect held-out scores from a report of skore, without training or predicting anew.

    Parameters
    ----------
    report : ComparisonReport, CrossValidationReport or EstimatorReport
        Report of skore on classifiers of two classes; those compared must share labels and splits.
    groups, pos_label, response_method, class_prior
        As for :func:`~skewanova.scores_from_estimators`, with a group for each case of the report's `y` (or
        `y_test`). The positive class is that of the report, if it states one.

    Returns
    -------
    ScoreTable
        As for :func:`~skewanova.scores_from_estimators`; cases are numbered by their row in `y` or `y_test`.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As :func:`~skewanova.scores_from_cv_results`, or if it is no such report.

    Examples
    --------
    >>> import skore  # doctest: +SKIP
    >>> report = skore.evaluate({"A": model, "B": other}, X, y, splitter=5)  # doctest: +SKIP
    >>> skewanova.compare(skewanova.scores.scores_from_skore(report))  # doctest: +SKIP
    """
    compared = getattr(report, "reports_", None)
    models = compared if isinstance(compared, Mapping) else {getattr(report, "estimator_name_", ""): report}
    opened = {name: _open_report(model, name) for name, model in models.items()}
    stated = models[next(iter(models))].pos_label
    if stated is not None and pos_label not in (None, stated):
        raise InputError(f"the report has the positive class {stated!r}; leave out `pos_label`={pos_label!r}")
    label = pos_label if stated is None else stated
    options: dict[str, Any] = {"response_method": response_method, "class_prior": class_prior}
    labels = opened[next(iter(opened))][0]
    data = check_data(labels, labels, groups, pos_label=label, **options)
    other = next((name for name, (y, _, _) in opened.items() if not np.array_equal(y, labels)), None)
    if other is not None:
        raise InputError(
            f"all models must be validated on the same cases, but the labels `y` of {other!r} are others; "
            "give skore.evaluate the same `X` and `y` for all"
        )
    tests = {name: rows for name, (_, rows, _) in opened.items()}
    scored = {name: zip(reports, strict=True) for name, (_, _, reports) in opened.items()}
    return _collect_scores(tests, scored, data, data.score_report)


def _open_report(report: Any, name: str) -> tuple[Any, list[Rows], list[Any]]:
    """Return labels, test cases and EstimatorReports by fold (of one, itself) of a skore report; or raise."""
    if not hasattr(report, "get_predictions"):
        raise InputTypeError(
            "`report` must be a ComparisonReport, CrossValidationReport or EstimatorReport of skore, but got "
            f"{type(report).__name__}"
        )
    if report.ml_task != "binary-classification":
        raise InputError(
            f"the report of {name!r} is on {report.ml_task}, but AUPREC needs classifiers of two classes; "
            "leave regressors out, and evaluate one of several classes against the rest"
        )
    is_cv = hasattr(report, "split_indices")
    labels = to_rows(report.y if is_cv else report.y_test)
    if labels is None:
        raise InputError(f"the report of {name!r} has no labels of test cases; give it `y` (or `y_test`)")
    n_cases = count_rows(labels, "y")
    if not is_cv:
        return labels, [np.arange(n_cases)], [report]
    tests = enumerate((test for _, test in report.split_indices), 1)
    return labels, [_check_positions(test, n_cases, fold) for fold, test in tests], report.reports_


def auprec_scorer(
    *,
    prior: float,
    area_estimator: str = "trapezoid",
    pos_label: object = None,
    response_method: str = "auto",
) -> Any:
    """Make a scorer of AUPREC at a prior, for `GridSearchCV`, `cross_validate` and so on.

    Parameters
    ----------
    prior, area_estimator, pos_label, response_method
        As for :func:`auprec_score` and, the last, :func:`scores_from_estimators`.

    Returns
    -------
    callable
        scikit-learn scorer. With metadata routing, weights need ``.set_score_request(sample_weight=True)``.

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
    checks.check_prior(prior)
    options = {"prior": prior, "area_estimator": area_estimator, "pos_label": pos_label}
    return _make_scorer(auprec_score, response_method, **options)


def iauprec_scorer(
    *,
    deployment_prior: PriorLike,
    area_estimator: str = "trapezoid",
    pos_label: object = None,
    response_method: str = "auto",
) -> Any:
    """Make a scorer of IAUPREC, for `GridSearchCV`, `cross_validate` and so on.

    Parameters
    ----------
    deployment_prior, area_estimator, pos_label, response_method
        As for :func:`iauprec_score` and, the last, :func:`scores_from_estimators`.

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
    options = {"deployment_prior": deployment_prior, "area_estimator": area_estimator, "pos_label": pos_label}
    return _make_scorer(iauprec_score, response_method, **options)


def _make_scorer(measure: Callable[..., float], response_method: str, **options: Any) -> Any:
    """Return the scikit-learn scorer of a measure with these options; raise for an unknown method or area."""
    check_response_method(response_method, None)
    checks.check_choice(options["area_estimator"], ESTIMATORS, "area_estimator")
    method = RESPONSES if response_method == "auto" else response_method
    return import_sklearn("metrics").make_scorer(measure, response_method=method, **options)


def check_data(X: Any, y: Any, groups: Any, *, pos_label: object, **options: Any) -> LabelledData:
    """Return the data; raise for bad labels, unequal lengths or `options` (response_method, class_prior)."""
    check_response_method(**options)
    features, labels = to_rows(X), to_rows(y)
    names = None if groups is None else checks.to_array(to_rows(groups), "groups")
    positive = checks.check_labels(labels, pos_label=pos_label, name="y")
    n_rows = count_rows(features, "X")
    checks.check_same_length(X=np.empty(n_rows), y=positive)
    if names is not None and names.shape != (n_rows,):
        raise InputError(
            f"`groups` must be a list of {n_rows} groups, one a case, but has shape {names.shape}"
        )
    return LabelledData(features, labels, positive, names, pos_label, **options)


def _name_errors(model: str, fold: Label, work: Callable[..., NDArray[Any]], *args: Any) -> NDArray[Any]:
    """Return `work(*args)`; raise its errors anew, naming model and fold: input errors, else RuntimeError."""
    try:
        return work(*args)
    except (InputError, InputTypeError) as error:
        raise type(error)(f"model {model!r} cannot be used in fold {fold}: {error}") from error
    except Exception as error:
        raise RuntimeError(
            f"model {model!r} failed in fold {fold}: {type(error).__name__}: {error}"
        ) from error


def _collect_scores(
    tests: Mapping[str, Sequence[Rows]],
    scored: Mapping[str, Iterable[tuple[Any, ...]]],
    data: LabelledData,
    score: Callable[..., NDArray[Any]],
) -> ScoreTable:
    """Return the table of `score(*args)` for each model's `args` by fold; raise if models' `tests` differ."""
    first, *others = tests
    for name in others:
        is_same = len(tests[name]) == len(tests[first])
        if not (is_same and all(map(np.array_equal, tests[name], tests[first]))):
            raise InputError(
                f"all models must be validated on the same splits, but those of {name!r} and {first!r} "
                "differ; validate them with one splitter with a fixed random_state, or one list of splits"
            )
    folds = ((name, fold, args) for name, items in scored.items() for fold, args in enumerate(items, 1))
    scores = [_name_errors(name, fold, score, *args) for name, fold, args in folds]
    splits = [Split(np.empty(0, dtype=np.intp), test, fold) for fold, test in enumerate(tests[first], 1)]
    return _build_table(list(tests), splits, scores, data)


def _build_table(
    models: Sequence[str], splits: Sequence[Split], scores: Sequence[NDArray[Any]], data: LabelledData
) -> ScoreTable:
    """Return the checked table of score arrays ordered by model, then split; raise if a length is wrong."""
    cells = [(name, split) for name in models for split in splits]
    for (name, split), score in zip(cells, scores, strict=True):
        if len(score) != len(split.test):
            raise InputError(
                f"model {name!r} gave {len(score)} scores for the {len(split.test)} cases of fold "
                f"{split.label}; it must give one for each"
            )
    case = np.concatenate([split.test for _, split in cells])
    cell = np.repeat(np.arange(len(cells)), [len(split.test) for _, split in cells])
    keys = pd.DataFrame(
        [(name, split.part, split.halving, split.fold) for name, split in cells],
        columns=["model", *HALVING_COLUMNS, "fold"],
        dtype=object,
    )
    frame = keys.take(cell).reset_index(drop=True)
    frame = frame.assign(y_true=data.positive[case], y_score=np.concatenate(scores), case=case)
    if data.groups is not None:
        frame["cluster"] = data.groups[case]
    if (keys["part"] == HOLDOUT).all():
        frame = frame.drop(columns=list(HALVING_COLUMNS))

    def where(row: int) -> str:
        """Return "row 3 of X (model 'A', fold 1)"."""
        name, split = cells[cell[row]]
        return f"row {case[row]} of X (model {name!r}, fold {split.label!r})"

    try:
        return replace(build_scores(RawTable(frame, where), None), n_cases=len(data.positive))
    except InputError as error:  # here clusters are groups
        text = re.sub("; leave repeats out or, .*", "; test each case once in a fold", str(error))
        raise InputError(re.sub("`cluster`|the column cluster", "`groups`", text)) from error
