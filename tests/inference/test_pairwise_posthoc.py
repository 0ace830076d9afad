import string
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fold_tables import REFERENCE, cells
from loops import each
from messages import exact, expect_error, expect_warning

from skewanova import InputTypeError, SkewanovaWarning
from skewanova.inference.anova import IDENTICAL_MODELS, NO_RESIDUAL_VARIATION, three_way_anova, two_way_anova
from skewanova.inference.pairwise import POSTHOC_COLUMNS, PRIOR_PAIR_COLUMNS, tukey_by_prior, tukey_hsd
from skewanova.inference.ranks import compact_letters

LONG = dict(list(pd.read_csv(REFERENCE / "anova_auprec.csv").groupby("input")))
MEANS = dict(list(pd.read_csv(REFERENCE / "anova_iauprec.csv").groupby("input")))
R_TUKEY = pd.read_csv(REFERENCE / "r_tukey.csv")
PRIOR_COLUMNS = [
    *["test", "role", "response", "prior_a", "prior_b", "estimate", "std_error", "df", "statistic"],
    *["p_value", "p_adjusted", "conf_low", "conf_high", "reject"],
]


@cache
def analyse(test, data):
    """Made once: it hands out copies."""
    return two_way_anova(MEANS[data]) if test == "two_way" else three_way_anova(LONG[data])


def by_pair(result):
    """Rows by pair of levels, both ways round, as R names them ("b-a" is b minus a)."""
    frame, factor = result.to_frame(), result.factor
    found = {}
    for row in frame.to_dict("records"):
        a, b = str(row[f"{factor}_a"]), str(row[f"{factor}_b"])
        found[f"{a}-{b}"] = row
        turned = {"estimate": -row["estimate"], "conf_low": -row["conf_high"], "conf_high": -row["conf_low"]}
        found[f"{b}-{a}"] = row | turned
    return found


@pytest.mark.no_cover
@each("name", sorted(R_TUKEY["test"].unique()))
def test_equals_r(name):
    kind, test, factor, level = name.split(".", 3)
    # TukeyHSD's own quantile stops early; `smallest` has 4 degrees of freedom, where R's ptukey is weak
    slack, weak = (1e-6 if kind == "tukey_hsd" else 1e-8), 1e-5
    for data, recorded in R_TUKEY[R_TUKEY["test"] == name].groupby("input"):
        found = by_pair(tukey_hsd(analyse(test, data), factor=factor, alpha=1 - float(level)))
        for pair, group in recorded.groupby("term"):
            expected, row = group.set_index("quantity")["value"], found[pair]
            width = expected["conf_high"] - expected["conf_low"]
            limits = (weak * 10 if data == "smallest" else slack) * width
            assert row["estimate"] == pytest.approx(expected["estimate"], rel=1e-9)
            assert row["conf_low"] == pytest.approx(expected["conf_low"], abs=limits)
            assert row["conf_high"] == pytest.approx(expected["conf_high"], abs=limits)
            p_slack = weak if data == "smallest" else 1e-9
            assert row["p_adjusted"] == pytest.approx(expected["p_adjusted"], abs=p_slack)
            assert row["reject"] == (expected["p_adjusted"] < 1 - float(level))
            if "std_error" in expected:
                assert row["std_error"] == pytest.approx(expected["std_error"], rel=1e-10)


def test_columns_order_and_comparisons_of_priors():
    for data in MEANS:
        for test, name in (("two_way", "tukey"), ("three_way", "tukey_three_way")):
            result = tukey_hsd(analyse(test, data), alpha=0.01, prior=0.25)
            frame = result.to_frame()
            assert tuple(frame) == POSTHOC_COLUMNS
            told = (result.test, result.role, result.factor, result.alpha)
            assert (told, set(frame["test"])) == ((name, "published", "model", 0.01), {name})
            assert (set(frame["response"]), set(frame["prior"])) == ({result.response}, {0.25})
            assert (frame["estimate"] >= 0).all()  # the larger effect first
            assert frame["reject"].tolist() == (frame["p_adjusted"] < 0.01).tolist()
    assert tukey_hsd(analyse("two_way", "balanced")).to_frame()["prior"].isna().all()
    result = tukey_hsd(analyse("three_way", "balanced"), factor="prior")
    frame = result.to_frame()
    assert list(frame) == PRIOR_PAIR_COLUMNS == PRIOR_COLUMNS
    assert frame[["prior_a", "prior_b"]].to_numpy().tolist() == [[0.5, 0.1], [0.5, 0.01], [0.1, 0.01]]
    numbers = tukey_hsd(analyse("three_way", "balanced"), factor="prior", order=(0.01, 0.5, 0.1)).to_frame()
    assert numbers["prior_a"].tolist() == [0.01, 0.01, 0.5]
    assert (result.factor, result.test) == ("prior", "tukey_three_way")


