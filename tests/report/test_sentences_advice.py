"""Advice in words: every number stands in a frame, and no winner is named that was not found."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skewanova import compare, load_satellite_scores
from skewanova.base.text import format_number
from skewanova.decision.choice import CHOICE_COLUMNS, DECISION_COLUMNS
from skewanova.decision.leads import CROSSING_COLUMNS
from skewanova.decision.planning import PLAN_COLUMNS
from skewanova.report import sentences

NAMES = {"A": "A", "B": "B", "C": "C"}


def decided(**columns):
    """Decisions of A, B and C, best first."""
    plain = {
        "model": ["A", "B", "C"], "expected_auprec": [0.8, 0.7, 0.6], "worst_auprec": 0.5, "worst_prior": 0.1,
        "expected_regret": [0.01, 0.11, 0.21], "max_regret": [0.05, 0.2, 0.3], "p_best": [0.9, 0.1, 0.0],
        "p_best_over": "folds", "auprec_rarest": 0.5, "auprec_commonest": 0.9, "sensitivity": 0.4,
        "loss_per_tenfold": 0.3,
    }  # fmt: skip
    return pd.DataFrame(plain | columns)[list(DECISION_COLUMNS)]


def pairs(*rejected):
    rows = [("A", "B", 0.1), ("A", "C", 0.2), ("B", "C", 0.1)]
    return pd.DataFrame(
        [(a, b, d, (a, b) in rejected) for a, b, d in rows],
        columns=["model_a", "model_b", "estimate", "reject"],
    ).assign(p_adjusted=0.3, std_error=0.05)


def stretches(*rows):
    return pd.DataFrame(rows, columns=["prior_low", "prior_high", "leader", "contender", "shortfall"])


def crossing(**columns):
    plain = {
        "prior": 0.08, "conf_low": 0.05, "conf_high": 0.12, "model_below": "B", "model_above": "A",
        "lead": True, "open_low": False, "open_high": False, "std_error": 0.01, "df": 9.0,
    }  # fmt: skip
    return pd.DataFrame([plain | columns])[list(CROSSING_COLUMNS)]


ONE_STRETCH = stretches((0.01, 0.5, "A", "A", 0.0))


def test_a_model_that_could_not_be_tested_is_not_said_to_be_alike():
    flat = pairs(("A", "C")).assign(p_adjusted=[np.nan, 0.01, 0.3], std_error=[0.0, 0.05, 0.05])
    assert sentences.choice_sentence(decided(), flat, 0.05, NAMES) == (
        "A has the highest mean (0.800); it is ahead of C; it could not be tested against B, because their "
        "difference does not vary."
    )
    both = flat.assign(reject=False)
    assert sentences.choice_sentence(decided(), both, 0.05, NAMES) == (
        "A has the highest mean (0.800) but is not distinguishable from C at 0.05; it could not be tested "
        "against B, because their difference does not vary."
    )


@pytest.mark.parametrize(
    ("test", "df", "why"),
    [
        ("corrected_gg", 2.0, "they do not differ in any fold"),
        ("jackknife", 0.0, "their differences do not vary from case to case"),
        ("jackknife", 1.0, "a class has one case"),
    ],
)
def test_an_undefined_test_of_all_models_is_said_to_be_undone(test, df, why):
    row = {"test": test, "role": "headline", "term": "model", "df": df, "p_value": np.nan}
    told = sentences.tested_sentence(pd.DataFrame([row]), 0.05)
    assert told.endswith(f"could not be done, because {why}.")
    assert sentences.disagreement_sentence(pd.DataFrame([row]), pairs(("A", "C")), 0.05) == ""


# --- how much more ------------------------------------------------------------------------------------------


def plan(**columns):
    plain = dict.fromkeys(PLAN_COLUMNS, 0.0) | {
        "model_a": "A", "model_b": "B", "design": "independent", "difference": -0.02, "power": 0.8,
        "n_folds": 31.0, "case_factor": 3.24,
    }  # fmt: skip
    return pd.DataFrame([plain | columns, plain | {"model_b": "C", "case_factor": 2.0}])


def test_more_data_are_asked_for_the_next_model_that_may_be_as_good():
    told = sentences.more_data_sentence(plan(), pairs(), decided(), NAMES)
    assert told == (
        "If the true difference is the 0.020 observed, telling A from B with power 0.8 would take about "
        "3.2 times as many cases, or 31 folds."
    )
    told = sentences.more_data_sentence(plan(design="one_set"), pairs(), decided(), NAMES)
    assert told.endswith("3.2 times as many test cases.")
    told = sentences.more_data_sentence(plan(n_folds=np.inf), pairs(), decided(), NAMES)
    assert told.endswith("3.2 times as many cases.")
    told = sentences.more_data_sentence(plan(), pairs(("A", "B")), decided(), NAMES)
    assert "telling A from C" in told


@pytest.mark.parametrize("factor", [0.9, 1.0, 2000.0, np.inf, np.nan])
def test_no_more_data_are_asked_for_where_none_or_too_many_are_needed(factor):
    assert sentences.more_data_sentence(plan(case_factor=factor), pairs(), decided(), NAMES) == ""


def test_a_chosen_model_needs_no_more_data():
    assert sentences.more_data_sentence(plan(), pairs(("A", "B"), ("A", "C")), decided(), NAMES) == ""


# --- the choice ---------------------------------------------------------------------------------------------


def test_a_winner_over_all_is_chosen():
    text = sentences.choice_sentence(decided(), pairs(("A", "B"), ("A", "C")), 0.05, NAMES)
    assert text == "Choose A: it has the highest mean (0.800) and is ahead of B and C at 0.05."


def test_pairs_may_find_what_the_test_of_all_models_does_not():
    overall = pd.DataFrame({"role": ["headline"], "term": ["model"], "p_value": [0.06]})
    told = sentences.disagreement_sentence(overall, pairs(("A", "C")), 0.05)
    assert told.startswith("The tests of pairs hold their level without the test of all models")
    assert sentences.disagreement_sentence(overall, pairs(), 0.05) == ""
    assert sentences.disagreement_sentence(overall.assign(p_value=0.04), pairs(("A", "C")), 0.05) == ""


def test_without_a_finding_no_winner_is_named():
    text = sentences.choice_sentence(decided(), pairs(), 0.05, NAMES)
    assert text == "A has the highest mean (0.800) but is not distinguishable from B or C at 0.05."
    some = sentences.choice_sentence(decided(), pairs(("A", "C"), ("B", "C")), 0.05, NAMES)
    assert (
        some == "A has the highest mean (0.800) but is not distinguishable from B at 0.05; it is ahead of C."
    )


def test_being_behind_in_a_pair_is_not_being_ahead():
    reverse = pairs(("A", "B")).assign(estimate=[-0.1, 0.2, 0.1])  # a rank test that turns the order round
    assert "not distinguishable from B or C" in sentences.choice_sentence(decided(), reverse, 0.05, NAMES)


def test_no_pairs_mean_no_winner():
    assert "not distinguishable from B or C" in sentences.choice_sentence(
        decided(), pairs().iloc[:0], 0.05, NAMES
    )


def test_regret_and_probability():
    assert sentences.regret_sentence(decided(), NAMES) == (
        "Over the deployment prior A falls short of the best mean by 0.010 on average and by 0.050 at most."
    )
    none = decided(expected_regret=0.0, max_regret=0.0)
    assert sentences.regret_sentence(none, NAMES) == (
        "At no deployment prior does another model have a higher mean than A."
    )
    assert sentences.probability_sentence(decided(), NAMES) == "The probability that A is the best is 0.90."
    assert sentences.probability_sentence(decided(p_best=np.nan), NAMES) == ""


def test_cautious_criteria_are_told_where_they_differ():
    rows = [("highest_expected_auprec", "A"), ("maximin_auprec", "B"), ("minimax_regret", "A")]
    choices = pd.DataFrame([(c, m, 0.5, "C", 0.1) for c, m in rows], columns=list(CHOICE_COLUMNS))
    assert sentences.criteria_sentence(choices, NAMES) == "The best worst case (maximin) picks B."
    assert sentences.criteria_sentence(choices.assign(model="A"), NAMES) == ""


# --- where it changes ---------------------------------------------------------------------------------------


def test_a_swap_is_told_as_such():
    swap = stretches(
        (0.01, 0.05, "B", "B", 0.0), (0.05, 0.1, "B", "B", 0.0), (0.05, 0.1, "B", "A", 0.1),
        (0.1, 0.5, "A", "A", 0.0),
    )  # fmt: skip
    assert sentences.depends_sentence(swap, NAMES) == (
        "No model is the best at every prior; ahead of all others are B at priors 0.01 to 0.05 and A at "
        "priors 0.1 to 0.5 (simultaneous bands)."
    )
    assert sentences.depends_sentence(ONE_STRETCH, NAMES) == ""


@pytest.mark.parametrize(
    ("columns", "interval"),
    [
        ({}, " (95 % interval 0.05 to 0.12)"),
        ({"open_low": True}, " (95 % interval 0.05 or below to 0.12)"),
        ({"open_high": True}, " (95 % interval 0.05 to 0.12 or above)"),
        (
            {"open_low": True, "open_high": True},
            " (95 % interval: all priors looked at, so the data do not tell where)",
        ),
        ({"conf_low": np.nan, "conf_high": np.nan}, ""),
    ],
)
def test_crossings_of_the_lead_have_their_interval(columns, interval):
    (text,) = sentences.crossing_sentences(crossing(**columns), ONE_STRETCH, 0.05, NAMES)
    assert text == f"The highest mean AUPREC is B's below prior 0.08 and A's above it{interval}."


def test_several_changes_of_the_lead_do_not_claim_one_side_for_a_model():
    back = crossing(prior=0.3, model_below="A", model_above="B", conf_low=np.nan)
    told = list(sentences.crossing_sentences(pd.concat([crossing(), back]), ONE_STRETCH, 0.05, NAMES))
    assert told == [
        "The highest mean AUPREC passes from B to A at prior 0.08 (95 % interval 0.05 to 0.12).",
        "The highest mean AUPREC passes from A to B at prior 0.3.",
    ]


def test_nobody_leads_everywhere_where_the_leaders_change_without_a_crossing():
    touching = stretches((0.01, 0.1, "B", "B", 0.0), (0.1, 0.5, "A", "A", 0.0))
    assert list(sentences.crossing_sentences(crossing(lead=False), touching, 0.05, NAMES)) == []


def test_other_crossings_do_not_change_the_lead():
    (text,) = sentences.crossing_sentences(crossing(lead=False), ONE_STRETCH, 0.05, NAMES)
    assert text == "A has the highest mean AUPREC at every prior from 0.01 to 0.5."


def test_support_names_the_prior_below_which_nothing_can_be_told():
    support = pd.DataFrame({"prior": [0.01, 0.05, 0.1], "effective_negatives": [9.0, 50.0, 100.0]})
    told = sentences.support_sentence(support.assign(supported=[False, True, True]))
    assert (
        told
        == "Below prior 0.05 there are too few negatives to tell: at prior 0.01 those of the smallest fold "
        "weigh as much as 9."
    )
    assert sentences.support_sentence(support.assign(supported=True)) == ""
    assert "for any prior from 0.01 to 0.1 (at most 100 effective" in sentences.support_sentence(
        support.assign(supported=False)
    )


# --- as a whole ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return compare(load_satellite_scores(), priors=(0.5, 0.2), alpha=0.005)


def test_advice_on_the_satellite_scores(result):
    best = result.ranking.iloc[0]
    text = result.advice
    assert text.startswith("A, C and B were compared by mean AUPREC over the deployment prior (uniform over")
    assert "on 20 folds of 1,287 cases each, 241 to 284 of them positive." in text
    assert f"A has the highest mean ({format_number(best['iauprec'])}) but is not distinguishable" in text
    assert f"The probability that A is the best is {format_number(best['p_best'], 2)}." in text
    assert "Choose" not in text
    assert result.summary().startswith("Advice\nA, C and B were compared")


def test_every_number_stands_in_a_frame(result):
    frames = [
        result.anova,
        result.decisions,
        result.leaders,
        result.support,
        result.iauprec,
        result.crossings,
        result.plans,
    ]
    values = np.concatenate([f.select_dtypes("number").to_numpy().ravel() for f in frames]).astype(float)
    counts = result.iauprec["n_positive"] + result.iauprec["n_negative"]
    known = [*values[np.isfinite(values)], *counts, 20, 0.005, 0.05, 0.2]
    for number in re.findall(r"\d[\d,]*\.?\d*", result.advice.replace("T2", "")):
        shown = float(number.replace(",", "").rstrip("."))
        digits = len(number.rstrip(".").partition(".")[2])
        assert any(abs(value - shown) <= 0.5000001 * 10.0**-digits for value in known), number


def test_one_model_is_only_measured(result):
    alone = SimpleNamespace(
        iauprec=result.iauprec.query("model == 'A'"), anova=result.anova.iloc[:0],
        posthoc=result.posthoc.iloc[:0],
        decisions=result.decisions.iloc[:1], choices=result.choices, crossings=result.crossings,
        leaders=result.leaders.iloc[:1], support=result.support, settings=result.settings, alpha=result.alpha,
        plans=result.plans.iloc[:0],
    )  # fmt: skip
    assert sentences.advice(alone).startswith("A was measured by mean AUPREC")


def test_many_models_are_counted():
    names = {f"M{i}": f"M{i}" for i in range(9)}
    frame = pd.DataFrame({"fold": [1, 1], "n_positive": [10, 10], "n_negative": [90, 90]})
    text = sentences.compared_sentence(frame, "prior 0.1", names)
    assert text == (
        "M0, M1, M2, M3 and 5 more were compared by mean AUPREC over the deployment prior (prior 0.1), on "
        "one test set of 100 cases, 10 of them positive."
    )
