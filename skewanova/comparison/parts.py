"""Compare classifiers on several data sets, or for several classes.

Data sets are independent, and the mean on each is one observation. Classes share their cases: they are not
averaged, but p-values are adjusted over all classes and pairs, which is valid under any dependence.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import stats

from skewanova.base.checks import (
    InputError,
    InputTypeError,
    Seed,
    SkewanovaWarning,
    check_alpha,
    prefix_errors,
    warn_each,
)
from skewanova.base.frames import iter_rows, list_distinct
from skewanova.base.rounding import argsort_descending, snap_ties
from skewanova.base.text import Table, escape_text, format_with_error, merge_notes, shorten_names, wrap_lines
from skewanova.comparison.analysis import choose_datasets_test, group_models
from skewanova.comparison.pipeline import check_arguments, compare
from skewanova.comparison.result import Comparison
from skewanova.decision.joint_curves import iauprec_covariance
from skewanova.decision.planning import count_compared_pairs
from skewanova.decision.verdict import Verdict
from skewanova.inference.catalogue import get_test
from skewanova.inference.effect_sizes import estimate_mean_effect
from skewanova.inference.omnibus import omnibus_test
from skewanova.inference.pairwise import POSTHOC_COLUMNS, adjust_family, adjust_p_values, posthoc
from skewanova.priors.weightings import PriorLike
from skewanova.report import sentences, tables
from skewanova.report.document import PartsResult
from skewanova.report.pairs_verdict import write_class_choice, write_datasets_verdict
from skewanova.report.screen import build_datasets_screen
from skewanova.report.source import format_level, get_control, select_primary
from skewanova.scores.reading import MulticlassScores, read_datasets
from skewanova.scores.table import ScoreTable

MEAN_COLUMNS = ("dataset", "model", "iauprec", "std_error", "n_folds", "rank")


HIERARCHICAL_COLUMNS = (
    "model_a", "model_b", "n_datasets", "estimate", "std_error", "df", "statistic", "p_value", "p_adjusted",
    "conf_low", "conf_high", "tau", "i_sq", "q", "q_p_value", "prediction_low", "prediction_high", "reject",
)  # fmt: skip


BY_DATASET_COLUMNS = (
    "dataset", "model_a", "model_b", "estimate", "std_error", "df", "conf_low", "conf_high",
)  # fmt: skip


DATASETS_BY_PRIOR_COLUMNS = ("prior", "model", "rank", "auprec", "regret")


ACROSS_RANKING_COLUMNS = ("rank", "model", "mean_rank", "iauprec", "n_best", "group")


OMNIBUS_COLUMNS = ("class", "test", "df", "df_error", "statistic", "p_value", "p_adjusted", "reject")


@dataclass(frozen=True, eq=False)
class DatasetsComparison(PartsResult):
    """Results of a comparison on several data sets; print it for the verdict and the ranking.

    Attributes
    ----------
    verdict : Verdict
        The choice across data sets.
    comparisons : dict
        The :class:`~skewanova.Comparison` on each data set, by name.
    iauprec : DataFrame
        Columns dataset, model, iauprec (mean), std_error (corrected for shared training data), n_folds, rank.
    tests : DataFrame
        Friedman's test across data sets; columns of :func:`~skewanova.inference.omnibus_test`.
    pairs : DataFrame
        Wilcoxon's test, or paired t tests if the data sets are few (primary), and Nemenyi's test; columns of
        :func:`~skewanova.inference.posthoc`.
    by_dataset : DataFrame
        Columns dataset, model_a, model_b, estimate (of the difference), std_error, df, conf_low, conf_high.
    hierarchical : DataFrame
        Random-effects meta-analysis of each pair's differences: model_a, model_b, n_datasets, estimate,
        std_error, df, statistic, p_value, p_adjusted, conf_low, conf_high, tau, i_sq, q, q_p_value,
        prediction_low, prediction_high, reject.
    ranking : DataFrame
        One row for each model, by mean rank: rank, model, mean_rank, iauprec, n_best, group.
    by_prior : DataFrame
        Columns prior, model, rank, auprec (mean over data sets), regret.
    alpha, deployment_prior : float, str
        Level of all tests, and description of the deployment prior.
    warnings : tuple of str
        Reasons why numbers may be unreliable, by data set.
    """

    PART, PARTS, KIND = "dataset", "datasets", "comparison on several data sets"
    FRAMES: ClassVar = {
        "iauprec": "IAUPREC of every model and data set",
        "tests": "tests of all models across data sets",
        "pairs": "tests of pairs of models across data sets",
        "by_dataset": "difference of every pair on each data set",
        "hierarchical": "meta-analysis of the differences",
        "ranking": "the models in ranking order",
        "by_prior": "mean AUPREC over data sets of every model, prior by prior",
    }
    FILES: ClassVar = {
        "across": ("ranking.csv", "tests.csv", "pairs.csv"),
        "datasets": ("iauprec.csv",),
        "hierarchical": ("hierarchical.csv", "by_dataset.csv"),
    }

    comparisons: Mapping[str, Comparison] = field(repr=False)
    iauprec: pd.DataFrame = field(repr=False)
    by_dataset: pd.DataFrame = field(repr=False)
    hierarchical: pd.DataFrame = field(repr=False)
    deployment_prior: str

    @cached_property
    def verdict(self) -> Verdict:
        """Verdict across data sets: choose, how sure, where it changes, weakest point, and warnings."""
        control = get_control(next(iter(self.comparisons.values())))
        verdict = write_datasets_verdict(self, select_primary(self.pairs), control)
        notes = {name: result.verdict.warnings for name, result in self.comparisons.items()}
        return replace(verdict, warnings=tuple(merge_notes("data set", notes)))

    @cached_property
    def by_prior(self) -> pd.DataFrame:
        """Frame of prior, model, rank, auprec (mean over data sets), regret, at the priors that all share."""
        frames = [result.by_prior[["prior", "model", "auprec"]] for result in self.comparisons.values()]
        means = pd.concat(frames).groupby(["prior", "model"], observed=True)["auprec"].agg(["mean", "size"])
        means = means.loc[means["size"] == len(frames), "mean"].rename("auprec").reset_index()
        by_prior = means.groupby("prior")["auprec"]
        rank = by_prior.rank(ascending=False, method="first").astype(int)
        regret = by_prior.transform("max") - means["auprec"]
        frame = means.assign(rank=rank, regret=regret).sort_values(["prior", "rank"], ignore_index=True)
        return frame[list(DATASETS_BY_PRIOR_COLUMNS)]

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Sentences on the tests of all models, of each pair, and on the meta-analysis."""
        short = shorten_names(self.ranking["model"])
        meta_analysis = sentences.write_hierarchical_sentences(self.hierarchical, self.alpha, short)
        return *sentences.write_test_findings(self, short), *meta_analysis

    def _repr_html_(self) -> str:
        """Return the verdict and the ranking as HTML, for a notebook."""
        return f"{self.verdict._repr_html_()}\n{self._build_tables()[0].to_html()}"

    def _format_choice(self, width: int) -> str:
        """Return the verdict as text of at most `width` columns."""
        return self.verdict.to_text(width)

    def _list_headings(self) -> list[str]:
        """Return two lines: numbers of data sets and models with the level, and the deployment prior."""
        return [
            f"{len(self.comparisons)} data sets, {len(self.ranking)} models, level {self.alpha:g}",
            f"IAUPREC: mean AUPREC over the deployment prior, {self.deployment_prior}",
        ]

    def _build_tables(self) -> tuple[Table, ...]:
        """Return the text tables of the ranking, of mean IAUPREC by data set, and of the meta-analysis."""
        models, means = self.ranking["model"].tolist(), iter_rows(self.iauprec)
        cells = {(row.dataset, row.model): format_with_error(row.iauprec, row.std_error) for row in means}
        names = list_distinct(self.iauprec["dataset"])
        rows = [(name, *(cells[name, model] for model in models)) for name in names]
        caption = "Mean IAUPREC (corrected standard error) by data set"
        return (
            tables.ACROSS_TABLE.build(self.ranking, groups=tables.write_group_note(self.ranking)),
            Table("datasets", caption, ("Data set", *models), tuple(rows)),
            tables.HIERARCHICAL_TABLE.build(self.hierarchical, level=format_level(self.alpha)),
        )

    def _draw_figures(self, formats: Sequence[str]) -> dict[str, dict[str, bytes]]:
        """Return the bytes, by format, of the figures `across` (mean ranks) and `hierarchical`."""
        from skewanova.report.figures import draw_hierarchical, draw_mean_ranks, render_figures

        draw = {
            "across": lambda: draw_mean_ranks(self.iauprec, self.pairs, self.alpha),
            "hierarchical": lambda: draw_hierarchical(self.by_dataset, self.hierarchical),
        }
        return dict(render_figures(draw.items(), formats))

    def _build_page_items(self, colors: Mapping[str, int]) -> dict[str, Any]:
        """Return title, subject, deployment_prior, screen (in `colors`), phrases[data set]["choose"]."""
        return {
            "title": f"{len(self.ranking)} classifiers compared on {len(self.comparisons)} data sets",
            "subject": f"{len(self.comparisons)} data sets, each counted once",
            "deployment_prior": self.deployment_prior,
            "screen": build_datasets_screen(self.comparisons, self.by_prior, colors),
            "phrases": {name: {"choose": part.verdict.choose} for name, part in self.comparisons.items()},
        }


