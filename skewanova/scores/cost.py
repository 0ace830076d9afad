"""How long a comparison will take, and how much memory, said beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skewanova.base.checks import InputError
from skewanova.base.operating_system import available_memory

#: What takes no word of warning.
SHORT_SECONDS, SMALL_BYTES = 60.0, 2e9


#: Seconds and bytes of a comparison of next to nothing, most of them for its figures.
LEAST_SECONDS, LEAST_BYTES = 17.0, 3.5e8


#: Seconds of one core and bytes for each unit of work (measured: docs/performance.md says how).
SECONDS = {"group": 9e-3, "group at a prior": 2e-6, "pair": 3.2e-3, "pair at a prior": 1e-4, "priors": 9e-5}


BYTES = {"group": 9.5e4, "group at a prior": 500.0, "pair": 2e4, "pair at a prior": 1e3, "priors": 1e3}


ADVICE = {
    "group": "average repetitions of one split before, or compare fewer folds",
    "pair": "leave out models that cannot win: compare the best few, or all with one control",
    "priors": "give a dozen `priors`: the curves along the prior are drawn on a grid of their own",
}


@dataclass(frozen=True)
class Cost:
    """Seconds of one core to compare and save, bytes at the peak, and what would bring both down."""

    seconds: float
    n_bytes: float
    advice: str
    n_priors: int = 3

    @property
    def sentence(self) -> str:
        """What to expect and what to do; empty where it is not worth a word."""
        if self.seconds <= SHORT_SECONDS and self.n_bytes <= SMALL_BYTES:
            return ""
        return (
            f"a comparison of this size at {self.n_priors:,} priors, saved, takes roughly "
            f"{_duration(self.seconds)} and {_size(self.n_bytes)} of memory; to make it shorter, "
            f"{self.advice}"
        )


def comparison_cost(n_models: int, n_folds: int, n_priors: int = 3) -> Cost:
    """Cost of a comparison over folds and of its folder, from its size; with one fold that of the least.

    Examples
    --------
    >>> from skewanova.scores.cost import comparison_cost
    >>> comparison_cost(5, 20).sentence
    ''
    """
    if n_folds < 2:
        return Cost(LEAST_SECONDS, LEAST_BYTES, "", n_priors)
    groups, pairs = n_models * n_folds, n_models * (n_models - 1) / 2
    units = {
        "group": groups,
        "group at a prior": groups * n_priors,
        "pair": pairs,
        "pair at a prior": pairs * n_priors,
        "priors": n_priors * (n_priors - 1) / 2,
    }
    seconds = {name: SECONDS[name] * count for name, count in units.items()}
    n_bytes = sum(BYTES[name] * count for name, count in units.items())
    heaviest = max(ADVICE, key=lambda name: seconds[name])
    return Cost(LEAST_SECONDS + sum(seconds.values()), LEAST_BYTES + n_bytes, ADVICE[heaviest], n_priors)


def cost_notes(n_models: int, n_folds: int, n_priors: int = 3) -> Sequence[str]:
    """Return what to say before a comparison starts; refuse one that cannot fit in memory."""
    cost, free = comparison_cost(n_models, n_folds, n_priors), available_memory()
    if free is not None and cost.n_bytes > max(free, SMALL_BYTES):
        raise InputError(
            f"a comparison of {n_models:,} models, {n_folds:,} folds and {n_priors:,} priors needs roughly "
            f"{_size(cost.n_bytes)} of memory, but {_size(free)} are free: {cost.advice}"
        )
    return [cost.sentence] if cost.sentence else []


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
