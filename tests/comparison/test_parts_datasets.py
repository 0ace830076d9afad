"""Several data sets: reading, tests across them, meta-analysis, text, folder and command."""

import json
import re
import warnings
from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from command_runs import run
from fold_tables import draw_rows
from loops import each
from matplotlib.figure import Figure
from messages import expect_error, expect_warning
from scipy import stats

import skewanova as sa
from skewanova.comparison import parts
from skewanova.inference import effect_sizes, pairwise
from skewanova.inference.anova import ANOVA_COLUMNS
from skewanova.report.figures import draw_mean_ranks
from skewanova.scores.table import hash_path

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")  # few cases, few data sets

OPTIONS = {"at_priors": (0.5, 0.4), "design": "independent"}
NAMES = ("../one", "<b>two</b>", "three")


def many(names=NAMES, effects=(1.5, 1.2, 0.8), seed=0):
    labels, rng = np.repeat([0, 1], [80, 40]), np.random.default_rng(seed)
    shifts = {f"m{m}": effect for m, effect in enumerate(effects)}
    parts = [draw_rows(shifts, range(4), labels, rng).assign(dataset=name) for name in names]
    return pd.concat(parts, ignore_index=True)


def primary(result):
    return result.pairs[result.pairs["role"] == "primary"]


@pytest.fixture(autouse=True, scope="module")
def each_table_is_compared_once():
    """Comparisons of single data sets have tests of their own; those of here ask what is made of them."""
    kept = {}

    def once(table, deployment_prior, **options):
        key = table.frame.to_csv(), table.source, repr((deployment_prior, sorted(options.items())))
        if key not in kept:
            kept[key] = sa.compare(table, deployment_prior, **options)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skewanova.comparison.parts.compare", once)
        yield


@pytest.fixture(scope="module")
def result():
    message = r"^with 3 data sets, signed ranks cannot reach p below 0\.25: pairs are"
    return expect_warning(message, sa.compare_datasets, many(), 0.4, **OPTIONS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_sets", "n_models", "test"),
    [(5, 2, "paired_t_holm"), (6, 2, "wilcoxon_holm"), (6, 3, "paired_t_holm")],
)
def test_pairs_go_by_a_test_that_can_reject(n_sets, n_models, test):
    """Signed ranks of five sets cannot reach .05; those of six can, but not adjusted for three pairs."""
    frame = many(names=tuple(f"set {i}" for i in range(n_sets)), effects=(2.5, 0.2, 0.1)[:n_models])
    found = primary(sa.compare_datasets(frame, 0.4, **OPTIONS))
    assert set(found["test"]) == {test}
    assert found["reject"].any()


def test_means_and_errors(result):
    assert tuple(result.comparisons) == NAMES
    columns = {
        "iauprec": parts.MEAN_COLUMNS, "tests": ANOVA_COLUMNS, "pairs": pairwise.POSTHOC_COLUMNS,
        "hierarchical": parts.HIERARCHICAL_COLUMNS, "ranking": parts.ACROSS_RANKING_COLUMNS,
        "by_dataset": parts.BY_DATASET_COLUMNS, "by_prior": parts.DATASETS_BY_PRIOR_COLUMNS,
    }  # fmt: skip
    assert {name: tuple(getattr(result, name)) for name in columns} == columns
    assert result.pairs["test"].tolist() == ["paired_t_holm"] * 3 + ["nemenyi"] * 3
    assert len(result.iauprec) == 9
    for name, one in result.comparisons.items():
        folds = one.tables["iauprec"].groupby("model", observed=True)["iauprec"]
        part = result.iauprec[result.iauprec["dataset"] == name].set_index("model")
        for model, values in folds:
            assert part.loc[model, "iauprec"] == pytest.approx(values.mean())
            assert part.loc[model, "std_error"] == pytest.approx(stats.sem(values))
        assert part["rank"].tolist() == stats.rankdata(-part["iauprec"]).tolist()


