"""Two models on one data set: the default of `compare_estimators` beside SHARP, corrected t and 5x2 tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from sharp_cv import sharp_test

from skewanova.base.checks import Floats
from skewanova.inference.fold_statistics import paired_t_p_values
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, share_and_error
from studies.scenarios import (
    HALVED_DRAWS,
    LEVELS,
    HalfFolds,
    Splits,
    Tables,
    Task,
    different_learners,
    feature_subsets,
    fixed_scores,
    random_starts,
)

#: Draws of two models on one data set, and its size, for tests that know no more than two.
PAIR_DRAWS: Mapping[str, tuple[Callable[..., Tables], tuple[int, int]]] = {
    "S1": (fixed_scores, (100, 300)),
    "S2a": HALVED_DRAWS["S2a"],
    "S2b": (random_starts, (100, 300)),
    "S2c": (partial(feature_subsets, learner="any"), (100, 300)),
    "S2d": (partial(different_learners, means=np.zeros(2)), (100, 300)),
    "S2e": HALVED_DRAWS["S2e"],
}


#: Effects of the first model: none, and two by which its classes lie further apart.
EFFECTS = (0.0, 0.4, 0.8)


#: Repetitions that SHARP's authors advise, each with a 5-fold cross-validation in both halves.
SHARP_FOLDS = HalfFolds(30, 5)


#: How a data set is cut: with hold-outs of a fifth go the halvings.
CUTS: Mapping[str, Splits] = {"half": Splits(20, 2), "fifth": Splits(20, 5), "5x2": Splits(5, 2, 2)}


#: Tests by name: the cut they read, and fits of each model.
RIVALS: Mapping[str, tuple[str, int]] = {
    "half splits, corrected t (default)": ("half", 20),
    "hold-outs 80/20 beside halvings": ("fifth", 20 + SHARP_FOLDS.n_fits),
    "SHARP": ("fifth", SHARP_FOLDS.n_fits),
    "hold-outs 80/20, corrected t": ("fifth", 20),
    "5x2 t": ("5x2", 10),
    "5x2 F": ("5x2", 10),
}


RIVAL_COLUMNS = ("scenario", "effect", "test", "n_fits", "level", "rate", "std_error", "replicates")


def rivals_study(
    *, scenarios: Sequence[str] | None = None, effects: Sequence[float] = EFFECTS, **run: Any
) -> Study:
    """Simulate two models on one data set, and count what each test finds.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `PAIR_DRAWS`; by default all.
    effects : sequence of float, default (0, 0.4, 0.8)
        By how much further apart the first model's classes lie; with 0 the models are equal in truth.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (400), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `RIVAL_COLUMNS`; ``n_fits`` is a test's price in fits of each model. In S2d
        the learners' mean difference without effect, over the replicates, is taken out.

    Raises
    ------
    ValueError
        If a scenario is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.rivals import rivals_study
    >>> frame = rivals_study(scenarios=["S1"], effects=[0], replicates=3, progress=False).to_frame()
    >>> len(set(frame["test"]))
    6
    """
    how = Run(**run)
    cells = [
        Cell((name, cut, f"{effect:g}"), how.number(400), partial(_differences, (name, cut), float(effect)))
        for name in chosen(scenarios, PAIR_DRAWS, argument="scenarios")
        for effect in (0.0, *(each for each in effects if each))
        for cut in CUTS
    ]
    null: dict[tuple[str, str], dict[str, Any]] = {}

    def rows(cell: Cell, values: Mapping[str, Floats]) -> Iterator[tuple[object, ...]]:
        name, cut, effect = cell.key
        if effect == "0":
            null[name, cut] = {part: each.mean() if name == "S2d" else 0.0 for part, each in values.items()}
        centred = {part: each - null[name, cut][part] for part, each in values.items()}
        for test, (read, n_fits) in RIVALS.items():
            if read == cut:
                p = rival_p_values(test, **centred)
                for level in LEVELS:
                    yield (
                        name,
                        float(effect),
                        test,
                        n_fits,
                        level,
                        *share_and_error((p <= level).astype(np.float64)),
                        len(p),
                    )

    return study_of("rivals", cells, rows, columns=RIVAL_COLUMNS, run=how)


def _differences(
    key: tuple[str, str], effect: float, seed: np.random.SeedSequence, size: int
) -> dict[str, Floats]:
    """First model minus second: by fold (replicates, folds), and by half (replicates, halvings, 2)."""
    (draw, sizes), cut = PAIR_DRAWS[key[0]], key[1]
    task = Task(CUTS[cut], sizes, n_models=2, half_folds=SHARP_FOLDS if cut == "fifth" else None)
    tables = draw(size, np.random.default_rng(seed), task=task, effect=effect)
    parts = {"folds": tables.iauprec, "halves": tables.half_means}
    return {part: each[..., 0] - each[..., 1] for part, each in parts.items() if each is not None}


def rival_p_values(test: str, folds: Floats, halves: Floats | None = None) -> Floats:
    """p-values of the replicates by a test of `RIVALS`."""
    if test.startswith("5x2"):
        return five_by_two_p(folds.reshape(-1, 5, 2), test[-1])
    if test == "SHARP":
        assert halves is not None
        return np.array([sharp_test(each)[1] for each in halves])
    cut = CUTS[RIVALS[test][0]]
    values = np.stack([folds, np.zeros_like(folds)], axis=-1)
    if "halvings" not in test:
        return paired_t_p_values(values, inflation=1 + cut.n_folds * cut.ratio)[:, 0]
    assert halves is not None
    between = (halves[..., 0] - halves[..., 1]) / 2
    return paired_t_p_values(values, halves=np.stack([between, np.zeros_like(between)], axis=-1))[:, 0]


def five_by_two_p(differences: Floats, kind: str) -> Floats:
    """p-values of Dietterich's (1998) t or Alpaydin's (1999) F on differences (replicates, 5, 2)."""
    squares = ((differences - differences.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    if kind == "t":
        return np.asarray(2 * stats.t.sf(np.abs(differences[:, 0, 0]) / np.sqrt(squares.mean(axis=-1)), 5))
    statistic = (differences**2).sum(axis=(-1, -2)) / (2 * squares.sum(axis=-1))
    return np.asarray(stats.f.sf(statistic, 10, 5))
