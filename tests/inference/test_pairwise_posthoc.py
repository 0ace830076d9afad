import re
import string
import warnings
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loops import each
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd

from skewanova import InputError, InputTypeError, SkewanovaWarning
from skewanova.inference.anova import IDENTICAL, NO_RESIDUALS, three_way_anova, two_way_anova
from skewanova.inference.fold_statistics import range_isf, range_sf
from skewanova.inference.pairwise import POSTHOC_COLUMNS, prior_pair_columns, tukey_by_prior, tukey_hsd
from skewanova.inference.ranks import compact_letters

REFERENCE = Path(__file__).parents[1] / "reference"
LONG = dict(list(pd.read_csv(REFERENCE / "anova_auprec.csv").groupby("input")))
MEANS = dict(list(pd.read_csv(REFERENCE / "anova_iauprec.csv").groupby("input")))
R_TUKEY = pd.read_csv(REFERENCE / "r_tukey.csv")
PRIOR_COLUMNS = [
    *["test", "role", "response", "prior_a", "prior_b", "estimate", "std_error", "df", "statistic"],
    *["p_value", "p_adjusted", "conf_low", "conf_high", "reject"],
]


def exact(message):
    return f"^{re.escape(message)}$"


@cache
def analyse(test, data):
    """Made once: it hands out copies."""
    return two_way_anova(MEANS[data]) if test == "two_way" else three_way_anova(LONG[data])


def cells(values):
    rows = [(f"M{i}", j, v) for (i, j), v in np.ndenumerate(np.asarray(values, dtype=float))]
    return pd.DataFrame(rows, columns=["model", "fold", "iauprec"])


def by_pair(result):
    """Rows by pair of levels, both ways round, as R names them ("b-a" is b minus a)."""
    frame, factor = result.to_frame(), result.factor
    found = {}
    for row in frame.to_dict("records"):
        a, b = str(row[f"{factor}_a"]), str(row[f"{factor}_b"])
        found[f"{a}-{b}"] = row
        turned = {
            "estimate": -row["estimate"],
            "conf_low": -row["conf_high"],
            "conf_high": -row["conf_low"],
        }
        found[f"{b}-{a}"] = row | turned
    return found


# --- against R ----------------------------------------------------------------------------------------------


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


def test_recorded_numbers_cover_every_pair():
    assert R_TUKEY["test"].nunique() == 12
    counts = R_TUKEY[R_TUKEY["quantity"] == "p_adjusted"].groupby(["input", "test"]).size()
    assert counts["unbalanced_folds", "tukey_kramer.two_way.model.0.95"] == 10
    assert counts["tiny_variance", "tukey_hsd.three_way.prior.0.995"] == 6


@pytest.mark.parametrize("data", ["smallest", "two_of_balanced"])
def test_two_levels_are_a_t_test(data):
    frame = MEANS["balanced"] if data == "two_of_balanced" else MEANS["smallest"]
    frame = frame[frame["model"].isin(["M1", "M2"])]
    wide = frame.pivot(index="fold", columns="model", values="iauprec")
    paired = stats.ttest_rel(wide["M2"], wide["M1"])
    low, high = paired.confidence_interval(0.95)
    row = by_pair(tukey_hsd(two_way_anova(frame)))["M2-M1"]
    found = [row[c] for c in ("p_value", "p_adjusted", "conf_low", "conf_high", "df")]
    # scipy finds the quantile of the studentized range to about 1e-9
    assert found == pytest.approx([paired.pvalue, paired.pvalue, low, high, paired.df], rel=1e-7)
    assert row["statistic"] == pytest.approx(np.sqrt(2) * abs(paired.statistic))


