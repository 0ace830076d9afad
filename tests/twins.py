"""Slow, independent twins of the numeric modules: plain Python, exact fractions, 40-digit floats.

Nothing here imports the package. Curves are lists of (tpr, fpr) fractions; AUPREC is written from the
definitions, vertex by vertex, with recalls grouped by equality of fractions.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from statistics import median

import mpmath as mp

Groups = Sequence[tuple[int, int]]  # (positives, negatives) that share a score, best score first
Vertex = tuple[Fraction, Fraction]  # (tpr, fpr)

DIGITS = 40
GUARD = 40  # the closed form of an exact segment cancels; it is given this many digits to lose


def vertices(groups: Groups) -> list[Vertex]:
    """Origin, and one vertex after each tie group."""
    n = sum(p for p, _ in groups)
    m = sum(q for _, q in groups)
    curve, true, false = [(Fraction(0), Fraction(0))], 0, 0
    for p, q in groups:
        true, false = true + p, false + q
        curve.append((Fraction(true, n), Fraction(false, m)))
    return curve


def labels_and_scores(groups: Groups) -> tuple[list[int], list[int]]:
    """One row a case, the scores falling from group to group."""
    labels: list[int] = []
    scores: list[int] = []
    for rank, (p, q) in enumerate(groups):
        labels += [1] * p + [0] * q
        scores += [len(groups) - rank] * (p + q)
    return labels, scores


def roc_by_thresholds(labels: Sequence[bool], scores: Sequence[object]) -> list[Vertex]:
    """Count the cases at or above every distinct score, quadratic in time."""
    n = sum(map(bool, labels))
    m = len(labels) - n
    curve = [(Fraction(0), Fraction(0))]
    for threshold in sorted(set(scores), reverse=True):
        flagged = [bool(label) for label, score in zip(labels, scores, strict=True) if score >= threshold]
        curve.append((Fraction(sum(flagged), n), Fraction(len(flagged) - sum(flagged), m)))
    return curve


def auc_by_pairs(labels: Sequence[bool], scores: Sequence[object], weights: Sequence[int]) -> Fraction:
    """Share of (positive, negative) pairs in the right order, ties counting one half."""
    rows = list(zip(labels, scores, weights, strict=True))
    positives = [(s, w) for y, s, w in rows if y]
    negatives = [(s, w) for y, s, w in rows if not y]
    won = sum(
        v * w * (Fraction(1) if s > t else Fraction(1, 2) if s == t else Fraction(0))
        for (s, v), (t, w) in product(positives, negatives)
    )
    return Fraction(won) / (sum(v for _, v in positives) * sum(w for _, w in negatives))


def upper_hull(curve: Sequence[Vertex]) -> list[Vertex]:
    """Andrew's monotone chain from (0, 0) to (1, 1), corners only."""
    hull: list[Vertex] = []
    for point in sorted(set(curve), key=lambda v: (v[1], v[0])):
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(a: Vertex, b: Vertex, c: Vertex) -> Fraction:
    """Positive where a, b, c turn left, 0 where they are collinear."""
    return (b[1] - a[1]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[1] - a[1])


