"""One curve: one prior, many priors, IAUPREC, and how the cost grows."""

from __future__ import annotations

import numpy as np

from benchmarks import peers
from benchmarks.measuring import Call, Row, interleaved, ratio, scored_cases, simd_level
from skewanova import UniformSkew, auprec, auprec_score, iauprec_score, roc_curve

PRIORS = np.linspace(0.005, 0.995, 101)
#: Times faster than scikit-learn, by the vector instructions that the sort can use.
OVER_SKLEARN = {"AVX-512": 15, "AVX2": 10, "none": 2}
#: Times faster than scikit-learn's weights at 101 priors where the sort is not vectorised.
WITHOUT_VECTORS = 400


def rows(reduced: bool) -> list[Row]:
    """List the rows of targets 1, 2, 3, 8, 13 and 14."""
    rounds = 3 if reduced else 7
    return [
        *one_curve(rounds),
        *by_prevalence(rounds),
        *as_written(rounds),
        *small_curve(rounds),
        *growth(reduced),
    ]


def one_curve(rounds: int) -> list[Row]:
    """Return a million cases, a tenth of them positive."""
    label, score = scored_cases(1_000_000)
    tied, single = np.round(score, 3), score.astype(np.float32)
    at = {
        "sort": lambda: np.sort(score),
        "sort tied": lambda: np.sort(tied),
        "one": lambda: auprec_score(label, score, prior=0.1),
        "float32": lambda: auprec_score(label, single, prior=0.1),
        "tied": lambda: auprec_score(label, tied, prior=0.1),
        "many": lambda: auprec_score(label, score, prior=PRIORS),
        "skew": lambda: iauprec_score(label, score, deployment_prior=UniformSkew(4, 19)),
        "prior": lambda: iauprec_score(label, score, deployment_prior=(0.05, 0.20)),
        "sklearn": lambda: peers.sklearn_areas(label, score, np.array([0.1])),
    }
    few = {
        "loop": lambda: peers.sklearn_areas(label, score, PRIORS),
        "weights": lambda: peers.weighted_precision(label, score, 0.1),
        "quad": lambda: peers.quadrature(label, score, 0.05, 0.20),
        "many": at["many"],
        "prior": at["prior"],
    }
    t, u = interleaved(at, rounds), interleaved(few, max(1, rounds // 3))
    n = "1e6 cases"
    least = OVER_SKLEARN[simd_level()]
    return [
        Row(
            "1",
            f"one prior, {n}, untied",
            "ours / np.sort(float64)",
            *ratio(t["one"], t["sort"]),
            at_most=1.8,
        ),
        Row(
            "1",
            f"one prior, {n}, float32",
            "ours / np.sort(float64)",
            *ratio(t["float32"], t["sort"]),
            at_most=1.8,
        ),
        Row(
            "1",
            f"one prior, {n}, tied",
            "ours / np.sort(float64)",
            *ratio(t["tied"], t["sort tied"]),
            at_most=2.9,
        ),
        Row("1", f"one prior, {n}", "scikit-learn / ours", *ratio(t["sklearn"], t["one"]), at_least=least),
        Row("2", f"101 priors, {n}", "ours / np.sort(float64)", *ratio(t["many"], t["sort"]), at_most=3.2),
        Row("2", f"101 priors, {n}", "roc_curve and loop / ours", *ratio(u["loop"], u["many"]), at_least=20),
        Row(
            "2",
            f"101 priors, {n}",
            "scikit-learn weights / ours",
            *ratio(u["weights"], u["many"], 101),
            at_least=1000,
            known=WITHOUT_VECTORS if simd_level() == "none" else None,
        ),
        Row(
            "3",
            f"IAUPREC over skews, {n}",
            "ours / ours at one prior",
            *ratio(t["skew"], t["one"]),
            at_most=1.4,
        ),
        Row(
            "3",
            f"IAUPREC over priors, {n}",
            "ours / ours at one prior",
            *ratio(t["prior"], t["one"]),
            at_most=1.8,
        ),
        Row(
            "3",
            f"IAUPREC over priors, {n}",
            "roc_curve and quad / ours",
            *ratio(u["quad"], u["prior"]),
            at_least=12,
        ),
    ]


def by_prevalence(rounds: int) -> list[Row]:
    """As many positives as negatives: five times the work behind the sort (shown, without a target)."""
    label, score = scored_cases(1_000_000, 0.5)
    t = interleaved(
        {
            "sort": lambda: np.sort(score),
            "one": lambda: auprec_score(label, score, prior=0.1),
            "many": lambda: auprec_score(label, score, prior=PRIORS),
        },
        rounds,
    )
    return [
        Row(
            "1", "one prior, 1e6 cases, half positive", "ours / np.sort(float64)", *ratio(t["one"], t["sort"])
        ),
        Row(
            "2",
            "101 priors, 1e6 cases, half positive",
            "ours / np.sort(float64)",
            *ratio(t["many"], t["sort"]),
        ),
    ]


#: What is known to be reached with half of the cases positive (benchmarks/performance.md says why), and else.
KNOWN = {0.5: (12.0, 4.5, 3.5), 0.1: (5.0, None, None)}


def as_written(rounds: int) -> list[Row]:
    """Return calls as people write them: a curve and its areas, labels of eight bytes, any prevalence."""
    return [row for share in KNOWN for row in _as_written(share, rounds)]


def _as_written(share: float, rounds: int) -> list[Row]:
    label, score = scored_cases(1_000_000, share)
    whole, real, tied = label.astype(np.int64), label.astype(np.float64), np.round(score, 3)
    calls: dict[str, Call] = {
        "sort": lambda: np.sort(score),
        "sort tied": lambda: np.sort(tied),
        "curve": lambda: auprec(roc_curve(whole, score), PRIORS),
        "int64": lambda: auprec_score(whole, score, prior=0.1),
        "float64": lambda: auprec_score(real, score, prior=0.1),
        "tied": lambda: auprec_score(whole, tied, prior=0.1),
    }
    t = interleaved(calls, rounds)
    many, few, few_tied = KNOWN[share]
    n, over = f"1e6 cases, {share:.0%} positive", "ours / np.sort(float64)"
    curve, int64, float64 = (ratio(t[name], t["sort"]) for name in ("curve", "int64", "float64"))
    ties = ratio(t["tied"], t["sort tied"])
    return [
        Row("13", f"auprec(roc_curve(y, s), 101 priors), {n}", over, *curve, at_most=4, known=many),
        Row("14", f"one prior, int64 labels, {n}", over, *int64, at_most=2.2, known=few),
        Row("14", f"one prior, float64 labels, {n}", over, *float64, at_most=2.2, known=few),
        Row("14", f"one prior, int64 labels, tied, {n}", over, *ties, at_most=2.9, known=few_tied),
    ]


def small_curve(rounds: int) -> list[Row]:
    """As many cases as one fold of the Satellite data."""
    label, score = scored_cases(1300)
    calls = {
        "ours": lambda: [auprec_score(label, score, prior=PRIORS) for _ in range(20)],
        "numpy": lambda: [peers.numpy_areas(label, score, PRIORS) for _ in range(20)],
    }
    t = interleaved(calls, 3 * rounds)
    return [
        Row("2", "101 priors, 1300 cases", "numpy loop / ours", *ratio(t["numpy"], t["ours"]), at_least=4)
    ]


def growth(reduced: bool) -> list[Row]:
    """Cost a case at several sizes, the dearest over the cheapest."""
    sizes = (10_000, 100_000, 1_000_000, *(() if reduced else (10_000_000,)))
    cost: dict[str, list[float]] = {"ours": [], "sort": []}
    for n in sizes:
        label, score = scored_cases(n)
        repeats = max(1, 1_000_000 // n)
        calls = {
            "ours": lambda: [auprec_score(label, score, prior=0.1) for _ in range(repeats)],  # noqa: B023
            "sort": lambda: [np.sort(score) for _ in range(repeats)],  # noqa: B023
        }
        for name, times in interleaved(calls, 3).items():
            cost[name].append(min(times) / (n * repeats))
    work, compared = f"cost a case, 1e4 to {sizes[-1]:.0e} cases", "dearest / cheapest"
    spread = {name: max(values) / min(values) for name, values in cost.items()}
    return [
        Row("8", work, compared, spread["ours"], spread["ours"], at_most=1.2, known=2.2),
        Row("8", f"{work}, np.sort alone", compared, spread["sort"], spread["sort"]),
    ]
