"""What tests of several plotting modules share: frames to draw, and reading artists back."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection

from skewanova import auprec, iauprec, roc_curve
from skewanova.inference import two_way_anova

NAMES = ("C", "A", "B")
GRID = np.linspace(0, 1, 9)
PRIORS = np.geomspace(0.005, 0.5, 6)

#: Names that would be formulas, markup, escapes or too long if they were not taken literally.
HOSTILE = (
    "$x_1$ <b>&%", "a_b", "_hidden", "Логистическая регрессия",
    "a very long name of a random forest with max_depth=10",
    "a very long name of a random forest with max_depth=20", "<script>alert(1)</script>", "a_b%$", "../x",
    "C(x)", "new\nline", "new line", " ", "", "\x1b[31mred\u202e"
)  # fmt: skip


def fold_frame(names, n_folds=6, seed=0):
    """Columns model, fold, iauprec; later names are worse."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [{"model": name, "fold": fold, "iauprec": 0.8 - 0.05 * i + 0.04 * rng.normal()}
         for i, name in enumerate(names) for fold in range(1, n_folds + 1)]
    )  # fmt: skip


def precision_at(tpr, fpr, prior):
    skew = (1 - prior) / prior
    return np.divide(tpr, tpr + skew * fpr, out=np.ones_like(tpr), where=tpr + skew * fpr > 0)


def one_fold(model, fold, roc):
    key = {"model": model, "fold": fold}
    fpr_at = np.interp(GRID, roc.tpr, roc.fpr)
    heights = {p: precision_at(GRID, fpr_at, p) for p in (0.5, 0.1)}
    curves = [{**key, "prior": p, "recall": GRID, "precision": y} for p, y in heights.items()]
    tpr, fpr = np.full(len(PRIORS), 0.8), np.full(len(PRIORS), 0.1 + 0.01 * fold)
    rates = {"precision": precision_at(tpr, fpr, PRIORS), "accuracy": PRIORS * tpr + (1 - PRIORS) * (1 - fpr)}
    return {
        "roc": pd.DataFrame({**key, "fpr": GRID, "tpr": np.interp(GRID, roc.fpr, roc.tpr)}),
        "precision_recall": pd.concat([pd.DataFrame(curve) for curve in curves]),
        "auprec_by_prior": pd.DataFrame({**key, "prior": PRIORS, "auprec": auprec(roc, PRIORS)}),
        "iauprec": pd.DataFrame({**key, "iauprec": iauprec(roc, (0.05, 0.2))}, index=[0]),
        "skew": pd.DataFrame({**key, "skew": 1 / PRIORS - 1, **rates}),
    }


def difference(a, b, estimate, **other):
    """A row of pairwise comparisons."""
    row = {
        "test": "tukey", "role": "primary", "response": "iauprec", "prior": np.nan, "model_a": a,
        "model_b": b,
    }  # fmt: skip
    bounds = {"conf_low": estimate - 0.05, "conf_high": estimate + 0.05, "reject": estimate > 0.05}
    return {**row, "estimate": estimate, "p_adjusted": 0.2, **bounds, **other}


@cache
def make_result(names=NAMES, folds=4):
    """What the plots need of a comparison."""
    rng = np.random.default_rng(7)
    parts = []
    for i, name in enumerate(names):
        for fold in range(folds):
            score = np.r_[rng.normal(2 - 0.1 * i, 1, 30), rng.normal(0, 1, 60)]
            parts.append(one_fold(name, fold, roc_curve(np.repeat([1, 0], [30, 60]), score)))
    frames = {key: pd.concat([part[key] for part in parts], ignore_index=True) for key in parts[0]}
    means = frames["iauprec"].groupby("model", sort=False)["iauprec"].mean().to_numpy()
    ranking = {"model": names, "iauprec": means, "conf_low": means - 0.1, "conf_high": means + 0.1}
    places = pd.MultiIndex.from_product([names, PRIORS, GRID], names=["model", "prior", "recall"])
    at = pd.MultiIndex.from_product([names, PRIORS[::-1]], names=["model", "prior"]).to_frame(index=False)
    late = at["model"].map(dict(zip(names, range(len(names)), strict=True)))
    height = at["prior"] ** 0.3 - 0.05 * late
    return SimpleNamespace(
        **frames,
        ranking=pd.DataFrame({**ranking, "group": ["a", *["ab"] * (len(names) - 1)]}),
        surface=places.to_frame(index=False).assign(precision=lambda rows: rows["prior"] ** rows["recall"]),
        regions=pd.DataFrame({"model": names[:2], "prior_low": [0.005, 0.05], "prior_high": [0.05, 0.5]}),
        pairs=pd.DataFrame([difference(names[0], name, 0.04 * i) for i, name in enumerate(names) if i]),
        auprec_intervals=at.assign(auprec=height, conf_low=height - 0.04, conf_high=height + 0.06),
        regret=at.assign(regret=0.1 * (late - 2 * at["prior"]).abs()),
        residuals=two_way_anova(frames["iauprec"]).residuals() if folds > 1 else None,
    )


def bands(ax):
    return [artist for artist in ax.collections if isinstance(artist, PolyCollection)]


def legend_texts(ax):
    """Texts of the legend, none without one."""
    drawn = ax.get_legend()
    return [] if drawn is None else [text.get_text() for text in drawn.get_texts()]


def texts(ax):
    """Texts on the axes."""
    return [text.get_text() for text in ax.texts]


def assert_fits(figure):
    """Nothing stands out of the figure."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= -0.02
    assert box.x1 <= figure.get_figwidth() + 0.02
    assert box.y1 <= figure.get_figheight() + 0.02


def mean_of(frame, model, by, column):
    return frame[frame["model"] == model].groupby(by, sort=True)[column].mean()


def assert_line(line, series):
    np.testing.assert_allclose(line.get_xdata(), series.index.to_numpy(), rtol=1e-12)
    np.testing.assert_allclose(line.get_ydata(), series.to_numpy(), rtol=1e-12)
