"""Intervals of ranks: how often all of them hold the true ranks, and how wide they are.

Fold profiles are normal. The peer is the stepwise method of Mogstad et al. (2024) as csranks has it: critical
values from normal draws with the estimated covariance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats
from skewanova.inference.covariance import auprec_covariance
from skewanova.inference.pairwise import posthoc
from skewanova.inference.ranks import rank_intervals
from skewanova.inference.single_test_set import compare_test_set
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error

RANK_COLUMNS = (
    "setting", "design", "models", "truth", "coverage", "std_error", "width", "peer_coverage", "peer_width",
    "replicates",
)  # fmt: skip


#: Normal draws behind the peer's critical values.
N_DRAWS = 1000


@dataclass(frozen=True)
class RankSetting:
    """How many models with which true distances, over independent folds or (none) on one test set."""

    n_models: int
    truth: str
    n_folds: int = 0
    step: float = 0.0

    def distances(self) -> Floats:
        """Return the true positions: all tied, two groups, or equal steps."""
        place = np.arange(self.n_models, dtype=float)
        shapes = {"tied": 0 * place, "groups": 1.0 * (place < self.n_models / 2), "steps": place}
        return np.asarray(self.step * shapes[self.truth], dtype=np.float64)

    def describe(self) -> str:
        """Return the design in words."""
        return f"{self.n_folds} independent folds" if self.n_folds else "one test set of 100 + 900 cases"


RANK_SETTINGS: Mapping[str, RankSetting] = MappingProxyType(
    {
        f"{'folds' if folds else 'one-set'}-{n}-{truth}": RankSetting(n, truth, folds, step)
        for folds, steps in ((20, (0.5, 0.5)), (0, (0.2, 0.1)))
        for n in (3, 6, 20)
        for truth, step in (("tied", 0.0), ("groups", steps[0]), ("steps", steps[1]))
    }
)


def rank_study(*, settings: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate models and count how often the intervals of all ranks hold the true ranks.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `RANK_SETTINGS`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`.

    Returns
    -------
    Study
        Frame with the columns of `RANK_COLUMNS`; widths are numbers of ranks beyond one, on average.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.ranks import rank_study
    >>> rank_study(settings=["folds-3-tied"], replicates=2, progress=False).to_frame()["models"].tolist()
    [3]
    """
    how = Run(**run)
    cells = [
        Cell((name,), how.number(1000), partial(one_by_one, partial(_measure, RANK_SETTINGS[name])))
        for name in chosen(settings, RANK_SETTINGS)
    ]
    return study_of("ranks", cells, _rows, columns=RANK_COLUMNS, run=how)


def _rows(cell: Cell, values: Floats) -> Iterator[tuple[object, ...]]:
    name = str(cell.key[0])
    setting = RANK_SETTINGS[name]
    mean = values.mean(axis=0)
    head = (name, setting.describe(), setting.n_models, setting.truth)
    yield (*head, *share_and_error(values[:, 0]), mean[1], mean[2], mean[3], len(values))


def _measure(setting: RankSetting, rng: np.random.Generator) -> Floats:
    """Return coverage and width of the package's intervals, and of the peer's."""
    truth = setting.distances()
    models = [f"M{i:02}" for i in range(setting.n_models)]
    if setting.n_folds:
        values = truth + rng.standard_normal((setting.n_folds, len(truth)))
        frame = pd.DataFrame(values, columns=models).rename_axis("fold").reset_index()
        long = frame.melt("fold", var_name="model", value_name="iauprec")
        pairs = posthoc(long, method="max_t", rng=rng)
        estimate, covariance = values.mean(axis=0), np.cov(values.T) / setting.n_folds
    else:
        positive = np.arange(1000) < 100
        common = rng.standard_normal(1000)
        scores = np.sqrt(0.5) * (common + rng.standard_normal((len(truth), 1000)))
        scores += positive * (1.5 + truth[:, None])
        result = compare_test_set(positive, scores.T, deployment_prior=(0.05, 0.2), models=models)
        pairs = pd.DataFrame({"model_a": result.model_a, "model_b": result.model_b})
        pairs = pairs.assign(estimate=result.difference, reject=result.p_adjusted <= 0.05)
        areas = auprec_covariance(positive, scores.T, deployment_prior=(0.05, 0.2))
        estimate, covariance = areas.estimate, areas.covariance
    ours = rank_intervals(models, pairs)[["rank_low", "rank_high"]].to_numpy()
    return np.concatenate([judge(limits, truth) for limits in (ours, peer_ranks(estimate, covariance, rng))])


def judge(limits: Floats, truth: Floats) -> Floats:
    """Return 1 if all sets of true ranks (of ties: all of them) are inside the limits, and the mean width."""
    best = 1 + (truth > truth[:, None]).sum(axis=1)
    worst = (truth >= truth[:, None]).sum(axis=1)
    inside = (limits[:, 0] <= best) & (worst <= limits[:, 1])
    return np.array([inside.all(), np.diff(limits, axis=1).mean()])


def peer_ranks(estimate: Floats, covariance: Floats, rng: np.random.Generator, level: float = 0.05) -> Floats:
    """Return limits of the ranks by the stepwise maximum of studentized normal differences."""
    n = len(estimate)
    a, b = np.triu_indices(n, 1)
    error = np.sqrt(np.diag(covariance)[a] + np.diag(covariance)[b] - 2 * covariance[a, b])
    draws = rng.multivariate_normal(np.zeros(n), covariance, size=N_DRAWS)
    maxima = np.abs(draws[:, a] - draws[:, b]) / error
    t = (estimate[a] - estimate[b]) / error
    rejected = np.zeros(len(t), dtype=bool)
    while not rejected.all():
        critical = np.quantile(maxima[:, ~rejected].max(axis=1), 1 - level)
        further = (np.abs(t) > critical) & ~rejected
        if not further.any():
            break
        rejected |= further
    names = np.arange(n).astype(str)
    pairs = {"model_a": names[a], "model_b": names[b], "estimate": t, "reject": rejected}
    ranks = rank_intervals(names.tolist(), pd.DataFrame(pairs))
    return np.asarray(ranks[["rank_low", "rank_high"]], dtype=float)
