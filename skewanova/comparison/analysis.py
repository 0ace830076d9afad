"""Choose and run the tests of a comparison over folds.

Simulations showed which test keeps its level under which design (studies/records). Folds that share training
data use Nadeau and Bengio's correction. Independent folds use Greenhouse and Geisser's test. Their pairs are
compared by step-down max-T under sign flips or, if folds are few, by paired t tests with Holm's adjustment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import (
    InputError,
    Seed,
    check_alpha,
    check_choice,
    check_rope,
    make_generator,
    warn_each,
)
from skewanova.base.text import report_stage
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_frame
from skewanova.evaluation.measures import Evaluation
from skewanova.inference import fold_statistics, omnibus, pairwise
from skewanova.inference.anova import AnovaResult, three_way_anova, two_way_anova
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRWISE_CHOICES, get_test
from skewanova.inference.diagnostics import assumptions
from skewanova.inference.effect_sizes import effects, equivalence
from skewanova.inference.omnibus import OMNIBUS_TESTS, OmnibusResult
from skewanova.inference.ranks import compact_letters, rank_intervals
from skewanova.inference.runs import component_frame
from skewanova.priors.weightings import PriorLike, as_deployment_prior
from skewanova.scores.design import FoldDesign

#: Frames by name.
Frames = dict[str, pd.DataFrame]


#: Folds or halvings for each contrast that Hotelling's test needs for its covariance matrix.
FOLDS_PER_CONTRAST = 5


#: With fewer folds, sign flips have too few arrangements.
MIN_FOLDS_FOR_SIGN_FLIPS = 9


#: Smallest p-value of a test by 9,999 random arrangements.
MIN_RANDOM_P = 1e-4


@dataclass(frozen=True)
class Options:
    """Options of the tests, checked before any data are read; the names are those of :func:`compare`."""

    alpha: float
    pairwise: str
    p_adjust: str | None
    control: str | None
    rope: Any  #: of differences that are not `of_areas`, above 1 too, or None for no tests of equivalence
    rng: Seed
    of_areas: InitVar[bool] = True

    def __post_init__(self, of_areas: bool) -> None:
        check_alpha(self.alpha)
        if check_choice(self.pairwise, PAIRWISE_CHOICES, "pairwise") != "auto":
            pairwise.choose_adjustment(self.pairwise, self.p_adjust, self.control, name="pairwise")
        elif self.p_adjust is not None:
            check_choice(self.p_adjust, ADJUSTMENTS, "p_adjust")
        if of_areas or self.rope is not None:
            check_rope(self.rope, of_areas=of_areas)
        make_generator(self.rng)

    def check_control(self, models: Sequence[str]) -> None:
        """Raise InputError unless the control is None or one of the models."""
        if self.control is not None:
            check_choice(self.control, models, "control")

    @property
    def family_options(self) -> dict[str, Any]:
        """Keyword arguments alpha, p_adjust (by default "holm") and control of one family of pairs."""
        return {"alpha": self.alpha, "p_adjust": self.p_adjust or "holm", "control": self.control}


@dataclass(frozen=True, eq=False)
class Analysis:
    """Results of all tests (the primary test first), frames by name, and warnings."""

    tests: Sequence[AnovaResult | OmnibusResult]
    frames: Frames
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class DesignAnalysis(ABC):
    """Base class of the analyses: over folds, over the cases of a test set, or over runs and cases."""

    evaluation: Evaluation
    options: Options

    @abstractmethod
    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Return the tests of all models, primary first, frames of pairs, ranking etc., and warnings."""

    @abstractmethod
    def compare_pairs(self, deployment_prior: PriorLike) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS`, a row a pair: the primary test over another deployment prior."""

    @cached_property
    def published(self) -> tuple[AnovaResult, AnovaResult]:
        """The 2-way ANOVA of IAUPREC and the 3-way one of AUPREC, of Landgrebe et al. (2006)."""
        measures, alpha = self.evaluation, self.options.alpha
        return two_way_anova(measures.iauprec, alpha=alpha), three_way_anova(measures.auprec, alpha=alpha)

    def describe_published(self) -> Frames:
        """Return frames `residuals` (2-way ANOVA) and, with several priors, `prior_pairs` (3-way)."""
        two_way, three_way = self.published
        frames = {"residuals": two_way.residuals()}
        if three_way.residuals()["prior"].nunique() > 1:
            pairs = pairwise.tukey_hsd(three_way, factor="prior", alpha=self.options.alpha)
            frames["prior_pairs"] = pairs.to_frame()
        return frames

    def build_frames(self, decisions: pd.DataFrame, pairs: pd.DataFrame, **frames: pd.DataFrame) -> Frames:
        """Return `frames`, pairs, ranking, difference_curves; prior_pairs, residuals, components or empty."""
        report_stage("ranking, differences")
        measures, options = self.evaluation, self.options
        ranking = ranking_frame(measures, decisions, letters=None, alpha=options.alpha)
        ranking = group_by_pairs(ranking, pairs, options)
        curves = difference_curves(measures, alpha=options.alpha, control=options.control, rng=options.rng)
        empty = {
            "prior_pairs": pd.DataFrame(columns=pairwise.PRIOR_PAIR_COLUMNS),
            "residuals": pd.DataFrame(columns=["model", "fold", "fitted", "residual"]),
            "components": component_frame({}),
        }
        return {**empty, "pairs": pairs, "ranking": ranking, "difference_curves": curves, **frames}


def group_by_pairs(ranking: pd.DataFrame, pairs: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the ranking with `group` and, unless by bh, rank_low and rank_high, by primary `pairs`."""
    models = ranking["model"].tolist()
    letters = group_models(models, pairs, options.control)
    ranking = ranking.assign(group=[letters.get(model, "") for model in models])
    if options.p_adjust == "bh":  # which does not hold all ranks at once
        return ranking
    ranks = rank_intervals(models, pairs[pairs["role"] == "primary"])
    return ranking.assign(rank_low=ranks["rank_low"], rank_high=ranks["rank_high"])


def group_models(models: Sequence[str], posthoc: pd.DataFrame, control: str | None) -> dict[str, str]:
    """Return letters by primary pairs; with a control: control, ahead, behind, not tested, "" (no reject)."""
    primary = posthoc[posthoc["role"] == "primary"]
    if control is not None:
        cases = primary["p_adjusted"].isna(), ~primary["reject"].astype(bool), primary["estimate"] > 0
        sides = np.select(cases, ["not tested", "", "ahead"], "behind").tolist()
        return {control: "control", **dict(zip(primary["model_a"].astype(str), sides, strict=True))}
    rejected = primary[primary["reject"].astype(bool)]
    return compact_letters(models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def _select_tests(tests: Iterable[str], design: FoldDesign, *, control: bool = False) -> list[str]:
    """Return the names of tests valid for the design: those that take a control, or those that need none."""
    valid = [test for test in tests if get_test(test).applies_to(design.kind)]
    if control:
        return [test for test in valid if get_test(test).needs_adjustment or get_test(test).needs_control]
    return [test for test in valid if not get_test(test).needs_control]


def choose_omnibus_test(design: FoldDesign, n_models: int, *, full_rank: bool = True) -> str:
    """Return the name of the primary test of all models for a design.

    It is ``repeated_measures`` for independent folds, else ``corrected_hotelling`` or ``corrected_gg`` (with
    halvings ``split_half_...``): Hotelling's with five folds or halvings a contrast and full rank.
    """
    if not design.overlapping:
        return "repeated_measures"
    family, units = ("split_half", design.n_halvings) if design.n_halvings else ("corrected", design.n_folds)
    enough = units >= FOLDS_PER_CONTRAST * (n_models - 1)
    return f"{family}_hotelling" if enough and full_rank else f"{family}_gg"


def choose_pairwise_test(design: FoldDesign, alpha: float) -> str:
    """Return the name of the pairwise test of the design.

    It is ``split_half_t`` with halvings, ``corrected_t`` for shared training data, else ``max_t``, or
    ``paired_t`` if there are fewer than nine folds or sign flips cannot reach `alpha`. Tukey's test is not
    used. It is liberal if models' variances differ, which a preliminary test of them does not mend.
    """
    if design.overlapping:
        return "split_half_t" if design.n_halvings else "corrected_t"
    smallest = max(2.0 ** (1 - design.n_folds), MIN_RANDOM_P)
    reachable = design.n_folds >= MIN_FOLDS_FOR_SIGN_FLIPS and smallest < alpha
    return "max_t" if reachable else "paired_t"


def choose_datasets_test(n_datasets: int, n_pairs: int, alpha: float) -> tuple[str, list[str]]:
    """Return "wilcoxon" and [], or "paired_t" and [note] if the data sets are too few for signed ranks."""
    min_p_value = 2.0 ** (1 - n_datasets)  # of the signed-rank test
    if n_pairs * min_p_value < alpha:
        return "wilcoxon", []
    note = (
        f"with {n_datasets} data sets, signed ranks cannot reach p below {min_p_value:.2g}: pairs are "
        "compared by t tests of the data sets' means"
    )
    return "paired_t", [note]


def resolve_pairwise(design: FoldDesign, options: Options) -> str:
    """Return the primary pairwise test: the user's (raise if not for the design) or the design's.

    ``paired_t`` replaces max-T, which adjusts by itself, if `p_adjust` or `control` is set.
    """
    if options.pairwise == "auto":
        method = choose_pairwise_test(design, options.alpha)  # max-T adjusts by itself
        plain = get_test(method).needs_adjustment or not (options.p_adjust or options.control)
        return method if plain else "paired_t"
    if not get_test(options.pairwise).applies_to(design.kind):
        halves = "needs halvings of the data set" if get_test(options.pairwise).needs_halvings else ""
        raise InputError(
            f"`pairwise` must be a test for {design.describe()}, but {options.pairwise!r} "
            f"{halves or 'corrects for training data that folds share'}; leave `pairwise` out"
        )
    return options.pairwise


@dataclass(frozen=True)
class FoldTests:
    """Tests over folds of an evaluation, or of any measure in a frame with columns model, fold, iauprec.

    `primary` names the tests of all models and of pairs, where those of the design are not meant.
    """

    source: Evaluation | pd.DataFrame
    models: Sequence[str]
    design: FoldDesign
    options: Options
    primary: tuple[str, str] | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The values: columns model, fold, iauprec and, of an evaluation, auc, n_positive, n_negative."""
        return self.source if isinstance(self.source, pd.DataFrame) else self.source.iauprec

    @property
    def ratio(self) -> float | None:
        """Test cases for each training case, needed with a frame; None for an evaluation, which has it."""
        return self.design.ratio if isinstance(self.source, pd.DataFrame) else None

    @cached_property
    def has_full_rank(self) -> bool:
        """True if differences vary over folds in every direction; halvings, if any, reach n_models - 1."""
        few = 0 < self.design.n_halvings < len(self.models) - 1
        return not few and fold_statistics.has_full_rank(omnibus.build_fold_table(self.frame)[0])

    @property
    def omnibus(self) -> str:
        """Name of the primary test of all models, such as ``corrected_gg``."""
        if self.primary is not None:
            return self.primary[0]
        return choose_omnibus_test(self.design, len(self.models), full_rank=self.has_full_rank)

    @property
    def pairwise(self) -> str:
        """Name of the primary test of pairs, such as ``corrected_t``."""
        is_chosen = self.options.pairwise == "auto"
        return self.primary[1] if self.primary and is_chosen else resolve_pairwise(self.design, self.options)

    def test_models(self) -> list[OmnibusResult]:
        """Return tests: primary, secondary ones that the rank allows and, of several priors, a split plot."""
        applicable = (name for name in _select_tests(OMNIBUS_TESTS, self.design) if name != self.omnibus)
        others = [name for name in applicable if self.has_full_rank or not get_test(name).needs_full_rank]
        roles = {self.omnibus: "primary", **dict.fromkeys(others, "secondary")}
        test = partial(omnibus.omnibus_test, self.source, ratio=self.ratio, rng=self.options.rng)
        results = [test(method=name, role=role) for name, role in roles.items()]
        several = isinstance(self.source, Evaluation) and len(self.source.priors) > 1
        return [*results, omnibus.split_plot_anova(self.source)] if several else results

    def test_pairs(self, published: Sequence[pd.DataFrame] = ()) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS` of pairs by test: the primary, the frames `published`, secondary ones."""
        others = _select_tests(pairwise.PAIRWISE_TESTS, self.design, control=self.options.control is not None)
        primary = self.test_family(self.pairwise).assign(role="primary")
        secondary = [self.test_family(method) for method in others if method != self.pairwise]
        return pd.concat([primary, *published, *secondary], ignore_index=True)

    def test_family(self, method: str) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS` of a test, role not "primary", by `p_adjust` unless it adjusts itself."""
        settings = {**self.options.family_options, "ratio": self.ratio, "rng": self.options.rng}
        if method == "tukey":
            anova = two_way_anova(self.frame, alpha=self.options.alpha)
            return pairwise.tukey_hsd(anova, alpha=self.options.alpha, order=self.models).to_frame()
        if not get_test(method).needs_adjustment:
            settings["p_adjust"] = None
        return pairwise.posthoc(self.source, method=method, order=self.models, **settings)

    def describe_pairs(self) -> Frames:
        """Return the frames `effects` and, unless `rope` is None, `equivalence`, a row a pair."""
        options = self.options
        shared: dict[str, Any] = {"ratio": self.ratio, "order": self.models}
        frames = {"effects": effects(self.source, alpha=options.alpha, control=options.control, **shared)}
        if options.rope is not None:
            shared |= options.family_options
            frames["equivalence"] = equivalence(self.source, rope=options.rope, **shared)
        return frames

    def list_warnings(self) -> list[str]:
        """Return [text] if the stated test of pairs may exceed its level in the design, else []."""
        name = self.options.pairwise
        if name == "auto" or self.design.kind in get_test(name).designs:
            return []
        return [
            f"pairwise={name!r} may reject true equality too often here. {get_test(name).note} "
            f"These folds are not independent: {self.design.describe()}. Leave `pairwise` out"
        ]


