"""Hypothesis strategies: curves from integer counts, so that every tie and every rate is meant."""

from hypothesis import strategies as st


def _both_classes(groups: list[tuple[int, int]]) -> bool:
    return any(p for p, _ in groups) and any(n for _, n in groups)


def tie_groups(max_groups: int = 8, max_count: int = 4) -> st.SearchStrategy[list[tuple[int, int]]]:
    """(positives, negatives) for each distinct score, best first; both classes occur."""
    count = st.integers(0, max_count)
    group = st.tuples(count, count).filter(lambda g: sum(g) > 0)
    return st.lists(group, min_size=1, max_size=max_groups).filter(_both_classes)


def untied_groups(max_cases: int = 14) -> st.SearchStrategy[list[tuple[int, int]]]:
    """One case for each distinct score."""
    return st.lists(st.sampled_from([(1, 0), (0, 1)]), min_size=2, max_size=max_cases).filter(_both_classes)


def priors() -> st.SearchStrategy[float]:
    """Priors from 1e-6 to 1 - 1e-6, as many near the ends as in the middle; ratios of small integers."""
    tiny = st.builds(lambda k, e: k * 10.0**-e, st.integers(1, 99), st.integers(2, 6))
    return st.one_of(st.integers(1, 999).map(lambda k: k / 1000), tiny, tiny.map(lambda p: 1 - p)).filter(
        lambda p: 0 < p < 1
    )


def ranges() -> st.SearchStrategy[tuple[float, float]]:
    """(low, high) with low < high by more than rounding."""
    return st.tuples(priors(), priors()).map(lambda p: (min(p), max(p))).filter(lambda p: p[1] - p[0] > 1e-7)


def skews() -> st.SearchStrategy[float]:
    return st.builds(lambda k, e: k * 10.0**e, st.integers(1, 99), st.integers(-6, 5))
