import warnings

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import draw_rows
from loops import each
from messages import expect_error, expect_warning

import skewanova as sa
from skewanova.decision.choice import CHOICE_COLUMNS
from skewanova.decision.leads import CROSSING_COLUMNS, DIFFERING_COLUMNS, LEADER_COLUMNS, REGION_COLUMNS
from skewanova.inference.anova import ANOVA_COLUMNS
from skewanova.inference.pairwise import POSTHOC_COLUMNS, PRIOR_PAIR_COLUMNS

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.base.checks.SkewanovaWarning")

QUICK = {"at_priors": (0.5, 0.3), "deployment_prior": (0.3, 0.5)}
RANKING = "rank rank_low rank_high model iauprec std conf_low conf_high group auc rarest_prior"
MERITS = "model expected_auprec shrunken worst_auprec worst_prior expected_regret max_regret"
CHANCES = "p_best expected_loss p_best_over auprec_at_rarest auprec_commonest"
COLUMNS = {
    "auprec": ["model", "fold", "prior", "auprec"],
    "iauprec": ["model", "fold", "iauprec", "auc", "n_positive", "n_negative"], "tests": list(ANOVA_COLUMNS),
    "pairs": list(POSTHOC_COLUMNS), "prior_pairs": PRIOR_PAIR_COLUMNS,
    "ranking": f"{RANKING} auprec_at_rarest expected_regret max_regret p_best".split(),
    "regions": list(REGION_COLUMNS), "crossings": list(CROSSING_COLUMNS), "leaders": list(LEADER_COLUMNS),
    "differing_priors": list(DIFFERING_COLUMNS),
    "decisions": [*MERITS.split(), *CHANCES.split(), "sensitivity", "loss_per_tenfold"],
    "choices": list(CHOICE_COLUMNS), "support": ["prior", "effective_negatives", "needed", "supported"],
}  # fmt: skip


