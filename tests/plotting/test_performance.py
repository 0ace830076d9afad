from __future__ import annotations

import io
import re
from functools import cache
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import skewanova.plotting as sp
from skewanova.base.checks import InputError, InputTypeError
from skewanova.base.frames import distinct as in_order
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.roc import roc_curve
from skewanova.plotting.looks import PlainLogLocator, model_labels, model_markers, plain, tick_digits

mpl.use("Agg")

GRID = np.linspace(0, 1, 9)
PRIORS = np.geomspace(0.005, 0.5, 6)
NAMES = ("C", "A", "B")
HOSTILE = (
    "<script>alert(1)</script>",
    "a_b%$",
    "$x$",
    "_hidden",
    "../x",
    "C(x)",
    "a very long name of a random forest with max_depth=10",
    "a very long name of a random forest with max_depth=20",
    "new\nline",
    "new line",
    " ",
    "",
    "\x1b[31mred\u202e",
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def precision_at(tpr, fpr, prior):
    skew = (1 - prior) / prior
    return np.divide(tpr, tpr + skew * fpr, out=np.ones_like(tpr), where=tpr + skew * fpr > 0)


def one_fold(model, fold, roc):
    key = {"model": model, "fold": fold}
    fpr_at = np.interp(GRID, roc.tpr, roc.fpr)
    curves = [
        {**key, "prior": p, "recall": GRID, "precision": precision_at(GRID, fpr_at, p)} for p in (0.5, 0.1)
    ]
    tpr, fpr = np.full(len(PRIORS), 0.8), np.full(len(PRIORS), 0.1 + 0.01 * fold)
    rates = {"tpr": tpr, "fpr": fpr, "precision": precision_at(tpr, fpr, PRIORS)}
    accuracy = PRIORS * tpr + (1 - PRIORS) * (1 - fpr)
    return {
        "roc": pd.DataFrame({**key, "fpr": GRID, "tpr": np.interp(GRID, roc.fpr, roc.tpr)}),
        "precision_recall": pd.concat([pd.DataFrame(curve) for curve in curves]),
        "auprec_by_prior": pd.DataFrame({**key, "prior": PRIORS, "auprec": auprec(roc, PRIORS)}),
        "iauprec": pd.DataFrame({**key, "iauprec": iauprec(roc, (0.05, 0.2))}, index=[0]),
        "skew": pd.DataFrame({**key, "prior": PRIORS, "skew": 1 / PRIORS - 1, **rates, "accuracy": accuracy}),
    }


def difference(a, b, estimate, **other):
    row = {
        "test": "tukey",
        "role": "primary",
        "response": "iauprec",
        "prior": np.nan,
        "model_a": a,
        "model_b": b,
    }
    bounds = {"conf_low": estimate - 0.05, "conf_high": estimate + 0.05, "reject": estimate > 0.05}
    return {**row, "estimate": estimate, **bounds, **other}


@cache
def make_result(names=NAMES, folds=4):
    rng = np.random.default_rng(7)
    parts = []
    for i, name in enumerate(names):
        for fold in range(folds):
            score = np.r_[rng.normal(2 - 0.1 * i, 1, 30), rng.normal(0, 1, 60)]
            parts.append(one_fold(name, fold, roc_curve(np.repeat([1, 0], [30, 60]), score)))
    frames = {key: pd.concat([part[key] for part in parts], ignore_index=True) for key in parts[0]}
    means = frames["iauprec"].groupby("model", sort=False)["iauprec"].mean()
    frames["ranking"] = pd.DataFrame(
        {
            "rank": np.arange(len(names)) + 1,
            "model": names,
            "iauprec": means.to_numpy(),
            "conf_low": means.to_numpy() - 0.1,
            "conf_high": means.to_numpy() + 0.1,
            "group": ["a", *["ab"] * (len(names) - 1)],
        }
    )
    frames["surface"] = pd.concat(
        [
            pd.DataFrame(
                {
                    "model": name,
                    "prior": np.repeat(PRIORS, len(GRID)),
                    "recall": np.tile(GRID, len(PRIORS)),
                    "precision": np.repeat(PRIORS, len(GRID)) ** np.tile(GRID, len(PRIORS)),
                }
            )
            for name in names
        ]
    )
    frames["regions"] = pd.DataFrame(
        {
            "model": names[:2],
            "prior_low": [0.005, 0.05],
            "prior_high": [0.05, 0.5],
            "margin": 0.1,
            "runner_up": "B",
        }
    )
    frames["pairs"] = pd.DataFrame(
        [difference(names[0], name, 0.04 * i) for i, name in enumerate(names) if i]
    )
    return SimpleNamespace(**frames)


@pytest.fixture(scope="module")
def result():
    return make_result()


PLOTS = {
    sp.plot_roc: "roc",
    sp.plot_precision_recall: "precision_recall",
    sp.plot_auprec: "auprec_by_prior",
    sp.plot_iauprec: "iauprec",
    sp.plot_surface: "surface",
    sp.plot_skew: "skew",
    sp.plot_pairs: "pairs",
    sp.plot_regions: "auprec_by_prior",
}


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def bands(ax):
    return [artist for artist in ax.collections if isinstance(artist, PolyCollection)]


def mean_of(frame, model, by, column):
    return frame[frame["model"] == model].groupby(by, sort=True)[column].mean()


def assert_line(line, series):
    np.testing.assert_allclose(line.get_xdata(), series.index.to_numpy(), rtol=1e-12)
    np.testing.assert_allclose(line.get_ydata(), series.to_numpy(), rtol=1e-12)


def test_all_is_sorted_and_exists():
    assert sp.__all__ == sorted(sp.__all__)
    assert all(hasattr(sp, name) for name in sp.__all__)


# ---------------------------------------------------------------- every plot


@each("plot", PLOTS)
def test_given_axes_are_drawn_on_and_pyplot_and_settings_stay_alone(plot, result):
    before = dict(mpl.rcParams)
    ax = Figure().subplots()
    assert plot(result, ax=ax) is ax
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


@each("plot", PLOTS)
def test_without_axes_one_new_figure_is_made(plot, result):
    ax = plot(result)
    assert [plt.figure(number) for number in plt.get_fignums()] == [ax.figure]
    plt.close(ax.figure)


@each("plot", PLOTS)
def test_frames_given_are_not_changed(plot, result):
    frame = getattr(result, PLOTS[plot]).copy()
    plot(result, ax=Figure().subplots())
    pd.testing.assert_frame_equal(frame, getattr(result, PLOTS[plot]))


@pytest.mark.no_cover
@each("plot", [plot for plot in PLOTS if plot is not sp.plot_regions])
def test_frame_and_result_draw_the_same_lines(plot, result):
    one = plot(result, ax=Figure().subplots())
    other = plot(getattr(result, PLOTS[plot]), ax=Figure().subplots())
    assert one.get_xlabel() == other.get_xlabel()
    if plot is not sp.plot_iauprec:  # the frame alone knows no ranking
        for line, twin in zip(one.lines, other.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), twin.get_xydata())


