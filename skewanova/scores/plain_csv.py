"""Plain CSV, in which every comma parts two fields, by Arrow: many times faster than by the csv module."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from skewanova.base.checks import FIRST_INEXACT, Floats

#: Bytes taken apart at once.
BLOCK_BYTES = 1 << 21


def plain_columns(path: Path, names: Sequence[str], fractions: Collection[str]) -> dict[str, Any]:
    """Some columns of a whole file: text, and doubles where the first of a column is a fraction.

    Raises ``pyarrow.ArrowInvalid`` where anything is not as it should be: what, the csv module tells.
    """
    kinds = {name: pa.float64() if name in fractions else pa.string() for name in names}
    table = csv.read_csv(path, convert_options=_as_written(kinds))
    return {name: table.column(name) for name in names}


def plain_blocks(path: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Text of some columns, some thousands of rows at a time."""
    kinds = dict.fromkeys(names, pa.string())
    read = csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    with csv.open_csv(path, convert_options=_as_written(kinds), read_options=read) as reader:
        for batch in reader:
            if len(batch):
                yield dict(zip(names, batch.columns, strict=True))


def _as_written(kinds: Mapping[str, Any]) -> Any:
    """No text counts as missing: what is empty, or says nan, is looked at as what it is."""
    return csv.ConvertOptions(
        include_columns=list(kinds), column_types=dict(kinds), null_values=[], strings_can_be_null=False
    )


def is_whole(text: str) -> bool:
    """Whether text is a whole number, which may not be made a double unseen."""
    return text.strip().lstrip("+-").isdigit()


def doubles(texts: Any) -> Floats | None:
    """Doubles of text that Arrow reads as any reader does, the first no whole number; None of other text."""
    if is_whole(texts[0].as_py()):
        return None
    try:
        return exact(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None


def exact(values: Any) -> Floats | None:
    """Doubles that no whole number among them can have been rounded to; None if there may be one."""
    found: Floats = values.to_numpy()
    return found if bool((np.abs(found) < FIRST_INEXACT).all()) else None


def texts_of(column: Any) -> pd.Categorical[str]:
    """Text by its distinct values, in order of appearance."""
    coded = column.combine_chunks().dictionary_encode()
    return pd.Categorical.from_codes(
        coded.indices.to_numpy(), pd.Index(coded.dictionary.to_pylist(), dtype=object)
    )
