"""compare() and compare_estimators(): every step of a comparison in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from inspect import signature
from itertools import chain
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from skewanova.base.checks import (
    InputError,
    InputTypeError,
    Seed,
    check_prior_list,
    make_generator,
    suggest_name,
    warn_each,
)
from skewanova.base.text import report_stage
from skewanova.comparison.analysis import DesignAnalysis, FoldsAnalysis, Options
from skewanova.comparison.cases import RunsAnalysis, TestSetAnalysis
from skewanova.comparison.result import Comparison
from skewanova.decision.bands import (
    critical_value_of_bands,
    mask_compared_pairs,
    pair_critical_value,
    smallest_testable_prior,
    testable_grid,
)
from skewanova.decision.choice import choose_models, decision_table, ranking_order
from skewanova.decision.joint_curves import joint_curves, panel_curves
from skewanova.decision.leads import crossings_frame, differing_frame, find_regions, leaders_frame
from skewanova.decision.planning import n_compared, plan_sample_sizes
from skewanova.decision.verdict import judged_part
from skewanova.evaluation.along_prior import support
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference.diagnostics import soundness
from skewanova.inference.omnibus import OmnibusResult
from skewanova.inference.random_effects import mixed_model_anova
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.design import FoldDesign, as_design
from skewanova.scores.halvings import Units, check_groups, draw_half_folds, draw_holdouts
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_scores
from skewanova.scores.scikit_learn import check_data, check_model_names, draw_splits, score_splits, to_rows
from skewanova.scores.table import Scores

#: Checks whose advice is a warning too: the scores are hardly what they were given as.
SUSPICIOUS_CHECKS = ("smallest_auc", "collapsed_folds", "share_of_cases", "different_scores")


def build_decision_frames(
    measures: Evaluation, promised: pd.DataFrame, options: Options, differences: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """Measure everything about the choice at once: the curves are sampled a single time.

    Leaders are decided between all models; the bands are those of the pairs that are compared.
    """
    panel, models, control = panel_curves(measures), measures.models, options.control
    beside = None if differences is None else critical_value_of_bands(differences)
    critical = beside if control is None else None
    if critical is None or beside is None:
        joint = joint_curves(measures, testable_grid(measures))
        critical = pair_critical_value(joint, options.alpha, rng=options.rng)
        compared, beside = mask_compared_pairs(models, control), critical
        if not compared.all():
            beside = pair_critical_value(joint, options.alpha, selected=compared, rng=options.rng)
    rarest = smallest_testable_prior(measures)
    level = options.alpha / n_compared(len(models), control)
    return {
        "crossings": crossings_frame(panel, models, options.alpha),
        "leaders": leaders_frame(panel, models, critical, rarest=rarest),
        "differing_priors": differing_frame(panel, models, beside, rarest=rarest, control=control),
        "decisions": promised,
        "choices": choose_models(promised),
        "support": support(measures),
        "plans": plan_sample_sizes(measures, alpha=level, control=control),
    }


def compare(
    scores: object,
    deployment_prior: Target = (0.05, 0.20),
    *,
    at_priors: Sequence[float] = (0.5, 0.1, 0.01),
    alpha: float = 0.05,
    area_estimator: str = "trapezoid",
    design: str | FoldDesign = "auto",
    pairwise: str = "auto",
    p_adjust: str | None = None,
    control: str | None = None,
    rope: float = 0.01,
    missing: str = "raise",
    rng: Seed = 0,
) -> Comparison:
    r"""Compare classifiers over an uncertain prior, as Landgrebe et al. 2006 do, and by tests that hold.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores of at least two models, as for :func:`~skewanova.read_scores`. With one fold, the
        fitted models are compared by the jackknife covariance of their areas on the same cases
        (:func:`~skewanova.inference.compare_test_set`); the analyses of variance need folds.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Believed range or distribution of the prior of the deployment; IAUPREC is the mean over it.
    at_priors : sequence of float, default (0.5, 0.1, 0.01)
        Priors at which AUPREC is tabulated, and the levels of the factor prior in the 3-way ANOVA. The
        calibrated tests do not depend on them.
    alpha : float, default 0.05
        Level of the tests and, as ``1 - alpha``, of the intervals (0.005 in the paper).
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    design : str or FoldDesign, default "auto"
        How the folds came about: ``independent``, ``kfold``, ``repeated_kfold``, ``repeated_holdout``,
        ``split_half``, ``runs`` or ``test_set``; "auto" infers it from the case column. A
        :class:`~skewanova.FoldDesign` also states the fraction of the data set that each fold tests.
    pairwise : str, default "auto"
        Test of pairs behind conclusions and groups: "auto" for that of the design, else one of those of
        :func:`~skewanova.inference.posthoc`, or ``tukey`` as the paper has it. Tests over cases have one.
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, optional
        How the p-values of pairs are adjusted, by default Holm's step-down; not beside a test that adjusts by
        itself, such as ``max_t`` or ``tukey``.
    control : str, optional
        Model that all others are compared with, by the test of the design and Holm's adjustment over these
        comparisons alone; there are no letters then, but a mark on which side of the control a model is.
    rope : float, default 0.01
        Difference of IAUPREC that would not matter, for tests and probabilities of practical equivalence.
    missing : {"raise", "drop"}, default "raise"
        What to do if a model lacks a fold: raise, or drop the fold for all models and add a mixed model of
        all cells.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of all resampling; a whole number makes two runs alike.

    Returns
    -------
    Comparison
        Frames, ``summary()`` and ``save()``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if there are fewer than 2 models, a model lacks
        a fold, or the models of a fold were scored on different cases.

    Warns
    -----
    SkewanovaWarning
        Whatever the parts have to say; also kept in ``warnings``.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.2), alpha=0.005)
    >>> result.ranking[["rank", "model", "group"]].to_string(index=False).split("\n")
    [' rank model group', '    1     A     a', '    2     C     a', '    3     B     a']
    """
    report_stage("scores")
    options = Options(alpha, pairwise, p_adjust, control, rope, rng)
    table = read_scores(scores)
    check_several_models(table)
    options.check_control(table.models)
    complete, dropped = complete_table(table, missing=missing)
    estimated = [getattr(deployment_prior, name, ()) for name in ("warnings", "caveats")]
    notes = [*warn_each(chain(*estimated)), *dropped, *check_paired(complete)]
    report_stage("measures")
    measures = evaluate(
        complete,
        at_priors=at_priors,
        deployment_prior=deployment_prior,
        area_estimator=area_estimator,
        design=design,
    )
    measures = measures.reorder_models(ranking_order(measures))
    mixed = [_test_all_cells(table, measures)] if dropped and measures.design.is_over_folds else []
    frames, messages = _run_analysis(measures, options, mixed)
    notes += [*measures.design.warnings, *messages]
    return Comparison(
        {"auprec": measures.auprec, "iauprec": measures.iauprec, **frames},
        design=measures.design,
        warnings=tuple(dict.fromkeys(notes)),
        settings=_collect_settings(measures, options, missing=missing),
        evaluation=measures,
        scores=complete,
    )


#: Analysis of each kind of design.
ANALYSES: dict[str, type[DesignAnalysis]] = {"test_set": TestSetAnalysis, "runs": RunsAnalysis}


def _run_analysis(
    measures: Evaluation, options: Options, mixed: Sequence[OmnibusResult]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Run the tests that the design asks for; return the frames and the warnings."""
    design = ANALYSES.get(measures.design.kind, FoldsAnalysis)(measures, options)
    table = decision_table(measures, rng=options.rng)
    result = design.analyse(table)
    tests, checks = [*result.tests, *mixed], soundness(measures)
    differences = result.frames["difference_curves"] if measures.design.is_over_folds else None
    frames = {
        **result.frames,
        **build_decision_frames(measures, table, options, differences),
        "tests": pd.concat([test.to_frame() for test in tests], ignore_index=True),
        "regions": find_regions(measures),
        "assumptions": pd.concat([result.frames["assumptions"], checks], ignore_index=True),
    }
    suspicions = warn_each(
        text for text in checks.loc[checks["check"].isin(SUSPICIOUS_CHECKS), "advice"] if text
    )
    part = judged_part(measures)  # the part of the deployment prior that the data can judge, if it is small
    if part is not None:
        pairs = design.compare_pairs(part).assign(role="secondary", response="iauprec_supported")
        frames["pairs"] = pd.concat([frames["pairs"], pairs], ignore_index=True)
    notes = [note for test in tests for note in test.warnings]
    return frames, [*result.warnings, *measures.warnings, *suspicions, *notes]


