"""compare_datasets(): several data sets, each and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skewanova.base.checks import InputError, InputTypeError, Seed, check_fraction, emit, naming
from skewanova.base.rounding import argsort_descending, snap_ties
from skewanova.base.text import filled, section, shared_notes, short_names
from skewanova.comparison.analysis import group_models
from skewanova.comparison.pipeline import compare
from skewanova.comparison.result import Comparison
from skewanova.decision.joint_curves import iauprec_covariance
from skewanova.decision.planning import n_compared
from skewanova.inference.catalogue import get_test
from skewanova.inference.omnibus import omnibus_test
from skewanova.inference.pairwise import adjust_p_values, posthoc
from skewanova.inference.random_effects import random_effects
from skewanova.priors.weightings import Target
from skewanova.report import sentences
from skewanova.report.parts import DatasetsSource, hierarchical_sentences
from skewanova.scores.multiclass import MulticlassScores
from skewanova.scores.reading import read_datasets

MEAN_COLUMNS = ("dataset", "model", "iauprec", "std_error", "n_folds", "rank")


HIERARCHICAL_COLUMNS = (
    "model_a",
    "model_b",
    "n_datasets",
    "estimate",
    "std_error",
    "df",
    "statistic",
    "p_value",
    "p_adjusted",
    "conf_low",
    "conf_high",
    "tau",
    "i_sq",
    "q",
    "q_p_value",
    "prediction_low",
    "prediction_high",
    "reject",
)


BY_DATASET_COLUMNS = (
    "dataset",
    "model_a",
    "model_b",
    "estimate",
    "std_error",
    "df",
    "conf_low",
    "conf_high",
)


ACROSS_RANKING_COLUMNS = ("rank", "model", "mean_rank", "iauprec", "n_best", "group")


@dataclass(frozen=True, eq=False)
class DatasetsComparison(DatasetsSource):
    """All that a comparison on several data sets found.

    Attributes
    ----------
    comparisons : dict
        The comparison on each data set, by its name.
    iauprec : DataFrame
        Mean IAUPREC over folds of every data set and model, its standard error (corrected for shared training
        data) and the model's rank there; columns of `MEAN_COLUMNS`.
    tests : DataFrame
        Friedman's test across data sets; columns of `ANOVA_COLUMNS`.
    pairs : DataFrame
        Signed ranks, adjusted, or t tests where ranks of so few data sets cannot reject (primary), and
        Nemenyi's test, the data sets as blocks; columns of `POSTHOC_COLUMNS`.
    by_dataset : DataFrame
        Difference of every pair on each data set, with its own interval; columns of `BY_DATASET_COLUMNS`.
    hierarchical : DataFrame
        Random-effects meta-analysis of every pair's differences; columns of `HIERARCHICAL_COLUMNS`.
    ranking : DataFrame
        Mean ranks; columns of `ACROSS_RANKING_COLUMNS`.
    alpha : float
        Level of all tests.
    deployment_prior : str
        The weighting, in words.
    warnings : tuple of str
        What to keep in mind, by data set.
    """

    comparisons: Mapping[str, Comparison] = field(repr=False)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What the tests across data sets found, in words."""
        short = short_names(self.ranking["model"])
        primary = self.pairs[self.pairs["role"] == "primary"]
        return (
            sentences.omnibus_sentence(self.tests, self.alpha, primary),
            *sentences.pair_findings(primary, self.alpha, short),
            *hierarchical_sentences(self.hierarchical, self.alpha, short),
        )

    def _repr_html_(self) -> str:
        """Verdict and ranking, for a notebook."""
        return f"{self.verdict._repr_html_()}\n{self._tables()[0].to_html()}"

    def _brief(self, width: int) -> str:
        short = short_names(self.ranking["model"])
        return f"{self.verdict.to_text(width)}\n\n{self._tables()[0].to_text(width, names=short)}"

    def _details(self, width: int) -> list[str]:
        short = short_names(self.ranking["model"])
        heading = [
            f"{len(self.comparisons)} data sets, {len(self.ranking)} models, level {self.alpha:g}",
            f"IAUPREC: mean AUPREC over the deployment prior, {self.deployment_prior}",
        ]
        parts = [
            filled(heading, width),
            section("Conclusions across data sets", self.conclusions, width),
            *(table.to_text(width, names=short) for table in self._tables()[1:]),
        ]
        parts += [section("Warnings", self.warnings, width)] if self.warnings else []
        return parts


