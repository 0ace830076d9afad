"""Calibration studies: whether the tests hold their level, and what holding it costs in power.

Each scenario is simulated in blocks of replicates with seeds of their own, so a result depends on the seed
and the number of replicates, and never on how many processes shared the work.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from skewanova._batteries import OMNIBUS_DEFAULT, PAIRS_DEFAULT, PValues, omnibus_tests, pair_tests
from skewanova._checks import Floats, check_choice, check_count
from skewanova._fold_kernels import pair_indices
from skewanova._framed import Framed
from skewanova._rendering import Table
from skewanova._scenarios import SCENARIOS, Scenario
from skewanova._system import tied

#: Levels at which every test is judged.
LEVELS = (0.05, 0.005)
#: Replicates simulated together, from one seed.
BLOCK = 25
#: Effects of the first model in a study of power, in distance between the classes.
EFFECTS = (0.1, 0.2, 0.4, 0.8)
POWER_SCENARIOS = ("S1", "S2a")
#: Resampled p-values are fractions that may fall on a level, but for rounding.
ROUNDING = 1e-9

TYPE_ONE_ERROR_COLUMNS = (
    "scenario", "design", "n_models", "n_folds", "test", "role", "level", "rate", "std_error", "replicates",
)  # fmt: skip
_CAPTIONS = {
    ("type_one_error", "rate"): "Rejections of true equality at .05 / .005; for pairs, of any true equality",
    ("power", "rate"): "Power at .05 / .005; for pairs, share of the true differences found",
    ("power", "adjusted_rate"): "Power at .05 / .005 once every test is held to that level in truth",
}
POWER_COLUMNS = (
    "scenario", "design", "n_models", "n_folds", "effect", "test", "role", "level", "rate", "std_error",
    "adjusted_rate", "replicates",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class StudyResult(Framed):
    """Rates of rejection in every scenario.

    Attributes
    ----------
    study : str
        ``type_one_error`` or ``power``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each scenario, test and level (and effect, in a study of power)."""
        return self._table.copy()

    def to_table(self, scenarios: Sequence[str] | None = None, *, column: str = "rate") -> Table:
        """Return rates as text, a row a test and a column a scenario: at .05, a stroke, at .005.

        Parameters
        ----------
        scenarios : sequence of str, optional
            Scenarios to show; by default all that were simulated.
        column : str, default "rate"
            What to show: ``rate``, or ``adjusted_rate`` in a study of power.
        """
        check_choice(column, [c for c in ("rate", "adjusted_rate") if c in self._table], "column")
        frame = self._table if scenarios is None else self._table[self._table["scenario"].isin(scenarios)]
        columns = ["scenario"] if self.study == "type_one_error" else ["scenario", "effect"]
        heads = [tuple(head) for head in frame[columns].drop_duplicates().to_numpy().tolist()]
        keys = frame[["test", *columns, "level"]].to_numpy().tolist()
        rates = {tuple(key): float(rate) for key, rate in zip(keys, frame[column], strict=True)}
        rows = [
            (test, *(_cell([rates.get((test, *head, level)) for level in LEVELS]) for head in heads))
            for test in dict.fromkeys(frame["test"])
        ]
        few, many = frame["replicates"].min(), frame["replicates"].max()
        counts = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        note = f"{counts} replicates, seed {self.rng}. Monte Carlo standard errors are in the frame."
        header = ("Test", *(_head(head) for head in heads))
        return Table(self.study, _CAPTIONS[self.study, column], header, tuple(rows), note=note)

    def to_tables(self) -> tuple[Table, ...]:
        """Return the rates as the one table there is, as other studies have several."""
        return (self.to_table(),)


def type_one_error_study(
    *,
    scenarios: Sequence[str] | None = None,
    replicates: int = 400,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> StudyResult:
    """Simulate models that are equal in truth, and count how often each test says otherwise.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `SCENARIOS`; by default all.
    replicates : int, default 400
        Replicates of each scenario.
    full : bool, default False
        Use each scenario's own number for a recorded study instead: 1,000 to 10,000.
    rng : int, default 0
        Seed.
    n_jobs : int, default 1
        Processes; the result is the same for any number.
    progress : bool, default True
        Show a progress bar, if the output is a terminal.

    Returns
    -------
    StudyResult
        Frame with the columns of `TYPE_ONE_ERROR_COLUMNS`. For tests of pairs the rate is that of families
        with at least one rejection among the models equal in truth; where one model is better, these rows
        are all there is. ``default`` and ``default_omnibus`` (role headline) are what `compare` would use.

    Raises
    ------
    ValueError
        If a scenario is unknown, or a number out of range.

    Examples
    --------
    >>> from skewanova.simulation import type_one_error_study
    >>> frame = type_one_error_study(scenarios=["S2a"], replicates=50, progress=False).to_frame()
    >>> bool(frame.set_index(["test", "level"])["rate"].loc["two_way", 0.05] > 0.4)
    True
    """
    names = list(SCENARIOS) if scenarios is None else _check_names(scenarios)
    check_count(replicates, "replicates", minimum=1)
    runs = [_Run(name, None, SCENARIOS[name].full if full else replicates) for name in names]
    rows = [
        row
        for run, p_values in _simulated(runs, rng=rng, n_jobs=n_jobs, progress=progress)
        for row in _null_rows(run, p_values)
    ]
    return StudyResult("type_one_error", rng, pd.DataFrame(rows, columns=list(TYPE_ONE_ERROR_COLUMNS)))


def power_study(
    *,
    scenarios: Sequence[str] | None = None,
    effects: Sequence[float] = EFFECTS,
    replicates: int = 400,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> StudyResult:
    """Simulate one model that is better than its equal rivals, and count how often each test finds it.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `SCENARIOS`; by default one with independent folds and one with hold-outs of one data set.
    effects : sequence of float, default (0.1, 0.2, 0.4, 0.8)
        By how much further apart the first model's classes lie.
    replicates, full, rng, n_jobs, progress
        As for :func:`type_one_error_study`.

    Returns
    -------
    StudyResult
        Frame with the columns of `POWER_COLUMNS`. ``rate`` is the power; for tests of pairs, the share of the
        pairs with the better model that were found. ``adjusted_rate`` is the rate at the level at which the
        test rejects true equality as often as it should in the same scenario: what a test is worth once its
        excess of false findings is taken away (nan where its p-values are too coarse to tell).

    Raises
    ------
    ValueError
        As :func:`type_one_error_study`.

    Examples
    --------
    >>> from skewanova.simulation import power_study
    >>> study = power_study(scenarios=["S1"], effects=[0.8], replicates=50, progress=False)
    >>> frame = study.to_frame().set_index(["test", "level"])
    >>> bool(frame["rate"].loc["default_omnibus", 0.05] > 0.9)
    True
    """
    names = list(POWER_SCENARIOS) if scenarios is None else _check_names(scenarios)
    check_count(replicates, "replicates", minimum=1)
    runs = [
        _Run(name, effect, SCENARIOS[name].full if full else replicates)
        for name in names
        for effect in (0.0, *effects)
    ]
    rows: list[tuple[object, ...]] = []
    null: PValues = {}
    for run, p_values in _simulated(runs, rng=rng, n_jobs=n_jobs, progress=progress):
        if run.effect == 0:
            null = {test: _family(p) for test, p in p_values.items()}
        else:
            rows += _power_rows(run, p_values, null)
    return StudyResult("power", rng, pd.DataFrame(rows, columns=list(POWER_COLUMNS)))


# --- simulation in blocks -----------------------------------------------------------------------------------


class _Run(NamedTuple):
    """One scenario with one effect (None: the scenario's own) and its replicates."""

    name: str
    effect: float | None
    replicates: int

    @property
    def scenario(self) -> Scenario:
        return SCENARIOS[self.name]

    def blocks(self, rng: int) -> list[tuple[int, np.random.SeedSequence]]:
        """Size and seed of every block; the seeds depend on the scenario's name, not on its neighbours."""
        whole, rest = divmod(self.replicates, BLOCK)
        sizes = [BLOCK] * whole + [rest] * bool(rest)
        label = f"{self.name} {self.effect or 0.0:g}"
        seeds = np.random.SeedSequence([rng, zlib.crc32(label.encode())]).spawn(len(sizes))
        return list(zip(sizes, seeds, strict=True))


def _simulated(
    runs: Sequence[_Run], *, rng: int, n_jobs: int, progress: bool
) -> Iterator[tuple[_Run, PValues]]:
    """p-values of all replicates, run by run."""
    check_count(rng, "rng", minimum=0)
    check_count(n_jobs, "n_jobs", minimum=1)
    blocks = [(run, *block) for run in runs for block in run.blocks(rng)]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(tied(_block))(*block) for block in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if progress else True)
    found: Iterator[PValues] = iter(bar)
    for run in runs:
        parts = [next(found) for _ in run.blocks(rng)]
        yield run, {test: np.concatenate([part[test] for part in parts]) for test in parts[0]}
    bar.close()


