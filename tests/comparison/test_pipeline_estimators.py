"""compare_estimators(): fit, score and compare in one call."""

from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loops import each
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

import skewanova as sa
from skewanova.comparison import pipeline

X, Y = make_classification(160, 5, weights=[0.65], flip_y=0.2, random_state=0)
MODELS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3)}
FRAMES = ("tests", "pairs", "ranking", "difference_curves", "decisions", "plans", "equivalence")


pytestmark = pytest.mark.filterwarnings("ignore:at priors? .* effective (negatives|clusters)")


def _compared(**options: object) -> sa.Comparison:
    kept = {"deployment_prior": (0.2, 0.4), "at_priors": (0.5, 0.2), "n_splits": 6}
    return sa.compare_estimators(options.pop("models", MODELS), X, options.pop("y", Y), **(kept | options))


@pytest.fixture(scope="module")
def halved() -> sa.Comparison:
    return _compared(design=sa.FoldDesign("split_half", n_halvings=6))


def test_defaults_are_those_of_the_docstrings() -> None:
    default = {name: item.default for name, item in signature(sa.compare).parameters.items()}
    assert (default["deployment_prior"], default["at_priors"]) == ((0.05, 0.20), (0.5, 0.1, 0.01))
    assert (default["alpha"], default["rope"], default["rng"]) == (0.05, 0.01, 0)
    parameters = signature(sa.compare_estimators).parameters
    assert (parameters["n_splits"].default, parameters["rng"].default) == (20, 0)
    assert pipeline.TEST_FRACTIONS == {"repeated_holdout": 0.5, "split_half": 0.2}
    stated = pipeline._check_design("split_half", None)
    assert (stated.n_halvings, stated.inner_folds) == (20, 5)
    stated = pipeline._check_design(sa.FoldDesign("split_half", n_halvings=7, inner_folds=3), 0.4)
    assert (stated.n_halvings, stated.inner_folds, stated.test_fraction) == (7, 3, 0.4)


def test_half_splits_are_the_default() -> None:
    result = _compared(n_splits=5)
    assert (result.design.kind, result.design.n_folds, result.design.ratio) == ("repeated_holdout", 5, 1.0)
    assert set(result.scores.frame.groupby(["model", "fold"], observed=True).size()) == {80}
    assert result.settings["seed"] == 0
    assert set(result.pairs.query("role == 'primary'")["test"]) == {"corrected_t_holm"}


def test_hold_outs_of_kernel_machines_are_taken_to_correlate_more() -> None:
    """On half splits they reject true equality in up to .13 otherwise (studies/records/learners.md)."""
    machines = make_pipeline(StandardScaler(), NuSVC(nu=0.2)), GridSearchCV(SVC(), {"C": [1, 2]}), SVC()
    for machine in machines:
        models = {"bayes": GaussianNB(), "machine": machine}
        design = _compared(models=models, n_splits=2).design
        assert design.ratio == pytest.approx(1.25)
        assert "training case, results correlated by 0.556 (r = 1.25)" in design.describe()
    assert _compared(models=models, n_splits=2, test_fraction=0.2).design.ratio == pytest.approx(1.25 / 4)
    stated = sa.FoldDesign("repeated_holdout", correlation=0.7)
    assert _compared(models=models, n_splits=2, design=stated).design.correlation == 0.7
    assert _compared(models=models, cv=StratifiedKFold(5)).design.correlation is None
    assert _compared(models={**MODELS, "linear": LinearSVC()}, n_splits=2).design.ratio == 1


def test_it_is_compare_on_the_scores_of_the_same_splits() -> None:
    cv = StratifiedShuffleSplit(5, test_size=0.3, random_state=1)
    fixed = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    result = _compared(models=fixed, cv=cv)
    table = sa.scores_from_estimators(fixed, X, Y, cv=cv, progress=False)
    pd.testing.assert_frame_equal(result.scores.frame, table.frame)
    again = sa.compare(table, (0.2, 0.4), at_priors=(0.5, 0.2))
    for name in FRAMES:
        pd.testing.assert_frame_equal(result.tables[name], again.tables[name])


