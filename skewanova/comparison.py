"""The whole pipeline in one call: scores in, measures, tests, ranking and report out."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from skewanova import _sentences as sentences
from skewanova import evaluation as frames
from skewanova import tables
from skewanova._analysis import Options, analyse_folds
from skewanova._checks import Seed, check_fraction, emit
from skewanova._design import Resampling, find_resampling
from skewanova._mixed import mixed_model_anova
from skewanova._omnibus_result import OmnibusResult
from skewanova._pairwise import PAIR_LABELS
from skewanova._prior_summaries import auprec_intervals, regret_by_prior
from skewanova._progress import stage
from skewanova._publication import fitted, publication_table, siunitx_latex
from skewanova._rendering import short_names
from skewanova._score_table import ScoreTable
from skewanova._set_analysis import analyse_one_set
from skewanova._streamed_scores import Scores, StreamedScores
from skewanova.decision import lead_regions, ranking_order
from skewanova.evaluation import Evaluation, evaluate
from skewanova.priors import DeploymentPrior
from skewanova.scores import check_paired, check_several_models, complete_table, open_scores


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
    differences : DataFrame
        Difference of AUPREC of every pair along the prior, with simultaneous bands.
    practical : DataFrame
        Probability that two models are practically equal (see :func:`~skewanova.bayesian_comparisons`).
    checks : DataFrame
        What the tests assume, checked, with advice.
    residuals : DataFrame
        Of the 2-way analysis: columns model, fold, fitted, residual.
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
    differences: pd.DataFrame = field(repr=False)
    practical: pd.DataFrame = field(repr=False)
    checks: pd.DataFrame = field(repr=False)
    residuals: pd.DataFrame = field(repr=False)
    resampling: Resampling
    warnings: tuple[str, ...]
    labels: dict[str, str] = field(repr=False)
    settings: dict[str, object]
    evaluation: Evaluation = field(repr=False)
    scores: Scores = field(repr=False)

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
    def auprec_intervals(self) -> pd.DataFrame:
        """Mean AUPREC by model and prior with intervals (see :func:`~skewanova.auprec_intervals`)."""
        return auprec_intervals(self.auprec, ratio=self.resampling.ratio, alpha=self.alpha)

    @cached_property
    def regret_by_prior(self) -> pd.DataFrame:
        """Columns model, prior, auprec, best, regret (see :func:`~skewanova.regret_by_prior`)."""
        return regret_by_prior(self.evaluation)

    @cached_property
    def surface_points(self) -> pd.DataFrame:
        """Columns model, prior, recall, precision (see :func:`~skewanova.surface_points`)."""
        return frames.surface_points(self.evaluation)

    @cached_property
    def operating_points(self) -> pd.DataFrame:
        """Columns model, fold, prior, skew, tpr, fpr, accuracy, precision."""
        return frames.operating_points(self.evaluation)

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

    @property
    def advice(self) -> str:
        """What to do, in words."""
        return self.conclusions[0]

    def summary(self, width: int = 80) -> str:
        """Return the findings as text of at most `width` columns."""
        short = short_names(self.evaluation.models)
        parts = [
            self._heading(width),
            _section("Conclusions", self.conclusions, width),
            tables.performance_table(self.auprec, self.iauprec, self.ranking).to_text(width, names=short),
            tables.ranking_table(self.ranking, 1 - self.alpha).to_text(width, names=short),
            *self._published_parts(short, width),
            tables.regions_table(self.regions).to_text(width, names=short),
        ]
        advised = self.checks[self.checks["advice"] != ""]
        advice = [f"{check}: {text}" for check, text in zip(advised["check"], advised["advice"], strict=True)]
        parts += [_section("Assumptions", advice, width)] if advice else []
        parts += [_section("Warnings", self.warnings, width)] if self.warnings else []
        return "\n\n".join(parts)

    def to_latex(self, table: str = "performance", *, siunitx: bool = False) -> str:
        r"""Return one table for a paper.

        Parameters
        ----------
        table : str, default "performance"
            performance (table 1 of Landgrebe et al. 2006), ranking, regions, anova, pairwise (of the test
            that the conclusions rest on), pairs (of every test), prior_pairs, practical or checks.
        siunitx : bool, default False
            Whether numbers are aligned at the decimal point, by the package siunitx (version 3).

        Returns
        -------
        str
            A float with caption, note and label, no wider than the line. Needs the packages booktabs and
            graphicx, and fontenc with T1 for any sign in a name; names in other scripts than Latin need
            LuaLaTeX or XeLaTeX.

        Raises
        ------
        ValueError
            If there is no such table.

        Examples
        --------
        >>> from skewanova import compare, load_satellite_scores
        >>> result = compare(load_satellite_scores(), priors=(0.5, 0.2))
        >>> print(result.to_latex(siunitx=True).split("\n")[10][:29])
        A & \bfseries 0.939 & (0.008)
        """
        chosen = publication_table(self, table)
        return fitted(siunitx_latex(chosen) if siunitx else chosen.to_latex())

    def to_markdown(self, table: str = "performance") -> str:
        """Return one table as GitHub-flavoured Markdown; names as for :meth:`to_latex`."""
        return publication_table(self, table).to_markdown()

    def to_html(self, table: str = "performance") -> str:
        """Return one table as HTML; names as for :meth:`to_latex`."""
        return publication_table(self, table).to_html()

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

    def _heading(self, width: int) -> str:
        measures = self.evaluation
        lines = [
            f"{len(measures.models)} models, {_counted(len(measures.folds), 'fold')}, level {self.alpha:g}",
            f"AUPREC: {measures.estimator} estimator, by prior (probability of the positive class)",
            f"IAUPREC: mean AUPREC over the deployment prior, {measures.deployment_prior.describe()}",
            f"Data: {self.resampling.describe()}"
            if self.resampling.kind == "one_set"
            else f"Folds: {self.resampling.describe()}",
        ]
        return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)

    def _published_parts(self, short: dict[str, str], width: int) -> list[str]:
        """Each of the paper's analyses with how it may be read, then what its pairwise comparisons say."""
        parts = []
        pairs = {"two_way": ("tukey", "iauprec"), "three_way": ("tukey_three_way", "auprec")}
        published = self.anova[self.anova["role"] == "as_published"]
        for test, group in published.groupby("test", sort=False, observed=True):
            name = str(test)
            lines = [textwrap.fill(text, width) for text in (sentences.anova_line(group), self.labels[name])]
            if name in pairs:
                found = sentences.pair_sentences(self._family(*pairs[name]), self.alpha, short)
                lines += [_item(sentence, width) for sentence in found]
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
    scores : ScoreTable, StreamedScores, path or frame
        Held-out scores of at least two models, as for :func:`~skewanova.read_scores`; Parquet that would not
        fit in memory is read as by :func:`~skewanova.stream_scores`. With one fold, the fitted models are
        compared by the influence covariance of their areas on the same cases
        (:func:`~skewanova.compare_on_one_set`); the analyses of variance need folds.
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
        As :func:`~skewanova.read_scores`; ValueError if there are fewer than 2 models, a model lacks
        a fold, or the models of a fold were scored on different cases.

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
    stage("scores")
    options = Options(alpha, control, rope, interaction, sum_of_squares, rng)
    given = scores if isinstance(scores, ScoreTable | StreamedScores) else open_scores(scores)
    check_several_models(given)
    table, dropped = complete_table(given, missing=missing)
    notes = [*dropped, *check_paired(table)]
    stage("measures")
    measures = evaluate(table, priors=priors, deployment_prior=deployment_prior, estimator=estimator)
    measures = measures.ordered(ranking_order(measures))
    design, told = find_resampling(table, resampling=resampling, test_fraction=test_fraction)
    if design.kind == "one_set":
        found, more = analyse_one_set(table, measures, options)
    else:
        mixed = [_mixed(given, measures)] if dropped else []
        found, more = analyse_folds(measures, design, options, more=mixed), []
    notes += [*emit(told), *more, *measures.warnings, *found.notes]
    return Comparison(
        auprec=measures.auprec,
        iauprec=measures.iauprec,
        anova=found.anova,
        posthoc=found.posthoc,
        prior_posthoc=found.prior_posthoc,
        ranking=found.ranking,
        regions=lead_regions(measures),
        differences=found.differences,
        practical=found.practical,
        checks=found.checks,
        residuals=found.residuals,
        resampling=design,
        warnings=tuple(dict.fromkeys(notes)),
        labels=found.labels | PAIR_LABELS,
        settings=_settings(measures, design, options, missing=missing),
        evaluation=measures,
        scores=table,
    )


def _settings(
    measures: Evaluation, design: Resampling, options: Options, *, missing: str
) -> dict[str, object]:
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
        "missing": missing,
        **{name: value for name, value in asdict(options).items() if name != "rng"},
        "seed": options.rng if isinstance(options.rng, int) else None,
        "n_models": len(measures.models),
        "n_folds": len(measures.folds),
    }


def _mixed(given: Scores, measures: Evaluation) -> OmnibusResult:
    """Test all cells of an incomplete table, those of the dropped folds included."""
    every = evaluate(
        given,
        priors=measures.priors,
        deployment_prior=measures.deployment_prior,
        estimator=measures.estimator,
    )
    return mixed_model_anova(every.iauprec)


def _section(title: str, items: Sequence[str], width: int) -> str:
    return "\n".join([title, *(_item(text, width) for text in items)])


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _item(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="- ", subsequent_indent="  ")
