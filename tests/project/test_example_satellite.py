"""The example behind the bundled scores: what it remakes, and the two functions its argument rests on."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import skewanova as sa

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

pytest.importorskip("sklearn")

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "satellite.py"
BUNDLE = files("skewanova.scores") / "data" / "satellite_scores.csv.gz"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("example_satellite", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pixels(example):
    return example.load_pixels()


@pytest.fixture(scope="module")
def bundled():
    with BUNDLE.open("rb") as raw:
        return pd.read_csv(raw, compression="gzip", converters=dict.fromkeys("ABC", float))


@pytest.fixture(scope="module")
def remade(example, pixels):
    return example.score_table(*pixels, seed=0, folds=(1, 13))


# --- the bundled scores -------------------------------------------------------------------------------------


def test_two_folds_retrained_give_the_bundled_scores(remade, bundled):
    stored = bundled[bundled["fold"].isin([1, 13])].reset_index(drop=True)
    exact = ["fold", "case", "y_true", "B", "C"]  # distances between integers: the same on every machine
    pd.testing.assert_frame_equal(remade[exact], stored[exact], check_exact=True)
    np.testing.assert_allclose(remade["A"], stored["A"], rtol=1e-5, atol=1e-5)


def test_bundle_is_the_text_the_example_writes(example, bundled):
    text = gzip.decompress(BUNDLE.read_bytes()).decode()
    assert example.to_csv(bundled) == text


def test_bundle_holds_20_hold_outs_of_one_in_five(bundled, pixels):
    _, positive = pixels
    assert list(bundled) == ["fold", "case", "y_true", "A", "B", "C"]
    assert bundled["fold"].value_counts().to_dict() == dict.fromkeys(range(1, 21), 1287)
    assert not bundled.duplicated(["fold", "case"]).any()
    assert (bundled["y_true"] == positive[bundled["case"]]).all()


def test_same_scores_give_the_same_bytes(example, remade, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        example.write_scores(remade, tmp_path / name)
    content = (tmp_path / "a.csv.gz").read_bytes()
    assert content == (tmp_path / "b.csv.gz").read_bytes()
    assert content[3:8] == bytes(5)  # no file name, no time


def test_plain_csv_is_the_same_text(example, remade, tmp_path):
    example.write_scores(remade, tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_bytes().decode() == example.to_csv(remade)


def test_another_seed_gives_other_hold_outs(example, pixels, remade):
    other = example.score_table(*pixels, seed=1, folds=(1,))
    assert other["case"].tolist() != remade.loc[remade["fold"] == 1, "case"].tolist()


def test_wrong_data_are_refused(example, tmp_path):
    pd.DataFrame({"x1": [1, 2], "class": ["cotton crop", "red soil"]}).to_csv(tmp_path / "few.csv")
    with pytest.raises(SystemExit, match="1329 positives among 6435 pixels"):
        example.load_pixels(tmp_path / "few.csv")


def test_prototypes_hold_both_classes(example):
    positive = np.zeros(50, dtype=bool)
    positive[7] = True
    rows = example.draw_prototypes(positive, 3, np.random.default_rng(0))
    assert len(set(rows)) == 3
    assert 7 in rows


def test_distance_scores_against_hand_computed(example):
    prototypes, positive = np.array([[0.0], [10.0], [4.0]]), np.array([True, False, False])
    scores = example.distance_scores(prototypes, positive, np.array([[0.0], [1.0], [10.0], [2.0]]))
    assert scores.tolist() == [1.0, 0.75, 0.0, 0.5]


def test_distance_score_of_a_pixel_on_both_classes_is_undecided(example):
    prototypes = np.array([[3.0], [3.0]])
    assert example.distance_scores(prototypes, np.array([True, False]), prototypes[:1]).tolist() == [0.5]


def test_without_scikit_learn_one_line_says_what_to_do():
    code = f"import runpy, sys; sys.modules['sklearn'] = None; runpy.run_path({str(SCRIPT)!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == 'This example needs scikit-learn: pip install "skewanova[sklearn]"\n'


# --- the lowest AUPREC an AUC allows ------------------------------------------------------------------------


def brute_force_lowest(auc: float, prior: float, n_cells: int = 80) -> float:
    """Minimise over step functions F(T) that never fall and stay within [0, 1], cells finer near recall 0."""
    skew, edge = (1 - prior) / prior, np.linspace(0, 1, n_cells + 1) ** 2
    low, high = edge[:-1], edge[1:]

    def area(steps):  # exact integral of T / (T + skew F) over every cell
        level = skew * np.cumsum(steps)
        return np.sum(high - low - level * np.log((high + level) / (low + level)))

    limits = (
        {"type": "eq", "fun": lambda steps: (1 - low) @ steps - (1 - auc)},
        {"type": "ineq", "fun": lambda steps: 1 - steps.sum()},
    )
    start = np.full(n_cells, 1e-6)
    start[0] = 0.9 * (1 - auc)
    found = minimize(
        area,
        start,
        method="SLSQP",
        bounds=[(1e-12, 1)] * n_cells,
        constraints=limits,
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize(
    ("auc", "prior"), [(0.943, 0.5), (0.943, 0.1), (0.943, 0.01), (0.7, 0.5), (0.98, 0.5), (0.6, 0.3)]
)
def test_lowest_auprec_equals_brute_force(example, auc, prior):
    twin = brute_force_lowest(auc, prior)
    lowest = example.lowest_auprec(auc, prior)
    assert lowest <= twin + 1e-9
    assert lowest == pytest.approx(twin, abs=1e-5)


@given(steps=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_no_curve_is_below_the_bound(example, steps):
    true, false = np.cumsum([(0, 0), (1, 0), *steps, (0, 1)], axis=0).T
    roc = sa.RocCurve.from_rates(false / false[-1], true / true[-1])
    for prior in (0.5, 0.1, 0.9):
        if sa.auc(roc) >= 0.5:
            lowest = example.lowest_auprec(min(sa.auc(roc), 1.0), prior)
            assert sa.auprec(roc, prior, area_estimator="exact") >= lowest - 1e-7


@pytest.mark.parametrize("model", ["A", "B", "C"])
def test_bundled_scores_obey_the_bound_within_a_step(example, bundled, model):
    for _, fold in bundled.groupby("fold"):
        roc = sa.roc_curve(fold["y_true"], fold[model])
        assert sa.auprec(roc, 0.5) >= example.lowest_auprec(sa.auc(roc), 0.5) - 1 / roc.n_positive


def test_bound_falls_smoothly_from_1(example):
    grid = np.linspace(0.5, 1, 201)
    bound = np.array([example.lowest_auprec(auc, 0.3) for auc in grid])  # passes the end of the flat part
    assert bound[-1] == 1
    assert (np.diff(bound) > 0).all()
    assert (np.diff(bound, 2) > -1e-6).all()  # convex


def test_bound_contradicts_the_printed_row_a(example):
    (printed, _), (auc, _) = example.PAPER["AUPREC(0.5)"][0], example.PAPER["AUC"][0]
    assert example.lowest_auprec(auc, 0.5) == pytest.approx(0.8334, abs=1e-4)
    assert printed < example.lowest_auprec(auc, 0.5)


@pytest.mark.parametrize("auc", [0.49, 1.01, float("nan")])
def test_bound_refuses_other_aucs(example, auc):
    with pytest.raises(ValueError, match=r"`auc` must lie between 0\.5 and 1, but got"):
        example.lowest_auprec(auc, 0.5)


# --- eq. 4 as printed ---------------------------------------------------------------------------------------


def test_printed_equation_4_against_a_loop(example):
    y, score = [1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 5, 4, 3, 1]
    roc = sa.roc_curve(y, score)
    for prior in (0.5, 0.1):
        skew, total = (1 - prior) / prior, 0.0
        for i in range(2, len(roc.tpr)):
            precision = [roc.tpr[j] / (roc.tpr[j] + skew * roc.fpr[j]) for j in (i - 1, i)]
            total += 0.5 * (roc.tpr[i] - roc.tpr[i - 1]) * sum(precision)
        assert example.printed_equation_4(roc, prior) == pytest.approx(total, rel=1e-12)


def test_printed_equation_4_loses_the_recall_of_the_first_vertex(example):
    y, score = np.repeat([1, 0], 10), np.concatenate((np.linspace(2, 3, 10), np.linspace(0, 1, 10)))
    assert example.printed_equation_4(sa.roc_curve(y, score), 0.1) == pytest.approx(0.9)
    tied = np.where(score > 2.5, 3.0, score)  # the 5 best positives tie
    assert example.printed_equation_4(sa.roc_curve(y, tied), 0.1) == pytest.approx(0.5)
    assert sa.auprec(sa.roc_curve(y, tied), 0.1) == pytest.approx(1.0)


def test_printed_equation_4_of_a_constant_classifier_is_0(example):
    assert example.printed_equation_4(sa.roc_curve([0, 1, 1], [1, 1, 1]), 0.5) == 0


def test_saturated_posteriors_lose_recall_and_keep_their_auc(example, bundled):
    figures = example.row_a_figures(bundled)
    tied = figures["tied_recall"][0]
    assert 0.1 < tied < 0.25
    lost = figures["saturated"][0] - figures["saturated_printed"][0]
    assert lost == pytest.approx(tied, abs=0.01)  # their precision at prior 0.5 is nearly 1
    assert figures["saturated"][-1] == pytest.approx(figures["complete"][-1], abs=1e-3)


def test_printed_rows_b_and_c_are_possible(example):
    for (printed, _), (auc, _) in zip(
        example.PAPER["AUPREC(0.5)"][1:], example.PAPER["AUC"][1:], strict=True
    ):
        assert printed > example.lowest_auprec(auc, 0.5)


# --- the report ---------------------------------------------------------------------------------------------


def test_report_fits_80_columns_and_puts_both_sides_by_side(example, bundled):
    text = example.report(example.analyse(bundled), bundled, 0)
    assert max(map(len, text.splitlines())) <= 80
    assert "IAUPREC      .772(.021)|.554(.013) .597(.178)|.642(.177) .749(.046)|.783(.082)" in text
    assert "2-way, models on IAUPREC    15.3   21.04  A-B B-C            A-C B-C" in text
    assert "3-way, priors on AUPREC    360.8       -  .5-.1 .5-.01 .1-.01 .5-.01" in text
    assert "row A cannot be reached" in text


@pytest.fixture
def untrained(example, bundled, monkeypatch):
    monkeypatch.setattr(example, "score_table", lambda *_, seed: bundled)
    return example


def test_main_writes_and_prints(untrained, tmp_path, capsys):
    untrained.main(["--scores", str(tmp_path / "scores.csv.gz")])
    assert capsys.readouterr().out.startswith("Satellite: 6435 pixels, 1329 positive; 20 random hold-outs")
    assert (tmp_path / "scores.csv.gz").is_file()
