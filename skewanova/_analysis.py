"""What a comparison computes from its measures, whatever the design: the tests over folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from skewanova._anova_result import AnovaResult
from skewanova._assumptions import assumption_checks
from skewanova._calibrated import headline_pairs, omnibus_tests
from skewanova._checks import (
    InputTypeError,
    Seed,
    check_choice,
    check_fraction,
    check_rope,
    check_sum_of_squares,
    seeded,
)
from skewanova._design import Resampling
from skewanova._differences import difference_curves
from skewanova._omnibus_result import OmnibusResult
from skewanova._pairwise import bayesian_comparisons, pairwise_comparisons
from skewanova._progress import stage
from skewanova.anova import three_way_anova, two_way_anova
from skewanova.decision import rank_models
from skewanova.evaluation import Evaluation
from skewanova.posthoc import compact_letters, prior_pair_columns, tukey_by_prior, tukey_hsd


@dataclass(frozen=True)
class Options:
    """What the user asked for, checked before anything is read; named as in :func:`~skewanova.compare`."""

    alpha: float
    control: str | None
    rope: float
    interaction: bool
    sum_of_squares: int
    rng: Seed

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha")
        check_rope(self.rope)
        check_sum_of_squares(self.sum_of_squares)
        seeded(self.rng)
        if not isinstance(self.interaction, bool | np.bool_):
            raise InputTypeError(f"`interaction` must be True or False, but got {self.interaction!r}")

    def check_control(self, models: Sequence[str]) -> None:
        """A control is one of the models, whatever the design."""
        if self.control is not None:
            check_choice(self.control, models, "control")


@dataclass(frozen=True, eq=False)
class Analysis:
    """Tests and frames of a comparison; see the attributes of :class:`~skewanova.Comparison`."""

    tests: tuple[AnovaResult | OmnibusResult, ...]
    posthoc: pd.DataFrame
    prior_posthoc: pd.DataFrame
    ranking: pd.DataFrame
    differences: pd.DataFrame
    practical: pd.DataFrame
    checks: pd.DataFrame
    residuals: pd.DataFrame

    @property
    def anova(self) -> pd.DataFrame:
        """One row a term of each test, the headline's first."""
        return pd.concat([test.to_frame() for test in self.tests], ignore_index=True)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Every frame by its name, that of the tests of all models included."""
        names = [each.name for each in fields(self) if each.name != "tests"]
        return {"anova": self.anova, **{name: getattr(self, name) for name in names}}

    @property
    def labels(self) -> dict[str, str]:
        """How each test may be read."""
        return {test.test: test.label for test in self.tests}

    @property
    def notes(self) -> tuple[str, ...]:
        """What went beyond the ordinary."""
        return tuple(note for test in self.tests for note in test.warnings)


def analyse_folds(
    measures: Evaluation, design: Resampling, options: Options, *, more: Sequence[OmnibusResult] = ()
) -> Analysis:
    """Run the calibrated tests, the paper's and the checks over folds.

    Parameters
    ----------
    measures : Evaluation
        Models in ranking order, every model in every fold.
    design : Resampling
        How the folds came about.
    options : Options
        What was asked for.
    more : sequence of OmnibusResult
        Further checks, put last.

    Returns
    -------
    Analysis
        The headline is the test that the design asks for.
    """
    alpha, rng = options.alpha, options.rng
    stage("tests of all models")
    published = _published(measures, options)
    headline, *checks = omnibus_tests(measures.iauprec, measures.auprec, design, rng=rng)
    stage("pairs of models")
    posthoc = _posthoc(measures, published, design, options)
    stage("ranking, differences")
    letters = headline_letters(measures, posthoc)
    return Analysis(
        tests=(headline, *published, *checks, *more),
        posthoc=posthoc,
        prior_posthoc=_prior_posthoc(published[1], alpha),
        ranking=rank_models(measures, letters=letters, alpha=alpha, ratio=design.ratio, rng=rng),
        differences=difference_curves(measures, ratio=design.ratio, alpha=alpha, rng=rng),
        practical=bayesian_comparisons(
            measures.iauprec, rope=options.rope, ratio=design.ratio, order=measures.models
        ),
        checks=assumption_checks(measures.iauprec, alpha=alpha),
        residuals=published[0].residuals(),
    )


def headline_letters(measures: Evaluation, posthoc: pd.DataFrame) -> dict[str, str]:
    """Letters from the headline comparisons."""
    rejected = posthoc[(posthoc["role"] == "headline") & posthoc["reject"]]
    return compact_letters(measures.models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def no_prior_pairs() -> pd.DataFrame:
    """Frame of differences between priors where there are none."""
    return pd.DataFrame(columns=prior_pair_columns())


def _published(measures: Evaluation, options: Options) -> list[AnovaResult]:
    """Run the paper's 2-way and 3-way analyses and, where asked for, the one with the interaction."""
    kept: dict[str, Any] = {"sum_of_squares": options.sum_of_squares, "alpha": options.alpha}
    found = [two_way_anova(measures.iauprec, **kept), three_way_anova(measures.auprec, **kept)]
    if options.interaction and len(measures.priors) > 1:
        found.append(three_way_anova(measures.auprec, interaction=True, **kept))
    return found


def _posthoc(
    measures: Evaluation, published: Sequence[AnovaResult], design: Resampling, options: Options
) -> pd.DataFrame:
    """Compare pairs: the calibrated family first, the paper's, then other families as checks."""
    common: dict[str, Any] = {"alpha": options.alpha, "order": measures.models}
    parts = [
        headline_pairs(measures.iauprec, design, rng=options.rng, **common),
        tukey_hsd(published[0], **common).to_frame(),
        tukey_hsd(published[1], **common).to_frame(),
        tukey_by_prior(measures.auprec, **common),
    ]
    for method in ("paired_t_holm", "max_t", "games_howell", "nemenyi", "wilcoxon_holm"):
        if method != parts[0]["test"].iloc[0]:
            parts.append(pairwise_comparisons(measures.iauprec, method=method, rng=options.rng, **common))
    if options.control is not None:
        parts.append(
            pairwise_comparisons(measures.iauprec, method="dunnett", control=options.control, **common)
        )
    return pd.concat(parts, ignore_index=True)


def _prior_posthoc(three_way: AnovaResult, alpha: float) -> pd.DataFrame:
    if three_way.residuals()["prior"].nunique() < 2:
        return no_prior_pairs()
    return tukey_hsd(three_way, factor="prior", alpha=alpha).to_frame()
