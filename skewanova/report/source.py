"""What a report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pandas as pd


class ReportSource(Protocol):
    """What sentences, tables, figures and the report are made of: a comparison, or what looks like one.

    Columns of the frames are those of the files in the output folder.
    """

    @property
    def auprec(self) -> pd.DataFrame:
        """AUPREC of every model, fold and prior."""

    @property
    def iauprec(self) -> pd.DataFrame:
        """IAUPREC of every model and fold."""

    @property
    def anova(self) -> pd.DataFrame:
        """Tests of all models."""

    @property
    def posthoc(self) -> pd.DataFrame:
        """Tests of pairs of models."""

    @property
    def prior_pairs(self) -> pd.DataFrame:
        """One row a pair of priors; may be empty."""

    @property
    def ranking(self) -> pd.DataFrame:
        """One row a model, best first."""

    @property
    def regions(self) -> pd.DataFrame:
        """Which model leads at which prior."""

    @property
    def crossings(self) -> pd.DataFrame:
        """Where mean curves cross."""

    @property
    def leaders(self) -> pd.DataFrame:
        """Which models may be the best at which prior."""

    @property
    def decisions(self) -> pd.DataFrame:
        """What every model promises and risks."""

    @property
    def choices(self) -> pd.DataFrame:
        """Which model each criterion picks."""

    @property
    def support(self) -> pd.DataFrame:
        """At which priors the test set can speak."""

    @property
    def plans(self) -> pd.DataFrame:
        """How much more data would tell each pair apart."""

    @property
    def difference_curves(self) -> pd.DataFrame:
        """Difference curves of the pairs with simultaneous bands."""

    @property
    def equivalence(self) -> pd.DataFrame:
        """One row a pair of models: probability of practical equivalence."""

    @property
    def assumptions(self) -> pd.DataFrame:
        """What the tests assume, with advice."""

    @property
    def residuals(self) -> pd.DataFrame:
        """Residuals of the 2-way analysis of variance."""

    @property
    def roc(self) -> pd.DataFrame:
        """Points of the ROC curves."""

    @property
    def precision_recall(self) -> pd.DataFrame:
        """Points of the precision-recall curves."""

    @property
    def auprec_by_prior(self) -> pd.DataFrame:
        """AUPREC along a fine grid of priors."""

    @property
    def auprec_intervals(self) -> pd.DataFrame:
        """Mean AUPREC by model and prior, with intervals."""

    @property
    def regret(self) -> pd.DataFrame:
        """Shortfall of each model from the best along the prior."""

    @property
    def surface(self) -> pd.DataFrame:
        """Precision by prior and recall."""

    @property
    def skew(self) -> pd.DataFrame:
        """Accuracy and precision of one threshold by skew."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What was asked for: `alpha`, `deployment_prior` in words, and its limits."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to keep in mind when reading the numbers."""

    @property
    def advice(self) -> str:
        """What to do."""

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What the tests found, in sentences."""

    @property
    def source(self) -> Path | None:
        """File the scores were read from."""

    @property
    def sha256(self) -> str:
        """Fingerprint of the input."""


def alpha_of(source: ReportSource) -> float:
    """Level of the tests."""
    return float(str(source.settings["alpha"]))


def level_of(source: ReportSource) -> str:
    """Level of the intervals in words."""
    return f"{100 * (1 - alpha_of(source)):g} %"


def is_one_set(source: ReportSource) -> bool:
    """Whether there is one test set, so that nothing is averaged over folds."""
    return source.iauprec["fold"].nunique() == 1


def headline_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the test that the conclusions rest on: the headline's on IAUPREC, or else the first."""
    for column, wanted in (("response", "iauprec"), ("role", "headline")):
        found = frame[frame[column] == wanted]
        frame = frame if found.empty else found
    rows: pd.DataFrame = frame[frame["test"] == frame["test"].iloc[0]]
    return rows