def compare_datasets(
    scores: object,
    deployment_prior: PriorLike = (0.05, 0.20),
    *,
    columns: Mapping[str, str] | None = None,
    pos_label: object = None,
    alpha: float = 0.05,
    rng: Seed = 0,
    **options: Any,
) -> DatasetsComparison:
    """Compare classifiers on each of several data sets, and across them.

    Use it to find the model that is best on data sets like these. The conclusions are about further data
    sets, so that the data sets should be a sample of them.

    Parameters
    ----------
    scores : path, frame or mapping
        A table as for :func:`~skewanova.read_scores` with one more column, ``dataset``; or a mapping from the
        names of data sets to tables. Each data set needs the same models.
    columns, pos_label
        As for :func:`~skewanova.read_scores`.
    deployment_prior, alpha, rng, **options
        As for :func:`~skewanova.compare`; the same for all data sets.

    Returns
    -------
    DatasetsComparison
        The verdict, the :class:`~skewanova.Comparison` of each data set, frames, ``summary()``, ``save()``.

    Raises
    ------
    ValueError, TypeError
        As for :func:`~skewanova.compare`, with the name of the data set; ValueError if there is one data set
        only, or the models differ between data sets.

    Notes
    -----
    The mean over folds is one observation. All models are tested by Friedman's test with Iman and Davenport's
    F (Demsar 2006). Pairs are tested by Wilcoxon's signed-rank test with Holm's adjustment (Benavoli, Corani
    and Mangili 2016), or by paired t tests if the data sets are too few for it to reject.

    The frame `hierarchical` is a random-effects meta-analysis of the paired differences, with the variance
    between data sets of Paule and Mandel (1982) and the t test of Hartung and Knapp (2001). Standard errors
    are corrected for shared training data (Nadeau and Bengio 2003) or, with one fold, by the jackknife.

    Examples
    --------
    >>> import warnings
    >>> from skewanova import compare_datasets, load_satellite_scores
    >>> frame = load_satellite_scores().frame.astype({"model": str, "fold": int})
    >>> halves = {f"half {i}": frame[frame["fold"].between(10 * i + 1, 10 * i + 3)] for i in (0, 1)}
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # two data sets and three folds are few
    ...     result = compare_datasets(halves, at_priors=(0.5, 0.2))
    >>> result.ranking[["rank", "model", "mean_rank"]].to_numpy().tolist()
    [[1, 'A', 1.0], [2, 'C', 2.0], [3, 'B', 3.0]]
    """
    check_alpha(alpha)
    if isinstance(scores, MulticlassScores):
        raise InputTypeError(
            "`scores` has several classes of the same cases, which are not independent data sets; use "
            "skewanova.compare_classes(scores)"
        )
    check_arguments(compare_datasets, options)
    data_sets = read_datasets(scores, columns=columns, pos_label=pos_label)
    check_same_models({name: table.models for name, table in data_sets.items()})
    priors = dict.fromkeys(data_sets, deployment_prior)
    comparisons = _compare_each("data set", data_sets, priors, alpha=alpha, rng=rng, **options)
    means = _measure_means(comparisons)
    ranking = _build_ranking(means)
    order, control, p_adjust = ranking["model"].tolist(), options.get("control"), options.get("p_adjust")
    blocks = means.rename(columns={"dataset": "fold"})[["model", "fold", "iauprec"]]
    family: dict[str, Any] = {"alpha": alpha, "order": order}
    method, notes = choose_datasets_test(len(comparisons), count_compared_pairs(len(order), control), alpha)
    primary = posthoc(blocks, method=method, role="primary", p_adjust=p_adjust, control=control, **family)
    nemenyi = [] if control is not None else [posthoc(blocks, method="nemenyi", **family)]
    differences = _measure_differences(comparisons, primary, alpha)
    groups = group_models(order, primary, control)
    each_warnings = {name: result.warnings for name, result in comparisons.items()}
    return DatasetsComparison(
        comparisons=comparisons,
        iauprec=means,
        tests=omnibus_test(blocks, method="friedman", role="primary").to_frame(),
        pairs=pd.concat([primary, *nemenyi], ignore_index=True),
        by_dataset=differences,
        hierarchical=_combine_differences(differences, alpha, p_adjust=p_adjust or "holm"),
        ranking=ranking.assign(group=ranking["model"].map(groups))[list(ACROSS_RANKING_COLUMNS)],
        alpha=alpha,
        deployment_prior=next(iter(comparisons.values())).evaluation.deployment_prior.describe(),
        warnings=warn_each([*notes, *merge_notes("data set", each_warnings)]),
    )


