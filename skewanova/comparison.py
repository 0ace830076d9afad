"""The whole pipeline in one call: scores in, measures, tests, ranking and report out."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from skewanova import _sentences as sentences
from skewanova import evaluation as frames
from skewanova import tables
from skewanova._advice import advice
from skewanova._anova_result import AnovaResult
from skewanova._assumptions import assumption_checks
from skewanova._calibrated import headline_pairs, omnibus_tests
from skewanova._checks import Seed, check_fraction, emit
from skewanova._choices import decision_choices
from skewanova._crossings import crossings_frame
from skewanova._design import Resampling, find_resampling
from skewanova._differences import difference_curves
from skewanova._joint_bands import BAND_PRIORS, auprec_bands, pair_critical
from skewanova._joint_curves import joint_curves, panel_curves
from skewanova._leaders import leaders_frame, rarest_decided
from skewanova._mixed import mixed_model_anova
from skewanova._omnibus_result import OmnibusResult
from skewanova._pairwise import PAIR_LABELS, bayesian_comparisons, pairwise_comparisons
from skewanova._rendering import short_names
from skewanova._score_table import ScoreTable
from skewanova._support import support_by_prior
from skewanova.anova import three_way_anova, two_way_anova
from skewanova.decision import decision_table, lead_regions, rank_models, ranking_order
from skewanova.evaluation import Evaluation, evaluate
from skewanova.posthoc import compact_letters, prior_pair_columns, tukey_by_prior, tukey_hsd
from skewanova.priors import DeploymentPrior
from skewanova.scores import check_paired, complete_table, read_scores


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that a comparison found; models stand in ranking order everywhere.

    Attributes
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec.
    iauprec : DataFrame
        Columns model, fold, iauprec, auc, n_positive, n_negative.
    anova : DataFrame
        One row a term of each analysis of variance; columns of `anova.ANOVA_COLUMNS`.
    posthoc : DataFrame
        One row a pair of models of each family of comparisons; columns of `posthoc.POSTHOC_COLUMNS`.
    prior_posthoc : DataFrame
        One row a pair of priors (empty if there is one prior, or an interaction of model and prior).
    ranking : DataFrame
        One row a model; columns of `decision.RANKING_COLUMNS`.
    regions : DataFrame
        Which model leads at which prior; columns of `decision.REGION_COLUMNS`.
    crossings : DataFrame
        Where the mean curves of two models cross, with intervals (see :func:`~skewanova.crossings`).
    leaders : DataFrame
        Which models may be the best at which prior (see :func:`~skewanova.leaders`).
    decisions : DataFrame
        What every model promises and risks (see :func:`~skewanova.decision_table`).
    choices : DataFrame
        Which model each criterion picks (see :func:`~skewanova.decision_choices`).
    support : DataFrame
        At which priors the test set can speak (see :func:`~skewanova.support_by_prior`).
    differences : DataFrame
        Difference of AUPREC of every pair along the prior, with simultaneous bands.
    practical : DataFrame
        Probability that two models are practically equal (see :func:`~skewanova.bayesian_comparisons`).
    checks : DataFrame
        What the tests assume, checked, with advice.
    resampling : Resampling
        How the folds came about, and what that was concluded from.
    warnings : tuple of str
        What to keep in mind when reading the numbers.
    labels : dict
        How each test of all models may be read.
    settings : dict
        What was asked for.
    """

    auprec: pd.DataFrame = field(repr=False)
    iauprec: pd.DataFrame = field(repr=False)
    anova: pd.DataFrame = field(repr=False)
    posthoc: pd.DataFrame = field(repr=False)
    prior_posthoc: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    regions: pd.DataFrame = field(repr=False)
    crossings: pd.DataFrame = field(repr=False)
    leaders: pd.DataFrame = field(repr=False)
    decisions: pd.DataFrame = field(repr=False)
    choices: pd.DataFrame = field(repr=False)
    support: pd.DataFrame = field(repr=False)
    differences: pd.DataFrame = field(repr=False)
    practical: pd.DataFrame = field(repr=False)
    checks: pd.DataFrame = field(repr=False)
    resampling: Resampling
    warnings: tuple[str, ...]
    labels: dict[str, str] = field(repr=False)
    settings: dict[str, object]
    evaluation: Evaluation = field(repr=False)
    scores: ScoreTable = field(repr=False)

    @property
    def alpha(self) -> float:
        """Level of the tests and the intervals."""
        return float(str(self.settings["alpha"]))

    @property
    def source(self) -> Path | None:
        """File the scores were read from."""
        return self.scores.source

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the input."""
        return self.scores.sha256()

    @cached_property
    def roc_points(self) -> pd.DataFrame:
        """Columns model, fold, fpr, tpr (see :func:`~skewanova.roc_points`)."""
        return frames.roc_points(self.evaluation)

    @cached_property
    def precision_recall_points(self) -> pd.DataFrame:
        """Columns model, fold, prior, recall, precision (see :func:`~skewanova.precision_recall_points`)."""
        return frames.precision_recall_points(self.evaluation)

    @cached_property
    def auprec_by_prior(self) -> pd.DataFrame:
        """Columns model, fold, prior, auprec (see :func:`~skewanova.auprec_by_prior`)."""
        return frames.auprec_by_prior(self.evaluation)

    @cached_property
    def auprec_bands(self) -> pd.DataFrame:
        """Columns model, prior, auprec, conf_low, conf_high (see :func:`~skewanova.auprec_bands`)."""
        ratio, seed = self.resampling.ratio, self.settings["seed"]
        rng = seed if isinstance(seed, int) else 0
        return auprec_bands(self.evaluation, ratio=ratio, alpha=self.alpha, scores=self.scores, rng=rng)

    @cached_property
    def surface_points(self) -> pd.DataFrame:
        """Columns model, prior, recall, precision (see :func:`~skewanova.surface_points`)."""
        return frames.surface_points(self.evaluation)

    @cached_property
    def operating_points(self) -> pd.DataFrame:
        """Columns model, fold, prior, skew, tpr, fpr, accuracy, precision."""
        return frames.operating_points(self.evaluation)

    @cached_property
    def advice(self) -> str:
        """Which model to deploy, how sure that is, and where it would change: one paragraph."""
        return advice(self)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What the calibrated tests found, in words."""
        headline = self.posthoc[self.posthoc["role"] == "headline"]
        short = short_names(self.evaluation.models)
        return (
            sentences.omnibus_sentence(self.anova, self.alpha),
            *sentences.pair_findings(headline, self.alpha, short),
            *sentences.curve_sentences(self.differences, short),
        )

    def summary(self) -> str:
        """Return the findings as text of at most 80 columns."""
        short = short_names(self.evaluation.models)
        parts = [
            f"Advice\n{textwrap.fill(self.advice, 80)}",
            self._heading(),
            _section("Conclusions", self.conclusions),
            tables.performance_table(self.auprec, self.iauprec, self.ranking).to_text(names=short),
            tables.ranking_table(self.ranking, 1 - self.alpha).to_text(names=short),
            *self._published_parts(short),
            tables.regions_table(self.regions).to_text(names=short),
        ]
        advised = self.checks[self.checks["advice"] != ""]
        advice = [f"{check}: {text}" for check, text in zip(advised["check"], advised["advice"], strict=True)]
        parts += [_section("Assumptions", advice)] if advice else []
        parts += [_section("Warnings", self.warnings)] if self.warnings else []
        return "\n\n".join(parts)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write every table, figure and the report to a folder, whole or not at all.

        Parameters
        ----------
        directory : path
            Folder to write; an earlier output there is replaced, anything else is left alone.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        ValueError
            If something other than an earlier output stands there.
        """
        from skewanova.report import write_folder  # drawing is heavy: loaded when something is drawn

        return write_folder(self, Path(directory))

    def _family(self, test: str, response: str) -> pd.DataFrame:
        return self.posthoc[(self.posthoc["test"] == test) & (self.posthoc["response"] == response)]

    def _heading(self) -> str:
        measures = self.evaluation
        lines = [
            f"{len(measures.models)} models, {len(measures.folds)} folds, level {self.alpha:g}",
            f"AUPREC: {measures.estimator} estimator, by prior (probability of the positive class)",
            f"IAUPREC: mean AUPREC over the deployment prior, {measures.deployment_prior.describe()}",
            f"Folds: {self.resampling.describe()}",
        ]
        return "\n".join(textwrap.fill(line, 80, subsequent_indent="  ") for line in lines)

    def _published_parts(self, short: dict[str, str]) -> list[str]:
        """Each of the paper's analyses with how it may be read, then what its pairwise comparisons say."""
        parts = []
        pairs = {"two_way": ("tukey", "iauprec"), "three_way": ("tukey_three_way", "auprec")}
        published = self.anova[self.anova["role"] == "as_published"]
        for test, group in published.groupby("test", sort=False, observed=True):
            name = str(test)
            lines = [sentences.anova_line(group), textwrap.fill(self.labels[name], 80)]
            if name in pairs:
                lines += map(_item, sentences.pair_sentences(self._family(*pairs[name]), self.alpha, short))
            parts.append("\n".join(lines))
        return parts