def compare_datasets(
    scores: object,
    deployment_prior: Target = (0.05, 0.20),
    *,
    columns: Mapping[str, str] | None = None,
    pos_label: object = None,
    alpha: float = 0.05,
    rng: Seed = 0,
    **options: Any,
) -> DatasetsComparison:
    """Compare classifiers on several data sets, and across them.

    Parameters
    ----------
    scores : path, frame or mapping
        A table as for :func:`~skewanova.read_scores` with one more column, ``dataset``; or a mapping from the
        names of data sets to tables. Every data set needs the same models; one with
        one fold is judged by its cases (:func:`~skewanova.inference.compare_test_set`).
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        As for :func:`~skewanova.compare`; the same for all data sets.
    columns, pos_label
        As for :func:`~skewanova.read_scores`.
    alpha : float, default 0.05
        Level of the tests and, as ``1 - alpha``, of the intervals.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of all resampling.
    **options
        Further arguments of :func:`~skewanova.compare`, such as ``at_priors=(0.5, 0.1)``.

    Returns
    -------
    DatasetsComparison
        Frames, ``summary()`` and ``save()``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.compare`, with the name of the data set; ValueError if there are fewer than two
        data sets or their models are not the same.

    Notes
    -----
    Across data sets, the mean over folds is one observation: Friedman's test with Iman and Davenport's F
    (Demsar 2006) for all models, Wilcoxon's signed ranks with Holm's adjustment for pairs (Benavoli, Corani
    and Mangili 2016), with Nemenyi's test beside them. Where signed ranks of so few data sets cannot reject
    whatever they are, paired t tests of the means take their place. The hierarchical alternative weighs data
    sets by what they know: a random-effects meta-analysis of paired differences, the error of each corrected
    for shared training data (Nadeau and Bengio 2003) or, with one fold, the jackknife's over its cases, with
    Paule and Mandel's (1982) variance between data sets and Hartung and Knapp's (2001) t test, Holm's
    adjustment over pairs.

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
    check_fraction(alpha, "alpha")
    if isinstance(scores, MulticlassScores):
        raise InputTypeError(
            "classes of the same cases are no independent data sets: compare them by compare_classes()"
        )
    tables = read_datasets(scores, columns=columns, pos_label=pos_label)
    check_same_models({name: table.models for name, table in tables.items()})
    comparisons = {}
    for name, table in tables.items():
        with naming(f"data set {name!r}"):
            comparisons[name] = compare(table, deployment_prior, alpha=alpha, rng=rng, **options)
    means = _means(comparisons)
    order = _order(means)
    blocks = means.rename(columns={"dataset": "fold"})[["model", "fold", "iauprec"]]
    how: dict[str, Any] = {"p_adjust": options.get("p_adjust"), "control": options.get("control")}
    smallest_p = n_compared(len(order), how["control"]) * 2.0 ** (1 - len(comparisons))
    few = smallest_p >= alpha  # signed ranks cannot reject, whatever they are
    pairs = _compare_pairs(blocks, order, alpha, "paired_t" if few else "wilcoxon", **how)
    first = next(iter(comparisons.values()))
    primary = pairs[pairs["role"] == "primary"]
    differences = _by_dataset(comparisons, primary, alpha)
    return DatasetsComparison(
        comparisons=comparisons,
        iauprec=means,
        tests=omnibus_test(blocks, method="friedman", role="primary").to_frame(),
        pairs=pairs,
        by_dataset=differences,
        hierarchical=_hierarchical(differences, alpha, p_adjust=how["p_adjust"] or "holm"),
        ranking=_ranking(means, order, group_models(order, primary, how["control"])),
        alpha=alpha,
        deployment_prior=first.evaluation.deployment_prior.describe(),
        warnings=(*emit(_few(len(comparisons)) if few else ()), *_warnings(comparisons)),
    )


def _compare_pairs(
    blocks: pd.DataFrame, order: Sequence[str], alpha: float, method: str, **how: Any
) -> pd.DataFrame:
    """Compare pairs, the data sets being blocks; by Nemenyi's test too if there is no control."""
    pairs = [posthoc(blocks, method=method, alpha=alpha, order=order, role="primary", **how)]
    if how["control"] is None:
        pairs.append(posthoc(blocks, method="nemenyi", alpha=alpha, order=order))
    return pd.concat(pairs, ignore_index=True)


def check_same_models(models: Mapping[str, tuple[str, ...]]) -> None:
    """At least two data sets, and the same models on each."""
    if len(models) < 2:
        raise InputError(
            f"a comparison across data sets needs at least 2 of them, but got {len(models)}; use compare()"
        )
    first, known = next(iter(models.items()))
    for name, others in models.items():
        if set(others) != set(known):
            odd = sorted(set(others) ^ set(known))[0]
            raise InputError(
                f"every data set must have the same models, but {odd!r} is in only one of the data sets "
                f"{first!r} and {name!r}"
            )