def _block(run: _Run, size: int, seed: np.random.SeedSequence) -> PValues:
    """p-values of one block: (size,) for tests of all models, (size, n_pairs) for tests of pairs."""
    draws, flips = map(np.random.default_rng, seed.spawn(2))
    options = {} if run.effect is None else {"effect": run.effect}
    tables = run.scenario.draw(size, draws, **options)
    return {**omnibus_tests(tables, run.scenario, flips), **pair_tests(tables, run.scenario, flips)}


# --- rates --------------------------------------------------------------------------------------------------


def _null_rows(run: _Run, p_values: PValues) -> Iterator[tuple[object, ...]]:
    scenario = run.scenario
    equal = pair_indices(scenario.n_models)[0] >= scenario.n_better
    for test, p in p_values.items():
        if p.ndim == 1 and scenario.n_better:
            continue
        smallest = p if p.ndim == 1 else _family(p[:, equal])
        for level in LEVELS:
            rejected = smallest <= level + ROUNDING
            yield (*_labels(run), test, _role(test), level, *_rate(rejected), len(p))


def _power_rows(run: _Run, p_values: PValues, null: PValues) -> Iterator[tuple[object, ...]]:
    better = pair_indices(run.scenario.n_models)[0] == 0
    for test, p in p_values.items():
        about = p[:, None] if p.ndim == 1 else p[:, better]
        for level in LEVELS:
            rate = _rate((about <= level + ROUNDING).mean(axis=1))
            adjusted = adjusted_rate(null[test], about, level)
            yield (*_labels(run), run.effect, test, _role(test), level, *rate, adjusted, len(p))


