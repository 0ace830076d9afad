"""Finished frames to matplotlib Axes: every function draws, none computes.

The first argument is a comparison (or any object with the frame as an attribute) or the frame itself. Models
keep the order in which the frame names them, and with it one colour and one marker in every plot. Without
`ax` a new pyplot figure is made, so that notebooks show it and ``plt.close`` frees it; with `ax` pyplot is
not touched. Legends stand beside the axes where the figure has a layout that makes room for them, such as
``plt.subplots(layout="constrained")``. Global settings of matplotlib and seaborn are never changed.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from skewanova import _artists as artists
from skewanova import _plotting as draw
from skewanova._checks import InputError
from skewanova._curve_plots import plot_precision_recall, plot_roc, plot_skew, plot_surface
from skewanova._plotting import ErrorBar, model_palette
from skewanova._prior_plots import plot_interaction, plot_regret
from skewanova._residual_plots import plot_residuals
from skewanova._sentences import TEST_NAMES
from skewanova._test_plots import plot_critical_difference, plot_p_values

__all__ = [
    "model_palette",
    "plot_auprec",
    "plot_critical_difference",
    "plot_difference_curves",
    "plot_differences",
    "plot_iauprec",
    "plot_interaction",
    "plot_p_values",
    "plot_precision_recall",
    "plot_regions",
    "plot_regret",
    "plot_residuals",
    "plot_roc",
    "plot_skew",
    "plot_surface",
]


def plot_auprec(
    result: object,
    *,
    deployment_prior: tuple[float, float] | None = None,
    support: pd.DataFrame | None = None,
    errorbar: ErrorBar = ("sd", 1),
    ax: Axes | None = None,
) -> Axes:
    """AUPREC of each model against the prior, averaged over folds.

    Priors at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior`, or that frame: model, fold, prior, auprec on one grid of priors.
    deployment_prior : tuple of float, optional
        Range of priors to shade.
    support : DataFrame, optional
        Columns prior, supported; by default that of the result, if it has one.
    errorbar, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        As for :func:`plot_roc`.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, `errorbar` is unknown or `deployment_prior` is no range.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plots import plot_auprec
    >>> areas = pd.DataFrame({"model": "A", "fold": 1, "prior": [0.01, 0.1], "auprec": [0.4, 0.8]})
    >>> plot_auprec(areas, ax=Figure().subplots()).get_xscale()
    'log'
    """
    frame = draw.find_frame(result, "auprec_by_prior", ["model", "fold", "prior", "auprec"], "plot_auprec")
    limits = draw.check_limits(deployment_prior)
    ax, entries = artists.auprec_lines(frame, errorbar, ax)
    entries += draw.shade_priors(ax, limits)
    entries += artists.unsupported(ax, _or_own(result, support, "support", ["prior", "supported"]))
    draw.style(ax, title="AUPREC by prior", xlabel=draw.PRIOR_LABEL, ylabel="AUPREC")
    draw.legend(ax, entries, draw.legend_title(frame))
    return ax


def plot_iauprec(result: object, ranking: pd.DataFrame | None = None, *, ax: Axes | None = None) -> Axes:
    """IAUPREC of each fold and model, with mean, interval and compact letters where a ranking is known.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `iauprec` and `ranking`, or the former frame: model, fold, iauprec. A fold has the same
        place in every model's row.
    ranking : DataFrame, optional
        Columns model, iauprec, conf_low, conf_high, group; needed where `result` is a frame, else only the
        folds are drawn.
    ax : Axes, optional
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on, first model on top.

    Raises
    ------
    ValueError
        If columns are missing, a frame is empty, or the ranking names a model that has no folds.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plots import plot_iauprec
    >>> folds = pd.DataFrame({"model": ["A", "A", "B"], "fold": [1, 2, 1], "iauprec": [0.8, 0.7, 0.6]})
    >>> ax = plot_iauprec(folds, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    frame = draw.find_frame(result, "iauprec", ["model", "fold", "iauprec"], "plot_iauprec")
    models = draw.in_order(frame["model"])
    source = result if ranking is None and not isinstance(result, pd.DataFrame) else ranking
    ranked = None if source is None else draw.find_ranking(source, models)
    ax = draw.new_axes(ax, (7.2, 1.6 + 0.45 * len(models)))
    entries = artists.fold_points(ax, frame, models)
    if ranked is not None:
        entries += artists.ranked_means(ax, ranked, models)
    draw.style(ax, title="IAUPREC by model", xlabel="IAUPREC", ylabel="")
    ax.set_yticks(range(len(models)), labels=list(draw.model_labels(models).values()))
    ax.set_ylim(len(models) - 0.5, -0.5)
    draw.legend(ax, entries)
    return ax


def plot_differences(
    result: object, *, test: str | None = None, prior: float | None = None, ax: Axes | None = None
) -> Axes:
    """Forest plot of the pairwise differences of one post-hoc test.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `posthoc`, or that frame: test, response, prior, model_a, model_b, estimate, conf_low,
        conf_high, reject.
    test : str, optional
        The test to draw; by default the first on IAUPREC.
    prior : float, optional
        The prior to draw, for tests done at several; by default IAUPREC or else the first.
    ax : Axes, optional
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on, first pair on top; markers are filled where the test rejects equality.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, or `test` or `prior` does not occur.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plots import plot_differences
    >>> pair = {"model_a": "A", "model_b": "B", "estimate": 0.1, "conf_low": 0.02, "conf_high": 0.18}
    >>> tukey = {"test": "tukey", "response": "iauprec", "prior": None, "reject": True, **pair}
    >>> plot_differences(pd.DataFrame([tukey]), ax=Figure().subplots()).get_xlabel()
    'Difference in IAUPREC (first minus second)'
    """
    columns = ["test", "response", "prior", "model_a", "model_b"]
    columns += ["estimate", "conf_low", "conf_high", "reject"]
    rows = artists.posthoc_rows(draw.find_frame(result, "posthoc", columns, "plot_differences"), test, prior)
    ax = draw.new_axes(ax, (7.6, 1.5 + 0.3 * len(rows)))
    ax.axvline(0, color=draw.NEUTRAL, linewidth=1, zorder=1)
    entries = artists.forest(ax, rows)
    response, at = rows["response"].iloc[0], rows["prior"].iloc[0]
    what = draw.RESPONSES.get(response, response) + (f" at prior {draw.plain(at)}" if pd.notna(at) else "")
    draw.style(
        ax,
        title=f"Pairwise differences\n{TEST_NAMES.get(rows['test'].iloc[0], rows['test'].iloc[0])}",
        xlabel=f"Difference in {what} (first minus second)",
        ylabel="",
    )
    labels = draw.model_labels([*rows["model_a"], *rows["model_b"]], width=20)
    pairs = [f"{labels[a]} − {labels[b]}" for a, b in rows[["model_a", "model_b"]].to_numpy()]  # noqa: RUF001
    ax.set_yticks(range(len(pairs)), labels=pairs)
    ax.set_ylim(len(pairs) - 0.5, -0.5)
    draw.legend(ax, entries)
    return ax


def plot_regions(
    result: object,
    regions: pd.DataFrame | None = None,
    *,
    bands: pd.DataFrame | None = None,
    crossings: pd.DataFrame | None = None,
    support: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Mean AUPREC against the prior, and along the bottom which model leads where.

    Bands hold for all models and priors at once, changes of the lead have their intervals, and priors
    at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior` and `regions`, or the former frame: model, fold, prior, auprec.
    regions : DataFrame, optional
        Columns model, prior_low, prior_high; needed where `result` is a frame.
    bands, crossings, support : DataFrame, optional
        As :func:`~skewanova.auprec_bands`, :func:`~skewanova.crossings` and
        :func:`~skewanova.support_by_prior` return them; by default those of the result, if it has them.
    ax : Axes, optional
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        As for :func:`plot_roc`.

    Raises
    ------
    ValueError
        If columns are missing, a frame is empty or not given, or the regions name an unknown model.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plots import plot_regions
    >>> areas = pd.DataFrame({"model": "A", "fold": 1, "prior": [0.01, 0.1], "auprec": [0.4, 0.8]})
    >>> leads = pd.DataFrame({"model": ["A"], "prior_low": [0.01], "prior_high": [0.1]})
    >>> plot_regions(areas, leads, ax=Figure().subplots()).get_title(loc="left")
    'Leading model by prior'
    """
    frame = draw.find_frame(result, "auprec_by_prior", ["model", "fold", "prior", "auprec"], "plot_regions")
    if regions is None and isinstance(result, pd.DataFrame):
        raise InputError("`plot_regions` needs `regions` where its first argument is a frame")
    source = result if regions is None else regions
    models = draw.in_order(frame["model"])
    leads = draw.find_regions(source, models)
    ax, entries = artists.auprec_lines(frame, None, ax)
    shown = _or_own(result, bands, "auprec_bands", ["model", "prior", "conf_low", "conf_high"])
    if shown is not None and shown["conf_low"].notna().any() and len(models) <= draw.MOST_BANDS:
        entries += artists.bands(ax, shown, models)
    entries += artists.unsupported(ax, _or_own(result, support, "support", ["prior", "supported"]))
    marks = ["prior", "conf_low", "conf_high", "model_above", "lead", "open_low", "open_high"]
    changes = _or_own(result, crossings, "crossings", marks)
    artists.leading_strip(ax, leads, models)
    entries += artists.crossing_marks(ax, changes, frame) if changes is not None else []
    entries.append(("strip: leading model", Patch(facecolor=draw.NEUTRAL)))
    draw.style(ax, title="Leading model by prior", xlabel=draw.PRIOR_LABEL, ylabel="AUPREC")
    draw.legend(ax, entries, draw.legend_title(frame))
    return ax


def plot_difference_curves(
    result: object,
    *,
    pair: tuple[str, str] | None = None,
    support: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Difference of AUPREC of two models along the prior, with a band that holds at all priors at once.

    Priors at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `differences`, or that frame: model_a, model_b, prior, estimate, conf_low, conf_high,
        reject.
    pair : (str, str), optional
        The two models, as the frame orders them; by default its first pair.
    support : DataFrame, optional
        Columns prior, supported; by default that of the result, if it has one.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        A strip along the bottom marks priors at which the band leaves out 0.

    Raises
    ------
    ValueError
        If a column is missing, or the pair is not in the frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import plot_difference_curves
    >>> frame = pd.DataFrame({
    ...     "model_a": "A", "model_b": "B", "prior": [0.1, 0.5], "estimate": [0.2, 0.1],
    ...     "conf_low": [0.1, -0.1], "conf_high": [0.3, 0.3], "reject": [True, False]
    ... })
    >>> from matplotlib.figure import Figure
    >>> plot_difference_curves(frame, ax=Figure().subplots()).get_ylabel()
    'Difference in AUPREC'
    """
    columns = ["model_a", "model_b", "prior", "estimate", "conf_low", "conf_high", "reject"]
    frame = draw.find_frame(result, "differences", columns, "plot_difference_curves")
    rows = artists.pair_rows(frame, pair)
    models = draw.in_order([*frame["model_a"], *frame["model_b"]])
    labels = draw.model_labels(models)
    first, second = rows["model_a"].iloc[0], rows["model_b"].iloc[0]
    ax = draw.new_axes(ax, (7.2, 4.0))
    entries = artists.difference_band(ax, rows, model_palette(models)[first])
    draw.log_axis(ax, "x", rows["prior"].min(), rows["prior"].max())
    entries += artists.unsupported(ax, _or_own(result, support, "support", ["prior", "supported"]))
    title = f"{labels[first]} minus {labels[second]}"
    draw.style(ax, title=title, xlabel=draw.PRIOR_LABEL, ylabel="Difference in AUPREC")
    draw.legend(ax, entries)
    return ax


def _or_own(
    result: object, given: pd.DataFrame | None, attribute: str, columns: list[str]
) -> pd.DataFrame | None:
    """The frame given, or that of the result."""
    source = result if given is None and not isinstance(result, pd.DataFrame) else given
    return draw.find_optional(source, attribute, columns)