def _collect_settings(measures: Evaluation, options: Options, *, missing: str) -> dict[str, object]:
    weighting, design = measures.deployment_prior, measures.design
    return {
        "deployment_prior": weighting.describe(),
        "deployment_limits": (weighting.low, weighting.high),
        "at_priors": list(measures.priors),
        "area_estimator": measures.area_estimator,
        "design": design.kind,
        "design_description": design.describe(),
        "test_fraction": design.test_fraction,
        "n_clusters": design.n_clusters,
        "weighted": design.weighted,
        "missing": missing,
        **{name: value for name, value in asdict(options).items() if name != "rng"},
        "seed": options.rng if isinstance(options.rng, int) else None,
        "n_models": len(measures.models),
        "n_folds": len(measures.folds),
    }


def _test_all_cells(table: Scores, measures: Evaluation) -> OmnibusResult:
    """Test all cells of an incomplete table, those of the dropped folds included."""
    every = evaluate(
        table,
        at_priors=measures.priors,
        deployment_prior=measures.deployment_prior,
        area_estimator=measures.area_estimator,
    )
    return mixed_model_anova(every.iauprec)


# --- estimators ---------------------------------------------------------------------------------------------


#: Designs that are made here; any other comes as `cv`.
BUILT_IN_DESIGNS = ("repeated_holdout", "split_half")


