"""Sentences about frames, and the paragraph of advice.

Every sentence has a function of its own and says numbers that stand in the frames it takes. No model is
called the better one unless the headline test, or the simultaneous bands, tell it from the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import records
from skewanova.base.rounding import TIE
from skewanova.base.text import format_factor, format_number, p_words, short_names
from skewanova.decision.bands import differing_priors
from skewanova.inference.catalogue import known, named_test
from skewanova.report.source import ReportSource
from skewanova.report.tables import crossing_interval

#: Pairs not found to differ are listed one by one up to this many.
MOST_ALIKE = 3


def anova_line(test: pd.DataFrame) -> str:
    """One test of all models on one line: F, degrees of freedom and p."""
    row = next(records(test[test["term"] == "model"]))
    df, df_error = (f"{value:.4g}" for value in (row.df, row.df_error))
    value = f"{known(row.test).statistic}({df}, {df_error}) = {row.statistic:.2f}"
    return f"{named_test(row)}: {value}, {p_words(row.p_value)}"


def pair_sentences(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str] | None = None) -> list[str]:
    """Say each comparison of one family in words."""
    short = short_names([*posthoc["model_a"], *posthoc["model_b"]]) if names is None else names
    sentences = []
    for row in records(posthoc):
        a, b, p = short[row.model_a], short[row.model_b], f"adjusted {p_words(row.p_adjusted)}"
        if np.isnan(row.p_adjusted):
            sentences.append(f"{a} and {b} could not be tested, because {untested_because([row])}.")
        elif row.reject:
            ahead, behind = (a, b) if row.estimate >= 0 else (b, a)
            sentences.append(f"{ahead} is ahead of {behind} by {abs(row.estimate):.3f} ({p}).")
        else:
            sentences.append(f"{a} and {b} were not found to differ at {alpha:g} ({p}).")
    return sentences


def pair_findings(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say which pairs differ; pairs that do not are said in one sentence where there are many."""
    differ = posthoc["reject"].astype(bool)
    if (~differ).sum() <= MOST_ALIKE:
        return pair_sentences(posthoc, alpha, names)
    untested = posthoc[posthoc["p_adjusted"].isna()]
    alike = posthoc[~differ & posthoc["p_adjusted"].notna()]
    found = pair_sentences(posthoc[differ], alpha, names)
    if len(alike):
        smallest = f"adjusted {p_words(alike['p_adjusted'].min())}"
        told = f"{_pairs(len(alike), 'other')} not found to differ"
        if not found and untested.empty:
            told = _none_differs(posthoc, names)
        found.append(f"{told} at {alpha:g} (smallest {smallest}).")
    if len(untested):
        told = f"{len(untested)} of the {len(posthoc)} pairs could not" if found else "No pair could"
        found.append(f"{told} be tested, because {untested_because(list(records(untested)))}.")
    return found


def _none_differs(posthoc: pd.DataFrame, names: Mapping[str, str]) -> str:
    """That no pair of the family differs: of all models, or with a control."""
    if known(posthoc["test"].iloc[0]).control:
        return f"No model was found to differ from the control, {names[posthoc['model_b'].iloc[0]]},"
    return "No two models were found to differ"


def omnibus_sentence(anova: pd.DataFrame, alpha: float) -> str:
    """Say what the headline test of all models found."""
    headline = anova[(anova["role"] == "headline") & (anova["term"] == "model")]
    if headline["p_value"].isna().all():
        why = models_untested_because(next(records(headline)))
        return f"The models could not be tested for a difference, because {why} ({anova_line(headline)})."
    differ = bool((headline["p_value"] < alpha).any())
    verdict = f"The models {'differ' if differ else 'were not found to differ'} at {alpha:g}"
    return f"{verdict} ({anova_line(headline)})."


def models_untested_because(row: Any) -> str:
    """Why the test of all models has no p-value."""
    if known(row.test).over == "cases":
        return "a class has one case" if row.df > 0 else "their differences do not vary from case to case"
    return "they do not differ in any fold"


