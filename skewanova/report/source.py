"""What a report is made of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats
from skewanova.base.frames import Framed
from skewanova.decision.bands import BAND_COLUMNS
from skewanova.decision.leads import by_prior_of
from skewanova.decision.verdict import VERDICT_FRAMES, Judgement, Verdict
from skewanova.evaluation import along_prior, points
from skewanova.evaluation.along_prior import auprec_intervals, regret
from skewanova.evaluation.measures import Evaluation
from skewanova.report.verdict_text import write_verdict
from skewanova.scores.bins import score_bins
from skewanova.scores.design import FoldDesign
from skewanova.scores.table import Scores

#: Priors beyond these are left to the files: a table is no wider than a page.
MOST_PRIORS = 16


#: Rows of a frame of points beyond which every fourth point of a curve is enough.
MOST_POINTS = 500_000


@dataclass(frozen=True, eq=False, repr=False)
class ReportSource(Framed):
    """What sentences, tables, figures and the report are made of: the frames of a comparison.

    Their columns are those of the files in the output folder; see :class:`~skewanova.Comparison`.
    """

    auprec: pd.DataFrame = field(repr=False)
    iauprec: pd.DataFrame = field(repr=False)
    anova: pd.DataFrame = field(repr=False)
    posthoc: pd.DataFrame = field(repr=False)
    prior_pairs: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    regions: pd.DataFrame = field(repr=False)
    crossings: pd.DataFrame = field(repr=False)
    leaders: pd.DataFrame = field(repr=False)
    differing_priors: pd.DataFrame = field(repr=False)
    decisions: pd.DataFrame = field(repr=False)
    choices: pd.DataFrame = field(repr=False)
    support: pd.DataFrame = field(repr=False)
    plans: pd.DataFrame = field(repr=False)
    components: pd.DataFrame = field(repr=False)
    difference_curves: pd.DataFrame = field(repr=False)
    effects: pd.DataFrame = field(repr=False)
    equivalence: pd.DataFrame = field(repr=False)
    assumptions: pd.DataFrame = field(repr=False)
    residuals: pd.DataFrame = field(repr=False)
    design: FoldDesign
    warnings: tuple[str, ...]
    settings: dict[str, object]
    evaluation: Evaluation = field(repr=False)
    scores: Scores = field(repr=False)

    @cached_property
    def verdict(self) -> Verdict:
        """Which model to deploy, how sure that is, where it would change, what is weakest about it."""
        frames = {name: getattr(self, name) for name in VERDICT_FRAMES}
        rope = float(str(self.settings["rope"]))
        return write_verdict(Judgement(frames, self.evaluation, rope=rope, control=control_of(self)))

    @property
    @abstractmethod
    def conclusions(self) -> tuple[str, ...]:
        """What the tests found, in sentences."""

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
    def roc(self) -> pd.DataFrame:
        """Columns model, fold, fpr, tpr (see :func:`~skewanova.evaluation.roc`).

        At 51 rates instead of 201 where that would be more than half a million rows.
        """
        step = _step(len(self.evaluation.curves) * len(points.RATE_GRID))
        return points.roc(self.evaluation, fpr=points.RATE_GRID[::step])

    @cached_property
    def precision_recall(self) -> pd.DataFrame:
        """Columns model, fold, prior, recall, precision (see :func:`~skewanova.evaluation.precision_recall`).

        At 16 of the priors where there are more, and at 50 recalls instead of 200 where that would be more
        than half a million rows.
        """
        priors = evenly(self.evaluation.priors, MOST_PRIORS)
        step = _step(len(self.evaluation.curves) * len(priors) * len(points.RECALL_GRID))
        recall = points.RECALL_GRID[step - 1 :: step]
        return points.precision_recall(self.evaluation, priors, recall=recall)

    @cached_property
    def auprec_by_prior(self) -> pd.DataFrame:
        """Columns model, fold, prior, auprec (see :func:`~skewanova.evaluation.auprec_by_prior`)."""
        return along_prior.auprec_by_prior(self.evaluation)

    @cached_property
    def auprec_intervals(self) -> pd.DataFrame:
        """Mean AUPREC by model and prior (see :func:`~skewanova.evaluation.auprec_intervals`)."""
        return auprec_intervals(self.evaluation, alpha=self.alpha)

    @cached_property
    def regret(self) -> pd.DataFrame:
        """Columns model, prior, auprec, best, regret (see :func:`~skewanova.evaluation.regret`)."""
        return regret(self.evaluation)

    @cached_property
    def auprec_bands(self) -> pd.DataFrame:
        """Mean AUPREC along the prior, with bands (see :func:`~skewanova.decision.auprec_bands`)."""
        return self.by_prior[list(BAND_COLUMNS)]

    @cached_property
    def by_prior(self) -> pd.DataFrame:
        """What is known of every model, prior by prior (see :func:`~skewanova.decision.by_prior`)."""
        seed = self.settings["seed"]
        rng = seed if isinstance(seed, int) else 0
        return by_prior_of(self.evaluation, self.leaders, alpha=self.alpha, rng=rng)

    @cached_property
    def score_bins(self) -> pd.DataFrame:
        """Labelled cases in bins of each model's score, for ``skewanova monitor``."""
        return score_bins(self.scores)

    @cached_property
    def prior_frames(self) -> dict[str, pd.DataFrame]:
        """Estimates and bins of a deployment prior that was estimated from unlabelled scores, else none."""
        weighting = self.evaluation.deployment_prior
        parts = {"prior": "to_frame", "bins": "bins_frame"}
        estimated = hasattr(weighting, "bins_frame")
        return {name: getattr(weighting, part)() for name, part in parts.items() if estimated}

    @cached_property
    def surface(self) -> pd.DataFrame:
        """Columns model, prior, recall, precision (see :func:`~skewanova.evaluation.surface`)."""
        return points.surface(self.evaluation)

    @cached_property
    def skew(self) -> pd.DataFrame:
        """Columns model, fold, prior, skew, tpr, fpr, accuracy, precision."""
        return points.skew(self.evaluation)


