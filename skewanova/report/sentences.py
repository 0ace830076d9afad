"""Sentences about the frames of a comparison; a model is ahead only if a test or band shows a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import iter_rows
from skewanova.base.text import escape_text, format_interval, format_number, shorten_name, write_p
from skewanova.decision.verdict import explain_missing_test, order_by_estimate
from skewanova.inference.catalogue import get_test, name_response, name_test
from skewanova.report.source import TEXTS, TestedResult, format_level, get_control, select_primary

#: Short names of models by their names.
Names = Mapping[str, str]


#: Pairs that were not found to differ and have a sentence each; more have one sentence together.
MAX_LISTED_PAIRS = 3


#: Pairs and means in the results paragraph; the tables have all.
MAX_PAIRS, MAX_MEANS = 10, 5


#: Pairs without a test, beyond which the rest are counted.
MAX_UNTESTED = 3


#: Smallest shrinkage of the first estimate that three digits show.
MIN_DROP = 0.001


# --- all models ---------------------------------------------------------------------------------------------


def write_test_line(test: pd.DataFrame) -> str:
    """Return one test of all models as text, such as "2-way ANOVA of IAUPREC: F(2, 38) = 5.10, p = 0.011"."""
    row = next(iter_rows(test[test["term"] == "model"]))
    statistic = f"{get_test(row.test).statistic}({row.df:.4g}, {row.df_error:.4g}) = {row.statistic:.2f}"
    return f"{name_test(row)}: {statistic}, {write_p(row.p_value)}"


def write_omnibus_sentence(anova: pd.DataFrame, alpha: float, pairs: pd.DataFrame) -> str:
    """Return what the primary test of all models says, and if pairs say otherwise; or why it cannot judge."""
    primary = anova[(anova["role"] == "primary") & (anova["term"] == "model")]
    line = write_test_line(primary)
    if primary["p_value"].isna().all():
        reason = explain_untested_models(next(iter_rows(primary)))
        return f"The models could not be tested for a difference, because {reason} ({line})."
    if np.isinf(primary["statistic"]).all():
        text = "The models' differences do not vary, so that no test can judge them"
        if get_test(str(primary["test"].iloc[0])).uses_ranks:
            text = "The models' ranks are the same throughout: p is the chance of that among equal models"
        return f"{text} ({line})."
    differ = bool((primary["p_value"] < alpha).any())
    if differ == bool(pairs["reject"].any()):
        return f"The models {'differ' if differ else 'were not found to differ'} at level {alpha:g} ({line})."
    level = f"at level {alpha:g} ({line})"
    if differ:
        return f"The models are not all equal {level}, but the pairs do not tell which differ."
    claim = f"All models at once were not found to differ {level}"
    return f"{claim}. The tests of pairs hold their level without that test, and find more."


def explain_untested_models(row: Any) -> str:
    """Return why a test of all models has no p-value, as a clause after "because"."""
    if get_test(row.test).sampling_unit == "cases":
        if np.isfinite(row.statistic):
            return "a class has too few cases"
        return "a class has one case" if row.df > 0 else "their differences do not vary from case to case"
    return "they do not differ in any fold"


def write_winner_note(decisions: pd.DataFrame, names: Names) -> list[str]:
    """Return [sentence] on the first model's shrunken estimate if it is .001 smaller or more, else []."""
    first = next(iter_rows(decisions.iloc[:1]))
    drop = first.expected_auprec - first.shrunken
    if not drop >= MIN_DROP:
        return []
    return [
        f"{names[str(first.model)]} is the first of {len(decisions)} models, which makes its IAUPREC of "
        f"{format_number(first.expected_auprec)} too high on average; drawn towards the mean of all it is "
        f"{format_number(first.shrunken)} (Efron and Morris 1975)."
    ]


# --- pairs --------------------------------------------------------------------------------------------------


def write_pair_sentences(posthoc: pd.DataFrame, alpha: float, names: Names) -> list[str]:
    """Return a sentence a pair: ahead, above throughout (std_error 0), not found to differ, or not tested."""
    return [_write_pair_sentence(row, alpha, names) for row in iter_rows(posthoc)]


def _write_pair_sentence(row: Any, alpha: float, names: Names) -> str:
    """Return the sentence on a pair: ahead, above without variance, not found to differ, or not tested."""
    a, b, p = names[row.model_a], names[row.model_b], f"adjusted {write_p(row.p_adjusted)}"
    measure = name_response(row.response)
    if np.isnan(row.p_adjusted):
        return f"{a} and {b} could not be tested, because {explain_missing_test([row])}."
    if not row.reject and row.std_error != 0:
        return f"{a} and {b} were not found to differ in {measure} at level {alpha:g} ({p})."
    ahead, behind = (names[model] for model in order_by_estimate(row))
    size = f"{abs(row.estimate):.3f} in {measure}"
    if row.std_error == 0:
        return f"{ahead} is above {behind} by {size} throughout, which no test can judge."
    return f"{ahead} is ahead of {behind} by {size} ({p})."


