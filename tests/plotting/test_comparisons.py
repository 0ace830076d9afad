"""Differences, critical-difference diagram, p-values: every number drawn is one of the frame."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from messages import expect_error
from plot_checks import HOSTILE, assert_fits, difference, fold_frame, legend_texts, texts

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError
from skewanova.plotting import (
    plot_components,
    plot_critical_difference,
    plot_difference_curves,
    plot_p_values,
    plot_pairs,
)
from skewanova.plotting.comparisons import MAX_RANK_NAME, SHADES
from skewanova.plotting.styling import model_labels, model_markers, model_palette

NAMES = ("B", "A", "D", "C")


def posthoc(*rows):
    rows = rows or (("A", "B", 0.1, 0.003), ("A", "C", 0.05, 0.02), ("B", "C", -0.05, 0.4))
    return pd.DataFrame([difference(a, b, estimate, p_adjusted=p) for a, b, estimate, p in rows])


def dots(ax):
    """The bars as (ranks, height)."""
    found = [line for line in ax.lines if line.get_linewidth() == 3.2]
    return [(np.asarray(line.get_xdata()), float(np.asarray(line.get_ydata())[0])) for line in found]


def at_rank(ax):
    """Markers on the axis as (rank, colour, marker)."""
    found = [line for line in ax.lines if line.get_linestyle() == "None"]
    return [(float(line.get_xdata()[0]), to_rgba(line.get_color()), line.get_marker()) for line in found]


@pytest.mark.parametrize("n_models", [2, 3, 12])
def test_models_stand_at_their_mean_ranks_and_bars_over_their_groups(n_models):
    names = [f"m{i}" for i in range(n_models)][::-1]
    found = sa.inference.rank_comparison(fold_frame(names))
    ax = plot_critical_difference(found)
    assert_fits(ax.figure)
    expected = [
        (rank, to_rgba(model_palette(names)[model]), model_markers(names)[model])
        for model, rank in zip(found.ranks["model"], found.ranks["mean_rank"], strict=True)
    ]
    assert at_rank(ax) == expected  # in the colours of the table's order, not of the ranks'
    rank = found.ranks.set_index("model")["mean_rank"]
    assert [x.tolist() for x, _ in dots(ax)] == [rank[list(clique)].tolist() for clique in found.cliques]
    named = [text for text in texts(ax) if text.startswith("m")]
    assert named == [f"{model}  {rank[model]:.2f}" for model in found.ranks["model"]]
    assert ax.get_xlim() == (1, n_models)
    elbows = [line for line in ax.lines if len(line.get_xdata()) == 3 and line.get_linewidth() == 1.3]
    ends = [(float(line.get_xdata()[0]), line.get_marker(), line.get_xdata()[2]) for line in elbows]
    half = -(-n_models // 2)
    assert ends == [(x, mark, 1 if i < half else n_models) for i, (x, _, mark) in enumerate(expected)]


def test_bars_do_not_touch_and_the_ruler_is_the_critical_difference():
    found = sa.inference.rank_comparison(fold_frame([f"m{i}" for i in range(12)], 12))
    rows = {}
    for ranks, height in dots(plot_critical_difference(found)):
        rows.setdefault(height, []).append((ranks.min(), ranks.max()))
    assert len(rows) > 1
    for spans in rows.values():
        spans.sort()
        assert all(end < start for (_, end), (start, _) in pairwise(spans))
    found = sa.inference.rank_comparison(fold_frame([f"m{i}" for i in range(6)], 10))
    ax = plot_critical_difference(found)
    (ruler,) = [line for line in ax.lines if line.get_marker() == "|"]
    assert np.ptp(ruler.get_xdata()) == pytest.approx(found.critical_difference)
    assert f"CD = {found.critical_difference:.2f} (level 0.05)" in texts(ax)
    ax = plot_critical_difference(sa.inference.rank_comparison(fold_frame("AB", 2)))
    assert not [line for line in ax.lines if line.get_marker() == "|"]
    assert "CD = 1.39 (level 0.05): wider than the axis" in texts(ax)


def test_bars_are_the_groups_of_any_family_of_all_pairs_by_default_of_the_primary():
    frame, roles = fold_frame(NAMES), {"nemenyi": "secondary", "paired_t": "primary"}
    tests = ((sa.inference.posthoc(frame, method=method), role) for method, role in roles.items())
    families = [pairs.assign(role=role) for pairs, role in tests]
    result = SimpleNamespace(iauprec=frame, pairs=pd.concat(families), settings={"alpha": 0.1})
    ax = plot_critical_difference(result, ax=Figure().subplots())
    assert plt.get_fignums() == []
    title = "Mean ranks over 6 folds, 1 = best\nBars: no difference found (paired t, Holm)"
    assert ax.get_title(loc="left") == title
    assert not any("CD" in text for text in texts(ax))
    assert any("(level 0.1)" in text for text in texts(plot_critical_difference(result, test="nemenyi")))
    with pytest.raises(InputError, match="`test` must be one of nemenyi, paired_t_holm; but got 'tukey'"):
        plot_critical_difference(result, test="tukey")
    result.pairs = result.pairs.replace({"test": {"paired_t_holm": "paired_t_holm_control"}})
    assert "Nemenyi" in plot_critical_difference(result).get_title(loc="left")


def test_hostile_names_are_drawn_and_cells_hold_p_in_three_shades():
    ax = plot_critical_difference(sa.inference.rank_comparison(fold_frame(HOSTILE)))
    assert_fits(ax.figure)
    shown = [text.rsplit("  ", 1)[0] for text in texts(ax)]
    assert set(model_labels(HOSTILE, width=MAX_RANK_NAME).values()) <= set(shown)
    result = SimpleNamespace(iauprec=fold_frame("AB").drop(columns="fold"), pairs=posthoc())
    with pytest.raises(InputError, match="needs the columns model, fold, iauprec, but the frame lacks fold"):
        plot_critical_difference(result)
    for share, message in ([], "needs at least one row"), ([np.nan], "^all areas are equal"):
        frame = pd.DataFrame({"component": ["run"] * len(share), "share": share})
        expect_error(message, plot_components, frame, ax=Figure().subplots())
    ax = plot_p_values(posthoc(), ax=Figure(figsize=(6, 5)).subplots())
    found = {tuple(text.get_position()): text.get_text() for text in ax.texts}
    assert found == {(0, 1): "0.0030\n+0.100", (0, 2): "0.020\n+0.050", (1, 2): "0.40\n-0.050"}
    light, middle, dark = map(to_rgba, SHADES)
    assert cells(ax) == {(0.0, 1.0): dark, (0.0, 2.0): middle, (1.0, 2.0): light}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["A", "B"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["B", "C"]
    assert legend_texts(ax) == ["p < 0.005", "0.005 ≤ p < 0.05", "p ≥ 0.05"]
    luminance = [np.dot(to_rgb(shade), (0.2126, 0.7152, 0.0722)) for shade in SHADES]
    assert np.diff(luminance).max() < -0.2  # told apart in greyscale
    assert all(to_rgb(shade)[2] >= max(to_rgb(shade)[:2]) for shade in SHADES)  # neither red nor green


@pytest.mark.parametrize("wrong", [3, fold_frame("AB"), SimpleNamespace(iauprec=fold_frame("AB"))])
def test_without_pairs_there_is_no_diagram(wrong):
    expect_error(r"takes what skewanova\.compare", plot_critical_difference, wrong, error=InputTypeError)
    assert plt.get_fignums() == []


def cells(ax):
    """Colour of each cell by (column, row)."""
    return {
        tuple(np.round(patch.get_path().get_extents().corners().mean(axis=0), 6)): patch.get_facecolor()
        for patch in ax.patches
    }


@pytest.mark.parametrize(("alpha", "shade"), [(0.05, 1), (0.5, 2), (0.01, 0)])
def test_levels_follow_alpha(alpha, shade):
    one = posthoc(("A", "B", 0.1, 0.03))
    ax = plot_p_values(one, alpha=alpha)
    assert list(cells(ax).values()) == [to_rgba(SHADES[shade])]
    assert cells(plot_p_values(SimpleNamespace(pairs=one, settings={"alpha": alpha}))) == cells(ax)


def test_pairs_of_one_family_are_turned_hatched_and_numbered():
    frame = posthoc(("A", "B", 0.1, 0.2), ("C", "B", 0.3, 0.2), ("C", "A", 0.2, 0.2))
    drawn = {tuple(text.get_position()): text.get_text() for text in plot_p_values(frame).texts}
    # A, C, B by first appearance: columns before rows, so C - A becomes A - C
    assert (drawn[0, 1], drawn[1, 2]) == ("0.20\n-0.200", "0.20\n+0.300")
    (patch,) = plot_p_values(posthoc(("A", "B", 0.0, np.nan))).patches
    assert patch.get_hatch()
    assert to_rgba(patch.get_facecolor()) == to_rgba("white")
    rows = [("tukey", "auprec", 0.5, 0.1), ("tukey", "auprec", 0.1, 0.2), ("max_t", "iauprec", np.nan, 0.3)]
    columns = ["test", "response", "prior", "p_adjusted"]
    frame = pd.DataFrame(rows, columns=columns).assign(model_a="A", model_b="B", estimate=0.1)
    assert texts(plot_p_values(frame)) == ["0.30\n+0.100"]
    ax = plot_p_values(frame, test="tukey", prior=0.1)
    assert texts(ax) == ["0.20\n+0.100"]
    assert ax.get_title(loc="left") == "Adjusted p\nTukey HSD, 2-way mean square"
    assert "AUPREC\nat prior 0.1" in ax.get_legend().get_title().get_text()
    frame = sa.inference.posthoc(fold_frame([f"m{i}" for i in range(30)], 4), method="paired_t")
    ax = plot_p_values(frame, ax=Figure(figsize=(5, 5)).subplots())
    assert (list(ax.texts), len(ax.patches)) == ([], len(frame))


@pytest.mark.no_cover
@pytest.mark.parametrize("names", [NAMES[:2], HOSTILE, [f"m{i}" for i in range(12)]])
def test_matrices_of_any_size_fit_and_hold_every_pair(names):
    frame = sa.inference.posthoc(fold_frame(names, 10), method="paired_t")
    ax = plot_p_values(frame)
    assert_fits(ax.figure)
    assert len(ax.patches) == len(ax.texts) == len(frame)
    renderer = ax.figure.canvas.get_renderer()
    for text, patch in zip(ax.texts, ax.patches, strict=True):
        inner, outer = text.get_window_extent(renderer), patch.get_window_extent(renderer)
        assert inner.width <= outer.width
        assert inner.height <= outer.height


def test_options_are_checked(result):
    rows = {"model_a": "A", "model_b": "B", "prior": [0.1, 0.5], "estimate": 0.1, "conf_low": 0.0}
    differences = pd.DataFrame({**rows, "conf_high": 0.2, "reject": False})
    for plot, source, options, message in (
        (plot_p_values, posthoc(), {"alpha": 2.0}, "`alpha` must"),
        (plot_p_values, posthoc(), {"test": "nemenyi"}, "`test` must be one of tukey; but got 'nemenyi'"),
        (plot_p_values, pd.concat([posthoc(), posthoc()]), {},
         r"in one order, but repeats some; give it one comparison, as .* or result\.comparisons\[NAME\], or"),
        (plot_pairs, result, {"test": "scheffe"}, "`test` must be one of tukey; but got 'scheffe'"),
        (plot_pairs, result, {"prior": 0.3}, "`prior` must be left out, for no row has one, but got 0.3"),
        (plot_difference_curves, differences, {"pair": 5},
         r"`pair` must be one of .* \('A', 'B'\); but got 5"),
        (plot_difference_curves, differences, {"pair": ("B", "A")}, r"mean \('A', 'B'\)\?$")
    ):  # fmt: skip
        expect_error(message, plot, source, **options)
    with pytest.raises(InputTypeError, match=r"^`prior` must be one number strictly .*, but got '0"):
        plot_pairs(posthoc().assign(prior=0.5), prior="0.5")
    both = pd.concat([posthoc().assign(test="nemenyi"), posthoc().assign(response="auprec", prior=0.5)])
    assert "Tukey" in plot_pairs(both, prior=0.5).get_title(loc="left")  # the test that has priors
    with pytest.raises(InputTypeError, match=r"`ax` must be one Axes, as of .*, but got Figure"):
        plot_pairs(result, ax=Figure())


def test_ranks_need_folds_and_take_nemenyis_test_where_there_is_a_control():
    scores = sa.load_satellite_scores()
    one = sa.compare(scores.select_folds([1]), 0.5, at_priors=(0.5, 0.4))
    with expect_error(r"one test set; draw its pairs by skewanova.plotting.plot_pairs\(res"):
        plot_critical_difference(one)
    result = sa.compare(scores, control="A", at_priors=(0.5, 0.2))
    ax = plot_critical_difference(result, ax=Figure().subplots())
    assert "Nemenyi" in ax.get_title(loc="left")


def test_differences_are_a_forest_that_may_lack_intervals(result):
    ax = plot_pairs(result)
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
    ax = plot_pairs(result.pairs.assign(conf_low=np.nan, conf_high=np.nan, reject=np.nan))
    ax.figure.canvas.draw()
    assert (len(ax.collections), legend_texts(ax)) == (0, ["differs", "no significant\ndifference"])
    assert len(ax.lines[1].get_xdata()) == 0


def test_differences_choose_iauprec_first_then_test_and_prior():
    rows = [
        (0.3, "nemenyi", "auprec", 0.5), (0.2, "nemenyi", "auprec", 0.1), (0.1, "max_t", "iauprec", np.nan),
        (0.4, "three", "auprec", np.nan), (0.5, "three", "auprec", 0.1),
    ]  # fmt: skip
    rows = [difference("A", "B", x, test=t, response=r, prior=p) for x, t, r, p in rows]

    def drawn(**options):
        ax = plot_pairs(pd.DataFrame(rows), **options)
        (x,) = [float(x) for line in ax.lines[1:] for x in line.get_xdata()]
        return x, ax.get_xlabel().removeprefix("Difference in ").removesuffix(" (first minus second)")

    assert (drawn(), drawn(test="nemenyi")) == ((0.1, "IAUPREC"), (0.3, "AUPREC at prior 0.5"))
    assert drawn(test="nemenyi", prior=0.1) == (0.2, "AUPREC at prior 0.1")
    assert drawn(test="three") == (0.4, "AUPREC")