def _compare_each(
    part: str, scores: Mapping[str, ScoreTable], priors: Mapping[str, PriorLike], **options: Any
) -> dict[str, Comparison]:
    """Return the comparison of each table at its prior, by name; no warning issued, errors name the part."""
    comparisons = {}
    for name, table in scores.items():
        with prefix_errors(f"{part} {name!r}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", SkewanovaWarning)  # issued together, by data set or class
            comparisons[name] = compare(table, priors[name], **options)
    return comparisons


def check_same_models(models: Mapping[str, tuple[str, ...]]) -> None:
    """Raise InputError unless there are at least two data sets, all with the same models in any order."""
    if len(models) < 2:
        raise InputError(
            f"a comparison across data sets needs at least 2 data sets, but got {len(models)}; compare the "
            "models on one by skewanova.compare(table)"
        )
    first, expected = next(iter(models.items()))
    for name, others in models.items():
        unmatched = sorted(set(others) ^ set(expected))
        if unmatched:
            has_rest = len({*others} & {*expected}) > 1
            remedy = "leave their rows out" if has_rest else "give a model the same name in both"
            raise InputError(
                f"every data set must have the same models, but only one of {first!r} and {name!r} has "
                f"{', '.join(map(repr, unmatched[:5]))}; score these in both, or {remedy}"
            )


