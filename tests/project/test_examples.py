"""Examples run, print tables that fit the screen, and draw what they promise."""

import numpy as np
import pytest
from example_scripts import load_example
from matplotlib.backends.backend_agg import FigureCanvasAgg

import skewanova as sa

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

FILES = {
    "boyd": "estimators.csv intervals.csv bias.png coverage.png width.png location.png",
    "brodersen": "bias.csv auprec.png auc.png means.png curves.png curves.csv",
    "landgrebe": "figure_1.png figure_2.png", "julia_figures": "figure_2.png figure_3.png",
    "statisticalmeasures": "", "scikit_learn": None,
}  # fmt: skip
FEW = ["--replicates", "2"]


@pytest.mark.parametrize("name", FILES)
def test_example_prints_within_the_screen_and_saves_where_told(name, tmp_path, capsys, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    options = FEW if name in {"boyd", "brodersen"} else []
    load_example(name).main(options if FILES[name] is None else [*options, "--out", str(tmp_path / "new")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert not list((tmp_path / "here").iterdir())
    if name == "scikit_learn":
        assert {"logistic", "naive", "tree"} <= set(printed.split())
        assert "repeated hold-out, 10 folds" in printed
        balanced, rare = printed.splitlines()[-2:]
        assert int(rare.split()[0]) < int(balanced.split(": ")[1].split()[0])
    else:
        stem = name.removesuffix("_figures")
        expected = {f"{stem}_{end}" for end in FILES[name].split()} or {f"{stem}.png"}
        assert {path.name for path in (tmp_path / "new").iterdir()} == expected


def traversed_area(labels, scores):
    """The post's function in words: threshold after threshold, from the lowest score to the highest."""
    labels = labels[np.argsort(scores, kind="stable")]
    true, false = int(labels.sum()), int((~labels).sum())
    n_positive, total = true, 0.0
    recall, highest = 1.0, true / (true + false)
    for is_positive in labels:
        true, false = true - is_positive, false - (not is_positive)
        precision = float(is_positive) if true + false == 0 else true / (true + false)
        if true / n_positive == recall:
            highest = precision
            continue
        total += (precision + highest) / 2 * (recall - true / n_positive)
        recall, highest = true / n_positive, precision
    return total


def test_the_posts_function_is_the_trapezoid_at_the_samples_prior():
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels = rng.random(60) < 0.3
        scores = rng.normal(labels)
        expected = sa.auprec_score(labels, scores, prior=labels.mean(), area_estimator="trapezoid")
        assert traversed_area(labels, scores) == pytest.approx(expected, abs=1e-12)


def test_figures_and_curve_of_the_post_show_all():
    module = load_example("julia_figures")
    frames = {setting: module.sampled_curves(setting) for setting in module.SETTINGS}
    for figure in (module.figure_2(), module.figure_3(frames)):
        FigureCanvasAgg(figure).draw()
        inside = figure.bbox
        for ax in figure.axes:
            for text in filter(lambda each: each.get_text(), (ax.title, ax.xaxis.label, ax.yaxis.label)):
                box = text.get_window_extent()
                assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
                assert inside.y0 <= box.y0 <= box.y1 <= inside.y1
            assert not any(legend.get_window_extent().overlaps(ax.bbox) for legend in figure.legends)
            assert ax.get_legend() is None
    module = load_example("statisticalmeasures")
    frame = module.curve()
    assert frame["threshold"].iloc[1:].tolist() == sorted(set(module.X_PROBABILITIES), reverse=True)
    assert frame[["recall", "precision"]].iloc[[0, -1]].to_numpy().tolist() == [[0.0, 1.0], [1.0, 0.6]]
    positive = np.array(module.TRUTH) == "X"
    for row in frame.iloc[1:].itertuples():  # counted by hand
        flagged = np.array(module.X_PROBABILITIES) >= row.threshold
        assert row.recall == pytest.approx((flagged & positive).sum() / 6)
        assert row.precision == pytest.approx((flagged & positive).sum() / flagged.sum())
