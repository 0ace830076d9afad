"""Checks before a comparison: complete folds, the same cases for all models, and plausible scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, InputError, check_choice, warn_each
from skewanova.base.text import escape_text
from skewanova.curves.groups import aucs_of_groups
from skewanova.priors.evidence import MIN_POSITIVES_FOR_LARGE_FOLDS, UnitSums
from skewanova.scores.table import MAX_EXAMPLES, Label, Scores, ScoreTable, TieCounts

NOT_PAIRED = (
    "all models of a test set must be scored on the same cases, but their rows do not match; add a case "
    "column, with the same name for a case in every model, and leave out cases that a model lacks"
)


NEEDS_MEMORY = (
    "models on one test set are compared case by case, but rows of Dask and Spark have no order; add a "
    "column case to the frame"
)


#: Smallest share, and number, of the cases of a fold at its best score that make a warning.
MIN_TOP_SHARE, MIN_TOP_CASES = 0.05, 10


#: Smallest and largest share of all cases that a bootstrap resample tests.
RESAMPLE_SHARES = (0.60, 0.99)


#: Share of its median gain in AUC over 0.5 below which a model has collapsed; smallest gain that counts.
COLLAPSED_SHARE, MIN_AUC_GAIN = 0.25, 0.1


#: Fewest cases at which distinct whole numbers are taken for names of cases.
MIN_NAMED_CASES = 20


#: Share of the weight of a class that is only rounding error.
NO_WEIGHT = 1e-9


class PairedCases(NamedTuple):
    """Labels, scores of each model, clusters numbered from 0, and weights of the same cases, in one order."""

    positive: Bools
    scores: tuple[NDArray[Any], ...]
    cluster: NDArray[np.intp] | None = None
    weight: Floats | None = None


def pair_cases(table: Scores) -> PairedCases:
    """Return first fold's cases, sorted by name if any; raise if models, folds differ or not in memory."""
    if not isinstance(table, ScoreTable):
        raise InputError(NEEDS_MEMORY)
    return _pair_folds(table)[0]


def pair_runs(table: ScoreTable) -> tuple[PairedCases, ...]:
    """Return one PairedCases per fold, in one order; raise if cases differ, or one cluster holds a class."""
    runs = _pair_folds(table)
    positive, _, cluster, weight = runs[0]
    if cluster is not None:
        _raise_single_cluster(UnitSums.from_cases(positive.astype(np.intp), cluster, weight, 2).total)
    return runs


def _pair_folds(table: ScoreTable) -> tuple[PairedCases, ...]:
    """Return cases by fold, sorted by name if any; raise unless all have the same names, or else labels."""
    fold, model = table.codes("fold"), table.codes("model")
    key = table.codes("case") if table.has_cases else table.frame["y_true"].to_numpy().astype(np.intp)
    order = np.lexsort((key, model, fold) if table.has_cases else (model, fold))
    shape = len(table.folds), len(table.models), -1
    n_groups = shape[0] * shape[1]
    sizes = table.counts.sum(axis=2)
    cases = order[: sizes[0, 0]]
    if (sizes != len(cases)).any() or not np.array_equal(key[order], np.tile(key[cases], n_groups)):
        raise InputError(NOT_PAIRED)
    cluster = weight = None
    if table.has_clusters:
        cluster = np.unique(table.codes("cluster")[cases], return_inverse=True)[1].reshape(-1)
    if table.has_weights:
        weight = table.frame["weight"].to_numpy()[cases]
    positive, score = table.frame["y_true"].to_numpy()[cases], table.frame["y_score"].to_numpy()
    if (np.diff(order) != 1).any():  # else they are not copied
        score = score[order]
    return tuple(PairedCases(positive, tuple(run), cluster, weight) for run in score.reshape(shape))


def check_clustered_runs(table: Scores) -> None:
    """Raise if one cluster holds a whole class or, in memory, if models or runs have different cases."""
    if isinstance(table, ScoreTable):
        pair_runs(table)
    elif table.sampling is not None and table.has_clusters:
        _raise_single_cluster(table.sampling.sums.total[0, 0])


