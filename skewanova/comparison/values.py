"""Compare models by the values of any measure: one value for each model and fold, or data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skewanova.base.checks import Floats, InputError, Seed, warn_each
from skewanova.base.rounding import argsort_descending, is_maximum, limit_blas_threads, snap_ties
from skewanova.base.text import format_section, report_stage, shorten_names, wrap_lines
from skewanova.comparison.analysis import FoldTests, Frames, Options, choose_datasets_test, group_by_pairs
from skewanova.comparison.cases import TestSetAnalysis
from skewanova.comparison.pipeline import SUSPICIOUS_CHECKS
from skewanova.comparison.result import PublishedResult
from skewanova.curves.estimators import ROC_AUC
from skewanova.decision import bands, planning
from skewanova.decision.joint_curves import join_areas
from skewanova.decision.leads import CROSSING_COLUMNS, interpolate_crossings
from skewanova.decision.measures import Measure, MeasuredCases, limit_areas, measure_gains
from skewanova.decision.posterior import probability_best
from skewanova.decision.verdict import Verdict, list_advice
from skewanova.evaluation.measures import Evaluation, evaluate
from skewanova.inference import fold_statistics
from skewanova.inference.diagnostics import assumptions, soundness
from skewanova.inference.omnibus import build_fold_table
from skewanova.inference.paired_test_set import get_test_set
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import list_sample_warnings
from skewanova.priors.weightings import UniformPrior, as_deployment_prior
from skewanova.report import document, publication, sentences
from skewanova.report.pairs_verdict import CLASS_RISKS, write_values_verdict
from skewanova.report.publication import Paper, Prose
from skewanova.report.source import FRAMES
from skewanova.report.tables import VALUES_TABLES
from skewanova.scores.design import FoldDesign, as_design, design_without_cases, fold_mean_interval
from skewanova.scores.kinds import VALUES_DESIGNS
from skewanova.scores.pairing import check_paired, check_several_models, complete_table
from skewanova.scores.reading import read_in_memory
from skewanova.scores.values import ValueTable, read_values

VALUES_RANKING_COLUMNS = (
    "rank", "rank_low", "rank_high", "model", "mean", "std", "conf_low", "conf_high", "group", "p_best",
    "mean_rank", "n_best",
)  # fmt: skip


#: Unit and reason of the designs in which the rows are no folds of one data set.
OTHER_UNITS = {"datasets": ("data set", "each counted once"), "runs": ("run", "on one test set")}


#: Frames of a comparison of values, and what each holds.
VALUES_FRAMES: Mapping[str, str] = {
    "values": "value of every model and fold",
    **{name: FRAMES[name] for name in ("tests", "pairs", "ranking", "effects", "equivalence")},
    **{name: FRAMES[name] for name in ("assumptions", "plans")},
    "by_prior": "of a measure of scores: mean of every model along the prior",
    "difference_curves": "the same: difference of every pair along the prior, with simultaneous bands",
    "crossings": "the same: where the mean curves of two models cross, with intervals",
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
        All frames by name: values, tests, pairs, ranking, effects, equivalence, assumptions, plans and, of a
        measure of scores that depends on the prior, by_prior and difference_curves.
    design, unit : FoldDesign, str
        How the folds were made, and what each is: fold, run, data set or test set.
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

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.table.measure

    @property
    def unit(self) -> str:
        """Sampling unit of the values: "fold", "run", "data set" or "test set"."""
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
        return Prose(tuple(publication.write_values_methods(self)))

    def for_paper(self) -> Paper:
        """Return a Paper: `results`, `methods`, `table`, `caption`, `references`; `save` draws its figure."""
        text = f"Differences in {self.measure} between pairs of models, with confidence intervals."
        return publication.build_paper(self, "pairs", text)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Results of the primary tests, in sentences: of all models, then of pairs."""
        return sentences.write_test_findings(self, shorten_names(self.ranking["model"]))

    def _format_details(self, width: int) -> list[str]:
        """Return sections of text: design, conclusions, pairs, effects, plans and, if any, warnings."""
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
        return document.render_values_page(self, provenance)


