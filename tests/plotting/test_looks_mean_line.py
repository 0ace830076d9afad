"""The mean line with its band, against seaborn's, which it stands for; names of frames as text."""

import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from loops import each
from matplotlib.figure import Figure

from skewanova.plotting.looks import find_frame, mean_line
from skewanova.plotting.performance import plot_regions


def rows(n_folds=5):
    rng = np.random.default_rng(0)
    x = np.tile([0.3, 0.1, 0.2], n_folds)
    return pd.DataFrame({"fpr": x, "tpr": rng.random(len(x))})


@each("errorbar", [("sd", 1), ("sd", 2.5), ("pi", 80), None])
@each("n_folds", [5, 2])
def test_mean_and_band_are_those_of_seaborn(errorbar, n_folds):
    frame = rows(n_folds)
    frame.loc[1, "tpr"] = np.nan
    axes = Figure().subplots(1, 2)
    look = {"color": "C2", "marker": "s", "markersize": 6, "markeredgewidth": 0.5, "linestyle": "--"}
    mean_line(axes[0], frame, ("fpr", "tpr"), errorbar=errorbar, opacity=0.1, **look)
    sns.lineplot(
        frame,
        x="fpr",
        y="tpr",
        ax=axes[1],
        legend=False,
        err_kws={"alpha": 0.1, "linewidth": 0},
        errorbar=errorbar,
        **look,
    )
    (line,), (known,) = (ax.get_lines() for ax in axes)
    np.testing.assert_allclose(line.get_xydata(), known.get_xydata(), rtol=1e-12)
    for name in ("color", "marker", "markeredgecolor", "markeredgewidth", "linestyle", "linewidth"):
        assert getattr(line, f"get_{name}")() in (getattr(known, f"get_{name}")(), "white"), name
    assert len(axes[0].collections) == len(axes[1].collections) == (errorbar is not None)
    for band, other in zip(axes[0].collections, axes[1].collections, strict=True):
        expected = other.get_paths()[0].vertices.copy()
        expected[:, 1] = np.clip(expected[:, 1], 0, 1)  # no rate lies beyond
        np.testing.assert_allclose(band.get_paths()[0].vertices, expected, rtol=1e-12)
        np.testing.assert_array_equal(band.get_facecolor(), other.get_facecolor())


def test_a_single_point_is_its_marker():
    ax = Figure().subplots()
    mean_line(ax, pd.DataFrame({"fpr": 0.5, "tpr": [0.2, 0.4]}), ("fpr", "tpr"), errorbar=None, markevery=0.3)
    (line,) = ax.get_lines()
    assert line.get_markevery() is None
    assert line.get_xydata().tolist() == [[0.5, pytest.approx(0.3)]]


def test_names_become_text_in_their_order():
    frame = pd.DataFrame({"model": [2, "1", 2, 3, 1], "fold": 0})
    found = find_frame(frame, "x", "model fold", "plot")["model"]
    assert found.tolist() == ["2", "1", "2", "3", "1"]
    assert found.unique().tolist() == ["2", "1", "3"]
    assert frame["model"].tolist() == [2, "1", 2, 3, 1]


class WithoutBands:
    """Leading models of a result whose bands nobody may ask for."""

    def __init__(self, n_models):
        models = [f"m{i}" for i in range(n_models)]
        self.auprec_by_prior = pd.DataFrame({"model": models, "fold": 0, "prior": 0.1, "auprec": 0.5})
        self.regions = pd.DataFrame({"model": models[:1], "prior_low": 0.01, "prior_high": 0.1})

    @property
    def by_prior(self):
        raise RuntimeError("bands are wanted")


def test_bands_that_are_not_drawn_are_not_computed():
    plot_regions(WithoutBands(10), ax=Figure().subplots())
    with pytest.raises(RuntimeError, match="bands are wanted"):
        plot_regions(WithoutBands(9), ax=Figure().subplots())