def _raise_single_cluster(total: Floats) -> None:
    """Raise if a class is one cluster; `total` is weight (negative, positive) over the largest cluster's."""
    for side in ("positive", "negative"):
        weight = total[int(side == "positive")]
        if weight - 1 <= NO_WEIGHT * weight:
            raise InputError(
                f"`cluster` must name at least 2 clusters of each class, but only one cluster has {side} "
                "cases, so their variance cannot be estimated; leave it out if each case was drawn by itself"
            )


def complete_table(table: Scores, *, missing: str | None = None) -> tuple[Scores, tuple[str, ...]]:
    """Return the table with every fold in every model, and the warnings issued, () if it was complete.

    Folds that lack a model are dropped with a warning if ``missing='drop'``; else they raise.
    """
    if missing is not None:
        check_choice(missing, ("raise", "drop"), "missing")
    absent = np.argwhere(table.counts.sum(axis=2) == 0)
    if not len(absent):
        return table, ()
    cells = [f"model {table.models[m]!r} in fold {table.folds[f]!r}" for m, f in absent]
    dropped = {table.folds[f] for _, f in absent}
    retained = [fold for fold in table.folds if fold not in dropped]
    n_others = len(cells) - MAX_EXAMPLES
    absences = "; ".join(cells[:MAX_EXAMPLES]) + (f"; and {n_others} more" if n_others > 0 else "")
    if missing != "drop" or not retained:
        option = " with missing='drop' (--missing drop)" * (missing is not None)
        raise InputError(
            f"every model must be scored in every fold, but these are missing: {absences}. Score them"
            + (f", or drop the folds for all models{option}" if retained else ", or name folds alike")
        )
    folds = f"{len(dropped)} of {len(table.folds)} folds"
    note = f"dropped {folds} for all models, since these are missing: {absences}"
    return table.select_folds(retained), warn_each([note])


def _name_absent(table: Scores, case: Label, fold: Label) -> str:
    """Return ' (not scored by MODELS)' of the first 5 models without a case of a fold, '' if distributed."""
    if not isinstance(table, ScoreTable):
        return ""
    rows = table.frame[table.frame["fold"] == fold]
    present = set(rows.loc[rows["case"] == case, "model"])
    absent = [escape_text(model) for model in rows["model"].unique().tolist() if model not in present]
    return f" (not scored by {', '.join(map(repr, absent[:MAX_EXAMPLES]))})"


def check_paired(table: Scores) -> tuple[str, ...]:
    """Raise if models of a fold differ in named cases; issue and return warnings if in numbers of unnamed."""
    n_pairs, examples = table.count_unpaired()
    if n_pairs:
        displayed = ", ".join(
            f"case {case!r} in fold {fold!r}{_name_absent(table, case, fold)}" for case, fold in examples
        )
        code = ""
        if isinstance(table, ScoreTable):  # Dask and Spark have no such line
            part = "'part', " * (table.halvings is not None)
            keys = f"[{part}'fold', 'case']" if len(table.folds) > 1 else "'case'"
            keep = f"rows[rows.groupby({keys})['model'].transform('nunique') == {len(table.models)}]"
            where = "where rows is the table (of one data set) with its columns so named"
            code = f", as in pandas by {keep}, {where}"
        raise InputError(
            f"all models of a fold must be scored on the same cases, but cases lack a model ({n_pairs} in "
            f"all), the first: {displayed}; name them alike, score them by all, or leave them out{code}"
        )
    # without cases, unequal numbers of the classes are the only evidence
    odd = np.flatnonzero((table.counts != table.counts[:1]).any(axis=(0, 2)))
    if table.has_cases or not len(odd):
        return ()
    fold = table.folds[odd[0]]
    note = (
        f"models have different numbers of cases in {len(odd)} folds (the first: fold {fold!r}), so they "
        "were not scored on the same cases, which the tests assume; score all models on the same"
    )
    return warn_each([note])