@each("plot", PLOTS)
def test_missing_columns_name_the_function_and_the_columns(plot, result):
    last = {sp.plot_pairs: "reject", sp.plot_iauprec: "iauprec"}.get(plot, "model")
    frame = getattr(result, PLOTS[plot]).drop(columns=last)
    with pytest.raises(
        InputError, match=rf"`{plot.__name__}` draws the columns .* the frame lacks {last}; give it"
    ):
        plot(frame)
    assert plt.get_fignums() == []


@each("plot", PLOTS)
def test_empty_frames_are_refused(plot, result):
    with pytest.raises(InputError, match=rf"`{plot.__name__}` needs at least one row"):
        plot(getattr(result, PLOTS[plot]).iloc[:0])


@each("plot", PLOTS)
@each("wrong", [3, None, SimpleNamespace()])
def test_objects_without_the_frame_are_refused(plot, wrong):
    with pytest.raises(
        InputTypeError, match=rf"`{plot.__name__}` takes a pandas DataFrame or a result that has"
    ):
        plot(wrong)


def test_results_that_only_make_frames_are_accepted(result):
    class Posthoc:
        def to_frame(self):
            return result.pairs

    for source in (Posthoc(), SimpleNamespace(pairs=Posthoc())):
        assert len(sp.plot_pairs(source, ax=Figure().subplots()).get_yticks()) == 2