def scores(names=("low", "high", "mid"), n_folds=4, size=60):
    """Three models whose order by appearance is not their order by merit; cases are paired."""
    merit = {name: (0.2, 1.4, 0.8, 0.5, 1.1)[i % 5] for i, name in enumerate(names)}
    labels, rng = np.repeat([0, 1], size // 2), np.random.default_rng(4)
    folds = range(1, n_folds + 1)
    return draw_rows(merit, folds, labels, rng, common=0.5, own=0.7, stride=size, digits=1)


@pytest.fixture(scope="module")
def result():
    return sa.compare(scores(), **QUICK)


def frames(comparison):
    return {name: comparison.tables[name] for name in COLUMNS}


def same_numbers(a, b):
    for name in (*COLUMNS, "difference_curves", "equivalence", "assumptions"):
        pd.testing.assert_frame_equal(a.tables[name], b.tables[name], check_exact=True)


def test_frames_have_the_promised_columns_tests_and_labels(result):
    assert isinstance(result, sa.Comparison)
    assert {name: list(frame) for name, frame in frames(result).items()} == COLUMNS
    assert all(frame.index.equals(pd.RangeIndex(len(frame))) for frame in result.tables.values())
    order = result.ranking["model"].tolist()
    assert (order, result.ranking["rank"].tolist()) == (["high", "mid", "low"], [1, 2, 3])
    assert result.ranking["iauprec"].is_monotonic_decreasing
    assert list(result.evaluation.models) == order
    for name in ("auprec", "iauprec", "roc", "precision_recall", "auprec_by_prior", "surface"):
        assert list(dict.fromkeys(result.tables[name]["model"])) == order
    pairs = [("high", "mid"), ("high", "low"), ("mid", "low")]
    for test, family in result.pairs.groupby(["test", "response", "prior"], dropna=False, sort=False):
        assert list(zip(family["model_a"], family["model_b"], strict=True)) == pairs, test
    assert (result.pairs["test"] == "tukey").sum() == 3 * (1 + len(QUICK["at_priors"]))
    assert set(result.tests["test"]) <= set(result.labels)
    assert all(label.endswith(".") for label in result.labels.values())
    published = result.tests[result.tests["role"] == "published"]
    terms = published.groupby("test", sort=False)["term"].agg(" ".join).to_dict()
    assert terms == {"two_way": "model fold residual", "three_way": "model fold prior residual"}
    assert result.tests["role"].iloc[0] == "primary"
    assert "counts one ROC once for each prior" in result.labels["three_way"]


def test_measures_letters_and_settings_are_those_of_the_public_functions(result):
    known = sa.evaluate(scores(), **QUICK)
    for name in ("auprec", "iauprec"):
        keys = list(COLUMNS[name])[: 3 if name == "auprec" else 2]
        a, b = (f.sort_values(keys, ignore_index=True) for f in (result.tables[name], getattr(known, name)))
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    for row in result.pairs[result.pairs["role"] == "primary"].itertuples():
        a, b = (result.ranking.set_index("model").loc[m, "group"] for m in (row.model_a, row.model_b))
        assert bool(set(a) & set(b)) == (not row.reject)
        words = f"{row.model_a} is ahead of {row.model_b} by" if row.reject else "were not found to differ"
        assert any(words in text and row.model_b in text for text in result.conclusions)
    known = {
        "deployment_prior": "uniform over priors 0.3 to 0.5", "at_priors": [0.5, 0.3], "alpha": 0.05,
        "seed": 0, "area_estimator": "trapezoid", "missing": "raise", "n_models": 3, "n_folds": 4,
    }  # fmt: skip
    assert {key: result.settings[key] for key in known} == known
    assert (result.alpha, result.source, result.prior_frames) == (0.05, None, {})
    assert result.sha256 == sa.read_scores(scores()).sha256()
    same_numbers(sa.compare(scores(), **QUICK, rng=0), result)


def test_summary_fits_the_screen_and_options_change_no_columns(result, tmp_path):
    text = result.summary(full=True)
    assert all(len(line) <= 80 and line.isprintable() and line == line.rstrip() for line in text.split("\n"))
    assert text.startswith(f"{result.verdict.to_text(80)}\n\nRanking by mean IAUPREC")
    assert "\n\n3 models, 4 folds, level 0.05\nAUPREC: trapezoid estimator" in text
    words = " ".join(text.split())
    assert words.count(" Folds: 4, each of") == words.count("differ. Rank:") + 1 == 1
    labels = result.labels["two_way"], result.labels["three_way"]
    said = "uniform over priors 0.3 to 0.5", "2-way ANOVA of IAUPREC: F(2, 6)"
    for part in (*said, *result.conclusions, *result.warnings, *labels):
        assert " ".join(part.split()) in words, part
    for value in result.ranking["iauprec"]:
        assert f" {value:.3f} " in text
    path = tmp_path / "scores.csv"
    scores().to_csv(path, index=False)
    other = sa.compare(path, 0.4, at_priors=(0.4, 0.6), alpha=0.005, area_estimator="exact", rng=5)
    assert {name: list(frame) for name, frame in frames(other).items()} == COLUMNS
    assert set(other.tests["test"]) <= set(other.labels)
    assert (other.source, other.settings["seed"], other.settings["alpha"]) == (path, 5, 0.005)
    assert "prior 0.4" in other.summary(full=True)
    known = sa.evaluate(scores(), deployment_prior=0.4, at_priors=(0.4,), area_estimator="exact")
    areas = other.tables["iauprec"]["iauprec"]
    assert sorted(areas) == pytest.approx(sorted(known.auprec["auprec"]), rel=1e-12)


def test_a_control_is_the_family_everywhere(result):
    other = sa.compare(scores(), **QUICK, control="low")
    primary = other.pairs[other.pairs["role"] == "primary"]
    pairs = [["high", "low"], ["mid", "low"]]
    assert primary[["model_a", "model_b"]].to_numpy().tolist() == pairs
    assert set(primary["test"]) == {"corrected_t_holm_control"}
    assert other.tables["equivalence"][["model_a", "model_b"]].to_numpy().tolist() == pairs
    groups = other.ranking.set_index("model")["group"]
    assert groups["low"] == "control"
    for row in primary.itertuples():
        assert groups[row.model_a] == ("ahead" if row.reject else "")
        assert any(row.model_a in text and "low" in text for text in other.conclusions[1:])
    assert not any("high" in text and "mid" in text for text in other.conclusions[1:])
    for table in ("performance", "ranking"):
        assert "Group: ahead of the control, low, or behind it" in other.to_markdown(table)
    assert "against the control" in other.to_latex("pairwise")
    checks = other.pairs[other.pairs["role"] == "secondary"]
    assert {"dunnett", "paired_t_holm_control", "wilcoxon_holm_control"} == set(checks["test"])
    published = other.pairs[other.pairs["role"] == "published"].reset_index(drop=True)
    before = result.pairs[result.pairs["role"] == "published"].reset_index(drop=True)
    pd.testing.assert_frame_equal(published, before, check_exact=True)
    raw = result.pairs[result.pairs["role"] == "primary"].set_index(["model_a", "model_b"])["p_value"]
    assert primary["p_value"].tolist() == [raw["high", "low"], raw["mid", "low"]]
    assert other.settings["control"] == "low"
    assert (other.tables["plans"][["model_a", "model_b"]] == "low").any(axis=1).all()
    assert (other.tables["plans"]["alpha"] == 0.05 / (len(other.ranking) - 1)).all()
    bands = other.tables["difference_curves"]
    assert (bands[["model_a", "model_b"]] == "low").any(axis=1).all()
    keys = ["model_a", "model_b", "prior"]
    both = bands.merge(result.tables["difference_curves"], on=keys, suffixes=("", "_of_all"))
    assert (both["conf_high"] <= both["conf_high_of_all"]).all()  # fewer pairs hold together
    assert (both["std_error"] == both["std_error_of_all"]).all()
    assert (other.tables["differing_priors"][["better", "worse"]] == "low").any(axis=1).all()


def test_models_leaves_the_others_out(result):
    frame = scores()
    table = sa.read_scores(frame)
    found = sa.compare(table.select_models(["low", "high", "low"]), **QUICK)
    same_numbers(found, sa.compare(frame[frame["model"] != "mid"], **QUICK))
    assert found.ranking["model"].tolist() == ["high", "low"]
    expect_error(r"`models` must be one of .*; but got 'lo'", table.select_models, ["high", "lo"])
    for models in ([], ["mid"]):
        remedy = "add more, or for one use" if models else "name more in `models`$"
        message = f"needs at least 2 models, but the table has {len(models)}; {remedy}"
        expect_error(message, sa.compare, table.select_models(models), **QUICK)
    with pytest.raises(sa.InputTypeError, match="`models` must be a list of names, but got 'high'"):
        table.select_models("high")


@each(("options", "test"), [
    ({"p_adjust": "bh"}, "corrected_t_bh"),
    ({"p_adjust": "hochberg", "control": "mid"}, "corrected_t_hochberg_control"),
    ({"design": "independent", "p_adjust": "bonferroni"}, "paired_t_bonferroni"),
])  # fmt: skip
def test_the_adjustment_is_that_of_primary_and_equivalence(options, test):
    found = sa.compare(scores(), **QUICK, **options)
    primary = found.pairs[found.pairs["role"] == "primary"]
    assert set(primary["test"]) == {test}
    method = {"hochberg": "simes-hochberg", "bh": "fdr_bh"}.get(options["p_adjust"], options["p_adjust"])
    for frame in (primary, found.tables["equivalence"]):
        expected = adjusted_by_statsmodels(frame["p_value"], method)
        np.testing.assert_allclose(frame["p_adjusted"], expected, rtol=1e-12)


@each("options", [{}, {"p_adjust": "bh"}, {"control": "low"}])
def test_ranks_are_counted_from_the_rejected_pairs_of_the_primary_family(options):
    found = sa.compare(scores(n_folds=12), **QUICK, design="independent", **options)
    rows = found.pairs[(found.pairs["role"] == "primary") & found.pairs["reject"].astype(bool)]
    assert len(rows)  # or the test tells nothing
    better = rows["model_a"].where(rows["estimate"] > 0, rows["model_b"])
    worse = rows["model_b"].where(rows["estimate"] > 0, rows["model_a"])
    for row in found.ranking.itertuples():
        limits = 1 + (worse == row.model).sum(), 3 - (better == row.model).sum()
        expected = (1, 3) if options.get("p_adjust") == "bh" else limits  # which holds no ranks together
        assert (row.rank_low, row.rank_high) == expected
    assert ("  Rank  " in found.summary()) == (options.get("p_adjust") != "bh")


def test_another_family_is_behind_the_primary_and_a_note_is_issued_once():
    with expect_warning(r"^pairwise='tukey' may reject .* here. As pub.*Leave `pairwise` out$"):
        found = sa.compare(scores(), **QUICK, pairwise="tukey")
    families = found.pairs[found.pairs["response"] == "iauprec"].groupby("role", sort=False)["test"]
    assert set(families.get_group("primary")) == {"tukey"}
    assert "published" not in families.groups
    assert "corrected_t_holm" in set(families.get_group("secondary"))
    table = scores().drop(columns="case")
    same = pd.concat([table[table["model"] == "low"].assign(model=name) for name in "ab"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sa.compare(same, **QUICK)
    notes = [str(each.message) for each in caught]
    assert any(note.startswith("the models are identical in every fold, so F and p are") for note in notes)
    assert (len(set(notes)), {each.filename for each in caught}) == (len(notes), {__file__})


@each(("options", "message"), [
    ({"pairwise": "split_half_t"}, "^`pairwise` must be a test for one .*, but 'split_half_t' needs halv"),
    ({"pairwise": "corrected_t", "design": "independent"}, "that folds share; leave `pairwise` out$"),
    ({"pairwise": "tukey", "p_adjust": "holm"}, "`p_adjust` is for tests with unadjusted p-values"),
    ({"pairwise": "max_t", "control": "low"}, "`control` selects the pairs with one model, but pairwise='m"),
    ({"pairwise": "dunnett"}, "`control` must name the model that pairwise='dunnett' compares the"),
    ({"pairwise": "turkey"}, "`pairwise` must be one of auto, .*; did you mean 'tukey'"),
    ({"p_adjust": "fdr"}, "`p_adjust` must be one of holm"),
    ({"control": "hihg"}, r"`control` must be one of .*; but got 'hihg'; did you mean 'high'\?"),
    *(({"alpha": v}, f"`alpha` must lie above 0 and at most 0.5, but got {v}") for v in (0, 0.95)),
    ({"at_priors": (0.5, 0.5)}, "`at_priors` must be distinct"),
    ({"area_estimator": "auc"}, "`area_estimator` must be one of"),
    ({"missing": "ignore"}, "`missing` must be one of raise, drop"),
])  # fmt: skip
def test_options_out_of_range(options, message):
    expect_error(message, sa.compare, scores(), **QUICK | options)


def test_one_prior_and_many_have_their_summaries(result):
    one = sa.compare(scores(), (0.3, 0.5), at_priors=0.4)
    assert {name: list(frame) for name, frame in frames(one).items()} == COLUMNS
    assert one.tables["prior_pairs"].empty
    assert "there is one prior only" in " ".join(one.warnings)
    assert one.tests[one.tests["test"] == "three_way"]["term"].tolist() == ["model", "fold", "residual"]
    assert all(len(line) <= 80 for line in one.summary(full=True).split("\n"))
    pd.testing.assert_frame_equal(one.tables["iauprec"], result.tables["iauprec"])
    long = "a classifier with a very, very long name that goes on"
    names = (f"{long} 1", f"{long} 2", "new\nline\x1b[2J", "x" * 300, "模型")
    found = sa.compare(scores(names), (0.3, 0.5), at_priors=np.linspace(0.2, 0.9, 8), alpha=0.01)
    lines = found.summary(full=True).split("\n")
    assert all(len(line) <= 80 and line.isprintable() for line in lines)
    ranked = lines[lines.index("Ranking by mean IAUPREC over folds") + 3 :][:5]
    assert len({line[:24] for line in ranked}) == 5
    for model in ("a classifier with a v...", "a classifier with... (2)", "new line\\x1b[2J", "模型"):
        assert any(line.startswith(model) for line in ranked)
    head = [line for line in lines if line.startswith("Model ") and "AUPREC(" in line]
    assert ("".join(head).count("AUPREC("), set(found.ranking["model"])) == (8, set(names))


def test_a_fold_that_a_model_lacks_may_be_dropped():
    table = scores()
    dropped = sa.compare(table[(table["model"] != "mid") | (table["fold"] != 2)], **QUICK, missing="drop")
    assert dropped.design.n_folds == 3
    assert dropped.design.ratio == pytest.approx(1 / 3)  # of all four there were
    mixed = dropped.tests[dropped.tests["test"] == "mixed"]
    assert (mixed["role"].tolist(), mixed["df_error"].tolist()) == (["secondary"], [11 - 4 - 3 + 1])
    assert {name: list(frame) for name, frame in frames(dropped).items()} == COLUMNS
    assert sorted(set(dropped.tables["iauprec"]["fold"])) == [1, 3, 4]
    assert dropped.warnings[0].startswith("dropped 1 of 4 folds for all models, since these are missing: m")
    known = sa.compare(table[table["fold"] != 2], **QUICK)
    pd.testing.assert_frame_equal(dropped.tables["iauprec"], known.tables["iauprec"], check_exact=True)


def test_perfect_constant_and_equal_models():
    mid = scores()[lambda f: f["model"] == "mid"]
    perfect = mid.assign(model="perfect", y_score=lambda f: f["y_true"])
    constant = perfect.assign(model="constant", y_score=0.5)
    found = sa.compare(pd.concat([mid, mid.assign(model="twin"), constant, perfect]), **QUICK)
    by_model = found.tables["auprec"].set_index("model")
    assert set(by_model.loc["perfect", "auprec"]) == {1.0}
    assert (by_model.loc["constant", "auprec"] == by_model.loc["constant", "prior"]).all()
    assert found.ranking["model"].tolist() == ["perfect", "mid", "twin", "constant"]
    assert found.ranking["iauprec"].iloc[[0, 3]].tolist() == pytest.approx([1.0, 0.4], rel=1e-14)
    twins = found.pairs[(found.pairs["model_a"] == "mid") & (found.pairs["model_b"] == "twin")]
    assert twins["estimate"].abs().max() < 1e-14
    assert not twins["reject"].any()
    assert not (twins["p_adjusted"] < 0.99).any()


def test_identical_models_are_not_told_apart_by_their_names():
    one = scores(("a",))
    found = sa.compare(pd.concat([one, one.assign(model="b")]), **QUICK)
    assert found.pairs["estimate"].abs().max() < 1e-14
    assert not found.pairs["reject"].any()
    assert found.ranking["group"].tolist() == ["a", "a"]
    assert (found.tables["equivalence"]["p_equal"] == 1).all()
    primary = [frame[frame["role"] == "primary"] for frame in (found.tests, found.pairs)]
    assert primary[0][["statistic", "p_value"]].isna().all(axis=None)
    assert primary[1]["p_adjusted"].isna().all()
    model = found.tests[found.tests["term"] == "model"].set_index("test")
    assert model.loc["two_way", ["statistic", "p_value"]].isna().all()
    assert not (model["p_value"] < 0.99).any()
    assert any("the models are identical in every fold" in note for note in found.warnings)
    assert all(len(line) <= 80 for line in found.summary(full=True).split("\n"))
    plain = sa.compare(scores(tuple(NAMES)), **QUICK)
    hostile = sa.compare(scores(tuple(NAMES)).replace({"model": NAMES}), **QUICK)
    for name, frame in frames(plain).items():
        renamed = frame.replace(dict.fromkeys(NAME_COLUMNS, NAMES))
        pd.testing.assert_frame_equal(renamed, hostile.tables[name], check_exact=True)
    text = hostile.summary(full=True)
    for name in NAMES.values():
        assert text.count(name) >= 3


NAME_COLUMNS = [
    "model", "model_a", "model_b", "model_below", "model_above", "leader", "contender", "runner_up",
]  # fmt: skip
NAMES = {"low": "<script>", "high": "a_b%$", "mid": "../x", "fourth": "C(x)", "fifth": "fold"}
