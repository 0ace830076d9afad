import re
from dataclasses import replace
from functools import partial
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each
from messages import expect_error
from precision_twins import cell, curve_of, sized_models, twin
from scipy.integrate import quad

import skewanova as sa
from skewanova.evaluation import roc
from skewanova.evaluation.curve_frames import RATE_GRID
from skewanova.evaluation.measures import half_differences, prior_grid, resolve_ratio

PRIORS = (0.5, 0.1, 0.9)
quiet = pytest.mark.filterwarnings("ignore::skewanova.base.checks.SkewanovaWarning")


def random_frame(seed, *, n_models=3, n_folds=2, size=40, levels=9):
    rng, parts = np.random.default_rng(seed), []
    for fold in range(1, n_folds + 1):
        labels = rng.permutation([1] * int(rng.integers(3, size - 3)) + [0] * size)[:size]
        labels[:2] = [0, 1]
        rows = pd.DataFrame({"fold": fold, "y_true": labels})
        for model in range(n_models):
            score = np.round(levels * (rng.random(size) + 0.3 * model * labels))
            parts.append(rows.assign(model=f"m{model}", y_score=score))
    return pd.concat(parts, ignore_index=True)


@quiet
@each("seed", range(8))
def test_measures_equal_brute_force(seed):
    frame = random_frame(seed, levels=[2, 9, 1000][seed % 3])
    measures = sa.evaluate(frame, at_priors=PRIORS, deployment_prior=(0.05, 0.2))
    cells = {key: curve_of(rows) for key, rows in frame.groupby(["model", "fold"])}
    assert len(measures.auprec) == len(cells) * len(PRIORS)
    for row in measures.auprec.itertuples():
        assert row.auprec == pytest.approx(twin(cells[row.model, row.fold], row.prior), rel=1e-12, abs=0)
    for row in measures.iauprec.itertuples():
        along = partial(twin, cells[row.model, row.fold])
        area = quad(along, 0.05, 0.2, epsabs=0, epsrel=1e-13, limit=200)[0]
        assert row.iauprec == pytest.approx(area / (0.2 - 0.05), rel=1e-12, abs=0)
        rows = cell(frame, row.model, row.fold)
        assert (row.n_positive, row.n_negative) == (rows["y_true"].sum(), (1 - rows["y_true"]).sum())
        positive, negative = (rows.loc[rows["y_true"] == y, "y_score"].to_numpy() for y in (1, 0))
        wins = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
        assert row.auc == pytest.approx(wins, rel=1e-13)


@pytest.mark.no_cover
@quiet
@each(("estimator", "weighting"), zip(sa.curves.ESTIMATORS, cycle([
    0.1, (0.1, 0.1), sa.UniformSkew(1, 9), sa.BetaPrior(2, 9), sa.DiscretePrior((0.2, 0.4))])))  # fmt: skip
def test_frames_hold_the_values_of_the_functions(estimator, weighting):
    frame = random_frame(3)
    measures = sa.evaluate(frame, at_priors=PRIORS, deployment_prior=weighting, area_estimator=estimator)
    assert list(measures.auprec) == ["model", "fold", "prior", "auprec"]
    assert list(measures.iauprec) == ["model", "fold", "iauprec", "auc", "n_positive", "n_negative"]
    assert measures.to_frame() is measures.auprec
    assert (measures.models, measures.folds) == (("m0", "m1", "m2"), (1, 2))
    assert (measures.priors, measures.area_estimator) == (PRIORS, estimator)
    keys = [(m, f, p) for m in measures.models for f in measures.folds for p in PRIORS]
    assert list(measures.auprec[["model", "fold", "prior"]].itertuples(index=False, name=None)) == keys
    rows = cell(frame, "m1", 2)
    roc = sa.roc_curve(rows["y_true"], rows["y_score"])
    areas = sa.auprec(roc, PRIORS, area_estimator=estimator)
    assert cell(measures.auprec, "m1", 2)["auprec"].tolist() == areas.tolist()
    expected = sa.iauprec(roc, weighting, area_estimator=estimator)
    assert cell(measures.iauprec, "m1", 2)["iauprec"].item() == expected
    assert measures.iauprec[["n_positive", "n_negative"]].dtypes.tolist() == [np.int64, np.int64]


@each(("options", "kind", "message"), [
    ({"at_priors": (0.5, 0.1, 0.5)}, sa.InputError, "`at_priors` must be distinct, but got 0.5, 0.1, 0.5"),
    ({"at_priors": (0.5, 4)}, sa.InputError, "write skew 4 as prior 0.2, or 4% as 0.04"),
    ({"deployment_prior": (0.2, 0.05)}, sa.InputError, "must be given as (low, high), but got low=0.2 > hi"),
    ({"area_estimator": "auc"}, sa.InputError, "`area_estimator` must be one of trapezoid, exact,"),
])  # fmt: skip
def test_arguments_out_of_range(options, kind, message):
    expect_error(re.escape(message), sa.evaluate, random_frame(0), **options, error=kind)