def compare(
    scores: object,
    deployment_prior: DeploymentPrior | tuple[float, float] | float = (0.05, 0.20),
    *,
    priors: Sequence[float] = (0.5, 0.1, 0.01),
    alpha: float = 0.05,
    estimator: str = "trapezoid",
    resampling: str = "auto",
    test_fraction: float | None = None,
    missing: str = "error",
    control: str | None = None,
    rope: float = 0.01,
    interaction: bool = False,
    sum_of_squares: int = 2,
    rng: Seed = 0,
) -> Comparison:
    r"""Compare classifiers over an uncertain prior, as Landgrebe et al. 2006 do, and by tests that hold.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores of at least two models over at least two folds, as for
        :func:`~skewanova.read_scores`.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Over what the prior of the deployment is believed to vary; IAUPREC is the mean over it.
    priors : sequence of float, default (0.5, 0.1, 0.01)
        Priors at which AUPREC is tabulated, and the levels of the factor prior in the 3-way ANOVA. The
        calibrated tests do not depend on them.
    alpha : float, default 0.05
        Level of the tests and, as ``1 - alpha``, of the intervals (0.005 in the paper).
    estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    resampling : str, default "auto"
        How the folds came about: ``independent``, ``kfold``, ``repeated_kfold`` or ``repeated_holdout``;
        "auto" looks at the case column.
    test_fraction : float, optional
        Share of the data set that each fold tests, where the cases do not tell.
    missing : {"error", "drop_fold"}, default "error"
        What to do if a model lacks a fold; a mixed model of all cells is added if folds are dropped.
    control : str, optional
        Model that all others are also compared with, by Dunnett's test.
    rope : float, default 0.01
        Difference of IAUPREC that would not matter, for the probabilities of practical equivalence.
    interaction : bool, default False
        Whether to add the 3-way ANOVA with the interaction of model and prior.
    sum_of_squares : {1, 2, 3}, default 2
        Type of the sums of squares of the published analyses.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of all resampling; a whole number makes two runs alike.

    Returns
    -------
    Comparison
        Frames, ``summary()`` and ``save()``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if there are fewer than 2 models or 2 folds, a model
        lacks a fold, or the models of a fold were scored on different cases.

    Warns
    -----
    SkewanovaWarning
        Whatever the parts have to say; also kept in ``warnings``.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), (0.05, 0.20), priors=(0.5, 0.2), alpha=0.005)
    >>> result.ranking[["rank", "model", "group"]].to_string(index=False).split("\n")
    [' rank model group', '    1     A     a', '    2     C     a', '    3     B     a']
    """
    check_fraction(alpha, "alpha")
    options = {
        "alpha": alpha,
        "missing": missing,
        "control": control,
        "rope": rope,
        "interaction": interaction,
        "sum_of_squares": sum_of_squares,
    }
    given = scores if isinstance(scores, ScoreTable) else read_scores(scores)
    table, dropped = complete_table(given, missing=missing)
    notes = [*dropped, *check_paired(table)]
    measures = evaluate(table, priors=priors, deployment_prior=deployment_prior, estimator=estimator)
    measures = measures.ordered(ranking_order(measures))
    published = _published(measures, alpha, sum_of_squares=sum_of_squares, interaction=interaction)
    design, told = find_resampling(table, resampling=resampling, test_fraction=test_fraction)
    calibrated = omnibus_tests(measures.iauprec, measures.auprec, design, rng=rng)
    calibrated += [_mixed(given, measures)] if dropped else []
    posthoc = _posthoc(measures, published, design, alpha, control=control, rng=rng)
    tests: list[AnovaResult | OmnibusResult] = [calibrated[0], *published, *calibrated[1:]]
    notes += [*emit(told), *measures.warnings, *(note for test in tests for note in test.warnings)]
    return Comparison(
        **_decisions(measures, table, design.ratio, alpha=alpha, rng=rng),
        auprec=measures.auprec,
        iauprec=measures.iauprec,
        anova=pd.concat([test.to_frame() for test in tests], ignore_index=True),
        posthoc=posthoc,
        prior_posthoc=_prior_posthoc(published[1], alpha),
        ranking=rank_models(
            measures,
            letters=_letters(measures, posthoc),
            alpha=alpha,
            ratio=design.ratio,
            scores=table,
            rng=rng,
        ),
        regions=lead_regions(measures),
        differences=difference_curves(measures, ratio=design.ratio, alpha=alpha, rng=rng),
        practical=bayesian_comparisons(
            measures.iauprec, rope=rope, ratio=design.ratio, order=measures.models
        ),
        checks=assumption_checks(measures.iauprec, alpha=alpha),
        resampling=design,
        warnings=tuple(dict.fromkeys(notes)),
        labels={test.test: test.label for test in tests} | PAIR_LABELS,
        settings=_settings(measures, design, rng=rng, **options),
        evaluation=measures,
        scores=table,
    )


