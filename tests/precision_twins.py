"""Precision and its areas from the definitions, and a table whose curves have many vertices."""

from itertools import groupby

import numpy as np
import pandas as pd


def curve_of(rows):
    """(recall, false positive rate) after each distinct score, best first."""
    ranked = sorted(zip(rows["y_score"], rows["y_true"], strict=True), reverse=True)
    n = sum(label for _, label in ranked)
    m = len(ranked) - n
    true = false = 0
    points = []
    for _, tied in groupby(ranked, key=lambda row: row[0]):
        labels = [label for _, label in tied]
        true, false = true + sum(labels), false + len(labels) - sum(labels)
        points.append((true / n, false / m))
    return points


def twin(points, prior):
    """Sum of dT (p_i + p_{i-1}) / 2 with p(0) := p of the first vertex."""
    precision = [prior * t / (prior * t + (1 - prior) * f) for t, f in points]
    recall = [0.0] + [t for t, _ in points]
    before = [precision[0], *precision]
    return sum((recall[i + 1] - recall[i]) * (before[i] + precision[i]) / 2 for i in range(len(precision)))


def sized_models():
    rng = np.random.default_rng(8)
    parts = []
    for model, shift in (("A", 1.0), ("B", 0.3)):
        for fold in (1, 2):
            labels = np.repeat([0, 1], [160, 40])
            score = np.round(2 * (rng.normal(size=200) + shift * labels)) / 2
            parts.append(pd.DataFrame({"model": model, "fold": fold, "y_true": labels, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def cell(frame, model="A", fold=2):
    return frame[(frame["model"] == model) & (frame["fold"] == fold)]


def vertices_of(model="A", fold=2):
    return [(0.0, 0.0), *curve_of(cell(sized_models(), model, fold))]
