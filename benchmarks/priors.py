"""The prior from unlabelled scores, beside QuaPy and mlquantify where these are installed.

Run: python -m benchmarks.priors [--samples N] [--resamples N] [--slow N] [--out FILE]
(pip install quapy mlquantify; they are no dependency)
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import skewanova
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
    """Return the profile likelihood of this package."""
    found = estimate_prior(labels, score, field)
    return found.estimate, found.conf_low, found.conf_high


def quapy(name: str, resamples: int) -> Callable[[NDArray[np.int64], Floats, Floats], Found]:
    """Return a method of QuaPy on a logistic regression of the score, in its bootstrap of unlabelled cases.

    Its bootstrap of both samples fails in 0.2.3: EMQ keeps no labelled cases, PACC raises AttributeError.
    """

    def run(labels: NDArray[np.int64], score: Floats, field: Floats) -> Found:
        methods = import_module("quapy.method.aggregative")
        bootstrap = import_module("quapy.method.confidence").AggregativeBootstrap
        base = getattr(methods, name)(_logistic())
        fitted = bootstrap(base, n_test_samples=resamples, confidence_level=0.95, random_state=0)
        fitted.fit(score[:, None], labels)
        estimate, region = fitted.predict_conf(field[:, None])
        return float(estimate[1]), float(region.I_low[1]), float(region.I_high[1])

    return run


def mlquantify(name: str) -> Callable[[NDArray[np.int64], Floats, Floats], Found]:
    """Return a method of mlquantify on the same regression; its bootstrap gives no interval."""

    def run(labels: NDArray[np.int64], score: Floats, field: Floats) -> Found:
        packages = ("mlquantify.likelihood", "mlquantify.counting")
        method = next(getattr(each, name) for each in map(import_module, packages) if hasattr(each, name))
        fitted = method(_logistic())
        fitted.fit(score[:, None], labels)
        found = fitted.predict(field[:, None])
        shares = found if isinstance(found, dict) else dict(enumerate(np.asarray(found).ravel()))
        return float(shares[1]), np.nan, np.nan

    return run


def _logistic() -> object:
    return import_module("sklearn.linear_model").LogisticRegression()


class Contestant(NamedTuple):
    """Whoever estimates a prior, on how many samples."""

    name: str
    estimate: Callable[[NDArray[np.int64], Floats, Floats], Found]
    samples: int


def contestants(samples: int, resamples: int, slow: int) -> Iterator[Contestant]:
    """Whoever is installed."""
    yield Contestant("skewanova", own, samples)
    if find_spec("mlquantify") is not None:
        yield from (
            Contestant(f"mlquantify {name}", mlquantify(name), samples) for name in ("EMQ", "ACC", "GPACC")
        )
    if find_spec("quapy") is not None:
        for name, count in {"PACC": samples, "EMQ": samples, "KDEyML": min(slow, samples)}.items():
            yield Contestant(f"QuaPy {name}", quapy(name, resamples), count)


def row(contestant: Contestant) -> str:
    """Return a line of the table: what a contestant finds on the first so many of the same samples."""
    rng = np.random.default_rng(0)
    start, found = time.process_time(), []
    for _ in range(contestant.samples):
        found.append(contestant.estimate(*sample(rng)))
    seconds = (time.process_time() - start) / contestant.samples
    value, low, high = np.array(found).T
    off = value - PRIOR
    told = f"| {contestant.name} | {contestant.samples} | {off.mean():+.4f} | {np.sqrt(np.mean(off**2)):.4f}"
    if np.isnan(low).all():
        return f"{told} | no interval | | {seconds:.2f} |"
    held = np.mean((low <= PRIOR) & (high >= PRIOR))
    error = np.sqrt(held * (1 - held) / contestant.samples)
    return f"{told} | {held:.3f} ({error:.3f}) | {np.mean(high - low):.3f} | {seconds:.2f} |"


def main() -> None:
    """Race all on the same samples, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.priors", description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=200, help="of each sample by the peers")
    parser.add_argument("--slow", type=int, default=20, help="samples for KDEy, which takes seconds each")
    parser.add_argument("--out", type=Path, help="also write the table, as Markdown")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    peers = [name for name in ("QuaPy", "mlquantify") if find_spec(name.lower()) is not None]
    lines = [
        f"skewanova {skewanova.__version__}, {', '.join(f'{name} {version(name)}' for name in peers)}".rstrip(
            ", "
        ),
        "",
        "| method | samples | bias | rmse | coverage of 95 % (its error) | mean width | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    print("\n".join(lines))
    one_process = import_module("joblib").parallel_config(backend="sequential") if peers else nullcontext()
    with one_process:  # time in other processes would not be counted
        for contestant in contestants(options.samples, options.resamples, options.slow):
            lines.append(row(contestant))
            print(lines[-1], flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
