"""Several classes: each as compared alone, adjusted together."""

import numpy as np
import pytest
from by_statsmodels import adjusted_by_statsmodels
from statsmodels.stats.multitest import multipletests

import skewanova as sa

OPTIONS = {"priors": (0.3,)}


def drawn(n=900, seed=0, pulls=(1.5, 1.4, 0.3)):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=n)
    shared = rng.normal(size=(n, 3))
    return labels, {
        f"m{i}": pull * np.eye(3)[labels] + 0.7 * shared + 0.7 * rng.normal(size=(n, 3))
        for i, pull in enumerate(pulls)
    }


@pytest.fixture(scope="module")
def found():
    scores = sa.scores_from_multiclass(*drawn())
    return scores, sa.compare_classes(scores, 0.3, **OPTIONS)


def test_every_class_is_compared_as_it_would_be_alone(found):
    scores, result = found
    for name in scores.classes:
        alone = sa.compare(scores.tables[name], 0.3, **OPTIONS)
        rows = result.posthoc[result.posthoc["class"] == name]
        headline = alone.posthoc[alone.posthoc["role"] == "headline"]
        for column in ("model_a", "model_b", "estimate", "std_error", "p_value"):
            assert rows[column].tolist() == headline[column].tolist()
        assert result.comparisons[name].ranking.equals(alone.ranking)


def test_pairs_are_one_family_over_all_classes(found):
    _, result = found
    pairs = result.posthoc
    assert len(pairs) == 9
    rejected, adjusted, *_ = multipletests(pairs["p_value"], alpha=0.05, method="holm")
    np.testing.assert_allclose(pairs["p_adjusted"], adjusted, rtol=1e-12)
    assert pairs["reject"].tolist() == rejected.tolist()
    agree = (pairs["conf_low"] > 0) | (pairs["conf_high"] < 0)
    assert agree.tolist() == pairs["reject"].tolist()
    omnibus = adjusted_by_statsmodels(result.anova["p_value"])
    np.testing.assert_allclose(result.anova["p_adjusted"], omnibus, rtol=1e-12)


def test_groups_are_those_of_the_joint_family(found):
    _, result = found
    for name, rows in result.ranking.groupby("class"):
        pairs = result.posthoc[result.posthoc["class"] == name]
        group = dict(zip(rows["model"], rows["group"], strict=True))
        for pair in pairs.itertuples():
            assert bool(set(group[pair.model_a]) & set(group[pair.model_b])) != pair.reject


def test_words_name_each_class(found):
    _, result = found
    text = result.summary()
    assert "3 classes, each against the rest; pairs are adjusted over all classes" in " ".join(text.split())
    assert all(f"class {name}, IAUPREC over" in text for name in "012")
    assert max(map(len, text.splitlines())) <= 80
    assert str(result) == text
    assert result.to_frame().equals(result.ranking)


def test_priors_by_class_and_a_control(found):
    scores, _ = found
    result = sa.compare_classes(scores, {"0": 0.3, "1": (0.1, 0.2), "2": 0.5}, control="m2", **OPTIONS)
    assert (result.posthoc["model_b"] == "m2").all()
    assert len(result.posthoc) == 6
    assert result.comparisons["2"].evaluation.deployment_prior.low == 0.5
    with pytest.raises(sa.InputError, match="has none for '2'; it has '0', '1'"):
        sa.compare_classes(scores, {"0": 0.3, "1": 0.2}, **OPTIONS)


def test_classes_are_no_data_sets(found):
    scores, _ = found
    with pytest.raises(sa.InputTypeError, match="no independent data sets: compare them by compare_classes"):
        sa.compare_datasets(scores, 0.3)
    with pytest.raises(sa.InputTypeError, match=r"what scores_from_multiclass\(\) returns"):
        sa.compare_classes(scores.tables, 0.3)


def test_messages_begin_with_the_class(found):
    scores, _ = found
    with pytest.raises(sa.InputError, match=r"^class '0': "):
        sa.compare_classes(scores, 0.3, control="m9", **OPTIONS)
