"""Write the inputs of values_peers.py: accuracies by fold and by data set (scikit-learn 1.9.1)."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).parent
MODELS = {
    "bayes": GaussianNB(),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "svm": make_pipeline(StandardScaler(), SVC()),
    "tree": DecisionTreeClassifier(random_state=0),
}


def repeated_cv():
    """Ten runs of ten folds on the breast cancer data."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    values = {name: cross_val_score(model, X, y, cv=cv) for name, model in MODELS.items()}
    run, fold = (index.ravel() + 1 for index in np.indices((10, 10)))
    return pd.DataFrame({"run": run, "fold": fold, **values})


def five_by_two():
    """Five runs of two halves on the wine data, halved as mlxtend's random_seed=1 does."""
    X, y = datasets.load_wine(return_X_y=True)
    rng, rows = np.random.RandomState(1), []
    for run in range(5):
        halves = train_test_split(X, y, test_size=0.5, random_state=rng.randint(low=0, high=32767))
        for fold in (0, 1):
            X_train, X_test, y_train, y_test = halves if fold == 0 else [halves[i] for i in (1, 0, 3, 2)]
            scores = {
                name: model.fit(X_train, y_train).score(X_test, y_test) for name, model in MODELS.items()
            }
            rows.append({"run": run + 1, "fold": fold + 1, **scores})
    return pd.DataFrame(rows)


def collection():
    """Sixteen data sets: five of scikit-learn's, eleven drawn at random."""
    X, target = datasets.load_diabetes(return_X_y=True)
    sets = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": tuple(each[:600] for each in datasets.load_digits(return_X_y=True)),
        "diabetes": (X, target > np.median(target)),
        "moons": datasets.make_moons(400, noise=0.3, random_state=0),
        "circles": datasets.make_circles(400, noise=0.2, factor=0.5, random_state=0),
        "blobs": datasets.make_blobs(400, n_features=5, centers=4, cluster_std=5.0, random_state=0),
        "quantiles": datasets.make_gaussian_quantiles(
            n_samples=400, n_features=4, n_classes=2, random_state=0
        ),
        "hastie": datasets.make_hastie_10_2(500, random_state=0),
    }
    settings = [
        (10, 5, 0.0, 2),
        (20, 5, 0.1, 2),
        (20, 10, 0.05, 3),
        (40, 4, 0.0, 2),
        (15, 8, 0.2, 2),
        (30, 6, 0.1, 4),
    ]
    for i, (n_features, n_informative, flip_y, n_classes) in enumerate(settings):
        sets[f"drawn {i + 1}"] = datasets.make_classification(
            400, n_features, n_informative=n_informative, flip_y=flip_y, n_classes=n_classes, random_state=i
        )  # fmt: skip
    return sets


def by_dataset():
    """Mean accuracy in a stratified 10-fold cross-validation of each data set; 12 decimals keep ties."""
    rows = [
        {"dataset": name, **{m: cross_val_score(model, X, y, cv=10).mean() for m, model in MODELS.items()}}
        for name, (X, y) in collection().items()
    ]
    return pd.DataFrame(rows).round(12)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # a line search of logistic regression
    for name, table in (
        ("repeated_cv", repeated_cv()),
        ("five_by_two", five_by_two()),
        ("datasets", by_dataset()),
    ):
        table.to_csv(HERE / f"values_{name}.csv", index=False)