def test_the_design_of_splits_of_ones_own_is_seen_and_models_of_a_list_are_named_by_their_class() -> None:
    models = [GaussianNB(), LinearDiscriminantAnalysis(), GaussianNB(var_smoothing=1)]
    result = _compared(models=models, cv=StratifiedKFold(4))
    assert result.design.kind == "kfold"
    assert sorted(result.ranking["model"]) == ["GaussianNB", "GaussianNB 2", "LinearDiscriminantAnalysis"]


def test_halvings_stand_beside_hold_outs_of_a_fifth(halved: sa.Comparison) -> None:
    design = halved.design
    assert (design.kind, design.n_folds, design.n_halvings, design.ratio) == ("split_half", 6, 6, 0.25)
    assert halved.scores.halvings is not None
    assert halved.scores.halvings.min_folds == 5
    assert set(halved.tests.query("role == 'primary'")["test"]) == {"split_half_hotelling"}
    assert set(halved.pairs.query("role == 'primary'")["df"]) == {6.0}


def test_scores_of_a_half_are_those_of_a_model_trained_in_it(halved: sa.Comparison) -> None:
    rows = halved.scores.to_frame().query("model == 'bayes' and halving == 3 and part == 'half_b'")
    tested = rows[rows["fold"] == 2]
    train = rows.loc[rows["fold"] != 2, "case"].astype(int).to_numpy()
    expected = GaussianNB().fit(X[train], Y[train]).predict_proba(X[tested["case"].astype(int)])[:, 1]
    np.testing.assert_allclose(tested["y_score"], expected, rtol=1e-12)


def test_the_table_read_from_a_file_gives_the_same(halved: sa.Comparison, tmp_path: Path) -> None:
    halved.scores.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    again = sa.compare(tmp_path / "scores.csv", (0.2, 0.4), at_priors=(0.5, 0.2))
    assert again.design == halved.design
    for name in FRAMES:
        pd.testing.assert_frame_equal(again.tables[name], halved.tables[name])


@pytest.mark.slow
def test_processes_change_nothing(halved: sa.Comparison) -> None:
    """The tree has no seed of its own: it is given one for each split."""
    again = _compared(design=sa.FoldDesign("split_half", n_halvings=6), n_jobs=2)
    pd.testing.assert_frame_equal(again.scores.to_frame(), halved.scores.to_frame())
    for name in FRAMES:
        pd.testing.assert_frame_equal(again.tables[name], halved.tables[name])


@pytest.mark.filterwarnings("ignore:hard predictions")
def test_seeds() -> None:
    loose = {"one": DecisionTreeClassifier(max_features=1), "bayes": GaussianNB()}
    first, same, other = (_compared(models=loose, rng=seed).scores.frame for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, same)
    assert not first["case"].equals(other["case"])
    assert _compared(rng=np.random.default_rng(1)).settings["seed"] is None


@pytest.mark.filterwarnings("ignore:hard predictions")
def test_a_seed_inside_a_pipeline_is_given_too_and_a_fixed_one_is_kept() -> None:
    inside = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    fixed = DecisionTreeClassifier(max_features=1, random_state=5)
    cv = [(np.arange(0, 160, 2), np.arange(1, 160, 2)), (np.arange(1, 160, 2), np.arange(0, 160, 2))]
    found = [_compared(models=[inside, fixed], cv=cv, rng=3).scores.frame for _ in range(2)]
    pd.testing.assert_frame_equal(*found)
    train, test = cv[0]
    expected = DecisionTreeClassifier(max_features=1, random_state=5).fit(X[train], Y[train])
    rows = found[0].query("model == 'DecisionTreeClassifier' and fold == 1")
    np.testing.assert_array_equal(rows["y_score"], expected.predict_proba(X[test])[:, 1])
    assert inside.get_params()["decisiontreeclassifier__random_state"] is None


