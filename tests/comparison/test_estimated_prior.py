"""The prior estimated from tables: each case once, several models, and what a comparison makes of it."""

import numpy as np
import pandas as pd
import pytest
from fold_tables import score_rows
from messages import expect_error

import skewanova as sa
from skewanova.comparison import estimated_prior
from skewanova.comparison.estimated_prior import MODEL_COLUMNS, PooledPrior
from skewanova.priors import batches, estimation
from skewanova.report.figures import FIGURES

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")

estimate = sa.estimate_prior_from_tables
LABELS, FIELD = np.repeat([1, 0], [100, 300]), np.repeat([1, 0], [150, 1350])


def tables(models="AB", rng=0, shift=2.0):
    """Labelled and unlabelled scores of models that share what they see of a case."""
    draw = np.random.default_rng(rng).normal
    held, field = draw(shift * LABELS, 0.8), draw(shift * FIELD, 0.8)
    rows = pd.DataFrame({"fold": 1, "case": range(400), "y_true": LABELS})
    labelled = [rows.assign(model=m, y_score=held + draw(0, 0.6, 400)) for m in models]
    unlabelled = [pd.DataFrame({"model": m, "y_score": field + draw(0, 0.6, 1500)}) for m in models]
    return pd.concat(labelled, ignore_index=True), pd.concat(unlabelled, ignore_index=True)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(estimation, "N_RESAMPLES", 99)
    monkeypatch.setattr(batches, "N_RESAMPLES", 199)


@pytest.fixture(scope="module")
def found():
    return sa.estimate_prior_from_tables(*tables())


def test_each_model_has_an_estimate_and_all_are_pooled_in_the_same_columns(found):
    labelled, unlabelled = tables()
    for model, one in found.by_model.items():
        rows = labelled[labelled["model"] == model]
        field = unlabelled["y_score"][unlabelled["model"] == model]
        alone = sa.estimate_prior(rows["y_true"], rows["y_score"], field)
        assert (one.estimate, one.conf_low) == (alone.estimate, alone.conf_low)
    low, high = sorted(one.estimate for one in found.by_model.values())
    assert isinstance(found.prior, PooledPrior)
    assert low - 0.01 <= found.prior.estimate <= high + 0.01
    assert found.prior.conf_low < 0.1 < found.prior.conf_high
    assert found.prior.agree
    assert sum(found.prior.weights.values()) == pytest.approx(1)
    one = sa.estimate_prior_from_tables(*tables("A"))
    for result, models in ((found, ["", "A", "B"]), (one, ["A"])):
        assert tuple(result.to_frame().columns) == MODEL_COLUMNS
        assert result.to_frame()["model"].to_dict() == dict(enumerate(models))
        assert result.bins_frame()["model"].unique().tolist() == [m for m in models if m]
        assert result.bins_frame().index.is_unique
    assert tuple(found.prior.to_frame().columns) == MODEL_COLUMNS
    assert found.prior.to_frame()["df"].item() == 1
    assert one.prior is one.by_model["A"]
    ratio = estimated_prior._compute_joint_ratio([*found.by_model.values()], np.ones(2))[1]
    assert ratio[1:-1].max() < estimated_prior.MAX_RATIO <= ratio[[0, -1]].min()