@limit_blas_threads()
def compare_values(
    values: object,
    *,
    measure: str | Measure | None = None,
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

    Use it where the values exist already, one for each model and fold or data set, or for a measure of
    held-out scores other than AUPREC. Use :func:`compare` for AUPREC.

    Parameters
    ----------
    values : path, frame or mapping
        A long table with the columns model, value (or one named by `measure`) and fold; or a wide one, with a
        column for each model and a row for each fold. A column ``run`` numbers repetitions of the folds,
        ``dataset`` names data sets. Or ``cv_results_`` of a search, whose candidates are named by the
        parameters that differ; a mapping from models to lists of values, or to what ``cross_validate``
        returned; or, with a :class:`~skewanova.decision.Measure`, held-out scores as for :func:`compare`.
    measure : str or Measure, optional
        Column of the values in a long table, or the measure to read of several in scikit-learn's results; it
        names the measure in all outputs. A Measure is computed from scores.
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
    >>> from skewanova import compare_values
    >>> values = {"forest": [0.84, 0.81, 0.86, 0.83, 0.85], "tree": [0.79, 0.78, 0.80, 0.79, 0.81]}
    >>> compare_values(values, measure="accuracy", design="kfold").verdict.choose
    'Use forest.'
    """
    options = Options(alpha, pairwise, p_adjust, control, rope, rng, of_areas=False)
    if isinstance(measure, Measure):
        if not greater_is_better and measure.greater_is_better:
            raise InputError(f"greater_is_better=False does not fit {measure.name}; leave it out")
        return _compare_scores(values, measure, options, design)
    report_stage("values")
    table = read_values(values, measure=measure)
    options.check_control(table.models)
    stated, unit = resolve_design(design, table)
    gains = _order_gains(table, 1.0 if greater_is_better else -1.0, unit)
    primary, notes = choose_primary_tests(unit, options, (stated.n_folds, len(table.models)))
    tests = FoldTests(gains, list(gains["model"].unique()), stated, options, primary)
    settings = {"greater_is_better": greater_is_better, "unit": unit}
    frames, warnings = _analyse_folds(tests, table, settings)
    notes += warnings
    return _make_comparison(table, stated, options, settings=settings, frames=frames, notes=notes)


def _make_comparison(
    table: ValueTable,
    design: FoldDesign,
    options: Options,
    *,
    settings: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame],
    notes: Sequence[str],
) -> ValuesComparison:
    """Return the result, missing frames empty, `response` the measure; `settings` add to those of options."""
    named = {name: frames[name].assign(response=table.measure) for name in ("tests", "pairs")}
    unit, description = str(settings["unit"]), design.describe()
    if unit in {"run", "data set"}:
        description = f"{design.n_folds} {unit}s, {design.reason}"
    return ValuesComparison(
        {name: {**EMPTY_FRAMES, **frames, **named}[name] for name in VALUES_FRAMES},
        design=design,
        warnings=tuple(dict.fromkeys([*warn_each(design.warnings), *notes])),
        settings={
            "measure": table.measure,
            "design": unit if unit in {"run", "data set"} else design.kind,
            "design_description": description,
            "test_fraction": design.test_fraction,
            **{name: value for name, value in asdict(options).items() if name != "rng"},
            **settings,
            "seed": options.rng if isinstance(options.rng, int) else None,
            "n_models": len(table.models),
            "n_folds": design.n_folds,
        },
        table=table,
    )


def _order_gains(table: ValueTable, sign: float, unit: str) -> pd.DataFrame:
    """Return the values times `sign` as model, fold, iauprec, the models in ranking order."""
    frame = table.values.rename(columns={"value": "iauprec"})
    frame["iauprec"] *= sign
    gains, names = build_fold_table(frame)
    order = argsort_descending(gains.mean(axis=0))
    if unit == "data set":  # by mean rank, then by mean
        order = [order[i] for i in argsort_descending(-_mean_ranks(gains[:, order]))]
    return pd.concat([frame[frame["model"] == names[i]] for i in order], ignore_index=True)


def _analyse_folds(
    tests: FoldTests, table: ValueTable, settings: Mapping[str, Any], *, size: Floats | None = None
) -> tuple[Frames, list[str]]:
    """Return frames by name, warnings; `size` (effective cases by model) puts limits of means on logits."""
    options, unit = tests.options, settings["unit"]
    report_stage("tests of all models")
    omnibus = tests.test_models()
    report_stage("pairs of models")
    pairs = tests.test_pairs()
    frames = {
        "values": table.values.rename(columns={"fold": unit.replace(" ", "")}),
        "tests": pd.concat([test.to_frame() for test in omnibus], ignore_index=True),
        "pairs": pairs,
        "ranking": _rank(tests, pairs, unit, sign=1.0 if settings["greater_is_better"] else -1.0, size=size),
        **tests.describe_pairs(),
        "assumptions": assumptions(tests.frame, alpha=options.alpha),
        "plans": planning.plan_folds(tests.frame, tests.design, _set_target(options, tests.models)),
    }
    return frames, [*warn_each(tests.list_warnings()), *(note for test in omnibus for note in test.warnings)]


def _set_target(options: Options, models: Sequence[str]) -> planning.PowerTarget:
    """Return the goal of a plan: power .8 for the observed differences, at alpha over the count of pairs."""
    level = options.alpha / planning.count_compared_pairs(len(models), options.control)
    return planning.PowerTarget(None, 0.8, level, planning.ASSURANCE, options.control)


#: Columns of frames that have rows with a `rope` only, or for a measure of scores by prior.
EMPTY_FRAMES = {
    "equivalence": pd.DataFrame(columns=[
        "model_a", "model_b", "rope", "p_a_ahead", "p_equal", "p_b_ahead", "p_value", "p_adjusted",
        "equivalent",
    ]),
    "by_prior": pd.DataFrame(columns=["prior", "model", "rank", "value"]),
    "difference_curves": pd.DataFrame(
        columns=["model_a", "model_b", "prior", *bands.DIFFERENCE_TESTS, "reject"]
    ),
    "crossings": pd.DataFrame(columns=list(CROSSING_COLUMNS)),
}  # fmt: skip


def resolve_design(design: str | FoldDesign, table: ValueTable) -> tuple[FoldDesign, str]:
    """Return design, sizes filled in, and unit (fold; "independent": run, data set); raise if unclear."""
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
    return design_without_cases(n_folds, as_design(design), can_add_cases=False), "fold"


def _ask_for_design(name: str, table: ValueTable) -> str:
    """Return the message that asks for a design, with a line on each; for data sets, to leave it out."""
    if table.has_datasets:
        return f"data sets are compared by one value each: leave out design={name!r}, or the column dataset"
    got = "" if name == "auto" else f", but got {name!r}"
    question = f"`design` must say how the folds were made, which values alone do not show{got}:\n  "
    return question + ";\n  ".join(f"{choice}: {text}" for choice, text in VALUES_DESIGNS.items())


def choose_primary_tests(
    unit: str, options: Options, shape: tuple[int, ...]
) -> tuple[tuple[str, str] | None, list[str]]:
    """Return tests (models, pairs) of data sets, else None; notes with "auto"; `shape`: folds, models."""
    if unit != "data set":
        return None, []
    n_pairs = planning.count_compared_pairs(shape[1], options.control)
    method, notes = choose_datasets_test(shape[0], n_pairs, options.alpha)
    return ("friedman", method), notes if options.pairwise == "auto" else []


def _mean_ranks(gains: Floats) -> Floats:
    """Return mean ranks (n_models,) over folds of gains (n_folds, n_models), 1 the best, ties averaged."""
    return np.asarray(rankdata(snap_ties(-gains), axis=1).mean(axis=0))


def _rank(
    tests: FoldTests, pairs: pd.DataFrame, unit: str, *, sign: float, size: Floats | None
) -> pd.DataFrame:
    """Return `ranking` of `sign` times gains, models as in `tests`; limits by t or, with `size`, logit."""
    (gains, models), options, design = build_fold_table(tests.frame), tests.options, tests.design
    mean, std, n_folds = gains.mean(axis=0), gains.std(axis=0, ddof=1), len(gains)
    interval = fold_mean_interval(mean, std, n_folds, ratio=design.ratio, level=1 - options.alpha, size=size)
    covariance = fold_statistics.covariance_of_means(gains, design.ratio)
    p_best = np.full(len(models), np.nan)
    if unit != "data set":  # whose values need be neither normal nor comparable
        p_best = probability_best(mean, covariance, df=n_folds - 1.0, rng=options.rng)
    n_best = np.sum([is_maximum(row) for row in gains], axis=0)
    return _make_ranking(
        models, pairs, options, sign=sign, mean=mean, conf_low=interval.low, conf_high=interval.high,
        p_best=p_best, std=std, mean_rank=_mean_ranks(gains), n_best=n_best,
    )  # fmt: skip


def _make_ranking(
    models: Sequence[str], pairs: pd.DataFrame, options: Options, *, sign: float, **columns: Any
) -> pd.DataFrame:
    """Return the ranking in order of `models`, of `sign` times gains; with bh, rank_low 1, rank_high n."""
    frame = pd.DataFrame({"model": models, "rank_low": 1, "rank_high": len(models), **columns})
    low, high = np.sort([sign * frame["conf_low"], sign * frame["conf_high"]], axis=0)
    frame = frame.assign(rank=frame.index + 1, conf_low=low, conf_high=high, mean=sign * frame["mean"])
    return group_by_pairs(frame, pairs, options)[list(VALUES_RANKING_COLUMNS)]


# --- measures of scores -------------------------------------------------------------------------------------


#: Fewest cases or clusters of a class; a test of areas rejected .068 with 20 (studies/records/measures.md).
MIN_CLASS_SIZE = 30


def _compare_scores(
    scores: object, measure: Measure, options: Options, design: str | FoldDesign
) -> ValuesComparison:
    """Return the comparison of a measure of held-out scores, over folds, runs or the cases of a test set."""
    report_stage("scores")
    table = read_in_memory(scores)
    check_several_models(table)
    options.check_control(table.models)
    complete, _ = complete_table(table)
    prior, notes = measure.deployment_prior, list(check_paired(complete))
    evaluation = evaluate(complete, deployment_prior=prior or (0.05, 0.20), design=design)
    stated, unit = _adapt_design(evaluation.design, measure)
    if evaluation.design.n_halvings:
        notes.append("halvings serve AUPREC only; these tests correct for shared training data")
    frame = pd.DataFrame(list(evaluation.curves), columns=["model", "fold"]).astype(str)
    frame = frame.assign(value=measure.mean(evaluation.curves))
    values = ValueTable(frame, measure.name, source=complete.source)
    means = measure.sign * frame.groupby("model", sort=False)["value"].mean()
    evaluation = evaluation.reorder_models(means.index[argsort_descending(means)].tolist())
    settings: dict[str, Any] = {"greater_is_better": measure.greater_is_better, "unit": unit}
    if prior is not None:
        settings |= {"deployment_prior": prior.describe(), "deployment_limits": (prior.low, prior.high)}
        settings["measure_description"] = measure.describe()
    if unit == "test set":
        frames, warnings = _analyse_cases(TestSetAnalysis(evaluation, options), measure, values)
    else:
        gains = _order_gains(values, measure.sign, unit)
        tests = FoldTests(gains, evaluation.models, stated, options)
        size = measure.count_limiting_cases(evaluation.support) if unit == "fold" else None
        frames, warnings = _analyse_folds(tests, values, settings, size=size)
    checks = soundness(evaluation)
    frames["assumptions"] = pd.concat([frames["assumptions"], checks], ignore_index=True)
    suspicions = list_advice(checks, SUSPICIOUS_CHECKS)
    unmet = measure.list_unmet_targets(evaluation.curves)
    notes += [*warnings, *evaluation.warnings, *warn_each([*suspicions, *unmet])]
    if prior is not None:
        frames |= _follow_prior(evaluation, measure, stated, options)
    return _make_comparison(values, stated, options, settings=settings, frames=frames, notes=notes)


def _adapt_design(design: FoldDesign, measure: Measure) -> tuple[FoldDesign, str]:
    """Return the design of tests (without halvings, runs independent), unit; raise for fixed, nested runs."""
    if design.is_test_set:
        return design, "test set"
    if not design.has_runs:
        kind = "repeated_holdout" if design.n_halvings else design.kind
        return replace(design, kind=kind, n_halvings=0, inner_folds=0), "fold"
    if design.runs != "crossed":
        raise InputError(
            f"{measure.name} of runs is tested over further runs only: leave out design='{design.runs}_runs'"
        )
    unit, reason = OTHER_UNITS["runs"]
    return replace(design, kind="independent", reason=reason), unit


def _follow_prior(evaluation: Evaluation, measure: Measure, design: FoldDesign, options: Options) -> Frames:
    """Return `by_prior` (prior, model, rank, value); if variances exist, difference_curves, crossings."""
    grid, models, folds = bands.difference_grid(evaluation), evaluation.models, evaluation.folds
    rows = pd.DataFrame(measure.by_prior(evaluation.curves, grid), index=pd.Index(list(evaluation.curves)))
    order = pd.MultiIndex.from_product([folds, models]).swaplevel()
    values = rows.loc[order].to_numpy().reshape(len(folds), len(models), len(grid))
    means = values.mean(axis=0).T
    frame = pd.DataFrame(
        {
            "prior": np.repeat(grid, len(models)),
            "model": np.tile(models, len(grid)),
            "rank": rankdata(-measure.sign * snap_ties(means), method="ordinal", axis=1).ravel(),
            "value": means.ravel(),
        }
    )
    if design.is_test_set:
        parts = [replace(measure, deployment_prior=UniformPrior(p, p)) for p in grid.tolist()]
        gains = (_measure_cases(evaluation, part, options.alpha).areas for part in parts)
        tests = bands.compare_joint_curves(join_areas(grid, gains))
    else:
        tests = bands.compare_over_folds(grid, measure.sign * values, None, design)
    if tests is None:
        return {"by_prior": frame}
    shared: dict[str, Any] = {"alpha": options.alpha, "control": options.control, "rng": options.rng}
    return {
        "by_prior": frame,
        "difference_curves": bands.tabulate_differences(tests, models, **shared),
        "crossings": interpolate_crossings(tests[0], models, options.alpha),
    }


def _analyse_cases(
    analysis: TestSetAnalysis, measure: Measure, table: ValueTable
) -> tuple[Frames, list[str]]:
    """Return frames as `_analyse_folds`, by jackknife tests (p of all models nan if refused); warnings."""
    evaluation, options = analysis.evaluation, analysis.options
    areas, (low, high) = _measure_cases(evaluation, measure, options.alpha)
    report_stage("tests of all models")
    result = analysis.compare(areas)
    report_stage("pairs of models")
    pairs = analysis.compare_families(result, {})
    target = _set_target(options, result.models)
    plan = planning.plan_over_cases(areas, target)
    refusable, tests = measure.rule is None and len(result.models) > 2, analysis.test_models(result)
    checks = _check_class_sizes(areas.sample, refusable=refusable)
    refused = warn_each(advice for advice in checks["advice"] if advice and refusable)
    gains = result.estimate
    p_best = probability_best(gains, areas.area_covariance, df=areas.sample.df, rng=options.rng)
    ranking = _make_ranking(
        result.models, pairs, options, sign=measure.sign, mean=gains, conf_low=low, conf_high=high,
        p_best=p_best, std=np.nan, mean_rank=np.nan, n_best=is_maximum(gains).astype(int),
    )  # fmt: skip
    frames = {
        "values": table.values,
        "tests": tests.to_frame().assign(**({"p_value": np.nan} if refused else {})),
        "pairs": pairs,
        "ranking": ranking,
        **analysis.describe_pairs(result, result.std_error),
        "assumptions": checks,
        "plans": planning.build_plan(plan, result.models, evaluation.design, target),
    }
    return frames, [*list_sample_warnings(areas.sample), *refused]


def _check_class_sizes(sample: Sample, *, refusable: bool) -> pd.DataFrame:
    """Return rows positives, negatives: check, statistic (size), nan, advice by `refusable` or ""."""
    units = " (counted in clusters)" if sample.clustered else ""
    rows = []
    for name in ("positives", "negatives"):
        size = sample.effective_size(positive=name == "positives")
        advice = f"few {name}{units}, {MIN_CLASS_SIZE} are needed: {CLASS_RISKS[refusable]}; add {name}"
        rows.append((name, size, np.nan, advice if size < MIN_CLASS_SIZE else ""))
    return pd.DataFrame(rows, columns=["check", "statistic", "p_value", "advice"])


def _measure_cases(evaluation: Evaluation, measure: Measure, alpha: float) -> MeasuredCases:
    """Return gains (AUC, else at the threshold) and limits; raise for a threshold chosen on the test set."""
    test_set = get_test_set(evaluation)
    if measure.rule is None:
        by_roc = replace(evaluation, area_estimator=ROC_AUC)
        return limit_areas(test_set.measure_areas(by_roc, as_deployment_prior(0.5)), alpha)
    if measure.threshold is None:
        rule, costs = measure.rule, measure.rule.costs
        call, option = f"{rule.name}={rule.target}", f"--{rule.name} {rule.target}"
        if costs:
            call, option = f"costs={costs}", "--cost-fp {:g} --cost-fn {:g}".format(*costs)
        raise InputError(
            f"{measure.name} has no test on the cases on which its threshold is chosen; "
            f"{'state it in the measure by threshold=0.5 (--threshold 0.5), or ' * bool(costs)}read the "
            f"numbers from skewanova.threshold_table(scores, {call}), or `skewanova threshold SCORES "
            f"{option}`"
        )
    rates, changes = test_set.measure_rates(evaluation.models, measure.threshold)
    return measure_gains(measure, (rates, changes), test_set.sample, alpha)