def describe_table(table: Scores) -> list[str]:
    """Return lines of text on rows, models, folds, prior, cases and warnings; raise if not comparable."""
    check_several_models(table)
    complete_table(table)
    notes = check_paired(table)
    test_set = len(table.folds) == 1
    halvings = table.halvings
    if test_set and (isinstance(table, ScoreTable) or table.parts is None):
        pair_cases(table)
    elif table.has_clusters and table.has_cases and np.ptp(table.shared_cases()[0]) == 0:  # runs
        check_clustered_runs(table)
    negative, positive = table.counts[..., 0], table.counts[..., 1]
    folds = "1 fold" if test_set else f"{len(table.folds)} folds"
    auc = auc_frame(table)
    checks = (*check_rankings(auc), *check_score_values(table, auc))
    suspicions = [check.advice for check in checks if check.advice]
    return [
        f"{table.counts.sum():,} rows: {len(table.models)} models x {folds}",
        f"models: {', '.join(map(escape_text, table.models))}",
        f"positives per fold: {_format_range(positive)}; negatives per fold: {_format_range(negative)}",
        f"prior in the table: {positive.sum() / table.counts.sum():.4g}",
        "cases: " + ("named, and the same for all models of a fold" if table.has_cases else "not named"),
        *_describe_sampling(table),
        *([] if halvings is None else [f"halvings: {halvings.n_halvings}, of {halvings.n_cases:,} cases"]),
        *(f"warning: {note}" for note in (*notes, *suspicions)),
        *(["one fold: models are compared by the variation of their areas over cases"] if test_set else []),
        "The table can be compared.",
    ]


def _describe_sampling(table: Scores) -> list[str]:
    """Return lines on clusters, weights and the smallest effective numbers of cases; [] without both."""
    clusters, weights = table.n_clusters, table.weights
    lines = [f"clusters: {clusters:,}, each whole within a fold"] if clusters else []
    if weights is not None:
        low, high, prior = weights
        lines.append(f"weights: {low:.4g} to {high:.4g}, with which the prior is {prior:.4g}")
    if not lines:
        return []
    negative, positive = table.effective_counts.min(axis=(0, 1)).tolist()
    unit = "clusters" if clusters else "cases"
    return [
        *lines,
        f"effective numbers in the smallest fold: {positive:.4g} positives, {negative:.4g} negatives "
        f"(of equal {unit})",
    ]


def check_several_models(table: Scores) -> None:
    """Raise unless the table has two models or more."""
    if len(table.models) < 2:
        call = "skewanova.confidence_interval(y_true, y_score), or `skewanova intervals` on one data set"
        remedy = f"add more, or for one use {call} of 2 classes" if table.models else "name more in `models`"
        raise InputError(
            f"a comparison needs at least 2 models, but the table has {len(table.models)}; {remedy}"
        )


def _format_range(values: NDArray[np.int64]) -> str:
    """Return the text 'LOW to HIGH' of the values, or the number if all are equal."""
    return f"{values.min()}" if values.min() == values.max() else f"{values.min()} to {values.max()}"


# --- sanity of the scores ----------------------------------------------------------------------------------


class SanityCheck(NamedTuple):
    """Result of one check: its name, its statistic, and advice, which is empty if the scores pass."""

    check: str
    statistic: float
    advice: str


def check_score_values(table: Scores, auc: pd.DataFrame) -> list[SanityCheck]:
    """Return checks of positives, shares of named cases, distinct scores, top ties, any names as scores."""
    ties = list(table.ties())
    return [
        _check_positives(table),
        *_check_resamples(table),
        _check_decisions(ties),
        _check_top_ties(ties),
        *_check_identifiers(table, auc),
    ]


def check_rankings(auc: pd.DataFrame) -> list[SanityCheck]:
    """Return checks of AUC (folds, models): least mean, numbers of perfect models (if any) and collapses."""
    return [_check_inverted(auc), *_check_perfect(auc), _check_collapsed(auc)]