@pytest.mark.slow
@pytest.mark.no_cover
@each("plot", [*PLOTS, lambda r, ax=None: sp.plot_surface(r, kind="3d", ax=ax)])
def test_hostile_names_are_saved_without_a_warning(plot):
    ax = plot(make_result(HOSTILE, folds=2))
    for kind in ("png", "svg"):
        ax.figure.savefig(io.BytesIO(), format=kind, dpi=30)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "plot", [sp.plot_roc, sp.plot_precision_recall, sp.plot_auprec, sp.plot_skew, sp.plot_regions]
)
def test_hostile_names_stay_in_the_legend(plot):
    texts = legend_texts(plot(make_result(HOSTILE, folds=2)))
    assert texts[: len(HOSTILE)] == list(model_labels(HOSTILE).values())
    assert "_hidden" in texts


@pytest.mark.parametrize(
    "plot", [sp.plot_roc, sp.plot_precision_recall, sp.plot_auprec, sp.plot_skew, sp.plot_regions]
)
def test_models_keep_colour_and_order_in_every_plot(plot, result):
    ax = plot(result)
    assert legend_texts(ax)[:3] == list(NAMES)
    expected = [to_rgba(color) for color in sp.model_palette(NAMES).values()]
    assert [to_rgba(line.get_color()) for line in ax.get_legend().get_lines()[:3]] == expected
    drawn = [to_rgba(line.get_color()) for line in ax.lines]
    assert in_order(color for color in drawn if color in expected) == expected


# ---------------------------------------------------------------- names, colours, numbers


def test_names_are_drawn_literally():
    labels = model_labels(HOSTILE)
    assert labels["a_b%$"] == r"a_b%\$"
    assert labels["$x$"] == r"\$x\$"
    assert labels["_hidden"] == "_hidden"
    assert labels["new\nline"] == "new line"
    assert labels["new line"] == "new line (2)"
    assert labels[" "] == "' '"
    assert labels[""] == "''"
    assert labels["\x1b[31mred\u202e"] == "\\x1b[31mred\\u202e"
    assert labels["a very long name of a random forest with max_depth=10"] == "a very long name o…_depth=10"
    assert max(map(len, labels.values())) <= 28
    assert len(set(labels.values())) == len(HOSTILE)


def test_equal_short_forms_are_numbered():
    long = ["x" * 40 + str(i) + "y" * 40 for i in range(3)]
    assert [label[-4:] for label in model_labels(long).values()] == ["yyyy", " (2)", " (3)"]


def test_dollar_signs_never_start_a_formula():
    figure = Figure()
    for label in model_labels(["$x$", r"\$a$", "$", "a$b$c$"]).values():
        drawn, is_formula = figure.text(0, 0, label)._preprocess_math(label)
        assert not is_formula
        assert "$" in drawn


def test_palette_is_seaborns_and_repeats_after_ten():
    palette = sp.model_palette([f"m{i}" for i in range(12)])
    assert len(set(palette.values())) == 10
    assert palette["m10"] == palette["m0"]


def test_colour_and_marker_together_tell_ninety_models_apart():
    names = [f"m{i}" for i in range(90)]
    palette, markers = sp.model_palette(names), model_markers(names)
    assert len({(palette[name], markers[name]) for name in names}) == 90


@pytest.mark.parametrize("count", [3, 11])
def test_every_line_carries_the_marker_of_its_model(count):
    names = tuple(f"m{i}" for i in range(count))
    ax = sp.plot_auprec(make_result(names, 2))
    expected = list(model_markers(names).values())
    assert [line.get_marker() for line in ax.lines] == expected
    assert [line.get_marker() for line in ax.get_legend().get_lines()[:count]] == expected
    assert len({line.get_markevery()[0] for line in ax.lines}) == count  # markers start apart


def test_a_line_of_one_point_shows_its_marker(result):
    frame = result.auprec_by_prior
    (first, *_) = sp.plot_auprec(frame[frame["prior"] == PRIORS[0]]).lines
    assert (first.get_marker(), first.get_markevery()) == ("o", None)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.01, "0.01"), (1e-5, "0.00001"), (10000.0, "10000"), (0.123456, "0.1235"), (0.5, "0.5")],
)
def test_numbers_are_plain(number, text):
    assert plain(number) == text


def test_ticks_thin_out_with_the_room_there_is():
    assert tick_digits(0.01, 0.1, 300) == (1.0, 2.0, 5.0)
    assert tick_digits(0.01, 0.1, 80) == (1.0, 3.0)
    assert tick_digits(0.01, 0.1, 20) == (1.0,)


# ---------------------------------------------------------------- lines


