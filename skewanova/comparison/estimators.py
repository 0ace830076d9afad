"""compare_estimators(): fit, score and compare in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike

from skewanova.base.checks import InputError, InputTypeError, Seed, check_prior_list, nearest, seeded
from skewanova.comparison.analysis import Options
from skewanova.comparison.pipeline import compare
from skewanova.comparison.result import Comparison
from skewanova.priors.weightings import as_deployment_prior
from skewanova.scores.design import FoldDesign, as_design
from skewanova.scores.halvings import Units, check_groups, half_folds, hold_outs
from skewanova.scores.scikit_learn import as_rows, check_named, checked_data, fitted_scores, splits_of

#: Designs that are made here; any other comes as `cv`.
MADE_HERE = ("repeated_holdout", "split_half")


#: Share of the data set that a hold-out tests. Halves, since only then does the corrected test hold its
#: level with unstable learners; halvings tell the variance themselves, and leave the usual hold-outs.
TEST_FRACTIONS = {"repeated_holdout": 0.5, "split_half": 0.2}


#: Halvings, and the folds of the cross-validation in each half.
N_HALVINGS, INNER_FOLDS = 20, 5


#: Arguments of `scores_from_estimators` about labels and scores, and their defaults.
SCORING = {"pos_label": None, "response_method": "auto", "class_prior": None}


def compare_estimators(
    estimators: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    design: str | FoldDesign = "repeated_holdout",
    n_splits: int = 20,
    test_fraction: float | None = None,
    groups: ArrayLike | None = None,
    rng: Seed = 0,
    n_jobs: int | None = None,
    **options: Any,
) -> Comparison:
    """Train every estimator on the same splits, score the held-out cases, and compare.

    Parameters
    ----------
    estimators : mapping of str to estimator, or sequence
        At least two scikit-learn classifiers; they are cloned, never fitted themselves. Those of a sequence
        are named by their class.
    X : array, sparse matrix, frame or list
        Features, one row a case.
    y : array_like
        Labels of two classes.
    cv : int or splitter, optional
        Splits of your own, as for :func:`~skewanova.scores_from_estimators`; how they came about is then seen
        from the cases. By default they are made as `design` says.
    design : str or FoldDesign, default "repeated_holdout"
        ``repeated_holdout``: random stratified hold-outs, and the tests corrected for the training data that
        they share. ``split_half``: the hold-outs, and 20 random halvings of the data with a cross-validation
        of all models in 5 folds of both halves, which estimate the variance whatever the learner;
        ``FoldDesign("split_half", n_halvings=40, inner_folds=10)`` sets both numbers.
    n_splits : int, default 20
        Number of hold-outs.
    test_fraction : float, optional
        Fraction of the cases that a hold-out tests: by default a half, with halvings a fifth.
    groups : array_like, optional
        Groups of cases (patients, documents), which no split cuts in two; the table keeps them as clusters.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the splits, of all resampling, and of estimators whose `random_state` is None. A whole number
        makes two calls alike, on any number of processes.
    n_jobs : int, optional
        Number of processes, as in joblib.
    **options
        Further arguments of :func:`~skewanova.compare`, such as ``deployment_prior=(0.05, 0.2)``, and of
        :func:`~skewanova.scores_from_estimators`: params, pos_label, response_method, class_prior.

    Returns
    -------
    Comparison
        As :func:`~skewanova.compare`; ``scores.to_frame()`` has the scores, those of halvings included.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.scores_from_estimators` and :func:`~skewanova.compare`; ValueError if there are
        too few cases of a class for the splits, or `cv` is given beside another design.
    RuntimeError
        If an estimator fails; the message names model and fold.

    Notes
    -----
    Over unstable learners the corrected test on 20 hold-outs of a fifth rejects true equality in up to .11 of
    simulated studies at the level .05, on 20 half splits in .01 to .06, with no loss of power where both hold
    the level. Half splits estimate models trained on half of the data. Halvings keep the hold-outs of a fifth
    and the level, and cost ``2 n_halvings inner_folds`` further fits a model. The variance of a difference is
    ``V + s^2 / J``: V is the mean square of half the difference between halves, s the deviation over the J
    hold-outs. This assumes that halving the data doubles the variance.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skewanova import compare_estimators
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
    >>> result = compare_estimators(models, X, y, deployment_prior=(0.4, 0.6), at_priors=(0.6, 0.4))
    >>> result.ranking["model"].tolist(), result.design.n_folds
    (['naive Bayes', 'tree'], 20)
    """
    named = named_estimators(estimators)
    params = options.pop("params", None)
    scoring: dict[str, Any] = {name: options.pop(name, default) for name, default in SCORING.items()}
    _check_options(options, list(named))
    data, generator = checked_data(X, y, **scoring), seeded(rng)
    named_groups = check_groups(as_rows(groups), len(data.positive))
    if cv is None:
        stated = _check_design(design, test_fraction)
        units = Units.of(data.positive, named_groups)
        fraction = stated.test_fraction or TEST_FRACTIONS[stated.kind]
        splits = hold_outs(units, n_splits, test_fraction=fraction, rng=generator)
        if stated.kind == "split_half":
            splits += half_folds(units, stated.n_halvings, inner_folds=stated.inner_folds, rng=generator)
        options["design"] = stated.kind
    else:
        _check_own_splits(design, test_fraction)
        splits = splits_of(cv, data, named_groups)
    fitting: dict[str, Any] = {"params": params, "n_jobs": n_jobs, "progress": True}
    table = fitted_scores(named, data, splits, groups=named_groups, rng=generator, **fitting)
    return compare(table, rng=rng if isinstance(rng, int) else generator, **options)


def named_estimators(estimators: object) -> dict[str, Any]:
    """Return estimators by the name of the model; of a sequence by their class, numbered if repeated."""
    result: Any = estimators
    if isinstance(estimators, list | tuple):
        result = {}
        for estimator in estimators:
            kind = type(estimator).__name__
            n_before = sum(type(other).__name__ == kind for other in result.values())
            result[f"{kind} {n_before + 1}" if n_before else kind] = estimator
    check_named(result, "estimators")
    if len(result) < 2:
        raise InputError(f"`estimators` must hold at least 2 models to compare, but has {len(result)}")
    return dict(result)


def _check_options(options: Mapping[str, Any], models: Sequence[str]) -> None:
    """Check the further arguments of `compare` before anything is fitted."""
    parameters = signature(compare).parameters
    for name in options:
        if name not in parameters or name in {"scores", "missing"}:
            raise InputTypeError(f"compare_estimators() has no argument {name!r}{nearest(name, parameters)}")
    values = {name: parameters[name].default for name in parameters} | dict(options)
    names = ("alpha", "pairwise", "p_adjust", "control", "rope")
    Options(**{name: values[name] for name in names}, rng=0).check_control(models)
    check_prior_list(values["at_priors"], "at_priors")
    as_deployment_prior(values["deployment_prior"])


def _check_design(design: str | FoldDesign, test_fraction: float | None) -> FoldDesign:
    """Return a design whose splits are made here, with its halvings."""
    kind = design.kind if isinstance(design, FoldDesign) else design
    if kind not in MADE_HERE:
        raise InputError(
            f"`design` must be one of {', '.join(MADE_HERE)}; but got {kind!r}"
            f"{nearest(kind, MADE_HERE)}; for another design give `cv`, such as StratifiedKFold(10)"
        )
    stated = as_design(design)
    if None not in {stated.test_fraction, test_fraction}:
        raise InputError("`test_fraction` is stated by `design` too: leave out one of the two")
    return replace(
        stated,
        test_fraction=stated.test_fraction if test_fraction is None else test_fraction,
        n_halvings=stated.n_halvings or N_HALVINGS,
        inner_folds=stated.inner_folds or INNER_FOLDS,
    )


def _check_own_splits(design: str | FoldDesign, test_fraction: float | None) -> None:
    """Check that no design is stated beside splits of the user's own."""
    if design == MADE_HERE[0] and test_fraction is None:
        return
    odd = f"test_fraction={test_fraction:g}" if design == MADE_HERE[0] else f"design={design!r}"
    raise InputError(
        f"`cv` gives splits of your own, but {odd} asks for others: leave out one of the two; how those of "
        "`cv` came about is seen from the cases"
    )