def area_under(curve: Sequence[Vertex]) -> Fraction:
    return sum(((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in pairwise(curve)), Fraction(0))


def exactly(number: float | Fraction) -> mp.mpf:
    return mp.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else mp.mpf(number)


def auprec_twin(curve: Sequence[Vertex], prior: float | mp.mpf, estimator: str) -> mp.mpf:
    """AUPREC of one estimator at one prior, in 40 digits."""
    with mp.workdps(DIGITS + GUARD):
        pi = mp.mpf(prior)
        skew = (1 - pi) / pi
        return ESTIMATOR_TWINS[estimator]([(exactly(t), exactly(f)) for t, f in curve], skew)


def _precision(t: mp.mpf, f: mp.mpf, skew: mp.mpf) -> mp.mpf:
    return t / (t + skew * f)


def _grouped(curve: Sequence[tuple[mp.mpf, mp.mpf]], skew: mp.mpf) -> dict[mp.mpf, list[mp.mpf]]:
    """Precisions of the vertices at each distinct recall, ascending; the origin left out."""
    found: dict[mp.mpf, list[mp.mpf]] = {}
    for t, f in curve[1:]:
        found.setdefault(t, []).append(_precision(t, f, skew))
    return found


def _trapezoid(curve, skew):
    groups = _grouped(curve, skew)
    start = _precision(*curve[1], skew)  # the limit of precision along the first ROC segment
    low = [min([start, *groups.pop(0, [])])] + [min(p) for p in groups.values()]
    recall = [0, *groups]
    high = [max(p) for p in groups.values()]
    return sum((recall[i + 1] - recall[i]) * (low[i] + high[i]) / 2 for i in range(len(high)))


def _upper_trapezoid(curve, skew):
    groups = _grouped(curve, skew)
    groups.pop(0, None)
    recall = [0, *groups]
    high = [1] + [max(p) for p in groups.values()]
    return sum((recall[i + 1] - recall[i]) * (high[i] + high[i + 1]) / 2 for i in range(len(groups)))


def _average_precision(curve, skew):
    return sum((t1 - t0) * _precision(t1, f1, skew) for (t0, _), (t1, f1) in pairwise(curve) if t1 > t0)


def _interpolated(aggregate: Callable):
    def area(curve, skew):
        groups = _grouped(curve, skew)
        groups.pop(mp.mpf(0), None)
        points = [(t, aggregate(p)) for t, p in groups.items()]
        total = points[0][0] * points[0][1]
        for (t0, p0), (t1, p1) in pairwise(points):
            total += _segment(t0, t0 * (1 - p0) / p0, t1, t1 * (1 - p1) / p1)
        return total

    return area


def _exact(curve, skew):
    return sum(_segment(t0, skew * f0, t1, skew * f1) for (t0, f0), (t1, f1) in pairwise(curve))


def _segment(t0, a0, t1, a1):
    """Integral of t / (t + a) dt as t and a grow in proportion from (t0, a0) to (t1, a1)."""
    rise, grow, start = t1 - t0, (t1 - t0) + (a1 - a0), t0 + a0
    if rise == 0:
        return mp.mpf(0)
    if start == 0:
        return rise * rise / grow
    slope = rise / grow
    return rise * (slope + (t0 - start * slope) / grow * mp.log((start + grow) / start))


def _hull(curve, skew):
    return _exact([(t, f) for t, f in upper_hull(curve)], skew)


ESTIMATOR_TWINS = {
    "trapezoid": _trapezoid, "exact": _exact, "average_precision": _average_precision,
    "upper_trapezoid": _upper_trapezoid, "interpolated_max": _interpolated(max),
    "interpolated_mean": _interpolated(lambda p: sum(p) / len(p)),
    "interpolated_median": _interpolated(median), "convex_hull": _hull,
}  # fmt: skip


def segment_by_quadrature(start: Vertex, end: Vertex, prior: float) -> mp.mpf:
    """Area under precision along a segment, by integrating the definition."""
    with mp.workdps(DIGITS):
        skew = (1 - mp.mpf(prior)) / mp.mpf(prior)
        t0, f0, t1, f1 = map(exactly, (*start, *end))

        def precision(s):
            t, f = t0 + s * (t1 - t0), f0 + s * (f1 - f0)
            return t / (t + skew * f)

        return (t1 - t0) * mp.quad(precision, [0, 1])


def mean_over_priors(function, density, limits, *, width=4.0):
    """Mean of a function of the prior, integrated over the log-odds between two limits, in panels."""
    with mp.workdps(25):
        first, last = limits
        panels = mp.linspace(first, last, 2 + int(mp.floor((last - first) / width)))

        def integrate(g):
            def in_log_odds(v):
                pi = 1 / (1 + mp.exp(-v))
                return g(pi) * density(pi) * pi * (1 - pi)

            return mp.quad(in_log_odds, panels, method="gauss-legendre")

        return integrate(function) / integrate(lambda pi: mp.mpf(1))


def log_odds(prior: float) -> mp.mpf:
    with mp.workdps(DIGITS):
        return mp.log(mp.mpf(prior) / (1 - mp.mpf(prior)))


def uniform_prior_density(pi: mp.mpf) -> mp.mpf:
    return mp.mpf(1)


def uniform_skew_density(pi: mp.mpf) -> mp.mpf:
    return 1 / pi**2  # d skew = d prior / prior^2


def beta_density(a: float, b: float) -> Callable[[mp.mpf], mp.mpf]:
    """Scaled to about 1 at its centre: mpmath's quadrature stops at an absolute error."""
    centre = mp.mpf(a) / (a + b)
    return lambda pi: (pi / centre) ** (mp.mpf(a) - 1) * ((1 - pi) / (1 - centre)) ** (mp.mpf(b) - 1)


def mean_precision_uniform_prior(t: Fraction, f: Fraction, low: float, high: float) -> mp.mpf:
    """Mean of prior T / (prior T + (1 - prior) F) over priors, by its antiderivative."""
    with mp.workdps(DIGITS + GUARD):
        t, f, low, high = exactly(t), exactly(f), mp.mpf(low), mp.mpf(high)
        if t == f:
            return (low + high) / 2
        slope = t - f
        ends = [f + p * slope for p in (low, high)]
        return t / slope * (1 - f / slope * mp.log(ends[1] / ends[0]) / (high - low))


def mean_precision_uniform_skew(t: Fraction, f: Fraction, low: float, high: float) -> mp.mpf:
    """Mean of T / (T + skew F) over skews, by its antiderivative."""
    with mp.workdps(DIGITS + GUARD):
        t, f, low, high = exactly(t), exactly(f), mp.mpf(low), mp.mpf(high)
        if f == 0:
            return mp.mpf(1)
        return t / f * mp.log((t + high * f) / (t + low * f)) / (high - low)


def mean_precision_beta(t: Fraction, f: Fraction, a: float, b: float) -> mp.mpf:
    """Mean of prior T / (prior T + (1 - prior) F) over a beta prior, by Euler's integral of 2F1."""
    with mp.workdps(DIGITS):
        t, f, a, b = exactly(t), exactly(f), mp.mpf(a), mp.mpf(b)
        return t / f * a / (a + b) * mp.hyp2f1(1, a + 1, a + b + 1, 1 - t / f) if f else mp.mpf(1)


def iauprec_linear_twin(curve, estimator, prior_averaged_precision):
    """IAUPREC of an estimator linear in the precisions, segment by segment from the vertices' means."""
    with mp.workdps(DIGITS + GUARD):
        mean = [mp.mpf(0)] + [prior_averaged_precision(t, f) if t else mp.mpf(0) for t, f in curve[1:]]
        mean[0] = mean[1]  # the origin has the limit of the first segment
        total, top = mp.mpf(0), mp.mpf(1)  # top: the largest precision at the recall a segment starts from
        for i in range(1, len(curve)):
            rise = exactly(curve[i][0] - curve[i - 1][0])
            if rise:
                start = {"trapezoid": mean[i - 1], "upper_trapezoid": top, "average_precision": mean[i]}
                total += rise * (start[estimator] + mean[i]) / 2
                top = mean[i]
        return total


def relative_error(value: float, truth: mp.mpf) -> float:
    with mp.workdps(DIGITS):
        return float(abs((mp.mpf(float(value)) - truth) / truth))
