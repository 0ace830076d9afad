"""The command that prints intervals: what it prints is what its function returns."""

import pandas as pd
import pytest
from click.testing import CliRunner

from skewanova import load_satellite_scores, scores_from_wide
from skewanova.cli.commands import main
from skewanova.inference import interval_table


def run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.output


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
