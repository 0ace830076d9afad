"""Verdicts from tests of pairs alone: across data sets, of one class, and of values of any measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import iter_rows
from skewanova.base.rounding import TIE
from skewanova.base.text import shorten_names
from skewanova.decision.verdict import (
    PairwiseOrder,
    Verdict,
    build_evidence_frame,
    explain_missing_test,
    rank_certainty,
)
from skewanova.report import verdict_text
from skewanova.report.source import TestedResult, get_control, select_primary
from skewanova.report.verdict_text import LineWriter

#: As MEASURED_RATES, the worst of two learners and nine other measures (studies/records: values, measures).
VALUES_RATES = {
    ("repeated_holdout", 20, 0.2): 0.13, ("repeated_holdout", 20, 0.5): 0.075,
    ("repeated_kfold", 20, 0.2): 0.1, ("kfold", 10, 0.1): 0.05,
}  # fmt: skip


#: Risk of few cases of a class: for areas under ROC of three or more models, and else (records/measures.md).
CLASS_RISKS = {
    True: "the test of all models may reject too often, so it has no p-value",
    False: "differences are hard to find",
}


def write_datasets_verdict(result: Any, pairs: pd.DataFrame, control: str | None = None) -> Verdict:
    """Return the verdict across data sets by its primary `pairs`: choose, tie, undecided or control."""
    names, n_datasets = shorten_names(result.ranking["model"]), len(result.comparisons)
    order, writer = PairwiseOrder(tuple(names), list(iter_rows(pairs))), LineWriter(names)
    state = "control" if control is not None else order.state
    evidence = order.rank_evidence(state)
    certainty = verdict_text.write_evidence(evidence, writer.begin("how_sure"))
    rivals = order.pairs_among(order.candidates)
    if state == "tie" and rivals:
        certainty += f"; open: {writer.write_lead(min(rivals, key=rank_certainty), with_p=False)}"
    writer.begin("where_it_changes")
    frames = {"by_prior": result.by_prior, "ranking": result.ranking}
    return Verdict(
        state,
        order.candidates if control is None else order.models_above(control) or (control,),
        choose=_choose_by_pairs(order, writer, "data sets", control),
        how_sure=f"{certainty}. For further data sets like these.",
        where_it_changes=_write_changes_along(frames, writer, (n_datasets, "data sets")),
        weakest_point=_write_data_set_weakness(n_datasets, writer.begin("weakest_point")),
        evidence=build_evidence_frame(evidence),
        numbers=tuple(writer.numbers),
    )


def write_class_choice(
    models: Sequence[str], pairs: Iterable[Any], verdict: Verdict, *, control: str | None = None
) -> str:
    """Return a class's choice by jointly adjusted pairs, or why none (`verdict` untrusted or unsupported)."""
    if verdict.state == "untrusted":
        return verdict.choose
    if verdict.state == "unsupported":
        return "These data support little of its deployment prior, or none of it: see its report."
    order = PairwiseOrder(tuple(models), list(pairs))
    return _choose_by_pairs(order, LineWriter(shorten_names(models)), "data", control)


def _write_changes_along(
    frames: Mapping[str, pd.DataFrame], writer: LineWriter, counted: tuple[int, str]
) -> str:
    """Return a sentence: the lowest prior where the best mean changes, else who has it and how often."""
    (n_units, units), by_prior = counted, frames["by_prior"]
    first = by_prior[by_prior["rank"] == 1].sort_values("prior")
    mean = "highest mean" if units == "data sets" else "best value" if n_units == 1 else "best mean"
    models, priors = first["model"].astype(str).tolist(), first["prior"].tolist()
    steps = [i for i, pair in enumerate(pairwise(models), 1) if len(set(pair)) > 1]
    if steps:
        step = steps[0]
        prior = _write_crossing((priors[step - 1], priors[step]), frames.get("crossings"), writer)
        names = f"{writer.names[models[step - 1]]} to {writer.names[models[step]]}"
        over = "" if n_units == 1 else f" over {units}"
        return f"The {mean}{over} changes from {names} near prior {prior}{verdict_text.count_others(steps)}."
    low, high = (writer.add_prior(prior, "prior", "by_prior") for prior in (priors[0], priors[-1]))
    span = f"Nowhere from prior {low} to {high}" if low != high else f"Only prior {low} was evaluated"
    leader = f"{span}: {writer.names[models[0]]} has the {mean}"
    if n_units == 1:
        return f"{leader}."
    n_best = frames["ranking"].set_index("model")["n_best"].get(models[0], 0)
    best = writer.add_count(n_best, "n_best", "ranking")
    where, *cited = ("on", "dataset", "iauprec") if units == "data sets" else ("in", "n_folds", "design")
    return f"{leader}; it ranks first {where} {best} of {writer.add_count(n_units, *cited)} {units}."


def _write_crossing(between: tuple[float, float], crossings: pd.DataFrame | None, writer: LineWriter) -> str:
    """Return as text the prior of the lead's crossing in a range, with interval, else the geometric mean."""
    if crossings is not None:
        within = crossings["prior"].between(*between) & crossings["conf_low"].notna()
        row = next(iter_rows(crossings[crossings["lead"] & within]), None)
        if row is not None:
            interval = writer.write_interval(row)
            return f"{writer.add_prior(row.prior, 'prior', 'crossings')}{interval}"
    return writer.add_prior(float(np.sqrt(np.prod(between))), "prior", "by_prior")