def test_kramer_by_hand():
    frame = MEANS["unbalanced_folds"]
    result = two_way_anova(frame)
    design = np.hstack(
        [np.ones((len(frame), 1))]
        + [pd.get_dummies(frame[c], drop_first=True, dtype=float) for c in ("model", "fold")]
    )
    beta, rss = np.linalg.lstsq(design, frame["iauprec"], rcond=None)[:2]
    df = len(frame) - design.shape[1]
    cov = rss[0] / df * np.linalg.inv(design.T @ design)
    row = by_pair(tukey_hsd(result))["M3-M2"]
    error = np.sqrt(cov[1, 1] + cov[2, 2] - 2 * cov[1, 2])
    assert row["estimate"] == pytest.approx(beta[2] - beta[1], rel=1e-9)
    assert row["std_error"] == pytest.approx(error, rel=1e-9)
    assert row["df"] == df
    q = np.sqrt(2) * abs(beta[2] - beta[1]) / error
    assert row["p_adjusted"] == pytest.approx(stats.studentized_range.sf(q, 5, df), rel=1e-7)
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(q / np.sqrt(2), df), rel=1e-7)
    plain = frame.groupby("model")["iauprec"].mean()
    assert abs(row["estimate"] - (plain["M3"] - plain["M2"])) > 1e-4  # not the difference of raw means


def test_blocked_is_not_one_way():
    """A one-way Tukey test leaves the variation between folds in the error: that is why it is not used."""
    frame = MEANS["balanced"]
    blocked = tukey_hsd(two_way_anova(frame)).to_frame().set_index(["model_a", "model_b"])
    one_way = pairwise_tukeyhsd(frame["iauprec"], frame["model"])
    for (b, a), diff, p in zip(
        combinations(one_way.groupsunique, 2), one_way.meandiffs, one_way.pvalues, strict=True
    ):
        row = blocked.loc[(a, b)]
        assert row["estimate"] == pytest.approx(diff)
        assert p > 5 * row["p_adjusted"]


def test_equals_one_way_where_folds_do_not_matter():
    y = np.random.default_rng(0).normal(0, 1, (3, 30)) + np.array([[0.0], [0.2], [0.4]])
    frame = cells(y - y.mean(axis=0))  # every fold has the same mean: only the degrees of freedom differ
    blocked = tukey_hsd(two_way_anova(frame)).to_frame()
    one_way = pairwise_tukeyhsd(frame["iauprec"], frame["model"])
    assert sorted(blocked["estimate"]) == pytest.approx(sorted(np.abs(one_way.meandiffs)))
    # statsmodels' standard errors lack the factor sqrt(2); 87 and 58 degrees of freedom
    np.testing.assert_allclose(blocked["std_error"], np.sqrt(2 * 87 / 58) * one_way.std_pairs, rtol=1e-9)


# --- shape, order, factor -----------------------------------------------------------------------------------


def test_columns_order_and_labels():
    for data in MEANS:
        for test, name in (("two_way", "tukey"), ("three_way", "tukey_three_way")):
            result = tukey_hsd(analyse(test, data), alpha=0.01, prior=0.25)
            frame = result.to_frame()
            assert tuple(frame) == POSTHOC_COLUMNS
            assert (result.test, result.role, result.factor, result.alpha) == (
                name,
                "published",
                "model",
                0.01,
            )
            assert set(frame["test"]) == {name}
            assert set(frame["response"]) == {result.response}
            assert set(frame["prior"]) == {0.25}
            assert (frame["estimate"] >= 0).all()  # the larger effect first
            assert frame["reject"].tolist() == (frame["p_adjusted"] < 0.01).tolist()
            assert len(frame) == len(
                set(map(frozenset, zip(frame["model_a"], frame["model_b"], strict=True)))
            )


def test_prior_is_missing_by_default():
    assert tukey_hsd(analyse("two_way", "balanced")).to_frame()["prior"].isna().all()


def test_comparisons_of_priors():
    result = tukey_hsd(analyse("three_way", "balanced"), factor="prior")
    frame = result.to_frame()
    assert list(frame) == prior_pair_columns() == PRIOR_COLUMNS
    assert list(zip(frame["prior_a"], frame["prior_b"], strict=True)) == [
        (0.5, 0.1),
        (0.5, 0.01),
        (0.1, 0.01),
    ]
    assert (result.factor, result.test) == ("prior", "tukey_three_way")


