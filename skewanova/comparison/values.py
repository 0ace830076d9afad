"""Compare models by the values of any measure: one value for each model and fold, or data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skewanova.base.checks import Floats, InputError, Seed, warn_each
from skewanova.base.rounding import argsort_descending, is_maximum, snap_ties
from skewanova.base.text import format_section, report_stage, shorten_names, wrap_lines
from skewanova.comparison.analysis import FoldTests, Options, choose_datasets_test, group_models
from skewanova.comparison.result import PublishedResult
from skewanova.decision.planning import ASSURANCE, PowerTarget, count_compared_pairs, plan_folds
from skewanova.decision.posterior import probability_best
from skewanova.decision.verdict import Verdict
from skewanova.inference import fold_statistics
from skewanova.inference.diagnostics import assumptions
from skewanova.inference.omnibus import build_fold_table
from skewanova.inference.ranks import rank_intervals
from skewanova.report import sentences
from skewanova.report.pairs_verdict import write_values_verdict
from skewanova.report.publication import Prose, write_values_methods
from skewanova.report.source import select_primary
from skewanova.report.tables import VALUES_TABLES
from skewanova.scores.design import FoldDesign, as_design, design_without_cases, fold_mean_interval
from skewanova.scores.kinds import VALUES_DESIGNS
from skewanova.scores.values import ValueTable, read_values

#: Unit and reason of the designs in which the rows are no folds of one data set.
OTHER_UNITS = {"datasets": ("data set", "each counted once"), "runs": ("run", "on one test set")}


#: Frames of a comparison of values, and what each holds.
VALUES_FRAMES: Mapping[str, str] = {
    "values": "value of every model and fold",
    "tests": "tests of all models: a row a term of each analysis",
    "pairs": "tests of pairs of models: a row a pair of each family",
    "ranking": "the models in ranking order",
    "effects": "effect size of every pair",
    "equivalence": "tests and probabilities of practical equivalence of every pair",
    "assumptions": "checks of what the tests assume, with advice",
    "plans": "how many folds would separate each pair",
}


@dataclass(frozen=True, eq=False, repr=False)
class ValuesComparison(PublishedResult):
    """Results of :func:`~skewanova.compare_values`; print it for the verdict and the ranking.

    Attributes
    ----------
    verdict : Verdict
        The model to use, how sure that is, in how many folds it has the best value, and the weakest point.
    ranking : DataFrame
        One row for each model: rank, rank_low, rank_high, model, mean, std (over folds), conf_low, conf_high,
        group (models that share a letter were not found to differ), p_best (nan for data sets), mean_rank and
        n_best (in how many folds no value is better). Data sets rank models by mean rank, others by mean.
    pairs, tests : DataFrame
        As for :class:`~skewanova.Comparison`. A difference is positive where `model_a` is better, also for
        losses.
    tables : mapping of str to DataFrame
        All frames by name: values, tests, pairs, ranking, effects, equivalence, assumptions and plans.
    design, unit : FoldDesign, str
        How the folds were made, and what each is: fold, run or data set.
    settings : dict
        Arguments of the comparison.
    warnings : tuple of str
        Reasons why numbers may be unreliable.
    """

    SPECS = VALUES_TABLES
    FRAMES = VALUES_FRAMES
    FIGURES: ClassVar = ("pairs", "p_values")
    MEAN = "mean"

    table: ValueTable = field(repr=False)

    def __repr__(self) -> str:
        """Return one line with the numbers of models and folds, and the first model."""
        best = next(iter(shorten_names(self.ranking["model"][:1]).values()))
        return (
            f"<Comparison of {len(self.ranking)} models over {self.design.n_folds} {self.unit}s by "
            f"{self.measure}: {best!r} ranks first>"
        )

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.table.measure

    @property
    def unit(self) -> str:
        """Sampling unit of the values: "fold", "run" or "data set"."""
        return str(self.settings["unit"])

    @property
    def population(self) -> str:
        """Phrase for the population of inference, such as "further data sets like these"."""
        others = {"data set": "further data sets like these", "run": "further runs on this test set"}
        return others.get(self.unit, self.design.population)

    @property
    def source(self) -> Path | None:
        """Path of the file of the values; None if they were read from memory."""
        return self.table.source

    @property
    def sha256(self) -> str:
        """SHA-256 of the file of the values, or of the values, as hexadecimal text."""
        return self.table.sha256()

    @cached_property
    def verdict(self) -> Verdict:
        """The model to use, how sure that is, how often it is best, and the weakest point."""
        return write_values_verdict(self)

    @property
    def methods(self) -> Prose:
        """Methods section for a paper, as text, Markdown, LaTeX or BibTeX."""
        return Prose(tuple(write_values_methods(self)))

    def for_paper(self) -> Any:
        """Return `results`, `methods`, one `table`, one figure with `caption` and the `references`."""
        from skewanova.report.publication import build_paper

        text = f"Differences in {self.measure} between pairs of models, with confidence intervals."
        return build_paper(self, "pairs", text)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Results of the primary tests, in sentences."""
        primary, short = select_primary(self.pairs), shorten_names(self.ranking["model"])
        return (
            sentences.write_omnibus_sentence(self.tests, self.alpha, primary),
            *sentences.write_pair_findings(primary, self.alpha, short),
        )

    def _format_details(self, width: int) -> list[str]:
        """Return sections of text: design, conclusions, pairs, plans and warnings."""
        short = shorten_names(self.ranking["model"])
        heading = f"{len(self.ranking)} models, {self.settings['design_description']}, level {self.alpha:g}"
        tables = [self.SPECS[name].make(self) for name in ("pairwise", "effects", "plans")]
        return [
            wrap_lines([heading, f"Tests and intervals are about {self.population}"], width),
            format_section("Conclusions", self.conclusions, width),
            *(table.to_text(width, names=short) for table in tables),
            *([format_section("Warnings", self.warnings, width)] if self.warnings else []),
        ]

    def _render_page(self, provenance: Mapping[str, Any]) -> str:
        """Return the report as an HTML document."""
        from skewanova.report.document import render_values_page

        return render_values_page(self, provenance)


