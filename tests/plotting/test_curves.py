"""ROC, precision-recall, surface and skew: every number drawn is one of the frame."""

import re

import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from plot_checks import NAMES, PRIORS, assert_line, bands, legend_texts, make_result, mean_of

import skewanova.plotting as sp
from skewanova.base.checks import InputError


def test_roc_lines_are_means_over_folds(result):
    ax = sp.plot_roc(result)
    for model, line in zip(NAMES, ax.lines, strict=False):
        assert_line(line, mean_of(result.roc, model, "fpr", "tpr"))
    assert len(ax.lines) == 4  # three models and the diagonal
    assert (ax.lines[3].get_xy1(), ax.lines[3].get_slope()) == ((0, 0), 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("False positive rate", "True positive rate")
    assert ax.get_aspect() == 1


def test_one_fold_or_more_than_nine_lines_have_no_bands():
    one = sp.plot_auprec(make_result(folds=1))
    wide = sp.plot_roc(make_result(tuple(f"m{i}" for i in range(10)), 2))
    assert bands(one) == bands(wide) == []
    assert one.get_legend().get_title().get_text() == ""
    assert legend_texts(one) == list(NAMES)
    assert not any("band" in text for text in legend_texts(wide))


@each("plot", [sp.plot_roc, sp.plot_precision_recall, sp.plot_auprec, sp.plot_skew])
@each("errorbar", [("ci", 95), "sd", 0.95, ()])
def test_unknown_bands_are_refused(plot, errorbar, result):
    with pytest.raises(
        InputError, match=r"`errorbar` must be \('sd', multiple\), .* but got " + re.escape(f"{errorbar!r}")
    ):
        plot(result, errorbar=errorbar)
    assert plt.get_fignums() == []


def test_precision_recall_draws_one_line_a_model_and_prior(result):
    ax = sp.plot_precision_recall(result)
    assert len(ax.lines) == 6
    frame = result.precision_recall
    for line, (model, prior) in zip(ax.lines, [(m, p) for m in NAMES for p in (0.5, 0.1)], strict=True):
        assert_line(line, mean_of(frame[frame["prior"] == prior], model, "recall", "precision"))
        assert line.get_linestyle() == {0.5: "-", 0.1: "--"}[prior]
    assert legend_texts(ax)[3:5] == ["prior 0.5", "prior 0.1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Precision")


def test_precision_recall_at_one_prior(result):
    ax = sp.plot_precision_recall(result, prior=0.1)
    frame = result.precision_recall
    assert_line(ax.lines[0], mean_of(frame[frame["prior"] == 0.1], "C", "recall", "precision"))
    assert len(ax.lines) == 3
    assert ax.get_title(loc="left") == "Precision-recall curves at prior 0.1"
    assert not any(text.startswith("prior") for text in legend_texts(ax))
    with pytest.raises(InputError, match=r"`prior` must be one of the priors in the frame, 0\.5, 0\.1"):
        sp.plot_precision_recall(result, prior=0.2)


def test_skew_draws_accuracy_solid_and_precision_dashed(result):
    ax = sp.plot_skew(result)
    pairs = [(model, measure) for model in NAMES for measure in ("accuracy", "precision")]
    for line, (model, measure) in zip(ax.lines, pairs, strict=True):
        assert_line(line, mean_of(result.skew, model, "skew", measure))
        assert line.get_linestyle() == {"accuracy": "-", "precision": "--"}[measure]
    assert ax.get_xscale() == "log"
    assert legend_texts(ax)[3:5] == ["accuracy", "precision"]


def test_contours_span_the_grid(result):
    ax = sp.plot_surface(result)
    assert ax.get_title(loc="left") == "P-ROC surface of C"
    assert ax.get_yscale() == "log"
    assert ax.get_ylim() == pytest.approx((PRIORS[0], PRIORS[-1]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Prior (probability of the positive class)")
    assert ax.figure.axes[1].get_ylabel() == "Precision"
    np.testing.assert_allclose(ax.collections[0].get_clim(), (0, 1), atol=0.06)


def test_contours_stay_filled_where_rounding_exceeds_one(result):
    over = result.surface.assign(precision=1 + 1e-12)
    ax = sp.plot_surface(over)
    assert sum(len(path.vertices) for path in ax.collections[0].get_paths()) > 0


def test_surface_in_space_has_plain_prior_ticks(result):
    ax = sp.plot_surface(result, model="B", kind="3d")
    assert ax.name == "3d"
    assert ax.get_title(loc="left") == "P-ROC surface of B"
    labels = [label.get_text() for label in ax.get_yticklabels()]
    np.testing.assert_allclose(10 ** np.asarray(ax.get_yticks()), [float(label) for label in labels])
    assert {"0.01", "0.1"} <= set(labels)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("Recall", "Prior", "Precision")


def test_surfaces_that_cannot_be_drawn_are_refused(result):
    flat, deep = Figure().subplots(), Figure().add_subplot(projection="3d")
    assert sp.plot_surface(result, kind="3d", ax=deep) is deep
    grid = result.surface
    for plot, message in (
        (
            lambda: sp.plot_surface(result, kind="3d", ax=flat),
            r"`ax` must be 3-D axes \(projection='3d'\) .* rect",
        ),
        (lambda: sp.plot_roc(result, ax=deep), "`ax` must be 2-D axes for this plot, but is 3d"),
        (lambda: sp.plot_surface(result, model="Z"), "`model` must be one of C, A, B; but got 'Z'"),
        (lambda: sp.plot_surface(result, kind="pie"), "`kind` must be one of contour, 3d; but got 'pie'"),
        (
            lambda: sp.plot_surface(pd.concat([grid, grid])),
            "one row for each prior and recall, but 'C' has more",
        ),
        (
            lambda: sp.plot_surface(grid[grid["prior"] == PRIORS[0]]),
            "at least 2 priors and 2 recalls, but got 1",
        ),
    ):
        with pytest.raises(InputError, match=message):
            plot()
