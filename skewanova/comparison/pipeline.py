"""compare(): every step of a comparison in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain

import pandas as pd

from skewanova.base.checks import Seed, emit
from skewanova.base.text import stage
from skewanova.comparison.analysis import DesignAnalysis, FoldsAnalysis, Options
from skewanova.comparison.cases import RunsAnalysis, TestSetAnalysis
from skewanova.comparison.result import Comparison
from skewanova.decision.bands import compared_pairs, critical_of, decision_floor, decision_grid, pair_critical
from skewanova.decision.choice import choices, decisions, ranking_order
from skewanova.decision.joint_curves import joint_curves, panel_curves
from skewanova.decision.leads import crossings_frame, differing_frame, leaders_frame, regions
from skewanova.decision.planning import n_compared, plans
from skewanova.decision.verdict import judged_part
from skewanova.evaluation.along_prior import support
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference.diagnostics import soundness
from skewanova.inference.omnibus import OmnibusResult
from skewanova.inference.random_effects import mixed_model_anova
from skewanova.priors.weightings import Target
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_scores
from skewanova.scores.table import Scores

#: Checks whose advice is a warning too: the scores are hardly what they were given as.
SUSPICIOUS = ("smallest_auc", "collapsed_folds", "share_of_cases", "different_scores")


def decision_frames(
    measures: Evaluation, promised: pd.DataFrame, options: Options, differences: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """Measure everything about the choice at once: the curves are sampled a single time.

    Leaders are decided between all models; the bands are those of the pairs that are compared.
    """
    panel, models, control = panel_curves(measures), measures.models, options.control
    beside = None if differences is None else critical_of(differences)
    critical = beside if control is None else None
    if critical is None or beside is None:
        joint = joint_curves(measures, decision_grid(measures))
        critical = pair_critical(joint, options.alpha, rng=options.rng)
        compared, beside = compared_pairs(models, control), critical
        if not compared.all():
            beside = pair_critical(joint, options.alpha, selected=compared, rng=options.rng)
    rarest = decision_floor(measures)
    level = options.alpha / n_compared(len(models), control)
    return {
        "crossings": crossings_frame(panel, models, options.alpha),
        "leaders": leaders_frame(panel, models, critical, rarest=rarest),
        "differing_priors": differing_frame(panel, models, beside, rarest=rarest, control=control),
        "decisions": promised,
        "choices": choices(promised),
        "support": support(measures),
        "plans": plans(measures, alpha=level, control=control),
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
    stage("scores")
    options = Options(alpha, pairwise, p_adjust, control, rope, rng)
    table = read_scores(scores)
    check_several_models(table)
    options.check_control(table.models)
    complete, dropped = complete_table(table, missing=missing)
    estimated = [getattr(deployment_prior, name, ()) for name in ("warnings", "caveats")]
    notes = [*emit(chain(*estimated)), *dropped, *check_paired(complete)]
    stage("measures")
    measures = evaluate(
        complete,
        at_priors=at_priors,
        deployment_prior=deployment_prior,
        area_estimator=area_estimator,
        design=design,
    )
    measures = measures.ordered(ranking_order(measures))
    mixed = [_mixed(table, measures)] if dropped and measures.design.over_folds else []
    frames, messages = _analyse(measures, options, mixed)
    notes += [*measures.design.warnings, *messages]
    return Comparison(
        {"auprec": measures.auprec, "iauprec": measures.iauprec, **frames},
        design=measures.design,
        warnings=tuple(dict.fromkeys(notes)),
        settings=_settings(measures, options, missing=missing),
        evaluation=measures,
        scores=complete,
    )


#: Analysis of each kind of design.
ANALYSES: dict[str, type[DesignAnalysis]] = {"test_set": TestSetAnalysis, "runs": RunsAnalysis}


def _analyse(
    measures: Evaluation, options: Options, mixed: Sequence[OmnibusResult]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Run the tests that the design asks for; return the frames and the warnings."""
    design = ANALYSES.get(measures.design.kind, FoldsAnalysis)(measures, options)
    table = decisions(measures, rng=options.rng)
    result = design.analyse(table)
    tests, checks = [*result.tests, *mixed], soundness(measures)
    differences = result.frames["difference_curves"] if measures.design.over_folds else None
    frames = {
        **result.frames,
        **decision_frames(measures, table, options, differences),
        "tests": pd.concat([test.to_frame() for test in tests], ignore_index=True),
        "regions": regions(measures),
        "assumptions": pd.concat([result.frames["assumptions"], checks], ignore_index=True),
    }
    suspicions = emit(text for text in checks.loc[checks["check"].isin(SUSPICIOUS), "advice"] if text)
    part = judged_part(measures)  # the part of the deployment prior that the data can judge, if it is small
    if part is not None:
        pairs = design.compare_pairs(part).assign(role="secondary", response="iauprec_supported")
        frames["pairs"] = pd.concat([frames["pairs"], pairs], ignore_index=True)
    notes = [note for test in tests for note in test.warnings]
    return frames, [*result.warnings, *measures.warnings, *suspicions, *notes]


def _settings(measures: Evaluation, options: Options, *, missing: str) -> dict[str, object]:
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


def _mixed(table: Scores, measures: Evaluation) -> OmnibusResult:
    """Test all cells of an incomplete table, those of the dropped folds included."""
    every = evaluate(
        table,
        at_priors=measures.priors,
        deployment_prior=measures.deployment_prior,
        area_estimator=measures.area_estimator,
    )
    return mixed_model_anova(every.iauprec)