def compare_values(
    values: object,
    *,
    measure: str | None = None,
    greater_is_better: bool = True,
    alpha: float = 0.05,
    design: str | FoldDesign = "auto",
    pairwise: str = "auto",
    p_adjust: str | None = None,
    control: str | None = None,
    rope: float | None = None,
    rng: Seed = 0,
) -> ValuesComparison:
    """Compare models by values of any measure, such as accuracies of a cross-validation.

    Use it where the values exist already, one for each model and fold or data set. Use :func:`compare` where
    held-out scores exist: it also judges single test sets, and any prior.

    Parameters
    ----------
    values : path, frame or mapping
        A long table with the columns model, value (or one named by `measure`) and fold; or a wide one, with a
        column for each model and a row for each fold. A column ``run`` numbers repetitions of the folds, and
        ``dataset`` names data sets. Or ``cv_results_`` of a search, whose candidates are named by the
        parameters that differ; or a mapping from names of models to lists of values, or to what
        ``cross_validate`` returned.
    measure : str, optional
        Column of the values in a long table, or the measure to read of several in scikit-learn's results; in
        all outputs the measure has this name.
    greater_is_better : bool, default True
        False for losses, such as a Brier score. Differences are positive where the first model is better.
    alpha, pairwise, p_adjust, control, rng
        As for :func:`compare`.
    design : str or FoldDesign, default "auto"
        How the folds were made: ``independent``, ``kfold``, ``repeated_kfold``, ``repeated_holdout``,
        ``runs`` (trainings tested on one test set) or ``datasets`` (every row is another data set). With
        "auto" the columns run and fold, or dataset, show it. Otherwise state it, as in
        ``FoldDesign("repeated_holdout", test_fraction=0.2)``.
    rope : float, optional
        Largest irrelevant difference. With it practical equivalence is tested.

    Returns
    -------
    ValuesComparison
        Print it for the verdict and the ranking; ``result.save("folder")`` writes a report.

    Raises
    ------
    ValueError, TypeError
        If a value is missing or not finite, there are fewer than two models or folds, the design is neither
        stated nor shown, or an option is out of range.

    Notes
    -----
    The tests are those of :func:`compare` over folds. Data sets are compared by Friedman's test and by
    Wilcoxon's signed-rank tests, or paired t tests if the data sets are too few for them to reject. Values of
    runs say nothing about other cases than those of their test set.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skewanova import compare_values
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"naive Bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    >>> values = {name: cross_val_score(model, X, y, cv=10) for name, model in models.items()}
    >>> result = compare_values(values, measure="accuracy", design="kfold")
    >>> result.ranking[["model", "mean"]].round(2).to_numpy().tolist()
    [['naive Bayes', 0.94], ['stump', 0.9]]
    """
    report_stage("values")
    options = Options(alpha, pairwise, p_adjust, control, rope or 0.0, rng)
    table = read_values(values, measure=measure)
    options.check_control(table.models)
    stated, unit = resolve_design(design, table)
    gains = _order_gains(table, 1.0 if greater_is_better else -1.0, unit)
    primary, notes = choose_primary_tests(unit, options, (stated.n_folds, len(table.models)))
    tests = FoldTests(gains, list(gains["model"].unique()), stated, options, primary)
    report_stage("tests of all models")
    omnibus = tests.test_models()
    report_stage("pairs of models")
    frames = _build_frames(tests, table, unit, rope=rope, greater_is_better=greater_is_better)
    frames["tests"] = pd.concat([test.to_frame() for test in omnibus], ignore_index=True)
    for name in ("tests", "pairs"):
        frames[name] = frames[name].assign(response=table.measure)
    notes += warn_each([*stated.warnings, *tests.list_warnings()])
    return ValuesComparison(
        {name: frames[name] for name in VALUES_FRAMES},
        design=stated,
        warnings=tuple(dict.fromkeys([*notes, *(note for test in omnibus for note in test.warnings)])),
        settings={
            "measure": table.measure,
            "greater_is_better": greater_is_better,
            "unit": unit,
            "design": stated.kind if unit == "fold" else unit,
            "design_description": _describe_design(stated, unit),
            "test_fraction": stated.test_fraction,
            **{name: value for name, value in asdict(options).items() if name != "rng"},
            "rope": rope,
            "seed": rng if isinstance(rng, int) else None,
            "n_models": len(table.models),
            "n_folds": stated.n_folds,
        },
        table=table,
    )


