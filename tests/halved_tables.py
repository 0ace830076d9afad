"""Score tables with hold-outs and halvings, made case by case."""

import numpy as np
import pandas as pd


def halved_frame(*, models=("A", "B", "C"), n_cases=60, n_folds=6, n_halvings=4, inner_folds=2, seed=0):
    """Rows of random scores: hold-outs of a third of the cases, and halvings stratified by class."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n_cases) % 3 == 0
    worth = dict(zip(models, np.linspace(1.5, 0.5, len(models)), strict=True))
    own = {model: worth[model] * positive + rng.normal(size=n_cases) for model in models}

    def rows(part: str, halving: object, fold: object, cases: np.ndarray) -> pd.DataFrame:
        keys = {"part": part, "halving": halving, "fold": fold, "case": cases}
        parts = [
            pd.DataFrame({"model": model, **keys, "y_true": positive[cases].astype(int)}).assign(
                y_score=own[model][cases] + rng.normal(size=len(cases))
            )
            for model in models
        ]
        return pd.concat(parts)

    def dealt(cases: np.ndarray, hands: int) -> np.ndarray:
        """Deal each class in turn, at random."""
        hand = np.empty(len(cases), dtype=int)
        for kind in (False, True):
            mine = np.flatnonzero(positive[cases] == kind)
            hand[rng.permutation(mine)] = np.arange(len(mine)) % hands
        return hand

    everyone = np.arange(n_cases)
    found = [
        rows("holdout", pd.NA, fold, np.flatnonzero(dealt(everyone, 3) == 0))
        for fold in range(1, n_folds + 1)
    ]
    for halving in range(1, n_halvings + 1):
        side = dealt(everyone, 2)
        for half, name in enumerate(("half_a", "half_b")):
            cases = np.flatnonzero(side == half)
            inner = dealt(cases, inner_folds)
            found += [rows(name, halving, fold + 1, cases[inner == fold]) for fold in range(inner_folds)]
    return pd.concat(found, ignore_index=True)