def test_roc_lines_are_means_over_folds(result):
    ax = sp.plot_roc(result)
    for model, line in zip(NAMES, ax.lines, strict=False):
        assert_line(line, mean_of(result.roc, model, "fpr", "tpr"))
    assert len(ax.lines) == 4  # three models and the diagonal
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("False positive rate", "True positive rate")
    assert ax.get_aspect() == 1


def test_band_is_the_standard_deviation_over_folds(result):
    ax = sp.plot_roc(result)
    assert len(bands(ax)) == 3
    assert legend_texts(ax)[-1] == "band: ±1 standard deviation\nover folds"
    spread = result.roc.groupby(["model", "fpr"])["tpr"].std()["C"]
    low, high = bands(ax)[0].get_datalim(ax.transData).y0, bands(ax)[0].get_datalim(ax.transData).y1
    mean = mean_of(result.roc, "C", "fpr", "tpr")
    assert low == pytest.approx((mean - spread).min())
    assert high == pytest.approx((mean + spread).clip(upper=1).max())
    assert (mean + spread).max() > 1  # which no rate is


@pytest.mark.parametrize(
    ("errorbar", "label"),
    [(("sd", 2), "band: ±2 standard deviations\nover folds"), (("pi", 80), "band: middle 80 % of folds")],
)
def test_band_says_what_it_is(result, errorbar, label):
    assert legend_texts(sp.plot_auprec(result, errorbar=errorbar))[-1] == label


def test_band_can_be_left_out(result):
    ax = sp.plot_auprec(result, errorbar=None)
    assert bands(ax) == []
    assert legend_texts(ax) == list(NAMES)


def test_one_fold_has_neither_band_nor_mean():
    ax = sp.plot_auprec(make_result(folds=1))
    assert bands(ax) == []
    assert ax.get_legend().get_title().get_text() == ""
    assert legend_texts(ax) == list(NAMES)


def test_legend_title_says_that_lines_are_means(result):
    assert sp.plot_auprec(result).get_legend().get_title().get_text() == "mean over folds"


def test_bands_are_left_out_beyond_nine_lines():
    wide = make_result(tuple(f"m{i}" for i in range(10)), 2)
    ax = sp.plot_roc(wide)
    assert bands(ax) == []
    assert not any("band" in text for text in legend_texts(ax))


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


def test_unknown_prior_lists_the_known(result):
    with pytest.raises(
        InputError, match=r"`prior` must be one of the priors in the frame, 0\.5, 0\.1; but got 0\.2"
    ):
        sp.plot_precision_recall(result, prior=0.2)


def test_auprec_lines_and_plain_log_axis(result):
    ax = sp.plot_auprec(result)
    for model, line in zip(NAMES, ax.lines, strict=True):
        assert_line(line, mean_of(result.auprec_by_prior, model, "prior", "auprec"))
    ax.figure.canvas.draw()
    shown = [t.get_text() for t in ax.get_xticklabels() if 0.005 <= float(t.get_text()) <= 0.5]
    assert shown == ["0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]
    assert ax.get_xlim() == pytest.approx((0.005, 0.5))
    assert ax.get_xlabel() == "Prior (probability of the positive class)"
    assert isinstance(ax.xaxis.get_major_locator(), PlainLogLocator)


def test_one_prior_still_draws(result):
    frame = result.auprec_by_prior
    ax = sp.plot_auprec(frame[frame["prior"] == PRIORS[0]])
    ax.figure.canvas.draw()
    assert len(ax.lines) == 3


def test_deployment_prior_is_shaded(result):
    ax = sp.plot_auprec(result, deployment_prior=(0.05, 0.2))
    (shade,) = ax.patches
    box = shade.get_path().get_extents(shade.get_transform() - ax.transData)
    assert (box.x0, box.x1) == pytest.approx((0.05, 0.2))
    assert legend_texts(ax)[-1] == "deployment prior\n0.05 to 0.2"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((0.2, 0.05), "`deployment_prior` must be given as"),
        ((0.2, 4), "`deployment_prior` must lie strictly between 0 and 1"),
        ((0.1, 0.2, 0.3), r"`deployment_prior` must be given as \(low, high\), but got"),
    ],
)
def test_deployment_prior_is_checked(result, limits, message):
    with pytest.raises(InputError, match=message):
        sp.plot_auprec(result, deployment_prior=limits)
    assert plt.get_fignums() == []


