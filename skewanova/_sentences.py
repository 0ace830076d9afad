"""What the tests found, in words: each sentence says one number that the frames hold in full."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skewanova._differences import differing_priors
from skewanova._rendering import format_p, short_names
from skewanova._ties import TIE

TEST_NAMES = {
    "two_way": "2-way ANOVA",
    "three_way": "3-way ANOVA",
    "three_way_interaction": "3-way ANOVA, model x prior",
    "repeated_measures": "repeated-measures F (Greenhouse-Geisser)",
    "hotelling": "Hotelling T2",
    "friedman": "Friedman, Iman-Davenport F",
    "permutation": "Permutation of models within folds",
    "sign_flip": "Sign flips of fold profiles",
    "mixed": "Mixed model",
    "corrected_f": "corrected 2-way F",
    "corrected_gg": "corrected Greenhouse-Geisser F",
    "corrected_hotelling": "corrected Hotelling T2",
    "influence": "F over cases of one test set",
    "paired_t_holm": "Paired t, Holm",
    "corrected_t_holm": "corrected paired t, Holm",
    "games_howell": "Games-Howell on paired differences",
    "max_t": "Step-down max-T, sign flips",
    "nemenyi": "Nemenyi",
    "wilcoxon_holm": "Wilcoxon, Holm",
    "dunnett": "Dunnett against the control",
    "influence_holm": "paired t over cases of one test set, Holm",
    "tukey": "Tukey HSD, 2-way mean square",
    "tukey_three_way": "Tukey HSD, 3-way mean square",
}
#: Pairs not found to differ are listed one by one up to this many.
MOST_ALIKE = 3
RESPONSE_NAMES = {"iauprec": "IAUPREC", "auprec": "AUPREC"}


def anova_line(test: pd.DataFrame) -> str:
    """One test of all models on one line: F, degrees of freedom and p.

    Parameters
    ----------
    test : DataFrame
        Rows of one test of an ANOVA frame.

    Returns
    -------
    str
        The line.
    """
    row = next(_records(test[test["term"] == "model"]))
    name = f"{TEST_NAMES.get(row.test, row.test)} of {RESPONSE_NAMES.get(row.response, row.response)}"
    p_value = format_p(row.p_value)
    equals = "= " if p_value[:1].isdigit() else ""
    df, df_error = (f"{value:.4g}" for value in (row.df, row.df_error))
    return f"{name}: F({df}, {df_error}) = {row.statistic:.2f}, p {equals}{p_value or 'undefined'}"


def pair_sentences(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str] | None = None) -> list[str]:
    """Say each comparison of one family in words.

    Parameters
    ----------
    posthoc : DataFrame
        Rows of one test and response.
    alpha : float
        Level of the tests.
    names : mapping, optional
        Short forms of the models' names; made here by default.

    Returns
    -------
    list of str
        One sentence a pair.
    """
    short = short_names([*posthoc["model_a"], *posthoc["model_b"]]) if names is None else names
    sentences = []
    for row in _records(posthoc):
        a, b, p = short[row.model_a], short[row.model_b], _p_words(row.p_adjusted)
        if np.isnan(row.p_adjusted):
            sentences.append(f"{a} and {b} could not be tested, because {untested_because([row])}.")
        elif row.reject:
            ahead, behind = (a, b) if row.estimate >= 0 else (b, a)
            sentences.append(f"{ahead} is ahead of {behind} by {abs(row.estimate):.3f} ({p}).")
        else:
            sentences.append(f"{a} and {b} were not found to differ at {alpha:g} ({p}).")
    return sentences


def pair_findings(posthoc: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say which pairs differ; pairs that do not are said in one sentence where there are many.

    Parameters
    ----------
    posthoc : DataFrame
        Rows of one test and response.
    alpha : float
        Level of the tests.
    names : mapping
        Short forms of the models' names.

    Returns
    -------
    list of str
        Sentences.
    """
    differ = posthoc["reject"].astype(bool)
    if (~differ).sum() <= MOST_ALIKE:
        return pair_sentences(posthoc, alpha, names)
    untested = posthoc[posthoc["p_adjusted"].isna()]
    alike = posthoc[~differ & posthoc["p_adjusted"].notna()]
    found = pair_sentences(posthoc[differ], alpha, names)
    if len(alike):
        first = not found and untested.empty
        told = "No two models were found" if first else f"{_pairs(len(alike), 'other')} not found"
        smallest = _p_words(float(alike["p_adjusted"].min()))
        found.append(f"{told} to differ at {alpha:g} (smallest {smallest}).")
    if len(untested):
        told = f"{len(untested)} of the {len(posthoc)} pairs could not" if found else "No pair could"
        found.append(f"{told} be tested, because {untested_because(list(_records(untested)))}.")
    return found