def _order_gains(table: ValueTable, sign: float, unit: str) -> pd.DataFrame:
    """Return the values times `sign` as model, fold, iauprec, the models in ranking order."""
    frame = table.values.rename(columns={"value": "iauprec"})
    frame["iauprec"] *= sign
    gains, names = build_fold_table(frame)
    ordered = [frame[frame["model"] == names[i]] for i in _order_models(gains, unit)]
    return pd.concat(ordered, ignore_index=True)


def _build_frames(
    tests: FoldTests, table: ValueTable, unit: str, *, rope: float | None, greater_is_better: bool
) -> dict[str, pd.DataFrame]:
    """Return the frames of VALUES_FRAMES by name, but for the tests of all models."""
    options, pairs = tests.options, tests.test_pairs()
    level = options.alpha / count_compared_pairs(len(tests.models), options.control)
    target = PowerTarget(None, 0.8, level, ASSURANCE)
    return {
        "values": table.values.rename(columns={"fold": unit.replace(" ", "")}),
        "pairs": pairs,
        "ranking": _rank(tests, pairs, unit, sign=1.0 if greater_is_better else -1.0),
        "equivalence": pd.DataFrame(columns=EQUIVALENCE_COLUMNS),
        **tests.describe_pairs(rope),
        "assumptions": assumptions(tests.frame, alpha=options.alpha),
        "plans": plan_folds(tests.frame, tests.design, target, control=options.control),
    }


#: Columns of the frame `equivalence`, which has no rows without a `rope`.
EQUIVALENCE_COLUMNS = [
    "model_a", "model_b", "rope", "p_a_ahead", "p_equal", "p_b_ahead", "p_value", "p_adjusted", "equivalent",
]  # fmt: skip


