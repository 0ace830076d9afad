"""The tests that the design of the folds asks for, and those beside.

Which test holds its level under which design was measured by simulation (docs/studies). Folds that share
training data get Nadeau and Bengio's correction; independent folds get Greenhouse and Geisser's test and, for
pairs, the step-down max-T under sign flips, or Holm's paired t where the folds are too few for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import (
    InputError,
    Seed,
    check_choice,
    check_fraction,
    check_rope,
    seeded,
)
from skewanova.base.frames import records
from skewanova.base.progress import stage
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.evaluation.measures import Evaluation
from skewanova.inference import fold_statistics
from skewanova.inference.anova import AnovaResult, three_way_anova, two_way_anova
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRS, get_test, name_family
from skewanova.inference.diagnostics import assumptions
from skewanova.inference.effect_sizes import effects
from skewanova.inference.omnibus import OMNIBUS_TESTS, OmnibusResult, fold_table, omnibus_test
from skewanova.inference.pairwise import (
    PAIRWISE_TESTS,
    check_family,
    equivalence,
    posthoc,
    prior_pair_columns,
    tukey_by_prior,
    tukey_hsd,
)
from skewanova.inference.random_effects import split_plot_anova
from skewanova.inference.ranks import compact_letters
from skewanova.inference.shared_cases import no_components
from skewanova.scores.design import Resampling

#: What stands in the place of the control's letters.
CONTROL = "control"


#: Hotelling's test needs a covariance matrix it can trust: this many folds or halvings for each contrast.
FOLDS_PER_CONTRAST = 5


#: Fewer folds than this leave sign flips too few arrangements.
FOLDS_FOR_SIGN_FLIPS = 9


#: Smallest p of a test by 9,999 random arrangements.
SMALLEST_RANDOM_P = 1e-4


def omnibus_tests(measures: Evaluation, *, rng: Seed) -> list[OmnibusResult]:
    """The test of all models that the design asks for, as the headline, then the others as checks."""
    chosen = headline_test(measures)
    full_rank = fold_statistics.full_rank(fold_table(measures.iauprec)[0])
    others = [
        m for m in _worth_a_row(OMNIBUS_TESTS, measures.design) if full_rank or not get_test(m).full_rank
    ]
    results = [omnibus_test(measures, method=chosen, role="headline")]
    results += [omnibus_test(measures, method=method, rng=rng) for method in others if method != chosen]
    if len(measures.priors) > 1:
        results.append(split_plot_anova(measures))
    return results


def _worth_a_row(tests: Iterable[str], design: Resampling, *, control: bool = False) -> list[str]:
    """Tests but those that correct for what these folds do not share, or that compare other pairs."""
    suited = [test for test in tests if get_test(test).applies_to(design.kind)]
    return [
        t
        for t in suited
        if (get_test(t).adjusted or get_test(t).control if control else not get_test(t).control)
    ]


def headline_test(measures: Evaluation) -> str:
    """Name the test of all models that these folds ask for: see :func:`omnibus_method`."""
    full = fold_statistics.full_rank(fold_table(measures.iauprec)[0])
    return omnibus_method(measures.design, len(measures.models), full_rank=full)


def omnibus_method(design: Resampling, n_models: int, *, full_rank: bool = True) -> str:
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


def pairs_method(design: Resampling, alpha: float) -> str:
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


def pairs_test(design: Resampling, alpha: float) -> str:
    """Name the test of pairs that the design asks for, with its adjustment, as the column `test` has it."""
    method = pairs_method(design, alpha)
    return name_family(method, "holm" if get_test(method).adjusted else "")


@dataclass(frozen=True)
class Options:
    """What the user asked for, checked before anything is read; named as in :func:`~skewanova.compare`."""

    alpha: float
    pairs: str
    adjust: str | None
    control: str | None
    rope: float
    rng: Seed

    def __post_init__(self) -> None:
        check_fraction(self.alpha, "alpha")
        if check_choice(self.pairs, PAIRS, "pairs") != "auto":
            check_family(self.pairs, self.adjust, self.control, name="pairs")
        elif self.adjust is not None:
            check_choice(self.adjust, ADJUSTMENTS, "adjust")
        check_rope(self.rope)
        seeded(self.rng)

    def check_control(self, models: Sequence[str]) -> None:
        """A control is one of the models, whatever the design."""
        if self.control is not None:
            check_choice(self.control, models, "control")

    @property
    def family(self) -> dict[str, Any]:
        """How the pairs of one family are tested together, whatever the test."""
        return {"alpha": self.alpha, "adjust": self.adjust or "holm", "control": self.control}


def chosen_pairs(design: Resampling, options: Options) -> str:
    """Name the family of pairs behind the headline: the one asked for, or that of the design.

    Where an adjustment or a control is asked for, paired t takes the place of max-T, which adjusts by itself.
    """
    if options.pairs == "auto":
        method = pairs_method(design, options.alpha)
        plain = get_test(method).adjusted or not (options.adjust or options.control)
        return method if plain else "paired_t"
    if not get_test(options.pairs).applies_to(design.kind):
        raise InputError(
            f"`pairs` must name a test that these folds can have, but {options.pairs!r} corrects for what "
            "they do not share or tell: leave it out, or state `resampling`"
        )
    return options.pairs


def chosen_note(design: Resampling, options: Options) -> list[str]:
    """Say of a family that was asked for that it may not hold its level here."""
    if options.pairs == "auto" or design.kind in get_test(options.pairs).designs:
        return []
    return [
        f"pairs={options.pairs!r} may reject true equality too often here: {get_test(options.pairs).note} "
        f"These folds are not: {design.describe()}"
    ]


def needs_no_folds(options: Options, headline: str) -> None:
    """Over cases there is one family of pairs."""
    if options.pairs != "auto":
        raise InputError(
            f"`pairs` chooses between tests over folds, but got {options.pairs!r} where pairs are tested "
            f"over cases ({get_test(headline).name}): leave it out"
        )


@dataclass(frozen=True, eq=False)
class Analysis:
    """Tests and frames of a comparison; see the attributes of :class:`~skewanova.Comparison`."""

    tests: tuple[AnovaResult | OmnibusResult, ...]
    posthoc: pd.DataFrame
    prior_pairs: pd.DataFrame
    ranking: pd.DataFrame
    difference_curves: pd.DataFrame
    effects: pd.DataFrame
    equivalence: pd.DataFrame
    assumptions: pd.DataFrame
    residuals: pd.DataFrame
    components: pd.DataFrame = field(default_factory=no_components)

    @property
    def anova(self) -> pd.DataFrame:
        """One row a term of each test, the headline's first."""
        return pd.concat([test.to_frame() for test in self.tests], ignore_index=True)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Every frame by its name, that of the tests of all models included."""
        names = [each.name for each in fields(self) if each.name != "tests"]
        return {"anova": self.anova, **{name: getattr(self, name) for name in names}}

    @property
    def notes(self) -> tuple[str, ...]:
        """What went beyond the ordinary."""
        return tuple(note for test in self.tests for note in test.warnings)


def analyse_folds(
    measures: Evaluation, promised: pd.DataFrame, options: Options, *, more: Sequence[OmnibusResult] = ()
) -> Analysis:
    """Run the calibrated tests, the paper's and the checks over folds."""
    alpha, rng = options.alpha, options.rng
    stage("tests of all models")
    published = published_tests(measures, options)
    headline, *checks = omnibus_tests(measures, rng=rng)
    stage("pairs of models")
    posthoc = _posthoc(measures, published, options)
    stage("ranking, differences")
    groups = headline_groups(measures.models, posthoc, options.control)
    return Analysis(
        tests=(headline, *published, *checks, *more),
        posthoc=posthoc,
        prior_pairs=prior_pairs_of(published[1], alpha),
        ranking=ranking_of(measures, promised, letters=groups, alpha=alpha),
        difference_curves=difference_curves(measures, alpha=alpha, control=options.control, rng=rng),
        effects=effects(measures, alpha=alpha, control=options.control, order=measures.models),
        equivalence=equivalence(measures, rope=options.rope, order=measures.models, **options.family),
        assumptions=assumptions(measures.iauprec, alpha=alpha),
        residuals=published[0].residuals(),
    )