def evenly(values: Sequence[float] | Floats, most: int) -> Floats:
    """At most so many of the values, evenly chosen in their order, the first and the last among them."""
    places = np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)
    chosen: Floats = np.asarray(values, dtype=np.float64)[places]
    return chosen


def _step(n_rows: int) -> int:
    """Every how many-th point of curves to keep."""
    return 1 if n_rows <= MOST_POINTS else 4


def level_of(source: ReportSource) -> str:
    """Level of the intervals in words."""
    return f"{100 * (1 - source.alpha):g} %"


def has_halvings(source: ReportSource) -> bool:
    """Whether halvings of the data set tell the variance."""
    return source.design.n_halvings > 0


def has_runs(source: ReportSource) -> bool:
    """Whether the folds are runs on one test set."""
    return source.design.has_runs


def is_test_set(source: ReportSource) -> bool:
    """Whether there is one test set, so that nothing is averaged over folds."""
    return source.design.is_test_set


def control_of(source: ReportSource) -> str | None:
    """The model that all others are compared with, if there is one."""
    control = source.settings.get("control")
    return None if control is None else str(control)


def spread_of(source: ReportSource) -> str:
    """What a difference varies over, one by one: the unit of effect sizes."""
    return "test set" if is_test_set(source) else "run" if has_runs(source) else "fold"


def primary_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the test that the conclusions rest on: the primary test's on IAUPREC, or else the first."""
    for column, wanted in (("response", "iauprec"), ("role", "primary")):
        found = frame[frame[column] == wanted]
        frame = frame if found.empty else found
    rows: pd.DataFrame = frame[frame["test"] == frame["test"].iloc[0]]
    return rows