def test_ranks_against_scipy(result):
    wide = result.iauprec.pivot(index="dataset", columns="model", values="iauprec")
    k, n = wide.shape[1], len(wide)
    chi2 = stats.friedmanchisquare(*wide.to_numpy().T).statistic
    row = result.tests.iloc[0]
    with np.errstate(divide="ignore"):
        assert row["statistic"] == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
    assert (row["test"], row["role"]) == ("friedman", "primary")
    known = dict(zip(wide.columns, (k + 1 - stats.rankdata(wide, axis=1)).mean(axis=0), strict=True))
    assert result.ranking["mean_rank"].tolist() == pytest.approx([known[m] for m in result.ranking["model"]])
    first = wide.eq(wide.max(axis=1), axis=0).sum()
    assert result.ranking["n_best"].tolist() == first[result.ranking["model"]].tolist()
    assert result.ranking["rank"].tolist() == [1, 2, 3]
    equal = result.iauprec[::-1].assign(iauprec=0.5, rank=2.0)  # models keep their order
    assert parts._build_ranking(equal)["model"].tolist() == ["m2", "m1", "m0"]


def test_hierarchical_differences(result):
    row = result.hierarchical.iloc[0]
    effects, variances = [], []
    for one in result.comparisons.values():
        wide = one.tables["iauprec"].pivot(index="fold", columns="model", values="iauprec")
        difference = wide[row["model_a"]] - wide[row["model_b"]]
        effects.append(difference.mean())
        variances.append(difference.var() / len(difference))
    known = effect_sizes.estimate_mean_effect(np.array(effects), np.array(variances))
    assert row["estimate"] == pytest.approx(known.estimate)
    assert row["p_value"] == pytest.approx(known.p_value)
    reach = stats.t.isf(0.025, 2) * known.std_error
    assert row["conf_high"] - row["conf_low"] == pytest.approx(2 * reach)
    further = stats.t.isf(0.025, 2) * np.hypot(known.std_error, known.tau)  # a further data set
    assert row["prediction_low"] == pytest.approx(known.estimate - further)
    assert row["prediction_high"] == pytest.approx(known.estimate + further)
    adjusted = adjusted_by_statsmodels(result.hierarchical["p_value"])
    np.testing.assert_allclose(result.hierarchical["p_adjusted"], adjusted)


def test_differences_by_data_set_are_those_of_a_paired_t_test(result):
    assert len(result.by_dataset) == 9
    for row in result.by_dataset.to_dict("records"):
        one = result.comparisons[row["dataset"]].tables["iauprec"]
        wide = one.pivot(index="fold", columns="model", values="iauprec")
        known = stats.ttest_rel(wide[row["model_a"]], wide[row["model_b"]])
        assert row["estimate"] / row["std_error"] == pytest.approx(known.statistic)
        limits = known.confidence_interval(1 - result.alpha)
        assert (row["conf_low"], row["conf_high"]) == pytest.approx(tuple(limits))


def test_the_forest_of_a_pair_has_every_data_set_and_all_of_them(result):
    ax = sa.plotting.plot_by_dataset(result, ax=Figure().subplots())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "all data sets"
    assert len(labels) == len(result.comparisons) + 1
    (diamond,) = ax.patches
    row = result.hierarchical.iloc[0]
    x = diamond.get_xy()[:, 0]
    assert (x.min(), x.max()) == pytest.approx((row["conf_low"], row["conf_high"]))
    assert ax.get_xlim()[0] < row["prediction_low"] < row["prediction_high"] < ax.get_xlim()[1]
    a, b = result.by_dataset[["model_a", "model_b"]].to_numpy()[-1]
    other = sa.plotting.plot_by_dataset(result.by_dataset, pair=(a, b), ax=Figure().subplots())
    assert len(other.get_yticklabels()) == len(result.comparisons)  # no meta-analysis was given
    assert f"({a} minus {b})" in other.get_xlabel()
    unknown = result.hierarchical.assign(conf_low=np.nan, conf_high=np.nan)
    drawn = sa.plotting.plot_by_dataset(result.by_dataset, hierarchical=unknown, ax=Figure().subplots())
    assert not drawn.patches  # a point without an interval
    with pytest.raises(ValueError, match="`pair` must be one of the pairs compared"):
        sa.plotting.plot_by_dataset(result, pair=("A", "A"))


