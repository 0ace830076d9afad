"""The study of halvings: the halves by plain loops, what is counted, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import skewanova as sa
from studies.__main__ import study as main
from studies.halvings import SPLIT_HALF_COLUMNS, WAYS, split_half_study
from studies.scenarios import (
    DEPLOYMENT,
    HALVED_SCENARIOS,
    SCENARIOS,
    STRESS_LEARNERS,
    HalfFolds,
    Splits,
    Tables,
    Task,
    nearest_neighbours,
)


def test_halves_share_no_case_and_their_folds_cover_them() -> None:
    test = HalfFolds(3, 2).test_cases(4, np.random.default_rng(0), (8, 12))
    assert test.shape == (4, 3, 2, 2, 5)
    assert (test[..., :2] < 8).all()
    assert (test[..., 2:] >= 8).all()
    for cases in test.reshape(12, -1):
        assert sorted(cases) == list(range(20))
    assert len({tuple(sorted(half.ravel())) for half in test[0, :, 0]}) == 3


def test_differences_are_those_of_plain_loops() -> None:
    """A model scores by a feature and by how many training cases there are, so each fold counts."""
    task = Task(Splits(2, 2), sizes=(8, 12), half_folds=HalfFolds(2, 2))
    rng = np.random.default_rng(1)
    features = rng.standard_normal((3, 20))  # of three models
    asked = []

    def score(test: np.ndarray, train: np.ndarray) -> np.ndarray:
        asked.append((test[0], train[0]))
        drift = train @ np.arange(20) / 1000
        return np.stack(
            [[x[t] * (1 + d) - d * t for t, d in zip(test[0], drift[0], strict=True)] for x in features]
        )[None]

    empty = Tables(np.zeros((1, 2, 3)), {})
    found = task.with_halves(empty, score, np.random.default_rng(5)).halves
    assert found is not None
    assert found.shape == (1, 2, 3)
    label = np.arange(20) < 8
    for halving, (test, train) in enumerate(asked):
        for model, x in enumerate(features):
            means = []
            for half in (slice(0, 2), slice(2, 4)):
                own = set(test[half].ravel())
                areas = []
                for t, w in zip(test[half], train[half], strict=True):
                    assert set(np.flatnonzero(w)) == own - set(t)
                    d = w @ np.arange(20) / 1000
                    areas.append(
                        sa.iauprec_score(label[t], x[t] * (1 + d) - d * t, deployment_prior=DEPLOYMENT)
                    )
                means.append(sum(areas) / 2)
            assert found[0, halving, model] == pytest.approx((means[0] - means[1]) / 2, abs=1e-13)


@pytest.mark.parametrize("name", ["S2a", "S2e"])
def test_halvings_leave_the_hold_outs_as_they_were(name: str) -> None:
    halved, half = HALVED_SCENARIOS[name]
    plain = SCENARIOS[name].draw(2, np.random.default_rng(3))
    beside = halved.draw(2, np.random.default_rng(3))
    np.testing.assert_array_equal(plain.iauprec, beside.iauprec)
    assert beside.halves is not None
    assert beside.halves.shape == (2, 20, 4)
    assert half.draw(2, np.random.default_rng(3)).halves is None
    assert (halved.fold_design.kind, halved.fold_design.n_halvings) == ("split_half", 20)
    assert (half.fold_design.kind, half.fold_design.ratio) == ("repeated_holdout", 1.0)


def test_one_neighbour_is_the_general_rule() -> None:
    rng = np.random.default_rng(0)
    features, test = rng.standard_normal((30, 2)), rng.standard_normal((3, 8, 2))
    train = (rng.random((3, 30)) < 0.8).astype(float)
    one = STRESS_LEARNERS["nearest_neighbour"](features, train, test, 12)
    for fold in range(3):
        held = np.flatnonzero(train[fold])
        distance = np.linalg.norm(test[fold][:, None] - features[held], axis=-1)
        assert ((one[fold] > 1) == (held[distance.argmin(axis=1)] < 12)).all()
    many = nearest_neighbours(features, train, test, 12, n_neighbours=2)
    assert many.max() > one.max()


def test_what_is_counted() -> None:
    study = split_half_study(scenarios=["S2a"], effects=[0, 3.0], replicates=4, progress=False)
    frame = study.to_frame()
    assert tuple(frame.columns) == SPLIT_HALF_COLUMNS
    assert set(frame["way"]) == set(WAYS)
    assert frame.groupby("way")["n_fits"].unique().map(list).to_dict() == dict(
        zip(WAYS, ([20], [20], [220]), strict=True)
    )
    tests = frame.groupby(["way", "question"])["test"].unique().map(list).to_dict()
    assert tests[WAYS[0], "models"] == ["corrected_hotelling"]
    assert tests[WAYS[2], "models"] == ["split_half_hotelling"]
    assert tests[WAYS[2], "pairs"] == ["split_half_t_holm"]
    clear = frame[(frame["effect"] == 3.0) & (frame["level"] == 0.05)]
    assert (clear["rate"] == 1).all()
    assert (frame[(frame["effect"] == 0) & (frame["level"] == 0.005)]["rate"] <= 0.5).all()
    words = "\n".join(table.to_text() for table in study.to_tables())
    assert "all equal" in words
    assert "one better by 3" in words


def test_processes_and_neighbours_change_nothing() -> None:
    options = {"effects": [0], "replicates": 26, "progress": False}
    one = split_half_study(scenarios=["S2a"], n_jobs=2, **options).to_frame()
    both = split_half_study(scenarios=["S2a", "qda"], **options).to_frame()
    pd.testing.assert_frame_equal(one, both[both["scenario"] == "S2a"].reset_index(drop=True))


def test_the_command() -> None:
    args = ["split-half", "--scenarios", "qda", "--replicates", "2", "--seed", "1"]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.output
    expected = split_half_study(scenarios=["qda"], replicates=2, rng=1, progress=False)
    assert result.output == "\n\n".join(table.to_text() for table in expected.to_tables()) + "\n"
    wrong = CliRunner().invoke(main, [*args[:2], "qdb"])
    assert wrong.exit_code == 2
    assert "--scenarios must be one of S2a, qda" in wrong.output


def test_the_recorded_study_says_what_the_docs_say() -> None:
    recorded = pd.read_csv(Path(__file__).resolve().parents[2] / "studies" / "records" / "split_half.csv")
    assert tuple(recorded.columns) == SPLIT_HALF_COLUMNS
    size = recorded[(recorded["effect"] == 0) & (recorded["level"] == 0.05)].set_index(["way", "scenario"])
    safe = size.loc[list(WAYS[1:])]
    assert (safe["rate"] <= 0.05 + 2 * np.maximum(safe["std_error"], 0.01)).all()
    assert (size.loc[(WAYS[0], "S2e"), "rate"] > 0.07).all()
    page = (Path(__file__).resolve().parents[2] / "docs" / "measured.md").read_text(encoding="utf-8")
    models = size[size["question"] == "models"]["rate"]
    for way in WAYS:
        assert f"{models[way, 'S2e']:.3f}".removeprefix("0") in page
