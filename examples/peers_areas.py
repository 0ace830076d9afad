"""Cells about areas of one or several models: see peers_checks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from peers_checks import CHECKS, Floats, check, lacks, refused, score_table, verdict
from scipy.integrate import quad

import skewanova as sa


def cases() -> tuple[NDArray[np.bool_], Floats]:
    """40 positives and 120 negatives, and the scores of two models."""
    rng = np.random.default_rng(1)
    positive = np.repeat([True, False], [40, 120])
    return positive, positive[:, None] * [1.5, 1.0] + rng.normal(size=(160, 2))


@check("constant", "skewanova")
def _() -> str:
    positive, scores = cases()
    return f"{sa.auprec_score(positive, 0 * scores[:, 0], prior=0.25):.3f}"


@check("constant", "scikit-learn")
def _() -> str:
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve

    positive, scores = cases()
    precision, recall, _ = precision_recall_curve(positive, 0 * scores[:, 0])
    step = average_precision_score(positive, 0 * scores[:, 0])
    return f"{step:.3f} (`average_precision_score`), {auc(recall, precision):.3f} (`auc`)"


def weights_for(positive: NDArray[np.bool_], prior: float) -> Floats:
    """Weights of cases that make positives as frequent as the prior."""
    return np.where(positive, prior / positive.mean(), (1 - prior) / (1 - positive.mean()))


@check("prior", "skewanova")
def _() -> str:
    positive, scores = cases()
    found = sa.auprec_score(positive, scores[:, 0], prior=0.05, area_estimator="average_precision")
    thresholds = scores[positive, 0]  # counted one by one
    true, false = (
        (scores[chosen, 0] >= thresholds[:, None]).mean(axis=1) for chosen in (positive, ~positive)
    )
    return verdict(abs(found - (0.05 * true / (0.05 * true + 0.95 * false)).mean()) < 1e-12, "`prior=`")


@check("prior", "scikit-learn")
def _() -> str:
    from sklearn.metrics import average_precision_score

    positive, scores = cases()
    found = average_precision_score(positive, scores[:, 0], sample_weight=weights_for(positive, 0.05))
    expected = sa.auprec_score(positive, scores[:, 0], prior=0.05, area_estimator="average_precision")
    return verdict(abs(found - expected) < 1e-12, "by hand, `sample_weight`")


@check("range", "skewanova")
def _() -> str:
    positive, scores = cases()
    roc = sa.roc_curve(positive, scores[:, 0])
    expected = quad(lambda prior: sa.auprec(roc, prior), 0.05, 0.20, epsabs=1e-13)[0] / 0.15
    return verdict(abs(sa.iauprec(roc, (0.05, 0.20)) - expected) < 1e-12, "closed form")


CHECKS["range", "scikit-learn"] = lacks("scikit-learn", "prior", "skew")


@check("weights", "skewanova")
def _() -> str:
    positive, scores = cases()
    times = np.arange(160) % 3 + 1
    weighted = sa.auprec_score(positive, scores[:, 0], prior=0.1, sample_weight=times)
    repeated = sa.auprec_score(positive.repeat(times), scores[:, 0].repeat(times), prior=0.1)
    return verdict(abs(weighted - repeated) < 1e-12, "yes")


@check("weights", "scikit-learn")
def _() -> str:
    from sklearn.metrics import average_precision_score

    positive, scores = cases()
    times = np.arange(160) % 3 + 1
    weighted = average_precision_score(positive, scores[:, 0], sample_weight=times)
    repeated = average_precision_score(positive.repeat(times), scores[:, 0].repeat(times))
    return verdict(abs(weighted - repeated) < 1e-12, "yes")


@check("interval", "skewanova")
def _() -> str:
    positive, scores = cases()
    found = sa.confidence_interval(positive, scores[:, 0], prior=0.1)
    return verdict(found.conf_low < found.estimate < found.conf_high, "at any prior")


CHECKS["interval", "scikit-learn"] = lacks("scikit-learn", "interval", "confidence", "bootstrap")


@check("one_set", "skewanova")
def _() -> str:
    positive, scores = cases()
    found = sa.inference.compare_test_set(positive, scores, prior=0.1)
    return verdict((found.std_error > 0).all(), "standard error, any prior")


CHECKS["one_set", "scikit-learn"] = lacks("scikit-learn", "std_err", "standard", "compare", "difference")


@check("regions", "skewanova")
def _() -> str:
    regions = sa.decision.find_regions(sa.evaluate(score_table()))
    return verdict((regions["prior_low"] < regions["prior_high"]).all(), "yes")


CHECKS["regions", "scikit-learn"] = lacks("scikit-learn", "region", "leader", "crossing")


@check("soft", "skewanova")
def _() -> str:
    return refused(lambda: sa.auprec_score([0.3, 1.0, 0.0], [1, 2, 3], prior=0.1))


@check("soft", "scikit-learn")
def _() -> str:
    from sklearn.metrics import average_precision_score

    return refused(lambda: average_precision_score([0.3, 1.0, 0.0], [1, 2, 3]))


@check("classes", "skewanova")
def _() -> str:
    return refused(lambda: sa.auprec_score([0, 1, 2], [1, 2, 3], prior=0.1))


@check("classes", "scikit-learn")
def _() -> str:
    from sklearn.metrics import average_precision_score

    area = average_precision_score([0, 1, 2, 1], np.eye(4)[:, :3], average="macro")
    return verdict(0 <= area <= 1, "one against the rest")