def sized(*sizes):
    """One fold for each (positives, negatives)."""
    parts = [pd.DataFrame({"fold": i, "y_true": [1] * p + [0] * n}) for i, (p, n) in enumerate(sizes)]
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(model="A", y_score=frame.index)


def test_unequal_folds_are_told_and_the_grid_of_priors():
    assert sa.evaluate(sized((20, 100), (40, 100)), at_priors=(0.5,), deployment_prior=0.5).warnings == ()
    note = (
        "folds hold between 20 and 41 positives, more than a factor of 2: they do not estimate AUPREC "
        "equally well, yet count alike"
    )
    with pytest.warns(sa.SkewanovaWarning, match=f"^{note}$"):
        measures = sa.evaluate(sized((20, 100), (41, 100)), at_priors=(0.5,), deployment_prior=0.5)
    assert measures.warnings == (note,)
    grid = prior_grid(sa.evaluate(sized_models(), at_priors=(0.5, 0.4), deployment_prior=(0.45, 0.5)))
    assert (len(grid), grid[0], grid[-1]) == (81, 0.4, 0.5)
    assert np.diff(np.log(grid / (1 - grid))) == pytest.approx(np.log(1.5) / 80)
    odds = prior_grid(sa.evaluate(sized_models(), at_priors=(0.4, 0.8), deployment_prior=(0.5, 0.6)), 3)
    np.testing.assert_allclose(odds / (1 - odds), [2 / 3, np.sqrt(8 / 3), 4], rtol=1e-12)
    assert prior_grid(sa.evaluate(sized_models(), at_priors=(0.5,), deployment_prior=0.5)).tolist() == [0.5]


@quiet
def test_reordering_keeps_the_numbers():
    measures = sa.evaluate(random_frame(5))
    other = measures.reorder_models(["m2", "m0", "m1"])
    assert other.models == ("m2", "m0", "m1")
    for frame in (other.auprec, other.iauprec):
        assert list(dict.fromkeys(frame["model"])) == [*other.models]
    for name in ("auprec", "iauprec"):
        columns = ["model", "fold", "prior"] if name == "auprec" else ["model", "fold"]
        a, b = (getattr(x, name).sort_values(columns, ignore_index=True) for x in (measures, other))
        pd.testing.assert_frame_equal(a, b)
        assert getattr(other, name).index.tolist() == list(range(len(a)))
    assert measures.models == ("m0", "m1", "m2")
    assert other.mean_auprec(0.3).tolist() == measures.mean_auprec(0.3)[[2, 0, 1]].tolist()
    assert list(dict.fromkeys(roc(other)["model"])) == ["m2", "m0", "m1"]


@quiet
def test_areas_of_every_cell_and_over_another_weighting():
    frame = random_frame(7)
    frame = frame[(frame["model"] != "m1") | (frame["fold"] != 2)]
    measures = sa.evaluate(frame, at_priors=PRIORS)
    cells = measures.auprec_by_cell(PRIORS)
    assert cells.shape == (3, 2, 3)
    for row in measures.auprec.itertuples():
        at = measures.models.index(row.model), measures.folds.index(row.fold), PRIORS.index(row.prior)
        assert cells[at] == row.auprec
    assert np.isnan(cells[1, 1]).all()
    np.testing.assert_allclose(measures.mean_auprec(PRIORS), np.nanmean(cells, axis=1), rtol=1e-14)
    assert len(measures.iauprec) == len(measures.curves) == 5
    assert len(roc(measures)) == 5 * len(RATE_GRID)
    expect_error("strictly between 0 and 1", measures.mean_auprec, [2.0])
    other = measures.reorder_models(("m2", "m0", "m1")).reweight(sa.UniformPrior(0.3, 0.4))
    again = sa.evaluate(frame, at_priors=PRIORS, deployment_prior=(0.3, 0.4))
    again = again.reorder_models(("m2", "m0", "m1"))
    pd.testing.assert_frame_equal(other.iauprec, again.iauprec)
    assert other.deployment_prior == sa.UniformPrior(0.3, 0.4)


@quiet
def test_the_design_is_looked_up_or_stated_and_a_ratio_goes_with_a_frame():
    measures = sa.evaluate(random_frame(8, n_folds=3), design=sa.FoldDesign("repeated_holdout", 0.2))
    alone = replace(measures, scores=None)
    assert (measures.design.kind, alone.design.kind) == ("repeated_holdout",) * 2
    assert measures.support == alone.support
    assert measures.halvings is None
    assert alone.halvings is None
    assert measures.design is measures.reorder_models(["m2", "m1", "m0"]).design
    measures = sa.evaluate(random_frame(9), design=sa.FoldDesign("repeated_holdout", 0.2))
    frame = measures.iauprec
    assert resolve_ratio(frame, "iauprec", None) == (frame, 0.0)
    assert resolve_ratio(frame, "iauprec", 0.5, needed="this") == (frame, 0.5)
    assert resolve_ratio(measures, "auprec", None) == (measures.auprec, 0.0)
    found, ratio = resolve_ratio(measures, "iauprec", None, needed="this")
    assert found is frame
    assert ratio == pytest.approx(0.25)
    with pytest.raises(sa.InputError, match=r"^this depends on how the folds were made"):
        resolve_ratio(frame, "iauprec", None, needed="this")
    expect_error(r"^`ratio` is for frames, as an Evaluation has", resolve_ratio, measures, "iauprec", 0.25)