def write_test_findings(source: Any, names: Names) -> tuple[str, ...]:
    """Return the sentences on the primary tests of a result: of all models, then of pairs."""
    primary = select_primary(source.pairs)
    omnibus = write_omnibus_sentence(source.tests, source.alpha, primary)
    return omnibus, *write_pair_findings(primary, source.alpha, names)


def write_pair_findings(posthoc: pd.DataFrame, alpha: float, names: Names) -> list[str]:
    """Return a sentence for each pair; if over 3 do not differ, only one for these, one for the untested."""
    differ = posthoc["reject"].astype(bool)
    if (~differ).sum() <= MAX_LISTED_PAIRS:
        return write_pair_sentences(posthoc, alpha, names)
    untested = posthoc[posthoc["p_adjusted"].isna()]
    not_rejected = posthoc[~differ & posthoc["p_adjusted"].notna()]
    result = write_pair_sentences(posthoc[differ], alpha, names)
    if len(not_rejected):
        smallest = f"adjusted {write_p(not_rejected['p_adjusted'].min())}"
        n_pairs = len(not_rejected)
        others = "The other pair was" if n_pairs == 1 else f"The other {n_pairs} pairs were"
        subject = f"{others} not found to differ"
        if not result and untested.empty:
            control = names[posthoc["model_b"].iloc[0]]
            subject = "No two models were found to differ"
            if get_test(posthoc["test"].iloc[0]).needs_control:
                subject = f"No model was found to differ from the control, {control},"
        measure = name_response(posthoc["response"].iloc[0])
        result.append(f"{subject} in {measure} at level {alpha:g} (smallest {smallest}).")
    if len(untested):
        subject = f"{len(untested)} of the {len(posthoc)} pairs could not" if result else "No pair could"
        result.append(f"{subject} be tested, because {explain_missing_test(iter_rows(untested))}.")
    return result


# --- along the prior ----------------------------------------------------------------------------------------


def write_curve_sentences(
    tables: Mapping[str, pd.DataFrame], names: Names, *, control: str | None = None
) -> list[str]:
    """Return a sentence by range of priors where models (or the control) differ by bands, or why none."""
    differences, differing = tables["difference_curves"], tables["differing_priors"]
    if control is not None:
        differences = differences[(differences["model_a"] == control) | (differences["model_b"] == control)]
        differing = differing[(differing["better"] == control) | (differing["worse"] == control)]
    varying = differences["p_adjusted"].notna() & (differences["std_error"] > 0)
    priors = differences.loc[varying, "prior"]
    if priors.empty:
        reason = "the test set is too small for any of the priors"
        if differences["std_error"].notna().all():
            reason = explain_missing_test(iter_rows(differences))
        return [f"Differences along the prior could not be tested, because {reason}."]
    if differing.empty:
        phrase = "were any two models found to differ"
        if control is not None:
            phrase = f"was any model found to differ from {names[control]}, the control"
        return [f"At no single prior from {priors.min():.3g} to {priors.max():.3g} {phrase}."]
    forms = {True: "prior {0:.3g}", False: "priors {0:.3g} to {1:.3g}"}  # at a single prior, and at several
    return [
        f"{names[row.better]} is ahead of {names[row.worse]} at "
        f"{forms[row.prior_low == row.prior_high].format(row.prior_low, row.prior_high)} (simultaneous band)."
        for row in iter_rows(differing)
    ]


# --- across data sets --------------------------------------------------------------------------------------


def write_hierarchical_sentences(hierarchical: pd.DataFrame, alpha: float, names: Names) -> list[str]:
    """Return a sentence for each pair that differs by meta-analysis, or on none, and on untested pairs."""
    result = []
    for row in iter_rows(hierarchical[hierarchical["reject"].astype(bool)]):
        ahead, behind = (names[model] for model in order_by_estimate(row))
        result.append(
            f"Meta-analysis: {ahead} is ahead of {behind} by {abs(row.estimate):.3f} on "
            f"average over data sets (adjusted {write_p(row.p_adjusted)})."
        )
    untested = list(iter_rows(hierarchical[hierarchical["p_adjusted"].isna()]))
    if not result and len(untested) < len(hierarchical):
        subject = "no two models" if not untested else "no two of the models it could test"
        result.append(f"Meta-analysis: {subject} were found to differ on average at level {alpha:g}.")
    if untested:
        listed = [f"{names[row.model_a]} and {names[row.model_b]}" for row in untested[:MAX_UNTESTED]]
        listed += [f"{len(untested) - MAX_UNTESTED} more"] if len(untested) > MAX_UNTESTED else []
        pairs = "the models" if len(untested) == len(hierarchical) else "; ".join(listed)
        result.append(
            f"Meta-analysis: {pairs} could not be tested, because in some data set their difference does not "
            "vary, or how it varies is not known."
        )
    return result


