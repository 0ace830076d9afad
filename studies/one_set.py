"""Size and power of the test on one test set, as `compare` runs it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special, stats

from skewanova.base.checks import Bools, Floats, SkewanovaWarning, check_count
from skewanova.curves.distributions import true_iauprec
from skewanova.inference.sampling import Codes
from skewanova.inference.single_test_set import compare_test_set
from skewanova.priors.weightings import DeploymentPrior, as_deployment_prior
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error

#: Share of the variance of a case's score that all models have in common, within either class.
CORRELATION = 0.5


#: Cases of a patient where settings have patients, and the share of a score's variance that they share.
PATIENT_CASES, PATIENT_SHARE = 10, 0.5


#: Distributions of the number of cases of a patient.
CASES_OF_PATIENTS: Mapping[str, Callable[[np.random.Generator, int], Codes]] = {
    "equal": lambda _, size: np.full(size, PATIENT_CASES),
    "8_60": lambda rng, size: rng.integers(8, 61, size),
    "lognormal": lambda rng, size: np.clip(np.rint(rng.lognormal(2.5, 0.9, size)), 1, 200).astype(np.intp),
}


LEVELS = (0.05, 0.005)


class Setting(NamedTuple):
    """Negatives score N(0, 1), positives N(mean, 1), and those of the last model have `spread`.

    The mean of the last model's positives is such that all have the same true area, and `lead` is added to
    it. Scores may be rounded to so many `values`; ``neighbours`` are the shares of positives among 10
    neighbours, ``leaves`` the shares in the 20 leaves of a tree. With `patients`, several come from each;
    `cases` is their distribution. They are of one class (``alike``) or of both (``mixed``), and patients are
    left out; or they are ``ignored``.
    """

    mean: float = 1.0
    spread: float = 1.0
    values: int | str | None = None
    patients: str = ""
    lead: float = 0.0
    cases: str = "equal"


SETTINGS: Mapping[str, Setting] = {
    "binormal": Setting(),
    "strong_binormal": Setting(mean=2.0),
    "crossing": Setting(spread=1.5),
    **{f"values_{count}": Setting(values=count) for count in (33, 15, 8, 5)},
    "neighbours": Setting(values="neighbours"),
    "leaves": Setting(values="leaves"),
    "patients": Setting(patients="alike"),
    "patients_mixed": Setting(patients="mixed"),
    "patients_ignored": Setting(patients="ignored"),
    "patients_8_60": Setting(patients="alike", cases="8_60"),
    "patients_lognormal": Setting(patients="alike", cases="lognormal"),
    "mixed_8_60": Setting(patients="mixed", cases="8_60"),
    "mixed_lognormal": Setting(patients="mixed", cases="lognormal"),
    "better": Setting(lead=0.3),
    "better_8": Setting(values=8, lead=0.3),
    "better_5": Setting(values=5, lead=0.3),
    "better_patients": Setting(patients="alike", lead=0.3),
    "better_mixed": Setting(patients="mixed", lead=0.3),
}


#: Settings of equal models and cases drawn one by one, which a study runs unless it is told others.
SINGLE = tuple(name for name, setting in SETTINGS.items() if not (setting.patients or setting.lead))


WEIGHTINGS: tuple[float | tuple[float, float], ...] = (0.5, 0.2, 0.1, 0.01, (0.05, 0.2))


SIZES = (30, 50, 100, 300)


MODELS = (2, 3, 5, 8)


#: m/lam below and at the limit from which this study claims the test's size.
THIN, ENOUGH = 25, 100


#: Largest number of negatives simulated.
MOST_NEGATIVES = 10_000


#: Samples in a full study.
FULL = 2_000


TESTS = ("all models", "pairs (Holm)")


PAIRED_COLUMNS = (
    "setting", "weighting", "n_models", "n_positive", "n_negative", "support", "claimed", "truth", "test",
    "level", "rate", "std_error", "spread_ratio", "replicates",
)  # fmt: skip


class Design(NamedTuple):
    """Models' true curves, the weighting of the priors, the number of models, the sizes of the classes."""

    setting: str
    weighting: float | tuple[float, float]
    n_models: int
    n_positive: int
    support: int

    @property
    def n_negative(self) -> int:
        """Negatives that make m/lam the wanted one, at the geometric mean of lam."""
        priors, weights = as_deployment_prior(self.weighting).quadrature()
        return round(self.support * float(np.exp(weights @ np.log((1 - priors) / priors))))

    @property
    def claimed(self) -> bool:
        """Whether negatives are enough for the test's size to be claimed."""
        return self.support >= ENOUGH

    def sample(self, rng: np.random.Generator) -> tuple[Bools, Floats, Codes]:
        """Labels, the positives first, scores (n_cases, n_models), and the patient of every case."""
        setting = SETTINGS[self.setting]
        n_patients = self.n_positive + self.n_negative
        n_cases = CASES_OF_PATIENTS[setting.cases](rng, n_patients) if setting.patients else 1
        positive = np.repeat(np.arange(n_patients) < self.n_positive, n_cases)
        noise = rng.normal(size=(len(positive), self.n_models + 1))
        patient = np.repeat(np.arange(n_patients), n_cases)
        if setting.patients == "mixed":
            patient = rng.permutation(patient)
        if setting.patients:
            shared = rng.normal(size=(patient.max() + 1, self.n_models + 1))[patient]
            noise = np.sqrt(1 - PATIENT_SHARE) * noise + np.sqrt(PATIENT_SHARE) * shared
        scores = np.sqrt(1 - CORRELATION) * noise[:, 1:] + np.sqrt(CORRELATION) * noise[:, :1]
        scores[positive, -1] *= setting.spread
        scores[positive, :-1] += setting.mean
        scores[positive, -1] += last_mean(self.setting, self.weighting) + setting.lead
        return positive, as_scored(scores, setting, rng), patient


