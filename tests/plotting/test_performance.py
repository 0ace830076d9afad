"""Curves, areas, leads, regret and residuals: every number drawn is one of the frame."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from messages import expect_error
from plot_checks import (
    NAMES,
    PRIORS,
    assert_fits,
    assert_line,
    bands,
    fold_frame,
    legend_texts,
    make_result,
    mean_of,
)

import skewanova as sa
import skewanova.plotting as sp
from skewanova.base.checks import InputError, InputTypeError
from skewanova.plotting.styling import PlainLogLocator, format_plain, model_markers


def test_auprec_lines_have_a_plain_log_axis_and_the_marker_of_their_model(result):
    ax = sp.plot_auprec(result)
    for model, line in zip(NAMES, ax.lines, strict=True):
        assert_line(line, mean_of(result.auprec_by_prior, model, "prior", "auprec"))
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels() if 0.005 <= float(t.get_text()) <= 0.5]
    assert shown == ["0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]
    assert ax.get_xlim() == pytest.approx((0.005, 0.5))
    assert ax.get_xlabel() == "Prior (probability of the positive class)"
    assert isinstance(ax.xaxis.get_major_locator(), PlainLogLocator)
    names = tuple(f"m{i}" for i in range(11))
    ax = sp.plot_auprec(make_result(names, 2))
    expected = list(model_markers(names).values())
    assert [line.get_marker() for line in ax.lines] == expected
    assert [line.get_marker() for line in ax.get_legend().get_lines()[:11]] == expected
    assert len({line.get_markevery()[0] for line in ax.lines}) == 11  # markers start apart
    frame = result.auprec_by_prior
    ax = sp.plot_auprec(frame[frame["prior"] == PRIORS[0]])  # of lines of one point too
    ax.figure.canvas.draw()
    assert [line.get_marker() for line in ax.lines] == list(model_markers(NAMES).values())
    assert [line.get_markevery() for line in ax.lines] == [None] * 3


@each(("errorbar", "label"), [
    (("sd", 2), ["band: ±2 standard\ndeviations over folds"]), (("pi", 80), ["band: middle 80 % of folds"]),
    (None, []),
])  # fmt: skip
def test_band_says_what_it_is(result, errorbar, label):
    ax = sp.plot_auprec(result, errorbar=errorbar)
    assert (legend_texts(ax), len(bands(ax))) == ([*NAMES, *label], 3 * len(label))
    assert ax.get_legend().get_title().get_text() == "mean over folds"


@each("plot", [sp.plot_auprec, sp.plot_regions, sp.plot_regret])
def test_deployment_prior_is_shaded(result, plot):
    named = SimpleNamespace(**vars(result), settings={"deployment_limits": (0.05, 0.2)})
    for source, limits, words in ((named, None, "0.05 to 0.2"), (named, (0.1, 0.3), "0.1 to 0.3")):
        ax = plot(source, deployment_prior=limits)
        shade = ax.patches[0]
        box = shade.get_path().get_extents(shade.get_transform() - ax.transData)
        assert (box.x0, box.x1) == pytest.approx(limits or (0.05, 0.2))
        assert f"deployment prior\n{words}" in legend_texts(ax)
    assert "deployment prior\n0.1" in legend_texts(plot(result, deployment_prior=(0.1, 0.1)))


@each(("limits", "message"), [
    ((0.2, 0.05), "a prior range must be given as"),
    ((0.2, 4), "`deployment_prior` must lie strictly between 0 and 1"),
    ((0.1, 0.2, 0.3), r"`deployment_prior` must be a pair \(low, high\), one prior, or"),
    ("0.1", r"`deployment_prior` must be a pair \(low, high\), one prior, or"),
])  # fmt: skip
def test_deployment_prior_is_checked(result, limits, message):
    for plot in (sp.plot_auprec, sp.plot_regret):
        with pytest.raises((InputError, InputTypeError), match=message):
            plot(result, deployment_prior=limits)
    assert plt.get_fignums() == []
    for prior, text in ((0.1, "0.1"), (sa.UniformPrior(0.1, 0.2), "0.1 to 0.2")):
        ax = sp.plot_auprec(result, deployment_prior=prior, ax=Figure().subplots())
        assert f"deployment prior\n{text}" in legend_texts(ax)


def test_legend_stands_beside_where_the_layout_makes_room(result):
    beside = sp.plot_auprec(result, ax=Figure(layout="constrained").subplots())
    within = sp.plot_auprec(result, ax=Figure().subplots())
    for ax in (beside, within):
        ax.figure.canvas.draw()
    edge = beside.get_window_extent().x1
    assert beside.get_legend().get_window_extent().x0 > edge
    assert within.get_legend().get_window_extent().x1 < within.get_window_extent().x1


def test_iauprec_draws_every_fold_at_one_height_and_the_ranking(result):
    ax = sp.plot_iauprec(result)
    folds, intervals, means = ax.lines[:3], ax.lines[3::2], ax.lines[4::2]
    palette = sp.model_palette(NAMES)
    for i, row in enumerate(result.ranking.itertuples()):
        own = result.iauprec[result.iauprec["model"] == row.model]
        np.testing.assert_array_equal(folds[i].get_xdata(), own["iauprec"])
        assert np.abs(np.asarray(folds[i].get_ydata()) - i).max() < 0.5
        np.testing.assert_array_equal(intervals[i].get_xydata(), [(row.conf_low, i), (row.conf_high, i)])
        np.testing.assert_array_equal(means[i].get_xydata(), [(row.iauprec, i)])
        assert {line.get_color() for line in (folds[i], intervals[i], means[i])} == {palette[row.model]}
    assert [label.get_text() for label in ax.get_yticklabels()] == list(NAMES)
    assert [text.get_text() for text in ax.texts] == ["a", "ab", "ab"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    ax = sp.plot_iauprec(result.iauprec)
    rows = [np.asarray(line.get_ydata()) - i for i, line in enumerate(ax.lines)]
    np.testing.assert_allclose(rows, np.broadcast_to(rows[0], (3, 4)), atol=1e-12)
    assert legend_texts(ax) == ["one fold"]
    for first in (result, result.iauprec):
        assert len(sp.plot_iauprec(first, result.ranking.iloc[:1]).lines) == 5
    ax = sp.plot_iauprec(result, result.ranking.assign(group=None, conf_low=np.nan, conf_high=np.nan))
    ax.figure.canvas.draw()
    assert list(ax.texts) == []
    assert not any("letter" in text for text in legend_texts(ax))


def test_regions_are_a_strip_with_bands_and_changes_of_the_lead(result):
    ax = sp.plot_regions(result)
    strip = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    ends = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in strip]
    assert ends == [(0.005, 0.05), (0.05, 0.5)]
    palette = sp.model_palette(NAMES)
    assert [patch.get_facecolor() for patch in strip] == [to_rgba(palette["C"]), to_rgba(palette["A"])]
    for model, line in zip(NAMES, ax.lines, strict=True):
        assert_line(line, mean_of(result.auprec_by_prior, model, "prior", "auprec"))
        floor = ax.transData.inverted().transform(ax.transAxes.transform((0, 0.05)))[1]
        assert min(line.get_ydata()) > floor
    assert legend_texts(ax) == [*NAMES, "strip: leading model"]
    assert len(sp.plot_regions(result.auprec_by_prior, result.regions.iloc[:1]).patches) == 1
    full = decided(result)
    ax = sp.plot_regions(full)
    for model, band in zip(NAMES, bands(ax), strict=True):
        rows = full.by_prior[full.by_prior["model"] == model]
        path = band.get_paths()[0].vertices
        assert path[:, 1].min() == pytest.approx(rows["conf_low"].min())
        assert path[:, 1].max() == pytest.approx(rows["conf_high"].max())
    interval, low, high, point = ax.lines[len(NAMES) :]  # one change of the lead, and not the other crossing
    assert interval.get_xdata()[0] == 0.03
    assert 0.45 < interval.get_xdata()[1] < 0.5  # its arrow stands inside of the axes
    assert (low.get_marker(), high.get_marker(), list(point.get_xdata())) == ("|", ">", [0.05])
    curve = full.auprec_by_prior.query("model == 'A'").groupby("prior")["auprec"].mean()
    expected = np.interp(np.log(0.05), np.log(curve.index), curve)
    assert point.get_ydata()[0] == pytest.approx(expected)
    assert {"simultaneous\nband", "change of the lead,\nwith interval"} <= set(legend_texts(ax))


def test_second_frames_are_checked(result):
    areas, folds = result.auprec_by_prior, result.iauprec
    leads, ranking = result.regions, result.ranking
    of_first = "must name models of the first frame, C, A, B; but got 'Z'"
    for plot, frame, second, message in (
        (sp.plot_regions, areas, None, "needs `regions` where its first argument is a frame"),
        (sp.plot_regions, areas, leads.assign(model="Z"), f"`regions` {of_first}"),
        (sp.plot_regions, areas, leads.drop(columns="prior_low"),
         "`regions` needs .* lacks prior_low; give it"),
        (sp.plot_iauprec, folds, ranking.assign(model="Z"), f"`ranking` {of_first}"),
        (sp.plot_iauprec, folds, ranking.drop(columns="group"), "`ranking` needs .* lacks group; give it")
    ):  # fmt: skip
        expect_error(message, plot, frame, second)
    assert plt.get_fignums() == []


def decided(result):
    """The result with what decisions add to it."""
    support = pd.DataFrame({"prior": PRIORS, "supported": PRIORS > 0.01})
    means = result.auprec_by_prior.groupby(["model", "prior"], sort=False)["auprec"].mean().reset_index()
    limits = means.assign(conf_low=means["auprec"] - 0.05, conf_high=means["auprec"] + 0.05)
    change = {"prior": 0.05, "conf_low": 0.03, "conf_high": 0.5, "model_below": "C", "model_above": "A"}
    flags = {"lead": True, "open_low": False, "open_high": True}
    crossings = pd.DataFrame([change | flags, change | flags | {"lead": False, "prior": 0.2}])
    band = {"estimate": 0.0, "conf_low": -0.1, "conf_high": 0.1, "reject": False}
    curves = pd.DataFrame({"model_a": "C", "model_b": "A", "prior": PRIORS, **band})
    added = {"support": support, "by_prior": limits, "crossings": crossings, "difference_curves": curves}
    return SimpleNamespace(**{**vars(result), **added})


def hatched(ax):
    return [patch for patch in ax.patches if patch.get_hatch()]


@pytest.mark.parametrize("plot", [sp.plot_auprec, sp.plot_regions, sp.plot_difference_curves])
def test_unsupported_priors_are_hatched(result, plot):
    full = decided(result)
    ax = plot(full)
    (patch,) = hatched(ax)
    drawn = patch.get_extents().transformed(ax.transData.inverted())
    assert (drawn.x0, drawn.x1) == pytest.approx((PRIORS[0], PRIORS[PRIORS > 0.01].min()))
    assert "too few negatives\nto tell" in legend_texts(ax)
    support, full.support = full.support, full.support.assign(supported=True)
    assert not hatched(plot(full))
    assert len(hatched(plot(full, support=support))) == 1
    ax = plot(full, support=support.assign(supported=False))
    assert hatched(ax)[0].get_extents().transformed(ax.transData.inverted()).x1 == pytest.approx(PRIORS.max())
    with pytest.raises(InputError, match="`support` needs the columns prior, supported, but the frame lacks"):
        plot(full, support=support.drop(columns="supported"))


def test_interaction_draws_means_and_intervals_that_may_be_unknown(result):
    frame = result.auprec_intervals
    ax = sp.plot_interaction(frame)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(map(format_plain, PRIORS))
    shifts = []
    for i, model in enumerate(NAMES):
        rows = frame[frame["model"] == model].sort_values("prior")
        np.testing.assert_array_equal(ax.lines[i].get_ydata(), rows["auprec"])
        x = ax.lines[i].get_xdata()
        np.testing.assert_array_equal(x, range(6))  # lines cross where their means do
        bars = np.array(ax.collections[i].get_segments())
        np.testing.assert_allclose(bars[:, :, 1], rows[["conf_low", "conf_high"]].clip(0, 1))
        np.testing.assert_array_equal(bars[:, 0, 0], x)
        drawn = ax.collections[i].get_transform().transform(bars[:, 0])
        shifts.append((drawn - ax.transData.transform(bars[:, 0]))[0, 0])
    assert np.diff(shifts).min() > 2  # intervals stand side by side
    assert sum(shifts) == pytest.approx(0, abs=1e-9)
    frame = result.auprec_intervals
    unknown = sp.plot_interaction(frame.assign(conf_low=np.nan))
    assert [len(bars.get_segments()) for bars in unknown.collections] == [0, 0, 0]
    assert len(unknown.lines[0].get_xdata()) == len(PRIORS)
    assert len(sp.plot_interaction(frame[frame["prior"] == PRIORS[0]]).get_xticks()) == 1
    many = pd.concat([frame[frame["prior"] == PRIORS[0]].assign(prior=p) for p in np.linspace(0.01, 0.6, 25)])
    assert len(sp.plot_interaction(many).get_xticks()) == 9


def test_regret_roc_and_skew_lines_are_their_frames(result):
    frame = result.regret
    ax = sp.plot_regret(frame)
    for line, model in zip(ax.lines, NAMES, strict=False):
        rows = frame[frame["model"] == model].sort_values("prior")
        np.testing.assert_allclose(line.get_xydata(), rows[["prior", "regret"]])
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] < 0 < ax.get_ylim()[1]
    assert len(ax.patches) == 0
    assert_fits(sp.plot_regret(frame.assign(regret=0.0)).figure)
    ax = sp.plot_roc(result)
    for model, line in zip(NAMES, ax.lines, strict=False):
        assert_line(line, mean_of(result.roc, model, "fpr", "tpr"))
    assert len(ax.lines) == 4  # three models and the diagonal
    assert (ax.lines[3].get_xy1(), ax.lines[3].get_slope()) == ((0, 0), 1)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("False positive rate", "True positive rate")
    assert ax.get_aspect() == 1
    ax = sp.plot_skew(result)
    pairs = [(model, measure) for model in NAMES for measure in ("accuracy", "precision")]
    for line, (model, measure) in zip(ax.lines, pairs, strict=True):
        assert_line(line, mean_of(result.skew, model, "skew", measure))
        assert line.get_linestyle() == {"accuracy": "-", "precision": "--"}[measure]
    assert (ax.get_xscale(), legend_texts(ax)[3:5]) == ("log", ["accuracy", "precision"])


@pytest.fixture(scope="module")
def anova():
    return sa.inference.two_way_anova(fold_frame(NAMES))


def points(ax):
    """Points of each model."""
    drawn = [line for line in ax.lines if line.get_marker() != "None"]
    return {model: line.get_xydata() for model, line in zip(NAMES, drawn, strict=True)}


def test_residuals_and_their_quantiles_are_the_frames(anova):
    frame = anova.residuals()
    ax = sp.plot_residuals(anova, kind="fold")
    fitted, drawn = points(sp.plot_residuals(anova)), points(ax)
    for model, rows in frame.groupby("model"):
        np.testing.assert_array_equal(fitted[model], rows[["fitted", "residual"]])
        np.testing.assert_array_equal(drawn[model][:, 1], rows["residual"])
        assert np.round(drawn[model][:, 0]).tolist() == [fold - 1 for fold in rows["fold"]]
    assert len({round(float(xy[0, 0]), 9) for xy in drawn.values()}) == 3
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(fold) for fold in range(1, 7)]
    many = sp.plot_residuals(sa.inference.two_way_anova(fold_frame(NAMES, 20)), kind="fold")
    assert_fits(many.figure)
    assert 2 < len(many.get_xticklabels()) <= 14
    frame = sa.inference.residual_quantiles(anova)
    ax = sp.plot_residuals(anova, kind="qq")
    for model, drawn in points(ax).items():
        np.testing.assert_array_equal(drawn, frame[frame["model"] == model][["theoretical", "standardized"]])
    wide, narrow = bands(ax)
    for band, name in ((wide, "simultaneous"), (narrow, "pointwise")):
        edge = band.get_paths()[0].vertices
        assert set(frame[f"{name}_low"]) | set(frame[f"{name}_high"]) <= set(edge[:, 1])
    assert legend_texts(ax)[3:] == ["95 % envelope,\nsimultaneous", "95 % envelope,\npointwise"]


def test_degrees_of_freedom_and_residuals_that_cannot_be_drawn(anova):
    with pytest.raises(InputError, match="`kind` must be one of fitted, fold, qq; but got 'pie'"):
        sp.plot_residuals(anova, kind="pie")
    with pytest.raises(InputError, match="the residuals must vary"):
        sp.plot_residuals(anova.residuals().assign(residual=0.0), kind="qq")
    assert plt.get_fignums() == []
    parts = [fold_frame(NAMES, seed=seed).rename(columns={"iauprec": "auprec"}) for seed in (1, 2)]
    frame = parts[0].assign(prior=0.5).merge(parts[1].assign(prior=0.1), how="outer")
    result = sa.inference.three_way_anova(frame, interaction=True)
    drawn = np.vstack(list(points(sp.plot_residuals(result, kind="qq")).values()))
    assert (drawn[:, 1] ** 2).sum() == pytest.approx(result.row("residual")["df"])
    one = sp.plot_auprec(make_result(folds=1))
    wide = sp.plot_roc(make_result(tuple(f"m{i}" for i in range(10)), 2))
    assert bands(one) == bands(wide) == []
    assert (one.get_legend().get_title().get_text(), legend_texts(one)) == ("", list(NAMES))
    assert not any("band" in text for text in legend_texts(wide))


@each("plot", [sp.plot_roc, sp.plot_precision_recall, sp.plot_auprec, sp.plot_skew])
@each(
    "errorbar", [("ci", 95), "sd", 0.95, (), ("sd", "x"), ("sd", -1), ("pi", 200), (["sd"], 1), ("pi", None)]
)
def test_unknown_bands_are_refused(plot, errorbar, result):
    with expect_error(r"`errorbar` must be \('sd', MULTIPLE ab.* but got " + re.escape(f"{errorbar!r}")):
        plot(result, errorbar=errorbar)
    assert plt.get_fignums() == []


def test_precision_recall_at_several_priors_and_at_one(result):
    ax = sp.plot_precision_recall(result)
    assert len(ax.lines) == 6
    frame = result.precision_recall
    for line, (model, prior) in zip(ax.lines, [(m, p) for m in NAMES for p in (0.5, 0.1)], strict=True):
        assert_line(line, mean_of(frame[frame["prior"] == prior], model, "recall", "precision"))
        assert line.get_linestyle() == {0.5: "-", 0.1: "--"}[prior]
    assert legend_texts(ax)[3:5] == ["prior 0.5", "prior 0.1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Precision")
    ax = sp.plot_precision_recall(result, prior=0.1)
    frame = result.precision_recall
    assert_line(ax.lines[0], mean_of(frame[frame["prior"] == 0.1], "C", "recall", "precision"))
    assert (len(ax.lines), ax.get_title(loc="left")) == (3, "Precision-recall curves at prior 0.1")
    assert not any(text.startswith("prior") for text in legend_texts(ax))
    with pytest.raises(InputError, match=r"in the frame, 0\.5, 0\.1, .*=\[0\.5, 0\.1, 0\.2\]"):
        sp.plot_precision_recall(result, prior=0.2)


def test_contours_and_surface_of_the_grid(result):
    ax = sp.plot_surface(result)
    assert (ax.get_title(loc="left"), ax.get_yscale()) == ("P-ROC surface of C", "log")
    assert ax.get_ylim() == pytest.approx((PRIORS[0], PRIORS[-1]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Prior (probability of the positive class)")
    assert ax.figure.axes[1].get_ylabel() == "Precision"
    np.testing.assert_allclose(ax.collections[0].get_clim(), (0, 1), atol=0.06)
    ax = sp.plot_surface(result.surface.assign(precision=1 + 1e-12))
    assert sum(len(path.vertices) for path in ax.collections[0].get_paths()) > 0
    ax = sp.plot_surface(result, model="B", kind="3d")
    assert (ax.name, ax.get_title(loc="left")) == ("3d", "P-ROC surface of B")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    np.testing.assert_allclose(10 ** np.asarray(ax.get_yticks()), [float(label) for label in labels])
    assert {"0.01", "0.1"} <= set(labels)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("Recall", "Prior", "Precision")


def test_surfaces_that_cannot_be_drawn_are_refused(result):
    flat, deep = Figure().subplots(), Figure().add_subplot(projection="3d")
    assert sp.plot_surface(result, kind="3d", ax=deep) is deep
    grid = result.surface
    for plot, message in (
        (lambda: sp.plot_surface(result, kind="3d", ax=flat), r"of plt.subplot\(projection='3d'\) .* rect"),
        (lambda: sp.plot_surface(result, kind="3d", ax=flat.figure), r"as of plt.subplot\(proj.* got Figure"),
        (lambda: sp.plot_roc(result, ax=deep), r"`ax` must be Axes of plt.subplots\(\)\[1\] .* but is 3d"),
        (lambda: sp.plot_auprec(result, ax=Figure().add_subplot(projection="polar")), "but is polar$"),
        (lambda: sp.plot_surface(result, model="Z"), "`model` must be one of C, A, B; but got 'Z'"),
        (lambda: sp.plot_surface(result, kind="pie"), "`kind` must be one of contour, 3d; but got 'pie'"),
        (lambda: sp.plot_surface(pd.concat([grid, grid])),
         "one row for each prior and recall, but 'C' has more; give it skewanova.compare"),
        (lambda: sp.plot_surface(grid[grid["prior"] == PRIORS[0]]),
         r"at least 2 priors and .* give it skewanova.compare\(scores, at_priors=\(0.5, 0.1\)\)$")
    ):  # fmt: skip
        expect_error(message, plot, error=(InputError, InputTypeError))
