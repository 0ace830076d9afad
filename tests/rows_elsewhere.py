"""Rows that stand in for those of an engine: in pieces, brought together as engines do, in this process."""

import pickle

import numpy as np
import pandas as pd

import skewanova as sa
from skewanova.distributed import backends, packing
from skewanova.report.source import COMPUTED_FRAMES

SET_OPTIONS = {"deployment_prior": (0.05, 0.2), "at_priors": (0.5, 0.1)}


SAMPLED = ("clusters", "weights", "clusters and weights")


class Here(backends.Backend):
    """Rows in this process, in pieces: groups and cases are brought together as engines do."""

    name = "the frame"

    def __init__(self, frame):
        self.source = frame

    def _count(self):
        return len(self.source)

    def _select(self, columns):
        return self.source[list(columns.values())].set_axis(list(columns), axis=1)

    def _transform(self, rows, function, numbers):
        result = pd.concat(self._partition(rows, function))
        assert list(result)[-len(numbers) :] == numbers
        return result

    def _partition(self, rows, function):
        parts = [rows[start : start + 150] for start in range(0, len(rows) + 1, 150)]
        return [item for part in parts for item in backends.apply_to_all([part], function)]

    def _group(self, rows, keys, function):
        return backends.apply_to_groups(rows, function, keys=keys)

    def _continue(self, results, function):
        return backends.apply_to_all(results, pickle.loads(pickle.dumps(function)))

    def _persist(self, results):
        return results

    def _collect(self, results):
        return results

    def _errors(self):
        return ()

    def _describe_damage(self):
        return None


def gathered(frame, **options):
    names = ("model", "fold", "y_true", "y_score", "case", "cluster", "weight")
    columns = {name: name for name in names if name in frame}
    return packing.collect_curves(Here(frame), columns, **{"pos_label": None, **options})


def table(seed=0):
    """Three models on the same cases of four folds, which overlap; some scores are tied."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation([0, 1] * 50)
    case = np.concatenate([rng.choice(100, 40, replace=False) for _ in range(4)])
    rows = pd.DataFrame({"fold": np.repeat([4, 3, 2, 1], 40), "case": case, "y_true": truth[case]})
    scored = (rows.assign(model=m, y_score=rng.normal(size=160).round(1) + rows["y_true"]) for m in "abc")
    return pd.concat(scored, ignore_index=True).sample(frac=1, random_state=seed, ignore_index=True)


def assert_alike(found, read):
    """Same counts, curves and facts about the cases, whatever order the models have."""
    assert (sorted(found.models), found.folds) == (sorted(read.models), read.folds)
    order = [read.models.index(model) for model in found.models]
    assert (found.counts.tolist(), set(found.curves())) == (read.counts[order].tolist(), set(read.curves()))
    for cell, curve in read.curves().items():
        other = found.curves()[cell]
        assert (other.fpr.tolist(), other.tpr.tolist()) == (curve.fpr.tolist(), curve.tpr.tolist())
    assert found.has_cases == read.has_cases
    if read.has_cases:
        assert found.count_unpaired()[0] == read.count_unpaired()[0]
        assert found.shared_cases()[1] == read.shared_cases()[1]
        assert found.shared_cases()[0].tolist() == read.shared_cases()[0].tolist()
        assert found.class_sizes() == read.class_sizes()


def by_names(frame):
    """Rows in the order in which they come from an engine."""
    return frame.sort_values(["model", "fold", "case"], key=lambda values: values.astype(str))


#: But for rounding.
NEAR = {"rtol": 1e-10, "atol": 1e-10, "check_categorical": False}


def assert_nearly_alike(found, here):
    """Every frame of a comparison, its warnings and its verdict; numbers but for rounding."""
    frames = [name for name in here.tables if name not in COMPUTED_FRAMES]
    assert {"ranking", "pairs", "difference_curves", "crossings", "plans", "equivalence"} <= {*frames}
    for name in (*frames, "by_prior"):
        pd.testing.assert_frame_equal(found.tables[name], here.tables[name], **NEAR)
    assert (found.design, found.warnings) == (here.design, here.warnings)
    assert str(found.verdict) == str(here.verdict)


def sampled(kind, *, n=300, n_folds=1, same=True):
    """Three models on cases in clusters, with weights, some of them 0; each fold tests the same, or some."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"case": np.arange(n), "y_true": rng.random(n) < 0.4})
    cluster = rng.integers(0, n // 4, n)
    if "clusters" in kind:
        rows["cluster"] = [f"p{number}" for number in cluster]
    if "weights" in kind:
        rows["weight"] = rng.choice([0, 0.5, 1, 2.5], n)
    folds = range(1, n_folds + 1)
    held = [rows if same else rows[cluster % n_folds == fold - 1] for fold in folds]
    cells = [part.assign(fold=fold, model=m) for m in "abc" for fold, part in zip(folds, held, strict=True)]
    noise = [rng.normal(size=len(cell)).round(1) for cell in cells]
    shifted = (cell.assign(y_score=noise[k] + (1 + k / 9) * cell["y_true"]) for k, cell in enumerate(cells))
    return pd.concat(shifted, ignore_index=True)


def mixed(frame):
    return frame.sample(frac=1, random_state=0, ignore_index=True)


def assert_sampled_alike(source, frame):
    """Of fewer clusters than columns, bands are drawn from other rows with the same products."""
    found, here = (sa.compare(rows, **SET_OPTIONS) for rows in (source, by_names(frame)))
    for name in ("ranking", "pairs", "crossings", "assumptions", "plans"):
        pd.testing.assert_frame_equal(found.tables[name], here.tables[name], **NEAR)
    assert found.design == here.design


def cases_of(design):
    """Three models on 60 cases: one test set, two runs on it, clusters and weights, halvings."""
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"case": np.arange(60), "y_true": np.arange(60) % 3 == 0})
    if design == "clusters, weights":
        rows = rows.assign(cluster=rows["case"] // 2, weight=1 + rows["case"] % 4 / 4)
    folds = [1, 2] if design == "runs" else [1]
    cells = (rows.assign(fold=f, model=m) for m in "abc" for f in folds)
    scored = (cell.assign(y_score=rng.normal(size=60) + cell["y_true"]) for cell in cells)
    return pd.concat(scored, ignore_index=True)