@pytest.mark.no_cover
def test_folds_that_share_training_data_are_corrected(result):
    wide = sa.compare_datasets(many(), 0.4, **{**OPTIONS, "design": "kfold"})
    factor = np.sqrt(1 + 4 / 3)  # four folds, one test case for three training cases
    np.testing.assert_allclose(wide.iauprec["std_error"], factor * result.iauprec["std_error"])


@pytest.mark.no_cover
def test_mapping_and_column_agree(result):
    tables = {name: part.drop(columns="dataset") for name, part in many().groupby("dataset", sort=False)}
    other = sa.compare_datasets(tables, 0.4, **OPTIONS)
    pd.testing.assert_frame_equal(other.hierarchical, result.hierarchical)


def test_one_table_of_several_data_sets_is_refused():
    expect_error(r"^the table holds 3 data sets .*compare_datasets\(table\)", sa.compare, many(), 0.4)
    assert sa.read_scores(many(names=["one"])).folds == (0, 1, 2, 3)
    assert len(sa.read_scores(many(names=["x", "y"]).assign(fold=1), columns={"fold": "dataset"}).folds) == 2


def test_bad_tables_name_their_data_set(tmp_path):
    frame = many()
    frame.loc[frame.index[-1], "y_score"] = np.nan
    with pytest.raises(ValueError, match=r"^data set 'three': `y_score` must not hold NaN.* at row 4319;"):
        sa.compare_datasets(frame, 0.4)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    with pytest.raises(ValueError, match=r"^data set 'three': `y_score` must not hold NaN.* at line 4321;"):
        sa.compare_datasets(tmp_path / "scores.csv", 0.4)
    with pytest.raises(TypeError, match=r"^data set '\.\./one': `y_score` must hold real numbers"):
        sa.compare_datasets(many().assign(y_score="x"), 0.4)


@each(("change", "message"), [
    (lambda f: f.query("dataset == 'three'"), "^a comparison across data sets needs at least 2 data sets"),
    (lambda f: f.query("dataset != 'three' or model != 'm2'"),
     "^every data set must have the same models, but only one of .* has 'm2'; score these in both, or"),
    (lambda f: f.query("dataset != 'three' or model == 'm2'"), "or give a model the same name in both$"),
    (lambda f: f.assign(dataset=" "), "^`dataset` must not be empty, but 4320 rows are, the first at row 0$"),
    (lambda f: f.drop(columns="dataset"), "must have the column 'dataset'"),
])  # fmt: skip
def test_other_bad_input(change, message):
    expect_error(message, sa.compare_datasets, change(many()), 0.4)


def test_an_argument_that_is_none_is_named():
    message = r"^compare_datasets\(\) has no argument 'priors'; .* 'at_priors'\?$"
    expect_error(message, sa.compare_datasets, many(), 0.4, priors=(0.5,), error=TypeError)


def test_warnings_are_issued_once_with_their_data_sets():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = sa.compare_datasets(many(), 0.4, **{**OPTIONS, "design": "kfold", "pairwise": "tukey"})
    assert [str(each.message) for each in caught] == list(result.warnings)
    pattern = r"^data set \S+: pairwise='tukey' .* \(and likewise"
    assert any(re.search(pattern, text) for text in result.warnings)


@pytest.mark.parametrize("function", [sa.compare_datasets, sa.compare_classes])
def test_defaults_are_those_of_a_comparison(function):
    ours, those = (signature(of).parameters for of in (function, sa.compare))
    names = ours.keys() & those.keys() - {"scores"}
    assert {"deployment_prior", "alpha", "rng"} <= names
    assert [ours[name].default for name in names] == [those[name].default for name in names]


