import hashlib
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import exact, expect_error
from sklearn.metrics import roc_auc_score

from skewanova import auc, read_scores
from skewanova.base.checks import InputError, InputTypeError
from skewanova.curves.groups import PackedCurve
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import RawTable
from skewanova.scores.table import CaseSummary, SamplingSummary, StreamedScores
from skewanova.scores.validation import build_score_table


def build(frame, pos_label=None):
    return build_score_table(RawTable(frame), pos_label)


def cell(model="A", fold=1, **columns):
    """One negative and one positive."""
    return pd.DataFrame({"model": model, "fold": fold, "y_true": [0, 1], "y_score": [0.1, 0.9], **columns})


@each(("folds", "levels"), [
    ([3, 1, 10, 2], (1, 2, 3, 10)), ([3.0, 1.0, 10.0, 2.0], (1, 2, 3, 10)),
    (["3", "1", "10", "2"], (1, 2, 3, 10)), (["-1", "0", "10", "-5"], (-5, -1, 0, 10)),
    (["3", "1", "a", "2"], ("3", "1", "a", "2")), (["03", "1", "10", "2"], ("03", "1", "10", "2")),
    (["-0", "1", "2", "3"], ("-0", "1", "2", "3")), (["-", "1", "2", "3"], ("-", "1", "2", "3")),
    (["\u0663", "1", "2", "3"], ("\u0663", "1", "2", "3")), ([" 1", "1", "2", "3"], (" 1", "1", "2", "3")),
    ([1.5, 1.0, 2.0, 3.0], ("1.5", "1.0", "2.0", "3.0")), ([True, "a", 2, 3.5], ("True", "a", "2", "3.5")),
    (["9" * 18, "1", "2", "3"], (1, 2, 3, 10**18 - 1)),
    (["1" * 5000, "1", "2", "3"], ("1" * 5000, "1", "2", "3")),
    (["1e3", "inf", "nan", "NA"], ("1e3", "inf", "nan", "NA")),
    (pd.to_datetime(["2020-01-02", "2020-01-01"] * 2).date, ("2020-01-02", "2020-01-01")),
])  # fmt: skip
def test_fold_levels(folds, levels):
    frame = pd.concat([cell(fold=fold) for fold in pd.Series(folds, dtype=object)])
    if not isinstance(folds[0], str | bool):
        frame["fold"] = frame["fold"].infer_objects()
    assert build(frame).folds == levels


def test_names_of_mixed_types_and_tables_that_are_refused():
    frame = pd.concat([cell(fold=1), cell(fold="1"), cell(fold=1.0), cell(fold="2")], ignore_index=True)
    assert build(frame).counts.tolist() == [[[3, 3], [1, 1]]]
    assert build(pd.concat([cell("10"), cell("9")])).models == ("10", "9")
    frame = pd.concat([cell(m) for m in (1, True, 1.0, "1", "x", None.__class__)], ignore_index=True)
    assert build(frame).models == ("1", "True", "1.0", "x", "<class 'NoneType'>")
    expect_error(exact("the score table must hold at least one row, but is empty"), build, cell().iloc[:0])
    others = [cell(m, f, case=["x", "y"]) for m in "BA" for f in (2, 3)]
    frame = pd.concat([cell(case=["x", "y"])] * 4 + others, ignore_index=True)
    message = (
        "(model, fold, case) must be unique, but rows repeat one (6 in all): ('A', 1, 'x') at row 2, "
        "('A', 1, 'y') at row 3, ('A', 1, 'x') at row 4, ('A', 1, 'y') at row 5, ('A', 1, 'x') at row 6; "
        "leave repeats out or, if of several folds or runs, number these in a column fold; if folds are "
        "bootstrap resamples, give the test set once: its cases are resampled for you"
    )
    expect_error(exact(message), build, frame)
    frame = pd.concat([cell("A", 1, case=[7, 9]), cell("A", 2, case=[9, 7])])
    message = "a case must have one label, but 2 got both, the first: 7, 9; mend labels or cases or, if"
    expect_error(f"^{re.escape(message)}", build, frame)


