"""Tables: what stands in them is what the frames hold."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_frames import ANOVA, NAN, frame_of, posthoc

from skewanova import UniformPrior
from skewanova.inference.intervals import INTERVAL_COLUMNS
from skewanova.report import tables as report_tables
from skewanova.report.tables import TABLES, build_leaders_table, build_performance_table
from skewanova.scores.design import FoldDesign

RANKING = frame_of(
    "rank model iauprec std conf_low conf_high group auc auprec_at_rarest expected_regret max_regret p_best",
    (1, "B", 0.75, 0.1, 0.7, 0.8, "a", 0.9, 0.6123, 0.0, -1e-17, 0.995),
    (2, "A", 0.5, 0.2, 0.4, 0.6, "b", 0.8, 0.4, 0.25, 0.3, 0.005),
).assign(rarest_prior=0.05, rank_low=[1, 2], rank_high=[1, 2])
MEASURES = frame_of(
    "model fold iauprec auc",
    *[("A", 1, 0.4, 0.9), ("A", 2, 0.6, 0.9), ("B", 1, 0.7, 0.8), ("B", 2, 0.8, 1.0)],
)


def build_ranking_table(ranking, alpha):
    sizes = pd.DataFrame({"n_positive": [40, 38], "n_negative": [1200, 1200]})
    decisions = pd.DataFrame({"expected_loss": [0.1, 0.0123]})
    return report_tables.build_ranking_table(SimpleNamespace(
        ranking=ranking, alpha=alpha, design=FoldDesign("independent", n_folds=2, reason="stated"),
        tables={"iauprec": sizes, "decisions": decisions, "ranking": ranking}, unit="fold", measure="IAUPREC",
        evaluation=SimpleNamespace(deployment_prior=UniformPrior(0.05, 0.2)), population="methods",
        verdict=SimpleNamespace(is_trusted=True), settings={},
    ))  # fmt: skip


def auprec(priors, values):
    """Values of A then B in two folds, one row of `values` a prior."""
    cells = [("A", 1), ("A", 2), ("B", 1), ("B", 2)]
    rows = [(*c, p, v[i]) for i, c in enumerate(cells) for p, v in zip(priors, values, strict=True)]
    return pd.DataFrame(rows, columns=["model", "fold", "prior", "auprec"])


def test_performance_holds_means_and_spreads_with_the_best_in_bold():
    frame = auprec((0.5, 0.1), [(0.9, 0.7, 0.6, 0.6), (0.2, 0.4, 0.30, 0.31)])
    found = build_performance_table(frame, MEASURES, RANKING)
    assert found.header == ("Model", "AUPREC(0.5)", "AUPREC(0.1)", "IAUPREC", "AUC")
    assert found.rows == (
        ("B", "0.600 (0.000)", "0.305 (0.007)", "0.750 (0.071)", "0.900 (0.141)"),
        ("A", "0.800 (0.141)", "0.300 (0.141)", "0.500 (0.141)", "0.900 (0.000)"),
    )
    assert found.bold == {(1, 1), (0, 2), (0, 3), (0, 4), (1, 4)}
    frame = auprec((0.5,), [(0.60001, 0.60001, 0.6, 0.6)])
    bold = build_performance_table(frame, MEASURES, RANKING).bold
    assert ((1, 1) in bold, (0, 1) in bold) == (True, False)
    one = MEASURES[MEASURES["fold"] == 1]
    frame = auprec((0.5,), [(0.9, 0.7, 0.6, 0.6)])
    found = build_performance_table(frame[frame["fold"] == 1], one, RANKING)
    assert found.rows[0] == ("B", "0.600", "0.700", "0.800")


def test_priors_stay_apart_and_sixteen_fit_the_screen():
    priors = (0.1, 0.1 + 1e-9, 1e-7, 0.1 + 2e-9)
    found = build_performance_table(auprec(priors, [(0.1 * i,) * 4 for i in range(1, 5)]), MEASURES, RANKING)
    assert found.header[1:5] == ("AUPREC(0.1)", "AUPREC(0.100000001)", "AUPREC(1e-07)", "AUPREC(0.100000002)")
    assert [cell[:5] for cell in found.rows[0][1:5]] == ["0.100", "0.200", "0.300", "0.400"]
    models = [f"gradient boosting with {i} trees and more" for i in range(12)]
    priors = np.linspace(0.02, 0.9, 16)
    grid = pd.MultiIndex.from_product([models, [1, 2], priors], names=["model", "fold", "prior"])
    frame = grid.to_frame(index=False).assign(auprec=0.5)
    cells = frame.drop_duplicates(["model", "fold"]).assign(iauprec=0.5, auc=0.5)
    ranking = pd.concat([RANKING.iloc[:1]] * 12, ignore_index=True).assign(model=models)
    found = build_performance_table(frame, cells, ranking).to_text()
    assert max(map(len, found.split("\n"))) <= 80
    assert found.count("0.500 (0.000)") == 12 * 18
    assert all(found.count(f"AUPREC({p:.6g})") == 1 for p in priors)
    ranked = build_ranking_table(ranking, 0.005).to_text()
    assert max(map(len, ranked.split("\n"))) <= 80
    assert len({line[:24] for line in ranked.split("\n") if line.startswith("gradient")}) == 12


def test_ranking_and_sizes():
    found = build_ranking_table(RANKING, 0.005)
    assert found.header[2] == "99.5 % interval"
    assert found.rows == (
        ("B", "0.750", "0.700 to 0.800", "a", "1", "0.99", "0.612", "0.000"),
        ("A", "0.500", "0.400 to 0.600", "b", "2", "0.01", "0.400", "0.300"),
    )
    assert found.header[4:7] == ("Rank", "P(best)", "At rarest")
    assert "At rarest: AUPREC at prior 0.05. Max regret" in found.full_note
    assert "more cautious than p. Deciding now loses 0.0123 IAUPREC on average." in found.full_note
    row = build_ranking_table(RANKING.assign(conf_low=NAN, conf_high=NAN, p_best=NAN), 0.05).rows[0]
    assert (row[2], row[5]) == ("", "")
    assert found.full_note.startswith("Folds: 2, each of 38 to 40 positives and 1,200 negatives. IAUPREC")
    sizes = pd.DataFrame({"n_positive": [40, 40], "n_negative": [60, 60]})
    runs, one = FoldDesign("runs", n_folds=3), FoldDesign("test_set", n_folds=1)
    assert report_tables.write_sizes(sizes, runs) == "Runs: 3, each of 40 positives and 60 negatives"
    assert report_tables.write_sizes(sizes, one) == "Test set: 40 positives and 60 negatives"


def test_anova_and_pairs():
    rows = TABLES["tests"].build(ANOVA).rows
    numbers = ("0.1235", "15.25", "<0.0001", "0.400", "0.55")
    assert rows[0] == ("2-way ANOVA, IAUPREC", "model", "2", "38", *numbers)
    assert rows[1] == ("2-way ANOVA, IAUPREC", "residual", "38", "", "0.3000", "", "", "", "")
    assert rows[2][:1] + rows[2][2:6] == ("odd_test, IAUPREC", "1.23", "20.50", "0.2000", "inf")
    for rounding in (-2e-16, 0.0, 2e-16):
        near = TABLES["tests"].build(ANOVA[:2].assign(df=[1 + rounding, 1.01 + rounding])).rows
        assert [row[2] for row in near] == ["1", "1.01"]
    frame = pd.concat([
        posthoc(("A", "B", 0.1234, 0.0456, True)),
        posthoc(("A|x", "B", -0.0001, NAN, False), prior=0.1, response="auprec", conf_low=NAN, test="new"),
    ])  # fmt: skip
    found = report_tables.PAIRS.build(frame, alpha=0.005)
    assert found.header[-1] == "Differ (level 0.005)"
    assert found.rows == (
        ("A - B", "Tukey HSD, 2-way mean square", "IAUPREC", "0.123", "-0.100 to 0.300", "0.046", "yes"),
        ("A|x - B", "new", "AUPREC(0.1)", "0.000", "", "", "not tested"),
    )


BUILT = {
    "regions": (
        frame_of(
            "model prior_low prior_high margin runner_up",
            *[("A", 0.01, 0.123456, 0.00456, "B"), ("B", 0.123456, 0.5, NAN, "")],
        ), [("A", "0.01 to 0.1235", "0.0046", "B"), ("B", "0.1235 to 0.5", "", "")]),
    "prior_pairs": (
        posthoc((0.5, 0.1, 0.25, 1e-9, True)).rename(columns={"model_a": "prior_a", "model_b": "prior_b"}),
        [("0.5 - 0.1", "0.250", "-0.100 to 0.300", "<0.0001", "yes")]),
    "equivalence": (
        frame_of(
            "model_a model_b p_a_ahead p_equal p_b_ahead rope p_adjusted equivalent",
            ("A", "B", 0.915, 0.08, 0.005, 0.01, 0.915, False),
            ("A", "C", 0.01, 0.98, 0.01, 0.01, 0.03, True),
        ),
        [
            ("A - B", "0.92", "not shown", "0.92", "0.08", "0.01"),
            ("A - C", "0.030", "yes", "0.01", "0.98", "0.01"),
        ]),
    "assumptions": (
        frame_of(
            "check statistic p_value advice", ("shapiro_wilk", 0.9, 0.5, ""), ("levene", NAN, NAN, "look")
        ), [("shapiro wilk", "0.900", "0.50", "nothing to add"), ("levene", "", "", "look")]),
    "choices": (
        frame_of(
            "criterion model value runner_up margin",
            *[("maximin_auprec", "A", 0.25, "B", 0.125), ("highest_p_best", "B", 0.5, None, NAN)],
        ),
        [
            ("best worst case (maximin)", "A", "0.250", "B", "0.125"),
            ("most probably the best", "B", "0.500", "", ""),
        ]),
    "crossings": (
        frame_of(
            "prior conf_low conf_high model_below model_above lead open_low open_high",
            (0.02, NAN, NAN, "C", "B", False, False, False),
            (0.08, 0.05, 0.1, "B", "A", True, False, True),
            (0.3, 0.01, 0.5, "C", "A", False, True, True),
        ),
        [
            ("0.08", "0.05 to 0.1 or above", "B", "A", "yes"),
            ("0.02", "", "C", "B", "no"),
            ("0.3", "0.01 or below to 0.5 or above", "C", "A", "no"),
        ]),
    "sensitivity": (
        frame_of(
            "model auprec_at_rarest auprec_commonest sensitivity loss_per_tenfold",
            ("A", 0.25, 0.75, 0.5, 0.375),
        ), [("A", "0.250", "0.750", "0.500", "0.375")]),
}  # fmt: skip
OPTIONS = {
    "prior_pairs": {"alpha": 0.05},
    "equivalence": {"posterior": "t posterior."},
    "crossings": {"level": "95 %"},
}


@pytest.mark.parametrize("name", BUILT)
def test_rows_are_those_of_the_frame(name):
    frame, rows = BUILT[name]
    found = TABLES[name].build(frame, **OPTIONS.get(name, {}))
    assert found.rows == tuple(rows)
    assert name != "equivalence" or "differs by less than 0.01" in found.caption


def test_leaders_and_intervals():
    frame = frame_of(
        "prior_low prior_high leader contender",
        *[(0.01, 0.1, "A", "A"), (0.01, 0.1, "A", "C"), (0.01, 0.1, "A", "B"), (0.1, 0.5, "B", "B")],
    )
    table = build_leaders_table(frame, "95 %")
    assert table.rows == (("0.01 to 0.1", "A", "C, B"), ("0.1 to 0.5", "B", "none"))
    assert "95 %" in table.caption
    frame = pd.DataFrame(
        [("A", "fold", 1, 0.51234, 0.4, 0.6, 0.9, "wilson", "5 are few"),
         ("A", "pooled", pd.NA, 0.5, NAN, NAN, 0.9, "bca", "7 are few")], columns=list(INTERVAL_COLUMNS)
    )  # fmt: skip
    found = report_tables.build_intervals_table(frame, "these fitted models on further cases")
    assert found.header == ("Model", "Fold", "AUPREC", "90 % interval", "Method")
    assert found.rows == (
        ("A", "1", "0.512", "0.400 to 0.600", "wilson"),
        ("A", "(pooled)", "0.500", "", "bca"),
    )
    assert found.note == (
        "Each interval is its own, about these fitted models on further cases: what training anew would "
        "change is not in it. Rows in brackets take the models of all folds for one. "
        "Warning: 5 are few (and 1 more like it)."
    )
    assert "brackets" not in report_tables.build_intervals_table(frame[:1], "these").note