def omnibus_sentence(anova: pd.DataFrame, alpha: float) -> str:
    """Say what the headline test of all models found.

    Parameters
    ----------
    anova : DataFrame
        As a comparison holds it.
    alpha : float
        Level of the test.

    Returns
    -------
    str
        One sentence.
    """
    headline = anova[(anova["role"] == "headline") & (anova["term"] == "model")]
    if headline["p_value"].isna().all():
        why = models_untested_because(next(_records(headline)))
        return f"The models could not be tested for a difference, because {why} ({anova_line(headline)})."
    differ = bool((headline["p_value"] < alpha).any())
    verdict = f"The models {'differ' if differ else 'were not found to differ'} at {alpha:g}"
    return f"{verdict} ({anova_line(headline)})."


def models_untested_because(row: Any) -> str:
    """Why the test of all models has no p-value."""
    if row.test == "influence":
        return "a class has one case" if row.df > 0 else "their differences do not vary from case to case"
    return "they do not differ in any fold"


def untested_because(rows: Collection[Any]) -> str:
    """Why pairs have no p-value: rows with the columns estimate and std_error."""
    if all(abs(row.estimate) <= TIE for row in rows):
        return "their values are the same"
    if all(row.std_error == 0 for row in rows):
        return "their difference does not vary"
    return "how their difference varies is not known"


def curve_sentences(differences: pd.DataFrame, names: Mapping[str, str] | None = None) -> list[str]:
    """Say at which priors two models differ, by the simultaneous bands.

    Parameters
    ----------
    differences : DataFrame
        As :func:`~skewanova.difference_curves` returns it.
    names : mapping, optional
        Short forms of the models' names; made here by default.

    Returns
    -------
    list of str
        One sentence a stretch of priors, or one that there is none.
    """
    short = short_names([*differences["model_a"], *differences["model_b"]]) if names is None else names
    differing = differing_priors(differences)
    tested = differences.loc[differences["p_adjusted"].notna(), "prior"]
    if tested.empty:
        few = differences["std_error"].isna().any()
        why = (
            "the test set is too small for any of the priors"
            if few
            else untested_because(list(_records(differences)))
        )
        return [f"Differences along the prior could not be tested, because {why}."]
    if differing.empty:
        low, high = tested.min(), tested.max()
        return [f"At no prior from {low:.3g} to {high:.3g} were any two models found to differ."]
    return [
        f"{short[row.better]} is ahead of {short[row.worse]} at priors {row.prior_low:.3g} to "
        f"{row.prior_high:.3g} (simultaneous band)."
        for row in _records(differing)
    ]


def _pairs(number: int, word: str) -> str:
    return f"The {word} pair was" if number == 1 else f"The {word} {number} pairs were"


def _p_words(p_adjusted: float) -> str:
    if np.isnan(p_adjusted):
        return "p undefined"
    shown = format_p(p_adjusted)
    return f"adjusted p {shown}" if shown.startswith("<") else f"adjusted p = {shown}"


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