def as_scored(latent: Floats, setting: Setting, rng: np.random.Generator) -> Floats:
    """Scores that a model with few different ones gives: rounded, of neighbours, of leaves."""
    if setting.values is None:
        return latent
    share = special.expit(setting.mean * (latent - setting.mean / 2))  # of positives where scores are such
    if setting.values == "neighbours":
        return rng.binomial(10, share) / 10
    if setting.values == "leaves":  # uneven, as a tree has them
        limits = stats.norm.ppf(np.linspace(0, 1, 21)[1:-1] ** 1.5) + setting.mean / 2
        return np.digitize(latent, limits).astype(np.float64)
    place = np.clip((latent + 3) / (6 + setting.mean), 0, 1 - 1e-9)
    return np.asarray(np.floor(place * float(setting.values)), dtype=np.float64)


def paired_study(
    *,
    settings: Sequence[str] | None = None,
    weightings: Sequence[float | tuple[float, float]] = WEIGHTINGS,
    sizes: Sequence[int] = SIZES,
    models: Sequence[int] = MODELS,
    supports: Sequence[int] = (THIN, ENOUGH),
    **run: Any,
) -> Study:
    """Simulate models with the same true area on the same cases, and count rejections of that.

    Parameters
    ----------
    settings : sequence of str, optional
        Names of `SETTINGS`: continuous scores (``binormal``, ``strong_binormal``), curves that cross with the
        same area (``crossing``), scores rounded to 33, 15, 8 or 5 values, or as of 10 neighbours or of a tree
        with 20 leaves; by default all of these. And, of several cases a patient (see `Setting`), those named
        after patients or ``mixed``; sizes and m/lam then count patients. And for the power, ``better``, where
        the last model is.
    weightings : sequence of float or (low, high)
        Priors, or deployment priors.
    sizes : sequence of int
        Numbers of positives, at least 5.
    models : sequence of int
        Numbers of models, at least 2.
    supports : sequence of int
        Values of m/lam (negatives over skew), which say how many negatives there are, as far as that is no
        more than 10,000.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (2,000), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `PAIRED_COLUMNS`. ``rate`` is the share of samples with p below the level:
        of the test of all models, or of any pair after Holm's adjustment. ``spread_ratio`` is the standard
        error (root mean square) over the standard deviation of the first pair's difference.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.one_set import paired_study
    >>> options = {"settings": ["values_8"], "weightings": [0.5], "sizes": [50], "models": [2]}
    >>> frame = paired_study(**options, replicates=100, progress=False).to_frame()
    >>> frame["n_negative"].unique().tolist(), bool((frame["rate"] < 0.2).all())
    ([25, 100], True)
    """
    how = Run(**run)
    cells = [
        Cell(tuple(design), how.number(FULL), partial(one_by_one, partial(judged, design)))
        for design in _designs(settings, weightings, sizes=sizes, models=models, supports=supports)
    ]
    return study_of("paired", cells, _rows, columns=PAIRED_COLUMNS, run=how)