def test_a_case_counts_once_and_doubt_is_said_first(found, tmp_path):
    labelled, unlabelled = tables("A")
    moved = (labelled.assign(fold=f, y_score=labelled["y_score"] + 3 - 2 * f) for f in (1, 2))
    twice = pd.concat(moved)
    averaged, single = (sa.estimate_prior_from_tables(t, unlabelled) for t in (twice, labelled))
    assert averaged.prior.conf_high == pytest.approx(single.prior.conf_high)
    assert averaged.to_frame()["n_positive"].tolist() == [100]
    assert any("refitted on all labelled data" in text for text in averaged.assumptions)
    assert len(single.assumptions) == 1
    assumed = estimated_prior._list_assumptions(sa.read_scores(labelled.assign(weight=2)), None)
    assert assumed[1].endswith("clusters and weights of the table are not used")
    assert sa.estimate_prior_from_tables(twice, unlabelled, fold=2).prior.estimate != averaged.prior.estimate
    assert "in doubt" not in found.describe()
    assert not any(f"{name}=(" in repr(found) for name in ("assumptions", "warnings"))
    strange = sa.estimate_prior_from_tables(labelled, unlabelled.assign(y_score=0.3)).describe()
    assert strange.startswith("the prior estimated from 1,500 unlabelled scores, in doubt (see the warnings)")
    sa.compare(sa.read_scores(tables()[0]), found, at_priors=(0.5, 0.1)).save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(text in page for text in (found.describe(), "Assumed of this prior", "(label shift)"))
    frame = pd.read_csv(tmp_path / "out" / "tables" / "prior.csv", keep_default_na=False)
    assert frame["model"].tolist() == ["", "A", "B"]
    assert set(pd.read_csv(tmp_path / "out" / "tables" / "bins.csv")["model"]) == {"A", "B"}


def test_folds_without_cases_and_models_of_one_table():
    labelled, unlabelled = tables("A")
    bare = labelled.drop(columns="case").assign(fold=np.arange(400) % 2)
    expect_error(r"must have a case column, .* or choose one of its 2", estimate, bare, unlabelled)
    expect_error(r"^`n_bins` must be at least 2, but got 1", estimate, labelled, unlabelled, n_bins=1)
    expect_error("`fold` must be one of 0, 1; but got '7'", estimate, bare, unlabelled, fold=7)
    labelled, unlabelled = tables("AB")
    with pytest.warns(sa.SkewanovaWarning, match="B is in only one of the tables"):
        some = sa.estimate_prior_from_tables(labelled, unlabelled[unlabelled["model"] == "A"])
    assert list(some.by_model) == ["A"]
    other = unlabelled.assign(model="Z")
    message = "scores must be of the models 'A', 'B', 'C', 'D', 'E', but are of 'Z'; rename"
    expect_error(message, estimate, tables("ABCDEF")[0], other)


def test_models_that_do_not_agree_or_say_nothing_are_named():
    labelled, unlabelled = tables()
    moved = unlabelled["y_score"] + np.where(unlabelled["model"] == "B", 0.8, 0.0)
    with pytest.warns(sa.SkewanovaWarning, match="the models do not agree about the prior"):
        apart = sa.estimate_prior_from_tables(labelled, unlabelled.assign(y_score=moved))
    assert (apart.prior.agree, apart.prior.method) == (False, "widest")
    assert apart.prior.conf_low == min(one.conf_low for one in apart.by_model.values())
    of_b = labelled["model"] == "B"
    constant = labelled.assign(y_score=labelled["y_score"].where(~of_b, 1.0))
    expect_error(r"the prior cannot be estimated by model .B.: .* but is 1;", estimate, constant, unlabelled)
    expect_error(r"use another model$", estimate, constant[of_b], unlabelled)  # no other model
    far = unlabelled.assign(y_score=unlabelled["y_score"] + 99 * (unlabelled["model"] == "B"))
    expect_error(r"by model .B.: .* on one scale.*, or leave .* out$", estimate, labelled, far)


def test_batches_of_several_models_reach_as_far_as_any(monkeypatch):
    monkeypatch.setattr(batches, "N_CENTRES", 7)
    monkeypatch.setattr(batches, "N_SPREADS", 5)
    labelled, unlabelled = tables()
    batched = unlabelled.assign(batch=np.tile([1, 2, 3, 4], 750))
    weekly = sa.estimate_prior_from_tables(labelled, batched, n_bins=3)
    frame = weekly.to_frame()
    assert frame["batch"].tolist() == ["", "", "1", "2", "3", "4", "", "1", "2", "3", "4"]
    assert frame["sensitivity_low"].notna().tolist() == [False, True, *[False] * 4, True, *[False] * 4]
    assert weekly.prior.conf_low == min(one.conf_low for one in weekly.by_model.values())
    assert weekly.quadrature()[1].sum() == pytest.approx(1)
    assert (weekly.prior.method, weekly.prior.weights) == ("widest", {"A": 0.5, "B": 0.5})
    assert weekly.prior.log_odds[-1] == max(one.log_odds[-1] for one in weekly.by_model.values())


