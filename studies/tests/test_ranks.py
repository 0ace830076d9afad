"""The study of ranks: what it counts, and the peer against draws of its own."""

import numpy as np
import pytest

from studies.ranks import judge, peer_ranks, rank_study


@pytest.mark.parametrize(
    ("truth", "limits", "inside"),
    [
        ([2.0, 1.0, 1.0], [(1, 1), (2, 3), (2, 3)], 1),
        ([2.0, 1.0, 1.0], [(1, 1), (2, 2), (2, 3)], 0),
        ([1.0, 1.0, 1.0], [(1, 3), (1, 3), (1, 3)], 1),
        ([1.0, 1.0, 1.0], [(1, 2), (1, 3), (1, 3)], 0),
    ],
)
def test_models_that_tie_have_all_of_their_ranks(truth, limits, inside):
    assert judge(np.array(limits), np.array(truth))[0] == inside


def test_peer_separates_what_is_far_apart():
    rng = np.random.default_rng(0)
    assert peer_ranks(np.array([3.0, 2.0, 0.0]), np.eye(3) * 0.01, rng).tolist() == [[1, 1], [2, 2], [3, 3]]
    assert peer_ranks(np.array([0.1, 0.0, 0.05]), np.eye(3), rng).tolist() == [[1, 3]] * 3


@pytest.mark.parametrize("setting", ["folds-3-groups", "one-set-3-steps"])
def test_rows_of_a_setting(setting):
    frame = rank_study(settings=[setting], replicates=3, progress=False).to_frame()
    assert frame["models"].tolist() == [3]
    assert frame["coverage"].between(0, 1).all()
    assert frame["width"].between(0, 2).all()
