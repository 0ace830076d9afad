"""The commands that run studies and print intervals: what they print is what their functions return."""

from functools import partial

import pandas as pd
import pytest
from click.testing import CliRunner

from skewanova import load_satellite_scores, scores_from_wide
from skewanova.cli.commands import main
from skewanova.inference import interval_table
from skewanova.report.sentences import MOST_ALIKE, pair_findings
from skewanova.studies import areas
from skewanova.studies.areas import binormal_study
from skewanova.studies.calibration import type_one_error_study


def run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.output


def test_type_one_error_prints_and_writes_the_study(tmp_path):
    args = ("--scenarios", "S1, G-0.2", "--replicates", 20, "--seed", 3)
    text = run("study", "type-one-error", *args, "--out", tmp_path / "rates")
    study = type_one_error_study(scenarios=["S1", "G-0.2"], replicates=20, rng=3, progress=False)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "rates" / "type_one_error.csv"), study.to_frame(), check_dtype=False
    )
    assert text == study.to_table().to_text() + "\n"


def test_power_prints_a_row_for_every_test():
    assert "default_omnibus" in run("study", "power", "--scenarios", "S1", "--replicates", 4)


def test_binormal_prints_and_writes_the_study(tmp_path):
    text = run("study", "binormal", "--replicates", 4, "--out", tmp_path / "bias")
    study = binormal_study(replicates=4, progress=False)
    assert len(pd.read_csv(tmp_path / "bias" / "binormal.csv")) == len(study.to_frame())
    assert all(table.to_text() in text for table in study.to_tables())


def test_estimators_by_prior_are_one_option_away(monkeypatch):
    few = {"settings": ["binormal"], "sizes": [50], "priors": [0.1, 0.5]}
    monkeypatch.setattr(areas, "estimators_by_prior_study", partial(areas.estimators_by_prior_study, **few))
    text = run("study", "estimators", "--by", "prior", "--replicates", 2)
    assert text == areas.estimators_by_prior_study(replicates=2, progress=False).to_table().to_text() + "\n"
    assert "by prior (binormal, 50 cases)" in " ".join(text.split())


def test_unknown_scenario_is_one_clear_line():
    result = CliRunner().invoke(main, ["study", "power", "--scenarios", "S9"])
    assert result.exit_code == 2
    assert "S9" in result.output
    assert "Traceback" not in result.output


@pytest.fixture
def two_disjoint_folds(tmp_path):
    frame = load_satellite_scores().frame
    first = frame[(frame["fold"] == 1) & (frame["model"] != "C")]
    wide = first.pivot(index="case", columns="model", values="y_score")[["A", "B"]]
    wide["y_true"] = first[first["model"] == "A"].set_index("case")["y_true"].astype(int)
    wide["fold"] = range(len(wide))
    wide["fold"] %= 2
    path = tmp_path / "scores.csv"
    wide.reset_index().to_csv(path, index=False)
    return path


def test_intervals_of_folds_and_pooled_where_they_are_disjoint(two_disjoint_folds, tmp_path):
    options = ("--wide", "--fold-column", "fold", "--case-column", "case")
    text = run("intervals", two_disjoint_folds, *options, "--prior", 0.2, "--out", tmp_path / "out")
    expected = interval_table(scores_from_wide(two_disjoint_folds, fold="fold", case="case"), prior=0.2)
    assert expected["fold"].tolist() == [0, 1, 0, 1, pd.NA, pd.NA]
    assert expected["level"].tolist() == ["fold"] * 4 + ["pooled"] * 2
    written = pd.read_csv(tmp_path / "out" / "intervals.csv", keep_default_na=False)
    assert written["estimate"].tolist() == expected["estimate"].tolist()
    assert all(f"{row.conf_low:.3f} to {row.conf_high:.3f}" in text for row in expected.itertuples())


def test_many_pairs_alike_are_said_once():
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(
        estimate=0.1, std_error=0.1, p_adjusted=0.4, response="iauprec", test="jackknife_holm"
    )
    names = {name: name for name in "abcd"}
    none = pair_findings(frame.assign(reject=False), 0.05, names)
    assert none == ["No two models were found to differ in IAUPREC at 0.05 (smallest adjusted p = 0.40)."]
    frame["reject"] = [True, *[False] * 5]
    some = pair_findings(frame, 0.05, names)
    assert len(some) == 2
    assert some[0].startswith("a is ahead of b")
    assert some[1] == (
        "The other 5 pairs were not found to differ in IAUPREC at 0.05 (smallest adjusted p = 0.40)."
    )
    few = pair_findings(frame.iloc[: 1 + MOST_ALIKE], 0.05, names)
    assert len(few) == 1 + MOST_ALIKE
