from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skewanova import UniformPrior
from skewanova.inference.intervals import INTERVAL_COLUMNS
from skewanova.report import sentences as report_sentences
from skewanova.report import tables as report_tables
from skewanova.report.tables import TABLES
from skewanova.scores.design import FoldDesign

NAN = float("nan")
RANKING = pd.DataFrame(
    {
        "rank": [1, 2],
        "model": ["B", "A"],
        "iauprec": [0.75, 0.5],
        "std": [0.1, 0.2],
        "conf_low": [0.7, 0.4],
        "conf_high": [0.8, 0.6],
        "group": ["a", "b"],
        "auc": [0.9, 0.8],
        "rarest_prior": 0.05,
        "auprec_at_rarest": [0.6123, 0.4],
        "expected_regret": [0.0, 0.25],
        "max_regret": [-1e-17, 0.3],
        "p_best": [0.995, 0.005],
    }
)
MEASURES = pd.DataFrame(
    {
        "model": ["A", "A", "B", "B"],
        "fold": [1, 2, 1, 2],
        "iauprec": [0.4, 0.6, 0.7, 0.8],
        "auc": [0.9, 0.9, 0.8, 1.0],
    }
)


def ranking_table(ranking, alpha):
    sizes = pd.DataFrame({"n_positive": [40, 38], "n_negative": [1200, 1200]})
    source = SimpleNamespace(
        ranking=ranking,
        alpha=alpha,
        design=FoldDesign("independent", n_folds=2, reason="stated"),
        tables={"iauprec": sizes},
        evaluation=SimpleNamespace(deployment_prior=UniformPrior(0.05, 0.2)),
        verdict=SimpleNamespace(trusted=True),
    )
    return report_tables.ranking_table(source)


def auprec(priors, values):
    """Values of A then B in two folds, one row of `values` a prior."""
    cells = [("A", 1), ("A", 2), ("B", 1), ("B", 2)]
    rows = [(*c, p, v[i]) for i, c in enumerate(cells) for p, v in zip(priors, values, strict=True)]
    return pd.DataFrame(rows, columns=["model", "fold", "prior", "auprec"])


def posthoc(*rows, **columns):
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "estimate", "p_adjusted", "reject"])
    defaults = {"test": "tukey", "response": "iauprec", "prior": NAN, "std_error": 0.1}
    defaults |= {"conf_low": -0.1, "conf_high": 0.3}
    return frame.assign(**(defaults | columns))


# --- measures ---------------------------------------------------------------------------------------------


def test_performance_holds_means_and_spreads_in_ranking_order():
    frame = auprec((0.5, 0.1), [(0.9, 0.7, 0.6, 0.6), (0.2, 0.4, 0.30, 0.31)])
    found = report_tables.performance_table(frame, MEASURES, RANKING)
    assert found.header == ("Model", "AUPREC(0.5)", "AUPREC(0.1)", "IAUPREC", "AUC")
    assert found.rows == (
        ("B", "0.600 (0.000)", "0.305 (0.007)", "0.750 (0.071)", "0.900 (0.141)"),
        ("A", "0.800 (0.141)", "0.300 (0.141)", "0.500 (0.141)", "0.900 (0.000)"),
    )
    assert found.bold == {(1, 1), (0, 2), (0, 3), (0, 4), (1, 4)}


def test_the_best_is_bold_before_rounding():
    frame = auprec((0.5,), [(0.60001, 0.60001, 0.6, 0.6)])
    assert (1, 1) in report_tables.performance_table(frame, MEASURES, RANKING).bold
    assert (0, 1) not in report_tables.performance_table(frame, MEASURES, RANKING).bold


def test_one_fold_has_no_spread():
    one = MEASURES[MEASURES["fold"] == 1]
    frame = auprec((0.5,), [(0.9, 0.7, 0.6, 0.6)])
    found = report_tables.performance_table(frame[frame["fold"] == 1], one, RANKING)
    assert found.rows[0] == ("B", "0.600", "0.700", "0.800")


def test_priors_that_differ_little_stay_apart():
    priors = (0.1, 0.1 + 1e-9, 1e-7, 0.1 + 2e-9)
    found = report_tables.performance_table(
        auprec(priors, [(0.1 * i,) * 4 for i in range(1, 5)]), MEASURES, RANKING
    )
    assert found.header[1:5] == ("AUPREC(0.1)", "AUPREC(0.100000001)", "AUPREC(1e-07)", "AUPREC(0.100000002)")
    assert [cell[:5] for cell in found.rows[0][1:5]] == ["0.100", "0.200", "0.300", "0.400"]


