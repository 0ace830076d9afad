"""Places of scores on a curve, against a count of the positives' scores above them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skewanova.curves.sorting import rank_among_positives

SCORES = st.lists(st.integers(0, 6), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_a_slot_tells_how_many_scores_of_positives_are_better_and_whether_one_is_tied(positives, others):
    levels = np.unique(np.array(positives, dtype=float))
    found = rank_among_positives(levels, np.array(others, dtype=float))
    assert found.tolist() == [2 * (levels > one).sum() + (one in levels) for one in others]