def _decisions(
    measures: Evaluation, scores: ScoreTable, ratio: float, *, alpha: float, rng: Seed
) -> dict[str, pd.DataFrame]:
    """Frames that the choice of a model rests on."""
    panel = panel_curves(measures, ratio=ratio, scores=scores)
    grid = frames.prior_grid(measures, BAND_PRIORS)
    joint = joint_curves(measures, grid, ratio=ratio, scores=scores)
    critical = pair_critical(joint, alpha, rng=rng)
    rarest = rarest_decided(measures)
    decisions = decision_table(measures, ratio=ratio, scores=scores, rng=rng)
    return {
        "crossings": crossings_frame(panel, measures.models, alpha),
        "leaders": leaders_frame(panel, measures.models, critical, rarest=rarest),
        "decisions": decisions,
        "choices": decision_choices(decisions),
        "support": support_by_prior(measures),
    }


def _settings(measures: Evaluation, design: Resampling, *, rng: Seed, **options: object) -> dict[str, object]:
    """What was asked for and what was found out, for whoever repeats the comparison."""
    weighting = measures.deployment_prior
    return {
        "deployment_prior": weighting.describe(),
        "deployment_limits": (weighting.low, weighting.high),
        "priors": list(measures.priors),
        "estimator": measures.estimator,
        "design": design.describe(),
        "resampling": design.kind,
        "test_train_ratio": design.ratio,
        **options,
        "seed": rng if isinstance(rng, int) else None,
        "n_models": len(measures.models),
        "n_folds": len(measures.folds),
    }


