"""Base class of results with frames, and rows and distinct values of frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from skewanova.base.checks import InputError

if TYPE_CHECKING:
    import pandas as pd


class FrameResult(ABC):
    """Base class of results that convert to pandas (`to_frame`) and polars (`to_polars`)."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the result as a pandas frame."""

    def to_polars(self) -> Any:
        """Return the same rows and columns as a polars frame; missing values are null, categories are text.

        Raise ValueError if polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            raise InputError("this needs polars: pip install polars") from error
        frame = self.to_frame()
        columns = {str(name): _to_polars_values(frame[name]) for name in frame.columns}
        return polars.DataFrame(columns, nan_to_null=True, strict=False)


def _to_polars_values(column: pd.Series[Any]) -> Any:
    """Return numbers and booleans as an array, other columns as a list with None for missing values."""
    values = column.to_numpy()
    return (
        values if values.dtype.kind in "biuf" else column.astype(object).where(column.notna(), None).tolist()
    )


def list_distinct(values: Iterable[Any]) -> list[Any]:
    """Return a list of the distinct values in order of first appearance."""
    return list(dict.fromkeys(values))


def make_frame(content: Any, columns: Iterable[str] | None = None) -> pd.DataFrame:
    """Return a pandas frame of columns by name, or of rows, with these columns."""
    import pandas as pd  # imported late, because results of numbers load without pandas

    return pd.DataFrame(content, columns=None if columns is None else list(columns))


def iter_rows(frame: pd.DataFrame) -> Iterator[Any]:
    """Iterate over the rows of the frame as named tuples, without its index."""
    row = _name_rows(tuple(frame.columns))  # not by itertuples, which compiles a class in every call
    return map(row, *(column for _, column in frame.items()))


@cache
def _name_rows(columns: tuple[str, ...]) -> type[Any]:
    return namedtuple("Row", columns, rename=True)
