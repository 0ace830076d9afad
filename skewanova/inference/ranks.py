"""Mean ranks, the critical difference, and compact letter displays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import stats

from skewanova.base.checks import InputError, InputTypeError, check_alpha, check_choice
from skewanova.base.rounding import argsort_descending, snap_ties
from skewanova.inference import pairwise
from skewanova.inference.anova import check_columns
from skewanova.inference.fold_statistics import range_isf
from skewanova.inference.omnibus import build_fold_table


def compact_letters(levels: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Assign letters so that two levels share one exactly if they do not differ significantly.

    Parameters
    ----------
    levels : sequence of str
        Levels, best first; letters are assigned in this order.
    different : iterable of (str, str)
        Pairs that differ significantly, in either order; names not in `levels` are ignored.

    Returns
    -------
    dict
        Letters of every level, in the order of `levels` (Piepho 2004, An algorithm for a letter-based
        representation of all-pairwise comparisons).

    Examples
    --------
    >>> from skewanova.inference import compact_letters
    >>> compact_letters(["A", "C", "B"], [("A", "B")])
    {'A': 'a', 'C': 'ab', 'B': 'b'}
    """
    if any(isinstance(each, pd.DataFrame) for each in (levels, different)):
        pairs = "frame.loc[frame['reject'], ['model_a', 'model_b']].to_numpy()"
        raise InputTypeError(f"`levels` must be a list of names, and `different` pairs of one test: {pairs}")
    groups = enumerate(_group_levels(list(levels), different))
    names = {group: chr(ord("a") + i % 26) + str(i // 26 or "") for i, group in groups}  # a to z, a1, b1 ...
    return {level: "".join(name for group, name in names.items() if level in group) for level in levels}


def rank_intervals(models: Sequence[str], pairs: pd.DataFrame) -> pd.DataFrame:
    """Compute simultaneous confidence intervals of the ranks from tests of pairs.

    A model ranks below all models that are significantly better, and above all that are significantly worse.
    If the family-wise error rate of the pairs is at most alpha, all intervals together hold the true ranks
    with probability 1 - alpha.

    Parameters
    ----------
    models : sequence of str
        Models that are ranked, in the order of the rows that come back.
    pairs : DataFrame
        Columns model_a, model_b, estimate (of a minus b), reject; one family, each pair once, all or fewer.

    Returns
    -------
    DataFrame
        Columns model, rank_low, rank_high, one row a model; rank 1 is the best. They are those of Mogstad,
        Romano, Shaikh and Wilhelm (2024), Inference for ranks with applications to mobility across
        neighbourhoods and academic achievement across countries.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.inference import rank_intervals
    >>> pair = pd.DataFrame({"model_a": ["A"], "model_b": ["B"], "estimate": [0.2], "reject": [True]})
    >>> rank_intervals(["A", "C", "B"], pair).to_numpy().tolist()
    [['A', 1, 2], ['C', 1, 3], ['B', 2, 3]]
    """
    check_columns(pairs, ("model_a", "model_b", "reject", "estimate"))
    if pairs.duplicated(["model_a", "model_b"]).any():
        raise InputError(
            "`pairs` must have one row for each pair, but repeats some; keep one test, prior and class, as "
            "skewanova.compare(scores).pairs.query(\"role == 'primary'\")"
        )
    both = pairs["model_a"].isin(models) & pairs["model_b"].isin(models)
    rejected = pairs[both & pairs["reject"].eq(True)]
    ahead = rejected["estimate"] > 0
    n_worse = rejected["model_a"].where(ahead, rejected["model_b"]).value_counts()
    n_better = rejected["model_b"].where(ahead, rejected["model_a"]).value_counts()
    low = [1 + int(n_better.get(model, 0)) for model in models]
    high = [len(models) - int(n_worse.get(model, 0)) for model in models]
    return pd.DataFrame({"model": list(models), "rank_low": low, "rank_high": high})


def _group_levels(levels: Sequence[str], different: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """Return the largest sets of levels in which no two differ, sorted by the order of the levels."""
    groups = [frozenset(levels)]
    for first, second in different:
        split = [c - {gone} if {first, second} <= c else c for c in groups for gone in (first, second)]
        distinct = list(dict.fromkeys(split))
        groups = [c for c in distinct if not any(c < other for other in distinct)]
    return sorted(groups, key=lambda group: sorted(levels.index(level) for level in group))


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Mean ranks, and groups of models without a significant difference.

    Attributes
    ----------
    ranks : DataFrame
        Columns model, mean_rank, group, best first; rank 1 is the largest IAUPREC of a fold, and models that
        share a letter of ``group`` do not differ significantly.
    cliques : tuple of tuple of str
        Largest groups of two or more models without a significant difference.
    test : str
        Family of comparisons behind the groups.
    critical_difference, alpha : float
        Difference of mean ranks that Nemenyi's test needs (nan for other tests), and its level.
    n_folds, models : int, tuple of str
        Number of folds ranked; the models as the table orders them.
    """

    ranks: pd.DataFrame = field(repr=False)
    cliques: tuple[tuple[str, ...], ...]
    test: str
    critical_difference: float
    alpha: float
    n_folds: int
    models: tuple[str, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one row a model, best first: model, mean_rank, group (letters)."""
        return self.ranks.copy()


def rank_comparison(
    iauprec: pd.DataFrame, pairs: pd.DataFrame | None = None, *, test: str = "nemenyi", alpha: float = 0.05
) -> RankComparison:
    """Rank the models in every fold, and group those that do not differ (Demsar 2006, section 3.2.2).

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    pairs : DataFrame, optional
        Columns test, response, model_a, model_b, reject; by default of Nemenyi's test at level `alpha`.
    test : str, default "nemenyi"
        Family of comparisons, of all pairs.
    alpha : float, default 0.05
        Level of the critical difference.

    Returns
    -------
    RankComparison
        Mean ranks with letters (`ranks`), groups of two or more (`cliques`), Nemenyi's critical difference
        (nan for other tests).

    Raises
    ------
    ValueError
        If the table is incomplete, an option is unknown or out of range, or the family lacks a pair.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5,))
    >>> ranks = sa.inference.rank_comparison(measures.iauprec)
    >>> ranks.to_frame().to_numpy().tolist(), round(ranks.critical_difference, 4)
    ([['A', 1.4, 'a'], ['C', 1.8, 'a'], ['B', 2.8, 'b']], 0.7411)
    """
    check_alpha(alpha)
    values, models = build_fold_table(iauprec)
    if pairs is None:
        check_choice(test, ("nemenyi",), "test")
        pairs = pairwise.posthoc(iauprec, method="nemenyi", alpha=alpha)
    names = [str(model) for model in models]
    mean_rank = stats.rankdata(snap_ties(-values), axis=1).mean(axis=0)
    order = argsort_descending(-mean_rank)
    ranked = [names[i] for i in order]
    rejected = _find_rejected_pairs(pairs, test, ranked)
    cliques = [[m for m in ranked if m in group] for group in _group_levels(ranked, rejected)]
    letters = list(compact_letters(ranked, rejected).values())
    quantile = range_isf(alpha, len(ranked), np.inf) / np.sqrt(2)  # Demsar 2006, 3.2.2
    critical = float(quantile * np.sqrt(len(ranked) * (len(ranked) + 1) / (6 * len(values))))
    return RankComparison(
        ranks=pd.DataFrame({"model": ranked, "mean_rank": mean_rank[order], "group": letters}),
        cliques=tuple(tuple(clique) for clique in cliques if len(clique) > 1),
        test=test,
        critical_difference=critical if test == "nemenyi" else np.nan,
        alpha=alpha,
        n_folds=len(values),
        models=tuple(names),
    )


def _find_rejected_pairs(pairs: pd.DataFrame, test: str, models: Sequence[str]) -> list[tuple[str, str]]:
    """Return (model_a, model_b) of the rejected pairs of a family on IAUPREC; raise if it lacks a pair."""
    check_columns(pairs, ("test", "response", "model_a", "model_b", "reject"))
    rows = pairs[pairs["response"] == "iauprec"]
    if rows.empty:
        fault = "no rows; leave `pairs` and `test` out"
        if others := ", ".join(map(str, dict.fromkeys(pairs["response"]))):
            fault = f"{others}; drop `pairs`, `test` or, of one measure, pairs.assign(response='iauprec')"
        raise InputError(f"`pairs` must have rows of the response iauprec, but has {fault}")
    check_choice(test, list(dict.fromkeys(rows["test"])), "test")
    rows = rows[rows["test"] == test]
    names = [(str(a), str(b)) for a, b in zip(rows["model_a"], rows["model_b"], strict=True)]
    unknown = [name for pair in names for name in pair if name not in models]
    if unknown:
        raise InputError(
            f"`pairs` must name models of `iauprec`, but got {unknown[0]!r}; take both from one "
            "comparison, as result.tables['iauprec'] and result.pairs, or leave out `pairs` and `test`"
        )
    if len({frozenset(pair) for pair in names}) != len(models) * (len(models) - 1) // 2:
        raise InputError(
            f"`test` must compare every pair of the {len(models)} models, which {test!r} does not; leave out "
            "`test` (and `pairs` of rank_comparison)"
        )
    return [pair for pair, reject in zip(names, rows["reject"].eq(True), strict=True) if reject]
