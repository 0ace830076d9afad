"""What a study found: frame and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from skewanova.base.checks import check_choice
from skewanova.base.frames import Framed
from skewanova.base.text import Table, format_number
from skewanova.inference.catalogue import known
from skewanova.studies.scenarios import BRODERSEN_CASES, LEVEL, LEVELS, PRIOR, SIXTEEN_PRIORS


class _Layout(NamedTuple):
    """How a frame becomes tables: one for each `group`, and what a cell shows."""

    caption: str
    group: str
    row: str
    column: str
    cell: Callable[[pd.Series], str]


_LAYOUTS: Mapping[str, _Layout] = {
    "estimators": _Layout(
        f"Mean estimate over truth at prior {PRIOR:g}, by number of cases",
        "setting",
        "estimator",
        "n_total",
        lambda row: format_number(row["ratio"]),
    ),
    "intervals": _Layout(
        f"Coverage (mean width) of {LEVEL:.0%} intervals for average precision, by number of cases",
        "setting",
        "method",
        "n_total",
        lambda row: f"{_short(row['coverage'])} ({_short(row['width'])})",
    ),
    "paired": _Layout(
        "Size at .05 of tests of two models with the same true area, by number of positives and m/lam",
        "setting",
        "test",
        "design",
        lambda row: _short(row["rate"]),
    ),
    "binormal": _Layout(
        f"Bias of the area with {BRODERSEN_CASES} cases, by share of positives",
        "measure",
        "model",
        "alpha",
        lambda row: f"{row['bias']:+.3f}",
    ),
}


@dataclass(frozen=True, eq=False)
class CurveStudy(Framed):
    """Areas or intervals against the truth.

    Attributes
    ----------
    study : str
        ``estimators``, ``intervals``, ``binormal`` or ``paired``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each distribution, size (or share of positives) and estimator or method."""
        return self._table.copy()

    @property
    def groups(self) -> tuple[str, ...]:
        """Distributions of the scores; in the study of binormal fits, the areas."""
        return tuple(dict.fromkeys(self._table[_LAYOUTS[self.study].group]))

    def to_table(self, group: str | None = None) -> Table:
        """Return one group as text, a row an estimator or method.

        Parameters
        ----------
        group : str, optional
            One of `groups`, by default the first.

        Raises
        ------
        ValueError
            If the group was not simulated.
        """
        layout = _LAYOUTS[self.study]
        chosen = self.groups[0] if group is None else check_choice(group, self.groups, layout.group)
        frame = _ROWS.get(self.study, _unchanged)(self._table[self._table[layout.group] == chosen])
        cells = {(row[layout.row], row[layout.column]): layout.cell(row) for _, row in frame.iterrows()}
        columns = list(dict.fromkeys(frame[layout.column]))
        rows = tuple(
            (str(name), *(cells.get((name, column), "") for column in columns))
            for name in dict.fromkeys(frame[layout.row])
        )
        few, many = frame["replicates"].min(), frame["replicates"].max()
        counts = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        note = (
            f"{counts} samples, seed {self.rng}; largest Monte Carlo standard error "
            f"{_short(float(frame['std_error'].max()))}."
        )
        header = (layout.row.capitalize(), *(_head(column) for column in columns))
        return Table(self.study, f"{layout.caption} ({chosen})", header, rows, note=note)

    def to_tables(self) -> tuple[Table, ...]:
        """Return a table for every group."""
        return tuple(self.to_table(group) for group in self.groups)


def _unchanged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _by_design(frame: pd.DataFrame) -> pd.DataFrame:
    """Tests in rows for each weighting, sizes in columns."""
    sizes = frame["n_positive"].astype(str) + " / " + frame["support"].astype(str)
    return frame.assign(test=frame["test"] + ", " + frame["weighting"], design=sizes)


def _by_prior(frame: pd.DataFrame) -> pd.DataFrame:
    """Methods in rows, for each prior where there are several."""
    if frame["prior"].nunique() == 1:
        return frame
    return frame.assign(method=frame["method"] + ", prior " + frame["prior"].map("{:g}".format))


_ROWS: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {"paired": _by_design, "intervals": _by_prior}


def _head(column: object) -> str:
    return column if isinstance(column, str) else f"{column:,}"


def _short(value: float) -> str:
    """Three decimals without the leading zero."""
    return f"{value:.3f}".removeprefix("0")


OMNIBUS_DEFAULT = "default_omnibus"


PAIRS_DEFAULT = "default"


@dataclass(frozen=True, eq=False)
class DecisionStudy(Framed):
    """How decisions fared where the truth is known.

    Attributes
    ----------
    study : str
        ``crossings``, ``leaders`` or ``p_best``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each setting and method or range of probabilities."""
        return self._table.copy()

    def to_tables(self) -> tuple[Table, ...]:
        """Return the frame as a table, numbers rounded."""
        frame = self._table.drop(columns="replicates")
        rows = tuple(
            tuple(format_number(v) if isinstance(v, float) else str(v) for v in row)
            for row in frame.itertuples(index=False)
        )
        note = f"{int(self._table['replicates'].max()):,} replicates of each setting, seed {self.rng}."
        header = tuple(str(column).replace("_", " ") for column in frame)
        return (Table(self.study, f"Study of decisions: {self.study}", header, rows, note=note),)


_CAPTIONS = {
    ("type_one_error", "rate"): "Rejections of true equality at .05 / .005; for pairs, of any true equality",
    ("power", "rate"): "Power at .05 / .005; for pairs, share of the true differences found",
    ("power", "adjusted_rate"): "Power at .05 / .005 once every test is held to that level in truth",
}


@dataclass(frozen=True, eq=False)
class StudyResult(Framed):
    """Rates of rejection in every scenario.

    Attributes
    ----------
    study : str
        ``type_one_error`` or ``power``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each scenario, test and level (and effect, in a study of power)."""
        return self._table.copy()

    def to_table(self, scenarios: Sequence[str] | None = None, *, column: str = "rate") -> Table:
        """Return rates as text, a row a test and a column a scenario: at .05, a stroke, at .005.

        Parameters
        ----------
        scenarios : sequence of str, optional
            Scenarios to show; by default all that were simulated.
        column : str, default "rate"
            What to show: ``rate``, or ``adjusted_rate`` in a study of power.
        """
        check_choice(column, [c for c in ("rate", "adjusted_rate") if c in self._table], "column")
        frame = self._table if scenarios is None else self._table[self._table["scenario"].isin(scenarios)]
        columns = ["scenario"] if self.study == "type_one_error" else ["scenario", "effect"]
        heads = [tuple(head) for head in frame[columns].drop_duplicates().to_numpy().tolist()]
        keys = frame[["test", *columns, "level"]].to_numpy().tolist()
        rates = {tuple(key): float(rate) for key, rate in zip(keys, frame[column], strict=True)}
        rows = [
            (test, *(_cell([rates.get((test, *head, level)) for level in LEVELS]) for head in heads))
            for test in dict.fromkeys(frame["test"])
        ]
        few, many = frame["replicates"].min(), frame["replicates"].max()
        counts = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        note = f"{counts} replicates, seed {self.rng}. Monte Carlo standard errors are in the frame."
        header = ("Test", *(_rates_head(head) for head in heads))
        return Table(self.study, _CAPTIONS[self.study, column], header, tuple(rows), note=note)

    def to_tables(self) -> tuple[Table, ...]:
        """Return the rates as the one table there is, as other studies have several."""
        return (self.to_table(),)


def role(test: str) -> str:
    """Whether a test is the headline, as published, or another."""
    if test in {OMNIBUS_DEFAULT, PAIRS_DEFAULT}:
        return "headline"
    return "as_published" if known(test.removesuffix(SIXTEEN_PRIORS)).published else "check"


def _rates_head(head: Sequence[object]) -> str:
    return str(head[0]) if len(head) == 1 else f"{head[0]}, +{head[1]:g}"


def _cell(rates: Sequence[float | None]) -> str:
    """Rates at the levels, without leading zeros; nothing where a test was not applied."""
    known = [rate for rate in rates if rate is not None]
    return " / ".join("-" if np.isnan(rate) else f"{rate:.3f}".removeprefix("0") for rate in known)