def test_skew_draws_accuracy_solid_and_precision_dashed(result):
    ax = sp.plot_skew(result)
    pairs = [(model, measure) for model in NAMES for measure in ("accuracy", "precision")]
    for line, (model, measure) in zip(ax.lines, pairs, strict=True):
        assert_line(line, mean_of(result.skew, model, "skew", measure))
        assert line.get_linestyle() == {"accuracy": "-", "precision": "--"}[measure]
    assert ax.get_xscale() == "log"
    assert legend_texts(ax)[3:5] == ["accuracy", "precision"]


# ---------------------------------------------------------------- IAUPREC


def test_iauprec_draws_every_fold_and_the_ranking(result):
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


def test_a_fold_has_one_height_in_every_row(result):
    rows = [np.asarray(line.get_ydata()) - i for i, line in enumerate(sp.plot_iauprec(result.iauprec).lines)]
    np.testing.assert_allclose(rows, np.broadcast_to(rows[0], np.shape(rows)), atol=1e-12)


def test_iauprec_alone_draws_select_folds(result):
    ax = sp.plot_iauprec(result.iauprec)
    assert len(ax.lines) == 3
    assert legend_texts(ax) == ["one fold"]


def test_ranking_may_be_given_beside_either(result):
    top = result.ranking.iloc[:1]
    for first in (result, result.iauprec):
        assert len(sp.plot_iauprec(first, top).lines) == 5


def test_letters_and_intervals_may_be_unknown(result):
    ranking = result.ranking.assign(group=None, conf_low=np.nan, conf_high=np.nan)
    ax = sp.plot_iauprec(result, ranking)
    ax.figure.canvas.draw()
    assert list(ax.texts) == []
    assert not any("letter" in text for text in legend_texts(ax))


def test_ranking_of_unknown_models_is_refused(result):
    with pytest.raises(
        InputError, match="`ranking` must name models of the first frame, C, A, B; but got 'Z'"
    ):
        sp.plot_iauprec(result.iauprec, result.ranking.assign(model="Z"))
    assert plt.get_fignums() == []


def test_ranking_without_columns_is_refused(result):
    with pytest.raises(
        InputError, match=r"`plot_iauprec` draws the columns .* lacks group; give it `ranking`"
    ):
        sp.plot_iauprec(result.iauprec, result.ranking.drop(columns="group"))


# ---------------------------------------------------------------- surface


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


def test_surface_needs_axes_of_its_kind(result):
    flat, deep = Figure().subplots(), Figure().add_subplot(projection="3d")
    assert sp.plot_surface(result, kind="3d", ax=deep) is deep
    with pytest.raises(
        InputError, match=r"`ax` must be 3-D axes \(projection='3d'\) for this plot, but is rect"
    ):
        sp.plot_surface(result, kind="3d", ax=flat)
    with pytest.raises(InputError, match="`ax` must be 2-D axes for this plot, but is 3d"):
        sp.plot_roc(result, ax=deep)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "Z"}, "`model` must be one of C, A, B; but got 'Z'"),
        ({"kind": "pie"}, "`kind` must be one of contour, 3d; but got 'pie'"),
    ],
)
def test_surface_options_are_checked(result, options, message):
    with pytest.raises(InputError, match=message):
        sp.plot_surface(result, **options)


def test_surface_must_be_a_grid(result):
    with pytest.raises(InputError, match="one row a prior and recall, but repeats some for 'C'"):
        sp.plot_surface(pd.concat([result.surface, result.surface]))
    with pytest.raises(InputError, match="2 priors and 2 recalls or more, but has 1 and 9"):
        sp.plot_surface(result.surface[result.surface["prior"] == PRIORS[0]])


# ---------------------------------------------------------------- differences