def auc_frame(table: Scores) -> pd.DataFrame:
    """Return AUC, a row per fold and a column per model, in the table's order; nan if one lacks a fold."""
    curves = table.curves()
    cells = pd.MultiIndex.from_tuples(list(curves), names=["model", "fold"])
    result = pd.Series(aucs_of_groups(curves), index=cells).unstack("model")
    return result.loc[list(table.folds), list(table.models)]


def find_collapsed(auc: pd.DataFrame) -> NDArray[np.bool_]:
    """Return a mask like `auc`: AUC - 0.5 below 1/4 of a good model's median (not if most of a fold are)."""
    gain, usual = auc - 0.5, auc.median() - 0.5
    lost = ((gain < COLLAPSED_SHARE * usual) & (usual >= MIN_AUC_GAIN)).to_numpy()
    return np.asarray(lost & (lost.mean(axis=1) <= 0.5)[:, None])


def _list_model_details(details: Mapping[str, str]) -> str:
    """Return the text "'MODEL' (DETAIL), ...", of many models the first 5 and how many more."""
    items = [f"{escape_text(model)!r} ({detail})" for model, detail in details.items()]
    others = [f"{len(items) - MAX_EXAMPLES} more"] if len(items) > MAX_EXAMPLES else []
    return ", ".join([*items[:MAX_EXAMPLES], *others])


def _check_inverted(auc: pd.DataFrame) -> SanityCheck:
    """Return the check of the smallest mean AUC of a model; advice on inverted scores if below 0.5."""
    means = auc.mean()
    low = means[means < 0.5]
    models = _list_model_details({str(model): f"AUC {value:.3f}" for model, value in low.items()})
    advice = (
        f"worse than chance: {models}: are these scores inverted? If so, negate them or, of two classes, "
        "name the other (pos_label of skewanova.read_scores, --positive)"
    )
    return SanityCheck("smallest_auc", float(means.min()), advice if len(low) else "")


def _check_perfect(auc: pd.DataFrame) -> Iterator[SanityCheck]:
    """Yield a check of the number of models with AUC 1 in every fold, if any; advice on leaking labels."""
    perfect = auc.columns[(auc == 1).all()]
    if len(perfect):
        models = _list_model_details(dict.fromkeys(map(str, perfect), "AUC 1"))
        advice = f"perfect ranking: {models}: make sure that the label does not leak into the scores"
        yield SanityCheck("perfect_auc", float(len(perfect)), advice)


def _check_collapsed(auc: pd.DataFrame) -> SanityCheck:
    """Return the check of the number of (fold, model) in which a model collapses, with advice if not 0."""
    lost = find_collapsed(auc)
    if not lost.any():
        return SanityCheck("collapsed_folds", 0.0, "")
    fold, model = np.argwhere(lost)[0].tolist()
    name, low = str(auc.columns.tolist()[model]), float(auc.to_numpy()[fold, model])
    advice = (
        f"model {escape_text(name)!r} ranks near chance in {int(lost[:, model].sum())} of {len(auc)} folds "
        f"(the first: fold {auc.index.tolist()[fold]!r}, AUC {low:.3f}), but well in the others: tests "
        "reject too often (.10 to .12 at .05 where models collapse in 1 of 10 folds); see why training "
        "failed there"
    )
    return SanityCheck("collapsed_folds", float(lost.sum()), advice)


def _check_positives(table: Scores) -> SanityCheck:
    """Return the check of the fewest effective positives in a fold; of several folds, advice below 30."""
    fewest = float(table.effective_counts[table.counts.sum(axis=2) > 0][:, 1].min())
    few = fewest < MIN_POSITIVES_FOR_LARGE_FOLDS and len(table.folds) > 1
    advice = (
        f"the smallest fold has {fewest:.4g} positives: means and intervals are about areas in folds of that "
        f"size, which below {MIN_POSITIVES_FOR_LARGE_FOLDS} positives may differ from those of large "
        "samples; use fewer or larger folds"
    )
    return SanityCheck("positives_a_fold", fewest, advice if few else "")


