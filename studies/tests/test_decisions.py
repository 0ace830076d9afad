"""Studies of decisions: models are what they claim, and numbers do not depend on how they are run."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import integrate, stats

from skewanova import auprec, evaluate, roc_curve, scores_from_wide
from skewanova.base.checks import InputError
from skewanova.curves import true_auprec
from skewanova.decision import value_of_information
from studies import results
from studies.__main__ import study as main
from studies.decisions import (
    CROSSING_COLUMNS,
    INFORMATION_SETTINGS,
    LEADER_COLUMNS,
    P_BEST_COLUMNS,
    Model,
    SampleSizes,
    _information_measures,
    _reliability,
    crossing_pair,
    crossings_study,
    draw_joint,
    draw_scores,
    information_study,
    leaders_study,
    mean_true_auprec,
    p_best_study,
    trapezoid_areas,
)


def test_true_curves_cross_where_they_are_said_to():
    narrow, wide = crossing_pair(0.1, 0.1)
    gap = [mean_true_auprec(narrow, p, 0.1) - mean_true_auprec(wide, p, 0.1) for p in (0.05, 0.1, 0.2)]
    assert gap[0] < -0.01
    assert abs(gap[1]) < 1e-10
    assert gap[2] > 0.01


def test_the_mean_over_folds_by_quadrature():
    def value(x):
        return true_auprec(stats.norm(0, 1), stats.norm(1.5 + 0.2 * x, 1.4), 0.1) * stats.norm.pdf(x)

    expected = integrate.quad(value, -8, 8)[0]
    assert mean_true_auprec(Model(1.5, 1.4), 0.1, 0.2) == pytest.approx(expected, abs=1e-9)


def test_simulated_scores_have_the_moments_asked_for():
    models, design = (Model(), Model(1.2, 1.4)), SampleSizes(200, 200, 300, 0.3)
    positive, scores = draw_scores(models, design, np.random.default_rng(0))
    assert positive.sum() == 200
    assert positive[:200].all()
    for k, model in enumerate(models):
        drawn = scores[:, k][:, positive]
        assert drawn.mean() == pytest.approx(model.distance, abs=4 * 0.3 / np.sqrt(200))
        assert drawn.std(axis=1).mean() == pytest.approx(model.deviation, rel=0.02)
        assert scores[:, k][:, ~positive].std() == pytest.approx(1, rel=0.02)
    shared = np.corrcoef(scores[:, 0][:, ~positive].ravel(), scores[:, 1][:, ~positive].ravel())[0, 1]
    assert shared == pytest.approx(0.5, abs=0.02)


def test_areas_by_the_table_are_those_of_the_package():
    positive, scores = draw_scores(
        (Model(), Model(1.0, 1.4)), SampleSizes(3, 20, 50), np.random.default_rng(1)
    )
    priors = (0.01, 0.3, 0.9)
    expected = [[auprec(roc_curve(positive, score), priors) for score in fold] for fold in scores]
    np.testing.assert_allclose(trapezoid_areas(scores, 20, priors), expected, rtol=1e-13)


@pytest.mark.parametrize("n_folds", [1, 4])
def test_joint_curves_are_measured_alike(n_folds):
    design, priors = SampleSizes(n_folds, 30, 60), np.array([0.1, 0.4])
    joint = draw_joint((Model(), Model(1.0)), design, priors, np.random.default_rng(2))
    positive, scores = draw_scores((Model(), Model(1.0)), design, np.random.default_rng(2))
    expected = [[auprec(roc_curve(positive, score), priors) for score in fold] for fold in scores]
    np.testing.assert_allclose(joint.estimate, np.mean(expected, axis=0), rtol=1e-12)
    assert joint.df == (np.inf if n_folds == 1 else 3)


def test_numbers_depend_neither_on_processes_nor_on_other_settings():
    one = crossings_study(settings=["folds-5"], replicates=30, progress=False).to_frame()
    both = crossings_study(settings=["folds-5", "one-set-small"], replicates=30, n_jobs=2, progress=False)
    pd.testing.assert_frame_equal(one, both.to_frame().head(3))
    assert tuple(one) == CROSSING_COLUMNS
    assert one["coverage"].between(0.75, 1).all()
    assert "folds-5" in both.to_tables()[0].to_text()


def test_leaders_of_equal_models_and_of_a_swap():
    frame = leaders_study(
        settings=["equal-2-folds-10", "swap-folds-20"], replicates=25, progress=False
    ).to_frame()
    assert tuple(frame) == LEADER_COLUMNS
    equal, swap = frame.to_dict("records")
    assert equal["best_always_in"] == equal["all_alike"] >= 0.75
    assert swap["swap_reported"] > 0.5
    assert (equal["one_winner"], swap["one_winner"]) == (0, 0)


@pytest.mark.parametrize("setting", ["folds-10-0.2", "hold-outs-0.2", "one-set-0.2"])
def test_reliability_counts_every_model_once(setting):
    frame = p_best_study(settings=[setting], replicates=10, progress=False).to_frame()
    assert tuple(frame) == P_BEST_COLUMNS
    for _, rows in frame.groupby("method"):
        assert rows["n_models"].sum() == 40
        assert (rows["truly_best"] * rows["n_models"]).sum() == pytest.approx(10)
        assert (rows["mean_p"] * rows["n_models"]).sum() == pytest.approx(10)


def test_reliability_by_hand():
    rows = list(_reliability(np.array([0.0, 0.97, 0.96, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])))
    assert rows == [
        (0.0, 0.05, 0.0, 0.0, 0.0, 1),
        (0.95, 0.99, pytest.approx(0.965), 0.5, pytest.approx(np.sqrt(0.125)), 2),
        (0.99, 1.0, 1.0, 1.0, 0.0, 1),
    ]


@pytest.mark.parametrize("study", [crossings_study, leaders_study, p_best_study])
def test_options_are_checked(study):
    with pytest.raises(InputError, match="`settings` must be one of"):
        study(settings=["folds-6"])
    with pytest.raises(InputError, match="`replicates` must be at least 1, but got 0"):
        study(replicates=0)


def test_commands_print_and_write_the_study(tmp_path):
    args = ["p-best", "--replicates", "1", "--out", str(tmp_path / "p")]
    told = CliRunner().invoke(main, args)
    assert told.exit_code == 0, told.output
    expected = p_best_study(replicates=1, progress=False)
    assert len(pd.read_csv(tmp_path / "p" / "p_best.csv")) == len(expected.to_frame())
    assert expected.to_tables()[0].to_text() in told.output


def test_crossings_that_are_never_found_have_no_coverage(monkeypatch):
    blind = results.simulated

    def unseen(*arguments, **options):
        for cell, found in blind(*arguments, **options):
            found[:, 0] = 0
            yield cell, found

    monkeypatch.setattr(results, "simulated", unseen)
    frame = crossings_study(settings=["folds-5"], replicates=2, progress=False).to_frame()
    assert frame.set_index("method")["coverage"].isna().to_dict() == {
        "fieller": True,
        "delta": True,
        "set": False,
    }


def test_value_of_information_of_the_study_is_that_of_the_public_function():
    setting = INFORMATION_SETTINGS["2-models-0.1"]
    rng = np.random.default_rng(5)
    models = [Model(distance) for distance in setting.distances(rng)]
    positive, scores = draw_scores(models, SampleSizes(1, 200, 1800), rng)
    now = np.arange(len(positive)) % 2 == 0
    columns = dict(zip("AB", scores[0][:, now], strict=True))
    wide = pd.DataFrame({"y_true": positive[now].astype(int), **columns})
    value = value_of_information(evaluate(scores_from_wide(wide), design="test_set"))
    evpi, _, evsi, *_ = _information_measures(setting, np.random.default_rng(5))
    double = value.to_frame().set_index("n_more")["evsi"][1000]
    assert evpi == pytest.approx(value.evpi, rel=0.15)  # 2,000 draws and 9,999
    assert evsi == pytest.approx(double, rel=0.15)


def test_equal_models_lose_nothing():
    frame = information_study(settings=["2-models-0"], replicates=5, progress=False).to_frame()
    assert frame[["loss", "gain"]].to_numpy().tolist() == [[0, 0]]
    assert (frame["evpi"] < frame["flat_evpi"]).all()
