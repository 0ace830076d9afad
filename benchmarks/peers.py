"""What a careful user would write with numpy, scikit-learn, scipy and pandas."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from sklearn import metrics


def area(fpr: np.ndarray, tpr: np.ndarray, prior: float) -> float:
    """Trapezoidal area under precision-recall at a prior."""
    precision = prior * tpr[1:] / (prior * tpr[1:] + (1 - prior) * fpr[1:])
    precision = np.concatenate((precision[:1], precision))
    return float(np.sum(np.diff(tpr) * (precision[1:] + precision[:-1])) / 2)


def sklearn_areas(label: np.ndarray, score: np.ndarray, priors: np.ndarray) -> list[float]:
    """One `roc_curve` of scikit-learn, and a loop over priors."""
    fpr, tpr, _ = metrics.roc_curve(label, score, drop_intermediate=False)
    return [area(fpr, tpr, prior) for prior in priors]


def numpy_areas(label: np.ndarray, score: np.ndarray, priors: np.ndarray) -> list[float]:
    """Vertices by argsort and cumsum, and a loop over priors."""
    order = np.argsort(-score)
    ranked, hits = score[order], label[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    true = np.cumsum(hits)[last]
    false = last + 1 - true
    fpr, tpr = (np.append(0.0, count / count[-1]) for count in (false, true))
    return [area(fpr, tpr, prior) for prior in priors]


def weighted_precision(label: np.ndarray, score: np.ndarray, prior: float) -> float:
    """Average precision of scikit-learn, the prior put in as sample weights."""
    share = label.mean()
    weight = np.where(label, prior / share, (1 - prior) / (1 - share))
    return float(metrics.average_precision_score(label, score, sample_weight=weight))


def quadrature(label: np.ndarray, score: np.ndarray, low: float, high: float) -> float:
    """One `roc_curve`, and `scipy.integrate.quad` over the prior."""
    fpr, tpr, _ = metrics.roc_curve(label, score, drop_intermediate=False)
    return quad(lambda prior: area(fpr, tpr, prior), low, high, epsabs=1e-10)[0] / (high - low)