def test_order_is_kept():
    result = analyse("two_way", "balanced")
    frame = tukey_hsd(result, order=("M2", "M1", "M3")).to_frame()
    assert list(zip(frame["model_a"], frame["model_b"], strict=True)) == [
        ("M2", "M1"),
        ("M2", "M3"),
        ("M1", "M3"),
    ]
    default, turned = by_pair(tukey_hsd(result)), by_pair(tukey_hsd(result, order=("M1", "M2", "M3")))
    for pair in ("M1-M2", "M2-M3"):
        for column in ("estimate", "conf_low", "conf_high", "p_adjusted"):
            assert turned[pair][column] == pytest.approx(default[pair][column], rel=1e-12)


def test_order_of_priors_as_numbers_or_text():
    result = analyse("three_way", "balanced")
    numbers = tukey_hsd(result, factor="prior", order=(0.01, 0.5, 0.1)).to_frame()
    text = tukey_hsd(result, factor="prior", order=("0.01", "0.5", "0.1")).to_frame()
    assert numbers["prior_a"].tolist() == [0.01, 0.01, 0.5]
    pd.testing.assert_frame_equal(numbers, text)


def test_equal_effects_keep_the_order_of_appearance():
    frame = cells([[0.1, 0.3, 0.2], [0.5, 0.7, 0.9], [0.3, 0.2, 0.1]])
    found = tukey_hsd(two_way_anova(frame), order=None).to_frame()
    assert found["model_a"].tolist()[:2] == ["M1", "M1"]


def test_frames_handed_out_are_copies():
    result = tukey_hsd(analyse("two_way", "balanced"))
    frame = result.to_frame()
    frame["p_adjusted"] = 2.0
    assert (result.to_frame()["p_adjusted"] <= 1).all()


def test_by_prior_equals_separate_analyses():
    frame = LONG["balanced"]
    before = frame.copy(deep=True)
    found = tukey_by_prior(frame, alpha=0.01, order=("M3", "M1", "M2"))
    pd.testing.assert_frame_equal(frame, before)
    parts = []
    for prior in (0.5, 0.1, 0.01):
        one = two_way_anova(frame[frame["prior"] == prior], response="auprec")
        parts.append(tukey_hsd(one, alpha=0.01, prior=prior, order=("M3", "M1", "M2")).to_frame())
    pd.testing.assert_frame_equal(found, pd.concat(parts, ignore_index=True))
    assert found["test"].unique().tolist() == ["tukey"]
    assert found["response"].unique().tolist() == ["auprec"]
    assert found["prior"].tolist() == [0.5] * 3 + [0.1] * 3 + [0.01] * 3


def test_by_prior_of_an_incomplete_table_equals_separate_analyses():
    frame = LONG["balanced"].query("fold <= 'F05'").iloc[1:]
    parts = [
        tukey_hsd(two_way_anova(group, response="auprec"), prior=float(prior)).to_frame()
        for prior, group in frame.groupby("prior", sort=False)
    ]
    pd.testing.assert_frame_equal(tukey_by_prior(frame), pd.concat(parts, ignore_index=True))


def test_by_prior_takes_categories():
    frame = LONG["balanced"].astype({"prior": "category", "model": "category"})
    found = tukey_by_prior(frame)
    pd.testing.assert_frame_equal(found, tukey_by_prior(LONG["balanced"]), check_dtype=False)


# --- no variation -------------------------------------------------------------------------------------------


def test_without_residual_variation():
    y = np.array([0.3, 0.1, 0.3])[:, None] + np.array([0.0, 0.2, 0.27, 0.4])
    with pytest.warns(SkewanovaWarning, match=exact(NO_RESIDUALS)):
        result = two_way_anova(cells(y))
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
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL)):
        result = two_way_anova(cells(np.tile(values, (3, 1))).drop(index=missing))
    frame = tukey_hsd(result).to_frame()
    assert frame[["estimate", "std_error", "conf_low", "conf_high"]].eq(0).all(axis=None)
    assert frame[["statistic", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert not frame["reject"].any()


def test_by_prior_warns_at_the_prior_that_does_not_vary():
    frame = LONG["balanced"].copy()
    frame.loc[frame["prior"] == 0.1, "auprec"] = 0.4
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL)) as caught:
        found = tukey_by_prior(frame)
    assert len(caught) == 1
    assert found["p_adjusted"].isna().tolist() == [False] * 3 + [True] * 3 + [False] * 3