def test_the_order_is_kept_and_by_prior_equals_separate_analyses():
    result = analyse("two_way", "balanced")
    frame = tukey_hsd(result, order=("M2", "M1", "M3")).to_frame()
    assert frame[["model_a", "model_b"]].to_numpy().tolist() == [["M2", "M1"], ["M2", "M3"], ["M1", "M3"]]
    default, turned = by_pair(tukey_hsd(result)), by_pair(tukey_hsd(result, order=("M1", "M2", "M3")))
    for column in ("estimate", "conf_low", "conf_high", "p_adjusted"):
        assert turned["M1-M2"][column] == pytest.approx(default["M1-M2"][column], rel=1e-12)
    frame = cells([[0.1, 0.3, 0.2], [0.5, 0.7, 0.9], [0.3, 0.2, 0.1]])
    assert tukey_hsd(two_way_anova(frame), order=None).to_frame()["model_a"].tolist()[:2] == ["M1", "M1"]
    frame = LONG["balanced"]
    before = frame.copy(deep=True)
    found = tukey_by_prior(frame, alpha=0.01, order=("M3", "M1", "M2"))
    pd.testing.assert_frame_equal(frame, before)
    parts = []
    for prior in (0.5, 0.1, 0.01):
        one = two_way_anova(frame[frame["prior"] == prior], response="auprec")
        parts.append(tukey_hsd(one, alpha=0.01, prior=prior, order=("M3", "M1", "M2")).to_frame())
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    assert (found["test"].unique().tolist(), found["response"].unique().tolist()) == (["tukey"], ["auprec"])
    assert found["prior"].tolist() == [0.5] * 3 + [0.1] * 3 + [0.01] * 3


def test_without_residual_variation():
    y = np.array([0.3, 0.1, 0.3])[:, None] + np.array([0.0, 0.2, 0.27, 0.4])
    result = expect_warning(exact(NO_RESIDUAL_VARIATION), two_way_anova, cells(y))
    found = by_pair(tukey_hsd(result, order=("M0", "M1", "M2")))
    for pair in ("M0-M1", "M2-M1"):
        row = found[pair]
        assert row["estimate"] == pytest.approx(0.2)
        assert (row["statistic"], row["p_value"], row["p_adjusted"]) == (np.inf, 0.0, 0.0)
        assert row["conf_low"] == row["conf_high"] == row["estimate"]
        assert row["reject"]
    equal = found["M0-M2"]
    assert (equal["estimate"], equal["std_error"]) == (0.0, 0.0)
    assert np.isnan([equal["statistic"], equal["p_value"], equal["p_adjusted"]]).all()
    assert not equal["reject"]