def test_sixteen_priors_and_twelve_models_fit_the_screen():
    models = [f"gradient boosting with {i} trees and more" for i in range(12)]
    priors = np.linspace(0.02, 0.9, 16)
    grid = pd.MultiIndex.from_product([models, [1, 2], priors], names=["model", "fold", "prior"])
    frame = grid.to_frame(index=False).assign(auprec=0.5)
    cells = frame.drop_duplicates(["model", "fold"]).assign(iauprec=0.5, auc=0.5)
    ranking = pd.concat([RANKING.iloc[:1]] * 12, ignore_index=True).assign(model=models)
    found = report_tables.performance_table(frame, cells, ranking).to_text()
    assert max(map(len, found.split("\n"))) <= 80
    assert found.count("0.500 (0.000)") == 12 * 18
    assert all(found.count(f"AUPREC({p:.6g})") == 1 for p in priors)
    ranked = ranking_table(ranking, 0.005).to_text()
    assert max(map(len, ranked.split("\n"))) <= 80
    assert len({line[:24] for line in ranked.split("\n") if line.startswith("gradient")}) == 12


# --- ranking, regions -------------------------------------------------------------------------------------


def test_ranking():
    found = ranking_table(RANKING, 0.005)
    assert found.header[2] == "99.5 % interval"
    assert found.rows == (
        ("B", "0.750", "0.700 to 0.800", "a", "0.99", "0.612", "0.000", "0.000"),
        ("A", "0.500", "0.400 to 0.600", "b", "0.01", "0.400", "0.250", "0.300"),
    )
    assert found.header[4:6] == ("P(best)", "At rarest")
    assert "At rarest: AUPREC at prior 0.05, the rarest of the deployment" in found.note
    assert "more cautious than p" in found.note
    assert found.note.startswith("Folds: 2, each of 38 to 40 positives and 1,200 negatives. IAUPREC")


def test_sizes_of_runs_and_of_a_test_set():
    sizes = pd.DataFrame({"n_positive": [40, 40], "n_negative": [60, 60]})
    runs, one = FoldDesign("runs", n_folds=3), FoldDesign("test_set", n_folds=1)
    assert report_tables.sizes_note(sizes, runs) == "Runs: 3, each of 40 positives and 60 negatives"
    assert report_tables.sizes_note(sizes, one) == "Test set: 40 positives and 60 negatives"


def test_ranking_without_spread():
    row = ranking_table(RANKING.assign(conf_low=NAN, conf_high=NAN, p_best=NAN), 0.05).rows[0]
    assert (row[2], row[4]) == ("", "")


def test_regions():
    frame = pd.DataFrame(
        [("A", 0.01, 0.123456, 0.00456, "B"), ("B", 0.123456, 0.5, NAN, "")],
        columns=["model", "prior_low", "prior_high", "margin", "runner_up"],
    )
    assert TABLES["regions"].build(frame).rows == (
        ("A", "0.01 to 0.1235", "0.0046", "B"),
        ("B", "0.1235 to 0.5", "", ""),
    )


NOT_DIFFERENT = "The models were not found to differ at 0.05"


# --- tests ------------------------------------------------------------------------------------------------

ANOVA = pd.DataFrame(
    [
        ("two_way", "iauprec", "model", 2.0, 38.0, 0.12345, 15.254, 0.00001, 0.4, 0.55),
        ("two_way", "iauprec", "residual", 38.0, NAN, 0.3, NAN, NAN, NAN, NAN),
        ("odd_test", "iauprec", "model", 1.234567, 20.5, 0.2, np.inf, 0.0, 1.0, 1.0),
        ("three_way", "auprec", "model", 1.0, 5.0, 0.2, NAN, NAN, NAN, NAN),
    ],
    columns=[
        "test", "response", "term", "df", "df_error", "sum_sq", "statistic", "p_value", "partial_eta_sq",
        "breakdown_correlation",
    ],
)  # fmt: skip


def test_anova():
    rows = TABLES["tests"].build(ANOVA).rows
    assert rows[0] == (
        "2-way ANOVA, IAUPREC",
        "model",
        "2",
        "38",
        "0.1235",
        "15.25",
        "<0.0001",
        "0.400",
        "0.55",
    )
    assert rows[1] == ("2-way ANOVA, IAUPREC", "residual", "38", "", "0.3000", "", "", "", "")
    assert rows[2][:1] + rows[2][2:6] == ("odd_test, IAUPREC", "1.23", "20.50", "0.2000", "inf")


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("two_way", "2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p <0.0001"),
        ("odd_test", "odd_test of IAUPREC: F(1.235, 20.5) = inf, p <0.0001"),
        ("three_way", "3-way ANOVA of AUPREC: F(1, 5) = nan, p undefined"),
    ],
)
def test_anova_in_a_line(test, line):
    assert report_sentences.anova_line(ANOVA[ANOVA["test"] == test]) == line