def _measure_means(comparisons: Mapping[str, Comparison]) -> pd.DataFrame:
    """Return dataset, model, iauprec, std_error (nan if unknown), n_folds, rank (1: best, ties averaged)."""
    parts = []
    for name, result in comparisons.items():
        spread = iauprec_covariance(result.evaluation)
        part = result.ranking[["model", "iauprec"]].assign(
            dataset=name,
            std_error=np.nan if spread is None else np.sqrt(np.diag(spread[1])),
            n_folds=result.design.n_folds,
            rank=stats.rankdata(snap_ties(-result.ranking["iauprec"])),
        )
        parts.append(part[list(MEAN_COLUMNS)])
    return pd.concat(parts, ignore_index=True)


def _build_ranking(means: pd.DataFrame) -> pd.DataFrame:
    """Return model, mean_rank, iauprec, n_best (ties too), rank, a row a model by mean rank, then IAUPREC."""
    best = means["rank"] == means.groupby("dataset")["rank"].transform("min")
    groups = means.assign(best=best).groupby("model", sort=False, observed=True)
    frame = groups.agg(mean_rank=("rank", "mean"), iauprec=("iauprec", "mean"), n_best=("best", "sum"))
    frame = frame.iloc[argsort_descending(frame["iauprec"])]
    frame = frame.iloc[argsort_descending(-frame["mean_rank"])].reset_index()
    return frame.assign(rank=np.arange(1, len(frame) + 1))


