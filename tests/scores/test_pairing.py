"""Checks before a comparison: complete folds, the same cases for all models, and sanity of the scores."""

import re

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each
from messages import exact, expect_error, expect_warning

from skewanova import InputError, SkewanovaWarning, compare, read_scores
from skewanova.scores import pairing
from skewanova.scores.table import TieCounts

ROWS = [(m, f, y, s / 8) for m in "AB" for f in (1, 2) for y, s in ((0, 1), (0, 3), (1, 2), (1, 5))]
LONG = pd.DataFrame(ROWS, columns=["model", "fold", "y_true", "y_score"])
CASES = LONG.assign(case=LONG.groupby(["model", "fold"]).cumcount() + 10 * LONG["fold"])


def without_cells(*cells, frame=LONG):
    return read_scores(frame[~pd.MultiIndex.from_frame(frame[["model", "fold"]]).isin(cells)])


def runs_frame(n_runs, n=12):
    """Runs of three models on one test set; clusters of two, weights by case."""
    rng = np.random.default_rng(n_runs)
    number = np.arange(n)
    case = pd.DataFrame({"case": number, "y_true": number % 4 < 2, "cluster": number // 2 * 3})
    case["weight"] = rng.integers(1, 9, n) / 4
    frames = [case.assign(model=m, fold=f, y_score=rng.normal(size=n)) for f in range(n_runs) for m in "CAB"]
    return pd.concat(frames, ignore_index=True)


@each("n_runs", [1, 3])
@each("columns", [("cluster", "weight"), ("cluster",), ()])
def test_models_are_lined_up_case_by_case(n_runs, columns):
    frame = runs_frame(n_runs).drop(columns=[name for name in ("cluster", "weight") if name not in columns])
    table = read_scores(frame.sample(frac=1, random_state=1))
    runs = (pairing.pair_cases(table),) if n_runs == 1 else pairing.pair_runs(table)
    assert len(runs) == n_runs
    names = table.frame["case"].cat.categories
    for fold, run in enumerate(runs):
        for model, scores in zip(table.models, run.scores, strict=True):
            rows = frame[(frame["fold"] == fold) & (frame["model"] == model)].set_index("case").loc[names]
            assert scores.tolist() == rows["y_score"].tolist()
            assert run.positive.tolist() == rows["y_true"].tolist()
            if "weight" in columns:
                assert run.weight.tolist() == rows["weight"].tolist()
            if "cluster" in columns:
                pairs = set(zip(run.cluster.tolist(), rows["cluster"], strict=True))
                assert sorted(code for code, _ in pairs) == list(range(len(set(rows["cluster"]))))
        assert (run.cluster is None) == ("cluster" not in columns)
        assert (run.weight is None) == ("weight" not in columns)


def test_models_are_lined_up_row_by_row_and_runs_need_two_clusters():
    frame = runs_frame(1).drop(columns=["case", "cluster"])
    run = pairing.pair_cases(read_scores(frame))
    assert run.positive.tolist() == frame["y_true"][:12].tolist()
    assert run.weight.tolist() == frame["weight"][:12].tolist()
    assert np.concatenate(run.scores).tolist() == frame["y_score"].tolist()
    other = frame.drop(columns="weight")
    swapped = other.assign(y_true=other["y_true"] ^ other.index.isin([1, 2]))
    for odd in (other.iloc[1:], other.iloc[:-1], swapped):
        expect_error(exact(pairing.NOT_PAIRED), pairing.pair_cases, read_scores(odd))
    assert pairing.check_clustered_runs(read_scores(runs_frame(2))) is None
    for kind, side in ((True, "positive"), (False, "negative")):
        frame = runs_frame(2)
        frame.loc[frame["y_true"] == kind, "cluster"] = 99
        with pytest.raises(InputError, match=f"but only one cluster has {side} cases, so their variance"):
            pairing.check_clustered_runs(read_scores(frame))


def test_complete_tables_missing_cells_and_dropped_folds():
    table = read_scores(LONG)
    assert pairing.complete_table(table) == pairing.complete_table(table, missing="drop") == (table, ())
    with pytest.raises(InputError, match=r"^`missing` must be one of raise, drop; but got 'ignore'$"):
        pairing.complete_table(table, missing="ignore")
    message = (
        "every model must be scored in every fold, but these are missing: model 'B' in fold 2. Score them, "
        "or drop the folds for all models with missing='drop' (--missing drop)"
    )
    expect_error(exact(message), pairing.complete_table, without_cells(("B", 2)), missing="raise")
    message = message.removesuffix(" with missing='drop' (--missing drop)")
    expect_error(exact(message), pairing.complete_table, without_cells(("B", 2)))
    frame = pd.concat([LONG.assign(model=m) for m in "ABcdefghi"])
    for missing, ending in [
        ("cdefg", r"'g' in fold 2\. Score"),
        ("cdefghi", r"'g' in fold 2; and 2 more\. Sc"),
    ]:
        expect_error(ending, pairing.complete_table, without_cells(*((m, 2) for m in missing), frame=frame))
    table = without_cells(("B", 2))
    note = "dropped 1 of 2 folds for all models, since these are missing: model 'B' in fold 2"
    complete, notes = expect_warning(exact(note), pairing.complete_table, table, missing="drop")
    assert (notes, complete.models, complete.folds) == ((note,), ("A", "B"), (1,))
    assert complete.counts.tolist() == [[[2, 2]], [[2, 2]]]
    assert (complete.frame.index.tolist(), table.folds) == (list(range(8)), (1, 2))
    gaps = without_cells(("A", 1), ("B", 2))
    for missing in ("drop", "raise"):  # no fold would be left
        message = r"missing: model 'A' in fold 1; model 'B' in fold 2\. Score them, or name folds alike$"
        expect_error(message, pairing.complete_table, gaps, missing=missing)


def test_cases_or_their_counts_must_be_the_same_for_all_models():
    assert pairing.check_paired(read_scores(CASES)) == ()
    frame = CASES.copy()
    frame.loc[15, "case"] = 99
    message = (
        "all models of a fold must be scored on the same cases, but cases lack a model (2 in all), the "
        "first: case 23 in fold 2 (not scored by 'B'), case 99 in fold 2 (not scored by 'A'); name them "
        "alike, score them by all, or leave them out, as in pandas by "
        "rows[rows.groupby(['fold', 'case'])['model'].transform('nunique') == 2], "
        "where rows is the table (of one data set) with its columns so named"
    )
    expect_error(exact(message), pairing.check_paired, read_scores(frame))
    rows = frame[frame.groupby(["fold", "case"])["model"].transform("nunique") == 2]
    assert pairing.check_paired(read_scores(rows)) == ()
    message = r"leave them out, as in pandas by rows\[rows\.groupby\('case'\)\['model'\]\.transform\("
    expect_error(message, pairing.check_paired, read_scores(frame[frame["fold"] == 2]))
    assert pairing.check_paired(without_cells(("B", 2), frame=CASES)) == ()
    assert pairing.check_paired(read_scores(LONG)) == ()
    note = (
        "models have different numbers of cases in 1 folds (the first: fold 2), so they were not scored "
        "on the same cases, which the tests assume; score all models on the same"
    )
    with pytest.warns(SkewanovaWarning, match=exact(note)):
        assert pairing.check_paired(read_scores(LONG.drop(index=12))) == (note,)


FEW = (
    "warning: the smallest fold has {} positives: means and intervals are about areas in folds of that size, "
    "which below 30 positives may differ from those of large samples; use fewer or larger folds"
)
NAMED = "cases: named, and the same for all models of a fold"
WEIGHED = runs_frame(1).assign(weight=np.tile([1, 2, 0.5, 0.5], 9))


@each(("frame", "lines"), [
    (CASES, ["16 rows: 2 models x 2 folds", "models: A, B",
             "positives per fold: 2; negatives per fold: 2", "prior in the table: 0.5", NAMED,
             FEW.format(2), "The table can be compared."]),
    (CASES.assign(cluster=CASES["case"]), [
        "16 rows: 2 models x 2 folds", "models: A, B", "positives per fold: 2; negatives per fold: 2",
        "prior in the table: 0.5", NAMED, "clusters: 8, each whole within a fold",
        "effective numbers in the smallest fold: 2 positives, 2 negatives (of equal clusters)",
        FEW.format(2), "The table can be compared."]),
    (WEIGHED, ["36 rows: 3 models x 1 fold", "models: C, A, B",
               "positives per fold: 6; negatives per fold: 6", "prior in the table: 0.5", NAMED,
               "clusters: 6, each whole within a fold",
               "weights: 0.5 to 2, with which the prior is 0.75",
               "effective numbers in the smallest fold: 3 positives, 3 negatives (of equal "
               "clusters)",
               "one fold: models are compared by the variation of their areas over cases",
               "The table can be compared."]),
    (WEIGHED.drop(columns="cluster"), [
        "36 rows: 3 models x 1 fold", "models: C, A, B", "positives per fold: 6; negatives per fold: 6",
        "prior in the table: 0.5", NAMED, "weights: 0.5 to 2, with which the prior is 0.75",
        "effective numbers in the smallest fold: 5.4 positives, 6 negatives (of equal cases)",
        "one fold: models are compared by the variation of their areas over cases",
        "The table can be compared."]),
    (halved_frame(), ["378 rows: 3 models x 6 folds", "models: A, B, C",
                      "positives per fold: 7; negatives per fold: 14", "prior in the table: 0.3333",
                      NAMED,
                      "halvings: 4, of 60 cases", FEW.format(7), "The table can be compared."]),
])  # fmt: skip
def test_descriptions(frame, lines):
    result = pairing.describe_table(read_scores(frame))
    assert [line for line in result if "worse than chance" not in line] == lines


def test_description_of_unequal_folds_and_of_sound_scores():
    frame = LONG.drop(index=[0, 15]).replace({"model": {"B": "\x1b[31m\nB"}})
    message = "different numbers of cases in 2 folds"
    lines = expect_warning(message, pairing.describe_table, read_scores(frame))
    assert lines[1:5] == [
        r"models: A, \x1b[31m B", "positives per fold: 1 to 2; negatives per fold: 1 to 2",
        "prior in the table: 0.5", "cases: not named",
    ]  # fmt: skip
    assert lines[5].startswith("warning: models have different numbers of cases in 2 folds")
    checks = check(make_frame())
    assert [name for name, finding in checks.items() if finding.advice] == []
    assert checks["share_of_cases"].statistic == pytest.approx(1 / 3)
    assert checks["share_at_best_score"].statistic == pytest.approx(1 / 200)


@pytest.mark.filterwarnings("ignore:at prior 0.5 the smallest fold")
@each(("frame", "message"), [
    (LONG[LONG["model"] == "A"], "a comparison needs at least 2 models, but the table has 1"),
    (LONG[:12], "every model must be scored in every fold"),
    (CASES.assign(case=np.arange(16)), "all models of a fold must be scored on the same cases"),
    (LONG[LONG["fold"] == 1].assign(y_true=[0, 0, 1, 1, 0, 1, 0, 1]), pairing.NOT_PAIRED),
    (runs_frame(2).assign(cluster=lambda rows: rows["y_true"] + 0), "`cluster` must name at least 2 clust"),
])  # fmt: skip
def test_tables_that_cannot_be_compared_are_not_described(frame, message):
    table = read_scores(frame)
    expect_error(f"^{message}", pairing.describe_table, table)
    expect_error(r".{20}", compare, table, at_priors=(0.5,), deployment_prior=0.5)


def make_frame(n_folds=3, n=200, *, score=None, case=None, share=0.4, seed=0):
    """Two models over folds of other cases; `score` makes scores of noise, `case` names cases by fold."""
    rng = np.random.default_rng(seed)
    parts = []
    for fold in range(n_folds):
        label = np.arange(n) < share * n
        names = fold * n + np.arange(n) if case is None else case(fold, rng)
        for model in "AB":
            noise = rng.normal(size=n) + label
            values = noise if score is None or model == "A" else score(noise)
            columns = {"model": model, "fold": fold, "case": names, "y_true": label, "y_score": values}
            parts.append(pd.DataFrame(columns))
    frame = pd.concat(parts, ignore_index=True)
    if case is not None:  # one label a case
        frame["y_true"] = frame["case"] % 2 == 0
    return frame


def check(frame):
    table = read_scores(frame)
    auc = pairing.auc_frame(table)
    found = (*pairing.check_rankings(auc), *pairing.check_score_values(table, auc))
    return {finding.check: finding for finding in found}


@each(("frame", "statistic", "few"), [
    (make_frame(), 80, False),
    (make_frame(share=0.05), 10, True),
    (make_frame(share=0.15), 30, False),
    (make_frame(1, share=0.05), 10, False),  # of one fold nothing is averaged
    (make_frame().query("model == 'A' or fold < 2"), 80, False),  # a model without a fold
    (make_frame().assign(cluster=lambda rows: rows["case"] // 20), 4, True),
])  # fmt: skip
def test_few_positives_in_the_smallest_fold(frame, statistic, few):
    finding = check(frame)["positives_a_fold"]
    assert finding.statistic == pytest.approx(statistic)
    assert (f"smallest fold has {statistic} positives" in finding.advice) is few
    assert bool(finding.advice) is few


@each(("n_cases", "looks"), [(126, True), (198, True), (100, False), (200, False)])
def test_resamples_of_one_test_set_look_like_resamples(n_cases, looks):
    frame = make_frame(5, n_cases, case=lambda _, rng: rng.choice(200, size=n_cases, replace=False))
    finding = check(frame)["share_of_cases"]
    assert bool(finding.advice) is looks is ("give the test set once" in finding.advice)
    assert "share_of_cases" not in check(frame.drop(columns="case"))
    assert "share_of_cases" not in check(frame[frame["fold"] == 0])
    assert "share_of_cases" in check(frame[frame["fold"] < 2])


def test_different_scores_are_counted_and_advice_is_that_of_the_checks():
    """In any order of rows; two values in each fold are decisions, whatever they are in others."""
    frame = make_frame(1, 3000)
    for rows in (frame, frame.sort_values("y_score"), frame.sample(frac=1, random_state=0)):
        assert check(rows)["different_scores"].statistic == 100
    late = frame["model"].eq("B") & (np.arange(len(frame)) < len(frame) - 5)
    frame.loc[late, "y_score"] = frame.loc[late, "y_true"].astype(float)  # two values at first
    assert check(frame)["different_scores"][1:] == (7, "")
    frame = make_frame(score=lambda noise: np.where(noise > 0, noise.max(), noise.min()))
    assert len(frame.loc[frame["model"] == "B", "y_score"].unique()) == 6
    finding = check(frame)["different_scores"]
    assert finding.statistic == 2
    assert "'B' (2 distinct scores)" in finding.advice
    for score, text in [
        (lambda noise: (noise > 0).astype(int), r"hard predictions instead of scores: 'B' \(2 distinct"),
        (lambda noise: -noise, r"worse than chance: 'B' \(AUC 0.2"),
        (lambda noise: np.minimum(noise, 1.0), r"\d\d% of the cases tie at the best score of model 'B' in"),
    ]:
        lines = pairing.describe_table(read_scores(make_frame(score=score)))
        assert any(re.match(f"warning: {text}", line) for line in lines)


def test_whole_scores_that_rank_are_no_names_and_collapses_have_one():
    ranks = make_frame().assign(y_score=lambda rows: rows.groupby(["model", "fold"])["y_score"].rank())
    one_set = make_frame(1, score=lambda noise: noise.argsort().argsort())
    assert "identifiers" not in {**check(ranks), **check(one_set), **check(make_frame(2, 8, score=np.round))}
    frame = make_frame()
    frame["y_score"] = frame["y_score"].where(frame["model"] == "A", frame["case"] + 7_000)
    finding = check(frame)["identifiers"]
    assert finding.statistic == 1
    assert "the scores of 'B' are whole numbers that all differ: if they name the cases" in finding.advice
    texts = [f"m{i}" for i in range(pairing.MAX_EXAMPLES + 2)]
    listed = pairing._list_model_details(dict.fromkeys(texts, "x"))
    assert listed.startswith("'m0' (x), 'm1' (x), ")
    assert listed.endswith("(x), 2 more")


@each(("n", "named"), [(19, False), (20, True)])
def test_twenty_whole_numbers_that_all_differ_may_be_names(n, named):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"fold": 0, "case": range(n), "y_true": np.arange(n) % 2})
    frame = pd.concat([frame.assign(model=name, y_score=rng.permutation(n)) for name in "DAB"])
    frame["model"] = pd.Categorical(frame["model"], categories=[*"ABCD"])
    table = read_scores(frame)
    chance = pd.DataFrame(0.5, index=[0], columns=list(table.models))
    findings = {finding.check: finding for finding in pairing.check_score_values(table, chance)}
    assert ("identifiers" in findings) == named
    if named:
        assert findings["identifiers"].statistic == 3
        first = table.frame["model"].iloc[0]
        assert findings["identifiers"].advice.startswith(f"the scores of {first!r} are")
    better = pairing.check_score_values(table, chance + 0.125)
    assert "identifiers" not in {finding.check for finding in better}


@each(("models", "lost"), [
    (([0.75, 0.75, 0.5, 0.75], [0.75] * 4), {(3, "A")}),
    (([0.75, 0.75, 0.5625, 0.75], [0.75] * 4), set()),  # a quarter of the usual gain is left
    (([0.75, 0.75, 0.25, 0.75], [0.75] * 4), {(3, "A")}),
    (([0.55, 0.55, 0.5, 0.55], [0.75] * 4), set()),  # there was not much to lose
    (([0.75, 0.75, 0.5, 0.75], [0.75, 0.75, 0.5, 0.5], [0.75] * 4), {(4, "B")}),  # a hard fold
])  # fmt: skip
def test_a_model_collapses_where_it_loses_most_of_its_gain_and_the_others_do_not(models, lost):
    auc = pd.DataFrame(dict(zip("ABC", models, strict=False)), index=pd.Index(range(1, 5)))
    assert {(auc.index[i], auc.columns[k]) for i, k in np.argwhere(pairing.find_collapsed(auc))} == lost
    finding = pairing.check_rankings(auc)[1]
    assert finding[:2] == ("collapsed_folds", len(lost))
    assert bool(finding.advice) is bool(lost)


def ties(model, n_cases=200, n_best=1, n_distinct=100):
    return TieCounts(model, 4, n_cases, n_best, n_distinct)


@each(
    ("n_cases", "n_best", "text"),
    [(200, 10, "5%"), (200, 9, ""), (100, 9, ""), (201, 10, ""), (100, 11, "11%"), (8, 8, "")],
)
def test_ten_cases_and_a_twentieth_at_the_best_score_are_many(n_cases, n_best, text):
    finding = pairing._check_top_ties([ties("A"), ties("B", n_cases, n_best)])
    assert (finding.statistic, bool(finding.advice)) == (n_best / n_cases, bool(text))
    assert finding.advice.startswith(text)


@each(
    ("n_distinct", "n_cases", "text"),
    [(1, 5, "(1 distinct score)"), (2, 5, "(2 distinct scores)"), (3, 5, ""), (2, 2, "")]
)  # fmt: skip
def test_two_values_of_more_cases_are_decisions(n_distinct, n_cases, text):
    finding = pairing._check_decisions([ties("A"), ties("B", n_cases, n_distinct=n_distinct)])
    assert (finding.statistic, bool(finding.advice)) == (n_distinct, bool(text))
    assert text in finding.advice


def test_models_that_rank_perfectly_or_worse_than_chance_are_named():
    frame = make_frame(2, 20, seed=3)
    leaks = frame.assign(y_score=np.where(frame["model"] == "B", frame["y_true"], frame["y_score"]))
    (advice,) = [c.advice for c in check(leaks).values() if c.check == "perfect_auc"]
    assert advice.startswith("perfect ranking: 'B' (AUC 1): make sure that the label does not leak")
    one_pair = leaks.copy()  # a single negative of one fold above its positives
    negatives = (leaks["model"] == "B") & (leaks["fold"] == 1) & ~leaks["y_true"]
    one_pair.loc[negatives, "y_score"] += [2] + [0] * 11
    assert "perfect_auc" not in check(one_pair)
    inverted = frame.assign(y_score=-frame["y_score"])
    means = pairing.auc_frame(read_scores(inverted)).mean()
    assert means.max() < 0.5
    advice = check(inverted)["smallest_auc"].advice
    named = ", ".join(f"{model!r} (AUC {mean:.3f})" for model, mean in means.items())
    assert advice.startswith(f"worse than chance: {named}")
    assert "negate them or, of two classes, name the other (pos_label of" in advice  # of several: no option
