"""Cases of clusters and weights, estimators compared: numbers hold together."""

import re
import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import skewanova as sa
from fuzz.generator import Generator, answered, near, sample

PRIORS = (0.5, 0.1)
#: Where only rounding is left, a p-value may be any.
SPREAD_LEFT = 1e-6
TARGETS = ((0.05, 0.2), 0.3, (0.001, 0.9), (0.5, 0.5), (1e-6, 1e-5))
SCORES = {
    "good": lambda drawn, labels: drawn + 2 * labels, "poor": lambda drawn, labels: drawn + 0.2 * labels,
    "ties": lambda drawn, labels: np.round(drawn + labels), "perfect": lambda drawn, labels: labels * 1.0,
    "wrong": lambda drawn, labels: labels * -1.0, "constant": lambda drawn, labels: 0.0 * drawn,
}  # fmt: skip

_kinds = st.lists(st.sampled_from(sorted(SCORES)), min_size=1, max_size=3)


def assert_sane(result):
    """Probabilities are such, limits stand in order, and the words can be made."""
    for name in ("tests", "pairs", "ranking", "equivalence", "difference_curves", "crossings", "plans"):
        frame = result.tables[name]
        for column in frame:
            if column.startswith("p_") or column in {"power", "limit_power"}:
                values = frame[column].dropna().to_numpy(float)
                assert ((values >= 0) & (values <= 1)).all(), (name, column, values)
            if column in {"std_error", "df", "df_error"}:
                assert not (frame[column].dropna() < 0).any(), (name, column)
        if "conf_low" in frame:
            assert not (frame["conf_low"] > frame["conf_high"]).any(), name
    assert result.tables["auprec"]["auprec"].between(0, 1).all()
    assert result.tables["iauprec"]["iauprec"].between(0, 1 + 1e-12).all()
    assert result.summary(full=True)
    assert result.verdict.to_text()


ODD_CLUSTERS = (None, "", "a", 0, -1, 1.5, float("nan"), 2**63, "0", True, b"x", (1, 2))
ODD_WEIGHTS = (0, -1, 1, 2, 0.25, 1e-300, 1e300, 5e-324, float("nan"), float("inf"), None, "3", True, 10**400)


