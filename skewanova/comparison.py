"""The whole pipeline in one call: scores in, measures, tests, ranking and report out."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from skewanova import evaluation as frames
from skewanova import tables
from skewanova._checks import Seed, check_fraction
from skewanova._rendering import short_names
from skewanova._score_table import ScoreTable
from skewanova.anova import AnovaResult, three_way_anova, two_way_anova
from skewanova.decision import lead_regions, rank_models, ranking_order
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
    warnings : tuple of str
        What to keep in mind when reading the numbers.
    labels : dict
        How each analysis of variance may be read.
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
    def surface_points(self) -> pd.DataFrame:
        """Columns model, prior, recall, precision (see :func:`~skewanova.surface_points`)."""
        return frames.surface_points(self.evaluation)

    @cached_property
    def operating_points(self) -> pd.DataFrame:
        """Columns model, fold, prior, skew, tpr, fpr, accuracy, precision."""
        return frames.operating_points(self.evaluation)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What the tests on IAUPREC found, in words."""
        return tuple(tables.pair_sentences(self._family("tukey", "iauprec"), self.alpha))

    def summary(self) -> str:
        """Return the findings as text of at most 80 columns."""
        short = short_names(self.evaluation.models)
        parts = [
            self._heading(),
            tables.performance_table(self.auprec, self.iauprec, self.ranking).to_text(names=short),
            tables.ranking_table(self.ranking, 1 - self.alpha).to_text(names=short),
            *self._test_parts(short),
            tables.regions_table(self.regions).to_text(names=short),
        ]
        if self.warnings:
            parts.append("Warnings\n" + "\n".join(_item(note) for note in self.warnings))
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
        return "\n".join(
            [
                f"{len(measures.models)} models, {len(measures.folds)} folds, level {self.alpha:g}",
                f"AUPREC: {measures.estimator} estimator, by prior (probability of the positive class)",
                textwrap.fill(
                    f"IAUPREC: mean AUPREC over the deployment prior, {measures.deployment_prior.describe()}",
                    80,
                ),
            ]
        )

    def _test_parts(self, short: dict[str, str]) -> list[str]:
        """Each analysis of variance with how it may be read, then what its pairwise comparisons say."""
        parts = []
        pairs = {"two_way": ("tukey", "iauprec"), "three_way": ("tukey_three_way", "auprec")}
        for test, group in self.anova.groupby("test", sort=False, observed=True):
            name = str(test)
            lines = [tables.anova_line(group), textwrap.fill(self.labels[name], 80)]
            if name in pairs:
                lines += map(_item, tables.pair_sentences(self._family(*pairs[name]), self.alpha, short))
            parts.append("\n".join(lines))
        return parts


def compare(
    scores: object,
    deployment_prior: DeploymentPrior | tuple[float, float] | float = (0.05, 0.20),
    *,
    priors: Sequence[float] = (0.5, 0.1, 0.01),
    alpha: float = 0.05,
    estimator: str = "trapezoid",
    missing: str = "error",
    interaction: bool = False,
    sum_of_squares: int = 2,
    rng: Seed = 0,
) -> Comparison:
    r"""Compare classifiers over an uncertain prior, as Landgrebe et al. 2006 do.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores of at least two models over at least two folds, as for
        :func:`~skewanova.read_scores`.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Over what the prior of the deployment is believed to vary; IAUPREC is the mean over it.
    priors : sequence of float, default (0.5, 0.1, 0.01)
        Priors at which AUPREC is tabulated, and the levels of the factor prior in the 3-way ANOVA.
    alpha : float, default 0.05
        Level of the tests and, as ``1 - alpha``, of the intervals (0.005 in the paper).
    estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    missing : {"error", "drop_fold"}, default "error"
        What to do if a model lacks a fold.
    interaction : bool, default False
        Whether the 3-way ANOVA also has the interaction of model and prior.
    sum_of_squares : {1, 2, 3}, default 2
        Type of the sums of squares.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the bootstrap behind ``p_best``; a whole number makes two runs alike.

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
    [' rank model group', '    1     A     a', '    2     C     a', '    3     B     b']
    """
    check_fraction(alpha, "alpha")
    table = scores if isinstance(scores, ScoreTable) else read_scores(scores)
    table, dropped = complete_table(table, missing=missing)
    unpaired = check_paired(table)
    measures = evaluate(table, priors=priors, deployment_prior=deployment_prior, estimator=estimator)
    measures = measures.ordered(ranking_order(measures))
    two_way = two_way_anova(measures.iauprec, sum_of_squares=sum_of_squares, alpha=alpha)
    three_way = _three_way(measures, sum_of_squares, alpha, interaction=interaction)
    posthoc = _posthoc(measures, two_way, three_way[0], alpha)
    tests = [two_way, *three_way]
    return Comparison(
        auprec=measures.auprec,
        iauprec=measures.iauprec,
        anova=pd.concat([test.to_frame() for test in tests], ignore_index=True),
        posthoc=posthoc,
        prior_posthoc=_prior_posthoc(three_way[0], alpha),
        ranking=rank_models(measures, letters=_letters(measures, posthoc), alpha=alpha, rng=rng),
        regions=lead_regions(measures),
        warnings=_unique(dropped, unpaired, measures.warnings, *(test.warnings for test in tests)),
        labels={test.test: test.label for test in tests},
        settings={
            "deployment_prior": measures.deployment_prior.describe(),
            "priors": list(measures.priors),
            "alpha": alpha,
            "estimator": estimator,
            "missing": missing,
            "interaction": interaction,
            "sum_of_squares": sum_of_squares,
            "seed": rng if isinstance(rng, int) else None,
            "n_models": len(measures.models),
            "n_folds": len(measures.folds),
        },
        evaluation=measures,
        scores=table,
    )


def _three_way(
    measures: Evaluation, sum_of_squares: int, alpha: float, *, interaction: bool
) -> list[AnovaResult]:
    """The published main-effects analysis and, where asked for, the one with the interaction."""
    found = [three_way_anova(measures.auprec, sum_of_squares=sum_of_squares, alpha=alpha)]
    if interaction and len(measures.priors) > 1:
        found.append(
            three_way_anova(measures.auprec, interaction=True, sum_of_squares=sum_of_squares, alpha=alpha)
        )
    return found


def _posthoc(
    measures: Evaluation, two_way: AnovaResult, three_way: AnovaResult, alpha: float
) -> pd.DataFrame:
    order = measures.models
    parts = [
        tukey_hsd(two_way, alpha=alpha, order=order).to_frame(),
        tukey_hsd(three_way, alpha=alpha, order=order).to_frame(),
        tukey_by_prior(measures.auprec, alpha=alpha, order=order),
    ]
    return pd.concat(parts, ignore_index=True)


def _prior_posthoc(three_way: AnovaResult, alpha: float) -> pd.DataFrame:
    if "prior" not in three_way.residuals():
        return pd.DataFrame(columns=prior_pair_columns())
    return tukey_hsd(three_way, factor="prior", alpha=alpha).to_frame()


def _letters(measures: Evaluation, posthoc: pd.DataFrame) -> dict[str, str]:
    family = posthoc[(posthoc["test"] == "tukey") & (posthoc["response"] == "iauprec")]
    rejected = family[family["reject"]]
    return compact_letters(measures.models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def _unique(*groups: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for group in groups for note in group))


def _item(text: str) -> str:
    return textwrap.fill(text, 80, initial_indent="- ", subsequent_indent="  ")
