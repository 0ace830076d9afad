"""Run a comparison from scores, or from scikit-learn estimators, to the result in one call."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from skewanova.base.checks import (
    InputError,
    InputTypeError,
    Seed,
    check_choice,
    check_named_models,
    check_prior_list,
    make_generator,
    suggest_name,
    warn_each,
    warn_once,
)
from skewanova.base.rounding import limit_blas_threads
from skewanova.base.text import report_stage
from skewanova.comparison.analysis import DesignAnalysis, FoldsAnalysis, Frames, Options
from skewanova.comparison.cases import RunsAnalysis, TestSetAnalysis
from skewanova.comparison.result import Comparison
from skewanova.curves.estimators import ESTIMATORS
from skewanova.decision import bands
from skewanova.decision.choice import choose_models, decision_table, ranking_order
from skewanova.decision.joint_curves import joint_curves, panel_curves
from skewanova.decision.leads import crossings_frame, differing_priors_frame, find_regions, leaders_frame
from skewanova.decision.planning import count_compared_pairs, plan_sample_sizes
from skewanova.decision.verdict import REVERSING_CHECKS, list_advice, select_supported_part
from skewanova.evaluation.curve_frames import support, write_support_warnings
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference.diagnostics import soundness
from skewanova.inference.omnibus import OmnibusResult, mixed_model_anova
from skewanova.priors.weightings import PriorLike, as_deployment_prior
from skewanova.scores.design import FoldDesign, as_design
from skewanova.scores.halvings import Units, check_half_folds, draw_half_folds, draw_holdouts
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_scores
from skewanova.scores.scikit_learn import check_data, draw_splits, score_splits

#: Checks of the scores whose advice is also issued as a warning.
SUSPICIOUS_CHECKS = (*REVERSING_CHECKS, "collapsed_folds")


def build_decision_frames(
    measures: Evaluation,
    decision_table: pd.DataFrame,
    options: Options,
    differences: pd.DataFrame | None = None,
) -> Frames:
    """Return frames by name: crossings, leaders, differing_priors, decisions, choices, support and plans.

    `differences` are those over folds, whose critical value the compared pairs use; if None, it is computed.
    """
    panel, models = panel_curves(measures), measures.models
    alpha, control, rng = options.alpha, options.control, options.rng
    critical_compared = None if differences is None else bands.critical_value_of_bands(differences)
    critical_all = critical_compared if control is None else None
    if critical_all is None or critical_compared is None:
        joint = joint_curves(measures, bands.grid_of_bands(measures))
        critical_all = bands.pair_critical_value(joint, alpha, rng=rng)
        compared, critical_compared = bands.mask_compared_pairs(models, control), critical_all
        if not compared.all():
            critical_compared = bands.pair_critical_value(joint, alpha, selected=compared, rng=rng)
    level = alpha / count_compared_pairs(len(models), control)
    return {
        "crossings": crossings_frame(panel, models, alpha),
        "leaders": leaders_frame(panel, models, critical_all),
        "differing_priors": differing_priors_frame(panel, models, critical_compared, control=control),
        "decisions": decision_table,
        "choices": choose_models(decision_table),
        "support": support(measures),
        "plans": plan_sample_sizes(measures, alpha=level, control=control),
    }


def compare(
    scores: object,
    deployment_prior: PriorLike = (0.05, 0.20),
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
    r"""Compare classifiers by AUPREC over a range of class priors, and find the one to deploy.

    The area under the precision-recall curve (AUPREC) depends on the prior, which is the probability of the
    positive class. The prior in deployment is often uncertain and differs from that of the test data.
    IAUPREC is the mean of AUPREC over the distribution of priors expected in deployment. `compare` ranks the
    models by IAUPREC and tests all models and all pairs, by tests whose type I error rate holds for the way
    the folds were made. It also finds the priors at which the best model changes. The ANOVAs of Landgrebe,
    Paclik, Duin and Bradley (2006, Precision-recall operating characteristic (P-ROC) curves in imprecise
    environments, ICPR 4, 123-127) are reported too.

    Use it if two or more models scored the same held-out cases of two classes. :func:`compare_estimators`
    also trains the models; :func:`compare_classes` takes several classes and :func:`compare_datasets` several
    data sets. For one model use :func:`confidence_interval`.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores, one row for each model and case. The columns are ``model``, ``y_true`` (labels 0 and
        1), ``y_score`` (higher means more likely positive) and, optionally, ``fold``, ``case``, ``cluster``
        (such as the patient of several cases) and ``weight``; random half splits also need ``part`` and
        ``halving``. For other names pass ``read_scores(table, columns={"y_score": "p"}, pos_label="yes")``.
        Without ``fold``, all rows are one test set, and the fitted models are compared by jackknife tests.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Prior expected in deployment: a range in which every prior is equally likely, one value, or a
        distribution such as ``BetaPrior(2, 18)`` or the result of :func:`estimate_prior`.
    at_priors : sequence of float, default (0.5, 0.1, 0.01)
        Priors at which AUPREC is tabulated. The ranking and the tests of IAUPREC do not depend on them.
    alpha : float, default 0.05
        Significance level of the test of all models, and of all pairs together. Confidence intervals have the
        level ``1 - alpha``.
    area_estimator : str, default "trapezoid"
        Estimator of the area: ``trapezoid`` (as in Landgrebe et al.), ``exact``, ``average_precision``,
        ``upper_trapezoid``, ``interpolated_max``, ``interpolated_mean``, ``interpolated_median`` or
        ``convex_hull``; see :func:`auprec`.
    design : str or FoldDesign, default "auto"
        How the folds were made: ``independent`` (folds share no data), ``kfold``,
        ``repeated_kfold``, ``repeated_holdout``, ``split_half``, ``test_set`` or ``runs`` (several trainings,
        one test set; ``nested_runs`` if run j of two models shares nothing, ``fixed_runs`` for these trained
        models only). With "auto" it is inferred from the column ``case``. Without that column state it, as
        in ``FoldDesign("repeated_holdout", test_fraction=0.2)``.
    pairwise : str, default "auto"
        Test of pairs that the conclusions use. "auto" takes the valid one: ``max_t`` (with few folds
        ``paired_t``) for independent folds, ``corrected_t`` for folds that share training data,
        ``split_half_t`` with random half splits. Others are ``tukey`` (as published), ``wilcoxon``,
        ``games_howell``, ``nemenyi`` and ``dunnett``; see :func:`skewanova.inference.posthoc`. Leave it at
        "auto" with one test set, which has one test only.
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, optional
        Adjustment of the p-values of pairs, by default Holm's. Tests that adjust by themselves, such as
        ``max_t`` and ``tukey``, take none.
    control : str, optional
        Name of a model, such as the one in use. The others are compared with it only.
    rope : float, default 0.01
        Largest difference in IAUPREC that does not matter in practice (region of practical equivalence).
        Models within it by two one-sided tests are called practically equal.
    missing : {"raise", "drop"}, default "raise"
        If a model lacks a fold: raise an error, or drop the fold for all models, and also report a
        mixed-model test that uses the incomplete folds.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of all resampling. With an integer, two runs give the same numbers.

    Returns
    -------
    Comparison
        Print it for the verdict and the ranking. ``result.summary(full=True)`` has all findings,
        ``result.tables`` all frames and ``result.plot`` the plots; ``result.save("folder")`` writes a report.

    Raises
    ------
    ValueError, TypeError
        If the scores or an argument are invalid; ValueError if there is one model only, a model lacks a fold
        and ``missing="raise"``, or the models of a fold scored different cases.

    Warns
    -----
    SkewanovaWarning
        If a number may be unreliable. The messages are in ``result.warnings`` too.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.2), alpha=0.005)
    >>> result.verdict.choose
    'The data do not separate A, C and B.'
    >>> result.ranking[["rank", "model", "group"]].to_string(index=False).split("\n")
    [' rank model group', '    1     A     a', '    2     C     a', '    3     B     a']
    """
    report_stage("scores")
    options = Options(alpha, pairwise, p_adjust, control, rope, rng)
    table = read_scores(scores)
    check_several_models(table)
    options.check_control(table.models)
    complete, dropped = complete_table(table, missing=missing)
    with warn_once(), limit_blas_threads():
        estimated = [getattr(deployment_prior, name, ()) for name in ("warnings", "caveats")]
        notes = [*warn_each(chain(*estimated)), *dropped, *check_paired(complete)]
        report_stage("measures")
        measure = partial(
            evaluate, at_priors=at_priors, deployment_prior=deployment_prior, area_estimator=area_estimator
        )
        measures = measure(complete, design=design)
        measures = measures.reorder_models(ranking_order(measures))
        over_folds = dropped and measures.design.is_over_folds
        mixed = [mixed_model_anova(measure(table).iauprec)] if over_folds else []
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


def _run_analysis(
    measures: Evaluation, options: Options, mixed: Sequence[OmnibusResult]
) -> tuple[Frames, list[str]]:
    """Return all frames but auprec and iauprec, by name, `mixed` last among the tests, and the warnings."""
    kinds: dict[str, type[DesignAnalysis]] = {"test_set": TestSetAnalysis, "runs": RunsAnalysis}
    design = kinds.get(measures.design.kind, FoldsAnalysis)(measures, options)
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
    suspicions = warn_each(list_advice(checks, SUSPICIOUS_CHECKS))
    part = select_supported_part(measures)
    if part is not None:
        pairs = design.compare_pairs(part).assign(role="secondary", response="iauprec_supported")
        frames["pairs"] = pd.concat([frames["pairs"], pairs], ignore_index=True)
    notes = [note for test in tests for note in test.warnings]
    thin = warn_each(write_support_warnings(measures))
    return frames, [*result.warnings, *measures.warnings, *thin, *suspicions, *notes]


def _collect_settings(measures: Evaluation, options: Options, *, missing: str) -> dict[str, object]:
    """Return arguments (prior in words, `seed` None if rng is no int), design in parts, n_models, n_folds."""
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


# --- estimators ---------------------------------------------------------------------------------------------


#: Fraction of the data that a hold-out tests, by the designs whose splits compare_estimators makes; for any
#: other the user passes `cv`. With a half the corrected test keeps its level for ten learners
#: (studies/records/learners.md). With halvings, which estimate the variance, it is the usual fifth.
TEST_FRACTIONS = {"repeated_holdout": 0.5, "split_half": 0.2}


#: Default numbers of halvings, and of folds of the cross-validation in each half.
N_HALVINGS, INNER_FOLDS = 20, 5


#: Classes of support vector machines with a kernel, and the factor on the variance that their hold-outs share
#: (studies/records/learners.md).
KERNEL_MACHINES, KERNEL_MACHINE_FACTOR = {"SVC", "NuSVC"}, 1.25


#: Arguments of `scores_from_estimators` about labels and scores, with their defaults.
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
    """Train all estimators on the same splits, score the held-out cases, and compare the models.

    Use it if the learners are scikit-learn classifiers that can be trained many times. Use :func:`compare` if
    scores exist already.

    Parameters
    ----------
    estimators : mapping of str to estimator, or sequence
        Two or more scikit-learn classifiers, by name; those of a sequence are named by their class. Clones
        are fitted, never the estimators themselves.
    X, y, n_jobs
        As for :func:`~skewanova.scores_from_estimators`.
    cv : int or splitter, optional
        Your own splits, as for :func:`~skewanova.scores_from_estimators`; their design is then inferred from
        the cases. By default `design` determines the splits.
    design : str or FoldDesign, default "repeated_holdout"
        ``repeated_holdout``: random stratified hold-outs, with tests corrected for shared training data.
        ``split_half``: also 20 random halvings of the data, with a 5-fold cross-validation of all models in
        both halves. They estimate the variance for any learner.
        ``FoldDesign("split_half", n_halvings=40, inner_folds=10)`` sets both numbers.
    n_splits : int, default 20
        Number of hold-outs.
    test_fraction : float, optional
        Fraction of the cases that a hold-out tests, by default 0.5, or 0.2 with halvings.
    groups : array_like, optional
        Group of each case, such as its patient. No split divides a group, and tests treat it as a cluster.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the splits, of all resampling, and of estimators whose `random_state` is None. With an
        integer, two calls give the same numbers, on any number of processes.
    **options
        Further arguments of :func:`~skewanova.compare`, such as ``deployment_prior=(0.05, 0.2)``, and of
        :func:`~skewanova.scores_from_estimators`: params, pos_label, response_method, class_prior.

    Returns
    -------
    Comparison
        As for :func:`~skewanova.compare`; ``result.scores.to_frame()`` has the scores, those of halvings
        included.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As for :func:`~skewanova.scores_from_estimators` and :func:`~skewanova.compare`; ValueError if a class
        has too few cases for the splits, or both `cv` and a design are given.

    Notes
    -----
    In simulations with unstable learners, at the level .05, the corrected test on 20 hold-outs of a fifth
    rejected true equality at rates up to .11. On 20 half splits the rates were .00 to .06
    (``studies/records/learners.md``), and models are trained on half of the data. Hold-outs of support vector
    machines correlate more than others, so with an `SVC` or `NuSVC` their correlation is 5/9, not 1/2.
    Halvings keep the hold-outs of a fifth and the level, and cost ``2 n_halvings inner_folds`` more fits of
    each model. The variance of a mean difference is then ``V + s^2 / J``. V is the mean square of half the
    difference between the halves, and s is the standard deviation over the J hold-outs. This assumes that
    halving the data doubles the variance.

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
    models = name_estimators(estimators)
    params = options.pop("params", None)
    scoring: dict[str, Any] = {name: options.pop(name, default) for name, default in SCORING_DEFAULTS.items()}
    _check_options(options, list(models))
    data, generator = check_data(X, y, groups, **scoring), make_generator(rng)
    if cv is None:
        stated = _check_design(design, test_fraction)
        units = Units.from_groups(data.positive, data.groups)
        if stated.kind == "split_half":  # they need more cases than hold-outs
            check_half_folds(units, stated.n_halvings, stated.inner_folds)
        fraction = stated.test_fraction or TEST_FRACTIONS[stated.kind]
        splits = draw_holdouts(units, n_splits, test_fraction=fraction, rng=generator)
        if stated.kind == "split_half":
            splits += draw_half_folds(units, stated.n_halvings, inner_folds=stated.inner_folds, rng=generator)
        correlation = stated.correlation
        if correlation is None and any(map(_has_kernel_machine, models.values())):
            ratio = KERNEL_MACHINE_FACTOR * FoldDesign(test_fraction=fraction).ratio
            correlation = ratio / (1 + ratio)
        reason = "the splits that were drawn"
        options["design"] = FoldDesign(stated.kind, reason=reason, correlation=correlation)
    else:
        _check_own_splits(design, test_fraction)
        splits = draw_splits(cv, data)
    table = score_splits(models, data, splits, params=params, rng=generator, n_jobs=n_jobs, progress=True)
    return compare(table, rng=rng if isinstance(rng, int) else generator, **options)