def one_set_of(case):
    """Arguments of `compare_test_set`."""
    rng, n = np.random.default_rng(case["seed"]), case["size"]
    labels = np.arange(n) % n < case["positives"]
    kinds = (case["scores"] * case["models"])[: case["models"]]
    columns = np.column_stack([SCORES[kind](rng.normal(size=n), labels) for kind in kinds])
    clusters, weights = case["clusters"], case["weights"]
    if isinstance(clusters, int):
        clusters = (rng.permutation(n) // clusters).tolist()
    elif clusters is not None:
        clusters = (clusters * n)[:n]
    return {
        "y_true": labels.astype(int), "y_score": columns, "models": [f"m{k}" for k in range(case["models"])],
        "cluster": clusters, "sample_weight": None if weights is None else (weights * n)[:n],
        "deployment_prior": case["target"], "area_estimator": case["estimator"],
        "simultaneous": case["simultaneous"],
    }  # fmt: skip


def one_set_holds_together(case):
    """Refused, or numbers in their ranges that a change of no meaning leaves as they are."""
    given = one_set_of(case)
    result = answered(sa.inference.compare_test_set, **given)
    if result is None:
        return
    assert ((result.estimate >= 0) & (result.estimate <= 1 + 1e-12)).all(), result.estimate
    near(result.covariance, result.covariance.T)
    scale = max(float(np.abs(result.covariance).max()), 1e-300)
    assert np.linalg.eigvalsh(result.covariance / scale).min() > -1e-9
    for p in (result.p_value, result.p_adjusted, np.array([result.p_omnibus])):
        assert (np.isnan(p) | ((p >= 0) & (p <= 1))).all(), p
    assert not (result.conf_low > result.conf_high).any()
    assert not (result.p_adjusted < result.p_value).any()
    again = answered(
        sa.inference.compare_test_set, **{**given, **CHANGES[case["change"]](given, case["seed"])}
    )
    assert again is not None, "a change of no meaning was refused"
    order, (before, after) = np.argsort(again.models), map(_by_pair, (result, again))
    near(again.estimate[order], result.estimate)
    near(again.covariance[np.ix_(order, order)], result.covariance)
    near(after["std_error"], before["std_error"])
    clear = before["std_error"] > SPREAD_LEFT
    near(after["p_value"][clear], before["p_value"][clear])


def _by_pair(result):
    """Return the numbers of pairs in an order that does not depend on that of the models."""
    names = [" ".join(sorted(pair)) for pair in zip(result.model_a, result.model_b, strict=True)]
    return pd.DataFrame({"std_error": result.std_error, "p_value": result.p_value}, index=names).sort_index()


def _in_order(given, seed):
    order = np.random.default_rng(seed).permutation(len(given["y_true"]))
    names = ("y_true", "y_score", "cluster", "sample_weight")
    return {name: given[name] and [given[name][k] for k in order] for name in names[2:]} | {
        name: given[name][order] for name in names[:2]
    }


def _weights_of(given):
    return [1.0] * len(given["y_true"]) if given["sample_weight"] is None else list(given["sample_weight"])


def _other_clusters(given, seed):
    if (
        given["cluster"] is None
    ):  # every case a cluster of its own; one alone of its kind would join the others
        counted = given["y_true"][np.asarray(_weights_of(given), dtype=float) > 0]
        unjoined = 2 <= counted.sum() <= len(counted) - 2
        return {"cluster": [f"\u00e9{k}" for k in range(len(given["y_true"]))]} if unjoined else {}
    _, codes = np.unique(np.asarray(given["cluster"]), return_inverse=True)
    return {"cluster": [f"z{(code + seed) * 7919 % 10007}" for code in codes.ravel().tolist()]}


def _other_scale(given, seed):
    weights = np.asarray(_weights_of(given), dtype=float)
    safe = weights[weights > 0].min() > 1e-100 and weights.max() < 1e100
    return {"sample_weight": weights * 2.0 ** (seed - 5)} if safe else {}


def _with_cases_left_out(given, seed):
    """A few more cases, of weight 0."""
    extra, clusters = 1 + seed % 3, given["cluster"]
    return {
        "y_true": np.append(given["y_true"], np.arange(extra) % 2),
        "y_score": np.vstack([given["y_score"], np.full((extra, given["y_score"].shape[1]), 0.5)]),
        "sample_weight": [*_weights_of(given), *[0.0] * extra],
        "cluster": clusters and [*clusters, *[clusters[0]] * extra],
    }


CHANGES = {
    "order": _in_order, "names of clusters": _other_clusters, "scale of weights": _other_scale,
    "left out": _with_cases_left_out,
    "models": lambda given, _: {"y_score": given["y_score"][:, ::-1], "models": given["models"][::-1]},
}  # fmt: skip
one_sets = st.fixed_dictionaries(
    sample(seed=range(10), models=(2, 3, 4), size=(3, 8, 24, 60), positives=(1, 2, 5, 12), target=TARGETS)
    | sample(estimator=("trapezoid", "trapezoid", "average_precision", "exact", "convex_hull"))
    | sample(simultaneous=("max_z", "none", "bonferroni"), change=list(CHANGES))
    | {
        "scores": _kinds,
        "clusters": st.one_of(
            st.none(), st.integers(1, 9), st.lists(st.sampled_from(ODD_CLUSTERS), min_size=1, max_size=6)
        ),
        "weights": st.one_of(
            st.none(),
            st.lists(st.sampled_from([0, 0.5, 1, 2, 7]), min_size=1, max_size=5),
            st.lists(st.sampled_from(ODD_WEIGHTS), min_size=1, max_size=5),
        ),
    }
)

ODD = {
    "nan": lambda n: np.full(n, np.nan), "short": lambda n: np.zeros(max(n - 1, 0)),
    "matrix": lambda n: np.zeros((n, 3)), "text": lambda n: np.full(n, "x"), "none": lambda n: None,
    "huge": lambda n: np.where(np.arange(n) % 2, 1e308, -1e308),
}  # fmt: skip


class Failing(ClassifierMixin, BaseEstimator):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise ValueError("no\nuse \x1b[31m")


class Odd(ClassifierMixin, BaseEstimator):
    """Answers with scores that are none."""

    def __init__(self, kind="nan"):
        self.kind = kind

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return ODD[self.kind](len(X))


ESTIMATORS = {
    "bayes": GaussianNB, "tree": lambda: DecisionTreeClassifier(max_depth=2), "logistic": LogisticRegression,
    "prior": lambda: DummyClassifier(strategy="prior"), "random": lambda: DummyClassifier(strategy="uniform"),
    "failing": Failing, **{f"odd {kind}": lambda kind=kind: Odd(kind) for kind in ODD},
}  # fmt: skip
RIGHT = ("bayes", "tree", "logistic", "prior", "random")
CV = {
    "none": lambda: None, "3": lambda: 3, "0": lambda: 0, "text": lambda: "5", "kfold": lambda: KFold(3),
    "stratified": lambda: StratifiedKFold(2, shuffle=True, random_state=0),
    "repeated": lambda: RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
}  # fmt: skip
LABELS = {
    "numbers": lambda y: y, "words": lambda y: np.where(y == 1, "yes", "no"),
    "booleans": lambda y: y.astype(bool), "three": lambda y: np.arange(len(y)) % 3,
    "one": lambda y: np.zeros(len(y)), "nan": lambda y: np.where(np.arange(len(y)) == 0, np.nan, y),
}  # fmt: skip

_options = st.fixed_dictionaries(
    sample(design=(*["repeated_holdout", "split_half"] * 2, "kfold", ""), n_splits=(2, 3, 4, 1, 0, -1))
    | sample(
        test_fraction=(None, None, 0.5, 0.2, 0.01, 0.99, 0.0, 1.0, float("nan")), deployment_prior=TARGETS
    )
    | sample(n_halvings=(1, 2, 3, 0), inner_folds=(2, 3, 1), alpha=(0.05, 0.05, 0.5, 0.0, 1.0))
    | sample(control=(None, None, "a", "absent"))
)
fits = st.fixed_dictionaries(
    sample(seed=range(10), size=(4, 12, 40), positives=(1, 2, 5, 12), groups=(0, 0, 1, 2, 5, 100))
    | sample(labels=(*["numbers"] * len(LABELS), *LABELS), cv=(*["none"] * 2 * len(CV), *CV))
    | {
        "options": _options,
        "estimators": st.one_of(
            st.lists(st.sampled_from(RIGHT), min_size=2, max_size=3),
            st.lists(st.sampled_from(sorted(ESTIMATORS)), min_size=0, max_size=3),
        ),
    }
)


def estimators_are_compared(case):
    """Refused, or the comparison of the held-out scores, the same when asked again."""
    rng = np.random.default_rng(case["seed"])
    labels = (np.arange(case["size"]) < case["positives"]).astype(int)
    features = rng.normal(size=(len(labels), 2)) + labels[:, None]
    named = {"abcd"[k]: ESTIMATORS[kind]() for k, kind in enumerate(case["estimators"])}
    groups = np.arange(len(labels)) // case["groups"] if case["groups"] else None

    def compare():
        options = {**case["options"], "cv": CV[case["cv"]](), "groups": groups}
        options |= {"at_priors": PRIORS, "rng": case["seed"]}
        halves = {name: options.pop(name) for name in ("n_halvings", "inner_folds")}
        if options["design"] == "split_half" and options["cv"] is None:
            options["design"] = sa.FoldDesign("split_half", **halves)
        if options["cv"] is not None and halves["n_halvings"] > 1:
            options |= {"design": "repeated_holdout", "test_fraction": None}
        warnings.simplefilter("ignore", UserWarning)  # of scikit-learn, about splits of the caller's own
        try:
            return answered(sa.compare_estimators, named, features, LABELS[case["labels"]](labels), **options)
        except RuntimeError as error:  # names model and fold
            failed = str(error)
        assert not set(case["estimators"]) <= set(RIGHT), failed
        assert re.match(r"model '[a-d]' (failed|cannot be used) in fold ", failed), failed
        return None

    result = compare()
    if result is None:
        return
    assert_sane(result)
    pd.testing.assert_frame_equal(result.ranking, compare().ranking)
    frame = result.scores.to_frame()
    if "part" in frame:  # halvings tell the variance alone
        frame = frame[frame["part"] == "holdout"]
    table = sa.read_scores(frame[["model", "fold", "case", "y_true", "y_score"]])
    same = sa.evaluate(table, at_priors=PRIORS, deployment_prior=case["options"]["deployment_prior"])
    for name in ("auprec", "iauprec"):
        frames = (result.tables[name], getattr(same, name))
        near(*(frame.sort_values(["model", "fold"], kind="stable")[name] for frame in frames))


GENERATORS = (
    Generator("one set", one_sets, one_set_holds_together, 60),
    Generator("estimators", fits, estimators_are_compared, 4),
)