def judged(design: Design, rng: np.random.Generator) -> Floats:
    """P of all models, the smallest adjusted p of a pair; the first difference and its standard error."""
    positive, scores, patient = design.sample(rng)
    told = SETTINGS[design.setting].patients in {"alike", "mixed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        found = compare_test_set(
            positive,
            scores,
            deployment_prior=design.weighting,
            simultaneous="bonferroni",
            cluster=patient if told else None,
        )
    smallest = found.p_adjusted.min()
    return np.array([found.p_omnibus, smallest, found.difference[0], found.std_error[0]])


@cache
def last_mean(setting: str, weighting: float | tuple[float, float]) -> float:
    """Mean of the last model's positives that gives all models the same area."""
    mean, spread = SETTINGS[setting][:2]
    if spread == 1:
        return mean
    negative, truth = stats.norm(0, 1), true_pair_area(setting, weighting)

    def excess(other: float) -> float:
        return true_iauprec(negative, stats.norm(other, spread), weighting) - truth

    return float(optimize.brentq(excess, mean - 4 * spread, mean + 4 * spread, xtol=1e-12))


@cache
def true_pair_area(setting: str, weighting: DeploymentPrior | float | tuple[float, float]) -> float:
    """Area that all models have before their scores are rounded."""
    return true_iauprec(stats.norm(0, 1), stats.norm(SETTINGS[setting].mean, 1), weighting)


def _designs(
    settings: Sequence[str] | None,
    weightings: Sequence[float | tuple[float, float]],
    *,
    sizes: Sequence[int],
    models: Sequence[int],
    supports: Sequence[int],
) -> Iterator[Design]:
    for n_positive in sizes:
        check_count(n_positive, "sizes", minimum=5)
    for n_models in models:
        check_count(n_models, "models", minimum=2)
    for support in supports:
        check_count(support, "supports", minimum=1)
    named = SINGLE if settings is None else settings
    grid = product(chosen(named, SETTINGS), *map(dict.fromkeys, (weightings, models, sizes, supports)))
    designs = (Design(*key) for key in grid)
    yield from (design for design in designs if design.n_negative <= MOST_NEGATIVES)


def _rows(cell: Cell, found: Floats) -> Iterator[tuple[object, ...]]:
    """Yield a row a test and level; `found` has a row a sample."""
    design = Design(*cell.key)
    weighting = as_deployment_prior(design.weighting).describe()
    truth = true_pair_area(design.setting, design.weighting)
    told = (design.setting, weighting, design.n_models, design.n_positive, design.n_negative, design.support)
    spread = found[:, 2].std()
    ratio = float(np.sqrt((found[:, 3] ** 2).mean()) / spread) if spread > 0 else np.nan  # no spread of one
    for k, test in enumerate(TESTS):
        for level in LEVELS:
            rate, error = share_and_error((found[:, k] < level).astype(np.float64))
            yield (*told, design.claimed, truth, test, level, rate, error, ratio, len(found))
