"""Score tables of every kind for the verdict, and what no two outputs about one table may say."""

import warnings

import numpy as np
import pandas as pd

from skewanova import compare

#: Designs by how `compare` gets to know of them.
DESIGNS = ("independent", "kfold", "holdout", "test_set", "runs")


def scores(
    design, shifts, *, spreads=None, n_folds=6, n_positive=60, n_negative=400, digits=None, alike=0.7, seed=0
):
    """Rows of scores: models by the shift and spread of their positives, every case with a difficulty."""
    rng = np.random.default_rng(seed)
    spreads = spreads or [1.0] * len(shifts)
    n_folds = 1 if design == "test_set" else n_folds
    positive = np.repeat([True, False], [n_positive, n_negative])
    difficulty = rng.normal(size=len(positive))
    parts = []
    for fold in range(n_folds):
        held, fresh = np.arange(len(positive)), difficulty
        if design == "kfold":
            held = held[held % n_folds == fold]
        elif design == "holdout":
            sides = (positive, ~positive)
            held = np.concatenate([rng.choice(held[side], side.sum() // 4, False) for side in sides])
        elif design == "independent":
            fresh = rng.normal(size=len(positive))
        for number, (shift, spread) in enumerate(zip(shifts, spreads, strict=True)):
            own = np.random.default_rng([11, seed, fold, number]).normal(size=len(held))
            noise = alike * fresh[held] + np.sqrt(1 - alike**2) * own
            value = np.where(positive[held], shift + spread * noise, noise)
            value = value if digits is None else np.round(value, digits)
            part = {"model": f"m{number}", "fold": fold, "y_true": positive[held], "y_score": value}
            parts.append(pd.DataFrame(part | ({} if design == "independent" else {"case": held})))
    return pd.concat(parts, ignore_index=True)


def compared(frame, design, deployment_prior=(0.05, 0.2), **options):
    """The comparison, without the warnings that odd tables bring."""
    stated = {"design": "independent"} if design == "independent" else {}
    with warnings.catch_warnings(action="ignore"):
        return compare(frame, deployment_prior, **{"at_priors": (0.5,), **stated, **options})


def drawn(seed):
    """A table of any kind: ties, crossings, equal models, few positives, weak baselines, 2 to 12 models."""
    rng = np.random.default_rng([7, seed])
    design = DESIGNS[seed % len(DESIGNS)]
    n_models = 12 if seed == 11 else int(rng.choice([2, 2, 3, 3, 4, 6]))
    shifts = (1.5 + float(rng.choice([0.0, 0.02, 0.1, 0.4, 1.0])) * np.arange(n_models)[::-1]).tolist()
    spreads = [1.0] * n_models
    kind = int(rng.integers(6))
    if kind == 0:  # a baseline that hardly knows anything
        shifts[-1] = 0.05
    if kind == 1:  # one that is better at rare priors and worse at common ones
        shifts[1], spreads[1] = shifts[0] - 0.3, 2.2
    if kind == 2:  # the same model twice
        shifts[1] = shifts[0]
    digits = rng.choice([None, None, 1, 0])
    n_positive, n_negative = int(rng.choice([12, 30, 100, 300])), int(rng.choice([200, 1000, 2000]))
    n_folds = int(rng.choice([2, 3, 5, 10]))
    if design == "runs":  # leaving out every case of every run takes long
        n_positive, n_negative, n_folds = min(n_positive, 60), 200, min(n_folds, 4)
    frame = scores(
        design, shifts, spreads=spreads, n_folds=max(n_folds, 4) if design == "kfold" else n_folds,
        n_positive=n_positive, n_negative=n_negative, digits=digits,
        alike=float(rng.choice([0.0, 0.7, 0.95])), seed=seed,
    )  # fmt: skip
    if kind == 3:
        frame = pd.concat([frame, frame[frame["model"] == "m0"].assign(model="twin")], ignore_index=True)
    return design, frame, [(0.05, 0.2), (0.002, 0.02), 0.1, (0.1, 0.5)][int(rng.integers(4))]


#: Made for a reader: each is a kind that a verdict has to word.
KINDS = {
    "clear": ("holdout", {"shifts": [3.0, 2.0, 1.0], "n_positive": 300, "n_negative": 1500, "n_folds": 8}),
    "swap": (
        "independent",
        {"shifts": [1.9, 1.85], "spreads": [0.7, 1.6], "n_positive": 500, "n_negative": 4500, "n_folds": 10},
    ),
    "tie": ("independent", {"shifts": [2.0, 2.0, 1.0], "n_positive": 200, "n_negative": 2000, "n_folds": 10}),
    "nothing, many folds": ("independent", {"shifts": [1.5, 1.5, 1.5], "n_folds": 12}),
    "nothing, five folds": (
        "kfold", {"shifts": [1.5, 1.5, 1.5], "n_folds": 5, "n_positive": 200, "n_negative": 1000},
    ),
    "equal": ("test_set", {"shifts": [2.0, 2.0], "n_positive": 2000, "n_negative": 8000, "alike": 0.999}),
    "one set, few": (
        "test_set", {"shifts": [1.5, 1.2, 0.8], "n_positive": 25, "n_negative": 2000, "digits": 0},
    ),
    "runs": ("runs", {"shifts": [2.2, 1.5, 1.2], "n_folds": 6, "n_positive": 60, "n_negative": 1200}),
}  # fmt: skip
