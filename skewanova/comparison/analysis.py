"""What the analyses of all designs share: their options, their frames, and the groups of the primary test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import InputError, Seed, check_choice, check_fraction, check_rope, seeded
from skewanova.base.frames import records
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.anova import AnovaResult
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRS, get_test
from skewanova.inference.omnibus import OmnibusResult
from skewanova.inference.pairwise import check_family, prior_pair_columns, tukey_hsd
from skewanova.inference.ranks import compact_letters
from skewanova.inference.runs import no_components
from skewanova.priors.weightings import Target

#: Group of the control in the ranking, instead of letters.
CONTROL = "control"


@dataclass(frozen=True)
class Options:
    """Options of the tests, checked before anything is read; named as in :func:`~skewanova.compare`."""

    alpha: float
    pairwise: str
    p_adjust: str | None
    control: str | None
    rope: float
    rng: Seed

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha")
        if check_choice(self.pairwise, PAIRS, "pairwise") != "auto":
            check_family(self.pairwise, self.p_adjust, self.control, name="pairwise")
        elif self.p_adjust is not None:
            check_choice(self.p_adjust, ADJUSTMENTS, "p_adjust")
        check_rope(self.rope)
        seeded(self.rng)

    def check_control(self, models: Sequence[str]) -> None:
        """Check that the control is one of the models."""
        if self.control is not None:
            check_choice(self.control, models, "control")

    def check_over_cases(self, primary: str) -> None:
        """Check that no test over folds is requested where pairs are tested over cases."""
        if self.pairwise != "auto":
            raise InputError(
                f"`pairwise` chooses between tests over folds, but got {self.pairwise!r} where pairs are "
                f"tested over cases ({get_test(primary).name}): leave it out"
            )

    @property
    def family(self) -> dict[str, Any]:
        """Level, adjustment and control of one family of pairs."""
        return {"alpha": self.alpha, "p_adjust": self.p_adjust or "holm", "control": self.control}


@dataclass(frozen=True, eq=False)
class Analysis:
    """Tests and frames of a comparison; see the attributes of :class:`~skewanova.Comparison`."""

    tests: tuple[AnovaResult | OmnibusResult, ...]
    pairs: pd.DataFrame
    prior_pairs: pd.DataFrame
    ranking: pd.DataFrame
    difference_curves: pd.DataFrame
    effects: pd.DataFrame
    equivalence: pd.DataFrame
    assumptions: pd.DataFrame
    residuals: pd.DataFrame
    components: pd.DataFrame = field(default_factory=no_components)
    warnings: tuple[str, ...] = ()

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return every frame by name; `tests` has one row a term of each test, the primary one first."""
        names = [each.name for each in fields(self) if each.name not in {"tests", "warnings"}]
        tests = pd.concat([test.to_frame() for test in self.tests], ignore_index=True)
        return {**{name: getattr(self, name) for name in names}, "tests": tests}

    @property
    def test_warnings(self) -> tuple[str, ...]:
        """Warnings of the tests of all models."""
        return tuple(note for test in self.tests for note in test.warnings)


@dataclass(frozen=True)
class DesignAnalysis(ABC):
    """Analysis of a design, which :func:`~skewanova.compare` picks once."""

    evaluation: Evaluation
    options: Options

    @abstractmethod
    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the primary, the published and the secondary tests."""

    @abstractmethod
    def compare_pairs(self, deployment_prior: Target) -> pd.DataFrame:
        """Compare the pairs by the primary test over another deployment prior."""


def group_models(models: Sequence[str], posthoc: pd.DataFrame, control: str | None) -> dict[str, str]:
    """Return letters of the primary comparisons or, with a control, which side of it each model is on."""
    primary = posthoc[posthoc["role"] == "primary"]
    if control is not None:
        return {control: CONTROL, **{str(row.model_a): _side(row) for row in records(primary)}}
    rejected = primary[primary["reject"].astype(bool)]
    return compact_letters(models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def _side(row: Any) -> str:
    """Return the side of the control that a model is on, or '' if they do not differ."""
    if np.isnan(row.p_adjusted):
        return "not tested"
    return ("ahead" if row.estimate > 0 else "behind") if row.reject else ""


def no_prior_pairs() -> pd.DataFrame:
    """Return the frame of differences between priors without rows."""
    return pd.DataFrame(columns=prior_pair_columns())


def compare_priors(three_way: AnovaResult, alpha: float) -> pd.DataFrame:
    """Compare pairs of priors by the 3-way analysis; none if there is one prior."""
    if three_way.residuals()["prior"].nunique() < 2:
        return no_prior_pairs()
    return tukey_hsd(three_way, factor="prior", alpha=alpha).to_frame()
