"""A likely mistake in the first argument is refused by a message whose remedy runs as it is written."""

import re

import pytest
from messages import expect_error

import skewanova
from skewanova import InputTypeError, decision, evaluation, inference

OF_EVALUATIONS = [getattr(decision, name) for name in (
    "auprec_bands", "decision_table", "difference_curves", "find_crossings", "find_differing_priors",
    "find_leaders", "find_regions", "plan_sample_sizes", "rank_models", "tabulate_by_prior",
)]  # fmt: skip
OF_EVALUATIONS += [inference.effects, inference.equivalence, inference.posthoc, inference.soundness]
OF_EVALUATIONS += [inference.split_plot_anova] + [getattr(evaluation, name) for name in (
    "auprec_by_prior", "auprec_intervals", "precision_recall", "regret", "roc", "skew", "support", "surface",
)]  # fmt: skip
OF_FRAMES = [decision.choose_models] + [getattr(inference, name) for name in (
    "assumptions", "mixed_model_anova", "rank_comparison", "sphericity", "three_way_anova", "tukey_by_prior",
    "two_way_anova",
)]  # fmt: skip
OF_ANOVAS = [inference.residual_quantiles, inference.residuals, inference.tukey_hsd]


@pytest.fixture(scope="module")
def scores():
    return skewanova.load_satellite_scores()


@pytest.fixture(scope="module")
def result(scores):
    return skewanova.compare(scores, at_priors=(0.5, 0.2))


@pytest.mark.parametrize("function", OF_EVALUATIONS)
def test_a_comparison_or_scores_in_place_of_an_evaluation(function, scores, result):
    name = r"^`(evaluation|measures|iauprec|auprec)` must be an Evaluation, but got"
    expect_error(f"{name} Comparison; pass its attribute evaluation$", function, result, error=InputTypeError)
    with expect_error(rf"{name} ScoreTable; make one by skewanova.evaluate\(scores\)$", error=InputTypeError):
        function(scores)
    assert function(result.evaluation) is not None


@pytest.mark.filterwarnings("ignore:the mixed model finds no variation")
@pytest.mark.parametrize("function", OF_FRAMES + OF_ANOVAS)
def test_an_evaluation_in_place_of_a_frame(function, scores, result):
    with pytest.raises(InputTypeError) as caught:
        function(result.evaluation)
    remedy = re.search(r"such as (skewanova\..*), (?:not|but got) Evaluation$", str(caught.value))[1]
    assert function(eval(remedy, {"skewanova": skewanova, "scores": scores})) is not None


def test_one_model_and_a_difference_in_quotes(scores):
    rows = scores.frame[scores.frame["model"] == "A"]
    for alone in (rows, rows[rows["fold"] == rows["fold"].iloc[0]]):
        for function in (decision.find_leaders, decision.difference_curves, decision.plan_sample_sizes):
            message = r"^a comparison needs at least 2 models, but has 1; add models$"
            expect_error(message, function, skewanova.evaluate(alone), error=skewanova.InputError)
    values = skewanova.compare_values({"A": [0.8, 0.7], "B": [0.6, 0.7]}, design="kfold")
    expect_error("Comparison; read its attributes tests", inference.posthoc, values, error=InputTypeError)
    with pytest.raises(InputTypeError, match=r"^`difference` must be one number above 0, but got '0.05'$"):
        skewanova.plan_comparison(scores, difference="0.05")