@pytest.mark.parametrize("form", [list, lambda names: pd.Categorical(names, categories=sorted(set(names)))])
def test_models_stand_in_order_of_appearance(form):
    names = [
        "NA", "nan", "007", "1", "True", "<script>", "a_b%$", "../x", "C(x)", "fold", "b", "a", "A", " A",
    ]  # fmt: skip
    frame = pd.concat([cell()] * len(names), ignore_index=True)
    frame["model"] = form([name for name in names for _ in range(2)])
    assert build(frame).models == tuple(names)


@each("column", ["model", "fold", "case"])
@each("empty", [None, np.nan, pd.NA, pd.NaT, "", " ", "\t\n"])
def test_empty_labels(column, empty):
    frame = cell(case=["x", "y"]).astype({column: object})
    frame[column] = ["7", empty]
    expect_error(exact(f"`{column}` must not be empty, but 1 row is, the first at row 1"), build, frame)
    frame[column] = empty
    expect_error(f"^`{column}` must not be empty, but 2 rows are, the first at row 0$", build, frame)


@each(("scores", "message"), [
    (["x", "y"], r"has dtype (str|object); the first that is not a number is 'x' at row 0$"),
    (
        pd.Series([0.5, "y"], dtype=object),
        "has dtype object; the first that is not a number is 'y' at row 1$",
    ),
    (pd.Series([0.5, None], dtype=object), "object; the first that is not a number is None at row 1$"),
    (pd.Series([0.5, np.nan], dtype=object), "object; the first that is not a number is nan at row 1$"),
    (pd.Series([0.5, 1], dtype=object), "object; convert the column to floats$"),
    (pd.Series(["x" * 99] * 2), r"the first that is not a number is 'x{39} at row 0$"),
    ([1j, 2], "has dtype complex128$"),
    (pd.to_datetime(["2020-01-01", "2020-01-02"]), "has dtype datetime64"),
])  # fmt: skip
def test_scores_that_are_no_numbers(scores, message):
    with pytest.raises(InputTypeError, match=f"^`y_score` must hold real numbers, but .*{message}"):
        build(cell(y_score=scores))


@each(("labels", "message"), [
    (["no", "yes"], "`y_true` has the labels 'no', 'yes': name the positive class"),
    (["0", None], "`y_true` must not have missing labels, but has 1, the first at row 1"),
    ([None, None], "`y_true` must not have missing labels, but has 2, the first at row 0"),
])  # fmt: skip
def test_labels_are_checked_in_codes_too(labels, message):
    """Every rule of labels has its test beside `check_labels`."""
    for values in (labels, pd.Categorical(labels)):
        expect_error(f"^{re.escape(message)}", build, cell(y_true=values))
        if labels[0] == "no":
            assert build(cell(y_true=values), "no").frame["y_true"].tolist() == [True, False]


@each(("labels", "word"), [([0, 0], "positive"), ([1, 1], "negative"), ([0], "positive")])
def test_a_cell_with_one_class(labels, word):
    lacking = [cell(model, 2)[: len(labels)].assign(y_true=labels) for model in "AB"]
    frame = pd.concat([cell("A", 1), cell("B", 1), *lacking])
    message = (
        f"every model needs both classes in every fold, but model 'A' has no {word} case in fold 2 (such "
        f"cells in all: 2); use stratified folds, at most as many as {word} cases"
    )
    expect_error(exact(message), build, frame)
    others = "score it on the cases of the other models"
    with pytest.raises(InputError, match=rf"{word} case in fold 2 \(such cells in all: 1\); {others}$"):
        build(pd.concat([cell("A", 1), cell("B", 1), lacking[0], cell("B", 2)]))
    expect_error(f"; score some {word} cases too$", build, pd.concat(lacking))


