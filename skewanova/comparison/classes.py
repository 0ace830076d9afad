"""compare_classes(): each class of several against the rest, and all of them together.

The classes are of the same cases: they are no independent data sets, and are not averaged as such. What is
joint is the adjustment, over all classes and pairs at once, which holds whatever the classes have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from skewanova.base.checks import InputError, InputTypeError, Seed, check_fraction, naming
from skewanova.base.text import filled, shared_notes, short_names, visible
from skewanova.comparison.analysis import group_models
from skewanova.comparison.pipeline import compare
from skewanova.comparison.result import Comparison
from skewanova.inference.pairwise import POSTHOC_COLUMNS, adjust_p_values, family
from skewanova.priors.weightings import Target
from skewanova.report import sentences
from skewanova.report.parts import ClassesSource
from skewanova.scores.multiclass import MulticlassScores

OMNIBUS_COLUMNS = ("class", "test", "df", "df_error", "statistic", "p_value", "p_adjusted", "reject")


@dataclass(frozen=True, eq=False)
class ClassesComparison(ClassesSource):
    """What a comparison of classifiers with several classes found.

    Attributes
    ----------
    comparisons : dict
        The comparison of each class against the rest, by its name; tests there are for that class alone.
    tests : DataFrame
        Test of all models for every class, adjusted by Holm over the classes; columns of `OMNIBUS_COLUMNS`.
    pairs : DataFrame
        Column class and `POSTHOC_COLUMNS`: the primary pairs of every class, adjusted over all classes and
        pairs together.
    ranking : DataFrame
        Column class and those of each ranking; groups are those of the joint adjustment.
    alpha : float
        Level of the tests.
    warnings : tuple of str
        What to keep in mind, by class.
    """

    comparisons: Mapping[str, Comparison] = field(repr=False)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What was found for each class, in words; all at the level together."""
        told = []
        for name, rows in self.pairs.groupby("class", sort=False):
            short = short_names([*rows["model_a"], *rows["model_b"]])
            result = sentences.pair_findings(rows.reset_index(drop=True), self.alpha, short)
            told += [f"class {visible(str(name))}: {sentence}" for sentence in result]
        return tuple(told)

    def _brief(self, width: int) -> str:
        lines = [f"class {visible(name)}: {choice}" for name, choice in self.choices.items()]
        table = self._tables()[0].to_text(width, names=short_names(self.ranking["model"]))
        return f"{filled(lines, width)}\n\n{table}"

    def _details(self, width: int) -> list[str]:
        heading = (
            f"{len(self.comparisons)} classes, each against the rest; pairs are adjusted over all classes "
            f"together, level {self.alpha:g}"
        )
        priors = [f"class {visible(name)}, IAUPREC over {prior}" for name, prior in self._priors().items()]
        pairs = self._tables()[1].to_text(width, names=short_names(self.ranking["model"]))
        lines = [heading, *priors, *self.conclusions]
        warnings = [filled(["Warnings", *self.warnings], width)] if self.warnings else []
        return [filled(lines, width), pairs, *warnings]


