"""The packed sort against a plain twin: equal in every bit, for every dtype."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from loops import each

from skewanova.curves import roc, sorting

INTEGERS = [np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
FLOATS = [np.dtype(t) for t in ("f2", "f4", "f8")]
DTYPES = [np.dtype(bool), *INTEGERS, *FLOATS]


def plain_runs(positive, score):
    """Score, positives and negatives of every run of ties, the best first: one pass over sorted rows."""
    runs = []
    for row in sorted(range(len(score)), key=lambda r: score[r], reverse=True):
        if not runs or runs[-1][0] != score[row]:
            runs.append([score[row], 0, 0])
        runs[-1][1 if positive[row] else 2] += 1
    return runs


def plain_vertices(positive, score):
    runs = plain_runs(positive.tolist(), score.tolist())
    return [r[0] for r in runs], np.cumsum([r[1] for r in runs]), np.cumsum([r[2] for r in runs])


def edge_values(dtype):
    """Values that a packing could merge or misplace: extremes, neighbours, subnormals, both zeros."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, info.max // 2, info.max // 2 + 1]
        return near + [v for v in (2**53, 2**53 + 1, 2**61, 2**62, 2**62 + 1) if v <= info.max]
    info = np.finfo(dtype)
    near = [np.nextafter(dtype.type(at), dtype.type(to)) for at, to in ((2, 1), (info.tiny, 0))]
    sizes = [0.0, info.smallest_subnormal, info.tiny, 0.5, 1.0, 1.5, 2.0, 3.0, info.max, np.inf, *near]
    return [sign * v for v in sizes for sign in (1, -1)]


def scores(dtype):
    known = st.sampled_from(edge_values(dtype))
    whole = st_numpy.from_dtype(dtype, allow_nan=False) if dtype.kind == "f" else st_numpy.from_dtype(dtype)
    few = st.integers(0, 1 if dtype.kind == "b" else 3)
    return st.one_of(*(st.lists(v, min_size=2, max_size=30) for v in (known, whole, few)))


@st.composite
def cases(draw):
    dtype = draw(st.sampled_from(DTYPES))
    score = np.array(draw(scores(dtype)), dtype=dtype)
    labels = draw(st.lists(st.booleans(), min_size=len(score) - 2, max_size=len(score) - 2))
    return np.array([True, False, *labels]), score


def scores_at(sorted_cases, rows):
    return sorted_cases.packing.decode(-(sorted_cases.keys[rows] >> 1))


@given(cases(), st.sampled_from([1, 2, 5, 1 << 16]))
@example((np.array([True, False, True]), np.array([2**64 - 1, 0, 2**64 - 2], dtype="u8")), 2)
@example((np.array([True, False, True]), np.array([5e-324, 1e300, 1e-323])), 2)
@example((np.array([True, False, True, False]), np.array([-0.0, 0.0, -np.inf, np.inf])), 1)
@example((np.array([True, False, True, False]), np.array([5.0, 7.0, -np.inf, 1e9])), 1)
@example((np.array([True, False, True, False]), np.array([5.0, 7.0, np.inf, -1e300])), 2)
def test_curve_and_rises_equal_the_plain_twin(pair, block_size):
    positive, score = pair
    values, true, false = plain_vertices(positive, score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "BLOCK_SIZE", block_size)
        sorted_cases = sorting.sort_cases(positive, score)
        curve = roc.curve_from_scores(positive, score)
        runs = zip(*sorting.iter_runs_with_positives(sorted_cases.keys), strict=True)
        found = [np.concatenate(parts).tolist() for parts in runs]
    recovered = scores_at(sorted_cases, sorting.find_run_ends(sorted_cases.keys))
    assert (recovered.dtype, recovered.tolist()) == (score.dtype, values)
    assert curve.tpr.tolist() == [0.0, *(true / true[-1]).tolist()]
    assert curve.fpr.tolist() == [0.0, *(false / false[-1]).tolist()]
    assert curve.thresholds.tolist() == [np.inf, *map(float, values)]
    assert (curve.n_positive, curve.n_negative) == (true[-1], false[-1])
    before = [np.append(0, counts[:-1]) for counts in (true, false)]
    rising = true > before[0]
    assert found == [counts[rising].tolist() for counts in (*before, true, false)]


@given(st.lists(cases(), min_size=1, max_size=4), st.booleans())
def test_groups_are_sorted_each_apart(groups, of_one_size):
    dtype = groups[0][1].dtype
    groups = [(positive, score) for positive, score in groups if score.dtype == dtype]
    if of_one_size:
        groups = groups[:1] * 3
    sizes = np.array([len(score) for _, score in groups])
    positive, score = (np.concatenate(column) for column in zip(*groups, strict=True))
    found = sorting.sort_cases(positive, score, sizes)
    last = sorting.find_run_ends(found.keys, sizes)
    assert scores_at(found, last).tolist() == [v for group in groups for v in plain_vertices(*group)[0]]
    labels = np.split(found.keys & 1, np.cumsum(sizes)[:-1])
    assert [part.sum() for part in labels] == [p.sum() for p, _ in groups]


@each(("score", "bits", "ranked"), [
    (np.array([0.1, 1.9]), 64, False), (np.array([-300.0, 1e9, 2.5]), 64, False),
    (np.array([0.25, 3], "f4"), 32, False), (np.array([1.0, 2], "f2"), 32, False),
    (np.array([5e-324, 1.9]), 64, False), (np.array([5e-324, 2.0]), 32, True),
    (np.array([0.0, 4.0]), 64, False), (np.array([1e-40, 4.0], "f4"), 32, True),
    (np.array([-1e300, 1e-300]), 32, True),
    (np.array([1, 2], np.longdouble), 32, np.dtype(np.longdouble).itemsize > 8),
    (np.array([-(2**63), 2**63 - 1]), 32, True), (np.array([2**63, 2**64 - 1], "u8"), 32, True),
    (np.array([2**53, 2**53 + 1]), 32, True), (np.array([True, False]), 32, False),
    (np.array([-7, 2**24 - 1]), 32, False), (np.array([-(2**24), 7]), 64, False),
    (np.array([7, 2**53 - 1]), 64, False), (np.array([np.inf, 5.0, -7.0]), 64, False),
])  # fmt: skip
def test_width_of_keys_and_fallback_to_ranks(score, bits, ranked):
    """Ranks are taken only where a bit would be lost; 32-bit keys wherever they hold all scores."""
    found = sorting.sort_cases(np.array([True] + [False] * (len(score) - 1)), score)
    assert (8 * found.keys.itemsize, found.packing.ranked is not None) == (bits, ranked)


def test_scores_in_any_memory_layout():
    rng = np.random.default_rng(0)
    positive, table = rng.random(50) < 0.5, rng.normal(size=(50, 3))
    reference = roc.curve_from_scores(positive, table[:, 1].copy())
    for score in (table[:, 1], table[:, 1].astype(">f8")):
        found = roc.curve_from_scores(positive, score)
        assert found.thresholds.tolist() == reference.thresholds.tolist()
        assert found.tpr.tolist() == reference.tpr.tolist()


SCORES = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_a_slot_tells_how_many_scores_of_positives_are_better_and_whether_one_is_tied(positives, others):
    levels = np.unique(np.array(positives, dtype=float))
    found = sorting.rank_among_positives(levels, np.array(others, dtype=float))
    assert found.tolist() == [2 * (levels > one).sum() + (one in levels) for one in others]
