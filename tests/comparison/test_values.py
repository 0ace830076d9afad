"""compare_values: the tests of `compare` for any measure, its verdict, its outputs."""

import warnings

import numpy as np
import pandas as pd
import pytest
from latex_runs import PREAMBLE, compiled, has_package
from loops import each
from messages import expect_error, expect_warning
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC

import skewanova as sa

HOLDOUTS = sa.FoldDesign("repeated_holdout", test_fraction=0.2)


def wide(n_folds=20, means=(0.8, 0.81, 0.83), noise=0.01, seed=0):
    """Values of models tree, net and forest (or fewer), a row a fold."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 0.02, (n_folds, 1)) + rng.normal(0, noise, (n_folds, len(means))) + means
    return pd.DataFrame(values, columns=["tree", "net", "forest"][: len(means)])


@each(("kind", "options"), [
    ("independent", {}), ("independent", {"pairwise": "wilcoxon"}), ("kfold", {"p_adjust": "bonferroni"}),
    ("repeated_holdout", {}), ("repeated_holdout", {"control": "C"}),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
@pytest.mark.slow
def test_values_of_a_comparison_give_its_numbers(kind, options):
    design = sa.FoldDesign(kind, None if kind == "independent" else 0.2)
    expected = sa.compare(sa.load_satellite_scores(), at_priors=(0.5,), design=design, **options)
    frame = expected.tables["iauprec"].astype({"model": str})
    result = sa.compare_values(
        frame[["model", "fold", "iauprec"]], measure="iauprec", design=design, rope=0.01, **options
    )
    primary = expected.pairs[(expected.pairs["role"] == "primary")].reset_index(drop=True)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    pd.testing.assert_frame_equal(pairs, primary, check_exact=False, rtol=1e-12, atol=1e-14)
    ranking, other = result.ranking, expected.ranking
    assert ranking["group"].tolist() == other["group"].tolist()
    np.testing.assert_allclose(ranking["mean"], other["iauprec"], rtol=1e-12)
    np.testing.assert_allclose(ranking["p_best"], other["p_best"], rtol=1e-12)
    assert ranking[["rank_low", "rank_high"]].equals(other[["rank_low", "rank_high"]])
    tests = [
        each.tests[each.tests["role"] == "primary"].reset_index(drop=True) for each in (result, expected)
    ]
    pd.testing.assert_frame_equal(*tests, rtol=1e-12)
    for name in ("effects", "equivalence"):
        pd.testing.assert_frame_equal(result.tables[name], expected.tables[name], rtol=1e-12)
    sizes = ["model_a", "model_b", "n_folds", "n_folds_assured", "detectable", "power_now"]
    pd.testing.assert_frame_equal(result.tables["plans"][sizes], expected.tables["plans"][sizes], rtol=1e-12)


def test_the_grid_search_example_of_scikit_learn():
    """Its "Statistical comparison of models using grid search" prints t = 0.750 and one-sided p = 0.227."""
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    grid = [{"kernel": ["linear"]}, {"kernel": ["poly"], "degree": [2, 3]}, {"kernel": ["rbf"]}]
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    search = GridSearchCV(SVC(random_state=0), grid, scoring="roc_auc", cv=cv).fit(X, y)
    result = sa.compare_values(search.cv_results_, design=sa.FoldDesign("repeated_kfold", test_fraction=0.1))
    assert result.ranking["model"].tolist()[:2] == ["kernel=rbf", "kernel=linear"]
    best = result.pairs[result.pairs["role"] == "primary"].iloc[0]
    assert (best["model_a"], best["model_b"]) == ("kernel=rbf", "kernel=linear")
    assert best["statistic"] == pytest.approx(0.750, abs=5e-4)
    assert best["p_value"] / 2 == pytest.approx(0.227, abs=5e-4)
    assert sorted(result.ranking["model"].tolist()[2:]) == ["kernel=poly, degree=2", "kernel=poly, degree=3"]


def test_data_sets_by_friedman_and_wilcoxon_count_once():
    values = wide(12).rename_axis("dataset").reset_index()
    result = sa.compare_values(values)
    assert (result.unit, result.population) == ("data set", "further data sets like these")
    chi2 = stats.friedmanchisquare(*[values[name] for name in ("tree", "net", "forest")]).statistic
    expected = 11 * chi2 / (12 * 2 - chi2)  # Iman and Davenport (1980)
    primary = result.tests[result.tests["role"] == "primary"].iloc[0]
    assert (primary["test"], primary["statistic"]) == ("friedman", pytest.approx(expected))
    pairs = result.pairs[result.pairs["role"] == "primary"]
    assert set(pairs["test"]) == {"wilcoxon_holm"}
    for row in pairs.itertuples():
        assert row.p_value == pytest.approx(stats.wilcoxon(values[row.model_a], values[row.model_b]).pvalue)
    folds = pd.concat([wide(12, seed=seed).assign(dataset=range(12), fold=seed) for seed in range(3)])
    means = folds.groupby("dataset")[["tree", "net", "forest"]].mean()
    each_fold, once = (sa.compare_values(values) for values in (folds, means))
    pd.testing.assert_frame_equal(each_fold.pairs, once.pairs, rtol=1e-12)


def test_means_and_intervals_by_hand():
    values = wide(12)
    for design, ratio in ((HOLDOUTS, 0.25), ("kfold", 1 / 11), ("independent", 0.0), ("datasets", 0.0)):
        for row in sa.compare_values(values, design=design, alpha=0.1).ranking.itertuples():
            column = values[row.model].to_numpy()
            spread = np.sqrt(((column - column.mean()) ** 2).sum() / 11)
            margin = stats.t.ppf(0.95, 11) * spread * np.sqrt(1 / 12 + ratio)  # Nadeau and Bengio (2003)
            known = (column.mean(), spread, column.mean() - margin, column.mean() + margin)
            assert (row.mean, row.std, row.conf_low, row.conf_high) == pytest.approx(known, rel=1e-12)


def test_data_sets_are_ranked_by_mean_rank():
    values = wide(24)
    values.loc[0, "tree"] = 9.0  # the highest mean, and best there alone
    ranking = sa.compare_values(values, design="datasets").ranking
    assert ranking["model"].tolist()[0] == "forest"
    ranks = values.rank(axis=1, ascending=False).mean()
    np.testing.assert_allclose(ranking["mean_rank"], ranks[ranking["model"]])
    assert ranking["p_best"].isna().all()
    verdict = sa.compare_values(values, design="datasets").verdict  # the mean would put tree above forest
    assert verdict.choose == "Use forest."
    assert "lead: forest over tree by 0.0" in verdict.how_sure
    assert sa.compare_values(values, design="independent").ranking["model"].tolist()[0] == "tree"


def test_losses_turn_the_order_and_nothing_else():
    values = wide()
    result = sa.compare_values(1 - values, design=HOLDOUTS, greater_is_better=False, measure="error")
    expected = sa.compare_values(values, design=HOLDOUTS, measure="error")
    assert result.ranking["model"].tolist() == expected.ranking["model"].tolist()
    np.testing.assert_allclose(result.ranking["mean"], 1 - expected.ranking["mean"], rtol=1e-12)
    np.testing.assert_allclose(result.ranking["conf_low"], 1 - expected.ranking["conf_high"], rtol=1e-9)
    pd.testing.assert_frame_equal(result.pairs, expected.pairs, rtol=1e-9)
    assert result.verdict.choose == expected.verdict.choose == "Use forest."
    small = sa.compare_values(wide() / 40_000, design="independent")
    assert "| forest | 0.000021 | 0.0000" in small.to_markdown()


def test_a_design_that_values_do_not_show_must_be_stated():
    for values in (wide(), wide().assign(run=range(20), fold=1)):  # runs of one fold
        with pytest.raises(sa.InputError) as caught:
            sa.compare_values(values)
        first, *choices = str(caught.value).splitlines()
        assert first == "`design` must say how the folds were made, which values alone do not show:"
    assert [line.split(":")[0].strip() for line in choices] == [
        "independent", "kfold", "repeated_kfold", "repeated_holdout", "runs", "datasets",
    ]  # fmt: skip
    for line in choices[:2] + choices[4:]:
        assert len(sa.compare_values(wide(), design=line.split(":")[0].strip()).ranking) == 3
    for line in choices[2:4]:
        stated = eval(line.split(" as in ")[1].split(", or ")[0], {"skewanova": sa})
        assert sa.compare_values(wide(), design=stated).design.test_fraction == 0.2


@each(("design", "message"), [
    ("split_half", "but got 'split_half'"),
    ("test_set", "but got 'test_set'"),
    ("LOOCV", "but got 'LOOCV'"),
    ("repeated_kfold", "test_fraction=0.1"),
    (5, "`design` must be a name such as 'kfold' or a FoldDesign, but has type int"),
])  # fmt: skip
def test_other_designs_are_refused(design, message):
    with pytest.raises((sa.InputError, sa.InputTypeError), match=message):
        sa.compare_values(wide(), design=design)


def test_hold_outs_of_unknown_size_are_to_be_stated_as_such():
    message = r"FoldDesign\('repeated_holdout', test_fraction=0\.1"
    expect_warning(message, sa.compare_values, wide(), design="repeated_holdout")


def test_numbered_runs_repeat_a_cross_validation_and_ranking_counts_folds():
    result = sa.compare_values(wide(20).assign(run=np.repeat([1, 2], 10), fold=np.tile(range(10), 2)))
    assert (result.design.kind, result.design.test_fraction, result.design.n_folds) == (
        "repeated_kfold", 0.1, 20
    )  # fmt: skip
    stated = sa.compare_values(wide(20), design=sa.FoldDesign("repeated_kfold", test_fraction=0.1))
    pd.testing.assert_frame_equal(result.pairs, stated.pairs)
    values = wide()
    result = sa.compare_values(values, design=HOLDOUTS)
    counts = values.idxmax(axis=1).value_counts().reindex(result.ranking["model"], fill_value=0)
    assert result.ranking["n_best"].tolist() == counts.tolist()
    assert f"is best in {counts.iloc[0]} of 20" in result.verdict.where_it_changes


def test_runs_are_about_further_runs_and_data_sets_contradict_folds():
    result = sa.compare_values(wide(), design="runs")
    assert (result.unit, result.design.ratio) == ("run", 0.0)
    assert result.verdict.how_sure.endswith("For further runs on this test set.")
    assert result.verdict.weakest_point.startswith("Other test cases are not covered")
    expect_error("leave out design='kfold'", sa.compare_values, wide().rename_axis("dataset"), design="kfold")


@each(("values", "options", "state", "choose"), [
    (wide(), {}, "choose", "Use forest."),
    (wide(means=(0.8, 0.83, 0.83)), {}, "tie", "Use forest or net; tree is worse."),
    (wide(means=(0.8, 0.8, 0.8)), {}, "undecided", "The values do not separate"),
    (wide(means=(80, 80), noise=0.2), {"rope": 2.0}, "equal", "equal (within 2): use the ch"),
    (wide(), {"control": "tree"}, "control", "forest is better than tree, the control"),
])  # fmt: skip
def test_states(values, options, state, choose):
    result = sa.compare_values(values, design="independent", **options)
    assert result.verdict.state == state
    assert choose in result.verdict.choose
    decisive = result.verdict.evidence[result.verdict.evidence["decisive"]].iloc[0]
    assert f"{abs(decisive['estimate']):.3f}" in result.verdict.how_sure


def test_settings_rows_and_ranks_that_an_adjustment_does_not_hold():
    result = sa.compare_values(wide(), design=HOLDOUTS, p_adjust="bh", rng=3)
    assert result.ranking[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 3]] * 3
    assert result.tests.index.tolist() == list(range(len(result.tests)))
    names = ("design", "seed", "design_description")
    assert [result.settings[name] for name in names] == ["repeated_holdout", 3, result.design.describe()]
    runs = sa.compare_values(wide(), design="runs", rng=np.random.default_rng(0))
    assert [runs.settings[name] for name in names[:2]] == ["run", None]
    assert runs.settings["design_description"].startswith("20 runs, ")
    assert "Warnings" not in runs.summary(full=True).split("\n")
    assert "decided the pair" not in str(sa.compare_values(wide(10), design="datasets").for_paper().results)
    few = sa.compare_values(wide(5), design="datasets")
    assert "signed ranks cannot reach" in few.warnings[0]
    assert set(few.pairs.loc[few.pairs["role"] == "primary", "test"]) == {"paired_t_holm"}
    assert set(few.pairs["response"]) == {"value"}
    assert "Warnings" in few.summary(full=True).split("\n")
    numbered = wide().assign(run=np.repeat([1, 2], 10), fold=np.tile(range(10), 2))
    for stated, fraction in ((None, 0.1), (0.25, 0.25)):
        design = sa.FoldDesign("repeated_kfold", stated)
        assert sa.compare_values(numbered, design=design).design.test_fraction == fraction
    eight = sa.compare_values(wide(8), design="datasets").pairs  # 3 pairs, and not those of 8 models
    assert set(eight.loc[eight["role"] == "primary", "test"]) == {"wilcoxon_holm"}


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_differences_that_do_not_vary_are_not_tested():
    result = sa.compare_values(wide(6, noise=0.0), design="independent")
    assert (result.verdict.state, result.verdict.models) == ("untrusted", ())
    assert "their difference does not vary" in result.verdict.choose
    assert "Group" not in result.to_markdown("ranking")
    assert result.to_markdown() == result.to_markdown("ranking")


def test_folder_page_and_tables(tmp_path):
    result = sa.compare_values(wide(), design=HOLDOUTS, measure="<b>& $x_1$ acc\x1b[31m", rope=0.01)
    folder = result.save(tmp_path / "out", figures="svg")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<b>&" not in page
    assert "\x1b" not in page + result.summary(full=True) + result.to_latex("ranking")
    assert page.count('<path class="line') == 3
    assert "AUPREC along the class prior" not in page
    listed = {line.split()[0] for line in (folder / "README.txt").read_text().splitlines()}
    written = {path.relative_to(folder).as_posix().removesuffix(".svg") for path in folder.rglob("*.*")}
    assert listed == written - {"README.txt"}
    for save in (result.save, result.for_paper().save):
        expect_error(r"^`directory` must be a path, but got None$", save, None, error=sa.InputTypeError)
    saved = pd.read_csv(folder / "tables" / "pairs.csv")
    np.testing.assert_allclose(saved["p_adjusted"], result.pairs["p_adjusted"])


def test_paper_compiles(tmp_path):
    values = wide().rename(columns={"net": "net_1 & 50 %"})
    folder = sa.compare_values(values, design="kfold", measure="F_1").for_paper().save(tmp_path / "paper")
    if has_package("longtable.sty"):
        text = "".join((folder / f"{name}.tex").read_text() for name in ("methods", "results", "table"))
        compiled(text, "", tmp_path, preamble=PREAMBLE)
    assert "F\\_1" in (folder / "results.tex").read_text()


def test_summary_agrees_with_the_frames():
    result = sa.compare_values(wide(), design=HOLDOUTS, measure="accuracy")
    text = result.summary(full=True)
    assert "Ranking by mean accuracy over 20 folds" in text
    words = [text, str(result.results_paragraph), str(result.methods), result.to_html("plans")]
    assert "IAUPREC" not in "".join(words)
    assert repr(result) == "<Comparison of 3 models over 20 folds by accuracy: 'forest' ranks first>"
    assert result.to_frame().equals(result.ranking)
    with warnings.catch_warnings(action="ignore"):
        assert len([getattr(result.plot, name)() for name in dir(result.plot)]) == 2


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_a_design_that_was_not_measured_has_no_remedy_in_halvings():
    design = sa.FoldDesign("repeated_holdout", test_fraction=0.3)
    weakest = sa.compare_values(wide(), design=design).verdict.weakest_point
    assert weakest == (
        "Folds share training data; error rates with unstable learners were not measured for this design."
    )


@each("value", [0.0, 1.0, 0.3])
@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_values_that_are_all_alike_have_a_page(value, tmp_path_factory):
    values = {"net": [value] * 5, "tree": [value] * 5}
    folder = tmp_path_factory.mktemp("alike") / "report"
    sa.compare_values(values, design="kfold").save(folder)
    assert "The values do not separate" in (folder / "report.html").read_text(encoding="utf-8")