def test_differences_are_a_forest(result):
    ax = sp.plot_pairs(result)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["C − A", "C − B"]  # noqa: RUF001
    assert ax.get_xlabel() == "Difference in IAUPREC (first minus second)"
    assert ax.get_title(loc="left") == "Pairwise differences\nTukey HSD, 2-way mean square"
    zero, differs, equal = ax.lines
    assert list(zero.get_xdata()) == [0, 0]
    np.testing.assert_array_equal(differs.get_xydata(), [(0.08, 1)])
    np.testing.assert_array_equal(equal.get_xydata(), [(0.04, 0)])
    assert to_rgba(differs.get_markerfacecolor()) == to_rgba(differs.get_color())
    assert to_rgba(equal.get_markerfacecolor()) == to_rgba(ax.get_facecolor())
    ends = [segment[:, 0] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(ends, [(-0.01, 0.09), (0.03, 0.13)])


def test_differences_choose_iauprec_first_then_test_and_prior():
    frame = pd.DataFrame(
        [
            difference("A", "B", 0.3, test="nemenyi", response="auprec", prior=0.5),
            difference("A", "B", 0.2, test="nemenyi", response="auprec", prior=0.1),
            difference("A", "B", 0.1, test="max_t"),
            difference("A", "B", 0.4, test="three", response="auprec"),
            difference("A", "B", 0.5, test="three", response="auprec", prior=0.1),
        ]
    )

    def drawn(**options):
        ax = sp.plot_pairs(frame, **options)
        return [float(x) for line in ax.lines[1:] for x in line.get_xdata()], ax.get_xlabel()

    assert drawn() == ([0.1], "Difference in IAUPREC (first minus second)")
    assert drawn(test="nemenyi") == ([0.3], "Difference in AUPREC at prior 0.5 (first minus second)")
    assert drawn(test="nemenyi", prior=0.1) == (
        [0.2],
        "Difference in AUPREC at prior 0.1 (first minus second)",
    )
    assert drawn(test="three") == ([0.4], "Difference in AUPREC (first minus second)")


def test_differences_may_lack_intervals_and_decisions(result):
    frame = result.pairs.assign(conf_low=np.nan, conf_high=np.nan, reject=np.nan)
    ax = sp.plot_pairs(frame)
    ax.figure.canvas.draw()
    assert len(ax.collections) == 0
    assert legend_texts(ax) == ["differs", "no significant\ndifference"]
    assert len(ax.lines[1].get_xdata()) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "scheffe"}, "`test` must be one of tukey; but got 'scheffe'"),
        ({"prior": 0.3}, "`prior` must be one of the priors in the frame, which has none; but got 0.3"),
    ],
)
def test_differences_options_are_checked(result, options, message):
    with pytest.raises(InputError, match=message):
        sp.plot_pairs(result, **options)


# ---------------------------------------------------------------- regions


def test_regions_are_a_strip_in_the_models_colours(result):
    ax = sp.plot_regions(result)
    strip = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in strip] == [
        (0.005, 0.05),
        (0.05, 0.5),
    ]
    palette = sp.model_palette(NAMES)
    assert [patch.get_facecolor() for patch in strip] == [to_rgba(palette["C"]), to_rgba(palette["A"])]
    for model, line in zip(NAMES, ax.lines, strict=True):
        assert_line(line, mean_of(result.auprec_by_prior, model, "prior", "auprec"))
        floor = ax.transData.inverted().transform(ax.transAxes.transform((0, 0.05)))[1]
        assert min(line.get_ydata()) > floor
    assert legend_texts(ax) == [*NAMES, "strip: leading model"]


def test_regions_may_be_given_beside_a_frame(result):
    assert len(sp.plot_regions(result.auprec_by_prior, result.regions.iloc[:1]).patches) == 1


def test_regions_are_required_and_checked(result):
    with pytest.raises(
        InputError, match="`plot_regions` needs `regions` where its first argument is a frame"
    ):
        sp.plot_regions(result.auprec_by_prior)
    with pytest.raises(
        InputError, match="`regions` must name models of the first frame, C, A, B; but got 'Z'"
    ):
        sp.plot_regions(result, result.regions.assign(model="Z"))
    with pytest.raises(
        InputError, match=r"`plot_regions` draws the columns .* lacks prior_low; give it `regions`"
    ):
        sp.plot_regions(result, result.regions.drop(columns="prior_low"))
    assert plt.get_fignums() == []


# ---------------------------------------------------------------- layout


@pytest.mark.no_cover
@each("plot", PLOTS)
@each("names", [NAMES[:2], HOSTILE])
def test_everything_fits_inside_a_new_figure(plot, names):
    figure = plot(make_result(names, folds=2)).figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= figure.get_figwidth() + 0.02
    assert box.y1 <= figure.get_figheight() + 0.02


def test_legend_stands_beside_where_the_layout_makes_room(result):
    beside = sp.plot_auprec(result, ax=Figure(layout="constrained").subplots())
    within = sp.plot_auprec(result, ax=Figure().subplots())
    for ax in (beside, within):
        ax.figure.canvas.draw()
    edge = beside.get_window_extent().x1
    assert beside.get_legend().get_window_extent().x0 > edge
    assert within.get_legend().get_window_extent().x1 < within.get_window_extent().x1