def test_two_equal_models_among_others_are_a_tie():
    y = np.random.default_rng(1).normal(0, 1, (3, 6))
    y[2] = y[0]
    row = by_pair(tukey_hsd(two_way_anova(cells(y))))["M2-M0"]
    assert row["estimate"] == pytest.approx(0, abs=1e-12)
    assert row["p_adjusted"] == pytest.approx(1, abs=1e-9)


# --- the studentized range ----------------------------------------------------------------------------------


def test_tail_of_the_range():
    tail = range_sf(np.array([0.0, 3.0, np.inf, np.nan]), 3, 38)
    assert tail[0] == pytest.approx(1)
    assert tail[1] == pytest.approx(stats.studentized_range.sf(3.0, 3, 38), abs=1e-13)
    assert tail[2] == 0
    assert np.isnan(tail[3])
    assert range_sf(np.array([np.inf, np.nan]), 3, 5).tolist()[0] == 0


def test_critical_value_of_the_range():
    # Tables of the studentized range: 3 groups, 10 degrees of freedom; 5 groups, 20
    assert round(range_isf(0.05, 3, 10), 2) == 3.88
    assert round(range_isf(0.05, 5, 20), 2) == 4.23
    assert range_sf(np.array([range_isf(0.005, 4, 57)]), 4, 57)[0] == pytest.approx(0.005, rel=1e-6)


# --- compact letters ----------------------------------------------------------------------------------------


def shared(letters, a, b):
    """Whether two levels share a letter; a letter may carry a number."""
    split = [set(re.findall(r"[a-z]\d*", letters[level])) for level in (a, b)]
    return bool(split[0] & split[1])


def check_letters(levels, different):
    letters = compact_letters(levels, different)
    apart = {frozenset(pair) for pair in different}
    assert list(letters) == list(levels)
    assert all(letters.values())
    for a, b in combinations(levels, 2):
        assert shared(letters, a, b) == (frozenset((a, b)) not in apart), (levels, different, letters)
    return letters


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_letters_of_every_graph(size):
    levels = list("VWXYZ")[:size]
    pairs = list(combinations(levels, 2))
    for chosen in range(2 ** len(pairs)):
        check_letters(levels, [pair for i, pair in enumerate(pairs) if chosen >> i & 1])


def test_letters_of_random_graphs():
    rng = np.random.default_rng(2)
    levels = [f"model {i}" for i in range(8)]
    pairs = np.array(list(combinations(levels, 2)))
    for share in rng.random(150):
        check_letters(levels, [tuple(p) for p in pairs[rng.random(len(pairs)) < share]])


def groups_of(letters):
    found = {}
    for level, text in letters.items():
        for letter in re.findall(r"[a-z]\d*", text):
            found.setdefault(letter, set()).add(level)
    return found


def test_letters_are_fewest_where_closeness_decides():
    # levels on a line, different if further apart than 1: every maximal run of close levels needs a letter
    rng = np.random.default_rng(3)
    for _ in range(100):
        place = np.sort(rng.random(7) * rng.choice([1, 3, 6]))[::-1]
        levels = [f"L{i}" for i in range(7)]
        different = [(levels[i], levels[j]) for i, j in combinations(range(7), 2) if place[i] - place[j] > 1]
        runs = {frozenset(np.flatnonzero((place <= top) & (place >= top - 1))) for top in place}
        maximal = [run for run in runs if not any(run < other for other in runs)]
        groups = groups_of(check_letters(levels, different))
        assert {frozenset(int(x[1:]) for x in g) for g in groups.values()} == set(maximal)
        assert sorted(groups) == list(string.ascii_lowercase[: len(maximal)])
        first = [min(int(x[1:]) for x in groups[letter]) for letter in sorted(groups)]
        assert first == sorted(first)  # letters are given out from the best level down


def test_no_letter_is_spare():
    rng = np.random.default_rng(4)
    levels = list("STUVWX")
    pairs = list(combinations(levels, 2))
    for _ in range(60):
        different = [p for p in pairs if rng.random() < 0.4]
        groups = list(groups_of(compact_letters(levels, different)).values())
        assert not any(g < h or (g == h and g is not h) for g in groups for h in groups)