#: Share of the data set that a hold-out tests. Halves, since only then does the corrected test hold its
#: level with unstable learners; halvings tell the variance themselves, and leave the usual hold-outs.
TEST_FRACTIONS = {"repeated_holdout": 0.5, "split_half": 0.2}


#: Halvings, and the folds of the cross-validation in each half.
N_HALVINGS, INNER_FOLDS = 20, 5


#: Arguments of `scores_from_estimators` about labels and scores, and their defaults.
SCORING_DEFAULTS = {"pos_label": None, "response_method": "auto", "class_prior": None}


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
    named = name_estimators(estimators)
    params = options.pop("params", None)
    scoring: dict[str, Any] = {name: options.pop(name, default) for name, default in SCORING_DEFAULTS.items()}
    _check_options(options, list(named))
    data, generator = check_data(X, y, **scoring), make_generator(rng)
    named_groups = check_groups(to_rows(groups), len(data.positive))
    if cv is None:
        stated = _check_design(design, test_fraction)
        units = Units.from_groups(data.positive, named_groups)
        fraction = stated.test_fraction or TEST_FRACTIONS[stated.kind]
        splits = draw_holdouts(units, n_splits, test_fraction=fraction, rng=generator)
        if stated.kind == "split_half":
            splits += draw_half_folds(units, stated.n_halvings, inner_folds=stated.inner_folds, rng=generator)
        options["design"] = stated.kind
    else:
        _check_own_splits(design, test_fraction)
        splits = draw_splits(cv, data, named_groups)
    fitting: dict[str, Any] = {"params": params, "n_jobs": n_jobs, "progress": True}
    table = score_splits(named, data, splits, groups=named_groups, rng=generator, **fitting)
    return compare(table, rng=rng if isinstance(rng, int) else generator, **options)


def name_estimators(estimators: object) -> dict[str, Any]:
    """Return estimators by the name of the model; of a sequence by their class, numbered if repeated."""
    result: Any = estimators
    if isinstance(estimators, list | tuple):
        result = {}
        for estimator in estimators:
            kind = type(estimator).__name__
            n_before = sum(type(other).__name__ == kind for other in result.values())
            result[f"{kind} {n_before + 1}" if n_before else kind] = estimator
    check_model_names(result, "estimators")
    if len(result) < 2:
        raise InputError(f"`estimators` must hold at least 2 models to compare, but has {len(result)}")
    return dict(result)


def _check_options(options: Mapping[str, Any], models: Sequence[str]) -> None:
    """Check the further arguments of `compare` before anything is fitted."""
    parameters = signature(compare).parameters
    for name in options:
        if name not in parameters or name in {"scores", "missing"}:
            raise InputTypeError(
                f"compare_estimators() has no argument {name!r}{suggest_name(name, parameters)}"
            )
    values = {name: parameters[name].default for name in parameters} | dict(options)
    names = ("alpha", "pairwise", "p_adjust", "control", "rope")
    Options(**{name: values[name] for name in names}, rng=0).check_control(models)
    check_prior_list(values["at_priors"], "at_priors")
    as_deployment_prior(values["deployment_prior"])


def _check_design(design: str | FoldDesign, test_fraction: float | None) -> FoldDesign:
    """Return a design whose splits are made here, with its halvings."""
    kind = design.kind if isinstance(design, FoldDesign) else design
    if kind not in BUILT_IN_DESIGNS:
        raise InputError(
            f"`design` must be one of {', '.join(BUILT_IN_DESIGNS)}; but got {kind!r}"
            f"{suggest_name(kind, BUILT_IN_DESIGNS)}; for another design give `cv`, such as "
            "StratifiedKFold(10)"
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
    if design == BUILT_IN_DESIGNS[0] and test_fraction is None:
        return
    odd = f"test_fraction={test_fraction:g}" if design == BUILT_IN_DESIGNS[0] else f"design={design!r}"
    raise InputError(
        f"`cv` gives splits of your own, but {odd} asks for others: leave out one of the two; how those of "
        "`cv` came about is seen from the cases"
    )