def _published(
    measures: Evaluation, alpha: float, *, sum_of_squares: int, interaction: bool
) -> list[AnovaResult]:
    """Run the paper's 2-way and 3-way analyses and, where asked for, the one with the interaction."""
    found = [
        two_way_anova(measures.iauprec, sum_of_squares=sum_of_squares, alpha=alpha),
        three_way_anova(measures.auprec, sum_of_squares=sum_of_squares, alpha=alpha),
    ]
    if interaction and len(measures.priors) > 1:
        found.append(
            three_way_anova(measures.auprec, interaction=True, sum_of_squares=sum_of_squares, alpha=alpha)
        )
    return found


def _mixed(given: ScoreTable, measures: Evaluation) -> OmnibusResult:
    """Test all cells of an incomplete table, those of the dropped folds included."""
    every = evaluate(
        given,
        priors=measures.priors,
        deployment_prior=measures.deployment_prior,
        estimator=measures.estimator,
    )
    return mixed_model_anova(every.iauprec)


def _posthoc(
    measures: Evaluation,
    published: Sequence[AnovaResult],
    design: Resampling,
    alpha: float,
    *,
    control: str | None,
    rng: Seed,
) -> pd.DataFrame:
    """Compare pairs: the calibrated family first, the paper's, then other families as checks."""
    options: dict[str, Any] = {"alpha": alpha, "order": measures.models}
    parts = [
        headline_pairs(measures.iauprec, design, rng=rng, **options),
        tukey_hsd(published[0], **options).to_frame(),
        tukey_hsd(published[1], **options).to_frame(),
        tukey_by_prior(measures.auprec, **options),
    ]
    for method in ("paired_t_holm", "max_t", "games_howell", "nemenyi", "wilcoxon_holm"):
        if method != parts[0]["test"].iloc[0]:
            parts.append(pairwise_comparisons(measures.iauprec, method=method, rng=rng, **options))
    if control is not None:
        parts.append(pairwise_comparisons(measures.iauprec, method="dunnett", control=control, **options))
    return pd.concat(parts, ignore_index=True)


def _prior_posthoc(three_way: AnovaResult, alpha: float) -> pd.DataFrame:
    if three_way.residuals()["prior"].nunique() < 2:
        return pd.DataFrame(columns=prior_pair_columns())
    return tukey_hsd(three_way, factor="prior", alpha=alpha).to_frame()


def _letters(measures: Evaluation, posthoc: pd.DataFrame) -> dict[str, str]:
    """Letters from the headline comparisons."""
    rejected = posthoc[(posthoc["role"] == "headline") & posthoc["reject"]]
    return compact_letters(measures.models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def _section(title: str, items: Sequence[str]) -> str:
    return "\n".join([title, *map(_item, items)])


def _item(text: str) -> str:
    return textwrap.fill(text, 80, initial_indent="- ", subsequent_indent="  ")
