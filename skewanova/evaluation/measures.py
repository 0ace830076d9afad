"""AUPREC and IAUPREC of every model in every fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, InputTypeError
from skewanova.base.frames import FrameResult
from skewanova.curves.estimators import ESTIMATORS
from skewanova.curves.groups import Cell, Curves, areas_of_groups, measures_of_groups
from skewanova.priors.evidence import MIN_CASES, MIN_CASES_WITH_TIES, MIN_DISTINCT_SCORES, Support
from skewanova.priors.weightings import DeploymentPrior, PriorLike, as_deployment_prior
from skewanova.scores.columns import SAMPLING_COLUMNS, ColumnMap, RawTable
from skewanova.scores.design import FoldDesign, as_design, check_ratio, design_without_cases, infer_design
from skewanova.scores.pairing import find_fewest_distinct
from skewanova.scores.reading import read_scores
from skewanova.scores.table import Halvings, Label, Scores, ScoreTable
from skewanova.scores.validation import build_score_table, fill_fold, locate_group_row

#: Largest factor between the numbers of positives of two folds without a warning.
FOLD_IMBALANCE = 2.0


@dataclass(frozen=True, eq=False)
class Evaluation(FrameResult):
    """AUPREC and IAUPREC of every model in every fold.

    Attributes
    ----------
    auprec, iauprec : DataFrame
        Columns model, fold, prior, auprec; and model, fold, iauprec, auc, n_positive, n_negative.
    curves : mapping
        ROC curve of every (model, fold); without thresholds for Dask and Spark.
    models, folds, priors : tuple
        Models, folds and priors, in their order in the frames.
    deployment_prior, area_estimator : DeploymentPrior, str
        Prior distribution of IAUPREC, and estimator of all areas.
    warnings : tuple of str
        Reasons to read the numbers with care.
    scores : ScoreTable, optional
        The scores behind the areas.
    stated_design, cache : FoldDesign, dict
        Design of the folds as stated (see :attr:`design`); matched cases of the scores, shared by all copies.
    """

    auprec: pd.DataFrame
    iauprec: pd.DataFrame
    curves: Curves = field(repr=False)
    models: tuple[str, ...]
    folds: tuple[Label, ...]
    priors: tuple[float, ...]
    deployment_prior: DeploymentPrior
    area_estimator: str
    warnings: tuple[str, ...] = ()
    scores: Scores | None = field(default=None, repr=False)
    stated_design: FoldDesign = field(default_factory=FoldDesign)
    cache: dict[Scores, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def design(self) -> FoldDesign:
        """Design of the folds, stated or inferred from the cases at first use, which issues its warnings."""
        if self.scores is None:
            design = design_without_cases(len(self.folds), self.stated_design)
        else:
            design = infer_design(self.scores, design=self.stated_design)
        checks.warn_each(design.warnings)
        return design

    @cached_property
    def support(self) -> Support:
        """Effective numbers of distinct positives and negatives, with the rule for supported priors."""
        # Without a case column the distinct cases are the sum over independent folds, else those of the
        # largest fold over the fraction of the data set that it tests. With clusters or weights they are
        # worth what they are in the smallest fold.
        table, design = self.scores, self.design
        if table is not None and table.has_cases:
            distinct = np.array(table.class_sizes(), dtype=np.float64)
        else:
            counts = self.iauprec.groupby("fold", observed=True)[["n_negative", "n_positive"]].max()
            share = (design.overlapping and design.test_fraction) or 1.0
            distinct = np.asarray(counts.sum() if design.kind == "independent" else counts.max() / share)
        if table is not None:
            present = table.counts.sum(axis=2) > 0
            effective, raw = (c[present].min(axis=0) for c in (table.effective_counts, table.counts))
            distinct = distinct * np.minimum(effective / raw, 1.0)
        n_negative, n_positive = distinct.tolist()
        fewest = None if table is None else find_fewest_distinct(list(table.ties()))
        tied = fewest is None or fewest.n_distinct < min(MIN_DISTINCT_SCORES, fewest.n_cases)
        return Support(n_negative, n_positive, MIN_CASES_WITH_TIES if tied else MIN_CASES)

    @property
    def halvings(self) -> Halvings | None:
        """Halvings of the data set, if the design is `split_half` and the scores have them; else None."""
        is_split_half = self.design.kind == "split_half"
        return self.scores.halvings if is_split_half and isinstance(self.scores, ScoreTable) else None

    @cached_property
    def iauprec_half_differences(self) -> Floats | None:
        """Half of (IAUPREC in half 0 - in half 1), (n_halvings, n_models); None without halvings."""
        return self._half_differences(self._measure_iauprec)

    def auprec_half_differences(self, priors: ArrayLike) -> Floats | None:
        """Return (AUPREC in half 0 - half 1) / 2, (n_halvings, n_models, n_priors); None without halvings."""
        pi = checks.check_prior_list(priors, "priors")
        return self._half_differences(lambda curves: areas_of_groups(curves, pi, self.area_estimator))

    def _measure_iauprec(self, curves: Curves) -> Floats:
        """Return the IAUPREC of every curve, in the order of the curves."""
        grid, weighting = np.array([self.deployment_prior.low]), self.deployment_prior
        return measures_of_groups(curves, grid, weighting, self.area_estimator).iauprec

    def _half_differences(self, measure: Callable[[Curves], Floats]) -> Floats | None:
        """Return half of (area in half 0 - in half 1), (n_halvings, n_models, ...), by `models`, or None."""
        if self.halvings is None:
            return None
        order = [self.halvings.scores.models.index(model) for model in self.models]
        return self.halvings.half_differences(measure(self.halvings.curves))[:, order]

    def to_frame(self) -> pd.DataFrame:
        """Return the frame `auprec` itself, with the columns model, fold, prior, auprec."""
        return self.auprec

    def auprec_by_cell(self, priors: ArrayLike) -> Floats:
        """Return AUPREC (n_models, n_folds, n_priors), nan where a model lacks a fold."""
        pi = checks.check_prior_list(priors, "priors")
        values = np.full((len(self.models), len(self.folds), len(pi)), np.nan)
        cells = [(self.models.index(model), self.folds.index(fold)) for model, fold in self.curves]
        values[tuple(np.transpose(cells))] = areas_of_groups(self.curves, pi, self.area_estimator)
        return values

    def mean_auprec(self, priors: ArrayLike) -> Floats:
        """Return the mean AUPREC (n_models, n_priors) over the folds that each model has."""
        return np.asarray(np.nanmean(self.auprec_by_cell(priors), axis=1))

    def reweight(self, deployment_prior: PriorLike) -> Evaluation:
        """Return a copy with this deployment prior, and with IAUPREC over it."""
        changed = replace(self, deployment_prior=as_deployment_prior(deployment_prior))
        areas = dict(zip(self.curves, changed._measure_iauprec(self.curves).tolist(), strict=True))
        cells = zip(self.iauprec["model"], self.iauprec["fold"], strict=True)
        changed = replace(changed, iauprec=self.iauprec.assign(iauprec=[areas[cell] for cell in cells]))
        changed.__dict__["design"] = self.design
        return changed

    def reorder_models(self, models: Sequence[str]) -> Evaluation:
        """Return a copy with all models, and the rows of its frames, in this order, which is not checked."""
        position = {model: i for i, model in enumerate(models)}

        def sort(frame: pd.DataFrame) -> pd.DataFrame:
            """Return a sorted copy, models by `position`, with rows of a model in their order."""
            return frame.sort_values("model", key=lambda m: m.map(position), kind="stable", ignore_index=True)

        same = replace(self, auprec=sort(self.auprec), iauprec=sort(self.iauprec), models=tuple(models))
        if "design" in self.__dict__:  # inferred already, so that no warning repeats
            same.__dict__["design"] = self.design
        return same


def evaluate(
    scores: object,
    *,
    at_priors: Sequence[float] = (0.5, 0.1, 0.01),
    deployment_prior: PriorLike = (0.05, 0.20),
    area_estimator: str = "trapezoid",
    design: str | FoldDesign = "auto",
) -> Evaluation:
    """Return AUPREC and IAUPREC of every model in every fold.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`.
    at_priors : sequence of float, default (0.5, 0.1, 0.01)
        Distinct priors at which AUPREC is tabulated.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Prior distribution over which AUPREC is averaged to IAUPREC.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    design : str or FoldDesign, default "auto"
        How the folds were made, as for :func:`~skewanova.compare`; tests and intervals depend on it.

    Returns
    -------
    Evaluation
        Long-form frames and the curves behind them; that models share folds and cases is not checked.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if a prior is out of range or repeats.

    Warns
    -----
    SkewanovaWarning
        If the numbers of positives in folds differ by more than a factor of 2.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> list(measures.auprec), len(measures.auprec), len(measures.iauprec)
    (['model', 'fold', 'prior', 'auprec'], 120, 60)
    """
    grid = checks.check_prior_list(at_priors, "at_priors")
    if len(np.unique(grid)) < len(grid):
        raise InputError(f"`at_priors` must be distinct, but got {', '.join(f'{p:g}' for p in grid)}")
    weighting = as_deployment_prior(deployment_prior)
    checks.check_choice(area_estimator, ESTIMATORS, "area_estimator")
    stated_design = as_design(design)
    table = read_scores(scores)
    curves = table.curves()
    measured = measures_of_groups(curves, grid, weighting, area_estimator)
    counts = table.counts.reshape(-1, 2)
    negative, positive = counts[counts.sum(axis=1) > 0].T
    iauprec_frame = pd.DataFrame(list(curves), columns=["model", "fold"]).assign(
        iauprec=measured.iauprec, auc=measured.auc, n_positive=positive, n_negative=negative
    )
    fewest, most = int(positive.min()), int(positive.max())
    imbalance = (
        f"folds hold between {fewest} and {most} positives, more than a factor of {FOLD_IMBALANCE:g}: they "
        "do not estimate AUPREC equally well, yet count alike"
    )
    return Evaluation(
        auprec=build_auprec_frame(list(curves), grid, measured.auprec),
        iauprec=iauprec_frame,
        curves=curves,
        models=table.models,
        folds=table.folds,
        priors=tuple(grid.tolist()),
        deployment_prior=weighting,
        area_estimator=area_estimator,
        warnings=checks.warn_each([imbalance] if most > FOLD_IMBALANCE * fewest else []),
        scores=table,
        stated_design=stated_design,
    )


def measure_group(
    frame: pd.DataFrame,
    *,
    at_priors: Sequence[float] = (0.5, 0.1, 0.01),
    deployment_prior: PriorLike = (0.05, 0.20),
    area_estimator: str = "trapezoid",
    pos_label: object = None,
) -> pd.DataFrame:
    """Return the areas of one model in one fold, as the function of a grouped map.

    Parameters
    ----------
    frame : DataFrame
        All rows of one (model, fold), with the columns model, fold (without one, all rows are one test set),
        y_true, y_score and, optionally, case.
    at_priors, deployment_prior, area_estimator, pos_label
        As for :func:`~skewanova.evaluate` and, the last, :func:`~skewanova.read_scores`.

    Returns
    -------
    DataFrame
        One row per prior, with the columns model and fold (as text), prior, auprec, iauprec, auc, n_positive,
        n_negative. The schema for Spark is ``"model string, fold string, prior double, auprec double, iauprec
        double, auc double, n_positive long, n_negative long"``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError for several groups or a column cluster or weight.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.evaluation import measure_group
    >>> columns = {"y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, 0.35, 0.8]}
    >>> rows = pd.DataFrame({"model": "A", "fold": 1, **columns})
    >>> measure_group(rows, at_priors=(0.5, 0.1))["auprec"].round(4).tolist()
    [0.7917, 0.5705]
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputTypeError(f"`frame` must be a pandas DataFrame, but got {checks.describe_type(frame)}")
    ColumnMap(["model", "y_true", "y_score"], None, ()).select([*frame], "`frame`")
    source = "frame" if pos_label is None else f"skewanova.read_scores(frame, pos_label={pos_label!r})"
    if columns := [column for column in SAMPLING_COLUMNS if column in frame]:
        raise InputError(
            f"one group of a table with {' and '.join(columns)} cannot be measured by itself; leave that "
            f"out, or use skewanova.evaluate({source}), with the whole table as frame"
        )
    rows = fill_fold(frame.reset_index(drop=True))
    table = build_score_table(RawTable(rows, locate_group_row(rows)), pos_label)
    options: dict[str, Any] = {"deployment_prior": deployment_prior, "area_estimator": area_estimator}
    measures = evaluate(table, at_priors=at_priors, **options)
    if len(measures.curves) > 1:
        raise InputError(
            f"`frame` must hold one model in one fold, but holds {len(measures.curves)} groups; measure them "
            f"all by skewanova.evaluate({source})"
        )
    names = dict(zip(("model", "fold"), map(str, *measures.curves), strict=True))
    frame = measures.auprec.merge(measures.iauprec, on=["model", "fold"])
    return frame.assign(**names).astype({"model": object, "fold": object})


def check_evaluation(value: object, name: str = "evaluation") -> Evaluation:
    """Return the value if it is an Evaluation; else raise a message that says how to get one."""
    if isinstance(value, Evaluation):
        return value
    remedies = {
        "evaluation": "pass its attribute evaluation",
        "comparisons": "pass the attribute evaluation of one of its comparisons",
        "pairs": "read its attributes tests and pairs, or make one of scores by skewanova.evaluate(scores)",
    }
    other = "make one by skewanova.evaluate(scores)"
    remedy = next((text for name, text in remedies.items() if hasattr(value, name)), other)
    raise InputTypeError(f"`{name}` must be an Evaluation, but got {type(value).__name__}; {remedy}")


def resolve_ratio(
    source: Evaluation | pd.DataFrame, frame: str, ratio: float | None, *, needed: str = ""
) -> tuple[pd.DataFrame, float]:
    """Return the source and `ratio`, or an Evaluation's `frame` and, if `needed`, ratio, else 0; or raise."""
    if not isinstance(source, pd.DataFrame):
        check_evaluation(source, frame)
        if ratio is not None:
            raise InputError(
                "`ratio` is for frames, as an Evaluation has a design; leave it out, or state the design by "
                "skewanova.evaluate(scores, design='independent')"
            )
        return getattr(source, frame), source.design.ratio if needed else 0.0
    if ratio is None and needed:
        raise InputError(
            f"{needed} depends on how the folds were made: pass skewanova.evaluate(scores) instead of its "
            "frame, or the test cases for each training case, as ratio=0.25 for hold-outs of 20 % or ratio=0 "
            "for independent folds"
        )
    return source, 0.0 if ratio is None else check_ratio(ratio)


def half_differences(
    source: Evaluation | pd.DataFrame, models: Sequence[str], *, needed: str = ""
) -> Floats | None:
    """Return `iauprec_half_differences` of these models, or None; raise if absent but `needed` by a test."""
    if isinstance(source, Evaluation) and source.iauprec_half_differences is not None:
        order = [source.models.index(model) for model in models]
        return np.asarray(source.iauprec_half_differences[:, order])
    if needed:
        raise InputError(
            f"{needed} needs halvings of the data set: pass the Evaluation, without a stated `design`, of a "
            "score table that has them (columns part and halving), such as "
            "skewanova.compare_estimators(models, X, y, design='split_half').evaluation"
        )
    return None


def prior_grid(evaluation: Evaluation, size: int = 81) -> Floats:
    """Return `size` ascending priors, even in log-odds, over `priors` and deployment prior; or the one."""
    low = min(*evaluation.priors, evaluation.deployment_prior.low)
    high = max(*evaluation.priors, evaluation.deployment_prior.high)
    logit = np.linspace(np.log(low) - np.log1p(-low), np.log(high) - np.log1p(-high), size)
    inner = 1 / (1 + np.exp(-logit[1:-1]))
    return np.concatenate(([low], inner, [high])) if low < high else np.array([low])


def build_auprec_frame(cells: Sequence[Cell], grid: Floats, areas: Floats) -> pd.DataFrame:
    """Return areas (n_cells, n_priors) as a frame of model, fold, prior (the fastest), auprec."""
    frame = pd.DataFrame(list(cells), columns=["model", "fold"])
    return frame.merge(pd.DataFrame({"prior": grid}), how="cross").assign(auprec=areas.ravel())
