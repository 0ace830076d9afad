"""Hold-outs and halvings of a data set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from loops import each

import skewanova as sa
from skewanova.scores.halvings import Units, draw_half_folds, draw_holdouts

POSITIVE = np.arange(103) % 4 == 0  # 26 positives, 77 negatives


@pytest.mark.parametrize("fraction", [0.5, 0.2])
def test_hold_outs_have_their_share_of_each_class(fraction: float) -> None:
    splits = draw_holdouts(
        Units.from_groups(POSITIVE, None), 6, test_fraction=fraction, rng=np.random.default_rng(1)
    )
    assert [split.label for split in splits] == [1, 2, 3, 4, 5, 6]
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(103))
        assert len(split.test) == pytest.approx(fraction * 103, abs=1)
        assert POSITIVE[split.test].sum() == pytest.approx(fraction * 26, abs=1)
    assert len({tuple(split.test) for split in splits}) == 6


def test_halves_share_no_case_and_test_each_once() -> None:
    splits = draw_half_folds(
        Units.from_groups(POSITIVE, None), 4, inner_folds=5, rng=np.random.default_rng(1)
    )
    assert len(splits) == 4 * 2 * 5
    for halving in range(1, 5):
        halves = [
            [split for split in splits if split.halving == halving and split.part == part]
            for part in ("half_a", "half_b")
        ]
        tested = [np.concatenate([split.test for split in half]) for half in halves]
        assert sorted(np.concatenate(tested)) == list(range(103))
        for half, cases in zip(halves, tested, strict=True):
            assert POSITIVE[cases].sum() == 13
            assert [split.fold for split in half] == [1, 2, 3, 4, 5]
            for split in half:
                assert sorted([*split.train, *split.test]) == sorted(cases)
                assert POSITIVE[split.test].sum() in {2, 3}
    assert splits[0].label == "1 of half_a in halving 1"


def test_groups_are_never_cut() -> None:
    groups = np.array([f"patient {case // 3}" for case in range(103)])
    units = Units.from_groups(POSITIVE, groups)
    rng = np.random.default_rng(2)
    splits = [
        *draw_holdouts(units, 5, test_fraction=0.2, rng=rng),
        *draw_half_folds(units, 3, inner_folds=4, rng=rng),
    ]
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])
    halves = [split for split in splits if split.halving == 1]
    first, second = (
        {g for split in halves if split.part == part for g in groups[split.test]}
        for part in ("half_a", "half_b")
    )
    assert not first & second
    assert first | second == set(groups)


def test_halvings_of_groups_differ_though_groups_are_of_other_sizes() -> None:
    groups = np.repeat(np.arange(40), np.arange(40) % 7 + 1)
    positive = np.random.default_rng(0).random(len(groups)) < 0.4
    splits = draw_half_folds(
        Units.from_groups(positive, groups), 8, inner_folds=2, rng=np.random.default_rng(3)
    )
    sides = {
        tuple(
            sorted({int(g) for s in splits if s.halving == h and s.part == "half_a" for g in groups[s.test]})
        )
        for h in range(1, 9)
    }
    assert len(sides) == 8


def test_a_seed_repeats_the_splits() -> None:
    found = [
        draw_half_folds(Units.from_groups(POSITIVE, None), 2, inner_folds=5, rng=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert all(np.array_equal(a.test, b.test) for a, b in zip(found[0], found[1], strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(found[0], found[2], strict=True))


WRONG: dict[str, tuple[Callable[..., object], dict[str, float], str]] = {
    "one halving": (
        draw_half_folds,
        {"n_halvings": 1, "inner_folds": 5},
        "`n_halvings` must give at least 2 halvings",
    ),
    "one fold": (draw_half_folds, {"n_halvings": 4, "inner_folds": 1}, "`inner_folds` must be at least 2"),
    "few positives": (
        draw_half_folds,
        {"n_halvings": 4, "inner_folds": 14},
        r"`inner_folds`=14 needs at least 28 positive cases .*for each fold of each half, but there are 26",
    ),
    "one split": (draw_holdouts, {"n_splits": 1, "test_fraction": 0.5}, "`n_splits` must be at least 2"),
    "nothing to train": (
        draw_holdouts,
        {"n_splits": 5, "test_fraction": 1.0},
        "`test_fraction` must lie strictly",
    ),
    "small share": (
        draw_holdouts,
        {"n_splits": 5, "test_fraction": 0.02},
        r"`test_fraction`=0.02 needs at least 50 positive cases",
    ),
}


@each("wrong", WRONG)
def test_what_cannot_be_cut_is_refused(wrong: str) -> None:
    cut, sizes, message = WRONG[wrong]
    with pytest.raises(sa.InputError, match=message):
        cut(Units.from_groups(POSITIVE, None), **sizes, rng=np.random.default_rng(0))


def test_groups_of_another_length() -> None:
    with pytest.raises(sa.InputError, match=r"`groups` must name the group of each of the 103 cases"):
        Units.from_groups(POSITIVE, np.arange(100))


def test_groups_that_leave_a_class_out() -> None:
    """Four groups hold all positives, two of them negatives too: some fold of a half gets none."""
    groups = np.where(POSITIVE, 200 + np.arange(103) % 16 // 4, np.arange(103))
    groups[[1, 2]] = [202, 203]
    with pytest.raises(sa.InputError, match=r"needs both classes, but fold .* has no positive case to"):
        draw_half_folds(Units.from_groups(POSITIVE, groups), 6, inner_folds=2, rng=np.random.default_rng(0))


def test_strata_too_small_to_be_cut_go_with_the_largest() -> None:
    """One group holds positives alone, which could not stand in both halves."""
    groups = np.arange(103) // 2
    positive = POSITIVE.copy()
    positive[:2] = True
    splits = draw_holdouts(
        Units.from_groups(positive, groups), 4, test_fraction=0.5, rng=np.random.default_rng(0)
    )
    assert [len(split.test) for split in splits] == pytest.approx([52] * 4, abs=2)