def _means(comparisons: Mapping[str, Comparison]) -> pd.DataFrame:
    parts = []
    for name, result in comparisons.items():
        ranking, n_folds = result.ranking, result.design.n_folds
        known = iauprec_covariance(result.evaluation)
        error = np.nan if known is None else np.sqrt(np.diag(known[1]))
        rank = stats.rankdata(snap_ties(-ranking["iauprec"]))
        part = ranking[["model", "iauprec"]].assign(dataset=name, std_error=error, n_folds=n_folds, rank=rank)
        parts.append(part[list(MEAN_COLUMNS)])
    return pd.concat(parts, ignore_index=True)


def _order(means: pd.DataFrame) -> list[str]:
    """Models by mean rank, then by mean IAUPREC."""
    groups = means.groupby("model", sort=False, observed=True)
    rank, area = groups["rank"].mean(), groups["iauprec"].mean()
    by_area = argsort_descending(area)
    return [str(rank.index[by_area[i]]) for i in argsort_descending(-rank.iloc[by_area])]


def _ranking(means: pd.DataFrame, order: Sequence[str], group: Mapping[str, str]) -> pd.DataFrame:
    groups = means.groupby("model", sort=False, observed=True)
    best = means[means["rank"] == means.groupby("dataset")["rank"].transform("min")]
    frame = pd.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "model": order,
            "mean_rank": groups["rank"].mean().loc[list(order)].to_numpy(),
            "iauprec": groups["iauprec"].mean().loc[list(order)].to_numpy(),
            "n_best": [int((best["model"] == model).sum()) for model in order],
            "group": [group[model] for model in order],
        }
    )
    return frame[list(ACROSS_RANKING_COLUMNS)]


def _by_dataset(comparisons: Mapping[str, Comparison], pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Every pair of the family on each data set."""
    rows = [
        {"dataset": name, "model_a": a, "model_b": b, **_difference(result, a, b)}
        for a, b in zip(pairs["model_a"], pairs["model_b"], strict=True)
        for name, result in comparisons.items()
    ]
    frame = pd.DataFrame(rows)
    half_width = stats.t.isf(alpha / 2, frame["df"]) * frame["std_error"]
    limits = {"conf_low": frame["estimate"] - half_width, "conf_high": frame["estimate"] + half_width}
    return frame.assign(**limits)[list(BY_DATASET_COLUMNS)]


def _difference(result: Comparison, a: str, b: str) -> dict[str, float]:
    """Difference on one data set and its error, by the first test there that holds for the design.

    With a single case in a class no test knows the error: it is nan.
    """
    rows = result.pairs[result.pairs["response"] == "iauprec"]
    holds = rows["test"].map(lambda test: result.design.kind in get_test(test).designs)
    rows = rows[holds & rows["model_a"].isin([a, b]) & rows["model_b"].isin([a, b])]
    measured = rows[rows["std_error"].notna()]
    pair = (rows if measured.empty else measured).iloc[0]
    sign = 1.0 if pair["model_a"] == a else -1.0
    told = {name: float(pair[name]) for name in ("estimate", "std_error", "df")}
    return told | {"estimate": sign * told["estimate"]}


def _hierarchical(differences: pd.DataFrame, alpha: float, *, p_adjust: str) -> pd.DataFrame:
    """One random-effects meta-analysis a pair."""
    rows = []
    for (a, b), each in differences.groupby(["model_a", "model_b"], sort=False, observed=True):
        meta = random_effects(each["estimate"].to_numpy(), each["std_error"].to_numpy() ** 2)
        half_width = float(stats.t.isf(alpha / 2, meta.df))
        spread = float(np.hypot(meta.std_error, meta.tau))
        rows.append(
            {
                "model_a": a,
                "model_b": b,
                "n_datasets": len(each),
                **meta._asdict(),
                "conf_low": meta.estimate - half_width * meta.std_error,
                "conf_high": meta.estimate + half_width * meta.std_error,
                "prediction_low": meta.estimate - half_width * spread,
                "prediction_high": meta.estimate + half_width * spread,
            }
        )
    frame = pd.DataFrame(rows)
    p_adjusted = adjust_p_values(frame["p_value"].to_numpy(), p_adjust)
    return frame.assign(p_adjusted=p_adjusted, reject=p_adjusted < alpha)[list(HIERARCHICAL_COLUMNS)]


def _few(n_datasets: int) -> list[str]:
    return [
        f"with {n_datasets} data sets, signed ranks cannot reach p below {2.0 ** (1 - n_datasets):.2g}: "
        "pairs are compared by t tests of the data sets' means"
    ]


def _warnings(comparisons: Mapping[str, Comparison]) -> list[str]:
    return shared_notes("data set", {name: result.warnings for name, result in comparisons.items()})
