"""What the scores themselves tell: too few positives, resamples, decisions, ties at the top."""

import numpy as np
import pandas as pd
import pytest
from loops import each

from skewanova import InputError, read_scores
from skewanova.scores import pairing
from skewanova.scores.pairing import (
    auc_frame,
    check_rankings,
    check_score_values,
    describe_table,
    find_collapsed,
)
from skewanova.scores.table import TieCounts


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
    auc = auc_frame(known)
    return {each.check: each for each in (*check_rankings(auc), *check_score_values(known, auc))}


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


# --- single rules, at their limits --------------------------------------------------------------------------


def aucs(*models):
    return pd.DataFrame(dict(zip("ABC", models, strict=False)), index=pd.Index(range(1, len(models[0]) + 1)))


@pytest.mark.parametrize(
    ("models", "lost"),
    [
        (([0.75, 0.75, 0.5, 0.75], [0.75] * 4), {(3, "A")}),
        (([0.75, 0.75, 0.5625, 0.75], [0.75] * 4), set()),  # a quarter of the usual gain is left
        (([0.75, 0.75, 0.25, 0.75], [0.75] * 4), {(3, "A")}),
        (([0.55, 0.55, 0.5, 0.55], [0.75] * 4), set()),  # there was not much to lose
        (([0.75, 0.75, 0.5, 0.75], [0.75, 0.75, 0.5, 0.5], [0.75] * 4), {(4, "B")}),  # a hard fold
    ],
)
def test_a_model_collapses_where_it_loses_most_of_its_gain_and_the_others_do_not(models, lost):
    auc = aucs(*models)
    found = find_collapsed(auc)
    assert {(auc.index[i], auc.columns[k]) for i, k in np.argwhere(found)} == lost
    finding = check_rankings(auc)[1]
    assert (finding.check, finding.statistic, bool(finding.advice)) == (
        "collapsed_folds",
        len(lost),
        bool(lost),
    )


def test_the_first_collapse_is_named():
    auc = aucs([0.8, 0.8, 0.5, 0.8, 0.8, 0.51], [0.9] * 6, [0.8, 0.8, 0.8, 0.8, 0.52, 0.8])
    told = check_rankings(auc)[1]
    assert told.statistic == 3
    assert "model 'A' ranks near chance in 2 of 6 folds (the first: fold 3, AUC 0.500)" in told.advice


def ties(model, n_cases=200, n_best=1, n_distinct=100):
    return TieCounts(model, 4, n_cases, n_best, n_distinct)


@each(
    ("n_cases", "n_best", "told"),
    [(200, 10, "5%"), (200, 9, ""), (100, 9, ""), (201, 10, ""), (100, 11, "11%"), (8, 8, "")],
)
def test_ten_cases_and_a_twentieth_at_the_best_score_are_many(n_cases, n_best, told):
    found = pairing._check_top_ties([ties("A"), ties("B", n_cases, n_best)])
    assert found.statistic == n_best / n_cases
    assert bool(found.advice) == bool(told)
    assert found.advice.startswith(told)


@pytest.mark.parametrize(
    ("n_distinct", "n_cases", "told"),
    [
        (1, 5, "only 1 different score in any fold"),
        (2, 5, "only 2 different scores in any"),
        (3, 5, ""),
        (2, 2, ""),
    ],
)
def test_two_values_of_more_cases_are_decisions(n_distinct, n_cases, told):
    found = pairing._check_decisions([ties("A"), ties("B", n_cases, n_distinct=n_distinct)])
    assert found.statistic == n_distinct
    assert bool(found.advice) == bool(told)
    assert told in found.advice


def test_folds_that_a_model_lacks_have_no_positives_to_count():
    frame = table()
    frame = frame[(frame["model"] == "A") | (frame["fold"] < 2)]
    assert found(frame)["positives_a_fold"].statistic == 80
    assert "smallest fold has 10 positives" in found(table(2, share=0.05))["positives_a_fold"].advice


@pytest.mark.parametrize(("n", "told"), [(19, False), (20, True)])
def test_twenty_whole_numbers_that_all_differ_may_be_names(n, told):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"fold": 0, "case": range(n), "y_true": np.arange(n) % 2})
    frame = pd.concat([frame.assign(model=name, y_score=rng.permutation(n)) for name in "DAB"])
    frame["model"] = pd.Categorical(frame["model"], categories=[*"ABCD"])
    known = read_scores(frame)
    chance = pd.DataFrame(0.5, index=[0], columns=list(known.models))
    findings = {each.check: each for each in check_score_values(known, chance)}
    assert ("identifiers" in findings) == told
    if told:
        assert findings["identifiers"].statistic == 3
        assert findings["identifiers"].advice.startswith(
            f"the scores of {known.frame['model'].iloc[0]!r} are"
        )
    works = chance + 0.125
    assert "identifiers" not in {each.check for each in check_score_values(known, works)}


def test_resamples_need_cases_and_two_folds():
    named = table(2, 126, case=lambda fold, rng: rng.choice(200, size=126, replace=False))
    assert bool(found(named)["share_of_cases"].advice)
    assert "share_of_cases" not in found(named.drop(columns="case"))
    assert "share_of_cases" not in found(table(1))
