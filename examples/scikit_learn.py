"""scikit-learn classifiers tuned, compared and drawn for a deployment where positives are rare.

On the breast cancer data of scikit-learn, malignant being positive: tune by IAUPREC within the training
cases, score three models on the same repeated splits, compare them, and correct the probabilities of a
balanced model to a rare prior. Needs ``pip install "skewanova[sklearn]"``. Run it with::

    python examples/scikit_learn.py [--out DIR]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import skewanova as sa

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, cross_validate
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier
except ImportError:
    sys.exit('This example needs scikit-learn: pip install "skewanova[sklearn]"')

RANGE = (0.05, 0.20)
POSITIVE = "malignant"


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune, compare and print; draw and save where told."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, metavar="DIR", help="save the figure and the report here")
    out = parser.parse_args(arguments).out
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]

    scorer = sa.iauprec_scorer(deployment_prior=RANGE, pos_label=POSITIVE)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    tuned = GridSearchCV(logistic, {"logisticregression__C": [0.01, 1.0, 100.0]}, scoring=scorer, cv=3)
    models = {
        "logistic": tuned,
        "naive Bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    }
    splits = StratifiedShuffleSplit(n_splits=10, test_size=0.5, random_state=0)
    scores = sa.scores_from_estimators(models, X, y, cv=splits, pos_label=POSITIVE)
    with warnings.catch_warnings():  # the summary repeats them
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        result = sa.compare(scores, deployment_prior=RANGE, at_priors=(0.5, 0.1))
    print(result.summary(full=True))

    train, test = next(splits.split(X, y))
    tuned.fit(X[train], y[train])
    chance = tuned.predict_proba(X[test])[:, list(tuned.classes_).index(POSITIVE)]
    rare = sa.correct_class_prior(chance, train_prior=0.5, prior=0.05)
    print(f"\nFlagged at probability 0.5: {(chance > 0.5).sum()} as trained on balanced classes,")
    print(f"{(rare > 0.5).sum()} if 5 % of the cases are malignant. The ranking, and so AUPREC, is the same.")

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        folds = cross_validate(tuned, X, y, cv=splits, return_estimator=True, return_indices=True)
        display = sa.AUPRECDisplay.from_cv_results(
            folds, X, y, pos_label=POSITIVE, name="logistic", plot_chance_level=True
        )
        display.figure_.savefig(out / "scikit_learn.png", dpi=120)
        result.save(out / "report")


if __name__ == "__main__":
    main()