# ---------------------------------------------------------------- bands, crossings, support


def decided(result):
    """The result with what decisions add to it."""
    support = pd.DataFrame({"prior": PRIORS, "supported": PRIORS > 0.01})
    means = result.auprec_by_prior.groupby(["model", "prior"], sort=False)["auprec"].mean().reset_index()
    bands = means.assign(conf_low=means["auprec"] - 0.05, conf_high=means["auprec"] + 0.05)
    change = {"prior": 0.05, "conf_low": 0.03, "conf_high": 0.5, "model_below": "C", "model_above": "A"}
    flags = {"lead": True, "open_low": False, "open_high": True}
    crossings = pd.DataFrame([change | flags, change | flags | {"lead": False, "prior": 0.2}])
    band = {"estimate": 0.0, "conf_low": -0.1, "conf_high": 0.1, "reject": False}
    curves = pd.DataFrame({"model_a": "C", "model_b": "A", "prior": PRIORS, **band})
    added = {"support": support, "by_prior": bands, "crossings": crossings, "difference_curves": curves}
    return SimpleNamespace(**{**vars(result), **added})


def hatched(ax):
    return [patch for patch in ax.patches if patch.get_hatch()]


@pytest.mark.parametrize("plot", [sp.plot_auprec, sp.plot_regions, sp.plot_difference_curves])
def test_unsupported_priors_are_hatched(result, plot):
    full = decided(result)
    ax = plot(full)
    (patch,) = hatched(ax)
    limit = PRIORS[PRIORS > 0.01].min()
    drawn = patch.get_extents().transformed(ax.transData.inverted())
    assert drawn.x0 == pytest.approx(max(PRIORS.min(), ax.get_xlim()[0]))
    assert drawn.x1 == pytest.approx(limit)
    assert "too few negatives\nto tell" in legend_texts(ax)
    full.support = full.support.assign(supported=True)
    assert not hatched(plot(full))
    full.support = full.support.assign(supported=False)
    everything = hatched(plot(full))[0].get_extents().transformed(plt.gca().transData.inverted())
    assert everything.x1 == pytest.approx(PRIORS.max())


def test_support_may_be_given_beside_a_frame(result):
    full = decided(result)
    assert not hatched(sp.plot_auprec(full.auprec_by_prior))
    assert len(hatched(sp.plot_auprec(full.auprec_by_prior, support=full.support))) == 1
    with pytest.raises(InputError, match="`support` draws the columns prior, supported, but the frame lacks"):
        sp.plot_auprec(full.auprec_by_prior, support=full.support.drop(columns="supported"))


def test_regions_show_bands_and_changes_of_the_lead(result):
    full = decided(result)
    ax = sp.plot_regions(full)
    collections = [c for c in ax.collections if isinstance(c, PolyCollection)]
    for model, band in zip(NAMES, collections, strict=True):
        rows = full.by_prior[full.by_prior["model"] == model]
        path = band.get_paths()[0].vertices
        assert path[:, 1].min() == pytest.approx(rows["conf_low"].min())
        assert path[:, 1].max() == pytest.approx(rows["conf_high"].max())
    interval, low, high, point = ax.lines[len(NAMES) :]  # one change of the lead, and not the other crossing
    assert interval.get_xdata()[0] == 0.03
    assert 0.45 < interval.get_xdata()[1] < 0.5  # its arrow stands inside of the axes
    assert (low.get_marker(), high.get_marker()) == ("|", ">")
    assert list(point.get_xdata()) == [0.05]
    curve = full.auprec_by_prior.query("model == 'A'").groupby("prior")["auprec"].mean()
    expected = np.interp(np.log(0.05), np.log(curve.index), curve)
    assert point.get_ydata()[0] == pytest.approx(expected)
    assert {"simultaneous\nband", "change of the lead,\nwith interval"} <= set(legend_texts(ax))


def test_regions_without_intervals_have_no_bands(result):
    full = decided(result)
    full.by_prior = full.by_prior.assign(conf_low=np.nan, conf_high=np.nan)
    full.crossings = full.crossings.iloc[:0]
    ax = sp.plot_regions(full)
    assert not ax.collections
    assert len(ax.lines) == len(NAMES)
