import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each
from precision_twins import cell, curve_of, sized_models, twin
from scipy.integrate import quad

from skewanova import (
    BetaPrior,
    DiscretePrior,
    FoldDesign,
    UniformPrior,
    UniformSkew,
    auprec,
    auprec_score,
    evaluate,
    iauprec,
    iauprec_score,
    roc_curve,
)
from skewanova.base.checks import InputError, SkewanovaWarning
from skewanova.curves import ESTIMATORS
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


def mean_twin(points, low, high):
    return quad(lambda prior: twin(points, prior), low, high, epsabs=0, epsrel=1e-13, limit=200)[0] / (
        high - low
    )


@quiet
@each("seed", range(8))
def test_measures_equal_brute_force(seed):
    frame = random_frame(seed, levels=[2, 9, 1000][seed % 3])
    measures = evaluate(frame, at_priors=PRIORS, deployment_prior=(0.05, 0.2))
    cells = {key: curve_of(rows) for key, rows in frame.groupby(["model", "fold"])}
    assert len(measures.auprec) == len(cells) * len(PRIORS)
    for row in measures.auprec.itertuples():
        assert row.auprec == pytest.approx(twin(cells[row.model, row.fold], row.prior), rel=1e-12, abs=0)
    for row in measures.iauprec.itertuples():
        known = mean_twin(cells[row.model, row.fold], 0.05, 0.2)
        assert row.iauprec == pytest.approx(known, rel=1e-12, abs=0)
        rows = cell(frame, row.model, row.fold)
        assert (row.n_positive, row.n_negative) == (rows["y_true"].sum(), (1 - rows["y_true"]).sum())
        positive, negative = (rows.loc[rows["y_true"] == y, "y_score"].to_numpy() for y in (1, 0))
        wins = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
        assert row.auc == pytest.approx(wins, rel=1e-13)


@pytest.mark.no_cover
@quiet
@each("estimator", ESTIMATORS)
@each("weighting", [0.1, (0.1, 0.1), UniformSkew(1, 9), BetaPrior(2, 9), DiscretePrior((0.2, 0.4))])
def test_frames_hold_the_values_of_the_functions(estimator, weighting):
    frame = random_frame(3)
    measures = evaluate(frame, at_priors=PRIORS, deployment_prior=weighting, area_estimator=estimator)
    assert list(measures.auprec) == ["model", "fold", "prior", "auprec"]
    assert list(measures.iauprec) == ["model", "fold", "iauprec", "auc", "n_positive", "n_negative"]
    assert measures.to_frame() is measures.auprec
    assert (measures.models, measures.folds) == (("m0", "m1", "m2"), (1, 2))
    assert (measures.priors, measures.area_estimator) == (PRIORS, estimator)
    keys = [(m, f, p) for m in measures.models for f in measures.folds for p in PRIORS]
    assert list(measures.auprec[["model", "fold", "prior"]].itertuples(index=False, name=None)) == keys
    rows = cell(frame, "m1", 2)
    roc = roc_curve(rows["y_true"], rows["y_score"])
    areas = auprec(roc, PRIORS, area_estimator=estimator)
    assert cell(measures.auprec, "m1", 2)["auprec"].tolist() == areas.tolist()
    assert cell(measures.iauprec, "m1", 2)["iauprec"].item() == iauprec(
        roc, weighting, area_estimator=estimator
    )
    assert measures.iauprec[["n_positive", "n_negative"]].dtypes.tolist() == [np.int64, np.int64]