@dataclass(frozen=True)
class FoldsAnalysis(DesignAnalysis):
    """Analysis over folds, each of which tests other cases."""

    @property
    def tests(self) -> FoldTests:
        """Tests of IAUPREC over folds."""
        return FoldTests(self.evaluation, self.evaluation.models, self.evaluation.design, self.options)

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Return the primary, published and secondary tests over folds, frames by name, and warnings."""
        measures, options, tests = self.evaluation, self.options, self.tests
        report_stage("tests of all models")
        primary, *secondary = tests.test_models()
        report_stage("pairs of models")
        pairs = tests.test_pairs(self._compare_as_published(tests.pairwise))
        sizes = tests.describe_pairs()
        checks = assumptions(measures.iauprec, alpha=options.alpha)
        frames = self.build_frames(decisions, pairs, assumptions=checks, **sizes, **self.describe_published())
        return Analysis((primary, *self.published, *secondary), frames, warn_each(tests.list_warnings()))

    def compare_pairs(self, deployment_prior: PriorLike) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS`, a row a pair: the primary test over another deployment prior."""
        source = self.evaluation.reweight(as_deployment_prior(deployment_prior))
        tests = replace(self.tests, source=source)
        return tests.test_family(tests.pairwise)

    def _compare_as_published(self, primary: str) -> list[pd.DataFrame]:
        """Return 2-3 frames `POSTHOC_COLUMNS` by Tukey: 2-way (unless primary), 3-way, one of all priors."""
        alpha, order = self.options.alpha, self.evaluation.models
        anovas = self.published[primary == "tukey" :]
        frames = [pairwise.tukey_hsd(anova, alpha=alpha, order=order).to_frame() for anova in anovas]
        return [*frames, pairwise.tukey_by_prior(self.evaluation.auprec, alpha=alpha, order=order)]