def untested_because(rows: Collection[Any]) -> str:
    """Why pairs have no p-value: rows with the columns estimate and std_error."""
    if all(abs(row.estimate) <= TIE for row in rows):
        return "their values are the same"
    if all(row.std_error == 0 for row in rows):
        return "their difference does not vary"
    return "how their difference varies is not known"


def curve_sentences(
    differences: pd.DataFrame, names: Mapping[str, str] | None = None, *, control: str | None = None
) -> list[str]:
    """Say at which priors two models differ, or one and the control, by the simultaneous bands."""
    if control is not None:
        differences = differences[(differences["model_a"] == control) | (differences["model_b"] == control)]
    short = short_names([*differences["model_a"], *differences["model_b"]]) if names is None else names
    differing = differing_priors(differences)
    tested = differences.loc[differences["p_adjusted"].notna(), "prior"]
    if tested.empty:
        few = differences["std_error"].isna().any()
        why = (
            "the test set is too small for any of the priors"
            if few
            else untested_because(list(records(differences)))
        )
        return [f"Differences along the prior could not be tested, because {why}."]
    if differing.empty:
        low, high = tested.min(), tested.max()
        alike = "were any two models found to differ"
        if control is not None:
            alike = f"was any model found to differ from {short[control]}, the control"
        return [f"At no prior from {low:.3g} to {high:.3g} {alike}."]
    return [
        f"{short[row.better]} is ahead of {short[row.worse]} at priors {row.prior_low:.3g} to "
        f"{row.prior_high:.3g} (simultaneous band)."
        for row in records(differing)
    ]


def _pairs(number: int, word: str) -> str:
    return f"The {word} pair was" if number == 1 else f"The {word} {number} pairs were"


#: Longer lists of models are counted instead.
MOST_NAMED = 5


#: More than this many times the data is out of reach, and nothing to advise.
MOST_DATA = 1000.0


#: Largest regret that is only rounding.
NO_REGRET = 1e-9


