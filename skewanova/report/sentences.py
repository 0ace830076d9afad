"""Sentences about frames.

Every sentence has a function of its own and says numbers that stand in the frames it takes. No model is
called the better one unless the primary test, or the simultaneous bands, tell it from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import records
from skewanova.base.text import format_number, p_words, short_names
from skewanova.decision.verdict import untested_because
from skewanova.inference.catalogue import get_test, name_test, response_name

#: Pairs not found to differ are listed one by one up to this many.
MOST_ALIKE = 3


def anova_line(test: pd.DataFrame) -> str:
    """One test of all models on one line: F, degrees of freedom and p."""
    row = next(records(test[test["term"] == "model"]))
    df, df_error = (f"{value:.4g}" for value in (row.df, row.df_error))
    value = f"{get_test(row.test).statistic}({df}, {df_error}) = {row.statistic:.2f}"
    return f"{name_test(row)}: {value}, {p_words(row.p_value)}"


def pair_sentences(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str] | None = None) -> list[str]:
    """Say each comparison of one family in words."""
    short = short_names([*posthoc["model_a"], *posthoc["model_b"]]) if names is None else names
    sentences = []
    for row in records(posthoc):
        a, b, p = short[row.model_a], short[row.model_b], f"adjusted {p_words(row.p_adjusted)}"
        measure = response_name(row.response)
        if np.isnan(row.p_adjusted):
            sentences.append(f"{a} and {b} could not be tested, because {untested_because([row])}.")
        elif row.std_error == 0:
            ahead, behind = (a, b) if row.estimate >= 0 else (b, a)
            size = f"{abs(row.estimate):.3f} in {measure}"
            sentences.append(f"{ahead} is above {behind} by {size} throughout, which no test can judge.")
        elif row.reject:
            ahead, behind = (a, b) if row.estimate >= 0 else (b, a)
            sentences.append(f"{ahead} is ahead of {behind} by {abs(row.estimate):.3f} in {measure} ({p}).")
        else:
            sentences.append(f"{a} and {b} were not found to differ in {measure} at {alpha:g} ({p}).")
    return sentences


def pair_findings(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say which pairs differ; pairs that do not are said in one sentence where there are many."""
    differ = posthoc["reject"].astype(bool)
    if (~differ).sum() <= MOST_ALIKE:
        return pair_sentences(posthoc, alpha, names)
    untested = posthoc[posthoc["p_adjusted"].isna()]
    alike = posthoc[~differ & posthoc["p_adjusted"].notna()]
    result = pair_sentences(posthoc[differ], alpha, names)
    if len(alike):
        smallest = f"adjusted {p_words(alike['p_adjusted'].min())}"
        told = f"{_pairs(len(alike), 'other')} not found to differ"
        if not result and untested.empty:
            told = _none_differs(posthoc, names)
        measure = response_name(posthoc["response"].iloc[0])
        result.append(f"{told} in {measure} at {alpha:g} (smallest {smallest}).")
    if len(untested):
        told = f"{len(untested)} of the {len(posthoc)} pairs could not" if result else "No pair could"
        result.append(f"{told} be tested, because {untested_because(list(records(untested)))}.")
    return result


def _none_differs(posthoc: pd.DataFrame, names: Mapping[str, str]) -> str:
    """That no pair of the family differs: of all models, or with a control."""
    if get_test(posthoc["test"].iloc[0]).control:
        return f"No model was found to differ from the control, {names[posthoc['model_b'].iloc[0]]},"
    return "No two models were found to differ"


def omnibus_sentence(anova: pd.DataFrame, alpha: float, pairs: pd.DataFrame) -> str:
    """Say what the primary test of all models found, and how that goes with what the pairs show."""
    primary = anova[(anova["role"] == "primary") & (anova["term"] == "model")]
    line = anova_line(primary)
    if primary["p_value"].isna().all():
        why = models_untested_because(next(records(primary)))
        return f"The models could not be tested for a difference, because {why} ({line})."
    if np.isinf(primary["statistic"]).all() and get_test(str(primary["test"].iloc[0])).ranks:
        return (
            f"The models' ranks are the same throughout: p is the chance of that among equal models ({line})."
        )
    if np.isinf(primary["statistic"]).all():
        return f"The models' differences do not vary, so that no test can judge them ({line})."
    differ = bool((primary["p_value"] < alpha).any())
    if differ == bool(pairs["reject"].any()):
        return f"The models {'differ' if differ else 'were not found to differ'} at {alpha:g} ({line})."
    if differ:
        return f"The models are not all equal at {alpha:g} ({line}), but the pairs do not tell which differ."
    return (
        f"All models at once were not found to differ at {alpha:g} ({line}). The tests of pairs hold their "
        "level without that test, and find more."
    )


def models_untested_because(row: Any) -> str:
    """Why the test of all models has no p-value."""
    if get_test(row.test).over == "cases":
        return "a class has one case" if row.df > 0 else "their differences do not vary from case to case"
    return "they do not differ in any fold"


#: A drop of the first estimate that shows among three digits.
SHOWN_DROP = 0.001


def level_words(alpha: float) -> str:
    """Say what the level is about."""
    return f"Each conclusion (all models, pairs, along the prior) is at level {alpha:.3g} by itself"


def winner_sentences(decisions: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Say of the first of many models that its estimate is too high, and what it is without the luck."""
    first = next(records(decisions.iloc[:1]))
    drop = first.expected_auprec - first.shrunken
    if not drop >= SHOWN_DROP:
        return []
    return [
        f"{names[str(first.model)]} is the first of {len(decisions)} models, which makes its IAUPREC of "
        f"{format_number(first.expected_auprec)} too high on average; drawn towards the mean of all it is "
        f"{format_number(first.shrunken)} (Efron and Morris 1975)."
    ]


def curve_sentences(
    differences: pd.DataFrame,
    differing: pd.DataFrame,
    names: Mapping[str, str] | None = None,
    *,
    control: str | None = None,
) -> list[str]:
    """Say at which priors two models differ, or one and the control, by the simultaneous bands."""
    if control is not None:
        differences = differences[(differences["model_a"] == control) | (differences["model_b"] == control)]
        differing = differing[(differing["better"] == control) | (differing["worse"] == control)]
    short = short_names([*differences["model_a"], *differences["model_b"]]) if names is None else names
    varying = differences["p_adjusted"].notna() & (differences["std_error"] > 0)
    tested = differences.loc[varying, "prior"]
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
        return [f"At no single prior from {low:.3g} to {high:.3g} {alike}."]
    return [
        f"{short[row.better]} is ahead of {short[row.worse]} at priors {row.prior_low:.3g} to "
        f"{row.prior_high:.3g} (simultaneous band)."
        for row in records(differing)
    ]


def _pairs(number: int, word: str) -> str:
    return f"The {word} pair was" if number == 1 else f"The {word} {number} pairs were"
