"""What the scores themselves tell: too few positives, resamples, decisions, ties at the top."""

import numpy as np
import pandas as pd
import pytest

from skewanova import InputError, read_scores
from skewanova.scores.pairing import describe_table
from skewanova.scores.soundness import auc_of_folds, ranking_findings, score_findings


def table(n_folds=3, n=200, *, score=None, case=None, share=0.4, seed=0):
    """Two models over folds of other cases; `score` makes scores of noise, `case` names cases by fold."""
    rng = np.random.default_rng(seed)
    parts = []
    for fold in range(n_folds):
        label = np.arange(n) < share * n
        names = fold * n + np.arange(n) if case is None else case(fold, rng)
        for model in "AB":
            noise = rng.normal(size=n) + label
            given = noise if score is None or model == "A" else score(noise)
            columns = {"model": model, "fold": fold, "case": names, "y_true": label, "y_score": given}
            parts.append(pd.DataFrame(columns))
    frame = pd.concat(parts, ignore_index=True)
    if case is not None:  # one label a case
        frame["y_true"] = frame["case"] % 2 == 0
    return frame


def found(frame):
    known = read_scores(frame)
    auc = auc_of_folds(known)
    return {each.check: each for each in (*ranking_findings(auc), *score_findings(known, auc))}


def test_sound_scores_have_no_advice():
    checks = found(table())
    assert [check for check, each in checks.items() if each.advice] == []
    assert checks["positives_a_fold"].statistic == 80
    assert checks["share_of_cases"].statistic == pytest.approx(1 / 3)
    assert checks["share_at_best_score"].statistic == pytest.approx(1 / 200)


def test_few_positives_in_the_smallest_fold_are_told_of_folds_only():
    assert "smallest fold has 10 positives" in found(table(share=0.05))["positives_a_fold"].advice
    assert found(table(share=0.15))["positives_a_fold"].advice == ""
    assert found(table(1, share=0.05))["positives_a_fold"].advice == ""


def test_clusters_count_where_positives_are_few():
    frame = table().assign(cluster=lambda rows: rows["case"] // 20)
    frame = frame.assign(cluster=frame["cluster"])
    assert found(frame)["positives_a_fold"].statistic == pytest.approx(4)
    assert "smallest fold has 4 positives" in found(frame)["positives_a_fold"].advice


@pytest.mark.parametrize(("kept", "looks"), [(126, True), (190, True), (100, False), (200, False)])
def test_resamples_of_one_test_set_look_like_resamples(kept, looks):
    frame = table(5, kept, case=lambda fold, rng: rng.choice(200, size=kept, replace=False))
    check = found(frame)["share_of_cases"]
    assert bool(check.advice) is looks
    if looks:
        assert "give the test set once" in check.advice


def test_a_case_twice_in_a_fold_is_refused_with_what_to_do():
    frame = table(2, 50, case=lambda fold, rng: np.append(np.arange(49), 0))
    with pytest.raises(InputError, match=r"if folds are bootstrap resamples, give the test set once"):
        read_scores(frame)


def test_decisions_are_no_scores():
    checks = found(table(score=lambda noise: (noise > 0).astype(int)))
    assert checks["different_scores"].statistic == 2
    assert "model 'B' has only 2 different scores" in checks["different_scores"].advice
    assert found(table(score=np.zeros_like))["different_scores"].statistic == 1
    assert found(table(score=lambda noise: np.round(noise, 0)))["different_scores"].advice == ""


def test_two_values_at_first_are_looked_at_to_the_end():
    frame = table(1, 3000)
    late = frame["model"].eq("B") & (np.arange(len(frame)) < len(frame) - 5)
    frame.loc[late, "y_score"] = frame.loc[late, "y_true"].astype(float)
    check = found(frame)["different_scores"]
    assert check.statistic > 2
    assert check.advice == ""


def test_different_scores_are_those_of_a_fold_counted_up_to_a_hundred():
    """In any order of rows; two values in each fold are decisions, whatever they are in others."""
    frame = table(1, 3000)
    for rows in (frame, frame.sort_values("y_score"), frame.sample(frac=1, random_state=0)):
        assert found(rows)["different_scores"].statistic == 100
    frame = table(score=lambda noise: np.where(noise > 0, noise.max(), noise.min()))
    assert len(frame.loc[frame["model"] == "B", "y_score"].unique()) == 6
    assert "model 'B' has only 2 different scores in any fold" in found(frame)["different_scores"].advice
    pairs = table(3, 2, share=0.5)
    assert found(pairs)["different_scores"][1:] == (2.0, "")


def test_many_cases_at_the_best_score_are_told_with_model_and_fold():
    checks = found(table(score=lambda noise: np.minimum(noise, 1.0)))
    assert checks["share_at_best_score"].statistic > 0.2
    assert "of model 'B' in fold" in checks["share_at_best_score"].advice


def test_check_tells_them_as_warnings():
    lines = describe_table(read_scores(table(score=lambda noise: (noise > 0).astype(int))))
    assert any(line.startswith("warning: model 'B' has only 2 different scores") for line in lines)


def test_check_tells_rankings_turned_around():
    lines = describe_table(read_scores(table(score=lambda noise: -noise)))
    assert any(line.startswith("warning: model 'B' ranks worse than chance (AUC 0.2") for line in lines)


def test_names_of_cases_taken_for_scores_are_told():
    frame = table().assign(name=lambda rows: rows["case"] + 7_000)
    named = frame.assign(y_score=frame["y_score"].where(frame["model"] == "A", frame["name"]))
    told = found(named)["identifiers"]
    assert told.statistic == 1
    assert "the scores of 'B' are whole numbers that all differ: if they name the cases" in told.advice
    assert any(
        line.startswith("warning: the scores of 'B' are") for line in describe_table(read_scores(named))
    )


def test_whole_scores_that_rank_are_no_names():
    ranks = table().assign(y_score=lambda rows: rows.groupby(["model", "fold"])["y_score"].rank())
    one_set = table(1, score=lambda noise: noise.argsort().argsort())
    assert "identifiers" not in {**found(ranks), **found(one_set), **found(table(2, 8, score=np.round))}
    shuffled = table(1, score=lambda noise: np.random.default_rng(0).permutation(len(noise)))
    assert found(shuffled)["identifiers"].statistic == 1