def make_cases(*columns):
    """Models of unequal folds; some rows are missing, cases recur in folds and have clusters and weights."""
    rng = np.random.default_rng(0)
    cells = [(m, f) for m in "CAB" for f in range(4) if (m, f) != ("C", 2)]
    rows = [(m, f, case) for m, f in cells for case in range(15 * f, 15 * f + 40)]
    frame = pd.DataFrame(rows, columns=["model", "fold", "case"])
    frame["y_true"], frame["y_score"] = frame["case"] % 3 == 0, rng.integers(0, 12, len(frame)) / 4
    if "weight" in columns:
        return frame.assign(weight=1 + frame["case"] % 4, cluster=frame["case"] // 5)
    return frame[rng.random(len(frame)) < 0.98].sample(frac=1, random_state=0, ignore_index=True)


def stream(table):
    """The same table without its rows: curves, and what cases, clusters and weights tell."""
    shared, n_cases = table.shared_cases()
    unpaired = [table.select_folds([fold]).count_unpaired() for fold in table.folds]
    sampling = None
    if table.has_weights:
        rows = table.frame
        kind = (table.codes("model") * len(table.folds) + table.codes("fold")) * 2 + rows["y_true"]
        weight = rows["weight"].to_numpy(float)
        sums = UnitSums.from_cases(kind.to_numpy(), table.codes("cluster"), weight, table.counts.size)
        sums = sums.reshape(*table.counts.shape)
        sampling = SamplingSummary(table.n_clusters, table.shared_clusters, sums, table.weights)
    return StreamedScores(
        models=table.models, folds=table.folds, counts=table.counts,
        packed={(m, f): PackedCurve.from_cases(y, s) for m, f, y, s in table.groups()},
        cases=CaseSummary(shared, n_cases, table.class_sizes()[1], np.array([n for n, _ in unpaired]),
                          tuple(pair for _, pairs in unpaired for pair in pairs)),
        sampling=sampling
    )  # fmt: skip


def each_selection(test):
    """Run a test for tables without and with weighted clusters, and for several of their selections."""
    selections = [
        lambda scores: scores,
        lambda scores: scores.select_folds([3, 1]),
        lambda scores: scores.select_models(["B", "C"]),
        lambda scores: scores.select_folds([0, 2]).select_models(["C"]),
    ]
    return each("columns", [(), ("cluster", "weight")])(each("select", selections)(test))


@each_selection
def test_cells_of_selections_are_those_of_plain_loops(columns, select, monkeypatch):
    monkeypatch.setattr("skewanova.scores.columns.CHUNK_ROWS", 50)
    table = build(make_cases(*columns))
    chosen = select(table)
    rows, ties, curves = chosen.frame, [], chosen.curves()
    assert rows.index.tolist() == list(range(len(rows)))
    assert list(rows) == ["model", "fold", "y_true", "y_score", "case", *columns]
    assert chosen.n_clusters == (len(set(rows["cluster"])) if columns else 0)
    assert chosen.models == tuple(m for m in table.models if m in set(rows["model"]))
    assert chosen.folds == tuple(sorted(set(rows["fold"])))
    for (m, f), part in rows.groupby(["model", "fold"], observed=True):
        labels, score = part["y_true"].tolist(), part["y_score"].tolist()
        cell = chosen.models.index(m), chosen.folds.index(f)
        assert chosen.counts[cell].tolist() == [labels.count(False), labels.count(True)]
        area = roc_auc_score(labels, score, sample_weight=part["weight"] if columns else None)
        assert auc(curves[m, f]) == pytest.approx(area)
        ties.append((m, f, len(score), score.count(max(score)), len(set(score))))
        for kind in (False, True):
            own = part[part["y_true"] == kind].groupby("cluster" if columns else "case", observed=True)
            weight = own["weight"].sum() if columns else own.size()
            equal = weight.sum() ** 2 / (weight**2).sum()
            assert chosen.effective_counts[cell][int(kind)] == pytest.approx(equal)
    assert ([tuple(each) for each in chosen.ties()], chosen.counts.sum()) == (ties, len(rows))


@each_selection
def test_cases_of_selections_are_those_of_plain_loops(columns, select):
    table = build(make_cases(*columns))
    chosen = select(table)
    rows, lacking, unions = chosen.frame, 0, []
    for f in chosen.folds:
        part = rows[rows["fold"] == f]
        members = [set(cases) for _, cases in part.groupby("model", observed=True)["case"]]
        unions.append(set.union(*members))
        lacking += len(unions[-1] - set.intersection(*members))
    shared, n_cases = chosen.shared_cases()
    assert shared.tolist() == [[len(a & b) for b in unions] for a in unions]
    assert n_cases == table.frame["case"].nunique()  # those of dropped folds included
    assert chosen.count_unpaired()[0] == lacking
    labels = rows.drop_duplicates("case")["y_true"]
    assert chosen.class_sizes() == ((~labels).sum(), labels.sum())


@each_selection
def test_scores_without_rows_have_the_same_sums(columns, select):
    table = build(make_cases(*columns))
    chosen, streamed = select(table), select(stream(table))
    assert (streamed.models, streamed.folds) == (chosen.models, chosen.folds)
    shape = f"{len(chosen.models)} models x {len(chosen.folds)} folds"
    assert repr(streamed) == f"<StreamedScores: {len(chosen.frame)} rows, {shape}>"
    assert repr(chosen) == f"<ScoreTable: {len(chosen.frame)} rows, {shape}>"
    np.testing.assert_array_equal(streamed.counts, chosen.counts)
    np.testing.assert_allclose(streamed.effective_counts, chosen.effective_counts)
    assert list(streamed.ties()) == list(chosen.ties())
    assert streamed.class_sizes() == table.class_sizes()  # those of dropped folds included
    assert streamed.n_clusters == table.n_clusters == (17 if columns else 0)
    assert streamed.has_clusters is streamed.has_weights is bool(columns)
    assert (streamed.weights, streamed.shared_clusters) == (table.weights, table.shared_clusters)
    if len(chosen.models) == 3:  # cases are counted over all models
        assert streamed.count_unpaired() == chosen.count_unpaired()
        assert streamed.shared_cases()[0].tolist() == chosen.shared_cases()[0].tolist()
    bare = replace(streamed, cases=None)
    assert bare.count_unpaired() == (0, ())
    for missing in (bare.shared_cases, bare.class_sizes):
        expect_error(r"no column case, .*; add it$", missing, error=LookupError)


def test_fingerprints_of_a_frame_and_of_a_file(tmp_path):
    frame = make_cases()
    known = build(frame).sha256()
    assert re.fullmatch("[0-9a-f]{64}", known)
    assert build(frame.copy()).sha256() == known
    assert build(frame.set_index(frame.index[::-1])).sha256() == known
    nudged = frame["y_score"].mask(frame.index == 5, np.nextafter(frame["y_score"], 9))
    others = [
        frame.assign(y_score=nudged), frame.assign(y_true=~frame["y_true"]),
        frame.assign(model=frame["model"] + "x"), frame.assign(fold=frame["fold"] + 1),
        frame.drop(columns="case"), frame.iloc[::-1],
    ]  # fmt: skip
    prints = {build(other).sha256() for other in others}
    assert len(prints) == len(others)
    assert known not in prints
    path = tmp_path / "s.csv"
    path.write_bytes(b"model,fold,y_true,y_score\r\nA,1,0,0.5\r\nA,1,1,0.50\r\n")
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    of_file = read_scores(path)
    assert of_file.sha256() == expected
    path.unlink()
    assert of_file.sha256() == replace(of_file, source=None).sha256()
