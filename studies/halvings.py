"""Size and power of the split-half variance, beside the corrected tests on hold-outs and on half splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skewanova.base.checks import Floats
from skewanova.comparison.analysis import choose_omnibus_test
from skewanova.inference import fold_statistics
from skewanova.inference.catalogue import get_test
from skewanova.inference.omnibus import KERNELS, kernel_arguments
from skewanova.scores.design import FoldDesign
from studies.results import Study, name_pairwise_test, study_of
from studies.runner import Cell, Run, chosen, means
from studies.scenarios import HALVED_SCENARIOS, LEVELS, Scenario, Tables

#: Effects of the first model: none, and one that is found about half of the time in scenario S2a.
EFFECTS = (0.0, 0.4)


#: What is compared: each on data sets of its own kind of splits.
WAYS = ("80/20 corrected", "50/50 corrected", "80/20 split-half")


SPLIT_HALF_COLUMNS = (
    "scenario", "way", "n_fits", "effect", "test", "question", "level", "rate", "std_error", "replicates",
)  # fmt: skip


def split_half_study(
    *, scenarios: Sequence[str] | None = None, effects: Sequence[float] = EFFECTS, **run: Any
) -> Study:
    """Simulate learners that change with their training set, and count what each default test finds.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `HALVED_SCENARIOS`; by default all.
    effects : sequence of float, default (0, 0.4)
        By how much further apart the first model's classes lie; 0 for models that are equal in truth.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (400), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `SPLIT_HALF_COLUMNS`: ``way`` is one of `WAYS`, ``n_fits`` its price in fits
        of each model. With effect 0 the rate of pairs is that of families with a rejection, else the share of
        the pairs with the better model that were found. The tests are those that `compare` would choose.

    Raises
    ------
    ValueError
        If a scenario is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.halvings import split_half_study
    >>> frame = split_half_study(scenarios=["S2a"], effects=[0], replicates=5, progress=False).to_frame()
    >>> sorted(set(frame["n_fits"]))
    [20, 220]
    """
    how = Run(**run)
    cells = [
        _cell(name, halved, float(effect), how)
        for name in chosen(scenarios, HALVED_SCENARIOS, argument="scenarios")
        for effect in effects
        for halved in (True, False)
    ]
    return study_of("split_half", cells, _rows, columns=SPLIT_HALF_COLUMNS, run=how)


def _cell(name: str, halved: bool, effect: float, how: Run) -> Cell:
    scenario = HALVED_SCENARIOS[name][0 if halved else 1]
    key = name, "halved" if halved else "half", f"{effect:g}"
    return Cell(key, how.number(scenario.full), partial(_p_values, scenario, effect))


def _p_values(
    scenario: Scenario, effect: float, seed: np.random.SeedSequence, size: int
) -> dict[str, Floats]:
    """p-values of the default tests by "way|test|question"; hold-outs beside halvings go both ways."""
    tables = scenario.draw(size, np.random.default_rng(seed), effect=effect)
    design = scenario.fold_design
    ways = {WAYS[1]: design}
    if design.kind == "split_half":
        ways = {WAYS[0]: replace(design, kind="repeated_holdout", n_halvings=0), WAYS[2]: design}
    return {
        f"{way}|{name}": p for way, each in ways.items() for name, p in default_p_values(each, tables).items()
    }


def default_p_values(design: FoldDesign, tables: Tables) -> dict[str, Floats]:
    """p-values of the default tests of all models and of pairs, adjusted, by "test|question"."""
    values = tables.iauprec
    needs = {"inflation": design.variance_inflation, "halves": tables.halves}
    everyone = choose_omnibus_test(design, values.shape[-1])
    pairs = name_pairwise_test(design, min(LEVELS))
    tested = KERNELS[everyone](values, **_needed(everyone, needs)).p_value
    raw = fold_statistics.paired_t_p_values(values, **_needed(pairs, needs))
    return {f"{everyone}|models": tested, f"{pairs}|pairs": fold_statistics.adjust_holm(raw)}


def _needed(test: str, needs: Mapping[str, Any]) -> dict[str, Any]:
    return kernel_arguments(get_test(test), **needs, n_resamples=0, rng=None)


def _rows(cell: Cell, p_values: Mapping[str, Floats]) -> Iterator[tuple[object, ...]]:
    name, kind, effect = cell.key
    scenario = HALVED_SCENARIOS[name][0 if kind == "halved" else 1]
    better = fold_statistics.pair_indices(scenario.n_models)[0] == 0
    for key, p in p_values.items():
        way, test, question = key.split("|")
        extra = scenario.half_folds.n_fits if scenario.half_folds and get_test(test).needs_halvings else 0
        price = scenario.n_folds + extra
        for level in LEVELS:
            rate, error = means(_found(p, level, effect != "0", better)[:, None])[0]
            yield name, way, price, float(effect), test, question, level, rate, error, len(p)


def _found(p: Floats, level: float, differ: bool, better: Floats) -> Floats:
    """Return each replicate's count: if anything was rejected, or the share of true differences found."""
    if p.ndim == 1:
        return np.asarray(p <= level, dtype=np.float64)
    if differ:
        return np.asarray((p[:, better] <= level).mean(axis=1))
    return np.asarray((p <= level).any(axis=1), dtype=np.float64)
