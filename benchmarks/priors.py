"""The prior from unlabelled scores, beside QuaPy and mlquantify where these are installed.

Run: python -m benchmarks.priors [--samples N] (pip install quapy mlquantify; they are no dependency)
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skewanova.priors.estimation import estimate_prior

Floats = NDArray[np.float64]


#: Estimate and, where there is one, interval at 95 %.
Found = tuple[float, float, float]


#: Positives and negatives with labels, cases without, area under ROC, prior.
SIZES, N_UNLABELLED, AUC, PRIOR = (60, 240), 2000, 0.85, 0.05


def sample(rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Labels and scores of normal classes, and unlabelled scores."""
    labels = np.repeat([1, 0], SIZES)
    distance = ndtri(AUC) * np.sqrt(2)
    positive = rng.random(N_UNLABELLED) < PRIOR
    return labels, rng.normal(distance * labels), rng.normal(distance * positive)


def own(labels: NDArray[np.int64], score: Floats, field: Floats) -> Found:
    """The profile likelihood of this package."""
    found = estimate_prior(labels, score, field)
    return found.estimate, found.conf_low, found.conf_high


def quapy(name: str) -> Callable[[NDArray[np.int64], Floats, Floats], Found]:
    """A method of QuaPy on a logistic regression of the score, in its bootstrap of the unlabelled cases."""

    def run(labels: NDArray[np.int64], score: Floats, field: Floats) -> Found:
        methods = import_module("quapy.method.aggregative")
        bootstrap = import_module("quapy.method.confidence").AggregativeBootstrap
        base = getattr(methods, name)(_logistic())
        fitted = bootstrap(base, n_test_samples=200, confidence_level=0.95, random_state=0)
        fitted.fit(score[:, None], labels)
        estimate, region = fitted.predict_conf(field[:, None])
        limits = np.asarray(region.region if hasattr(region, "region") else (region.I_low, region.I_high))
        return float(estimate[1]), float(limits[0][1]), float(limits[1][1])

    return run


def mlquantify(name: str) -> Callable[[NDArray[np.int64], Floats, Floats], Found]:
    """A method of mlquantify on the same regression; without an interval."""

    def run(labels: NDArray[np.int64], score: Floats, field: Floats) -> Found:
        module = next(
            module
            for module in map(import_module, ("mlquantify.likelihood", "mlquantify.counting"))
            if hasattr(module, name)
        )
        fitted = getattr(module, name)(_logistic())
        fitted.fit(score[:, None], labels)
        found = fitted.predict(field[:, None])
        shares = found if isinstance(found, dict) else dict(enumerate(np.asarray(found).ravel()))
        return float(shares[1]), np.nan, np.nan

    return run


def _logistic() -> object:
    return import_module("sklearn.linear_model").LogisticRegression()


def contestants(*, slow: bool) -> Iterator[tuple[str, Callable[[NDArray[np.int64], Floats, Floats], Found]]]:
    """Whoever is installed."""
    yield "skewanova", own
    if find_spec("quapy") is not None:
        yield from ((f"QuaPy {name}", quapy(name)) for name in ("EMQ", "PACC", *["KDEyML"] * slow))
    if find_spec("mlquantify") is not None:
        yield from ((f"mlquantify {name}", mlquantify(name)) for name in ("EMQ", "ACC"))


def main() -> None:
    """Race all on the same samples, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.priors", description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument(
        "--slow", action="store_true", help="with KDEy, whose bootstrap takes minutes a sample"
    )
    options = parser.parse_args()
    n_samples = options.samples
    warnings.simplefilter("ignore")
    print("| method | bias | rmse | coverage of 95 % | mean width | seconds |\n|---|---|---|---|---|---|")
    for name, estimate in contestants(slow=options.slow):
        rng = np.random.default_rng(0)
        start, found = time.process_time(), []
        for _ in range(n_samples):
            found.append(estimate(*sample(rng)))
        seconds = (time.process_time() - start) / n_samples
        value, low, high = np.array(found).T
        held = "-" if np.isnan(low).all() else f"{np.mean((low <= PRIOR) & (high >= PRIOR)):.3f}"
        width = "-" if np.isnan(low).all() else f"{np.mean(high - low):.3f}"
        off = value - PRIOR
        errors = f"{off.mean():+.4f} | {np.sqrt(np.mean(off**2)):.4f}"
        print(f"| {name} | {errors} | {held} | {width} | {seconds:.3f} |", flush=True)


if __name__ == "__main__":
    main()
