"""AUPRECDisplay, like the displays of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from skewanova.base import checks
from skewanova.base.checks import Floats, InputTypeError
from skewanova.curves.areas import auprec
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.roc import RocCurve, roc_curve
from skewanova.plotting import styling
from skewanova.scores.scikit_learn import check_data, find_test_rows, score_cases

#: Default priors: 0.001 to 0.5, evenly spaced in the log-odds.
DEFAULT_PRIORS = 1 / (1 + np.exp(np.linspace(np.log(999), 0, 61)))


class AUPRECDisplay:
    """Plot of a classifier's AUPREC by prior, or of its precision-recall curves at one prior.

    Create it with `from_predictions`, `from_estimator` or `from_cv_results`, which also draw it; `plot` draws
    it again on other axes. It follows the displays of :mod:`sklearn.metrics`.

    Parameters
    ----------
    curves : RocCurve or sequence of RocCurve
        ROC curve, or one for each fold.
    priors : array_like, optional
        Priors in ascending order; by default 0.001 to 0.5.
    area_estimator : str, default "trapezoid"
        As for :func:`auprec`.
    name : str, optional
        Name in the legend.

    Attributes
    ----------
    priors : ndarray of shape (n_priors,)
        Priors drawn.
    auprec : ndarray of shape (n_curves, n_priors)
        AUPREC of each curve at each prior.
    ax_, figure_ : Axes, Figure
        Axes and figure of the drawing.
    line_, chance_level_ : Line2D or list of Line2D; Line2D or None
        The line, or one for each fold; the line of a random ranking, if drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skewanova import AUPRECDisplay
    >>> ax = Figure().subplots()
    >>> labels, scores = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> display = AUPRECDisplay.from_predictions(labels, scores, priors=[0.1, 0.5], ax=ax)
    >>> display.line_.get_ydata().round(4)
    array([0.5705, 0.7917])
    """

    ax_: Axes
    figure_: Any
    line_: Line2D | list[Line2D]
    chance_level_: Line2D | None

    def __init__(
        self,
        curves: RocCurve | Sequence[RocCurve],
        *,
        priors: ArrayLike | None = None,
        area_estimator: str = "trapezoid",
        name: str | None = None,
    ) -> None:
        """Compute `auprec`; nothing is drawn before `plot`."""
        self.curves = tuple(curves) if isinstance(curves, Sequence) else (curves,)
        if not self.curves or not all(isinstance(curve, RocCurve) for curve in self.curves):
            raise InputTypeError(
                "`curves` must be skewanova.roc_curve(y_true, y_score) or a list of such, but got "
                f"{checks.describe_value(curves)}"
            )
        self.priors = DEFAULT_PRIORS if priors is None else checks.check_prior_list(priors, "priors")
        areas = [auprec(curve, self.priors, area_estimator=area_estimator) for curve in self.curves]
        self.auprec: Floats = np.array(areas)
        self.name = name

    def plot(
        self,
        ax: Axes | None = None,
        *,
        prior: float | None = None,
        name: str | None = None,
        curve_kwargs: Mapping[str, Any] | None = None,
        plot_chance_level: bool = False,
    ) -> Self:
        """Draw the display and return it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        prior : float, optional
            If set, precision-recall curves at this prior are drawn instead of AUPREC by prior.
        name : str, optional
            Name in the legend; by default the display's.
        curve_kwargs : mapping, optional
            Options of matplotlib's `plot` for the lines.
        plot_chance_level : bool, default False
            Whether to draw the line of a random ranking.

        Raises
        ------
        ValueError
            If `prior` is not strictly between 0 and 1.
        """
        if not isinstance(curve_kwargs, Mapping | None):
            raise InputTypeError(
                f"`curve_kwargs` must be options such as {{'color': 'red'}}, but got {curve_kwargs!r}"
            )
        title, xlabel, ylabel = "AUPREC by prior", styling.PRIOR_LABEL, "AUPREC"
        lines, chance = [(self.priors, areas) for areas in self.auprec], (self.priors, self.priors)
        if prior is not None:
            title = f"Precision-recall curve at prior {styling.format_plain(checks.check_prior(prior))}"
            xlabel, ylabel = "Recall", "Precision"
            lines = []
            for curve in self.curves:
                precision = vertex_precision(curve.tpr[1:], curve.fpr[1:], prior)
                lines.append((curve.tpr, np.append(precision[:1], precision)))  # also at recall 0
            chance = np.arange(2.0), np.full(2, prior)
        self.ax_ = styling.make_axes(ax, (6.4, 4.4))
        self.figure_ = self.ax_.figure
        options = {"color": "C0", "alpha": 0.5, "linewidth": 1} if len(lines) > 1 else {}
        drawn = [self.ax_.plot(*line, **{**options, **(curve_kwargs or {})})[0] for line in lines]
        self.line_ = drawn[0] if len(drawn) == 1 else drawn
        self.chance_level_ = None
        if plot_chance_level:
            self.chance_level_ = self.ax_.plot(*chance, color=styling.NEUTRAL, linestyle=":", linewidth=1)[0]
        if prior is None:
            styling.set_log_axis(self.ax_, "x", float(self.priors.min()), float(self.priors.max()))
        styling.set_unit_limits(self.ax_, x=prior is not None)
        handles = [(self._format_label(name), drawn[0]), ("random ranking", self.chance_level_)]
        entries = [(label, handle) for label, handle in handles if label is not None and handle is not None]
        styling.finish_axes(self.ax_, (title, xlabel, ylabel), entries)
        return self

    def _format_label(self, name: str | None) -> str | None:
        """Return `name` or the display's, above the number of folds if several; None if there is neither."""
        full = self.name if name is None else name
        if full is None:
            return None
        label = styling.model_labels([str(full)])[str(full)]
        return label if len(self.curves) == 1 else f"{label}\n({len(self.curves)} folds)"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        priors: ArrayLike | None = None,
        area_estimator: str = "trapezoid",
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the display from labels and scores, and return it.

        Parameters
        ----------
        y_true, y_score, pos_label, sample_weight
            As for :func:`roc_curve`.
        priors, area_estimator, name, **options
            As for the display and `plot`.
        """
        curve = roc_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return cls(curve, priors=priors, area_estimator=area_estimator, name=name).plot(**options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: object = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw and return the display, from a fitted scikit-learn classifier and cases it was not trained on.

        Parameters
        ----------
        estimator : estimator
            Fitted classifier.
        X, y, response_method, pos_label
            As for :func:`scores_from_estimators`.
        name : str, optional
            Name in the legend; by default the estimator's class.
        **options
            As for `from_predictions`.
        """
        method: dict[str, Any] = {"response_method": response_method, "pos_label": pos_label}
        data = check_data(X, y, None, class_prior=None, **method)
        score = score_cases(estimator, data.features, **method)
        full = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score, pos_label=pos_label, name=full, **options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        priors: ArrayLike | None = None,
        area_estimator: str = "trapezoid",
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw a line for each fold from the result of scikit-learn's `cross_validate`; return the display.

        Parameters
        ----------
        cv_results, X, y, response_method, pos_label
            As for :func:`scores_from_cv_results`, but `cv_results` is of one model.
        sample_weight : array_like, optional
            Weights of the held-out cases.
        name : str, optional
            Name in the legend; by default the estimators' class.
        priors, area_estimator, **options
            As for the display and `plot`.
        """
        method: dict[str, Any] = {"response_method": response_method, "pos_label": pos_label}
        data = check_data(X, y, None, class_prior=None, **method)
        weights = (
            np.ones(len(data.positive)) if sample_weight is None else checks.check_weights(sample_weight)
        )
        checks.check_same_length(y=data.positive, sample_weight=weights)
        tests = find_test_rows(cv_results, len(weights))
        curves = []
        for i, (rows, fitted) in enumerate(zip(tests, cv_results["estimator"], strict=True), 1):
            score, weight = data.scores(fitted, rows), None if sample_weight is None else weights[rows]
            with checks.prefix_errors(f"fold {i}"):
                curves.append(roc_curve(data.positive[rows], score, sample_weight=weight))
        full = type(cv_results["estimator"][0]).__name__ if name is None else name
        return cls(curves, priors=priors, area_estimator=area_estimator, name=full).plot(**options)