# --- one paragraph for a paper ------------------------------------------------------------------------------


def write_results(source: TestedResult) -> str:
    """Return the results paragraph: means, primary test, pairs and outcome; no tests if untrusted."""
    texts, primary = [], source.pairs[source.pairs["role"] == "primary"]
    if source.verdict.is_trusted:
        texts = [
            write_omnibus_sentence(source.tests, source.alpha, primary),
            *_write_pairs(source, list(iter_rows(select_primary(source.pairs)))),
            f"These statements are about {source.population}.",
        ]
    return " ".join([_write_means(source), *texts, _write_outcome(source)])


def _write_outcome(source: TestedResult) -> str:
    """Return the sentence on the outcome in the past tense, without advice."""
    verdict, control = source.verdict, get_control(source)
    models = [shorten_name(model) for model in verdict.models]
    names = " and ".join(filter(None, [", ".join(models[:-1]), *models[-1:]]))
    outcome: str = TEXTS["outcomes"][verdict.state]
    if control is not None and verdict.state == "control" and control not in verdict.models:
        outcome = f"{{models}} {'was' if len(models) == 1 else 'were'} better than the control, {{control}}."
    return outcome.format(models=names, control=shorten_name(control or ""))


def _join_texts(texts: list[str], max_texts: int, separator: str) -> str:
    """Return the first `max_texts` texts, joined, and "; N more in the table" if there are more."""
    rest = f"; {len(texts) - max_texts} more in the table" if len(texts) > max_texts else ""
    return separator.join(texts[:max_texts]) + rest


def _format_brackets(row: Any) -> str:
    """Return the interval of a row as " (LOW to HIGH)", or "" if it has none."""
    return "" if np.isnan(row.conf_low) else f" ({format_interval(row.conf_low, row.conf_high)})"


def _write_means(source: TestedResult) -> str:
    """Return the sentence on the means of the first MAX_MEANS models, with intervals if all have one."""
    ranking = source.ranking
    has_limits = bool(ranking["conf_low"].notna().all())
    means = [
        f"{escape_text(row.model)} {format_number(mean)}{_format_brackets(row) if has_limits else ''}"
        for row, mean in zip(iter_rows(ranking), ranking[source.MEAN], strict=True)
    ]
    level = [f"{format_level(source.alpha)} intervals in brackets"] if has_limits else []
    details = "; ".join(filter(None, [str(source.settings.get("deployment_prior", "")), *level]))
    mean = f"Mean {source.measure} over {source.design.n_folds} {source.unit}s"
    name = source.measure if source.design.is_test_set else mean
    return f"{name}{f' ({details})' * bool(details)}: {_join_texts(means, MAX_MEANS, ', ')}."


def _write_pairs(source: TestedResult, rows: list[Any]) -> list[str]:
    """Return one sentence on the primary test of up to MAX_PAIRS pairs, in a list, empty without rows."""
    if not rows:
        return []
    sizes = source.tables["effects"].set_index(["model_a", "model_b"])["effect"]
    texts = [_write_pair(row, float(sizes.get((row.model_a, row.model_b), np.nan))) for row in rows]
    test = get_test(rows[0].test)
    level = "; intervals at the level of the step that decided the pair"
    level *= test.needs_adjustment and not test.uses_ranks
    effect = f"d: difference in standard deviations of one {source.unit}"
    return [f"Differences ({test.name}{level}; {effect}): {_join_texts(texts, MAX_PAIRS, '; ')}."]


def _write_pair(row: Any, effect: float) -> str:
    """Return "A minus B 0.02" and " (0.01 to 0.03), t(9) = 2.5, adjusted p = 0.03, d = 1" or why untested."""
    names = f"{escape_text(row.model_a)} minus {escape_text(row.model_b)} {format_number(row.estimate)}"
    if np.isnan(row.p_adjusted):
        return f"{names}, not tested, because {explain_missing_test([row])}"
    statistic, size = "", f", d = {format_number(effect, 2)}" if np.isfinite(effect) else ""
    if np.isfinite(row.statistic):
        df = f"({row.df:.4g})" if np.isfinite(row.df) else ""
        statistic = f", {get_test(row.test).statistic}{df} = {row.statistic:.2f}"
    return f"{names}{_format_brackets(row)}{statistic}, adjusted {write_p(row.p_adjusted)}{size}"
