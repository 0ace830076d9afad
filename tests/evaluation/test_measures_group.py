import re

import numpy as np
import pandas as pd
import pytest

import skewanova as sa
from skewanova.base.checks import InputError

OPTIONS = {
    "at_priors": (0.5, 0.2, 0.01), "deployment_prior": sa.UniformSkew(4, 19), "area_estimator": "exact",
}  # fmt: skip


def test_one_group_at_a_time():
    rows = {"y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, np.nan, 0.8]}
    message = "`y_score` must not hold NaN or blanks, but has 1, the first at row 2 of model 'A' in fold 1"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        sa.evaluation.measure_group(pd.DataFrame({"model": "A", "fold": 1, **rows}))
    two = pd.DataFrame({"model": ["A", "A", "B", "B"], "fold": 1, "y_true": [0, 1, 0, 1], "y_score": 0.5})
    for frame, told in (
        (two, "`frame` must hold one model in one fold, but holds 2 groups; measure them all by"),
        (
            two.drop(columns="y_true"),
            "`frame` must have the column 'y_true', .*; correct the name, or rename the column$",
        ),
        (two[:0], "the score table must hold at least one row"),
    ):
        with pytest.raises(InputError, match=f"^{told}"):
            sa.evaluation.measure_group(frame)
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
    auprec, iauprec = (
        f.astype({"model": str}).sort_values(["model", "fold"], kind="stable")
        for f in (here.auprec, here.iauprec)
    )
    assert long["auprec"].tolist() == auprec["auprec"].tolist()
    assert long["iauprec"][::3].tolist() == iauprec["iauprec"].tolist()
    assert {str(kind) for kind in long.dtypes[2:]} == {"float64", "int64"}