def test_summary(result):
    text = result.summary(full=True)
    assert text.startswith(result.verdict.to_text(80))
    assert "\n\n3 data sets, 3 models, level 0.05\n" in text
    assert all(len(line) <= 80 for line in text.split("\n"))
    assert "Ranking across data sets" in text
    assert any(line.startswith("Meta-analysis: ") for line in result.conclusions)
    p_values = [f"p = {p:.2g})." for p in primary(result)["p_adjusted"]]
    assert [line[line.rindex("p =") :] for line in result.conclusions[1:4]] == p_values
    assert "<dt>Choose</dt>" in result._repr_html_()
    assert "<caption>Ranking across data sets" in result._repr_html_()
    backwards = replace(result, iauprec=result.iauprec[::-1])._build_tables()[1]
    assert [name for name, *_ in backwards.rows] == list(NAMES[::-1])  # in the order of the table
    assert re.findall(r"(\w+)=", repr(result)) == ["ranking", "alpha", "warnings", "deployment_prior"]
    frames = [getattr(result, name) for name in result.FRAMES]
    assert [frame.index.tolist() for frame in frames] == [list(range(len(frame))) for frame in frames]


def test_the_verdict_across_data_sets_goes_by_the_test_that_can_reject(result):
    verdict, pairs = result.verdict, primary(result)
    behind = {r.model_b if r.estimate >= 0 else r.model_a for r in pairs[pairs["reject"]].itertuples()}
    assert set(verdict.models) == set(result.ranking["model"]) - behind
    assert verdict.weakest_point == "Only 3 data sets: use 6 or more."
    starts = ("Nowhere from prior", "Only prior", "The highest mean over data sets changes from")
    assert verdict.where_it_changes.startswith(starts)
    assert len(str(verdict).split()) <= 60 + 7  # and the names of the lines
    assert {number.table for number in verdict.numbers} <= {"pairs", "ranking", "iauprec", "by_prior"}
    leads = pairs[pairs["reject"]] if verdict.state in {"choose", "tie"} else pairs
    (decisive,) = verdict.evidence[verdict.evidence["decisive"]].itertuples()
    assert set(verdict.evidence["p_adjusted"]) <= set(leads["p_adjusted"])
    ends = leads["p_adjusted"] if verdict.state == "choose" else verdict.evidence["p_adjusted"]
    assert verdict.state not in {"choose", "tie"} or decisive.p_adjusted == ends.max()
    assert verdict.evidence["prior_low"].isna().all()


def test_models_that_rank_alike_everywhere_vary_nonetheless(result):
    anova = result.tests.iloc[:1].assign(df_error=10.0, statistic=np.inf, p_value=1e-4)
    found = replace(result, tests=anova).conclusions[0]
    assert found.startswith("The models' ranks are the same throughout: p is the chance of that")
    assert "do not vary" not in found


def mean_at(comparisons, model, prior):
    """Mean over data sets of the means over folds, curve by curve."""
    curves = [part.evaluation.curves.items() for part in comparisons.values()]
    return np.mean([np.mean([sa.auprec(c, prior) for (m, _), c in part if m == model]) for part in curves])