@each(("options", "kind", "message"), [
    ({"at_priors": (0.5, 0.1, 0.5)}, InputError, "`at_priors` must be distinct, but got 0.5, 0.1, 0.5"),
    ({"at_priors": (0.5, 4)}, InputError, "write skew 4 as prior 0.2, or 4% as 0.04"),
    ({"deployment_prior": (0.2, 0.05)}, InputError, "must be given as (low, high), but got low=0.2 > hi"),
    ({"area_estimator": "auc"}, InputError, "`area_estimator` must be one of trapezoid, exact,"),
])  # fmt: skip
def test_arguments_out_of_range(options, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        evaluate(random_frame(0), **options)


def sized(*sizes):
    """One fold for each (positives, negatives)."""
    parts = [pd.DataFrame({"fold": i, "y_true": [1] * p + [0] * n}) for i, (p, n) in enumerate(sizes)]
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(model="A", y_score=frame.index)


def test_unequal_folds_are_told_with_their_numbers():
    assert evaluate(sized((20, 100), (40, 100)), at_priors=(0.5,), deployment_prior=0.5).warnings == ()
    note = (
        "folds hold between 20 and 41 positives, more than a factor of 2: they do not estimate AUPREC "
        "equally well, yet count alike"
    )
    with pytest.warns(SkewanovaWarning, match=f"^{note}$"):
        measures = evaluate(sized((20, 100), (41, 100)), at_priors=(0.5,), deployment_prior=0.5)
    assert measures.warnings == (note,)


@quiet
def test_reordering_keeps_the_numbers():
    measures = evaluate(random_frame(5))
    other = measures.reorder_models(["m2", "m0", "m1"])
    assert other.models == ("m2", "m0", "m1")
    assert (
        list(dict.fromkeys(other.auprec["model"]))
        == list(dict.fromkeys(other.iauprec["model"]))
        == [*other.models]
    )
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
    measures = evaluate(frame, at_priors=PRIORS)
    cells = measures.auprec_by_cell(PRIORS)
    assert cells.shape == (3, 2, 3)
    for row in measures.auprec.itertuples():
        at = measures.models.index(row.model), measures.folds.index(row.fold), PRIORS.index(row.prior)
        assert cells[at] == row.auprec
    assert np.isnan(cells[1, 1]).all()
    np.testing.assert_allclose(measures.mean_auprec(PRIORS), np.nanmean(cells, axis=1), rtol=1e-14)
    assert len(measures.iauprec) == len(measures.curves) == 5
    assert len(roc(measures)) == 5 * len(RATE_GRID)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        measures.mean_auprec([2.0])
    other = measures.reorder_models(("m2", "m0", "m1")).reweight(UniformPrior(0.3, 0.4))
    again = evaluate(frame, at_priors=PRIORS, deployment_prior=(0.3, 0.4)).reorder_models(("m2", "m0", "m1"))
    pd.testing.assert_frame_equal(other.iauprec, again.iauprec)
    assert other.deployment_prior == UniformPrior(0.3, 0.4)


@quiet
def test_the_design_is_looked_up_in_the_scores_or_stated():
    measures = evaluate(random_frame(8, n_folds=3), design=FoldDesign("repeated_holdout", 0.2))
    alone = replace(measures, scores=None)
    assert (measures.design.kind, alone.design.kind) == ("repeated_holdout",) * 2
    assert measures.support == alone.support
    assert measures.halvings is None
    assert alone.halvings is None
    assert measures.design is measures.reorder_models(["m2", "m1", "m0"]).design


@quiet
def test_a_ratio_goes_with_a_frame_and_an_evaluation_has_its_own():
    measures = evaluate(random_frame(9), design=FoldDesign("repeated_holdout", 0.2))
    frame = measures.iauprec
    assert resolve_ratio(frame, "iauprec", None) == (frame, 0.0)
    assert resolve_ratio(frame, "iauprec", 0.5, needed="this") == (frame, 0.5)
    assert resolve_ratio(measures, "auprec", None) == (measures.auprec, 0.0)
    found, ratio = resolve_ratio(measures, "iauprec", None, needed="this")
    assert found is frame
    assert ratio == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"^this depends on how the folds were made"):
        resolve_ratio(frame, "iauprec", None, needed="this")
    with pytest.raises(InputError, match=r"^`ratio` is for frames, as an Evaluation has"):
        resolve_ratio(measures, "iauprec", 0.25)


@quiet
def test_differences_between_halves_by_plain_loops():
    frame = halved_frame(n_cases=36, n_folds=2, n_halvings=3)
    measures = evaluate(frame, at_priors=(0.5,), deployment_prior=(0.1, 0.3)).reorder_models(("C", "A", "B"))
    halves = frame[frame["part"] != "holdout"].groupby(["halving", "model", "part"])

    def expected(area):
        mean = halves.apply(
            lambda rows: np.mean([area(one["y_true"], one["y_score"]) for _, one in rows.groupby("fold")])
        ).unstack("part")
        return ((mean["half_a"] - mean["half_b"]) / 2).unstack("model")[["C", "A", "B"]].to_numpy()

    by_target = expected(lambda y, score: iauprec_score(y, score, deployment_prior=(0.1, 0.3)))
    np.testing.assert_allclose(measures.iauprec_half_differences, by_target, atol=1e-12)
    at_prior = expected(lambda y, score: auprec_score(y, score, prior=0.2))
    np.testing.assert_allclose(measures.auprec_half_differences([0.2])[..., 0], at_prior, atol=1e-12)
    turned = half_differences(measures, ["A", "B", "C"], needed="this")
    np.testing.assert_array_equal(turned, measures.iauprec_half_differences[:, [1, 2, 0]])
    stated = evaluate(frame, at_priors=(0.5,), design=FoldDesign("repeated_holdout", 1 / 3))
    for source in (stated, measures.iauprec):
        assert half_differences(source, ["A", "B", "C"]) is None
        with pytest.raises(InputError, match=r"^this needs halvings of the data set"):
            half_differences(source, ["A", "B", "C"], needed="this")
    assert stated.halvings is None
    assert stated.auprec_half_differences([0.2]) is None


def test_prior_grid():
    grid = prior_grid(evaluate(sized_models(), at_priors=(0.5, 0.4), deployment_prior=(0.45, 0.5)))
    assert (len(grid), grid[0], grid[-1]) == (81, 0.4, 0.5)
    assert np.diff(np.log(grid / (1 - grid))) == pytest.approx(np.log(1.5) / 80)
    odds = prior_grid(evaluate(sized_models(), at_priors=(0.4, 0.8), deployment_prior=(0.5, 0.6)), 3)
    np.testing.assert_allclose(odds / (1 - odds), [2 / 3, np.sqrt(8 / 3), 4], rtol=1e-12)
    assert prior_grid(evaluate(sized_models(), at_priors=(0.5,), deployment_prior=0.5)).tolist() == [0.5]