def _choose_by_pairs(order: PairwiseOrder, writer: LineWriter, data: str, control: str | None) -> str:
    """Return "Use A.", "Use A or B; C is worse.", a sentence on the control, or that none are separated."""
    if control is not None:
        return verdict_text.write_choice_with_control(order, writer, control)
    if order.state == "undecided":
        return writer.write_undecided(data)
    use = f"Use {writer.join_names(order.candidates, 'or')}"
    return f"{use}." if order.state == "choose" else f"{use}; {writer.write_worse(order.others)}."


def _write_data_set_weakness(n_datasets: int, writer: LineWriter) -> str:
    """Return the sentence that up to MIN_FOLDS data sets are too few, or that more are taken as a sample."""
    if n_datasets > verdict_text.MIN_FOLDS:
        return "The data sets are taken as a sample of those to come."
    count = writer.add_count(n_datasets, "dataset", "iauprec")
    return f"Only {count} data sets: use {verdict_text.MIN_FOLDS + 1} or more."


def write_values_verdict(result: TestedResult) -> Verdict:
    """Return the verdict on values; equal if TOST finds candidates so, untrusted if nothing can be tested."""
    rows, control = list(iter_rows(select_primary(result.pairs))), get_control(result)
    names = shorten_names(result.ranking["model"])
    order, writer = PairwiseOrder(tuple(names), rows), LineWriter(names)
    flat = all(np.isnan(row.p_adjusted) or row.std_error == 0 for row in rows)
    untested = flat and any(abs(row.estimate) > TIE for row in rows)
    state = "untrusted" if untested else order.state if control is None else "control"
    equal = result.tables["equivalence"]
    equal = equal[equal[["model_a", "model_b"]].isin(order.candidates).all(axis=1)]
    p_equal = np.nan
    if state in {"tie", "undecided"} and len(equal) and equal["equivalent"].all():
        state, p_equal = "equal", equal["p_adjusted"].max()
    evidence = [] if untested else order.rank_evidence(state)
    models = order.candidates if control is None else order.models_above(control) or (control,)
    choose = _choose_by_pairs(order, writer.begin("choose"), "values", control)
    if untested:
        choose = f"No choice: nothing can be tested, because {explain_missing_test(rows)}."
    elif state == "equal":
        behind = f"; {writer.write_worse(order.others)}" if order.others else ""
        choose = verdict_text.write_equal(models, writer, float(equal["rope"].iloc[0]), behind)
    return Verdict(
        state,
        () if untested else models,
        choose=choose,
        how_sure=_write_values_certainty(result, evidence, writer.begin("how_sure"), p_equal=p_equal),
        where_it_changes=_write_values_changes(result, writer.begin("where_it_changes")),
        weakest_point=_write_values_weakness(result, writer.begin("weakest_point")),
        warnings=result.design.warnings,
        evidence=build_evidence_frame(evidence),
        numbers=tuple(writer.numbers),
    )


def _write_values_certainty(
    result: TestedResult, evidence: Sequence[Any], writer: LineWriter, *, p_equal: float
) -> str:
    """Return least certain lead, p of equivalence (nan: P(best)), population; or no test is reliable."""
    if not evidence:
        return "No test is reliable here."
    text = verdict_text.write_evidence(evidence, writer)
    if np.isnan(p_equal):
        claim = verdict_text.write_p_best(result.ranking, writer)
    else:
        claim = verdict_text.write_equivalence(p_equal, writer)
    return f"{'; '.join(filter(None, [text, claim]))}. For {result.population}."


def _write_values_changes(result: TestedResult, writer: LineWriter) -> str:
    """Return where the best value changes: along the prior, else over folds; nowhere on one test set."""
    first, unit = next(iter_rows(result.ranking)), result.unit
    if len(result.tables["by_prior"]):
        return _write_changes_along(result.tables, writer, (result.design.n_folds, f"{unit}s"))
    if result.design.is_test_set:
        return f"Nowhere: {result.measure} does not depend on the prior."
    n_folds = writer.add_count(result.design.n_folds, "n_folds", "design")
    name = writer.names[str(first.model)]
    if first.n_best == result.design.n_folds:
        return f"Nowhere: {name} has the best value in all {n_folds} {unit}s."
    n_best = writer.add_count(first.n_best, "n_best", "ranking")
    return f"From {unit} to {unit}: {name}, ranked first, is best in {n_best} of {n_folds}."


def _write_values_weakness(result: TestedResult, writer: LineWriter) -> str:
    """Return the line Weakest point: few cases of a class by `assumptions`, else by unit and design."""
    if result.unit == "data set":
        return _write_data_set_weakness(result.design.n_folds, writer)
    few = result.tables["assumptions"].query("check in ('positives', 'negatives') and advice != ''")
    if len(few):
        row = next(iter_rows(few.sort_values("statistic")))
        size = writer.add_number(row.statistic, "statistic", "assumptions", "{:.3g}".format)
        weighted = "effective " if result.design.weighted else ""
        units = "clusters with " if result.design.n_clusters else weighted
        risk = CLASS_RISKS["deployment_prior" not in result.settings and len(result.ranking) > 2]
        return f"Only {size} {units}{row.check}: {risk}."
    if result.unit == "run":
        return "Other test cases are not covered: compare scores to include them."
    return verdict_text.write_sampling_weakness(result.design, writer, VALUES_RATES)