def advice(source: ReportSource) -> str:
    """Advise on the choice, in one paragraph."""
    names = short_names(str(model) for model in source.decisions["model"])
    alpha = source.alpha
    headline = source.posthoc[source.posthoc["role"] == "headline"]
    compared = compared_sentence(source.iauprec, str(source.settings["deployment_prior"]), names)
    what = "AUPREC" if source.iauprec["fold"].nunique() == 1 else "mean AUPREC"
    if len(names) == 1:
        return f"{compared} {support_sentence(source.support)}".strip()
    sentences = [
        compared,
        tested_sentence(source.anova, alpha),
        choice_sentence(source.decisions, headline, alpha, names),
        disagreement_sentence(source.anova, headline, alpha),
        probability_sentence(source.decisions, names),
        regret_sentence(source.decisions, names) if source.crossings["lead"].any() else "",
        criteria_sentence(source.choices, names),
        depends_sentence(source.leaders, names),
        *crossing_sentences(source.crossings, source.leaders, alpha, names, what=what),
        support_sentence(source.support),
        more_data_sentence(source.plans, headline, source.decisions, names),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def compared_sentence(iauprec: pd.DataFrame, weighting: str, names: Mapping[str, str]) -> str:
    """Say what was compared, and on what."""
    cases = iauprec["n_positive"] + iauprec["n_negative"]
    n_folds = iauprec["fold"].nunique()
    folds, each = ("one test set", "") if n_folds == 1 else (f"{n_folds} folds", " each")
    positive = _range(iauprec["n_positive"])
    verb = "was measured" if len(names) == 1 else "were compared"
    return (
        f"{_listed(names.values())} {verb} by mean AUPREC over the deployment prior ({weighting}), "
        f"on {folds} of {_range(cases)} cases{each}, {positive} of them positive."
    )


def tested_sentence(anova: pd.DataFrame, alpha: float) -> str:
    """Say what the headline test of all models found."""
    rows = anova[(anova["role"] == "headline") & (anova["term"] == "model")]
    if rows.empty:
        return ""
    row = next(records(rows))
    name = known(row.test).name
    if np.isnan(row.p_value):
        why = models_untested_because(row)
        return f"The calibrated test ({name}) could not be done, because {why}."
    told = "did not find them" if not row.p_value < alpha else "found them"
    return f"The calibrated test ({name}) {told} to differ at {alpha:g} ({p_words(row.p_value)})."


def choice_sentence(
    decisions: pd.DataFrame, headline: pd.DataFrame, alpha: float, names: Mapping[str, str]
) -> str:
    """Name the model to choose, or those that the headline test does not tell from the highest mean."""
    best, mean = str(decisions["model"].iloc[0]), float(decisions["expected_auprec"].iloc[0])
    others = [str(model) for model in decisions["model"].iloc[1:]]
    beside, behind = _told_apart(headline, best, others)
    has = f"{names[best]} has the highest mean ({format_number(mean)})"
    untested = _untested(headline, best)
    alike = [model for model in beside if model not in untested]
    if not beside:
        return f"Choose {names[best]}: it has the highest mean ({format_number(mean)}) and is ahead of " + (
            f"{_listed(names[model] for model in behind)} at {alpha:g}."
        )
    ahead = f"; it is ahead of {_listed(names[model] for model in behind)}" if behind else ""
    if untested:
        against = _listed(names[model] for model in untested)
        ahead += f"; it could not be tested against {against}, because {untested_because(untested.values())}"
    rest = _listed((names[model] for model in alike), "or") if alike else ""
    unclear = f" but is not distinguishable from {rest} at {alpha:g}" if alike else ""
    return f"{has}{unclear}{ahead}."


def disagreement_sentence(anova: pd.DataFrame, headline: pd.DataFrame, alpha: float) -> str:
    """Say why pairs may differ where the test of all models found nothing."""
    overall = anova[(anova["role"] == "headline") & (anova["term"] == "model")]["p_value"]
    known = overall.notna().any() and not overall.iloc[0] < alpha
    if not known or not headline["reject"].astype(bool).any():
        return ""
    return "The tests of pairs hold their level without the test of all models, and found what that did not."


def regret_sentence(decisions: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say what the model with the highest mean may cost over the deployment prior."""
    row = next(records(decisions))
    model = names[str(row.model)]
    if row.max_regret <= NO_REGRET:
        return f"At no deployment prior does another model have a higher mean than {model}."
    expected, largest = format_number(row.expected_regret), format_number(row.max_regret)
    return (
        f"Over the deployment prior {model} falls short of the best mean by {expected} on average and "
        f"by {largest} at most."
    )


def probability_sentence(decisions: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say how probable it is that the model with the highest mean is the best."""
    row = next(records(decisions))
    if np.isnan(row.p_best):
        return ""
    return f"The probability that {names[str(row.model)]} is the best is {format_number(row.p_best, 2)}."


def criteria_sentence(choices: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say where caution would pick another model than the mean does."""
    picked = dict(zip(choices["criterion"], choices["model"], strict=True))
    first = picked["highest_expected_auprec"]
    others = [
        f"{words} picks {names[str(picked[criterion])]}"
        for criterion, words in (
            ("maximin_auprec", "the best worst case (maximin)"),
            ("minimax_regret", "the smallest largest regret (minimax)"),
        )
        if picked[criterion] != first
    ]
    return _sentence(" and ".join(others))


def depends_sentence(leaders: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say that different models are shown to be the best at different priors, where they are."""
    stretches = list(_sole_leaders(leaders))
    if len({model for model, _, _ in stretches}) < 2:
        return ""
    told = _listed(f"{names[model]} at priors {low:.3g} to {high:.3g}" for model, low, high in stretches)
    return f"No model is the best at every prior; ahead of all others are {told} (simultaneous bands)."


def crossing_sentences(
    crossings: pd.DataFrame,
    leaders: pd.DataFrame,
    alpha: float,
    names: Mapping[str, str],
    *,
    what: str = "mean AUPREC",
) -> Iterator[str]:
    """Say where the highest mean passes from one model to another, with the interval of that prior."""
    low, high = leaders["prior_low"].min(), leaders["prior_high"].max()
    changes = crossings[crossings["lead"]]
    if changes.empty and leaders["leader"].nunique() == 1 and low < high:
        leader = names[str(leaders["leader"].iloc[0])]
        yield f"{leader} has the highest {what} at every prior from {low:.3g} to {high:.3g}."
    once = len(changes) == 1  # with several changes, nothing holds at all priors on one side
    for row in records(changes):
        below, above = names[str(row.model_below)], names[str(row.model_above)]
        told = (
            f"is {below}'s below prior {row.prior:.3g} and {above}'s above it"
            if once
            else f"passes from {below} to {above} at prior {row.prior:.3g}"
        )
        yield f"The highest {what} {told}{_interval_words(row, 1 - alpha)}."


def support_sentence(support: pd.DataFrame) -> str:
    """Say at which priors the test set cannot speak."""
    thin = support[~support["supported"]]
    low, high = support["prior"].min(), support["prior"].max()
    if thin.empty:
        return ""
    if len(thin) == len(support):
        return (
            f"There are too few negatives to speak for any prior from {low:.3g} to {high:.3g} "
            f"(at most {thin['effective_negatives'].max():.3g} effective negatives in the smallest fold)."
        )
    limit = support.loc[support["supported"], "prior"].min()
    return (
        f"Below prior {limit:.3g} there are too few negatives to tell: at prior {low:.3g} those of the "
        f"smallest fold weigh as much as {thin['effective_negatives'].min():.3g}."
    )


def more_data_sentence(
    plans: pd.DataFrame, headline: pd.DataFrame, decisions: pd.DataFrame, names: Mapping[str, str]
) -> str:
    """Say what it would take to tell the highest mean from the next that the headline leaves beside it."""
    best, *others = (str(model) for model in decisions["model"])
    alike, _ = _told_apart(headline, best, others)
    rows = plans[(plans["model_a"] == best) & plans["model_b"].isin(alike[:1])]
    if rows.empty or not 1 < float(rows["case_factor"].iloc[0]) < MOST_DATA:
        return ""
    row = next(records(rows))
    what = "test cases" if row.design == "one_set" else "cases"
    folds = f", or {row.n_folds:g} folds" if np.isfinite(row.n_folds) and row.design != "one_set" else ""
    return (
        f"If the true difference is the {format_number(abs(row.difference))} observed, telling "
        f"{names[best]} from {names[str(row.model_b)]} with power {row.power:g} would take about "
        f"{format_factor(row.case_factor)} times as many {what}{folds}."
    )


def _told_apart(headline: pd.DataFrame, best: str, others: Sequence[str]) -> tuple[list[str], list[str]]:
    """Models that the headline pairs do not tell from the best one, and those they put behind it."""
    behind = set()
    for row in records(headline[headline["reject"].astype(bool)]):
        ahead, after = (row.model_a, row.model_b) if row.estimate >= 0 else (row.model_b, row.model_a)
        if ahead == best:
            behind.add(after)
    return [m for m in others if m not in behind], [m for m in others if m in behind]


def _untested(headline: pd.DataFrame, best: str) -> dict[str, Any]:
    """Rows of the best one's pairs that have no p-value, by the other model."""
    rows = records(headline[headline["p_adjusted"].isna()])
    pairs = ((str(row.model_a), str(row.model_b), row) for row in rows)
    return {b if a == best else a: row for a, b, row in pairs if best in (a, b)}


def _sole_leaders(leaders: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Model and limits of every stretch with one contender alone."""
    alone = ~leaders.duplicated(["prior_low", "prior_high"], keep=False)
    for row in records(leaders[alone]):
        yield str(row.contender), row.prior_low, row.prior_high


def _interval_words(row: Any, level: float) -> str:
    """The interval of a crossing, and whether it may go on beyond what was looked at."""
    if np.isnan(row.conf_low):
        return ""
    if row.open_low and row.open_high:
        return f" ({100 * level:g} % interval: all priors looked at, so the data do not tell where)"
    return f" ({100 * level:g} % interval {crossing_interval(row)})"


def _range(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _listed(parts: Iterable[str], word: str = "and") -> str:
    """Names in a row; of many, the first and how many more."""
    texts = list(parts)
    if len(texts) > MOST_NAMED:
        texts = [*texts[: MOST_NAMED - 1], f"{len(texts) - MOST_NAMED + 1} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
