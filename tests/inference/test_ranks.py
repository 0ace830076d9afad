"""Mean ranks and groups: ranks by counting, cliques by letters, Demsar's printed critical values."""

import re
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from fold_tables import frame_of
from loops import each
from messages import expect_error

from skewanova import compare_values
from skewanova.inference import posthoc, rank_comparison, rank_intervals

# Demsar 2006, table 5 (a): critical values of the two-tailed Nemenyi test for 2 to 10 classifiers
DEMSAR = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


def table(n_folds, n_models, seed, *, step=0.5, decimals=1):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n_folds, n_models)) + step * np.arange(n_models), decimals)


def long(values):
    """Frame of a table of folds and models named A, B, ..."""
    return frame_of(values, list("ABCDEFGHIJ")[: values.shape[1]])


def slow_ranks(values):
    """Rank by counting: one, and one for each better model, and a half for each tied one."""
    better = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    tied = (values[:, None, :] == values[:, :, None]).sum(axis=2) - 1
    return (1 + better + tied / 2).mean(axis=0)


@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_counted_with_ties_shared(seed):
    values = table(8, 5, seed, decimals=0)
    found = rank_comparison(long(values))
    assert tuple(found.to_frame()) == ("model", "mean_rank", "group")
    expected = dict(zip("ABCDE", slow_ranks(values), strict=True))
    assert found.to_frame().set_index("model")["mean_rank"].to_dict() == pytest.approx(expected)
    assert found.ranks["mean_rank"].is_monotonic_increasing
    assert (found.n_folds, found.models) == (8, tuple("ABCDE"))


@each("seed", range(4))
@each("test", ["nemenyi", "paired_t_holm"])
def test_cliques_are_the_groups_alike_of_a_letter(seed, test):
    frame = long(table(12, 6, seed, step=0.6))
    pairs = posthoc(frame, method=test.removesuffix("_holm"))
    found = rank_comparison(frame, pairs, test=test)
    rejected = pairs[pairs["reject"]]
    different = {frozenset(pair) for pair in zip(rejected["model_a"], rejected["model_b"], strict=True)}
    assert different  # else the comparison says nothing
    groups = found.ranks.set_index("model")["group"]
    alike = [frozenset(groups.index[groups.str.contains(letter)]) for letter in set("".join(groups))]
    assert {frozenset(clique) for clique in found.cliques} == {group for group in alike if len(group) > 1}
    for pair in combinations("ABCDEF", 2):
        assert bool(set(groups[pair[0]]) & set(groups[pair[1]])) == (frozenset(pair) not in different)


@each("alpha", DEMSAR)
@each("n_models", range(2, 11))
def test_critical_difference_is_demsars(alpha, n_models):
    found = rank_comparison(long(table(5, n_models, 0, decimals=6)), alpha=alpha)
    printed = DEMSAR[alpha][n_models - 2] * np.sqrt(n_models * (n_models + 1) / (6 * 5))
    assert found.critical_difference == pytest.approx(printed, abs=0.0006 * printed)


def test_groups_go_by_the_family_asked_for_and_its_critical_difference():
    found = rank_comparison(long(table(10, 7, 3)))
    ranks = found.ranks.set_index("model")["mean_rank"]
    groups = found.ranks.set_index("model")["group"]
    apart = [abs(ranks[a] - ranks[b]) > found.critical_difference for a, b in combinations(ranks.index, 2)]
    assert apart == [not set(groups[a]) & set(groups[b]) for a, b in combinations(ranks.index, 2)]
    assert any(apart)
    assert not all(apart)
    frame = long(table(6, 3, 0))
    found = rank_comparison(frame, posthoc(frame, method="max_t"), test="max_t")
    assert np.isnan(found.critical_difference)
    assert found.test == "max_t"
    # Rows of tests and responses on either side of it in the alphabet say the contrary.
    frame = long(table(10, 4, 3))
    pairs = posthoc(frame, method="nemenyi")
    contrary = pairs.assign(reject=~pairs["reject"])
    others = [contrary.assign(response=name) for name in ("auprec", "zeta")]
    others += [contrary.assign(test=name) for name in ("a", "z")]
    alone, among = rank_comparison(frame, pairs), rank_comparison(frame, pd.concat([*others, pairs]))
    assert alone.ranks.equals(among.ranks)
    assert "mean_rank" not in repr(alone)
    assert "models=" not in repr(alone)


