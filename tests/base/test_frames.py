"""Every result with a frame gives it to polars too, the same cell for cell."""

import sys

import numpy as np
import pandas as pd
from messages import expect_error

import skewanova as sa
from skewanova.base import text
from skewanova.base.frames import FrameResult
from studies import results as studies_results


class Given(FrameResult):
    def __init__(self, frame):
        self.frame = frame

    def to_frame(self):
        return self.frame


def test_every_class_has_a_frame_of_any_kind_or_asks_for_polars(monkeypatch):
    kinds = {sa.inference.AnovaResult, sa.Evaluation, sa.inference.OmnibusResult, sa.inference.PosthocResult}
    kinds |= {text.Table, studies_results.Study}
    assert all(issubclass(kind, FrameResult) for kind in kinds)
    frame = pd.DataFrame({
        "number": [1.5, np.nan, np.inf], "whole": [2**53 + 1, 2, 3], "truth": [True, False, True],
        "text": pd.Series(["a", None, "$"], dtype="str"),
        "level": pd.Categorical(["b", "a", None], categories=["b", "a"]), "mixed": [True, None, np.nan],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
    })  # fmt: skip
    expected = [
        *([1.5, None, np.inf], [2**53 + 1, 2, 3], [True, False, True], ["a", None, "$"]),
        *(["b", "a", None], [True, None, None], [1, None, 3]),
    ]
    found = Given(frame).to_polars()
    assert (found.columns, [found[name].to_list() for name in frame]) == (list(frame), expected)
    empty = pd.DataFrame({"a": np.zeros(0), "b": pd.Series([], dtype=object)})
    assert Given(empty).to_polars().shape == (0, 2)
    monkeypatch.setitem(sys.modules, "polars", None)
    expect_error(r"^this needs polars: pip install polars$", Given(pd.DataFrame({"a": [1]})).to_polars)