def _measure_differences(
    comparisons: Mapping[str, Comparison], pairs: pd.DataFrame, alpha: float
) -> pd.DataFrame:
    """Return dataset, model_a, model_b, estimate, std_error, df, conf_low, conf_high, pair by pair."""
    rows = [
        {"dataset": name, "model_a": a, "model_b": b, **_get_difference(result, a, b)}
        for a, b in zip(pairs["model_a"], pairs["model_b"], strict=True)
        for name, result in comparisons.items()
    ]
    frame = pd.DataFrame(rows)
    return _add_limits(frame, "conf", frame["std_error"], alpha)[list(BY_DATASET_COLUMNS)]


def _get_difference(result: Comparison, a: str, b: str) -> dict[str, float]:
    """Return estimate, std_error, df of a minus b by the first valid test, if possible with a std_error."""
    rows = result.pairs[result.pairs["response"] == "iauprec"]
    is_valid = rows["test"].map(lambda test: result.design.kind in get_test(test).designs)
    rows = rows[is_valid & rows["model_a"].isin([a, b]) & rows["model_b"].isin([a, b])]
    measured = rows[rows["std_error"].notna()]
    pair = (rows if measured.empty else measured).iloc[0]
    estimate = float(pair["estimate"]) if pair["model_a"] == a else -float(pair["estimate"])
    return {"estimate": estimate, "std_error": float(pair["std_error"]), "df": float(pair["df"])}


def _add_limits(frame: pd.DataFrame, name: str, spread: Any, alpha: float) -> pd.DataFrame:
    """Return the frame with the columns NAME_low and NAME_high, estimate -+ t quantile times `spread`."""
    half_width = stats.t.isf(alpha / 2, frame["df"]) * spread
    limits = {f"{name}_low": frame["estimate"] - half_width, f"{name}_high": frame["estimate"] + half_width}
    return frame.assign(**limits)


def _combine_differences(differences: pd.DataFrame, alpha: float, *, p_adjust: str) -> pd.DataFrame:
    """Return `HIERARCHICAL_COLUMNS`, a row a pair: random-effects meta-analysis with prediction limits."""
    rows = []
    for (a, b), each in differences.groupby(["model_a", "model_b"], sort=False, observed=True):
        meta = estimate_mean_effect(each["estimate"].to_numpy(), each["std_error"].to_numpy() ** 2)
        rows.append({"model_a": a, "model_b": b, "n_datasets": len(each), **meta._asdict()})
    frame = pd.DataFrame(rows)
    frame = _add_limits(frame, "conf", frame["std_error"], alpha)
    frame = _add_limits(frame, "prediction", np.hypot(frame["std_error"], frame["tau"]), alpha)
    p_adjusted = adjust_p_values(frame["p_value"].to_numpy(), p_adjust)
    return frame.assign(p_adjusted=p_adjusted, reject=p_adjusted < alpha)[list(HIERARCHICAL_COLUMNS)]