def compare_classes(
    scores: MulticlassScores,
    deployment_prior: Target | Mapping[str, Target] = (0.05, 0.20),
    *,
    alpha: float = 0.05,
    rng: Seed = 0,
    **options: Any,
) -> ClassesComparison:
    """Compare classifiers of several classes, each class against the rest.

    Parameters
    ----------
    scores : MulticlassScores
        As :func:`~skewanova.scores_from_multiclass` returns them.
    deployment_prior : (low, high), float, deployment prior or mapping, default (0.05, 0.20)
        As for :func:`~skewanova.compare`: of the positive class, that is, of the class against the rest. A
        mapping has one for every class.
    alpha : float, default 0.05
        Level of all conclusions together.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of all resampling.
    **options
        Further arguments of :func:`~skewanova.compare`, such as ``control`` and ``p_adjust``.

    Returns
    -------
    ClassesComparison
        Frames and ``summary()``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.compare`, with the name of the class, or if a class lacks a deployment prior.

    Notes
    -----
    The classes are scored on the same cases, so that what is found for one is not independent of what is
    found for another. Holm's (1979) adjustment over all classes and pairs holds whatever the dependence.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova import compare_classes, scores_from_multiclass
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, size=600)
    >>> noise = rng.normal(size=(2, 600, 3))
    >>> scores = {"sharp": 2 * np.eye(3)[labels] + noise[0], "dull": 0.5 * np.eye(3)[labels] + noise[1]}
    >>> found = compare_classes(scores_from_multiclass(labels, scores), 0.3, at_priors=(0.3,))
    >>> found.pairs[["class", "model_a", "reject"]].to_numpy().tolist()
    [['0', 'sharp', True], ['1', 'sharp', True], ['2', 'sharp', True]]
    """
    if not isinstance(scores, MulticlassScores):
        raise InputTypeError(
            "`scores` must be what scores_from_multiclass() returns, but is a " + type(scores).__name__
        )
    check_fraction(alpha, "alpha")
    comparisons = {
        name: _compared(name, scores, _prior_of(name, deployment_prior), alpha=alpha, rng=rng, **options)
        for name in scores.classes
    }
    posthoc = _joint_pairs(comparisons, alpha, options.get("p_adjust") or "holm")
    return ClassesComparison(
        comparisons=comparisons,
        tests=_omnibus(comparisons, alpha),
        pairs=posthoc,
        ranking=_ranking(comparisons, posthoc, options.get("control")),
        alpha=alpha,
        warnings=tuple(
            shared_notes("class", {name: result.warnings for name, result in comparisons.items()})
        ),
    )


def _prior_of(name: str, deployment_prior: Target | Mapping[str, Target]) -> Target:
    """Deployment prior of a class."""
    if not isinstance(deployment_prior, Mapping):
        return deployment_prior
    if name not in deployment_prior:
        raise InputError(
            f"`deployment_prior` must have one for every class, but has none for {name!r}; it has "
            f"{', '.join(map(repr, deployment_prior))}"
        )
    return deployment_prior[name]


def _compared(name: str, scores: MulticlassScores, prior: Target, **options: Any) -> Comparison:
    """Compare one class against the rest; a message begins with the class."""
    with naming(f"class {name!r}"):
        return compare(scores.tables[name], prior, **options)


def _joint_pairs(comparisons: Mapping[str, Comparison], alpha: float, p_adjust: str) -> pd.DataFrame:
    """Primary pairs of every class as one family."""
    parts = []
    for name, result in comparisons.items():
        rows = result.pairs[(result.pairs["role"] == "primary") & (result.pairs["response"] == "iauprec")]
        parts.append(rows.assign(**{"class": name}))
    every = family(pd.concat(parts, ignore_index=True), alpha=alpha, p_adjust=p_adjust)
    return every[["class", *POSTHOC_COLUMNS]]


def _omnibus(comparisons: Mapping[str, Comparison], alpha: float) -> pd.DataFrame:
    """Primary test of all models of every class, adjusted by Holm over the classes."""
    rows = [result.tests.iloc[[0]].assign(**{"class": name}) for name, result in comparisons.items()]
    frame = pd.concat(rows, ignore_index=True)
    p_adjusted = adjust_p_values(frame["p_value"].to_numpy(dtype=float), "holm")
    return frame.assign(p_adjusted=p_adjusted, reject=p_adjusted < alpha)[list(OMNIBUS_COLUMNS)]


def _ranking(
    comparisons: Mapping[str, Comparison], posthoc: pd.DataFrame, control: str | None
) -> pd.DataFrame:
    """Ranking of every class, with the groups of the joint family."""
    parts = []
    for name, result in comparisons.items():
        models = result.ranking["model"].tolist()
        groups = group_models(models, posthoc[posthoc["class"] == name], control)
        ranking = result.ranking.assign(group=[groups[model] for model in models])
        ranking.insert(0, "class", name)
        parts.append(ranking)
    return pd.concat(parts, ignore_index=True)