def _check_resamples(table: Scores) -> Iterator[SanityCheck]:
    """Yield, of several folds of named cases, a check of a fold's least share; advice if all .60 to .99."""
    if not table.has_cases or len(table.folds) < 2:
        return
    shared, n_cases = table.shared_cases()
    share = np.diag(shared) / (table.n_cases or n_cases)  # some may be in no fold
    looks = bool((share >= RESAMPLE_SHARES[0]).all() and (share <= RESAMPLE_SHARES[1]).all())
    advice = (
        f"every fold tests {share.min():.0%} to {share.max():.0%} of all cases: if folds are resamples of "
        "one test set, tests over them reject far too often; give the test set once, as one fold, and its "
        "cases are resampled for you"
    )
    yield SanityCheck("share_of_cases", float(share.min()), advice if looks else "")


def _find_most_distinct(ties: Sequence[TieCounts]) -> list[TieCounts]:
    """Return, for each model, the counts of its fold with the most distinct scores."""
    most: dict[str, TieCounts] = {}
    for counts in ties:
        most[counts.model] = max(most.get(counts.model, counts), counts, key=lambda fold: fold.n_distinct)
    return list(most.values())


def find_fewest_distinct(ties: Sequence[TieCounts]) -> TieCounts:
    """Return the counts of the model with the fewest distinct scores, in its fold with the most."""
    return min(_find_most_distinct(ties), key=lambda counts: counts.n_distinct)


def _check_decisions(ties: Sequence[TieCounts]) -> SanityCheck:
    """Return the check of the fewest distinct scores of a model in its fold of most; advice if at most 2."""
    most = _find_most_distinct(ties)
    few = {counts.model: counts.n_distinct for counts in most if counts.n_distinct <= 2 < counts.n_cases}
    details = {model: f"{number} distinct score{'s' * (number > 1)}" for model, number in few.items()}
    advice = (
        f"hard predictions instead of scores: {_list_model_details(details)}: they give a one-point curve; "
        "provide probabilities or the decision function"
    )
    fewest = min(counts.n_distinct for counts in most)
    return SanityCheck("different_scores", float(fewest), advice if few else "")


def _check_top_ties(ties: Sequence[TieCounts]) -> SanityCheck:
    """Check the largest share of a fold's cases tied at the best score; advise from .05 and 10 cases on."""
    worst = max(ties, key=lambda counts: counts.n_best / counts.n_cases)
    share = worst.n_best / worst.n_cases
    advice = (
        f"{share:.0%} of the cases tie at the best score of model {escape_text(worst.model)!r} in fold "
        f"{worst.fold!r}, so it cannot rank these cases; provide unrounded scores, or log-odds"
    )
    many = share >= MIN_TOP_SHARE and worst.n_best >= MIN_TOP_CASES
    return SanityCheck("share_at_best_score", share, advice if many else "")


def _check_identifiers(table: Scores, auc: pd.DataFrame) -> Iterator[SanityCheck]:
    """Yield a check, in memory, of how many models have distinct whole scores, if any (1 fold: no skill)."""
    if not isinstance(table, ScoreTable) or len(table.frame) < MIN_NAMED_CASES * len(table.models):
        return
    works = (auc.mean() - 0.5).abs() >= MIN_AUC_GAIN
    named = [
        str(model)
        for model, score in table.frame.groupby("model", sort=False, observed=True)["y_score"]
        if (np.rint(score) == score).all() and score.is_unique and not (len(auc) == 1 and works[model])
    ]
    if named:
        advice = (
            f"the scores of {escape_text(named[0])!r} are whole numbers that all differ: if they name the "
            "cases, leave its column or rows out, or list the others by skewanova.scores_from_wide(table, "
            "models=LIST), or --models LIST (of compare and compare-values)"
        )
        yield SanityCheck("identifiers", float(len(named)), advice)