@each("missing", [[], [0], [3, 5]])
@each("values", [[0.1, 0.5, 0.9, 0.3], [0.1, 0.1, 0.1, 0.1], [1 / 3, 2 / 3, 1.0, 0.2]])
def test_identical_models_do_not_differ(values, missing):
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL_MODELS)):
        result = two_way_anova(cells(np.tile(values, (3, 1))).drop(index=missing))
    frame = tukey_hsd(result).to_frame()
    assert frame[["estimate", "std_error", "conf_low", "conf_high"]].eq(0).all(axis=None)
    assert frame[["statistic", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert not frame["reject"].any()


def test_models_that_do_not_vary_and_letters_of_any_pairs():
    frame = LONG["balanced"].copy()
    frame.loc[frame["prior"] == 0.1, "auprec"] = 0.4
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL_MODELS)) as caught:
        found = tukey_by_prior(frame)
    assert (len(caught), found["p_adjusted"].isna().tolist()) == (1, [False] * 3 + [True] * 3 + [False] * 3)
    y = np.random.default_rng(1).normal(0, 1, (3, 6))
    y[2] = y[0]
    row = by_pair(tukey_hsd(two_way_anova(cells(y))))["M2-M0"]
    assert (row["estimate"], row["p_adjusted"]) == (pytest.approx(0, abs=1e-12), pytest.approx(1, abs=1e-9))
    different = [("A", "C"), ("A", "D"), ("B", "D"), ("E", "A")]
    expected = compact_letters(list("ABCDE"), different)
    assert compact_letters(list("ABCDE"), [pair[::-1] for pair in different[::-1]]) == expected
    assert compact_letters(list("ABCDE"), iter(different * 2)) == expected
    frame = pd.DataFrame(different, columns=["model_a", "model_b"])
    for wrong in ((list("ABCDE"), frame), (frame, different)):
        with pytest.raises(InputTypeError, match=r"^`levels` must be a list of names, and `different` pairs"):
            compact_letters(*wrong)
    levels = [f"m{i:02d}" for i in range(60)]
    letters = compact_letters(levels, list(combinations(levels, 2)))
    assert list(letters.values()) == [f"{c}{t}" for t in ("", "1", "2") for c in string.ascii_lowercase][:60]
    assert len(set(letters.values())) == 60


def check_letters(levels, different):
    """Levels with a letter are the largest groups without a different pair, best level first."""
    letters, groups = compact_letters(levels, different), {}
    assert list(letters) == list(levels)
    for level, text in letters.items():
        for letter in text:
            groups.setdefault(letter, []).append(level)
    subsets = [c for size in range(1, len(levels) + 1) for c in combinations(levels, size)]
    alike = [set(c) for c in subsets if not any({*pair} <= {*c} for pair in different)]
    largest = [c for c in alike if not any(c < other for other in alike)]
    order = sorted(sorted(levels.index(level) for level in group) for group in largest)
    expected = [[levels[i] for i in group] for group in order]
    assert [groups[letter] for letter in string.ascii_lowercase[: len(groups)]] == expected


@each("size", [1, 2, 3, 4, 5])
def test_letters_of_every_graph(size):
    levels = list("VWXYZ")[:size]
    pairs = list(combinations(levels, 2))
    for chosen in range(2 ** len(pairs)):
        check_letters(levels, [pair for i, pair in enumerate(pairs) if chosen >> i & 1])


@cache
def at_one_prior():
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
        return three_way_anova(BY_PRIOR[BY_PRIOR["prior"] == 0.5])


TWO, BY_PRIOR = analyse("two_way", "balanced"), LONG["balanced"].drop(columns="input")


@each(("call", "message"), [
    (lambda: tukey_hsd(TWO, order=("M1", "M2")),
     "`order` must name every level once, but got ['M1', 'M2'] for ['M1', 'M2', 'M3']"),
    (lambda: tukey_hsd(TWO, order=3),
     "`order` must name every level once, but got [3] for ['M1', 'M2', 'M3']"),
    (lambda: tukey_hsd(TWO, factor="prior"), "`factor` must be one of model; but got 'prior'"),
    (lambda: tukey_hsd(analyse("three_way", "balanced"), factor="fold"),
     "`factor` must be one of model, prior; but got 'fold'"),
    (lambda: tukey_hsd(at_one_prior(), factor="prior"), "`factor` must be one of model; but got 'prior'"),
    (lambda: tukey_by_prior(BY_PRIOR, alpha=0), "`alpha` must lie above 0 and at most 0.5, but got 0"),
    (lambda: tukey_hsd(three_way_anova(BY_PRIOR, interaction=True)),
     "effects of single factors are not defined in a model with an interaction; fit it by "
     "skewanova.inference.three_way_anova(skewanova.evaluate(scores).auprec, interaction=False)"),
    (lambda: tukey_by_prior(BY_PRIOR.drop(columns="prior")),
     "the frame needs the columns model, fold, prior, auprec, but lacks prior; "
     "skewanova.evaluate(scores).auprec has them"),
    (lambda: tukey_by_prior(BY_PRIOR.replace({"prior": {0.5: np.nan}})),
     "`prior` must be given in every row, but is missing in 60, the first row 0; fill in or leave out those"),
])  # fmt: skip
def test_refused(call, message):
    expect_error(exact(message), call)