@pytest.mark.parametrize(
    ("p_value", "sentence"),
    [
        (0.04, "The models differ at 0.05 (2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p = 0.040)."),
        (0.06, f"{NOT_DIFFERENT} (2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p = 0.060)."),
        (NAN, "The models could not be tested for a difference, because they do not differ in any fold "
         "(2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p undefined)."),
    ],
)  # fmt: skip
def test_the_primary_in_a_sentence(p_value, sentence):
    frame = ANOVA.assign(role=["primary", "primary", "check", "published"])
    frame.loc[0, "p_value"] = p_value
    pairs = pd.DataFrame({"reject": [p_value == 0.04]})
    assert report_sentences.omnibus_sentence(frame, 0.05, pairs) == sentence


@pytest.mark.parametrize(
    ("p_value", "told"),
    [
        (0.04, "p = 0.040), but the pairs do not tell which differ."),
        (0.06, "p = 0.060). The tests of pairs hold their level without that test, and find more."),
    ],
)  # fmt: skip
def test_all_models_and_pairs_do_not_contradict_each_other(p_value, told):
    frame = ANOVA.assign(role=["primary", "primary", "check", "published"])
    frame.loc[0, "p_value"] = p_value
    pairs = pd.DataFrame({"reject": [p_value == 0.06, False]})
    assert report_sentences.omnibus_sentence(frame, 0.05, pairs).endswith(told)


def test_models_that_differ_alike_in_every_fold_are_not_tested():
    frame = ANOVA.assign(role=["primary", "primary", "check", "published"])
    frame.loc[0, ["statistic", "p_value"]] = np.inf, 0.0
    found = report_sentences.omnibus_sentence(frame, 0.05, pd.DataFrame({"reject": [True]}))
    assert found.startswith("The models' differences do not vary, so that no test can judge them")
    flat = posthoc(("A", "B", -0.2, 0.0, True)).assign(std_error=0.0)
    assert report_sentences.pair_sentences(flat, 0.05) == [
        "B is above A by 0.200 in IAUPREC throughout, which no test can judge."
    ]


# --- pairs ------------------------------------------------------------------------------------------------


def test_pairs():
    frame = pd.concat([
        posthoc(("A", "B", 0.1234, 0.0456, True)),
        posthoc(("A|x", "B", -0.0001, NAN, False), prior=0.1, response="auprec", conf_low=NAN, test="new"),
    ])  # fmt: skip
    found = report_tables.pairs_table(frame, 0.005)
    assert found.header[-1] == "Differ at 0.005"
    assert found.rows == (
        ("A - B", "Tukey HSD, 2-way mean square", "IAUPREC", "0.123", "-0.100 to 0.300", "0.046", "yes"),
        ("A|x - B", "new", "AUPREC(0.1)", "0.000", "", "", "not tested"),
    )


def test_pairs_of_priors():
    frame = posthoc((0.5, 0.1, 0.25, 1e-9, True)).rename(columns={"model_a": "prior_a", "model_b": "prior_b"})
    assert TABLES["prior_pairs"].build(frame, alpha=0.05).rows == (
        ("0.5 - 0.1", "0.250", "-0.100 to 0.300", "<0.0001", "yes"),
    )


def test_pairs_in_words():
    frame = posthoc(
        ("A", "B", 0.1234, 1e-9, True),
        ("A", "C", -0.05, 0.04, True),
        ("B", "C", 0.1, 0.2, False),
        ("B", "D", 0.0, NAN, False),
    )
    assert report_sentences.pair_sentences(frame, 0.05) == [
        "A is ahead of B by 0.123 in IAUPREC (adjusted p <0.0001).",
        "C is ahead of A by 0.050 in IAUPREC (adjusted p = 0.040).",
        "B and C were not found to differ in IAUPREC at 0.05 (adjusted p = 0.20).",
        "B and D could not be tested, because their values are the same.",
    ]
    assert report_sentences.pair_sentences(frame.iloc[:0], 0.05) == []


@pytest.mark.parametrize(
    ("estimate", "std_error", "why"),
    [
        (1e-14, NAN, "their values are the same"),
        (0.3, 0.0, "their difference does not vary"),
        (0.3, NAN, "how their difference varies is not known"),
    ],
)
def test_pairs_without_p_are_not_said_to_be_alike(estimate, std_error, why):
    names = {name: name for name in "ABCDE"}
    untested = posthoc(("A", "B", estimate, NAN, False)).assign(std_error=std_error)
    assert report_sentences.pair_sentences(untested, 0.05) == [f"A and B could not be tested, because {why}."]
    every = pd.concat([untested] * 4, ignore_index=True)
    assert report_sentences.pair_findings(every, 0.05, names) == [f"No pair could be tested, because {why}."]
    tested = posthoc(("A", "C", 0.2, 0.3, False), ("A", "D", 0.2, 0.2, False))
    assert report_sentences.pair_findings(pd.concat([every, tested], ignore_index=True), 0.05, names) == [
        "The other 2 pairs were not found to differ in IAUPREC at 0.05 (smallest adjusted p = 0.20).",
        f"4 of the 6 pairs could not be tested, because {why}.",
    ]


