"""The tests that are chosen by the design of the folds, before the data are looked at, and those beside them.

Which test holds its level under which design was measured by simulation (docs/studies). Folds that share
training data get Nadeau and Bengio's correction; independent folds get Greenhouse and Geisser's test and, for
pairs, the step-down max-T under sign flips, or Holm's paired t where the folds are too few for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from skewanova import _fold_kernels as kernels
from skewanova._checks import Seed
from skewanova._design import Resampling
from skewanova._omnibus import (
    corrected_anova,
    friedman_anova,
    hotelling_anova,
    repeated_measures_anova,
    resampling_anova,
)
from skewanova._omnibus_result import OmnibusResult, fold_table
from skewanova._pairwise import pairwise_comparisons
from skewanova._split_plot import split_plot_anova

#: Hotelling's test needs a covariance matrix it can trust: this many folds for each contrast.
FOLDS_PER_CONTRAST = 5
#: Fewer folds than this leave sign flips too few arrangements.
FOLDS_FOR_SIGN_FLIPS = 9
#: Smallest p of a test by 9,999 random arrangements.
SMALLEST_RANDOM_P = 1e-4


def omnibus_tests(
    iauprec: pd.DataFrame, auprec: pd.DataFrame, design: Resampling, *, rng: Seed
) -> list[OmnibusResult]:
    """Run the calibrated test of all models first, then the others as checks.

    Parameters
    ----------
    iauprec, auprec : DataFrame
        As an evaluation holds them, every model in every fold.
    design : Resampling
        How the folds came about.
    rng : int, Generator, SeedSequence or None
        Seed of the resampling tests.

    Returns
    -------
    list of OmnibusResult
        The first has the role headline, the others check.
    """
    chosen = headline_test(iauprec, design)
    runs: dict[str, Callable[[str], OmnibusResult]] = {
        "repeated_measures": lambda role: repeated_measures_anova(iauprec, role=role),
        "hotelling": lambda role: hotelling_anova(iauprec, role=role),
        "friedman": lambda role: friedman_anova(iauprec, role=role),
    }
    for method in ("sign_flip", "permutation"):
        runs[method] = partial(_rearranged, iauprec, method, rng)
    for method in ("corrected_f", "corrected_gg", "corrected_hotelling") if design.overlapping else ():
        runs[method] = partial(_corrected, iauprec, method, design.ratio)
    if not kernels.full_rank(fold_table(iauprec)[0]):
        runs = {name: run for name, run in runs.items() if "hotelling" not in name}
    results = [runs[chosen]("headline"), *(run("check") for name, run in runs.items() if name != chosen)]
    if auprec["prior"].nunique() > 1:
        results.append(split_plot_anova(auprec, ratio=design.ratio))
    return results


def headline_test(iauprec: pd.DataFrame, design: Resampling) -> str:
    """Name the test of all models that the design asks for.

    Parameters
    ----------
    iauprec : DataFrame
        As an evaluation holds it.
    design : Resampling
        How the folds came about.

    Returns
    -------
    str
        ``repeated_measures`` for independent folds; else ``corrected_hotelling`` with at least five folds for
        each contrast, or ``corrected_gg``.
    """
    if not design.overlapping:
        return "repeated_measures"
    contrasts = iauprec["model"].nunique() - 1
    enough = design.n_folds >= FOLDS_PER_CONTRAST * contrasts
    return "corrected_hotelling" if enough and kernels.full_rank(fold_table(iauprec)[0]) else "corrected_gg"


def headline_pairs(
    iauprec: pd.DataFrame,
    design: Resampling,
    *,
    alpha: float,
    order: Sequence[str],
    rng: Seed,
    role: str = "headline",
) -> pd.DataFrame:
    """Compare all pairs by the family that the design asks for.

    Parameters
    ----------
    iauprec : DataFrame
        As an evaluation holds it.
    design : Resampling
        How the folds came about.
    alpha : float
        Family-wise level.
    order : sequence of str
        Models, best first.
    rng : int, Generator, SeedSequence or None
        Seed of the sign flips.
    role : str, default "headline"
        Written to the frame.

    Returns
    -------
    DataFrame
        Columns of `POSTHOC_COLUMNS`: ``corrected_t_holm`` where folds share training data, else ``max_t``, or
        ``paired_t_holm`` with fewer than nine folds or where sign flips cannot reach `alpha`. Tukey's test is
        never chosen: it fails where models spread unequally, and no look at the spreads first mends that.
    """
    return pairwise_comparisons(
        iauprec,
        method=pairs_method(design, alpha),
        ratio=design.ratio,
        alpha=alpha,
        order=order,
        role=role,
        rng=rng,
    )


def pairs_method(design: Resampling, alpha: float) -> str:
    """Name the family of pairwise tests that the design asks for.

    Parameters
    ----------
    design : Resampling
        How the folds came about.
    alpha : float
        Family-wise level.

    Returns
    -------
    str
        One of `PAIRWISE_TESTS`.
    """
    if design.overlapping:
        return "corrected_t_holm"
    smallest = max(2.0 ** (1 - design.n_folds), SMALLEST_RANDOM_P)
    reachable = design.n_folds >= FOLDS_FOR_SIGN_FLIPS and smallest < alpha
    return "max_t" if reachable else "paired_t_holm"


def _rearranged(iauprec: pd.DataFrame, method: str, rng: Seed, role: str) -> OmnibusResult:
    return resampling_anova(iauprec, method=method, rng=rng, role=role)


def _corrected(iauprec: pd.DataFrame, method: str, ratio: float, role: str) -> OmnibusResult:
    return corrected_anova(iauprec, ratio=ratio, method=method, role=role)