def test_the_mean_along_the_prior_counts_every_data_set_once(result):
    frame = result.by_prior
    for row in frame.iloc[:: max(1, len(frame) // 25)].itertuples():
        areas = {model: mean_at(result.comparisons, model, row.prior) for model in frame["model"].unique()}
        assert row.auprec == pytest.approx(areas[row.model], rel=1e-9)
        assert row.rank == 1 + sum(area > areas[row.model] + 1e-12 for area in areas.values())
        assert row.regret == pytest.approx(max(areas.values()) - areas[row.model], abs=1e-12)


def test_with_a_control_the_figure_has_the_differences_from_it(result):
    pairs = primary(result)
    control = pairs["model_a"].iloc[0]
    beside = pairs[(pairs["model_a"] == control) | (pairs["model_b"] == control)]
    assert len(beside) < len(pairs)
    figure = draw_mean_ranks(result.iauprec, beside, result.alpha)
    assert figure.axes[0].get_title("left").startswith("Pairwise differences")
    assert len(figure.axes[0].get_yticks()) == len(beside)


def test_folder_has_numbers_for_names(result, tmp_path, quick_parts):
    folder = result.save(tmp_path / "out")
    assert {p.name for p in folder.iterdir()} == {
        "README.txt", "report.html", "provenance.json", "tables", "dataset-001", "dataset-002", "dataset-003"
    }  # fmt: skip
    tables = folder / "tables"
    assert {p.name for p in tables.iterdir()} == {
        *(f"{name}.csv" for name in (*result.FRAMES, "datasets")), "tables.md"
    }  # fmt: skip
    assert pd.read_csv(tables / "datasets.csv")["dataset"].tolist() == list(NAMES)
    assert tuple(pd.read_csv(tables / "hierarchical.csv")) == parts.HIERARCHICAL_COLUMNS
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert "<b>two" not in page
    contents = re.findall(r'href="#(\w+)"', page[page.index("<nav") : page.index("</nav>")])
    assert contents == ["parts", "tables", "tested", *(["warnings"] if result.warnings else [])]
    assert ["verdict", *contents] == re.findall(r'<(?:section|details)[^>]* ?id="(\w+)"', page)
    linked = set(re.findall(r'href="tables/([\w.]+\.csv)"', page))
    assert linked == {f"{name}.csv" for name in result.FRAMES if name != "by_prior"}
    assert page.count('class="small part"') == len(NAMES)
    assert "mean of 3 data sets, each counted once" in page
    assert result.save(tmp_path / "out") == folder  # an earlier output is replaced
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    expect_error("must be new, empty or an earlier output", result.save, tmp_path / "out")
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_command(tmp_path, quick_parts, result):
    many().to_csv(tmp_path / "scores.csv", index=False)
    options = ["--deployment-prior", 0.4, "--at-priors", "0.5,0.4", "--design", "independent"]
    done = run("compare", tmp_path / "scores.csv", *options, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(result.summary())
    assert (tmp_path / "out" / "tables" / "hierarchical.csv").is_file()
    made = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert (made["seed"], made["settings"]["alpha"], made["input"]["name"]) == (0, 0.05, "scores.csv")
    assert made["input"]["sha256"] == hash_path(tmp_path / "scores.csv")
    assert "dataset-001/report.html" in made["files"]
    for folder in ("out", "out/dataset-002"):
        opened = run("report", tmp_path / folder)
        assert (opened.exit_code, opened.output) == (0, f"{tmp_path / folder / 'report.html'}\n")
    refused = run("intervals", tmp_path / "scores.csv")
    assert refused.exit_code == 2
    assert "the table holds 3 data sets" in refused.stderr


def test_check_tells_what_compare_will_do(tmp_path):
    path = tmp_path / "scores.csv"
    many().to_csv(path, index=False)
    done = run("check", path)
    assert done.exit_code == 0, done.output
    lines = [line for line in done.stdout.split("\n") if line.startswith("data set")]
    assert lines == [f"data set {name}" for name in NAMES]
    assert done.stdout.count("The table can be compared.") == 3
    assert "3 data sets: `compare` will compare the models on each" in done.stdout
    assert run("check", path, "--quiet").output == ""
    known = json.loads(run("check", path, "--json").stdout)["datasets"]
    assert {name: facts["n_rows"] for name, facts in known.items()} == dict.fromkeys(NAMES, 1440)
    frame = many()
    frame[(frame["dataset"] != "three") | (frame["model"] == "m0")].to_csv(path)
    refused = run("check", path)
    assert refused.exit_code == 2
    assert "every data set must have the same models" in refused.stderr


def one_fold_each(effects):
    """Six data sets of one fold, and the same cases for each model."""
    labels, rng = np.repeat([0, 1], [45, 15]), np.random.default_rng(3)
    return pd.concat(draw_rows(effects, [1], labels, rng, stride=0).assign(dataset=f"d{i}") for i in range(6))


@pytest.mark.slow
def test_a_control_is_the_family_across_data_sets(result):
    found = sa.compare_datasets(many(), 0.4, **OPTIONS, control="m1", p_adjust="bonferroni")
    assert found.pairs["test"].unique().tolist() == ["paired_t_bonferroni_control"]
    assert set(found.pairs["model_b"]) == set(found.hierarchical["model_b"]) == {"m1"}
    every, few = result.hierarchical, found.hierarchical
    same = every[(every[["model_a", "model_b"]] == "m1").any(axis=1)]
    assert sorted(few["p_value"]) == pytest.approx(sorted(same["p_value"]), rel=1e-12)
    assert sorted(few["estimate"].abs()) == pytest.approx(sorted(same["estimate"].abs()), rel=1e-12)
    assert few["p_adjusted"].tolist() == pytest.approx((2 * few["p_value"]).clip(upper=1).tolist(), rel=1e-12)
    assert "control" in found.ranking["group"].tolist()
    assert "share a letter" not in found.summary()


@pytest.mark.slow
def test_what_could_not_be_tested_across_data_sets_is_said():
    rows = one_fold_each({"A": 1.0, "C": 0.2})
    twin = rows[rows["model"] == "A"].assign(model="B")
    result = sa.compare_datasets(pd.concat([rows, twin]), at_priors=(0.5,))
    assert np.isnan(result.hierarchical.set_index(["model_a", "model_b"]).loc[("A", "B")]["p_adjusted"])
    told = [text for text in result.conclusions if "could not be tested" in text]
    assert told[0] == "A and B could not be tested, because their values are the same."
    assert told[1].startswith("Meta-analysis: A and B could not be tested, because in some data set")
    assert not any("A and B were not found" in text for text in result.conclusions)
    only = sa.compare_datasets(pd.concat([rows[rows["model"] == "A"], twin]), at_priors=(0.5,))
    assert only.conclusions[0].startswith("The models could not be tested for a difference")
    assert not any("not found to differ" in text for text in only.conclusions)


def test_data_sets_of_one_case_a_class_have_differences_of_unknown_variance():
    """The difference counts, but nothing across data sets can be weighed by it."""
    frame = many(("one", "two"), (1.5, 0.8))[lambda rows: rows["fold"] == 0]
    few = frame[frame["dataset"] == "two"].groupby(["model", "y_true"]).head(1)
    rows = pd.concat([frame[frame["dataset"] == "one"], few], ignore_index=True)
    result = sa.compare_datasets(rows, 0.4, at_priors=(0.5,))
    means = result.iauprec.groupby("model")["iauprec"].mean()
    (row,) = result.hierarchical.itertuples()
    assert row.estimate == pytest.approx(means[row.model_a] - means[row.model_b])
    assert np.isnan([row.std_error, row.p_adjusted, row.conf_low]).all()
    assert not row.reject
    assert "how it varies is not known" in result.conclusions[-1]


def runs_of(seed):
    """Rows of two models with two runs each on one test set."""
    labels, rng = np.repeat([1, 0], [30, 60]), np.random.default_rng(seed)
    return draw_rows({"A": 1.2, "B": 1.2}, (0, 1), labels, rng, stride=0)


@pytest.mark.parametrize(("frame", "kind", "test"), [
    (one_fold_each({"A": 1.5, "B": 0.0}), "test_set", "jackknife_holm"),
    (pd.concat([runs_of(k).assign(dataset=f"d{k}") for k in range(2)]), "runs", "obuchowski_rockette_holm"),
])  # fmt: skip
def test_a_test_set_or_runs_on_it_are_one_observation_of_a_data_set(frame, kind, test):
    """The means over runs are compared across data sets, each with the error over runs and cases."""
    result = sa.compare_datasets(frame, 0.4, at_priors=(0.5,))
    found = []
    for name, one in result.comparisons.items():
        row = primary(one).iloc[0]
        assert (one.design.kind, row["test"]) == (kind, test)
        sign = 1 if row["model_a"] == "A" else -1
        found.append((sign * row["estimate"], row["std_error"] ** 2))
        means = result.iauprec[result.iauprec["dataset"] == name].set_index("model")
        by_run = one.tables["iauprec"].groupby("model", observed=True)["iauprec"].mean()
        assert means["iauprec"]["A"] - means["iauprec"]["B"] == pytest.approx(found[-1][0])
        assert means["iauprec"].to_dict() == pytest.approx(by_run.to_dict())
        assert (means["std_error"] > 0).all()
    expected = effect_sizes.estimate_mean_effect(*(np.array(side) for side in zip(*found, strict=True)))
    row = result.hierarchical.iloc[0]
    assert (1 if row["model_a"] == "A" else -1) * row["estimate"] == pytest.approx(expected.estimate)
    assert (row["std_error"], row["p_value"]) == pytest.approx((expected.std_error, expected.p_value))
    assert row["reject"] == (kind == "test_set")
    assert ("A is ahead of B" in result.conclusions[-1]) == row["reject"]
