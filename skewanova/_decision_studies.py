"""Studies of decisions: intervals of crossings, and sets of leaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy.special import logit

from skewanova._checks import Floats, check_count
from skewanova._crossings import find_crossings, undecided
from skewanova._decision_models import FoldDesign, Model, crossing_pair, draw_panel
from skewanova._decision_runner import Cell, DecisionStudy, chosen, simulated
from skewanova._joint_bands import BAND_PRIORS, pair_critical
from skewanova._joint_curves import JointCurves, PanelCurves
from skewanova._leaders import ENOUGH_FOR_INFLUENCE, lead_stretches

#: Replicates in a full study of crossings, and of the others.
FULL_CROSSINGS, FULL = 2000, 1000
LEVEL = 0.95

# --- crossings ----------------------------------------------------------------------------------------------

#: Range of priors looked at, and the prior at which the true curves cross.
CROSSING_LIMITS = (0.005, 0.7)
TRUE_CROSSING = 0.1
JITTER = 0.1
CROSSING_DESIGNS: Mapping[str, FoldDesign] = MappingProxyType(
    {
        "folds-5": FoldDesign(5, 100, 900, JITTER),
        "folds-10": FoldDesign(10, 100, 900, JITTER),
        "folds-20": FoldDesign(20, 100, 900, JITTER),
        "folds-10-small": FoldDesign(10, 50, 450, JITTER),
        "one-set-small": FoldDesign(1, 100, 900),
        "one-set": FoldDesign(1, 300, 2700),
    }
)
CROSSING_COLUMNS = (
    "setting", "design", "true_prior", "method", "level", "coverage", "std_error", "found", "open",
    "median_width", "replicates",
)  # fmt: skip
CROSSING_METHODS = ("fieller", "delta", "set")


def crossings_study(
    *,
    settings: Sequence[str] | None = None,
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> DecisionStudy:
    """Simulate two models whose true curves cross, and count how often intervals hold the crossing.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `CROSSING_DESIGNS`; by default all.
    replicates : int, default 200
        Replicates of each setting.
    full : bool, default False
        Simulate 2,000 instead (1,000 in the other studies), as in the recorded study.
    rng : int, default 0
        Seed.
    n_jobs : int, default 1
        Processes; the result is the same for any number.
    progress : bool, default True
        Show a progress bar, if the output is a terminal.

    Returns
    -------
    DecisionStudy
        Frame with the columns of `CROSSING_COLUMNS`. ``fieller`` and ``delta`` count the intervals of
        crossings that were found, ``set`` all priors not decided between the models, whether a crossing was
        found or not.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from skewanova._decision_studies import crossings_study
    >>> study = crossings_study(settings=["folds-5"], replicates=4, progress=False)
    >>> study.to_frame()["method"].tolist()
    ['fieller', 'delta', 'set']
    """
    check_count(replicates, "replicates", minimum=1)
    cells = [
        Cell(
            name, FULL_CROSSINGS if full else replicates, partial(_crossing_measures, CROSSING_DESIGNS[name])
        )
        for name in chosen(settings, CROSSING_DESIGNS)
    ]
    rows = []
    for cell, found in simulated("crossings", cells, rng=rng, n_jobs=n_jobs, progress=progress):
        design = CROSSING_DESIGNS[cell.name].describe()
        seen = found[:, 0] == 1
        for j, method in enumerate(CROSSING_METHODS):
            kept = found if method == "set" else found[seen]
            if not len(kept):  # no crossing was found, so there is nothing to tell of them
                kept = np.full((1, found.shape[1]), np.nan)
            share = float(kept[:, 1 + j].mean())
            error = float(np.sqrt(share * (1 - share) / len(kept)))
            told = (
                float(seen.mean()),
                float(kept[:, 4].mean()),
                float(np.median(kept[:, 5 + j])),
                len(found),
            )
            rows.append((cell.name, design, TRUE_CROSSING, method, LEVEL, share, error, *told))
    return DecisionStudy("crossings", rng, pd.DataFrame(rows, columns=list(CROSSING_COLUMNS)))


def _crossing_measures(design: FoldDesign, rng: np.random.Generator) -> Floats:
    """Whether a crossing was found; whether Fieller, delta and the whole set hold the truth; open; widths."""
    panel = draw_panel(crossing_pair(TRUE_CROSSING, design.jitter), design, CROSSING_LIMITS, rng)
    critical = panel.joint.critical_value(1 - LEVEL)
    difference, variance = panel.joint.pairs()
    stretches = undecided(panel.edges, difference[0], variance[0], critical)
    at = logit(TRUE_CROSSING)
    in_set = any(low <= at <= high for low, high in stretches)
    width = sum(high - low for low, high in stretches)
    found = [c for c in find_crossings(panel, critical) if c.above == 0]  # in the true direction
    if not found:
        return np.array([0, 0, 0, in_set, 0, 0, 0, width], dtype=float)
    nearest = min(found, key=lambda c: abs(logit(c.prior) - at))
    low, high = logit(nearest.conf_low), logit(nearest.conf_high)
    reach = critical * nearest.std_error / (nearest.prior * (1 - nearest.prior))
    inside = (low <= at <= high, abs(logit(nearest.prior) - at) <= reach, in_set)
    is_open = nearest.open_low or nearest.open_high
    return np.array([1, *inside, is_open, high - low, 2 * reach, width], dtype=float)


# --- leaders ------------------------------------------------------------------------------------------------

LEADER_LIMITS = (0.01, 0.3)
SWAP, SWAP_DEVIATION = 0.05, 1.8
LEADER_COLUMNS = (
    "setting", "design", "models", "level", "best_always_in", "std_error", "all_alike", "swap_reported",
    "one_winner", "replicates",
)  # fmt: skip


@dataclass(frozen=True)
class LeaderSetting:
    """Models, equal in truth or swapping the lead at `SWAP`, and how they are tested."""

    design: FoldDesign
    n_equal: int = 0

    def models(self) -> tuple[Model, ...]:
        """Return the models."""
        return (
            (Model(),) * self.n_equal
            if self.n_equal
            else crossing_pair(SWAP, self.design.jitter, SWAP_DEVIATION)
        )

    def describe(self) -> str:
        """Say which models these are."""
        return f"{self.n_equal} equal" if self.n_equal else "2 that swap the lead"


LEADER_SETTINGS: Mapping[str, LeaderSetting] = MappingProxyType(
    {
        "equal-2-folds-10": LeaderSetting(FoldDesign(10, 100, 900, JITTER), 2),
        "equal-2-folds-20": LeaderSetting(FoldDesign(20, 100, 900, JITTER), 2),
        "equal-4-folds-10": LeaderSetting(FoldDesign(10, 100, 900, JITTER), 4),
        "equal-2-one-set": LeaderSetting(FoldDesign(1, 300, 2700), 2),
        "swap-folds-10": LeaderSetting(FoldDesign(10, 100, 1900, JITTER)),
        "swap-folds-20": LeaderSetting(FoldDesign(20, 100, 1900, JITTER)),
        "swap-one-set": LeaderSetting(FoldDesign(1, 300, 2700)),
    }
)


def leaders_study(
    *,
    settings: Sequence[str] | None = None,
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> DecisionStudy:
    """Simulate models that are equal, or swap the lead, and count what the sets of leaders say.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `LEADER_SETTINGS`; by default all.
    replicates, full, rng, n_jobs, progress
        As for :func:`crossings_study`.

    Returns
    -------
    DecisionStudy
        Frame with the columns of `LEADER_COLUMNS`: how often a best model was a contender at every prior; all
        models were contenders at every prior; each of two was the only contender on its side of the true
        crossing; one and the same model was the only contender at every prior.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from skewanova._decision_studies import leaders_study
    >>> frame = leaders_study(settings=["equal-2-folds-10"], replicates=4, progress=False).to_frame()
    >>> frame["models"].tolist()
    ['2 equal']
    """
    check_count(replicates, "replicates", minimum=1)
    cells = [
        Cell(name, FULL if full else replicates, partial(_leader_measures, LEADER_SETTINGS[name]))
        for name in chosen(settings, LEADER_SETTINGS)
    ]
    rows = []
    for cell, found in simulated("leaders", cells, rng=rng, n_jobs=n_jobs, progress=progress):
        setting, share = LEADER_SETTINGS[cell.name], found.mean(axis=0)
        error = float(np.sqrt(share[0] * (1 - share[0]) / len(found)))
        told = (setting.design.describe(), setting.describe(), LEVEL, share[0], error, *share[1:], len(found))
        rows.append((cell.name, *told))
    return DecisionStudy("leaders", rng, pd.DataFrame(rows, columns=list(LEADER_COLUMNS)))


def _leader_measures(setting: LeaderSetting, rng: np.random.Generator) -> Floats:
    """Whether a best model is always in; all are; a swap is reported; one model wins everywhere."""
    panel = draw_panel(setting.models(), setting.design, LEADER_LIMITS, rng)
    priors = np.geomspace(*LEADER_LIMITS, BAND_PRIORS)
    critical = pair_critical(_thinned(panel, priors), 1 - LEVEL, n_draws=999, rng=rng)
    n_negative = setting.design.n_negative
    rarest = 0.0 if setting.design.n_folds > 1 else ENOUGH_FOR_INFLUENCE / (ENOUGH_FOR_INFLUENCE + n_negative)
    stretches = lead_stretches(panel, critical, rarest=rarest)
    everyone = set(range(len(panel.joint.estimate)))
    alike = all(set(inside) == everyone for _, inside, _, _ in stretches)
    sole = {inside[0] for _, inside, _, _ in stretches if len(inside) == 1}
    winner = len(sole) == 1 and all(len(inside) == 1 for _, inside, _, _ in stretches)
    if setting.n_equal:  # every model is a best one: the set holds the best while it holds them all
        return np.array([alike, alike, False, winner], dtype=float)
    at = logit(SWAP)
    held = all(
        (0 in inside or high <= at) and (1 in inside or low >= at) for _, inside, low, high in stretches
    )
    below = any(inside == (1,) and high <= at for _, inside, _, high in stretches)
    above = any(inside == (0,) and low >= at for _, inside, low, _ in stretches)
    return np.array([held, alike, below and above, winner], dtype=float)


def _thinned(panel: PanelCurves, priors: Floats) -> JointCurves:
    """The curves at the priors of the bands, read off the panels."""
    nearest = np.unique(np.abs(logit(panel.joint.priors)[None] - logit(priors)[:, None]).argmin(axis=1))
    joint = panel.joint
    return JointCurves(
        joint.priors[nearest], joint.estimate[:, nearest], joint.deviations[..., nearest], joint.df
    )
