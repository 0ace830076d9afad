"""What tests of several plotting modules share: a frame of folds, and reading artists back."""

import numpy as np
import pandas as pd

#: Names that would be formulas, markup, escapes or too long if they were not taken literally.
HOSTILE = (
    "$x_1$ <b>&%",
    "a_b",
    "_hidden",
    "Логистическая регрессия",
    "a very long name of a model, number 10",
)


def fold_frame(names, n_folds=6, seed=0):
    """Columns model, fold, iauprec; later names are worse."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            {"model": name, "fold": fold, "iauprec": 0.8 - 0.05 * i + 0.04 * rng.normal()}
            for i, name in enumerate(names)
            for fold in range(1, n_folds + 1)
        ]
    )


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
