"""The tests that the design of the folds asks for, and those beside.

Which test holds its level under which design was measured by simulation (docs/studies). Folds that share
training data get Nadeau and Bengio's correction; independent folds get Greenhouse and Geisser's test and, for
pairs, the step-down max-T under sign flips, or Holm's paired t where the folds are too few for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skewanova.base.checks import InputError, Seed, emit
from skewanova.base.text import stage
from skewanova.comparison.analysis import Analysis, DesignAnalysis, Options, compare_priors, group_models
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.evaluation.measures import Evaluation
from skewanova.inference import fold_statistics
from skewanova.inference.anova import AnovaResult, three_way_anova, two_way_anova
from skewanova.inference.catalogue import get_test, name_family
from skewanova.inference.diagnostics import assumptions
from skewanova.inference.effect_sizes import effects, equivalence
from skewanova.inference.omnibus import OMNIBUS_TESTS, OmnibusResult, fold_table, omnibus_test
from skewanova.inference.pairwise import PAIRWISE_TESTS, posthoc, tukey_by_prior, tukey_hsd
from skewanova.inference.random_effects import split_plot_anova
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.design import FoldDesign

#: Hotelling's test needs a covariance matrix it can trust: this many folds or halvings for each contrast.
FOLDS_PER_CONTRAST = 5


#: Fewer folds than this leave sign flips too few arrangements.
FOLDS_FOR_SIGN_FLIPS = 9


#: Smallest p of a test by 9,999 random arrangements.
SMALLEST_RANDOM_P = 1e-4


def omnibus_tests(measures: Evaluation, *, rng: Seed) -> list[OmnibusResult]:
    """The test of all models that the design asks for, as the primary test, then the others as checks."""
    chosen = primary_test(measures)
    full_rank = fold_statistics.full_rank(fold_table(measures.iauprec)[0])
    others = [
        m for m in _worth_a_row(OMNIBUS_TESTS, measures.design) if full_rank or not get_test(m).full_rank
    ]
    results = [omnibus_test(measures, method=chosen, role="primary")]
    results += [omnibus_test(measures, method=method, rng=rng) for method in others if method != chosen]
    if len(measures.priors) > 1:
        results.append(split_plot_anova(measures))
    return results


def _worth_a_row(tests: Iterable[str], design: FoldDesign, *, control: bool = False) -> list[str]:
    """Tests but those that correct for what these folds do not share, or that compare other pairs."""
    suited = [test for test in tests if get_test(test).applies_to(design.kind)]
    return [
        t
        for t in suited
        if (get_test(t).adjusted or get_test(t).control if control else not get_test(t).control)
    ]


def primary_test(measures: Evaluation) -> str:
    """Name the test of all models that these folds ask for: see :func:`omnibus_method`."""
    full = fold_statistics.full_rank(fold_table(measures.iauprec)[0])
    return omnibus_method(measures.design, len(measures.models), full_rank=full)


def omnibus_method(design: FoldDesign, n_models: int, *, full_rank: bool = True) -> str:
    """Name the test of all models that the design asks for.

    ``repeated_measures`` for independent folds; ``split_half_hotelling`` or ``corrected_hotelling`` with at
    least five halvings or folds for each contrast, if models vary on their own; else ``split_half_gg`` or
    ``corrected_gg``.
    """
    if not design.overlapping:
        return "repeated_measures"
    family, units = ("split_half", design.n_halvings) if design.n_halvings else ("corrected", design.n_folds)
    enough = units >= FOLDS_PER_CONTRAST * (n_models - 1)
    return f"{family}_hotelling" if enough and full_rank else f"{family}_gg"


def pairs_method(design: FoldDesign, alpha: float) -> str:
    """Name the family of pairwise tests that the design asks for.

    ``split_half_t`` where there are halvings, ``corrected_t`` where folds share training data, else
    ``max_t``, or ``paired_t`` with fewer than nine folds or where sign flips cannot reach `alpha`.
    Tukey's test is never chosen: it fails where models spread unequally, and no look at the spreads first
    mends that.
    """
    if design.overlapping:
        return "split_half_t" if design.n_halvings else "corrected_t"
    smallest = max(2.0 ** (1 - design.n_folds), SMALLEST_RANDOM_P)
    reachable = design.n_folds >= FOLDS_FOR_SIGN_FLIPS and smallest < alpha
    return "max_t" if reachable else "paired_t"


def pairs_test(design: FoldDesign, alpha: float) -> str:
    """Name the test of pairs that the design asks for, with its adjustment, as the column `test` has it."""
    method = pairs_method(design, alpha)
    return name_family(method, "holm" if get_test(method).adjusted else "")


def choose_pairs(design: FoldDesign, options: Options) -> str:
    """Name the family of pairs behind the primary test: the one asked for, or that of the design.

    Where an adjustment or a control is asked for, paired t takes the place of max-T, which adjusts by itself.
    """
    if options.pairwise == "auto":
        method = pairs_method(design, options.alpha)
        plain = get_test(method).adjusted or not (options.p_adjust or options.control)
        return method if plain else "paired_t"
    if not get_test(options.pairwise).applies_to(design.kind):
        raise InputError(
            f"`pairwise` must name a test that these folds can have, but {options.pairwise!r} corrects for "
            "what they do not share or tell: leave it out, or state `design`"
        )
    return options.pairwise


def _warn_of_level(design: FoldDesign, options: Options) -> list[str]:
    """Warn of a requested family that may not hold its level in this design."""
    if options.pairwise == "auto" or design.kind in get_test(options.pairwise).designs:
        return []
    note = get_test(options.pairwise).note
    return [
        f"pairwise={options.pairwise!r} may reject true equality too often here: {note} "
        f"These folds are not: {design.describe()}"
    ]


@dataclass(frozen=True)
class FoldsAnalysis(DesignAnalysis):
    """Analysis over folds that each test cases of their own."""

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the test that the design asks for, the published analyses and the secondary tests."""
        measures, options = self.evaluation, self.options
        alpha, rng = options.alpha, options.rng
        stage("tests of all models")
        published = published_tests(measures, alpha)
        primary, *secondary = omnibus_tests(measures, rng=rng)
        stage("pairs of models")
        pairs = _posthoc(measures, published, options)
        stage("ranking, differences")
        groups = group_models(measures.models, pairs, options.control)
        return Analysis(
            tests=(primary, *published, *secondary),
            pairs=pairs,
            prior_pairs=compare_priors(published[1], alpha),
            ranking=ranking_of(measures, decisions, letters=groups, alpha=alpha),
            difference_curves=difference_curves(measures, alpha=alpha, control=options.control, rng=rng),
            effects=effects(measures, alpha=alpha, control=options.control, order=measures.models),
            equivalence=equivalence(measures, rope=options.rope, order=measures.models, **options.family),
            assumptions=assumptions(measures.iauprec, alpha=alpha),
            residuals=published[0].residuals(),
            warnings=tuple(emit(_warn_of_level(measures.design, options))),
        )

    def compare_pairs(self, deployment_prior: Target) -> pd.DataFrame:
        """Compare the pairs by the primary test over another deployment prior."""
        measures = self.evaluation.over(as_deployment_prior(deployment_prior))
        method = choose_pairs(measures.design, self.options)
        if method != "tukey":
            return _family(measures, method, self.options)
        two_way = two_way_anova(measures.iauprec, alpha=self.options.alpha)
        return tukey_hsd(two_way, alpha=self.options.alpha, order=measures.models).to_frame()


