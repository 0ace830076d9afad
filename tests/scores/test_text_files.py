"""Plain CSV by Arrow: the same table, or the same words, as by the csv module."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skewanova as sa
from skewanova.scores import text_files
from skewanova.scores.columns import ColumnMap

HEAD = "model,fold,case,y_true,y_score\n"
ROWS = "A,1,1,0,0.25\nA,1,2,1,0.5\nA,2,3,0,0.125\nA,2,4,1,0.75\n"

FILES = {
    "plain": HEAD + ROWS, "quoted": HEAD + ROWS.replace("A", '"A"'),
    "quoted numbers": HEAD + ROWS.replace("0.5", '"0.5"'),
    "comma within quotes": HEAD + ROWS.replace("A", '"A, or B"'), "byte order mark": "\ufeff" + HEAD + ROWS,
    "blank lines": HEAD + "\n" + ROWS.replace("A,2", "\nA,2") + "\n\n",
    "line of spaces": HEAD + ROWS + "   \n", "no end of the last line": (HEAD + ROWS)[:-1],
    "lines end as in Windows": (HEAD + ROWS).replace("\n", "\r\n"),
    "spaces about numbers": HEAD + ROWS.replace("0.5", " 0.5 "),
    "spaces about names": HEAD + ROWS.replace("A,", " A ,"),
    "names like missing": HEAD + ROWS.replace("A,", "NA,"),
    "names like numbers": HEAD + ROWS.replace("A,", "007,"),
    "labels in words": HEAD + ROWS.replace(",0,", ",true,").replace(",1,0.", ",False,0."),
    "whole scores": HEAD + ROWS.replace("0.25", "1").replace("0.5", "2").replace("0.125", "1"),
    "whole numbers alone": HEAD + ROWS.replace("0.", ""),
    "a whole number behind a fraction": HEAD + ROWS.replace("0.75", "3"),
    "a whole number that is rounded": HEAD + ROWS.replace("0.75", "9007199254740993"),
    "a large whole number": HEAD + ROWS.replace("0.75", "9007199254740992"),
    "exponents": HEAD + ROWS.replace("0.25", "2.5e-1").replace("0.75", "7.5E+300"),
    "no digits before the point": HEAD + ROWS.replace("0.25", ".25").replace("0.75", "1."),
    "beyond the doubles": HEAD + ROWS.replace("0.75", "1e400"),
    "truth for scores": HEAD + ROWS.replace("0.25", "true").replace("0.5", "false"),
    "missing score": HEAD + ROWS.replace("0.5", ""), "nan": HEAD + ROWS.replace("0.5", "nan"),
    "NA": HEAD + ROWS.replace("0.5", "NA"), "text for a score": HEAD + ROWS.replace("0.5", "half"),
    "hexadecimal": HEAD + ROWS.replace("0.5", "0x1p-1"), "underscores": HEAD + ROWS.replace("0.5", "0_1.5"),
    "missing model": HEAD + ROWS.replace("A,2,3", ",2,3"), "missing label": HEAD + ROWS.replace("3,0", "3,"),
    "a field too few": HEAD + ROWS.replace("0.25", "").replace("1,0,", "1,0"),
    "a field too many": HEAD + ROWS.replace("0.25", "0.25,1"),
    "a quote in the middle": HEAD + ROWS.replace("A,2,3", 'A"x,2,3'),
    "an open quote": HEAD + ROWS.replace("A,2,3", '"A,2,3'), "no rows": HEAD, "nothing": "",
    "a column twice": HEAD.replace("case", "fold") + ROWS,
    "another column twice": HEAD.replace("\n", ",x,x\n") + ROWS.replace("\n", ",1,2\n"),
    "letters of other scripts": HEAD + ROWS.replace("A", "Ä模"),
}  # fmt: skip


def told(path):
    """The table, or the error."""
    try:
        found = sa.read_scores(path).frame
    except sa.InputError as error:
        return str(error)
    types, values = found.dtypes.astype(str).to_dict(), found.astype({"model": str}).to_dict("list")
    return types, values, found["fold"].tolist()


@pytest.mark.parametrize("name", FILES)
def test_the_table_or_the_error_is_that_of_the_csv_module(tmp_path, monkeypatch, name):
    path = tmp_path / "scores.csv"
    path.write_bytes(FILES[name].encode())
    found = told(path)
    monkeypatch.setattr(text_files, "_read_plain_csv", lambda *_: None)
    assert told(path) == found


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_no_digit_is_lost(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "scores.csv"
    path.write_text("y_score\n0.5\n" + "\n".join(map(repr, values)) + "\n")
    found = text_files._read_plain_csv(path, ["y_score"], ColumnMap(["y_score"], [], []))
    if max(map(abs, values)) < 2**53:
        np.testing.assert_array_equal(found["y_score"][1:], values)
    else:
        assert found is None  # whole numbers that large are looked at one by one


def test_a_plain_file_is_read_by_arrow_and_others_are_not(tmp_path):
    path = tmp_path / "scores.csv"
    names = HEAD.strip().split(",")
    path.write_text(FILES["plain"])
    columns = ColumnMap(names, [], names[:4])
    found = text_files._read_plain_csv(path, names, columns)
    assert found["y_score"].dtype == np.float64
    assert isinstance(found["model"].dtype, pd.CategoricalDtype)
    path.write_text(FILES["comma within quotes"])
    assert text_files._read_plain_csv(path, names, columns) is None