def test_names_in_sentences_are_short_and_distinct():
    a, b = "the same long beginning, 1, the same long end", "the same long beginning, 2, the same long end"
    (sentence,) = report_sentences.pair_sentences(posthoc((a, b, 0.1, 0.001, True)), 0.05)
    told = "the same long...long end is ahead of the same lo...ng end (2) by 0.100 in IAUPREC"
    assert sentence == f"{told} (adjusted p = 0.001)."
    (sentence,) = report_sentences.pair_sentences(posthoc((a, b, 0.1, 0.001, True)), 0.05, {a: "x", b: "y"})
    assert sentence.startswith("x is ahead of y by")
    (sentence,) = report_sentences.pair_sentences(posthoc(("a\nb", "\x1b[2J", 0.1, 0.001, True)), 0.05)
    assert sentence.startswith(r"a b is ahead of \x1b[2J by")


def test_stretches_of_priors_in_words():
    curves = pd.DataFrame({"model_a": "A", "model_b": "B", "prior": [0.6, 0.012345], "p_adjusted": 0.01})
    curves = curves.assign(estimate=0.1, std_error=0.1)
    rows = [("A", "B", 0.012345, 0.2), ("B", "A", 0.55, 0.6)]
    differing = pd.DataFrame(rows, columns=["better", "worse", "prior_low", "prior_high"])
    assert report_sentences.curve_sentences(curves, differing, {"A": "Ada", "B": "Bob"}) == [
        "Ada is ahead of Bob at priors 0.0123 to 0.2 (simultaneous band).",
        "Bob is ahead of Ada at priors 0.55 to 0.6 (simultaneous band).",
    ]
    assert report_sentences.curve_sentences(curves, differing)[1].startswith("B is ahead of A")
    assert report_sentences.curve_sentences(curves, differing.iloc[:0]) == [
        "At no single prior from 0.0123 to 0.6 were any two models found to differ."
    ]
    assert report_sentences.curve_sentences(curves.assign(std_error=0.0), differing) == [
        "Differences along the prior could not be tested, because their difference does not vary."
    ]


def test_intervals():
    frame = pd.DataFrame(
        [
            ("A", "fold", 1, 0.51234, 0.4, 0.6, 0.9, "wilson", "few"),
            ("A", "pooled", pd.NA, 0.5, NAN, NAN, 0.9, "bca", "few"),
        ],
        columns=list(INTERVAL_COLUMNS),
    )
    found = report_tables.intervals_table(frame, "these fitted models on further cases")
    assert found.header == ("Model", "Fold", "AUPREC", "90 % interval", "Method")
    assert found.rows == (
        ("A", "1", "0.512", "0.400 to 0.600", "wilson"),
        ("A", "(pooled)", "0.500", "", "bca"),
    )
    assert found.note == (
        "Each interval is its own, about these fitted models on further cases: what training anew would "
        "change is not in it. Rows in brackets take the models of all folds for one. few"
    )
    alone = report_tables.intervals_table(frame[:1], "these")
    assert "brackets" not in alone.note


def test_practical_equality():
    frame = pd.DataFrame(
        [("A", "B", 0.915, 0.08, 0.005, 0.01, 0.915, False), ("A", "C", 0.01, 0.98, 0.01, 0.01, 0.03, True)],
        columns=[
            "model_a",
            "model_b",
            "p_a_ahead",
            "p_equal",
            "p_b_ahead",
            "rope",
            "p_adjusted",
            "equivalent",
        ],
    )
    found = TABLES["equivalence"].build(frame, posterior="t posterior.")
    assert found.rows == (
        ("A - B", "0.92", "not shown", "0.92", "0.08", "0.01"),
        ("A - C", "0.030", "yes", "0.01", "0.98", "0.01"),
    )
    assert "differs by less than 0.01" in found.caption


def test_checks():
    frame = pd.DataFrame([("shapiro_wilk", 0.9, 0.5, ""), ("levene", NAN, NAN, "look")], columns=[
        "check", "statistic", "p_value", "advice"
    ])  # fmt: skip
    assert TABLES["assumptions"].build(frame).rows == (
        ("shapiro wilk", "0.900", "0.50", "nothing to add"), ("levene", "", "", "look"),
    )  # fmt: skip


@pytest.mark.parametrize("rounding", [-2e-16, 0.0, 2e-16])
def test_whole_degrees_of_freedom_have_no_decimals_whatever_the_rounding(rounding):
    assert report_tables._df(1.0 + rounding) == "1"
    assert report_tables._df(1.01 + rounding) == "1.01"
    assert report_tables._df(float("nan")) == ""