def test_groups_are_kept_together() -> None:
    groups = np.arange(160) // 2
    result = _compared(design=sa.FoldDesign("split_half", n_halvings=3, inner_folds=5), groups=groups)
    frame = result.scores.to_frame().assign(group=lambda f: f["case"].astype(int) // 2)
    halves = frame[frame["part"] != "holdout"].drop_duplicates(["halving", "part", "group"])
    assert not halves.duplicated(["halving", "group"]).any()


def test_arguments_of_scoring_go_through() -> None:
    words = np.array(["no", "yes"])[Y]
    weights = np.linspace(1, 2, 160)
    result = sa.compare_estimators(
        MODELS, X, words, pos_label="yes", params={"sample_weight": weights}, response_method="predict_proba",
        n_splits=4, deployment_prior=0.3, at_priors=(0.5, 0.3),
    )  # fmt: skip
    assert result.scores.frame["y_score"].between(0, 1).all()


@each(("options", "message"), [
    ({"models": {"a": GaussianNB()}}, "`estimators` must hold at least 2 models"),
    ({"models": 3}, "`estimators` must be a mapping"),
    ({"design": "kfold"}, r"`design` must be .* pass `cv` in place of it and `test_fraction`, as cv=10$"),
    ({"y": Y * 0}, "^`y` must hold both classes, but has no positive case$"),
    ({"y": (np.arange(160) < 1).astype(int)}, "there are 1; add such cases$"),
    ({"models": [*MODELS.items()]}, r"pass dict\(estimators\) if all are such pairs and no name repeats"),
    ({"models": [("a", GaussianNB()), ("a", GaussianNB())]}, "else a mapping by different names, as {'A': a"),
    ({"design": "split_halves"}, "did you mean 'split_half'"),
    ({"cv": 5, "design": "split_half"}, "`cv` determines the splits: leave out `design` and `test_fraction`"),
    ({"cv": 5, "test_fraction": 0.2}, "`cv` determines .*: leave out `design` and `test_fraction`"),
    ({"test_fraction": 0.0}, "`test_fraction` must lie strictly between 0 and 1, but got 0"),
    ({"design": sa.FoldDesign("repeated_holdout", 0.5), "test_fraction": 0.2}, "is also set by `design`"),
    ({"design": sa.FoldDesign("split_half", n_halvings=1)}, "`n_halvings` must be at least 2, but got 1"),
    ({"design": sa.FoldDesign("split_half", inner_folds=40)}, "`inner_folds`=40 needs at least 80 positive"),
    (  # hold-outs would need five
        {"design": "split_half", "y": np.arange(160) < 3},
        r"`inner_folds`=5 needs at least 10 positive .* there are 3; leave out `design`, or add such cases$",
    ),
    (
        {"design": sa.FoldDesign("split_half", inner_folds=10), "y": np.arange(160) < 12},
        r"there are 12; take design=skewanova\.FoldDesign\('split_half', inner_folds=6\), or add such cases$",
    ),
    ({"alpah": 0.01}, "no argument 'alpah'; did you mean 'alpha'"),
    ({"n_split": 3}, "no argument 'n_split'; did you mean 'n_splits'"),
    ({"missing": "drop"}, r"no argument 'missing'; leave it out, or see help\(skewanova\.compare_est"),
    ({"alpha": 2}, "`alpha` must lie above 0 and at most 0.5"), ({"area_estimator": "x"}, "must be one of"),
    ({"control": "forest"}, "`control` must be one of bayes, tree"),
    ({"at_priors": (0.5, 4.0)}, "`at_priors` must lie strictly between 0 and 1"),
    ({"deployment_prior": (0.4, 0.2)}, "low=0.4 > high=0.2"),
])  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_fitted(options, message, monkeypatch):
    monkeypatch.setattr(GaussianNB, "fit", lambda *_: pytest.fail("fitted"))
    with pytest.raises((sa.InputError, sa.InputTypeError), match=message):
        _compared(**options)


def test_a_model_that_fails_in_a_half_is_named() -> None:
    class Failing(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            if len(X) < 80:
                raise KeyError("small")
            return super().fit(X, y, sample_weight)

    with pytest.raises(RuntimeError, match=r"model 'bad' failed in fold 1 of half_a in halving 1: KeyError"):
        _compared(models={"good": GaussianNB(), "bad": Failing()}, design="split_half")
