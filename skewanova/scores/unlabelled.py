"""Scores of unlabelled cases from the deployment, and labelled cases to estimate its prior with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, InputError, RowName, check_choice, prefix_errors
from skewanova.priors.mixtures import N_BINS, bin_scores
from skewanova.scores.columns import ColumnMap
from skewanova.scores.sources import load_table
from skewanova.scores.table import Scores, ScoreTable, hash_path
from skewanova.scores.validation import check_any_row, read_names, validate_scores

SCORE_BIN_COLUMNS = ("model", "bin", "score_high", "n_positive", "n_negative")


@dataclass(frozen=True, eq=False)
class UnlabelledScores:
    """Checked scores of several models on unlabelled cases.

    Attributes
    ----------
    frame : DataFrame
        Columns model (categorical), y_score and, if present, batch and case (categorical) and y_true (0, 1
        or nan).
    source : Path or None
        The file they were read from.
    """

    frame: pd.DataFrame
    source: Path | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Model names in order of first appearance."""
        return tuple(self.frame["model"].cat.categories)

    @property
    def has_batches(self) -> bool:
        """True if rows name their batches."""
        return "batch" in self.frame

    @property
    def has_labels(self) -> bool:
        """True if the label of some case is known."""
        return "y_true" in self.frame and bool(self.frame["y_true"].notna().any())

    def pair_labelled(self, models: Sequence[str], batch: object = None) -> tuple[Bools, Floats]:
        """Return labels and scores (n_cases, n_models) of a batch's labelled cases that the models share.

        Unnamed, they pair in order; without batches, `batch` is ignored. Raise if labels or lengths differ.
        """
        parts = []
        for model in models:
            rows = self.select_model(model)
            rows = rows[rows["batch"] == batch] if self.has_batches else rows
            rows = rows.set_axis(rows["case"].astype(str) if "case" in rows else range(len(rows)))
            parts.append(rows[["y_true", "y_score"]])
        if "case" not in self.frame and len({len(part) for part in parts}) > 1:
            raise InputError(
                f"`unlabelled` must have the same cases of {' and '.join(map(repr, models))} in each batch; "
                "name them in a column `case`"
            )
        shared = pd.concat(parts, axis=1, join="inner")
        values = shared.to_numpy(np.float64)
        is_labelled = ~np.isnan(values[:, ::2]).all(axis=1)  # one model's rows may have the label alone
        paired = values[is_labelled]
        low, high = np.fmin.reduce(paired[:, ::2], axis=1), np.fmax.reduce(paired[:, ::2], axis=1)
        if (low != high).any():
            case = shared.index[is_labelled][low != high].tolist()[0]
            raise InputError(
                f"`unlabelled` must have the same `y_true` of a case for every model, but case {case!r:.40} "
                "has both" + "; name cases in a column `case`" * ("case" not in self.frame)
            )
        return low == 1, paired[:, 1::2]

    def select_model(self, model: str) -> pd.DataFrame:
        """Return the rows of a model, none if it is unknown, sorted by case if rows name their cases."""
        rows = self.frame[self.frame["model"] == model]
        return rows.sort_values("case", kind="stable") if "case" in rows else rows

    @cached_property
    def is_paired(self) -> bool:
        """True if all models have the same cases, in any order; without names, equally many rows."""
        parts = [self.select_model(model) for model in self.models]
        if "case" in self.frame:
            return all(np.array_equal(part["case"], parts[0]["case"]) for part in parts)
        return len({len(part) for part in parts}) == 1

    def sha256(self) -> str:
        """Return the hexadecimal SHA-256 of the source if it still exists, else ''."""
        return "" if self.source is None or not self.source.exists() else hash_path(self.source)


def read_unlabelled(source: object, *, columns: Mapping[str, str] | None = None) -> UnlabelledScores:
    """Read and check a table of scores of cases without labels.

    Parameters
    ----------
    source : path or frame
        As for :func:`~skewanova.read_scores`, with the columns model, y_score and, optionally, batch (such as
        the week or the site), case (an identifier of the case) and y_true (0, 1 or blank if unknown).
    columns : mapping, optional
        Other names of the columns, such as ``{"batch": "week"}``.

    Returns
    -------
    UnlabelledScores
        The checked table.

    Raises
    ------
    ValueError, TypeError
        If a column is missing, a value is missing or unusable, or a model has a case twice; TypeError if
        scores are not real numbers, or `source` is neither a path nor a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.scores import read_unlabelled
    >>> frame = pd.DataFrame({"model": "A", "week": [1, 1, 2], "y_score": [0.2, 0.4, 0.9]})
    >>> scores = read_unlabelled(frame, columns={"batch": "week"})
    >>> scores.models, scores.has_batches
    (('A',), True)
    """
    allowed = "model", "y_score", "batch", "case", "y_true"
    raw = load_table(source, ColumnMap.from_names(columns, allowed=allowed))
    check_any_row(len(raw.frame), "table of unlabelled scores")
    model, score = read_names(raw, "model"), validate_scores(raw.frame["y_score"], "y_score", raw.where)
    frame = pd.DataFrame({**model, "y_score": score, **read_names(raw, "batch", "case")})
    repeated = np.flatnonzero(frame.duplicated(["model", "case"])) if "case" in frame else np.empty(0)
    if len(repeated):
        again = "; if case numbers start again in every batch, join batch and number" * ("batch" in frame)
        raise InputError(
            f"(model, case) must be unique among unlabelled scores, but rows repeat one ({len(repeated)} in "
            f"all), the first at {raw.where(int(repeated[0]))}; leave the repeated rows out{again}"
        )
    if "y_true" in raw.frame:
        frame["y_true"] = _check_known_labels(raw.frame["y_true"], raw.where)
    return UnlabelledScores(frame, raw.source)