@quiet
def test_differences_between_halves_by_plain_loops():
    frame = halved_frame(n_cases=36, n_folds=2, n_halvings=3)
    measures = sa.evaluate(frame, at_priors=(0.5,), deployment_prior=(0.1, 0.3))
    measures = measures.reorder_models(("C", "A", "B"))
    halves = frame[frame["part"] != "holdout"].groupby(["halving", "model", "part"])

    def expected(area):
        mean = halves.apply(
            lambda rows: np.mean([area(one["y_true"], one["y_score"]) for _, one in rows.groupby("fold")])
        ).unstack("part")
        return ((mean["half_a"] - mean["half_b"]) / 2).unstack("model")[["C", "A", "B"]].to_numpy()

    by_target = expected(lambda y, score: sa.iauprec_score(y, score, deployment_prior=(0.1, 0.3)))
    np.testing.assert_allclose(measures.iauprec_half_differences, by_target, atol=1e-12)
    at_prior = expected(lambda y, score: sa.auprec_score(y, score, prior=0.2))
    np.testing.assert_allclose(measures.auprec_half_differences([0.2])[..., 0], at_prior, atol=1e-12)
    turned = half_differences(measures, ["A", "B", "C"], needed="this")
    np.testing.assert_array_equal(turned, measures.iauprec_half_differences[:, [1, 2, 0]])
    stated = sa.evaluate(frame, at_priors=(0.5,), design=sa.FoldDesign("repeated_holdout", 1 / 3))
    for source in (stated, measures.iauprec):
        assert half_differences(source, ["A", "B", "C"]) is None
        with pytest.raises(sa.InputError, match=r"^this needs halvings of the data set"):
            half_differences(source, ["A", "B", "C"], needed="this")
    assert stated.halvings is None
    assert stated.auprec_half_differences([0.2]) is None


OPTIONS = {
    "at_priors": (0.5, 0.2, 0.01), "deployment_prior": sa.UniformSkew(4, 19), "area_estimator": "exact",
}  # fmt: skip


def test_one_group_at_a_time():
    rows = {"y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, np.nan, 0.8]}
    message = "`y_score` must not hold NaN or blanks, but has 1, the first at row 2 of model 'A' in fold 1"
    with pytest.raises(sa.InputError, match=f"^{re.escape(message)};"):
        sa.evaluation.measure_group(pd.DataFrame({"model": "A", "fold": 1, **rows}))
    two = pd.DataFrame({"model": ["A", "A", "B", "B"], "fold": 1, "y_true": [0, 1, 0, 1], "y_score": 0.5})
    for frame, told in (
        (two, "`frame` must hold one model in one fold, but holds 2 groups; measure them all by"),
        (two.drop(columns="y_true"),
         "`frame` must have the column 'y_true', .*; correct the name, or rename the column$"),
        (two[:0], "the score table must hold at least one row")
    ):  # fmt: skip
        expect_error(f"^{told}", sa.evaluation.measure_group, frame)
    with pytest.raises(sa.InputTypeError, match=r"^`frame` must be a pandas DataFrame, but got dict$"):
        sa.evaluation.measure_group(rows)
    rows = pd.DataFrame({"model": "A", "y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, 0.3, 0.8]})
    assert len(sa.evaluation.measure_group(rows, at_priors=0.5)) == 1
    measured = sa.evaluation.measure_group(rows, **OPTIONS)
    pd.testing.assert_frame_equal(measured, sa.evaluation.measure_group(rows.assign(fold=1), **OPTIONS))
    assert set(measured["fold"]) == {"1"}


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_a_grouped_map_of_any_engine():
    """What Spark's applyInPandas does: the function on every group, its results stacked."""
    frame = sa.load_satellite_scores().select_folds([1, 2]).frame.sample(frac=1, random_state=0)
    small = frame.astype({"model": str, "fold": str})
    grouped = small.groupby(["model", "fold"])
    long = pd.concat([sa.evaluation.measure_group(rows, **OPTIONS) for _, rows in grouped], ignore_index=True)
    here = sa.evaluate(small, **OPTIONS)
    frames = (frame.astype({"model": str}) for frame in (here.auprec, here.iauprec))
    auprec, iauprec = (frame.sort_values(["model", "fold"], kind="stable") for frame in frames)
    assert long["auprec"].tolist() == auprec["auprec"].tolist()
    assert long["iauprec"][::3].tolist() == iauprec["iauprec"].tolist()
    assert {str(kind) for kind in long.dtypes[2:]} == {"float64", "int64"}
