"""Write the inputs of reference.R: anova_auprec.csv and anova_iauprec.csv (standard library only).

Every number is rounded to 12 decimals, so that Python and R read the same values.
"""

import csv
import random
from pathlib import Path
from statistics import fmean

HERE = Path(__file__).parent
PRIORS = {2: (0.5, 0.1), 3: (0.5, 0.1, 0.01), 4: (0.5, 0.2, 0.05, 0.01)}
Rows = list[tuple[str, str, float, float]]  # model, fold, prior, auprec


def table(seed, shape, effect, *, missing=()):
    """Rows of one input; `effect` makes a value of what its fold, and its model and fold, share."""
    rng = random.Random(seed)
    n_models, n_folds, n_priors = shape
    blocks = [rng.gauss(0, 1) for _ in range(n_folds)]
    rows: Rows = []
    for model in range(n_models):
        for fold in range(n_folds):
            own = rng.gauss(0, 1)
            for step, prior in enumerate(PRIORS[n_priors]):
                value = round(effect(rng, model, step, (blocks[fold], own)), 12)
                if (model, fold, step) not in missing and (model, fold, None) not in missing:
                    rows.append((f"M{model + 1}", f"F{fold + 1:02d}", prior, value))
    return rows


def plain(rng, model, step, shared):
    block, own = shared
    return 0.80 - 0.09 * step + 0.012 * model + 0.02 * block + 0.015 * own + 0.01 * rng.gauss(0, 1)


def tiny(rng, model, step, shared):
    block, own = shared
    return 0.97 + 1e-4 * (0.5 * model - 0.7 * step + block + 0.8 * own + 0.6 * rng.gauss(0, 1))


def spread(rng, model, step, shared):
    block, own = shared
    noise = own + 0.4 * rng.gauss(0, 1)
    return 0.7 - 0.08 * step + 0.01 * model + 0.02 * block + (0.005, 0.01, 0.03, 0.06)[model] * noise


INPUTS = {
    "balanced": table(1, (3, 20, 3), plain),
    "tiny_variance": table(2, (5, 7, 4), tiny),
    # one model lacks a fold, two more cells are missing
    "unbalanced": table(3, (4, 6, 3), plain, missing={(1, 2, None), (0, 4, 1), (3, 0, 2)}),
    "unbalanced_folds": table(
        4, (5, 8, 2), plain, missing={(0, 0, None), (1, 0, None), (1, 5, None), (4, 7, None), (3, 3, None)}
    ),
    "smallest": table(5, (2, 2, 2), plain),
    "heteroscedastic": table(6, (4, 10, 3), spread),
}


def write(name, header, rows):
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    long, means = [], []
    for name, rows in INPUTS.items():
        long += [(name, *row) for row in rows]
        for cell in dict.fromkeys(row[:2] for row in rows):
            values = [row[3] for row in rows if row[:2] == cell]
            means.append((name, *cell, round(fmean(values), 12)))
    write("anova_auprec.csv", ("input", "model", "fold", "prior", "auprec"), long)
    write("anova_iauprec.csv", ("input", "model", "fold", "iauprec"), means)


if __name__ == "__main__":
    main()