@dataclass(frozen=True, eq=False)
class ClassesComparison(PartsResult):
    """Results of a comparison for several classes; print it for the choices and the ranking.

    Attributes
    ----------
    choices : dict of str
        Sentence on the model to deploy, for each class.
    comparisons : dict
        The :class:`~skewanova.Comparison` of each class against the rest, by name. Its tests are adjusted
        for that class alone.
    tests : DataFrame
        Test of all models for each class, with Holm's adjustment over classes: class, test, df, df_error,
        statistic, p_value, p_adjusted, reject.
    pairs : DataFrame
        The primary tests of pairs, adjusted over all classes and pairs: `class`, and the columns of
        :func:`~skewanova.inference.posthoc`.
    ranking : DataFrame
        Column `class` and the columns of each ranking, with groups by the joint adjustment.
    alpha : float
        Level of all tests together.
    warnings : tuple of str
        Reasons why numbers may be unreliable, by class.
    """

    PART, PARTS, KIND = "class", "classes", "comparison of several classes"
    FRAMES: ClassVar = {
        "tests": "test of all models for each class",
        "pairs": "tests of pairs of models, adjusted over all classes",
        "ranking": "the models of each class in ranking order",
    }
    FILES: ClassVar = {"classes": ("ranking.csv",), "class_pairs": ("pairs.csv", "tests.csv")}

    comparisons: Mapping[str, Comparison] = field(repr=False)

    @property
    def choices(self) -> dict[str, str]:
        """Sentence on the model to choose for each class, by p-values adjusted over all classes."""
        return {
            name: write_class_choice(
                [str(model) for model in result.ranking["model"]],
                list(iter_rows(self.pairs[self.pairs["class"] == name])),
                result.verdict,
                control=get_control(result),
            )
            for name, result in self.comparisons.items()
        }

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Sentences on the tests of pairs for each class, which begin with the class."""
        result = []
        for name, rows in self.pairs.groupby("class", sort=False):
            short = shorten_names([*rows["model_a"], *rows["model_b"]])
            findings = sentences.write_pair_findings(rows.reset_index(drop=True), self.alpha, short)
            result += [f"class {escape_text(str(name))}: {sentence}" for sentence in findings]
        return tuple(result)

    def _format_choice(self, width: int) -> str:
        """Return a sentence on the choice for each class, as text of at most `width` columns."""
        lines = [f"class {escape_text(name)}: {choice}" for name, choice in self.choices.items()]
        return wrap_lines(lines, width)

    def _list_headings(self) -> list[str]:
        """Return a line on the classes and the level, then for each class a line on its deployment prior."""
        heading = (
            f"{len(self.comparisons)} classes, each against the rest; pairs are adjusted over all classes "
            f"together, level {self.alpha:g}"
        )
        priors = self._describe_priors().items()
        return [heading, *(f"class {escape_text(name)}, IAUPREC: {prior}" for name, prior in priors)]

    def _describe_priors(self) -> dict[str, str]:
        """Return the deployment prior of each class in words, by class."""
        return {
            name: result.evaluation.deployment_prior.describe() for name, result in self.comparisons.items()
        }

    def _build_tables(self) -> tuple[Table, ...]:
        """Return the text tables of the ranking and of the pairs of all classes."""
        ranking, pairs = (frame.rename(columns={"class": "label"}) for frame in (self.ranking, self.pairs))
        note = tables.write_group_note(ranking)
        return (
            tables.CLASSES_TABLE.build(ranking, level=format_level(self.alpha), groups=note),
            tables.CLASS_PAIRS_TABLE.build(pairs, alpha=self.alpha),
        )

    def _build_page_items(self, colors: Mapping[str, int]) -> dict[str, Any]:
        """Return template variables: title, subject, and phrases[class], with keys choose and prior."""
        priors = self._describe_priors()
        return {
            "title": f"Classifiers compared for {len(priors)} classes",
            "subject": "each class against the rest, on the same cases",
            "phrases": {n: {"choose": choice, "prior": priors[n]} for n, choice in self.choices.items()},
        }


def compare_classes(
    scores: MulticlassScores,
    deployment_prior: PriorLike | Mapping[str, PriorLike] = (0.05, 0.20),
    *,
    alpha: float = 0.05,
    rng: Seed = 0,
    **options: Any,
) -> ClassesComparison:
    """Compare classifiers for each of several classes against the rest.

    Use it if there are more than two classes, and each class has a prior that matters.

    Parameters
    ----------
    scores : MulticlassScores
        The result of :func:`~skewanova.scores_from_multiclass`.
    deployment_prior : (low, high), float, deployment prior or mapping, default (0.05, 0.20)
        As for :func:`~skewanova.compare`, for each class against the rest; a mapping has one for each class.
    alpha : float, default 0.05
        Level of all tests of pairs together, by default by Holm's (1979) adjustment over all classes and
        pairs, which is valid under any dependence.
    rng, **options
        As for :func:`~skewanova.compare`.

    Returns
    -------
    ClassesComparison
        The :class:`~skewanova.Comparison` and the choice of each class, frames, ``summary()``, ``save()``.

    Raises
    ------
    ValueError, TypeError
        As for :func:`~skewanova.compare`, with the name of the class; if a class lacks a deployment prior.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova import compare_classes, scores_from_multiclass
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, size=600)
    >>> noise = rng.normal(size=(2, 600, 3))
    >>> scores = {"sharp": 2 * np.eye(3)[labels] + noise[0], "dull": 0.5 * np.eye(3)[labels] + noise[1]}
    >>> result = compare_classes(scores_from_multiclass(labels, scores), 0.3, at_priors=(0.3,))
    >>> result.pairs[["class", "model_a", "reject"]].to_numpy().tolist()
    [['0', 'sharp', True], ['1', 'sharp', True], ['2', 'sharp', True]]
    """
    if not isinstance(scores, MulticlassScores):
        raise InputTypeError(
            "`scores` must be the result of skewanova.scores_from_multiclass(y_true, {'A': a, 'B': b}) or, "
            f"of a table, skewanova.scores.read_multiclass(table, classes), but got {type(scores).__name__}; "
            "with two classes use skewanova.compare(table)"
        )
    check_arguments(compare_classes, options)
    check_alpha(alpha)
    priors = _check_class_priors(deployment_prior, scores.classes)
    comparisons = _compare_each("class", scores.tables, priors, alpha=alpha, rng=rng, **options)
    pairs = adjust_family(
        _stack_classes({name: select_primary(result.pairs) for name, result in comparisons.items()}),
        alpha=alpha,
        p_adjust=options.get("p_adjust") or "holm",
    )
    tests = _stack_classes({name: result.tests.iloc[[0]] for name, result in comparisons.items()})
    p_adjusted = adjust_p_values(tests["p_value"].to_numpy(dtype=float), "holm")
    tests = tests.assign(p_adjusted=p_adjusted, reject=p_adjusted < alpha)
    rankings = {}
    for name, result in comparisons.items():
        models = result.ranking["model"]
        groups = group_models(models.tolist(), pairs[pairs["class"] == name], options.get("control"))
        rankings[name] = result.ranking.assign(group=models.map(groups))
    each_warnings = {name: result.warnings for name, result in comparisons.items()}
    return ClassesComparison(
        comparisons=comparisons,
        tests=tests[list(OMNIBUS_COLUMNS)],
        pairs=pairs[["class", *POSTHOC_COLUMNS]],
        ranking=_stack_classes(rankings),
        alpha=alpha,
        warnings=warn_each(merge_notes("class", each_warnings)),
    )


def _check_class_priors(
    deployment_prior: PriorLike | Mapping[str, PriorLike], classes: Sequence[str]
) -> Mapping[str, PriorLike]:
    """Return each class's deployment prior, a mapping as it is; raise InputError if it lacks a class."""
    if not isinstance(deployment_prior, Mapping):
        return dict.fromkeys(classes, deployment_prior)
    for name in classes:
        if name not in deployment_prior:
            raise InputError(
                f"`deployment_prior` must have a prior for each class, by the names "
                f"{', '.join(map(repr, classes))}, but has {', '.join(map(repr, deployment_prior)) or 'none'}"
            )
    return deployment_prior


def _stack_classes(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the frames of all classes as one, with a first column `class`."""
    return pd.concat(frames, names=["class"]).reset_index(level="class").reset_index(drop=True)