def adjusted_rate(null: Floats, p: Floats, level: float) -> float:
    """Rate at the critical p-value that rejects this share of `null`, ties there rejected at random.

    nan where more than this share of `null` is tied there: the p-values are too coarse to be compared so.
    """
    critical = np.quantile(null, level, method="inverted_cdf")
    at, below = np.isclose(null, critical, rtol=ROUNDING, atol=0), null < critical * (1 - ROUNDING)
    if at.mean() > level:
        return np.nan
    share = (level - below.mean()) / at.mean()
    found = np.isclose(p, critical, rtol=ROUNDING, atol=0)
    return float((p < critical * (1 - ROUNDING)).mean() + share * found.mean())


def _labels(run: _Run) -> tuple[object, ...]:
    return run.name, run.scenario.design, run.scenario.n_models, run.scenario.n_folds


def _family(p: Floats) -> Floats:
    """Smallest p of each replicate: a family errs with its first rejection."""
    return p if p.ndim == 1 else p.min(axis=1)


def _rate(rejected: Iterable[float]) -> tuple[float, float]:
    """Mean and its Monte Carlo standard error."""
    values = np.asarray(rejected, dtype=np.float64)
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def _role(test: str) -> str:
    if test in {OMNIBUS_DEFAULT, PAIRS_DEFAULT}:
        return "headline"
    published = test in {"two_way", "tukey"} or test.startswith(("three_way", "tukey_three_way"))
    return "as_published" if published else "check"


def _check_names(scenarios: Sequence[str]) -> list[str]:
    return [check_choice(name, list(SCENARIOS), "scenarios") for name in dict.fromkeys(scenarios)]


def _head(head: Sequence[object]) -> str:
    return str(head[0]) if len(head) == 1 else f"{head[0]}, +{head[1]:g}"


def _cell(rates: Sequence[float | None]) -> str:
    """Rates at the levels, without leading zeros; nothing where a test was not applied."""
    known = [rate for rate in rates if rate is not None]
    return " / ".join("-" if np.isnan(rate) else f"{rate:.3f}".removeprefix("0") for rate in known)