def _check_known_labels(values: pd.Series[Any], where: RowName) -> Floats:
    """Return labels as 0 or 1, nan where they are blank; raise InputError naming the row of any other."""
    values = values.replace(r"^\s*$", None, regex=True)
    labels = pd.to_numeric(values, errors="coerce").to_numpy(float, na_value=np.nan)
    bad = np.where(np.isnan(labels), values.notna(), ~np.isin(labels, (0, 1)))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"`y_true` must be 0 or 1, or blank if unknown, but is {str(values.iloc[row])!r} at {where(row)}"
        )
    return labels


def as_unlabelled(source: object) -> UnlabelledScores:
    """Return UnlabelledScores as they are, or read from a source; errors begin with `unlabelled`."""
    if isinstance(source, UnlabelledScores):
        return source
    with prefix_errors("`unlabelled`"):
        return read_unlabelled(source)


class LabelledCases(NamedTuple):
    """Labels, scores and codes of the distinct cases of one model."""

    positive: Bools
    score: NDArray[Any]
    case: NDArray[np.intp]


def collect_labelled_cases(table: ScoreTable, model: str, fold: str | int | None = None) -> LabelledCases:
    """Return a model's distinct cases, scores of `fold` or means over folds; raise if unnamed in several."""
    rows = table.frame[table.frame["model"] == model]
    if fold is not None:
        labels = [str(label) for label in table.folds if (rows["fold"] == label).any()]
        rows = rows[rows["fold"].astype(str) == check_choice(str(fold), labels, "fold")]
    positive, score = rows["y_true"].to_numpy(), rows["y_score"].to_numpy()
    if not table.has_cases:
        if rows["fold"].nunique() > 1:
            name = str(table.folds[int((table.counts > 0).sum(axis=(0, 2)).argmax())])  # of most models
            raise InputError(
                "the labelled table must have a case column, so that each case counts once; add it, or "
                f"choose one of its {rows['fold'].nunique()} folds, as in fold={name!r} (--fold "
                f"{quote(name)} of `skewanova prior`)"
            )
        return LabelledCases(positive, score, np.arange(len(rows)))
    case, first, index = np.unique(rows["case"].cat.codes.to_numpy(), return_index=True, return_inverse=True)
    if len(case) < len(rows):  # means over folds
        score = (np.bincount(index, weights=score.astype(np.float64)) / np.bincount(index))[index]
    return LabelledCases(positive[first], score[first], case.astype(np.intp))


def score_bins(table: Scores) -> pd.DataFrame:
    """Return counts of positive and negative cases in bins of each model's scores, a row per model and bin.

    The columns are model, bin (from 1), score_high (nan in the last bin), n_positive and n_negative. Models
    of one score or infinite ones have no rows, nor have distributed scores and several folds without cases.
    Up to 8 bins hold about equally many cases, each with its mean score over folds.
    """
    empty = pd.DataFrame({name: pd.Series(dtype=float) for name in SCORE_BIN_COLUMNS})
    if not isinstance(table, ScoreTable) or (len(table.folds) > 1 and not table.has_cases):
        return empty
    parts = []
    for model in table.models:
        cases = collect_labelled_cases(table, model)
        if not np.isfinite(cases.score).all() or cases.score.min() == cases.score.max():
            continue
        result = bin_scores(cases.positive, cases.score, cases.score[:1], N_BINS)
        bins = {
            "bin": np.arange(1, len(result.edges) + 2),
            "score_high": [*result.edges.astype(np.float64), np.nan],
            "n_positive": result.counts.positive.astype(int),
            "n_negative": result.counts.negative.astype(int),
        }
        parts.append(pd.DataFrame({"model": model, **bins}))
    return pd.concat(parts, ignore_index=True) if parts else empty