def headline_groups(models: Sequence[str], posthoc: pd.DataFrame, control: str | None) -> dict[str, str]:
    """Letters from the headline comparisons or, with a control, on which side of it each model was found."""
    headline = posthoc[posthoc["role"] == "headline"]
    if control is not None:
        return {control: CONTROL, **{str(row.model_a): _side(row) for row in records(headline)}}
    rejected = headline[headline["reject"].astype(bool)]
    return compact_letters(models, zip(rejected["model_a"], rejected["model_b"], strict=True))


def _side(row: Any) -> str:
    """Where a model was found beside the control; nothing where no difference was."""
    if np.isnan(row.p_adjusted):
        return "not tested"
    return ("ahead" if row.estimate > 0 else "behind") if row.reject else ""


def no_prior_pairs() -> pd.DataFrame:
    """Frame of differences between priors where there are none."""
    return pd.DataFrame(columns=prior_pair_columns())


def published_tests(measures: Evaluation, options: Options) -> list[AnovaResult]:
    """Run the paper's 2-way and 3-way analyses."""
    alpha = options.alpha
    return [two_way_anova(measures.iauprec, alpha=alpha), three_way_anova(measures.auprec, alpha=alpha)]


def _posthoc(measures: Evaluation, published: Sequence[AnovaResult], options: Options) -> pd.DataFrame:
    """Compare pairs: the family behind the headline first, the paper's, then other families as checks."""
    common: dict[str, Any] = {"alpha": options.alpha, "order": measures.models}
    headline = chosen_pairs(measures.design, options)
    tukey = tukey_hsd(published[0], **common).to_frame()
    asked = headline == "tukey"
    parts = [
        tukey.assign(role="headline") if asked else _family(measures, headline, options, role="headline"),
        *([] if asked else [tukey]),
        tukey_hsd(published[1], **common).to_frame(),
        tukey_by_prior(measures.auprec, **common),
    ]
    others = _worth_a_row(PAIRWISE_TESTS, measures.design, control=options.control is not None)
    parts += [_family(measures, method, options) for method in others if method != headline]
    return pd.concat(parts, ignore_index=True)


def pairs_over_folds(measures: Evaluation, options: Options) -> pd.DataFrame:
    """The family of pairs behind the headline alone."""
    method = chosen_pairs(measures.design, options)
    if method != "tukey":
        return _family(measures, method, options)
    found = two_way_anova(measures.iauprec, alpha=options.alpha)
    return tukey_hsd(found, alpha=options.alpha, order=measures.models).to_frame()


def _family(measures: Evaluation, method: str, options: Options, *, role: str = "check") -> pd.DataFrame:
    """One family of pairs, adjusted as asked for where it does not adjust by itself."""
    return posthoc(
        measures,
        method=method,
        adjust=options.adjust if get_test(method).adjusted else None,
        control=options.control,
        alpha=options.alpha,
        order=measures.models,
        role=role,
        rng=options.rng,
    )


def prior_pairs_of(three_way: AnovaResult, alpha: float) -> pd.DataFrame:
    """Pairs of priors by the 3-way analysis; none where there is one prior."""
    if three_way.residuals()["prior"].nunique() < 2:
        return no_prior_pairs()
    return tukey_hsd(three_way, factor="prior", alpha=alpha).to_frame()