def test_models_without_positives_and_copies_of_a_model():
    """An estimate at 0 cannot go lower, and that it does not vary says nothing."""
    labelled, unlabelled = tables(rng=2, shift=1.2)
    none = sa.estimate_prior_from_tables(labelled, unlabelled[np.tile(FIELD == 0, 2)])
    assert none.prior.method == "pooled"
    least = min(one.conf_high for one in none.by_model.values())
    assert least / 2 < none.prior.conf_high < 2 * least
    assert (none.prior.estimate, none.prior.conf_low) == (0, 0)
    labelled, unlabelled = tables("A")
    twins = (pd.concat([part, part.assign(model="B")]) for part in (labelled, unlabelled))
    both, one = estimate(*twins), estimate(labelled, unlabelled)
    twice = estimated_prior._pool_widest({"A": one.prior, "B": one.prior})
    assert twice.log_density[::2] == pytest.approx(one.prior.log_density, abs=0.01)
    assert (both.prior.method, both.prior.p_value) == ("pooled", 1.0)
    for what in ("estimate", "conf_low", "conf_high"):
        assert getattr(both.prior, what) == pytest.approx(getattr(one.prior, what), rel=0.02)
    (priors, weights), (of_one, weights_of_one) = both.quadrature(), one.quadrature()
    variance = weights_of_one @ (of_one - weights_of_one @ of_one) ** 2
    assert weights @ (priors - weights @ priors) ** 2 == pytest.approx(variance, rel=0.1)


def test_a_comparison_takes_it_and_says_where_the_prior_came_from():
    labelled, unlabelled = tables()
    strange = unlabelled.assign(y_score=lambda f: (f["y_score"] + 0.8).where(f["model"] == "B", 0.3))
    found = sa.estimate_prior_from_tables(labelled, strange)
    assert any("label shift does not hold" in text for text in found.warnings)
    result = sa.compare(sa.read_scores(labelled), found, at_priors=(0.5, 0.1))
    assert result.settings["deployment_prior"] == found.describe()
    assert result.settings["deployment_limits"] == (found.low, found.high)
    assert set(found.warnings) <= set(result.warnings)
    assert result.tables["iauprec"]["iauprec"].between(0, 1).all()
    assert "2 models, in doubt (see the warnings): " in found.describe()
    assert set(result.prior_frames) == {"prior", "bins"}
    assert result.prior_frames["prior"].equals(found.to_frame())
    figure = FIGURES["prior_estimate"].draw(result)
    assert [ax.get_title(loc="left").split(" ")[0] for ax in figure.axes[:2]] == ["A:", "B:"]


def test_models_that_differ_by_fold_and_caveats_are_named_once():
    labelled, unlabelled = tables()
    of_b = labelled["model"] == "B"
    folds = pd.concat(labelled.assign(fold=f, y_score=labelled["y_score"] + f * of_b) for f in (1, 2))
    apart = sa.estimate_prior_from_tables(folds, unlabelled)
    told = [text for text in apart.warnings if "distributed differently in different folds" in text]
    assert [text.split(" are distributed")[0] for text in told] == ["the scores of B"]
    one = sa.estimate_prior_from_tables(folds, unlabelled, fold=1)
    assert not any("in different folds" in text for text in one.warnings)
    rng = np.random.default_rng(0)
    labels = np.tile([0, 1], 150)
    table = score_rows("A", 1, labels, labels + rng.normal(size=300))
    unlabelled = pd.DataFrame({"model": "A", "y_score": rng.normal(0.5, 3, 500)})
    found = sa.estimate_prior_from_tables(table, unlabelled)
    assert sum("label shift is rejected" in text for text in found.warnings) == 1
    assert set(found.warnings) == {*found.prior.warnings, *found.caveats}
    assert "are beyond the labelled ones" in found.warnings[0]