def name_estimators(estimators: object) -> dict[str, Any]:
    """Return estimators by name, of a sequence by class: SVC, SVC 2; raise for fewer than two, for pairs."""
    result: Any = estimators
    if isinstance(estimators, list | tuple):
        if any(isinstance(item, tuple) for item in estimators):
            raise InputTypeError(
                "`estimators` holds pairs of a name and a model; pass dict(estimators) if all are such pairs "
                "and no name repeats, else a mapping by different names, as {'A': a, 'B': b}"
            )
        result = {}
        for estimator in estimators:
            kind = type(estimator).__name__
            n_before = sum(type(other).__name__ == kind for other in result.values())
            result[f"{kind} {n_before + 1}" if n_before else kind] = estimator
    if isinstance(result, Mapping) and len(result) < 2:
        raise InputError(f"`estimators` must hold at least 2 models to compare, but has {len(result)}")
    check_named_models(result, "estimators")
    return dict(result)


def _has_kernel_machine(model: Any) -> bool:
    """Return True if the model, a step of its pipeline or the model that it tunes is an SVC or NuSVC."""
    return any(type(part).__name__ in KERNEL_MACHINES for part in (model, *model.get_params().values()))


def check_arguments(
    function: Callable[..., Any], options: Iterable[str], *, excluded: Container[str] = ()
) -> None:
    """Raise InputTypeError (of `function`) for the first option that `compare` lacks or that is excluded."""
    accepted = [name for name in signature(compare).parameters if name not in excluded]
    for name in options:
        if name not in accepted:
            names = [*signature(function).parameters, *accepted]
            pages = f"; leave it out, or see help(skewanova.{function.__name__}) and help(skewanova.compare)"
            remedy = suggest_name(name, names) or pages
            raise InputTypeError(f"{function.__name__}() has no argument {name!r}{remedy}")