def test_letters_by_hand():
    assert compact_letters(["A"], []) == {"A": "a"}
    assert compact_letters(["A", "B"], []) == {"A": "a", "B": "a"}
    assert compact_letters(["B", "A"], [("A", "B")]) == {"B": "a", "A": "b"}
    chain = [("A", "C"), ("A", "D"), ("B", "D")]
    assert compact_letters(list("ABCD"), chain) == {"A": "a", "B": "ab", "C": "bc", "D": "c"}


def test_order_and_direction_of_pairs_do_not_matter():
    different = [("A", "C"), ("A", "D"), ("B", "D"), ("E", "A")]
    expected = compact_letters(list("ABCDE"), different)
    assert compact_letters(list("ABCDE"), [pair[::-1] for pair in different[::-1]]) == expected
    assert compact_letters(list("ABCDE"), iter(different * 2)) == expected


def test_more_groups_than_letters():
    levels = [f"m{i:02d}" for i in range(60)]
    letters = compact_letters(levels, list(combinations(levels, 2)))
    assert list(letters.values()) == [f"{c}{t}" for t in ("", "1", "2") for c in string.ascii_lowercase][:60]
    assert len(set(letters.values())) == 60


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "order", [("M1", "M2"), ("M1", "M2", "M2"), ("M1", "M2", "M3", "M4"), ("m1", "M2", "M3")]
)
def test_bad_order(order):
    message = f"`order` must name every level once, but got {list(order)!r} for ['M1', 'M2', 'M3']"
    with pytest.raises(InputError, match=exact(message)):
        tukey_hsd(analyse("two_way", "balanced"), order=order)


@pytest.mark.parametrize(
    ("test", "factor", "choices"),
    [("two_way", "prior", "model"), ("three_way", "fold", "model, prior"), ("two_way", "", "model")],
)
def test_bad_factor(test, factor, choices):
    with pytest.raises(InputError, match=exact(f"`factor` must be one of {choices}; but got {factor!r}")):
        tukey_hsd(analyse(test, "balanced"), factor=factor)


def test_one_prior_leaves_no_factor_prior():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        result = three_way_anova(LONG["balanced"][LONG["balanced"]["prior"] == 0.5])
    assert tukey_hsd(result).test == "tukey_three_way"
    with pytest.raises(InputError, match=exact("`factor` must be one of model; but got 'prior'")):
        tukey_hsd(result, factor="prior")


@pytest.mark.parametrize("alpha", [0, 1, 1.5, np.nan])
def test_bad_alpha(alpha):
    message = exact(f"`alpha` must lie strictly between 0 and 1, but got {alpha:g}")
    with pytest.raises(InputError, match=message):
        tukey_hsd(analyse("two_way", "balanced"), alpha=alpha)
    with pytest.raises(InputError, match=message):
        tukey_by_prior(LONG["balanced"], alpha=alpha)


def test_alpha_must_be_a_number():
    with pytest.raises(InputTypeError, match=exact("`alpha` must be a number or numbers, but got '5%'")):
        tukey_hsd(analyse("two_way", "balanced"), alpha="5%")


def test_no_comparisons_beside_an_interaction():
    result = three_way_anova(LONG["balanced"], interaction=True)
    message = "effects of single factors are not defined in a model with an interaction"
    with pytest.raises(InputError, match=exact(message)):
        tukey_hsd(result)


def test_by_prior_checks_the_frame():
    frame = LONG["balanced"].drop(columns="input")
    message = "the frame must have the columns model, fold, prior, auprec, but lacks prior"
    with pytest.raises(InputError, match=exact(message)):
        tukey_by_prior(frame.drop(columns="prior"))
    gap = frame.assign(prior=frame["prior"].where(np.arange(len(frame)) > 0))
    with pytest.raises(InputError, match=exact("`prior` must be there in every row, but is missing in 1")):
        tukey_by_prior(gap)
    with pytest.raises(InputError, match=exact("a comparison needs at least 2 models, but there is 1")):
        tukey_by_prior(frame[frame["model"] == "M2"])