def resolve_design(design: str | FoldDesign, table: ValueTable) -> tuple[FoldDesign, str]:
    """Return the design of the values, and their unit (fold, run or data set); raise if it is not known."""
    name = design if isinstance(design, str) else as_design(design).kind
    if table.has_datasets and name == "auto":
        name = "datasets"
    n_folds = len(table.folds)
    if name in OTHER_UNITS and not (name == "runs" and table.has_datasets):
        unit, reason = OTHER_UNITS[name]
        return FoldDesign("independent", n_folds=n_folds, reason=reason), unit
    seen = table.run_size > 1 and not table.has_datasets and name in {"auto", "repeated_kfold"}
    if seen and (isinstance(design, str) or design.test_fraction is None):
        reason = f"runs of {table.run_size} folds"
        return FoldDesign("repeated_kfold", 1 / table.run_size, n_folds=n_folds, reason=reason), "fold"
    if table.has_datasets or name not in VALUES_DESIGNS:
        raise InputError(_ask_for_design(name, table))
    return design_without_cases(n_folds, as_design(design), remedy=""), "fold"


def _ask_for_design(name: str, table: ValueTable) -> str:
    """Return the message that asks for a design, with a line on each."""
    if table.has_datasets:
        return f"data sets are compared by one value each: leave out design={name!r}, or the column dataset"
    got = "" if name == "auto" else f", but got {name!r}"
    question = f"`design` must say how the folds were made, which values alone do not show{got}:\n  "
    return question + ";\n  ".join(f"{choice}: {text}" for choice, text in VALUES_DESIGNS.items())


def _describe_design(design: FoldDesign, unit: str) -> str:
    """Return the design as text, such as "20 data sets, each counted once"."""
    return design.describe() if unit == "fold" else f"{design.n_folds} {unit}s, {design.reason}"


def choose_primary_tests(
    unit: str, options: Options, shape: tuple[int, ...]
) -> tuple[tuple[str, str] | None, list[str]]:
    """Return the primary tests of all models and pairs of data sets (None: by the design), and notes."""
    if unit != "data set":
        return None, []
    if options.pairwise != "auto":
        return ("friedman", options.pairwise), []
    n_pairs = count_compared_pairs(shape[1], options.control)
    method, notes = choose_datasets_test(shape[0], n_pairs, options.alpha)
    return ("friedman", method), notes


def _mean_ranks(gains: Floats) -> Floats:
    """Return the mean rank over folds (n_models,), 1 for the best."""
    return np.asarray(rankdata(snap_ties(-gains), axis=1).mean(axis=0))


def _order_models(gains: Floats, unit: str) -> list[int]:
    """Return the indices of the models, best first: by the mean, or over data sets by the mean rank."""
    order = argsort_descending(gains.mean(axis=0))
    if unit == "data set":
        order = [order[i] for i in argsort_descending(-_mean_ranks(gains[:, order]))]
    return order


def _rank(tests: FoldTests, pairs: pd.DataFrame, unit: str, *, sign: float) -> pd.DataFrame:
    """Return the ranking of the models, whose gains are `sign` times their values."""
    (gains, models), options, design = build_fold_table(tests.frame), tests.options, tests.design
    mean, std, n_folds = gains.mean(axis=0), gains.std(axis=0, ddof=1), len(gains)
    interval = fold_mean_interval(mean, std, n_folds, ratio=design.ratio, level=1 - options.alpha)
    limits = np.sort([sign * interval.low, sign * interval.high], axis=0)
    covariance = fold_statistics.covariance_of_means(gains, design.ratio)
    letters = group_models(models, pairs, options.control)
    p_best = np.full(len(models), np.nan)
    if unit != "data set":  # whose values need be neither normal nor comparable
        p_best = probability_best(mean, covariance, df=n_folds - 1.0, rng=options.rng)
    frame = pd.DataFrame(
        {
            "rank": np.arange(1, len(models) + 1),
            "rank_low": 1,
            "rank_high": len(models),
            "model": models,
            "mean": sign * mean,
            "std": std,
            "conf_low": limits[0],
            "conf_high": limits[1],
            "group": [letters.get(model, "") for model in models],
            "p_best": p_best,
            "mean_rank": _mean_ranks(gains),
            "n_best": np.sum([is_maximum(row) for row in gains], axis=0),
        }
    )
    if options.p_adjust == "bh":  # which does not hold all ranks at once
        return frame
    ranks = rank_intervals(models, select_primary(pairs))
    return frame.assign(rank_low=ranks["rank_low"], rank_high=ranks["rank_high"])