def published_tests(measures: Evaluation, alpha: float) -> list[AnovaResult]:
    """Run the paper's 2-way and 3-way analyses."""
    return [two_way_anova(measures.iauprec, alpha=alpha), three_way_anova(measures.auprec, alpha=alpha)]


def _posthoc(measures: Evaluation, published: Sequence[AnovaResult], options: Options) -> pd.DataFrame:
    """Compare pairs: the family behind the primary test first, the paper's, then other families as checks."""
    common: dict[str, Any] = {"alpha": options.alpha, "order": measures.models}
    primary = choose_pairs(measures.design, options)
    tukey = tukey_hsd(published[0], **common).to_frame()
    is_tukey = primary == "tukey"
    parts = [
        tukey.assign(role="primary") if is_tukey else _family(measures, primary, options, role="primary"),
        *([] if is_tukey else [tukey]),
        tukey_hsd(published[1], **common).to_frame(),
        tukey_by_prior(measures.auprec, **common),
    ]
    others = _worth_a_row(PAIRWISE_TESTS, measures.design, control=options.control is not None)
    parts += [_family(measures, method, options) for method in others if method != primary]
    return pd.concat(parts, ignore_index=True)


def _family(measures: Evaluation, method: str, options: Options, *, role: str = "secondary") -> pd.DataFrame:
    """One family of pairs, adjusted as asked for where it does not adjust by itself."""
    return posthoc(
        measures,
        method=method,
        p_adjust=options.p_adjust if get_test(method).adjusted else None,
        control=options.control,
        alpha=options.alpha,
        order=measures.models,
        role=role,
        rng=options.rng,
    )