def test_what_cannot_be_grouped_is_refused():
    frame = long(table(6, 3, 0))
    pairs = posthoc(frame, method="nemenyi")
    renamed = pairs.replace({"A": "X", "B": "Y", "C": "Z"})
    dunnett = posthoc(frame, method="dunnett", control="A")
    for options, message in (
        ({"test": "max_t"}, "`test` must be one of nemenyi; but got 'max_t'"),
        ({"pairs": pairs, "test": "max_t"}, "`test` must be one of nemenyi; but got 'max_t'"),
        ({"pairs": pairs.drop(columns="reject")}, "but lacks reject; skewanova.compare(scores).pairs has"),
        ({"pairs": pairs.replace("A", "Z")}, "`pairs` must name models of `iauprec`, but got 'Z'; take both"),
        ({"pairs": renamed}, f"but got '{renamed['model_a'].iloc[0]}'")
    ):  # fmt: skip
        expect_error(re.escape(message), rank_comparison, frame, **options)
    message = r"leave out `test` \(and `pairs` of rank_comparison\)$"
    expect_error(message, rank_comparison, frame, pairs=dunnett, test="dunnett")
    expect_error("present and finite for every fold and model", rank_comparison, frame.iloc[1:])
    values = frame.rename(columns={"iauprec": "value"})
    message = "but lacks iauprec; rename a measure of your own by frame.rename(columns={'value': 'iauprec'})"
    expect_error(f"{re.escape(message)}$", rank_comparison, values)
    of_values = compare_values(values, design="independent", pairwise="nemenyi").pairs
    renamed = values.rename(columns={"value": "iauprec"})
    expect_error("response iauprec, but has value", rank_comparison, renamed, of_values)
    assert rank_comparison(renamed, of_values.assign(response="iauprec")).ranks.equals(
        rank_comparison(frame).ranks
    )


def test_rank_intervals_by_hand_of_one_test_and_the_models_named():
    rows = [("A", "B", 0.2, True), ("A", "C", 0.3, True), ("B", "C", 0.1, False), ("D", "C", -0.2, True)]
    pairs = pd.DataFrame(rows, columns=["model_a", "model_b", "estimate", "reject"])
    ranks = rank_intervals(["A", "B", "C", "D"], pairs)
    assert ranks.to_numpy().tolist() == [["A", 1, 2], ["B", 2, 4], ["C", 2, 3], ["D", 2, 4]]
    columns = ["model_a", "model_b", "estimate", "reject", "role"]
    pairs = pd.DataFrame([(a, b, 0.2, True, "primary") for a, b in ("AB", "AC", "BC")], columns=columns)
    both = pd.concat([pairs, pairs.assign(role="secondary")])
    expect_error("must have one row for each pair", rank_intervals, ["A", "B", "C"], both)
    expect_error(r"pairs.query\(\"role == 'primary'\"\) has", rank_intervals, ["A"], both[["model_a"]])
    ranks = rank_intervals(["A", "C"], both.query("role == 'primary'"))
    assert ranks.to_numpy().tolist() == [["A", 1, 1], ["C", 2, 2]]


@pytest.mark.parametrize("seed", range(20))
def test_rank_intervals_hold_every_order_that_no_rejected_pair_denies(seed):
    rng = np.random.default_rng(seed)
    models = [f"M{i}" for i in range(5)]
    truth = rng.permutation(5)  # rejections follow one order, so that orders without a denial exist
    pairs = pd.DataFrame(list(combinations(models, 2)), columns=["model_a", "model_b"])
    a, b = np.triu_indices(5, 1)
    pairs = pairs.assign(estimate=(truth[a] - truth[b]) * 1.0, reject=rng.random(10) < 0.5)
    better = [(i, j) if truth[i] > truth[j] else (j, i) for i, j in zip(a, b, strict=True)]
    rules = [pair for pair, reject in zip(better, pairs["reject"], strict=True) if reject]
    limits = rank_intervals(models, pairs)[["rank_low", "rank_high"]].to_numpy()
    for order in permutations(range(5)):
        rank = np.argsort(order) + 1
        if all(rank[i] < rank[j] for i, j in rules):
            assert (limits[:, 0] <= rank).all()
            assert (rank <= limits[:, 1]).all()