def _check_options(options: Mapping[str, Any], models: Sequence[str]) -> None:
    """Raise unless `compare` takes the options, but not scores, missing, and their values; before any fit."""
    check_arguments(compare_estimators, options, excluded={"scores", "missing"})
    call = signature(compare).bind(None, **options)
    call.apply_defaults()
    values = call.arguments
    Options(**{item.name: values[item.name] for item in fields(Options)}).check_control(models)
    check_choice(values["area_estimator"], ESTIMATORS, "area_estimator")
    check_prior_list(values["at_priors"], "at_priors")
    as_deployment_prior(values["deployment_prior"])


def _check_design(design: str | FoldDesign, test_fraction: float | None) -> FoldDesign:
    """Return the design, defaults set but a fraction unstated (None); raise for other kinds, 2 fractions."""
    kind = design.kind if isinstance(design, FoldDesign) else design
    if kind not in TEST_FRACTIONS:
        raise InputError(
            f"`design` must be one of {', '.join(TEST_FRACTIONS)}; but got {kind!r}; for other splits "
            f"pass `cv` in place of it and `test_fraction`, as cv=10{suggest_name(kind, TEST_FRACTIONS)}"
        )
    stated = as_design(design)
    if None not in {stated.test_fraction, test_fraction}:
        raise InputError("`test_fraction` is also set by `design`: leave out one of the two")
    return replace(
        stated,
        test_fraction=stated.test_fraction if test_fraction is None else test_fraction,
        n_halvings=stated.n_halvings or N_HALVINGS,
        inner_folds=stated.inner_folds or INNER_FOLDS,
    )


def _check_own_splits(design: str | FoldDesign, test_fraction: float | None) -> None:
    """Raise InputError if `cv` comes with a test fraction, or with a design other than the default."""
    if design == "repeated_holdout" and test_fraction is None:
        return
    raise InputError(
        "`cv` determines the splits: leave out `design` and `test_fraction`, as the design is inferred from "
        "the cases"
    )
